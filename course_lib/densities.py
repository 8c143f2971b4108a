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
        affine: Affine | None                    # the discriminant as a function of x, where it is linear
        def sample(self, k, rng): ...            # k (n,) classes -> (n, D)

R one-hot is the supervised fit of a Bayes classifier, R soft the M-step of EM, R with scaled rows carries sample
weights, and one column of ones gives a plain density.  `Gaussian` and the families are densities too.

Source: Mitchell, Machine Learning, section 6.9 (independent features).
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Protocol

import numpy as np

from course_lib.affine import Affine
from course_lib.families import Normal
from course_lib.gaussian import Gaussian, Pool, normal, own, rda, tied
from course_lib.reduce import Additive
from course_lib.searched import StudentT, StudentTs
from course_lib.statistics import BLOCK, ClassError, slices
from course_lib.tables import Bins, Categorical, Histogram

__all__ = ["Additive", "Bins", "Categorical", "Density", "Each", "Fitted", "Gaussian", "Histogram", "Independent",
           "Pool", "Product", "StudentT", "StudentTs", "discriminant", "normal", "own", "rda", "tied"]


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
    """ln p(x|k) up to a term common to the classes; the log density itself where nothing is saved.

    Parameters
    ----------
    fitted : Fitted
        Parameters of K densities.
    X : (N, D)

    Returns
    -------
    (N, K)
    """
    return getattr(fitted, "discriminant", fitted.log_density)(X)


@dataclass(frozen=True)
class Independent(Additive):
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
    def block(self) -> int:
        """Numbers that `statistics` takes at once."""
        return min(getattr(m, "block", BLOCK) if len(self._listed) == 1 else BLOCK for m in self._listed)

    @property
    def tags(self) -> dict:
        """What scikit-learn is told about X."""
        marginals = {key: True for m in self._listed for key, value in getattr(m, "tags", {}).items() if value}
        return marginals | {"allow_nan": self.missing == "skip"}

    def fit(self, X, R) -> "Product":
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        return self._each(X.shape[1], lambda marginal, columns: marginal.fit(X[:, columns], R))

    def statistics(self, X, R) -> "Parts":
        """The sums of each marginal over X (N, D) with weights R (N, K)."""
        return Parts(tuple(m.statistics(X[:, columns], R) for m, columns in self._groups(X.shape[1])), X.shape[1])

    def solve(self, s: "Parts") -> "Product":
        """The marginals that best explain a sum of statistics."""
        parts = iter(s.parts)
        return self._each(s.D, lambda marginal, columns: marginal.solve(next(parts)))

    def check(self, X, features=None) -> None:
        """Raise ValueError if X (N, D) holds a value outside the support of its marginal."""
        if self.missing not in ("refuse", "skip"):
            raise ValueError(f"missing must be 'refuse' or 'skip', got {self.missing!r}")
        features = np.arange(X.shape[1]) if features is None else np.asarray(features)
        for rows in slices(*X.shape):
            for marginal, columns in self._groups(X.shape[1]):
                getattr(marginal, "check", _accept)(X[rows, columns], features[columns])

    def clean(self, X) -> bool:
        """Whether a glance at X (N, D) acquits it of all that `check` refuses, and of NaN and infinities."""
        return self.missing in ("refuse", "skip") and all(
            hasattr(marginal, "clean") and marginal.clean(X[rows, columns])
            for rows in slices(*X.shape, block=self.block) for marginal, columns in self._groups(X.shape[1]))

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

    parts: tuple  # one for each distinct marginal
    D: int        # number of features

    def __add__(self, other: "Parts") -> "Parts":
        return Parts(tuple(a + b for a, b in zip(self.parts, other.parts)), self.D)

    @property
    def mass(self) -> np.ndarray:
        """Σ r of each class, (K,)."""
        return self.parts[0].mass


@dataclass(frozen=True)
class Product:
    """Fitted marginals with the columns each describes."""

    parts: tuple  # of (columns, fitted)
    D: int        # number of features

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k) = Σ_d ln p_d(x_d|k), (N, K)."""
        return reduce(add, (fitted.log_density(X[:, columns]) for columns, fitted in self.parts))

    def discriminant(self, X) -> np.ndarray:
        """The log density up to a term common to the classes, (N, K)."""
        return reduce(add, (discriminant(fitted, X[:, columns]) for columns, fitted in self.parts))

    @cached_property
    def affine(self) -> Affine | None:
        """The discriminant of rows without missing values, if that of every marginal is linear."""
        forms = [getattr(fitted, "affine", None) for _, fitted in self.parts]
        if any(form is None for form in forms):
            return None
        centre, slopes = np.zeros(self.D), np.zeros((len(forms[0].level), self.D)).T
        for (columns, _), form in zip(self.parts, forms):
            centre[columns], slopes[columns] = form.centre, form.slopes
        return Affine(centre, sum(form.level for form in forms), slopes)

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


def _accept(X, features=None) -> None:
    pass
