"""Parzen windows: kernels in D dimensions, the window estimate of a density, the choice of its width h.

A window estimate keeps its rows: it is no sum over them, so it can neither be merged from chunks nor forget.  Work is
done in blocks of at most `BLOCK` distances, never with all N × M of them.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from course_lib.bayes import BayesClassifier
from course_lib.statistics import ClassError, Labels

__all__ = ["EPANECHNIKOV", "GAUSSIAN", "KERNELS", "QUARTIC", "TRIANGULAR", "UNIFORM", "CompactKernel", "GaussianKernel",
           "Nearest", "Parzen", "ParzenClassifier", "Windows", "best_width", "leave_one_out", "loo_errors",
           "loo_log_likelihood", "lscv", "normal_reference", "nrd", "nrd0", "width_grid"]

BLOCK = 2 ** 17  # distances held at once: 1 MB
LOWEST = -650.0  # exp of less adds nothing to a sum whose largest term is 1, and the processor is slow below 1e-308


# ---------------------------------------------------------------------------------------------------------- kernels

@dataclass(frozen=True)
class GaussianKernel:
    """K(r) = exp(−r²/2): every point reaches everywhere; in D dimensions V = ∫K(‖u‖)du = (2π)^{D/2}."""

    def log_volume(self, D: int) -> float:
        """ln V, the logarithm of the kernel's integral over R^D."""
        return D / 2 * np.log(2 * np.pi)

    def log_sum(self, d2: np.ndarray, h2, weight: np.ndarray) -> np.ndarray:
        """ln Σ_i w_i K(d_i/h) for each row of squared distances.

        The nearest point's exponent is taken out of the sum, so the result is finite however far the points are.

        Parameters
        ----------
        d2 : (M, n), h2 : scalar or (M,), weight : (n,)

        Returns
        -------
        (M,)
        """
        near = d2.min(axis=1)
        rate = -0.5 / np.asarray(h2)
        t = d2 - np.where(np.isfinite(near), near, 0)[:, None]
        t *= rate[..., None]
        np.maximum(t, LOWEST, out=t)
        sums = np.log(np.exp(t, out=t) @ weight)
        return np.where(np.isfinite(near), sums + near * rate, -np.inf)

    def draw(self, n: int, D: int, rng: np.random.Generator) -> np.ndarray:
        """n displacements (n, D) whose density is K(‖u‖)/V."""
        return rng.standard_normal((n, D))


@dataclass(frozen=True)
class CompactKernel:
    """K(r) = (1 − rᵃ)ᵇ for r ≤ 1, else 0; with B_D the volume of the unit ball, V = B_D · (D/a) · Beta(D/a, b + 1).

    b = 0 is the uniform window (its edge belongs to it), (1, 1) the triangular, (2, 1) the Epanechnikov, (2, 2) the
    quartic.
    """

    a: int
    b: int

    def log_volume(self, D: int) -> float:
        """ln V, the logarithm of the kernel's integral over R^D."""
        from scipy.special import betaln, gammaln
        log_ball = D / 2 * np.log(np.pi) - gammaln(D / 2 + 1)
        return log_ball + np.log(D / self.a) + betaln(D / self.a, self.b + 1)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K at squared radii t = r²; overwrites t."""
        if self.b == 0:
            return (t <= 1).astype(np.float64)
        if self.a != 2:
            np.power(t, self.a / 2, out=t)
        np.subtract(1, t, out=t)
        np.maximum(t, 0, out=t)
        return t if self.b == 1 else np.power(t, self.b, out=t)

    def log_sum(self, d2: np.ndarray, h2, weight: np.ndarray) -> np.ndarray:
        """ln Σ_i w_i K(d_i/h) for each row; −∞ where no window reaches.  Shapes as in `GaussianKernel.log_sum`."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(self.profile(d2 / np.asarray(h2)[..., None]) @ weight)

    def draw(self, n: int, D: int, rng: np.random.Generator) -> np.ndarray:
        """n displacements (n, D) whose density is K(‖u‖)/V: rᵃ is Beta(D/a, b + 1), the direction uniform."""
        u = rng.standard_normal((n, D))
        r = rng.beta(D / self.a, self.b + 1, size=n) ** (1 / self.a)
        return u * (r / np.linalg.norm(u, axis=1))[:, None]


