"""Faults reported against other libraries' densities and mixtures: each report as it was made, and its whole kind."""
import json
import warnings
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from course_lib.bayes import BayesClassifier
from course_lib.densities import Histogram, StudentT, StudentTs
from course_lib.gaussian import Gaussian, normal
from course_lib.kernels import KERNELS
from course_lib.mixtures import COMPONENTS, Mixed, Mixture, MixtureClassifier, em
from course_lib.parzen import Parzen, ParzenClassifier
from course_lib.safeguards import floored
from course_lib.starts import plus_plus
from course_lib.widths import best_width, loo_log_likelihood, normal_reference, nrd, nrd0, width_grid

CASES = {c["id"]: c for c in json.loads((Path(__file__).parent / "cases" / "numeric.json").read_text())}
modest = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def case(name):
    return CASES[name]["inputs"], CASES[name]["expected"]


def close(found, name, key=None):
    expected = CASES[name]["expected"] if key is None else CASES[name]["expected"][key]
    np.testing.assert_allclose(found, expected, rtol=CASES[name]["rtol"], atol=CASES[name].get("atol", 0.0))


def column(values):
    return np.array(values, dtype=float)[:, None]


def one(X):
    return np.ones((len(X), 1))


# Histograms: one rule for bins (DEN-03) ------------------------------------------------------------------------------

def test_DEN_03():
    inputs, expected = case("DEN-03")
    edges, train = np.linspace(0, 1, 11), column(np.round(np.arange(0, 1, 0.01), 2))
    fitted = Histogram(edges=tuple(edges)).fit(train, one(train))
    heights = np.exp(fitted.log_height[0, 0]) * np.diff(edges)
    assert heights * 100 == pytest.approx(expected["counts"])
    looked_up = np.exp(fitted.log_density(column(inputs["query"]))[:, 0])
    heights = np.array(expected["counts"]) / 100 / np.diff(edges)
    assert looked_up == pytest.approx(heights[expected["bins"]])


@modest
@given(seed=seeds, bins=st.integers(1, 40))
def test_a_training_row_is_looked_up_in_the_bin_it_was_counted_in(seed, bins):
    """On data of few decimals, where values meet the edges: each row's density is its bin's count."""
    rng = np.random.default_rng(seed)
    x = np.r_[0.0, 1.0, np.round(rng.random(200), 2)]
    edges = np.linspace(0, 1, bins + 1)
    b = np.array([max(j for j in range(bins) if v >= edges[j]) for v in x])
    counts = np.array([(b == j).sum() for j in range(bins)])
    found = np.exp(Histogram(edges=tuple(edges)).fit(x[:, None], one(x)).log_density(x[:, None])[:, 0])
    assert found * np.diff(edges)[b] * len(x) == pytest.approx(counts[b])


# Widths of constant data (DEN-06) ------------------------------------------------------------------------------------

def test_DEN_06():
    data = np.array(case("DEN-06")[0]["data"])
    for rule in (nrd0, nrd, lambda x: Parzen(normal_reference).fit(x[:, None], one(x)),
                 lambda x: width_grid(x[:, None])):
        with pytest.raises(ValueError, match="the data are constant, give a width h"):
            rule(data)


@modest
@given(value=st.floats(-1e9, 1e9), n=st.integers(2, 30))
def test_no_constant_sample_gets_a_width_by_rounding(value, n):
    with pytest.raises(ValueError, match="constant"):
        nrd0(np.full(n, value))


# Far from the data (DEN-07, DEN-08, DEN-09, DEN-12, DEN-17) ----------------------------------------------------------

def test_DEN_07():
    inputs, _ = case("DEN-07")
    fitted = Parzen(inputs["bandwidth"]).fit(column(inputs["data"]), np.ones((3, 1)))
    close(fitted.log_density(column(inputs["query"]))[:, 0], "DEN-07")


