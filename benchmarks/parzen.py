"""Parzen windows beside scikit-learn's KernelDensity, one a class; their width beside a grid search by single rows.

KernelDensity is off by many nats where densities are low, so answers are compared with every term written out.
"""
from functools import partial

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, LeaveOneOut
from sklearn.neighbors import KernelDensity

from benchmarks.measure import Pair, Problem, relative
from course_lib.kernels import KERNELS
from course_lib.parzen import ParzenClassifier
from course_lib.widths import loo_log_likelihood, normal_reference

GRID = [(1_000, 2, 5), (10_000, 2, 5), (10_000, 3, 5), (10_000, 10, 5), (10_000, 20, 10), (100_000, 2, 5),
        (100_000, 10, 10)]
NAMES = {"gaussian": "gaussian", "uniform": "tophat", "epanechnikov": "epanechnikov"}
VARIANCE = {"gaussian": lambda D: 1, "uniform": lambda D: 1 / (D + 2), "epanechnikov": lambda D: 1 / (D + 4)}
LEFT_OUT = 200  # rows: each of them is a fold of the other side's search


class Densities:
    """What a user of KernelDensity writes: one a class, and the largest P(y) p(x|y)."""

    def __init__(self, h, kernel):
        self.h, self.kernel = h, kernel

    def fit(self, X, y):
        classes, counts = np.unique(y, return_counts=True)
        self.log_prior = np.log(counts / len(y))
        density = KernelDensity(bandwidth=self.h, kernel=self.kernel, rtol=0, atol=0)
        self.each = [clone(density).fit(X[y == c]) for c in classes]
        return self

    def log_joint(self, X):
        return np.column_stack([density.score_samples(X) for density in self.each]) + self.log_prior

    def predict(self, X):
        return self.log_joint(X).argmax(axis=1)


def problems(N: int, D: int, K: int):
    """Three kernels of the same variance, on as many rows as make twenty million distances; and the search for h."""
    rng = np.random.default_rng(0)
    centre, y = 2 * rng.normal(size=(K, D)), rng.integers(0, K, N)
    X, Q = (centre[codes] + rng.normal(size=(len(codes), D)) for codes in (y, rng.integers(0, K, 20_000_000 // N)))
    Q = Q[:5_000]
    sd = normal_reference(X[y == 0])
    for name, theirs in NAMES.items():
        h = sd / np.sqrt(VARIANCE[name](D))
        ours, theirs = ParzenClassifier(h, name), Densities(h, theirs)
        yield Problem(f"Parzen, {name}", (N, D, K), {
            "fit": Pair(partial(ours.fit, X, y), partial(theirs.fit, X, y), 1.0),
            "log density": Pair(partial(_call, ours, "log_joint", Q), partial(_call, theirs, "log_joint", Q), 0.35),
            "predict": Pair(partial(_call, ours, "predict", Q), partial(_call, theirs, "predict", Q), 0.35),
            "one row": Pair(partial(_call, ours, "predict", Q[:1]), partial(_call, theirs, "predict", Q[:1]), 1.0, 20),
        }, partial(_agreement, ours, X, y, Q[:200]))
    if N <= 1_000:
        yield _search(X[:LEFT_OUT], sd)


def _call(model, method, X):
    return getattr(model, method)(X)


def _agreement(ours, X, y, Q) -> float:
    """Every term of ln P(y) p(x|y) written out."""
    kernel, h = KERNELS[ours.kernel], ours.h
    t = cdist(Q, X, "sqeuclidean") / h**2
    with np.errstate(divide="ignore"):
        terms = -t / 2 if ours.kernel == "gaussian" else np.log(kernel.profile(t))
        exact = np.column_stack([logsumexp(terms[:, y == k], axis=1) for k in ours.classes_])
    return relative(ours.log_joint(Q), exact - np.log(len(X)) - X.shape[1] * np.log(h) - kernel.log_volume(X.shape[1]))


def _search(X, h) -> Problem:
    grid = h * 2.0 ** np.arange(-2, 2.5, 0.5)
    theirs = GridSearchCV(KernelDensity(rtol=0, atol=0), {"bandwidth": grid}, cv=LeaveOneOut())

    def agreement() -> float:
        d2 = cdist(X, X, "sqeuclidean")
        np.fill_diagonal(d2, np.inf)
        exact = [logsumexp(-d2 / (2 * v**2), axis=1).sum() for v in grid]
        norm = len(X) * (np.log(len(X) - 1) + X.shape[1] * np.log(np.sqrt(2 * np.pi) * grid))
        return relative(loo_log_likelihood(X, grid), exact - norm)

    return Problem("width by leaving one out", (*X.shape, 1), {
        "fit": Pair(partial(loo_log_likelihood, X, grid), partial(theirs.fit, X), 0.01)}, agreement)
