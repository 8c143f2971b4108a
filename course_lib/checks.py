"""What may come in: features, labels, weights and priors as arrays of one kind, or an error that names the remedy."""
from __future__ import annotations

import sys
import warnings

import numpy as np

from course_lib.statistics import slices

__all__ = ["as_table", "check_features", "check_finite", "check_labels", "check_priors", "check_weight", "encode",
           "finite", "flat", "of_sklearn", "plain_labels", "sorted_codes"]


def check_features(X, allow_nan: bool = False, min_rows: int = 1) -> np.ndarray:
    """X as float64, converted once and never changed.

    Parameters
    ----------
    X : (N, D)
        Array, list of lists or data frame.
    allow_nan : bool
        Whether a missing value may pass.
    min_rows : int

    Returns
    -------
    (N, D) of float64

    Raises
    ------
    ValueError
        For sparse, complex, textual, 1-D or empty input, infinities, and NaN unless `allow_nan`.
    """
    X = as_table(X, min_rows)
    check_finite(X, allow_nan)
    return X


def as_table(X, min_rows: int = 1) -> np.ndarray:
    """X as float64, its values not looked at.

    Parameters
    ----------
    X : (N, D)
        Array, list of lists or data frame.
    min_rows : int

    Returns
    -------
    (N, D) of float64

    Raises
    ------
    ValueError
        For sparse, complex, textual, 1-D or empty input.
    """
    if hasattr(X, "tocsr"):
        raise TypeError("X is a sparse matrix; this estimator takes dense arrays: pass X.toarray()")
    X = _as_float(X)
    if X.ndim != 2:
        raise ValueError(f"Expected 2D array X of shape (rows, features), got {X.ndim}D array instead. Reshape your "
                         "data: X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one sample")
    if len(X) < min_rows:
        raise ValueError(f"Found array with 0 sample(s) (shape={X.shape}) while a minimum of {min_rows} is required: "
                         "pass at least one row")
    if X.shape[1] == 0:
        raise ValueError(f"Found array with 0 feature(s) (shape={X.shape}) while a minimum of 1 is required: "
                         "pass at least one column")
    return X


