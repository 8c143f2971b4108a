"""Tables in pieces: wherever rows come from and wherever they are summed, the fit is the same."""
import os
import signal
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from benchmarks.scaling import deadly
from course_lib import (LDA, QDA, RDA, Bernoulli, FisherProjection, Gaussian, LeastSquaresClassifier,
                        LogisticRegression, Mixture, MixtureClassifier, NaiveBayes, Normal, ParzenClassifier,
                        ProbitRegression, SoftmaxRegression, em)
from course_lib.chunks import Chunks, chunks, parquet
from course_lib.logistic import FlippedLogisticRegression
from course_lib.newton import SeparationWarning
from course_lib.passes import Thin, em_passes
from course_lib.reduce import cluster, on, over_rows, processes
from course_lib.statistics import Labels
from naming import named

N, D, K = 900, 4, 3
MODELS = [LDA(), QDA(), RDA(0.5, 0.1), NaiveBayes(), NaiveBayes([Normal(), Bernoulli(), Normal(), Normal(pool="tied")]),
          LeastSquaresClassifier(), FisherProjection()]
NEWTON = [LogisticRegression(), LogisticRegression(ridge=2.0), ProbitRegression(), SoftmaxRegression(),
          SoftmaxRegression(ridge=1.0)]
models = pytest.mark.parametrize("model", MODELS, ids=named)
ELSEWHERE = [LDA(), MODELS[4], FisherProjection(), MixtureClassifier((1, 2, 3), "tied"), SoftmaxRegression(ridge=1.0)]


def answers(model, X):
    """What a fitted model says of X."""
    for name in ("predict_log_proba", "transform", "decision_function"):
        if hasattr(model, name):
            return getattr(model, name)(X)


def table(columns=slice(None)):
    """Three classes; the second of the four columns holds zeros and ones."""
    rng = np.random.default_rng(4)
    y = rng.integers(0, K, N)
    X = rng.normal(size=(N, D)) + y[:, None]
    X[:, 1] = X[:, 1] > 1
    return X[:, columns], y


def real(model):
    """The columns that suit a model."""
    return [0, 2, 3] if isinstance(model, MixtureClassifier) else slice(None)


def mapped(folder: Path, columns=slice(None)):
    """The table in files, and so that the first row is not at the beginning of its file."""
    paths = [folder / "X.npy", folder / "y.npy"]
    for path, A in zip(paths, table(columns)):
        np.save(path, A)
    return tuple(np.load(path, mmap_mode="r") for path in paths)


def pieces():
    X, y = table()
    for rows in (slice(0, 250), slice(250, 251), slice(251, N)):
        yield X[rows], y[rows]


def weighted_pieces():
    """The table, and rows that do not count."""
    return ((np.vstack([X, 0 * X]), np.tile(y, 2), np.repeat([1.0, 0.0], len(y))) for X, y in pieces())


def of_dask(folder):
    array = pytest.importorskip("dask.array")
    X, y = table()
    return chunks(array.from_array(X, chunks=(400, 2)), array.from_array(y, chunks=300))


def of_parquet(folder):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow.parquet import write_table
    X, y = table()
    columns = {"kind": y} | {f"x{j}": column for j, column in enumerate(X.T)}
    (folder / "many").mkdir()
    for i, rows in enumerate((slice(0, 500), slice(500, N))):
        part = pyarrow.table({name: column[rows] for name, column in columns.items()})
        write_table(part, folder / "many" / f"{i}.parquet", row_group_size=200)
    return parquet(folder / "many", "kind", classes=range(K))


SOURCES = {"array": lambda folder: chunks(*table(), rows=100), "one piece": lambda folder: chunks(*table()),
           "memory map": lambda folder: chunks(*mapped(folder), rows=128),
           "rows of a memory map": lambda folder: chunks(*(A[0:] for A in mapped(folder)), rows=77),
           "generator": lambda folder: chunks(pieces(), classes=range(K)),
           "function": lambda folder: chunks(pieces, classes=range(K)),
           "weights": lambda folder: chunks(weighted_pieces, classes=range(K)),
           "dask": of_dask, "parquet": of_parquet}


@models
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")  # a Parquet file has, the array has not
@pytest.mark.parametrize("source", SOURCES)
def test_pieces_of_any_source_equal_the_whole_table(source, model, tmp_path):
    X, y = table()
    whole = answers(type(model)(**model.get_params(deep=False)).fit(X, y), X)
    fitted = model.fit(SOURCES[source](tmp_path))
    np.testing.assert_allclose(answers(fitted, X), whole, rtol=1e-10, atol=1e-10)
    assert list(fitted.classes_) == [0, 1, 2]


@pytest.mark.parametrize("model", ELSEWHERE, ids=named)
def test_processes_give_the_same_bits(model, two_processes, tmp_path):
    X, y = mapped(tmp_path, real(model))
    with threadpool_limits(2):  # of which the sums over pieces make no use
        serial = answers(model.fit(chunks(X, y, rows=100)), X)
        np.testing.assert_array_equal(answers(model.fit(chunks(X, y, rows=100, map=two_processes)), X), serial)


