"""Bayes classifiers: agreement with scikit-learn, invariances, losses, chunks, new rows."""
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

from course_lib import (LDA, QDA, RDA, BayesClassifier, Bernoulli, Binomial, Categorical, Each, Exponential, Gamma,
                        Gaussian, Geometric, Histogram, Independent, Multinomial, NaiveBayes, NegativeBinomial, Normal,
                        Poisson, StudentT, rda)
from naming import named

modest = settings(max_examples=12, deadline=None)
seeds = st.integers(0, 2**32 - 1)


def close(found, expected, rtol=1e-10, atol=1e-12):
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)


def continuous(seed, N=90, D=3, K=3):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % K
    axes = np.linalg.qr(rng.normal(size=(D, D)))[0] * rng.uniform(0.5, 2, D)  # scikit-learn's QDA refuses narrow classes
    return rng.normal(size=(N, D)) @ axes + rng.normal(size=(K, D))[y], y


def counts(seed, N=90, D=3, K=3, top=6):
    rng = np.random.default_rng(seed)
    y = np.arange(N) % K
    return rng.binomial(top, rng.uniform(0.2, 0.8, size=(K, D))[y]).astype(float), y


# Against scikit-learn ---------------------------------------------------------------------------------------

@modest
@given(seeds)
def test_normal_models_are_scikit_learns(seed):
    X, y = continuous(seed)
    pairs = [(NaiveBayes(), GaussianNB(var_smoothing=0)),
             (NaiveBayes(Normal(ridge=1e-3)), GaussianNB(var_smoothing=1e-3)),
             (NaiveBayes(priors=[0.2, 0.3, 0.5]), GaussianNB(var_smoothing=0, priors=[0.2, 0.3, 0.5])),
             (QDA(), QuadraticDiscriminantAnalysis()), (LDA(), LinearDiscriminantAnalysis()),
             (LDA(priors=[0.2, 0.3, 0.5]), LinearDiscriminantAnalysis(priors=[0.2, 0.3, 0.5]))]
    for ours, theirs in pairs:
        theirs.fit(X, y)
        close(ours.fit(X, y).predict_proba(X), theirs.predict_proba(X), 1e-9, 1e-11)
        np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


@modest
@given(seeds, st.sampled_from([0.5, 1.0, 3.0]))
def test_discrete_models_are_scikit_learns(seed, alpha):
    X, y = counts(seed)
    weight = np.random.default_rng(seed).exponential(size=len(y))
    pairs = [(Bernoulli(alpha), BernoulliNB(alpha=alpha), (X > 2) * 1.0),
             (Multinomial(alpha), MultinomialNB(alpha=alpha), X),
             (Categorical(7, alpha), CategoricalNB(alpha=alpha, min_categories=7), X),
             (Bernoulli(alpha, threshold=2), BernoulliNB(alpha=alpha, binarize=2), X)]
    for family, theirs, A in pairs:
        theirs.fit(A, y, weight)
        ours = NaiveBayes(family).fit(A, y, weight)
        close(ours.predict_proba(A), theirs.predict_proba(A), 1e-9)
        close(ours.predict_log_proba(A), theirs.predict_log_proba(A), 1e-9)


# Invariances ------------------------------------------------------------------------------------------------

CONTINUOUS = [NaiveBayes(), NaiveBayes(Normal(pool="tied")), QDA(), LDA(), RDA(0.4, 0.2),
              BayesClassifier(Gaussian("spherical")), NaiveBayes(Histogram(4, smoothing=1)), NaiveBayes(StudentT(5.0))]
FAMILIES = (Bernoulli(1, threshold=2), Binomial(6), Poisson(), Geometric(), NegativeBinomial(2.0), Categorical(7, 1),
            Multinomial(1), Exponential(1), Gamma(2.0, 1), NegativeBinomial())
DISCRETE = [NaiveBayes(family) for family in FAMILIES]
every_model = pytest.mark.parametrize("model", CONTINUOUS + DISCRETE, ids=named)


def data_for(model, seed):
    return continuous(seed) if any(model is m for m in CONTINUOUS) else counts(seed)


