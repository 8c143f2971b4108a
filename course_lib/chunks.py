"""Tables larger than memory: rows in pieces that are read where they are summed, here, in processes or on a cluster.

A fit that is a sum over rows never needs the table, only its pieces one at a time.  ``fit`` takes `chunks` in place
of X and y, and adds what each piece gives in the order of the pieces, so that the answer does not depend, to the last
bit, on who computed it:

>>> LDA().fit(chunks(X, y))                                        # X a np.memmap: read piece by piece
>>> LDA().fit(parquet("rows.parquet", target="y", classes=[0, 1]))
>>> with processes(2) as workers:
...     LDA().fit(chunks(X, y, map=workers))
>>> with cluster(2) as client:                                     # or a `distributed.Client` of your own
...     LogisticRegression().fit(chunks(X, y, map=on(client)))
"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial, reduce
from itertools import chain, islice
from operator import add

import numpy as np

from course_lib.checks import sorted_codes
from course_lib.reduce import one_thread

__all__ = ["Chunks", "chunks", "parquet"]

ROWS = 200_000  # of a piece: 32 MB of twenty features, and some 2,000 times what a task costs to hand out


@dataclass(frozen=True)
class Chunks:
    """A table in pieces."""

    pieces: Iterable[Callable]         # readers: each gives (X (n, D), y (n,), weight (n,) or None)
    classes: np.ndarray | None = None  # (K,) sorted labels; None where y is no label
    map: Callable = map                # where the pieces are read and summed
    progress: bool = False             # show a bar for each pass
    names: list[str] | None = None     # (D,) of the features

    def first(self) -> tuple:
        """The first piece, (X, y, weight)."""
        pieces = self.pieces.ahead() if isinstance(self.pieces, _Once) else self.pieces
        for read in pieces:
            return read()
        raise ValueError("a table needs at least one piece, got none: check the files, or the generator")

    def total(self, statistics: Callable, title: str = "summing"):
        """Σ statistics(X, y, weight) over the pieces, added in their order.

        Parameters
        ----------
        statistics : callable
            From a piece to a record that can be added; it is sent to where the piece is read.
        title : str
            Of the progress bar.
        """
        found = self.map(partial(_summed, statistics), self.pieces)
        return reduce(add, self._shown(found, title) if self.progress else found)

    def _shown(self, found, title):
        from rich.progress import track
        return track(found, title, total=len(self.pieces) if hasattr(self.pieces, "__len__") else None)


def _summed(statistics, read):
    with one_thread():
        return statistics(*read())


# Where rows come from ------------------------------------------------------------------------------------------------

def chunks(X, y=None, weight=None, *, rows: int = ROWS, classes=None, map: Callable = map,
           progress: bool = False) -> Chunks:
    """A table in pieces of `rows` rows.

    Parameters
    ----------
    X : array (N, D), np.memmap, dask.array, or iterable of (X, y) or (X, y, weight), or a function that returns one
        A memory-mapped file is opened where a piece is read, so only its name travels.  The blocks of a dask.array
        stay as they are.  A generator can be read once, which is enough for fits in one pass; a function that returns
        a new generator serves all.
    y, weight : (N,), np.memmap or dask.array
        Where X is an array.
    rows : int
        Of a piece.
    classes : (K,), optional
        All labels; needed unless y is an array.
    map : callable
        As the built-in: `processes`, `on` a cluster, or an executor's ``map``.
    progress : bool
        Show a bar for each pass over the table.

    Returns
    -------
    Chunks, in place of X and y in ``fit``

    Raises
    ------
    ValueError
        If X and y differ in length, or `rows` is no positive number.

    Source: Dean & Ghemawat (2004), MapReduce, OSDI; Chu et al. (2006), Map-reduce for machine learning, NIPS.
    """
    if hasattr(X, "to_delayed"):
        pieces = _blocks_of_dask(X, y, weight)
    elif hasattr(X, "shape"):
        pieces = _slices(X, y, weight, rows)
    else:
        pieces = _Again(X) if callable(X) else _Once(X)
    return Chunks(pieces, _labels(y, classes), map, progress)


def parquet(path, target: str, weight: str | None = None, *, classes=None, map: Callable = map,
            progress: bool = False) -> Chunks:
    """The row groups of a Parquet file, or of all files in a folder, in the order of their names; needs pyarrow.

    Parameters
    ----------
    path : str or path
    target, weight : str
        The columns of y and of the weights; all others are features.
    classes, map, progress
        As in `chunks`.

    Returns
    -------
    Chunks, in place of X and y in ``fit``

    Raises
    ------
    ValueError
        If a file has no such column, or the folder no file.

    Source: the Apache Parquet format, parquet.apache.org.
    """
    from pathlib import Path

    from pyarrow.parquet import ParquetFile
    files = sorted(Path(path).glob("*.parquet")) if Path(path).is_dir() else [Path(path)]
    if not files:
        raise ValueError(f"a folder of Parquet files is expected, got {path} without any *.parquet")
    readers = []
    for file in files:
        with ParquetFile(file) as opened:
            if missing := {target, weight} - {None, *opened.schema_arrow.names}:
                raise ValueError(f"{file} has the columns {', '.join(opened.schema_arrow.names)}, not "
                                 f"{', '.join(sorted(missing))}: name the target and the weight as the file does")
            features = tuple(name for name in opened.schema_arrow.names if name not in (target, weight))
            readers += [_RowGroup(str(file), i, features, target, weight) for i in range(opened.num_row_groups)]
    return Chunks(readers, _labels(None, classes), map, progress, list(features))


def _labels(y, classes):
    if classes is not None:
        return np.unique(np.asarray(classes))
    y = y.compute() if hasattr(y, "to_delayed") else y
    return None if y is None or np.asarray(y).dtype.kind == "f" else sorted_codes(np.asarray(y))[0]


def _slices(X, y, weight, rows):
    if not (isinstance(rows, (int, np.integer)) and rows >= 1):
        raise ValueError(f"rows must be a whole number >= 1, got {rows!r}")
    for name, column in (("y", y), ("weight", weight)):
        if column is not None and len(column) != len(X):
            raise ValueError(f"X and {name} must have as many rows, got X with {len(X)} and {name} with {len(column)}")
    return [_Slice(*(_part(A, slice(start, start + rows)) for A in (X, y, weight))) for start in range(0, len(X), rows)]


def _part(A, rows: slice):
    """Some rows, or where to find them: what is sent to a worker."""
    if A is None or not isinstance(A, np.memmap) or A.filename is None or not A.flags.c_contiguous:
        return A if A is None else np.asarray(A[rows])
    start, stop, _ = rows.indices(len(A))
    row = A.dtype.itemsize * int(np.prod(A.shape[1:]))
    return _Mapped(str(A.filename), A.dtype.str, (stop - start, *A.shape[1:]), A.offset + start * row)


@dataclass(frozen=True)
class _Mapped:
    """Rows of a file that are read when asked for."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    offset: int

    def __array__(self, dtype=None, copy=None):
        rows = np.fromfile(self.path, self.dtype, int(np.prod(self.shape)), offset=self.offset).reshape(self.shape)
        return rows if dtype is None else rows.astype(dtype)


