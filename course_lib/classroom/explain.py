"""What the checker's cards are made of: the input, the difference, the step that went wrong, what to do next."""
from __future__ import annotations

import itertools
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
    sentence, kind = attempt.differences[attempt.failing].sentence, attempt.differences[attempt.failing].kind
    if kind in ("shape", "value") and isinstance(outcome.value, np.ndarray) and isinstance(case.expected, np.ndarray):
        like = resemblance(case.expected, outcome.value, dict(zip(attempt.answer.arguments, case.args)))
        sentence += f" As it looks, {like}" if like else ""
    return Rows(tuple(rows)), Text(sentence)


def worked(attempt: Attempt) -> tuple:
    """The simplest wrong input step by step, for somebody who has read the other card already."""
    answer, (case, outcome) = attempt.answer, attempt.pairs[attempt.failing]
    mine = locals_of(attempt.function, case.args, tuple(case.steps), attempt.seconds)
    rows = [*given(answer, case)]
    for name, step in case.steps.items():
        rows.append((f"`{name}`", shown(step)))
        if name in mine and not any(_equal(step, value) for value in mine[name]):
            rows.append((f"your `{name}`", shown(mine[name][-1])))
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
        case np.exceptions.AxisError():
            return ("The array has fewer axes than that: print its shape. x[:, :1] keeps an axis that x[:, 0] drops, and "
                    "x[:, None] or keepdims=True makes one.")
        case ValueError() if "truth value" in text:
            return ("`if`, `and`, `or` and `not` take one True or False, and this is a whole array of them. "
                    "np.where(condition, a, b) chooses entry by entry; &, | and ~ combine arrays.")
        case ValueError() if "inhomogeneous" in text:
            return ("The rows that this array is made of differ in length. Print them: was the axis of the objects summed "
                    "away, or another one?")
        case TypeError() if text.startswith("only "):
            return ("This takes a single number, as everything in `math` does, and was given a whole array: "
                    "numpy's function of the same name takes both (np.log for math.log).")
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
    """The first of the reference's steps that the learner's variable of that name never holds."""
    case = attempt.answer.cases[attempt.failing]
    mine = locals_of(attempt.function, case.args, tuple(case.steps), attempt.seconds)
    if case.steps and not mine:
        yield Text("Name your steps " + ", ".join(f"`{name}`" for name in case.steps)
                   + " and the checker can tell which of them goes wrong first.")
    known = dict(zip(attempt.answer.arguments, case.args))
    good: list[str] = []
    for name in mine:
        if not any(_equal(case.steps[name], value) for value in mine[name]):
            if any(_part(case.steps[name], value) for value in mine[name]):
                continue                                 # a loop's variable, one row or class at a time
            before = "".join(f"`{g}` is right. " for g in good)
            found = attempt.answer.comparer.difference(case.steps[name], mine[name][-1])
            words = resemblance(case.steps[name], mine[name][-1], known) or (found.sentence if found else "it differs.")
            yield Text(f"{before}`{name}` is not: {words}")
            return
        good.append(name)
        known[name] = case.steps[name]
    if good:
        *others, last = (f"`{g}`" for g in good)
        names, verb = (f"{', '.join(others)} and {last}", "are") if others else (last, "is")
        yield Text(f"{names} {verb} right; what comes after is not.")


def resemblance(expected: Any, got: Any, known: dict[str, Any]) -> str | None:
    """How a wrong array may have come about, if in one of the usual ways: rounding, a sign, a factor, another axis.

    `known` are arrays by name that it may be a sum, maximum or mean of.
    """
    want, have = np.asarray(expected), np.asarray(got)
    if want.dtype.kind not in "iuf" or have.dtype.kind not in "iuf" or not want.size:
        return None
    if _equal(have, want):                               # but for an axis of length 1, of which the shape speaks
        return None
    pairs = list(itertools.product(_reduced(have, known), _reduced(want, known)))
    if pairs:                                            # of several readings, the one in which least is wrong
        does, should = min(pairs, key=lambda pair: sum(one != other for one, other in zip(*pair)))
        return f"it is the {_words(*does)}, and should be the {_words(*should)}."
    if have.ndim == want.ndim == 2 and _equal(have.T, want):
        return "rows and columns are swapped."
    if have.shape != want.shape:
        return None
    if have.dtype.kind in "iu" and want.dtype.kind == "f" and _equal(np.trunc(want), have):
        return ("it is cut off to whole numbers: was it written into an array of integers (np.zeros_like of one, or "
                "dtype=int)?")
    for digits in range(1, 9):
        if want.dtype.kind == "f" and _equal(np.round(want, digits), have):
            return f"it is rounded to {digits} decimals; rounding is for printing."
    if _equal(-have, want):
        return "its sign is the other one."
    with np.errstate(all="ignore"):
        ratio, gap = have / want, have - want
    if np.isfinite(ratio).all() and np.ptp(ratio) < 1e-9 * abs(ratio.flat[0]):
        if base := next((b for b in (2, 10) if np.isclose(ratio.flat[0] * np.log(b), 1, rtol=1e-9)), None):
            return f"it is as if np.log{base} had been taken for np.log."
        if want.size > 1 or _simple(ratio.flat[0]):      # of two single numbers any is so many times the other
            return f"it is {ratio.flat[0]:.6g} times what it should be."
    if want.size > 1 and np.isfinite(gap).all() and np.ptp(gap) < 1e-9 * (1 + abs(gap.flat[0])):
        return f"it is {abs(gap.flat[0]):.6g} too {'large' if gap.flat[0] > 0 else 'small'} everywhere."
    return None


def _reduced(array: np.ndarray, known: dict[str, Any]) -> Iterator[tuple[str, str, int | None]]:
    """("sum", "joint", 1) for each way in which the array comes from a known one, the latest first."""
    for name, value in reversed(known.items()):
        if isinstance(value, np.ndarray) and value.ndim and value.dtype.kind in "iuf":
            for verb, reduce in (("sum", np.sum), ("maximum", np.max), ("mean", np.mean)):
                for axis in (None, *range(value.ndim)):
                    if _equal(reduce(value, axis=axis), array):
                        yield verb, name, axis


def _words(verb: str, name: str, axis: int | None) -> str:
    return f"{verb} of `{name}` over {'everything' if axis is None else f'axis {axis}'}"


def _simple(ratio: float) -> bool:
    """Is it a small whole number, or one over such a number?"""
    return any(abs(r) < 100 and np.isclose(r, round(r), rtol=1e-9) for r in (ratio, 1 / ratio))


def _part(whole: Any, value: Any) -> bool:
    """Is a value one row (entry, item) of several?"""
    try:
        return np.ndim(value) < np.ndim(whole) and any(_equal(row, value) for row in whole)
    except ValueError:                                   # a ragged list has no number of axes
        return False


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


def _equal(one: Any, other: Any) -> bool:
    """Are two values the same numbers, whatever axes of length 1 they have?"""
    try:
        one, other = np.squeeze(one), np.squeeze(other)
        return one.shape == other.shape and np.allclose(one, other, rtol=1e-9, atol=1e-12, equal_nan=True)
    except (TypeError, ValueError):
        return False
