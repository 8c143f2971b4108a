"""EM and mixtures against scikit-learn, quadrature, and fits written another way."""
import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import logsumexp

from course_lib.bayes import LDA, QDA, BayesClassifier
from course_lib.families import Bernoulli, Poisson
from course_lib.gaussian import DiagonalNormal, Gaussian, normal
from course_lib.mixtures import COMPONENTS, Mixed, Mixture, MixtureClassifier, cross_validate, em, grow
from course_lib.safeguards import WithBackground, floored
from course_lib.starts import plus_plus
from course_lib.statistics import ClassError, Labels
from course_lib.tables import Histogram
from naming import named

components = pytest.mark.parametrize("name", COMPONENTS)
seeds = st.integers(0, 2**32 - 1)
modest = settings(max_examples=12, deadline=None)
SKLEARN = {"diagonal": "diag", "full": "full", "tied": "tied", "spherical": "spherical"}


def sample(seed, n=80, D=2, J=3, apart=3.0):
    """Rows around J centres, and responsibilities to start from."""
    rng = np.random.default_rng(seed)
    X = apart * rng.normal(size=(J, D))[rng.integers(J, size=n)] + rng.normal(size=(n, D)) * rng.uniform(0.5, 2, D)
    return X, rng.dirichlet(np.ones(J), size=n), rng


