"""Densities: what may be estimated for each class, and how it is put together from marginals.

A density describes K classes at once.  Its frozen hyperparameters go in, frozen parameters come out::

    class Density(Protocol):
        def fit(self, X, R) -> Fitted: ...       # X (N, D), R (N, K) >= 0: an array or `Labels`

    class Additive(Density, Protocol):           # fit = solve ∘ Σ statistics
        def statistics(self, X, R): ...          # a sum over rows: s(all) = s(some) + s(the rest)
        def solve(self, s) -> Fitted: ...

    class Fitted(Protocol):
        def log_density(self, X): ...            # (N, K)
        def discriminant(self, X): ...           # the same up to a term common to the classes, where that is cheaper
        def sample(self, k, rng): ...            # k (n,) classes -> (n, D)

R one-hot is the supervised fit of a Bayes classifier, R soft the M-step of EM, R with scaled rows carries sample
weights, and one column of ones gives a plain density.  `Gaussian` and the families are densities too.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Protocol

import numpy as np

from course_lib.families import Normal
from course_lib.gaussian import Gaussian, Pool, normal, own, rda, tied
from course_lib.reduce import Additive
from course_lib.statistics import ClassError, Table, members

__all__ = ["Additive", "Density", "Each", "Fitted", "Gaussian", "Histogram", "Independent", "Pool", "StudentT",
           "by_likelihood", "by_moments", "discriminant", "normal", "own", "rda", "tied"]


class Density(Protocol):
    """Hyperparameters of K densities that are fitted together."""

    def fit(self, X, R) -> "Fitted":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""


class Fitted(Protocol):
    """Parameters of K densities."""

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K)."""

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""


def discriminant(fitted: Fitted, X) -> np.ndarray:
    """The log density (N, K) up to a term common to the classes; the log density itself where nothing is saved."""
    return getattr(fitted, "discriminant", fitted.log_density)(X)


@dataclass(frozen=True)
class Independent:
    """A product of marginals, p(x|k) = Π_d p_d(x_d|k): the assumption of naive Bayes.

    Parameters
    ----------
    marginals : density or sequence of densities
        One for all features, or one for each; equal ones are fitted together.  Default: `Normal()`.
    missing : "refuse" or "skip"
        Whether a classifier lets NaN pass; a missing feature is left out of the product.
    """

    marginals: object = None
    missing: str = "refuse"

    @property
    def additive(self) -> bool:
        """Whether the fit is a sum over rows: if that of every marginal is."""
        return all(getattr(m, "additive", False) for m in self._listed)

    @property
    def tags(self) -> dict:
        """What scikit-learn is told about X."""
        marginals = {key: True for m in self._listed for key, value in getattr(m, "tags", {}).items() if value}
        return marginals | {"allow_nan": self.missing == "skip"}

    def fit(self, X, R) -> "Product":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        return self._each(X.shape[1], lambda marginal, columns: marginal.fit(X[:, columns], R))

    def statistics(self, X, R) -> "Parts":
        return Parts(tuple(m.statistics(X[:, columns], R) for m, columns in self._groups(X.shape[1])), X.shape[1])

    def solve(self, s: "Parts") -> "Product":
        parts = iter(s.parts)
        return self._each(s.D, lambda marginal, columns: marginal.solve(next(parts)))

    def check(self, X, features=None) -> None:
        """Raise ValueError if X (N, D) holds a value outside the support of its marginal."""
        if self.missing not in ("refuse", "skip"):
            raise ValueError(f"missing must be 'refuse' or 'skip', got {self.missing!r}")
        features = np.arange(X.shape[1]) if features is None else np.asarray(features)
        for marginal, columns in self._groups(X.shape[1]):
            getattr(marginal, "check", _accept)(X[:, columns], features[columns])

    @property
    def _listed(self) -> list:
        many = isinstance(self.marginals, Sequence)
        return list(self.marginals) if many else [Normal() if self.marginals is None else self.marginals]

    def _groups(self, D: int) -> list:
        """Each distinct marginal with the columns it describes."""
        if not isinstance(self.marginals, Sequence):
            return [(self._listed[0], slice(None))]
        if len(self._listed) != D:
            raise ValueError(f"Independent needs one marginal a feature, got {len(self._listed)} for {D} features")
        distinct = [m for i, m in enumerate(self._listed) if m not in self._listed[:i]]
        return [(m, np.flatnonzero([m == other for other in self._listed])) for m in distinct]

    def _each(self, D: int, make) -> "Product":
        parts = []
        for marginal, columns in self._groups(D):
            try:
                parts.append((columns, make(marginal, columns)))
            except ClassError as fault:
                raise fault.named(None, np.arange(D)[columns]) from None
        return Product(tuple(parts), D)


@dataclass(frozen=True)
class Parts:
    """The statistics of the marginals, which add one by one."""

    parts: tuple
    D: int

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(tuple(a + b for a, b in zip(self.parts, other.parts)), self.D)

    @property
    def mass(self) -> np.ndarray:
        return self.parts[0].mass


