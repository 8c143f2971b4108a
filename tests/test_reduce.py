"""Fits over blocks of rows."""
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import numpy as np
import pytest

from course_lib import (Binomial, Categorical, Exponential, Gamma, Gaussian, Geometric, Histogram,
                        Independent, Multinomial, NegativeBinomial, Normal, Poisson, rda)
from course_lib.reduce import split, total
from course_lib.statistics import Labels
from naming import named

ADDITIVE = [Gaussian(), Gaussian(pool="tied"), Gaussian(pool=rda(0.5, 0.1)), Gaussian("diagonal"),
            Gaussian("spherical", pool="tied"), Normal(), Normal(pool="tied", divisor="unbiased"), Binomial(40),
            Poisson(), Exponential(), Gamma(2.0), Geometric(), NegativeBinomial(2.0), Categorical(smoothing=1),
            Multinomial(), Histogram(edges=(0.0, 2.0, 5.0, 50.0), smoothing=1), Independent(Poisson()),
            Independent([Normal(), Poisson(), Normal()])]
additive = pytest.mark.parametrize("density", ADDITIVE, ids=named)


def problem(N=600):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 3, N)
    return rng.poisson([3.0, 5.0, 8.0], size=(N, 3))[np.arange(N)] + codes[:, None] * 1.0, Labels(codes, 3)


@additive
def test_chunks_equal_batch(density):
    X, R = problem()
    batch = density.fit(X, R).log_density(X)
    for rows in (1, 7, 599, 1000):
        chunked = density.solve(total(density, split(X, R, rows)))
        np.testing.assert_allclose(chunked.log_density(X), batch, rtol=1e-10)


@additive
def test_threads_equal_batch(density):
    X, R = problem()
    with ThreadPoolExecutor(2) as pool:
        chunked = density.solve(total(density, split(X, R, 100), map=pool.map))
    np.testing.assert_allclose(chunked.log_density(X), density.fit(X, R).log_density(X), rtol=1e-10)


def test_processes_equal_batch():
    X, R = problem()
    density = Independent([Normal(), Poisson(), Normal()])
    with ProcessPoolExecutor(1) as pool:
        chunked = density.solve(total(density, split(X, R, 200), map=pool.map))
    np.testing.assert_allclose(chunked.log_density(X), density.fit(X, R).log_density(X), rtol=1e-12)


@pytest.mark.parametrize("rows", [None, 1, 37, 10_000])
def test_blocks_hold_every_row_once_and_in_order(rows):
    X, R = problem()
    blocks = list(split(X, R, rows))
    np.testing.assert_array_equal(np.concatenate([x for x, _ in blocks]), X)
    np.testing.assert_array_equal(np.concatenate([r.codes for _, r in blocks]), R.codes)


def test_a_density_that_needs_its_rows_says_that_it_is_no_sum():
    from course_lib import NaiveBayes, StudentT
    for families in (StudentT(), [StudentT(), Normal()], Histogram(), NegativeBinomial()):
        model = NaiveBayes(families)
        assert not hasattr(model, "partial_fit")
    with pytest.raises(AttributeError, match="a sum over rows"):
        NaiveBayes(StudentT()).partial_fit
