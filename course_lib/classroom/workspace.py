"""The learner's own folder ``work/``: made beside the course, filled once, brought up to date without loss.

``work/notebooks/`` and ``work/exercises/`` are the learner's; ``work/.base/`` keeps each notebook as it was handed out,
``work/backups/`` each as it was before an update. No other file in it is ever touched.
"""
from __future__ import annotations

import difflib
import itertools
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from .merge import merge, text
from .notebook import parse, stripped, to_bytes, write

__all__ = ["BASE", "Change", "Report", "course_root", "enclosing_root", "enclosing_work", "lab", "prepare", "update"]

BASE = ".base"  # in work/: the notebooks as they were handed out; it also marks the folder as the course's
FOLDERS = ("notebooks", "exercises")
FIRST = "00_start_here.ipynb"


@dataclass(frozen=True)
class Change:
    """What an update did with one file."""

    path: str  # within work/
    state: str  # "new", "unchanged", "updated" or "left alone"
    words: str = ""
    diff: str = ""

    def __str__(self) -> str:
        return f"{self.path}: {self.state}{f', {self.words}' if self.words else ''}\n{self.diff}".rstrip()


@dataclass(frozen=True)
class Report:
    """What an update did; as text, the files that changed and how."""

    changes: tuple[Change, ...]

    def __str__(self) -> str:
        told = [str(change) for change in self.changes if change.state != "unchanged"]
        rest = len(self.changes) - len(told)
        return "\n".join([*told, f"{rest} of {len(self.changes)} notebooks were up to date."])


def course_root(start: Path | None = None) -> Path:
    """The folder that holds ``notebooks/`` and ``exercises/``: around `start`, else around the installed library.

    Parameters
    ----------
    start : Path, optional
        Where to look first; the current folder if None.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If neither place holds the course; the message says where to run the command.
    """
    here = Path(start or Path.cwd()).absolute()
    root = enclosing_root(here) or enclosing_root(Path(__file__).resolve().parent)
    if root is None:
        raise FileNotFoundError(
            f"expected the course's folders notebooks/ and exercises/ in {here} or in a folder above it, found them in "
            "neither; change to the folder into which you unpacked the course and run the command again")
    return root


def enclosing_root(here: Path) -> Path | None:
    """The nearest folder from `here` upwards that holds the course or a pack; ``work/`` has its shape but is not it."""
    return next((f for f in (here, *here.parents) if _holds_course(f) and not (f / BASE).is_dir()), None)


def enclosing_work(here: Path) -> Path | None:
    """The nearest folder from `here` upwards that is called ``work`` and was made by `prepare`."""
    return next((f for f in (here, *here.parents) if f.name == "work" and (f / BASE).is_dir()), None)


def prepare(root: Path) -> Path:
    """Make ``work/`` and copy each notebook of the course into it that is not there yet, without outputs."""
    work = root / "work"
    (work / BASE).mkdir(parents=True, exist_ok=True)
    for name, new in _handouts(root):
        if not os.path.lexists(work / name):
            _hand_out(work, name, new)
    return work


def lab(root: Path, arguments: Sequence[str] = ()) -> int:
    """Run JupyterLab on the first notebook in ``work/`` until it is stopped.

    Parameters
    ----------
    root : Path
        The course.
    arguments : sequence of str
        Passed on to JupyterLab, for example ``["--no-browser", "--port=8899"]``.

    Returns
    -------
    int
        0, the exit status; if JupyterLab cannot start, it exits with its own.

    Raises
    ------
    FileNotFoundError
        If JupyterLab is not installed.
    """
    work = prepare(root)
    try:
        from jupyterlab.labapp import main
    except ImportError as error:
        raise FileNotFoundError(f"expected JupyterLab beside {sys.executable}, got {error}; install it with "
                                f'"{sys.executable}" -m pip install jupyterlab, and run the command again') from None
    page = f"/lab/tree/notebooks/{FIRST}" if (work / "notebooks" / FIRST).exists() else "/lab"
    main([f"--ServerApp.root_dir={work}", f"--LabApp.default_url={page}", *arguments])
    return 0


def update(root: Path) -> Report:
    """Bring the notebooks in ``work/`` up to date with the course and carry the learner's cells over.

    Parameters
    ----------
    root : Path
        The course.

    Returns
    -------
    Report
        Every notebook of the course, with what came of it.
    """
    backups = datetime.now(timezone.utc).strftime("backups/%Y-%m-%dT%H%M%SZ")
    return Report(tuple(_updated(root / "work", name, new, f"{backups}/{name}") for name, new in _handouts(root)))


def _updated(work: Path, name: str, new: dict, backup: str) -> Change:
    """One notebook; killed between any two lines, it leaves a state from which the next update ends alike."""
    if not os.path.lexists(work / name):
        _hand_out(work, name, new)
        return Change(name, "new")
    before = _content(work / name)
    base, mine = parse(_content(work / BASE / name)), parse(before)
    if mine is None:
        return Change(name, "left alone", "it cannot be read as a notebook (nbformat 4); rename it to get a fresh one")
    if base is None:
        return Change(name, "left alone", "its copy in .base is missing; rename it to get the course's")
    if base == new:
        return Change(name, "unchanged")
    merged = {**new, "metadata": {**new["metadata"], **mine.get("metadata", {})},
              "cells": merge(base["cells"], mine["cells"], new["cells"])}
    backup = _back_up(work, backup, before)
    if _content(work / name) != before:
        return Change(name, "left alone", "it was saved during the update; close it and update again")
    write(work / name, to_bytes(merged))
    write(work / BASE / name, to_bytes(new))
    return Change(name, "updated", f"the file as it was: {backup}", _diff(name, mine, merged))


def _handouts(root: Path) -> Iterator[tuple[str, dict]]:
    """The course's notebooks as they are handed out, by their path within ``work/``."""
    for path in sorted(path for folder in FOLDERS for path in (root / folder).glob("*.ipynb")):
        if (notebook := parse(path.read_bytes())) is None:
            raise ValueError(f"expected a notebook (nbformat 4) in {path}, got something else; get this file again")
        yield path.relative_to(root).as_posix(), stripped(notebook)


def _holds_course(folder: Path) -> bool:
    """Are there exercises, with lectures or, as in a pack of their author's, with solutions beside them?"""
    return (folder / "exercises").is_dir() and any((folder / name).is_dir() for name in ("notebooks", "solutions"))


def _hand_out(work: Path, name: str, new: dict) -> None:
    write(work / BASE / name, to_bytes(new))  # first: a file without its base could never be updated
    write(work / name, to_bytes(new))


def _content(path: Path) -> bytes:
    return path.read_bytes() if path.is_file() else b""


def _back_up(work: Path, name: str, content: bytes) -> str:
    free = next(n for i in itertools.count() if not (work / (n := f"{name}.{i}" if i else name)).exists())
    write(work / free, content)
    return f"work/{free}"


def _diff(name: str, before: dict, after: dict) -> str:
    sides = [[line for cell in side["cells"] for line in (f"[{cell['cell_type']}]", *text(cell).split("\n"))]
             for side in (before, after)]
    return "\n".join(difflib.unified_diff(*sides, f"{name} before", f"{name} now", n=1, lineterm=""))
