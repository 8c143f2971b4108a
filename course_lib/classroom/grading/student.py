"""The student's side of a grading process: run the cells of a notebook, answer questions about its functions."""
from __future__ import annotations

import builtins
import contextlib
import ctypes
import io
import linecache
import random
import re
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from ..run import CappedText, Outcome, call, delegated
from ..wire import fingerprint, fresh
from . import standins
from .channel import check_plain, pack

__all__ = ["Student", "fitting", "plain_python"]

MAGIC = re.compile(r"\s*(?:[\w, .]+=\s*)?[%!]|.*\?\s*$")
ERROR_CHARACTERS = 500


def fitting(nonce: str, reply: dict) -> bytes:
    """The bytes of a reply; what cannot be sent is said in its place."""
    try:
        return pack((nonce, reply))
    except (TypeError, ValueError) as error:
        return pack((nonce, reply | {"status": "not plain", "value": None, "error": _words(error)}))


class Student:
    """The student's namespace, and what can be asked of it."""

    def __init__(self):
        self.module = types.ModuleType("__main__")
        self.module.__dict__.update(display=standins.Quiet(), get_ipython=standins.Quiet())
        sys.modules["__main__"] = self.module
        self.guard: MarkedGenerators | None = None
        sys.stdin, builtins.input = io.StringIO(), _no_input

    def cell(self, number: int, source: str) -> dict:
        """Run one cell."""
        out, name = CappedText(), f"<cell {number}>"
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                source = plain_python(source)
                linecache.cache[name] = (len(source), None, source.splitlines(True), name)
                exec(compile(source, name, "exec"), self.module.__dict__)
            except BaseException as error:              # SystemExit, KeyboardInterrupt too: the next cell runs
                return {"raised": True, "error": _words(error)}
            finally:
                _close_figures()
        return {"raised": False, "error": ""}

    def answer(self, function: str, args: tuple, ready: tuple[str, ...], most: int) -> dict:
        """Call a function twice, and once more watched where ready-made solutions are to be told.

        A value of more than `most` bytes is not plain.
        """
        standins.used.clear()
        found = self.module.__dict__.get(function)
        if not callable(found):
            return _reply("missing", error=f"the notebook defines no function {function}")
        self.guard = self.guard or MarkedGenerators()
        first = _call(found, args, self.guard)
        if not first.returned:
            return _reply("raised", first, error=_words(first.error))
        try:
            check_plain(first.value, [most])
            value, mark = fresh(first.value), fingerprint(first.value)
        except Exception as error:
            return _reply("not plain", first, error=_words(error))
        second = _call(found, args, self.guard)
        again = second.returned and fingerprint(second.value) == mark
        return _reply("returned", first, value=value, again=again,
                      delegated=delegated(found, args, ready) if ready else None)


class MarkedGenerators:
    """Notice whether a call touches the global generators; their state is marked anew only where it was touched.

    Reading a state in full, as `run.guarded_generators` must, takes four times as long as all else about a call.
    """

    SEED, MT19937_BYTES = 271_828, 625 * 4

    def __init__(self):
        self.stirred = False
        self._mark()

    def __enter__(self) -> MarkedGenerators:
        return self

    def __exit__(self, *_) -> None:
        if stirred := self._state() != self.marked:
            self._mark()
        self.stirred = stirred

    def _mark(self) -> None:
        random.seed(self.SEED)
        self.ours = np.random.MT19937(self.SEED)
        np.random.set_bit_generator(self.ours)
        self.marked = self._state()

    def _state(self) -> tuple:
        same = np.random.get_bit_generator() is self.ours
        return same, ctypes.string_at(self.ours.ctypes.state_address, self.MT19937_BYTES), random.getstate()


def plain_python(source: str) -> str:
    """A cell without what is of IPython: each line that is no Python for its sake becomes `pass`."""
    lines = source.splitlines()
    for _ in range(len(lines)):
        try:
            compile("\n".join(lines), "<cell>", "exec")
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not (0 <= at < len(lines) and MAGIC.match(lines[at])):
                break
            lines[at] = lines[at][:len(lines[at]) - len(lines[at].lstrip())] + "pass"
        else:
            break
    return "\n".join(lines)


def _call(function: Callable, args: tuple, guard: MarkedGenerators) -> Outcome:
    try:
        return call(function, args, guard=guard)
    except BaseException as error:       # an interrupt that the student's code raises
        return Outcome(error=error)
    finally:
        _close_figures()


def _reply(status: str, outcome: Outcome = Outcome(), value: Any = None, error: str = "", again: bool = True,
           delegated: str | None = None) -> dict:
    return {"status": status, "value": value, "error": error, "changed": outcome.changed, "stirred": outcome.stirred,
            "again": again, "printed": _printable(outcome.printed),
            "delegated": delegated or next(iter(standins.used), None)}


def _words(error: BaseException) -> str:
    """"ValueError: … (cell 3, line 2)"."""
    name = type(error).__name__
    try:
        text = f"{name}: {error}"[:ERROR_CHARACTERS]
    except BaseException:                # its own __str__ fails, or wants to leave
        text = name
    place, trace = "", error.__traceback__
    while trace:
        file = trace.tb_frame.f_code.co_filename
        place = f" ({file[1:-1]}, line {trace.tb_lineno})" if file.startswith("<cell ") else place
        trace = trace.tb_next
    return _printable(text + place)


def _printable(text: str) -> str:
    return text.encode(errors="replace").decode()


def _no_input(*_) -> str:
    raise RuntimeError("input() is not allowed: nobody is there to answer while a notebook is graded")


def _close_figures() -> None:
    if pyplot := sys.modules.get("matplotlib.pyplot"):
        with contextlib.suppress(Exception):
            pyplot.close("all")
