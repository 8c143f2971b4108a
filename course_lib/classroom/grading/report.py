"""Feedback pages: one for each student, one for the class; plain HTML that asks for nothing from outside.

Whatever came from a student is escaped by the templates. A page is made, written and forgotten before the next one.
"""
from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ..card import inline
from .records import (CRASHED, DELEGATED, GRADED, MISSING, NOT_GRADED, NOTHING, RIGHT, TIMED_OUT, UNREADABLE, WRONG,
                      Example, Item, Run, Standing)
from .standings import read_run, standings
from .survey import Survey

__all__ = ["CLASS_PAGE", "PAGES", "class_page", "student_page", "write_pages"]

PAGES, CLASS_PAGE = "feedback", "class.html"
SHOWN = 20                     # of the longest lists of the class page
SIGNS = {RIGHT: "✓", WRONG: "✗", TIMED_OUT: "…", CRASHED: "!", MISSING: "○", UNREADABLE: "?",
         DELEGATED: "↷", NOT_GRADED: "–"}
HELP = {
    UNREADABLE: "Hand in the notebook itself, the file that ends in .ipynb; if it opens in Jupyter, it can be read "
                "here. Ask your lecturer whether there is still time.",
    NOTHING: "If you did hand something in, tell your lecturer the name of your file.",
}
MARKS = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f]"
PILED = re.compile(f"({MARKS}{{4}}){MARKS}+")        # no language has so many upon one letter
KEPT = "\n\t\u200c\u200d"     # the last two join letters, or keep them apart, in names of many languages
MEANINGS = {
    WRONG: "It was called, and the expected answer did not come.",
    TIMED_OUT: "No answer came within the time allowed.",
    CRASHED: "The process that ran the function ended before it answered.",
    MISSING: "There is no such function, or nothing is written in it yet.",
    UNREADABLE: "The file could not be opened as a notebook.",
    DELEGATED: "The work is left to a library's ready solution, which earns nothing here.",
    NOT_GRADED: "The grader failed, not you. There is no mark yet; nothing is lost.",
}


@dataclass(frozen=True)
class Share:
    """A kind of inputs and what it earned; `earned` is None where it is not counted."""

    label: str
    right: bool
    earned: float | None
    possible: float
    reason: str


def student_page(standing: Standing, run: Run) -> str:
    """The feedback of one student, as HTML; it tells nothing of anybody else.

    Parameters
    ----------
    standing : Standing
    run : Run
        The grading run that the standing belongs to.
    """
    items = standing.row.items
    return _template("student.html").render(
        run=run, standing=standing, row=standing.row, marks=standing.marks, signs=SIGNS, meanings=MEANINGS, help=HELP,
        by_hand={o.exercise: o for o in standing.overrides}, days=math.ceil(standing.days_late),
        lost=[item for item in items if item.status != RIGHT] if standing.row.status == GRADED else [],
        shares={item.exercise: shares(item) for item in items})


def class_page(run: Run, survey: Survey) -> str:
    """What a class did, as HTML: marks, exercises, mistakes, who is missing."""
    return _template("class.html").render(run=run, survey=survey, signs=SIGNS, meanings=MEANINGS, shown=SHOWN)


def write_pages(folder: Path) -> None:
    """Write ``class.html`` and ``feedback/<key>.html`` into a grading folder; the same marks give the same bytes."""
    run, survey = read_run(folder), Survey()
    pages = folder / PAGES
    pages.mkdir(exist_ok=True)
    written = set()
    for standing in standings(folder):
        survey.add(standing)
        path = pages / f"{standing.row.key}.html"
        path.write_bytes(_bytes(student_page(standing, run)))
        written.add(path)
    for path in set(pages.glob("*.html")) - written:          # of students who are no longer listed
        path.unlink()
    (folder / CLASS_PAGE).write_bytes(_bytes(class_page(run, survey)))


def shares(item: Item) -> list[Share]:
    """What each kind of inputs earned: equal shares, except that inputs which never vary only cost."""
    varies = any(not p.fixed for p in item.parts)
    counting = [p for p in item.parts if not (varies and p.fixed and p.right)]
    each = item.out_of / len(counting) if counting else 0.0
    earns = item.status not in (DELEGATED, NOT_GRADED)
    return [Share(p.label, p.right, (each if p.right and earns else 0.0) if p in counting else None,
                  each if p in counting else 0.0, p.reason) for p in item.parts]


def printable(value: Any) -> Any:
    """Text without what a screen might obey instead of show: control signs, changes of direction, halves of a pair.

    Of marks that are piled upon one letter, and would cover the lines around it, four are kept.
    """
    if not isinstance(value, str) or hasattr(value, "__html__"):
        return value
    value = value if value.isascii() else PILED.sub(r"\1", value)
    if value.isprintable():
        return value
    return "".join(c if c.isprintable() or c in KEPT or unicodedata.category(c)[0] != "C" else "\ufffd" for c in value)


def _words(text: str) -> Any:
    """A sentence with its `code` set as code."""
    from markupsafe import Markup

    return Markup(inline(printable(text)))


def _sentence(text: str) -> Any:
    """A sentence of ours with a capital and a full stop; one that begins with a name keeps its first letter."""
    begun = text[:1].upper() + text[1:] if re.match("[a-z]+[ ,]", text) else text
    return _words(begun if begun.endswith((".", "?", "!")) else begun + ".")


def _number(value: float | None) -> str:
    return "not graded" if value is None else f"{round(value, 2):g}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"


def _two(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")


def _example(example: Example) -> list[tuple[str, str]]:
    came = example.got or "nothing: " + example.sentence
    return [*((f"`{name}`", value) for name, value in example.given), ("came", came), ("expected", example.expected)]


@cache
def _environment():
    try:
        import jinja2
    except ModuleNotFoundError:
        raise ValueError('to write pages jinja2 is needed: pip install "course_lib[grade]"') from None
    made = jinja2.Environment(loader=jinja2.FileSystemLoader(Path(__file__).with_name("templates")), autoescape=True,
                              finalize=printable, undefined=jinja2.StrictUndefined, trim_blocks=True,
                              lstrip_blocks=True)
    made.filters.update(words=_words, sentence=_sentence, points=_number, percent=_percent, two=_two, rows=_example)
    return made


def _template(name: str):
    return _environment().get_template(name)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
