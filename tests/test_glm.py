"""Generalised linear models against statsmodels, arbitrary precision, finite differences and identities."""
import tracemalloc
import warnings

import mpmath
import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import check_estimator

from course_lib.data import load
from course_lib.glm import FAMILIES, GLM, deviance, family_of, irls, link_of, pose
from course_lib.linear import separating_plane
from course_lib.newton import SeparationWarning
from naming import named

modest = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)
MODELS = [(family, link) for family in FAMILIES for link in FAMILIES[family].links]
models = pytest.mark.parametrize("family, link", MODELS)

MEAN = {("binomial", "logit"): lambda a: 1 / (1 + mpmath.exp(-a)), ("binomial", "probit"): mpmath.ncdf,
        ("binomial", "cloglog"): lambda a: 1 - mpmath.exp(-mpmath.exp(a)), ("binomial", "log"): mpmath.exp,
        ("binomial", "identity"): lambda a: a, ("poisson", "log"): mpmath.exp, ("poisson", "identity"): lambda a: a,
        ("gaussian", "identity"): lambda a: a, ("gaussian", "log"): mpmath.exp}
THETA = {"binomial": lambda m: mpmath.log(m / (1 - m)), "poisson": mpmath.log, "gaussian": lambda m: m}
RANGE = {("binomial", "log"): (-6, -0.01), ("binomial", "identity"): (0.01, 0.99), ("poisson", "identity"): (0.01, 50)}
STATSMODELS = {"logit": "Logit", "probit": "Probit", "cloglog": "CLogLog", "log": "Log", "identity": "Identity"}


