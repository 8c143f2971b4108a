"""Logistic, probit, softmax and flipped-label regression against other libraries and their own likelihoods."""
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as Theirs
from sklearn.utils.estimator_checks import check_estimator

from course_lib.data import load
from course_lib.glm import deviance
from course_lib.logistic import (FlippedLogisticRegression, LogisticRegression, ProbitRegression, Softmax,
                                 SoftmaxRegression, flipped)
from course_lib.newton import Cases, SeparationWarning

modest = settings(max_examples=15, deadline=None)
seeds = st.integers(0, 2**32 - 1)
BINARY = [LogisticRegression, ProbitRegression]
ALL = [*BINARY, SoftmaxRegression]


def two_classes(seed, N=150, D=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    return X, (X @ rng.normal(size=D) + rng.logistic(size=N) > 0.3).astype(int), rng


def many_classes(seed, N=200, D=3, K=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, D))
    return X, (X @ rng.normal(size=(D, K)) + rng.gumbel(size=(N, K))).argmax(axis=1), rng


def theirs(C, X, y, weight=None):
    model = Theirs(C=C, tol=1e-14, max_iter=1000, solver="newton-cholesky")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, weight)


# Two classes ---------------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.sampled_from([0.0, 0.1, 10.0]))
def test_logistic_regression_agrees_with_scikit_learn(seed, ridge):
    X, y, rng = two_classes(seed)
    weight = rng.uniform(0.5, 2, size=len(y))
    ours, other = LogisticRegression(ridge).fit(X, y, weight), theirs(1 / ridge if ridge else np.inf, X, y, weight)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(ours.predict_log_proba(X), other.predict_log_proba(X), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.decision_function(X), other.decision_function(X), rtol=1e-9, atol=1e-10)


@modest
@given(seeds)
def test_probit_regression_agrees_with_statsmodels(seed):
    X, y, _ = two_classes(seed)
    ours, other = ProbitRegression().fit(X, y), sm.Probit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14)
    np.testing.assert_allclose(np.r_[ours.intercept_, ours.coef_[0]], other.params, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(ours.predict_proba(X)[:, 1], other.predict(), rtol=1e-9)


@pytest.mark.parametrize("kind", ALL)
@modest
@given(seed=seeds)
def test_weights_are_repetitions_and_order_does_not_matter(kind, seed):
    X, y, rng = two_classes(seed)
    weight, rows, columns = rng.integers(1, 4, size=len(y)), rng.permutation(len(y)), rng.permutation(3)
    plain = kind().fit(X, y, sample_weight=weight)
    repeated = kind().fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    mixed = kind().fit(X[rows][:, columns], y[rows], sample_weight=weight[rows])
    np.testing.assert_allclose(repeated.predict_proba(X), plain.predict_proba(X), rtol=1e-9)
    np.testing.assert_allclose(mixed.predict_proba(X[:, columns]), plain.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize("kind", BINARY)
def test_exchanging_the_classes_exchanges_the_posteriors(kind):
    X, y, _ = two_classes(1)
    np.testing.assert_allclose(kind().fit(X, 1 - y).predict_proba(X), kind().fit(X, y).predict_proba(X)[:, ::-1],
                               rtol=1e-10)


@pytest.mark.parametrize("kind", [*ALL, FlippedLogisticRegression])
def test_probabilities_stay_finite_and_sum_to_one_at_any_distance(kind):
    X, y, _ = two_classes(2)
    model = kind().fit(X, y)
    far = X * 10.0 ** np.arange(-1, 9).repeat(15)[:, None]
    p, log_p = model.predict_proba(far), model.predict_log_proba(far)
    np.testing.assert_allclose(p.sum(axis=1), 1, atol=1e-12)
    assert np.isfinite(log_p).all() and (log_p <= 0).all()


@pytest.mark.parametrize("kind", [*BINARY, FlippedLogisticRegression])
def test_three_classes_are_refused_with_the_remedy(kind):
    X, y, _ = many_classes(0)
    with pytest.raises(ValueError, match="Only binary classification.*got 4 classes; use SoftmaxRegression"):
        kind().fit(X, y)


@pytest.mark.parametrize("kind", [*ALL, FlippedLogisticRegression])
def test_a_negative_ridge_is_refused(kind):
    X, y, _ = two_classes(0)
    with pytest.raises(ValueError, match="ridge must be a finite number >= 0, got -1"):
        kind(ridge=-1).fit(X, y)


def test_a_large_sample_is_fitted_to_the_same_optimum_as_from_zero():
    """Above some size the search starts at the optimum of every tenth row; here these rows are of one class only."""
    X, y, _ = two_classes(3, N=6000)
    for labels in (y, np.where(np.arange(6000) % 10 == 0, 0, y)):
        ours, other = LogisticRegression().fit(X, labels), theirs(np.inf, X, labels)
        np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-9)
        softmax = SoftmaxRegression().fit(X, labels)
        np.testing.assert_allclose(softmax.coef_[1] - softmax.coef_[0], other.coef_[0], rtol=1e-9)


# K classes -----------------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.integers(3, 5), st.sampled_from([0.1, 3.0]))
def test_softmax_regression_with_a_ridge_agrees_with_scikit_learn(seed, K, ridge):
    X, y, _ = many_classes(seed, K=K)
    ours, other = SoftmaxRegression(ridge).fit(X, y), theirs(1 / ridge, X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), rtol=1e-9)


