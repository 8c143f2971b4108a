"""Hints, a step at a time, and the worked solution for somebody who has tried."""
from __future__ import annotations

import inspect
from collections.abc import Callable

from . import answers, progress
from .answers import Answer, find
from .card import Card, Rows, Text

__all__ = ["hint", "solution"]

STEPS = ("a nudge", "the formula", "the first line")


def hint(function: Callable | str, step: int | None = None) -> None:
    """Show the next hint of an exercise: a nudge, then the formula, then the first line.

    Parameters
    ----------
    function : callable or str
        The function, its name or the id of the exercise.
    step : int, optional
        1, 2 or 3 for a certain one; by default the next one not yet shown.
    """
    hint_card(function, step).show()


def solution(function: Callable | str, give_up: bool = False) -> None:
    """Show the worked solution beside yours, and why the wrong ones are wrong.

    It opens when the exercise is solved, after the three hints, or with ``give_up=True``; an exercise that was not
    solved before counts as seen from then on.
    """
    solution_card(function, give_up).show()


def hint_card(function: Callable | str, step: int | None = None) -> Card:
    if (answer := find(function)) is None:
        return _unknown(function)
    taken = {e.get("step") for e in progress.events("hint", exercise=answer.id)}
    step = step or next((i for i in range(1, len(answer.hints) + 1) if i not in taken), len(answer.hints))
    if not 1 <= step <= len(answer.hints):
        return Card("note", "HINT", f"{answer.id}: there are hints 1 to {len(answer.hints)}, not {step}.")
    progress.record("hint", exercise=answer.id, step=step)
    more = (f"`hint({answer.name})` again shows {STEPS[step]}." if step < len(answer.hints)
            else f"That was the last hint; `solution({answer.name})` shows the worked solution.")
    return Card("note", f"HINT {step} OF {len(answer.hints)}", f"{answer.id} {answer.name}: {STEPS[step - 1]}",
                (Text(answer.hints[step - 1]), Text(more)))


def solution_card(function: Callable | str, give_up: bool = False) -> Card:
    if (answer := find(function)) is None:
        return _unknown(function)
    solved = bool(progress.events("check", exercise=answer.id, passed=True))
    hinted = {e.get("step") for e in progress.events("hint", exercise=answer.id)} >= {1, 2, 3}
    if not (solved or hinted or give_up):
        return Card("note", "NOT OPENED", f"{answer.id}: try it, or take the hints first.",
                    (Text(f"`hint({answer.name})` shows the next hint. After three, or with "
                          f"`solution({answer.name}, give_up=True)`, the solution opens; the exercise then counts as seen."),))
    if (source := _reference(answer)) is None:
        return Card("note", "NOT HERE", f"{answer.id}: this copy of the course holds no solutions.",
                    (Text("They come from whoever gave you the copy; every mistake below is still explained."),
                     *_why(answer)))
    progress.record("solution", exercise=answer.id)
    rows = (("the course's", source), ("yours", _own(function)))
    return Card("note", "SOLUTION", f"{answer.id} {answer.title}",
                (Rows(rows), Text(answer.notice), Text("Why the wrong ones are wrong:"), *_why(answer)))


def _why(answer: Answer) -> list[Text]:
    return [Text(f"· {m.title} {m.remedy}") for m in answer.mistakes]


def _reference(answer: Answer) -> str | None:
    try:
        from .course import Course     # reads notebooks, which a browser cannot

        return Course.here().solution_of(answer)
    except (ImportError, OSError):
        return None


def _own(function: Callable | str) -> str:
    try:
        return inspect.getsource(function).rstrip()
    except (OSError, TypeError):
        return "(pass the function itself, not its name, to see yours here)"


def _unknown(function) -> Card:
    name = function if isinstance(function, str) else getattr(function, "__name__", repr(function))
    listed = ", ".join(f"`{a.name}` ({a.id})" for a in list(answers.everything().values())[:8])
    return Card("note", "UNKNOWN", f"the course has no exercise `{name}`.", (Text(f"There are {listed}, …"),))
