"""Newton's method for losses that are sums over rows, in coordinates in which it is well conditioned.

A step q ← q − s·H⁻¹g is halved until the loss falls, so the iteration cannot diverge; where the loss has no minimum
because it falls for ever along some direction, it says so and stops.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh, solve_triangular

from course_lib.statistics import Moments, Triangles, slices, triangle

__all__ = ["Affine", "Design", "Local", "Optimum", "Scale", "SeparationWarning", "check_ridge", "descent", "newton",
           "refuse_dependent", "rough_start", "typical_row"]

class SeparationWarning(UserWarning):
    """The likelihood has no maximum: along some direction of the coefficients it grows for ever."""


@dataclass(frozen=True)
class Affine:
    """The function x ↦ level + (x − centre)·slopes; keeping the centre keeps the digits of data far from 0."""

    centre: np.ndarray  # (D,)
    level: np.ndarray   # () or (K,)
    slopes: np.ndarray  # (D,) or (D, K)

    @property
    def intercept(self):
        """The value () or (K,) at x = 0."""
        return self.level - self.centre @ self.slopes

    def __call__(self, X) -> np.ndarray:
        """Values (N,) or (N, K); the centre is multiplied out only where that costs no more than 1e-13."""
        near = np.max(np.abs(self.centre) @ np.abs(self.slopes), initial=0.0) < 1e3
        values = (X if near else X - self.centre) @ self.slopes
        values += self.intercept if near else self.level
        return values


def typical_row(X) -> np.ndarray:
    """The mean (D,) of some rows spread over X, from which differences keep their digits; 0 if they do so anyway."""
    some = X[:: max(len(X) // 64, 1)]
    mean = some.mean(axis=0)
    return mean if np.any(np.abs(mean) > 100 * some.std(axis=0)) else np.zeros_like(mean)


@dataclass(frozen=True)
class Design:
    """Rows z = (1, T′(x − m)/s): the same models as on x, with coefficients of comparable size.

    With an intercept m is the mean and s the standard deviation of each column, without one m = 0 and s is the root
    mean square; where that changes little, because every |mean| is below ten deviations, m = 0 and s = 1.  T is the
    identity unless the columns are nearly dependent; then it makes them orthonormal.
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
        scale = Scale.of(scatter, weight.sum(), centre)
        design = standard = cls(X, centre, scale.spread, intercept)
        if np.all(np.abs(centre) <= 10 * scale.spread) and not scale.constant.any():
            design = cls(X, 0 * centre, np.ones_like(centre), intercept)
        if ridge:
            return design
        others = "the others and the intercept" if intercept else "the others"
        refuse_dependent(scale.constant, len(X), others)
        if scale.least_eigenvalue(scatter) > 1e-10:
            return design
        factor = _moments(Triangles, X, weight, intercept)[1]
        refuse_dependent(scale.dependent(factor), len(X), others)
        return replace(standard, whitener=solve_triangular(factor / scale.root, np.eye(len(factor))))

    def every(self, stride: int) -> "Design":
        """The design of each `stride`-th row."""
        return replace(self, X=self.X[::stride])

    @property
    def width(self) -> int:
        """Number of coefficients, the intercept included."""
        return self.X.shape[1] + self.intercept

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Pairs (rows, Z) that cover X; Z (n, width) is valid until the next pair."""
        buffer, unit = np.empty((0, self.width)), 1 / self.spread
        plain = not self.centre.any() and np.all(unit == 1)
        for rows in slices(len(self.X), 3 * self.X.shape[1], least=256):
            x = self.X[rows]
            buffer = buffer if len(buffer) else np.ones((len(x), self.width))
            Z = buffer[: len(x)]
            columns = Z[:, self.intercept:]
            if plain:
                columns[:] = x
            else:
                np.subtract(x, self.centre, out=columns)
                np.multiply(columns, unit, out=columns)
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


def _moments(kind, X, weight, intercept: bool) -> tuple[np.ndarray, np.ndarray]:
    """Mean (D,), or 0 without an intercept, and the scatter matrix about it, or its triangular factor (D, D)."""
    s = reduce(add, (kind.of(X[rows], weight[rows, None]) for rows in slices(*X.shape, least=256)))
    mean, matrix = s.mean[0], (s.factor if kind is Triangles else s.scatter)[0]
    if intercept:
        return mean, matrix
    moved = np.sqrt(s.mass[0]) * mean[None]
    return np.zeros_like(mean), triangle(matrix, moved) if kind is Triangles else matrix + moved.T @ moved


@dataclass(frozen=True)
class Scale:
    """In what units columns are measured before anything is inverted, and what of them is only rounding."""

    mass: float
    spread: np.ndarray    # (D,) standard deviation, 1 where the column is constant
    constant: np.ndarray  # (D,) bool
    noise: np.ndarray     # (D,) rounding of the stored values in these units

    @classmethod
    def of(cls, scatter, mass: float, size) -> "Scale":
        """From a scatter matrix (D, D), its mass and the typical size (D,) of the values beside their deviation."""
        spread, eps = np.sqrt(np.maximum(np.diag(scatter), 0) / mass), np.finfo(float).eps
        constant = spread <= 10 * eps * np.abs(size)
        spread = np.where(constant, 1.0, spread)
        return cls(mass, spread, constant, eps * (1 + np.abs(size) / spread))

    @property
    def root(self) -> np.ndarray:
        """What columns of a triangular factor are divided by, (D,)."""
        return np.sqrt(self.mass) * self.spread

    def least_eigenvalue(self, scatter) -> float:
        """Of the correlation matrix: how near the columns are to being dependent, whatever their units."""
        return np.linalg.eigvalsh(scatter / np.outer(self.root, self.root)).min(initial=1.0)

    def dependent(self, factor) -> np.ndarray:
        """The columns (D,) that are combinations of those before them, by their triangular factor (D, D)."""
        return np.abs(np.diag(factor)) / self.root <= 10 * self.noise.sum()


def refuse_dependent(columns, rows: float, others: str) -> None:
    """Raise ValueError if any of the `columns` (D,) of so many rows is marked as a combination of the `others`."""
    if np.any(columns):
        raise ValueError("the columns of X must be linearly independent, or the coefficients are not unique: got "
                         f"columns {np.flatnonzero(columns).tolist()} that are combinations of {others} (a rank "
                         f"deficient design, n_samples = {rows:g}); drop these columns, or use ridge > 0")


def check_ridge(ridge: float) -> None:
    """Raise ValueError unless the penalty is a number ≥ 0."""
    if not 0 <= ridge < np.inf:
        raise ValueError(f"ridge must be a finite number >= 0, got {ridge}: 0 is no penalty")


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
    unit = np.sqrt(np.maximum(np.abs(np.diag(H)), np.finfo(float).tiny))
    values, V = eigh(H / np.outer(unit, unit))
    return -V @ ((V.T @ (gradient / unit)) / np.maximum(np.abs(values), 1e-12 * np.abs(values).max())) / unit


@dataclass(frozen=True)
class Optimum:
    """Where `newton` stopped."""

    q: np.ndarray
    path: tuple[np.ndarray, ...]  # every iterate, the start first
    converged: bool
    separated: bool               # no minimum exists: a direction was found along which the loss never rises


def rough_start(problem, q) -> np.ndarray:
    """The optimum of every tenth row of a large problem, within two or three steps of its own; else q (M,)."""
    if len(problem.weight) < 100 * len(q) or not problem.weight[::10].any():
        return q
    few = problem.every(10)
    optimum = newton(few.local, q, few.recedes, steps=30)
    return optimum.q if optimum.converged else q


def newton(local: Callable[[np.ndarray], Local], q, recedes=lambda direction: False, steps: int = 100) -> Optimum:
    """Minimise a non-negative loss by damped Newton steps.

    The fall still to be expected is half of gᵀH⁻¹g; at quadratic convergence it shrinks by the square of its last
    ratio.  It has converged when that is below 1e-26 of the loss, or when gᵀH⁻¹g is below 1e-12 of it and no longer
    shrinking: then rounding is all that is left.

    Where `recedes` finds a direction without end, the iteration goes on until the loss falls by less than 1e-8 of
    itself; the iterate is finite and its fitted values are those of the limit to about that accuracy.

    Parameters
    ----------
    local : callable
        From q (M,) to the `Local` loss there; infinite or NaN where q is not admissible.
    q : (M,)
        The start.
    recedes : callable
        From a direction (M,) to whether the loss never rises along it, however far.
    steps : int
        At most so many.

    Source: Boyd and Vandenberghe, Convex Optimization, section 9.5.
    """
    with np.errstate(all="ignore"):  # a trial step may overflow; it is then halved
        here = local(q)
        first, last, path, separated = here.value, np.inf, [q], False
        for count in range(steps):
            step = here.step()
            gain, size = -(here.gradient @ step), max(here.value, 1e-30 * first)
            rate = gain / last if count else 1.0
            if gain <= 1e-9 * size and gain * rate**2 <= 1e-26 * size or rate >= 1 and gain <= 1e-12 * size:
                return Optimum(q + step, (*path, q + step), True, separated)  # a fall too small to be measured
            share, there = _halved(local, q, here, step, gain)
            if there is None:
                break
            q, fall, here = q + share * step, here.value - there.value, there
            path.append(q)
            separated = separated or count >= 5 and rate > 0.1 and (recedes(step) or recedes(q))
            if separated and fall <= 1e-8 * (here.value + 0.1 * first):
                break
            last = gain
    return Optimum(q, tuple(path), False, separated)


def _halved(local, q, here: Local, step, gain: float) -> tuple[float, Local | None]:
    """The first of the shares 1, ½, ¼, … of the step at which the loss falls enough, and the loss there, if any."""
    for share in 0.5 ** np.arange(60):
        there = local(q + share * step)
        if there.value <= here.value - 1e-4 * share * gain + 1e-12 * here.value:
            return share, there
    return 0.0, None