def test_DEN_08():
    inputs, _ = case("DEN-08")
    model = ParzenClassifier(inputs["bandwidth"]).fit(inputs["X"], inputs["y"])
    close(model.predict_proba(inputs["query"]), "DEN-08")


@pytest.mark.parametrize("kernel", ["uniform", "epanechnikov", "triangular", "quartic"])
def test_DEN_09(kernel):
    """Where no window reaches x, the nearest training points decide; here one of each class is equally near."""
    inputs, _ = case("DEN-09")
    model = ParzenClassifier(inputs["bandwidth"], kernel).fit(inputs["X"], inputs["y"])
    posterior = model.predict_proba([inputs["query"], [2.2], [-9.0]])
    assert posterior == pytest.approx(np.array([[0.5, 0.5], [0, 1], [1, 0]]))
    assert np.isneginf(model.log_joint([inputs["query"]])).all()
    through_the_density = BayesClassifier(Parzen(inputs["bandwidth"], KERNELS[kernel])).fit(inputs["X"], inputs["y"])
    assert through_the_density.predict_proba([[2.2]]) == pytest.approx(np.array([[0.0, 1.0]]))


def test_DEN_12():
    inputs, _ = case("DEN-12")
    fitted = Parzen(inputs["bandwidth"]).fit(column(inputs["data"]), np.ones((5, 1)))
    close(fitted.log_density(column(inputs["query"]))[:, 0], "DEN-12")


def test_DEN_17():
    inputs, _ = case("DEN-17")
    fitted = Parzen(inputs["bandwidth"]).fit(column(inputs["data"]), column(inputs["weights"]))
    close(fitted.log_density(column(inputs["query"]))[:, 0], "DEN-17")


@modest
@given(seed=seeds, h=st.floats(1e-8, 1e8), distance=st.floats(1, 1e12))
def test_log_density_far_away_agrees_with_arbitrary_precision(seed, h, distance):
    rng = np.random.default_rng(seed)
    X, q = rng.normal(size=(6, 2)), rng.normal(size=2) * distance
    with mpmath.workdps(50):
        exponents = [-sum((mpmath.mpf(a) - mpmath.mpf(b)) ** 2 for a, b in zip(q, x)) / (2 * mpmath.mpf(h) ** 2)
                     for x in X]
        top = max(exponents)
        exact = float(top + mpmath.log(sum(mpmath.exp(e - top) for e in exponents) / 6) - 2 * mpmath.log(h)
                      - mpmath.log(2 * mpmath.pi))
    assert Parzen(h).fit(X, one(X)).log_density(q[None])[0, 0] == pytest.approx(exact, rel=1e-12, abs=1e-12)


# Leave one out with ties (DEN-10, DEN-11) ----------------------------------------------------------------------------

def test_DEN_10():
    """Every point has a twin: the likelihood grows as h falls, so the search stops at its bound and says so."""
    inputs, _ = case("DEN-10")
    X = column(inputs["data"])
    close(loo_log_likelihood(X, inputs["bandwidths"]), "DEN-10")
    grid = width_grid(X)
    with pytest.warns(UserWarning, match="values tied"):
        assert best_width(lambda h: loo_log_likelihood(X, h), grid) == grid[0] > 0


