"""Gradescope: ``results.json``, and the zip of an autograder that makes it.

Gradescope unpacks the zip into ``/autograder/source``, runs ``setup.sh`` once, and for each submission starts a
container with the files in ``/autograder/submission``, runs ``run_autograder`` and reads
``/autograder/results/results.json``.
The container is the only wall there: a submission could read whatever is in it. For marks that count, download the
submissions and grade them in the sandbox; the autograder is for quick answers.
"""
from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from ..course import Course
from .archive import of_folder
from .classfile import ClassFile
from .grade import Grading
from .intake import Heap
from .records import NOT_GRADED, RIGHT, Item, Run, Standing, Student
from .report import shares

__all__ = ["autograder", "results", "run"]

PACKAGE = Path(__file__).resolve().parents[2]
NEEDLESS = ("jupyterlab", "ipywidgets")                     # for learners; what grades has no use for them
EXECUTABLE, PLAIN, EPOCH = 0o755 << 16, 0o644 << 16, (1980, 1, 1, 0, 0, 0)
SETUP = """\
#!/usr/bin/env bash
# Gradescope runs this once, when it builds the container.
set -euo pipefail
source="$(cd "$(dirname "$0")" && pwd)"
fit() { "$1" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }
find_python() {
    for name in python3.13 python3.12 python3.11 python3; do
        if fit "$name"; then echo "$name"; return; fi
    done
}
if [ -z "$(find_python)" ]; then
    apt-get update
    apt-get install -y python3.12 python3.12-venv || apt-get install -y python3.11 python3.11-venv
fi
"$(find_python)" -m venv "$source/venv"
"$source/venv/bin/python" -m pip install --quiet --disable-pip-version-check -r "$source/requirements.txt"
"""
RUN = """\
#!/usr/bin/env bash
# Gradescope runs this for each submission; the container around it stands in for the sandbox.
set -euo pipefail
root="${AUTOGRADER_ROOT:-/autograder}"
export PYTHONPATH="$root/source/lib" PYTHONDONTWRITEBYTECODE=1
"$root/source/venv/bin/python" -m course_lib.classroom.grading.gradescope "$root"
"""


def results(standing: Standing, run: Run) -> dict:
    """What ``results.json`` holds for one submission.

    Raises
    ------
    ValueError
        If any of it is not graded: Gradescope then says that the autograder failed, which is true, instead of a 0.
    """
    if standing.total is None:
        reasons = [standing.row.reason, *(item.reason for item in standing.row.items if item.points is None)]
        raise ValueError(f"{standing.row.key}: not graded: {next(filter(None, reasons), '')}")
    told = [standing.row.reason, *standing.row.notes, "Graded without a sandbox." if run.trusted else ""]
    made = {"score": standing.total, "output": "\n".join(filter(None, told)), "output_format": "text",
            "visibility": "visible", "stdout_visibility": "hidden",
            "tests": [_test(item, standing.marks[item.exercise]) for item in standing.row.items]}
    return {name: value for name, value in made.items() if value != ""}


def autograder(path: Path, course: Course, secret: bytes, settings: ClassFile = ClassFile()) -> None:
    """Write the zip of an autograder that grades a course, or those exercises of it that a class is graded on."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content, mode in _files(course, secret, settings):
            info = zipfile.ZipInfo(name, EPOCH)
            info.external_attr = mode
            archive.writestr(info, content, zipfile.ZIP_DEFLATED)


def run(root: Path) -> Path:
    """Grade what lies in ``submission`` and write ``results/results.json``.

    Raises
    ------
    ValueError
        If it could not be graded; no result is left behind then.
    """
    source, target = root / "source", root / "results" / "results.json"
    target.unlink(missing_ok=True)
    settings = ClassFile.of(json.loads((source / "class.json").read_text(encoding="utf-8")))
    grading = Grading(Course.pack(source / "course"), root / "submission", root / "results", seed_file=source / "seed",
                      settings=settings, trusted=True)
    entries = tuple((entry.name, entry) for entry in of_folder(root / "submission"))
    [row] = grading.rows([Heap("submission", Student("submission"), entries)])
    told = results(Standing(row), grading.record)
    target.parent.mkdir(exist_ok=True)
    target.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    return target


def _test(item: Item, points: float) -> dict:
    return {"name": f"{item.exercise} {item.title}: {item.status}", "number": item.exercise, "score": points,
            "max_score": item.out_of, "status": "passed" if item.status == RIGHT else "failed",
            "output": "\n".join(_lines(item)), "output_format": "text", "visibility": "visible"}


def _lines(item: Item) -> Iterator[str]:
    """The feedback on an exercise as plain text."""
    if item.status in (RIGHT, NOT_GRADED):
        return
    yield from filter(None, (item.reason, item.remedy))
    if item.example:
        yield f"The simplest input that fails: {item.example.label}"
        yield from (f"  {name} = {value}" for name, value in item.example.given)
        yield f"  came: {item.example.got or 'nothing: ' + item.example.sentence}"
        yield f"  expected: {item.example.expected}"
    yield from (f"{share.label}: {'right' if share.right else 'wrong'}" for share in shares(item))


def _files(course: Course, secret: bytes, settings: ClassFile) -> Iterator[tuple[str, bytes, int]]:
    yield "setup.sh", SETUP.encode(), EXECUTABLE
    yield "run_autograder", RUN.encode(), EXECUTABLE
    yield "requirements.txt", "".join(f"{line}\n" for line in _requirements()).encode(), PLAIN
    yield "seed", secret + b"\n", PLAIN
    yield "class.json", json.dumps(settings.tree()).encode(), PLAIN
    for path in [*course.solutions, *sorted((course.root / "solutions" / "cases").glob("*.py"))]:
        yield f"course/{path.relative_to(course.root).as_posix()}", path.read_bytes(), PLAIN
    for path in sorted(PACKAGE.rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            yield f"lib/course_lib/{path.relative_to(PACKAGE).as_posix()}", path.read_bytes(), PLAIN
    version = metadata.version("course_lib")
    yield (f"lib/course_lib-{version}.dist-info/METADATA",
           f"Metadata-Version: 2.1\nName: course_lib\nVersion: {version}\n".encode(), PLAIN)


def _requirements() -> Iterator[str]:
    """What course_lib depends on, without extras and without what only a learner wants."""
    for line in metadata.requires("course_lib") or ():
        if "extra ==" not in line and not line.startswith(NEEDLESS):
            yield line
    yield "jinja2>=3.1"


if __name__ == "__main__":
    import sys

    try:
        print(run(Path(sys.argv[1])))
    except (ValueError, OSError) as error:
        sys.exit(f"This submission was not graded: {error}")