def fitted_quietly(model, *data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(*data)


def same(a, b, rel=1e-9):
    assert a.weight == pytest.approx(b.weight, rel=rel)
    assert a.components.mean == pytest.approx(b.components.mean, rel=rel)
    assert a.components.covariance == pytest.approx(b.components.covariance, rel=rel, abs=1e-12)
    assert a.log_likelihood == pytest.approx(b.log_likelihood, rel=rel)


# ------------------------------------------------------------------------------------------------- EM

@pytest.mark.filterwarnings("ignore:the variance floor")
@components
@modest
@given(seed=seeds, trim=st.sampled_from([0.0, 0.1]), background=st.booleans())
def test_log_likelihood_never_falls(name, seed, trim, background):
    X, R, rng = sample(seed)
    density = floored(COMPONENTS[name], X)
    if background:
        density, R = WithBackground(density, X.min(axis=0), X.max(axis=0)), np.c_[0.9 * R, np.full(len(X), 0.1)]
    result = em(density, X, R, rng.uniform(0.5, 2, size=len(X)), tol=0, max_iter=60, trim=trim)
    assert len(result.history) > 2 or result.converged
    assert np.diff(result.history).min(initial=0) >= -1e-9 * abs(result.history[-1])


@components
@modest
@given(seed=seeds)
def test_log_likelihood_never_falls_even_while_the_floor_acts(name, seed):
    """The floor is part of the maximisation: raising eigenvalues maximises subject to Σ ⪰ F."""
    X, R, _ = sample(seed, n=12, J=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = em(floored(COMPONENTS[name], X, share=0.2), X, R, tol=0, max_iter=60).history
    assert np.diff(history).min(initial=0) >= -1e-9 * abs(history[-1])


@components
@modest
@given(seed=seeds)
def test_log_likelihood_reported_is_that_of_the_parameters_reported(name, seed):
    X, R, rng = sample(seed)
    w = rng.uniform(0.5, 2, size=len(X))
    for steps in (1, 4):
        result = em(COMPONENTS[name], X, R, w, max_iter=steps)
        mean, Sigma = result.components.mean, np.broadcast_to(result.components.covariance, (3, 2, 2))
        joint = [np.log(v) + stats.multivariate_normal(m, S).logpdf(X) for v, m, S in zip(result.weight, mean, Sigma)]
        assert result.log_likelihood == pytest.approx(w @ logsumexp(joint, axis=0), rel=1e-10)


@pytest.mark.parametrize("name", SKLEARN)
@modest
@given(seed=seeds)
def test_same_start_and_steps_give_scikit_learns_mixture(name, seed):
    mixture = pytest.importorskip("sklearn.mixture")
    X, R, _ = sample(seed, n=200, D=3)
    R = 0.5 * R + 0.5 * plus_plus(X, 3, np.random.default_rng(0)).toarray()
    start = Mixed(R.mean(axis=0), COMPONENTS[name].fit(X, R))
    precision = np.linalg.inv(start.components.covariance)
    precision = {"diagonal": np.einsum("kdd->kd", precision), "spherical": precision[:, 0, 0], "full": precision,
                 "tied": precision[0]}[name]
    theirs = mixture.GaussianMixture(3, covariance_type=SKLEARN[name], reg_covar=0, tol=0, max_iter=8,
                                     weights_init=start.weight, means_init=start.components.mean,
                                     precisions_init=precision)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs.fit(X)
    assume(theirs.weights_.min() * len(X) > 2)  # on a single row a component collapses, and there is no answer
    ours = em(COMPONENTS[name], X, start.responsibilities(X), tol=-np.inf, max_iter=8)
    assert ours.weight == pytest.approx(theirs.weights_, rel=1e-8)
    assert ours.components.mean == pytest.approx(theirs.means_, rel=1e-8, abs=1e-10)
    assert ours.log_density(X) == pytest.approx(theirs.score_samples(X), rel=1e-8)
    assert ours.responsibilities(X) == pytest.approx(theirs.predict_proba(X), rel=1e-7, abs=1e-12)
    assert (ours.bic, ours.aic) == pytest.approx((theirs.bic(X), theirs.aic(X)), rel=1e-8)


@pytest.mark.parametrize("apart", [3.0, 30.0, 1e3, 1e6])
@pytest.mark.parametrize("name", ["diagonal", "full", "spherical"])
def test_components_far_apart_are_as_exact_as_each_by_itself(name, apart):
    """One product for all components costs digits when they lie far apart: there it must not be used."""
    rng = np.random.default_rng(0)
    own, owner = rng.normal(size=(300, 3)), np.arange(300) % 3
    X = np.round(own * 2**20) / 2**20 + apart * np.eye(3)[owner] * 2
    R = np.eye(3)[owner] * rng.uniform(0.5, 1, size=(300, 1))
    fitted = COMPONENTS[name].fit(X, R)
    for k in range(3):
        rows, w = owner == k, R[owner == k, k]
        Z = (X[rows] - X[rows][0]).astype(np.longdouble)
        mean = w @ Z / w.sum()
        Sigma = (w[:, None] * (Z - mean)).T @ (Z - mean) / w.sum()
        Sigma = {"full": Sigma, "diagonal": np.diag(np.diag(Sigma)), "spherical": np.trace(Sigma) / 3 * np.eye(3)}[name]
        assert fitted.covariance[k] == pytest.approx(Sigma.astype(float), rel=1e-11, abs=1e-12)
        rest = np.broadcast_to(fitted.rest, fitted.mean.shape)[k]  # what rounding took from the mean
        assert (fitted.mean[k] - X[rows][0]) + rest == pytest.approx(mean.astype(float), rel=1e-11, abs=1e-12)


def test_first_m_step_from_labels_is_the_fit_of_a_classifier():
    X, _, rng = sample(1)
    codes = rng.integers(3, size=len(X))
    one_hot = np.eye(3)[codes]
    for name, classifier in (("full", QDA()), ("tied", LDA())):
        result, classifier = em(COMPONENTS[name], X, one_hot, max_iter=1), classifier.fit(X, codes)
        assert result.responsibilities(X) == pytest.approx(classifier.predict_proba(X), rel=1e-9, abs=1e-14)


@components
@modest
@given(seed=seeds)
def test_weights_equal_repetition(name, seed):
    X, R, rng = sample(seed)
    times = rng.integers(0, 4, size=len(X))
    same(em(COMPONENTS[name], X, R, times.astype(float), max_iter=10),
         em(COMPONENTS[name], np.repeat(X, times, axis=0), np.repeat(R, times, axis=0), max_iter=10), rel=1e-7)


@components
@modest
@given(seed=seeds, scale=st.sampled_from([1e-6, 1.0, 1e6]), offset=st.sampled_from([0.0, 1e8]))
def test_order_scale_and_offset_change_nothing(name, seed, scale, offset):
    X, R, rng = sample(seed)
    X = np.round(X * 2**10)  # whole numbers, so that adding the offset loses nothing
    rows, columns, parts = rng.permutation(len(X)), rng.permutation(2), rng.permutation(3)
    one = em(floored(COMPONENTS[name], X), X, R, tol=-1, max_iter=10)
    moved = ((X + offset) * scale)[rows][:, columns]
    other = em(floored(COMPONENTS[name], moved), moved, R[rows][:, parts], tol=-1, max_iter=10)
    back = 2 * len(X) * np.log(scale)
    exact = 1e-8 if scale == 1 or offset == 0 else 1e-4  # 1e8 · 1e±6 is rounded in the 8th digit of the spread
    assert other.weight == pytest.approx(one.weight[parts], rel=exact)
    assert other.log_likelihood + back == pytest.approx(one.log_likelihood, rel=exact)
    mean = one.components.mean[parts][:, columns]
    assert other.components.mean / scale - offset == pytest.approx(mean, rel=exact, abs=1)


@pytest.mark.parametrize("density, draw", [(Bernoulli(smoothing=0.5), lambda rng, p: rng.random((150, 6)) < p),
                                           (Poisson(smoothing=0.5), lambda rng, p: rng.poisson(9 * p, (150, 6)))])
def test_any_density_can_be_a_component(density, draw):
    rng = np.random.default_rng(2)
    low, high = np.full(6, 0.1), np.full(6, 0.8)
    k = rng.random(150) < 0.4
    X = np.where(k[:, None], draw(rng, high), draw(rng, low)).astype(float)
    result = fitted_quietly(Mixture(2, density), X, np.ones((150, 1))).classes[0]
    large = result.components.log_density(np.full((1, 6), X.max())).argmax()
    assert ((result.responsibilities(X).argmax(axis=1) == large) == k).mean() > 0.95
    assert result.n_parameters == 2 * 6 + 1
    assert sorted(result.weight) == pytest.approx([k.mean(), 1 - k.mean()], abs=0.05)


# ------------------------------------------------------------------------------------------------- safeguards

def test_a_collapsing_component_stops_at_the_floor_with_a_warning():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    R = np.array([[1, 0], [1, 0], [1, 0], [0, 1.0]])
    with pytest.warns(UserWarning, match=r"floor holds component\(s\) \[1\]"):
        result = em(Gaussian("diagonal", floor=0.01), X, R)
    assert result.components.variance[1] == 0.01 and result.components.mean[1] == 10
    assert np.isfinite(result.log_likelihood)


def test_without_a_floor_a_collapse_is_an_error_that_names_the_component():
    X, R = np.array([[0.0], [1.0], [2.0], [10.0]]), np.array([[1, 0], [1, 0], [1, 0], [0, 1.0]])
    with pytest.raises(ClassError, match="1"):
        em(Gaussian("diagonal"), X, R)
    with pytest.raises(ValueError, match="mixture of class 0 .* component"):
        Mixture(3, Gaussian("full"), floor=0).fit(X, np.ones((4, 1)))


@components
@modest
@given(seed=seeds)
def test_floored_covariance_is_the_best_of_those_above_the_floor(name, seed):
    X, R, rng = sample(seed, n=30, D=3)
    floor = X.var(axis=0) * rng.uniform(0.1, 1.5, 3)
    gaussian = COMPONENTS[name]
    best = replace(gaussian, floor=floor).fit(X, R)
    Sigma = np.broadcast_to(best.covariance, (3, 3, 3))
    assert np.linalg.eigvalsh(Sigma - np.diag(floor)).min() > -1e-9 * Sigma.max()

    def score(S):
        return sum((R[:, k] @ stats.multivariate_normal(best.mean[k], S[k]).logpdf(X)) for k in range(3))

    for _ in range(20):
        step = rng.normal(size=(3, 3, 3)) * 0.02 * X.var(axis=0).mean()
        step = step + np.swapaxes(step, 1, 2)
        step = {"diagonal": np.einsum("kde,de->kde", step, np.eye(3)), "full": step, "tied": step[:1],
                "spherical": step[:, :1, :1] * np.eye(3), "equal spherical": step[:1, :1, :1] * np.eye(3)}[name]
        other = Sigma + step
        if np.linalg.eigvalsh(other - np.diag(floor)).min() >= 0:
            assert score(other) <= score(Sigma) + 1e-9 * abs(score(Sigma))


def test_a_floor_that_does_not_act_changes_nothing():
    X, R, _ = sample(5)
    for name, density in COMPONENTS.items():
        plain, safe = em(density, X, R, max_iter=20), em(floored(density, X), X, R, max_iter=20)
        same(plain, safe, rel=1e-8)


def test_an_empty_component_is_started_anew():
    X = np.r_[np.random.default_rng(0).normal(size=(40, 1)), np.random.default_rng(1).normal(9, 1, size=(20, 1))]
    with pytest.warns(UserWarning, match="started anew"):
        result = em(floored(Gaussian("diagonal"), X), X, np.c_[np.ones(60), np.zeros(60)])
    assert result.reseeded == (0,)
    assert sorted(result.components.mean[:, 0]) == pytest.approx([X[:40].mean(), X[40:].mean()], abs=0.05)


def test_a_component_that_starts_beyond_all_data_comes_back():
    X, _, _ = sample(3)
    far = Mixed(np.array([0.5, 0.5]), DiagonalNormal(np.array([[0.0, 0.0], [1e4, 1e4]]), np.ones((2, 2))))
    with pytest.warns(UserWarning, match="started anew"):
        result = em(floored(Gaussian("diagonal"), X), X, far.responsibilities(X))
    assert result.weight.min() > 0.01 and np.abs(result.components.mean).max() < 100


def test_a_background_takes_the_noise():
    rng = np.random.default_rng(4)
    clean = rng.normal(size=(200, 2))
    X = np.r_[clean, rng.uniform(-30, 30, size=(60, 2))]
    kept = Mixture(1, Gaussian("full"), background=0.1).fit(X, np.ones((260, 1))).classes[0]
    assert kept.weight[-1] == pytest.approx(60 / 260, abs=0.03)
    assert kept.components.components.mean[0] == pytest.approx(clean.mean(axis=0), abs=0.15)
    assert kept.components.components.covariance[0] == pytest.approx(np.cov(clean.T), abs=0.4)
    assert kept.n_parameters == 2 + 3 + 1
    assert np.isneginf(kept.log_joint(np.array([[99.0, 0.0]]))[0, -1])


def test_a_background_integrates_to_one_and_is_sampled():
    X = np.random.default_rng(0).normal(size=(50, 1))
    mixed = Mixture(1, background=0.2).fit(X, np.ones((50, 1))).classes[0]
    edges = [-12, X.min(), X.max(), 12]
    mass = sum(integrate.quad(lambda x: np.exp(mixed.log_density(np.array([[x]]))[0]), a, b)[0]
               for a, b in zip(edges[:-1], edges[1:]))
    assert mass == pytest.approx(1, abs=1e-8)
    drawn = mixed.sample(3000, np.random.default_rng(1))
    means = [mixed.components.components.mean[0, 0], (X.min() + X.max()) / 2]
    assert drawn.mean() == pytest.approx(mixed.weight @ means, abs=0.1)


def test_a_background_over_a_flat_box_is_refused():
    with pytest.raises(ValueError, match="drop constant"):
        Mixture(1, background=0.1).fit(np.c_[np.arange(9.0), np.ones(9)], np.ones((9, 1)))


def test_trimming_the_outliers_equals_leaving_them_out():
    X, _, _ = sample(6, n=90)
    outliers = 500 + 10 * np.random.default_rng(0).normal(size=(10, 2))
    R = plus_plus(X, 2, np.random.default_rng(0)).toarray()
    clean = em(COMPONENTS["full"], X, R, tol=1e-13, max_iter=3000)
    R = np.r_[R, np.full((10, 2), 0.5)]
    robust = em(COMPONENTS["full"], np.r_[X, outliers], R, tol=1e-13, max_iter=3000, trim=0.1)
    same(robust, clean, rel=1e-5)


@pytest.mark.parametrize("trim", [0.0, 0.1])
@pytest.mark.parametrize("density", [Gaussian("diagonal"), Gaussian(), Histogram(4, smoothing=1.0)], ids=named)
def test_start_from_a_mixture_is_the_start_from_its_responsibilities(density, trim):
    X, R, rng = sample(7, n=25_000, D=20)  # three blocks
    w = rng.uniform(0.5, 2, size=len(X))
    start = em(COMPONENTS["diagonal"], X, R, max_iter=1)
    one, other = (em(density, X, R, w, tol=-np.inf, max_iter=3, trim=trim) for R in (start, start.responsibilities(X)))
    assert one.history == pytest.approx(other.history, rel=1e-12) and len(one.history) == 3
    assert one.mass == pytest.approx(w.sum(), rel=1e-12)
    assert one.log_density(X) == pytest.approx(other.log_density(X), rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("name", ["diagonal", "full", "tied"])
def test_memory_does_not_grow_with_the_rows(name):
    X, R, _ = sample(8, n=60_000, D=20, J=10)
    start = em(COMPONENTS["diagonal"], X, R, max_iter=1)
    peaks = []
    for n in (30_000, 60_000):
        tracemalloc.start()
        em(COMPONENTS[name], X[:n], start, tol=-np.inf, max_iter=2)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.05 * peaks[0]


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_row_without_density_is_told_by_its_number():
    X, R, _ = sample(9, n=12_000, D=20)
    start = em(COMPONENTS["diagonal"], X, R, max_iter=1)
    X[11_999] = 1e200
    with pytest.raises(ValueError, match="row 11999 has density 0"):
        em(COMPONENTS["diagonal"], X, start)


# ------------------------------------------------------------------------------------------------- starts

@modest
@given(seed=seeds)
def test_start_joins_each_row_to_its_nearest_centre(seed):
    X, _, rng = sample(seed)
    R = plus_plus(X, 4, np.random.default_rng(seed)).toarray()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    assert np.array_equal(np.sort(R, axis=1)[:, -2:], np.tile([0.0, 1.0], (len(X), 1)))
    owner = R.argmax(axis=1)
    fits = [any((((Z[owner == j] - c) ** 2).sum(axis=1)[:, None]
                 <= ((Z[owner == j][:, None] - Z[owner != j]) ** 2).sum(axis=2).max() + 1e-9).all()
                for c in Z[owner == j]) for j in range(4)]
    assert all(fits) and R.sum(axis=0).min() >= 1


@modest
@given(seed=seeds)
def test_start_does_not_depend_on_the_order_of_rows_and_counts_weights_as_repetition(seed):
    X, _, rng = sample(seed)
    order, times = rng.permutation(len(X)), rng.integers(1, 4, size=len(X))
    R = plus_plus(X, 3, np.random.default_rng(7), times.astype(float)).toarray()
    reordered = plus_plus(X[order], 3, np.random.default_rng(7), times[order].astype(float)).toarray()
    assert np.array_equal(reordered, R[order])
    repeated = plus_plus(np.repeat(X, times, axis=0), 3, np.random.default_rng(7)).toarray()
    assert np.array_equal(repeated, np.repeat(R, times, axis=0))


def test_fewer_distinct_rows_than_components_end_with_a_warning():
    X = np.repeat([[1.0], [2.0]], 3, axis=0)
    with pytest.warns(UserWarning, match="3 components were asked of 2 distinct"):
        assert plus_plus(X, 3, np.random.default_rng(0)).shape == (6, 2)


def test_a_collapsed_start_is_not_preferred_for_its_likelihood():
    """One row stands apart: a component of its own has a likelihood without bound as the floor falls."""
    X = np.r_[np.random.default_rng(3).normal(size=(200, 1)), [[6.0]]]
    with pytest.warns(UserWarning, match="floor holds"):
        collapsed = em(Gaussian("diagonal", floor=1e-24), X, np.eye(2)[(np.arange(201) == 200).astype(int)])
    chosen = Mixture(2, floor=1e-24, starts=10).fit(X, np.ones((201, 1))).classes[0]
    assert collapsed.log_likelihood > chosen.log_likelihood and chosen.components.variance.min() > 0.01


def test_more_starts_never_give_a_smaller_likelihood():
    X, _, _ = sample(8, J=5)
    best = [Mixture(4, starts=s).fit(X, np.ones((80, 1))).classes[0].log_likelihood for s in (1, 3, 9)]
    assert best == sorted(best)


# ------------------------------------------------------------------------------------------------- how many components

def test_growing_never_loses_likelihood_and_bic_finds_three_groups():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0], [8, 0], [0, 8]], 40, axis=0) + rng.normal(size=(120, 2))
    grown = grow(floored(Gaussian("spherical"), X), X, 5)
    assert [len(g.weight) for g in grown] == [1, 2, 3, 4, 5]
    assert np.diff([g.log_likelihood for g in grown]).min() > -1e-3
    assert np.argmin([g.bic for g in grown]) == 2