def problem(seed, family, link, N=200, D=3):
    """Features and responses drawn from the model itself, well inside its range."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(N, D))
    w = rng.uniform(-1, 1, size=D) / D
    if family == "binomial":
        shift = {"log": -1.5, "identity": 0.5}.get(link, 0.0)
        eta = shift + X @ w * {"identity": 0.4}.get(link, 1.5 if link != "log" else 1.0)
        t = rng.binomial(1, mean_of(family, link, eta)).astype(float)
    elif family == "poisson":
        eta = (4.0 if link == "identity" else 1.0) + X @ w
        t = rng.poisson(mean_of(family, link, eta)).astype(float)
    else:
        eta = 1 + X @ w
        t = mean_of(family, link, eta) + 0.3 * rng.normal(size=N)
    return X, t, rng


def mean_of(family, link, eta):
    return np.array([float(MEAN[family, link](mpmath.mpf(float(a)))) for a in eta])


def theirs(X, t, family, link, start=None, **arguments):
    kind = {"binomial": sm.families.Binomial, "poisson": sm.families.Poisson, "gaussian": sm.families.Gaussian}[family]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = sm.GLM(t, sm.add_constant(X), family=kind(getattr(sm.families.links, STATSMODELS[link])()), **arguments)
        return model.fit(start, tol=1e-15, maxiter=300, tol_criterion="params")


# The table of families and links -------------------------------------------------------------------------------------

@models
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_link_is_the_natural_parameter_as_a_function_of_the_predictor(family, link, data):
    eta = data.draw(st.floats(*RANGE.get((family, link), (-8, 8) if link != "cloglog" else (-8, 3))))
    with mpmath.workdps(60):
        theta = lambda a: THETA[family](MEAN[family, link](a))  # noqa: E731
        exact = [mpmath.diff(theta, mpmath.mpf(eta), n) for n in range(3)]
    for found, value in zip(link_of(family, link).natural(np.array([eta])), exact):
        assert np.ravel(found)[0] == pytest.approx(float(value), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=40, deadline=None)
@given(theta=st.floats(-30, 30), data=st.data())
def test_loss_mean_and_variance_are_those_of_the_families_of_naive_bayes(family, theta, data):
    response = family_of(family)
    t = data.draw(st.sampled_from([0.0, 1.0, 0.3]) if family == "binomial" else st.integers(0, 9).map(float))
    loss, excess, variance = response.local(np.array([t]), np.array([theta]))
    law, a = response.law, np.array([theta])
    assert excess[0] == pytest.approx((law.dc(a) - t)[0], rel=1e-12, abs=1e-15)
    assert variance[0] == pytest.approx(law.ddc(a)[0], rel=1e-12)
    best = {"binomial": 0.0, "poisson": float(mpmath.mpf(t) * mpmath.log(t) - t) if t else 0.0, "gaussian": t**2 / 2}
    assert loss[0] == pytest.approx((law.c(a) - t * a)[0] + best[family], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("t", [0.0, 1.0])
@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_log_likelihoods_are_exact_far_out(link, t):
    for eta in (-300.0, -40.0, -9.0, 5.0):
        with mpmath.workdps(800):
            mean = MEAN["binomial", link](mpmath.mpf(eta))
            value = float(mpmath.log(mean if t else 1 - mean))
        assert -deviance([t], [eta], link=link) / 2 == pytest.approx(value, rel=1e-12, abs=1e-15)


# Gradients and Hessians ----------------------------------------------------------------------------------------------

@models
@modest
@given(seed=seeds, ridge=st.sampled_from([0.0, 2.0]))
def test_gradient_and_observed_hessian_are_the_derivatives_of_the_loss(family, link, seed, ridge):
    X, t, rng = problem(seed, family, link, N=30)
    p, _ = pose(X, t, family_of(family), link_of(family, link), ridge=ridge, weight=rng.uniform(0.5, 2, size=30))
    q = p.start() + 0.01 * rng.normal(size=4)
    q[0] += {"identity": 0.3 if family == "poisson" else 0, "log": -0.5 if family == "binomial" else 0.1}.get(link, 0.2)
    q[0] = np.clip(q[0], -1.5, -0.3) if (family, link) == ("binomial", "log") else q[0]
    q[0] = np.clip(q[0], 0.2, 0.8) if (family, link) == ("binomial", "identity") else q[0]
    _, _, observed, expected = p.sums(q, curved=True, both=True)
    h = 1e-5
    steps = h * np.eye(4)
    slope = [(p.local(q + d).value - p.local(q - d).value) / (2 * h) for d in steps]
    curve = [(p.local(q + d).gradient - p.local(q - d).gradient) / (2 * h) for d in steps]
    np.testing.assert_allclose(p.local(q).gradient, slope, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(observed + p.P, curve, rtol=1e-5, atol=1e-6)
    if link_of(family, link) is FAMILIES[family].links[next(iter(FAMILIES[family].links))]:
        np.testing.assert_allclose(observed, expected, rtol=1e-12)  # canonical


@models
@modest
@given(seed=seeds)
def test_expected_information_is_the_mean_of_the_observed_one(family, link, seed):
    X, _, rng = problem(seed, family, link, N=25)
    eta = np.linspace(*{("binomial", "log"): (-2, -0.3), ("binomial", "identity"): (0.2, 0.8),
                        ("poisson", "identity"): (0.5, 5)}.get((family, link), (-1, 1)), 25)
    mean = mean_of(family, link, eta)
    p, _ = pose(X, np.clip(mean, 0, 1 if family == "binomial" else np.inf) if family != "gaussian" else mean,
                family_of(family), link_of(family, link), offset=eta)  # at t = mean the term that they differ by is 0
    _, _, observed, expected = p.sums(np.zeros(4), curved=True, both=True)
    np.testing.assert_allclose(observed, expected, rtol=1e-10, atol=1e-12)


# Against statsmodels -------------------------------------------------------------------------------------------------

@models
@modest
@given(seed=seeds)
def test_fits_agree_with_statsmodels(family, link, seed):
    X, t, rng = problem(seed, family, link)
    weight = rng.uniform(0.5, 2, size=len(t))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = irls(X, t, family, link, weight=weight)
    if caught:  # a bounded link may have its maximum on the edge, which is said
        assert family == "binomial" and link in ("log", "identity") and not fit.converged
        return
    # without step halving statsmodels may diverge under the log of a share; there it starts at our optimum, to stay
    start = fit.coef if (family, link) == ("binomial", "log") else None
    other = theirs(X, t, family, link, start, var_weights=weight)
    np.testing.assert_allclose(other.model.score(fit.coef, scale=1.0), 0, atol=1e-7 * weight.sum())
    assert fit.deviance <= other.deviance * (1 + 1e-12)
    np.testing.assert_allclose(fit.coef, other.params, rtol=1e-8, atol=1e-9)
    assert fit.deviance == pytest.approx(other.deviance, rel=1e-9)
    expected = np.sqrt(np.diag(other.cov_params()) / other.scale * fit.dispersion)
    np.testing.assert_allclose(fit.standard_errors(), expected, rtol=1e-6)
    information = -other.model.hessian(other.params, scale=1.0, observed=True)
    observed = np.sqrt(np.diag(np.linalg.inv(information)) * fit.dispersion)
    np.testing.assert_allclose(fit.standard_errors(observed=True), observed, rtol=1e-5)


@modest
@given(seeds)
def test_logit_and_probit_agree_to_ten_digits_with_newton_in_statsmodels(seed):
    for link, model in (("logit", sm.Logit), ("probit", sm.Probit)):
        X, t, _ = problem(seed, "binomial", link)
        fit = irls(X, t, link=link)
        other = model(t, sm.add_constant(X)).fit(disp=0, method="newton", tol=1e-14, maxiter=100)
        np.testing.assert_allclose(fit.coef, other.params, rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(fit.standard_errors(observed=True), other.bse, rtol=1e-8)  # observed information
        assert -fit.deviance / 2 == pytest.approx(other.llf, rel=1e-12)


# Identities ----------------------------------------------------------------------------------------------------------

@modest
@given(seeds)
def test_a_normal_response_with_the_identity_is_least_squares_in_one_step(seed):
    X, t, _ = problem(seed, "gaussian", "identity")
    fit = irls(X, t, "gaussian")
    A = np.column_stack([np.ones(len(t)), X])
    w, (rss,), *_ = np.linalg.lstsq(A, t, rcond=None)
    np.testing.assert_allclose(fit.coef, w, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(fit.path[1], w, rtol=1e-9, atol=1e-10)
    assert fit.deviance == pytest.approx(rss, rel=1e-11) and fit.dispersion == pytest.approx(rss / (len(t) - 4))


@models
@modest
@given(seed=seeds)
def test_prior_weights_are_repetitions(family, link, seed):
    X, t, rng = problem(seed, family, link, N=120)
    weight = rng.integers(1, 4, size=len(t))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = irls(X, t, family, link, weight=weight)
        two = irls(np.repeat(X, weight, 0), np.repeat(t, weight), family, link)
    if one.converged and two.converged:
        np.testing.assert_allclose(one.coef, two.coef, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(one.covariance, two.covariance, rtol=1e-6, atol=1e-10)
        assert one.deviance == pytest.approx(two.deviance, rel=1e-10)
    else:
        assert one.converged == two.converged and family == "binomial"


@modest
@given(seeds, st.sampled_from(["logit", "probit", "cloglog"]))
def test_grouped_and_single_trials_have_the_same_fit_and_deviances_that_differ_by_a_constant(seed, link):
    rng = np.random.default_rng(seed)
    x, n = rng.normal(size=12), rng.integers(5, 30, size=12)
    k = np.clip(rng.binomial(n, 1 / (1 + np.exp(-x))), 1, n - 1)
    grouped = irls(x[:, None], k, link=link, trials=n)
    rows = np.repeat(np.arange(12), n)
    single = irls(x[rows, None], np.concatenate([np.arange(m) < s for s, m in zip(k, n)]), link=link)
    np.testing.assert_allclose(grouped.coef, single.coef, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(grouped.covariance, single.covariance, rtol=1e-8)
    saturated = -2 * np.sum(k * np.log(k / n) + (n - k) * np.log(1 - k / n))
    assert single.deviance - grouped.deviance == pytest.approx(saturated, rel=1e-9)


@modest
@given(seeds)
def test_an_offset_shifts_what_it_is_proportional_to(seed):
    X, t, rng = problem(seed, "poisson", "log")
    plain, shifted = irls(X, t, "poisson"), irls(X, t, "poisson", offset=0.7 + 2 * X[:, 1])
    np.testing.assert_allclose(shifted.coef + [0.7, 0, 2, 0], plain.coef, rtol=1e-9, atol=1e-10)
    exposure = rng.uniform(1, 5, size=len(t))
    np.testing.assert_allclose(irls(X, t, "poisson", offset=np.log(exposure)).coef,
                               theirs(X, t, "poisson", "log", exposure=exposure).params, rtol=1e-9, atol=1e-10)


@models
@modest
@given(seed=seeds)
def test_the_ridge_spares_the_intercept(family, link, seed):
    X, t, _ = problem(seed, family, link)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fit = irls(X + 3, t, family, link, ridge=1e9)
        null = irls(np.empty((len(t), 0)), t, family, link)
    assert np.linalg.norm(fit.coef[1:]) < 1e-5
    np.testing.assert_allclose(fit.predictor(X + 3), null.coef[0], rtol=1e-4, atol=1e-4)


def test_without_an_intercept_the_plane_goes_through_the_origin():
    X, t, _ = problem(4, "binomial", "logit")
    other = sm.Logit(t, X).fit(disp=0, method="newton", tol=1e-14)
    np.testing.assert_allclose(irls(X, t, intercept=False).coef, other.params, rtol=1e-10)


def test_log_linear_model_and_logistic_regression_of_the_berkeley_table_are_one_model():
    """Agresti, Categorical Data Analysis, section 5.4.3: the model of no gender effect within departments."""
    table = load("ucb_admissions")
    admitted, count = table["admit"] == "Admitted", table["freq"]
    male, departments = table["gender"] == "Male", np.unique(table["dept"])
    dept = (table["dept"][:, None] == departments[1:]).astype(float)
    both = np.column_stack([dept, admitted, male, dept * admitted[:, None], dept * male[:, None]]).astype(float)
    X = np.column_stack([both, admitted * male])
    poisson = irls(X, count, "poisson")
    groups = [(table["dept"] == d) & (male == m) for d in departments for m in (False, True)]
    applied, yes = ([count[group & part].sum() for group in groups] for part in (True, admitted))
    rows = np.column_stack([np.repeat(np.eye(6), 2, axis=0)[:, 1:], np.tile([0.0, 1.0], 6)])
    logistic = irls(rows, yes, trials=applied)
    assert logistic.deviance == pytest.approx(20.2043, abs=5e-5)
    assert poisson.deviance == pytest.approx(logistic.deviance, rel=1e-9)
    assert poisson.coef[-1] == pytest.approx(logistic.coef[-1], rel=1e-8)  # the log odds ratio of the genders


# Convergence ---------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("start", [0.5, 2.1773, 2.1774, 5.0, -35.0])
def test_step_halving_repairs_newtons_divergence_without_separation(start):
    """Intercept only, balanced labels: Newton's map w − sinh w diverges if and only if |w| > 2.1773."""
    p, _ = pose(np.empty((2, 0)), [0, 1], family_of("binomial"), link_of("binomial"))
    w = start
    with np.errstate(over="ignore"):
        for _ in range(60):
            w = w - np.sinh(w) if abs(w) < 700 else np.inf
    assert (abs(w) < 1) == (abs(start) < 2.17732)
    optimum = p.solve(np.array([start]))
    assert optimum.converged and abs(optimum.q[0]) < 1e-12


