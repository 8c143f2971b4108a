"""``class.toml``: what a class makes of a course: units, points, dates, extensions, lateness.

.. code-block:: toml

    title = "Statistics 101, second sheet"
    units = ["01", "02a"]              # or exercises = ["E1.1", "E1.4"]; without either, everything

    [points]
    "E1.1" = 3                         # instead of the exercise's own

    [dates]
    due = 2027-01-31T23:59:00+01:00

    [extensions]                       # student's id = a due date of their own
    ada = 2027-02-07T23:59:00+01:00

    [lateness]
    per_day = 0.1                      # of the total, for each day begun
    most = 0.5
    grace_minutes = 15
"""
from __future__ import annotations

import math
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from ..build import Reference
from .records import Row

__all__ = ["ClassFile"]

KNOWN = {
    "title": str,
    "units": list,
    "exercises": list,
    "points": dict,
    "dates": dict,
    "extensions": dict,
    "lateness": dict,
}
FORMS = {str: "a text in quotes", list: "a list", dict: "a table, which begins with a line [{}],"}
LATENESS = {"per_day", "most", "grace_minutes"}


@dataclass(frozen=True)
class ClassFile:
    """The settings of a class; the default grades every exercise and knows no dates."""

    title: str = ""
    units: tuple[str, ...] = ()
    exercises: tuple[str, ...] = ()
    points: dict[str, float] = field(default_factory=dict)
    dates: dict[str, datetime] = field(default_factory=dict)
    extensions: dict[str, datetime] = field(default_factory=dict)
    lateness: dict[str, float] = field(default_factory=dict)

    @classmethod
    def read(cls, path: Path) -> "ClassFile":
        """The settings in a file.

        Raises
        ------
        ValueError
            If it is not TOML, or holds a setting of another name or kind.
        """
        try:
            return cls.of(tomllib.loads(path.read_text(encoding="utf-8-sig")))
        except ValueError as error:
            raise ValueError(f"{path.name}: {error}") from None

    @classmethod
    def of(cls, tree: dict[str, Any]) -> "ClassFile":
        """The settings in a tree of TOML or JSON."""
        for name, value in tree.items():
            if name not in KNOWN:
                raise ValueError(f"the settings {', '.join(KNOWN)} expected, got {name!r}; mend or remove it")
            if not isinstance(value, KNOWN[name]):
                raise ValueError(f"{name} = {value!r}: {FORMS[KNOWN[name]].format(name)} expected")
        if stray := set(tree.get("lateness", ())) - LATENESS:
            raise ValueError(f"[lateness] takes {', '.join(sorted(LATENESS))}, got {', '.join(sorted(stray))}")
        if bad := {
            n: p for n, p in tree.get("points", {}).items() if not isinstance(p, (int, float)) or not 0 <= p < math.inf
        }:
            raise ValueError(f"[points] takes numbers from 0 on, got {bad}")
        dated = {
            name: {k: _moment(v, f"[{name}] {k}") for k, v in tree.get(name, {}).items()}
            for name in ("dates", "extensions")
        }
        lists = {name: tuple(map(str, tree.get(name, ()))) for name in ("units", "exercises")}
        return cls(**(tree | lists | dated))

    def tree(self) -> dict[str, Any]:
        """The settings as JSON can hold them; `of` reads them back."""
        return {name: _told(value) for name in KNOWN if (value := getattr(self, name))}

    def chosen(self, references: Iterable[Reference], lectures: Iterable[Path] = ()) -> list[Reference]:
        """The exercises that this class is graded on, in the order of the course; a unit of a lecture alone has none.

        Raises
        ------
        ValueError
            If a unit or an exercise is not in the course.
        """
        found = list(references)
        ids, topics = [r.exercise.id for r in found], {r.topic for r in found} | {path.stem for path in lectures}
        if unknown := [e for e in (*self.exercises, *self.points) if e not in ids]:
            raise ValueError(f"exercises of the course expected, got {', '.join(unknown)}; there are {', '.join(ids)}")
        if unknown := [u for u in self.units if not any(_in_unit(t, u) for t in topics)]:
            raise ValueError(
                f"units of the course expected, got {', '.join(unknown)}; there are {', '.join(sorted(topics))}"
            )
        if not self.units and not self.exercises:
            return found
        return [r for r in found if r.exercise.id in self.exercises or any(_in_unit(r.topic, u) for u in self.units)]

    def days_late(self, row: Row) -> float:
        """By how many days a submission came after its student's due date; a platform's bare mark counts as one."""
        due = self.extensions.get(row.student.id) or self.dates.get("due")
        if due is None or not row.submitted:
            return 1.0 if row.late and row.student.id not in self.extensions else 0.0
        seconds = (_moment(row.submitted, "submitted") - due).total_seconds() - 60 * self.lateness.get(
            "grace_minutes", 0
        )
        return max(0.0, seconds / 86_400)

    def factor(self, days: float) -> float:
        """What is left of a total after so many days: 1 − min(most, per_day · days begun)."""
        return 1.0 - min(self.lateness.get("most", 1.0), self.lateness.get("per_day", 0.0) * math.ceil(days), 1.0)


def _in_unit(topic: str, unit: str) -> bool:
    """Is "01_bayes_rule" in the unit "01" or "01_bayes_rule"; is "02a_…" in "02" and "02a"?"""
    number = topic.partition("_")[0]
    return unit in (topic, number, number.rstrip("abcdefgh"))


def _moment(value: Any, name: str) -> datetime:
    """A date with its zone; without one it is taken for UTC."""
    try:
        moment = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"{name}: a date and time such as 2027-01-31T23:59:00+01:00 expected, got {value!r}") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)


def _told(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items()}
    return value.isoformat() if isinstance(value, datetime) else list(value) if isinstance(value, tuple) else value