def test_held_out_likelihood_finds_three_groups_and_is_the_mean_over_folds():
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0], [8, 0], [0, 8]], 40, axis=0) + rng.normal(size=(120, 2))
    scores = cross_validate(Mixture(1, Gaussian("spherical")), X, [1, 2, 3, 4])
    assert scores.argmax() == 2
    fold, total = np.random.default_rng(0).permutation(120) % 5, 0.0
    for f in range(5):
        train, test = X[fold != f], X[fold == f]
        total += stats.multivariate_normal(train.mean(axis=0), train.var(axis=0).mean() * np.eye(2)).logpdf(test).sum()
    assert scores[0] == pytest.approx(total / 120, rel=1e-10)


# ------------------------------------------------------------------------------------------------- the density

@components
def test_mixture_integrates_to_one_in_the_plane(name):
    X, _, _ = sample(9)
    mixtures = Mixture(3, COMPONENTS[name]).fit(X, np.ones((80, 1)))
    axes = [np.linspace(x.min() - 15, x.max() + 15, 700) for x in X.T]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    f = np.exp(mixtures.log_density(grid)[:, 0]).reshape(700, 700)
    assert integrate.trapezoid(integrate.trapezoid(f, axes[1]), axes[0]) == pytest.approx(1, abs=1e-6)