@pytest.mark.parametrize("link", ["logit", "probit", "cloglog"])
def test_a_thousand_nearly_separable_problems_converge_or_warn(link):
    rng = np.random.default_rng(7)
    for _ in range(1000 if link == "logit" else 100):
        N, D = rng.integers(6, 20), rng.integers(1, 4)
        X = rng.normal(size=(N, D)) * 10 ** rng.uniform(-3, 3)
        value = X @ rng.normal(size=D)
        t = (value > np.median(value)).astype(float)
        flips = np.argsort(np.abs(value - np.median(value)))[: rng.integers(0, 3)]  # none to two
        t[flips] = 1 - t[flips]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fit = irls(X, t, link=link)
        assert np.isfinite(fit.coef).all() and np.isfinite(fit.deviance) and not np.isnan(fit.covariance).any()
        assert fit.converged != bool(caught)
        if separating_plane(X, 2 * t - 1) is not None:
            assert fit.separated and caught[0].category is SeparationWarning
        elif fit.converged:
            p, total = pose(X, t, family_of("binomial"), link_of("binomial", link))
            mean = family_of("binomial").law.dc(link_of("binomial", link).natural(fit.predictor(X))[0])
            if link == "logit":  # the score equations hold
                scale = np.abs(X).sum(axis=0)
                np.testing.assert_allclose((mean - t) @ X / scale, 0, atol=1e-9)


