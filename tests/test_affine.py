"""Affine functions, pooled scatters and nearly singular roots against sums in exact arithmetic."""
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.affine import Affine
from course_lib.gaussian import Gaussian
from course_lib.statistics import Labels, Moments

modest = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def exact(X):
    return np.vectorize(Fraction, otypes=[object])(X)


@modest
@given(seeds, st.sampled_from([0.0, 1.0, 1e3, 1e8]), st.sampled_from([(), (3,)]))
def test_an_affine_function_keeps_its_digits_however_far_out_the_rows_lie(seed, offset, shape):
    rng = np.random.default_rng(seed)
    X, centre = offset + rng.normal(size=(6, 2)), offset + rng.normal(size=2)
    f = Affine(centre, rng.normal(size=shape), rng.normal(size=(2, *shape)))
    expected = exact(f.level) + (exact(X) - exact(centre)) @ exact(f.slopes)
    np.testing.assert_allclose(f(X), expected.astype(float), atol=1e-12)


@modest
@given(seeds, st.sampled_from([0.0, 1e8]))
def test_the_difference_of_two_functions_is_a_function(seed, offset):
    rng = np.random.default_rng(seed)
    X, centre = offset + rng.normal(size=(6, 3)), offset + rng.normal(size=3)
    f = Affine(centre, rng.normal(size=2), rng.normal(size=(3, 2)))
    np.testing.assert_allclose(f.difference(X), f(X)[:, 1] - f(X)[:, 0], atol=1e-13)


@modest
@given(seeds, st.sampled_from([0.0, 1e3, 1e8]), st.floats(0, 1e3), st.booleans())
def test_a_pooled_scatter_has_the_digits_of_rows_centred_class_by_class(seed, offset, apart, soft):
    rng = np.random.default_rng(seed)
    codes = np.arange(12) % 3
    X = offset + apart * rng.normal(size=(3, 2))[codes] + rng.normal(size=(12, 2))
    R = rng.dirichlet(np.ones(3), 12) if soft else Labels(codes, 3)
    weight = exact(R if soft else R.toarray())
    means = (weight.T @ exact(X)) / weight.sum(axis=0)[:, None]
    expected = sum((weight[:, [k]] * (exact(X) - means[k])).T @ (exact(X) - means[k]) for k in range(3)).astype(float)
    found = Moments.of(X, R, pooled=True)
    size = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(found.scatter[0] / size, expected / size, atol=1e-13)
    np.testing.assert_allclose((exact(found.mean) + exact(found.rest) - means).astype(float), 0, atol=1e-11)


@pytest.mark.parametrize("pool", ["own", "tied"])
@pytest.mark.parametrize("gap", [1e-2, 1e-3, 1e-5])
def test_nearly_dependent_features_keep_ten_digits(pool, gap):
    rng = np.random.default_rng(0)
    u, v = rng.integers(-2**20, 2**20, size=(2, 300)) / 2**20
    codes = np.arange(300) % 2
    gap = 2.0 ** round(np.log2(gap))  # a power of two, so that u + gap v is exact
    plain, near = (Gaussian(pool=pool).fit(np.column_stack(pair), Labels(codes, 2)) for pair in
                   ((u, v), (u, u + gap * v)))
    np.testing.assert_allclose(near.log_density(np.column_stack([u, u + gap * v])) + np.log(gap),
                               plain.log_density(np.column_stack([u, v])), atol=1e-10)  # an affine map of the rows
