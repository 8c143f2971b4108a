"""scikit-learn's own checks, its protocol, and what is not imported."""
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from naming import named
from sklearn.base import clone, is_classifier
from sklearn.utils.estimator_checks import check_estimator

import course_lib
from course_lib import (GLM, LDA, QDA, RDA, BayesClassifier, Bernoulli, Binomial, Categorical, Exponential,
                        FisherProjection, Gamma, Gaussian, Geometric, Histogram, LeastSquaresClassifier,
                        LogisticRegression, Multinomial, NaiveBayes, NegativeBinomial, Normal, Poisson, StudentT, rda)
from course_lib.checks import check_features, check_labels, encode
from course_lib.estimator import ProbabilisticClassifier, largest
from course_lib.statistics import BLOCK

WEIGHTS = "check_sample_weight_equivalence_on_dense_data"
SINGULAR = dict.fromkeys(("check_sample_weights_shape", "check_sample_weights_not_overwritten", WEIGHTS),
                         "a class has no variance in a feature, or fewer rows than features: only a ridge can mend it")
UNSUPPORTED = {"check_decision_proba_consistency": "feeds numbers outside the family's support, whatever the tags say"}
FRACTIONS = UNSUPPORTED | {WEIGHTS: "feeds fractions to a family of whole numbers"}

EXPECTED = [
    (NaiveBayes(), SINGULAR), (NaiveBayes(Normal(ridge=1e-9)), {}), (NaiveBayes(Bernoulli(1, threshold=0.0)), {}),
    (NaiveBayes(Binomial(60, smoothing=1)), FRACTIONS), (NaiveBayes(Poisson(smoothing=0.1)), FRACTIONS),
    (NaiveBayes(Geometric(smoothing=0.1)), FRACTIONS), (NaiveBayes(NegativeBinomial(3.0, smoothing=0.1)), FRACTIONS),
    (NaiveBayes(NegativeBinomial()), FRACTIONS), (NaiveBayes(Categorical(400, smoothing=1)), FRACTIONS),
    (NaiveBayes(Exponential(smoothing=0.1)), UNSUPPORTED), (NaiveBayes(Gamma(2.0, smoothing=0.1)), UNSUPPORTED),
    (NaiveBayes(Multinomial(smoothing=1)), UNSUPPORTED), (NaiveBayes(Normal(ridge=1e-9), missing="skip"), {}),
    (BayesClassifier(), SINGULAR), (BayesClassifier(Gaussian(ridge=1e-6)), {}),
    (BayesClassifier(Gaussian("spherical")), SINGULAR), (QDA(), SINGULAR), (QDA(ridge=1e-6), {}), (LDA(), SINGULAR),
    (LDA(ridge=1e-6), {}), (RDA(), SINGULAR), (RDA(0.5, 0.1), {}),
]
SKIPPED = {"check_array_api_input": "SCIPY_ARRAY_API is not set"}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("model, expected", EXPECTED, ids=lambda v: named(v) if not isinstance(v, dict) else "")
def test_scikit_learn_finds_no_fault_beyond_those_expected(model, expected):
    results = check_estimator(model, expected_failed_checks=expected, on_fail=None)
    outcome = lambda status: {r["check_name"] for r in results if r["status"] == status}
    assert outcome("failed") == set()
    assert outcome("skipped") <= set(SKIPPED)
    assert outcome("xfail") <= set(expected)
    assert sum(r["status"] == "passed" for r in results) > 50