@dataclass(frozen=True)
class _Slice:
    """Reads its arrays."""

    X: object
    y: object
    weight: object

    def __call__(self) -> tuple:
        return tuple(None if A is None else np.asarray(A) for A in (self.X, self.y, self.weight))


@dataclass(frozen=True)
class _RowGroup:
    """Reads one row group of a Parquet file."""

    path: str
    group: int
    features: tuple[str, ...]
    target: str
    weight: str | None

    def __call__(self) -> tuple:
        from pyarrow.parquet import ParquetFile
        with ParquetFile(self.path) as opened:
            table = opened.read_row_group(self.group)
        X = np.column_stack([table[name].to_numpy() for name in self.features])
        return X, table[self.target].to_numpy(), None if self.weight is None else table[self.weight].to_numpy()


def _blocks_of_dask(X, y, weight):
    X = X.rechunk({1: -1})
    columns = [None if A is None else A.rechunk({0: X.chunks[0]}) for A in (y, weight)]
    return [_Block(*(None if A is None else A.blocks[i] for A in (X, *columns))) for i in range(len(X.chunks[0]))]


@dataclass(frozen=True)
class _Block(_Slice):
    """Computes the blocks of three dask arrays, in the process that needs them."""

    def __call__(self) -> tuple:
        return tuple(None if A is None else np.asarray(A.compute(scheduler="synchronous"))
                     for A in (self.X, self.y, self.weight))


@dataclass(frozen=True)
class _Again:
    """The rows of a function that returns them anew whenever it is asked."""

    rows: Callable[[], Iterable[tuple]]

    def __iter__(self):
        return (_Slice(*islice(chain(item, (None, None)), 3)) for item in self.rows())


class _Once:
    """The rows of an iterable that cannot be read again."""

    def __init__(self, rows):
        self.rows, self.read = iter(rows), False

    def ahead(self):
        """The first piece alone, which stays to be read."""
        first = list(islice(self.rows, 1))
        self.rows = chain(first, self.rows)
        return _Again(lambda: first)

    def __iter__(self):
        if self.read:
            raise ValueError("this fit reads the table more than once, and a generator can be read only once: pass a "
                             "function that returns a new generator")
        self.read = True
        return iter(_Again(lambda: self.rows))
