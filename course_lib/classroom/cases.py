"""How an exercise is described: its inputs, its known mistakes, its hints.

A file ``solutions/cases/NN_topic.py`` holds one `Exercise` for each function that the learner writes; the
statement and the reference solution stand in ``solutions/NN_topic.py``.

>>> mean = Exercise("mean", id="E9.9", title="A mean", hints=("…", "…", "…"), notice="…")
>>> @mean.cases
... def cases(rng):                           # simplest first; another seed makes hidden inputs
...     yield (np.array([1.0, 3.0]),)
>>> @mean.mistake("It divides by n − 1.", "See it on two numbers: … Divide by their count.")
... def divisor(x): return x.sum() / (len(x) - 1)
>>> @mean.variant                             # an independent way to be right
... def loop(x): ...
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .compare import Comparer

__all__ = ["PUBLIC_SEED", "Case", "Exercise", "Mistake", "Seed"]

PUBLIC_SEED = 20_000  # outside the range of the hidden seeds that the mutation test tries


@dataclass(frozen=True)
class Seed:
    """An argument that reaches the function as ``numpy.random.default_rng(value)``, fresh for every call."""

    value: int


@dataclass(frozen=True)
class Case:
    """One input: a few words that describe it, and the arguments."""

    label: str
    args: tuple


@dataclass(frozen=True)
class Mistake:
    """A wrong variant of the function, the sentence that names it, and what to do about it."""

    function: Callable
    title: str
    remedy: str


@dataclass
class Exercise:
    """One function to write; see the module's docstring for the three decorators."""

    name: str                                   # of the function, unique in the course
    id: str                                     # "E1.6"
    title: str
    hints: tuple[str, ...]                      # nudge, formula, first line
    notice: str                                 # what to see once it is right
    points: int = 1
    intermediates: tuple[str, ...] = ()         # locals of the reference, in the order in which it computes them
    ready: tuple[str, ...] = ()                 # library functions that would do the exercise: "scipy.special.expit"
    compare: Comparer = Comparer()
    mistakes: list[Mistake] = field(default_factory=list)
    variants: list[Callable] = field(default_factory=list)
    _cases: Callable[[np.random.Generator], Iterable[Any]] | None = None

    def cases(self, generator: Callable) -> Callable:
        """Decorate the generator ``cases(rng)`` of inputs: tuples of arguments, or `Case` with a label."""
        self._cases = generator
        return generator

    def mistake(self, title: str, remedy: str) -> Callable[[Callable], Callable]:
        """Decorate a wrong variant with its sentence and its remedy."""
        def register(function: Callable) -> Callable:
            self.mistakes.append(Mistake(function, title, remedy))
            return function
        return register

    def variant(self, function: Callable) -> Callable:
        """Decorate an independently written right variant, by which the checker is tested."""
        self.variants.append(function)
        return function

    def inputs(self, seed: int = PUBLIC_SEED) -> list[Case]:
        """The inputs that a seed makes; the public ones by default."""
        made = self._cases(np.random.default_rng(seed)) if self._cases else ()
        return [case if isinstance(case, Case) else Case(f"case {i}", tuple(case)) for i, case in enumerate(made, 1)]
