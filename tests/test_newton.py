"""Newton's method: what is done for speed gives the optimum of the plain form."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.glm import family_of, link_of, pose
from course_lib.logistic import Softmax
from course_lib.newton import Cases, Design, Rows, corrected, inverse, newton

modest = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
MODELS = [("binomial", "logit"), ("binomial", "probit"), ("binomial", "cloglog"), ("poisson", "log"),
          ("gaussian", "identity"), ("gaussian", "log")]


def problem(seed, family, link, N=3000, D=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    eta = X @ rng.uniform(-0.5, 0.5, size=D) + 0.2
    t = {"binomial": eta + rng.logistic(size=N) > 0, "poisson": rng.poisson(np.exp(eta)),
         "gaussian": np.exp(eta) + 0.1 * rng.normal(size=N)}[family]
    return pose(X, t, family_of(family), link_of(family, link), weight=rng.uniform(0.5, 2, size=N))[0]


@pytest.mark.parametrize("family, link", MODELS)
@modest
@given(seed=seeds, keep=st.sampled_from([1e-5, 0.1, 0.5]))
def test_a_hessian_that_is_kept_leads_to_the_optimum_of_newtons_own_method(family, link, seed, keep):
    p = problem(seed, family, link)
    plain, kept = newton(p.local, p.start()), newton(p.local, p.start(), keep=keep)
    assert plain.converged and kept.converged
    np.testing.assert_allclose(kept.q, plain.q, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("family, link", MODELS)
@modest
@given(seed=seeds)
def test_a_rough_start_leads_to_the_optimum_from_anywhere(family, link, seed):
    p = problem(seed, family, link)
    assert p.cases.few(len(p.start())) is not None
    np.testing.assert_allclose(p.minimum().q, newton(p.local, p.start()).q, rtol=1e-11, atol=1e-12)


@modest
@given(seeds)
def test_a_rough_start_leads_to_the_optimum_of_a_softmax(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(2500, 3))
    y = (X @ rng.normal(size=(3, 4)) + rng.gumbel(size=(2500, 4))).argmax(axis=1)
    p = Softmax.of(*Cases.of(X, y), 4, 0.0)
    np.testing.assert_allclose(p.minimum().q, newton(p.local, p.start()).q, rtol=1e-10, atol=1e-11)


@modest
@given(seeds, st.integers(1, 6))
def test_a_corrected_inverse_takes_the_change_of_the_gradient_to_the_step(seed, M):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(M, 2 * M))
    B, s = inverse(A @ A.T), rng.normal(size=M)
    y = (A * rng.uniform(0.5, 2, size=2 * M)) @ A.T @ s  # of another positive definite Hessian
    after = corrected(B, s, y)
    np.testing.assert_allclose(after @ y, s, rtol=1e-8, atol=1e-8 * np.abs(B).max())
    np.testing.assert_allclose(after, after.T, atol=1e-10 * np.abs(after).max())
    assert np.linalg.eigvalsh(after).min() > 0
    assert corrected(B, s, -y) is B  # curved downwards: nothing can be learnt


@modest
@given(seeds, st.booleans())
def test_rows_multiply_as_if_their_column_of_ones_were_stored(seed, intercept):
    rng = np.random.default_rng(seed)
    x, r, c = rng.normal(size=(9, 3)), rng.normal(size=(2, 9)), rng.normal(size=9)
    Z, Y = np.column_stack([np.ones(9), x]) if intercept else x, Rows(x, intercept)
    q = rng.normal(size=(Z.shape[1], 2))
    np.testing.assert_allclose(Y @ q, Z @ q, atol=1e-12)
    np.testing.assert_allclose(r @ Y, r @ Z, atol=1e-12)
    np.testing.assert_allclose(Y.gram(c), (Z.T * c) @ Z, atol=1e-12)
    np.testing.assert_allclose(Y.gram(np.broadcast_to(0.5, 9)), 0.5 * Z.T @ Z, atol=1e-12)
    np.testing.assert_allclose(Y.outer(r.T), np.einsum("nk,nm->nkm", r.T, Z).reshape(9, -1), atol=1e-12)


@modest
@given(seeds, st.sampled_from([0.0, 30.0, 1e6]))
def test_a_design_describes_the_same_models_in_other_coordinates(seed, offset):
    rng = np.random.default_rng(seed)
    X = offset + rng.normal(size=(50, 3)) * [1, 1e-3, 1e3]
    design, q = Design.of(Cases.of(X, np.zeros(50))[0]), rng.normal(size=4)
    np.testing.assert_allclose(design(X) @ q, design.affine(q)(X), rtol=1e-9, atol=1e-9 * np.abs(q).max() * X.std())
    assert q @ design.penalty() @ q == pytest.approx(np.sum(design.slopes(q) ** 2), rel=1e-9)
