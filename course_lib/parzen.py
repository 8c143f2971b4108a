"""Parzen windows: the window estimate of a density, with widths that are fixed, one a class, or vary with x.

A window estimate keeps its rows: it is no sum over them, so it can neither be merged from chunks nor forget.

Source: Duda, Hart & Stork, Pattern Classification, sections 4.3 and 4.4.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from course_lib import kernels
from course_lib.bayes import BayesClassifier
from course_lib.kernels import (
    GAUSSIAN, KERNELS, UNIFORM, Cells, Close, CompactKernel, GaussianKernel, blocks, log_windows, paired_distances,
    squared_distances)
from course_lib.statistics import ClassError, Labels

__all__ = ["Nearest", "Parzen", "ParzenClassifier", "Windows", "entries", "positive"]

FEW = 3  # features up to which cells, or a tree, skip more points than they cost


@dataclass(frozen=True)
class Nearest:
    """A width that varies: h(x) is the distance from x to its k-th nearest training point of any class.

    All classes share h(x), so V_{h(x)} cancels under argmax and in the posterior; but x ↦ p̂(x) no longer integrates
    to 1.  A kernel that vanishes at its edge takes the (k+1)-th, so that k points count; a point counts as its weight.
    With the uniform kernel this is k nearest neighbours, of which those tied with the k-th all count.

    Parameters
    ----------
    k : float
        Weight within the window of every row (M,).

    Source: Duda, Hart & Stork, Pattern Classification, section 4.4.
    """

    k: float

    def squared(self, X: np.ndarray, points: np.ndarray, mass: np.ndarray, kernel, own=None) -> np.ndarray:
        """h(x)² (M,) for rows X (M, D) among points (N, D) with weights mass (N,).

        own (M,) is the point that a row does not see, −1 for none.  Raises ValueError if the points weigh less than k.
        """
        beyond = isinstance(kernel, CompactKernel) and kernel.b > 0
        h2 = np.empty(len(X))
        for rows in blocks(len(X), len(points)):
            d2 = squared_distances(X[rows], points, None if own is None else own[rows])
            h2[rows] = _reach(d2, mass, self.k, beyond)
        if np.isinf(h2).any():
            raise ValueError(f"Nearest({self.k}) needs more points than there are, {mass.sum():g} by weight: lower k")
        return np.maximum(h2, np.finfo(float).tiny)


def _reach(d2, mass, k, beyond: bool) -> np.ndarray:
    """Squared distance (M,) within which the weight comes to k, or first exceeds it; infinite if it never does."""
    if (mass == 1).all():
        at = int(np.ceil(k)) - 1 + beyond
        return np.partition(d2, at, axis=1)[:, at] if at < len(mass) else np.full(len(d2), np.inf)
    order = np.argsort(d2, axis=1)
    total = np.cumsum(mass[order], axis=1)
    enough = total > k * (1 + 1e-12) if beyond else total >= k * (1 - 1e-12)
    first = np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1)
    return np.where(enough[:, -1], np.take_along_axis(d2, first, axis=1)[:, 0], np.inf)


@dataclass(frozen=True)
class Parzen:
    """Window estimate of K densities, p̂(x|y) = Σ_i w_iy K(ρ(x, x_i)/h_y) / V_{h_y} with weights that sum to 1.

    Parameters
    ----------
    h : float, (K,) floats, `Nearest`, or a rule
        One width for all classes; one a class (V_{h_y} then differs and must stay in the formula); a width that
        varies with x; or a function from the points (n, D) of a class to its width, `normal_reference` for example.
    kernel : GaussianKernel or CompactKernel
        ρ is the Euclidean distance: bring the features to comparable scales first.

    Source: Parzen (1962), Annals of Mathematical Statistics 33:1065; Silverman, Density Estimation, sections 4.2, 5.2.
    """

    h: float | Sequence[float] | Nearest | Callable = 1.0
    kernel: GaussianKernel | CompactKernel = GAUSSIAN

    def fit(self, X: np.ndarray, R) -> "Windows":
        """Keep the rows X (N, D) with weights R (N, K) ≥ 0, or `Labels`; rows without weight are dropped."""
        i, codes, mass, K = entries(R)
        ends = np.searchsorted(codes, np.arange(K + 1))
        if (empty := np.flatnonzero(np.diff(ends) == 0)).size:
            raise ClassError("class {k} has no row with a positive weight: drop the class or add rows", empty[0])
        points, classes = X[i], tuple(slice(a, b) for a, b in zip(ends[:-1], ends[1:]))
        share = mass / np.add.reduceat(mass, ends[:-1])[codes]
        return Windows(points, codes, classes, mass, share, self._widths(points, classes), self.kernel)

    def _widths(self, points, classes):
        if isinstance(self.h, Nearest):
            return self.h
        h = [self.h(points[rows]) for rows in classes] if callable(self.h) else self.h
        if np.shape(h) not in ((), (len(classes),)):
            raise ValueError(f"h must be one width or one a class, got {np.size(h)} widths for {len(classes)} classes")
        return positive(np.broadcast_to(np.asarray(h, dtype=np.float64), (len(classes),)))


@dataclass(frozen=True)
class Windows:
    """Fitted window estimates of K classes.

    Parameters
    ----------
    points : (N, D)
        Ordered by class; a row with weight in several classes stands in each of them.
    codes : (N,)
        Class of each point.
    classes : K slices
        The points of each class.
    mass, share : (N,)
        Weight of each point, and the same divided by the weight of its class.
    h : (K,) or `Nearest`
    kernel : GaussianKernel or CompactKernel

    Source: as `Parzen`.
    """

    points: np.ndarray
    codes: np.ndarray
    classes: tuple[slice, ...]
    mass: np.ndarray
    share: np.ndarray
    h: np.ndarray | Nearest
    kernel: GaussianKernel | CompactKernel

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """ln p̂(x|y) (M, K) for rows X (M, D); −∞ where a compact kernel reaches no point of the class."""
        D, h2 = X.shape[1], self._squared_widths(X)
        if isinstance(self.kernel, GaussianKernel) or len(X) * len(self.points) <= kernels.BLOCK:
            sums = self._from_all(X, h2)
        elif D <= FEW and not isinstance(self.h, Nearest):
            sums = self._from_cells(X)
        else:
            sums = self._from_close(X, h2)
        return sums - D / 2 * np.log(h2) - self.kernel.log_volume(D)

    def discriminant(self, X: np.ndarray) -> np.ndarray:
        """What decides, (M, K): the log density; where no window reaches, that of windows widened to the first point.

        There only the classes of the nearest training point (of all that are tied for it) remain possible.
        """
        scores = self.log_density(X)
        lost = np.isneginf(scores).all(axis=1)
        if lost.any():
            scores[lost] = self._from_nearest(X[lost])
        return scores

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One row a class index k (n,): a training point, displaced by h times a draw from the kernel; (n, D)."""
        if isinstance(self.h, Nearest):
            raise ValueError("windows of varying width are no density and cannot be sampled: give a fixed h")
        X = self.kernel.draw(len(k), self.points.shape[1], rng) * self.h[k][:, None]
        for c, rows in enumerate(self.classes):
            at = np.flatnonzero(k == c)
            X[at] += rng.choice(self.points[rows], size=len(at), p=self.share[rows])
        return X

    def _squared_widths(self, X) -> np.ndarray:
        """h², (1, K) when fixed and (M, 1) when it varies with x."""
        if isinstance(self.h, Nearest):
            return self.h.squared(X, self.points, self.mass, self.kernel)[:, None]
        return self.h[None, :] ** 2

    def _from_all(self, X, h2) -> np.ndarray:
        """ln Σ_i w_iy K(ρ(x, x_i)/h) (M, K) from every distance."""
        widths = np.broadcast_to(h2, (len(X), len(self.classes))).T
        return np.column_stack([log_windows(X, self.points[rows], self.share[rows], self.kernel, [h2])[0]
                                for rows, h2 in zip(self.classes, widths)])

    def _from_cells(self, X) -> np.ndarray:
        """As `_from_all` for a kernel with an edge, fixed widths and few features, from the cells about each row."""
        sums = np.empty((len(X), len(self.classes)))
        for block in blocks(len(X), 3 ** X.shape[1]):  # the runs of a row are so many numbers
            Z, out = X[block], sums[block]
            for rows, runs, pairs in self._cells.near(Z):
                out[rows] = self._over_runs(Z[rows], runs) if pairs is None else self._over_pairs(Z[rows], *pairs)
        return _log(sums)

    def _over_runs(self, X, runs):
        """Σ_i w_iy K (M, K) over runs of points in cells, where those of a class stand together."""
        points, codes, share, h2 = (np.concatenate([values[run] for run in runs]) for values in self._in_cells)
        values = self.kernel.profile(squared_distances(X, points) / h2)
        values *= share
        first = np.flatnonzero(np.append(True, codes[1:] != codes[:-1]))
        return np.add.reduceat(values, first, axis=1) @ np.eye(len(self.classes))[codes[first]]

    def _over_pairs(self, X, i, j):
        """The same over pairs of rows and points in cells."""
        points, codes, share, h2 = self._in_cells
        values = self.kernel.profile(paired_distances(X, points, i, j) / h2[j]) * share[j]
        return np.bincount(i * len(self.classes) + codes[j], values, len(X) * len(self.classes)).reshape(len(X), -1)

    def _from_close(self, X, h2) -> np.ndarray:
        """As `_from_all` for a kernel with an edge: class by class, from the pairs within reach where these are few."""
        out = np.full((len(X), len(self.classes)), -np.inf)
        for k, (close, share) in enumerate(self._close):
            reach2 = np.broadcast_to(h2, out.shape)[:, k]
            for rows, pairs in close.pairs(X, reach2, close.reached(X, reach2)):
                if pairs is None:
                    out[rows, k], = log_windows(X[rows], close.points, share, self.kernel, [reach2[rows]])
                else:
                    i, j, d2 = pairs
                    out[rows, k] = _log(np.bincount(i, self.kernel.profile(d2 / reach2[rows[i]]) * share[j], len(rows)))
        return out

    def _from_nearest(self, X) -> np.ndarray:
        """ln Σ_i w_iy (M, K) over the nearest point, or those tied for it."""
        if len(X) * len(self.points) <= kernels.BLOCK:
            least = np.maximum(squared_distances(X, self.points).min(axis=1), np.finfo(float).tiny)
            return replace(self, kernel=UNIFORM)._from_all(X, least[:, None])
        out, tied = np.full((len(X), len(self.classes)), -np.inf), np.ones(len(X), bool)
        if X.shape[1] <= FEW:
            d, j = self._tree.query(X, 2)
            tied = d[:, 1] <= d[:, 0] * (1 + 1e-9)
            j = j[~tied, 0]
            out[~tied, self.codes[j]] = np.log(self.share[j])
        out[tied] = self._from_tied(X[tied])
        return out

    def _from_tied(self, X):
        """The same class by class, whether one point is the nearest or several are."""
        least, sums = np.full((len(X), len(self.classes)), np.inf), np.zeros((len(X), len(self.classes)))
        for k, (close, share) in enumerate(self._close):
            for rows, (i, j, d2) in close.pairs(X, among=close.reached(X, least.min(axis=1))):
                near = np.minimum.reduceat(d2, np.searchsorted(i, np.arange(len(rows))))
                least[rows, k], sums[rows, k] = near, np.bincount(i, share[j] * (d2 <= near[i]))
        return _log(np.where(least == least.min(axis=1)[:, None], sums, 0))

    @cached_property
    def _cells(self) -> Cells:
        return Cells(self.points, self.h.max())

    @cached_property
    def _in_cells(self):
        return [v[self._cells.order] for v in (self.points, self.codes, self.share, self.h[self.codes] ** 2)]

    @cached_property
    def _close(self) -> list[tuple[Close, np.ndarray]]:
        return [(Close(self.points[rows]), self.share[rows]) for rows in self.classes]

    @cached_property
    def _tree(self):
        from scipy.spatial import cKDTree
        return cKDTree(self.points)


