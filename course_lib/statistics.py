"""Sums over rows that can be added: s(all rows) = s(some) + s(the rest).

A model that needs only such sums can be fitted in one pass, in blocks, from a stream or on several machines, always
with the same result.  Each record has ``of(X, R)``, with X (N, D) and R (N, K) ≥ 0 the weight of row n in class k,
and ``+``.  R is an array, or `Labels` when each row belongs to one class.

Source: Chan, Golub & LeVeque (1983), Algorithms for computing the sample variance, The American Statistician 37;
Golub & Van Loan, Matrix Computations, section 5.2 (triangular factors).
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

__all__ = ["ClassError", "Counts", "DiagonalMoments", "Labels", "Moments", "Rows", "Triangles",
           "covariances", "divide", "members", "slices"]


class ClassError(ValueError):
    """A fault of class k or feature j; ``{k}`` and ``{j}`` in the text stand for them until their names are known."""

    def __init__(self, text: str, k=None, j=None):
        super().__init__(text.format(k=k, j=j))
        self.text, self.k, self.j = text, k, j

    def named(self, classes=None, features=None) -> "ClassError":
        """The same fault with ``classes[k]`` and ``features[j]`` in place of the numbers."""
        k, j = (value if names is None or value is None else _plain(names[value])
                for names, value in ((classes, self.k), (features, self.j)))
        return ClassError(self.text, k, j)

    def __reduce__(self):
        return ClassError, (self.text, self.k, self.j)


def _plain(name):
    name = name.item() if isinstance(name, np.generic) else name
    return repr(name) if isinstance(name, str) else name


DENSE = 10_000  # numbers


@dataclass(frozen=True)
class Labels:
    """The weight matrix R of rows with known classes, without its zeros: R[n, codes[n]] = weight[n]."""

    codes: np.ndarray  # (N,) in 0..K-1
    K: int             # number of classes
    weight: np.ndarray | None = None  # (N,), None for ones

    @property
    def shape(self) -> tuple[int, int]:
        """(N, K)."""
        return len(self.codes), self.K

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows) -> "Labels":
        return Labels(self.codes[rows], self.K, None if self.weight is None else self.weight[rows])

    @cached_property
    def T(self):
        """Rᵀ, (K, N): sparse, so that ``R.T @ X`` reads X once whatever K is, or an array where that is made sooner."""
        if self.K * len(self) <= DENSE:
            return np.equal(self.codes, np.arange(self.K)[:, None]) * (1.0 if self.weight is None else self.weight)
        from scipy.sparse import csc_array
        weight = np.ones(len(self)) if self.weight is None else self.weight
        ends = np.arange(len(self) + 1, dtype=self.codes.dtype)
        return csc_array((weight, self.codes, ends), shape=(self.K, len(self)))

    def sum(self, axis: int = 0) -> np.ndarray:
        """Column sums of R, (K,): the mass of each class."""
        return np.bincount(self.codes, self.weight, self.K).astype(np.float64)

    def toarray(self) -> np.ndarray:
        """R itself, (N, K)."""
        return np.equal(self.codes[:, None], np.arange(self.K)) * (1.0 if self.weight is None else self.weight[:, None])


def members(R, k: int):
    """The rows n with R_nk > 0, or all of them, and their weights.

    Parameters
    ----------
    R : (N, K) array or `Labels`
    k : int
        The class.

    Returns
    -------
    rows, weight : an index into the N rows, and (n,) weights or None for ones
    """
    if not isinstance(R, Labels):
        return slice(None), R[:, k]
    rows = np.flatnonzero(R.codes == k)
    return rows, None if R.weight is None else R.weight[rows]


def divide(a, b) -> np.ndarray:
    """a / b, and 0 where b = 0: the mean of nothing counts as 0 and has no weight when sums are merged.

    Parameters
    ----------
    a, b : (...)
        Of shapes that broadcast, a finite.

    Returns
    -------
    (...)
    """
    return a / np.where(np.equal(b, 0), np.inf, b)


BLOCK = 7 * 2**14  # numbers, 896 KB: what stays in a core's cache while it is worked on


def slices(n: int, width: int, least: int = 1, block: int = BLOCK):
    """Cut n rows of `width` numbers into blocks of max(block / width, least) rows.

    Parameters
    ----------
    n, width : int
    least : int
        Rows of a block at the least.
    block : int
        Numbers in a block, if `least` allows.

    Returns
    -------
    iterator of slices of 0..n−1
    """
    rows = max(block // max(width, 1), least)
    return (slice(start, start + rows) for start in range(0, n, rows))


@dataclass(frozen=True)
class Counts:
    """Sums of each feature in each class; NaN is left out, so `count` may differ from `mass`."""

    mass: np.ndarray  # (K,) Σ r
    count: np.ndarray  # (K, D) Σ r over the observed values
    total: np.ndarray  # (K, D) Σ r x

    @classmethod
    def of(cls, X, R) -> "Counts":
        """The counts of rows X (N, D) with weights R (N, K)."""
        mass, total = R.sum(axis=0), R.T @ X
        return cls(mass, *(_observed(X, R) if np.isnan(total).any() else (_everywhere(mass, X), total)))

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.mass + other.mass, self.count + other.count, self.total + other.total)


@dataclass(frozen=True)
class DiagonalMoments:
    """Means and centred sums of squares of each feature in each class, merged by Chan's formula."""

    mass: np.ndarray  # (K,)
    count: np.ndarray  # (K, D)
    mean: np.ndarray  # (K, D)
    scatter: np.ndarray  # (K, D) Σ r (x − mean)²
    rest: np.ndarray     # (K, D) what rounding took from the mean: the mean is mean + rest

    @classmethod
    def of(cls, X, R) -> "DiagonalMoments":
        """The moments of rows X (N, D), NaN where missing, with weights R (N, K)."""
        mass, centre = R.sum(axis=0), _centre(X[:64])
        s = cls._about(centre, mass, _everywhere(mass, X), *_sums(X, R, centre))
        if np.isnan(s.mean).any():
            count, total = _observed(X, R)
            s = cls(mass, count, divide(total, count), *2 * [np.full(total.shape, np.nan)])
        elif (s.count * (s.mean - centre) ** 2 <= 1e4 * s.scatter).all():  # the difference of squares keeps 12 digits
            return s
        return cls._about(s.mean, mass, s.count, *_sums(X, R, s.mean))

    @classmethod
    def _about(cls, centre, mass, count, first, second) -> "DiagonalMoments":
        """From Σ r z and Σ r z² of z = x − centre."""
        shift = divide(first, count)
        mean, rest = _two_sum(centre, shift)
        return cls(mass, count, mean, second - first * shift, rest)

    def __add__(self, other: "DiagonalMoments") -> "DiagonalMoments":
        count, mean, rest, delta, between = _merge(self.count, self, other.count, other)
        scatter = self.scatter + other.scatter + between * delta**2
        return DiagonalMoments(self.mass + other.mass, count, mean, scatter, rest)

    @property
    def overall(self) -> np.ndarray:
        """Variance of each feature over all classes together, (D,), divisor n."""
        centre = divide((self.count * self.mean).sum(axis=0), self.count.sum(axis=0))
        return divide((self.scatter + self.count * (self.mean - centre) ** 2).sum(axis=0), self.count.sum(axis=0))


