"""Pairs of calls that give the same answer, timed in turn; what both allocate; how far their answers lie apart."""
from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

PAIRS, SECONDS = 7, 1.0  # at least so many pairs, and more of them until so much time has passed
AGREEMENT_ROWS = 2_000


@dataclass(frozen=True)
class Pair:
    """Two calls for one answer."""

    ours: Callable[[], object]
    theirs: Callable[[], object]
    target: float | None = None  # ours/theirs wanted at most
    calls: int = 1               # in one timing, where a single call is too short to be timed


@dataclass(frozen=True)
class Problem:
    """One method on one table, beside its counterpart."""

    method: str
    shape: tuple[int, int, int]       # N rows, D features, K classes
    pairs: dict[str, Pair]            # "fit", "predict", "one row", ...
    agreement: Callable[[], float | None]  # relative difference of the answers, once every pair has been called
    X: np.ndarray | None = field(default=None, repr=False)

    @classmethod
    def of(cls, method, ours, theirs, X, y, K=None, fit=None, predict=None, agree=None, verb="predict") -> "Problem":
        """Two estimators with `fit` and `predict` (or another `verb`); targets for both, and 1 for a single row."""
        return cls(method, (*X.shape, K or len(np.unique(y))), {
            "fit": Pair(lambda: ours.fit(X, y), lambda: theirs.fit(X, y), fit),
            verb: Pair(lambda: getattr(ours, verb)(X), lambda: getattr(theirs, verb)(X), predict),
            "one row": Pair(lambda: getattr(ours, verb)(X[:1]), lambda: getattr(theirs, verb)(X[:1]), 1.0, calls=20),
        }, lambda: (agree or log_probabilities)(ours, theirs, X[:AGREEMENT_ROWS]), X)


def log_probabilities(ours, theirs, X) -> float:
    """Largest difference of ln P(y|x), beside its own size where that is more than 1."""
    return relative(ours.predict_log_proba(X), theirs.predict_log_proba(X))


def relative(a, b, least: float = 1.0) -> float:
    """max |a − b| / max(|b|, least), equal infinities counted as equal."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    with np.errstate(invalid="ignore"):
        gap = np.where(a == b, 0.0, np.abs(a - b)) / np.maximum(np.abs(b), least)
    return float(gap.max(initial=0.0))


def measured(problem: Problem, pairs: int = PAIRS, budget: float = SECONDS) -> list[dict]:
    """A row for each pair of a problem: seconds, the quartiles of the ratios, peaks, agreement."""
    timings = {name: timed(pair, pairs, budget) for name, pair in problem.pairs.items()}
    agreement, read = problem.agreement(), None if problem.X is None else reading(problem.X)
    return [_row(problem, name, *timings[name], agreement, read) for name in timings]


def _row(problem, name, ours, theirs, agreement, read) -> dict:
    N, D, K = problem.shape
    pair, (low, ratio, high) = problem.pairs[name], np.quantile(ours / theirs, [0.25, 0.5, 0.75])
    row = {"method": problem.method, "what": name, "N": N, "D": D, "K": K, "ours": float(np.median(ours)),
           "theirs": float(np.median(theirs)), "ratio": float(ratio), "low": float(low), "high": float(high),
           "pairs": len(ours), "target": pair.target, "agreement": agreement}
    if name == "fit" and problem.X is not None:
        row |= {"reads": row["ours"] / read, "peak": peak(pair.ours) / problem.X.nbytes,
                "their peak": peak(pair.theirs) / problem.X.nbytes}
    return row


def timed(pair: Pair, pairs: int = PAIRS, budget: float = SECONDS) -> tuple[np.ndarray, np.ndarray]:
    """Seconds a call of ours and of theirs, one after the other, after a first call of each that is not counted."""
    pair.ours(), pair.theirs()
    times, start = [], time.perf_counter()
    while len(times) < pairs or (time.perf_counter() - start < budget and len(times) < 20 * pairs):
        times.append((seconds(pair.ours, pair.calls), seconds(pair.theirs, pair.calls)))
    ours, theirs = np.array(times).T
    return ours, theirs


def seconds(call, calls: int = 1) -> float:
    """Of one call, the mean over `calls` of them."""
    start = time.perf_counter()
    for _ in range(calls):
        call()
    return (time.perf_counter() - start) / calls


def reading(X) -> float:
    """Seconds to read X once: the quickest sum of it."""
    return min(seconds(X.sum) for _ in range(5))


def peak(call) -> int:
    """Bytes allocated at the worst moment, beyond what was there before."""
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
