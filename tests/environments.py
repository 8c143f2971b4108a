"""Environments for what must not be installed in the one that the tests run in."""
import os
import subprocess
import sys
import venv
from importlib.util import find_spec
from pathlib import Path


def make(folder: Path) -> None:
    """An environment that sees every package of this one, so that only what is missing here is installed."""
    venv.create(folder, with_pip=find_spec("pip") is None)
    outer = (path for path in sys.path if path.endswith("site-packages"))
    next(folder.rglob("site-packages")).joinpath("outer.pth").write_text("\n".join(outer), encoding="utf-8")


def python(folder: Path) -> Path:
    return folder / ("Scripts" if os.name == "nt" else "bin") / "python"


def pip(folder: Path, *words: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run([python(folder), "-m", "pip", "--quiet", "--disable-pip-version-check", *words],
                          capture_output=True, text=True, timeout=600, **more)
