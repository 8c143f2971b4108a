"""The mutation test of the checker: what is right passes, what is wrong fails and is named."""
from __future__ import annotations

from dataclasses import dataclass

from . import build
from .build import HIDDEN_SEEDS, Reference
from .check import Attempt, judge
from .cases import Exercise
from .course import Course
from .template import MARK

__all__ = ["Report", "report"]


@dataclass(frozen=True)
class Report:
    """How one exercise came through."""

    id: str
    name: str
    variants: int
    variants_right: int
    mistakes: int
    failed: int
    named: int
    seeds: int
    problems: tuple[str, ...]


def report(course: Course, what: str | None = None) -> list[Report]:
    """One line for each exercise, or for the one with this id or name.

    Raises
    ------
    ValueError
        If there is no such exercise.
    """
    chosen = [r for r in course.references if what in (None, r.exercise.id, r.exercise.name)]
    if not chosen:
        raise ValueError(f"an exercise expected, got {what!r}; there are {', '.join(r.exercise.id for r in course.references)}")
    return [_one(reference) for reference in chosen]


def _one(reference: Reference) -> Report:
    exercise, answer = reference.exercise, build.answer_of(reference)
    problems = list(build.examine(reference))
    right = {f.__name__: judge(Attempt(f, answer)) for f in (reference.function, *exercise.variants)}
    wrong = {m.title: judge(Attempt(m.function, answer)) for m in exercise.mistakes}
    if unwritten := [words for words in _texts(exercise) if MARK in words]:
        problems.append(f"{len(unwritten)} texts are still to be written; the first is “{unwritten[0]}”")
    problems += [f"{name} is right, but the check says: {v.card.heading}" for name, v in right.items() if v.status != "right"]
    problems += [f"“{title}” passes" for title, v in wrong.items() if v.status == "right"]
    problems += [f"“{title}” is taken for: {v.card.heading}" for title, v in wrong.items() if v.mistake != title]
    return Report(exercise.id, exercise.name, len(right), sum(v.status == "right" for v in right.values()), len(wrong),
                  sum(v.status != "right" for v in wrong.values()), sum(v.mistake == t for t, v in wrong.items()),
                  len(HIDDEN_SEEDS), tuple(problems))


def _texts(exercise: Exercise) -> list[str]:
    return [exercise.title, *exercise.hints, exercise.notice, *(m.title for m in exercise.mistakes)]
