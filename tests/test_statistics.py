"""Sums over rows: what they are, and that they add."""
from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_lib.reduce import split, total
from course_lib.statistics import (BLOCK, DENSE, ClassError, Counts, DiagonalMoments, Labels, Moments, Rows,
                                   Triangles, covariances, divide, triangle)
from course_lib.tables import Table

modest = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def close(found, expected, rtol=1e-11, atol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def problem(seed, N=40, D=3, K=3, weighted=True, missing=False):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(K), rng.integers(0, K, N - K)])
    X = rng.normal(size=(N, D)) * rng.exponential(size=D) + 5 * rng.normal(size=(K, D))[codes]
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X, Labels(codes, K, rng.exponential(size=N) if weighted else None)


def soft(seed, N=40, K=3):
    return np.random.default_rng(seed).dirichlet(np.ones(K), N)


KINDS = {"Counts": Counts.of, "DiagonalMoments": DiagonalMoments.of, "Moments": Moments.of, "Triangles": Triangles.of,
         "pooled Moments": lambda X, R: Moments.of(X, R, pooled=True),
         "pooled Triangles": lambda X, R: Triangles.of(X, R, pooled=True)}
of_every_kind = pytest.mark.parametrize("of", KINDS.values(), ids=KINDS)


def fields_of(s):
    """The record's numbers; a triangular factor by its square, and a mean together with its rest."""
    values = dict(vars(s))
    if "factor" in values:
        values["scatter"] = np.swapaxes(values.pop("factor"), 1, 2) @ s.factor
    if "rest" in values:
        values["mean"] = values["mean"] + values.pop("rest")
    return values