@dataclass(frozen=True)
class Product:
    """Fitted marginals with the columns each describes."""

    parts: tuple  # of (columns, fitted)
    D: int

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k) = Σ_d ln p_d(x_d|k), (N, K)."""
        return reduce(add, (fitted.log_density(X[:, columns]) for columns, fitted in self.parts))

    def discriminant(self, X) -> np.ndarray:
        """The log density up to a term common to the classes, (N, K)."""
        return reduce(add, (discriminant(fitted, X[:, columns]) for columns, fitted in self.parts))

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return sum(fitted.n_parameters for _, fitted in self.parts)

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (K, D) and bias (K,), if every marginal has a linear discriminant."""
        forms = [(columns, *fitted.linear()) for columns, fitted in self.parts]
        weights = np.zeros((len(forms[0][2]), self.D))
        for columns, w, _ in forms:
            weights[:, columns] = w
        return weights, sum(bias for _, _, bias in forms)

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        X = np.empty((len(k), self.D))
        for columns, fitted in self.parts:
            X[:, columns] = fitted.sample(k, rng)
        return X


@dataclass(frozen=True)
class Each:
    """One density for every feature by itself: turns any density into marginals for naive Bayes.

    >>> Each(Parzen(normal_reference))      # kernel marginals, a width for each class and feature

    Parameters
    ----------
    density : density
        Fitted to one column at a time; a row where the column is missing is left out.
    """

    density: object

    def fit(self, X, R) -> Product:
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        return Product(tuple((slice(j, j + 1), self._column(X[:, j:j + 1], R)) for j in range(X.shape[1])), X.shape[1])

    def _column(self, x, R):
        seen = ~np.isnan(x[:, 0])
        return _Observed(self.density.fit(x, R) if seen.all() else self.density.fit(x[seen], R[seen]), R.shape[1])


@dataclass(frozen=True)
class _Observed:
    """A density of one feature that says nothing where the feature is missing."""

    fitted: object
    K: int

    @property
    def n_parameters(self) -> int:
        return self.fitted.n_parameters

    def log_density(self, x) -> np.ndarray:
        return self._where_seen(x, self.fitted.log_density)

    def discriminant(self, x) -> np.ndarray:
        return self._where_seen(x, lambda x: discriminant(self.fitted, x))

    def sample(self, k, rng) -> np.ndarray:
        return self.fitted.sample(k, rng)

    def _where_seen(self, x, log_density) -> np.ndarray:
        seen = ~np.isnan(x[:, 0])
        if seen.all():
            return log_density(x)
        out = np.zeros((len(x), self.K))
        out[seen] = log_density(x[seen])
        return out


@dataclass(frozen=True)
class Histogram:
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

    @property
    def additive(self) -> bool:
        """Whether the fit is a sum over rows: if the bins are known beforehand."""
        return self.edges is not None

    def fit(self, X, R) -> "Bins":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        edges = self._edges(X)
        return self._solve(edges, self._table(edges, X, R))

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
            raise ClassError(f"a histogram is fitted within its edges, got {X[n, j]:g} in feature {{j}}: widen them", j=j)
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
        b = (rng.uniform(size=below.shape[:2])[:, :, None] * below[:, :, -1:] >= below).sum(axis=2)
        j = np.arange(len(widths))
        return self.edges[j, b] + rng.uniform(size=b.shape) * widths[j, b]

    def _looked_up(self, X, outside: float) -> np.ndarray:
        K, D, B = self.log_height.shape
        extra = np.broadcast_to([outside, 0.0], (K, D, 2))  # for the codes B (outside) and −1 (missing)
        tables = np.concatenate([self.log_height, extra], axis=2).transpose(1, 2, 0)
        return sum(table[column] for table, column in zip(tables, _bin(self.edges, X).T))


def _bin(edges, X) -> np.ndarray:
    """Number of the bin [e_b, e_{b+1}) of each value, the last bin closed; B outside, −1 for NaN."""
    B = edges.shape[1] - 1
    codes = np.stack([np.searchsorted(e, x, side="right") - 1 for e, x in zip(edges, X.T)], axis=1)
    codes[X == edges[:, -1]] = B - 1
    return np.where(np.isnan(X), -1, np.where((codes < 0) | (X > edges[:, -1]), B, codes))


def by_moments(x, weight, df: float | None) -> tuple[float, float, float]:
    """Location, scale and degrees of freedom ν whose mean, variance and, for an unknown ν, kurtosis are the data's.

    Var = σ²ν/(ν − 2) and excess kurtosis 6/(ν − 4); data with no excess give ν = ∞, a normal density.
    """
    mean = np.average(x, weights=weight)
    variance, fourth = (np.average((x - mean) ** p, weights=weight) for p in (2, 4))
    if df is None:
        excess = fourth / variance**2 - 3
        df = 4 + 6 / excess if excess > 0 else np.inf
    if df <= 2:
        raise ValueError(f"a Student density has no variance to match unless df > 2, got df={df}: use by_likelihood")
    return mean, float(np.sqrt(variance * (1 - 2 / df))), df


