"""Hyperplanes, least squares, Fisher's projection and the perceptron against closed forms and other libraries."""
import pickle
import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_estimator

from course_lib.data import load
from course_lib.linear import (AMBIGUOUS, FisherProjection, Hyperplane, LeastSquaresClassifier, NotSeparableWarning,
                               Perceptron, fisher_coding, indicator, least_squares, margin, mistake_bound, one_claim,
                               one_versus_one, one_versus_rest, perceptron, perceptron_criterion, rest_claim,
                               separating_plane, signs)
from naming import named

modest = settings(max_examples=25, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def classes(seed, N=60, D=3, K=3):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % K
    return rng.normal(size=(N, D)) @ mixing(rng, D) + 2 * rng.normal(size=(K, D))[y], y, rng


def mixing(rng, D):
    """A random map (D, D) of condition 10 at most."""
    return np.linalg.qr(rng.normal(size=(D, D)))[0] * rng.uniform(0.3, 3, size=D)


def same_up_to_sign(A, B, **tolerance):
    np.testing.assert_allclose(A * np.sign(np.sum(A * B, axis=0)), B, **tolerance)


# Geometry ------------------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.integers(1, 5), st.floats(1e-3, 1e3))
def test_signed_distance_is_the_way_to_the_nearest_point_of_the_plane(seed, D, stretch):
    rng = np.random.default_rng(seed)
    plane, X = Hyperplane(rng.normal(size=D), rng.normal()), rng.normal(size=(20, D))
    feet = plane.projection(X)
    np.testing.assert_allclose(plane.value(feet), 0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(X - feet, axis=1), np.abs(plane.signed_distance(X)), atol=1e-12)
    np.testing.assert_allclose((X - feet) @ plane.w >= 0, plane.signed_distance(X) >= 0)
    stretched = Hyperplane(stretch * plane.w, stretch * plane.w0)  # the same plane
    np.testing.assert_allclose(stretched.signed_distance(X), plane.signed_distance(X), rtol=1e-9, atol=1e-12)


@modest
@given(seeds, st.integers(1, 5))
def test_the_origin_lies_minus_w0_over_the_norm_of_w_from_the_plane(seed, D):
    rng = np.random.default_rng(seed)
    plane = Hyperplane(rng.normal(size=D), rng.normal())
    np.testing.assert_allclose(plane.origin_distance * plane.w / np.linalg.norm(plane.w),
                               plane.projection(np.zeros((1, D)))[0], atol=1e-13)
    assert plane.signed_distance(np.zeros((1, D)))[0] == pytest.approx(-plane.origin_distance)


def test_the_plane_of_a_3_4_5_triangle():
    plane = Hyperplane(np.array([3.0, 4.0]), -10.0)
    assert plane.origin_distance == 2 and plane.signed_distance([[2.0, 1.0]])[0] == 0
    np.testing.assert_allclose(plane.projection([[0.0, 0.0]]), [[1.2, 1.6]])


# Several planes ------------------------------------------------------------------------------------------------------

def least_squares_plane(X, positive):
    f = least_squares(X, positive.astype(int), signs([1, 1]))
    return Hyperplane(f.slopes[:, 0], float(f.intercept[0]))


def test_claims_of_planes_against_the_rest():
    assert rest_claim([[1, -1, -1], [-1, 2, -1], [1, 1, -1], [-1, -1, -1]]).tolist() == [0, 1, AMBIGUOUS, AMBIGUOUS]


def test_votes_of_pairs():
    # pairs (0,1), (0,2), (1,2): 0 beats both; 2 beats both; each beats one, in a circle
    assert one_claim([[-1, -1, -1], [-1, 1, 1], [-1, 1, -1]], 3).tolist() == [0, 2, AMBIGUOUS]


def test_both_schemes_leave_ambiguous_regions_and_one_discriminant_does_not():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = np.array([[0, 2], [2, -1], [-2, -1.2]])[y] + 0.3 * rng.normal(size=(150, 2))
    grid = np.stack(np.meshgrid(np.linspace(-6, 6, 80), np.linspace(-6, 6, 80)), axis=-1).reshape(-1, 2)
    rest = rest_claim(np.stack([p.value(grid) for p in one_versus_rest(least_squares_plane, X, y, 3)], axis=1))
    one = one_claim(np.stack([p.value(grid) for p in one_versus_one(least_squares_plane, X, y, 3)], axis=1), 3)
    assert 0 < np.mean(rest == AMBIGUOUS) < 0.8 and set(rest) == {AMBIGUOUS, 0, 1, 2}
    assert set(one) >= {0, 1, 2}
    discriminants = least_squares(X, y, indicator([50, 50, 50]))(grid)
    assert (np.sort(discriminants, axis=1)[:, -1] > np.sort(discriminants, axis=1)[:, -2]).all()


def test_three_pairs_of_planes_enclose_a_triangle_that_no_class_wins():
    # x < 0 against 1, y < 0 against 0 …: the circle 0 > 1 > 2 > 0 holds at the centre of the three lines
    planes = [Hyperplane(np.array([1.0, 0.0]), -1.0), Hyperplane(np.array([-1.0, 1.0]), 1.0),
              Hyperplane(np.array([0.0, -1.0]), -0.5)]
    at = np.stack([p.value(np.array([[0.0, 0.0], [-9.0, -20.0]])) for p in planes], axis=1)
    # at the origin: −1 → 0 beats 1; +1 → 2 beats 0; −0.5 → 1 beats 2
    assert one_claim(at, 3).tolist() == [AMBIGUOUS, 0]


# Least squares -------------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.integers(1, 4), st.integers(2, 5))
def test_least_squares_agrees_with_scikit_learn_on_the_targets_written_out(seed, D, K):
    X, y, rng = classes(seed, D=D, K=K)
    code, weight = rng.normal(size=(K, 2)), rng.uniform(0.1, 3, size=len(y))
    found, other = least_squares(X, y, code, weight), LinearRegression().fit(X, code[y], weight)
    np.testing.assert_allclose(found.slopes.T, other.coef_, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(found.intercept, other.intercept_, rtol=1e-9, atol=1e-11)


@modest
@given(seeds, st.floats(-5, 5), st.floats(0.01, 5))
def test_any_two_distinct_targets_give_fishers_direction(seed, target, gap):
    X, y, _ = classes(seed, K=2)
    w = least_squares(X, y, np.array([[target], [target + gap]])).slopes
    np.testing.assert_allclose(w / np.linalg.norm(w), (v := FisherProjection().fit(X, y).scalings_) / np.linalg.norm(v),
                               rtol=1e-8, atol=1e-10)


@modest
@given(seeds, st.integers(3, 40))
def test_fishers_targets_put_the_boundary_through_the_overall_mean(seed, first):
    X, _, _ = classes(seed)
    y = (np.arange(60) >= first).astype(int)
    model = LeastSquaresClassifier(fisher_coding).fit(X, y)
    assert model.intercept_[0] == pytest.approx(-model.coef_[0] @ X.mean(axis=0), abs=1e-10)
    # Bishop 4.37: (S_W + N₁N₂/N S_B) w = N (m₂ − m₁), with these targets
    m = [X[y == k].mean(axis=0) for k in (0, 1)]
    S_W = sum((X[y == k] - m[k]).T @ (X[y == k] - m[k]) for k in (0, 1))
    S = S_W + first * (60 - first) / 60 * np.outer(m[1] - m[0], m[1] - m[0])
    np.testing.assert_allclose(S @ model.coef_[0], 60 * (m[1] - m[0]), rtol=1e-8, atol=1e-9)


def test_zero_one_and_plus_minus_targets_decide_alike():
    X, y, _ = classes(3, K=2)
    for coding in (indicator, signs):
        model = LeastSquaresClassifier(coding).fit(X, y)
        reference = LinearRegression().fit(X, y).predict(X) > 0.5
        assert (model.predict(X) == reference).all()


@modest
@given(seeds, st.integers(2, 4))
def test_the_values_of_the_indicator_fit_sum_to_one(seed, K):
    X, y, _ = classes(seed, K=K)
    np.testing.assert_allclose(LeastSquaresClassifier().fit(X, y)._scores(X).sum(axis=1), 1, atol=1e-12)


def test_an_ill_conditioned_fit_keeps_the_digits_that_normal_equations_lose():
    x = np.linspace(0, 1, 40)
    X = x[:, None] ** np.arange(1, 9)  # condition 1e9 after standardising: the square is beyond double precision
    y = (np.sin(9 * x) > 0).astype(int)
    found = least_squares(X, y, indicator([1, 1]))(X)[:, 1]
    Q = np.linalg.qr(np.polynomial.legendre.legvander(2 * x - 1, 8))[0]  # the same space in a good basis
    np.testing.assert_allclose(found, Q @ (Q.T @ y), atol=1e-9)


def test_the_middle_of_three_classes_in_a_row_is_masked():
    x = np.repeat([-4.0, 0.0, 4.0], 30) + np.tile(np.linspace(-1, 1, 30), 3)
    model = LeastSquaresClassifier().fit(x[:, None], np.repeat([0, 1, 2], 30))
    assert np.mean(model.predict(x[30:60, None]) == 1) < 0.05  # though the classes do not overlap at all


def test_a_coding_for_two_classes_refuses_three():
    X, y, _ = classes(0)
    with pytest.raises(ValueError, match="of two classes, got 3: use the coding `indicator`"):
        LeastSquaresClassifier(fisher_coding).fit(X, y)


# Fisher --------------------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.integers(1, 5), st.integers(2, 5))
def test_fisher_solves_the_generalised_eigenproblem(seed, D, K):
    X, y, _ = classes(seed, N=20 * K, D=D, K=K)
    fisher, n = FisherProjection().fit(X, y), min(K - 1, D)
    means = np.stack([X[y == k].mean(axis=0) for k in range(K)])
    S_W = (X - means[y]).T @ (X - means[y])
    S_B = (means[y] - X.mean(axis=0)).T @ (means[y] - X.mean(axis=0))
    values, W = eigh(S_B, S_W / (len(X) - K))
    same_up_to_sign(fisher.scalings_, W[:, ::-1][:, :n], rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fisher.eigenvalues_, values[::-1][:n] / (len(X) - K), rtol=1e-8, atol=1e-11)
    np.testing.assert_allclose(fisher.scalings_.T @ S_W @ fisher.scalings_, (len(X) - K) * np.eye(n), atol=1e-7)
    residual = S_B @ fisher.scalings_ - S_W @ fisher.scalings_ * fisher.eigenvalues_
    size = np.abs(S_B) @ np.abs(fisher.scalings_) + np.abs(S_W) @ np.abs(fisher.scalings_) * fisher.eigenvalues_
    np.testing.assert_allclose(residual / size.max(), 0, atol=1e-12)


@modest
@given(seeds)
def test_two_classes_project_on_the_whitened_difference_of_the_means(seed):
    X, y, rng = classes(seed, K=2)
    w = FisherProjection().fit(X, y).scalings_[:, 0]
    d = X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0)
    S_W = sum(np.cov(X[y == k].T) * (np.sum(y == k) - 1) for k in (0, 1))
    expected = np.linalg.solve(S_W, d)
    np.testing.assert_allclose(w / np.linalg.norm(w), expected / np.linalg.norm(expected), rtol=1e-8, atol=1e-10)
    others = rng.normal(size=(200, 3))
    J = lambda v: (v @ d) ** 2 / np.einsum("...i,ij,...j", v, S_W, v)  # noqa: E731
    assert (J(others) <= J(w) * (1 + 1e-12)).all()


@modest
@given(seeds)
def test_projected_rows_agree_with_scikit_learn(seed):
    X, y, _ = classes(seed, N=90)
    ours = FisherProjection().fit_transform(X, y)
    theirs = LinearDiscriminantAnalysis(solver="svd").fit(X, y)
    projected = theirs.transform(X)
    scale = np.linalg.norm(projected, axis=0) / np.linalg.norm(ours, axis=0)  # N−K here as in R, N there since 1.9
    same_up_to_sign(ours * scale, projected, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(FisherProjection().fit(X, y).explained_variance_ratio_, theirs.explained_variance_ratio_,
                               rtol=1e-9)


@modest
@given(seeds)
def test_an_affine_map_of_the_rows_leaves_their_projections(seed):
    X, y, rng = classes(seed)
    A, b = mixing(rng, 3), 10 * rng.normal(size=3)
    before, after = FisherProjection().fit_transform(X, y), FisherProjection().fit_transform(X @ A + b, y)
    np.testing.assert_allclose(after, before, rtol=1e-7, atol=1e-8)


@modest
@given(seeds, st.sampled_from([LeastSquaresClassifier, FisherProjection]))
def test_weights_are_repetitions(seed, kind):
    X, y, rng = classes(seed)
    weight = rng.integers(0, 4, size=60)
    weight[:3] = 1  # every class keeps a row
    output = "transform" if kind is FisherProjection else "decision_function"
    weighted = kind().fit(X, y, sample_weight=weight)
    repeated = kind().fit(np.repeat(X, weight, 0), np.repeat(y, weight))
    np.testing.assert_allclose(getattr(weighted, output)(X), getattr(repeated, output)(X), rtol=1e-8, atol=1e-9)


@modest
@given(seeds, st.sampled_from([LeastSquaresClassifier, FisherProjection]))
def test_the_order_of_rows_and_features_does_not_matter(seed, kind):
    X, y, rng = classes(seed)
    output = "transform" if kind is FisherProjection else "decision_function"
    rows, columns = rng.permutation(60), rng.permutation(3)
    plain, mixed = kind().fit(X, y), kind().fit(X[rows][:, columns], y[rows])
    np.testing.assert_allclose(getattr(mixed, output)(X[:, columns]), getattr(plain, output)(X), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", [LeastSquaresClassifier, FisherProjection])
@pytest.mark.parametrize("unit, shift", [(1e6, 0), (1e-6, 0), (1, 1e8), (1e6, -1e8)])
def test_units_and_offsets_change_nothing(kind, unit, shift):
    X, y, _ = classes(1)
    X = np.round(X)  # so that a shift of 1e8 loses nothing
    output = "transform" if kind is FisherProjection else "decision_function"
    moved = X * unit + shift
    np.testing.assert_allclose(getattr(kind().fit(moved, y), output)(moved), getattr(kind().fit(X, y), output)(X),
                               rtol=1e-10, atol=1e-10)


def test_weights_that_add_up_to_no_more_than_the_classes_are_refused():
    X, y, _ = classes(0)
    with pytest.raises(ValueError, match="must exceed the number of classes, got 1 rows in 3 classes"):
        FisherProjection().fit(X, y, sample_weight=np.full(60, 1 / 60))


def test_a_feature_constant_within_the_classes_is_refused_and_a_ridge_is_the_remedy():
    X, y, _ = classes(0)
    X = np.column_stack([X, y])
    with pytest.raises(ValueError, match="variance of feature 3 is zero in every class.*ridge"):
        FisherProjection().fit(X, y)
    assert FisherProjection(ridge=0.01).fit_transform(X, y).shape == (60, 2)


# Perceptron ----------------------------------------------------------------------------------------------------------

def separable(seed, N=80, D=2, gap=0.05):
    rng = np.random.default_rng(seed)
    w, X = rng.normal(size=D), rng.normal(size=(4 * N, D))
    value = X @ w / np.linalg.norm(w) - 0.3
    keep = np.flatnonzero(np.abs(value) > gap)[:N]
    return X[keep], np.where(value[keep] > 0, 1.0, -1.0)


def row_by_row(X, t, epochs):
    """The rule as it is written in textbooks."""
    w, mistakes = np.zeros(X.shape[1] + 1), 0
    for _ in range(epochs):
        before = mistakes
        for x, s in zip(np.column_stack([np.ones(len(X)), X]), t):
            if s * (w @ x) <= 0:
                w, mistakes = w + s * x, mistakes + 1
        if mistakes == before:
            break
    return w, mistakes


@modest
@given(seeds, st.integers(5, 300))
def test_looking_ahead_makes_the_updates_of_a_loop_over_rows(seed, N):
    rng = np.random.default_rng(seed)
    X, t = rng.integers(-8, 9, size=(N, 3)).astype(float), rng.choice([-1.0, 1.0], size=N)  # exact in any order of sums
    run = perceptron(X, t, epochs=1)
    w, mistakes = row_by_row(X, t, 1)
    assert run.mistakes == mistakes
    if not run.converged:
        np.testing.assert_array_equal(np.r_[run.plane.w0, run.plane.w], w)


@modest
@given(seeds, st.sampled_from([None, 0, 1]))
def test_updates_stay_within_the_bound_of_novikoff(seed, order):
    X, t = separable(seed)
    run = perceptron(X, t, 10**5, None if order is None else np.random.default_rng(order))
    assert run.converged and margin(X, t, run.plane) > 0
    assert run.mistakes <= mistake_bound(X, t, separating_plane(X, t))
    assert run.mistakes <= mistake_bound(X, t, run.plane)


@modest
@given(seeds)
def test_the_rule_follows_the_slope_of_the_criterion(seed):
    X, t = separable(seed)
    rng = np.random.default_rng(seed)
    v, h = rng.normal(size=3), 1e-6
    at = lambda v: perceptron_criterion(X, t, Hyperplane(v[1:], v[0]))  # noqa: E731
    wrong = t * (X @ v[1:] + v[0]) <= 0
    slope = [(at(v + d) - at(v - d)) / (2 * h) for d in h * np.eye(3)]
    expected = -(t[wrong, None] * np.column_stack([np.ones(wrong.sum()), X[wrong]])).sum(axis=0)
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-3)  # a row may cross the plane within h
    assert at(v) >= 0 and perceptron_criterion(X, t, separating_plane(X, t)) == 0


def test_banknotes_are_separated_in_six_updates():
    X, y = load("banknote").Xy()
    model = Perceptron().fit((X - X.mean(axis=0)) / X.std(axis=0), y)
    assert model.converged_ and model.mistakes_ == 6


def test_the_bound_is_refused_for_a_plane_that_does_not_separate():
    X, t = separable(0)
    with pytest.raises(ValueError, match="needs a plane that separates"):
        mistake_bound(X, t, Hyperplane(np.array([1.0, 0.0]), 100.0))


def test_the_second_label_in_sorted_order_is_the_positive_side():
    X, t = separable(1)
    model = Perceptron().fit(X, np.where(t > 0, "yes", "no"))
    assert model.classes_.tolist() == ["no", "yes"]
    np.testing.assert_array_equal(model.decision_function(X) > 0, t > 0)
    swapped = Perceptron().fit(X, np.where(t > 0, "a", "b"))
    np.testing.assert_allclose(swapped.coef_, -model.coef_)


def test_weights_stay_bounded_where_the_classes_overlap_and_the_best_epoch_is_kept():
    rng = np.random.default_rng(5)
    X, t = rng.normal(size=(200, 2)), rng.choice([-1.0, 1.0], size=200)
    runs = [perceptron(X, t, epochs) for epochs in (10, 100, 1000)]
    assert [run.converged for run in runs] == [False] * 3
    R = np.sqrt(1 + (X**2).sum(axis=1)).max()
    assert all(np.hypot(np.linalg.norm(run.plane.w), run.plane.w0) < 20 * R for run in runs)  # 10⁵ updates of length R
    errors = [np.sum(t * run.plane.value(X) <= 0) for run in runs]
    assert errors == sorted(errors, reverse=True)


def test_a_seed_repeats_the_order_of_the_rows():
    X, t = separable(2)
    one, two, three = (Perceptron(seed=s).fit(X, t.astype(int)).coef_ for s in (7, 7, 8))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, three)


def test_three_classes_are_refused_with_the_remedy():
    X, y, _ = classes(0)
    with pytest.raises(ValueError, match="Only binary classification.*got 3 classes; combine planes with `one_versus"):
        Perceptron().fit(X, y)


@modest
@given(seeds)
def test_a_separating_plane_is_found_exactly_where_one_exists(seed):
    X, t = separable(seed, N=30)
    assert margin(X, t, separating_plane(X, t)) > 0
    X, t = np.vstack([X, X[t > 0].mean(axis=0)]), np.r_[t, -1.0]  # an inner point of one class, labelled as the other
    assert separating_plane(X, t) is None


# scikit-learn --------------------------------------------------------------------------------------------------------

SINGULAR = "the sample is singular within the classes: ridge > 0 is the remedy"
EXPECTED = {"check_sample_weights_shape": SINGULAR, "check_sample_weights_not_overwritten": SINGULAR,
            "check_sample_weight_equivalence_on_dense_data": SINGULAR}


@pytest.mark.parametrize("estimator, expected", [
    (LeastSquaresClassifier(), {}), (Perceptron(), {}), (FisherProjection(ridge=0.01), {}),
    (FisherProjection(), EXPECTED)], ids=named)
def test_scikit_learns_own_checks(estimator, expected):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=expected, on_fail=None, on_skip=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    # skipped: only what needs the environment variable SCIPY_ARRAY_API
    assert {r["check_name"] for r in results if r["status"] == "skipped"} <= {"check_array_api_input"}
    assert sorted({r["check_name"] for r in results if r["status"] == "xfail"}) == sorted(expected)


def test_a_pickle_gives_the_same_projection():
    X, y = load("iris").Xy()
    fisher = FisherProjection().fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fisher)).transform(X), fisher.transform(X))


def test_coordinates_have_names():
    assert FisherProjection().fit(*load("iris").Xy()).get_feature_names_out().tolist() == ["fisherprojection0",
                                                                                           "fisherprojection1"]


def test_fits_take_little_memory_beside_the_data():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100_000, 20)), rng.integers(5, size=100_000)
    for fit in (LeastSquaresClassifier().fit, FisherProjection().fit):
        tracemalloc.start()
        fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 0.25 * X.nbytes  # integer labels and their codes alone are a twentieth each


def test_the_perceptron_warns_when_the_epochs_run_out():
    with pytest.warns(NotSeparableWarning, match="3 epochs"):
        Perceptron(epochs=3).fit([[0.0], [1.0], [2.0]], [0, 1, 0])