def check_labels(y, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct labels and the code of each row's label among them.

    Parameters
    ----------
    y : (N,)
        Text, booleans or whole numbers.
    n : int
        How many there must be.

    Returns
    -------
    classes, codes : (K,) and (N,)

    Raises
    ------
    ValueError
        If y is missing, has not n entries, holds NaN or reals, or names fewer than two classes.
    """
    y = plain_labels(y)
    if len(y) != n:
        raise ValueError(f"X and y must have as many rows, got X with {n} and y with {len(y)}")
    classes, codes = sorted_codes(y)
    if len(classes) < 2:
        raise ValueError(f"a classifier needs two classes or more, got only one class in y, {_show(classes[0])}: "
                         "add rows of another class")
    return classes, codes


def encode(y, classes: np.ndarray) -> np.ndarray:
    """Codes of labels among known classes.

    Parameters
    ----------
    y : (N,)
    classes : (K,)
        Sorted.

    Returns
    -------
    (N,) of int

    Raises
    ------
    ValueError
        If a label is not among the classes.
    """
    y = plain_labels(y)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if np.any(unknown := classes[codes] != y):
        raise ValueError(f"y must hold only the classes {_show(classes)}, got {_show(y[unknown][0])}: "
                         "name every class in `classes` at the first call")
    return codes


def check_weight(sample_weight, codes: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray | None:
    """Weights as float64, or None.

    Parameters
    ----------
    sample_weight : (N,) or None
    codes : (N,) of int
    classes : (K,), optional
        Labels of the codes, each of which must keep some weight.

    Returns
    -------
    (N,) of float64, or None

    Raises
    ------
    ValueError
        If a weight is negative or not finite, their number is not N, or a class has none.
    """
    if sample_weight is None:
        return None
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != codes.shape:
        raise ValueError(f"sample_weight must have shape {codes.shape}, one weight a row, got {weight.shape}")
    if not np.isfinite(weight).all():
        raise ValueError("sample_weight must be finite, got NaN or infinity: drop these rows")
    if (weight < 0).any():
        raise ValueError(f"sample_weight must be >= 0, got a negative weight, {weight.min()}: drop or clip such rows")
    mass = np.ones(1) if classes is None else np.bincount(codes, weight, len(classes))
    if (mass == 0).any():
        raise ValueError(f"class {_show(classes[mass.argmin()])} has zero total weight: drop the class or give one of "
                         "its rows a positive weight")
    return weight


def check_priors(priors, K: int) -> np.ndarray | None:
    """Priors as float64, or None.

    Parameters
    ----------
    priors : (K,) or None
    K : int

    Returns
    -------
    (K,) of float64, or None

    Raises
    ------
    ValueError
        Unless they are K numbers ≥ 0 with sum 1 within rounding (1e-8).
    """
    if priors is None:
        return None
    priors = np.asarray(priors, dtype=np.float64)
    if priors.shape != (K,):
        raise ValueError(f"priors must hold one number a class, got {priors.size} priors for {K} classes")
    if not (priors >= 0).all():
        raise ValueError(f"priors must be >= 0, got {priors.min()}: a prior is a probability")
    if abs(priors.sum() - 1) > 1e-8:
        raise ValueError(f"priors must sum to 1, got sum {priors.sum():.6g}: divide them by their sum")
    return priors


def _as_float(X) -> np.ndarray:
    if hasattr(X, "to_numpy") and hasattr(X, "columns"):
        X = X.to_numpy(dtype=object) if any(_is_extension(t) for t in X.dtypes) else X.to_numpy()
    X = np.asarray(X)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: X must be real, got {X.dtype}; pass its parts as two features")
    if X.dtype.kind not in "biufO":
        raise ValueError(f"X must be numeric, got dtype {X.dtype}; {_TEXT_REMEDY}")
    try:
        return np.asarray(_without_na(X) if X.dtype.kind == "O" else X, dtype=np.float64)
    except ValueError as fault:
        raise ValueError(f"X must be numeric, but {fault}; {_TEXT_REMEDY}") from None


_TEXT_REMEDY = "give categories as non-negative integer codes (np.unique(column, return_inverse=True)[1])"


def _is_extension(dtype) -> bool:
    return not isinstance(dtype, np.dtype)


def _without_na(X: np.ndarray) -> np.ndarray:
    """NaN for pandas' own missing value, which has no float."""
    NA = getattr(sys.modules.get("pandas"), "NA", None)
    return X if NA is None else np.where(np.frompyfunc(lambda v: v is NA, 1, 1)(X).astype(bool), np.nan, X)


def finite(X: np.ndarray) -> bool:
    """Whether no value is NaN or infinite, as far as their sum tells, which may also overflow: False proves nothing.

    Parameters
    ----------
    X : (N, D)

    Returns
    -------
    bool
    """
    return bool(np.isfinite(np.einsum("nd->", X)))  # no temporary, and quicker than `sum`, which sums pairwise


def check_finite(X: np.ndarray, allow_nan: bool = False) -> None:
    """Refuse a table with an infinity, or with NaN unless `allow_nan`, and say where it is.

    Parameters
    ----------
    X : (N, D)
    allow_nan : bool

    Raises
    ------
    ValueError
    """
    if finite(X):
        return
    for rows in slices(*X.shape):
        for fault, bad in (("infinity", np.isinf(X[rows])), ("NaN", np.isnan(X[rows]) & (not allow_nan))):
            if bad.any():
                row, column = np.argwhere(bad)[0]
                skip = ", or use a model that takes missing values (missing='skip')" if fault == "NaN" else ""
                raise ValueError(f"X must be finite, got {fault} in X (row {rows.start + row}, column {column}); drop "
                                 f"or impute such rows{skip}")


def plain_labels(y) -> np.ndarray:
    """Labels as an array of one type: text, booleans, integers or whole floats.

    Parameters
    ----------
    y : (N,) or (N, 1)

    Returns
    -------
    (N,)

    Raises
    ------
    ValueError
        If y is None, holds NaN, reals or labels of several types, or has another shape.
    """
    if y is None:
        raise ValueError("a classifier requires y to be passed, but the target y is None")
    y = flat(np.asarray(y))
    y = _uniform(y) if y.dtype.kind == "O" else y
    if y.dtype.kind == "f":
        if not np.isfinite(y).all():
            raise ValueError("Input y contains NaN or infinity: drop the rows without a label")
        if (y != np.rint(y)).any():
            raise ValueError(f"Unknown label type: y looks continuous ({y[y != np.rint(y)][0]}); a classifier needs "
                             "classes: bin y, or use a regression")
    elif y.dtype.kind not in "biuUS":
        raise ValueError(f"Unknown label type: y must hold text, booleans or integers, got dtype {y.dtype}")
    return y


def flat(y: np.ndarray) -> np.ndarray:
    """A column as an array of one dimension, with a warning.

    Parameters
    ----------
    y : (N,) or (N, 1)

    Returns
    -------
    (N,)

    Raises
    ------
    ValueError
        If y has another shape.
    """
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected: pass y.ravel()",
                      of_sklearn("DataConversionWarning", UserWarning), stacklevel=5)
        return y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y should be a 1d array, one label a row, got an array of shape {y.shape}")
    return y


def _uniform(y: np.ndarray) -> np.ndarray:
    """An object array as an array of the one type all its values have."""
    kinds = {np.asarray(value).dtype.kind for value in y}
    if len(kinds) == 1 and kinds <= set("biufUS"):
        return np.array(y.tolist())
    raise ValueError("Unknown label type: y must hold labels of one type, text, booleans or integers, got "
                     f"{', '.join(sorted({type(v).__name__ for v in y}))}; drop missing labels, convert the others")


def sorted_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """np.unique with inverse; whole numbers from a short range are counted instead of sorted.

    Parameters
    ----------
    y : (N,)

    Returns
    -------
    classes, codes : (K,) and (N,)
    """
    if y.dtype.kind in "iu" and len(y) and (low := int(y.min())) + 4 * len(y) > int(y.max()):
        offset = np.subtract(y, low, dtype=np.int64).astype(np.int32)
        present = np.bincount(offset) > 0
        classes = np.arange(low, low + len(present)).astype(y.dtype)[present]
        return classes, offset if present.all() else (np.cumsum(present, dtype=np.int32) - np.int32(1))[offset]
    return np.unique(y, return_inverse=True)


def of_sklearn(name: str, fallback: type) -> type:
    """scikit-learn's own exception of that name if scikit-learn is loaded anyway; importing it takes half a second.

    Parameters
    ----------
    name : str
    fallback : type
        What stands in for it.

    Returns
    -------
    type
    """
    return getattr(sys.modules.get("sklearn.exceptions"), name, fallback)


def _show(label) -> str:
    return repr(label.tolist() if isinstance(label, (np.ndarray, np.generic)) else label)