@every_model
@settings(max_examples=4, deadline=None)
@given(seed=seeds)
def test_weights_are_repetitions_and_rows_classes_and_features_have_no_order(model, seed):
    X, y = data_for(model, seed)
    rng = np.random.default_rng(seed)
    tolerance = 1e-3 if isinstance(getattr(model, "families", None), StudentT) else 1e-8
    base = model.fit(X, y).predict_proba(X)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    close(model.fit(X[rows], y[rows]).predict_proba(X), base, tolerance, tolerance)
    close(model.fit(X[:, columns], y).predict_proba(X[:, columns]), base, tolerance, tolerance)
    close(model.fit(X, 2 - y).predict_proba(X)[:, ::-1], base, tolerance, tolerance)
    times = np.concatenate([[1, 1, 1, 1, 1, 1], rng.integers(0, 3, len(X) - 6)])
    repeated = model.fit(X.repeat(times, axis=0), y.repeat(times)).predict_proba(X[times > 0])
    weighted = model.fit(X[times > 0], y[times > 0], times[times > 0]).predict_proba(X[times > 0])
    close(weighted, repeated, tolerance, tolerance)


@modest
@given(seeds)
def test_affine_maps_of_the_features_leave_lda_and_qda_alone(seed):
    X, y = continuous(seed)
    rng = np.random.default_rng(seed)
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0] @ np.diag([1e-3, 1.0, 1e3])
    for model in (QDA(), LDA()):
        close(model.fit(X @ A + 5, y).predict_proba(X @ A + 5), model.fit(X, y).predict_proba(X), 1e-6, 1e-9)


@pytest.mark.parametrize("model", [m for m in CONTINUOUS + DISCRETE if hasattr(m, "partial_fit")], ids=named)
def test_partial_fit_of_chunks_is_the_fit_of_all(model):
    X, y = data_for(model, 0)
    batch = model.fit(X, y, np.arange(90) % 3 + 1.0).predict_proba(X)
    parts = type(model)(**model.get_params(deep=False))
    for start in range(0, 90, 25):
        rows = slice(start, start + 25)
        parts.partial_fit(X[rows], y[rows], classes=[0, 1, 2], sample_weight=np.arange(90)[rows] % 3 + 1.0)
    close(parts.predict_proba(X), batch, 1e-9)
    close(parts.priors_, model.priors_)


def test_partial_fit_goes_on_after_fit_and_guards_its_classes():
    X, y = continuous(1)
    whole = QDA().fit(X, y).predict_proba(X)
    close(QDA().fit(X[:60], y[:60]).partial_fit(X[60:], y[60:]).predict_proba(X), whole, 1e-9)
    with pytest.raises(ValueError, match="first call of partial_fit must name all classes"):
        QDA().partial_fit(X, y)
    with pytest.raises(ValueError, match=r"only the classes \[0, 1, 2\], got 7"):
        QDA().fit(X, y).partial_fit(X[:1], [7])


# Rule -------------------------------------------------------------------------------------------------------

@modest
@given(seeds)
def test_losses_of_one_number_a_class_weight_the_posterior(seed):
    X, y = continuous(seed)
    stake = np.random.default_rng(seed).exponential(size=3)
    model = LDA(losses=stake).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), (stake * model.predict_proba(X)).argmax(axis=1))
    weights, bias = model.linear()
    np.testing.assert_array_equal(model.predict(X), (X @ weights.T + bias).argmax(axis=1))


def test_a_reject_column_returns_its_label_where_not_deciding_is_cheapest():
    X, y = continuous(3)
    names = np.array(["no", "so", "go"])[y]
    model = QDA(losses=np.column_stack([1 - np.eye(3), np.full(3, 0.3)]), reject="undecided").fit(X, names)
    predicted, P = model.predict(X), model.predict_proba(X)
    np.testing.assert_array_equal(predicted == "undecided", P.max(axis=1) < 0.7)
    assert 0 < (predicted == "undecided").sum() < len(X)
    close(model.risk(X)[:, 3], 0.3)
    with pytest.raises(ValueError, match="got reject=None"):
        QDA(losses=model.losses).fit(X, names)


def test_a_label_for_not_deciding_may_be_of_another_type():
    X, y = continuous(3)
    model = QDA(losses=np.column_stack([1 - np.eye(3), np.full(3, 0.01)]), reject=-1).fit(X, y)
    assert set(model.predict(X)) <= {-1, 0, 1, 2}
    assert "not sure" in QDA(losses=model.losses, reject="not sure").fit(X, y).predict(X).tolist()


def test_the_log_joint_holds_all_that_the_scores_leave_out():
    X, y = counts(2)
    for family in (Poisson(), Multinomial(1), Binomial(6)):
        model = NaiveBayes(family).fit(X, y)
        joint = model.log_joint(X)
        close(joint, model.fitted_.log_density(X) + np.log(model.priors_))
        close(joint[:, 0] - joint[:, 1], -np.diff(model.predict_log_proba(X)[:, :2])[:, 0], 1e-9)


