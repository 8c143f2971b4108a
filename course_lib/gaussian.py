"""Normal densities of any shape, with covariances of each class's own, pooled, or between the two.

>>> Gaussian().fit(X, Labels(codes, K))                             # quadratic discriminant analysis
>>> Gaussian(pool="tied").fit(X, Labels(codes, K))                  # linear discriminant analysis
>>> Gaussian(pool=rda(alpha=0.5, gamma=0.1)).fit(X, R)              # between, and towards a sphere
>>> Gaussian("diagonal").fit(X, R)                                  # naive Bayes; R soft: an M-step
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.normal import DiagonalNormal, FullNormal, check_pivots, normal
from course_lib.reduce import Additive
from course_lib.statistics import BLOCK, ClassError, DiagonalMoments, Moments, Triangles, covariances, divide, triangle

__all__ = ["DiagonalNormal", "FullNormal", "Gaussian", "Pool", "normal", "own", "rda", "tied"]

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

    Parameters
    ----------
    alpha, gamma : float
        In [0, 1].

    Returns
    -------
    Pool

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
        if self.shape == "spherical":
            Sigma = Sigma.mean(axis=1, keepdims=True)
        elif gamma:
            Sigma = (1 - gamma) * Sigma + gamma * _sphere(Sigma)
        if self.ridge:
            Sigma = _ridged(Sigma, self.ridge * s.overall.max())
        return _raised(Sigma, self.floor)

    @property
    def block(self) -> int:
        """As `Additive.block`: own covariances copy the rows, sorted by class; pooled ones seldom copy any."""
        return 16 * BLOCK if self.shape != "full" else 4 * BLOCK if self._pool.alpha == 0 else 2 * BLOCK

    def fit_sums(self, summed) -> tuple:
        """As `Additive.fit_sums`; where a root would keep fewer than ten digits, the second pass restores them."""
        fitted, s = super().fit_sums(summed)
        if isinstance(fitted, FullNormal) and 1e-8 < fitted.least_pivot < 1e-5:
            fitted = self.solve(summed(self.precise))
        return fitted, s

    @property
    def precise(self) -> "_Precise":
        """The sums for nearly singular covariances, which lose half as many digits."""
        return _Precise(self._pool.alpha == 0)

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
        return self.pool if isinstance(self.pool, Pool) else {"tied": tied}.get(self.pool, own)

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
        N, K = s.mass.sum(), len(s.mass)
        if self._pool.alpha == 0 and N <= K and (self._unbiased or not s.scatter.any()):
            raise ClassError(f"the number of rows must exceed the number of classes, got {N:g} rows in {K} classes: "
                             "add rows or use a ridge")
        for k in np.flatnonzero(s.mass <= 1):
            if self._pool.alpha == 1 and (self._unbiased or not s.scatter[k].any()):
                raise ClassError("class {k} has only 1 sample, so its variance cannot be estimated: add rows, pool the "
                                 "classes (pool='tied'), or use a ridge", k)

    def _roots(self, s: Triangles):
        """Roots of the covariances from the factors of their scatter, with no square taken on the way."""
        alpha, gamma, u = self._pool.alpha, self._pool.gamma, float(self._unbiased)
        common = np.sqrt((1 - alpha) / (s.mass.sum() - u * len(s.mass))) * s.factor
        for k, F in enumerate(s.factor):
            mine = np.sqrt(divide(alpha, np.maximum(s.mass[k] - u, 0))) * F
            root = triangle(mine, *(common if alpha < 1 else ()))
            sphere = gamma * (root**2).sum() / len(F) + self.ridge * s.overall.max()
            root = triangle(np.sqrt(1 - gamma) * root, np.sqrt(sphere) * np.eye(len(F)))
            if np.any(self.floor):
                root = np.linalg.cholesky(_raised((root.T @ root)[None], self.floor)[0]).T
            check_pivots(root, s.mean if alpha == 0 else s.mean[k], k)
            yield root


@dataclass(frozen=True)
class _Precise(Additive):
    pooled: bool

    def statistics(self, X, R) -> Triangles:
        return Triangles.of(X, R, self.pooled)


def _sphere(Sigma) -> np.ndarray:
    """(tr Σ/D) I, or (tr Σ/D) where Σ is a row of variances."""
    if Sigma.ndim == 2:
        return Sigma.mean(axis=1, keepdims=True)
    return np.trace(Sigma, axis1=1, axis2=2)[:, None, None] / Sigma.shape[1] * np.eye(Sigma.shape[1])


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
