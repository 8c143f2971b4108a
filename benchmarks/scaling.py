"""Fits of ten million rows from a memory-mapped file: in one process, in two, on a cluster, with a killed worker."""
import os
import signal
import statistics
import tempfile
import time
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from course_lib import LDA, QDA, LogisticRegression, MixtureClassifier, NaiveBayes
from course_lib.chunks import ROWS, chunks
from course_lib.reduce import cluster, on, processes

D = 20
MODELS = {"Gaussian naive Bayes": NaiveBayes(), "LDA": LDA(), "QDA": QDA(), "logistic regression": LogisticRegression(),
          "diagonal mixture": MixtureClassifier(2, "diagonal", starts=1, max_iter=5, tol=0.0)}


def run(quick: bool = False) -> list[dict]:
    """A row for each model: seconds, how many times faster than one process, and whether all answers are the same."""
    N, rows = (20_000, 2_000) if quick else (10_000_000, ROWS)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # EM is stopped after five steps
        X, y = mapped(Path(folder), N)
        with processes(2, together=4) as two, cluster(2) as client:
            places = {"1 process": map, "2 processes": two, "cluster of 2": on(client)}
            for place in places.values():
                LDA().fit(chunks(X, y, rows=rows, map=place))  # the workers import what they need
            return [_row(name, model, places, lambda place: chunks(X, y, rows=rows, map=place), Path(folder) / name,
                         1 if quick else 3) for name, model in MODELS.items()]


def mapped(folder: Path, N: int):
    """Two classes in D dimensions, written piece by piece and opened as memory maps."""
    rng = np.random.default_rng(0)
    X = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (N, D))
    y = np.lib.format.open_memmap(folder / "y.npy", "w+", np.int64, (N,))
    for start in range(0, N, ROWS):
        rows = slice(start, min(start + ROWS, N))
        y[rows] = rng.integers(0, 2, rows.stop - start)
        X[rows] = rng.normal(size=(rows.stop - start, D)) + 0.5 * y[rows, None]
    return np.load(folder / "X.npy", mmap_mode="r"), np.load(folder / "y.npy", mmap_mode="r")


def _row(name, model, places, table, trace: Path, repetitions: int) -> dict:
    """Medians of runs in turn; the answers of all places, and of two processes one of which is killed."""
    runs = [{place: _timed(model, table(where)) for place, where in places.items()} for _ in range(repetitions)]
    seconds = {place: statistics.median(run[place][0] for run in runs) for place in places}
    answers = [answer for run in runs for _, answer in run.values()]
    answers.append(_timed(model, deadly(table(places["2 processes"]), trace))[1])
    same = trace.exists() and all(np.array_equal(answers[0], answer) for answer in answers)
    one = seconds["1 process"]
    return {"model": name, "1 process, s": one, "2 processes, ×": one / seconds["2 processes"],
            "cluster of 2, ×": one / seconds["cluster of 2"], "same bits, also after a kill": str(same)}


def _timed(model, table) -> tuple[float, np.ndarray]:
    start = time.perf_counter()
    model.fit(table)
    elapsed = time.perf_counter() - start
    return elapsed, model.predict_log_proba(table.first()[0][:1000])


@dataclass(frozen=True)
class DeadlyOnce:
    """Reads a piece, but kills its process at the first attempt."""

    read: object
    trace: str

    def __call__(self):
        if not os.path.exists(self.trace):
            Path(self.trace).touch()
            os.kill(os.getpid(), signal.SIGTERM)
        return self.read()


def deadly(table, trace: Path):
    """The table with a piece that kills the first process to read it, and leaves a trace."""
    first, second, *others = table.pieces
    return replace(table, pieces=[first, DeadlyOnce(second, str(trace)), *others])
