"""Parzen windows against quadrature, SciPy, scikit-learn and the sums written out."""
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from scipy.special import gamma, logsumexp, softmax

from course_lib import kernels as kernels_module
from course_lib.bayes import NaiveBayes
from course_lib.densities import Each
from course_lib.kernels import EPANECHNIKOV, GAUSSIAN, KERNELS, QUARTIC, TRIANGULAR, UNIFORM
from course_lib.parzen import Nearest, Parzen, ParzenClassifier
from course_lib.statistics import Labels
from course_lib.widths import (
    best_width, leave_one_out, loo_errors, loo_log_likelihood, lscv, normal_reference, nrd, nrd0, width_grid)
from naming import named

COMPACT = [UNIFORM, TRIANGULAR, EPANECHNIKOV, QUARTIC]
K_OF_R = {"gaussian": lambda r: np.exp(-r * r / 2), "uniform": lambda r: (r <= 1) * 1.0,
          "triangular": lambda r: np.maximum(1 - r, 0), "epanechnikov": lambda r: np.maximum(1 - r * r, 0),
          "quartic": lambda r: np.maximum(1 - r * r, 0) ** 2}
kernels = pytest.mark.parametrize("name", KERNELS)
seeds = st.integers(0, 2**32 - 1)
modest = settings(max_examples=12, deadline=None)


def sample(seed, n=40, D=2, K=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, D)), np.r_[np.arange(K), rng.integers(K, size=n - K)], rng


def plain(X, name="gaussian", h=1.0):
    return Parzen(h, KERNELS[name]).fit(X, np.ones((len(X), 1)))


def by_hand(Q, X, w, h, name):
    """The estimate written out: Σ w K(ρ/h) / (V h^D Σw), V by radial quadrature."""
    D, r = X.shape[1], np.linalg.norm(Q[:, None] - X, axis=2)
    return K_OF_R[name](r / h) @ w / (volume(name, D) * h**D * w.sum())


def volume(name, D):
    sphere = 2 * np.pi ** (D / 2) / gamma(D / 2)
    top = 40 if name == "gaussian" else 1
    return sphere * integrate.quad(lambda r: r ** (D - 1) * K_OF_R[name](r), 0, top, limit=200)[0]


# ------------------------------------------------------------------------------------------------- kernels

@kernels
@pytest.mark.parametrize("D", [1, 2, 3, 5, 10])
def test_volume_equals_radial_quadrature(name, D):
    assert np.exp(KERNELS[name].log_volume(D)) == pytest.approx(volume(name, D), rel=1e-9)


def test_volumes_in_one_and_two_dimensions_are_those_of_the_textbooks():
    """Silverman (1986), table 3.1 and eq. 4.4: 2, 1, 4/3, 16/15 on the line; π, π/3, π/2, π/3 in the plane."""
    for D, known in ((1, [2, 1, 4 / 3, 16 / 15]), (2, [np.pi, np.pi / 3, np.pi / 2, np.pi / 3])):
        assert np.exp([k.log_volume(D) for k in COMPACT]) == pytest.approx(known, rel=1e-13)


@kernels
@pytest.mark.parametrize("D", [1, 2, 4])
def test_draws_follow_the_kernel(name, D):
    u = KERNELS[name].draw(4000, D, np.random.default_rng(5))
    grid = np.linspace(0, 8 if name == "gaussian" else 1, 2001)
    cdf = integrate.cumulative_simpson(grid ** (D - 1) * K_OF_R[name](grid), x=grid, initial=0)
    cdf /= cdf[-1]
    assert stats.kstest(np.linalg.norm(u, axis=1), lambda r: np.interp(r, grid, cdf)).pvalue > 1e-3
    assert np.abs(u.mean(axis=0)).max() < 4 * u.std() / np.sqrt(4000)


# ------------------------------------------------------------------------------------------------- the density

@kernels
def test_density_integrates_to_one_on_the_line(name):
    X = np.array([[-1.0], [0.2], [0.3], [4.0]])
    f = plain(X, name, 0.7)
    edges = sorted({*(X.ravel() - 0.7), *(X.ravel() + 0.7), *X.ravel(), -12.0, 16.0})
    pieces = [integrate.quad(lambda x: np.exp(f.log_density(np.array([[x]]))[0, 0]), a, b, epsabs=1e-11)[0]
              for a, b in zip(edges[:-1], edges[1:])]
    assert sum(pieces) == pytest.approx(1, abs=1e-9)


@pytest.mark.parametrize("name, tolerance", [("gaussian", 1e-10), ("quartic", 1e-6), ("epanechnikov", 1e-5),
                                             ("triangular", 1e-5), ("uniform", 3e-3)])
