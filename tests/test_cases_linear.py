"""Faults reported against other libraries: each report as it was made, and its whole kind as a property."""
import json
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from course_lib.glm import deviance, inverse_mills, irls, link_of
from course_lib.linear import (FisherProjection, LeastSquaresClassifier, NotSeparableWarning, Perceptron, perceptron,
                               rest_posterior, separating_plane, signs)
from course_lib.logistic import LogisticRegression, ProbitRegression, SoftmaxRegression
from course_lib.newton import SeparationWarning

CASES = {c["id"]: c for c in json.loads((Path(__file__).parent / "cases" / "numeric.json").read_text())}
modest = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def case(name):
    return CASES[name]["inputs"], CASES[name]["expected"], CASES[name]["rtol"]


def close(found, expected, rtol, atol=0.0):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def column(values):
    return np.array(values, dtype=float)[:, None]


# Fisher: number of directions and explained ratios (LDA-08) ---------------------------------------------------------

def test_LDA_08():
    given_, expected, rtol = case("LDA-08")
    fisher = FisherProjection().fit(given_["X"], given_["y"])
    close(fisher.eigenvalues_, expected["eig"], rtol)
    close(fisher.explained_variance_ratio_, expected["ratio"], rtol)
    with pytest.raises(ValueError, match="n_components must be between 1 and min"):
        FisherProjection(n_components=3).fit(given_["X"], given_["y"])


@modest
@given(seeds, st.integers(2, 5), st.integers(1, 6))
def test_there_are_min_of_K_minus_1_and_D_directions_and_their_ratios_sum_to_one(seed, K, D):
    rng = np.random.default_rng(seed)
    y = np.arange(12 * K) % K
    X = rng.normal(size=(12 * K, D)) + rng.normal(size=(K, D))[y]
    fisher = FisherProjection().fit(X, y)
    assert fisher.transform(X).shape == (len(X), min(K - 1, D))
    assert fisher.explained_variance_ratio_.sum() == pytest.approx(1, abs=1e-12)
    within = sum((X[y == k] - X[y == k].mean(axis=0)).T @ (X[y == k] - X[y == k].mean(axis=0)) for k in range(K))
    total = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    eigenvalues = np.sort(np.linalg.eigvals(np.linalg.solve(within, total - within)).real)[::-1]
    close(fisher.eigenvalues_, eigenvalues[: min(K - 1, D)], 1e-8, atol=1e-10)
    assert np.all(np.abs(eigenvalues[min(K - 1, D):]) < 1e-9 * eigenvalues[0] + 1e-12)
    with pytest.raises(ValueError, match="n_components"):
        FisherProjection(n_components=min(K - 1, D) + 1).fit(X, y)


# Separation (LOG-01, LOG-02) ------------------------------------------------------------------------------------------

def test_LOG_01():
    given_, _, _ = case("LOG-01")
    with pytest.warns(SeparationWarning, match="no maximum"):
        model = LogisticRegression().fit(column(given_["x"]), given_["y"])
    assert not model.converged_ and model.separated_
    assert np.isfinite(model.coef_).all() and np.isfinite(model.intercept_).all()
    assert model.score(column(given_["x"]), given_["y"]) == 1


@modest
@given(seeds, st.integers(1, 4), st.sampled_from([LogisticRegression, ProbitRegression, SoftmaxRegression]),
       st.booleans())
def test_separation_is_said_and_everything_stays_finite(seed, D, kind, quasi):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(40, D)), rng.normal(size=D)
    y = (X @ w > 0).astype(int)
    if quasi:  # both classes on the boundary itself
        X, y = np.vstack([X, np.zeros((2, D))]), np.r_[y, 0, 1]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = kind().fit(X, y)
    assert [w.category for w in caught] == [SeparationWarning]
    assert not model.converged_ and np.isfinite(model.coef_).all() and np.isfinite(model.predict_proba(X)).all()
    assert model.score(X, y) == (1 if not quasi else (len(y) - 1) / len(y))


