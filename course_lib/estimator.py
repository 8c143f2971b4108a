"""The scikit-learn protocol and the checks of what comes in; scikit-learn itself is never imported here.

How an estimator uses it::

    class Centroids(ProbabilisticClassifier):
        def __init__(self, scale=1.0):            # parameters are stored as they come and checked in `_fit`
            self.scale = scale

        def _fit(self, X, codes, weight):         # clean arrays: X (N, D) float64, codes (N,) in 0..K-1,
            ...                                   # weight (N,) or None; self.classes_ (K,) is already set

        def _scores(self, X):                     # (N, K): log P(y) p(x|y), up to a constant of the row
            ...

`Classifier` turns the two hooks into fit, predict, decision_function and score; `ProbabilisticClassifier` adds
predict_proba and predict_log_proba.  An estimator with another interface (a projection, a regression) derives from
`Estimator`, begins ``fit`` with ``X = self._features(X, reset=True)``, ends it with ``self._fitted = True`` and begins
every other method with ``X = self._features(X)``.  `_input_tags` and `_classifier_tags` say what the data may be.
"""
from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from inspect import signature

import numpy as np

from course_lib.chunks import Chunks
from course_lib.decision import log_posterior, posterior
from course_lib.reduce import split, total
from course_lib.statistics import ClassError, Labels

__all__ = ["Classifier", "Estimator", "ProbabilisticClassifier",
           "check_features", "check_labels", "check_priors", "check_weight", "encode", "flat"]


class _NotFitted(ValueError, AttributeError):
    """Raised where scikit-learn, whose exception this stands in for, has not been imported."""


