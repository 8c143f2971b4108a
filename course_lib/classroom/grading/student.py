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
import textwrap
import types
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ..run import CappedText, altered
from ..wire import fresh, identical
from . import standins
from .channel import check_plain, pack

__all__ = ["Student", "fitting", "plain_python"]

MAGIC = re.compile(r"\s*(?:[\w, .]+=\s*)?[%!]|.*\?\s*$")
WRITTEN = re.compile(r"%%(?:writefile|file)\s+(?:-a\s+)?(\S+)\s*$")
TIMED = re.compile(r"^(\s*)%time\s+(?=\S)")
PROMPTED = re.compile(r"\s*(?:>>>|In \[\d+\]:)")
PROMPT = re.compile(r"^[ \t]*(?:>>>|In \[\d+\]:|\.\.\.+:?)[ ]?", re.MULTILINE)
ERROR_CHARACTERS = 500


def fitting(reply: dict) -> bytes:
    """The bytes of a reply; what cannot be sent is said in its place."""
    try:
        return pack(reply)
    except (TypeError, ValueError) as error:
        return pack(reply | {"status": "not plain", "value": None, "error": _words(error)})


class Student:
    """The student's namespace, and what can be asked of it."""

    def __init__(self):
        self.module = types.ModuleType("__main__")
        self.module.__dict__.update(dict.fromkeys(("display", "get_ipython", "help", "exit", "quit"), standins.Quiet()))
        sys.modules["__main__"] = self.module
        self.guard: MarkedGenerators | None = None
        sys.stdin, builtins.input = io.StringIO(), _no_input

    def cell(self, number: int, source: str) -> dict:
        """Run one cell."""
        out, name = CappedText(), f"<cell {number}>"
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                linecache.cache[name] = (len(source), None, source.splitlines(True), name)
                self._run(_compiled(source, name))
            except BaseException as error:              # SystemExit, KeyboardInterrupt too: the next cell runs
                return {"raised": True, "error": _words(error)}
            finally:
                _close_figures()
        return {"raised": False, "error": ""}

    def _run(self, code: types.CodeType) -> None:
        """Run it, again from the top if an import in it finds nothing and is lent a stand-in."""
        try:
            exec(code, self.module.__dict__)
        except ModuleNotFoundError as error:
            if not standins.lend(error.name):
                raise
            self._run(code)

    def answer(self, function: str, args: tuple, ready: tuple[str, ...], most: int) -> dict:
        """Call a function twice, and tell which of the ready-made solutions it calls.

        A value of more than `most` bytes is not plain. What is as it should be is not in the reply.
        """
        standins.question(ready)
        found = self.module.__dict__.get(function)
        if not callable(found):
            return {"status": "missing", "error": f"the notebook defines no function {function}"}
        self.guard = self.guard or MarkedGenerators()
        with self.guard:
            told = _answered(found, args, most)
        _close_figures()
        return told | _unless(None, delegated=next(iter(standins.used), None)) | _unless(False, stirred=self.guard.stirred)


class MarkedGenerators:
    """Notice whether a call touches the global generators; their state is marked anew only where it was touched.

    Reading a state in full, as `run.guarded_generators` must, takes longer than all else about a call.
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
    """A cell without what is of IPython: each line that is no Python for its sake becomes `pass`.

    As there, a cell that is indented as a whole is not, and the prompts of an example are left out.
    """
    lines = textwrap.dedent(PROMPT.sub("", source) if PROMPTED.match(source) else source).splitlines()
    for _ in range(len(lines)):
        try:
            compile("\n".join(lines), "<cell>", "exec")
        except SyntaxError as error:
            at = (error.lineno or 0) - 1
            if not (0 <= at < len(lines) and MAGIC.match(lines[at])):
                break
            indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
            if found := WRITTEN.match(lines[at]):        # the file is written; it is run, too, which harms nobody
                lines[at] = f"_ = open({found[1]!r}, 'a').write({''.join(line + chr(10) for line in lines[at + 1:])!r})"
            else:
                lines[at] = TIMED.sub(r"\1", lines[at]) if TIMED.match(lines[at]) else indent + "pass"
        else:
            break
    return "\n".join(lines)


def _compiled(source: str, name: str) -> types.CodeType:
    try:
        return compile(source, name, "exec")
    except SyntaxError:
        return compile(plain_python(source), name, "exec")


def _answered(function: Callable, args: tuple, most: int) -> dict:
    out = CappedText()
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
        warnings.simplefilter("ignore")
        value, error, changed = _call(function, args)
        told = _unless("", printed=_printable(out.getvalue())) | _unless((), changed=changed)
        if error is not None:
            return {"status": "raised", "error": _words(error), **told}
        try:
            check_plain(value, [most])
            value = fresh(value)         # for the second call may change what the first one gave
        except Exception as unfit:
            return {"status": "not plain", "error": _words(unfit), **told}
        other, error, _ = _call(function, args)
        again = error is None and identical(other, value)
        return {"status": "returned", "value": value, **told, **_unless(True, again=again)}


def _call(function: Callable, args: tuple) -> tuple[Any, BaseException | None, tuple[int, ...]]:
    """What it gives, what it raises, whatever that is, and the arguments that it alters."""
    given, value, raised = fresh(args), None, None
    try:
        value = function(*given)
    except BaseException as error:       # an interrupt that the student's code raises, too
        raised = error
    return value, raised, altered(args, given)


def _unless(usual: Any, **field: Any) -> dict[str, Any]:
    """A field of a reply, if it is not as usual."""
    return {name: value for name, value in field.items() if value != usual}


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