@modest
@given(seeds)
def test_the_decision_function_is_the_log_odds(seed):
    X, y = continuous(seed, K=2)
    model = QDA().fit(X, y)
    P = model.predict_log_proba(X)
    close(model.decision_function(X), P[:, 1] - P[:, 0], 1e-8, 1e-10)


def test_copying_features_multiplies_log_likelihood_ratios():
    X, y = continuous(0, K=2)
    once = NaiveBayes().fit(X, y).decision_function(X)
    close(NaiveBayes().fit(np.tile(X, 3), y).decision_function(np.tile(X, 3)), 3 * once, 1e-9)


# New rows ---------------------------------------------------------------------------------------------------

def test_new_rows_come_from_the_priors_and_the_densities():
    X, y = continuous(5)
    model = LDA(priors=[0.1, 0.2, 0.7]).fit(X, y)
    new, labels = model.sample(20000, seed=1)
    close(np.bincount(labels) / 20000, model.priors_, atol=0.02, rtol=0)
    for k in range(3):
        np.testing.assert_allclose(new[labels == k].mean(axis=0), X[y == k].mean(axis=0), atol=0.2)
    again, _ = model.sample(20000, seed=1)
    np.testing.assert_array_equal(new, again)


# Missing values ---------------------------------------------------------------------------------------------

def test_missing_values_are_refused_unless_they_are_to_be_skipped():
    X, y = continuous(6)
    X[::7, 1] = np.nan
    with pytest.raises(ValueError, match=r"NaN in X \(row 0, column 1\)"):
        NaiveBayes().fit(X, y)
    model = NaiveBayes(missing="skip").fit(X, y)
    close(BayesClassifier(Independent(missing="skip")).fit(X, y).predict_proba(X), model.predict_proba(X))
    without = NaiveBayes().fit(X[:, [0, 2]], y)
    close(model.predict_proba(X[::7]), without.predict_proba(X[::7][:, [0, 2]]), 1e-9)
    with pytest.raises(ValueError, match="missing must be"):
        NaiveBayes(missing="drop").fit(X[1:7], y[1:7])


def test_a_row_with_nothing_observed_has_the_prior():
    X, y = continuous(6)
    model = NaiveBayes(missing="skip").fit(X, y)
    close(model.predict_proba(np.full((1, 3), np.nan))[0], model.priors_)


# As part of scikit-learn ------------------------------------------------------------------------------------

def test_a_search_goes_through_records_too():
    X, y = continuous(7)
    search = GridSearchCV(BayesClassifier(Gaussian()), {"density__pool": ["own", "tied", rda(0.5)]}, cv=3).fit(X, y)
    assert search.best_params_["density__pool"] in ("own", "tied", rda(0.5))


def test_features_and_classes_are_named_in_messages():
    frame = pd.DataFrame({"length": [1.0, 1.0, 2.0, 4.0], "width": [1.0, 2.0, 3.0, 5.0]})
    with pytest.raises(ValueError, match="variance of feature 'length' is zero in class 'short'"):
        NaiveBayes().fit(frame, ["short", "short", "tall", "tall"])
    with pytest.raises(ValueError, match="got 0.5 in feature length"):
        NaiveBayes(Poisson()).fit(frame - 0.5, ["short", "short", "tall", "tall"])


def test_inputs_are_never_changed_and_may_be_read_only():
    X, y = continuous(8)
    weight = np.ones(len(y))
    before = X.copy()
    for array in (X, y, weight):
        array.flags.writeable = False
    for model in [*CONTINUOUS, LDA(priors=[0.2, 0.3, 0.5])]:
        model.fit(X, y, weight).predict_proba(X)
    np.testing.assert_array_equal(X, before)


def test_the_layout_of_memory_does_not_matter():
    X, y = continuous(9)
    for model in CONTINUOUS:
        by_columns = model.fit(np.asfortranarray(X), y).predict_proba(X[::2])
        close(by_columns, model.fit(X, y).predict_proba(np.asfortranarray(X))[::2], 1e-9)


def test_no_warning_is_raised_in_ordinary_use():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for model in CONTINUOUS + DISCRETE + [NaiveBayes(Each(Gaussian()))]:
            X, y = counts(0) if model in DISCRETE else continuous(0)
            model.fit(X, y).predict(X)