def script(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_scikit_learn_statsmodels_scipy_stats_pandas_and_matplotlib_are_not_loaded_by_fit_and_predict():
    used = """
import sys, numpy as np
from course_lib import LDA, QDA, NaiveBayes, Poisson, Categorical, Multinomial, StudentT, Histogram, NegativeBinomial
X, y = np.random.default_rng(0).poisson(4.0, (60, 3)).astype(float), np.arange(60) % 2
for model in (LDA(), QDA(), NaiveBayes(), *(NaiveBayes(f) for f in (Poisson(), Categorical(smoothing=1), Multinomial(1),
              StudentT(5.0), Histogram(), NegativeBinomial()))):
    model.fit(X, y).predict_proba(X); model.score(X, y); repr(model); model.get_params()
try: LDA().predict(X)
except ValueError as fault: print(type(fault).__mro__[1].__name__)
print(sorted(m for m in ("sklearn", "statsmodels", "scipy.stats", "pandas", "matplotlib") if m in sys.modules))"""
    assert script(used).splitlines() == ["ValueError", "[]"]


def test_importing_the_package_loads_neither_numpy_nor_scipy():
    assert script("import sys, course_lib; print([m for m in ('numpy', 'scipy') if m in sys.modules])") == "[]"


def test_every_public_name_is_found_and_an_unknown_one_is_an_attribute_error():
    assert {"BayesClassifier", "NaiveBayes", "Gaussian", "Independent", "Normal", "Bernoulli", "Binomial", "Poisson",
            "Exponential", "Gamma", "Geometric", "NegativeBinomial", "Categorical", "Multinomial", "Histogram",
            "StudentT"} <= set(course_lib.__all__) <= set(dir(course_lib))
    for name in course_lib.__all__:
        assert getattr(course_lib, name).__name__ in (name, "rda")
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        course_lib.nonsense


class Nearest(ProbabilisticClassifier):
    def __init__(self, scale=1.0, record=None):
        self.scale, self.record = scale, record

    def _fit(self, X, codes, weight):
        weight = np.ones(len(X)) if weight is None else weight
        self.means_ = np.array([np.average(X[codes == k], axis=0, weights=weight[codes == k])
                                for k in range(len(self.classes_))])

    def _scores(self, X):
        return -0.5 * ((X[:, None] - self.means_) ** 2).sum(axis=2) / self.scale**2


def test_two_hooks_make_a_classifier_that_scikit_learn_accepts():
    results = check_estimator(Nearest(), on_fail=None)
    assert {r["check_name"] for r in results if r["status"] == "failed"} == set()


def test_parameters_are_those_of_the_constructor_and_of_records_in_it():
    model = Nearest(2.0, Gaussian(ridge=0.1))
    assert model.get_params(deep=False) == {"scale": 2.0, "record": Gaussian(ridge=0.1)}
    assert model.get_params()["record__ridge"] == 0.1
    model.set_params(record__ridge=0.5, scale=3)
    assert (model.record, model.scale) == (Gaussian(ridge=0.5), 3)
    with pytest.raises(ValueError, match="Invalid parameter 'h'.*valid ones: scale, record"):
        model.set_params(h=1)
    assert repr(Nearest()) == "Nearest()" and repr(Nearest(2.0)) == "Nearest(scale=2.0)"


@pytest.mark.parametrize("model", [
    QDA(), LDA(ridge=0.1), RDA(0.3, 0.2), NaiveBayes([Normal(), Histogram(5, smoothing=1)]), NaiveBayes(StudentT()),
    BayesClassifier(Gaussian(pool=rda(0.5)), priors=[0.5, 0.5])], ids=named)
def test_a_clone_has_the_parameters_and_a_pickle_the_predictions(model):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    assert repr(clone(model)) == repr(model) and is_classifier(model)
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), fitted.predict_proba(X))


def test_a_failed_fit_leaves_no_half_fitted_model():
    X, y = np.array([[0.0], [1.0], [5.0], [7.0]]), [0, 0, 1, 1]
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError):
        model.fit(np.ones((4, 1)), y)
    with pytest.raises(ValueError, match="not fitted yet. Call 'fit'"):
        model.predict(X)


def test_feature_names_are_remembered_and_compared():
    frame = pd.DataFrame({"a": [0.0, 1, 5, 7], "b": [1.0, 0, 3, 2]})
    model = LDA().fit(frame, list("xxyy"))
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(frame.to_numpy())
    with pytest.raises(ValueError, match="must be in the same order"):
        model.predict(frame[["b", "a"]])
    with pytest.warns(UserWarning, match="was fitted without feature names"):
        LDA().fit(frame.to_numpy(), list("xxyy")).predict(frame)
    assert not hasattr(model.fit(frame.to_numpy(), list("xxyy")), "feature_names_in_")


def test_frames_with_nullable_numbers_and_missing_values_are_read():
    frame = pd.DataFrame({"a": pd.array([0, 1, None, 7], dtype="Int64"), "b": [True, False, True, True]})
    model = NaiveBayes(Normal(ridge=0.1), missing="skip").fit(frame, [0, 0, 1, 1])
    assert model.fitted_.parts[0][1].mean.tolist() == [[0.5, 0.5], [7.0, 1.0]]


@pytest.mark.parametrize("y", [[3, 1, 3, 2], np.array([250, 3, 250, 9], dtype="uint8"), [True, False, True, True],
                               ["b", "a", "c", "a"], [10**12, 5, 5, 10**12], [-7, 3, -7, 0], [1.0, 2.0, 2.0, -1.0]])
def test_labels_are_coded_as_numpy_does(y):
    classes, codes = check_labels(y, 4)
    expected, inverse = np.unique(y, return_inverse=True)
    np.testing.assert_array_equal(classes, expected)
    np.testing.assert_array_equal(codes, inverse)
    assert classes.dtype == expected.dtype
    np.testing.assert_array_equal(encode(y, classes), codes)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("N, K", [(1, 3), (50, 3), (2000, 2), (5000, 11), (40_000, 300)])
def test_the_first_largest_score_is_numpys(N, K, order):
    scores = np.random.default_rng(N).integers(-3, 3, (N, K)).astype(float)  # with many ties
    scores[::7] = -np.inf
    np.testing.assert_array_equal(largest(np.asarray(scores, order=order)), scores.argmax(axis=1))


def test_labels_predicted_block_by_block_are_those_of_the_whole_table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3 * BLOCK // 20, 20))
    model = NaiveBayes().fit(X, rng.integers(0, 3, len(X)))
    np.testing.assert_array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_a_value_is_refused_by_its_row_in_the_whole_table():
    X = np.zeros((BLOCK, 2))
    X[BLOCK - 5, 1] = np.nan
    with pytest.raises(ValueError, match=rf"NaN in X \(row {BLOCK - 5}, column 1\)"):
        check_features(X)