@dataclass(frozen=True)
class Moments:
    """Mean and centred scatter matrix of each class, or one scatter matrix pooled over the classes.

    With R a column of ones and the targets among the columns of X, these are the normal equations of least squares.
    """

    mass: np.ndarray  # (K,)
    mean: np.ndarray  # (K, D)
    scatter: np.ndarray  # (K, D, D) Σ r (x − mean)(x − mean)ᵀ, or (1, D, D): their sum over the classes
    rest: np.ndarray     # (K, D) what rounding took from the mean: the mean is mean + rest

    @classmethod
    def of(cls, X, R, pooled: bool = False) -> "Moments":
        """The moments of rows X (N, D) with weights R (N, K); `pooled` sums the scatter over the classes."""
        mass = R.sum(axis=0)
        if pooled or not isinstance(R, Labels):
            mean, scatter, rest, lost = _about_one_centre(X, R, mass, pooled)
            if (lost <= 128 * np.einsum("kdd->kd", scatter)).all():  # the difference of squares costs 7 bits at most
                return cls(mass, mean, scatter, rest)
        mean = divide(R.T @ X, mass[:, None])
        scatter = np.stack([_outer(Z, weight) for Z, weight in _centred(X, R, mean)])
        squares = np.einsum("kdd->kd", scatter)
        rest = _rest(X, R, mean, mass[:, None], squares.sum(axis=0) if pooled else squares)
        if rest.any():
            scatter -= mass[:, None, None] * rest[:, :, None] * rest[:, None, :]
        return cls(mass, mean, scatter.sum(axis=0, keepdims=True) if pooled else scatter, rest)

    def __add__(self, other: "Moments") -> "Moments":
        mass, mean, rest, delta, between = _merge(self.mass[:, None], self, other.mass[:, None], other)
        moved = between * delta
        rise = (moved.T @ delta)[None] if len(self.scatter) < len(mass) else moved[:, :, None] * delta[:, None, :]
        return Moments(mass[:, 0], mean, self.scatter + other.scatter + rise, rest)

    @property
    def overall(self) -> np.ndarray:
        """Variance of each feature over all classes together, (D,), divisor n."""
        between = self.mass @ self.apart()[2] ** 2
        return (np.einsum("kdd->d", self.scatter) + between) / self.mass.sum()

    def apart(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The mean of all rows as centre (D,) + rest (D,), and the means of the classes less it, (K, D)."""
        centre = self.mass @ self.mean / self.mass.sum()
        means = (self.mean - centre) + self.rest
        rest = self.mass @ means / self.mass.sum()
        return centre, rest, means - rest


@dataclass(frozen=True)
class Triangles:
    """As `Moments`, with triangular factors F in place of the scatter FᵀF: twice the digits, at more cost."""

    mass: np.ndarray  # (K,)
    mean: np.ndarray  # (K, D)
    factor: np.ndarray  # (K, D, D) or (1, D, D), upper triangular
    rest: np.ndarray    # (K, D) what rounding took from the mean: the mean is mean + rest

    @classmethod
    def of(cls, X, R, pooled: bool = False) -> "Triangles":
        """The factors of rows X (N, D) with weights R (N, K); `pooled` makes one for all classes."""
        mass = R.sum(axis=0)
        mean = divide(R.T @ X, mass[:, None])
        roots = [Z if weight is None else np.sqrt(weight)[:, None] * Z for Z, weight in _centred(X, R, mean)]
        factor = np.stack([triangle(*roots)] if pooled else [triangle(root) for root in roots])
        return cls(mass, mean, factor, _rest(X, R, mean, mass[:, None], (factor**2).sum(axis=1)))

    def __add__(self, other: "Triangles") -> "Triangles":
        mass, mean, rest, delta, between = _merge(self.mass[:, None], self, other.mass[:, None], other)
        moved = np.sqrt(between) * delta
        rows = [moved] if len(self.factor) < len(mass) else moved[:, None, :]
        return Triangles(mass[:, 0], mean, np.stack([triangle(*r) for r in zip(self.factor, other.factor, rows)]), rest)

    @property
    def overall(self) -> np.ndarray:
        """Variance of each feature over all classes together, (D,), divisor n."""
        return Moments(self.mass, self.mean, self.scatter, self.rest).overall

    @property
    def scatter(self) -> np.ndarray:
        """FᵀF, as in `Moments`."""
        return np.swapaxes(self.factor, 1, 2) @ self.factor


@dataclass(frozen=True)
class Rows:
    """The rows themselves, for models that no fixed number of sums describes."""

    X: np.ndarray  # (N, D)
    R: np.ndarray  # (N, K)

    @classmethod
    def of(cls, X, R) -> "Rows":
        """The rows X (N, D) with weights R (N, K)."""
        return cls(X, R.toarray() if isinstance(R, Labels) else R)

    @property
    def mass(self) -> np.ndarray:
        """Σ r of each class, (K,)."""
        return self.R.sum(axis=0)

    def __add__(self, other: "Rows") -> "Rows":
        return Rows(np.concatenate([self.X, other.X]), np.concatenate([self.R, other.R]))


def covariances(scatter, mass, alpha: float, unbiased: bool) -> np.ndarray:
    """Own, pooled or mixed covariances, Σ_k(α) = α S_k/(n_k − u) + (1 − α) ΣS/(N − uK), u = 1 if unbiased, else 0.

    Parameters
    ----------
    scatter : (K, ...) or (1, ...)
        Centred sums of squares; one of them only if α = 0.
    mass : (K, ...)
        Number of rows, of a shape that divides `scatter`.
    alpha : float in [0, 1]
        Share of a class's own covariance.
    unbiased : bool
        Which divisor.

    Returns
    -------
    (K, ...), or (1, ...) if α = 0.

    Source: Friedman (1989), Regularized discriminant analysis, JASA 84.
    """
    taken = np.where(mass > 0, float(unbiased), 0.0)
    own = divide(scatter, np.maximum(mass - taken, 0)) if alpha > 0 else 0.0
    if alpha == 1:
        return own
    pooled = divide(scatter.sum(axis=0), np.maximum(mass.sum(axis=0) - taken.sum(axis=0), 0))[None]
    return alpha * own + (1 - alpha) * pooled


def triangle(*rows) -> np.ndarray:
    """Upper triangular F with FᵀF = AᵀA, where A stacks the given rows, by QR.

    Parameters
    ----------
    *rows : (n, D)

    Returns
    -------
    (D, D)
    """
    A = np.concatenate(rows)
    F = np.linalg.qr(A, mode="r")
    return np.concatenate([F, np.zeros((A.shape[1] - len(F), A.shape[1]))])


def _merge(n, one, m, other):
    """Chan, Golub & LeVeque (1979): mass, mean, its rest, shift of the mean, and the factor nm/(n+m) of its square."""
    total = n + m
    delta, share = (other.mean - one.mean) + (other.rest - one.rest), divide(m, total)
    mean, lost = _two_sum(one.mean, share * delta)
    return total, mean, lost + one.rest, delta, n * share


def _two_sum(a, b):
    """The rounded sum and what rounding took from it, by Knuth's formula."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _rest(X, R, mean, count, squares) -> np.ndarray:
    """What rounding took from the means; nothing worth a pass over X unless they lie 10⁴ deviations from 0."""
    if (mean**2 * count <= 1e8 * squares).all():
        return np.zeros(mean.shape)
    if isinstance(R, Labels):
        return divide(R.T @ _less(X, mean[R.codes]), count)
    return divide(np.stack([r @ (X - m) for r, m in zip(R.T, mean)]), count)


def _less(X, centres) -> np.ndarray:
    """X − centres, in the memory of the centres."""
    return np.subtract(X, centres, out=centres)


def _centre(X) -> np.ndarray:
    """The mean of some rows; or 0 if every feature has its mean within five deviations, which costs one digit."""
    mean = X.sum(axis=0) / max(len(X), 1)
    near = 26 * len(X) * mean**2 <= 25 * np.einsum("nd,nd->d", X, X)
    return np.zeros(1) if near.all() else mean


def _sums(X, R, centre):
    """Σ r z and Σ r z² of z = x − centre, (K, D) each; a centre (D,), or (K, D) for each class, with NaN left out."""
    both = np.zeros((2, R.shape[1], X.shape[1]))
    for rows in slices(*X.shape):
        for k, weights, Z in _about(X[rows], R[rows], centre):
            both[0, k] += weights @ Z
            both[1, k] += weights @ (Z * Z)
    return both


def _about(X, R, centre):
    """Classes with the weights of the rows and their differences from the centre."""
    if centre.ndim == 1:
        yield slice(None), R.T, X - centre if centre.any() else X
    elif isinstance(R, Labels):
        yield slice(None), R.T, _known(_less(X, centre.take(R.codes, axis=0)))
    else:
        yield from ((k, r, _known(X - m)) for k, (r, m) in enumerate(zip(R.T, centre)))


def _known(Z):
    """Z with 0 for NaN, in place."""
    return np.copyto(Z, 0.0, where=np.isnan(Z)) or Z


def _everywhere(mass, X):
    return np.repeat(mass[:, None], X.shape[1], axis=1)


def _observed(X, R):
    """Σ r and Σ r x over the values that are not NaN, (K, D) each."""
    both = np.zeros((2, R.shape[1], X.shape[1]))
    for rows in slices(len(X), 2 * X.shape[1]):
        weights = R[rows].T
        both += np.stack([weights @ (~np.isnan(X[rows])).astype(np.float64), weights @ np.nan_to_num(X[rows], nan=0.0)])
    return both


def _centred(X, R, mean):
    """Rows about the mean of their class, with weights (or None for ones), class by class."""
    if isinstance(R, Labels):
        order = np.argsort(R.codes.astype(np.min_scalar_type(R.K)), kind="stable")  # linear in N where K is small
        ends = np.cumsum(np.bincount(R.codes, minlength=R.K))[:-1]
        weights = [None] * R.K if R.weight is None else np.split(R.weight[order], ends)
        for Z, weight, m in zip(np.split(X.take(order, axis=0), ends), weights, mean):
            yield np.subtract(Z, m, out=Z), weight
    else:
        yield from ((X - m, weight) for weight, m in zip(R.T, mean))


def _about_one_centre(X, R, mass, pooled: bool):
    """Means, scatter and rest, as in `Moments`, from sums about one centre, and what the variances were taken from."""
    centre = _centre(X[:64])
    Z = X - centre if centre.any() else X
    first = R.T @ Z
    mean, rest = _two_sum(centre, divide(first, mass[:, None]))
    between = divide(first, np.sqrt(mass)[:, None])
    if pooled:
        total = _outer(Z, R.weight if isinstance(R, Labels) else R.sum(axis=1))[None]
        between = (between.T @ between)[None]
    else:
        total = sum(_outers(Z[rows], R[rows].T) for rows in slices(len(Z), first.size))
        between = between[:, :, None] * between[:, None, :]
    return mean, total - between, rest, np.einsum("kdd->kd", between)


def _outers(Z, weights) -> np.ndarray:
    """Σ r zzᵀ (K, D, D) for weights (K, n): one product serves all classes."""
    K, (n, D) = len(weights), Z.shape
    return ((weights[:, None, :] * np.ascontiguousarray(Z.T)).reshape(K * D, n) @ Z).reshape(K, D, D)


def _outer(Z, weight) -> np.ndarray:
    return Z.T @ (Z if weight is None else weight[:, None] * Z)
