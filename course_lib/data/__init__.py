"""The course's data sets: small CSV tables, each with its origin in ``PROVENANCE.md``.

>>> table = load("penguins")
>>> table["species"]                          # one column, (N,) of float64 or str
>>> X, y = table.Xy("bill_length_mm", "bill_depth_mm", label="species")
"""
from __future__ import annotations

import csv
import gzip
import io
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files

import numpy as np

__all__ = ["Table", "load", "names"]


def names() -> list[str]:
    """The names that `load` takes, sorted."""
    return sorted(_files())


def load(name: str) -> "Table":
    """Read one table of the course.

    Parameters
    ----------
    name : str
        As listed by `names`, for example ``"penguins"``.

    Returns
    -------
    Table
        Columns in the order of the file; numbers as float64 with NaN where the file is blank, anything else as
        text with "" where it is blank.

    Raises
    ------
    ValueError
        If there is no such table; the message names the nearest ones.
    """
    available = _files()
    if name not in available:
        near = get_close_matches(str(name), available, n=3, cutoff=0.4) or sorted(available)
        raise ValueError(f"load() takes the name of a data set of the course, got {name!r}; try {', '.join(near)}")
    raw = available[name].read_bytes()
    text = (gzip.decompress(raw) if available[name].name.endswith(".gz") else raw).decode("ascii")
    header, *rows = csv.reader(io.StringIO(text))
    return Table(name, {column: _typed(values) for column, values in zip(header, zip(*rows))})


@dataclass(frozen=True)
class Table:
    """A data set in columns: ``table["name"]`` is one of them, ``len(table)`` the number of rows."""

    name: str
    columns: dict[str, np.ndarray]  # name -> (N,)

    def __getitem__(self, column: str) -> np.ndarray:
        try:
            return self.columns[column]
        except KeyError:
            raise KeyError(f"{self.name} has no column {column!r}; it has {', '.join(self.columns)}") from None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __repr__(self) -> str:
        return f"{self.name}: {len(self)} rows of {', '.join(self.columns)}"

    def matrix(self, *columns: str) -> np.ndarray:
        """Columns side by side, (N, D); without arguments all the numeric ones but the last column of the table."""
        chosen = columns or [c for c in list(self.columns)[:-1] if self.columns[c].dtype.kind == "f"]
        return np.column_stack([self[c] for c in chosen])

    def Xy(self, *columns: str, label: str | None = None, complete: bool = True) -> tuple[np.ndarray, np.ndarray]:
        """Features (N, D) and labels (N,).

        `label` is by default the table's last column; ``complete=True`` leaves out rows in which a chosen feature
        is missing.
        """
        X, y = self.matrix(*columns), self[label or list(self.columns)[-1]]
        if y.dtype.kind == "f" and np.isfinite(y).all() and (y == np.rint(y)).all():
            y = y.astype(int)
        keep = ~np.isnan(X).any(axis=1) if complete and X.dtype.kind == "f" else np.ones(len(y), bool)
        return X[keep], y[keep]


def _files():
    return {f.name.split(".")[0]: f for f in files(__name__).iterdir() if f.name.endswith((".csv", ".csv.gz"))}


def _typed(values) -> np.ndarray:
    try:
        return np.array([float(v) if v else np.nan for v in values])
    except ValueError:
        return np.array(values)
