"""Marks and feedback in the form in which Canvas and Moodle take them back.

Both know a student by a number of their own that stands in the names of the files that they handed out; it is read from
there again, so that a class with a roster of other ids is told as well. What is not graded has no number in any file.
"""
from __future__ import annotations

import csv
import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

from ..notebook import write
from . import intake
from .layouts import CANVAS, MOODLE
from .records import Standing
from .report import PAGES, write_pages
from .roster import Roster
from .standings import cell, read_run, standings

__all__ = ["canvas", "feedback_zip", "moodle", "write_csv"]

CANVAS_COLUMNS = ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")
MOODLE_COLUMNS = ("Identifier", "Full name", "Grade", "Maximum Grade", "Last modified (grade)", "Feedback comments")
PATTERNS = {"canvas": CANVAS, "moodle": MOODLE}
FEEDBACK = "feedback.html"
EPOCH = (1980, 1, 1, 0, 0, 0)             # of every file in a zip, so that the same pages give the same bytes


def canvas(folder: Path, assignment: str) -> Iterator[list]:
    """The lines of a CSV file for Canvas: Grades, Import.

    Parameters
    ----------
    folder : Path
        A grading folder.
    assignment : str
        The title of the assignment, best with its number as Canvas's own export writes it: ``Sheet 2 (4711)``.

    Notes
    -----
    Canvas takes a student by ID, else by SIS User ID: the number in the name of the file, else the id of the roster.
    """
    known = handed_out(folder, "canvas")
    yield [*CANVAS_COLUMNS, assignment]
    for count, standing in enumerate(standings(folder)):
        if count == 0:
            yield ["    Points Possible", *[""] * (len(CANVAS_COLUMNS) - 1), standing.out_of]
        student, there = standing.row.student, known.get(standing.row.key)
        number = there["id"] if there else ""
        yield [student.name or student.id, number, student.id if student.id != number else "", "", "", standing.total]


def moodle(folder: Path) -> Iterator[list]:
    """The lines of a CSV file for Moodle: the assignment, Upload grading worksheet.

    Students without a file have no number of Moodle's and are left out. Moodle keeps a mark that it has already unless
    "Allow updating records that have been modified more recently" is ticked.
    """
    known = handed_out(folder, "moodle")
    yield [*MOODLE_COLUMNS]
    for standing in standings(folder):
        if there := known.get(standing.row.key):
            yield [f"Participant {there['id']}", standing.row.student.name, standing.total, standing.out_of, "-",
                   summary(standing)]


def summary(standing: Standing) -> str:
    """A few words on each exercise, in one line."""
    late = f"; {standing.factor:.0%} of the points for lateness" if standing.factor < 1 else ""
    return "; ".join(f"{item.exercise} {item.status}" for item in standing.row.items) + late


def write_csv(path: Path, lines: Iterator[list]) -> Path:
    """Write lines as CSV; no text in them can become a formula, and every file is UTF-8."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(map(_cells, lines))
    write(path, text.getvalue().encode("utf-8", "replace"))
    return path


def feedback_zip(folder: Path, platform: str, path: Path) -> int:
    """Pack the feedback pages as a platform wants them back; returns how many went in.

    Canvas (the assignment, Upload submissions) finds a student by the two numbers in a file's name, Moodle (the
    assignment, Upload multiple feedback files in a zip) by the folder's name; both are as they were handed out.

    Parameters
    ----------
    folder : Path
        A grading folder.
    platform : {"canvas", "moodle"}
    path : Path
        Of the zip.

    Raises
    ------
    ValueError
        If nothing among the submissions has a name as the platform gives it.
    """
    write_pages(folder)
    known = handed_out(folder, platform)
    if not known:
        raise ValueError(f"submissions with names as {platform.capitalize()} gives them expected, found none; "
                         f"each page is in {folder / PAGES}")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for key, match in known.items():
            page = (folder / PAGES / f"{key}.html").read_bytes()
            archive.writestr(zipfile.ZipInfo(_place(match, platform), EPOCH), page, zipfile.ZIP_DEFLATED)
    return len(known)


def handed_out(folder: Path, platform: str) -> dict[str, re.Match]:
    """Key of a submission → the first of its files' names, taken apart as the platform puts it together.

    Raises
    ------
    FileNotFoundError
        If the submissions are no longer where they were graded from.
    """
    told = read_run(folder).extra
    roster = Roster.read(Path(told["roster"])) if told.get("roster") else None
    found = {}
    for heap in intake.collect(Path(told["submissions"]), roster):
        matches = (PATTERNS[platform].match(entry.name) for _, entry in heap.entries)
        if match := next(filter(None, matches), None):
            found[heap.key] = match
    return found


def _place(match: re.Match, platform: str) -> str:
    if platform == "canvas":
        return match.string[:match.start("file")] + FEEDBACK
    return f"{match['name']}_{match['id']}_assignsubmission_file_/{FEEDBACK}"


def _cells(line: list) -> list[str]:
    """Blanks in front of Points Possible stay, for Canvas knows that line by them."""
    return [value if isinstance(value, str) and value.startswith("    Points") else cell(value) for value in line]