LINEAR = [LDA(), NaiveBayes(Normal("tied")), NaiveBayes(Bernoulli(1, threshold=0.5)), NaiveBayes(Poisson(1)),
          NaiveBayes(Multinomial(1)), NaiveBayes([Poisson(1), Normal("tied"), Poisson(1)]), LDA(priors=[0.0, 1.0]),
          LDA(losses=[1.0, 3.0]), LeastSquaresClassifier(), QDA(ridge=1e-3), NaiveBayes()]


@pytest.mark.parametrize("model", LINEAR, ids=named)
@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
def test_one_difference_tells_two_classes_apart_as_their_two_scores_do(model, offset):
    rng = np.random.default_rng(0)
    X, y = offset + rng.poisson(3.0, (300, 3)).astype(float), rng.integers(0, 2, 300)
    model = clone(model).fit(X, y)
    scores = model._scores(X)
    odds = scores[:, 1] - scores[:, 0]
    size = np.abs(scores).max(where=np.isfinite(scores), initial=1.0)
    np.testing.assert_allclose(model.decision_function(X), odds, rtol=1e-12, atol=1e-12 * size)
    sure = np.abs(odds) > 1e-12 * size
    if model.get_params().get("losses") is None:
        np.testing.assert_array_equal(model.predict(X)[sure], scores.argmax(axis=1)[sure])


@pytest.mark.parametrize("model", [LDA(), NaiveBayes(Normal("tied")), LeastSquaresClassifier()], ids=named)
@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_two_classes_a_million_deviations_apart_meet_in_the_middle(model, offset):
    X = offset + np.array([[-1.0, 1], [1, -1], [1, 1], [-1, -1]] * 2)
    X[4:, 0] += 2.0**20
    middle = offset + np.array([[2.0**19, 0]])
    shift = np.array([[2.0**-10, 0]]) * max(offset / 1e6, 1)
    model = clone(model).fit(X, np.repeat([0, 1], 4))
    assert model.predict(np.vstack([middle - shift, middle + shift])).tolist() == [0, 1]


@pytest.mark.parametrize("model", LINEAR[:6] + LINEAR[8:], ids=named)
def test_classes_that_are_equal_leave_every_row_to_the_first(model):
    X = np.random.default_rng(0).poisson(3.0, (50, 3)).astype(float)
    model = clone(model).fit(np.tile(X, (2, 1)), np.repeat(["b", "a"], 50))
    assert set(model.predict(np.tile(X, (50, 1)))) == {"a"}


def test_rows_that_no_class_can_hold_go_to_the_first_without_a_warning():
    model = NaiveBayes(Bernoulli()).fit(np.array([[0.0, 1], [0, 1]]), [0, 1])
    assert model.predict(np.array([[1.0, 0]])).tolist() == [0]


EVALUATED = [(LDA(), "predict"), (LeastSquaresClassifier(), "predict"), (FisherProjection(), "transform"),
             (LogisticRegression(ridge=1), "predict"), (GLM("poisson"), "predict")]


@pytest.mark.parametrize("model, method", EVALUATED, ids=named)
def test_an_unfitted_model_says_so(model, method):
    with pytest.raises(ValueError, match="not fitted yet. Call 'fit'"):
        getattr(clone(model), method)(np.ones((2, 2)))


@pytest.mark.parametrize("bad, words", [(np.nan, "NaN"), (np.inf, "infinity"), (-np.inf, "infinity")])
@pytest.mark.parametrize("column", range(3))
@pytest.mark.parametrize("model, method", [*EVALUATED, (LDA(), "decision_function"),
                                           (NaiveBayes(Poisson(1)), "predict")], ids=named)
def test_what_is_not_finite_is_refused_by_its_place_whatever_the_model_makes_of_it(model, method, column, bad, words):
    X = np.array([[a, b, 3 * y + c] for y in (0.0, 1) for a in (0, 2) for b in (0, 1) for c in (0, 1)])
    model, far = clone(model).fit(X, np.repeat([0, 1], 8)), np.tile(X, (4500, 1))  # columns 0 and 1 tell nothing
    far[71_000, column] = bad
    with pytest.raises(ValueError, match=rf"got {words} in X \(row 71000, column {column}\)"):
        getattr(model, method)(far)


def test_what_is_not_finite_is_refused_also_where_the_slope_is_zero():
    model = LeastSquaresClassifier().fit(np.array([[7.0, 0], [7, 1], [7, 5], [7, 6]]), [0, 0, 1, 1])
    assert model._linear().slopes[0].tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"got NaN in X \(row 0, column 0\)"):
        model.predict(np.array([[np.nan, 1.0]]))


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_score_that_overflows_is_no_fault_of_a_finite_row():
    model = LDA().fit(np.array([[0.0], [1], [5], [6]]), [0, 0, 1, 1])
    assert model.predict(np.array([[1e308], [-1e308]])).tolist() == [1, 0]
