"""Faults reported against other libraries: each report as it was made, and its whole kind as a property."""
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse, stats
from scipy.special import logsumexp as scipy_logsumexp
from scipy.special import softmax

from course_lib import (LDA, QDA, RDA, BayesClassifier, Bernoulli, Binomial, Categorical, Gaussian, Multinomial,
                        NaiveBayes, Normal, Poisson)
from course_lib.decision import decide, log_posterior, logsumexp, posterior
from course_lib.checks import check_priors
from course_lib.families import Natural
from course_lib.gaussian import normal
from course_lib.statistics import Labels
from naming import named

CASES = {c["id"]: c for c in json.loads((Path(__file__).parent / "cases" / "numeric.json").read_text())}
modest = settings(max_examples=20, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def case(name):
    return CASES[name]["inputs"], CASES[name]["expected"], CASES[name]["rtol"]


def close(found, expected, rtol=1e-10, atol=0.0):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def fitted(model, inputs, **fit):
    return model.fit(np.array(inputs["X"], dtype=float), inputs["y"], **fit)


def with_parameters(density, priors):
    """A classifier whose densities are given instead of fitted."""
    class Given:
        def fit(self, X, R):
            return density
    D, K = density.mean.shape[1], len(density.mean)
    return BayesClassifier(Given(), priors=priors).fit(np.zeros((K, D)), np.arange(K))


# Losses (DEC) -----------------------------------------------------------------------------------------------

def test_DEC_01():
    inputs, expected, _ = case("DEC-01")
    p = np.array(inputs["posterior_class1"])
    assert decide(np.column_stack([1 - p, p]), inputs["loss_rows_true_cols_action"]).tolist() == expected


@modest
@given(seeds, st.integers(2, 5), st.booleans())
def test_the_decision_is_the_cheapest_when_rows_of_the_losses_are_the_true_classes(seed, K, may_reject):
    rng = np.random.default_rng(seed)
    P, L = rng.dirichlet(np.ones(K), 30), rng.exponential(size=(K, K + may_reject))
    for p, a in zip(P, decide(P, L)):
        costs = [sum(p[y] * L[y, action] for y in range(K)) for action in range(L.shape[1])]
        assert a == int(np.argmin(costs))


# Normal features (GNB) --------------------------------------------------------------------------------------

def test_GNB_01():
    inputs, expected, rtol = case("GNB-01")
    model = fitted(NaiveBayes(Normal(ridge=inputs["var_smoothing"])), inputs)
    exact = np.array([[0.5**2, 1000.0**2], [0.5**2, 1000.0**2]]) * np.array([1e-6, 1.0])
    close(model.fitted_.parts[0][1].variance - exact, expected["epsilon"], 1e-6)
    close(model.predict_proba([inputs["query"]])[0], expected["posterior"], rtol)


@pytest.mark.parametrize("model, words", [(NaiveBayes(), "variance of feature 0 is zero in class 0"),
                                          (QDA(), "variance of feature 0 is zero in class 0")])
def test_GNB_02(model, words):
    with pytest.raises(ValueError, match=words):
        fitted(model, case("GNB-02")[0])


def test_GNB_03():
    inputs, expected, rtol = case("GNB-03")
    close(fitted(NaiveBayes(Normal(ridge=1e-9)), inputs).predict_proba([inputs["query"]])[0], expected, rtol)


@modest
@given(seeds, st.floats(-1e6, 1e6))
def test_a_feature_that_is_constant_everywhere_cancels_once_it_has_a_ridge(seed, constant):
    rng = np.random.default_rng(seed)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 2)) + y[:, None]
    more = np.column_stack([X, np.full(40, constant)])
    with pytest.raises(ValueError, match="variance of feature 2 is zero"):
        NaiveBayes().fit(more, y)
    close(NaiveBayes(Normal(ridge=1e-9)).fit(more, y).predict_proba(more),
          NaiveBayes(Normal(ridge=1e-9)).fit(X, y).predict_proba(X), 1e-9)


def test_GNB_04():
    inputs, expected, rtol = case("GNB-04")
    model = fitted(NaiveBayes(), inputs)
    close(model.fitted_.parts[0][1].variance[:, 0], expected["var"], rtol)
    close(model.predict_proba([inputs["query"]])[0], expected["posterior"], rtol)


