"""What the checker's cards are made of: the input, the difference, the step that went wrong, what to do next."""
from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

import numpy as np

from . import answers, progress
from .answers import Answer, PublicCase, find
from .card import Card, Rows, Text, shown
from .cases import Seed
from .compare import describe
from .run import Outcome, locals_of

if TYPE_CHECKING:
    from .check import Attempt

__all__ = ["advice", "aside", "evidence", "given", "line", "located", "next_exercise", "next_hint", "noise", "unknown",
           "worked"]

PRINTED_LINES = 5


def unknown(function: Any) -> Card:
    if not callable(function):
        words = f"`check` takes one of your functions itself, as in `check(log_sum_exp)`; it got {describe(function)}."
        return Card("note", "NOT CHECKED", "that is not a function.", (Text(words),))
    name = getattr(function, "__name__", "this")
    near = get_close_matches(name, answers.everything(), n=3, cutoff=0.5) or list(answers.everything())[:5]
    return Card("note", "NOT CHECKED", f"the course has no exercise named `{name}`.",
                (Text("An exercise is found by the name of its function: "
                      f"{', '.join(f'`{n}` ({answers.everything()[n].id})' for n in near)}."),))


def given(answer: Answer, case: PublicCase) -> Iterator[tuple[str, str]]:
    yield "input", case.label
    for name, value in zip(answer.arguments, case.args):
        yield f"`{name}`", f"default_rng({value.value})" if isinstance(value, Seed) else shown(value)


def aside(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.warned:
        yield "warned", "\n".join(outcome.warned[:3])
    if outcome.printed:
        lines = [line[:100] for line in outcome.printed.splitlines()]
        kept, size = lines[:PRINTED_LINES], len(outcome.printed) + outcome.flood
        more = [f"… ({size:,} characters in all)"] if len(lines) > PRINTED_LINES or outcome.flood else []
        yield "printed", "\n".join(kept + more)


def evidence(attempt: Attempt) -> tuple:
    case, outcome = attempt.pairs[attempt.failing]
    rows = [*given(attempt.answer, case)]
    if outcome.returned and outcome.value is not None:
        rows += [("yours", shown(outcome.value))]
    rows += [("expected", shown(case.expected)), *aside(outcome)]
    return Rows(tuple(rows)), Text(attempt.differences[attempt.failing].sentence)


def worked(attempt: Attempt) -> tuple:
    """The simplest wrong input step by step, for somebody who has read the other card already."""
    answer, (case, outcome) = attempt.answer, attempt.pairs[attempt.failing]
    mine = locals_of(attempt.function, case.args, tuple(case.steps), attempt.seconds)
    rows = [*given(answer, case)]
    for name, step in case.steps.items():
        rows.append((f"`{name}`", shown(step)))
        if name in mine and answer.comparer.difference(step, mine[name]):
            rows.append((f"your `{name}`", shown(mine[name])))
    yours = shown(outcome.value) if outcome.returned else f"it raises {type(outcome.error).__name__}"
    rows += [("result", shown(case.expected)), ("yours", yours)]
    return Text("The same mistake as before, so here is that input worked step by step."), Rows(tuple(rows))


def line(function: Callable, error: BaseException) -> Iterator[tuple[str, str]]:
    home = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == home]
    if frames:
        yield f"line {frames[-1].lineno}", frames[-1].line or ""


def advice(error: BaseException) -> str:
    text = str(error)
    match error:
        case NameError():
            return "That name is not defined here. Has the cell that defines it been run (Run All Above), or is it a slip?"
        case ValueError() if "broadcast" in text or "matmul" in text or "aligned" in text:
            return ("The shapes do not fit together. Write the shape of each operand beside it; "
                    "keepdims=True or x[:, None] adds the axis that is missing.")
        case IndexError():
            return "An index points past the end: compare it with the shape of the array, and mind which axis it is on."
        case TypeError() if "NoneType" in text:
            return "Something in that line is None: does a helper function lack its `return`?"
        case RecursionError():
            return "The function calls itself without end. Is the name you call inside it the one you meant?"
        case MemoryError():
            return "The arrays do not fit into memory: is an N × N array made where N numbers would do?"
        case np.linalg.LinAlgError():
            return "The matrix cannot be inverted or factorised for this input: print it and look at its rank."
        case ZeroDivisionError():
            return "A plain number is divided by zero: for which input can the denominator vanish?"
        case SystemExit():
            return "exit() and sys.exit() end the program; return a value instead."
    return "Run the function on the input above in a cell of its own, and print what goes into that line."