GAUSSIAN = GaussianKernel()
UNIFORM, TRIANGULAR, EPANECHNIKOV, QUARTIC = (CompactKernel(a, b) for a, b in ((2, 0), (1, 1), (2, 1), (2, 2)))
KERNELS = {"gaussian": GAUSSIAN, "uniform": UNIFORM, "triangular": TRIANGULAR, "epanechnikov": EPANECHNIKOV,
           "quartic": QUARTIC}


@dataclass(frozen=True)
class Nearest:
    """A width that varies: h(x) is the distance from x to its k-th nearest training point of any class.

    All classes share h(x), so V_{h(x)} cancels under argmax and in the posterior; but x ↦ p̂(x) no longer integrates
    to 1.  A kernel that vanishes at its edge takes the (k+1)-th, so that k points count; a point counts as its weight.
    With the uniform kernel this is k nearest neighbours, of which those tied with the k-th all count.
    """

    k: float

    def squared(self, X: np.ndarray, points: np.ndarray, mass: np.ndarray, kernel, own=None) -> np.ndarray:
        """h(x)² (M,) for rows X (M, D) among points (N, D) with weights mass (N,).

        own (M,) is the point that a row does not see, −1 for none.
        """
        beyond = isinstance(kernel, CompactKernel) and kernel.b > 0
        h2 = np.empty(len(X))
        for rows in _blocks(len(X), len(points)):
            d2 = _hidden(_squared_distances(X[rows], points), None if own is None else own[rows])
            h2[rows] = _reach(d2, mass, self.k, beyond)
        if np.isinf(h2).any():
            raise ValueError(f"Nearest({self.k}) needs more points than there are, {mass.sum():g} by weight: lower k")
        return np.maximum(h2, np.finfo(float).tiny)


FIRST = Nearest(1e-300)  # the nearest point, whatever its weight


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


# --------------------------------------------------------------------------------------------------- the estimate

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
        points, groups, mass = _grouped(X, R)
        h = self._widths(points, groups)
        return Windows(points, groups, mass, h, self.kernel, self._trees(points, groups, h))

    def _widths(self, points, groups):
        if isinstance(self.h, Nearest):
            return self.h
        h = [self.h(points[g.rows]) for g in groups] if callable(self.h) else self.h
        if np.shape(h) not in ((), (len(groups),)):
            raise ValueError(f"h must be one width or one a class, got {np.size(h)} widths for {len(groups)} classes")
        return _positive(np.broadcast_to(np.asarray(h, dtype=np.float64), (len(groups),)))

    def _trees(self, points, groups, h) -> tuple:
        """A k-d tree a class where windows have an edge and few dimensions let a tree skip what lies beyond it."""
        if isinstance(h, Nearest) or not isinstance(self.kernel, CompactKernel) or points.shape[1] > 3:
            return ()
        from scipy.spatial import cKDTree
        return tuple(cKDTree(points[g.rows]) for g in groups)


@dataclass(frozen=True)
class Group:
    """The points of one class."""

    rows: slice | np.ndarray  # where they stand among all points
    weight: np.ndarray        # (n,), positive, sums to 1