@modest
@given(seeds, st.sampled_from([1e3, -1e6, 1e8]), st.sampled_from([NaiveBayes(), QDA(), LDA(), RDA(0.5, 0.1)]))
def test_an_offset_of_the_features_changes_nothing(seed, offset, model):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    X = np.round((rng.normal(size=(60, 2)) + y[:, None]) * 2**20) / 2**20  # so that the sum with the offset is exact
    close(model.fit(X + offset, y).predict_proba(X + offset), model.fit(X, y).predict_proba(X), 1e-9, atol=1e-14)


def test_GNB_07():
    inputs, expected, rtol = case("GNB-07")
    model = NaiveBayes().fit(np.array(inputs["X"], dtype=np.float32), inputs["y"])
    query = np.array([inputs["query"]], dtype=np.float32)
    close(model.log_joint(query)[0], expected["log_joint"], rtol)
    close(model.predict_proba(query)[0], expected["posterior"], rtol)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float16", bool])
def test_narrow_types_give_what_float64_gives(dtype):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2 if dtype is bool else 120, size=(50, 3)), np.arange(50) % 2
    close(NaiveBayes().fit(X.astype(dtype), y).predict_proba(X.astype(dtype)),
          NaiveBayes().fit(X.astype(float), y).predict_proba(X.astype(float)), 0)


@pytest.mark.parametrize("model", [NaiveBayes(), QDA(), NaiveBayes(Normal(divisor="unbiased")),
                                   QDA(divisor="unbiased")])
def test_GNB_08(model):
    with pytest.raises(ValueError, match="class 1 has only 1 sample, so its variance cannot be estimated"):
        fitted(model, case("GNB-08")[0])


def test_GNB_09():
    priors = case("GNB-09")[0]["priors"]
    assert sum(priors) != 1.0
    close(check_priors(priors, 10), priors, 0)


@pytest.mark.parametrize("name, words", [("GNB-10a", "sum 1.1"), ("GNB-10c", "3 priors for 2 classes")])
def test_GNB_10(name, words):
    with pytest.raises(ValueError, match=words):
        NaiveBayes(priors=case(name)[0]["priors"]).fit([[0.0], [1.0], [4.0], [6.0]], [0, 0, 1, 1])


