"""Exponential families against scipy.stats, finite differences, and their own sums and integrals."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from course_lib import (Bernoulli, Binomial, Categorical, Exponential, Gamma, Geometric, Multinomial, NegativeBinomial,
                        Normal, Poisson)
from course_lib.densities import Independent
from course_lib.families import Natural
from course_lib.searched import SizedNegativeBinomial
from course_lib.statistics import Labels
from naming import named

modest = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**32 - 1)

# family, its law in scipy.stats as a function of the mean, and a range of means
LAWS = {
    "Bernoulli": (Bernoulli(), lambda m: stats.bernoulli(m), (0.05, 0.95)),
    "Binomial": (Binomial(7), lambda m: stats.binom(7, m / 7), (0.3, 6.5)),
    "Poisson": (Poisson(), lambda m: stats.poisson(m), (0.1, 9.0)),
    "Geometric": (Geometric(), lambda m: stats.geom(1 / (1 + m), loc=-1), (0.1, 9.0)),
    "NegativeBinomial": (NegativeBinomial(2.5), lambda m: stats.nbinom(2.5, 2.5 / (2.5 + m)), (0.1, 9.0)),
    "Exponential": (Exponential(), lambda m: stats.expon(scale=m), (0.1, 9.0)),
    "Gamma": (Gamma(2.5), lambda m: stats.gamma(2.5, scale=m / 2.5), (0.1, 9.0)),
    "Normal": (Normal(), lambda m: stats.norm(m), (-3.0, 3.0)),
}
every_family = pytest.mark.parametrize("family, law, means", LAWS.values(), ids=LAWS)
unit = st.floats(0, 1)


def log_density(family, theta, x):
    """The formula of the course, written out."""
    return (x * theta - family.c(theta)) / family.phi + family.h(x, family.phi)


def reference(law, x):
    return law.logpmf(x) if hasattr(law.dist, "logpmf") else law.logpdf(x)


@every_family
@modest
@given(share=unit, seed=seeds)
def test_the_formula_is_scipys_density(family, law, means, share, seed):
    mean = means[0] + share * (means[1] - means[0])
    x = law(mean).rvs(20, random_state=seed).astype(float)
    found = log_density(family, family.dc_inverse(mean), x)
    np.testing.assert_allclose(found, reference(law(mean), x), rtol=1e-10, atol=1e-10)


@every_family
@modest
@given(share=unit)
def test_c_prime_is_the_mean_and_phi_c_second_the_variance(family, law, means, share):
    mean = means[0] + share * (means[1] - means[0])
    theta = family.dc_inverse(mean)
    assert family.dc(theta) == pytest.approx(law(mean).mean(), rel=1e-10, abs=1e-12)
    assert family.phi * family.ddc(theta) == pytest.approx(law(mean).var(), rel=1e-10)


@every_family
@modest
@given(share=unit)
def test_derivatives_of_c_agree_with_finite_differences(family, law, means, share):
    theta = family.dc_inverse(means[0] + share * (means[1] - means[0]))
    step = 1e-5 * max(abs(theta), 1e-3)
    for f, slope in ((family.c, family.dc), (family.dc, family.ddc)):
        difference = (f(theta + step) - f(theta - step)) / (2 * step)
        assert slope(theta) == pytest.approx(difference, rel=1e-5, abs=1e-9)


@every_family
def test_the_density_sums_or_integrates_to_one(family, law, means):
    for mean in means:
        theta = family.dc_inverse(mean)
        if getattr(family, "whole", False):
            x = np.arange(int(family.upper) + 1 if np.isfinite(family.upper) else 2000, dtype=float)
            total = np.exp(log_density(family, theta, x)).sum()
        else:
            low = -np.inf if isinstance(family, Normal) else 0
            total = integrate.quad(lambda x: np.exp(log_density(family, theta, x)), low, np.inf, epsabs=1e-11)[0]
        assert total == pytest.approx(1, abs=1e-9)


DISCRETE = [Bernoulli(), Binomial(7), Poisson(), Geometric(), NegativeBinomial(2.5)]
ALL = [*DISCRETE, Exponential(), Gamma(2.5)]


def sample(family, seed, N=60):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([[0, 1, 2], rng.integers(0, 3, N - 3)])
    top = family.upper if np.isfinite(family.upper) else 6.0
    mean = top * rng.uniform(0.2, 0.8, size=(3, 2))
    return family.draw(mean[codes], rng), Labels(codes, 3)


@pytest.mark.parametrize("family", ALL, ids=named)
@modest
@given(seed=seeds)
def test_the_fit_maximises_the_likelihood_of_each_class_and_feature(family, seed):
    X, R = sample(family, seed)
    fitted = family.fit(X, R)
    for k in range(3):
        x = X[R.codes == k, 0]
        if not family.lower < x.mean() < family.upper:
            continue
        best = fitted.theta[k, 0]
        for theta in (best * 1.01, best * 0.99, best + 0.01 * (best > 0)):
            assert log_density(family, theta, x).sum() <= log_density(family, best, x).sum() + 1e-9


@pytest.mark.parametrize("family", ALL, ids=named)
def test_log_density_is_the_sum_over_features_and_the_discriminant_leaves_out_what_classes_share(family):
    X, R = sample(family, 4)
    fitted = family.fit(X, R)
    by_hand = np.stack([sum(log_density(family, t, x) for t, x in zip(theta, X.T)) for theta in fitted.theta], axis=1)
    np.testing.assert_allclose(fitted.log_density(X), by_hand, rtol=1e-10, atol=1e-12)
    gap = fitted.log_density(X) - fitted.discriminant(X)
    np.testing.assert_allclose(gap, gap[:, :1] @ np.ones((1, 3)), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("family", ALL, ids=named)
def test_the_linear_form_is_the_discriminant(family):
    X, R = sample(family, 4)
    fitted = family.fit(X, R)
    weights, bias = fitted.linear()
    np.testing.assert_allclose(X @ weights.T + bias, fitted.discriminant(X), rtol=1e-12)


@pytest.mark.parametrize("family", [*ALL, Categorical(), Multinomial()], ids=named)
@modest
@given(seed=seeds)
def test_missing_values_say_nothing(family, seed):
    X, R = sample(family if family in ALL else Poisson(), seed)
    hole = X.copy()
    hole[::3, 1] = np.nan
    fitted = (family if family not in ALL else type(family)(**{**vars(family), "smoothing": 0.5})).fit(X, R)
    if isinstance(family, Multinomial):
        np.testing.assert_allclose(fitted.discriminant(hole), fitted.discriminant(np.nan_to_num(hole)), rtol=1e-12)
    else:
        alone = type(family)(**{**vars(family), "smoothing": 0.5 if family in ALL else 0.0}).fit(X[:, :1], R)
        np.testing.assert_allclose(fitted.log_density(hole)[::3], alone.log_density(X[::3, :1]), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("family, low, high", [(Bernoulli(), 0, 1), (Binomial(7), 0, 7), (Poisson(), 0, None),
                                               (Geometric(), 0, None), (NegativeBinomial(2.5), 0, None)])
def test_on_the_edge_of_the_support_a_value_is_certain_and_others_impossible(family, low, high):
    for edge in (low, high):
        if edge is None:
            continue
        fitted = family.fit(np.array([[edge], [edge]], dtype=float), np.ones((2, 1)))
        np.testing.assert_array_equal(fitted.log_density(np.array([[edge], [3.0]]))[:, 0], [0, -np.inf])
        with pytest.raises(ValueError, match="no finite weight for feature 0"):
            fitted.linear()


@pytest.mark.parametrize("family", [Exponential(), Gamma(2.0)], ids=named)
def test_a_density_that_would_be_infinite_is_refused(family):
    with pytest.raises(ValueError, match="needs a mean above 0, got only zeros in feature 0 of class 0"):
        family.fit(np.zeros((3, 1)), np.ones((3, 1)))


@pytest.mark.parametrize("family, value, words", [
    (Bernoulli(), 2, "Bernoulli features hold whole numbers >= 0 and <= 1, got 2 in feature 0"),
    (Bernoulli(), 0.5, "got 0.5 in feature 0"), (Binomial(3), 4, "4 successes in 3 trials"),
    (Poisson(), 1.5, "whole numbers >= 0, got 1.5"), (Poisson(), -1, "Negative values in data passed to Poisson"),
    (Exponential(), -0.1, "Negative values in data"), (Categorical(), 0.5, "codes 0, 1, 2"),
    (Categorical(2), 2, "unknown category 2 in feature 0"), (Multinomial(), -2, "Negative values")])
def test_values_outside_the_support_are_named(family, value, words):
    X = np.array([[0.0], [1.0], [value]])
    with pytest.raises(ValueError, match=words):
        family.check(X)
    family.check(np.where(X == value, np.nan, X))


@pytest.mark.parametrize("family", [*(family for family, *_ in LAWS.values()), Multinomial(), Categorical(3),
                                    Bernoulli(threshold=1.0), Independent([Poisson(), Normal()])], ids=named)
@modest
@given(st.lists(st.sampled_from([0.0, -0.0, 1.0, 2.0, 7.0, 8.0, 0.5, -1.0, 1e300, np.nan, np.inf, -np.inf]),
                min_size=4, max_size=4))
def test_a_glance_acquits_no_table_that_has_a_fault(family, values):
    X = np.reshape(values, (2, 2))
    if family.clean(X):
        assert np.isfinite(X).all()
        family.check(X)
    assert family.clean(np.ones((2, 2)))


# Smoothing --------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.floats(0, 5))
def test_smoothing_adds_pseudo_counts_to_every_outcome(seed, alpha):
    rng = np.random.default_rng(seed)
    codes, X = np.arange(12) % 2, rng.integers(0, 2, size=(12, 3)).astype(float)
    n, ones = np.bincount(codes)[:, None], np.array([X[codes == k].sum(axis=0) for k in range(2)])
    with np.errstate(divide="ignore"):
        close = lambda found, p: np.testing.assert_allclose(found, p, rtol=1e-12, atol=1e-15)
        close(Bernoulli(alpha).fit(X, Labels(codes, 2)).mean, (ones + alpha) / (n + 2 * alpha))
        close(Binomial(4, alpha).fit(X, Labels(codes, 2)).mean / 4, (ones + alpha) / (4 * n + 2 * alpha))
        if (ones.sum(axis=1) + alpha > 0).all():
            total = (ones.sum(axis=1) + 3 * alpha)[:, None]
            close(Multinomial(alpha).fit(X, Labels(codes, 2)).mean, (ones + alpha) / total)
        close(np.exp(Categorical(2, alpha).fit(X, Labels(codes, 2)).theta[:, :, 1]), (ones + alpha) / (n + 2 * alpha))
        overall = (ones.sum(axis=0)) / 12
        close(Poisson(alpha).fit(X, Labels(codes, 2)).mean, (ones + alpha * overall) / (n + alpha))


# Categorical and multinomial --------------------------------------------------------------------------------

def test_levels_may_differ_from_feature_to_feature():
    X = np.array([[0, 0], [1, 4], [1, 2], [0, 1]], dtype=float)
    fitted = Categorical(smoothing=1).fit(X, np.ones((4, 1)))
    np.testing.assert_array_equal(fitted.levels, [2, 5])
    np.testing.assert_allclose(np.exp(fitted.theta[0, 0, :2]), [0.5, 0.5])
    np.testing.assert_allclose(np.exp(fitted.theta[0, 1]), np.array([2, 2, 2, 1, 2]) / 9)
    assert fitted.n_parameters == 5


def test_a_categorical_density_sums_to_one_over_all_rows():
    X = np.random.default_rng(0).integers(0, 3, size=(30, 2)).astype(float)
    fitted = Categorical(3).fit(X, np.random.default_rng(1).dirichlet([1, 1], 30))
    grid = np.stack(np.meshgrid(range(3), range(3)), axis=-1).reshape(-1, 2).astype(float)
    np.testing.assert_allclose(np.exp(fitted.log_density(grid)).sum(axis=0), 1, rtol=1e-12)


@modest
@given(seeds)
def test_the_multinomial_is_scipys(seed):
    X = np.random.default_rng(seed).integers(0, 6, size=(20, 4)).astype(float)
    fitted = Multinomial(smoothing=0.5).fit(X, np.ones((20, 1)))
    expected = [stats.multinomial.logpmf(row, row.sum(), fitted.mean[0]) for row in X]
    np.testing.assert_allclose(fitted.log_density(X)[:, 0], expected, rtol=1e-10, atol=1e-10)


# A size of its own for each negative binomial ---------------------------------------------------------------

def nb_log_likelihood(x, size, mean):
    return stats.nbinom(size, size / (size + mean)).logpmf(x).sum()


@settings(max_examples=10, deadline=None)
@given(seeds, st.floats(0.5, 5), st.floats(1, 8))
def test_the_fitted_size_is_where_a_numerical_search_ends(seed, size, mean):
    x = stats.nbinom(size, size / (size + mean)).rvs(200, random_state=seed).astype(float)
    fitted = NegativeBinomial().fit(x[:, None], np.ones((200, 1)))
    assert isinstance(fitted, SizedNegativeBinomial)
    if np.isfinite(fitted.size[0, 0]):
        best = optimize.minimize_scalar(lambda s: -nb_log_likelihood(x, np.exp(s), x.mean()),
                                        bounds=np.log(fitted.size[0, 0]) + np.array([-1, 1]), method="bounded",
                                        options={"xatol": 1e-9})
        assert nb_log_likelihood(x, fitted.size[0, 0], x.mean()) >= -best.fun - 1e-9
        size = fitted.size[0, 0]
        law = stats.nbinom(size, size / (size + x.mean()))
        np.testing.assert_allclose(fitted.log_density(x[:, None])[:, 0], law.logpmf(x), rtol=1e-9)


def test_counts_that_vary_less_than_a_poisson_get_a_poisson():
    x = np.array([3.0, 4, 3, 4, 3, 4, 4, 3])[:, None]
    fitted = NegativeBinomial().fit(x, np.ones((8, 1)))
    assert np.isinf(fitted.size[0, 0])
    np.testing.assert_allclose(fitted.log_density(x)[:, 0], stats.poisson(3.5).logpmf(x[:, 0]), rtol=1e-12)
    assert fitted.sample(np.zeros(20000, int), np.random.default_rng(0)).var() == pytest.approx(3.5, rel=0.05)


# New rows ---------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("family", [*ALL, Categorical(), Normal(), NegativeBinomial(), Multinomial(trials=9)], ids=named)
def test_new_rows_have_the_moments_of_the_fit(family):
    X, R = sample(family if family in ALL else Poisson(), 8, N=400)
    rng = np.random.default_rng(1)
    if isinstance(family, Multinomial):
        fitted = family.fit(X, R)
        new = fitted.sample(np.repeat([0, 1, 2], 4000), rng)
        assert (new.sum(axis=1) == 9).all()
        np.testing.assert_allclose([new[i:i + 4000].mean(axis=0) for i in (0, 4000, 8000)], 9 * fitted.mean, atol=0.15)
        return
    new = family.fit(X, R).sample(np.repeat([0, 1, 2], 4000), rng)
    for k in range(3):
        old, drawn = X[R.codes == k], new[4000 * k:4000 * (k + 1)]
        error = 5 * old.std(axis=0) * np.sqrt(2 / 4000) + 1e-12
        np.testing.assert_array_less(np.abs(drawn.mean(axis=0) - old.mean(axis=0)), error + 0.02)


def test_a_multinomial_without_trials_says_what_it_needs_to_draw_rows():
    with pytest.raises(ValueError, match="trials=None: pass Multinomial"):
        Multinomial().fit(np.eye(2), np.ones((2, 1))).sample(np.array([0]), np.random.default_rng(0))


def test_parameters_are_counted():
    assert Natural(Poisson(), np.zeros((3, 4))).n_parameters == 12
    assert Natural(Multinomial(), np.zeros((3, 4))).n_parameters == 9
