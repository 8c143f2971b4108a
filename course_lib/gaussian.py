"""Normal densities of any shape, with covariances of each class's own, pooled, or between the two.

>>> Gaussian().fit(X, Labels(codes, K))                             # quadratic discriminant analysis
>>> Gaussian(pool="tied").fit(X, Labels(codes, K))                  # linear discriminant analysis
>>> Gaussian(pool=rda(alpha=0.5, gamma=0.1)).fit(X, R)              # between, and towards a sphere
>>> Gaussian("diagonal").fit(X, R)                                  # naive Bayes; R soft: an M-step
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.reduce import Additive, split, total
from course_lib.statistics import ClassError, DiagonalMoments, Moments, Triangles, covariances, divide, slices, triangle

__all__ = ["DiagonalNormal", "FullNormal", "Gaussian", "NearlySingular", "Pool", "normal", "own", "rda", "tied"]

EPS = np.finfo(float).eps
NEAR = 1e4  # squared distance up to which expanding (x − μ)² about a common centre costs at most 4 of 16 digits


@dataclass(frozen=True)
class Pool:
    """How much of a class's own covariance is kept (alpha), and how far it moves to a sphere (gamma)."""

    alpha: float
    gamma: float = 0.0

    def __post_init__(self):
        if not (0 <= self.alpha <= 1 and 0 <= self.gamma <= 1):
            raise ValueError(f"alpha and gamma must lie in [0, 1], got {self.alpha} and {self.gamma}: alpha = 1 keeps "
                             "each class's own covariance, alpha = 0 pools them, gamma = 1 makes them spherical")


own, tied = Pool(1.0), Pool(0.0)


def rda(alpha: float, gamma: float = 0.0) -> Pool:
    """Regularised discriminant analysis: Σ_k(α) = αS_k + (1 − α)S_pooled, then (1 − γ)Σ + γ(tr Σ/D)I.

    Source: Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, section 4.3.1.
    """
    return Pool(alpha, gamma)