def test_samples_follow_the_mixture_of_their_class():
    X = np.r_[np.random.default_rng(0).normal(size=(50, 1)), np.random.default_rng(1).normal(6, 0.5, size=(50, 1))]
    mixtures = Mixture(2).fit(np.r_[X, X + 100], Labels(np.repeat([0, 1], 100), 2))
    k = np.arange(6000) % 2
    x = mixtures.sample(k, np.random.default_rng(2))[:, 0]
    for c, mixed in enumerate(mixtures.classes):
        sd = np.sqrt(mixed.components.variance[:, 0])
        cdf = lambda v: stats.norm.cdf(v[:, None], mixed.components.mean[:, 0], sd) @ mixed.weight  # noqa: E731
        assert stats.kstest(x[k == c], cdf).pvalue > 1e-3


# ------------------------------------------------------------------------------------------------- classifier, network

def labelled(seed, n=120):
    X, _, rng = sample(seed, n=n, J=5)
    return X, (X[:, 0] > np.median(X[:, 0])).astype(int), rng


@components
@pytest.mark.parametrize("losses", [None, [1.0, 7.0]])
def test_network_gives_the_numbers_of_the_classifier(name, losses):
    X, y, rng = labelled(3)
    model = fitted_quietly(MixtureClassifier([2, 3], name, losses=losses), X, y)
    network, Q = model.as_network(), 3 * rng.normal(size=(200, 2))
    expected = np.exp(model.log_joint(Q)) * (1 if losses is None else np.array(losses))
    assert network.outputs(Q) == pytest.approx(expected, rel=1e-10)
    assert np.array_equal(network.predict(Q), model.predict(Q))
    assert network.centre.shape == (5, 2) and network.weight.shape == (2, 5)
    mixed = model.fitted_.classes[1].components
    Sigma = np.broadcast_to(mixed.covariance, (3, 2, 2))
    assert network.norm[2:] == pytest.approx(1 / np.sqrt(np.linalg.det(2 * np.pi * Sigma)), rel=1e-10)


