"""The same fit over blocks of rows: in one process, in several, or on a cluster.

>>> total(Gaussian(), split(X, R))                       # one after the other
>>> with processes(2) as workers:
...     total(Gaussian(), split(X, R, rows=50_000), map=workers)
>>> with cluster(2) as client:                           # or a `distributed.Client` of your own
...     total(Gaussian(), split(X, R, rows=50_000), map=on(client))

A ``map`` decides where the blocks are summed, never how: the results are added in the order of the blocks, and the
answer is the same to the last bit.
"""
from __future__ import annotations

import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache, partial, reduce
from itertools import islice
from operator import add

from course_lib.statistics import BLOCK, ClassError, slices

__all__ = ["Additive", "NearlySingular", "cluster", "on", "one_thread", "over_rows", "processes", "solved", "split",
           "total"]


class Additive:
    """A density whose fit is a sum over rows: fit = solve ∘ Σ statistics."""

    additive = True
    block = BLOCK  # numbers that `statistics` takes at once; more, where it goes through them in pieces by itself

    def statistics(self, X, R):
        """The sum over rows X (N, D) with weights R (N, K) that the fit needs, a record that can be added."""
        raise NotImplementedError

    def solve(self, s):
        """The densities that best explain a sum of statistics; raises `ClassError` where it does not tell them."""
        raise NotImplementedError

    def fit(self, X, R):
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        return self.fit_sums(over_rows(X, R))[0]

    def fit_sums(self, summed: Callable) -> tuple:
        """The fit to sums, additive -> Σ additive.statistics(X, R), wherever they are made; and this density's own."""
        return solved(self, summed)

    def check(self, X, features=None) -> None:
        """Raise ValueError if X (N, D) holds a value outside the support; `features` (D,) are the columns' names."""


def over_rows(X, R):
    """The sums over rows X (N, D) with weights R (N, K): additive -> Σ additive.statistics(X, R), in blocks."""
    return lambda additive: reduce(add, (additive.statistics(*block) for block in split(X, R, block=additive.block)))


def split(X, R, rows: int | None = None, block: int = BLOCK) -> Iterator[tuple]:
    """X (N, D) and R (N, K) in blocks of rows; by default such as stay in a core's cache while they are summed.

    A block has at least 32 rows a class, so that merging the blocks' sums costs little beside making them.
    """
    blocks = slices(len(X), X.shape[1], 32 * R.shape[1], block) if rows is None else (
        slice(start, start + rows) for start in range(0, len(X), rows))
    return ((X[block], R[block]) for block in blocks)


class NearlySingular(ClassError):
    """Sums of squares cannot tell: the rows are needed once more, for the density's `precise` form."""


def solved(density: Additive, summed: Callable) -> tuple:
    """The fit, and the sums it was made of; with a second pass over the rows where rounding demands it.

    Parameters
    ----------
    density : Additive
    summed : callable
        From an additive density to the sum of its statistics over all rows.

    Returns
    -------
    fitted, statistics

    Raises
    ------
    ClassError
        Where the sums do not determine the densities.
    """
    s = summed(density)
    try:
        return density.solve(s), s
    except NearlySingular:
        return density.solve(summed(density.precise)), s


def total(density, blocks: Iterable[tuple], map: Callable = map):
    """Σ density.statistics(X, R) over the blocks (X, R), each by one thread; `map` decides where they are made.

    Parameters
    ----------
    density : Additive
        Its ``statistics(X, R)`` is called once a block; the results are added in the order of the blocks.
    blocks : iterable of (X (n, D), R (n, K))
    map : callable
        As the built-in: ``pool.map`` of an executor, or a cluster's.

    Returns
    -------
    The statistic of all rows, ready for ``density.solve``.
    """
    return reduce(add, map(partial(_statistics, density), blocks))


def _statistics(density, block):
    with one_thread():
        return density.statistics(*block)


def one_thread():
    """How many threads of BLAS share a product decides its last bits: here one takes it all.

    Returns
    -------
    context manager
    """
    return nullcontext() if sys.platform == "emscripten" else _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries():
    import scipy.linalg  # noqa: F401 - which brings a BLAS of its own
    from threadpoolctl import ThreadpoolController
    return ThreadpoolController()


