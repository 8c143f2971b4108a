"""Naive Bayes beside scikit-learn's; Poisson, which it lacks, beside the multinomial, which does as much work."""
import numpy as np
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from benchmarks.measure import Problem
from course_lib import Bernoulli, Categorical, Multinomial, NaiveBayes, Normal, Poisson


def problems(N: int, D: int, K: int):
    """Gaussian, Bernoulli, multinomial, Poisson and categorical features of K classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, N)
    centre = 2 * rng.normal(size=(K, D))
    X = centre[y] + rng.normal(size=(N, D))
    counts = rng.poisson(np.exp(centre / 3)[y]).astype(float)
    ones, levels = (X > 0).astype(float), np.minimum(counts, 7)
    yield Problem.of("Gaussian naive Bayes", NaiveBayes(Normal(ridge=1e-9)), GaussianNB(), X, y,
                     fit=0.20, predict=0.10 if K > 2 else 0.25)
    yield Problem.of("Bernoulli", NaiveBayes(Bernoulli(smoothing=1)), BernoulliNB(), ones, y, fit=0.10, predict=0.25)
    yield Problem.of("multinomial", NaiveBayes(Multinomial(smoothing=1)), MultinomialNB(), counts, y,
                     fit=0.20, predict=0.75)
    yield Problem.of("Poisson", NaiveBayes(Poisson(smoothing=1)), MultinomialNB(), counts, y,
                     fit=0.20, predict=0.75, agree=no_counterpart)
    yield Problem.of("categorical", NaiveBayes(Categorical(8, smoothing=1)), CategoricalNB(min_categories=8), levels, y,
                     fit=0.10, predict=0.45)


def no_counterpart(ours, theirs, X) -> None:
    """There is no other answer to compare with."""