def test_counts_that_are_zero_throughout_a_group_separate_a_log_linear_model():
    with pytest.warns(SeparationWarning):
        fit = irls([[0.0], [0.0], [1.0], [1.0]], [0, 0, 3, 5], "poisson")
    assert np.isfinite(fit.coef).all() and fit.coef.sum() == pytest.approx(np.log(4), abs=1e-6)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_large_and_small_responses_converge(scale):
    X, t, _ = problem(1, "gaussian", "log")
    fit, base = irls(X, scale * t, "gaussian", "log"), irls(X, t, "gaussian", "log")
    assert fit.converged
    np.testing.assert_allclose(fit.coef - [np.log(scale), 0, 0, 0], base.coef, rtol=1e-7, atol=1e-7)


def test_counts_of_a_million_need_no_more_steps():
    X, t, _ = problem(2, "poisson", "log")
    fit = irls(X, np.round(t * 1e6), "poisson")
    assert fit.converged and len(fit.path) < 20


def test_no_array_of_N_by_N_and_no_second_copy_of_X_is_made():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100_000, 30))
    t = (X[:, 0] + rng.logistic(size=len(X)) > 0).astype(float)
    p, _ = pose(X, t, family_of("binomial"), link_of("binomial"))
    tracemalloc.start()
    p.solve()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.1 * X.nbytes


