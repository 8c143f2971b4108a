"""Decisions, exact risks and scores."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, special, stats
from sklearn import metrics
from statsmodels.stats.contingency_tables import mcnemar

from course_lib.decision import (auc, average_risk, brier_score, correct_priors, decide, expected_loss, log_loss,
                                 log_posterior, log_sigmoid, logit, logsumexp, loss_matrix, normal_boundary,
                                 normal_risk, paired_comparison, posterior, roc_curve, sigmoid)

modest = settings(max_examples=30, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def close(found, expected, rtol=1e-12, atol=1e-14):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


# Logarithms -------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.sampled_from([1.0, 1e3, 1e6]), st.sampled_from([0, 1, -1]))
def test_logsumexp_is_scipys_on_every_axis(seed, spread, axis):
    a = np.random.default_rng(seed).normal(scale=spread, size=(5, 4))
    a[0, 0] = -np.inf
    close(logsumexp(a, axis), special.logsumexp(a, axis=axis))


def test_a_row_far_below_the_others_keeps_its_digits():
    a = np.array([[0.0, 1.0], [-1e5, -1e5 + 1]])
    close(posterior(a)[0], posterior(a)[1])
    close(logsumexp(a)[1] + 1e5, logsumexp(a)[0], 1e-10)


@modest
@given(st.floats(-700, 700))
def test_sigmoid_and_logit_are_scipys_and_invert_each_other(a):
    close(sigmoid(a), special.expit(a), 1e-12, 0)
    close(log_sigmoid(a), special.log_expit(a), 1e-12, 0)
    close(sigmoid(-a) + sigmoid(a), 1)
    if abs(a) < 30:
        close(logit(sigmoid(a)), a, 1e-3 if abs(a) > 15 else 1e-8, 1e-9)


def test_sigmoid_and_logit_have_their_limits():
    with np.errstate(over="raise", invalid="raise", divide="raise"):
        close(sigmoid([-1e4, -np.inf, 0.0, np.inf]), [0, 0, 0.5, 1])
    close(logit([0.0, 0.5, 1.0]), [-np.inf, 0, np.inf])


@modest
@given(seeds)
def test_two_classes_have_the_sigmoid_of_their_log_odds(seed):
    a = np.random.default_rng(seed).normal(scale=20, size=(10, 2))
    close(posterior(a)[:, 1], sigmoid(a[:, 1] - a[:, 0]))
    close(log_posterior(a)[:, 0], log_sigmoid(a[:, 0] - a[:, 1]))


# Losses -----------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.integers(2, 5))
def test_with_one_loss_a_class_the_largest_weighted_posterior_wins(seed, K):
    rng = np.random.default_rng(seed)
    P, stake = rng.dirichlet(np.ones(K), 50), rng.exponential(size=K)
    np.testing.assert_array_equal(decide(P, stake), (stake * P).argmax(axis=1))
    np.testing.assert_array_equal(decide(P), P.argmax(axis=1))


@modest
@given(seeds, st.integers(2, 4), st.floats(0.01, 0.9))
def test_not_deciding_at_a_constant_price_is_chows_rule(seed, K, price):
    P = np.random.default_rng(seed).dirichlet(np.ones(K), 50)
    L = np.column_stack([1 - np.eye(K), np.full(K, price)])
    np.testing.assert_array_equal(decide(P, L) == K, P.max(axis=1) < 1 - price)


@modest
@given(seeds)
def test_no_other_rule_has_a_smaller_average_risk(seed):
    rng = np.random.default_rng(seed)
    P, L = rng.dirichlet(np.ones(3), 40), rng.exponential(size=(3, 4))
    best = expected_loss(P, L)[np.arange(40), decide(P, L)].sum()
    for _ in range(20):
        assert expected_loss(P, L)[np.arange(40), rng.integers(0, 4, 40)].sum() >= best - 1e-12


def test_average_risk_counts_losses_row_by_row():
    y, a, L = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2]), np.array([[0, 1, 0.2], [10, 0, 0.3]])
    assert average_risk(y, a, L) == pytest.approx((0 + 1 + 0 + 0.3) / 4)
    assert average_risk(y, a, L, weight=[1, 2, 3, 4]) == pytest.approx((2 + 1.2) / 10)
    assert average_risk(y, np.array([0, 1, 0, 1])) == 0.5
    assert average_risk(y, np.array([0, 1, 0, 1]), [3.0, 5.0]) == pytest.approx((3 + 5) / 4)


@pytest.mark.parametrize("losses, words", [(np.eye(3), r"shape \(2,\), \(2, 2\) or \(2, 3\)"), ([1, 2, 3], "shape"),
                                           ([[0, np.inf], [1, 0]], "must be finite")])
def test_losses_of_a_wrong_shape_are_refused(losses, words):
    with pytest.raises(ValueError, match=words):
        loss_matrix(losses, 2)


@modest
@given(seeds, st.integers(2, 4))
def test_corrected_priors_give_the_posterior_of_the_other_priors(seed, K):
    rng = np.random.default_rng(seed)
    log_likelihood, (old, new) = rng.normal(size=(20, K)), rng.dirichlet(np.ones(K), 2)
    before, after = (posterior(log_likelihood + np.log(priors)) for priors in (old, new))
    close(correct_priors(before, old, new), after, 1e-10)


# Two normals ------------------------------------------------------------------------------------------------

def weighted(x, mean, sd, weight):
    return [w * stats.norm(m, s).pdf(x) for m, s, w in zip(mean, sd, weight)]


plain_means = st.integers(-5000, 5000).map(lambda i: i / 1000)
means, sds, shares = st.floats(-5, 5), st.floats(0.2, 5), st.floats(0.02, 0.98)


@modest
@given(means, means, sds, sds, shares)
def test_the_risk_is_the_area_under_the_lower_weighted_density(m0, m1, s0, s1, share):
    args = (m0, m1), (s0, s1), (1 - share, share)
    x = np.linspace(-60, 60, 120_001)
    assert normal_risk(*args) == pytest.approx(np.minimum(*weighted(x, *args)).sum() * (x[1] - x[0]), abs=1e-6)


@modest
@given(plain_means, plain_means, sds, sds, shares)
def test_the_weighted_densities_cross_at_the_boundary_points_and_nowhere_else(m0, m1, s0, s1, share):
    args = (m0, m1), (s0, s1), (1 - share, share)
    points = normal_boundary(*args)
    assert len(points) <= 2 and (np.diff(points) > 0).all()
    edges = np.concatenate([[-1e6], points, [1e6]])
    gap = lambda x: np.log((1 - share) / share) + stats.norm(m0, s0).logpdf(x) - stats.norm(m1, s1).logpdf(x)
    for point in points:
        near = 1e-4 * (1 + abs(point))
        slope = (gap(point + near) - gap(point - near)) / (2 * near)
        assert abs(gap(point)) <= 1e-6 * (1 + abs(slope * point)) + 1e-7
    for left, right in zip(edges, edges[1:]):
        values = gap(np.linspace(left, right, 203)[1:-1])
        assert min((values > 0).sum(), (values < 0).sum()) <= 1


@pytest.mark.parametrize("mean, sd, weight, count", [((0, 2), (1, 1), (0.5, 0.5), 1), ((0, 0), (1, 3), (0.5, 0.5), 2),
                                                     ((0, 0), (1, 3), (0.01, 0.99), 0), ((0, 0), (1, 1), (0.5, 0.5), 0),
                                                     ((0, 0), (1, 1), (0.2, 0.8), 0), ((0, 1), (1, 1), (1e-300, 1), 1)])
def test_the_boundary_of_two_normals_has_0_1_or_2_points(mean, sd, weight, count):
    assert len(normal_boundary(mean, sd, weight)) == count


def test_the_boundary_keeps_its_digits_far_from_zero_and_when_the_spreads_nearly_agree():
    near = normal_boundary((0.0, 2.0), (1.0, 1.5))
    close(normal_boundary((1e8, 1e8 + 2), (1.0, 1.5)) - 1e8, near, 1e-7)
    for gap in (1e-3, 1e-6, 1e-9, 1e-12):
        point = normal_boundary((0.0, 2.0), (1.0, 1.0 + gap), (0.3, 0.7))
        log_ratio = lambda x: np.log(3 / 7) + stats.norm(0, 1).logpdf(x) - stats.norm(2, 1 + gap).logpdf(x)
        exact = optimize.brentq(log_ratio, 0, 2, xtol=1e-15)
        assert np.abs(point - exact).min() < 1e-10


@modest
@given(means, means, sds, sds, shares, st.floats(-3, 3))
def test_a_moved_boundary_costs_more(m0, m1, s0, s1, share, move):
    args = (m0, m1), (s0, s1), (1 - share, share)
    points = normal_boundary(*args)
    assert normal_risk(*args, points=points + move) >= normal_risk(*args) - 1e-12


def test_of_two_normals_that_all_but_agree_the_heavier_is_chosen_everywhere():
    for gap in (0.0, 1e-298, -1e-298, 1e-17):
        assert normal_risk((gap, 0.0), (1.0, 1.0), (0.75, 0.25)) == pytest.approx(0.25)


def test_the_risk_of_a_rule_that_never_changes_its_mind_is_the_other_weight():
    assert normal_risk((0, 1), (1, 1), (0.3, 0.7), points=[], first=0) == pytest.approx(0.7)
    assert normal_risk((0, 0), (1, 1), (0.3, 0.7)) == pytest.approx(0.3)
    assert normal_risk((0, 2), (1, 1)) == pytest.approx(stats.norm.cdf(-1))


# Scores -----------------------------------------------------------------------------------------------------

@modest
@given(seeds, st.integers(2, 4))
def test_log_loss_and_brier_score_are_scikit_learns(seed, K):
    rng = np.random.default_rng(seed)
    P, w = rng.dirichlet(np.ones(K), 30), rng.exponential(size=30)
    y = np.concatenate([np.arange(K), rng.integers(0, K, 30 - K)])
    close(log_loss(P, y), metrics.log_loss(y, P), 1e-10)
    close(log_loss(P, y, w), metrics.log_loss(y, P, sample_weight=w), 1e-10)
    close(brier_score(P, y), np.mean([sum((p[k] - (k == t)) ** 2 for k in range(K)) for p, t in zip(P, y)]))
    if K == 2:
        close(brier_score(P, y), 2 * metrics.brier_score_loss(y, P[:, 1]), 1e-10)


@modest
@given(seeds)
def test_the_true_posterior_has_the_best_expected_score(seed):
    rng = np.random.default_rng(seed)
    truth, other = rng.dirichlet(np.ones(3), 2)
    for score in (log_loss, brier_score):
        expected = lambda P: sum(truth[k] * score(P[None], [k]) for k in range(3))
        assert expected(truth) <= expected(other) + 1e-12


def test_a_class_called_impossible_that_comes_costs_infinitely_much():
    assert log_loss([[1.0, 0.0]], [1]) == np.inf


@modest
@given(seeds, st.integers(1, 10))
def test_roc_curve_and_area_are_scikit_learns_with_ties(seed, levels):
    rng = np.random.default_rng(seed)
    score, positive = rng.integers(0, levels, 40) / 3.0, np.arange(40) % 3 == 0
    false, true, threshold = roc_curve(score, positive)
    expected = metrics.roc_curve(positive, score, drop_intermediate=False)
    for found, want in zip((false, true, threshold), expected):
        close(found, want)
    pairs = [(p > n) + 0.5 * (p == n) for p in score[positive] for n in score[~positive]]
    close(auc(score, positive), np.mean(pairs))
    close(auc(score + 7, positive), auc(score, positive))


def test_a_roc_curve_of_one_kind_is_refused():
    with pytest.raises(ValueError, match="rows of both kinds, got only positive"):
        auc([1.0, 2.0], [True, True])


@modest
@given(seeds)
def test_the_paired_comparison_is_the_t_statistic_and_mcnemars_test(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.random((2, 80)) < rng.random((2, 1))
    first[0], second[0], second[1] = ~second[0], ~first[0], first[1]
    result = paired_comparison(first, second)
    d = first.astype(float) - second
    assert result.difference == pytest.approx(first.mean() - second.mean(), abs=1e-15)
    if d.std() > 0:
        t = stats.ttest_rel(first.astype(float), second.astype(float)).statistic
        assert result.difference / result.standard_error == pytest.approx(t)
    table = [[np.sum(first & second), result.only_first], [result.only_second, np.sum(~first & ~second)]]
    assert result.p_value == pytest.approx(mcnemar(table, exact=True).pvalue, rel=1e-9)


def test_rules_that_never_differ_have_p_value_one():
    result = paired_comparison([True, False, True], [True, False, True])
    assert (result.difference, result.standard_error, result.p_value) == (0, 0, 1)
    with pytest.raises(ValueError, match="the same rows"):
        paired_comparison([True], [True, False])