def test_GNB_11():
    inputs, expected, rtol = case("GNB-11")
    density = normal(np.array(inputs["class_means"])[:, None], np.array(inputs["class_vars"])[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = with_parameters(density, inputs["priors"])
        close(model.predict_proba([inputs["query"]])[0], expected, rtol)
        assert model.predict([inputs["query"]]).tolist() == [1]


def test_GNB_12():
    inputs, expected, rtol = case("GNB-12")
    density = normal(np.array(inputs["class_means"])[:, None], np.array(inputs["class_vars"])[:, None])
    model = with_parameters(density, inputs["priors"])
    close(model.predict_proba([inputs["query"]])[0], expected["posterior"], rtol)
    close(-model.decision_function([inputs["query"]])[0], expected["logodds"], rtol)


@pytest.mark.parametrize("model", [NaiveBayes(), QDA(), LDA(), NaiveBayes(Poisson())])
def test_GNB_16(model):
    inputs = case("GNB-16")[0]
    with pytest.raises(ValueError, match="class 1 has zero total weight"):
        fitted(model, inputs, sample_weight=inputs["sample_weight"])


@pytest.mark.parametrize("model", [NaiveBayes(), QDA(), LDA(), NaiveBayes(Poisson())])
def test_GNB_17(model):
    inputs = case("GNB-17")[0]
    with pytest.raises(ValueError, match="negative weight"):
        fitted(model, inputs, sample_weight=inputs["sample_weight"])


def test_GNB_18():
    inputs, expected, rtol = case("GNB-18")
    D = inputs["n_features"]
    density = normal(np.outer([0.0, 0.1], np.ones(D)), np.ones((2, D)))
    close(with_parameters(density, inputs["priors"]).predict_proba(np.zeros((1, D)))[0], expected, rtol)


# Discrete features (DNB) ------------------------------------------------------------------------------------

def test_DNB_02():
    inputs, _, _ = case("DNB-02")
    model = fitted(NaiveBayes(Multinomial(smoothing=inputs["alpha"])), inputs)
    with pytest.raises(ValueError, match="in row 0 the log joint of every class is -inf"):
        model.predict_proba([inputs["query"]])


def test_DNB_03():
    inputs, expected, rtol = case("DNB-03")
    model = fitted(NaiveBayes(Multinomial(smoothing=inputs["alpha"])), inputs)
    close(model.predict_proba([inputs["query"]])[0], expected, rtol)


def test_DNB_04():
    inputs, expected, rtol = case("DNB-04")
    close(fitted(NaiveBayes(Bernoulli()), inputs).predict_proba(inputs["query"]), expected, rtol)


@modest
@given(seeds, st.integers(1, 4))
def test_probabilities_of_exactly_0_and_1_never_give_nan(seed, D):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 2, size=(8, D)), np.arange(8) % 2
    log_joint = NaiveBayes(Bernoulli()).fit(X, y).log_joint(X)
    p = np.array([X[y == k].mean(axis=0) for k in range(2)])
    with np.errstate(divide="ignore"):
        expected = np.log(0.5 * np.prod(np.where(X[:, None] == 1, p, 1 - p), axis=2))
    close(log_joint, expected, 1e-12)


def test_DNB_05():
    inputs, expected, rtol = case("DNB-05")
    model = fitted(NaiveBayes(Bernoulli(smoothing=inputs["alpha"])), inputs)
    close(model.predict_proba([inputs["query"]])[0], expected, rtol)


@pytest.mark.parametrize("family", [Bernoulli, Multinomial, Poisson, Categorical, lambda smoothing: Binomial(3, -1)])
def test_DNB_09(family):
    with pytest.raises(ValueError, match="smoothing must be >= 0, got -1"):
        NaiveBayes(family(smoothing=-1)).fit([[0], [1], [1], [0]], [0, 0, 1, 1])


def test_DNB_10():
    inputs, expected, rtol = case("DNB-10")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        close(fitted(NaiveBayes(Poisson()), inputs).predict_proba(inputs["query"]), expected, rtol)


def test_DNB_14():
    inputs, _, _ = case("DNB-14")
    model = NaiveBayes(Binomial(inputs["n_trials"])).fit([[1], [2], [4], [5]], [0, 0, 1, 1])
    with pytest.raises(ValueError, match="6 successes in 5 trials"):
        model.predict([inputs["query"]])


def test_DNB_15():
    inputs, expected, rtol = case("DNB-15")
    model = fitted(NaiveBayes(Categorical(tuple(inputs["n_categories"]), smoothing=inputs["alpha"])), inputs)
    close(model.predict_proba(inputs["query"]), expected, rtol)


def test_DNB_16():
    inputs, _, _ = case("DNB-16")
    with pytest.raises(ValueError, match="unknown category 7 in feature 0"):
        fitted(NaiveBayes(Categorical()), inputs).predict(inputs["query"])


def test_DNB_17():
    inputs, _, _ = case("DNB-17")
    with pytest.raises(ValueError, match="negative category code -1 in feature 0"):
        fitted(NaiveBayes(Categorical()), inputs)
    model = NaiveBayes(Categorical()).fit([[0], [1], [1]], [0, 1, 1])
    with pytest.raises(ValueError, match="negative category code -1 in feature 0"):
        model.predict([[-1]])


@pytest.mark.parametrize("model", [NaiveBayes(), NaiveBayes(Multinomial(smoothing=1)), QDA(), LDA()])
def test_DNB_18(model):
    with pytest.raises(ValueError, match="two classes or more, got only one class in y, 5"):
        fitted(model, case("DNB-18")[0])


def test_DNB_19():
    inputs, expected, rtol = case("DNB-19")
    first, second = inputs["batches"]
    model = NaiveBayes(Multinomial(smoothing=inputs["alpha"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.partial_fit(first["X"], first["y"], classes=first["classes"]).predict(first["X"])
        model.partial_fit(second["X"], second["y"])
    close(model.predict_proba(inputs["query"]), expected, rtol)


def test_a_class_still_without_rows_is_named_when_its_density_is_needed():
    model = NaiveBayes().partial_fit([[0.0], [1.0], [5.0], [7.0]], list("aabb"), classes=list("abc"))
    with pytest.raises(ValueError, match="class 'c' has no rows"):
        model.predict([[0.0]])
    assert model.partial_fit([[50.0], [52.0]], list("cc")).predict([[51.0], [6.0]]).tolist() == ["c", "b"]


def test_DNB_20():
    inputs, expected, rtol = case("DNB-20")
    density = Natural(Multinomial(), np.log(inputs["p"]))
    model = with_parameters(density, inputs["priors"])
    close(-model.decision_function([inputs["query"]])[0], expected["logodds"], rtol)
    close(model.predict_proba([inputs["query"]])[0], expected["posterior"], rtol)


# What comes in (API) ----------------------------------------------------------------------------------------

MODELS = [NaiveBayes(), QDA(ridge=1e-3), LDA(), RDA(0.5, 0.5), BayesClassifier(Gaussian("spherical"))]
on_every_model = pytest.mark.parametrize("model", MODELS, ids=named)


def far_apart(y):
    X = np.array([[0.0], [1.0], [9.0], [10.0], [20.0], [21.0]])
    return X[:len(y)]


@on_every_model
def test_API_01(model):
    inputs, expected, _ = case("API-01")
    for y in (inputs["y"], np.array(inputs["y"], dtype=object)):
        assert model.fit(inputs["X"], y).predict(inputs["query"]).tolist() == ["definitely", "no"]


@on_every_model
def test_API_04(model):
    inputs, _, _ = case("API-04")
    fitted(model, inputs)
    assert model.predict(inputs["query"]).tolist() == [-5, 3, 10]
    assert model.classes_.tolist() == [-5, 3, 10]
    assert model.predict_proba(inputs["query"]).argmax(axis=1).tolist() == [0, 1, 2]


@on_every_model
def test_API_05(model):
    y = case("API-05")[0]["y"]
    with pytest.raises(ValueError, match="y looks continuous"):
        model.fit(far_apart(y), y)


@on_every_model
def test_API_06(model):
    y = np.array(case("API-06")[0]["y"])
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        column = model.fit(far_apart(y), y).predict_proba(far_apart(y))
    close(column, model.fit(far_apart(y), y.ravel()).predict_proba(far_apart(y)), 0)
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert model.score(far_apart(y), y) == 1.0


@on_every_model
def test_API_07(model):
    inputs, _, _ = case("API-07")
    X = np.array(inputs["X"], dtype=float)
    with pytest.raises(ValueError, match=r"NaN in X \(row 0, column 1\)"):
        model.fit(X, inputs["y"])
    model.fit(np.array([[0.0, 0], [1, 3], [2, 1], [9, 9], [8, 7], [9, 5]]), [0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match=r"NaN in X \(row 0, column 1\)"):
        model.predict(X)
    with pytest.raises(ValueError, match=r"infinity in X \(row 1, column 0\)"):
        model.predict([[0.0, 1.0], [-np.inf, 1.0]])


@pytest.mark.parametrize("dtype, values", [("boolean", [False, False, True, True]), ("Int64", [3, 3, 7, 7]),
                                           ("string", ["a", "a", "b", "b"]), ("category", ["a", "a", "b", "b"])])
def test_API_08(dtype, values):
    y = pd.Series(values, dtype=dtype)
    model = NaiveBayes().fit(far_apart(y), y)
    assert model.predict(far_apart(y)).tolist() == values
    if dtype != "category":
        with pytest.raises(ValueError, match="drop"):
            NaiveBayes().fit(far_apart(y), pd.Series([*values[:3], pd.NA], dtype=dtype))


@on_every_model
def test_API_10(model):
    with pytest.raises(ValueError, match=r"Reshape your data: X.reshape\(-1, 1\)"):
        model.fit(case("API-10")[0]["X"], [0, 1, 1])


@on_every_model
def test_API_11(model):
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        model.fit(np.empty((0, 5)), [])
    for y in (list("aabb"), [0, 0, 1, 1]):
        model.fit(far_apart(y), y)
        nothing = model.predict(np.empty((0, 1)))
        assert nothing.shape == (0,) and nothing.dtype == model.classes_.dtype
        assert model.predict_proba(np.empty((0, 1))).shape == (0, 2)


@on_every_model
def test_API_14(model):
    with pytest.raises(TypeError, match="sparse"):
        model.fit(sparse.csr_matrix(far_apart(range(4))), [0, 0, 1, 1])


@pytest.mark.parametrize("X, words", [([["a"], ["b"]], "non-negative integer codes"),
                                      (pd.DataFrame({"colour": ["red", "blue"]}), "non-negative integer codes"),
                                      (np.array([[1j], [2.0]]), "Complex data not supported"),
                                      (np.zeros((2, 1, 1)), "Expected 2D array"),
                                      (np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]"), "numeric")])
def test_features_that_are_no_table_of_numbers_are_refused_with_the_remedy(X, words):
    with pytest.raises(ValueError, match=words):
        NaiveBayes().fit(X, [0, 1])


@pytest.mark.parametrize("y, words", [(None, "requires y to be passed"), ([0, 1], "as many rows"),
                                      ([0, 1, None, 1], "labels of one type"), ([0.0, np.nan, 1, 1], "NaN or infinity"),
                                      ([[0, 1], [1, 0], [0, 1], [1, 1]], "1d array"),
                                      ([0, 1, "a", 1.0], "labels of one type")])
def test_labels_that_are_none_are_refused_with_the_reason(y, words):
    y = np.array(y, dtype=object) if isinstance(y, list) and (None in y or "a" in y) else y
    with pytest.raises(ValueError, match=words):
        NaiveBayes().fit(far_apart(range(4)), y)


# Logarithms (NUM-01 to 06) ----------------------------------------------------------------------------------

@pytest.mark.parametrize("name", ["NUM-01", "NUM-02", "NUM-03"])
def test_NUM_01_to_03(name):
    inputs, expected, rtol = case(name)
    row = np.array([inputs["logits"]], dtype=inputs.get("dtype", "float64"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = posterior(row)[0]
    close(found, expected, rtol, atol=CASES[name].get("atol", 0.0))
    assert found.sum() == pytest.approx(1, abs=1e-15)


@modest
@given(seeds, st.sampled_from([1.0, 100.0, 1e4]))
def test_the_posterior_is_the_softmax_of_the_log_joint_and_does_not_see_a_constant(seed, spread):
    a = np.random.default_rng(seed).normal(scale=spread, size=(20, 4))
    close(posterior(a), softmax(a, axis=1), 1e-10)
    close(posterior(a - 2**20), posterior(np.round(a * 2**10) / 2**10), 1e-2, atol=1e-3)
    close(log_posterior(a), a - scipy_logsumexp(a, axis=1, keepdims=True), 1e-12, atol=1e-12)


def test_NUM_05():
    assert logsumexp(np.array(case("NUM-05")[0]["v"], dtype=float)) == -np.inf
    close(logsumexp([[-np.inf, 0.0], [-np.inf, -np.inf]]), [0.0, -np.inf], 0)


def test_NUM_06():
    impossible = np.array([case("NUM-06")[0]["log_joint"]], dtype=float)
    for rule in (posterior, log_posterior):
        with pytest.raises(ValueError, match="every class is -inf"):
            rule(impossible)


# Covariances (QDA, LDA, RDA) --------------------------------------------------------------------------------

def test_QDA_01():
    with pytest.raises(ValueError, match="covariance of class 0 is not full rank: feature 1"):
        fitted(QDA(), case("QDA-01")[0])


@modest
@given(seeds, st.integers(2, 5), st.sampled_from([1.0, 1e-6, 1e6]))
def test_collinear_features_are_refused_by_name_whatever_their_units(seed, D, unit):
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, D))
    X[:, -1] = X[:, :-1] @ rng.normal(size=D - 1)
    X *= unit ** rng.integers(0, 2, size=D)
    for model in (QDA(), LDA()):
        with pytest.raises(ValueError, match=f"not full rank: feature {D - 1}"):
            model.fit(X, y)


@pytest.mark.parametrize("model", [QDA(), QDA(divisor="unbiased")])
def test_QDA_02(model):
    with pytest.raises(ValueError, match="class 1 has only 1 sample"):
        fitted(model, case("QDA-02")[0])


def test_QDA_04():
    inputs, expected, rtol = case("QDA-04")
    D = inputs["dims"]
    model = with_parameters(normal(np.zeros((2, D)), np.array([[[1e-3]], [[2e-3]]]) * np.eye(D)), inputs["priors"])
    close(-model.decision_function([np.zeros(D), np.full(D, 0.05)]), expected, rtol)


def test_QDA_05():
    inputs, expected, rtol = case("QDA-05")
    close(fitted(QDA(), inputs).predict_proba([inputs["query"]])[0], expected, rtol)


def test_QDA_06():
    with pytest.raises(ValueError, match="covariance must be symmetric"):
        normal(np.zeros((1, 2)), [case("QDA-06")[0]["cov"]])


@pytest.mark.parametrize("model", [LDA(), LDA(divisor="unbiased")])
def test_LDA_03(model):
    with pytest.raises(ValueError, match="the number of rows must exceed the number of classes"):
        fitted(model, case("LDA-03")[0])


@pytest.mark.parametrize("model", [LDA(), LDA(divisor="unbiased")])
def test_LDA_04(model):
    inputs = case("LDA-04")[0]
    with pytest.raises(ValueError, match="variance of feature 0 is zero in every class"):
        fitted(model, inputs)
    assert fitted(LDA(ridge=1e-6), inputs).predict(inputs["X"]).tolist() == inputs["y"]


@pytest.mark.parametrize("name, words", [("LDA-06", "pooled covariance is not full rank: feature 1"),
                                         ("LDA-07", "variance of feature 1 is zero in every class")])
def test_LDA_06_and_07(name, words):
    inputs, expected, _ = case(name)
    with pytest.raises(ValueError, match=words):
        fitted(LDA(), inputs)
    close(LDA().fit(np.array(inputs["X"])[:, :1], inputs["y"]).predict_proba([inputs["query"][:1]])[0], expected, 1e-8)
    close(fitted(LDA(ridge=1e-9), inputs).predict_proba([inputs["query"]])[0], expected, 1e-6)


def test_LDA_09():
    inputs, expected, rtol = case("LDA-09")
    density = normal(np.array(inputs["means"])[:, None], [[[inputs["pooled_var"]]]])
    weights, bias = with_parameters(density, inputs["priors"]).linear()
    close(-(bias[1] - bias[0]) / (weights[1] - weights[0])[0], expected, rtol)


@modest
@given(seeds, st.floats(0.01, 0.99))
def test_priors_move_the_threshold_of_lda_and_not_its_direction(seed, prior):
    rng = np.random.default_rng(seed)
    y = np.arange(50) % 2
    X = rng.normal(size=(50, 3)) + y[:, None]
    (w, b), (v, c) = (LDA(priors=p).fit(X, y).linear() for p in ([0.5, 0.5], [1 - prior, prior]))
    close(v, w, 0)
    close((c[1] - c[0]) - (b[1] - b[0]), np.log(prior / (1 - prior)), 1e-9, atol=1e-12)


def test_RDA_01():
    inputs, expected, rtol = case("RDA-01")
    model = fitted(RDA(alpha=1, gamma=inputs["gamma"]), inputs)
    close(model.log_joint([inputs["query"]])[0], expected["log_joint"], rtol)
    close(model.predict_proba([inputs["query"]])[0], expected["posterior"], rtol)


@modest
@given(seeds, st.floats(0, 1), st.floats(0, 1))
def test_rda_covariances_are_the_mixture_that_the_formula_says(seed, alpha, gamma):
    rng = np.random.default_rng(seed)
    y, D = np.arange(40) % 2, 3
    # well-conditioned, for scipy's logarithm is 2e-10 off where the condition is 6e4
    X = rng.normal(size=(40, D)) * [0.3, 1, 3] @ np.linalg.qr(rng.normal(size=(D, D)))[0]
    S = np.array([np.cov(X[y == k].T, bias=True) for k in range(2)])
    mixed = alpha * S + (1 - alpha) * S.mean(axis=0)
    expected = [(1 - gamma) * A + gamma * np.trace(A) / D * np.eye(D) for A in mixed]
    density = Gaussian(pool=RDA(alpha, gamma)._density().pool).fit(X, Labels(y, 2))
    for k in range(2):
        law = stats.multivariate_normal(X[y == k].mean(axis=0), expected[k])
        close(density.log_density(X)[:, k], law.logpdf(X), 1e-9, atol=1e-12)
