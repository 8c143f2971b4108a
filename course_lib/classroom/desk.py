"""Check the notebooks in ``work/`` from the command line: run their code cells, then examine what they define."""
from __future__ import annotations

import contextlib
import io
import os
import sys
import types
from pathlib import Path
from typing import Any

import nbformat

from . import answers
from .answers import find
from .card import Card, Text
from .check import Verdict, examine
from .progress import unnoted, variable
from .run import time_limit
from .workspace import course_root

__all__ = ["check_files", "defined"]

CELL_SECONDS = 30.0


def check_files(what: str | None = None) -> list[Verdict]:
    """Examine the exercises of one notebook, one exercise, or everything in ``work/exercises/``.

    Parameters
    ----------
    what : str, optional
        A notebook's path, an id ("E1.1") or a function's name.

    Raises
    ------
    ValueError
        If `what` is none of these.
    FileNotFoundError
        If there is no such notebook in ``work/``.
    """
    if what and what.endswith(".ipynb"):
        return _examined(Path(what), [a.name for a in answers.everything().values()])
    folder = course_root() / "work" / "exercises"
    if what:
        if (answer := find(what)) is None:
            raise ValueError(f"an exercise (id or function) or a notebook expected, got {what!r}; "
                             f"there are {', '.join(a.id for a in answers.everything().values())}")
        return _examined(folder / f"{answer.topic}.ipynb", [answer.name])
    if not (notebooks := sorted(folder.glob("*.ipynb"))):
        raise FileNotFoundError(f"no notebooks in {folder}: `course lab` puts them there")
    return [v for path in notebooks for v in _examined(path, [a.name for a in answers.everything().values() if a.topic == path.stem])]


def defined(path: Path) -> dict[str, Any]:
    """The names that a notebook's code cells leave behind; a cell that fails costs only itself."""
    if not path.exists():
        raise FileNotFoundError(f"no notebook {path}: `course lab` puts the course's notebooks into work/")
    from IPython.core.inputtransformer2 import TransformerManager

    namespace = types.ModuleType("__main__")
    vars(namespace)["get_ipython"] = lambda: types.SimpleNamespace(**dict.fromkeys(
        ("run_line_magic", "run_cell_magic", "system", "getoutput"), lambda *_, **__: None))
    with (unnoted(), variable("MPLBACKEND", os.environ.get("MPLBACKEND", "Agg")), contextlib.chdir(path.parent),
          contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO())):
        for number, cell in enumerate(nbformat.read(path, as_version=4).cells, 1):
            if cell.cell_type == "code":
                _run(TransformerManager().transform_cell(cell.source), f"{path.name}, cell {number}", namespace)
    return vars(namespace)


def _run(source: str, name: str, namespace: types.ModuleType) -> None:
    import linecache

    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    try:
        with time_limit(CELL_SECONDS):
            exec(compile(source, name, "exec"), vars(namespace))
    except BaseException as error:  # a broken cell must not keep the others from being checked
        if isinstance(error, KeyboardInterrupt):
            raise
        print(f"{name}: {error}", file=sys.__stderr__)


def _examined(path: Path, names: list[str]) -> list[Verdict]:
    namespace = defined(path)
    return [examine(namespace[name]) if callable(namespace.get(name)) else _missing(name, path)
            for name in names if name in namespace or answers.everything()[name].topic == path.stem]


def _missing(name: str, path: Path) -> Verdict:
    answer = answers.everything()[name]
    words = f"{path.name} defines no function `{name}`: was its cell renamed, turned into text, or does it stop with an error?"
    return Verdict("wrong", Card("wrong", "NOT FOUND", f"{answer.id} {name}", (Text(words),)), answer.id)
