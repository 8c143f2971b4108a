"""What a learner has done, as lines appended to a file: one JSON object a line, never rewritten, never deleted.

The events, and the fields that `summary` reads:

=============  ==================================================================
``check``      ``exercise``, ``passed`` (bool), ``mistake`` (a sentence or None)
``hint``       ``exercise``, ``step``
``solution``   ``exercise``
``quiz``       ``question``, ``key``, ``right`` (bool)
``predict``    ``id``, ``value``
=============  ==================================================================

The order of events is the order of the lines: a clock that was set back does not change what came last.
"""
from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from course_lib.classroom.workspace import enclosing_root, enclosing_work

__all__ = ["History", "Standing", "Summary", "ago", "events", "path", "read", "record", "summary",
           "unnoted", "variable"]

_warned: set[str] = set()


@dataclass(frozen=True)
class History:
    """The events that could be read, in the order of the file, and the number of lines that could not."""

    events: tuple[dict, ...]
    unreadable: int


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one exercise."""

    exercise: str
    state: str  # "not started", "tried", "solved" or "seen"
    tries: int = 0  # checks that did not pass, before it was solved or seen
    mistake: str | None = None  # the last one named, as long as the exercise is open


@dataclass(frozen=True)
class Summary:
    """All exercises in the caller's order, the event that came last and the first exercise still open."""

    standings: tuple[Standing, ...]
    last: dict | None
    next: str | None
    unreadable: int


def path() -> Path:
    """The file: ``$COURSE_PROGRESS``; else in the ``work`` folder around or of the course around; else at home."""
    if given := os.environ.get("COURSE_PROGRESS"):
        return Path(given).expanduser()
    here = Path.cwd()
    if work := enclosing_work(here):
        return work / "progress.jsonl"
    if root := enclosing_root(here):
        return root / "work" / "progress.jsonl"
    return Path.home() / ".course_lib" / "progress.jsonl"


def record(event: str, **fields) -> bool:
    """Append one event with the time of day; whatever is wrong with the disk, warn once and go on.

    Parameters
    ----------
    event : str
        What happened, for example ``"check"``.
    **fields
        Whatever JSON can hold; numpy values are written as numbers and lists, other objects as their ``repr``.

    Returns
    -------
    bool
        True if the line is on the disk.
    """
    now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
    line = json.dumps({"time": now, "event": event, **fields}, default=_plain) + "\n"
    try:
        _append(path(), line.encode("ascii"))
    except (OSError, RuntimeError) as error:  # RuntimeError: a user without a home folder
        _warn(error)
        return False
    return True


def read() -> History:
    """The whole file; a line torn by a power cut or edited by hand is passed over, counted and left where it is."""
    try:
        lines = path().read_bytes().split(b"\n")
    except (OSError, RuntimeError):
        return History((), 0)
    parsed = [_parse(line) for line in lines if line.strip()]
    good = tuple(event for event in parsed if event is not None)
    return History(good, len(parsed) - len(good))


def events(event: str | None = None, **match) -> list[dict]:
    """The events of one kind (of all, for None) whose fields equal those given, oldest first."""
    wanted = match if event is None else {"event": event, **match}
    return [e for e in read().events if all(name in e and e[name] == value for name, value in wanted.items())]


def summary(exercises: Iterable[str]) -> Summary:
    """Where the learner stands with each exercise, what was done last and what is next.

    Parameters
    ----------
    exercises : iterable of str
        Ids in the order of the course; the first one neither solved nor seen is next.

    Returns
    -------
    Summary
    """
    history = read()
    standings = tuple(_standing(exercise, history.events) for exercise in exercises)
    todo = next((s.exercise for s in standings if s.state not in ("solved", "seen")), None)
    return Summary(standings, history.events[-1] if history.events else None, todo, history.unreadable)


def ago(event: dict, now: datetime | None = None) -> str:
    """How long ago an event was, in words; a time in the future (a clock set back) is "just now"."""
    try:
        then = datetime.fromisoformat(event["time"])
        seconds = ((now or datetime.now(timezone.utc)) - then).total_seconds()
    except (KeyError, TypeError, ValueError):
        return "at an unknown time"
    for size, unit in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if (count := int(seconds // size)) >= 1:
            return f"{count} {unit}{'s' if count > 1 else ''} ago"
    return "just now"


def _standing(exercise: str, history: Iterable[dict]) -> Standing:
    """What comes first decides: a solution looked up stays "seen", one found before stays "solved"."""
    tries, mistake = 0, None
    for event in history:
        if event.get("exercise") != exercise:
            continue
        if event["event"] == "solution":
            return Standing(exercise, "seen", tries)
        if event["event"] == "check" and event.get("passed"):
            return Standing(exercise, "solved", tries)
        if event["event"] == "check":
            tries, mistake = tries + 1, event.get("mistake")
    return Standing(exercise, "tried" if tries else "not started", tries, mistake)


def _append(target: Path, line: bytes) -> None:
    """One write at the end of the file, so that lines of two processes never mix; a torn last line is ended first."""
    target.parent.mkdir(parents=True, exist_ok=True)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    descriptor = os.open(target, flags, 0o644)
    try:
        line = b"\n" * _torn(descriptor) + line
        if os.write(descriptor, line) < len(line):
            raise OSError("the disk is full")
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _torn(descriptor: int) -> bool:
    if os.fstat(descriptor).st_size == 0:
        return False
    os.lseek(descriptor, -1, os.SEEK_END)
    return os.read(descriptor, 1) != b"\n"


def _parse(line: bytes) -> dict | None:
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event, dict) and isinstance(event.get("event"), str) else None


def _plain(value):
    return value.tolist() if hasattr(value, "tolist") else repr(value)


def _warn(error: Exception) -> None:
    place = os.environ.get("COURSE_PROGRESS") or "the work folder"
    if place not in _warned:
        _warned.add(place)
        warnings.warn(
            f"Your progress could not be written ({error}); everything else works. To keep it, make {place} writable "
            "or let the environment variable COURSE_PROGRESS name a file that is.", stacklevel=3)


@contextmanager
def unnoted() -> Iterator[None]:
    """Let the checks, hints and guesses of a notebook that is run leave no line: nobody asked for them now."""
    with tempfile.TemporaryDirectory() as folder, variable("COURSE_PROGRESS", str(Path(folder) / "progress.jsonl")):
        yield


@contextmanager
def variable(name: str, value: str) -> Iterator[None]:
    """Set a variable of the environment for a while."""
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        os.environ.pop(name)
        if before is not None:
            os.environ[name] = before
