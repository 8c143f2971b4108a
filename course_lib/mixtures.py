"""Mixtures of densities by the EM algorithm, as classes of a Bayes classifier, and as a network of radial functions.

Any density will do as component; `course_lib.expectation` holds the algorithm itself.

>>> Mixture(3, Gaussian("full")).fit(X, Labels(codes, K))           # K densities, each of three components
>>> MixtureClassifier(2, "diagonal").fit(X, y).as_network()         # its three layers
"""
from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from course_lib.bayes import BayesClassifier
from course_lib.densities import Density
from course_lib.expectation import Mixed, em, warned
from course_lib.gaussian import Gaussian
from course_lib.passes import Expected, Thin, em_passes, in_mixture
from course_lib.rbf import RBFNetwork, network
from course_lib.safeguards import WithBackground, at_floor, floored
from course_lib.starts import halved, plus_plus, reseeded
from course_lib.statistics import ClassError, members

__all__ = ["COMPONENTS", "Mixed", "Mixture", "MixtureClassifier", "Mixtures", "cross_validate", "em", "grow"]

COMPONENTS = {"diagonal": Gaussian("diagonal"), "full": Gaussian("full"), "tied": Gaussian("full", pool="tied"),
              "spherical": Gaussian("spherical"), "equal spherical": Gaussian("spherical", pool="tied")}


def grow(density: Density, X: np.ndarray, k_max: int, weight=None, **options) -> list[Mixed]:
    """Mixtures of 1, 2, …, k_max components, each the best that begins with one component more than the one before.

    The further component is tried where the mixture fits worst, and in one half of each component, cut across its
    longest axis.  Choose among the results by ``bic``, ``aic``, or the likelihood of other rows.

    Parameters
    ----------
    density : density
        Of the components, without a background.
    X : (N, D)
    k_max : int
    weight : (N,), optional
    **options
        Of `em`.

    Returns
    -------
    list of k_max mixtures

    Source: Verbeek, Vlassis & Kröse (2003), Neural Computation 15:469.
    """
    w = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    grown = [em(density, X, w[:, None], **options)]
    while len(grown) < k_max:
        R, log_p = grown[-1].expected(X, w)
        R = np.column_stack([R, np.zeros(len(X))])
        starts = [reseeded(X, R, log_p, -1), *(halved(X, R, j) for j in range(len(grown)))]
        grown.append(_best(density, (partial(em, density, X, start, **options) for start in starts)))
    return grown


def _best(density, fits) -> Mixed:
    """The most likely of several fits; a component at the floor is no merit, so one with it only if all have it."""
    results, fault = [], None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for fit in fits:
            try:
                results.append(fit())
            except ClassError as collapsed:
                fault = collapsed
    if not results:
        raise fault
    return warned(density, max(results, key=lambda m: (not at_floor(density, m.components).size, m.log_likelihood)))