def test_network_underflows_where_the_classifier_still_decides():
    X = np.r_[np.random.default_rng(0).normal(-5, 1, size=(40, 1)), np.random.default_rng(1).normal(5, 1, size=(40, 1))]
    model = MixtureClassifier(1, "equal spherical").fit(X, np.repeat([0, 1], 40))
    far = np.array([[300.0], [-300.0]])
    assert not model.as_network().outputs(far).any()
    posterior, (left, right) = model.predict_proba(far), model.fitted_.classes
    log_odds = [stats.norm.logpdf(far[:, 0], m.components.mean[0, 0], np.sqrt(m.components.variance[0, 0]))
                for m in (left, right)]
    assert posterior == pytest.approx(np.exp(np.array(log_odds) - logsumexp(log_odds, axis=0)).T, abs=1e-12)


@pytest.mark.parametrize("options", [{"background": 0.1}, {"losses": [[0, 1], [5, 0]]}])
def test_what_is_no_network_is_refused(options):
    X, y, _ = labelled(3)
    with pytest.raises(ValueError, match="network needs"):
        fitted_quietly(MixtureClassifier(**options), X, y).as_network()


def test_one_component_is_quadratic_discriminant_analysis():
    X, y, _ = labelled(4)
    ours, qda = MixtureClassifier(1, "full").fit(X, y), QDA().fit(X, y)
    assert ours.log_joint(X) == pytest.approx(qda.log_joint(X), rel=1e-8)


