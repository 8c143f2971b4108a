"""Newton's method for losses that are sums over rows, in coordinates in which it is well conditioned.

A step q ← q − s·H⁻¹g is halved until the loss falls, so the iteration cannot diverge; where the loss has no minimum
because it falls for ever along some direction, it says so and stops.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import starmap
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular

from course_lib.linear import Affine
from course_lib.reduce import split
from course_lib.statistics import Moments, Triangles, triangle

__all__ = ["Design", "Local", "Optimum", "SeparationWarning", "descent", "newton"]

class SeparationWarning(UserWarning):
    """The likelihood has no maximum: along some direction of the coefficients it grows for ever."""


@dataclass(frozen=True)
class Design:
    """Rows z = (1, T′(x − m)/s): the same models as on x, with coefficients of comparable size.

    With an intercept m is the mean and s the standard deviation of each column, without one m = 0 and s is the root
    mean square.  T is the identity unless the columns are nearly dependent; then it makes them orthonormal.
    """

    X: np.ndarray                       # (N, D)
    centre: np.ndarray                  # (D,)
    spread: np.ndarray                  # (D,)
    intercept: bool = True
    whitener: np.ndarray | None = None  # (D, D), None for the identity

    @classmethod
    def of(cls, X, weight, intercept: bool = True, ridge: bool = False) -> "Design":
        """Standardise X (N, D) under row weights (N,); `ridge` says that dependent columns do no harm.

        Raises
        ------
        ValueError
            If a column is a linear combination of the others, so that the coefficients are not determined.
        """
        centre, scatter = _moments(Moments, X, weight, intercept)
        variance, noise = np.diag(scatter) / weight.sum(), np.finfo(float).eps * np.abs(X).max(axis=0, initial=0.0)
        constant = np.sqrt(variance) <= 10 * noise
        spread = np.where(constant, 1.0, np.sqrt(variance))
        design = cls(X, centre, spread, intercept)
        if ridge:
            return design
        refuse_dependent(constant, X, intercept)
        correlation = scatter / weight.sum() / np.outer(spread, spread)
        if np.linalg.eigvalsh(correlation).min(initial=1.0) > 1e-10:
            return design
        factor = _moments(Triangles, X, weight, intercept)[1] / np.sqrt(weight.sum()) / spread
        refuse_dependent(np.abs(np.diag(factor)) <= 10 * np.sum(noise / spread + np.finfo(float).eps), X, intercept)
        return replace(design, whitener=solve_triangular(factor, np.eye(len(factor))))

    @property
    def width(self) -> int:
        """Number of coefficients, the intercept included."""
        return self.X.shape[1] + self.intercept

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Pairs (rows, Z) that cover X; Z (n, width) is valid until the next pair."""
        N, size = len(self.X), _block(self.X)
        buffer = np.ones((min(size, N), self.width))
        for start in range(0, N, size):
            rows = slice(start, min(start + size, N))
            Z = buffer[: rows.stop - start]
            columns = Z[:, self.intercept:]
            np.subtract(self.X[rows], self.centre, out=columns)
            columns /= self.spread
            if self.whitener is not None:
                columns[:] = columns @ self.whitener
            yield rows, Z

    def slopes(self, q) -> np.ndarray:
        """Slopes (D, …) on the scale of X of coefficients q (width, …) on z."""
        q = q[self.intercept:]
        q = q if self.whitener is None else self.whitener @ q
        return (q.T / self.spread).T

    def coef(self, q) -> np.ndarray:
        """Coefficients (width, …) on the scale of X, the intercept first if there is one."""
        slopes = self.slopes(q)
        return np.concatenate([(q[0] - self.centre @ slopes)[None], slopes]) if self.intercept else slopes

    def affine(self, q) -> Affine:
        """The fitted function of x."""
        return Affine(self.centre, q[0] if self.intercept else np.zeros(q.shape[1:]), self.slopes(q))

    def penalty(self) -> np.ndarray:
        """The matrix P (width, width) with qᵀPq = ‖slopes‖²; it leaves the intercept alone."""
        B = self.slopes(np.eye(self.width))
        return B.T @ B