def located(attempt: Attempt) -> Iterator[Text]:
    """The first of the reference's steps that the learner's variable of that name does not share."""
    case = attempt.answer.cases[attempt.failing]
    if not case.steps:
        return
    mine = locals_of(attempt.function, case.args, tuple(case.steps), attempt.seconds)
    if not mine:
        yield Text("Name your steps " + ", ".join(f"`{name}`" for name in case.steps)
                   + " and the checker can tell which of them goes wrong first.")
        return
    good: list[str] = []
    for name in mine:
        if found := attempt.answer.comparer.difference(case.steps[name], mine[name]):
            before = "".join(f"`{g}` is right. " for g in good)
            yield Text(f"{before}`{name}` is not: {relation(case.steps, mine, name) or found.sentence}")
            return
        good.append(name)
    yield Text(f"{' and '.join(f'`{g}`' for g in good)} {'is' if len(good) == 1 else 'are'} right; what comes after is not.")


def relation(steps: dict, mine: dict, name: str) -> str | None:
    """How a wrong step came about, if it is one of the usual ways: another axis, a sign, a factor, rows for columns."""
    want, have = np.asarray(steps[name]), np.asarray(mine[name])
    if want.dtype.kind not in "biuf" or have.dtype.kind not in "biuf":
        return None
    for earlier in list(steps)[:list(steps).index(name)]:
        for verb, reduce in (("sum", np.sum), ("maximum", np.max), ("mean", np.mean)):
            axes = {axis: reduce(steps[earlier], axis=axis) for axis in (None, *range(np.ndim(steps[earlier])))}
            should = [a for a, value in axes.items() if _equal(value, want)]
            does = [a for a, value in axes.items() if _equal(value, have)]
            if should and does:
                over = {a: "everything" if a is None else f"axis {a}" for a in axes}
                return f"it is the {verb} of `{earlier}` over {over[does[0]]}, and should be over {over[should[0]]}."
    if have.ndim == 2 and _equal(have.T, want):
        return "rows and columns are swapped."
    if have.shape == want.shape and want.size:
        if _equal(-have, want):
            return "its sign is the other one."
        with np.errstate(all="ignore"):
            ratio, gap = have / want, have - want
        if np.isfinite(ratio).all() and np.ptp(ratio) < 1e-9 * abs(ratio.flat[0]):
            return f"it is {ratio.flat[0]:.6g} times what it should be."
        if want.size > 1 and np.isfinite(gap).all() and np.ptp(gap) < 1e-9 * (1 + abs(gap.flat[0])):
            return f"it is {abs(gap.flat[0]):.6g} too {'large' if gap.flat[0] > 0 else 'small'} everywhere."
    return None


def noise(attempt: Attempt) -> Rows | None:
    loudest = max(attempt.outcomes, key=lambda o: len(o.printed) + o.flood)
    rows = tuple(row for row in aside(loudest) if row[0] == "printed")
    return Rows((*rows, ("", "take the print out before you hand it in"))) if rows else None


def next_hint(answer: Answer) -> str:
    taken = len({e.get("step") for e in progress.events("hint", exercise=answer.id)})
    if taken < len(answer.hints):
        return f"`hint({answer.name})` shows hint {taken + 1} of {len(answer.hints)}."
    return f"You have had every hint; `solution({answer.name})` shows a worked solution beside yours."


def next_exercise(answer: Answer) -> str:
    """The next one of the unit that is still open, those after this one first."""
    ids = [a.id for a in answers.everything().values() if a.topic == answer.topic]
    done = {e.get("exercise") for e in progress.events("check", passed=True)} | {answer.id}
    here = ids.index(answer.id) if answer.id in ids else len(ids)
    if (following := next((i for i in ids[here + 1:] + ids[:here] if i not in done), None)) is None:
        return "That was the last open exercise of this unit; `course status` says what else there is."
    return f"Next: {following} `{find(following).name}`. (This check uses public inputs; a grade uses fresh ones.)"


def _equal(one, other) -> bool:
    one, other = np.squeeze(one), np.squeeze(other)
    return one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
