"""The marks that count: what was graded, what people have changed since, and the table of both.

Beside the log a grading folder holds two files to which lines are only ever added:

===============  ====================================================================================
overrides.csv    student, exercise, points, reason, time: a mark set by a person; the last one counts
mistakes.csv     exercise, cluster, title, remedy, time: the sentence for answers wrong by the same values
===============  ====================================================================================
"""
from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

from ..notebook import write
from .classfile import ClassFile
from .log import Log
from .records import Example, Item, Override, Run, Standing
from .roster import separator, spreadsheet

__all__ = [
    "Cluster",
    "cell",
    "clusters",
    "grades",
    "name_cluster",
    "override",
    "read_run",
    "standings",
    "strays",
    "write_grades",
]

FORMULA = re.compile(r"(?:^|(?<=;))(?= *[=+@\uff1d\uff0b\uff0d\uff20-])")     # where a semicolon separates cells, too
OVERRIDES, MISTAKES, GRADES = "overrides.csv", "mistakes.csv", "grades.csv"
OVERRIDE_COLUMNS = ("student", "exercise", "points", "reason", "time")
MISTAKE_COLUMNS = ("exercise", "cluster", "title", "remedy", "time")


@dataclass(frozen=True)
class Cluster:
    """Answers to one exercise that are wrong by the same values and equal no known mistake."""

    id: str
    exercise: str
    keys: tuple[str, ...]              # of the submissions
    example: Example | None
    title: str = ""                    # the lecturer's sentence, once there is one
    remedy: str = ""


def read_run(folder: Path) -> Run:
    """What holds for all rows of a grading folder."""
    with Log(folder) as log:
        return log.last_run()[1]


def standings(folder: Path) -> Iterator[Standing]:
    """Everybody's marks, in the order of the keys, one at a time."""
    given, named = list(map(_override, _lines(folder / OVERRIDES))), _named(folder)
    with Log(folder) as log:
        settings = ClassFile.of(log.last_run()[1].extra.get("class", {}))
        ids = {row.student.id for row in log.rows()} if given else set()
        for row in log.rows():
            days = settings.days_late(row)
            row = replace(row, items=tuple(_with_sentence(item, named) for item in row.items))
            names = {row.student.id, row.key} - (ids - {row.student.id})         # a key may be the id of somebody else
            own = tuple(line for line in given if line.key in names)
            yield Standing(row, own, round(days, 4), settings.factor(days))


def override(folder: Path, student: str, exercise: str, points: float, reason: str) -> None:
    """Set a mark by hand and bring ``grades.csv`` up to date.

    Raises
    ------
    ValueError
        If there is no such student or exercise, the points are no number from 0 on, or there is no reason.
    """
    if not reason.strip():
        raise ValueError("a reason expected, got none; whoever reads this mark in a year will want it")
    if not 0 <= points < math.inf:
        raise ValueError(f"points from 0 on expected, got {points}")
    with Log(folder) as log:
        run = log.last_run()[1]
        if exercise not in run.exercises:
            raise ValueError(
                f"an exercise of this run expected, got {exercise!r}; there are {', '.join(run.exercises)}"
            )
        if not any(student in (row.key, row.student.id) for row in log.rows()):
            raise ValueError(f"a student of this run expected, got {student!r}; see the first column of {GRADES}")
    _append(folder / OVERRIDES, OVERRIDE_COLUMNS, (student, exercise, f"{points:g}", reason, _now()))
    write_grades(folder)


def strays(folder: Path) -> list[str]:
    """Overrides and extensions that count for nobody, a sentence each: they are written by hand."""
    with Log(folder) as log:
        named = [(row.student.id, row.key) for row in log.rows()]
        run = log.last_run()[1]
    ids, people = {identity for identity, _ in named}, {name for both in named for name in both}
    later = ClassFile.of(run.extra.get("class", {})).extensions
    return [f"[extensions] of the class: no student {name!r} in this run" for name in later if name not in ids] + [
        f"{OVERRIDES}, line {i}: no {what} {line[what]!r} in this run"
        for i, line in enumerate(_lines(folder / OVERRIDES), 2)
        for what, known in (("student", people), ("exercise", run.exercises))
        if line.get(what) not in known
    ]


def clusters(folder: Path) -> list[Cluster]:
    """Every cluster, the largest first."""
    found: dict[tuple[str, str], list[tuple[str, Example | None]]] = {}
    with Log(folder) as log:
        for row in log.rows():
            for item in row.items:
                if item.cluster:
                    found.setdefault((item.exercise, item.cluster), []).append((row.key, item.example))
    named = _named(folder)
    made = [
        Cluster(
            identity, exercise, tuple(key for key, _ in them), them[0][1], *named.get((exercise, identity), ("", ""))
        )
        for (exercise, identity), them in found.items()
    ]
    return sorted(made, key=lambda c: (-len(c.keys), c.exercise, c.id))