@dataclass(frozen=True)
class Gaussian(Additive):
    """K normal densities, ln p(x) = −½ (x − μ)ᵀΣ⁻¹(x − μ) − ½ ln |2πΣ|.

    Parameters
    ----------
    shape : "full", "diagonal" or "spherical"
        Of the covariance; a spherical one averages over the features: σ² = Σ|x − μ|²/(nD).
    pool : "own", "tied" or `rda(alpha, gamma)`
        A covariance of each class, one for all, or between.
    divisor : "ml" or "unbiased"
        n (N if tied), or n − 1 (N − K).
    ridge : float
        A share of the largest overall variance of a feature, added to every variance.
    floor : float or (D,)
        No variance, in any direction, falls below it; unlike a ridge it leaves the larger ones alone, which keeps the
        estimate a (constrained) maximum likelihood.

    Source: Bishop, Pattern Recognition and Machine Learning, sections 2.3 and 4.2.
    """

    shape: str = "full"
    pool: str | Pool = "own"
    divisor: str = "ml"
    ridge: float = 0.0
    floor: float = 0.0

    def statistics(self, X, R):
        self.check(X[:0])
        return Moments.of(X, R, pooled=self._pool.alpha == 0) if self.shape == "full" else DiagonalMoments.of(X, R)

    def solve(self, s) -> "DiagonalNormal | FullNormal":
        """The densities of given moments; raises `ClassError` where a variance is zero or a covariance singular."""
        self._check_mass(s)
        if isinstance(s, Triangles):
            return FullNormal(s.mean, np.stack(list(self._roots(s))), s.rest)
        return normal(s.mean, self.covariances(s), s.rest)

    def covariances(self, s) -> np.ndarray:
        """The estimate before it is factorised: (K, D, D), (K, D) or (K, 1) by shape; (1, ...) if tied."""
        mass = s.mass[:, None, None] if self.shape == "full" else s.count
        Sigma, gamma = covariances(s.scatter, mass, self._pool.alpha, self._unbiased), self._pool.gamma
        if self.shape == "full":
            sphere = np.trace(Sigma, axis1=1, axis2=2)[:, None, None] / Sigma.shape[1] * np.eye(Sigma.shape[1])
        else:
            sphere = Sigma.mean(axis=1, keepdims=True)
        Sigma = sphere if self.shape == "spherical" else (1 - gamma) * Sigma + gamma * sphere
        return _raised(_ridged(Sigma, self.ridge * s.overall.max()), self.floor)

    def fit(self, X, R):
        """As `Additive.fit`; nearly singular covariances take a second pass, which loses half as many digits."""
        try:
            return super().fit(X, R)
        except NearlySingular:
            pooled = self._pool.alpha == 0
            return self.solve(total(_Precise(pooled), split(X, R)))

    def check(self, X, features=None) -> None:
        if self.shape not in ("full", "diagonal", "spherical"):
            raise ValueError(f"shape must be 'full', 'diagonal' or 'spherical', got {self.shape!r}")
        if not isinstance(self.pool, Pool) and self.pool not in ("own", "tied"):
            raise ValueError(f"pool must be 'own', 'tied' or rda(alpha, gamma), got {self.pool!r}")
        if self.divisor not in ("ml", "unbiased"):
            raise ValueError(f"divisor must be 'ml' (n) or 'unbiased' (n - 1), got {self.divisor!r}")
        if not (self.ridge >= 0 and np.all(np.asarray(self.floor) >= 0)):
            raise ValueError(f"ridge and floor must be >= 0, got {self.ridge} and {self.floor}: they raise variances")

    @property
    def _pool(self) -> Pool:
        return self.pool if isinstance(self.pool, Pool) else {"own": own, "tied": tied}[self.pool]

    @property
    def _unbiased(self) -> bool:
        return self.divisor == "unbiased"

    def _check_mass(self, s) -> None:
        if (empty := s.mass == 0).any():
            raise ClassError("class {k} has no rows, so its density is unknown: drop the class or add rows",
                             empty.argmax())
        if self.shape != "full" and (s.count == 0).any():
            k, j = np.argwhere(s.count == 0)[0]
            raise ClassError("class {k} has no observed value of feature {j}: drop the feature or impute", k, j)
        if self.ridge > 0 or np.any(self.floor):
            return
        if self._pool.alpha == 0 and (N := s.mass.sum()) <= (K := len(s.mass)) and (self._unbiased or not s.scatter.any()):
            raise ClassError(f"the number of rows must exceed the number of classes, got {N:g} rows in {K} classes: add "
                             "rows or use a ridge")
        alone = (s.mass <= 1) & (self._unbiased or np.array([not a.any() for a in s.scatter]))
        if self._pool.alpha == 1 and alone.any():
            raise ClassError("class {k} has only 1 sample, so its variance cannot be estimated: add rows, pool the "
                             "classes (pool='tied'), or use a ridge", alone.argmax())

    def _roots(self, s: Triangles):
        """Roots of the covariances from the factors of their scatter, with no square taken on the way."""
        alpha, gamma, u = self._pool.alpha, self._pool.gamma, float(self._unbiased)
        common = np.sqrt((1 - alpha) / (s.mass.sum() - u * len(s.mass))) * s.factor
        for k, F in enumerate(s.factor):
            mine = np.sqrt(divide(alpha, np.maximum(s.mass[k] - u, 0))) * F
            root = triangle(mine, *(common if alpha < 1 else ()))
            sphere = gamma * (root**2).sum() / len(F) + self.ridge * s.overall.max()
            root = triangle(np.sqrt(1 - gamma) * root, np.sqrt(sphere) * np.eye(len(F)))
            _check_pivots(root, s.mean if alpha == 0 else s.mean[k], k)
            yield root


