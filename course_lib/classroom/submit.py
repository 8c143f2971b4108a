"""``submit()``: run the notebook once more from nothing, say what a grader will find, and pack it to be handed in."""
from __future__ import annotations

import builtins
import dis
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime, timezone
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

from .answers import everything
from .card import Card, Rows, Text

__all__ = ["Receipt", "pack", "submit"]

RERUN = "COURSE_RERUN"          # set while the notebook runs again, so that its own submit() does nothing
RERUN_SECONDS = 600


@dataclass(frozen=True)
class Receipt:
    """What was packed, and what a grader will find."""

    notebook: str
    sha256: str
    time: str
    found: tuple[str, ...]
    missing: tuple[str, ...]
    leaning: dict[str, tuple[str, ...]]     # function → names that it uses and no cell defines
    stopped: tuple[str, ...]                # cells that ended with an error
    saved: str


def submit(notebook: str | os.PathLike | None = None) -> None:
    """Run a saved notebook anew, show what came of it, and write it with a receipt into a zip beside it.

    Parameters
    ----------
    notebook : path, optional
        By default the one in which this is called, where Jupyter tells its name.
    """
    if os.environ.get(RERUN):
        return
    try:
        path = Path(notebook) if notebook else _this_notebook()
        receipt, archive = pack(path, _live())
        card = _card(receipt, archive)
    except (ValueError, OSError, subprocess.TimeoutExpired) as error:
        card = Card("note", "NOT PACKED", "Nothing was written.", (Text(str(error)),))
    card.show()


def pack(path: Path, live: dict[str, Any] | None = None) -> tuple[Receipt, Path]:
    """Run a notebook in a new process and write the zip.

    Parameters
    ----------
    path : Path
    live : dict, optional
        The names of the session in which the learner works.

    Raises
    ------
    FileNotFoundError
        If there is no such notebook.
    ValueError
        If it cannot be read, or has no exercise of the course in it.
    """
    if not path.exists():
        raise FileNotFoundError(f"a saved notebook expected, found none at {path}")
    raw = path.read_bytes()
    receipt = _receipt(path, raw, _wanted(path, raw), live or {})
    archive = path.with_name(f"{path.stem}_to_hand_in.zip")
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(path.name, raw)
        made.writestr("receipt.json", json.dumps(asdict(receipt), indent=1, ensure_ascii=False))
    return receipt, archive


def _wanted(path: Path, raw: bytes) -> list[str]:
    """The exercises of the unit that the file is named after, or else those that it defines."""
    from .grading.archive import Refused
    from .grading.cells import defining, parse

    try:
        code = parse(path.name, raw).code
    except Refused as error:
        raise ValueError(f"{path.name} is no notebook that can be handed in: {error}") from None
    known = everything().values()
    if names := [a.name for a in known if a.topic == path.stem] or [a.name for a in known if defining(code, a.name)]:
        return names
    raise ValueError(f"{path.name} holds no exercise of the course: none of its cells defines a function of that name")


def _receipt(path: Path, raw: bytes, names: list[str], live: dict[str, Any]) -> Receipt:
    """What is found of the functions when the notebook is run anew."""
    seen = _rerun(path)
    found = tuple(name for name in names if name in seen["defined"])
    missing = tuple(name for name in names if name not in found)
    leaning = {name: tuple(seen["unknown"][name]) for name in found if seen["unknown"].get(name)}
    leaning |= {name: ("a cell that is no longer there",) for name in missing if callable(live.get(name))}
    saved = datetime.fromtimestamp(path.stat().st_mtime, timezone.utc).isoformat(timespec="seconds")
    return Receipt(path.name, hashlib.sha256(raw).hexdigest(), _now(), found, missing, leaning, tuple(seen["stopped"]),
                   saved)


def _rerun(path: Path) -> dict[str, Any]:
    """What the notebook's cells leave behind in a process of their own."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.json"
        environment = os.environ | {
            RERUN: "1",
            "COURSE_PROGRESS": str(Path(folder) / "progress.jsonl"),
            "MPLBACKEND": "Agg",
        }
        done = subprocess.run(
            [sys.executable, "-m", __name__, str(path.absolute()), str(told)],
            env=environment,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RERUN_SECONDS,
            stdin=subprocess.DEVNULL,
        )
        if not told.exists():
            last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
            raise ValueError(
                f"run anew, the notebook ended its own process: {last}. Does a cell call exit()?"
            )
        stopped = [line for line in done.stderr.splitlines() if line.startswith(f"{path.name}, cell ")]
        return json.loads(told.read_text(encoding="utf-8")) | {"stopped": stopped}


def _look(path: Path, told: Path) -> None:
    """In the new process: run the cells, and write down what they define and which names are nowhere."""
    from .desk import defined

    namespace = defined(path)
    known = {name: namespace[name] for name in everything() if callable(namespace.get(name))}
    unknown = {name: sorted({n for n in _globals(f.__code__) if n not in namespace and not hasattr(builtins, n)})
               for name, f in known.items() if isinstance(f, FunctionType)}
    told.write_text(json.dumps({"defined": list(known), "unknown": unknown}), encoding="utf-8")


def _globals(code: CodeType) -> Iterator[str]:
    """The global names that a function reads, those of functions inside it too."""
    yield from (i.argval for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL")
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _globals(inner)


def _card(receipt: Receipt, archive: Path) -> Card:
    rows = [("found", ", ".join(receipt.found) or "none"), ("missing", ", ".join(receipt.missing) or "none")]
    rows += [("leans on hidden state", f"{name}: {', '.join(names)}") for name, names in receipt.leaning.items()]
    rows += [("stopped", line) for line in receipt.stopped[:3]]
    rows += [("saved", receipt.saved), ("sha256", receipt.sha256[:16] + " …"), ("hand in", archive.name)]
    good = not receipt.missing and not receipt.leaning
    words = (
        "A grader will find every function."
        if good
        else "Packed as it is. What is missing or leans on names that no cell defines will not run for a grader: "
        "choose Run All after a restart of the kernel, mend it, save, and submit again."
    )
    return Card(
        "right" if good else "note",
        "PACKED",
        f"{len(receipt.found)} of {len(receipt.found) + len(receipt.missing)} functions found.",
        (
            Rows(tuple(rows)),
            Text(words),
            Text("This packs the notebook as it was last saved; it is not sent anywhere."),
        ),
    )


def _this_notebook() -> Path:
    for name in (_live().get("__vsc_ipynb_file__"), os.environ.get("JPY_SESSION_NAME")):
        if name and Path(name).suffix == ".ipynb":
            return Path(name)
    raise ValueError("Jupyter does not tell the name of this notebook here: submit(\"its_name.ipynb\") does it")


def _live() -> dict[str, Any]:
    try:
        from IPython import get_ipython
    except ImportError:
        return {}
    shell = get_ipython()
    return shell.user_ns if shell else {}


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


if __name__ == "__main__":
    _look(Path(sys.argv[1]), Path(sys.argv[2]))