@dataclass(frozen=True)
class Windows:
    """Fitted window estimates of K classes over the same points."""

    points: np.ndarray          # (N, D)
    groups: tuple[Group, ...]   # K of them
    mass: np.ndarray            # (N,) weight of each point in all classes together
    h: np.ndarray | Nearest     # (K,)
    kernel: GaussianKernel | CompactKernel
    trees: tuple = ()           # K of them, or none

    def log_density(self, X: np.ndarray) -> np.ndarray:
        """ln p̂(x|y) (M, K) for rows X (M, D); −∞ where a compact kernel reaches no point of the class."""
        D, h2 = X.shape[1], self._squared_widths(X)
        sums = [self._log_sum(X, k, v) for k, v in enumerate(np.broadcast_to(h2, (len(h2), len(self.groups))).T)]
        return np.column_stack(sums) - D / 2 * np.log(h2) - self.kernel.log_volume(D)

    def _log_sum(self, X, k, h2) -> np.ndarray:
        points, weight = self.points[self.groups[k].rows], self.groups[k].weight
        if self.trees and len(X) * len(points) > BLOCK:
            return _log_windows_by_tree(X, self.trees[k], weight, self.kernel, h2[0])
        return _log_windows(X, points, weight, self.kernel, [h2])[0]

    def discriminant(self, X: np.ndarray) -> np.ndarray:
        """What decides, (M, K): the log density; where no window reaches, that of windows widened to the first point.

        There only the classes of the nearest training point (of all that are tied for it) remain possible.
        """
        scores = self.log_density(X)
        lost = np.isneginf(scores).all(axis=1)
        if lost.any():
            scores[lost] = replace(self, h=FIRST, kernel=UNIFORM, trees=()).log_density(X[lost])
        return scores

    def sample(self, k: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """One row a class index k (n,): a training point, displaced by h times a draw from the kernel; (n, D)."""
        if isinstance(self.h, Nearest):
            raise ValueError("windows of varying width are no density and cannot be sampled: give a fixed h")
        X = self.kernel.draw(len(k), self.points.shape[1], rng) * self.h[k][:, None]
        for c, g in enumerate(self.groups):
            at = np.flatnonzero(k == c)
            X[at] += rng.choice(self.points[g.rows], size=len(at), p=g.weight)
        return X

    def _squared_widths(self, X) -> np.ndarray:
        """h², (1, K) when fixed and (M, 1) when it varies with x."""
        if isinstance(self.h, Nearest):
            return self.h.squared(X, self.points, self.mass, self.kernel)[:, None]
        return self.h[None, :] ** 2


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


# ------------------------------------------------------------------------------------------------- choosing a width

def leave_one_out(X: np.ndarray, R, h, kernel=GAUSSIAN) -> np.ndarray:
    """ln p̂_{−i}(x_i|y), the densities at each row when that row is left out, for many widths from one distance pass.

    A row leaves with all its weight; a class left without points has density 0.

    Parameters
    ----------
    X : (N, D), R : (N, K) or `Labels`
    h : sequence of H floats or `Nearest`

    Returns
    -------
    (H, N, K)
    """
    N, D = X.shape
    i, k, w, K = _pairs(R)
    mass = np.bincount(i, w, N)
    h2 = [v.squared(X, X[mass > 0], mass[mass > 0], kernel, np.where(mass > 0, np.cumsum(mass > 0) - 1, -1))
          if isinstance(v, Nearest) else np.full(N, _positive(v) ** 2) for v in h]
    out = np.empty((len(h2), N, K))
    for c in range(K):
        rows, weight = i[k == c], w[k == c] / w[k == c].sum()
        own, left = np.full(N, -1), np.ones(N)
        own[rows], left[rows] = np.arange(len(rows)), 1 - weight
        sums = _log_windows(X, X[rows], weight, kernel, h2, own)
        with np.errstate(divide="ignore"):
            out[..., c] = np.where(left > 0, sums - np.log(np.where(left > 0, left, 1)), -np.inf)
    return out - D / 2 * np.log(h2)[..., None] - kernel.log_volume(D)


def loo_log_likelihood(X: np.ndarray, h, kernel=GAUSSIAN, weight=None) -> np.ndarray:
    """Σ_i w_i ln p̂_{−i}(x_i) for each width h (H,), of rows X (N, D) as one sample; returns (H,).

    As h → 0 it falls to −∞ unless every point has a twin; the resubstitution likelihood would grow for ever.
    Source: Silverman, Density Estimation, section 3.4.4.
    """
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    return leave_one_out(X, weight[:, None], h, kernel)[:, weight > 0, 0] @ weight[weight > 0]


def loo_errors(X: np.ndarray, codes: np.ndarray, h, kernel=GAUSSIAN, priors=None) -> np.ndarray:
    """Rows (H,) that the window classifier gets wrong when each is left out in turn.

    Parameters
    ----------
    X : (N, D), codes : (N,) in 0..K−1
    h : sequence of H floats or `Nearest`
    priors : (K,), optional
        By default the class frequencies among the other rows.
    """
    R = np.eye(codes.max() + 1)[codes]
    with np.errstate(divide="ignore"):
        log_prior = np.log(R.sum(axis=0) - R if priors is None else priors)
    log_joint = leave_one_out(X, R, h, kernel) + log_prior
    lost = np.isneginf(log_joint).all(axis=2)
    if lost.any():
        near = leave_one_out(X, R, [FIRST], UNIFORM) + log_prior
        log_joint = np.where(lost[..., None], near, log_joint)
    return (log_joint.argmax(axis=2) != codes).sum(axis=1)


def lscv(X: np.ndarray, h) -> np.ndarray:
    """Least squares cross-validation with a Gaussian kernel, ∫p̂² − (2/N) Σ_i p̂_{−i}(x_i), for each width; exact sums.

    ∫p̂² = N⁻² Σ_ij N(x_i − x_j; 0, 2h²I).  Smaller is better, but when more than .273 N pairs are tied (D = 1) it
    falls to −∞ as h → 0: only a local minimum can then be meant.

    Parameters
    ----------
    X : (N, D), h : (H,)

    Returns
    -------
    (H,)

    Source: Silverman, Density Estimation, section 3.4.3.
    """
    (N, D), h = X.shape, _positive(h)
    near, far = np.zeros(len(h)), np.zeros(len(h))  # Σ_{i≠j} exp(−d²/2h²), Σ_{i≠j} exp(−d²/4h²)
    for rows in _blocks(N, N):
        d2 = _squared_distances(X[rows], X)
        d2[np.arange(len(d2)), np.arange(N)[rows]] = np.inf
        for j, hj in enumerate(h):
            E = np.exp(d2 * (-0.25 / hj ** 2))
            far[j] += E.sum()
            near[j] += np.einsum("ij,ij->", E, E)
    return (4 * np.pi * h ** 2) ** (-D / 2) * ((N + far) / N ** 2 - 2 ** (D / 2 + 1) * near / (N * (N - 1)))


def nrd0(x: np.ndarray) -> float:
    """Silverman's rule of thumb, .9 min(s, IQR/1.34) n^{−1/5}, R's default; x (n,).  Source: Silverman, eq. 3.31."""
    return 0.9 * _spread(np.ravel(x)) * np.size(x) ** -0.2


def nrd(x: np.ndarray) -> float:
    """Scott's variation, 1.06 min(s, IQR/1.34) n^{−1/5}; x (n,).  Source: Scott, Multivariate Density Estimation."""
    return 1.06 * _spread(np.ravel(x)) * np.size(x) ** -0.2


def normal_reference(X: np.ndarray) -> float:
    """The best width were the data a spherical normal: s (4/((D + 2) n))^{1/(D+4)}, s² the mean of the D variances.

    Source: Silverman, Density Estimation, eq. 4.14.
    """
    n, D = X.shape
    return _sd(X) * (4 / ((D + 2) * n)) ** (1 / (D + 4))


def width_grid(X: np.ndarray, octaves: int = 10) -> np.ndarray:
    """Widths in ratio √2, upwards to four times the normal reference; the lowest is the search's lower bound."""
    return 4 * normal_reference(X) * 2.0 ** (np.arange(-2 * octaves, 1) / 2)


def best_width(score: Callable[[np.ndarray], np.ndarray], grid: np.ndarray) -> float:
    """The width h that maximises a score: the best of the grid, refined between its neighbours.

    Parameters
    ----------
    score : function (H,) -> (H,)
        Larger is better: ``lambda h: loo_log_likelihood(X, h)``, or ``lambda h: -lscv(X, h)``.
    grid : (H,)
        Ascending; `width_grid` makes one.

    A best value at an end of the grid is returned as it is, with a warning: tied data can drive h to 0.
    """
    from scipy.optimize import minimize_scalar
    values = np.asarray(score(grid))
    best = int(np.argmax(values))
    if np.isneginf(values[best]):
        raise ValueError("no width of the grid gives every row a positive density: widen the grid upwards")
    if best in (0, len(grid) - 1):
        warnings.warn(f"the score is best at the end h = {grid[best]:.6g} of the grid: are values tied, "
                      "or should the grid go further?", stacklevel=2)
        return float(grid[best])
    lo, hi = np.log(grid[[best - 1, best + 1]])
    found = minimize_scalar(lambda u: -score(np.exp([u]))[0], bounds=(lo, hi), method="bounded",
                            options={"xatol": 1e-8})
    return float(np.exp(found.x))


# -------------------------------------------------------------------------------------------------------- the engine

def _log_windows(X, points, weight, kernel, h2s, own=None) -> np.ndarray:
    """ln Σ_i w_i K(ρ(x, x_i)/h), (H, M), for H squared widths, scalars or (M,); own (M,) is a point to leave out."""
    h2s = [np.broadcast_to(h2, (len(X),)) for h2 in h2s]
    out = np.empty((len(h2s), len(X)))
    for rows in _blocks(len(X), len(points)):
        d2 = _hidden(_squared_distances(X[rows], points), None if own is None else own[rows])
        for j, h2 in enumerate(h2s):
            out[j, rows] = kernel.log_sum(d2, h2[rows], weight)
    return out


def _log_windows_by_tree(X, tree, weight, kernel, h2) -> np.ndarray:
    """As `_log_windows` for one width of a compact kernel, from the pairs within reach where these are few.

    How many there are is judged from 256 rows, and a block takes its rows from all over X, so that by expectation it
    holds no more than `BLOCK` pairs even if the rows are sorted.
    """
    from scipy.spatial import cKDTree
    h, out = float(np.sqrt(h2)), np.empty(len(X))
    near = tree.query_ball_point(X[::max(1, len(X) // 256)], h, return_length=True).mean()
    if near > 0.05 * tree.n:
        return _log_windows(X, tree.data, weight, kernel, [h2])[0]
    blocks = min(len(X), int(np.ceil(len(X) * (near + 16) / BLOCK)))
    for start in range(blocks):
        rows = slice(start, None, blocks)
        x = X[rows]
        near = cKDTree(x).sparse_distance_matrix(tree, h * (1 + 1e-9), output_type="ndarray")
        t = ((x[near["i"]] - tree.data[near["j"]]) ** 2).sum(axis=1) / h2
        with np.errstate(divide="ignore"):
            out[rows] = np.log(np.bincount(near["i"], kernel.profile(t) * weight[near["j"]], minlength=len(x)))
    return out


def _squared_distances(X, points) -> np.ndarray:
    """(M, n) by differences: the expansion x² − 2xy + y² would lose the digits of near points at large offsets."""
    from scipy.spatial.distance import cdist
    return cdist(X, points, "sqeuclidean")


def _hidden(d2, own):
    """d2 (M, n) with an infinite distance at the point own (M,) of each row, if it has one (≥ 0)."""
    if own is not None:
        at = np.flatnonzero(own >= 0)
        d2[at, own[at]] = np.inf
    return d2


def _blocks(M: int, n: int):
    step = max(1, BLOCK // max(n, 1))
    return (slice(start, min(start + step, M)) for start in range(0, M, step))


def _pairs(R):
    """Row, class and weight of every positive entry of R, ordered by class, and K."""
    if isinstance(R, Labels):
        i = np.argsort(R.codes, kind="stable")
        w = np.ones(len(i)) if R.weight is None else R.weight[i]
        return i[w > 0], R.codes[i][w > 0], w[w > 0], R.K
    k, i = np.nonzero(np.asarray(R).T)
    return i, k, np.asarray(R, dtype=np.float64)[i, k], np.shape(R)[1]


def _grouped(X: np.ndarray, R) -> tuple[np.ndarray, tuple[Group, ...], np.ndarray]:
    """Points and their weights, ordered by class, so that with hard labels each group is a slice, its points a view."""
    i, k, w, K = _pairs(R)
    bounds = np.searchsorted(k, np.arange(K + 1))
    if (empty := np.flatnonzero(np.diff(bounds) == 0)).size:
        raise ClassError("class {k} has no row with a positive weight: drop the class or add rows", empty[0])
    kept, at = np.unique(i, return_inverse=True)
    hard = len(kept) == len(i)
    groups = tuple(Group(slice(a, b) if hard else at[a:b], w[a:b] / w[a:b].sum())
                   for a, b in zip(bounds[:-1], bounds[1:]))
    return X[i if hard else kept], groups, w if hard else np.bincount(at, w)


def _positive(h) -> np.ndarray:
    h = np.asarray(h, dtype=np.float64)
    if not (np.isfinite(h) & (h > 0)).all():
        raise ValueError(f"a window's width h must be positive and finite, got {h.tolist()}")
    return h


def _sd(X: np.ndarray) -> float:
    """Root of the mean variance of the columns, or of one sample (n,)."""
    if len(X) < 2 or (X == X[0]).all():
        raise ValueError(f"a rule for the width needs data that vary, got {len(X)} value(s), all {X[0].tolist()}: the "
                         "data are constant, give a width h")
    return float(np.sqrt(np.var(X, axis=0, ddof=1).mean()))


def _spread(x: np.ndarray) -> float:
    """min(s, IQR/1.34); s alone where more than half of the values are tied and the IQR is 0."""
    q1, q3 = np.quantile(x, [0.25, 0.75])
    return min(_sd(x), (q3 - q1) / 1.34) or _sd(x)