def test_mixtures_of_naive_components_are_not_naive():
    """Two crossing bands: independent features in each component, dependent ones in the class."""
    rng = np.random.default_rng(0)
    y = np.arange(400) % 2
    t = rng.choice([-2.0, 2.0], size=400)
    X = np.c_[t, np.where(y, t, -t)] + 0.5 * rng.normal(size=(400, 2))
    assert MixtureClassifier(1).fit(X, y).score(X, y) < 0.7 < 0.98 < MixtureClassifier(2).fit(X, y).score(X, y)


def test_a_mixture_is_a_density_like_any_other():
    X, y, _ = labelled(4)
    ours = MixtureClassifier(2, "full", losses=[1, 3])
    plain = BayesClassifier(Mixture(2, Gaussian("full")), losses=[1, 3])
    assert np.array_equal(ours.fit(X, y).risk(X), plain.fit(X, y).risk(X))


def test_same_seed_same_model_and_order_of_rows_does_not_matter():
    X, y, rng = labelled(5)
    order = rng.permutation(len(X))
    one, other = (fitted_quietly(MixtureClassifier(3, seed=1), X[o], y[o]) for o in (slice(None), order))
    assert one.log_joint(X) == pytest.approx(other.log_joint(X), rel=1e-6)


@pytest.mark.parametrize("options, message", [
    ({"components": "round"}, "one of diagonal, full"), ({"k": 0}, "k must be at least 1"), ({"k": 1.5}, "whole"),
    ({"floor": -1}, "floor"),
    ({"k": [1, 2, 3]}, "3 for 2 classes"), ({"trim": 1.0}, "trim"), ({"background": 1.0}, "background"),
    ({"starts": 0}, "starts"), ({"components": Gaussian("round")}, "shape must be")])
