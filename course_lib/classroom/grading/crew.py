"""Who does the work of a grading run: this process, several processes, or the workers of a dask cluster.

All three take packages and give rows, a few at a time, so that a class of any size takes the memory of a handful.
"""
from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait

from .intake import Package
from .records import Row
from .worker import Bench, equip, grade_package, retire, ungraded

__all__ = ["cluster", "here", "processes"]

AHEAD = 3                          # packages read and waiting, for each worker


def here(bench: Bench, packages: Iterable[Package]) -> Iterator[Row]:
    """Grade in this process, one after the other."""
    equip(bench)
    try:
        yield from map(grade_package, packages)
    finally:
        retire()


def processes(bench: Bench, packages: Iterable[Package], workers: int) -> Iterator[Row]:
    """Grade in so many processes; the packages of one that dies are graded again, each alone."""
    def pool(size: int) -> Executor:
        return ProcessPoolExecutor(size, multiprocessing.get_context("spawn"), initializer=_begin, initargs=(bench,))

    packages = iter(packages)
    suspects: list[Package] = []
    while True:
        with pool(workers) as executor:
            yield from _flow(executor, packages, AHEAD * workers, suspects.append)
        if not suspects:
            return
        for package in suspects:
            yield _alone(pool, bench, package)
        suspects.clear()


def cluster(bench: Bench, packages: Iterable[Package], scheduler: str) -> Iterator[Row]:
    """Grade on the workers of a dask scheduler ("tcp://host:8786"); the cluster itself repeats what a dead worker held.

    Raises
    ------
    ModuleNotFoundError
        Without dask.distributed; the message says how to install it.
    """
    try:
        import distributed
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            'to grade on a cluster dask.distributed is needed: pip install "distributed>=2024.8"'
        ) from None

    class Equipped(distributed.WorkerPlugin):
        name = "course-bench"

        def setup(self, worker):
            equip(bench)

    with distributed.Client(scheduler) as client:
        client.register_plugin(Equipped())
        workers = max(1, sum(client.nthreads().values()))
        lost: list[Package] = []
        yield from _flow(client.get_executor(retries=3), iter(packages), AHEAD * workers, lost.append)
        for package in lost:
            yield ungraded(package, bench.keys, "the workers that tried it died")


def _begin(bench: Bench) -> None:
    """A worker's first act; from then on it ends with the grader, however that ends, and its sandbox with it."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    equip(bench)


def _end_with_parent() -> None:
    multiprocessing.parent_process().join()
    os._exit(1)


def _flow(
    executor: Executor, packages: Iterator[Package], ahead: int, lost: Callable[[Package], None]
) -> Iterator[Row]:
    """Rows as they come; packages whose worker died are handed to `lost`, and nothing more is taken after that."""
    waiting: dict[Future, Package] = {}
    broken = False
    while True:
        while not broken and len(waiting) < ahead and (package := next(packages, None)) is not None:
            try:
                waiting[executor.submit(grade_package, package)] = package
            except BrokenExecutor:
                lost(package)
                broken = True
        if not waiting:
            return
        for future in wait(waiting, return_when=FIRST_COMPLETED).done:
            package = waiting.pop(future)
            try:
                yield future.result()
            except Exception as error:  # grade_package does not raise: the worker is gone, or the way back is
                broken |= isinstance(error, BrokenExecutor)
                lost(package)


def _alone(pool: Callable[[int], Executor], bench: Bench, package: Package) -> Row:
    with pool(1) as executor:
        try:
            return executor.submit(grade_package, package).result()
        except Exception as error:
            return ungraded(package, bench.keys, f"the process that graded it failed twice ({type(error).__name__})")