class Estimator:
    """Parameters from the constructor's signature, the fitted flag, feature names and their comparison."""

    _fitted = False

    @classmethod
    def _defaults(cls) -> dict:
        return {p.name: p.default for p in signature(cls).parameters.values()}

    def get_params(self, deep: bool = True) -> dict:
        """The constructor's arguments; with `deep` also ``name__field`` of those that are records or estimators."""
        params = {name: getattr(self, name) for name in self._defaults()}
        nested = {f"{name}__{key}": v for name, value in params.items() for key, v in _inside(value).items()}
        return params | nested if deep else params

    def set_params(self, **params) -> "Estimator":
        """Change arguments of the constructor; ``density__ridge=.1`` replaces one field of a record."""
        for name, value in params.items():
            outer, _, inner = name.partition("__")
            if outer not in self._defaults():
                raise ValueError(f"Invalid parameter {outer!r} for {self!r}; valid ones: {', '.join(self._defaults())}")
            setattr(self, outer, _replaced(getattr(self, outer), inner, value) if inner else value)
        return self

    def __repr__(self) -> str:
        changed = [f"{name}={getattr(self, name)!r}" for name, default in self._defaults().items()
                   if repr(getattr(self, name)) != repr(default)]
        return f"{type(self).__name__}({', '.join(changed)})"

    def __sklearn_is_fitted__(self) -> bool:
        return self._fitted

    def __sklearn_tags__(self):
        from sklearn.utils import InputTags, Tags, TargetTags
        return Tags(estimator_type=None, target_tags=TargetTags(required=True),
                    input_tags=InputTags(**self._input_tags()))

    def _input_tags(self) -> dict:
        return {}

    def _features(self, X, reset: bool = False) -> np.ndarray:
        """Checked features (N, D); `reset` remembers their number and names, otherwise both are compared."""
        if not (reset or self._fitted):
            raise _of_sklearn("NotFittedError", _NotFitted)(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' before using it.")
        names = _feature_names(X)
        if not reset:
            self._compare_names(names)
        X = check_features(X, allow_nan=self._input_tags().get("allow_nan", False), min_rows=int(reset))
        if reset:
            self._remember(X.shape[1], names)
        elif X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input; pass the columns it was fitted with")
        return X

    def _rows(self, X, y, sample_weight) -> tuple:
        """Clean arrays X, codes and weight; sets `classes_`."""
        X = self._features(X, reset=True)
        self.classes_, codes = check_labels(y, len(X))
        return X, codes, check_weight(sample_weight, codes, self.classes_)

    def _pieces(self, table: Chunks) -> tuple:
        """The sums over clean pieces, additive -> Σ additive.statistics(X, R), and the first piece; sets `classes_`."""
        if table.classes is None:
            raise ValueError("a classifier must know all labels before it reads the first piece: pass classes=, such as "
                             "chunks(rows, classes=[0, 1])")
        self.classes_, _ = check_labels(table.classes, len(table.classes))
        first = self._features(table.first()[0], reset=True)
        if table.names is not None:
            self._remember(len(table.names), np.array(table.names, dtype=object))
        clean = Reader(first.shape[1], self.classes_, self._input_tags().get("allow_nan", False))
        return lambda additive: table.total(partial(clean, additive), type(self).__name__), first

    def _remember(self, n_features: int, names) -> None:
        self.n_features_in_ = n_features
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names

    def _compare_names(self, names) -> None:
        known, me = getattr(self, "feature_names_in_", None), type(self).__name__
        if known is None and names is not None:
            warnings.warn(f"X has feature names, but {me} was fitted without feature names", stacklevel=4)
        elif known is not None and names is None:
            warnings.warn(f"X does not have valid feature names, but {me} was fitted with feature names", stacklevel=4)
        elif known is not None and list(known) != list(names):
            raise ValueError("The feature names should match those that were passed during fit.\n"
                             + _difference_of_names(known, names))


class Classifier(Estimator):
    """Labels in and out: `_fit` and `_scores` are the two hooks of a model (see the module's docstring)."""

    _estimator_type = "classifier"

    def fit(self, X, y=None, sample_weight=None):
        """Learn from rows X (N, D) with labels y (N,) and optional weights (N,) ≥ 0; returns the estimator.

        X may be `chunks` of a table, with its labels and weights, if the model is fitted by sums over rows.
        """
        self._fitted = False
        try:
            if isinstance(X, Chunks):
                self._fit_sums(*self._pieces(X))
            else:
                self._fit(*self._rows(X, y, sample_weight))
        except ClassError as fault:
            raise fault.named(self.classes_, getattr(self, "feature_names_in_", None)) from None
        self._fitted = True
        return self

    def _fit(self, X, codes, weight) -> None:
        self._fit_sums(over_rows(X, Labels(codes, len(self.classes_), weight)), X)

    def _fit_sums(self, summed, first) -> None:
        raise ValueError(f"{type(self).__name__} is not fitted by sums over rows, so it cannot take a table in pieces: "
                         "pass X and y as arrays")

    def _scores(self, X) -> np.ndarray:
        raise NotImplementedError(f"{type(self).__name__} must define _scores(X), (N, K)")

    def decision_function(self, X) -> np.ndarray:
        """Scores (N, K), the largest of which is predicted; for two classes their difference (N,), second − first."""
        scores = self._scores(self._features(X))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X) -> np.ndarray:
        """Labels (N,) of the largest score, of the type given to `fit`."""
        scores = self._scores(self._features(X))
        return self.classes_[scores.argmax(axis=1)]

    def score(self, X, y, sample_weight=None) -> float:
        """Share of rows whose label is predicted, weighted by `sample_weight` (N,)."""
        predicted, y = self.predict(X), _plain_labels(y)
        if len(y) != len(predicted):
            raise ValueError(f"score needs one label a row, got {len(y)} labels for {len(predicted)} rows")
        return float(np.average(predicted == y, weights=sample_weight))

    def _classifier_tags(self) -> dict:
        return {}

    def __sklearn_tags__(self):
        from sklearn.utils import ClassifierTags
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags(**self._classifier_tags())
        return tags


class ProbabilisticClassifier(Classifier):
    """A classifier whose scores are ln P(y)p(x|y) up to a constant of the row, so that Bayes' rule normalises them."""

    def predict_proba(self, X) -> np.ndarray:
        """Posterior probabilities (N, K), columns in the order of ``classes_``."""
        return posterior(self._scores(self._features(X)))

    def predict_log_proba(self, X) -> np.ndarray:
        """Logarithms of `predict_proba`, (N, K), exact where the probability underflows."""
        return log_posterior(self._scores(self._features(X)))


def over_rows(X, R):
    """The sums over rows X (N, D) with weights R (N, K): additive -> Σ additive.statistics(X, R), in blocks."""
    return lambda additive: total(additive, split(X, R))


@dataclass(frozen=True)
class Reader:
    """Checks a piece of a table as `fit` checks a whole one, and sums it."""

    width: int
    classes: np.ndarray  # (K,)
    allow_nan: bool

    def __call__(self, additive, X, y, weight):
        """Σ additive.statistics(X, R) over the rows of the piece X (n, D), y (n,), weight (n,) or None."""
        X, y = check_features(X, self.allow_nan, min_rows=0), encode(y, self.classes)
        if X.shape[1] != self.width:
            raise ValueError(f"all pieces need as many columns as the first, {self.width}, got one with {X.shape[1]}")
        if len(y) != len(X):
            raise ValueError(f"X and y must have as many rows, got a piece with {len(X)} rows and {len(y)} labels")
        additive.check(X)
        return total(additive, split(X, Labels(y, len(self.classes), check_weight(weight, y))))


