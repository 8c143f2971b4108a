"""The same fit over blocks of rows: in one process, in several, or on a cluster.

>>> total(Gaussian(), split(X, R))                       # one after the other
>>> with ProcessPoolExecutor() as pool:
...     total(Gaussian(), split(X, R, rows=50_000), map=pool.map)
>>> total(Gaussian(), blocks, map=lambda f, b: client.gather(client.map(f, b)))   # Dask
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial, reduce
from operator import add

from course_lib.statistics import slices

__all__ = ["Additive", "split", "total"]


class Additive:
    """A density whose fit is a sum over rows: fit = solve ∘ Σ statistics."""

    additive = True

    def statistics(self, X, R):
        """The sum over rows X (N, D) with weights R (N, K) that the fit needs, a record that can be added."""
        raise NotImplementedError

    def solve(self, s):
        """The densities that best explain a sum of statistics; raises `ClassError` where it does not tell them."""
        raise NotImplementedError

    def fit(self, X, R):
        """Fit K densities at once to X (N, D) with weights R (N, K), an array ≥ 0 or `Labels`."""
        return self.solve(total(self, split(X, R)))

    def check(self, X, features=None) -> None:
        """Raise ValueError if X (N, D) holds a value outside the support; `features` (D,) are the columns' names."""


def split(X, R, rows: int | None = None) -> Iterator[tuple]:
    """X (N, D) and R (N, K) in blocks of rows; by default such as stay in a core's cache while they are summed.

    A block has at least 32 rows a class, so that merging the blocks' sums costs little beside making them.
    """
    blocks = slices(len(X), X.shape[1], 32 * R.shape[1]) if rows is None else (
        slice(start, start + rows) for start in range(0, len(X), rows))
    return ((X[block], R[block]) for block in blocks)


def total(density, blocks: Iterable[tuple], map: Callable = map):
    """Σ density.statistics(X, R) over the blocks (X, R); `map` decides where they are made.

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
    return density.statistics(*block)
