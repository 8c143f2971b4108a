"""Call a learner's function once and notice everything it does: result, exception, print, time, side effects."""
from __future__ import annotations

import contextlib
import io
import random
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from .wire import fingerprint, fresh, identical

__all__ = ["CappedText", "Outcome", "altered", "call", "delegated", "locals_of", "recorded"]

LIBRARY = Path(__file__).resolve().parents[1]
HARMLESS = ("classroom", "data", "plots.py")


@dataclass(frozen=True)
class Outcome:
    """What one call did."""

    value: Any = None
    error: BaseException | None = None
    overtime: bool = False
    printed: str = ""
    flood: int = 0                               # characters printed beyond those kept
    warned: tuple[str, ...] = ()
    changed: tuple[int, ...] = ()                # positions of arguments that the call altered
    stirred: bool = False                        # the global random state is another one than before
    seconds: float = field(default=0.0, compare=False)

    @property
    def returned(self) -> bool:
        return self.error is None and not self.overtime


class Overtime(BaseException):
    """Raised inside a function whose time is up; not an Exception, so that ``except Exception`` lets it pass."""


def call(function: Callable, args: tuple, seconds: float | None = None) -> Outcome:
    """Call ``function(*args)`` on fresh copies of the arguments."""
    given, out = fresh(args), CappedText()
    value = error = None
    overtime = False
    with (warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(out),
          contextlib.redirect_stderr(out), guarded_generators() as generators):
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            with time_limit(seconds) as limit:
                value = function(*given)
        except Overtime:
            overtime = True
        except KeyboardInterrupt:
            if not limit.expired:
                raise
            overtime = True
        except BaseException as caught_error:      # SystemExit and its kind too: a check outlives them
            error = caught_error
        spent = time.perf_counter() - start
    told = tuple(dict.fromkeys(str(w.message) for w in caught if not issubclass(w.category, DeprecationWarning)))
    return Outcome(value, error, overtime, out.getvalue(), out.flood, told, altered(args, given), generators.stirred, spent)


def altered(args: tuple, given: tuple) -> tuple[int, ...]:
    """The positions of arguments that are no longer what was passed."""
    return tuple(i for i, (one, other) in enumerate(zip(args, given))
                 if not isinstance(other, np.random.Generator) and not identical(one, other))


def delegated(function: Callable, args: tuple, ready: tuple[str, ...] = (), seconds: float | None = None) -> str | None:
    """The name of a ready-made solution that the function leans on, or None.

    That is any mathematics of the course's own library, and whatever `ready` lists.
    """
    used: list[str] = []

    def watch(frame, event, _):
        if event == "call" and not used and (name := _library_name(frame.f_code)):
            used.append(name)

    with recorded(function, ready, used):
        previous = sys.getprofile()
        sys.setprofile(watch)
        try:
            call(function, args, seconds)
        finally:
            sys.setprofile(previous)
    return used[0] if used else None


def locals_of(function: Callable, args: tuple, names: tuple[str, ...], seconds: float | None = None) -> dict[str, list]:
    """Every value that the named local variables take during a call, the last one last, as far as there are such names.

    A variable may be overwritten or changed in place later on, so each is copied as it passes; the first fifty count.
    """
    code, seen = getattr(function, "__code__", None), {}

    def note(frame) -> None:
        for name in names:
            if name in frame.f_locals and len(taken := seen.setdefault(name, [])) < 50:
                if not taken or fingerprint(taken[-1]) != fingerprint(frame.f_locals[name]):
                    taken.append(fresh(frame.f_locals[name]))

    def trace(frame, event, _):
        if frame.f_code is code:
            note(frame)
            return trace

    previous = sys.gettrace()
    sys.settrace(trace)
    try:
        call(function, args, seconds)
    finally:
        sys.settrace(previous)
    return {name: seen[name] for name in names if name in seen}


