"""``check(f)``: is this function right, and if not, what went wrong, in words.

The function is called on the public inputs, simplest first. A list of examiners looks at what happened; the first
that has something to say makes the card.
"""
from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import progress
from .answers import Answer, Failure, KnownMistake, PublicCase, find
from .card import Card, Rows, Text, shown
from .compare import Difference
from .explain import (advice, aside, evidence, given, line, located, next_exercise, next_hint, noise, unknown, worked)
from .mistakes import recognised
from .run import Outcome, call, delegated
from .wire import fingerprint

__all__ = ["SECONDS", "Verdict", "check", "examine"]

SECONDS = 5.0                                       # for one call; the references need milliseconds


def check(function: Callable) -> None:
    """Check a function of the course and say what came of it; never raises.

    Parameters
    ----------
    function : callable
        A function whose name is that of an exercise.
    """
    try:
        card = examine(function).card
    except Exception as error:
        card = Card("note", "NOT CHECKED", "The checker itself failed; your answer is not at fault.",
                    (Text(f"{type(error).__name__}: {error}. Please report it with the code of your function."),))
    card.show()


@dataclass(frozen=True)
class Verdict:
    """What a check found: a status, the mistake by its title if it is a known one, and the card."""

    status: str                      # right, wrong, delegated, todo or unknown
    card: Card
    exercise: str | None = None
    mistake: str | None = None


def examine(function: Any, seconds: float = SECONDS) -> Verdict:
    """Check a function, note the result in the progress file and return the verdict."""
    answer = find(function) if callable(function) else None
    if answer is None:
        return Verdict("unknown", unknown(function))
    verdict = judge(Attempt(function, answer, seconds))
    if verdict.status != "todo":
        progress.record("check", exercise=answer.id, passed=verdict.status == "right", mistake=verdict.mistake)
    return verdict


def judge(attempt: Attempt) -> Verdict:
    """The verdict of the first examiner that has something to say; nothing is noted."""
    return next(verdict for examiner in EXAMINERS if (verdict := examiner(attempt)))


@dataclass
class Attempt:
    """A function, its exercise, and what its calls did."""

    function: Callable
    answer: Answer
    seconds: float = SECONDS

    @cached_property
    def outcomes(self) -> list[Outcome]:
        """One for each case; fewer if a call ran out of time."""
        found: list[Outcome] = []
        for case in self.answer.cases:
            found.append(call(self.function, case.args, self.seconds))
            if found[-1].overtime:
                break
        return found

    @property
    def pairs(self) -> list[tuple[PublicCase, Outcome]]:
        return list(zip(self.answer.cases, self.outcomes))

    @cached_property
    def differences(self) -> list[Difference | None]:
        """One for each outcome; a call that raised has a difference of the kind "error"."""
        return [self.answer.comparer.difference(case.expected, o.value) if o.returned
                else Difference("error", f"It raised {type(o.error).__name__}.") for case, o in self.pairs]

    @cached_property
    def failing(self) -> int | None:
        """The position of the simplest case that is not right."""
        return next((i for i, d in enumerate(self.differences) if d), None)

    def verdict(self, status: str, word: str, heading: str, *blocks, mistake: str | None = None) -> Verdict:
        tone = {"right": "right", "todo": "note", "delegated": "note"}.get(status, "wrong")
        if status == "wrong":
            blocks = (*blocks, Text(next_hint(self.answer)))
        title = f"{self.answer.id} {self.answer.name}: {heading}"
        return Verdict(status, Card(tone, word, title, tuple(b for b in blocks if b)), self.answer.id, mistake)


# --- examiners, in the order in which their finding matters ---------------------------------------------------------

def signature(attempt: Attempt) -> Verdict | None:
    names = attempt.answer.arguments
    try:
        inspect.signature(attempt.function).bind(*names)
    except TypeError as error:
        return attempt.verdict("wrong", "NOT YET", "it takes other arguments than the exercise asks for.",
                               Text(f"It is called as `{attempt.answer.name}({', '.join(names)})`; "
                                    f"with your signature that fails: {error}."))
    except ValueError:
        return None                                 # some callables have no signature; calling them will tell


def stub(attempt: Attempt) -> Verdict | None:
    if isinstance(attempt.outcomes[0].error, NotImplementedError):
        return attempt.verdict("todo", "NOT STARTED", "there is no code in it yet.",
                               Text("Replace the `raise NotImplementedError(…)` line, run that cell, then this one. "
                                    f"`hint({attempt.answer.name})` gives a first nudge."))