@modest
@given(seeds, st.sampled_from([LogisticRegression, ProbitRegression, SoftmaxRegression]))
def test_a_level_with_one_class_only_is_said_however_many_rows_overlap(seed, kind):
    rng = np.random.default_rng(seed)
    level = np.arange(300) % 3
    y = np.where(level == 0, 1, rng.integers(2, size=300))
    with pytest.warns(SeparationWarning):
        model = kind().fit(np.eye(3)[level][:, 1:], y)
    shares = [y[level == k].mean() for k in (1, 2)]
    close(model.predict_proba(np.eye(3)[:, 1:])[:, 1], [1, *shares], 0, atol=1e-6)


def test_LOG_02():
    given_, expected, rtol = case("LOG-02")
    model = LogisticRegression(ridge=given_["ridge_lambda"]).fit(column(given_["x"]), given_["y"])
    close(model.coef_[0, 0], expected["w"], rtol)
    assert abs(model.intercept_[0]) < 1e-12
    # far more digits than the report: the root of the score 2(1 − σ(w)) + 4(1 − σ(2w)) = w
    root = mpmath.findroot(lambda w: 2 / (1 + mpmath.exp(w)) + 4 / (1 + mpmath.exp(2 * w)) - w, 1)
    close(model.coef_[0, 0], float(root), 1e-13)


@modest
@given(seeds, st.floats(1e-6, 1e3))
def test_a_ridge_makes_separable_problems_finite_and_leaves_the_intercept_alone(seed, ridge):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 2)) + 5
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LogisticRegression(ridge=ridge).fit(X, y)
    residual = model.predict_proba(X)[:, 1] - y
    assert abs(residual.sum()) < 1e-8  # the intercept's own equation has no penalty in it
    close(X.T @ residual + ridge * model.coef_[0], 0, 0, atol=1e-7 * (1 + ridge))


# Units and offsets (LOG-05) -------------------------------------------------------------------------------------------

def test_LOG_05():
    given_, expected, rtol = case("LOG-05")
    x = 1e6 + 1e-3 * np.array(given_["base"])
    close(LogisticRegression().fit(column(x), given_["y"]).predict_proba(column(x))[:, 1], expected["p"], rtol)
    base = LogisticRegression().fit(column(given_["base"]), given_["y"])
    close(np.r_[base.intercept_, base.coef_[0]], expected["b"], 1e-12)
    close(base.predict_proba(column(given_["base"]))[:, 1], expected["p"], 1e-12)


@modest
@given(seeds, st.sampled_from([LogisticRegression, ProbitRegression, SoftmaxRegression]),
       st.sampled_from([1e-6, 1.0, 1e6]), st.sampled_from([0.0, 1e3]))
def test_probabilities_do_not_depend_on_units_and_offsets(seed, kind, unit, shift):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(80, 3)), 3)
    y = (X @ [1, -1, 0.5] + rng.logistic(size=80) > 0).astype(int)
    moved = X * [unit, 1, 1 / unit] + shift * np.array([unit, 1, 1 / unit])
    close(kind().fit(moved, y).predict_log_proba(moved), kind().fit(X, y).predict_log_proba(X), 1e-9)


def test_probabilities_survive_an_offset_of_1e8():
    X = np.arange(60.0)[:, None] % 13  # whole numbers, so that the shifted data are exact
    y = (np.arange(60) * 7 % 13 > X[:, 0]).astype(int)
    close(LogisticRegression().fit(X + 1e8, y).predict_proba(X + 1e8), LogisticRegression().fit(X, y).predict_proba(X),
          1e-11)


# Dependent columns (LOG-06, LS-02) ------------------------------------------------------------------------------------