class CappedText(io.StringIO):
    """Text that stops growing; `flood` counts what was left out."""

    LIMIT = 10_000
    flood = 0

    def write(self, text: str) -> int:
        if (room := self.LIMIT - self.tell()) > 0:
            super().write(text[:room])
        self.flood += max(0, len(text) - max(0, room))
        return len(text)


class guarded_generators:  # noqa: N801 - reads as a statement
    """Notice whether the body touches the global random generators, and leave them as they were."""

    stirred = False

    def __enter__(self) -> "guarded_generators":
        self.before = np.random.get_state(), random.getstate()
        np.random.seed(271_828)      # a state of our own: a body that seeds as the one before it did is noticed too
        random.seed(271_828)
        self.marked = self._state()
        return self

    def __exit__(self, *_) -> None:
        self.stirred = self._state() != self.marked
        np.random.set_state(self.before[0])
        random.setstate(self.before[1])

    @staticmethod
    def _state() -> tuple:
        kind, keys, *rest = np.random.get_state()
        return (kind, keys.tobytes(), *rest, random.getstate())


class time_limit:  # noqa: N801 - reads as a statement: with time_limit(5)
    """Interrupt the body after so many seconds, where the platform and the thread allow it.

    On Unix an interval timer raises `Overtime`; if the body swallows it, every later line of the body raises it
    again. On Windows the main thread is interrupted as by the Stop button. In a browser there is only the button.
    """

    def __init__(self, seconds: float | None):
        self.seconds, self.expired = seconds, False

    def __enter__(self) -> "time_limit":
        main = threading.current_thread() is threading.main_thread()
        self.kind = "none" if not self.seconds or not main or sys.platform == "emscripten" else \
            "alarm" if hasattr(signal, "setitimer") else "thread"
        if self.kind == "alarm":
            self.handler = signal.signal(signal.SIGALRM, self._ring)
            signal.setitimer(signal.ITIMER_REAL, self.seconds, 0.2)
        elif self.kind == "thread":
            self.timer = threading.Timer(self.seconds, self._interrupt)
            self.timer.daemon = True
            self.timer.start()
        return self

    def __exit__(self, *_) -> None:
        if self.kind == "alarm":
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self.handler)
            if self.expired:
                sys.settrace(None)
        elif self.kind == "thread":
            self.timer.cancel()

    def _ring(self, _, frame) -> None:
        if self.expired:                          # swallowed once: raise in every line from here on
            while frame:
                frame.f_trace = _raise_overtime
                frame = frame.f_back
            sys.settrace(_raise_overtime)
        self.expired = True
        raise Overtime

    def _interrupt(self) -> None:
        import _thread

        self.expired = True
        _thread.interrupt_main()


def _raise_overtime(frame, event, argument):
    if event == "line" and frame.f_code.co_filename != __file__:
        raise Overtime
    return _raise_overtime


def _library_name(code) -> str | None:
    """"course_lib.decision.posterior" for code of the course's mathematics."""
    path = Path(code.co_filename)
    try:
        inside = path.relative_to(LIBRARY)
    except ValueError:
        return None
    return None if inside.parts[0] in HARMLESS else f"course_lib.{inside.stem}.{code.co_name}"


@contextlib.contextmanager
def recorded(function: Callable, ready: tuple[str, ...], used: list[str]) -> Iterator[None]:
    """Swap each ready-made function for one that notes its name, in its module and in the learner's namespace."""
    undo = []
    for path in ready:
        module, _, name = path.rpartition(".")
        original = getattr(sys.modules.get(module), name, None)
        if original is None:
            continue

        def noted(*args, _original=original, _path=path, **keywords):
            used.append(_path)
            return _original(*args, **keywords)

        scope = getattr(function, "__globals__", {})
        undo += [(scope, key, value) for key, value in scope.items() if value is original]
        undo.append((vars(sys.modules[module]), name, original))
        for space, key, _ in undo:
            space[key] = noted if space[key] is original else space[key]
    try:
        yield
    finally:
        for space, key, value in undo:
            space[key] = value
