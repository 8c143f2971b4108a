"""Grade again, after an exercise was mended, and show what changes before it is written."""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from .grade import Grading
from .intake import Heap
from .log import Log
from .records import Row

__all__ = ["Change", "regrade"]


@dataclass(frozen=True)
class Change:
    """What a regrade does to one exercise of one submission."""

    key: str
    exercise: str
    old: float | None
    new: float | None
    kept: bool = False             # the old mark stays, for it was higher


def regrade(
    grading: Grading, exercise: str = "", student: str = "", dry: bool = False, never_lower: bool = False
) -> Iterator[Change]:
    """Grade again one exercise of everybody, or everything of one student, and yield what changes.

    Parameters
    ----------
    grading : Grading
        With `to` a folder that has been graded into.
    exercise, student : str
        An id ("E1.6"); a student's id or the key of a row. Empty: all.
    dry : bool
        Only say what would change.
    never_lower : bool
        Keep the old mark wherever it is higher.
    """
    from .standings import write_grades

    with Log(grading.to) as log:
        run = log.last_run()[0]
        heaps = [h for h in grading.heaps if student in ("", h.key, h.student.id)]
        _known(exercise, student, [k.id for k in grading.keys], heaps)
        for row in grading.rows(heaps):
            new, changes = _merged(log.row(run, row.key), row, exercise, never_lower)
            yield from changes
            if not dry:
                log.add(run, new, grading.conditions)
    if not dry:
        write_grades(grading.to)


def _merged(old: Row | None, new: Row, exercise: str, never_lower: bool) -> tuple[Row, list[Change]]:
    """The new row with the old items where they are not graded again or were worth more, and what changes."""
    before = {item.exercise: item for item in old.items} if old else {}
    items, changes = [], []
    for item in new.items:
        past = before.get(item.exercise)
        if past and exercise not in ("", item.exercise):
            items.append(past)
            continue
        lower = past is not None and past.points is not None and (item.points is None or item.points < past.points)
        kept = bool(never_lower and lower)
        items.append(past if kept else item)
        if past is None or past.points != item.points or past.status != item.status:
            changes.append(Change(new.key, item.exercise, past.points if past else None, item.points, kept))
    return replace(new, items=tuple(items)), changes


def _known(exercise: str, student: str, exercises: list[str], heaps: list[Heap]) -> None:
    if exercise and exercise not in exercises:
        raise ValueError(f"an exercise of this run expected, got {exercise!r}; there are {', '.join(exercises)}")
    if student and not heaps:
        raise ValueError(
            f"a student's id or the key of a row expected, got {student!r}; see the first column of grades.csv"
        )
