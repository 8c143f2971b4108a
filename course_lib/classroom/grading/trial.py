"""One submission before the grader: its cells run, its functions are asked, and every loss costs only itself.

A fork that is lost (it crashed, or was over its time) is replaced: the cells that did not cost a fork run again, and
what is still unanswered is asked again, a function that has cost a fork in a fresh one for each question.
"""
from __future__ import annotations

import math
import secrets
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any, Protocol

import numpy as np

from .channel import NONCE_BYTES, Unfit, exactly, pack, receive
from .session import Call, CellNote, Limits, Reply, Session

__all__ = ["Fork", "Trial", "Unavailable"]

LOST = ("timed out", "crashed")
ANSWERS = ("returned", "raised", "missing", "not plain")     # what a process may say of its own question
PATIENCE = 3                             # time outs in a row after which a function is asked no more
START_SECONDS, TELL_SECONDS = 30.0, 10.0
TEXT_CHARACTERS = 20_000
NAMES_CHARACTERS = 250_000               # of all files; the header of a message has room for a million
TOGETHER_BYTES = 1 << 16                 # well below what a socket holds: sending them waits for nobody


class Unavailable(RuntimeError):
    """The sandbox itself does not work; nobody's answer is at fault."""


class Fork(Protocol):
    """A process for one submission."""

    channel: socket.socket
    setting: dict                        # data, isolated, filter: how the process has to confine itself

    def end(self, gone: bool = False) -> str:
        """End it with all that it started, and say how it died; one that is `gone` may take a moment to do so."""


class Trial:
    """One submission; `run` is called once."""

    def __init__(self, fork: Callable[[], AbstractContextManager[Fork]], limits: Limits,
                 cells: Sequence[str], calls: Sequence[Call], files: Mapping[str, bytes]):
        self.fork, self.limits, self.calls = fork, limits, calls
        self.cells = {i: np.frombuffer(s.encode(errors="replace"), np.uint8) for i, s in enumerate(cells, 1)}
        self.files = _that_fit(files, limits)
        self.notes = {i: CellNote(i, "not run") for i in self.cells}
        self.replies = {i: reply for i, call in enumerate(calls) if (reply := _unaskable(call))}
        self.bad_cells: set[int] = set()                 # not to be run again
        self.suspects: set[str] = set()                  # functions that have cost a fork
        self.time_outs: Counter[str] = Counter()
        self.over = time.monotonic() + limits.notebook_seconds
        self.cells_over = self.over - limits.notebook_seconds / 2

    def run(self) -> Session:
        try:
            while not self._finished():
                pass
            unasked = Reply("not graded", error="it was not asked")
        except Unavailable as error:
            unasked = Reply("not graded", error=str(error))
        replies = (self.replies.get(i, unasked) for i in range(len(self.calls)))
        return Session(tuple(self.notes.values()), tuple(replies))

    def _finished(self) -> bool:
        """Run the cells and ask what is open in one fork; is everything answered?"""
        self._give_up()
        if self.calls and len(self.replies) == len(self.calls):
            return True
        began = time.monotonic()
        with self.fork() as fork:
            waited = time.monotonic() - began            # for a new server: no fault of the submission
            self.over, self.cells_over = self.over + waited, self.cells_over + waited
            return self._run_cells(fork) and self._ask_batch(fork)

    def _give_up(self) -> None:
        """Answer what will not be asked any more."""
        over = time.monotonic() >= self.over
        for i, call in enumerate(self.calls):
            if over:
                error = f"the {self.limits.notebook_seconds:g} s for the notebook are over"
            elif self.time_outs[call.function] >= PATIENCE:
                error = f"not asked: {call.function} was over its time {PATIENCE} times in a row"
            else:
                continue
            self.replies.setdefault(i, Reply("timed out", error=error))

    def _run_cells(self, fork: Fork) -> bool:
        """Run every cell that has not cost a fork; False if one costs this fork."""
        fresh = time.monotonic() < self.cells_over       # else only those that ran before
        todo = [i for i in self.cells if i not in self.bad_cells and (fresh or self.notes[i].status != "not run")]
        nonce = secrets.token_bytes(NONCE_BYTES)
        self._start(fork, nonce, todo)
        for i in todo:
            try:
                self.notes[i] = self._note(fork, nonce, i)
            except Lost as lost:
                self.notes[i] = CellNote(i, lost.status, lost.error)
                self.bad_cells.add(i)
                return False
        return True

    def _note(self, fork: Fork, nonce: bytes, i: int) -> CellNote:
        over = self.cells_over if self.notes[i].status == "not run" else self.over
        said = self._hear(fork, nonce, 0, self.limits.cell_seconds, over)
        return CellNote(i, "ran" if said.get("raised") is False else "raised", _text(said.get("error")))

    def _start(self, fork: Fork, nonce: bytes, todo: list[int]) -> None:
        job = {"cells": [(i, self.cells[i]) for i in todo], "files": self.files,
               "ready": tuple(sorted({path for call in self.calls for path in call.ready})),
               "limits": asdict(self.limits), **fork.setting}
        try:
            self._tell(fork, nonce + pack(job))
            problem = self._hear(fork, nonce, 0, START_SECONDS).get("problem")
        except Lost as lost:
            problem = lost.error
        if problem:
            raise Unavailable(f"the grading process did not start: {problem}")

    def _ask_batch(self, fork: Fork) -> bool:
        """Ask in this fork what may share one; is everything answered?"""
        todo = [i for i in range(len(self.calls)) if i not in self.replies]
        batch = [i for i in todo if self.calls[i].function not in self.suspects] or todo[:1]
        for group in self._groups(batch):
            for i, reply in self._answers(fork, group):
                name, lost = self.calls[i].function, reply.status in LOST
                if lost:
                    self.suspects.add(name)
                    if group != batch[:1]:               # others were asked in this fork: once more, alone
                        return False
                self.replies[i] = reply
                self.time_outs[name] = self.time_outs[name] + 1 if reply.status == "timed out" else 0
                if lost:
                    return False
        return len(self.replies) == len(self.calls)

    def _groups(self, batch: Sequence[int]) -> Iterator[list[int]]:
        """Questions about one function go out together, as far as they fit into the channel without being read."""
        group, room = [], TOGETHER_BYTES
        for i in batch:
            call = self.calls[i]
            if group and (call.function != self.calls[group[0]].function or len(call.message) > room):
                yield group
                group, room = [], TOGETHER_BYTES
            group.append(i)
            room -= len(call.message)
        if group:
            yield group

    def _answers(self, fork: Fork, group: Sequence[int]) -> Iterator[tuple[int, Reply]]:
        """Each question with its reply, up to the first at which the fork is lost."""
        nonce, i, most = secrets.token_bytes(NONCE_BYTES), group[0], self.limits.reply_bytes
        try:
            self._tell(fork, b"".join(nonce + self.calls[i].message for i in group))
            for i in group:
                yield i, _sound(self._hear(fork, nonce, most, self.limits.call_seconds, self.over))
        except Lost as lost:
            yield i, Reply(lost.status, error=lost.error)

    @staticmethod
    def _tell(fork: Fork, message: bytes) -> None:
        fork.channel.settimeout(TELL_SECONDS)
        try:
            fork.channel.sendall(message)
        except OSError:                                  # it does not listen, or is no more
            raise Lost("crashed", fork.end(gone=True)) from None

    @staticmethod
    def _hear(fork: Fork, nonce: bytes, most: int, seconds: float, over: float = math.inf) -> dict:
        """The fork's word on one question, if it says that it is."""
        over = min(time.monotonic() + seconds, over)
        try:
            if exactly(fork.channel, NONCE_BYTES, over) != nonce:
                raise Unfit("a message came that answers no question")
            said = receive(fork.channel, most, over)
            if type(said) is not dict:
                raise Unfit("a message came that is no answer")
            return said
        except TimeoutError:
            fork.end()
            raise Lost("timed out", f"it did not end within {seconds:g} s") from None
        except (EOFError, OSError):
            raise Lost("crashed", fork.end(gone=True)) from None
        except Unfit as error:
            fork.end()
            raise Lost("crashed", str(error)) from None