@np.errstate(divide="ignore")
def _log(sums):
    return np.log(sums)


class ParzenClassifier(BayesClassifier):
    """Bayes' rule with window estimates: argmax λ_y P(y) Σ_i w_iy K(ρ(x, x_i)/h_y) / V_{h_y}.

    With one width for all classes, or one that varies with x, V cancels and this is a metric classifier; with a width
    for each class it must stay.  Where no window of a compact kernel reaches x, the nearest training point decides.

    Parameters
    ----------
    h : float, (K,) floats, `Nearest(k)`, or a function (n, D) -> float
        As in `Parzen`.
    kernel : "gaussian", "uniform", "triangular", "epanechnikov", "quartic", or a kernel
    priors, losses, reject
        As in `BayesClassifier`.

    Source: Duda, Hart & Stork, Pattern Classification, section 4.3.
    """

    def __init__(self, h=1.0, kernel="gaussian", priors=None, losses=None, reject=None):
        self.h, self.kernel = h, kernel
        self.priors, self.losses, self.reject = priors, losses, reject

    def _density(self):
        if isinstance(self.kernel, str) and self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, got {self.kernel!r}")
        return Parzen(self.h, KERNELS[self.kernel] if isinstance(self.kernel, str) else self.kernel)


def entries(R) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The positive entries of a weight matrix, ordered by class.

    Parameters
    ----------
    R : (N, K) or `Labels`

    Returns
    -------
    row (n,), class (n,), weight (n,), and K
    """
    if isinstance(R, Labels):
        i = np.argsort(R.codes, kind="stable")
        w = np.ones(len(i)) if R.weight is None else R.weight[i]
        return i[w > 0], R.codes[i][w > 0], w[w > 0], R.K
    k, i = np.nonzero(np.asarray(R).T)
    return i, k, np.asarray(R, dtype=np.float64)[i, k], np.shape(R)[1]


def positive(h) -> np.ndarray:
    """Widths (H,) as an array; raises ValueError unless all are positive and finite.

    Parameters
    ----------
    h : float or (H,)

    Returns
    -------
    the same as an array

    Raises
    ------
    ValueError
        If one is not.
    """
    h = np.asarray(h, dtype=np.float64)
    if not (np.isfinite(h) & (h > 0)).all():
        raise ValueError(f"a window's width h must be positive and finite, got {h.tolist()}")
    return h