def same(s, t, rtol=1e-10):
    for name, value in fields_of(s).items():
        close(value, fields_of(t)[name], rtol, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("N", [5, DENSE // 3, DENSE // 3 + 1])
def test_the_weight_matrix_is_the_same_sparse_and_dense(N, weighted):
    X, R = problem(0, N, weighted=weighted)
    weight = np.where(R.codes[:, None] == np.arange(3), 1.0 if R.weight is None else R.weight[:, None], 0.0)
    np.testing.assert_array_equal(R.toarray(), weight)
    assert isinstance(R.T, np.ndarray) == (3 * N <= DENSE)
    close(R.T @ X, weight.T @ X)


@of_every_kind
def test_a_tall_table_has_the_sums_of_its_short_pieces(of):
    X, R = problem(1, DENSE, missing=of in (Counts.of, DiagonalMoments.of))
    same(of(X, R), reduce(add, (of(X[n:n + 5000], R[n:n + 5000]) for n in range(0, DENSE, 5000))))


@of_every_kind
@modest
@given(seed=seeds, cut=st.integers(0, 40))
def test_the_sum_of_two_parts_is_the_whole(of, seed, cut):
    X, R = problem(seed)
    for R in (R, soft(seed)):
        same(of(X[:cut], R[:cut]) + of(X[cut:], R[cut:]), of(X, R))


@of_every_kind
@modest
@given(seed=seeds)
def test_labels_are_a_short_form_of_the_one_hot_matrix(of, seed):
    X, R = problem(seed)
    same(of(X, R), of(X, R.toarray()))


@of_every_kind
@modest
@given(seed=seeds)
def test_a_whole_weight_is_a_number_of_repetitions(of, seed):
    X, R = problem(seed, weighted=False)
    times = np.random.default_rng(seed).integers(1, 4, len(X))
    repeated = of(X.repeat(times, axis=0), Labels(R.codes.repeat(times), R.K))
    same(of(X, Labels(R.codes, R.K, times.astype(float))), repeated)


@of_every_kind
@modest
@given(seed=seeds)
def test_the_order_of_rows_does_not_matter(of, seed):
    X, R = problem(seed)
    rows = np.random.default_rng(seed).permutation(len(X))
    same(of(X[rows], R[rows]), of(X, R))


@modest
@given(seeds)
def test_moments_are_numpys_weighted_means_and_covariances(seed):
    X, R = problem(seed)
    full, diagonal = Moments.of(X, R), DiagonalMoments.of(X, R)
    for k in range(R.K):
        rows = R.codes == k
        w = R.weight[rows]
        close(full.mean[k], np.average(X[rows], axis=0, weights=w))
        close(full.scatter[k], np.cov(X[rows].T, aweights=w, bias=True) * w.sum() if rows.sum() > 1 else 0)
        close(diagonal.scatter[k], np.diag(full.scatter[k]))
    close(full.overall, np.diag(np.cov(X.T, aweights=R.weight, bias=True)))
    close(diagonal.overall, full.overall)
    close(Moments.of(X, R, pooled=True).scatter[0], full.scatter.sum(axis=0))


@modest
@given(seeds)
def test_missing_values_are_left_out_of_their_feature_only(seed):
    X, R = problem(seed, missing=True)
    diagonal, counts = DiagonalMoments.of(X, R), Counts.of(X, R)
    dense = R.toarray()
    for j in range(X.shape[1]):
        seen = ~np.isnan(X[:, j])
        alone = DiagonalMoments.of(X[seen, j:j + 1], dense[seen])
        for name in ("count", "mean", "scatter"):
            close(getattr(diagonal, name)[:, j], getattr(alone, name)[:, 0])
        close(counts.total[:, j], dense[seen].T @ X[seen, j])
    close(diagonal.mass, dense.sum(axis=0))


@pytest.mark.parametrize("offset, spread", [(1e8, 1.0), (-1e8, 1.0), (1e8, 1e-3), (0.0, 1e6)])
@pytest.mark.parametrize("R", ["labels", "soft"])
def test_variances_keep_their_digits_far_from_zero_and_from_each_other(offset, spread, R):
    X, labels = problem(5, N=3000, weighted=False)
    X = np.round(X * 2**18) / 2**18 * spread
    far = X + offset + np.array([0.0, 1e6, -1e6])[labels.codes][:, None] * spread
    weights = labels if R == "labels" else np.maximum(labels.toarray(), 1e-3)
    s = total(_Statistics(), split(far, weights, rows=250))
    for k, r in enumerate((labels.toarray() if R == "labels" else weights).T.astype(np.longdouble)):
        near = far[labels.codes == k][0]  # differences from a row of the class are exact
        x = (far - near).astype(np.longdouble)
        mean = (r[:, None] * x).sum(axis=0) / r.sum()
        scatter = (r[:, None] * (x - mean) ** 2).sum(axis=0)
        close(s.scatter[k], scatter.astype(float), 1e-10)
        deviation = np.sqrt((scatter / r.sum()).astype(float))
        close(((s.mean[k] - near) + s.rest[k] - mean).astype(float) / deviation, 0, atol=1e-10)


class _Statistics:
    statistics = staticmethod(DiagonalMoments.of)


@modest
@given(seeds, st.integers(0, 39))
def test_tables_count_codes_and_leave_missing_ones_out(seed, cut):
    rng = np.random.default_rng(seed)
    codes, (_, R) = rng.integers(-1, 4, size=(40, 2)), problem(seed)
    table = Table.of(codes, R, 4).table
    for k in range(R.K):
        for j in range(2):
            close(table[k, j], [R.weight[(R.codes == k) & (codes[:, j] == level)].sum() for level in range(4)])
    close(Table.of(codes, R.toarray(), 4).table, table)
    parts = [Table.of(c, r, int(c.max(initial=0)) + 1) for c, r in ((codes[:cut], R[:cut]), (codes[cut:], R[cut:]))]
    close((parts[0] + parts[1]).table, Table.of(codes, R, int(codes.max()) + 1).table)


def test_rows_are_kept_in_order():
    X, R = problem(0)
    joined = Rows.of(X[:10], R[:10]) + Rows.of(X[10:], R[10:])
    close(joined.X, X)
    close(joined.R, R.toarray())


@modest
@given(seeds)
def test_triangular_factors_keep_digits_that_squares_lose(seed):
    rng = np.random.default_rng(seed)
    Q, _ = np.linalg.qr(rng.normal(size=(50, 2)) - 0.0)
    Q -= Q.mean(axis=0)
    X = np.column_stack([Q[:, 0], Q[:, 0] + 1e-9 * Q[:, 1]])
    one = np.ones((50, 1))
    exact = np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[-1]
    found = np.linalg.svd(Triangles.of(X, one).factor[0], compute_uv=False)[-1]
    assert found == pytest.approx(exact, rel=1e-5)


def test_a_triangle_squares_to_the_gram_matrix_even_of_few_rows():
    A = np.random.default_rng(0).normal(size=(2, 4))
    F = triangle(A)
    assert F.shape == (4, 4)
    close(F.T @ F, A.T @ A)


@pytest.mark.parametrize("alpha", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("unbiased", [False, True])
def test_covariances_are_own_pooled_or_between(alpha, unbiased):
    X, R = problem(3, weighted=False)
    own = np.array([np.cov(X[R.codes == k].T, bias=not unbiased) for k in range(3)])
    n = np.bincount(R.codes)[:, None, None] - unbiased
    pooled = (n * own).sum(axis=0) / n.sum()
    s = Moments.of(X, R)
    found = covariances(s.scatter, s.mass[:, None, None], alpha, unbiased)
    close(found, alpha * own + (1 - alpha) * pooled if alpha else pooled[None])


def test_the_mean_of_nothing_is_zero_and_has_no_weight():
    close(divide(np.array([1.0, 0.0]), np.array([2.0, 0.0])), [0.5, 0.0])
    X, R = problem(0, K=2)
    with_empty = Labels(R.codes, 3, R.weight)
    s = DiagonalMoments.of(X, with_empty) + DiagonalMoments.of(X, with_empty)
    assert np.isfinite(s.mean).all() and s.mass[2] == 0


def test_a_fault_is_told_by_number_and_then_by_name():
    fault = ClassError("class {k} has no feature {j}", 1, 0)
    assert str(fault) == "class 1 has no feature 0"
    named = fault.named(np.array(["a", "b"]), np.array(["length"], dtype=object))
    assert str(named) == "class 'b' has no feature 'length'"
    assert str(fault.named(np.array([3, 7]))) == "class 7 has no feature 0"


@modest
@given(seeds)
def test_sums_over_a_table_larger_than_a_block_are_those_of_its_blocks(seed):
    X, R = problem(seed, N=2 * BLOCK // 20 + 7, D=20, missing=True)
    for X in (X, np.nan_to_num(X), np.nan_to_num(X) + 1e6 * R.codes[:, None]):
        whole = DiagonalMoments.of(X, R)
        same(total(_Statistics(), split(X, R, rows=997)), whole)
        close(whole.scatter[0] / whole.count[0], _variance(X[R.codes == 0], R.weight[R.codes == 0]), 1e-9)


def _variance(X, weight):
    seen = weight[:, None] * ~np.isnan(X)
    mean = np.nansum(weight[:, None] * X, axis=0) / seen.sum(axis=0)
    return np.nansum(weight[:, None] * (X - mean) ** 2, axis=0) / seen.sum(axis=0)
