"""Tables of probabilities: over the things counted in a row, the levels of a category, the bins of a histogram.

Source: Manning, Raghavan & Schütze, Introduction to Information Retrieval, sections 13.2-13.3 (counts, smoothing);
Silverman, Density Estimation, section 2.2 (histograms).
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial, reduce
from operator import add

import numpy as np

from course_lib.families import ExponentialFamily, Natural
from course_lib.reduce import Additive, split
from course_lib.statistics import BLOCK, ClassError, Labels, slices
from course_lib.support import Support, check_observed

__all__ = ["Bins", "Categorical", "Histogram", "Levels", "Multinomial", "Table", "indicator"]


@dataclass(frozen=True)
class Table:
    """How often each feature takes each of L codes in each class; the code −1 (missing) is left out."""

    mass: np.ndarray  # (K,)
    table: np.ndarray  # (K, D, L); the sum of two takes the larger L

    @classmethod
    def of(cls, codes, R, L: int) -> "Table":
        """The table of whole numbers (N, D) in −1..L−1 with weights R (N, K)."""
        counted = _counted if isinstance(R, Labels) else _weighed
        table = counted(codes, R, L + 1).reshape(R.shape[1], codes.shape[1], L + 1)
        return cls(R.sum(axis=0), table[:, :, 1:])

    def __add__(self, other: "Table") -> "Table":
        L = max(self.table.shape[2], other.table.shape[2])
        return Table(self.mass + other.mass, _padded(self.table, L) + _padded(other.table, L))


def _padded(table, L: int) -> np.ndarray:
    return table if table.shape[2] == L else np.pad(table, ((0, 0), (0, 0), (0, L - table.shape[2])))


def indicator(codes, width: int):
    """The sufficient statistic of categories, U[n, d·width + 1 + codes[n, d]] = 1: column d·width is for the code −1.

    Parameters
    ----------
    codes : (N, D) of int
        In −1..width−2.
    width : int

    Returns
    -------
    (N, D·width), sparse
    """
    from scipy.sparse import csr_array
    N, D = codes.shape
    columns = codes + np.arange(1, D * width, width, dtype=np.int32)
    rows = np.arange(0, N * D + 1, D, dtype=np.int32)
    return csr_array((np.ones(N * D), columns.ravel(), rows), shape=(N, D * width))


def _weighed(codes, R, width: int) -> np.ndarray:
    """Rᵀ U, (K, D·width), of weights R (N, K)."""
    return (indicator(codes, width).T @ R).T


def _counted(codes, R, width: int) -> np.ndarray:
    """Rᵀ U, (K·D·width,), of `Labels` R: the same by counting."""
    D = codes.shape[1]
    cells = np.arange(1, R.K * D * width, width).reshape(R.K, D).take(R.codes, axis=0)
    cells += codes
    weight = None if R.weight is None else R.weight.repeat(D)
    return np.bincount(cells.ravel(), weight, R.K * D * width).astype(np.float64)


@dataclass(frozen=True)
class Multinomial(ExponentialFamily):
    """How often each of D things occurs in a row: θ_d = ln p_d with Σ p_d = 1, c = 0, h = ln (Σx)!/Π x!.

    Parameters
    ----------
    smoothing : float
        α added to the total of each feature: p_d = (Σx_d + α)/(Σx + αD), a Dirichlet prior.
    trials : int or None
        Sum of a row that `sample` draws; the densities are conditional on that sum and do not know it.
    """

    smoothing: float = 0.0
    trials: int | None = None

    whole = False  # rates and weighted counts are welcome: only their proportions matter
    tags = {"positive_only": True, "poor_score": True}  # proportions of two features hardly tell blobs apart

    dc, dc_inverse = np.exp, np.log

    def c(self, theta):
        return np.zeros(np.shape(theta))

    def h(self, x, phi=None):
        from scipy.special import gammaln
        x = np.nan_to_num(x, nan=0.0)
        return (gammaln(x.sum(axis=1) + 1.0) - gammaln(x + 1.0).sum(axis=1))[:, None]

    def solve(self, s):
        weight = s.total + self.smoothing
        if (empty := weight.sum(axis=1) == 0).any():
            raise ClassError("class {k} has no counts at all: use smoothing > 0 or add rows", empty.argmax())
        with np.errstate(divide="ignore"):
            return Natural(self, np.log(weight / weight.sum(axis=1, keepdims=True)))

    def n_parameters(self, K, D):
        return K * (D - 1)

    def draw(self, p, rng):
        if self.trials is None:
            raise ValueError("to draw rows, Multinomial needs their sum, got trials=None: pass Multinomial(trials=...)")
        return rng.multinomial(self.trials, p / p.sum(axis=1, keepdims=True)).astype(np.float64)


@dataclass(frozen=True)
class Categorical(Support, Additive):
    """Codes 0..L−1: one natural parameter a level, θ_l = ln p_l, u(x) the indicator of the level, c = 0, h = 0.

    Parameters
    ----------
    levels : int, sequence of int, or None
        L for all features or for each; if None, one more than the largest code seen.
    smoothing : float
        α added to the count of every level: p_l = (n_l + α)/(n + αL), a Dirichlet prior.
    """

    levels: int | tuple[int, ...] | None = None
    smoothing: float = 0.0
    tags = {"positive_only": True, "categorical": True}

    def statistics(self, X, R) -> Table:
        codes = _codes(X)
        return Table.of(codes, R, max(int(codes.max(initial=0)) + 1, 0 if self.levels is None else np.max(self.levels)))

    def solve(self, s: Table) -> "Levels":
        L = self._levels(s.table)
        weight = np.where(np.arange(s.table.shape[2]) < L[:, None], s.table + self.smoothing, 0.0)
        check_observed(s.mass, weight.sum(axis=2))
        with np.errstate(divide="ignore"):
            return Levels(np.log(weight / weight.sum(axis=2, keepdims=True)), L)

    @property
    def upper(self):
        return np.inf if self.levels is None else np.asarray(self.levels) - 1

    def _levels(self, table) -> np.ndarray:
        if self.levels is not None:
            return np.broadcast_to(np.asarray(self.levels), table.shape[1])
        seen = table.sum(axis=0) > 0
        return table.shape[2] - np.argmax(seen[:, ::-1], axis=1)

    def _complaint(self, value, top, feature):
        if value < 0:
            return (f"Negative values in data passed to Categorical: negative category code {value:g} in feature "
                    f"{feature}; codes are 0, 1, 2, ...: give a missing value as NaN, or its own code")
        if value != np.rint(value):
            return (f"Categorical features hold codes 0, 1, 2, ..., got {value:g} in feature {feature}: number the "
                    "categories, or use a histogram")
        return (f"unknown category {value:g} in feature {feature}, which has the codes 0 to {top}: declare more with "
                "Categorical(levels=...) and smooth them")


@dataclass(frozen=True)
class Levels:
    """Fitted tables of D categorical features."""

    theta: np.ndarray   # (K, D, L) ln p of each level, −∞ where it was never seen
    levels: np.ndarray  # (D,) number of levels of each feature

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return len(self.theta) * int((self.levels - 1).sum())

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k) of the D features together, (N, K); NaN is left out, a level unknown to the fit is refused."""
        Categorical(self.levels).check(X)
        return _looked_up(self._weights, X, _codes)

    discriminant = log_density

    @cached_property
    def _weights(self) -> np.ndarray:
        return _weights(self.theta)

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        below = np.exp(self.theta).cumsum(axis=2)[k]
        return _drawn(below, rng).astype(np.float64)


