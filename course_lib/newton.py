"""Newton's method for losses that are sums over rows, in coordinates in which it is well conditioned.

A step q ← q − s·H⁻¹g is halved until the loss falls, so the iteration cannot diverge; where the loss has no minimum
because it falls for ever along some direction, it says so and stops.

Source: Boyd and Vandenberghe, Convex Optimization, section 9.5; Nocedal and Wright, Numerical Optimization, section
6.1, for a Hessian that is kept over several steps.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.lapack import dpotrf, dpotri

from course_lib.affine import Affine
from course_lib.statistics import slices, triangle

__all__ = ["Cases", "Design", "Local", "Loss", "Optimum", "Rows", "Scale", "SeparationWarning", "check_ridge",
           "corrected", "inverse", "newton", "refuse_dependent"]


class SeparationWarning(UserWarning):
    """The likelihood has no maximum: along some direction of the coefficients it grows for ever."""


@dataclass(frozen=True)
class Cases:
    """The rows that a loss is summed over."""

    X: np.ndarray       # (N, D)
    t: np.ndarray       # (N,) responses, or codes of classes
    weight: np.ndarray  # (N,) ≥ 0, sum 1
    offset: np.ndarray  # (N,) a known part of the predictor

    @classmethod
    def of(cls, X, t, weight=None, offset=None) -> tuple["Cases", float]:
        """The cases, and the sum of their weights (N,) as given; each is 1 by default."""
        N = len(X)
        total = float(N) if weight is None else weight.sum()
        weight = np.broadcast_to(1 / N, N) if weight is None else weight / total
        return cls(X, t, weight, np.broadcast_to(0.0, N) if offset is None else offset), total

    def few(self, width: int) -> "Cases | None":
        """Every tenth row, if that leaves enough for so many coefficients."""
        weight = self.weight[::10]
        if len(self.t) < 100 * width or not weight.any():
            return None
        return Cases(self.X[::10], self.t[::10], weight / weight.sum(), self.offset[::10])

    def blocks(self, width: int, least: int = 1024) -> Iterator[tuple]:
        """X, t, weight and offset of some rows at a time, so many as stay in cache with `width` numbers each."""
        for rows in slices(len(self.X), width, least):
            yield self.X[rows], self.t[rows], self.weight[rows], self.offset[rows]

    def gram(self, design: "Design") -> np.ndarray:
        """Σ w zzᵀ, (M, M)."""
        M = design.width
        return sum((design(x).gram(w) for x, _, w, _ in self.blocks(2 * M)), np.zeros((M, M)))

    def factor(self, design: "Design") -> np.ndarray:
        """The triangular F (D, D) with FᵀF = Σ w zzᵀ, the column of ones left out."""
        D = self.X.shape[1]
        roots = (np.sqrt(w)[:, None] * design(x).x for x, _, w, _ in self.blocks(2 * D))
        return reduce(triangle, roots, np.empty((0, D)))

    def mass(self) -> float:
        """Σ w."""
        return self.weight.sum()

    def sums(self, loss: "Loss", q, curved: bool) -> tuple:
        """`Loss.sums` of a loss over these cases."""
        return replace(loss, cases=self).sums(q, curved)

    def leads(self, loss: "Loss", direction) -> tuple[float, float]:
        """`Loss.leads` of a loss over these cases."""
        return replace(loss, cases=self).leads(direction)


class Rows(NamedTuple):
    """Rows z = (1, x) of a design; the column of ones is never stored."""

    x: np.ndarray    # (n, D)
    intercept: bool  # without it z = x

    __array_ufunc__ = None  # so that r @ Z is answered here

    def __matmul__(self, q) -> np.ndarray:
        """Zq, (n,) or (n, K), for q (M,) or (M, K)."""
        return self.x @ q[1:] + q[0] if self.intercept else self.x @ q

    def __rmatmul__(self, r) -> np.ndarray:
        """rZ, (M,) or (K, M), for r (n,) or (K, n)."""
        sums = r @ self.x
        return np.concatenate([r.sum(axis=-1)[..., None], sums], axis=-1) if self.intercept else sums

    def gram(self, c) -> np.ndarray:
        """Σ c zzᵀ, (M, M), for c (n,)."""
        i = int(self.intercept)
        G = np.empty((self.x.shape[1] + i,) * 2)
        G[i:, i:] = self.x.T @ (self.x * c[:, None]) if c.strides[0] else c[0] * (self.x.T @ self.x)
        if i:
            G[0] = G[:, 0] = c @ self
        return G

    def outer(self, S) -> np.ndarray:
        """All products s_k z_m of a row, (n, K·M), for S (n, K)."""
        i = int(self.intercept)
        out = np.empty((*S.shape, self.x.shape[1] + i))
        out[:, :, :i] = S[:, :, None]
        np.multiply(S[:, :, None], self.x[:, None, :], out=out[:, :, i:])
        return out.reshape(len(S), -1)


@dataclass(frozen=True)
class Design:
    """From rows x to z = (1, T′(x − m)/s): the same models as on x, with coefficients of comparable size.

    With an intercept m is the mean and s the standard deviation of each column, without one m = 0 and s is the root
    mean square; where that changes little, because every |mean| is below ten deviations, m = 0 and s = 1.  T is the
    identity unless the columns are nearly dependent; then it makes them orthonormal.
    """

    centre: np.ndarray                  # (D,)
    spread: np.ndarray                  # (D,)
    intercept: bool = True
    whitener: np.ndarray | None = None  # (D, D), None for the identity

    @classmethod
    def of(cls, cases: Cases, intercept: bool = True, ridge: bool = False) -> "Design":
        """Standardise the columns of the cases; `ridge` says that dependent columns do no harm.

        Raises
        ------
        ValueError
            If a column is a linear combination of the others, so that the coefficients are not determined.
        """
        N, D = cases.X.shape
        plain = cls(np.zeros(D), np.ones(D), intercept)
        scale, mean, scatter = plain.moments(cases)
        near = np.all(np.abs(mean) <= 10 * scale.spread) and not scale.constant.any()
        if not near:  # squares about 0 have lost the digits of those about the mean
            scale, mean, scatter = replace(plain, centre=mean).moments(cases)
        standard = cls(mean, scale.spread, intercept)
        if not ridge:
            others = "the others and the intercept" if intercept else "the others"
            refuse_dependent(scale.constant, N, others)
            if scale.least_eigenvalue(scatter) <= 1e-10:
                factor = cases.factor(standard)
                refuse_dependent(scale.dependent(factor * scale.root), N, others)
                return replace(standard, whitener=solve_triangular(factor, np.eye(D)))
        return plain if near else standard

    def moments(self, cases: Cases) -> tuple["Scale", np.ndarray, np.ndarray]:
        """Scale, mean (D,) and scatter (D, D) of the rows x by the sums of zzᵀ; without an intercept about 0."""
        G = cases.gram(self)
        shift = G[0, 1:] if self.intercept else np.zeros(len(G))
        mean, scatter = self.centre + shift, G[self.intercept:, self.intercept:] - np.outer(shift, shift)
        return Scale.of(scatter, 1.0, mean), mean, scatter

    def __call__(self, x) -> Rows:
        """The rows z of rows x (n, D)."""
        if self._moved:
            x = (x - self.centre) / self.spread
        return Rows(x if self.whitener is None else x @ self.whitener, self.intercept)

    @cached_property
    def _moved(self) -> bool:
        return bool(self.centre.any() or np.any(self.spread != 1))

    @property
    def width(self) -> int:
        """Number M of coefficients, the intercept included."""
        return len(self.centre) + self.intercept

    def slopes(self, q) -> np.ndarray:
        """Slopes (D, …) on the scale of X of coefficients q (M, …) on z."""
        q = q[self.intercept:]
        q = q if self.whitener is None else self.whitener @ q
        return (q.T / self.spread).T

    def coef(self, q) -> np.ndarray:
        """Coefficients (M, …) on the scale of X, the intercept first if there is one."""
        slopes = self.slopes(q)
        return np.concatenate([(q[0] - self.centre @ slopes)[None], slopes]) if self.intercept else slopes

    def affine(self, q) -> Affine:
        """The fitted function of x."""
        return Affine(self.centre, q[0] if self.intercept else np.zeros(q.shape[1:]), self.slopes(q))

    def penalty(self) -> np.ndarray:
        """The matrix P (M, M) with qᵀPq = ‖slopes‖²; it leaves the intercept alone."""
        B = self.slopes(np.eye(self.width))
        return B.T @ B


@dataclass(frozen=True)
class Scale:
    """In what units columns are measured before anything is inverted, and what of them is only rounding."""

    mass: float           # Σ w
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
    """Refuse a design of less than full rank, for which coefficients are not unique: rank X < D.

    Parameters
    ----------
    columns : (D,) bool
        Those that are combinations of the others.
    rows : float
        How many there are.
    others : str
        What they are called in the message.

    Raises
    ------
    ValueError
        If any column is marked.
    """
    if np.any(columns):
        raise ValueError("the columns of X must be linearly independent, or the coefficients are not unique: got "
                         f"columns {np.flatnonzero(columns).tolist()} that are combinations of {others} (a rank "
                         f"deficient design, n_samples = {rows:g}); drop these columns, or use ridge > 0")


def check_ridge(ridge: float) -> None:
    """Refuse a penalty that is no number: 0 ≤ ridge < ∞.

    Parameters
    ----------
    ridge : float

    Raises
    ------
    ValueError
        Otherwise.
    """
    if not 0 <= ridge < np.inf:
        raise ValueError(f"ridge must be a finite number >= 0, got {ridge}: 0 is no penalty")


class Local(NamedTuple):
    """A loss at one point."""

    value: float
    gradient: np.ndarray  # (M,)
    metric: Callable      # () -> H⁻¹, the inverse Hessian: a matrix (M, M), or what multiplies a gradient like one

    def step(self) -> np.ndarray:
        """The Newton step −H⁻¹g, (M,)."""
        return -(self.metric() @ self.gradient)


def inverse(*hessians) -> np.ndarray:
    """H⁻¹ of the first matrix that is positive definite; if none is, |H|⁻¹ of the last without its tiny part.

    Parameters
    ----------
    hessians : (M, M) each

    Returns
    -------
    (M, M)

    Source: Nocedal and Wright, Numerical Optimization, section 3.4.
    """
    for H in hessians:
        root, failed = dpotrf(H.T)  # the same matrix, in the order of LAPACK
        if not failed:
            half = dpotri(root)[0]  # with zeros below the diagonal
            B = half + half.T
            np.fill_diagonal(B, np.diag(half))
            return B
    unit = np.sqrt(np.maximum(np.abs(np.diag(H)), np.finfo(float).tiny))
    values, V = eigh(H / np.outer(unit, unit))
    V = V / unit[:, None]
    return V / np.maximum(np.abs(values), 1e-12 * np.abs(values).max()) @ V.T


def corrected(B, s, y) -> np.ndarray:
    """The inverse Hessian B changed as little as possible so that it takes the change y of the gradient to the step s.

    B ← (I − syᵀ/sᵀy) B (I − ysᵀ/sᵀy) + ssᵀ/sᵀy, of Broyden, Fletcher, Goldfarb and Shanno.

    Parameters
    ----------
    B : (M, M)
    s, y : (M,)

    Returns
    -------
    (M, M)
        B itself where sᵀy is not positive.

    Source: Nocedal and Wright, Numerical Optimization, equation 6.17.
    """
    curve, By = s @ y, B @ y
    if not curve > 0:
        return B
    half = np.outer((s * (1 + y @ By / curve) / 2 - By) / curve, s)
    return B + (half + half.T)


@dataclass(frozen=True)
class Optimum:
    """Where `newton` stopped."""

    q: np.ndarray                 # (M,)
    path: tuple[np.ndarray, ...]  # every iterate (M,), the start first
    converged: bool               # to what rounding allows
    separated: bool               # no minimum exists: a direction was found along which the loss never rises


def newton(local: Callable, q, recedes=lambda direction: False, steps: int = 100, keep: float = 0.0,
           enough: float = 1e-26, rate: float = 1.0) -> Optimum:
    """Minimise a non-negative loss by damped Newton steps q ← q − s·H⁻¹g, with s = 1, ½, ¼, … until it falls.

    The fall still to be expected is half of gᵀH⁻¹g; at quadratic convergence it shrinks by the square of its last
    ratio.  It has converged when that is below 1e-26 of the loss, or when gᵀH⁻¹g is below 1e-12 of it and no longer
    shrinking: then rounding is all that is left.

    A Hessian costs many gradients.  With `keep` it is made anew only where a step has not shrunk gᵀH⁻¹g below that
    share of what it was, and else `corrected` by the gradients; the optimum is the same.

    Where `recedes` finds a direction without end, the iteration goes on until the loss falls by less than 1e-8 of
    itself; the iterate is finite and its fitted values are those of the limit to about that accuracy.

    Parameters
    ----------
    local : callable
        From q (M,), and whether the Hessian is wanted, to the `Local` loss; infinite or NaN where q is not admissible.
    q : (M,)
        The start.
    recedes : callable
        From a direction (M,) to whether the loss never rises along it, however far.
    steps : int
        At most so many.
    keep : float
        0 is Newton's own method.
    enough : float
        The 1e-26 above; larger for a rough answer.
    rate : float
        The share of gᵀH⁻¹g that a step before the first would have left: below 1 if the start is known to be good.

    Returns
    -------
    Optimum
        With q (M,) and whether it is one.

    Source: Boyd and Vandenberghe, Convex Optimization, section 9.5.
    """
    with np.errstate(all="ignore"):  # a trial step may overflow; it is then halved
        here, kept = local(q, True), False
        first, last, path, separated = here.value, np.inf, [q], False
        for count in range(steps):
            B, here, there = here.metric(), here._replace(metric=None), None  # frees the sums that it was made of
            step = -(B @ here.gradient)
            gain, size = -(here.gradient @ step), max(here.value, 1e-30 * first)
            rate = gain / last if count else rate
            left = gain * (max(rate, keep**2) if kept else rate**2)  # a Hessian that is kept may have been lucky
            if gain <= enough ** (1 / 3) * size and left <= enough * size or rate >= 1 and gain <= 1e-12 * size:
                return Optimum(q + step, (*path, q + step), True, separated)  # a fall too small to be measured
            if kept and rate > keep:
                here, kept = local(q, True), False
                continue
            kept = rate ** (2 - kept) < keep
            share, there = _halved(local, q, here, step, gain, not kept)
            if there is None:
                break
            if kept:
                there = Local(*there[:2], partial(corrected, B, share * step, there.gradient - here.gradient))
            q, fall, here, last = q + share * step, here.value - there.value, there, gain
            path.append(q)
            separated = separated or count >= 5 and rate > 0.1 and (recedes(step) or recedes(q))
            if separated and fall <= 1e-8 * (here.value + 0.1 * first):
                break
    return Optimum(q, tuple(path), False, separated)


def _halved(local, q, here: Local, step, gain: float, curved: bool) -> tuple[float, Local | None]:
    """The first of the shares 1, ½, ¼, … of the step at which the loss falls enough, and the loss there, if any."""
    for share in 0.5 ** np.arange(60):
        there = local(q + share * step, curved)
        if there.value <= here.value - 1e-4 * share * gain + 1e-12 * here.value:
            return share, there
    return 0.0, None


@dataclass(frozen=True)
class Loss:
    """A loss Σ wᵢ ℓ(tᵢ, Zᵢq) + qᵀPq/2 over the rows of a design; a model adds `local` and `lead`."""

    design: Design  # from x to z
    cases: Cases    # all rows, or the pieces of a table
    P: np.ndarray   # (M, M) penalty

    def sums(self, q, curved: bool) -> tuple:
        """What `at` needs of the rows at q (M,), as arrays that add; the loss is the first, without the penalty."""
        raise NotImplementedError(f"{type(self).__name__} must define sums(q, curved)")

    def at(self, q, sums: tuple) -> Local:
        """The loss at q (M,), with its penalty."""
        raise NotImplementedError(f"{type(self).__name__} must define at(q, sums)")

    def lead(self, Z, t, direction) -> np.ndarray:
        """How far each predictor moves in favour of its response along `direction` (M,); negative if against it."""
        raise NotImplementedError(f"{type(self).__name__} must define lead(Z, t, direction)")

    def local(self, q, curved: bool = True) -> Local:
        """The loss at q (M,); its metric may be asked for only if `curved`."""
        return self.at(q, self.cases.sums(self, q, curved))

    def blocks(self, width: int | None = None, least: int = 1024) -> Iterator[tuple]:
        """Rows z, responses, weights and offsets of some cases at a time."""
        return ((self.design(x), *rest) for x, *rest in self.cases.blocks(width or 5 * self.design.width // 2, least))

    def leads(self, direction) -> tuple[float, float]:
        """The worst lead of a row along `direction` (M,), at most 0, and the largest, whatever its sign."""
        leads = (self.lead(Z, t, direction)[w > 0] for Z, t, w, _ in self.blocks())
        worst, best = np.array([(lead.min(initial=0.0), np.abs(lead).max(initial=0.0)) for lead in leads]).T
        return worst.min(), best.max()

    def recedes(self, direction) -> bool:
        """True if moving along `direction` (M,) without end takes no predictor away from its response."""
        if self.P.any():
            return False
        worst, best = self.cases.leads(self, direction)
        return bool(best > 1e-3 and worst >= -1e-7 * best)

    def start(self) -> np.ndarray:
        """A point (M,) where the loss is finite."""
        return np.zeros(self.design.width)

    @property
    def keep(self) -> float:
        """How well a Hessian must serve to be kept; with few coefficients it costs little more than a gradient."""
        return 0.1 if len(self.start()) > 32 else 1e-5

    def minimum(self, steps: int = 100, enough: float = 1e-26) -> Optimum:
        """The optimum that Newton's method has from any start.

        With many rows for each coefficient, the search begins where every tenth row has its optimum, two or three steps
        from their own, so that the Hessian there serves nearly all the way.
        """
        q = self.start()
        if (cases := self.cases.few(len(q))) is None:
            return newton(self.local, q, self.recedes, steps, self.keep, enough)
        few = replace(self, cases=cases).minimum(steps=30, enough=1e-9)
        start, rate = (few.q, 0.1) if few.converged else (q, 1.0)
        return newton(self.local, start, self.recedes, steps, self.keep, enough, rate)
