"""Least squares, Fisher's projection and the perceptron beside scikit-learn's."""
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import RidgeClassifier

from benchmarks.measure import Problem, relative
from course_lib import FisherProjection, LeastSquaresClassifier, Perceptron
from course_lib.linear import signs


def problems(N: int, D: int, K: int):
    """K normal classes some deviations apart; two classes with a gap between them for the perceptron."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    X = 2 * rng.normal(size=(K, D))[y] + rng.normal(size=(N, D))
    yield Problem.of("least squares", LeastSquaresClassifier(signs), RidgeClassifier(alpha=1e-12), X, y,
                     fit=0.30, predict=0.75, agree=values)
    yield Problem.of("Fisher's projection", FisherProjection(), LinearDiscriminantAnalysis(), X, y,
                     fit=0.10, predict=0.50, agree=projections, verb="transform")
    X, y = separable(rng, N, D)
    yield Problem.of("perceptron", Perceptron(epochs=100),
                     TheirPerceptron(max_iter=100, tol=None, shuffle=False), X, y, fit=0.70, predict=1.0, agree=planes)


def separable(rng, N: int, D: int):
    """Rows (N, D) of two classes, no nearer to the plane between them than a tenth of a deviation."""
    X, w = rng.normal(size=(N, D)), rng.normal(size=D)
    w /= np.linalg.norm(w)
    value = X @ w
    return X + np.outer(0.1 * np.sign(value), w), (value > 0).astype(int)


def values(ours, theirs, X) -> float:
    """Difference of the fitted linear functions."""
    return relative((X @ ours.coef_.T + ours.intercept_).squeeze(), theirs.decision_function(X))


def projections(ours, theirs, X) -> float:
    """Difference of the projections, each direction up to its sign and length (R divides by N − K, they by N)."""
    one, other = ours.transform(X), theirs.transform(X)
    factor = (one * other).sum(axis=0) / (one**2).sum(axis=0)
    return relative(one * factor, other)


def planes(ours, theirs, X) -> float:
    """Difference of the normal vectors, both of length 1."""
    one, other = (np.append(m.coef_[0], m.intercept_) for m in (ours, theirs))
    return relative(one / np.linalg.norm(one), other / np.linalg.norm(other))
