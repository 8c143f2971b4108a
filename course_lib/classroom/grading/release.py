"""``course release``: what a learner gets: notebooks, exercises, answers as data, the library; no solutions."""
from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

from .. import build
from ..answers import dump
from ..course import Course, text_of, to_solve
from ..notebook import write
from .classfile import ClassFile
from .keys import cases_hash

__all__ = ["PINNED", "drift", "release", "wheel"]

PINNED = "release.json"
README = """\
# {title}

1. Install Python {python} (python.org), open a terminal in this folder and run `python -m pip install {wheel}`.
   With conda instead: `conda env create -f environment.yml`, then `conda activate {name}`.
2. Run `course lab`. It copies the notebooks into `work/`, which is yours, and opens them.
3. Solve the exercises in `work/exercises/`; `check(…)` in each of them tells you how it is going. It works offline.
4. Hand in with `submit()` in the notebook, or hand in the notebook itself.

{list}
"""
ENVIRONMENT = """\
name: {name}
channels:
  - conda-forge
dependencies:
  - python{python}
  - pip
  - pip:
      - ./{wheel}
"""


def release(course: Course, to: Path, settings: ClassFile = ClassFile()) -> list[Path]:
    """Write the bundle into a folder.

    Parameters
    ----------
    course : Course
    to : Path
        A new or empty folder.
    settings : ClassFile
        Its units or exercises choose what goes in; its title heads the README.

    Returns
    -------
    list of Path
        The files of the bundle.

    Raises
    ------
    ValueError
        If the folder is not empty, an exercise is not fit to be handed out, or the wheel cannot be built.
    """
    if to.exists() and any(to.iterdir()):
        raise ValueError(f"an empty folder expected, {to} has files in it; name another, or remove them")
    references = settings.chosen(course.references, course.lectures)
    topics = list(dict.fromkeys(r.topic for r in references))
    with tempfile.TemporaryDirectory() as aside:                  # nothing half done is left behind
        bundle = Path(aside) / "bundle"
        for topic in topics:
            _exercises(bundle, course, topic)
        _notebooks(bundle, _lectures(course, [*topics, *settings.units], bool(settings.units or settings.exercises)))
        _front(bundle, wheel(bundle), course, settings, topics)
        _pin(bundle, references)
        shutil.copytree(bundle, to, dirs_exist_ok=True)
    return sorted(path for path in to.rglob("*") if path.is_file())


def wheel(to: Path) -> Path:
    """Build the library's wheel into a folder, with whatever builder this Python has.

    Raises
    ------
    ValueError
        If it has none that works; the message says what to install.
    """
    root = Path(__file__).resolve().parents[3]
    if not (root / "pyproject.toml").exists():
        raise ValueError(f"the wheel is built from the course's sources, but this library is installed in {root}; "
                         "install it from a clone with `pip install -e .`")
    complaints = []
    with tempfile.TemporaryDirectory() as fresh:  # a build folder that was left behind would be packed too
        for command in _builders(root, Path(fresh)):
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=fresh)
            except (OSError, subprocess.TimeoutExpired) as error:
                complaints.append(str(error))
                continue
            if built := next(Path(fresh).glob("*.whl"), None):
                return Path(shutil.copy(built, to))
            complaints.append((done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1])
    raise ValueError(
        f'the wheel could not be built ({"; ".join(complaints)}); run "{sys.executable}" -m pip install build hatchling'
    )


def drift(bundle: Path, course: Course) -> list[str]:
    """The exercises whose public inputs, answers or mistakes are no longer those of a bundle.

    Raises
    ------
    FileNotFoundError
        If the folder holds no bundle.
    """
    if not (bundle / PINNED).exists():
        raise FileNotFoundError(f"a folder made by `course release` expected, found no {PINNED} in {bundle}")
    pinned = json.loads((bundle / PINNED).read_text(encoding="utf-8"))["exercises"]
    now = {r.exercise.id: cases_hash([r]) for r in course.references}
    return [exercise for exercise, told in pinned.items() if now.get(exercise) != told]


def _exercises(bundle: Path, course: Course, topic: str) -> None:
    """A unit's notebook of exercises, and of a pack the answers, which the library does not hold."""
    source = course.root / "solutions" / f"{topic}.py"
    write(bundle / "exercises" / f"{topic}.ipynb", text_of(to_solve(source)).encode())
    if course.is_pack:
        write(bundle / "answers" / f"{topic}.npz", dump(build.answers(course.references_of(source))))


def _notebooks(bundle: Path, lectures: list[Path]) -> None:
    """The lectures; what has no notebook gets a word instead, for an empty folder is lost in a zip."""
    for lecture in lectures:
        write(bundle / "notebooks" / lecture.name, lecture.read_bytes())
    for folder, other in (("notebooks", "exercises"), ("exercises", "lectures")):
        if not (bundle / folder).exists():
            write(bundle / folder / "README.md", f"This bundle has {other} only.\n".encode())


def _builders(root: Path, to: Path) -> Iterable[list[str]]:
    yield [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(to), str(root)]
    yield [sys.executable, "-m", "pip", "wheel", "--no-deps", "--quiet", "--wheel-dir", str(to), str(root)]
    yield [sys.executable, "-m", "build", "--wheel", "--outdir", str(to), str(root)]
    yield ["uv", "build", "--quiet", "--wheel", "--out-dir", str(to), str(root)]


def _lectures(course: Course, topics: list[str], chosen: bool) -> list[Path]:
    """The lecture notebooks of topics or units, and the first one, which everybody needs."""
    units = {topic.partition("_")[0].rstrip("abcdefgh") for topic in topics} | {"00"}
    return [path for path in sorted((course.root / "notebooks").glob("[0-9]*.ipynb"))
            if not chosen or path.stem.partition("_")[0].rstrip("abcdefgh") in units]


def _front(bundle: Path, built: Path, course: Course, settings: ClassFile, topics: list[str]) -> None:
    told = {"title": settings.title or course.title, "name": "course", "wheel": built.name,
            "python": metadata.metadata("course_lib")["Requires-Python"],
            "list": "\n".join(f"* `exercises/{topic}.ipynb`" for topic in topics)}
    write(bundle / "README.md", README.format_map(told).encode("utf-8"))
    write(bundle / "environment.yml", ENVIRONMENT.format_map(told).encode("utf-8"))
    write(bundle / "requirements.txt", f"./{built.name}\n".encode())


def _pin(bundle: Path, references: list[build.Reference]) -> None:
    """Write the hash of each exercise's cases and of each file down."""
    files = sorted(path for path in bundle.rglob("*") if path.is_file())
    told = {
        "exercises": {r.exercise.id: cases_hash([r]) for r in references},
        "files": {path.relative_to(bundle).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in files},
    }
    write(bundle / PINNED, (json.dumps(told, indent=1) + "\n").encode())