def normal(mean, covariance, rest=0.0) -> "DiagonalNormal | FullNormal":
    """K normal densities with given means (K, D) and covariances (K, D, D), variances (K, D) or (K, 1); (1, ...) if common.

    The means are mean + rest, `rest` being what rounding took from them.

    Raises
    ------
    ValueError
        If a covariance is not symmetric, or singular, or a variance is not positive.
    """
    mean, covariance = np.asarray(mean, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if covariance.ndim == 3:
        return FullNormal(mean, np.stack([_cholesky(Sigma, mean if len(covariance) < len(mean) else mean[k], k)
                                          for k, Sigma in enumerate(covariance)]), rest)
    if (zero := _vanishes(covariance, mean)).any():
        raise _zero_variance(*np.argwhere(zero)[0], own=len(covariance) == len(mean))
    return DiagonalNormal(mean, covariance, rest)


@dataclass(frozen=True)
class _Precise(Additive):
    pooled: bool

    def statistics(self, X, R) -> Triangles:
        return Triangles.of(X, R, self.pooled)


class NearlySingular(ClassError):
    """A covariance whose factor would keep too few digits if made from sums of squares."""


def _ridged(Sigma, ridge: float) -> np.ndarray:
    return Sigma + ridge * (np.eye(Sigma.shape[1]) if Sigma.ndim == 3 else 1.0)


def _raised(Sigma, floor) -> np.ndarray:
    """Σ with the eigenvalues of F^{-1/2} Σ F^{-1/2}, F = diag(floor), raised to at least 1."""
    if not np.any(floor):
        return Sigma
    if Sigma.ndim == 2:
        return np.maximum(Sigma, np.max(floor) if Sigma.shape[1] == 1 else floor)
    unit = np.sqrt(np.broadcast_to(np.asarray(floor, dtype=np.float64), Sigma.shape[1]))
    values, vectors = np.linalg.eigh(Sigma / np.outer(unit, unit))
    raised = (vectors * np.maximum(values, 1.0)[:, None, :]) @ np.swapaxes(vectors, 1, 2) * np.outer(unit, unit)
    return np.where((values.min(axis=1) < 1.0)[:, None, None], (raised + np.swapaxes(raised, 1, 2)) / 2, Sigma)


def _cholesky(Sigma, mean, k) -> np.ndarray:
    """Upper triangular root, Σ = rootᵀ root, of features scaled to variance 1, so that units do not matter."""
    from scipy.linalg.lapack import dpotrf
    if not np.allclose(Sigma, Sigma.T, rtol=0, atol=1e-10 * np.abs(Sigma).max()):
        raise ValueError(f"a covariance must be symmetric, got {Sigma.tolist()}: pass (A + A.T) / 2 if only rounding "
                         "differs")
    sd = np.sqrt(np.diag(Sigma))
    if (zero := np.atleast_2d(_vanishes(sd**2, mean)).all(axis=0)).any():
        raise _zero_variance(k, zero.argmax(), own=mean.ndim == 1)
    root, failed = dpotrf(Sigma / np.outer(sd, sd), lower=0, clean=1)
    pivots = np.diag(root) ** 2
    if failed or pivots.min() < 1e-8:
        raise _singular(NearlySingular, k, failed - 1 if failed else pivots.argmin(), own=mean.ndim == 1)
    return root * sd


def _check_pivots(root, mean, k) -> None:
    sd = np.linalg.norm(root, axis=0)
    if (zero := np.atleast_2d(_vanishes(sd**2, mean)).all(axis=0)).any():
        raise _zero_variance(k, zero.argmax(), own=mean.ndim == 1)
    noise = 10 * len(root) * EPS * (1 + np.abs(np.atleast_2d(mean)).max(axis=0) / sd)
    if (lost := np.abs(np.diag(root)) <= noise * sd).any():
        raise _singular(ClassError, k, lost.argmax(), own=mean.ndim == 1)


def _vanishes(variance, mean):
    """Whether a variance is zero but for the rounding of the values themselves."""
    return variance <= (8 * EPS * np.abs(mean)) ** 2


def _zero_variance(k, j, own: bool) -> ClassError:
    where = "class {k}" if own else "every class"
    return ClassError(f"the variance of feature {{j}} is zero in {where}: drop the feature, or use a ridge (such as "
                      "1e-9)" + (", or pool the classes" if own else ""), k, j)


def _singular(kind, k, j, own: bool) -> ClassError:
    whose = "covariance of class {k}" if own else "pooled covariance"
    return kind(f"the {whose} is not full rank: feature {{j}} is a linear combination of those before it; drop it, or "
                "use a ridge or rda(alpha, gamma)" + (", or pool the classes" if own else ""), k, j)


class _Linear:
    """What normal densities with one common covariance share: their discriminant may leave the quadratic term out."""

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights Σ⁻¹μ (K, D) and bias −½ μᵀΣ⁻¹μ (K,) of the linear discriminants; needs one common covariance."""
        if not self.tied:
            raise ValueError("the discriminants are linear only with one covariance for all classes, got one each: use "
                             "pool='tied'")
        weights = self._precise(self.mean)
        return weights, -np.einsum("kd,kd->k", weights, self.mean) / 2

    def discriminant(self, X) -> np.ndarray:
        """The log density, up to a term that is the same for all classes, (N, K)."""
        if not (self.tied and self._near):
            return self.log_density(X)
        weights = self._precise(self._shifted)
        if self._distance(self._centre[None]).max() <= NEAR:
            out = X @ weights.T
            out -= np.einsum("kd,kd->k", weights, self._shifted + 2 * self._centre) / 2
        else:
            out = np.empty((len(X), len(weights)))
            for rows in slices(*X.shape):
                out[rows] = (X[rows] - self._centre) @ weights.T
            out -= np.einsum("kd,kd->k", weights, self._shifted) / 2
        return self.log_density(X) if np.isnan(out[:, 0]).any() else out

    @cached_property
    def _centre(self) -> np.ndarray:
        return self.mean.mean(axis=0)

    @cached_property
    def _shifted(self) -> np.ndarray:
        return (self.mean - self._centre) + self.rest

    @cached_property
    def _near(self) -> bool:
        return bool(self._distance(self._shifted).max() <= NEAR)

    def _about_mean(self, X, k: int) -> np.ndarray:
        return X - self.mean[k] if isinstance(self.rest, float) or not self.rest[k].any() else (X - self.mean[k]) - self.rest[k]


def _add(out, bias) -> np.ndarray:
    out += bias
    return out


@dataclass(frozen=True)
class DiagonalNormal(_Linear):
    """K normal densities of D independent features."""

    mean: np.ndarray      # (K, D)
    variance: np.ndarray  # (K, D), or (1, D) if common to the classes; (K, 1) or (1, 1) if common to the features
    rest: np.ndarray | float = 0.0  # (K, D) what rounding took from the mean

    @property
    def tied(self) -> bool:
        return len(self.variance) == 1 < len(self.mean)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return self.mean.size + self.variance.size

    @property
    def covariance(self) -> np.ndarray:
        """(K, D, D), or (1, D, D) if common to the classes."""
        return self.variance[:, :, None] * np.eye(self.mean.shape[1])

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K); a missing feature (NaN) is integrated out."""
        out = np.empty((len(X), len(self.mean)))
        block = self._expanded if self._near else self._centred
        for rows in slices(*X.shape):
            out[rows] = block(X[rows])
        return out

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        sd = np.sqrt(np.broadcast_to(self.variance, self.mean.shape)[k])
        return self.mean[k] + sd * rng.standard_normal(sd.shape)

    def _precise(self, mean):
        return mean / self.variance

    def _distance(self, shift) -> np.ndarray:
        return (shift**2 / self.variance).sum(axis=1)

    @cached_property
    def _coefficients(self) -> np.ndarray:
        """(3D, K): what multiplies z², z and 1 in the log density of z = x − centre."""
        m, v = np.broadcast_arrays(self._shifted, self.variance)
        return np.concatenate([-0.5 / v, m / v, -0.5 * (m**2 / v + np.log(2 * np.pi * v))], axis=1).T

    def _expanded(self, X) -> np.ndarray:
        D = X.shape[1]
        Z = np.empty((len(X), 2 * D))
        np.subtract(X, self._centre, out=Z[:, D:])
        np.multiply(Z[:, D:], Z[:, D:], out=Z[:, :D])
        A = self._coefficients
        out = Z @ A[:2 * D]
        if not np.isnan(out[:, 0]).any():
            return _add(out, A[2 * D:].sum(axis=0))
        seen = ~np.isnan(X)
        return np.nan_to_num(Z, nan=0.0) @ A[:2 * D] + seen.astype(float) @ A[2 * D:]

    def _centred(self, X) -> np.ndarray:
        K, D = self.mean.shape
        variance = np.broadcast_to(self.variance, (K, D))
        terms = (self._about_mean(X, k) ** 2 / v + np.log(2 * np.pi * v) for k, v in enumerate(variance))
        return np.stack([-0.5 * np.nansum(term, axis=1) for term in terms], axis=1)


@dataclass(frozen=True)
class FullNormal(_Linear):
    """K normal densities, each with the upper triangular root of its covariance, Σ = rootᵀ root."""

    mean: np.ndarray  # (K, D)
    root: np.ndarray  # (K, D, D), or (1, D, D) if common to the classes
    rest: np.ndarray | float = 0.0  # (K, D) what rounding took from the mean

    @property
    def tied(self) -> bool:
        return len(self.root) == 1 < len(self.mean)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        D = self.mean.shape[1]
        return self.mean.size + len(self.root) * D * (D + 1) // 2

    @property
    def covariance(self) -> np.ndarray:
        """(K, D, D), or (1, D, D) if common to the classes."""
        return np.swapaxes(self.root, 1, 2) @ self.root

    @cached_property
    def whitener(self) -> np.ndarray:
        """root⁻¹, like `root`: (x − μ) root⁻¹ has unit covariance."""
        from scipy.linalg import solve_triangular
        return np.stack([solve_triangular(root, np.eye(len(root))) for root in self.root])

    @cached_property
    def log_norm(self) -> np.ndarray:
        """−½ ln |2πΣ|, (K,) or (1,)."""
        D = self.mean.shape[1]
        return -np.log(np.abs(np.einsum("kdd->kd", self.root))).sum(axis=1) - D / 2 * np.log(2 * np.pi)

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K)."""
        K, D = self.mean.shape
        out = np.empty((len(X), K))
        block = self._stacked if not self.tied and self._near else self._class_by_class
        for rows in slices(len(X), K * D):
            block(X[rows], out[rows])
        out *= -0.5
        return _add(out, self.log_norm)

    def _stacked(self, X, out) -> None:
        """Squared distances by one product for all classes."""
        W, moved = self._stack
        Z = ((X - self._centre) @ W - moved).reshape(len(X), *self.mean.shape)
        np.einsum("nkd,nkd->nk", Z, Z, out=out)

    @cached_property
    def _stack(self):
        moved = np.einsum("kd,kde->ke", self._shifted, self.whitener)
        return np.concatenate(list(self.whitener), axis=1), moved.ravel()

    def _class_by_class(self, X, out) -> None:
        for k in range(len(self.mean)):
            Z = self._about_mean(X, k) @ self.whitener[k if len(self.root) > 1 else 0]
            np.einsum("nd,nd->n", Z, Z, out=out[:, k])

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        Z = rng.standard_normal((len(k), self.mean.shape[1]))
        root = self.root[k if len(self.root) > 1 else np.zeros_like(k)]
        return self.mean[k] + np.einsum("ni,nij->nj", Z, root)

    def _precise(self, mean):
        return (mean @ self.whitener[0]) @ self.whitener[0].T

    def _distance(self, shift) -> np.ndarray:
        return (np.einsum("kd,jde->kje", shift, self.whitener) ** 2).sum(axis=2).ravel()
