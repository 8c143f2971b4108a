"""Linear and quadratic discriminant analysis beside scikit-learn's."""
import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

from benchmarks.measure import Problem, relative
from course_lib import LDA, QDA


def problems(N: int, D: int, K: int):
    """K normal classes whose means lie some deviations apart; both libraries divide by N."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    X = 2 * rng.normal(size=(K, D))[y] + rng.normal(size=(N, D))
    yield Problem.of("LDA", LDA(), LinearDiscriminantAnalysis(), X, y, fit=0.15, predict=0.75, agree=odds)
    if N > 2 * K * D:  # fewer rows leave a class without a covariance
        yield Problem.of("QDA", QDA(), QuadraticDiscriminantAnalysis(), X, y, fit=0.30, predict=0.50, agree=odds)


def odds(ours, theirs, X) -> float:
    """Difference of the log odds, of which scikit-learn keeps more digits than of the probabilities."""
    one, other = (m.decision_function(X) for m in (ours, theirs))
    if one.ndim == 2:  # scores are known up to a term common to the classes
        one, other = (scores - scores.mean(axis=1, keepdims=True) for scores in (one, other))
    return relative(one, other)