@dataclass(frozen=True)
class Mixture:
    """K densities, each a mixture of components: EM within each class, from several k-means++ starts.

    Parameters
    ----------
    k : int or (K,) ints
        Components, of all classes or of each.
    density : density
        Of the components.
    floor : float
        Least variance of a component, as a share of the feature's variance over all classes; for `Gaussian` only.
    background : float in [0, 1)
        Share that a uniform component over the box of all rows starts with; 0 for none.
    trim, tol, max_iter
        As in `em`.
    starts : int
        The most likely of so many results is kept.
    seed : int
        Of the starts; every class draws from it anew.

    Source: McLachlan & Peel, Finite Mixture Models, chapters 2 and 3.
    """

    k: int | Sequence[int] = 2
    density: Density = Gaussian("diagonal")
    floor: float = 1e-6
    background: float = 0.0
    trim: float = 0.0
    starts: int = 3
    tol: float = 1e-6
    max_iter: int = 500
    seed: int = 0

    def fit(self, X: np.ndarray, R) -> "Mixtures":
        """Fit K mixtures to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        self.check(X)
        K = R.shape[1]
        if np.shape(self.k) not in ((), (K,)):
            raise ValueError(f"k must be one number of components or one a class, got {np.size(self.k)} for {K} "
                             "classes")
        density = floored(self.density, X, self.floor, R)
        if self.background:
            each = [(rows.min(axis=0), rows.max(axis=0)) for rows, _ in (_rows(X, R, c) for c in range(K))]
            density = WithBackground(density, np.min(each, axis=(0, 1)), np.max(each, axis=(0, 1)))
        k = np.broadcast_to(self.k, K).tolist()
        return Mixtures(tuple(self._one(density, *_rows(X, R, c), c, k[c]) for c in range(K)))

    def fit_sums(self, summed) -> tuple["Mixtures", Expected]:
        """As `fit`, for a table in pieces: a sample of it is fitted as a whole, and then all of it, a pass a step."""
        if self.background or self.trim or not getattr(self.density, "additive", False):
            raise ValueError("a mixture of a table in pieces needs components that are fitted by sums over rows, no "
                             f"background and no trimming, got {self}: fit a sample of the rows as arrays")
        sample = summed(Thin())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = self.fit(sample.X, sample.R)
        density = floored(self.density, sample.X, self.floor, sample.R)
        mixtures, s = em_passes(density, summed, start.classes, self.tol, self.max_iter)
        for mixed in mixtures:
            self._warn_early(warned(density, mixed))
        return Mixtures(mixtures), s

    def check(self, X, features=None) -> None:
        """Raise ValueError if a parameter is out of its range, or X (N, D) no data for the components."""
        for name in ("k", "starts", "max_iter"):
            value = np.asarray(getattr(self, name))
            if value.dtype.kind not in "iu" or (value < 1).any():
                raise ValueError(f"{name} must be at least 1, a whole number, got {getattr(self, name)}")
        for name, top in (("floor", np.inf), ("tol", np.inf), ("background", 1.0), ("trim", 1.0)):
            if not 0 <= getattr(self, name) < top:
                raise ValueError(f"{name} must lie in [0, {top:g}), got {getattr(self, name)}")
        getattr(self.density, "check", lambda X, features: None)(X, features)

    def _one(self, density, X, w, c, k) -> Mixed:
        try:
            best = _best(density, [*self._starts(density, X, w, k)])
        except ValueError as fault:
            raise in_mixture(fault, c) from None
        self._warn_early(best)
        return best

    def _warn_early(self, mixed) -> None:
        if not mixed.converged:
            warnings.warn(f"EM stopped after max_iter={self.max_iter} steps while it still gained more than "
                          f"tol={self.tol} a row: raise either", stacklevel=3)

    def _starts(self, density, X, w, k):
        rng = np.random.default_rng(self.seed)
        for _ in range(self.starts if k > 1 else 1):
            R = plus_plus(X, k, rng, w)
            if self.background:
                R = np.column_stack([(1 - self.background) * R.toarray(), np.full(len(X), self.background)])
            yield partial(em, density, X, R, w, self.tol, self.max_iter, self.trim)


def _rows(X, R, c) -> tuple[np.ndarray, np.ndarray]:
    """The rows of class c and their weights, without those of weight 0."""
    rows, w = members(R, c)
    X, w = X[rows], np.broadcast_to(1.0, len(rows)) if w is None else w
    if not w.any():
        raise ClassError("class {k} has no row with a positive weight: drop the class or add rows", c)
    return (X, w) if w.all() else (X[w > 0], w[w > 0])


@dataclass(frozen=True)
class Mixtures:
    """K fitted mixtures."""

    classes: tuple[Mixed, ...]  # (K,)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the mixtures together."""
        return sum(mixed.n_parameters for mixed in self.classes)

    def log_density(self, X) -> np.ndarray:
        """ln p(x|y) = ln Σ_j w_yj p_yj(x), (N, K)."""
        return np.column_stack([mixed.log_density(X) for mixed in self.classes])

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        drawn = [mixed.sample(int((k == c).sum()), rng) for c, mixed in enumerate(self.classes)]
        X = np.concatenate(drawn)
        out = np.empty_like(X)
        out[np.argsort(k, kind="stable")] = X
        return out


def cross_validate(mixture: Mixture, X: np.ndarray, ks: Sequence[int], folds: int = 5, seed: int = 0) -> np.ndarray:
    """Mean log density of rows left out, Σ_f Σ_{n∈f} ln p̂_{−f}(x_n)/N, for mixtures of k components.

    Parameters
    ----------
    mixture : Mixture
    X : (N, D)
        Its rows are dealt to the folds at random.
    ks : sequence of ints
    folds : int
    seed : int

    Returns
    -------
    (len(ks),)

    Source: Smyth (2000), Statistics and Computing 10:63.
    """
    fold = np.random.default_rng(seed).permutation(len(X)) % folds
    one = np.ones((len(X), 1))
    left_out = [[replace(mixture, k=k).fit(X[fold != f], one[fold != f]).log_density(X[fold == f]).sum()
                 for f in range(folds)] for k in ks]
    return np.sum(left_out, axis=1) / len(X)


class MixtureClassifier(BayesClassifier):
    """Bayes' rule with a mixture for each class, argmax λ_y P(y) Σ_j w_yj p_yj(x): a network of radial functions.

    Parameters
    ----------
    k : int or (K,) ints
        Components of every class, or of each.
    components : "diagonal", "full", "tied", "spherical", "equal spherical", or a density
        "tied" shares one full covariance among the components of a class, "equal spherical" one variance.
    floor, background, trim, starts, tol, max_iter, seed
        As in `Mixture`.
    priors, losses, reject
        As in `BayesClassifier`.

    Source: Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, sections 6.8 and 12.7.
    """

    def __init__(self, k=2, components="diagonal", floor=1e-6, background=0.0, trim=0.0, starts=3, tol=1e-6,
                 max_iter=500, seed=0, priors=None, losses=None, reject=None):
        self.k, self.components, self.floor = k, components, floor
        self.background, self.trim, self.starts = background, trim, starts
        self.tol, self.max_iter, self.seed = tol, max_iter, seed
        self.priors, self.losses, self.reject = priors, losses, reject

    def _density(self):
        named = isinstance(self.components, str)
        if named and self.components not in COMPONENTS:
            raise ValueError(f"components must be a density or one of {', '.join(COMPONENTS)}, got {self.components!r}")
        density = COMPONENTS[self.components] if named else self.components
        return Mixture(self.k, density, self.floor, self.background, self.trim, self.starts, self.tol, self.max_iter,
                       self.seed)

    @property
    def n_iter_(self) -> int:
        """Steps of EM, of the class that took most."""
        return max(len(mixed.history) for mixed in self.fitted_.classes)

    def as_network(self) -> RBFNetwork:
        """The same model written as three layers of radial functions; for normal components without a background."""
        return network(self.fitted_.classes, self.priors_, self.losses, self.classes_)
