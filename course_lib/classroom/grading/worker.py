"""What one process of a grading run does: read a package, run its notebooks in its sandbox, mark the answers.

`equip` is called once in each process; the sandbox starts at the first submission and stays warm.
"""
from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .cells import Notebook, defining
from .intake import Package, Submission, read
from .keys import Key
from .layouts import natural, words
from .marking import Finding, blank, mark
from .records import CRASHED, GRADED, MISSING, NOT_GRADED, NOTHING, TIMED_OUT, Item, Row

if TYPE_CHECKING:
    from .sandbox import CellNote, Sandbox, Session

__all__ = ["Bench", "equip", "grade_package", "retire", "ungraded"]

_place = threading.local()      # one sandbox for each thread; a dask worker may have several


@dataclass(frozen=True)
class Bench:
    """What every process of a run needs."""

    keys: tuple[Key, ...]
    trusted: bool = False

    def sandbox(self) -> Sandbox:
        """A new sandbox, not entered."""
        from . import sandbox

        return (sandbox.Trusted if self.trusted else sandbox.Sandbox)()


_bench: Bench | None = None


def equip(bench: Bench) -> None:
    """Give this process what it needs to grade."""
    global _bench
    _bench = bench


def grade_package(package: Package) -> Row:
    """The row of a submission; never raises, for a failure of ours is a row too."""
    try:
        if package.failure:
            return ungraded(package, _bench.keys, package.failure)
        submission = read(package)
        if submission.status:
            status = MISSING if submission.status == NOTHING else submission.status
            return _row(package, submission, submission.status, submission.reason,
                        tuple(blank(key, status, submission.reason) for key in _bench.keys))
        return _graded(package, submission)
    except Exception as error:
        retire()
        return ungraded(package, _bench.keys, f"the grader failed: {type(error).__name__}: {error}")


def ungraded(package: Package, keys: Sequence[Key], reason: str) -> Row:
    """The row of a submission at which we failed."""
    return _row(package, Submission(), NOT_GRADED, reason, tuple(blank(key, NOT_GRADED, reason) for key in keys))


def retire() -> None:
    """Close this thread's sandbox; the next submission gets a new one."""
    if stack := vars(_place).pop("stack", None):
        vars(_place).pop("sandbox", None)
        try:
            stack.close()
        except Exception:  # a sandbox that is broken may not close either
            pass


def _row(package: Package, submission: Submission, status: str, reason: str, items: tuple[Item, ...]) -> Row:
    return Row(package.key, package.student, status, reason, submission.notes, items, package.submitted, package.late,
               package.digest)


def _graded(package: Package, submission: Submission) -> Row:
    shares, notes = assigned(submission.notebooks, _bench.keys)
    items: dict[str, Item] = {}
    for notebook, keys in shares:
        for item in _marked(notebook, keys, dict(submission.files), submission.notebooks):
            items[item.exercise] = item
    submission = replace(submission, notes=(*submission.notes, *notes))
    return _row(package, submission, GRADED, "", tuple(items[key.id] for key in _bench.keys))


def assigned(notebooks: Sequence[Notebook], keys: Sequence[Key]) -> tuple[list[tuple[Notebook, list[Key]]], list[str]]:
    """Which notebook each exercise is graded in, and what to say about the choice.

    Of several notebooks that define a function, the one named as the exercise's unit counts, else the one with the unit's
    number, else the one that defines most of the functions, else the last by its name.
    """
    wealth = {n.name: sum(bool(defining(n.code, key.name)) for key in keys) for n in notebooks}
    shares: dict[str, list[Key]] = {}
    several: dict[tuple[str, str], list[str]] = {}
    for key in keys:
        def rank(notebook: Notebook, topic: str = key.topic) -> tuple:
            unit = topic.partition("_")[0]
            name = notebook.name
            return topic in name, unit in words(name), wealth[name], natural(name)

        having = [n for n in notebooks if defining(n.code, key.name)]
        chosen = max(having or notebooks, key=rank)
        shares.setdefault(chosen.name, []).append(key)
        if len(having) > 1:
            others = ", ".join(n.name for n in having if n is not chosen)
            several.setdefault((chosen.name, others), []).append(key.name)
    notes = [f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} defined in several notebooks; "
             f"{chosen} counts, not {others}." for (chosen, others), names in several.items()]
    return [(n, shares[n.name]) for n in notebooks if n.name in shares], notes


def _marked(
    notebook: Notebook, keys: Sequence[Key], files: dict[str, bytes], all_of_them: Sequence[Notebook]
) -> list[Item]:
    session = _run(notebook, keys, files)
    replies, items = iter(session.replies), []
    for key in keys:
        own = [next(replies) for _ in key.cases]
        items.append(mark(key, own, _missing(key, notebook, session.notes, all_of_them), notebook.name))
    return items


def _run(notebook: Notebook, keys: Sequence[Key], files: dict[str, bytes]) -> Session:
    calls = [call for key in keys for call in key.calls]
    if not hasattr(_place, "sandbox"):
        _place.stack = ExitStack()
        _place.sandbox = _place.stack.enter_context(_bench.sandbox())
    session = _place.sandbox.run(notebook.code, calls, files)
    if len(session.replies) != len(calls):
        raise RuntimeError(f"the sandbox gave {len(session.replies)} replies to {len(calls)} calls")
    return session


def _missing(key: Key, notebook: Notebook, notes: Sequence[CellNote], notebooks: Sequence[Notebook]) -> Finding:
    """Why a notebook has no such function; a cell that was over its time or ended the process keeps that word."""
    for i in defining(notebook.code, key.name):
        if i < len(notes) and notes[i].status != "ran":
            status = notes[i].status if notes[i].status in (TIMED_OUT, CRASHED) else MISSING
            return Finding(status, f"code cell {i + 1}, which defines it, {_happened(notes[i])}")
    if any(defining(n.text, key.name) for n in notebooks):
        return Finding(MISSING, "the cell that defines it is text (markdown) instead of code, so it never ran")
    if (broken := next((i for i, note in enumerate(notes) if note.status != "ran"), None)) is not None:
        return Finding(MISSING, f"no cell defines it; code cell {broken + 1} {_happened(notes[broken])}")
    return Finding(MISSING, "no cell defines it: was it renamed or deleted?")


def _happened(note: CellNote) -> str:
    return {
        "raised": f"stopped with {note.error}",
        "timed out": "ran out of time",
        "crashed": f"ended its process ({note.error})",
        "not run": "was not run",
    }.get(note.status, note.status)[:500]