# Where blocks are summed ---------------------------------------------------------------------------------------------

@contextmanager
def processes(n: int | None = None, together: int = 1):
    """A ``map`` over n processes, one BLAS thread each; the task of a process that dies is done again.

    Parameters
    ----------
    n : int, optional
        Processes; by default one for each core.
    together : int
        Blocks of one task; several, where there are many small ones.

    Yields
    ------
    callable (f, blocks) -> iterator over f(block), in order, with at most 2n tasks under way

    Source: Python's `concurrent.futures`.
    """
    pool = _Pool(n or os.cpu_count(), together)
    try:
        yield pool
    finally:
        pool.close()


class _Pool:
    """Processes that are started anew when one of them was killed."""

    TRIES = 3  # in a row without a result: then it is the task that kills

    def __init__(self, n: int, together: int):
        self.n, self.together, self.pool = n, together, None
        self._start()

    def __call__(self, f, blocks):
        from concurrent.futures.process import BrokenProcessPool
        groups, tasks, failed = _groups(blocks, self.together), deque(), 0
        while True:
            tasks.extend([group, None] for group in islice(groups, 2 * self.n - len(tasks)))
            if not tasks:
                return
            try:
                found = self._result(f, tasks)
            except BrokenProcessPool:
                failed += 1
                if failed == self.TRIES:
                    raise
                self.close()
                self._start()
                tasks = deque([group, None] for group, _ in tasks)
            else:
                failed = 0
                tasks.popleft()
                yield from found

    def _result(self, f, tasks):
        """Of the first task, once all are handed out."""
        with _one_blas_thread():  # here the processes are started
            for task in tasks:
                task[1] = task[1] or self.pool.submit(_each, f, task[0])
        return tasks[0][1].result()

    def _start(self):
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context
        self.pool = ProcessPoolExecutor(self.n, mp_context=get_context("spawn"))

    def close(self):
        self.pool.shutdown(wait=True, cancel_futures=True)


BLAS = {name: "1" for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")}


@contextmanager
def _one_blas_thread():
    """Processes started now use one thread each: more of them than cores only get in each other's way."""
    before = {name: os.environ.get(name) for name in BLAS}
    os.environ.update(BLAS)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def on(client, together: int = 4) -> Callable:
    """A ``map`` over the workers of a Dask cluster; what a killed worker was doing is done by another.

    Parameters
    ----------
    client : distributed.Client
    together : int
        Blocks of one task: handing a task out and back costs some milliseconds.

    Returns
    -------
    callable (f, blocks) -> iterator over f(block), in order

    Source: Rocklin (2015), Dask: parallel computation with blocked algorithms and task scheduling, SciPy.
    """
    def map(f, blocks):
        groups, tasks = _groups(blocks, together), deque()
        room = 3 * max(1, sum(client.nthreads().values()))
        while True:
            tasks.extend(client.submit(_each, f, group, pure=False) for group in islice(groups, room - len(tasks)))
            if not tasks:
                return
            yield from tasks.popleft().result()
    return map


def _groups(blocks, together: int) -> Iterator[list]:
    blocks = iter(blocks)
    return iter(lambda: list(islice(blocks, together)), [])


def _each(f, blocks) -> list:
    return [f(block) for block in blocks]


@contextmanager
def cluster(workers: int = 2):
    """A Dask cluster of processes on this machine, one thread each; yields its client.

    A worker keeps the memory it has freed, because handing it back to the system and asking anew costs as much as the
    sums themselves.

    Parameters
    ----------
    workers : int

    Yields
    ------
    distributed.Client

    Source: Dask's documentation, "Worker memory management".
    """
    import dask
    from distributed import Client, LocalCluster
    kept = {"MALLOC_TRIM_THRESHOLD_": str(2**30), "MALLOC_MMAP_THRESHOLD_": str(2**25)}  # the most that glibc takes
    with dask.config.set({"distributed.nanny.pre-spawn-environ": BLAS | kept,
                          "distributed.worker.profile.enabled": False}):
        with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as local, \
                Client(local) as client:  # any free port: the usual one may be another cluster's
            yield client
