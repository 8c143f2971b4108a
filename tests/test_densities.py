"""Normal densities of every shape, and densities put together from marginals."""
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from course_lib import (Bernoulli, Categorical, Each, Gaussian, Histogram, Independent, Multinomial, Normal, Poisson,
                        StudentT, rda)
from course_lib.densities import discriminant
from course_lib.gaussian import normal
from course_lib.searched import by_likelihood, by_moments
from course_lib.statistics import Labels, Triangles
from naming import named

modest = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**32 - 1)
SHAPES, POOLS = ("full", "diagonal", "spherical"), ("own", "tied", rda(0.4, 0.0), rda(0.7, 0.3))
every_gaussian = pytest.mark.parametrize(
    "density", [Gaussian(s, p, d) for s in SHAPES for p in POOLS for d in ("ml", "unbiased")], ids=named)


def close(found, expected, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def problem(seed, N=60, D=3, K=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(N) % K
    mixing = rng.normal(size=(K, D, D)) + 2 * np.eye(D)
    noise = np.einsum("nij,nj->ni", mixing[codes], rng.normal(size=(N, D)))
    return noise + 3 * rng.normal(size=(K, D))[codes], Labels(codes, K)


def by_the_book(density, X, R):
    """Means and covariances from the formulas, one class at a time."""
    unbiased, D = density.divisor == "unbiased", X.shape[1]
    r = R.toarray()
    n, means = r.sum(axis=0), (r.T @ X) / r.sum(axis=0)[:, None]
    scatter = np.array([((w[:, None] * (X - m)).T @ (X - m)) for w, m in zip(r.T, means)])
    pooled = scatter.sum(axis=0) / (n.sum() - unbiased * len(n))
    alpha, gamma = {"own": (1, 0), "tied": (0, 0)}.get(density.pool) or (density.pool.alpha, density.pool.gamma)
    Sigma = alpha * scatter / (n - unbiased)[:, None, None] + (1 - alpha) * pooled
    if density.shape != "full":
        Sigma = Sigma * np.eye(D)
    sphere = np.trace(Sigma, axis1=1, axis2=2)[:, None, None] / D * np.eye(D)
    return means, sphere if density.shape == "spherical" else (1 - gamma) * Sigma + gamma * sphere


@every_gaussian
def test_every_shape_and_pool_is_the_normal_density_of_the_formulas(density):
    X, R = problem(1)
    fitted = density.fit(X, R)
    means, Sigma = by_the_book(density, X, R)
    close(np.broadcast_to(fitted.covariance, Sigma.shape), Sigma)
    expected = [stats.multivariate_normal(m, S).logpdf(X) for m, S in zip(means, Sigma)]
    close(fitted.log_density(X), np.stack(expected, axis=1))
    gap = fitted.log_density(X) - discriminant(fitted, X)
    close(gap, np.repeat(gap[:, :1], 3, axis=1), atol=1e-10)


@every_gaussian
def test_the_density_integrates_to_one(density):
    X, R = problem(2, D=2)
    fitted = density.fit(X, R)
    for k in range(3):
        root = np.linalg.cholesky(np.broadcast_to(fitted.covariance, (3, 2, 2))[k])

        def p(a, b):
            x = fitted.mean[k] + root @ [a, b]
            return np.exp(fitted.log_density(x[None])[0, k]) * np.linalg.det(root)
        nodes, weights = np.polynomial.hermite_e.hermegauss(12)
        rule = list(zip(nodes, weights * np.exp(nodes**2 / 2)))
        assert sum(wa * wb * p(a, b) for a, wa in rule for b, wb in rule) == pytest.approx(1, abs=1e-9)


@every_gaussian
def test_soft_weights_that_are_one_hot_give_the_fit_of_the_labels(density):
    X, R = problem(3)
    close(density.fit(X, R.toarray()).log_density(X), density.fit(X, R).log_density(X), 1e-9, 1e-9)


@every_gaussian
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(density, scale):
    X, R = problem(4)
    scaled = density.fit(X * scale, R).log_density(X * scale) + 3 * np.log(scale)
    close(scaled, density.fit(X, R).log_density(X), 1e-9, 1e-9)


@pytest.mark.parametrize("pool", ["own", "tied"])
@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize("offset, apart", [(1e8, 0.0), (0.0, 1e6), (1e8, 1e6)])
def test_log_density_keeps_ten_digits_far_from_zero_with_classes_far_apart_and_far_from_all(shape, pool, offset, apart):
    X, R = problem(5)
    X = np.round(X * 2**16) / 2**16 + offset + apart * R.codes[:, None]
    query = np.vstack([X[:9], X[:3] + 1e4, X[:3] - 1e7])
    found = Gaussian(shape, pool).fit(X, R).log_density(query)
    for k in range(3):
        close(found[:, k], exactly(X, R.codes, query, k, shape, pool), 1e-10, 1e-10)


def exactly(X, codes, query, k, shape, pool):
    """In rational arithmetic up to the last logarithm."""
    F = np.vectorize(Fraction, otypes=[object])
    groups = [F(X[codes == c]) for c in range(3)]
    means = [g.sum(axis=0) / len(g) for g in groups]
    scatters = [(g - m).T @ (g - m) for g, m in zip(groups, means)]
    Sigma = scatters[k] / len(groups[k]) if pool == "own" else sum(scatters) / len(X)
    if shape == "diagonal":
        Sigma = Sigma * np.eye(3, dtype=int)
    rows, determinant = eliminated(Sigma, (F(query) - means[k]).T)
    distance = ((F(query) - means[k]).T * rows).sum(axis=0)
    return np.array([-0.5 * float(d) for d in distance]) - 0.5 * np.log(float(determinant)) - 1.5 * np.log(2 * np.pi)


def eliminated(A, B):
    """A⁻¹B and det A by Gauss's elimination of fractions."""
    A, B, determinant = A.copy(), B.copy(), Fraction(1)
    for i in range(len(A)):
        determinant *= A[i, i]
        B[i], A[i] = B[i] / A[i, i], A[i] / A[i, i]
        for j in range(len(A)):
            if j != i:
                B[j], A[j] = B[j] - A[j, i] * B[i], A[j] - A[j, i] * A[i]
    return B, determinant


@pytest.mark.parametrize("density", [Gaussian("full", p, d, ridge) for p in POOLS for d in ("ml", "unbiased")
                                     for ridge in (0.0, 0.1)], ids=named)
def test_factors_of_the_scatter_and_the_scatter_itself_give_the_same_densities(density):
    X, R = problem(1)
    by_factors = density.solve(Triangles.of(X, R, pooled=density.pool == "tied"))
    close(by_factors.covariance, density.fit(X, R).covariance)
    close(by_factors.log_density(X), density.fit(X, R).log_density(X))


@modest
@given(seeds)
def test_nearly_collinear_features_lose_no_more_digits_than_their_rows_hold(seed):
    rng = np.random.default_rng(seed)
    X, R = problem(seed, N=90)
    X[:, 2] = X[:, 0] + 1e-6 * rng.normal(size=90)
    fitted = Gaussian(pool="tied").fit(X, R)
    centred = np.concatenate([X[R.codes == k] - X[R.codes == k].mean(axis=0) for k in range(3)])
    _, singular, V = np.linalg.svd(centred, full_matrices=False)
    whitened = (X - fitted.mean[0]) @ V.T / singular * np.sqrt(90)
    expected = -0.5 * (whitened**2).sum(axis=1) - np.log(singular / np.sqrt(90)).sum() - 1.5 * np.log(2 * np.pi)
    # Rounding of 1e-16 in the rows is 1e-10 in the narrow direction; the exponent multiplies it.
    close(fitted.log_density(X)[:, 0], expected, 1e-7, 1e-7)


@modest
@given(seeds)
def test_with_missing_features_a_diagonal_normal_is_that_of_the_features_seen(seed):
    X, R = problem(seed)
    X[::4, 1] = np.nan
    fitted = Gaussian("diagonal").fit(X, R)
    seen = Gaussian("diagonal").fit(X[:, [0, 2]], R)
    close(fitted.log_density(X[::4]), seen.log_density(X[::4][:, [0, 2]]), 1e-9)
    close(fitted.mean[:, 1], [np.nanmean(X[R.codes == k, 1]) for k in range(3)])
    close(fitted.variance[:, 1], [np.nanvar(X[R.codes == k, 1]) for k in range(3)])


@modest
@given(seeds)
def test_the_linear_form_of_a_common_covariance_is_the_discriminant(seed):
    X, R = problem(seed)
    for shape in SHAPES:
        fitted = Gaussian(shape, "tied").fit(X, R)
        weights, bias = fitted.linear()
        scores = X @ weights.T + bias
        close(scores - scores[:, :1], fitted.log_density(X) - fitted.log_density(X)[:, :1], 1e-8, 1e-8)
    with pytest.raises(ValueError, match="use pool='tied'"):
        Gaussian().fit(X, R).linear()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_floor_is_the_constrained_maximum_of_the_likelihood(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 2)) * [1.0, 1e-3]
    fitted = Gaussian(shape, floor=0.01).fit(X, np.ones((50, 1)))
    S = np.cov(X.T, bias=True)
    if shape == "full":
        values, vectors = np.linalg.eigh(S)
        close(fitted.covariance[0], vectors @ np.diag(np.maximum(values, 0.01)) @ vectors.T)
    elif shape == "diagonal":
        close(fitted.variance[0], np.maximum(np.diag(S), 0.01))
    assert np.linalg.eigvalsh(fitted.covariance[0]).min() >= 0.01 * (1 - 1e-12)
    best = fitted.log_density(X).sum()
    for factor in (1.02, 1.3):
        assert normal(fitted.mean, fitted.covariance * factor).log_density(X).sum() < best


def test_a_floor_holds_where_the_covariance_is_all_but_singular():
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    X = np.column_stack([x, x + 1e-7 * rng.normal(size=200)])
    for floor in (1e-10, 1e-6):
        covariance = Gaussian(floor=floor).fit(X, np.ones((200, 1))).covariance[0]
        assert np.linalg.eigvalsh(covariance)[0] == pytest.approx(floor, rel=1e-4)


def test_a_ridge_is_a_share_of_the_largest_overall_variance():
    X, R = problem(6)
    plain, ridged = Gaussian().fit(X, R), Gaussian(ridge=0.1).fit(X, R)
    close(ridged.covariance, plain.covariance + 0.1 * X.var(axis=0).max() * np.eye(3))


@pytest.mark.parametrize("parameters, words", [({"shape": "round"}, "shape must be"), ({"pool": "all"}, "pool must be"),
                                               ({"divisor": "n"}, "divisor must be"), ({"ridge": -1}, "must be >= 0")])
def test_wrong_hyperparameters_are_named_with_the_choice(parameters, words):
    X, R = problem(0)
    with pytest.raises(ValueError, match=words):
        Gaussian(**parameters).fit(X, R)
    with pytest.raises(ValueError, match=r"must lie in \[0, 1\], got 1.5"):
        rda(1.5)


@every_gaussian
def test_new_rows_have_the_means_and_covariances_of_the_fit(density):
    X, R = problem(7)
    fitted = density.fit(X, R)
    new = fitted.sample(np.repeat([0, 1, 2], 20000), np.random.default_rng(0))
    for k, S in enumerate(np.broadcast_to(fitted.covariance, (3, 3, 3))):
        rows = new[20000 * k:20000 * (k + 1)]
        sd = np.sqrt(np.diag(S))
        np.testing.assert_array_less(np.abs(rows.mean(axis=0) - fitted.mean[k]), 5 * sd / np.sqrt(20000))
        np.testing.assert_array_less(np.abs(np.cov(rows.T) - S), 0.05 * np.outer(sd, sd))


def test_parameters_are_counted_by_shape_and_pool():
    X, R = problem(0)
    count = {(s, p): Gaussian(s, p).fit(X, R).n_parameters for s in SHAPES for p in ("own", "tied")}
    assert count == {("full", "own"): 27, ("full", "tied"): 15, ("diagonal", "own"): 18, ("diagonal", "tied"): 12,
                     ("spherical", "own"): 12, ("spherical", "tied"): 10}


# Marginals --------------------------------------------------------------------------------------------------

def mixed(seed=0, N=80):
    rng = np.random.default_rng(seed)
    codes = np.arange(N) % 2
    return np.column_stack([rng.normal(size=N) + codes, rng.poisson(3 + codes), rng.integers(0, 2, N),
                            rng.normal(size=N), rng.integers(0, 3, N)]), Labels(codes, 2)


def test_features_of_different_kinds_multiply():
    X, R = mixed()
    marginals = [Normal(), Poisson(), Bernoulli(smoothing=1), Normal(), Categorical()]
    fitted = Independent(marginals).fit(X, R)
    by_hand = sum(m.fit(X[:, j:j + 1], R).log_density(X[:, j:j + 1]) for j, m in enumerate(marginals))
    close(fitted.log_density(X), by_hand)
    assert fitted.n_parameters == 4 + 2 + 2 + 4 + 4
    assert fitted.sample(np.array([0, 1, 1]), np.random.default_rng(0)).shape == (3, 5)


def test_equal_marginals_are_fitted_together_and_one_for_all_equals_a_list_of_it():
    X, R = mixed()
    close(Independent(Normal()).fit(X, R).log_density(X), Independent([Normal()] * 5).fit(X, R).log_density(X))
    close(Independent().fit(X, R).log_density(X), Gaussian("diagonal").fit(X, R).log_density(X))
    counts = X[:, [1, 4]]
    close(Independent([Multinomial(1), Multinomial(1)]).fit(counts, R).log_density(counts),
          Multinomial(1).fit(counts, R).log_density(counts))


def test_the_linear_form_of_a_product_stands_in_the_columns_of_its_marginals():
    X, R = mixed()
    X = X[:, :3]
    fitted = Independent([Normal(pool="tied"), Poisson(), Bernoulli()]).fit(X, R)
    weights, bias = fitted.linear()
    scores = X @ weights.T + bias
    close(scores[:, 1] - scores[:, 0], np.diff(fitted.log_density(X))[:, 0])


def test_a_fault_of_a_marginal_names_the_column_of_the_table():
    X, R = mixed()
    X[:, 3] = R.codes
    with pytest.raises(ValueError, match="variance of feature 3 is zero"):
        Independent([Poisson(), Poisson(), Poisson(), Normal(), Categorical()]).fit(np.abs(np.rint(X)), R)
    with pytest.raises(ValueError, match="got 4 for 5 features"):
        Independent([Normal()] * 4).fit(X, R)
    with pytest.raises(ValueError, match="got 7 in feature 2"):
        Independent([Normal(), Poisson(), Bernoulli(), Normal(), Categorical()]).check(np.array([[0.0, 1, 7, 0, 1]]))


@modest
@given(seeds, st.integers(1, 9), st.floats(0, 2))
def test_a_histogram_is_numpys_and_integrates_to_one(seed, bins, smoothing):
    rng = np.random.default_rng(seed)
    X, R = rng.normal(size=(50, 2)), Labels(np.arange(50) % 2, 2)
    fitted = Histogram(bins, smoothing=smoothing).fit(X, R)
    for k in range(2):
        for j in range(2):
            counts, edges = np.histogram(X[R.codes == k, j], bins, range=(X[:, j].min(), X[:, j].max()))
            p = (counts + smoothing) / (counts.sum() + smoothing * bins) / np.diff(edges)
            close(np.exp(fitted.log_height[k, j]), p, 1e-9, 1e-15)
            assert (p * np.diff(edges)).sum() == pytest.approx(1)
    inside = np.linspace(X.min(axis=0), X.max(axis=0), 30)
    bin_of = lambda j, x: min(np.searchsorted(fitted.edges[j], x, "right") - 1, bins - 1)
    height = lambda k, x: sum(fitted.log_height[k, j, bin_of(j, x[j])] for j in range(2))
    close(fitted.log_density(inside), [[height(k, x) for k in range(2)] for x in inside])


def test_outside_its_bins_a_histogram_is_zero_and_has_no_say_in_the_decision():
    X, R = np.array([[0.0], [1.0], [2.0], [3.0]]), Labels(np.array([0, 0, 1, 1]), 2)
    fitted = Histogram(edges=(0.0, 2.0, 4.0), smoothing=1).fit(X, R)
    assert (fitted.log_density(np.array([[-1.0], [5.0]])) == -np.inf).all()
    close(fitted.discriminant(np.array([[-1.0], [5.0], [np.nan]])), 0)
    with pytest.raises(ValueError, match="fitted within its edges, got 9 in feature 0"):
        Histogram(edges=(0.0, 4.0)).fit(np.array([[9.0]]), np.ones((1, 1)))
    with pytest.raises(ValueError, match="feature 0 has one value only"):
        Histogram().fit(np.ones((3, 1)), np.ones((3, 1)))
    new = fitted.sample(np.repeat([0, 1], 5000), np.random.default_rng(0))
    assert np.mean(new[:5000] < 2) == pytest.approx(0.75, abs=0.03) and new.min() >= 0 and new.max() <= 4


@settings(max_examples=6, deadline=None)
@given(seeds)
def test_student_marginals_by_likelihood_are_scipys(seed):
    x = stats.t(4, loc=1, scale=2).rvs(500, random_state=seed)
    fitted = StudentT().fit(x[:, None], np.ones((500, 1)))
    log_likelihood = fitted.log_density(x[:, None]).sum()
    assert log_likelihood >= stats.t.logpdf(x, *stats.t.fit(x)).sum() - 1e-4
    law = stats.t(fitted.df[0, 0], fitted.mu[0, 0], fitted.sigma[0, 0])
    close(fitted.log_density(x[:, None])[:, 0], law.logpdf(x), 1e-9)
    known = StudentT(df=4.0).fit(x[:, None], np.ones((500, 1)))
    df, mu, sigma = stats.t.fit(x, fdf=4.0)
    close([known.mu[0, 0], known.sigma[0, 0]], [mu, sigma], 1e-3, 1e-3)


def test_student_marginals_by_moments_have_the_moments_of_the_data():
    x = stats.t(9, loc=1, scale=2).rvs(4000, random_state=3)
    mu, sigma, df = by_moments(x, np.ones(4000), None)
    law = stats.t(df, mu, sigma)
    close(law.stats("mvk"), [x.mean(), x.var(), stats.kurtosis(x)], 1e-9)
    assert by_moments(np.array([0.0, 1.0]), np.ones(2), None)[2] == np.inf
    with pytest.raises(ValueError, match="df > 2"):
        by_moments(x, np.ones(4000), 2.0)


def test_student_marginals_count_a_weight_as_repetitions_and_refuse_ties_that_have_no_maximum():
    x, times = stats.t(5).rvs(60, random_state=0), np.arange(60) % 3 + 1
    close(by_likelihood(x, times.astype(float), None), by_likelihood(x.repeat(times), np.ones(times.sum()), None), 1e-5)
    with pytest.raises(ValueError, match="feature 0 of class 0: .* too many values are equal"):
        StudentT(df=1.0).fit(np.array([0.0] * 9 + [1.0])[:, None], np.ones((10, 1)))


def test_student_samples_are_distributed_as_the_density():
    fitted = StudentT(df=5.0).fit(stats.t(5, 2, 3).rvs(300, random_state=0)[:, None], np.ones((300, 1)))
    new = fitted.sample(np.zeros(3000, int), np.random.default_rng(0))[:, 0]
    assert stats.kstest(new, stats.t(5, fitted.mu[0, 0], fitted.sigma[0, 0]).cdf).pvalue > 1e-3


def test_any_density_of_one_feature_serves_as_a_marginal():
    X, R = mixed()
    X = X[:, [0, 3]]
    fitted = Each(Gaussian()).fit(X, R)
    close(fitted.log_density(X), Gaussian("diagonal").fit(X, R).log_density(X))
    X[::5, 0] = np.nan
    close(Each(Gaussian()).fit(X, R).log_density(X), Gaussian("diagonal").fit(X, R).log_density(X))


def test_marginals_integrate_to_one():
    X, R = mixed()
    for marginal in (StudentT(), StudentT(4.0), Histogram(5, smoothing=1), Normal(pool="tied")):
        fitted = marginal.fit(X[:, :1], R)
        low, high = (fitted.edges[0, [0, -1]] if hasattr(fitted, "edges") else (-np.inf, np.inf))
        points = fitted.edges[0, 1:-1] if hasattr(fitted, "edges") else None
        for k in range(2):
            p = lambda x: np.exp(fitted.log_density(np.array([[x]]))[0, k])
            total = integrate.quad(p, low, high, points=points, limit=200)[0]
            assert total == pytest.approx(1, abs=1e-6)
