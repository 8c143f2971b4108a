"""Every named estimator as part of scikit-learn: pipelines, searches, cross-validation, calibration, clones, frames."""
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from naming import named
from sklearn.base import clone, is_classifier
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from course_lib import (GLM, LDA, QDA, RDA, BayesClassifier, FisherProjection, FlippedLogisticRegression, Gaussian,
                        LeastSquaresClassifier, LogisticRegression, MixtureClassifier, NaiveBayes, ParzenClassifier,
                        Perceptron, ProbitRegression, SoftmaxRegression)
from course_lib.data import load
from course_lib.linear import signs

GRIDS = [
    (QDA(), "ridge", [0.0, 0.1]), (LDA(), "ridge", [0.0, 0.1]), (RDA(), "alpha", [0.0, 0.5, 1.0]),
    (ParzenClassifier(0.3), "h", [0.3, 0.6]), (MixtureClassifier(), "k", [1, 2]),
    (FisherProjection(), "ridge", [0.0, 0.1]),
    (LogisticRegression(), "ridge", [0.0, 1.0]), (SoftmaxRegression(ridge=0.1), "ridge", [0.1, 1.0]),
    (ProbitRegression(), "ridge", [0.0, 1.0]), (FlippedLogisticRegression(flip=0.05), "flip", [0.0, 0.05]),
    (GLM("binomial"), "ridge", [0.0, 1.0]),
    (LeastSquaresClassifier(), "coding", [signs]), (Perceptron(epochs=20), "epochs", [5, 20]),
    (NaiveBayes(), "missing", ["refuse", "skip"]), (BayesClassifier(Gaussian()), "density__pool", ["own", "tied"]),
]
FOLDS = KFold(3, shuffle=True, random_state=0)
searched = pytest.mark.parametrize("model, parameter, values", GRIDS, ids=named)
every = pytest.mark.parametrize("model", [model for model, _, _ in GRIDS], ids=named)
classifiers = pytest.mark.parametrize("model", [model for model, _, _ in GRIDS if is_classifier(model)], ids=named)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the classes overlap, which a perceptron says each time
        yield


def table():
    X, y = load("synth_tr").Xy()
    return pd.DataFrame(X, columns=["xs", "ys"]), y


def pipeline(model):
    """The model behind a scaler; a projection is followed by a classifier."""
    return make_pipeline(StandardScaler(), model, *([LDA()] if isinstance(model, FisherProjection) else []))


def outputs(model, X):
    return model.transform(X) if hasattr(model, "transform") else model.predict(X)


@searched
def test_a_search_in_a_pipeline_keeps_the_best_of_its_candidates(model, parameter, values):
    frame, y = table()
    pipe, name = pipeline(model), f"{type(model).__name__.lower()}__{parameter}"
    search = GridSearchCV(pipe, {name: values}, cv=FOLDS).fit(frame, y)
    by_hand = [cross_val_score(clone(pipe).set_params(**{name: value}), frame, y, cv=FOLDS).mean() for value in values]
    assert search.best_score_ == max(by_hand) > (0.3 if isinstance(model, GLM) else 0.75)  # a GLM's: of the deviance
    assert search.best_params_[name] == values[int(np.argmax(by_hand))]


@every
def test_cross_validation_is_fitting_and_scoring_by_hand(model):
    frame, y = table()
    pipe = pipeline(model)
    by_hand = [clone(pipe).fit(frame.iloc[train], y[train]).score(frame.iloc[test], y[test])
               for train, test in FOLDS.split(frame)]
    np.testing.assert_array_equal(cross_val_score(pipe, frame, y, cv=FOLDS), by_hand)


@classifiers
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_calibration_gives_probabilities_that_decide_as_well(model, method):
    frame, y = table()
    calibrated = CalibratedClassifierCV(clone(model), method=method, cv=3).fit(frame, y)
    np.testing.assert_allclose(calibrated.predict_proba(frame).sum(axis=1), 1)
    assert calibrated.score(frame, y) > 0.75


@every
def test_a_clone_of_a_fitted_model_is_unfitted_and_fits_alike(model):
    frame, y = table()
    fitted = clone(model).fit(frame, y)
    again = clone(fitted)
    assert repr(again) == repr(model) and not again.__sklearn_is_fitted__()
    np.testing.assert_array_equal(outputs(again.fit(frame, y), frame), outputs(fitted, frame))


@every
def test_a_fitted_model_survives_pickling(model):
    frame, y = table()
    fitted = clone(model).fit(frame, y)
    np.testing.assert_array_equal(outputs(pickle.loads(pickle.dumps(fitted)), frame), outputs(fitted, frame))


@every
def test_a_frame_gives_the_results_of_its_numbers_and_its_names_are_kept_and_compared(model):
    frame, y = table()
    fitted, plain = clone(model).fit(frame, y), clone(model).fit(frame.to_numpy(), y)
    assert fitted.feature_names_in_.tolist() == ["xs", "ys"] and not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(outputs(fitted, frame), outputs(plain, frame.to_numpy()))
    with pytest.raises(ValueError, match="must be in the same order"):
        outputs(fitted, frame[["ys", "xs"]])