def test_density_integrates_to_one_in_the_plane(name, tolerance):
    X = np.array([[0.0, 0.0], [0.5, 0.1], [-0.3, 0.8]])
    f = plain(X, name, 0.6)
    step = 0.01 if name == "gaussian" else 0.004
    axis = np.arange(-4.5, 5.2, step) if name == "gaussian" else np.arange(-1.2, 1.6, step)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    assert np.exp(f.log_density(grid)).sum() * step**2 == pytest.approx(1, abs=tolerance)


@kernels
@modest
@given(seed=seeds, D=st.integers(1, 5))
def test_density_equals_the_sum_written_out(name, seed, D):
    X, _, rng = sample(seed, D=D)
    w, Q = rng.uniform(0.1, 3, size=len(X)), rng.normal(size=(7, D))
    f = Parzen(1.3, KERNELS[name]).fit(X, w[:, None])
    assert np.exp(f.log_density(Q)[:, 0]) == pytest.approx(by_hand(Q, X, w, 1.3, name), rel=1e-9, abs=1e-14)


@modest
@given(seed=seeds)
def test_gaussian_windows_equal_scipys_on_the_line(seed):
    X, _, rng = sample(seed, D=1)
    w, Q = rng.uniform(0.1, 3, size=len(X)), rng.uniform(-6, 6, size=(9, 1))
    theirs = stats.gaussian_kde(X.T, bw_method=0.4 / np.sqrt(np.cov(X.T, aweights=w)), weights=w)
    assert Parzen(0.4).fit(X, w[:, None]).log_density(Q)[:, 0] == pytest.approx(theirs.logpdf(Q.T), rel=1e-10)


@modest
@given(seed=seeds, D=st.integers(1, 6), log_h=st.floats(-6, 3))
def test_log_density_is_exact_however_small_the_density(seed, D, log_h):
    X, _, rng = sample(seed, D=D)
    h, Q = np.exp(log_h), 100 * rng.normal(size=(5, D))
    d2 = ((Q[:, None] - X) ** 2).sum(axis=2)
    exact = logsumexp(-d2 / (2 * h * h), axis=1) - np.log(len(X)) - D * np.log(h) - D / 2 * np.log(2 * np.pi)
    assert plain(X, h=h).log_density(Q)[:, 0] == pytest.approx(exact, rel=1e-12)


def test_extremes_agree_with_arbitrary_precision():
    mpmath = pytest.importorskip("mpmath")
    X, Q, h = np.array([[0.0], [1.0], [2.5]]), np.array([[1e4], [-3e7], [1.7]]), 1e-3
    with mpmath.workdps(60):
        exact = [float(mpmath.log(sum(mpmath.exp(-((mpmath.mpf(q) - x) / mpmath.mpf(h)) ** 2 / 2) for x in X.ravel())
                                  / (3 * mpmath.mpf(h) * mpmath.sqrt(2 * mpmath.pi)))) for q in Q.ravel()]
    assert plain(X, h=h).log_density(Q)[:, 0] == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("h", [0.9, Nearest(4)])
@kernels
@modest
@given(seed=seeds)
def test_weights_equal_repetition(name, h, seed):
    X, codes, rng = sample(seed)
    times, Q = rng.integers(0, 4, size=len(X)), rng.normal(size=(6, 2))
    times[:3] = 1
    weighted = Parzen(h, KERNELS[name]).fit(X, Labels(codes, 3, times.astype(float)))
    repeated = Parzen(h, KERNELS[name]).fit(np.repeat(X, times, axis=0), Labels(np.repeat(codes, times), 3))
    assert np.exp(weighted.log_density(Q)) == pytest.approx(np.exp(repeated.log_density(Q)), rel=1e-11, abs=1e-300)


@kernels
@modest
@given(seed=seeds, scale=st.sampled_from([1e-6, 1.0, 1e6]), offset=st.sampled_from([0.0, 1e8]))
def test_order_scale_and_offset_change_nothing(name, seed, scale, offset):
    X, codes, rng = sample(seed)
    X, Q = np.round(X, 3) * 1024, np.round(rng.normal(size=(6, 2)), 3) * 1024  # so that adding the offset is exact
    X, Q = np.round(X), np.round(Q)
    rows, columns, classes = rng.permutation(40), rng.permutation(2), rng.permutation(3)
    h = 900.5
    one = Parzen(h, KERNELS[name]).fit(X, Labels(codes, 3)).log_density(Q)
    moved = ((X + offset) * scale)[rows][:, columns]
    moved = Parzen(h * scale, KERNELS[name]).fit(moved, Labels(classes[codes[rows]], 3))
    other = moved.log_density(((Q + offset) * scale)[:, columns])[:, classes] + 2 * np.log(scale)
    assert np.exp(other) == pytest.approx(np.exp(one), rel=1e-7 if offset * scale not in (0, 1e8) else 1e-10)