# Errors --------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments, message", [
    ({"family": "cauchy"}, "family must be one of binomial, poisson, gaussian, got 'cauchy'"),
    ({"link": "square"}, "link of a binomial model must be one of logit, probit, cloglog, log, identity, got 'square'"),
    ({"t": [0, 1, 2]}, "lie between 0 and 1 in this family, got values from 0.0 to 2.0.*trials="),
    ({"t": [0, -1, 2], "family": "poisson"}, "lie between 0 and inf"),
    ({"t": [0, np.nan, 1]}, "must be finite"),
    ({"weight": [0, 0, 0]}, "weights must not all be zero"),
    ({"ridge": -1.0}, "ridge must be a finite number >= 0, got -1.0")])
def test_bad_arguments_are_refused_in_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        irls([[0.0], [1.0], [3.0]], **({"t": [0, 1, 0]} | arguments))


# scikit-learn --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("estimator, expected", [
    (GLM(), {"check_sample_weight_equivalence_on_dense_data": "15 rows and 30 features: ridge > 0 is the remedy"}),
    (GLM(ridge=0.1), {})], ids=named)
def test_scikit_learns_own_checks(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    # skipped: only what needs the environment variable SCIPY_ARRAY_API
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}
    assert [r["check_name"] for r in results if r["status"] == "xfail"] == list(expected)


@models
def test_the_estimator_predicts_means_and_explains_deviance(family, link):
    X, t, _ = problem(11, family, link)
    model = GLM(family, link).fit(X, t)
    other = theirs(X, t, family, link)
    np.testing.assert_allclose(model.predict(X), other.predict(sm.add_constant(X)), rtol=1e-7)
    assert model.score(X, t) == pytest.approx(1 - other.deviance / other.null_deviance, rel=1e-7)
    np.testing.assert_allclose(np.r_[model.intercept_, model.coef_], other.params, rtol=1e-7, atol=1e-8)


def test_the_estimator_takes_frames_trials_and_offsets():
    girls = load("menarche")
    frame = pd.DataFrame({"age": girls["age"]})
    model = GLM("binomial").fit(frame, girls["menarche"], trials=girls["total"])
    assert model.feature_names_in_.tolist() == ["age"] and model.fit_.deviance == pytest.approx(26.703, abs=5e-4)
    X, t, _ = problem(2, "poisson", "log")
    shifted = GLM("poisson").fit(X, t, offset=np.full(len(t), 0.4))
    np.testing.assert_allclose(shifted.predict(X, offset=np.full(len(t), 0.4)), GLM("poisson").fit(X, t).predict(X))


@pytest.mark.parametrize("family, link, ends", [("binomial", "identity", (0, 1)), ("binomial", "log", (0, 1)),
                                                ("poisson", "identity", (0, np.inf))])
def test_predictions_of_a_bounded_link_stay_in_its_range(family, link, ends):
    X, t, _ = problem(5, family, link)
    model = GLM(family, link).fit(X, t)
    far = model.predict(np.outer([-1e3, 0, 1e3], model.coef_))
    assert far[0] < 1e-9 and ends[0] < far[1] < ends[1] and (far[2] == 1 if family == "binomial" else far[2] > 100)


def test_a_maximum_at_the_edge_of_a_bounded_link_is_not_called_converged():
    # two shares of 1 and one of ½: the line through the first two, η = 0, is the edge of the log link
    with pytest.warns(UserWarning, match="the maximum may lie at its edge"):
        fit = irls([[0.0], [0.0], [1.0], [1.0]], [1, 1, 1, 0], link="log")
    assert not fit.converged and np.isfinite(fit.coef).all()
    assert fit.coef == pytest.approx([0, np.log(0.5)], abs=1e-5)


@pytest.mark.parametrize("family", ["poisson", "gaussian"])
def test_responses_that_are_zero_throughout_give_finite_coefficients(family):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        fit = irls([[0.0], [1.0], [3.0]], [0, 0, 0], family, "log")
    assert caught and not fit.converged and np.isfinite(fit.coef).all()
