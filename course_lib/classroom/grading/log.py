"""The log of a grading folder: every attempt, written in transactions, never changed afterwards.

A run lists submissions; each listed submission points to the attempt that counts for it. Grading again, resuming and
regrading add attempts and move the pointers. A grader that is killed at any moment leaves whole rows behind.
"""
from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from .records import Row, Run, plain, restored

__all__ = ["Attempt", "Log"]

NAME = "log.sqlite"
SCHEMA = """
CREATE TABLE IF NOT EXISTS run (id INTEGER PRIMARY KEY, started TEXT NOT NULL, finished TEXT, told TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS attempt (id INTEGER PRIMARY KEY, run INTEGER NOT NULL REFERENCES run, key TEXT NOT NULL,
                                    digest TEXT NOT NULL, conditions TEXT NOT NULL, time TEXT NOT NULL,
                                    row TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS attempt_digest ON attempt (key, digest, conditions);
CREATE TABLE IF NOT EXISTS listed (run INTEGER NOT NULL REFERENCES run, key TEXT NOT NULL,
                                   attempt INTEGER NOT NULL REFERENCES attempt, PRIMARY KEY (run, key));
"""


@dataclass(frozen=True)
class Attempt:
    """One grading of one submission."""

    id: int
    time: str
    row: Row


class Log:
    """The log in a folder; a context manager.

    Parameters
    ----------
    folder : Path
        Made if there is none and `make` is true.

    Raises
    ------
    FileNotFoundError
        If there is no log and none is to be made.
    """

    def __init__(self, folder: Path, make: bool = False):
        path = folder / NAME
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        elif not path.exists():
            raise FileNotFoundError(
                f"{folder}: a folder made by `course grade … --to {folder}` expected, found no {NAME} in it"
            )
        self.base = sqlite3.connect(path, timeout=30)
        self.base.execute("PRAGMA journal_mode=WAL")
        self.base.executescript(SCHEMA)
        self.folder = folder

    def __enter__(self) -> "Log":
        return self

    def __exit__(self, *_) -> None:
        self.base.close()

    def begin(self, run: Run) -> int:
        """Start a run."""
        with self.base:
            return self.base.execute("INSERT INTO run (started, told) VALUES (?, ?)",
                                     (_now(), json.dumps(plain(run)))).lastrowid

    def finish(self, run: int) -> None:
        with self.base:
            self.base.execute("UPDATE run SET finished = ? WHERE id = ?", (_now(), run))

    def add(self, run: int, row: Row, conditions: str) -> None:
        """Write an attempt down and let it count in the run."""
        with self.base:
            attempt = self.base.execute(
                "INSERT INTO attempt (run, key, digest, conditions, time, row) VALUES (?, ?, ?, ?, ?, ?)",
                (run, row.key, row.digest, conditions, _now(), json.dumps(plain(row)))).lastrowid
            self._list(run, row.key, attempt)

    def carry(self, run: int, key: str, digest: str, conditions: str) -> Row | None:
        """Let the last attempt at the same files under the same conditions count; None if there is none that graded."""
        found = self.base.execute("SELECT id, row FROM attempt WHERE key = ? AND digest = ? AND conditions = ? "
                                  "ORDER BY id DESC LIMIT 1", (key, digest, conditions)).fetchone()
        if found is None or (row := _row(found[1])).points is None:
            return None
        with self.base:
            self._list(run, key, found[0])
        return row

    def last_run(self) -> tuple[int, Run]:
        """The run that counts.

        Raises
        ------
        ValueError
            If nothing has been graded.
        """
        found = self.base.execute("SELECT id, told FROM run ORDER BY id DESC LIMIT 1").fetchone()
        if found is None:
            raise ValueError(f"{self.folder}: nothing has been graded into it yet; run `course grade` first")
        return found[0], restored(Run, json.loads(found[1]))

    def rows(self) -> Iterator[Row]:
        """The rows that count, in the order of their keys, one at a time."""
        run = self.last_run()[0]
        for (key,) in self.base.execute("SELECT key FROM listed WHERE run = ? ORDER BY key", (run,)).fetchall():
            yield self.row(run, key)

    def row(self, run: int, key: str) -> Row | None:
        """The row that counts for a submission; None if there is none."""
        found = self.base.execute("SELECT row FROM attempt JOIN listed ON attempt.id = listed.attempt "
                                  "WHERE listed.run = ? AND listed.key = ?", (run, key)).fetchone()
        return _row(found[0]) if found else None

    def attempts(self, key: str) -> Iterator[Attempt]:
        """Everything that was ever tried with one submission, the latest last."""
        for number, time, row in self.base.execute(
            "SELECT id, time, row FROM attempt WHERE key = ? ORDER BY id", (key,)
        ):
            yield Attempt(number, time, _row(row))

    def _list(self, run: int, key: str, attempt: int) -> None:
        self.base.execute(
            "INSERT INTO listed VALUES (?, ?, ?) ON CONFLICT (run, key) DO UPDATE SET attempt = excluded.attempt",
            (run, key, attempt),
        )


def _row(text: str) -> Row:
    return restored(Row, json.loads(text))


def _now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")