@modest
@given(seeds)
def test_softmax_regression_agrees_with_the_multinomial_logit_of_statsmodels(seed):
    X, y, _ = many_classes(seed)
    ours = SoftmaxRegression().fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        other = sm.MNLogit(y, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14, maxiter=100)
    W = np.column_stack([ours.intercept_, ours.coef_])
    np.testing.assert_allclose((W[1:] - W[0]).T, np.asarray(other.params), rtol=1e-9, atol=1e-9)
    assert np.sum(ours.predict_log_proba(X)[np.arange(len(y)), y]) == pytest.approx(other.llf, rel=1e-12)


@modest
@given(seeds, st.sampled_from([0.0, 1.0]))
def test_coefficients_sum_to_zero_and_follow_a_permutation_of_the_classes(seed, ridge):
    X, y, rng = many_classes(seed)
    model, order = SoftmaxRegression(ridge).fit(X, y), rng.permutation(4)
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(model.intercept_.sum(), 0, atol=1e-10)
    renamed = SoftmaxRegression(ridge).fit(X, order[y])
    np.testing.assert_allclose(renamed.coef_[order], model.coef_, rtol=1e-8, atol=1e-9)


@modest
@given(seeds, st.sampled_from([0.0, 2.0]))
def test_the_softmax_of_two_classes_is_the_logistic_function_of_their_difference(seed, ridge):
    X, y, _ = two_classes(seed)
    softmax, logistic = SoftmaxRegression(2 * ridge).fit(X, y), LogisticRegression(ridge).fit(X, y)
    # w₁ = −w₀ = w/2, so that the two penalties of 2·ridge are ridge·‖w‖²/2
    np.testing.assert_allclose(softmax.coef_[1] - softmax.coef_[0], logistic.coef_[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(softmax.predict_proba(X), logistic.predict_proba(X), rtol=1e-9)


@modest
@given(seeds, st.sampled_from([0.0, 1.5]))
def test_gradient_and_hessian_of_the_softmax_are_derivatives_and_the_products_agree(seed, ridge):
    X, y, rng = many_classes(seed, N=40)
    problem = Softmax.of(*Cases.of(X, y, rng.uniform(0.5, 2, size=40)), 4, ridge)
    q, h = rng.normal(size=12), 1e-5
    at = problem.local(q)
    slope = [(problem.local(q + d).value - problem.local(q - d).value) / (2 * h) for d in h * np.eye(12)]
    curve = [(problem.local(q + d).gradient - problem.local(q - d).gradient) / (2 * h) for d in h * np.eye(12)]
    np.testing.assert_allclose(at.gradient, slope, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(at.step(), -np.linalg.solve(curve, at.gradient), rtol=1e-4, atol=1e-6)
    products = [problem.times_hessian(q, e.reshape(4, 3)).ravel() for e in np.eye(12)]
    np.testing.assert_allclose(products, curve, rtol=1e-5, atol=1e-8)
    assert np.linalg.eigvalsh(np.array(products)).min() > 0  # identified: a common shift has been taken out


@modest
@given(seeds, st.sampled_from([0.0, 0.5]))
def test_conjugate_gradients_reach_the_optimum_of_the_factorised_hessian(seed, ridge):
    X, y, _ = many_classes(seed)
    factorised = SoftmaxRegression(ridge).fit(X, y)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Softmax, "SMALL", 0)
        conjugate = SoftmaxRegression(ridge).fit(X, y)
    np.testing.assert_allclose(conjugate.coef_, factorised.coef_, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("small", [500, 0])
def test_a_start_that_is_already_the_optimum_is_recognised(small, monkeypatch):
    monkeypatch.setattr(Softmax, "SMALL", small)
    model = SoftmaxRegression().fit([[-1.0], [1.0]] * 3, [0, 0, 1, 1, 2, 2])
    assert model.converged_ and model.n_iter_ <= 1
    np.testing.assert_allclose(model.coef_, 0, atol=1e-12)


def test_a_class_that_can_be_separated_from_the_others_is_said():
    X, y, _ = many_classes(1, K=3)
    X, y = np.vstack([X, [[50.0, 0, 0], [51.0, 1, 0]]]), np.r_[y, 3, 3]
    with pytest.warns(SeparationWarning):
        model = SoftmaxRegression().fit(X, y)
    assert model.separated_ and not model.converged_ and np.isfinite(model.predict_log_proba(X)).all()
    inner = SoftmaxRegression().fit(X[:-2], y[:-2])  # the limit treats the other classes as if that one were not there
    np.testing.assert_allclose(model.predict_proba(X[:-2])[:, :3], inner.predict_proba(X[:-2]), atol=1e-6)


@pytest.mark.parametrize("small", [500, 0])
def test_no_second_copy_of_the_data_is_made(small, monkeypatch):
    monkeypatch.setattr(Softmax, "SMALL", small)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120_000, 40))  # what a block takes does not grow with their number
    y = (X[:, :3] + rng.gumbel(size=(120_000, 3))).argmax(axis=1)
    problem = Softmax.of(*Cases.of(X, y), 3, 0.0)
    tracemalloc.start()
    problem.local(np.zeros(82)).step()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * X.nbytes


# Flipped labels ------------------------------------------------------------------------------------------------------

def noisy(seed, flip, N=1500):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    t = (rng.uniform(size=N) < expit(X @ [3.0, -2.0] + 0.5)).astype(int)
    return X, np.where(rng.uniform(size=N) < flip, 1 - t, t)


def log_likelihood(epsilon, w, X, t):
    p = epsilon + (1 - 2 * epsilon) * expit(w[0] + X @ w[1:])
    return np.sum(np.log(np.where(t == 1, p, 1 - p)))


@modest
@given(st.floats(-30, 30), st.floats(1e-6, 0.49))
def test_the_link_is_that_of_a_flipped_logistic_mean(eta, epsilon):
    mean = epsilon + (1 - 2 * epsilon) * expit(eta)
    theta, first, second = (np.ravel(v)[0] for v in flipped(epsilon).natural(np.array([eta])))
    assert expit(theta) == pytest.approx(mean, rel=1e-9)
    slope = (1 - 2 * epsilon) * expit(eta) * expit(-eta)
    assert first == pytest.approx(slope / (mean * (1 - mean)), rel=1e-8, abs=1e-12)
    h = 1e-5
    around = flipped(epsilon).natural(np.array([eta - h, eta + h]))[1]
    assert second == pytest.approx((around[1] - around[0]) / (2 * h), rel=1e-5, abs=1e-8)


def test_without_flips_it_is_logistic_regression():
    X, t = noisy(0, 0.1)
    flipped_never, plain = FlippedLogisticRegression(flip=0.0).fit(X, t), LogisticRegression().fit(X, t)
    np.testing.assert_allclose(flipped_never.coef_, plain.coef_, rtol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_a_learned_flip_is_the_maximum_of_the_joint_likelihood(seed):
    X, t = noisy(seed, 0.1)
    model = FlippedLogisticRegression().fit(X, t)
    w = np.r_[model.intercept_, model.coef_[0]]
    best = minimize(lambda v: -log_likelihood(np.exp(v[0]) / 2 / (1 + np.exp(v[0])), v[1:], X, t), [-1.5, *w * 0.8],
                    method="BFGS", options={"gtol": 1e-6})
    assert model.flip_ == pytest.approx(np.exp(best.x[0]) / 2 / (1 + np.exp(best.x[0])), abs=1e-5)
    np.testing.assert_allclose(w, best.x[1:], rtol=1e-4)
    h = 1e-5  # and its gradient is 0, to what differences of such a sum can tell
    assert abs(log_likelihood(model.flip_ + h, w, X, t) - log_likelihood(model.flip_ - h, w, X, t)) / (2 * h) < 1e-3
    assert model.flip_ == pytest.approx(0.1, abs=0.04)
    assert np.abs(w - [0.5, 3, -2]).max() < np.abs(w[1] - 0) * 0.35


def test_clean_labels_are_found_clean():
    X, t = noisy(1, 0.0)
    X, t = np.vstack([X, [[0.0, 0.0]]]), np.r_[t, 1]
    model = FlippedLogisticRegression().fit(X, t)
    assert model.flip_ < 0.01
    loss = lambda e: -log_likelihood(e, np.r_[model.intercept_, model.coef_[0]], X, t)  # noqa: E731
    assert loss(model.flip_) <= min(loss(e) for e in np.linspace(0, 0.2, 41)) + 1e-9


def test_the_mirror_image_of_a_model_is_the_same_model_so_epsilon_is_below_one_half():
    X, t = noisy(2, 0.1)
    w = np.array([0.5, 3, -2])
    assert log_likelihood(0.1, w, X, t) == pytest.approx(log_likelihood(0.9, -w, X, t), rel=1e-12)
    for epsilon in (0.5, 0.9, -0.1):
        with pytest.raises(ValueError, match=r"must be in \[0, 1/2\).*same"):
            FlippedLogisticRegression(flip=epsilon).fit(X, t)


def test_one_wrong_label_far_out_moves_the_flip_model_less():
    X, t = noisy(3, 0.0, N=300)
    X_out, t_out = np.vstack([X, [[40.0, -40.0]]]), np.r_[t, 0]
    moved = [np.linalg.norm(kind.fit(X_out, t_out).coef_ - kind.fit(X, t).coef_)
             for kind in (LogisticRegression(), FlippedLogisticRegression(flip=0.02))]
    assert moved[1] < 0.1 * moved[0]


def test_predicted_probabilities_are_those_of_the_labels_as_written():
    X, t = noisy(4, 0.1)
    model = FlippedLogisticRegression(flip=0.1).fit(X, t)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p, 0.1 + 0.8 * expit(model.intercept_ + X @ model.coef_[0]), rtol=1e-10)
    half_deviance = -np.sum(np.log(np.where(t == 1, p, 1 - p)))
    assert half_deviance == pytest.approx(deviance(t, np.log(p / (1 - p))) / 2, rel=1e-9)


# scikit-learn --------------------------------------------------------------------------------------------------------

RANK = {"check_sample_weight_equivalence_on_dense_data": "15 rows and 30 features: ridge > 0 is the remedy"}


@pytest.mark.parametrize("ridge, expected", [(0.0, RANK), (0.1, {})])
@pytest.mark.parametrize("kind", [*ALL, FlippedLogisticRegression])
def test_scikit_learns_own_checks(kind, ridge, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(kind(ridge=ridge), expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    # skipped: only what needs the environment variable SCIPY_ARRAY_API
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}
    assert [r["check_name"] for r in results if r["status"] == "xfail"] == list(expected)


@pytest.mark.parametrize("labels", [["no", "yes"], [False, True], [-1, 1]])
def test_frames_and_labels_of_any_kind(labels):
    X, y = load("synth_tr").Xy()
    frame, y = pd.DataFrame(X, columns=["xs", "ys"]), np.array(labels)[y]
    for kind in ALL:
        model = kind().fit(frame, y)
        assert model.feature_names_in_.tolist() == ["xs", "ys"]
        assert model.predict(frame).dtype == y.dtype and model.score(frame, y) > 0.8