def test_DEN_11():
    inputs, expected = case("DEN-11")
    X = column(inputs["data"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        h = best_width(lambda h: loo_log_likelihood(X, h), width_grid(X))
    assert h == pytest.approx(expected["h"], rel=1e-5)
    assert loo_log_likelihood(X, [h])[0] == pytest.approx(expected["loglik"], rel=1e-9)


@modest
@given(seed=seeds, twins=st.integers(0, 7))
def test_leave_one_out_is_unbounded_only_if_every_point_has_a_twin(seed, twins):
    x = np.random.default_rng(seed).normal(size=8)
    X = np.r_[x, x[:twins], x if twins == 7 else []][:, None]
    score = loo_log_likelihood(X, [1e-4, 1e-8])
    assert (score[1] > score[0]) == (twins == 7)


# Student's t (DEN-15, DEN-16) ----------------------------------------------------------------------------------------

def students(df, scale=1.0):
    return StudentTs(np.zeros((1, 1)), np.full((1, 1), scale), np.full((1, 1), df))


def test_DEN_15():
    inputs, _ = case("DEN-15")
    close([students(df).log_density(np.array([[inputs["x"]]]))[0, 0] for df in inputs["df"]], "DEN-15")
    assert students(np.inf).log_density(np.array([[1.5]]))[0, 0] == pytest.approx(stats.norm.logpdf(1.5), rel=1e-14)


@modest
@given(log_df=st.floats(-2, 15), x=st.floats(-1e6, 1e6))
def test_student_density_keeps_its_digits_for_all_degrees_of_freedom(log_df, x):
    df = 10.0**log_df
    with mpmath.workdps(60):
        nu = mpmath.mpf(df)
        exact = float(mpmath.loggamma((nu + 1) / 2) - mpmath.loggamma(nu / 2) - mpmath.log(nu * mpmath.pi) / 2
                      - (nu + 1) / 2 * mpmath.log1p(mpmath.mpf(x) ** 2 / nu))
    assert students(df).log_density(np.array([[x]]))[0, 0] == pytest.approx(exact, rel=1e-9)


def test_DEN_16():
    inputs, _ = case("DEN-16")
    X = column(inputs["data"])
    close([students(inputs["df"], s).log_density(X).sum() for s in inputs["scales"]], "DEN-16")
    with pytest.raises(ValueError, match="grows without bound"):
        StudentT(df=inputs["df"]).fit(X, one(X))


# One step of EM (GMM-01, GMM-10) -------------------------------------------------------------------------------------

def test_GMM_01():
    inputs, expected = case("GMM-01")
    X = column(inputs["x"])
    start = Mixed(np.array(inputs["weights"]), normal(column(inputs["means"]), column(inputs["variances"])))
    after = em(Gaussian("diagonal"), X, start.responsibilities(X), max_iter=1)
    close(start.log_density(X).sum(), "GMM-01", "ll_before")
    close(after.log_likelihood, "GMM-01", "ll_after")
    close(after.weight, "GMM-01", "weights")
    close(after.components.mean[:, 0], "GMM-01", "means")
    close(after.components.variance[:, 0], "GMM-01", "variances")


@pytest.mark.parametrize("name", COMPONENTS)
@modest
@given(seed=seeds, steps=st.integers(1, 6))
def test_a_step_more_never_reports_less_nor_of_other_parameters(name, seed, steps):
    rng = np.random.default_rng(seed)
    X, R = rng.normal(size=(40, 2)) ** 3, rng.dirichlet(np.ones(2), size=40)
    one_less, result = (em(COMPONENTS[name], X, R, tol=0, max_iter=n) for n in (steps, steps + 1))
    assert result.log_likelihood == pytest.approx(result.log_density(X).sum(), rel=1e-12)
    assert result.log_likelihood >= one_less.log_likelihood - 1e-9 * abs(one_less.log_likelihood)


def test_GMM_10():
    """The covariance is exactly that of two identical features, hence singular; a floor makes it usable."""
    X = np.array(case("GMM-10")[0]["X"])
    close(Gaussian("full").covariances(Gaussian("full").statistics(X, one(X)))[0], "GMM-10")
    with pytest.warns(UserWarning, match="floor holds"):
        fitted = Mixture(1, Gaussian("full")).fit(X, one(X)).classes[0]
    assert np.linalg.eigvalsh(fitted.components.covariance[0]).min() > 0 and np.isfinite(fitted.log_likelihood)


@pytest.mark.parametrize("offset", [0.0, 1e6, 1e8])
@modest
@given(seed=seeds)
def test_covariances_of_an_m_step_stay_symmetric_and_positive(offset, seed):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(30, 3)) * 1000) + offset
    fitted = Gaussian("full").fit(X, rng.dirichlet(np.ones(3), size=30))
    assert np.array_equal(fitted.covariance, np.swapaxes(fitted.covariance, 1, 2))
    assert np.linalg.eigvalsh(fitted.covariance).min() > 0


