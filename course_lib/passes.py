"""Fits that iterate over sums, each step one pass over the rows: those in memory, or a table in pieces.

EM needs of a row its responsibilities, Newton's method its part of the gradient and of the Hessian; both are sums, so
the pieces may lie anywhere.  All starts and short cuts of such a table are made on a sample, which fits into memory.

Source: Bradley, Fayyad & Reina (1998), Scaling EM clustering to large databases, Microsoft Research TR-98-35.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from course_lib.newton import Cases, Design, Loss
from course_lib.reduce import Additive
from course_lib.statistics import BLOCK, ClassError, Labels, Rows, members, triangle

__all__ = ["Asked", "Expected", "Factor", "Held", "Leads", "Pieces", "Plain", "Sample", "Step", "Thin", "climb",
           "em_passes", "in_mixture"]


@dataclass(frozen=True)
class Sample:
    """Some of the rows, evenly spread; never more than `LIMIT`."""

    X: np.ndarray  # (n, D)
    R: Labels      # (n, K)

    LIMIT = 50_000

    def __add__(self, other: "Sample") -> "Sample":
        X, codes, weight = (np.concatenate(pair) for pair in zip(self._columns, other._columns))
        few = slice(None, None, 1 + (len(X) > self.LIMIT))
        return Sample(X[few], Labels(codes[few], self.R.K, weight[few]))

    @property
    def _columns(self) -> tuple:
        return self.X, self.R.codes, np.ones(len(self.R)) if self.R.weight is None else self.R.weight


@dataclass(frozen=True)
class Thin(Additive):
    """Takes a few rows of each block."""

    rows: int = 64

    def statistics(self, X, R: Labels) -> Sample:
        few = slice(None, None, max(len(X) // self.rows, 1))
        return Sample(X[few], R[few])


@dataclass(frozen=True)
class Expected:
    """What the M-step of K mixtures needs; None for a class that has no row here, or is finished."""

    parts: tuple        # K statistics of the components
    log_p: np.ndarray   # (K,) Σ ln p(x) under the mixtures before the step
    mass: np.ndarray    # (K,)

    def __add__(self, other: "Expected") -> "Expected":
        parts = (b if a is None else a if b is None else a + b for a, b in zip(self.parts, other.parts))
        return Expected(tuple(parts), self.log_p + other.log_p, self.mass + other.mass)


@dataclass(frozen=True)
class Held(Additive):
    """A density that no fixed number of sums describes: what is summed are the rows themselves."""

    density: object

    def statistics(self, X, R) -> Rows:
        return Rows.of(X, R)

    def solve(self, s: Rows):
        return self.density.fit(s.X, s.R)


@dataclass(frozen=True)
class Step(Additive):
    """One step of EM for K mixtures at once: the E-step on each block, the M-step on the sum."""

    density: Additive             # of the components
    mixtures: tuple               # K mixtures; those that have converged stay as they are
    last: bool = False            # no M-step follows
    sums: Additive | None = None  # what is summed for it, if not the density's own statistics

    block = 2 * BLOCK

    def statistics(self, X, R) -> Expected:
        parts, log_p = zip(*(self._one(mixed, X, *members(R, k)) for k, mixed in enumerate(self.mixtures)))
        return Expected(parts, np.array(log_p), R.sum(axis=0))

    def _one(self, mixed, X, rows, w) -> tuple:
        x = X[rows]
        if mixed.converged or not len(x):
            return None, 0.0
        w = np.broadcast_to(1.0, len(x)) if w is None else w
        P, log_p = mixed.expected(x, w)
        part = None if self.last else (self.sums or self.density).statistics(x, P)
        return part, (w * log_p).sum()

    def solved(self, k: int, s: Expected, summed: Callable):
        """Mixture k after the M-step; another pass makes the sums that keep more digits, where those of `s` fail."""
        def part(additive):
            return (s if additive is self.density else summed(replace(self, sums=additive))).parts[k]
        components, own = self.density.fit_sums(part)
        return replace(self.mixtures[k], weight=own.mass / own.mass.sum(), components=components)


def in_mixture(fault: ValueError, k: int) -> ClassError:
    """The fault of a component, told as one of the mixture of class k.

    Parameters
    ----------
    fault : ValueError
    k : int

    Returns
    -------
    ClassError, or what `fault` is of that kind
    """
    kind = type(fault) if isinstance(fault, ClassError) else ClassError
    words = str(fault).replace("class", "component").replace("{", "{{").replace("}", "}}")
    return kind(f"the mixture of class {{k}} cannot be fitted: {words}", k)


def em_passes(density: Additive, summed: Callable, start: tuple, tol: float, max_iter: int) -> tuple[tuple, Expected]:
    """EM of K mixtures from given ones, one pass over the table a step, as `climb`.

    Parameters
    ----------
    density : additive density
        Of the components.
    summed : callable
        additive -> Σ additive.statistics(X, R) over the table.
    start : K mixtures
    tol : float
    max_iter : int

    Returns
    -------
    K mixtures, and the sums of the last pass, with the mass of every class
    """
    def after(k, step, s):
        try:
            return step.solved(k, s, summed)
        except ClassError as fault:
            raise in_mixture(fault, k) from None
    fresh = tuple(replace(mixed, history=np.zeros(0), converged=False, reseeded=()) for mixed in start)
    return climb(density, summed, fresh, tol, max_iter, after)


def climb(density: Additive, summed: Callable, mixtures: tuple, tol: float, max_iter: int,
          after: Callable) -> tuple[tuple, Expected]:
    """EM of K mixtures, one pass over the rows a step.

    A pass gives the log likelihood of the mixtures before it and the sums for those after it; a class is finished when
    its last step gained less than `tol` a row, and the others when none of them moves.

    Parameters
    ----------
    density, summed, tol, max_iter
        As in `em_passes`.
    mixtures : K mixtures
        With what they already have of a history.
    after : callable
        k, `Step`, its sums -> mixture k after the M-step, or the one before if it has come to an end.

    Returns
    -------
    K mixtures, and the sums of the last pass

    Source: Dempster, Laird & Rubin (1977), JRSS B 39:1.
    """
    for left in reversed(range(max_iter)):
        s = summed(Step(density, mixtures, last=left == 0))
        mixtures = tuple(map(partial(_judged, tol), mixtures, s.log_p, s.mass))
        step = Step(density, mixtures)
        moved = tuple(mixed if mixed.converged or s.parts[k] is None else after(k, step, s)
                      for k, mixed in enumerate(mixtures))
        if all(a is b for a, b in zip(mixtures, moved)):
            break
        mixtures = moved
    return mixtures, s


def _judged(tol, mixed, log_p, mass):
    """The mixture with its log likelihood; finished if the step to it gained too little and was an ordinary one."""
    if mixed.converged:
        return mixed
    history, anew = np.append(mixed.history, log_p), mixed.reseeded[-1:] == (len(mixed.history),)
    converged = len(history) > 1 and not anew and history[-1] - history[-2] <= tol * mass
    return replace(mixed, history=history, converged=bool(converged), mass=mass)


# Newton's method -----------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Plain:
    """Numbers and arrays that add one by one."""

    parts: tuple  # of numbers and arrays

    @classmethod
    def of(cls, answer) -> "Plain":
        """From one of them or a tuple."""
        return cls(answer if isinstance(answer, tuple) else (answer,))

    def __add__(self, other: "Plain") -> "Plain":
        return Plain(tuple(a + b for a, b in zip(self.parts, other.parts)))


@dataclass(frozen=True)
class Factor:
    """The triangular F of AᵀA; for the rows of two tables that of both."""

    F: np.ndarray  # (D, D)

    def __add__(self, other: "Factor") -> "Factor":
        return Factor(triangle(self.F, other.F))


@dataclass(frozen=True)
class Leads:
    """The worst and the largest of `Loss.leads`."""

    worst: float  # the least of them, at most 0
    best: float   # the largest, whatever its sign

    @classmethod
    def of(cls, answer) -> "Leads":
        """From the pair."""
        return cls(*answer)

    def __add__(self, other: "Leads") -> "Leads":
        return Leads(min(self.worst, other.worst), max(self.best, other.best))


@dataclass(frozen=True)
class Pieces(Cases):
    """The cases of a table in pieces: a sample of them, and sums that are over all."""

    summed: Callable  # additive -> Σ additive.statistics(X, R) over the table
    total: float      # Σ w

    @classmethod
    def of(cls, summed: Callable) -> tuple["Pieces", float]:
        """The cases, and the sum of their weights as given."""
        total, sample = summed(Asked("mass", (), 1.0)).parts[0], summed(Thin())
        few, _ = Cases.of(sample.X, sample.R.codes, sample.R.weight)
        return cls(few.X, few.t, few.weight, few.offset, summed, total), total

    def few(self, width: int) -> Cases:
        return Cases(self.X, self.t, self.weight, self.offset)

    def gram(self, design: Design) -> np.ndarray:
        return self.summed(Asked("gram", (design,), self.total)).parts[0]

    def factor(self, design: Design) -> np.ndarray:
        return self.summed(Asked("factor", (design,), self.total, Factor)).F

    def sums(self, loss: Loss, q, curved: bool) -> tuple:
        return self.summed(Asked("sums", (replace(loss, cases=None), q, curved), self.total)).parts

    def leads(self, loss: Loss, direction) -> tuple[float, float]:
        leads = self.summed(Asked("leads", (replace(loss, cases=None), direction), self.total, Leads.of))
        return leads.worst, leads.best


@dataclass(frozen=True)
class Asked(Additive):
    """What a method of `Cases` says of the rows, as something that adds."""

    method: str                  # of `Cases`
    arguments: tuple             # of the method
    total: float                 # Σ w of the whole table, by which weights are divided
    record: Callable = Plain.of  # from what the method returns

    def statistics(self, X, R: Labels):
        weight = np.ones(len(X)) if R.weight is None else R.weight
        cases = Cases(X, R.codes, weight / self.total, np.broadcast_to(0.0, len(X)))
        return self.record(getattr(cases, self.method)(*self.arguments))
