"""Marginals whose likelihood has no closed maximum: it is searched for, class by class and feature by feature.

Source: Lange, Little & Taylor (1989), Robust statistical modeling using the t distribution, JASA 84; Bliss & Fisher
(1953), Fitting the negative binomial distribution, Biometrics 9.
"""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from course_lib.statistics import ClassError, Counts, divide, members
from course_lib.support import check_observed

__all__ = ["SizedNegativeBinomial", "StudentT", "StudentTs", "by_likelihood", "by_moments"]


def by_moments(x, weight, df: float | None) -> tuple[float, float, float]:
    """Location, scale and degrees of freedom ν whose mean, variance and, for an unknown ν, kurtosis are the data's.

    Var = σ²ν/(ν − 2) and excess kurtosis 6/(ν − 4); data with no excess give ν = ∞, a normal density.

    Parameters
    ----------
    x, weight : (n,)
    df : float or None
        ν, if it is known.

    Returns
    -------
    mu, sigma, df : float

    Raises
    ------
    ValueError
        If df ≤ 2, where the density has no variance.
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
    """Location, scale and, unless known, ν of the largest likelihood: argmax Σ w ln p(x; μ, σ, ν), ν in [0.1, 10⁴].

    Parameters
    ----------
    x, weight : (n,)
    df : float or None
        ν, if it is known.

    Returns
    -------
    mu, sigma, df : float

    Raises
    ------
    ValueError
        If the likelihood has no maximum, for too many values are equal.
    """
    from scipy.optimize import minimize
    centre = np.average(x, weights=weight)
    width = np.sqrt(np.average((x - centre) ** 2, weights=weight))
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
    norm = gammaln(nu / 2) - gammaln((nu + 1) / 2) + 0.5 * np.log(nu * np.pi) + np.log(sigma)
    value = norm + (nu + 1) / 2 * (share @ log_tail)
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


@dataclass(frozen=True)
class SizedNegativeBinomial:
    """Negative binomial densities, each with its own size; the size is infinite, a Poisson, where data vary no more."""

    mu: np.ndarray    # (K, D)
    size: np.ndarray  # (K, D)

    @classmethod
    def fit(cls, X, R) -> "SizedNegativeBinomial":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        s = Counts.of(X, R)
        check_observed(s.mass, s.count)
        mu = s.total / s.count
        return cls(mu, np.array([[_best_size(x, r, m) for x, m in zip(X.T, means)]
                                 for r, means in zip(_columns(R), mu)]))

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return self.mu.size + self.size.size

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K); NaN is left out."""
        return np.stack([np.nansum(self._terms(X, m, r), axis=1) for m, r in zip(self.mu, self.size)], axis=1)

    discriminant = log_density

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        mu, size = self.mu[k], self.size[k]
        rate = np.where(np.isinf(size), mu, rng.gamma(np.where(np.isinf(size), 1.0, size)) * divide(mu, size))
        return rng.poisson(rate).astype(np.float64)

    @staticmethod
    def _terms(x, mu, r):
        from scipy.special import gammaln, xlogy
        poisson = xlogy(x, mu) - mu - gammaln(x + 1.0)
        r = np.where(np.isinf(r), 1.0, r) if (infinite := np.isinf(r)).any() else r
        own = (xlogy(x, mu / (r + mu)) - r * np.log1p(mu / r)
               + gammaln(x + r) - gammaln(r) - gammaln(x + 1.0))
        return np.where(infinite, poisson, own)


def _best_size(x, weight, mean: float) -> float:
    """The root r of Σ w [ψ(x + r) − ψ(r) − ln(1 + μ/r)], the score of the size at the best μ."""
    from scipy.optimize import brentq
    from scipy.special import digamma
    seen = ~np.isnan(x) & (weight > 0)
    values, where = np.unique(x[seen], return_inverse=True)
    w = np.bincount(where, weight[seen])

    def score(log_r):
        r = np.exp(log_r)
        return w @ (digamma(values + r) - digamma(r)) - w.sum() * np.log1p(mean / r)
    low, high = np.log(max(mean, 1e-300)) + np.array([-15.0, 15.0])
    excess = w @ (values - mean) ** 2 - w.sum() * mean
    return np.inf if excess <= 0 or score(high) >= 0 else float(np.exp(brentq(score, low, high, xtol=1e-13)))


def _columns(R) -> np.ndarray:
    return (R.toarray() if hasattr(R, "toarray") else R).T
