"""Exercise notebooks as nbgrader reads them (metadata of schema 3).

nbgrader gives full points to a locked cell that neither fails nor ends in a number, and the checker never fails; so
each check cell ends in the points of its exercise. nbgrader runs checks in the student's own process, on public inputs.
"""
from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..course import Course, text_of, to_solve
from .classfile import ClassFile

__all__ = ["nbgrader_notebook", "write_sources"]

CHECK = re.compile(r"check\((\w+)\)\s*")
STUB = re.compile(r"^([ \t]*)# your code here\n([ \t]*raise NotImplementedError\(.*\))$", re.MULTILINE)
POINTS = """
from course_lib.classroom.check import examine

{points} * (examine({name}).status == "right")"""


def nbgrader_notebook(notebook: Any, points: dict[str, float]) -> Any:
    """An exercise notebook with nbgrader's metadata on its answer cells and on the check that follows each.

    Parameters
    ----------
    notebook : notebook of nbformat 4
        As `course.to_solve` makes it; it is not changed.
    points : dict
        Name of the function → points.
    """
    made, waiting = copy.deepcopy(notebook), dict(points)
    for cell in made.cells:
        if cell.cell_type != "code":
            continue
        check = CHECK.fullmatch(cell.source)
        if "answer" in cell.metadata.get("tags", ()):
            cell.source = STUB.sub(r"\1### BEGIN SOLUTION\n\2\n\1### END SOLUTION", cell.source)
            cell.metadata["nbgrader"] = _metadata(cell.id, solution=True)
        elif check and (worth := waiting.pop(check[1], None)) is not None:
            cell.source += POINTS.format(points=float(worth), name=check[1])
            cell.metadata["nbgrader"] = _metadata(cell.id, grade=True, locked=True) | {"points": float(worth)}
    return made


def write_sources(course: Course, folder: Path, settings: ClassFile = ClassFile()) -> Iterator[Path]:
    """Write ``NN_topic/NN_topic.ipynb`` for each unit that a class is graded on into nbgrader's folder ``source``."""
    worth: dict[str, dict[str, float]] = {}
    for r in settings.chosen(course.references, course.lectures):
        worth.setdefault(r.topic, {})[r.exercise.name] = settings.points.get(r.exercise.id, r.exercise.points)
    for source in course.solutions:
        if source.stem in worth:
            path = folder / source.stem / f"{source.stem}.ipynb"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text_of(nbgrader_notebook(to_solve(source), worth[source.stem])), encoding="utf-8")
            yield path


def _metadata(identity: str, grade: bool = False, locked: bool = False, solution: bool = False) -> dict[str, Any]:
    return {"schema_version": 3, "grade_id": identity, "grade": grade, "locked": locked, "solution": solution,
            "task": False}