def _drawn(below, rng) -> np.ndarray:
    """Indices (n, D) drawn from cumulative probabilities (n, D, L)."""
    u = rng.uniform(size=below.shape[:2]) * below[:, :, -1]
    return (u[:, :, None] >= below).sum(axis=2)


def _weights(tables) -> np.ndarray:
    """Tables (K, D, L) as weights (D(L + 1), K) of the indicator; the code −1 counts 0."""
    return np.pad(tables, ((0, 0), (0, 0), (1, 0))).reshape(len(tables), -1).T.copy()


def _looked_up(weights, X, codes) -> np.ndarray:
    """Σ_d tables[k, d, codes(X)[n, d]], (N, K), stored class after class."""
    out = np.empty((weights.shape[1], len(X))).T
    for rows in slices(*X.shape):
        out[rows] = indicator(codes(X[rows]), len(weights) // X.shape[1]) @ weights
    return out


def _codes(X) -> np.ndarray:
    missing = np.isnan(X.min(initial=0.0))
    return (np.where(np.isnan(X), -1.0, X) if missing else X).astype(np.int32)


@dataclass(frozen=True)
class Histogram(Additive):
    """Piecewise constant marginals: (n_b + α)/(n + αB) over the width of bin b.

    Parameters
    ----------
    bins : int
        B bins of equal width between the smallest and the largest value of each feature, the same for all classes.
    edges : tuple of float, optional
        Bin edges of every feature instead; only then is the fit a sum over rows.
    smoothing : float
        α added to the count of every bin.
    """

    bins: int = 10
    edges: tuple[float, ...] | None = None
    smoothing: float = 0.0

    block = BLOCK // 2  # the bins' numbers take as much room again

    @property
    def additive(self) -> bool:
        """Whether the fit is a sum over rows: if the bins are known beforehand."""
        return self.edges is not None

    def fit(self, X, R) -> "Bins":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        edges = self._edges(X)
        return self._solve(edges, reduce(add, (self._table(edges, x, r) for x, r in split(X, R, block=self.block))))

    def statistics(self, X, R) -> Table:
        return self._table(self._edges(X), X, R)

    def solve(self, s: Table) -> "Bins":
        return self._solve(np.tile(self.edges, (s.table.shape[1], 1)), s)

    def check(self, X, features=None) -> None:
        if self.edges is not None and (len(self.edges) < 2 or (np.diff(self.edges) <= 0).any()):
            raise ValueError(f"edges must increase, two at least, got {self.edges}")
        if self.bins < 1 or not self.smoothing >= 0:
            raise ValueError(f"bins must be >= 1 and smoothing >= 0, got {self.bins} and {self.smoothing}")

    def _edges(self, X) -> np.ndarray:
        if self.edges is not None:
            return np.tile(np.asarray(self.edges, dtype=np.float64), (X.shape[1], 1))
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        if (flat := low == high).any():
            raise ClassError("feature {j} has one value only, so its bins have no width: drop it or pass edges",
                             j=flat.argmax())
        return np.linspace(low, high, self.bins + 1, axis=1)

    def _table(self, edges, X, R) -> Table:
        codes = _bin(edges, X)
        if (codes == edges.shape[1] - 1).any():
            n, j = np.argwhere(codes == edges.shape[1] - 1)[0]
            raise ClassError(f"a histogram is fitted within its edges, got {X[n, j]:g} in feature {{j}}: widen them",
                             j=j)
        return Table.of(codes, R, edges.shape[1] - 1)

    def _solve(self, edges, s: Table) -> "Bins":
        weight = s.table + self.smoothing
        if (empty := weight.sum(axis=2) == 0).any():
            raise ClassError("class {k} has no value of feature {j}: drop the feature or use smoothing > 0",
                             *np.argwhere(empty)[0])
        with np.errstate(divide="ignore"):
            return Bins(edges, np.log(weight / weight.sum(axis=2, keepdims=True) / np.diff(edges)))


@dataclass(frozen=True)
class Bins:
    """Fitted histograms of D features."""

    edges: np.ndarray       # (D, B + 1)
    log_height: np.ndarray  # (K, D, B)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return self.log_height.size - self.log_height[:, :, 0].size

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K): −∞ outside the bins; NaN is left out."""
        return self._looked_up(X, -np.inf)

    def discriminant(self, X) -> np.ndarray:
        """The log density, but 0 for a feature outside its bins: of that no class has an opinion."""
        return self._looked_up(X, 0.0)

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        widths = np.diff(self.edges)
        below = (np.exp(self.log_height) * widths).cumsum(axis=2)[k]
        b = _drawn(below, rng)
        j = np.arange(len(widths))
        return self.edges[j, b] + rng.uniform(size=b.shape) * widths[j, b]

    def _looked_up(self, X, outside: float) -> np.ndarray:
        tables = np.pad(self.log_height, ((0, 0), (0, 0), (0, 1)), constant_values=outside)  # for the code B
        return _looked_up(_weights(tables), X, partial(_bin, self.edges))


def _bin(edges, X) -> np.ndarray:
    """Number of the bin [e_b, e_{b+1}) of each value, the last bin closed; B outside, −1 for NaN."""
    B = edges.shape[1] - 1
    codes = np.stack([np.searchsorted(e, x, side="right") - 1 for e, x in zip(edges, X.T)], axis=1)
    codes[X == edges[:, -1]] = B - 1
    return np.where(np.isnan(X), -1, np.where((codes < 0) | (X > edges[:, -1]), B, codes))
