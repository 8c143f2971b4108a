"""What a class did, gathered one standing after the other; it keeps counts and marks, not the submissions."""
from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .records import GRADED, MISSING, NOT_GRADED, RIGHT, UNREADABLE, Example, Item, Standing, Student

__all__ = ["Survey", "Tally"]

BINS = 10
REMARK = 500                       # characters of what is to be said of one student's files
NO_ATTEMPT = (MISSING, NOT_GRADED)


@dataclass(frozen=True)
class Tally:
    """One exercise as a class did it; a figure is None where it has no meaning."""

    exercise: str
    title: str
    statuses: dict[str, int]
    attempts: int                      # answers that came, right or not
    mean: float | None                 # share of the points, over all submissions that have a mark
    discrimination: float | None       # correlation of its points with those in everything else

    @property
    def difficulty(self) -> float | None:
        """1 − mean share: 0 where everybody has all the points."""
        return None if self.mean is None else 1 - self.mean


class Survey:
    """The figures of the class page."""

    def __init__(self):
        self.statuses: Counter[str] = Counter()
        self.absent: list[Student] = []
        self.ungraded: list[tuple[Student, str]] = []
        self.unreadable: list[tuple[Student, str]] = []
        self.late: list[tuple[Student, float]] = []
        self.noted: list[tuple[Student, str]] = []
        self.totals: list[float] = []                            # final, as shares of what can be had
        self.mistakes: Counter[tuple[str, str]] = Counter()
        self.clusters: Counter[tuple[str, str]] = Counter()
        self.examples: dict[tuple[str, str], Example | None] = {}
        self._titles: dict[str, str] = {}
        self._items: dict[str, Counter[str]] = {}
        self._points: dict[str, array] = {}                      # of each submission; nan where there is no mark
        self._shares: dict[str, array] = {}                      # the same, of what could be had then

    def add(self, standing: Standing) -> None:
        """Count one student."""
        row = standing.row
        self.statuses[row.status] += 1
        if row.status != GRADED:
            self._set_aside(standing)
        elif standing.total is None:
            self.ungraded.append((row.student, next(i.reason for i in row.items if i.points is None)))
        elif standing.out_of:
            self.totals.append(standing.total / standing.out_of)
        if standing.days_late:
            self.late.append((row.student, standing.days_late))
        if row.notes:
            self.noted.append((row.student, " ".join(row.notes)[:REMARK]))
        marks = standing.marks
        for item in row.items:
            self._count(item, row.status == GRADED)
            if row.status == GRADED:
                self._note(item, marks[item.exercise])

    def tallies(self) -> Iterator[Tally]:
        """Each exercise, in the order of the course."""
        for exercise, title in self._titles.items():
            statuses = self._items[exercise]
            attempts = sum(n for status, n in statuses.items() if status not in NO_ATTEMPT)
            yield Tally(exercise, title, dict(statuses), attempts, self._mean(exercise), self._discrimination(exercise))

    def bins(self) -> list[int]:
        """How many final marks lie in each tenth of what can be had; the last one takes in full marks."""
        return np.histogram(np.clip(self.totals, 0, 1), BINS, (0, 1))[0].tolist()

    def solved_by_nobody(self) -> list[Tally]:
        graded = (t for t in self.tallies() if any(n for status, n in t.statuses.items() if status != NOT_GRADED))
        return [t for t in graded if not t.statuses.get(RIGHT)]

    def quantiles(self) -> list[float]:
        """Lower quartile, median and upper quartile of the final shares."""
        return np.quantile(self.totals, (0.25, 0.5, 0.75)).tolist() if self.totals else []

    def _set_aside(self, standing: Standing) -> None:
        student, reason = standing.row.student, standing.row.reason
        if standing.row.status == NOT_GRADED:
            self.ungraded.append((student, reason))
        elif standing.row.status == UNREADABLE:
            self.unreadable.append((student, reason))
        else:
            self.absent.append(student)

    def _count(self, item: Item, submitted: bool) -> None:
        self._titles.setdefault(item.exercise, item.title)
        self._items.setdefault(item.exercise, Counter())[item.status] += submitted
        if item.mistake:
            self.mistakes[item.exercise, item.mistake] += 1
        elif item.cluster:
            self.clusters[item.exercise, item.cluster] += 1
            self.examples.setdefault((item.exercise, item.cluster), item.example)

    def _note(self, item: Item, points: float | None) -> None:
        points = np.nan if points is None else points
        for table, value in (self._points, points), (self._shares, points / item.out_of if item.out_of else np.nan):
            column = table.setdefault(item.exercise, array("d"))
            column.extend([np.nan] * (self.statuses[GRADED] - 1 - len(column)))      # of those who were not asked
            column.append(value)

    def _column(self, exercise: str) -> np.ndarray:
        """The points of every submission that was graded."""
        column = np.full(self.statuses[GRADED], np.nan)
        column[:len(self._points.get(exercise, ()))] = self._points.get(exercise, ())
        return column

    def _mean(self, exercise: str) -> float | None:
        shares = np.array(self._shares.get(exercise, ()))
        known = shares[np.isfinite(shares)]
        return float(known.mean()) if known.size else None

    def _discrimination(self, exercise: str) -> float | None:
        own = self._column(exercise)
        rest = sum(self._column(other) for other in self._points) - own
        whole = np.isfinite(rest)
        own, rest = own[whole], rest[whole]
        if len(own) < 3 or np.ptp(own) == 0 or np.ptp(rest) <= 1e-9 * np.abs(rest).max():
            return None
        return float(np.corrcoef(own, rest)[0, 1])
