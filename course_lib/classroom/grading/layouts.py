"""Whose file is it? The names that Canvas, Moodle, Gradescope and nbgrader give to what they hand out, and plain ones.

=============  =====================================================================================
Canvas         ``lovelaceada_12345_67890_hw1.ipynb``, ``lovelaceada_LATE_12345_67890_hw1.ipynb``
Moodle         ``Ada Lovelace_12345_assignsubmission_file_/hw1.ipynb``, or the same without a folder
Gradescope     ``submission_12345/hw1.ipynb`` and a ``submission_metadata.yml``
nbgrader       ``ada/hw1/hw1.ipynb`` beside ``ada/hw1/timestamp.txt``
a folder       ``ada/anything.ipynb``: all that lies in a folder is of one student
a file         ``ada.ipynb``
=============  =====================================================================================
"""
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from .archive import Entry, Refused
from .records import Student

__all__ = ["CHECKPOINT", "Pile", "natural", "piles", "words"]

CANVAS = re.compile(r"(?P<name>[^_/]+)_(?P<late>LATE_)?(?P<id>\d+)_\d+_(?P<file>[^/]+)$")
MOODLE = re.compile(r"(?P<name>[^/]+)_(?P<id>\d+)_assignsubmission_(?:file|onlinetext)_?/?(?P<file>.*)$")
METADATA = "submission_metadata.yml"                # of Gradescope
STAMP = re.compile(r"[^/]+/timestamp\.txt")         # of nbgrader
CHECKPOINT = re.compile(r"-checkpoint(?=\.ipynb$)")
NOT_OF_A_STUDENT = re.compile(r"\.|__MACOSX|Thumbs\.db$|[^/]+\.(csv|toml|ya?ml|ini)$", re.IGNORECASE)    # at the top


@dataclass
class Pile:
    """The files of one student, each with its name within the submission; not read yet."""

    student: Student
    entries: list[tuple[str, Entry]] = field(default_factory=list)
    late: bool = False
    submitted: str = ""


def piles(entries: Iterable[Entry], zipped: bool = False) -> list[Pile]:
    """The files of each student, later ones after earlier ones as their names tell.

    In a zip, one folder around everything only wraps it; on disk, a single folder is a single student.
    """
    entries = _without_wrapper(list(entries), zipped)
    groups = _gradescope(next((e for e in entries if e.name == METADATA), None))
    found: dict[str, Pile] = {}
    for entry in sorted(entries, key=lambda e: natural(e.name)):
        if NOT_OF_A_STUDENT.match(entry.name) and not _of_a_platform(entry.name):
            continue
        for student, inner, late, submitted in _owned(entry, groups):
            pile = found.setdefault(student.id, Pile(student))
            pile.late |= late
            pile.submitted = max(pile.submitted, submitted)
            pile.entries += [(inner, entry)] if inner else []
    return list(found.values())


def natural(name: str) -> list:
    """A key by which "hw (10).ipynb" comes after "hw (9).ipynb", and both after "hw.ipynb"."""
    parts = re.split(r"(\d{1,18})", name.removesuffix(".ipynb"))        # of longer numbers, a piece at a time
    return [(i % 2, int(part) if i % 2 else 0, part) for i, part in enumerate(parts)]


def words(name: str) -> list[str]:
    """The words and numbers of a name: "01 My_work.ipynb" has the first one "01"."""
    return re.findall(r"[^\W_]+", name)


def _of_a_platform(name: str) -> bool:
    return bool(MOODLE.match(name) or CANVAS.match(name))


def _owned(entry: Entry, groups: dict[str, list[tuple[Student, str]]]) -> Iterator[tuple[Student, str, bool, str]]:
    """Whose a file is, its name within the submission, and what it tells of the time."""
    name = entry.name
    first, slash, rest = name.partition("/")
    if match := MOODLE.match(name):
        yield Student(match["id"], match["name"]), match["file"], False, ""
    elif match := CANVAS.match(name):
        yield Student(match["id"], match["name"]), match["file"], bool(match["late"]), ""
    elif slash and first in groups:
        for student, submitted in groups[first]:
            yield student, rest, False, submitted
    elif slash:
        yield Student(first), rest, False, _stamp(entry) if STAMP.fullmatch(rest) else ""
    else:
        yield Student(Path(CHECKPOINT.sub("", name)).stem), name, False, ""


def _without_wrapper(entries: list[Entry], zipped: bool) -> list[Entry]:
    """The entries without a folder that only wraps them all, such as the name of the assignment."""
    tops = {e.name.partition("/")[0] for e in entries}
    if len(tops) != 1 or any("/" not in e.name or MOODLE.match(e.name) for e in entries):
        return entries
    inner = [Entry(rest, e.read, e.size, e.fault) for e in entries if (rest := e.name.partition("/")[2])]
    several = (
        zipped and len({e.name.partition("/")[0] for e in inner if e.name.endswith(".ipynb") or "/" in e.name}) > 1
    )
    platform = any(_of_a_platform(e.name) or e.name == METADATA for e in inner)
    return inner if several or platform or tops == {"submitted"} else entries


def _stamp(entry: Entry) -> str:
    """The time in nbgrader's file beside a submission; a file of that name deeper down is the student's own."""
    try:
        raw = entry.read()[:100]
    except Refused:
        return ""
    match = re.match(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d", raw.decode("ascii", "replace"))
    return match[0].replace(" ", "T") if match else ""


def _gradescope(entry: Entry | None) -> dict[str, list[tuple[Student, str]]]:
    """Folder → the students who submitted it together, and when."""
    if entry is None:
        return {}
    import yaml

    try:
        tree = yaml.safe_load(entry.read())
        return {folder: [(_person(p, folder), _time(told)) for p in told.get(":submitters") or [{}]]
                for folder, told in tree.items()}
    except (yaml.YAMLError, AttributeError) as error:
        raise ValueError(
            f"{METADATA} is not as Gradescope writes it ({error}); export the submissions once more"
        ) from None


def _person(told: dict, folder: str) -> Student:
    return Student(str(told.get(":sid") or told.get(":email") or folder), str(told.get(":name") or ""))


def _time(told: dict) -> str:
    time = told.get(":created_at")
    try:
        return (time if isinstance(time, datetime) else datetime.fromisoformat(str(time))).isoformat()
    except ValueError:
        return ""