def test_LOG_06():
    given_, expected, rtol = case("LOG-06")
    X = np.column_stack([given_["x1"], given_["x2"]])
    with pytest.raises(ValueError, match=r"linearly independent.*\[1\].*ridge > 0"):
        LogisticRegression().fit(X, given_["y"])
    close(LogisticRegression().fit(X[:, :1], given_["y"]).predict_proba(X[:, :1])[:, 1], expected, rtol)
    # with a small ridge both columns share the weight and the probabilities are nearly those of one
    close(LogisticRegression(ridge=1e-9).fit(X, given_["y"]).predict_proba(X)[:, 1], expected, 1e-8)


@modest
@given(seeds, st.integers(1, 4), st.sampled_from([1.0, 1e6, 1e-6]))
def test_dependent_columns_are_refused_whatever_their_units(seed, D, unit):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(50, D))
    y = rng.integers(2, size=50)
    X = np.column_stack([X, unit * (X @ rng.normal(size=D) + 3)])
    for kind in (LogisticRegression, ProbitRegression, SoftmaxRegression):
        with pytest.raises(ValueError, match=f"linearly independent.*{D}.*ridge"):
            kind().fit(X, y)
    with pytest.raises(ValueError, match=f"feature {D} is a linear combination of those before it.*ridge"):
        FisherProjection().fit(X, y)
    with pytest.raises(ValueError, match="linearly independent"):
        irls(X, y, "gaussian")


@modest
@given(seeds)
def test_nearly_dependent_columns_are_fitted(seed):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(2, 60))
    y = (u + v + rng.logistic(size=60) > 0).astype(int)
    near = LogisticRegression().fit(np.column_stack([u, u + 1e-7 * v]), y)  # the same models as with u and v
    close(near.predict_proba(np.column_stack([u, u + 1e-7 * v])),
          LogisticRegression().fit(np.column_stack([u, v]), y).predict_proba(np.column_stack([u, v])), 1e-6)


def test_LS_02():
    given_, expected, rtol = case("LS-02")
    model = LeastSquaresClassifier(coding=signs).fit(given_["X"], given_["y"])
    close(model.decision_function(given_["X"]) / 2, expected, rtol)  # the difference of ŷ·(+1) and ŷ·(−1) is 2ŷ
    one = LeastSquaresClassifier(coding=signs).fit(column(given_["X"])[:, 0, :1], given_["y"])
    close(one.decision_function(column(given_["X"])[:, 0, :1]), model.decision_function(given_["X"]), 1e-12)


@modest
@given(seeds, st.integers(1, 3), st.sampled_from([1.0, 1e6, 1e-6]), st.integers(2, 4))
def test_least_squares_values_do_not_change_with_superfluous_columns(seed, D, unit, K):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(40, D)), np.arange(40) % K
    wide = np.column_stack([X, unit * X @ rng.normal(size=(D, 2)), np.full(40, 7.0)])
    close(LeastSquaresClassifier().fit(wide, y).decision_function(wide),
          LeastSquaresClassifier().fit(X, y).decision_function(X), 1e-9, atol=1e-11)


# One class (LOG-07) ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("kind", [LogisticRegression, ProbitRegression, SoftmaxRegression, LeastSquaresClassifier,
                                  Perceptron, FisherProjection])
def test_LOG_07_one_class_is_refused(kind):
    given_, _, _ = case("LOG-07")
    with pytest.raises(ValueError, match="only one class"):
        kind().fit(column(given_["x"]), given_["y"])


# Extremely unbalanced classes (LOG-08) --------------------------------------------------------------------------------

def test_LOG_08():
    given_, expected, rtol = case("LOG-08")
    y = np.repeat(np.arange(3), given_["counts"])
    model = SoftmaxRegression(ridge=1.0).fit(np.zeros((len(y), 1)), y)  # a constant feature leaves only the intercepts
    close(model.predict_proba([[0.0]])[0], expected, rtol)