@pytest.mark.parametrize("model", ELSEWHERE, ids=named)
def test_a_cluster_gives_the_same_bits(model, client, tmp_path):
    X, y = mapped(tmp_path, real(model))
    with threadpool_limits(2):  # of which the sums over pieces make no use
        serial = answers(model.fit(chunks(X, y, rows=100)), X)
        np.testing.assert_array_equal(answers(model.fit(chunks(X, y, rows=100, map=on(client))), X), serial)


def test_sums_over_pieces_do_not_depend_on_the_threads_of_blas():
    X, sums = np.random.default_rng(0).normal(size=(10_000, 100)), []
    for threads in (1, 2):
        with threadpool_limits(threads):
            sums.append(chunks(X, X[:, 0], rows=5_000, classes=[0, 1]).total(lambda X, y, weight: X.T @ X))
    np.testing.assert_array_equal(*sums)


@pytest.fixture(scope="module")
def two_processes():
    with processes(2) as pool:
        yield pool


@pytest.fixture(scope="module")
def client():
    pytest.importorskip("distributed")
    with cluster(2) as client:
        yield client


def test_a_second_cluster_on_the_machine_does_not_complain(client, recwarn):
    with cluster(1):
        assert [str(warning.message) for warning in recwarn] == []


def test_a_killed_process_loses_nothing(tmp_path):
    whole = chunks(*mapped(tmp_path), rows=60)
    serial = LDA().fit(whole).linear()
    with processes(2) as pool:
        fitted = LDA().fit(replace(deadly(whole, tmp_path / "died"), map=pool)).linear()
    assert (tmp_path / "died").exists()
    for a, b in zip(fitted, serial):
        np.testing.assert_array_equal(a, b)


def test_a_killed_worker_of_a_cluster_loses_nothing(tmp_path, client):
    whole = chunks(*mapped(tmp_path), rows=60)
    serial = LDA().fit(whole).linear()
    fitted = LDA().fit(replace(deadly(whole, tmp_path / "died"), map=on(client))).linear()
    assert (tmp_path / "died").exists()
    for a, b in zip(fitted, serial):
        np.testing.assert_array_equal(a, b)


@dataclass(frozen=True)
class Deadly:
    """Kills its process."""

    def __call__(self):
        os.kill(os.getpid(), signal.SIGTERM)


def test_a_piece_that_always_kills_its_process_ends_in_an_error():
    from concurrent.futures.process import BrokenProcessPool
    with processes(1) as pool, pytest.raises(BrokenProcessPool):
        Chunks([Deadly()], map=pool).total(print)


def test_nearly_dependent_columns_take_a_second_pass_and_lose_no_digits(tmp_path):
    X, y = table()
    X = np.column_stack([X[:, 0], X[:, 0] + 1e-7 * X[:, 2]])
    whole = LDA().fit(X, y).predict_log_proba(X)
    fitted = LDA().fit(chunks(X, y, rows=100)).predict_log_proba(X)
    np.testing.assert_allclose(fitted, whole, rtol=1e-6)
    with pytest.raises(ValueError, match="read only once"):
        LDA().fit(chunks(((X[rows], y[rows]) for rows in (slice(0, 400), slice(400, N))), classes=range(K)))


@pytest.mark.parametrize("density", [Gaussian("diagonal"), Gaussian(), Gaussian(pool="tied"), Gaussian("spherical")],
                         ids=named)
def test_em_in_passes_equals_em_on_the_whole_table(density):
    X, y = table([0, 2, 3])
    R = Labels(y, K)
    with pytest.warns(UserWarning, match="stopped after max_iter=2"):
        start = Mixture(2, density, max_iter=2, starts=1).fit(X, R).classes
    passes, _ = em_passes(density, over_rows(X, R), start, tol=1e-4, max_iter=30)
    for k, mixed in enumerate(passes):
        whole = em(density, X[y == k], start[k].responsibilities(X[y == k]), tol=1e-4, max_iter=30)
        steps = len(mixed.history) - 1
        np.testing.assert_allclose(mixed.history[1:], whole.history[:steps], rtol=1e-10)
        assert (np.diff(mixed.history) > -1e-9).all() and steps > 1


@pytest.mark.parametrize("model", NEWTON, ids=named)
@pytest.mark.parametrize("far", [0.0, 1e6])
def test_newton_in_passes_finds_the_optimum_of_the_whole_table(model, far):
    X, y = table()
    X, y = X + far, np.minimum(y, 1) if "Softmax" not in type(model).__name__ else y
    w = np.where(np.arange(N) % 7, 1.0, 3.0)
    whole = type(model)(**model.get_params()).fit(X, y, sample_weight=w).predict_log_proba(X)
    pieces = model.fit(chunks(X, y, w, rows=130))
    np.testing.assert_allclose(pieces.predict_log_proba(X), whole, rtol=1e-8, atol=1e-8 if far else 1e-10)
    assert pieces.converged_ and not pieces.separated_