def overtime(attempt: Attempt) -> Verdict | None:
    if attempt.outcomes[-1].overtime:
        case = attempt.answer.cases[len(attempt.outcomes) - 1]
        return attempt.verdict("wrong", "STOPPED", f"no answer within {attempt.seconds:g} seconds.",
                               Rows(tuple(given(attempt.answer, case))),
                               Text("The reference needs a few milliseconds. Is there a loop whose condition never "
                                    "becomes false, or one over every pair of rows?"), mistake="overtime")


def impure(attempt: Attempt) -> Verdict | None:
    for case, outcome in attempt.pairs:
        if outcome.changed:
            name = attempt.answer.arguments[outcome.changed[0]]
            return attempt.verdict("wrong", "NOT YET", f"it changes its argument `{name}`.",
                                   Rows(tuple(given(attempt.answer, case))),
                                   Text(f"After the call `{name}` holds other values, so whoever passed it in has lost "
                                        f"theirs. `{name} -= …`, `{name}[…] = …` and `out={name}` write into it: "
                                        f"make a new array (`{name} = {name} - …`) or copy first."), mistake="changed input")
        if outcome.stirred:
            return attempt.verdict("wrong", "NOT YET", "it touches the global random generator.",
                                   Text("`np.random.seed(…)`, `np.random.normal(…)` and their kind change a state that all "
                                        "of the notebook shares. Take random numbers from a generator that is passed in "
                                        "(`rng.normal(…)`); this function should need none if it is passed none."),
                                   mistake="global generator")


def unstable(attempt: Attempt) -> Verdict | None:
    for i in {0, len(attempt.outcomes) - 1}:
        case, first = attempt.pairs[i]
        again = call(attempt.function, case.args, attempt.seconds)
        if first.returned and again.returned and fingerprint(first.value) != fingerprint(again.value):
            return attempt.verdict("wrong", "NOT YET", "two calls with the same input gave two answers.",
                                   Rows((*given(attempt.answer, case), ("first", shown(first.value)),
                                         ("then", shown(again.value)))),
                                   Text("Is something random in it, or does it keep values from an earlier call "
                                        "(a global variable, a list as a default argument)?"), mistake="unstable")


def leaning(attempt: Attempt) -> Verdict | None:
    if name := delegated(attempt.function, attempt.answer.cases[0].args, attempt.answer.ready, attempt.seconds):
        right = "Its values are right, but" if attempt.failing is None else "Its values are not right yet, and"
        return attempt.verdict("delegated", "NOT YOUR OWN", f"it calls `{name}`.",
                               Text(f"{right} the work is done by a function that already exists; the exercise is to write it. "
                                    "Graded, this counts 0. Use it to check your own version against."), mistake="delegated")


def known(attempt: Attempt) -> Verdict | None:
    if attempt.failing is None or not (mistake := _matching(attempt)):
        return None
    seen = len(progress.events("check", exercise=attempt.answer.id, mistake=mistake.title))
    detail = worked(attempt) if seen else evidence(attempt)
    return attempt.verdict("wrong", "NOT YET", mistake.title, *detail, Text(mistake.remedy), mistake=mistake.title)


def raised(attempt: Attempt) -> Verdict | None:
    if attempt.failing is None or attempt.outcomes[attempt.failing].error is None:
        return None
    case, outcome = attempt.pairs[attempt.failing]
    error = outcome.error
    return attempt.verdict("wrong", "NOT YET", f"it stops with {type(error).__name__}.",
                           Rows((*given(attempt.answer, case), *line(attempt.function, error),
                                 ("the error", f"{type(error).__name__}: {str(error)[:300]}"), *aside(outcome))),
                           Text(advice(error)), mistake=None)


def different(attempt: Attempt) -> Verdict | None:
    if attempt.failing is None:
        return None
    headings = {"missing": "it returns nothing.", "type": "it returns another kind of value.",
                "dtype": "its numbers are of another type.", "shape": "the shape is another one.",
                "nan": "there is a NaN in it.", "value": "the values differ."}
    return attempt.verdict("wrong", "NOT YET", headings[attempt.differences[attempt.failing].kind],
                           *evidence(attempt), *located(attempt))


def right(attempt: Attempt) -> Verdict:
    answer = attempt.answer
    return attempt.verdict("right", "RIGHT", f"all {len(answer.cases)} inputs agree.", Text(answer.notice),
                           noise(attempt), Text(next_exercise(answer)))


EXAMINERS = (signature, stub, overtime, impure, unstable, leaning, known, raised, different, right)


def _matching(attempt: Attempt) -> KnownMistake | None:
    """The mistake whose outputs these are: on every input, or else, if it is only one, on the simplest wrong one."""
    got = [o.value if o.returned else Failure(type(o.error).__name__) for o in attempt.outcomes]
    return recognised(attempt.answer.mistakes, got, [attempt.failing], attempt.answer.comparer)[0]