# Collapse (GMM-02, GMM-06) -------------------------------------------------------------------------------------------

def test_GMM_02():
    inputs, _ = case("GMM-02")
    X, init = column(inputs["x"]), inputs["init"]
    start = Mixed(np.array(init["weights"]), normal(column(init["means"]), column(init["variances"])))
    with pytest.warns(UserWarning, match=r"floor holds component\(s\) \[1\]"):
        found = em(floored(Gaussian("diagonal"), X, share=1e-6), X, start.responsibilities(X))
    assert found.components.variance[1, 0] == 1e-6 * X.var() and found.components.mean[1, 0] == 10
    assert np.isfinite(found.log_likelihood) and found.log_likelihood == pytest.approx(found.log_density(X).sum())


def test_GMM_06():
    inputs, _ = case("GMM-06")
    X = np.array(inputs["x"], dtype=np.float32).astype(np.float64)
    for shape in ("diagonal", "spherical"):
        fitted = Gaussian(shape, floor=inputs["reg"]).fit(X, np.eye(2))
        close(fitted.variance[:, 0], "GMM-06")
        assert fitted.mean[:, 0].tolist() == [9999, 0]


@pytest.mark.parametrize("name", COMPONENTS)
@modest
@given(seed=seeds, repeats=st.integers(1, 5), offset=st.sampled_from([0.0, 1e6]))
def test_mixtures_of_few_distinct_rows_are_finite(name, seed, repeats, offset):
    rng = np.random.default_rng(seed)
    X = np.repeat(np.round(rng.normal(size=(5, 2)), 1) * 8, repeats, axis=0) + offset
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = Mixture(3, COMPONENTS[name]).fit(X, one(X)).classes[0]
    assert np.isfinite(fitted.log_likelihood) and np.isfinite(fitted.components.covariance).all()
    assert fitted.responsibilities(X).sum(axis=1) == pytest.approx(np.ones(len(X)))


# Starts (GMM-04) -----------------------------------------------------------------------------------------------------

def test_GMM_04():
    inputs, _ = case("GMM-04")
    X = column(inputs["x"])
    with pytest.warns(UserWarning) as caught:
        fitted = Mixture(inputs["K"]).fit(X, one(X)).classes[0]
    assert any("3 components were asked of 2 distinct row(s)" in str(w.message) for w in caught)
    assert sorted(fitted.components.mean[:, 0]) == [1, 2] and np.isfinite(fitted.log_likelihood)


@modest
@given(seed=seeds, distinct=st.integers(1, 4), k=st.integers(1, 8))
def test_a_start_has_as_many_parts_as_there_are_distinct_rows_to_fill_them(seed, distinct, k):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(distinct, 2))[np.r_[np.arange(distinct), rng.integers(distinct, size=10)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        R = plus_plus(X, k, rng).toarray()
    assert R.shape[1] == min(k, distinct) and R.any(axis=0).all()


# Far outliers (GMM-05) -----------------------------------------------------------------------------------------------

def test_GMM_05():
    inputs, _ = case("GMM-05")
    mixed = Mixed(np.array(inputs["weights"]), normal(column(inputs["means"]), column(inputs["variances"])))
    close(mixed.responsibilities(column(inputs["x"])), "GMM-05")


@modest
@given(seed=seeds, distance=st.floats(1, 1e9))
def test_every_row_is_shared_out_completely_however_far_it_lies(seed, distance):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    far = rng.normal(size=(10, 2)) * distance
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MixtureClassifier(2).fit(X, y)
    assert model.fitted_.classes[0].responsibilities(far).sum(axis=1) == pytest.approx(np.ones(10))
    assert model.predict_proba(far).sum(axis=1) == pytest.approx(np.ones(10))