@modest
@given(st.lists(st.integers(1, 10**6), min_size=2, max_size=6))
def test_intercepts_alone_reproduce_the_frequencies_of_the_classes(counts):
    counts = np.array(counts)
    model = SoftmaxRegression(ridge=1.0).fit(np.zeros((len(counts), 1)), np.arange(len(counts)), sample_weight=counts)
    close(model.predict_proba([[0.0]])[0], counts / counts.sum(), 1e-10)
    fit = irls(np.empty((1, 0)), [counts[0]], trials=[counts.sum()])
    close(fit.coef, np.log(counts[0] / counts[1:].sum()), 1e-9, atol=1e-10)


# The tails of the normal distribution (LOG-10, NUM-09, NUM-10) --------------------------------------------------------

def test_LOG_10():
    given_, expected, rtol = case("LOG-10")
    close(-deviance(given_["y"], given_["eta"], link="probit") / 2, expected, rtol)


def log_Phi(z):
    return float(mpmath.log(mpmath.ncdf(z)))


def test_NUM_09():
    given_, expected, rtol = case("NUM-09")
    for z, value in zip(given_["z"], expected):
        close(-deviance([1.0], [z], link="probit") / 2, value, 1e-13 if abs(value) > 1e-3 else 1e-9, atol=1e-17)
        assert log_Phi(z) == pytest.approx(value, rel=rtol)


def test_NUM_10():
    given_, expected, rtol = case("NUM-10")
    close(inverse_mills(given_["z"]), expected, rtol)


@modest
@given(st.floats(-300, 300))
def test_probit_keeps_its_digits_in_both_tails(eta):
    with mpmath.workdps(60):
        low, high, bell = mpmath.ncdf(-eta), mpmath.ncdf(eta), mpmath.npdf(eta)
        right, left = bell / high, bell / low
        exact = [mpmath.log(high) - mpmath.log(low), right + left, left * (left - eta) - right * (right + eta)]
    for found, value in zip(link_of("binomial", "probit").natural(np.array([eta])), exact):
        # the second derivative is the difference of two numbers near 1 + η², a few roundings of which remain
        close(found[0], float(value), 1e-12, atol=16 * np.finfo(float).eps * (1 + eta**2))
    assert inverse_mills(-abs(eta)) == pytest.approx(float(left if eta > 0 else right), rel=1e-13)


# One against the rest (NUM-07) ----------------------------------------------------------------------------------------

def test_NUM_07():
    given_, expected, rtol = case("NUM-07")
    close(rest_posterior([given_["scores"]])[0], expected, rtol)


@modest
@given(st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=6))
def test_normalised_sigmoids_sum_to_one_and_become_the_softmax_far_out(scores):
    p = rest_posterior([scores])[0]
    assert p.sum() == pytest.approx(1, abs=1e-12) and np.isfinite(p).all()
    far = np.array(scores) - max(scores) - 60
    close(rest_posterior([far])[0], softmax(far), 1e-10, atol=1e-300)


# The perceptron on what cannot be separated (PER-02) ------------------------------------------------------------------

def test_PER_02():
    given_, _, _ = case("PER-02")
    with pytest.warns(NotSeparableWarning, match="did not separate"):
        model = Perceptron(epochs=given_["max_epochs"]).fit(given_["X"], given_["y"])
    assert not model.converged_ and model.score(given_["X"], given_["y"]) <= 0.75


@modest
@given(seeds, st.integers(1, 3))
def test_the_perceptron_claims_to_have_converged_only_if_its_plane_separates(seed, D):
    rng = np.random.default_rng(seed)
    X, t = rng.integers(-3, 4, size=(8, D)).astype(float), np.r_[-1.0, 1.0, rng.choice([-1.0, 1.0], size=6)]
    run = perceptron(X, t, epochs=2000)
    assert run.converged == bool(np.all(t * run.plane.value(X) > 0))
    if separating_plane(X, t) is None:
        assert not run.converged
