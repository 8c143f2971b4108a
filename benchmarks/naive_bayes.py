"""Fit and predict of the density classifiers, beside scikit-learn's for the same answer."""
import statistics
import time
import tracemalloc
import warnings

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB
from threadpoolctl import threadpool_limits

from course_lib import LDA, QDA, Bernoulli, Categorical, Multinomial, NaiveBayes, Normal, Poisson


def run(quick: bool = False) -> list[dict]:
    """Interleaved pairs, one BLAS thread on both sides; ratios are ours/theirs, with the quartiles of the pairs."""
    N, pairs = (20_000, 5) if quick else (100_000, 9)
    rows = []
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for K in (10, 2):
            for name, ours, theirs, X, y in problems(N, 20, K):
                rows.append({"method": name, "N×D×K": f"{N}×20×{K}"} | measured(ours, theirs, X, y, pairs))
    return rows


def problems(N: int, D: int, K: int):
    """Each method with its counterpart; Poisson has none and stands beside the multinomial, which does as much work."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    centre = 2 * rng.normal(size=(K, D))
    X = centre[y] + rng.normal(size=(N, D))
    counts = rng.poisson(np.exp(centre / 3)[y]).astype(float)
    ones, levels = (X > 0).astype(float), np.minimum(counts, 7)
    yield "Gaussian naive Bayes", NaiveBayes(Normal(ridge=1e-9)), GaussianNB(), X, y
    yield "Bernoulli", NaiveBayes(Bernoulli(smoothing=1)), BernoulliNB(), ones, y
    yield "multinomial", NaiveBayes(Multinomial(smoothing=1)), MultinomialNB(), counts, y
    yield "Poisson (to multinomial)", NaiveBayes(Poisson(smoothing=1)), MultinomialNB(), counts, y
    yield "categorical", NaiveBayes(Categorical(8, smoothing=1)), CategoricalNB(min_categories=8), levels, y
    yield "LDA", LDA(), LinearDiscriminantAnalysis(), X, y
    yield "QDA", QDA(), QuadraticDiscriminantAnalysis(), X, y


def measured(ours, theirs, X, y, pairs: int) -> dict:
    fit = ratios(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), pairs)
    predict = ratios(lambda: ours.predict(X), lambda: theirs.predict(X), pairs)
    one = ratios(lambda: ours.predict(X[:1]), lambda: theirs.predict(X[:1]), 20 * pairs)
    read = statistics.median(seconds(X.sum) for _ in range(pairs))
    return {"fit ms": 1e3 * fit["ours"], "fit ratio": spread(fit), "reads of X": fit["ours"] / read,
            "predict ratio": spread(predict), "one row": spread(one),
            "peak/X": peak(lambda: ours.fit(X, y)) / X.nbytes,
            "theirs peak/X": peak(lambda: theirs.fit(X, y)) / X.nbytes,
            "same labels": float(np.mean(ours.predict(X) == theirs.predict(X)))}


def ratios(first, second, pairs: int) -> dict:
    first(), second()
    times = np.array([(seconds(first), seconds(second)) for _ in range(pairs)])
    quartiles = np.quantile(times[:, 0] / times[:, 1], [0.25, 0.5, 0.75])
    return {"ours": float(np.median(times[:, 0])), "quartiles": quartiles}


def spread(pair: dict) -> str:
    low, middle, high = pair["quartiles"]
    return f"{middle:.3f} ({low:.3f}-{high:.3f})"


def seconds(f) -> float:
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def peak(f) -> int:
    """Bytes allocated at the worst moment, beyond what was there before."""
    tracemalloc.start()
    try:
        f()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