def test_bad_arguments_are_refused_in_words(options, message):
    X, y, _ = labelled(3)
    with pytest.raises(ValueError, match=message):
        MixtureClassifier(**options).fit(X, y)


def test_equal_rows_are_refused():
    with pytest.raises(ValueError, match="rows are equal"):
        Mixture(1).fit(np.ones((5, 2)), np.ones((5, 1)))


def test_a_class_with_fewer_distinct_rows_than_components_is_fitted_with_a_warning():
    X, y = np.array([[0.0], [1.0], [2.0], [5.0], [5.0]]), np.array([0, 0, 0, 1, 1])
    with pytest.warns(UserWarning) as caught:
        model = MixtureClassifier(2, "spherical").fit(X, y)
    assert any("2 components were asked of 1 distinct" in str(w.message) for w in caught)
    assert len(model.fitted_.classes[1].weight) == 1 and np.isfinite(model.log_joint(X)).all()


@pytest.mark.parametrize("model", [
    MixtureClassifier(), MixtureClassifier(components="full", background=0.05, max_iter=50)], ids=named)
def test_passes_scikit_learns_own_checks(model):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = checks.check_estimator(model, on_skip=None, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert [r["check_name"] for r in results if r["status"] == "skipped"] <= ["check_array_api_input"]  # NumPy only


def test_start_from_full_parameters():
    X, _, _ = sample(2)
    start = Mixed(np.array([0.3, 0.7]), normal(np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([np.eye(2)] * 2)))
    joint = np.c_[np.log(0.3) + stats.multivariate_normal([0, 0]).logpdf(X),
                  np.log(0.7) + stats.multivariate_normal([1, 1]).logpdf(X)]
    assert start.responsibilities(X) == pytest.approx(np.exp(joint - logsumexp(joint, axis=1, keepdims=True)), rel=1e-9)
