"""Grading a class on units 01 and 02, half references and half with random mistakes (aim: 15 a second on two cores)."""
from __future__ import annotations

import ast
import ctypes
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook

from course_lib.classroom import build
from course_lib.classroom.course import Course, to_solve
from course_lib.classroom.grading import sandbox
from course_lib.classroom.grading.classfile import ClassFile
from course_lib.classroom.grading.grade import Grading
from course_lib.classroom.grading.report import write_pages

AIM, UNITS, SHARE_OF_MISTAKES = 15.0, ("01", "02"), 0.4
SUBREAPER = 36          # of prctl: whatever a dead descendant leaves behind is waited for here, and so counted


def run(quick: bool = False) -> list[dict]:
    """A row for each size of the class; what a first run of eight takes is not counted."""
    if lacking := sandbox.missing():
        return [{"not measured": lacking[0]}]
    with tempfile.TemporaryDirectory() as folder:
        start, *measured = [_measured(Path(folder), n) for n in ((8, 16) if quick else (8, 30, 300, 3000))]
    return [_row(start, told) for told in measured]


def _row(start: dict, told: dict) -> dict:
    more = told["submissions"] - start["submissions"]
    return {"submissions": told["submissions"], "processes": told["processes"],
            "a second": (told["submissions"] - 1) / told["seconds"], "aim": AIM,
            "CPU ms each": 1e3 * (told["cpu"] - start["cpu"]) / more,
            "peak MB, grader": told["grader"], "peak MB, largest other": told["other"]}


def _measured(folder: Path, n: int) -> dict:
    """Grade n submissions in a process of its own."""
    _class(folder / f"class{n}", n)
    command = [sys.executable, "-m", "benchmarks.grade", str(folder / f"class{n}"), str(folder / f"grades{n}")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1])
    return {"submissions": n} | json.loads(done.stdout)


def _counted(submissions: Path, to: Path) -> dict:
    """Grade in a fork, and wait for all that it leaves behind: only what has ended is counted."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    if os.fork() == 0:
        told = _grade(submissions, to)
        (to / "told.json").write_text(json.dumps(told), encoding="utf-8")
        sys.exit()
    with suppress(ChildProcessError):
        while True:
            os.wait()
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return json.loads((to / "told.json").read_text(encoding="utf-8")) | {"cpu": used.ru_utime + used.ru_stime}


def _grade(submissions: Path, to: Path) -> dict:
    """Marks and pages: seconds from the first row on, megabytes of the grader and of the largest process beside it."""
    workers = len(os.sched_getaffinity(0))
    rows = Grading(Course.here(), submissions, to, settings=ClassFile(units=UNITS), workers=workers).run()
    next(rows)
    began = time.perf_counter()              # from here on it is warm
    for _ in rows:
        pass
    write_pages(to)
    own, others = (resource.getrusage(who).ru_maxrss / 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return {"seconds": time.perf_counter() - began, "processes": workers, "grader": own, "other": others}


def _class(folder: Path, n: int) -> None:
    """The submissions: a folder with a notebook for each unit for each student."""
    course, rng = Course.here(), random.Random(1)
    units = [(source.stem, to_solve(source), list(_answers(course, source)))
             for source in course.solutions if source.stem.startswith(UNITS)]
    for i in range(n):
        home = folder / f"student{i:04d}"
        home.mkdir(parents=True)
        for name, empty, answers in units:
            chosen = [rng.choice(wrong) if i % 2 and rng.random() < SHARE_OF_MISTAKES else right
                      for right, wrong in answers]
            cells = [cell for cell in empty.cells if "answer" not in cell.metadata.get("tags", ())]
            nbformat.write(new_notebook(cells=[*cells, *map(new_code_cell, chosen)]), home / f"{name}.ipynb")


def _answers(course: Course, source: Path) -> Iterator[tuple[str, list[str]]]:
    """For each exercise the reference and its mistakes, as the sources of cells."""
    solutions = [cell.source for cell in build.read(source).cells if "solution" in cell.metadata.get("tags", ())]
    text = (source.parent / "cases" / source.name).read_text(encoding="utf-8")
    nodes = {node.name: node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)}
    shared = [ast.unparse(node) for node in ast.parse(text).body if _helps(node)]
    for reference in course.references_of(source):
        name = reference.exercise.name
        right = next(cell for cell in solutions if f"def {name}(" in cell)
        wrong = (nodes[mistake.function.__name__] for mistake in reference.exercise.mistakes)
        yield right, ["\n".join([*shared, _bare(node), f"{name} = {node.name}"]) for node in wrong]


def _helps(node: ast.stmt) -> bool:
    """Is it what mistakes lean on: an import that a submission may make, a constant, a function that is no case?"""
    if isinstance(node, ast.FunctionDef):
        return not node.decorator_list
    return isinstance(node, (ast.Import, ast.ImportFrom, ast.Assign)) and "Exercise" not in ast.unparse(node)


def _bare(node: ast.FunctionDef) -> str:
    """A function without its decorators."""
    return ast.unparse(ast.FunctionDef(**{**vars(node), "decorator_list": []}))


if __name__ == "__main__":
    print(json.dumps(_counted(*map(Path, sys.argv[1:]))))
