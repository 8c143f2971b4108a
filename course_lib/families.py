"""Exponential families, p(x|θ) = exp((u(x)θ − c(θ))/φ + h(x, φ)): one table for naive Bayes and for GLMs.

Each family gives c, its derivatives c′ (``dc``, the mean) and c″ (``ddc``; φc″ is the variance), the inverse [c′]⁻¹
(``dc_inverse``), φ and h.  Maximum likelihood is [c′]⁻¹ of the mean, whatever the family.  As a density a family
describes D features that are independent given the class, for K classes at once.

>>> Poisson().fit(X, Labels(codes, K)).log_density(X)    # (N, K)

Source: McCullagh & Nelder, Generalized Linear Models, section 2.2; Wainwright & Jordan (2008), Graphical models,
exponential families, and variational inference, section 3.
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.affine import Affine
from course_lib.checks import finite
from course_lib.gaussian import DiagonalNormal, Gaussian
from course_lib.reduce import Additive
from course_lib.statistics import BLOCK, ClassError, Counts, DiagonalMoments, divide, slices
from course_lib.support import Support, check_observed, pieces

__all__ = ["Bernoulli", "Binomial", "Exponential", "ExponentialFamily", "Gamma", "Geometric", "Natural",
           "NegativeBinomial", "Normal", "Poisson"]


class ExponentialFamily(Support, Additive):
    """What the families share; a family is its table of functions and its support."""

    phi = 1.0
    block = 16 * BLOCK  # sums that need no room of their own
    plain = True       # u(x) is x itself

    @property
    def tags(self) -> dict:
        """What scikit-learn is told about X."""
        return {"positive_only": True, "categorical": self.whole}

    def u(self, X) -> np.ndarray:
        """The sufficient statistic, here x itself."""
        return X

    def h(self, x, phi=None) -> np.ndarray:
        """The part of the log density without θ, elementwise."""
        return np.zeros(np.shape(x))

    def c(self, theta):
        """The cumulant function, elementwise: what makes the density integrate to 1."""
        raise NotImplementedError

    def dc(self, theta):
        """c′(θ), the mean, elementwise."""
        raise NotImplementedError

    def ddc(self, theta):
        """c″(θ), elementwise; φc″(θ) is the variance."""
        raise NotImplementedError

    def dc_inverse(self, mean):
        """[c′]⁻¹(mean) = θ, elementwise; ±∞ on the edge of the support."""
        raise NotImplementedError

    def draw(self, mean, rng) -> np.ndarray:
        """One draw for each of the given means."""
        raise NotImplementedError

    def statistics(self, X, R) -> Counts:
        return Counts.of(self.u(X), R)

    def prior(self, s: Counts) -> tuple:
        """Count and total of the pseudo-observations: `smoothing` of them in each class, at the mean of all classes."""
        return self.smoothing, self.smoothing * divide(s.total.sum(axis=0), s.count.sum(axis=0))

    def solve(self, s: Counts) -> "Natural":
        """θ = [c′]⁻¹(mean), the mean taken over data and pseudo-observations; ±∞ on the edge of the support."""
        count, sum_ = self.prior(s)
        check_observed(s.mass, s.count + count)
        mean = (s.total + sum_) / (s.count + count)
        if not self.whole and (edge := (mean <= self.lower)).any():
            k, j = np.argwhere(edge)[0]
            raise ClassError(f"a {type(self).__name__} density needs a mean above {self.lower:g}, got only zeros in "
                             "feature {j} of class {k}: use smoothing > 0 or another family", k, j)
        with np.errstate(divide="ignore"):
            return Natural(self, self.dc_inverse(mean))

    def n_parameters(self, K: int, D: int) -> int:
        """Free parameters of K densities of D features."""
        return K * D


@dataclass(frozen=True)
class Natural:
    """K fitted densities of D independent features of one exponential family."""

    family: ExponentialFamily
    theta: np.ndarray  # (K, D); ±∞ where the mean lies on the edge of the support and x is certain

    @property
    def mean(self) -> np.ndarray:
        """c′(θ), (K, D)."""
        return self.family.dc(self.theta)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return self.family.n_parameters(*self.theta.shape)

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k) of the D features together, (N, K)."""
        out = self.discriminant(X)
        for rows in slices(*X.shape):
            out[rows] += np.nansum(self.family.h(self.family.u(X[rows]), self.family.phi), axis=1)[:, None]
        return out

    def discriminant(self, X) -> np.ndarray:
        """The log density without h, which is the same for all classes: Σ (xθ − c(θ))/φ, (N, K)."""
        out = np.empty((len(self.theta), len(X)))
        for rows in slices(*X.shape):
            self._block(self.family.u(X[rows]), out[:, rows])
        return out.T

    @cached_property
    def affine(self) -> Affine | None:
        """The discriminant of rows without missing values, if it is linear."""
        weights, c, certain = self._finite
        if certain.any() or not self.family.plain:
            return None
        return Affine(np.zeros(weights.shape[1]), -c.sum(axis=1), weights.T)

    def _block(self, X, out) -> None:
        weights, c, certain = self._finite
        np.matmul(weights, X.T, out=out)
        if np.isnan(out[0]).any():
            X, seen = np.nan_to_num(X, nan=0.0), (~np.isnan(X)).astype(np.float64)
            np.subtract(weights @ X.T, c @ seen.T, out=out)
        else:
            seen = 1.0
            out -= c.sum(axis=1)[:, None]
        if certain.any():
            out[self._impossible(X, seen).T > 0] = -np.inf

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights θ/φ (K, D) and bias −Σ c(θ)/φ (K,) of the discriminant."""
        weights, c, certain = self._finite
        if certain.any():
            k, j = np.argwhere(certain)[0]
            raise ClassError("class {k} has no finite weight for feature {j}, whose mean lies on the edge of the "
                             "support: use smoothing > 0", k, j)
        return weights, -c.sum(axis=1)

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        return self.family.draw(self.mean[k], rng)

    @cached_property
    def _finite(self):
        """θ/φ and c/φ, with 0 where θ is infinite, and where that is."""
        certain = np.isinf(self.theta)
        terms = (self.theta, self.family.c(self.theta))
        return *(np.where(certain, 0.0, term / self.family.phi) for term in terms), certain

    def _impossible(self, X, seen) -> np.ndarray:
        """How many features of each row a class excludes, (N, K)."""
        low, high = np.isneginf(self.theta), np.isposinf(self.theta)
        return ((X != self.family.lower) * seen) @ low.T + ((X != self.family.upper) * seen) @ high.T


def _softplus(theta):
    return np.logaddexp(0.0, theta)


def _sigmoid(theta):
    return np.exp(-np.logaddexp(0.0, -theta))


def _gammaln(x):
    from scipy.special import gammaln
    return gammaln(x)


class _Trials(ExponentialFamily):
    """Successes among n trials: θ = logit p, c = n ln(1 + e^θ), h = ln C(n, x)."""

    @property
    def upper(self) -> float:
        return float(self.n)

    def c(self, theta):
        return self.n * _softplus(theta)

    def dc(self, theta):
        return self.n * _sigmoid(theta)

    def ddc(self, theta):
        return self.n * _sigmoid(theta) * _sigmoid(-theta)

    def dc_inverse(self, mean):
        return np.log(mean / self.n) - np.log1p(-mean / self.n)

    def h(self, x, phi=None):
        return _gammaln(self.n + 1.0) - _gammaln(x + 1.0) - _gammaln(self.n - x + 1.0)

    def prior(self, s):
        return 2 * self.smoothing / self.n, self.smoothing

    def draw(self, mean, rng):
        return rng.binomial(self.n, mean / self.n).astype(np.float64)


@dataclass(frozen=True)
class Bernoulli(_Trials):
    """Zeros and ones: θ = logit p, c = ln(1 + e^θ), h = 0.

    Parameters
    ----------
    smoothing : float
        α added to the count of ones and to that of zeros: p = (Σx + α)/(n + 2α), a Beta prior.
    threshold : float or None
        If given, the feature is whether x > threshold.
    """

    smoothing: float = 0.0
    threshold: float | None = None

    n, h = 1, ExponentialFamily.h

    @property
    def tags(self):
        return {} if self.threshold is not None else super().tags

    @property
    def block(self) -> int:
        return BLOCK if self.threshold is not None else super().block

    @property
    def plain(self) -> bool:
        return self.threshold is None

    def u(self, X):
        return X if self.threshold is None else np.where(np.isnan(X), np.nan, X > self.threshold)

    def _outside(self, X):
        return np.zeros(X.shape, bool) if self.threshold is not None else super()._outside(X)

    def clean(self, X):
        if self.threshold is not None:
            return self.smoothing >= 0 and finite(X)
        return self.smoothing >= 0 and all(((x == 0) | (x == 1)).all() for x in pieces(X))


@dataclass(frozen=True)
class Binomial(_Trials):
    """Successes among n trials: θ = logit p, c = n ln(1 + e^θ), h = ln C(n, x).

    Parameters
    ----------
    n : int
        Trials a row.
    smoothing : float
        α added to the successes and to the failures: p = (Σx + α)/(Nn + 2α), N the number of rows.
    """

    n: int
    smoothing: float = 0.0

    def _complaint(self, value, top, feature):
        if value > top:
            return f"feature {feature} holds {value:g} successes in {self.n} trials: raise n or check the column"
        return super()._complaint(value, top, feature)


@dataclass(frozen=True)
class Poisson(ExponentialFamily):
    """Counts: θ = ln λ, c = e^θ, h = −ln x!; `smoothing` pseudo-rows at the mean of all classes."""

    smoothing: float = 0.0

    c = dc = ddc = np.exp
    dc_inverse = np.log

    def h(self, x, phi=None):
        return -_gammaln(x + 1.0)

    def draw(self, mean, rng):
        return rng.poisson(mean).astype(np.float64)


class _Failures(ExponentialFamily):
    """Failures before the r-th success, r = `size`: θ = ln μ/(r + μ), c = −r ln(1 − e^θ), h = ln Γ(x + r)/(Γ(r) x!)."""

    def c(self, theta):
        return -self.size * np.log(-np.expm1(theta))

    def dc(self, theta):
        return -self.size * np.exp(theta) / np.expm1(theta)

    def ddc(self, theta):
        return self.size * np.exp(theta) / np.expm1(theta) ** 2

    def dc_inverse(self, mean):
        return -np.log1p(self.size / mean)

    def h(self, x, phi=None):
        return _gammaln(x + self.size) - _gammaln(self.size) - _gammaln(x + 1.0)

    def draw(self, mean, rng):
        return rng.negative_binomial(self.size, self.size / (self.size + mean)).astype(np.float64)


@dataclass(frozen=True)
class Geometric(_Failures):
    """Failures before the first success, P(x) = p(1 − p)^x: θ = ln(1 − p), c = −ln(1 − e^θ), h = 0.

    Parameters
    ----------
    smoothing : float
        Pseudo-rows at the mean of all classes.
    """

    smoothing: float = 0.0

    size, h = 1, ExponentialFamily.h


@dataclass(frozen=True)
class NegativeBinomial(_Failures):
    """Failures before the r-th success: θ = ln μ/(r + μ), c = −r ln(1 − e^θ), h = ln Γ(x + r)/(Γ(r) x!).

    Parameters
    ----------
    size : float or None
        r; if None, every class and feature gets its own by maximum likelihood, which needs the rows themselves.
    smoothing : float
        Pseudo-rows at the mean of all classes; only with a known size.
    """

    size: float | None = None
    smoothing: float = 0.0

    @property
    def additive(self) -> bool:
        return self.size is not None

    def fit(self, X, R):
        from course_lib.searched import SizedNegativeBinomial
        return super().fit(X, R) if self.additive else SizedNegativeBinomial.fit(X, R)


class _Positive(ExponentialFamily):
    """Positive numbers: θ = −1/μ, c = −ln(−θ), φ = 1/a, h = a ln a + (a − 1) ln x − ln Γ(a)."""

    whole = False

    @property
    def phi(self) -> float:
        return 1.0 / self.shape

    def c(self, theta):
        return -np.log(-theta)

    def dc(self, theta):
        return -1.0 / theta

    def ddc(self, theta):
        return 1.0 / theta**2

    def dc_inverse(self, mean):
        return -1.0 / mean

    def h(self, x, phi=None):
        from scipy.special import xlogy
        a = 1.0 / (self.phi if phi is None else phi)
        return xlogy(a, a) + xlogy(a - 1.0, x) - _gammaln(a)

    def draw(self, mean, rng):
        return rng.gamma(self.shape, mean / self.shape)


@dataclass(frozen=True)
class Exponential(_Positive):
    """Waiting times, p(x) = e^{−x/μ}/μ: θ = −1/μ, c = −ln(−θ), h = 0; `smoothing` pseudo-rows at the overall mean."""

    smoothing: float = 0.0
    shape = 1.0


@dataclass(frozen=True)
class Gamma(_Positive):
    """Gamma with known shape a and mean μ: θ = −1/μ, c = −ln(−θ), φ = 1/a, h = a ln a + (a − 1) ln x − ln Γ(a).

    Parameters
    ----------
    shape : float
        a.
    smoothing : float
        Pseudo-rows at the mean of all classes.
    """

    shape: float
    smoothing: float = 0.0


@dataclass(frozen=True)
class Normal(ExponentialFamily):
    """Normal features: θ = μ, φ = σ², c = θ²/2, h = −x²/2φ − ½ ln 2πφ.

    Parameters
    ----------
    pool : "own" or "tied"
        A variance of each class, or one for all: φ_j = (1/N) Σ (x_j − mean of its own class)².
    divisor : "ml" or "unbiased"
        n, or n − 1 (N − K if tied).
    ridge : float
        A share of the largest overall variance of a feature, added to every variance.
    """

    pool: str = "own"
    divisor: str = "ml"
    ridge: float = 0.0

    whole, lower, tags = False, -np.inf, {}
    dc = dc_inverse = np.positive  # the identity

    def c(self, theta):
        return theta**2 / 2

    def ddc(self, theta):
        return np.ones(np.shape(theta))

    def h(self, x, phi=1.0):
        return -(x**2) / (2 * phi) - np.log(2 * np.pi * phi) / 2

    def statistics(self, X, R) -> DiagonalMoments:
        return DiagonalMoments.of(X, R)

    def solve(self, s: DiagonalMoments) -> DiagonalNormal:
        return self._gaussian.solve(s)

    def draw(self, mean, rng):
        return rng.normal(mean)

    def check(self, X, features=None) -> None:
        self._gaussian.check(X, features)

    def clean(self, X) -> bool:
        self.check(X)
        return finite(X)

    @property
    def _gaussian(self) -> Gaussian:
        return Gaussian("diagonal", self.pool, self.divisor, self.ridge)