def check_features(X, allow_nan: bool = False, min_rows: int = 1) -> np.ndarray:
    """X as float64 of shape (N, D), converted once and never changed.

    Raises
    ------
    ValueError
        For sparse, complex, textual, 1-D or empty input, infinities, and NaN unless `allow_nan`.
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
    _check_finite(X, allow_nan)
    return X


def check_labels(y, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The sorted distinct labels (K,) and the code (N,) of each row's label among them.

    Raises
    ------
    ValueError
        If y is missing, has not n entries, holds NaN or reals, or names fewer than two classes.
    """
    y = _plain_labels(y)
    if len(y) != n:
        raise ValueError(f"X and y must have as many rows, got X with {n} and y with {len(y)}")
    classes, codes = _sorted_codes(y)
    if len(classes) < 2:
        raise ValueError(f"a classifier needs two classes or more, got only one class in y, {_show(classes[0])}: "
                         "add rows of another class")
    return classes, codes


def encode(y, classes: np.ndarray) -> np.ndarray:
    """Codes (N,) of labels among the given sorted `classes`; a label that is not there raises ValueError."""
    y = _plain_labels(y)
    codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    if np.any(unknown := classes[codes] != y):
        raise ValueError(f"y must hold only the classes {_show(classes)}, got {_show(y[unknown][0])}: "
                         "name every class in `classes` at the first call")
    return codes


def check_weight(sample_weight, codes: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray | None:
    """Weights as float64 (N,), or None; each must be finite and ≥ 0, and each of the given classes must keep some."""
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
    """Priors as float64 (K,), or None; they must be ≥ 0 and sum to 1 within rounding (1e-8)."""
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


def _check_finite(X: np.ndarray, allow_nan: bool) -> None:
    if np.isfinite(X.sum()):  # one pass and no temporary; a sum may also overflow, so it only acquits
        return
    for fault, bad in (("infinity", np.isinf(X)), ("NaN", np.isnan(X) & (not allow_nan))):
        if bad.any():
            row, column = np.argwhere(bad)[0]
            skip = ", or use a model that takes missing values (missing='skip')" if fault == "NaN" else ""
            raise ValueError(f"X must be finite, got {fault} in X (row {row}, column {column}); drop or impute such "
                             f"rows{skip}")


def _plain_labels(y) -> np.ndarray:
    """Labels as a 1-D array of text, booleans, integers or whole floats."""
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
    if y.ndim == 2 and y.shape[1] == 1:
        warnings.warn("A column-vector y was passed when a 1d array was expected: pass y.ravel()",
                      _of_sklearn("DataConversionWarning", UserWarning), stacklevel=5)
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


def _sorted_codes(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """np.unique with inverse; whole numbers from a short range are counted instead of sorted."""
    if y.dtype.kind in "iu" and len(y) and (low := int(y.min())) + 4 * len(y) > int(y.max()):
        offset = np.subtract(y, low, dtype=np.int64).astype(np.int32)
        present = np.bincount(offset) > 0
        codes = np.cumsum(present, dtype=np.int32) - np.int32(1)
        return (np.flatnonzero(present) + low).astype(y.dtype), offset if present.all() else codes[offset]
    return np.unique(y, return_inverse=True)


def _feature_names(X) -> np.ndarray | None:
    names = np.asarray(getattr(X, "columns", []), dtype=object)
    return names if names.size and all(isinstance(name, str) for name in names) else None


def _difference_of_names(known, names) -> str:
    groups = {"Feature names unseen at fit time:\n": sorted(set(names) - set(known)),
              "Feature names seen at fit time, yet now missing:\n": sorted(set(known) - set(names))}
    text = "".join(title + "".join(f"- {n}\n" for n in group[:5]) + "- ...\n" * (len(group) > 5)
                   for title, group in groups.items() if group)
    return text or "Feature names must be in the same order as they were in fit.\n"


def _inside(value) -> dict:
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in fields(value) if f.init}
    return value.get_params() if hasattr(value, "get_params") and not isinstance(value, type) else {}


def _replaced(value, inner: str, new):
    return replace(value, **{inner: new}) if is_dataclass(value) else value.set_params(**{inner: new})


def _of_sklearn(name: str, fallback: type) -> type:
    """scikit-learn's own exception if scikit-learn is loaded anyway; importing it would take half a second."""
    return getattr(sys.modules.get("sklearn.exceptions"), name, fallback)


def _show(label) -> str:
    return repr(label.tolist() if isinstance(label, (np.ndarray, np.generic)) else label)