@kernels
def test_hard_labels_equal_their_one_hot_matrix_and_soft_ones_the_sum(name):
    X, codes, rng = sample(3)
    Q, model = rng.normal(size=(8, 2)), Parzen(0.8, KERNELS[name])
    R = rng.dirichlet(np.ones(3), size=40)
    with np.errstate(divide="ignore"):
        by_class = np.log(np.column_stack([by_hand(Q, X, r, 0.8, name) for r in R.T]))
    assert np.array_equal(model.fit(X, Labels(codes, 3)).log_density(Q), model.fit(X, np.eye(3)[codes]).log_density(Q))
    assert np.exp(model.fit(X, R).log_density(Q)) == pytest.approx(np.exp(by_class), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize("D", [2, 5])
@kernels
def test_a_tree_a_product_and_the_size_of_blocks_change_nothing(name, D, monkeypatch):
    X, codes, rng = sample(0, n=900, D=D)
    Q = rng.normal(size=(500, D))
    results = []
    for block in (1, 5000, 2**30):
        monkeypatch.setattr(kernels_module, "BLOCK", block)
        widths = [0.05 * D, 0.1 * D, 0.9 * D]
        results.append(np.exp(Parzen(widths, KERNELS[name]).fit(X, Labels(codes, 3)).log_density(Q)))
    assert results[0] == pytest.approx(results[2], rel=1e-11, abs=1e-300)
    assert results[1] == pytest.approx(results[2], rel=1e-11, abs=1e-300)


@modest
@given(seed=seeds, D=st.integers(1, 6), offset=st.sampled_from([0.0, 1e8]), scale=st.sampled_from([1e-6, 1.0, 1e6]))
def test_close_pairs_are_those_of_all_distances_on_a_lattice(seed, D, offset, scale):
    """Single precision finds them: points exactly on the edge, or tied for the nearest, must not be lost."""
    rng = np.random.default_rng(seed)
    X, points = ((rng.integers(0, 4, size=(n, D)) + offset) * scale for n in (30, 60))
    d2 = ((X[:, None] - points) ** 2).sum(axis=2)
    reach2 = np.sort(d2, axis=1)[:, 3]
    for reach, wanted in ((reach2, d2 <= reach2[:, None]), (None, d2 <= d2.min(axis=1)[:, None])):
        for rows, pairs in kernels_module.Close(points).pairs(X, reach):
            got = wanted[rows].copy()
            if pairs is not None:
                got[pairs[0], pairs[1]] = False
                assert not got.any()
                assert pairs[2] == pytest.approx(d2[rows][pairs[0], pairs[1]], rel=1e-12, abs=0)


@settings(max_examples=100, deadline=None)
@given(seed=seeds, D=st.integers(1, 3), offset=st.sampled_from([0.0, 1e8]), scale=st.sampled_from([1.0, 0.1, 1 / 3]),
       far=st.sampled_from([20, 2**22, 2**52]), flat=st.booleans(), calls=st.sampled_from([0, 30, 2**60]))
def test_cells_hold_every_pair_within_reach_once(seed, D, offset, scale, far, flat, calls):
    """Points on a lattice and one far away, so that many are exactly at the reach and a few cells hold almost all."""
    rng = np.random.default_rng(seed)
    X, points = ((rng.integers(-20, 20, size=(n, D)) // D + offset) * scale for n in (150, 400))
    X[0], points[0], reach = far * scale, -far * scale, rng.integers(1, 12) * scale
    if flat:
        points[:, -1] = points[1, -1]
    found = np.zeros((len(X), len(points)), int)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kernels_module, "CALLS", calls)
        cells = kernels_module.Cells(points, reach)
        for rows, runs, pairs in cells.near(X):
            i, j = pairs or np.ix_(range(len(rows)), np.concatenate([np.arange(400)[run] for run in runs]))
            np.add.at(found, (rows[i], cells.order[j]), 1)
    within = ((X[:, None] - points) ** 2).sum(axis=2) <= reach**2
    assert found.max() <= 1 and found[within].all()


@pytest.mark.parametrize("calls", [0, 2000, 2**60])
@pytest.mark.parametrize("D", [1, 2, 3])
def test_points_exactly_on_the_edge_count_however_they_are_found(D, calls, monkeypatch):
    """Whole coordinates and a reach of 5: distances such as 3, 4, 5 lie on the edge, which the uniform window keeps."""
    rng = np.random.default_rng(D)
    X, Q = (rng.integers(-12, 13, size=(n, D)) + 1e8 for n in (600, 400))
    w = rng.uniform(0.1, 3, size=600)
    monkeypatch.setattr(kernels_module, "BLOCK", 20_000)
    monkeypatch.setattr(kernels_module, "CALLS", calls)
    assert (np.linalg.norm(Q[:, None] - X, axis=2) == 5).any()
    for name in ("uniform", "triangular", "epanechnikov", "quartic"):
        got = np.exp(Parzen(5.0, KERNELS[name]).fit(X, w[:, None]).log_density(Q)[:, 0])
        assert got == pytest.approx(by_hand(Q, X, w, 5.0, name), rel=1e-10, abs=1e-300)


@pytest.mark.parametrize("D", [1, 2, 3, 4, 9])
def test_classes_a_million_deviations_apart_keep_their_digits(D, monkeypatch):
    X, codes, rng = sample(D, n=900, D=D)
    X, codes = 1e8 + X + 1e6 * codes[:, None], codes
    Q = X[::3] + rng.normal(size=(300, D)) / 4
    monkeypatch.setattr(kernels_module, "BLOCK", 20_000)
    for kernel in COMPACT:
        f = Parzen(1.0, kernel).fit(X, Labels(codes, 3))
        d2 = ((Q[:, None] - X) ** 2).sum(axis=2)
        expected = kernel.profile(d2.copy()) @ (np.eye(3)[codes] / np.bincount(codes)) / np.exp(kernel.log_volume(D))
        assert np.exp(f.log_density(Q)) == pytest.approx(expected, rel=1e-10, abs=1e-12)
        assert np.array_equal(f.discriminant(Q).argmax(axis=1), codes[d2.argmin(axis=1)])


@pytest.mark.parametrize("far", [1e7, 1e25])
def test_the_nearest_point_of_a_row_far_away_is_found_where_single_precision_tells_nothing(far):
    X, _, rng = sample(0, n=300, D=5)
    Q = rng.normal(size=(40, 5))
    Q *= far / np.linalg.norm(Q, axis=1, keepdims=True)
    for rows, (i, _, d2) in kernels_module.Close(X).pairs(Q):
        all_d2 = ((Q[rows][:, None] - X) ** 2).sum(axis=2)
        least = np.full(len(all_d2), np.inf)
        np.minimum.at(least, i, d2)
        assert least == pytest.approx(all_d2.min(axis=1), rel=1e-12)


@pytest.mark.parametrize("D", [2, 5])
def test_points_tied_for_the_nearest_all_count_whatever_finds_them(D, monkeypatch):
    rng = np.random.default_rng(1)
    X, codes = rng.integers(0, 3, size=(400, D)).astype(float), rng.integers(3, size=400)
    Q = rng.integers(0, 3, size=(300, D)) + 0.5
    f = Parzen(0.1, EPANECHNIKOV).fit(X, Labels(codes, 3))
    d2 = ((Q[:, None] - X) ** 2).sum(axis=2)
    share = np.eye(3)[codes] / np.bincount(codes)
    with np.errstate(divide="ignore"):
        expected = np.log((d2 == d2.min(axis=1)[:, None]) @ share)
    for block in (1000, 2**30):
        monkeypatch.setattr(kernels_module, "BLOCK", block)
        assert softmax(f.discriminant(Q), axis=1) == pytest.approx(softmax(expected, axis=1), rel=1e-12, abs=0)


@pytest.mark.parametrize("h", [0.02, 0.5, 50.0])
def test_never_holds_all_candidates(h):
    X = np.random.default_rng(0).normal(size=(20_000, 2))
    f = plain(X, "epanechnikov", h)
    f.log_density(X[:2])
    tracemalloc.start()
    f.log_density(X[:4000])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20 < 4000 * 20_000 * 8 / 50


@kernels
def test_never_holds_all_distances(name):
    X = np.random.default_rng(0).normal(size=(3000, 5))
    f = plain(X, name, 2.0)
    tracemalloc.start()
    f.log_density(X)
    leave_one_out(X[:1500], np.ones((1500, 1)), [1.0, 2.0], KERNELS[name])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**20 < 3000 * 3000 * 8 / 8


# ------------------------------------------------------------------------------------------------- several widths

@kernels
def test_own_widths_keep_their_normalisers(name):
    X, codes, rng = sample(7)
    Q, h = rng.normal(size=(8, 2)), [0.5, 1.0, 2.0]
    joint = Parzen(h, KERNELS[name]).fit(X, Labels(codes, 3)).log_density(Q)
    for k in range(3):
        assert np.exp(joint[:, k]) == pytest.approx(
            by_hand(Q, X[codes == k], np.ones((codes == k).sum()), h[k], name), rel=1e-9, abs=1e-15)


def test_a_rule_gives_each_class_its_own_width():
    X, codes, _ = sample(1)
    f = Parzen(normal_reference).fit(X, Labels(codes, 3))
    assert f.h == pytest.approx([normal_reference(X[codes == k]) for k in range(3)])


@kernels
@pytest.mark.parametrize("k", [1, 3, 5])
def test_variable_windows_hold_k_points(name, k):
    X, _, rng = sample(2)
    Q, kernel = rng.normal(size=(30, 2)), KERNELS[name]
    h2 = Nearest(k).squared(Q, X, np.ones(len(X)), kernel)
    r = np.linalg.norm(Q[:, None] - X, axis=2)
    if name == "gaussian":
        assert np.sqrt(h2) == pytest.approx(np.sort(r, axis=1)[:, k - 1])
    else:
        assert ((K_OF_R[name](r / np.sqrt(h2 * (1 + 1e-12))[:, None]) > 1e-9).sum(axis=1) == k).all()


def test_variable_windows_do_not_integrate_to_one():
    """Far away h(x) grows with |x|, so the nearest-neighbour estimate falls like 1/|x|: its integral has no limit."""
    f = Parzen(Nearest(3), UNIFORM).fit(np.random.default_rng(0).normal(size=(20, 1)), np.ones((20, 1)))

    def mass(top):
        x = np.geomspace(10, top, 4001)
        return integrate.trapezoid(np.exp(f.log_density(x[:, None])[:, 0]), x)

    assert mass(1e4) - mass(1e2) == pytest.approx(3 / 20 / 2 * np.log(100), rel=0.05)
    with pytest.raises(ValueError, match="no density"):
        f.sample(np.zeros(3, int), np.random.default_rng(0))


def test_variable_windows_survive_tied_points():
    X = np.zeros((6, 2))
    f = Parzen(Nearest(3), UNIFORM).fit(X, Labels(np.array([0, 0, 0, 0, 1, 1]), 2))
    joint = f.log_density(np.array([[0.0, 0.0], [1.0, 0.0]])) + np.log([4, 2])
    assert np.exp(joint[:, 0] - joint[:, 1]) == pytest.approx([2, 2])


@pytest.mark.parametrize("h", [0.0, -1.0, np.nan, np.inf, [1.0, 0.0, 1.0]])
def test_a_width_that_is_not_positive_is_refused(h):
    X, codes, _ = sample(0)
    with pytest.raises(ValueError, match="positive and finite"):
        Parzen(h).fit(X, Labels(codes, 3))


def test_more_neighbours_than_points_are_refused():
    with pytest.raises(ValueError, match="lower k"):
        Parzen(Nearest(9)).fit(np.zeros((3, 1)), np.ones((3, 1))).log_density(np.zeros((1, 1)))


# ------------------------------------------------------------------------------------------------- far from the data

@pytest.mark.parametrize("name", [k for k in KERNELS if k != "gaussian"])
@modest
@given(seed=seeds)
def test_where_no_window_reaches_the_nearest_points_decide(name, seed):
    X, codes, rng = sample(seed)
    Q = 50 * rng.normal(size=(20, 2))
    f = Parzen(0.3, KERNELS[name]).fit(X, Labels(codes, 3))
    r = np.linalg.norm(Q[:, None] - X, axis=2)
    reached = r.min(axis=1) < 0.3
    assert np.array_equal(np.isneginf(f.log_density(Q)).all(axis=1), ~reached)
    near = f.discriminant(Q)
    assert np.array_equal(near[~reached].argmax(axis=1), codes[r.argmin(axis=1)][~reached])
    assert np.array_equal(near[reached], f.log_density(Q[reached]))
    assert not np.isnan(near).any()


# ------------------------------------------------------------------------------------------------- sampling

@kernels
def test_samples_follow_the_density(name):
    X = np.array([[0.0], [1.0], [5.0]])
    f = Parzen([0.5], KERNELS[name]).fit(X, np.array([[1.0], [2.0], [1.0]]))
    x = f.sample(np.zeros(4000, int), np.random.default_rng(3))[:, 0]
    grid = np.linspace(-4, 9, 40001)
    cdf = integrate.cumulative_trapezoid(np.exp(f.log_density(grid[:, None])[:, 0]), grid, initial=0)
    assert stats.kstest(x, lambda v: np.interp(v, grid, cdf / cdf[-1])).pvalue > 1e-3


def test_samples_come_from_the_class_asked_for():
    X, codes = np.array([[0.0], [0.1], [100.0]]), np.array([0, 0, 1])
    k = np.array([1, 0, 1, 0, 0])
    x = Parzen(0.1).fit(X, Labels(codes, 2)).sample(k, np.random.default_rng(0))
    assert x.shape == (5, 1) and np.array_equal(x[:, 0] > 50, k == 1)


# ------------------------------------------------------------------------------------------------- leave one out

@kernels
@modest
@given(seed=seeds)
def test_leave_one_out_equals_refitting_without_each_row(name, seed):
    X, codes, rng = sample(seed, n=15)
    w, h = rng.uniform(0.5, 2, size=15), [0.4, 1.0, 3.0]
    R = np.eye(3)[codes] * w[:, None]
    got = leave_one_out(X, R, h, KERNELS[name])
    for i in range(15):
        rest = np.arange(15) != i
        kept = np.flatnonzero(R[rest].sum(axis=0) > 0)
        for j, width in enumerate(h):
            refit = Parzen(width, KERNELS[name]).fit(X[rest], R[rest][:, kept]).log_density(X[[i]])[0]
            assert np.exp(got[j, i, kept]) == pytest.approx(np.exp(refit), rel=1e-10, abs=1e-300)
            assert np.isneginf(np.delete(got[j, i], kept)).all()


def test_leave_one_out_likelihood_equals_grid_search_over_folds_of_one():
    neighbors, selection = pytest.importorskip("sklearn.neighbors"), pytest.importorskip("sklearn.model_selection")
    X, h = sample(4, n=60)[0], np.geomspace(0.3, 2, 7)
    search = selection.GridSearchCV(neighbors.KernelDensity(rtol=1e-12), {"bandwidth": h}, cv=selection.LeaveOneOut())
    theirs = search.fit(X).cv_results_["mean_test_score"] * len(X)
    assert loo_log_likelihood(X, h) == pytest.approx(theirs, rel=1e-9)


@kernels
@modest
@given(seed=seeds)
def test_leave_one_out_errors_equal_those_of_refitted_classifiers(name, seed):
    X, codes, _ = sample(seed, n=18, K=2)
    errors = ties = 0
    for i in range(18):
        rest = np.arange(18) != i
        if len(np.unique(codes[rest])) == 1:
            errors += codes[rest][0] != codes[i]
            continue
        f = Parzen(0.25, KERNELS[name]).fit(X[rest], Labels(codes[rest], 2))
        joint = f.discriminant(X[[i]]) + np.log(np.bincount(codes[rest]))
        tie = abs(np.exp(joint[0, 0] - joint.max()) - np.exp(joint[0, 1] - joint.max())) < 1e-12
        ties, errors = ties + tie, errors + (joint.argmax() != codes[i] and not tie)
    assert errors <= loo_errors(X, codes, [0.25], KERNELS[name])[0] <= errors + ties


def test_leave_one_out_errors_of_neighbours_equal_scikit_learns():
    neighbors = pytest.importorskip("sklearn.neighbors")
    X, codes, _ = sample(11, n=80, K=2)
    for k in (1, 3, 7):
        left_out = neighbors.KNeighborsClassifier(k, algorithm="brute").fit(X, codes).predict(None)
        assert loo_errors(X, codes, [Nearest(k)], UNIFORM) == [(left_out != codes).sum()]


def test_resubstitution_likelihood_grows_without_bound_while_leave_one_out_falls():
    X = sample(0)[0]
    h = np.array([1e-1, 1e-3, 1e-6])
    own = [plain(X, h=v).log_density(X).sum() for v in h]
    assert np.all(np.diff(own) > 100) and np.all(np.diff(loo_log_likelihood(X, h)) < -1e4)


# ------------------------------------------------------------------------------------------------- choosing a width

@pytest.mark.parametrize("D, step", [(1, 0.002), (2, 0.05)])
def test_lscv_equals_the_integral_of_the_square_less_twice_the_mean_left_out(D, step):
    X = sample(6, n=12, D=D)[0]
    for h in (0.5, 1.0):
        axes = [np.arange(-7, 7, step)] * D
        grid = np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, D)
        square = (np.exp(plain(X, h=h).log_density(grid)) ** 2).sum() * step**D
        left_out = np.exp(leave_one_out(X, np.ones((12, 1)), [h])).mean()
        assert lscv(X, [h])[0] == pytest.approx(square - 2 * left_out, rel=1e-9)


@pytest.mark.parametrize("tied, falls", [(26, False), (28, True)])
def test_lscv_has_no_lower_bound_once_more_than_273_of_1000_points_are_in_tied_pairs(tied, falls):
    """h → 0: h·LSCV → (1 + 2τ)/(2√π) − 4τN/((N − 1)√(2π)), negative from τ = .2734 tied pairs a point (N large)."""
    x, N, tau = np.random.default_rng(0).normal(size=1000), 1000, tied / 100
    x[:10 * tied] = x[10 * tied:20 * tied]
    limit = (1 + 2 * tau) / (2 * np.sqrt(np.pi)) - 4 * tau * N / ((N - 1) * np.sqrt(2 * np.pi))
    assert lscv(x[:, None], [1e-9])[0] * 1e-9 * N == pytest.approx(limit, rel=1e-9)
    assert (limit < 0) == falls


def test_best_width_refines_the_grid():
    h = best_width(lambda h: -(np.log(h) - 0.3) ** 2, np.geomspace(0.1, 10, 9))
    assert h == pytest.approx(np.exp(0.3), rel=1e-6)


def test_best_width_at_the_end_of_the_grid_warns():
    with pytest.warns(UserWarning, match="end h = 0.1 of the grid"):
        assert best_width(lambda h: -h, np.geomspace(0.1, 10, 9)) == pytest.approx(0.1)


def test_best_width_without_any_finite_score_is_refused():
    X = np.array([[0.0], [1.0], [5.0]])
    with pytest.raises(ValueError, match="upwards"):
        best_width(partial(loo_log_likelihood, X, kernel=UNIFORM), np.array([0.1, 0.2, 0.3]))


@modest
@given(seed=seeds, scale=st.sampled_from([1e-6, 1e6]))
def test_rules_of_thumb_move_with_the_data(seed, scale):
    X = sample(seed)[0]
    for rule in (nrd0, nrd, normal_reference):
        assert rule(scale * (X + 5)) == pytest.approx(scale * rule(X), rel=1e-8)
    assert width_grid(scale * X) == pytest.approx(scale * width_grid(X), rel=1e-8)


def test_rules_of_thumb_agree_with_statsmodels():
    bandwidths = pytest.importorskip("statsmodels.nonparametric.bandwidths")
    x = np.random.default_rng(0).gamma(2, size=300)
    sigma = min(x.std(ddof=1), (np.quantile(x, 0.75) - np.quantile(x, 0.25)) / 1.349)
    ours = nrd0(x) * sigma / min(x.std(ddof=1), (np.quantile(x, 0.75) - np.quantile(x, 0.25)) / 1.34)
    assert ours == pytest.approx(bandwidths.bw_silverman(x), rel=1e-3)


def test_rules_of_thumb_use_the_deviation_where_the_quartiles_are_tied():
    x = np.r_[np.zeros(30), 1.0, -1.0]
    assert nrd0(x) == pytest.approx(0.9 * x.std(ddof=1) * 32**-0.2)


@pytest.mark.parametrize("rule", [nrd0, nrd, lambda x: normal_reference(x[:, None])])
def test_constant_data_are_refused_with_the_remedy(rule):
    with pytest.raises(ValueError, match="constant, give a width"):
        rule(np.full(3, 0.83))


def test_normal_reference_is_best_for_normal_data():
    """Silverman eq. 4.14 minimises the mean integrated squared error, which for a normal is known in closed form."""
    n, D = 200, 3

    def mise(h):
        return (4 * np.pi * h * h) ** (-D / 2) / n + (1 - 1 / n) * (4 * np.pi * (1 + h * h)) ** (-D / 2) \
            - 2 * (2 * np.pi * (2 + h * h)) ** (-D / 2) + (4 * np.pi) ** (-D / 2)

    x = stats.norm.ppf((np.arange(n) + 0.5) / n)
    x /= x.std(ddof=1)
    h = normal_reference(np.column_stack([x] * D))
    assert mise(h) < min(mise(0.7 * h), mise(1.6 * h))


def test_gaussian_is_the_default_kernel():
    assert Parzen().kernel is GAUSSIAN


# ------------------------------------------------------------------------------------------------- the classifier

def test_one_width_for_all_classes_needs_no_volume():
    """Claim of the lectures: argmax P(y)/n_y Σ K(ρ/h) gives the same decisions."""
    X, codes, rng = sample(8, n=60)
    Q = rng.normal(size=(50, 2))
    votes = np.exp(-((Q[:, None] - X) ** 2).sum(axis=2) / (2 * 0.3**2)) @ np.eye(3)[codes]  # P(y)/n_y is the same
    assert np.array_equal(ParzenClassifier(0.3).fit(X, codes).predict(Q), votes.argmax(axis=1))


def test_own_widths_without_their_volumes_decide_wrongly():
    """Two normals of unequal spread, the same width rule in each class: dropping V_h favours the wide class."""
    rng = np.random.default_rng(0)
    y = np.arange(600) % 2
    X, Q = (rng.normal(size=(600, 2)) * np.where(y, 3.0, 0.5)[:, None] for _ in range(2))
    model = ParzenClassifier(normal_reference).fit(X, y)
    h = model.fitted_.h
    without_volumes = model.log_joint(Q) + 2 * np.log(h)
    true = stats.norm.logpdf(Q, scale=3).sum(axis=1) > stats.norm.logpdf(Q, scale=0.5).sum(axis=1)
    wrong = (without_volumes.argmax(axis=1) != y).mean()
    assert wrong > (model.predict(Q) != y).mean() + 0.05 and (model.predict(Q) != y).mean() < (true != y).mean() + 0.03


@pytest.mark.parametrize("k", [1, 3, 5])
def test_uniform_variable_windows_are_nearest_neighbours(k):
    neighbors = pytest.importorskip("sklearn.neighbors")
    X, codes, rng = sample(9, n=120)
    Q = rng.normal(size=(80, 2))
    theirs = neighbors.KNeighborsClassifier(k).fit(X, codes).predict_proba(Q)
    assert ParzenClassifier(Nearest(k), "uniform").fit(X, codes).predict_proba(Q) == pytest.approx(theirs, abs=1e-12)


def test_a_width_near_zero_is_the_nearest_neighbour():
    neighbors = pytest.importorskip("sklearn.neighbors")
    X, codes, rng = sample(10, n=120)
    Q = 2 * rng.normal(size=(80, 2))
    nearest = neighbors.KNeighborsClassifier(1).fit(X, codes).predict(Q)
    for kernel in KERNELS:
        assert np.array_equal(ParzenClassifier(1e-5, kernel).fit(X, codes).predict(Q), nearest)


def test_posterior_equals_bayes_rule_over_scikit_learns_densities():
    neighbors = pytest.importorskip("sklearn.neighbors")
    X, codes, rng = sample(12, n=60)
    Q, priors = rng.normal(size=(30, 2)), np.array([0.2, 0.5, 0.3])
    joint = np.column_stack([neighbors.KernelDensity(bandwidth=0.5, rtol=1e-12).fit(X[codes == k]).score_samples(Q)
                             for k in range(3)]) + np.log(priors)
    expected = np.exp(joint - logsumexp(joint, axis=1, keepdims=True))
    assert ParzenClassifier(0.5, priors=priors).fit(X, codes).predict_proba(Q) == pytest.approx(expected, rel=1e-8)


@modest
@given(seed=seeds, log_h=st.floats(-8, 4), kernel=st.sampled_from([*KERNELS, Nearest(2)]))
def test_posterior_is_never_nan_and_sums_to_one(seed, log_h, kernel):
    X, codes, rng = sample(seed)
    h, kernel = (kernel, "quartic") if isinstance(kernel, Nearest) else (np.exp(log_h), kernel)
    P = ParzenClassifier(h, kernel).fit(X, codes).predict_proba(rng.normal(size=(20, 2)) * 10 ** rng.uniform(-2, 6))
    assert P.sum(axis=1) == pytest.approx(np.ones(20)) and (P >= 0).all()


def test_kernel_marginals_of_naive_bayes_are_products_of_windows_on_the_line():
    X, codes, rng = sample(15, n=60)
    Q = rng.normal(size=(20, 2))
    model = NaiveBayes(Each(Parzen(nrd0))).fit(X, codes)
    expected = sum(np.column_stack([stats.gaussian_kde(x[codes == k], nrd0(x[codes == k]) / x[codes == k].std(ddof=1))
                                    .logpdf(q) for k in range(3)]) for x, q in zip(X.T, Q.T))
    assert model.log_joint(Q) - np.log(np.bincount(codes) / 60) == pytest.approx(expected, rel=1e-10)


def test_losses_move_the_boundary_and_names_of_features_are_kept():
    pandas = pytest.importorskip("pandas")
    X, codes, rng = sample(13, n=80, K=2)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    plain, dear = (ParzenClassifier(0.5, losses=losses).fit(frame, codes) for losses in (None, [1, 20]))
    assert list(plain.feature_names_in_) == ["a", "b"]
    assert dear.predict(frame).sum() > plain.predict(frame).sum()


@pytest.mark.parametrize("model", [ParzenClassifier(), ParzenClassifier(0.3, "epanechnikov"),
                                   ParzenClassifier(Nearest(3), "uniform")], ids=named)
def test_passes_scikit_learns_own_checks(model):
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    results = checks.check_estimator(model, on_skip=None, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] == "failed"] == []
    assert [r["check_name"] for r in results if r["status"] == "skipped"] <= ["check_array_api_input"]  # NumPy only


@pytest.mark.parametrize("arguments, message", [
    ({"kernel": "box"}, "one of gaussian, uniform"), ({"h": [1.0, 2.0]}, "2 widths for 3 classes"),
    ({"h": 0.0}, "positive")])
def test_bad_arguments_are_refused_in_words(arguments, message):
    X, codes, _ = sample(0)
    with pytest.raises(ValueError, match=message):
        ParzenClassifier(**arguments).fit(X, codes)
