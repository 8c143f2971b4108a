"""The scikit-learn protocol; scikit-learn itself is never imported here.

How an estimator uses it::

    class Centroids(ProbabilisticClassifier):
        def __init__(self, scale=1.0):            # parameters are stored as they come and checked in `_fit`
            self.scale = scale

        def _fit(self, X, codes, weight):         # clean arrays: X (N, D) float64, codes (N,) in 0..K-1,
            ...                                   # weight (N,) or None; self.classes_ (K,) is already set

        def _scores(self, X):                     # (N, K): log P(y) p(x|y), up to a constant of the row
            ...

A model whose scores are linear in the features gives them as `_linear()`, an `Affine`, in place of `_scores`.
`Classifier` turns the hooks into fit, predict, decision_function and score; `ProbabilisticClassifier` adds
predict_proba and predict_log_proba.  An estimator with another interface (a projection, a regression) derives from
`Estimator`, begins ``fit`` with ``X = self._features(X, reset=True)``, ends it with ``self._fitted = True`` and begins
every other method with ``X = self._features(X)``; where all that it needs of X is an `Affine` f, it is quicker to ask
for ``self._evaluated(*self._table(X), f)``.  `_input_tags` and `_classifier_tags` say what the data may be.
"""
from __future__ import annotations

import warnings
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from inspect import signature

import numpy as np

from course_lib.affine import Affine
from course_lib.checks import (as_table, check_features, check_finite, check_labels, check_weight, encode, of_sklearn,
                               plain_labels)
from course_lib.chunks import Chunks
from course_lib.decision import log_posterior, posterior
from course_lib.reduce import over_rows
from course_lib.statistics import ClassError, Labels, slices

__all__ = ["Classifier", "Estimator", "Labelled", "ProbabilisticClassifier"]


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
        X, names = self._table(X, reset)
        self._check_values(X, names)
        if reset:
            self._remember(X.shape[1], names)
        return X

    def _evaluated(self, X, names, f: Affine) -> np.ndarray:
        """f of a table; where X is not finite the values are not, so X is looked at only if a value is not finite."""
        with np.errstate(invalid="ignore"):
            values = f(X)
        if not (self._any_number and f.tells and np.isfinite(values.sum())):
            self._check_values(X, names)
        return values

    def _table(self, X, reset: bool = False) -> tuple:
        """Features (N, D) of the right kind and number, and their names or None; the values are not looked at."""
        if not (reset or self._fitted):
            raise of_sklearn("NotFittedError", _NotFitted)(
                f"This {type(self).__name__} instance is not fitted yet. Call 'fit' before using it.")
        names = _feature_names(X)
        if not reset:
            self._compare_names(names)
            names = getattr(self, "feature_names_in_", None)
        X = as_table(X, min_rows=int(reset))
        if not reset and X.shape[1] != self.n_features_in_:
            raise ValueError(f"X has {X.shape[1]} features, but {type(self).__name__} is expecting "
                             f"{self.n_features_in_} features as input; pass the columns it was fitted with")
        return X, names

    _any_number = True  # whether every finite one is welcome

    def _check_values(self, X, names) -> None:
        """Raise ValueError if X (N, D) holds what the model cannot take; `names` (D,) are the columns', or None."""
        check_finite(X, self._input_tags().get("allow_nan", False))

    def _rows(self, X, y, sample_weight) -> tuple:
        """Clean arrays X, codes and weight; sets `classes_`."""
        X, names = self._table(X, reset=True)
        self.classes_, codes = check_labels(y, len(X))
        weight = check_weight(sample_weight, codes, self.classes_)
        self._check_values(X, names)
        self._remember(X.shape[1], names)
        return X, codes, weight

    def _pieces(self, table: Chunks) -> tuple:
        """The sums over clean pieces, additive -> Σ additive.statistics(X, R), and the first piece; sets `classes_`."""
        if table.classes is None:
            raise ValueError("a classifier must know all labels before it reads the first piece: pass classes=, such "
                             "as chunks(rows, classes=[0, 1])")
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


class Labelled(Estimator):
    """What learns from rows with labels: `_fit` takes them whole, or `_fit_sums` sums over them."""

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


class Classifier(Labelled):
    """Labels in and out: `_fit` and `_scores` or `_linear` are the hooks of a model (see the module's docstring)."""

    _estimator_type = "classifier"

    def _linear(self) -> Affine | None:
        """The scores as functions of x, if they are linear; they may differ from `_scores` by a constant of the row."""

    def _scores(self, X) -> np.ndarray:
        if (linear := self._linear()) is None:
            raise NotImplementedError(f"{type(self).__name__} must define _scores(X), (N, K), or _linear()")
        return linear(X)

    def _odds(self, X, names) -> np.ndarray:
        """Of two classes, the score of the second less that of the first, (N,): one linear function in place of two."""
        if (linear := self._linear()) is not None:
            return self._evaluated(X, names, linear.difference)
        self._check_values(X, names)
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0]

    def decision_function(self, X) -> np.ndarray:
        """Scores (N, K), the largest of which is predicted; for two classes their difference (N,), second − first."""
        X, names = self._table(X)
        if len(self.classes_) == 2:
            return self._odds(X, names)
        self._check_values(X, names)
        return self._scores(X)

    def predict(self, X) -> np.ndarray:
        """Labels (N,) of the largest score, of the type given to `fit`."""
        X, names = self._table(X)
        if len(self.classes_) == 2:
            with np.errstate(invalid="ignore"):  # a row that is impossible in both classes goes to the first
                return self.classes_[(self._odds(X, names) > 0).view(np.int8)]
        self._check_values(X, names)
        best = np.empty(len(X), np.intp)
        for rows in slices(len(X), len(self.classes_), least=4096):
            best[rows] = largest(self._scores(X[rows]))
        return self.classes_[best]

    def score(self, X, y, sample_weight=None) -> float:
        """Share of rows whose label is predicted, weighted by `sample_weight` (N,)."""
        predicted, y = self.predict(X), plain_labels(y)
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


def largest(scores) -> np.ndarray:
    """Column (N,) of the first largest score in each row of scores (N, K): argmax, but quicker for many rows."""
    N, K = scores.shape
    if N < 300 or scores.strides[0] != scores.itemsize:
        return scores.argmax(axis=1)
    to_come = np.arange(K - 1, -1, -1, dtype=np.min_scalar_type(K))[:, None]  # classes after each: most after the first
    return K - 1 - ((scores.T == scores.max(axis=1)) * to_come).max(axis=0)


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
        return over_rows(X, Labels(y, len(self.classes), check_weight(weight, y)))(additive)


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
