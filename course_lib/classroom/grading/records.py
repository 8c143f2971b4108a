"""What a grading run knows, as values: one `Row` for each submission, one `Item` in it for each exercise.

Everything here is text, numbers and tuples, so that it crosses to another process or machine and into the log as JSON.
Whatever came from a student (names, reasons, printed text) is unescaped; who makes a page or a table of it escapes it.
"""
from __future__ import annotations

import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

__all__ = ["CRASHED", "DELEGATED", "GRADED", "MISSING", "NOTHING", "NOT_GRADED", "RIGHT", "STATUSES", "TIMED_OUT",
           "UNREADABLE", "WRONG", "Example", "Item", "Override", "Part", "Row", "Run", "Standing", "Student", "plain",
           "restored"]

RIGHT, WRONG, TIMED_OUT, CRASHED = "right", "wrong", "timed out", "crashed"
MISSING, UNREADABLE, DELEGATED, NOT_GRADED = "missing", "unreadable", "delegated", "not graded"
STATUSES = (RIGHT, WRONG, TIMED_OUT, CRASHED, MISSING, UNREADABLE, DELEGATED, NOT_GRADED)     # of an item
GRADED, NOTHING = "graded", "no submission"  # of a row, with the last two


@dataclass(frozen=True)
class Student:
    """Whose submission it is, as far as the roster or the names of the files tell."""

    id: str
    name: str = ""


@dataclass(frozen=True)
class Example:
    """The simplest input on which an answer fails, as text: what was passed, what came, what was expected."""

    label: str
    given: tuple[tuple[str, str], ...]          # name of the argument, its value
    got: str                                    # "" where nothing came back
    expected: str
    sentence: str                               # where they differ, or what happened instead of an answer


@dataclass(frozen=True)
class Part:
    """The inputs of one kind (one label), public and hidden ones; what partial credit is counted in."""

    label: str
    right: bool
    fixed: bool                                 # inputs or answers are the same under every seed: costs, does not earn
    reason: str = ""                            # why it is not right


@dataclass(frozen=True)
class Item:
    """One exercise of one submission."""

    exercise: str                               # "E1.6"
    function: str
    title: str
    topic: str                                  # "01_bayes_rule_and_risk"
    status: str                                 # one of STATUSES
    points: float | None                        # None where it is not graded
    out_of: float
    reason: str = ""                            # one sentence; empty where it is right
    mistake: str = ""                           # the sentence of the known mistake that it equals
    remedy: str = ""
    example: Example | None = None
    parts: tuple[Part, ...] = ()
    cluster: str = ""                           # equal for answers that are wrong by the same values
    printed: str = ""
    notebook: str = ""                          # the file that it was graded in


@dataclass(frozen=True)
class Row:
    """One submission, or a student of the roster without one."""

    key: str                                    # unique in the run; names the student's files
    student: Student
    status: str                                 # graded, no submission, unreadable or not graded
    reason: str = ""                            # why it is not graded
    notes: tuple[str, ...] = ()                 # what the student and the lecturer should know about the files
    items: tuple[Item, ...] = ()
    submitted: str = ""                         # ISO 8601, if the layout tells
    late: bool = False                          # marked so by the platform
    digest: str = ""                            # of all files of the submission

    @property
    def points(self) -> float | None:
        """The automatic points; None as long as any item is not graded."""
        return None if self.status == NOT_GRADED or any(i.points is None for i in self.items) \
            else sum(i.points for i in self.items)

    @property
    def out_of(self) -> float:
        return sum(i.out_of for i in self.items)


@dataclass(frozen=True)
class Override:
    """A mark set by a person, for one exercise of one student; of several, the last one counts."""

    key: str
    exercise: str
    points: float
    reason: str
    time: str = ""


@dataclass(frozen=True)
class Standing:
    """A row with everything that people have changed since: final = automatic ⊕ overrides, then the lateness rule."""

    row: Row
    overrides: tuple[Override, ...] = ()
    days_late: float = 0.0
    factor: float = 1.0                         # what the lateness rule leaves

    @property
    def marks(self) -> dict[str, float | None]:
        """Exercise → points, after the overrides and before lateness."""
        automatic = {item.exercise: item.points for item in self.row.items}
        return automatic | {o.exercise: o.points for o in self.overrides if o.exercise in automatic}

    @property
    def total(self) -> float | None:
        """The final number; None as long as any of it is not graded."""
        marks = self.marks
        if None in marks.values() or (self.row.status == NOT_GRADED and not self.overrides):
            return None
        return round(self.factor * sum(marks.values()), 6)

    @property
    def out_of(self) -> float:
        return self.row.out_of


@dataclass(frozen=True)
class Run:
    """What holds for all rows of a grading folder."""

    course: str                                 # its title
    exercises: tuple[str, ...]                  # ids, in the order of the course
    seed_hash: str                              # of the secret seed; the seed itself is not written down here
    cases_hash: str                             # of public inputs, expected values and known mistakes
    trusted: bool                               # graded without a sandbox
    version: str = ""                           # of course_lib
    title: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


def plain(record: Any) -> Any:
    """A record as what JSON can hold; unlike `asdict` without a copy of what already is."""
    if isinstance(record, dict):
        return {key: plain(value) for key, value in record.items()}
    if isinstance(record, (tuple, list)):
        return [plain(value) for value in record]
    return {name: plain(getattr(record, name)) for name in _names(type(record))} if is_dataclass(record) else record


@cache
def _names(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind))


def restored(kind: Any, tree: Any) -> Any:
    """A record of a kind from what JSON gave back: lists become tuples, dicts become the records they were."""
    return _restorer(kind)(tree)


@cache
def _restorer(kind: Any) -> Callable[[Any], Any]:
    if is_dataclass(kind):
        parts = {name: _restorer(hint) for name, hint in typing.get_type_hints(kind).items()}
        return lambda tree: kind(**{name: part(tree[name]) for name, part in parts.items() if name in tree})
    if typing.get_origin(kind) is tuple:
        inner = typing.get_args(kind)
        if inner[-1] is not ...:
            return lambda tree: tuple(part(item) for part, item in zip(map(_restorer, inner), tree))
        each = _restorer(inner[0])
        return lambda tree: tuple(map(each, tree))
    if isinstance(kind, types.UnionType):
        known = _restorer(typing.get_args(kind)[0])
        return lambda tree: None if tree is None else known(tree)
    return lambda tree: tree