def name_cluster(folder: Path, cluster: str, title: str, remedy: str = "") -> Cluster:
    """Give a cluster its sentence: from now on it is a known mistake of this folder.

    Raises
    ------
    ValueError
        If there is no such cluster, or no sentence.
    """
    there = clusters(folder)
    if not (matching := [c for c in there if c.id.startswith(cluster)]) or len(matching) > 1 or not cluster:
        raise ValueError(f"a cluster expected, got {cluster!r}; there are {', '.join(c.id for c in there) or 'none'}")
    if not title.strip():
        raise ValueError('a sentence that names the mistake expected, got none; add --say "…"')
    chosen = matching[0]
    _append(folder / MISTAKES, MISTAKE_COLUMNS, (chosen.exercise, chosen.id, title, remedy, _now()))
    return replace(chosen, title=title, remedy=remedy)


def write_grades(folder: Path) -> Path:
    """Write ``grades.csv`` anew; the same log and overrides give the same bytes."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([cell(value) for value in line] for line in grades(folder))
    write(folder / GRADES, text.getvalue().encode("utf-8"))
    return folder / GRADES


def grades(folder: Path) -> Iterator[list]:
    """The lines of ``grades.csv``: a head, then one for each submission or absent student.

    What is not graded has no number, and neither has a total of which any part is missing.
    """
    run = read_run(folder)
    each = [name for exercise in run.exercises for name in (exercise, f"{exercise} status")]
    yield [
        "id",
        "name",
        "status",
        "total",
        "out of",
        *each,
        "days late",
        "lateness factor",
        "overridden",
        "trusted",
        "remarks",
    ]
    for standing in standings(folder):
        row, marks = standing.row, standing.marks
        items = {item.exercise: item for item in row.items}
        told = [value for exercise in run.exercises for value in (marks.get(exercise), _status(items, exercise))]
        yield [row.student.id, row.student.name, row.status, standing.total, standing.out_of, *told, standing.days_late,
               standing.factor, " ".join(dict.fromkeys(o.exercise for o in standing.overrides)),
               "graded without a sandbox" if run.trusted else "", " ".join(filter(None, (row.reason, *row.notes)))]


def cell(value: object) -> str:
    """A value as a cell that no spreadsheet takes for a formula; the whole of it stays in one line."""
    if value is None:
        return ""
    if isinstance(value, (int, float)):
        return f"{value:g}" if value == round(value, 4) else repr(round(value, 6))
    text = " ".join(str(value).split())
    return FORMULA.sub("'", "".join(sign for sign in text if sign.isprintable()))


def _status(items: dict[str, Item], exercise: str) -> str:
    return items[exercise].status if exercise in items else ""


def _with_sentence(item: Item, named: dict[tuple[str, str], tuple[str, str]]) -> Item:
    if not item.cluster or (item.exercise, item.cluster) not in named:
        return item
    title, remedy = named[item.exercise, item.cluster]
    return replace(item, mistake=title, remedy=remedy, reason=title)


def _named(folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    return {(line["exercise"], line["cluster"]): (line["title"], line["remedy"]) for line in _lines(folder / MISTAKES)}


def _override(line: dict[str, str]) -> Override:
    try:
        points = float(line["points"])
    except (TypeError, ValueError):
        raise ValueError(
            f"{OVERRIDES}: a number of points expected for {line.get('student')} in {line.get('exercise')}, "
            f"got {line.get('points')!r}; mend that line"
        ) from None
    return Override(line["student"], line["exercise"], points, line.get("reason") or "", line.get("time") or "")


def _lines(path: Path) -> list[dict[str, str]]:
    lines = spreadsheet(path) if path.exists() else []
    wanted = OVERRIDE_COLUMNS[:3] if path.name == OVERRIDES else MISTAKE_COLUMNS[:4]
    if lines and not set(wanted) <= set(lines[0]):
        raise ValueError(f"{path.name}: a first line with the columns {', '.join(wanted)} expected, "
                         f"got {', '.join(map(str, lines[0]))}; mend that line")
    return lines


def _append(path: Path, columns: Iterable[str], values: Iterable[str]) -> None:
    before = path.read_bytes() if path.exists() else b""
    with open(path, "a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n", delimiter=separator(before.decode("utf-8", "replace")))
        if not before:
            writer.writerow(columns)
        elif not before.endswith(b"\n"):           # an editor may have left the last line open
            stream.write("\n")
        writer.writerow(" ".join(value.split()) for value in values)


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
