"""Logistic, softmax, probit and Poisson regression beside scikit-learn and statsmodels, to the same gradient norm."""
import warnings

import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.linear_model import PoissonRegressor

from benchmarks.measure import Pair, Problem, relative
from course_lib import GLM, LogisticRegression, ProbitRegression, SoftmaxRegression


GRID = [(1_000, 20, 2), (1_000, 20, 10), (10_000, 20, 2), (10_000, 20, 10), (100_000, 20, 10), (100_000, 100, 2),
        (1_000_000, 20, 2)]  # scikit-learn takes over half a minute for each of the larger softmax fits


def problems(N: int, D: int, K: int):
    """Labels drawn from the model itself, with moderate overlap; two classes also for probit and counts for Poisson."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)) + rng.normal(size=D)
    W = 1.5 * rng.normal(size=(D, K)) / np.sqrt(D)
    y = (X @ W + rng.gumbel(size=(N, K))).argmax(axis=1)
    if K > 2:
        yield Problem.of("softmax", SoftmaxRegression(), exact(K), X, y, fit=0.85, predict=1.0)
        return
    yield Problem.of("logistic", LogisticRegression(), exact(K), X, y, fit=0.60, predict=1.0)
    yield probit(X, y)
    counts = rng.poisson(np.exp(X @ W[:, 0] / 2)).astype(float)
    yield Problem.of("Poisson regression", GLM("poisson"), PoissonRegressor(
        alpha=0, solver="newton-cholesky", tol=1e-12, max_iter=1000), X, counts, K=1, fit=1.0, predict=1.0, agree=means)


def exact(K: int) -> Theirs:
    """The fastest solver of those that reach our gradient norm, 1e-12 and less; L-BFGS stops at some 1e-8."""
    return Theirs(C=np.inf, solver="newton-cholesky", tol=1e-12, max_iter=1000)


def probit(X, y) -> Problem:
    """statsmodels' Newton iteration, its quickest for this model; its column of ones is not timed in fits."""
    ours, design, their = ProbitRegression(), sm.add_constant(X), {}

    def predict(X):
        return their["fit"].predict(sm.add_constant(X, has_constant="add")) > 0.5

    def fit():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            their["fit"] = sm.Probit(y, design).fit(disp=0, method="newton", tol=1e-12)

    return Problem("probit", (*X.shape, 2), {
        "fit": Pair(lambda: ours.fit(X, y), fit, 0.50),
        "predict": Pair(lambda: ours.predict(X), lambda: predict(X), 1.0),
        "one row": Pair(lambda: ours.predict(X[:1]), lambda: predict(X[:1]), 1.0, calls=20),
    }, lambda: relative(np.r_[ours.intercept_, ours.coef_[0]], their["fit"].params), X)


def means(ours, theirs, X) -> float:
    """Relative difference of the expected counts."""
    return relative(ours.predict(X), theirs.predict(X), least=0.0)