def test_newton_in_passes_knows_separated_classes_and_dependent_columns():
    X, y = table()
    y = (X[:, 0] > 0.3).astype(int)
    with pytest.warns(SeparationWarning):
        model = LogisticRegression().fit(chunks(X, y, rows=130))
    assert model.separated_ and np.isfinite(model.coef_).all() and model.score(X, y) == 1
    with pytest.raises(ValueError, match="combinations of"):
        LogisticRegression().fit(chunks(X @ np.ones((4, 2)), y, rows=130))


def test_a_column_that_is_constant_in_the_sample_counts_all_the_same():
    X, y = table([0, 2])
    rare = np.zeros(N)
    rare[[1, 303, 604, 857]] = 1.0
    X, y = np.column_stack([X, rare]), (y > 0).astype(int)
    y[[1, 303]], y[[604, 857]] = 0, 1
    assert not Thin().statistics(X, Labels(y, 2)).X[:, 2].any()
    np.testing.assert_allclose(LogisticRegression().fit(chunks(X, y, rows=900)).coef_,
                               LogisticRegression().fit(X, y).coef_, rtol=1e-8)


def test_pieces_of_sorted_labels_give_a_mixture_as_likely_as_the_whole_table():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 20_000)
    X = rng.normal(size=(40_000, 2)) + 6 * rng.integers(0, 2, (40_000, 1)) + y[:, None]
    whole, pieces = (MixtureClassifier(2, tol=1e-9).fit(*rows) for rows in ((X, y), (chunks(X, y, rows=3_000),)))
    np.testing.assert_allclose([m.log_likelihood for m in pieces.fitted_.classes],
                               [m.log_likelihood for m in whole.fitted_.classes], rtol=1e-8)
    np.testing.assert_array_equal(pieces.priors_, whole.priors_)


def test_a_sample_is_spread_over_the_table_and_bounded():
    X = np.arange(400_000.0)[:, None]
    sample = chunks(X, np.zeros(len(X), int), rows=1_000, classes=[0, 1]).total(thin)
    assert len(sample.X) <= sample.LIMIT == 50_000 and len(sample.R) == len(sample.X)
    assert np.diff(sample.X[:, 0]).max() <= 1_000 and (np.diff(sample.X[:, 0]) > 0).all()


def thin(X, y, weight):
    return Thin(200).statistics(X, Labels(y, 2, weight))


def test_only_where_rows_are_is_sent_to_a_worker(tmp_path):
    import pickle
    X, y = mapped(tmp_path)
    assert len(pickle.dumps(list(chunks(X, y, rows=450).pieces))) < 1_000 < X.nbytes
    assert len(pickle.dumps(list(chunks(np.array(X), y, rows=450).pieces))) > X.nbytes


def test_names_of_parquet_columns_are_kept(tmp_path):
    assert list(LDA().fit(of_parquet(tmp_path)).feature_names_in_) == ["x0", "x1", "x2", "x3"]


def test_partial_fit_goes_on_after_pieces():
    X, y = table()
    model = NaiveBayes().fit(chunks(X[:500], y[:500], rows=100)).partial_fit(X[500:], y[500:])
    np.testing.assert_allclose(model.predict_log_proba(X), NaiveBayes().fit(X, y).predict_log_proba(X), rtol=1e-10)


def test_a_bar_shows_how_far_the_pass_has_come(capsys):
    LDA().fit(chunks(*table(), rows=100, progress=True))
    assert "100%" in capsys.readouterr().out


def wrong(change):
    X, y = table()
    return chunks(lambda: iter([(X, y), change(X, y)]), classes=range(K))


@pytest.mark.parametrize("fit, words", [
    (lambda: LDA().fit(chunks(pieces)), "must know all labels"),
    (lambda: LDA().fit(chunks(iter(()), classes=range(K))), "at least one piece"),
    (lambda: LDA().fit(wrong(lambda X, y: (X[:, :2], y))), "as many columns as the first, 4, got one with 2"),
    (lambda: LDA().fit(wrong(lambda X, y: (X, y + 1))), "only the classes"),
    (lambda: LDA().fit(wrong(lambda X, y: (X, y[:5]))), "as many rows"),
    (lambda: LDA().fit(wrong(lambda X, y: (X * np.nan, y))), "NaN"),
    (lambda: LDA().fit(wrong(lambda X, y: (X, y, -np.ones(len(y))))), ">= 0"),
    (lambda: ParzenClassifier().fit(chunks(*table())), "not fitted by sums"),
    (lambda: FlippedLogisticRegression().fit(chunks(*table())), "not fitted by sums"),
    (lambda: MixtureClassifier(trim=0.1).fit(chunks(*table())), "no trimming"),
    (lambda: chunks(np.ones((3, 2)), np.ones(4, int)), "as many rows"),
    (lambda: chunks(*table(), rows=0), "rows must be"),
])
def test_what_cannot_be_fitted_is_said(fit, words):
    with pytest.raises(ValueError, match=words):
        fit()


def test_a_parquet_file_without_the_target_is_refused(tmp_path):
    of_parquet(tmp_path)
    with pytest.raises(ValueError, match="has the columns kind, x0, x1, x2, x3, not y"):
        parquet(tmp_path / "many" / "0.parquet", "y")
    with pytest.raises(ValueError, match="folder of Parquet files"):
        parquet(tmp_path, "kind")