def _block(X) -> int:
    return max(256, 2**16 // max(X.shape[1], 1))


def _moments(kind, X, weight, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,), or 0 without an intercept, and the scatter matrix about it, or its triangular factor (D, D)."""
    s = reduce(add, starmap(kind.of, split(X, weight[:, None], rows=_block(X))))
    mean, matrix = s.mean[0], (s.factor if kind is Triangles else s.scatter)[0]
    if intercept:
        return mean, matrix
    moved = np.sqrt(s.mass[0]) * mean[None]
    return np.zeros_like(mean), triangle(matrix, moved) if kind is Triangles else matrix + moved.T @ moved


def refuse_dependent(columns, X, intercept: bool) -> None:
    """Raise ValueError if any of the `columns` (D,) of X (N, D) is marked as a combination of the others."""
    if np.any(columns):
        others = "the others and the intercept" if intercept else "the others"
        raise ValueError("the columns of X must be linearly independent, or the coefficients are not unique: got columns "
                         f"{np.flatnonzero(columns).tolist()} that are combinations of {others} (a rank deficient "
                         f"design, n_samples = {len(X)}); drop these columns, or use ridge > 0")


class Local(NamedTuple):
    """A loss at one point."""

    value: float
    gradient: np.ndarray    # (M,)
    step: Callable          # () -> the Newton step −H⁻¹g (M,)


def descent(gradient, *hessians) -> np.ndarray:
    """The step −H⁻¹g by the first matrix that is positive definite; if none is, by the last without its tiny part."""
    for H in hessians:
        try:
            return -cho_solve(cho_factor(H), gradient)
        except np.linalg.LinAlgError:
            continue
    values, V = eigh(hessians[-1])
    return -V @ ((V.T @ gradient) / np.maximum(np.abs(values), 1e-12 * np.abs(values).max()))


@dataclass(frozen=True)
class Optimum:
    """Where `newton` stopped."""

    q: np.ndarray
    path: tuple[np.ndarray, ...]  # every iterate, the start first
    converged: bool
    separated: bool               # no minimum exists: a direction was found along which the loss never rises


def newton(local: Callable[[np.ndarray], Local], q, recedes=lambda direction: False, steps: int = 100) -> Optimum:
    """Minimise a non-negative loss by damped Newton steps.

    It has converged when half the squared Newton step in the metric of the Hessian, gᵀH⁻¹g/2, which is the fall still
    to be expected, is below 1e-20 of the loss, or below 1e-12 and no longer shrinking: then rounding is all that is
    left.  Where `recedes` finds a direction without end, the iteration goes on until the loss falls by less than 1e-8
    of itself; the iterate is finite and its fitted values are those of the limit to about that accuracy.

    Source: Boyd and Vandenberghe, Convex Optimization, section 9.5.
    """
    with np.errstate(all="ignore"):  # a trial step may overflow; it is then halved
        here = local(q)
        first, last, path, separated = here.value, np.inf, [q], False
        for count in range(steps):
            step = here.step()
            gain, size = -(here.gradient @ step), max(here.value, 1e-12 * first)
            q, there = _halved(local, q, here, step, gain)
            if there is None:
                return Optimum(q, tuple(path), bool(gain <= 1e-10 * size), separated)
            fall, here = here.value - there.value, there
            path.append(q)
            if gain <= 1e-20 * size or last <= gain <= 1e-12 * size:
                return Optimum(q, tuple(path), True, separated)
            separated = separated or count >= 5 and gain > 1e-6 * size and (recedes(step) or recedes(q))
            if separated and fall <= 1e-8 * (here.value + 0.1 * first):
                break
            last = gain
    return Optimum(q, tuple(path), False, separated)


def _halved(local, q, here: Local, step, gain: float):
    """The first of q + step, q + step/2, … at which the loss falls enough; (q, None) if none does."""
    for k in range(40):
        there = local(q + 0.5**k * step)
        if there.value <= here.value - 1e-4 * 0.5**k * gain + 1e-13 * here.value:
            return q + 0.5**k * step, there
    return q, None