def by_likelihood(x, weight, df: float | None) -> tuple[float, float, float]:
    """Location, scale and, unless it is known, ν between 0.1 and 10⁴, of the largest likelihood."""
    from scipy.optimize import minimize
    centre, width = np.average(x, weights=weight), np.sqrt(np.average((x - np.average(x, weights=weight)) ** 2, weights=weight))
    z, share = (x - centre) / width, weight / weight.sum()
    bounds = [(z.min(), z.max()), (-14.0, 2.0)] + ([(np.log(0.1), np.log(1e4))] if df is None else [])
    start = [np.median(z), -0.3] + ([np.log(5.0)] if df is None else [])
    best = minimize(_minus_log_likelihood, start, (z, share, df), jac=True, method="L-BFGS-B", bounds=bounds,
                    options={"ftol": 1e-15, "gtol": 1e-10, "maxiter": 500})
    if best.x[1] < -13.9:
        raise ValueError("the likelihood of a Student density grows without bound as its scale shrinks, for too many "
                         "values are equal: give a larger df, or use another marginal")
    return centre + width * best.x[0], width * np.exp(best.x[1]), np.exp(best.x[2]) if df is None else df


def _minus_log_likelihood(parameters, x, share, df):
    """Average of −ln p over the rows and its gradient, in location, ln σ and (if ν is free) ln ν."""
    from scipy.special import digamma, gammaln
    sigma, nu = np.exp(parameters[1]), np.exp(parameters[2]) if df is None else df
    z = (x - parameters[0]) / sigma
    log_tail, pull = np.log1p(z**2 / nu), (nu + 1) / (nu + z**2)
    value = gammaln(nu / 2) - gammaln((nu + 1) / 2) + 0.5 * np.log(nu * np.pi) + np.log(sigma) + (nu + 1) / 2 * (share @ log_tail)
    slopes = [-(share @ (pull * z)) / sigma, 1 - share @ (pull * z**2)]
    slope_nu = (digamma(nu / 2) - digamma((nu + 1) / 2) + 1 / nu + share @ (log_tail - pull * z**2 / nu)) * nu / 2
    return value, np.array(slopes + ([slope_nu] if df is None else []))


@dataclass(frozen=True)
class StudentT:
    """Student t marginals, p(x) = Γ((ν+1)/2)/(Γ(ν/2)√(νπ) σ) (1 + z²/ν)^{−(ν+1)/2}, z = (x − μ)/σ: heavier tails.

    Parameters
    ----------
    df : float or None
        ν; if None, each class and feature has its own.
    estimate : function
        `by_likelihood` or `by_moments`, from values (n,), weights (n,) and ν or None to location, scale and ν.
    """

    df: float | None = None
    estimate: Callable = by_likelihood

    def fit(self, X, R) -> "StudentTs":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        each = np.array([[self._one(X, R, k, j) for j in range(X.shape[1])] for k in range(R.shape[1])])
        return StudentTs(*np.moveaxis(each, 2, 0))

    def _one(self, X, R, k: int, j: int):
        rows, weight = members(R, k)
        x = X[rows, j]
        keep = ~np.isnan(x) & (True if weight is None else weight > 0)
        x, weight = x[keep], np.ones(keep.sum()) if weight is None else weight[keep]
        if len(x) == 0 or x.min() == x.max():
            raise ClassError("the variance of feature {j} is zero in class {k}: drop the feature", k, j)
        try:
            return self.estimate(x, weight, self.df)
        except ValueError as fault:
            raise ClassError(f"feature {{j}} of class {{k}}: {fault}", k, j) from None


@dataclass(frozen=True)
class StudentTs:
    """Fitted Student t densities of D independent features."""

    mu: np.ndarray     # (K, D)
    sigma: np.ndarray  # (K, D)
    df: np.ndarray     # (K, D), ∞ for a normal

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together, ν among them."""
        return 3 * self.mu.size

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K); NaN is left out."""
        return np.stack([np.nansum(_log_t(X, *row), axis=1) for row in zip(self.mu, self.sigma, self.df)], axis=1)

    discriminant = log_density

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        t = np.where(np.isinf(self.df[k]), rng.standard_normal(self.mu[k].shape),
                     rng.standard_t(np.minimum(self.df[k], 1e9)))
        return self.mu[k] + self.sigma[k] * t


def _log_t(x, mu, sigma, nu):
    from scipy.special import betaln  # the difference of two gammaln would lose all digits for large ν
    z2, normal = ((x - mu) / sigma) ** 2, np.isinf(nu)
    nu = np.where(normal, 1.0, nu)
    tail = -betaln(nu / 2, 0.5) - 0.5 * np.log(nu) - (nu + 1) / 2 * np.log1p(z2 / nu)
    return np.where(normal, -(z2 + np.log(2 * np.pi)) / 2, tail) - np.log(sigma)


def _accept(X, features=None) -> None:
    pass
