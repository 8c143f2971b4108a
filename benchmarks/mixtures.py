"""EM for mixtures of normals beside scikit-learn's GaussianMixture: the same start, the same number of steps."""
from functools import partial

import numpy as np
from sklearn.mixture import GaussianMixture

from benchmarks.measure import Pair, Problem, relative
from course_lib.mixtures import COMPONENTS, Mixed, em

GRID = [(1_000, 20, 10), (10_000, 20, 10), (100_000, 20, 10), (100_000, 20, 2), (100_000, 100, 10), (1_000_000, 20, 10)]
NAMES = {"diagonal": "diag", "full": "full", "tied": "tied", "spherical": "spherical"}
TARGETS = {"diagonal": 0.60, "full": 0.50, "tied": 1.0, "spherical": 1.0}


def problems(N: int, D: int, K: int):
    """K components of each shape, from responsibilities halfway between what made the rows and knowing nothing."""
    rng = np.random.default_rng(0)
    codes = rng.integers(0, K, N)
    X = 2 * rng.normal(size=(K, D))[codes] + rng.normal(size=(N, D))
    R = 0.5 * np.eye(K)[codes] + 0.5 / K
    steps = 5 if N * D < 5e6 else 2
    for name, target in TARGETS.items():
        if N >= 1_000_000 and name not in ("diagonal", "full"):
            continue  # theirs takes minutes
        start = Mixed(R.mean(axis=0), COMPONENTS[name].fit(X, R))
        ours = partial(_ours, COMPONENTS[name], X, start, steps)
        theirs = GaussianMixture(K, covariance_type=NAMES[name], reg_covar=0, tol=0, max_iter=steps,
                                 weights_init=start.weight, means_init=start.components.mean,
                                 precisions_init=_precision(name, start.components.covariance))
        yield Problem(f"EM, {name} ({steps} steps)", (N, D, K), {"fit": Pair(ours, partial(theirs.fit, X), target)},
                      partial(_agreement, ours, theirs, X[:2_000]), X)


def _ours(density, X, start, steps):
    return em(density, X, start, tol=-np.inf, max_iter=steps)


def _precision(name, covariance):
    P = np.linalg.inv(covariance)
    return {"diagonal": np.einsum("kdd->kd", P), "spherical": P[:, 0, 0], "full": P, "tied": P[0]}[name]


def _agreement(ours, theirs, X) -> float:
    return relative(ours().log_density(X), theirs.score_samples(X))