class Lost(Exception):
    """A fork that can be asked no more."""

    def __init__(self, status: str, error: str):
        super().__init__(status, error)
        self.status, self.error = status, error


def _sound(said: dict) -> Reply:
    """A reply, each field of the type that it must have; whoever sends another one has crashed.

    Only status and value must be said; any other field is as in `Reply` if it is left out.
    """
    try:
        changed = said.get("changed", ())
        if type(changed) is not tuple or len(changed) > 100 or not all(type(i) is int for i in changed):
            raise Unfit("changed is no tuple of positions")
        if type(said["status"]) is not str or said["status"] not in ANSWERS:
            raise Unfit("such a status is not its to say")
        value = said["value"] if said["status"] == "returned" else None
        used = said.get("delegated")
        return Reply(said["status"], value, _text(said.get("error")), changed, said.get("stirred", False) is True,
                     said.get("again", True) is True, _text(said.get("printed")), None if used is None else _text(used))
    except (KeyError, Unfit) as error:
        return Reply("crashed", error=f"it sent no sound reply: {error}")


def _unaskable(call: Call) -> Reply | None:
    """What to say of a question that cannot be sent, which is the grader's own fault."""
    try:
        call.message
    except (TypeError, ValueError) as error:
        return Reply("not graded", error=str(error))


def _text(value: Any) -> str:
    return value[:TEXT_CHARACTERS] if type(value) is str else ""


def _that_fit(files: Mapping[str, bytes], limits: Limits) -> dict[str, np.ndarray]:
    kept, room, words = {}, limits.scratch_bytes, NAMES_CHARACTERS
    for name, raw in files.items():
        told = len(ascii(name)) + 50                     # in the header of a message
        if _harmless(name) and len(raw) <= min(room, limits.file_bytes) and told <= words:
            kept[name] = np.frombuffer(raw, np.uint8)
            room, words = room - len(raw), words - told
    return kept


def _harmless(name: str) -> bool:
    path = PurePosixPath(name)
    written = name.isprintable()         # neither a null byte nor half of a surrogate pair
    return written and not (path.is_absolute() or ".." in path.parts or not path.parts)
