"""Everything derived is made here from its source, and only if it is stale.

=====================================  ==========================================================================
derived                                from
=====================================  ==========================================================================
``classroom/answers/NN_topic.npz``     ``solutions/NN_topic.py`` and ``solutions/cases/NN_topic.py``
``exercises/NN_topic.ipynb``           ``solutions/NN_topic.py``
``solutions/NN_topic.ipynb``           ``solutions/NN_topic.py``, executed; the cards in it also from the answers
``notebooks/NN_topic.ipynb``           ``notebooks/scripts/NN_topic.py``, executed
``notebooks/CLAIMS.md``                ``notebooks/claims.toml`` and the cells marked ``# claim N.M``
``environment.yml``                    ``pyproject.toml``
=====================================  ==========================================================================
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import nbformat

from . import build, claims, environment
from .answers import Answer, dump, load
from .compare import Comparer
from .course import METADATA, Course, lecture, same_cells, text_of, to_solve
from .progress import unnoted

__all__ = ["Derived", "derived", "stale", "sync"]

ANSWERS_AGREE = Comparer(rtol=1e-9, atol=1e-12)
WIDGET = "application/vnd.jupyter.widget-view+json"


@dataclass(frozen=True)
class Derived:
    """A derived file, its kind, whether it is up to date, and how to make its bytes."""

    kind: str
    path: Path
    is_fresh: Callable[[], bool]
    make: Callable[[], bytes]


def derived(course: Course) -> Iterator[Derived]:
    """Every file of a course that is derived from another; a pack has no claims and no environment of its own."""
    for source in course.solutions:
        path = course.answer_folder / f"{source.stem}.npz"
        yield Derived("answers", path, partial(_answers_fresh, course, source, path), partial(_answers, course, source))
        path = course.root / "exercises" / f"{source.stem}.ipynb"
        make = partial(_stub_notebook, source)
        yield Derived("exercise notebook", path, partial(_equal_bytes, path, make), make)
        yield _executed("solution notebook", source.with_suffix(".ipynb"), source)
    for source in course.lectures:
        yield _executed("lecture notebook", course.root / "notebooks" / f"{source.stem}.ipynb", source)
    if course.is_pack:
        return
    for kind, path, text in (("claims index", course.root / "notebooks" / "CLAIMS.md", partial(claims.index, course)),
                             ("environment", course.root / "environment.yml", partial(environment.text, course.root))):
        make = partial(_encoded, text)
        yield Derived(kind, path, partial(_equal_bytes, path, make), make)


def stale(course: Course) -> list[Derived]:
    """The derived files that do not follow from their sources."""
    return [d for d in derived(course) if not d.is_fresh()] + _orphans(course)


def sync(course: Course, everything: bool = False, topic: str = "") -> Iterator[Derived]:
    """Make what is stale (or everything) and yield each file once it is written; remove what has no source left.

    With a topic ("01"), only files whose name begins with it. What cannot be made does not keep the rest from it. Where
    answers were made, the solution notebook is run again, for the checker's cards stand in it.

    Raises
    ------
    BuildError
        At the end, with everything that could not be made.
    """
    failures, answered = [], set()
    for item in derived(course):
        shows = item.kind == "solution notebook" and item.path.stem in answered
        try:
            if item.path.name.startswith(topic) and (everything or shows or not item.is_fresh()):
                _write(item.path, item.make())
                answered |= {item.path.stem} if item.kind == "answers" else set()
                yield item
        except build.BuildError as error:
            failures.append(str(error))
    for item in _orphans(course):
        item.path.unlink()
        yield item
    if failures:
        raise build.BuildError("\n\n".join(failures))


def _orphans(course: Course) -> list[Derived]:
    """Files in the places of derived ones that no source accounts for."""
    known = {d.path for d in derived(course)}
    places = [(course.answer_folder, "*.npz"), (course.root / "exercises", "*.ipynb"),
              (course.root / "solutions", "*.ipynb"), (course.root / "notebooks", "*.ipynb")]
    found = sorted(p for folder, pattern in places for p in folder.glob(pattern) if p not in known)
    return [Derived("orphan", path, lambda: False, bytes) for path in found]


def _answers(course: Course, source: Path) -> bytes:
    return dump(build.answers(course.references_of(source)))


def _answers_fresh(course: Course, source: Path, path: Path) -> bool:
    if not path.exists():
        return False
    try:
        old = load(path.read_bytes())
    except (ValueError, KeyError, OSError):
        return False
    new = load(_answers(course, source))
    return len(old) == len(new) and all(map(_agree, old, new))


def _agree(one: Answer, other: Answer) -> bool:
    """Equal to the letter in words and settings, to nine digits in numbers."""
    from .answers import _tree

    arrays: tuple[list, list] = ([], [])
    if _tree(one, arrays[0]) != _tree(other, arrays[1]) or len(arrays[0]) != len(arrays[1]):
        return False
    return all(ANSWERS_AGREE.difference(a, b) is None for a, b in zip(*arrays))


def _executed(kind: str, path: Path, source: Path) -> Derived:
    return Derived(kind, path, partial(_cells_fresh, path, source), partial(_run, source, path.parent))


def _cells_fresh(path: Path, source: Path) -> bool:
    """Has the notebook the cells of its source, and has it been run?"""
    if not path.exists():
        return False
    try:
        old = nbformat.read(path, as_version=4)
    except (ValueError, OSError, nbformat.ValidationError):
        return False
    run = all(c.execution_count for c in old.cells if c.cell_type == "code")
    return run and old.metadata == METADATA and same_cells(old, lecture(source))


def _run(source: Path, folder: Path) -> bytes:
    """Execute a script as a notebook, in its folder and with a progress file of its own."""
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError

    notebook = lecture(source)
    client = NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False,
                            extra_arguments=["--log-level=ERROR"],
                            resources={"metadata": {"path": str(folder)}})
    with unnoted():
        try:
            client.execute()
        except CellExecutionError as error:
            failed = next(c for c in notebook.cells if any(o.output_type == "error" for o in c.get("outputs", ())))
            raise build.BuildError(f"{source.name} does not run: {error.ename}: {error.evalue}\n"
                                   f"in the cell\n{failed.source}") from None
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            output.get("data", {}).pop(WIDGET, None)
        cell.metadata = {key: value for key, value in cell.metadata.items() if key == "tags"}
    notebook.metadata = METADATA
    return _encoded(partial(text_of, notebook))


def _stub_notebook(source: Path) -> bytes:
    return _encoded(partial(text_of, to_solve(source)))


def _encoded(text: Callable[[], str]) -> bytes:
    return text().encode("utf-8")


def _equal_bytes(path: Path, make: Callable[[], bytes]) -> bool:
    return path.exists() and path.read_bytes().replace(b"\r\n", b"\n") == make()


def _write(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
