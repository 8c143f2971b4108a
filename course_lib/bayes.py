"""The plug-in rule: estimate p(x|y) and P(y), put them into Bayes' rule, decide at the least expected loss."""
from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.checks import check_labels, check_priors, check_weight, encode
from course_lib.decision import decide, expected_loss, loss_matrix
from course_lib.densities import Gaussian, Independent, discriminant, rda
from course_lib.estimator import ProbabilisticClassifier
from course_lib.reduce import over_rows
from course_lib.statistics import ClassError, Labels

__all__ = ["BayesClassifier", "LDA", "NaiveBayes", "QDA", "RDA"]


class BayesClassifier(ProbabilisticClassifier):
    """Bayes' rule with estimated densities: argmax λ_y P(y) p(x|y), or the decision of least expected loss.

    Parameters
    ----------
    density : density
        Of the features in each class; default `Gaussian()`, which is quadratic discriminant analysis.
    priors : (K,) or None
        P(y) in the order of the sorted labels; None takes the class frequencies.
    losses : (K,), (K, K) or (K, K + 1), or None
        λ, the loss of deciding anything else when y is true; or ``losses[true, decided]``, whose further column, if
        any, is the loss of not deciding.  None counts errors.
    reject : label
        What `predict` returns for "not decided"; needed with a (K, K + 1) matrix.

    Attributes
    ----------
    classes_ (K,), priors_ (K,), fitted_ : the fitted density.

    Source: Duda, Hart & Stork, Pattern Classification, sections 2.2-2.4.
    """

    def __init__(self, density=None, priors=None, losses=None, reject=None):
        self.density = density
        self.priors, self.losses, self.reject = priors, losses, reject

    def _density(self):
        return Gaussian() if self.density is None else self.density

    def _fit(self, X, codes, weight):
        R = Labels(codes, len(self.classes_), weight)
        if getattr(self._density(), "additive", False):
            self._fit_sums(over_rows(X, R), X)
        else:
            self.fitted_, self._statistics = self._density().fit(X, R), None
            self._set_priors(R.sum(axis=0))

    def _fit_sums(self, summed, first):
        density = self._density()
        if not getattr(density, "additive", hasattr(density, "fit_sums")):
            super()._fit_sums(summed, first)
        self.fitted_, self._statistics = density.fit_sums(summed)  # the sums are kept for `partial_fit`
        self._set_priors(self._statistics.mass)

    def _linear(self):
        affine = None if self._input_tags().get("allow_nan") else getattr(self._solved(), "affine", None)
        return None if affine is None else replace(affine, level=self._joined(affine.level.copy()))

    def _scores(self, X):
        linear = self._linear()
        return linear(X) if linear is not None else self._joined(discriminant(self._solved(), X))

    def predict(self, X) -> np.ndarray:
        """Labels (N,) of the least expected loss; ties go to the first class, or to a class before `reject`."""
        if self.losses is None:
            return super().predict(X)
        return self._labels(decide(self.predict_proba(X), self.losses))

    def risk(self, X) -> np.ndarray:
        """Expected loss of every possible decision, (N, A): Σ_y P(y|x) losses[y, ŷ]."""
        return expected_loss(self.predict_proba(X), self.losses)

    def log_joint(self, X) -> np.ndarray:
        """ln P(y) p(x|y), (N, K), with nothing left out; its `logsumexp` over classes is ln p(x)."""
        X = self._features(X)
        return self._joined(self._solved().log_density(X))

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights (K, D) and bias (K,): ln λ_y P(y) p(x|y) = w_y·x + b_y, up to a term common to the classes."""
        weights, bias = self._solved().linear()
        stake = 1.0 if self.losses is None else np.asarray(self.losses, dtype=float)
        if np.ndim(stake) > 1:
            raise ValueError("a linear form needs losses of one number a class, got a matrix")
        return weights, bias + np.log(self.priors_ * stake)

    def sample(self, n: int, seed=None) -> tuple[np.ndarray, np.ndarray]:
        """Draw n new rows from the model: y from the priors, then x from p(x|y); returns X (n, D) and y (n,)."""
        rng = np.random.default_rng(seed)
        k = rng.choice(len(self.classes_), size=n, p=self.priors_ / self.priors_.sum())
        return self._solved().sample(k, rng), self.classes_[k]

    @property
    def partial_fit(self):
        """partial_fit(X, y, classes=None, sample_weight=None): add rows to what was seen; `classes` at the first call.

        Only for densities that are fitted by sums over rows.
        """
        if not getattr(self._density(), "additive", False):
            raise AttributeError("partial_fit needs a density that is fitted by a sum over rows, got "
                                 f"{self._density()!r}: use fit")
        return self._partial_fit

    def _partial_fit(self, X, y, classes=None, sample_weight=None):
        first = not self._fitted
        if first and classes is None:
            raise ValueError("the first call of partial_fit must name all classes: pass classes=np.unique(all labels)")
        X = self._features(X, reset=first)
        if first:
            self.classes_, _ = check_labels(classes, len(classes))
        codes = encode(y, self.classes_)
        if len(codes) != len(X):
            raise ValueError(f"X and y must have as many rows, got X with {len(X)} and y with {len(codes)}")
        weight = check_weight(sample_weight, codes)
        new = over_rows(X, Labels(codes, len(self.classes_), weight))(self._density())
        self._statistics = new if first else self._statistics + new
        self._set_priors(self._statistics.mass)
        self.fitted_ = None  # solved when first asked for: a class may still be without rows
        self._fitted = True
        return self

    def _solved(self):
        if self.fitted_ is None:
            try:
                self.fitted_ = self._density().solve(self._statistics)
            except ClassError as fault:
                raise fault.named(self.classes_, getattr(self, "feature_names_in_", None)) from None
        return self.fitted_

    def _joined(self, log_density) -> np.ndarray:
        """ln P(y) added in place."""
        with np.errstate(divide="ignore"):
            log_density += np.log(self.priors_)
        return log_density

    @property
    def _any_number(self) -> bool:
        return not hasattr(self._density(), "clean")

    def _check_values(self, X, names):
        density = self._density()
        if hasattr(density, "clean") and density.clean(X):
            return
        super()._check_values(X, names)
        if hasattr(density, "check"):
            density.check(X, names)

    def _set_priors(self, mass) -> None:
        priors = check_priors(self.priors, len(self.classes_))
        self.priors_ = mass / mass.sum() if priors is None else priors
        if self.losses is not None and loss_matrix(self.losses, len(mass)).shape[1] > len(mass) and self.reject is None:
            raise ValueError("losses has a column for not deciding, so `reject` must say what predict returns for it, "
                             "got reject=None: pass a label such as reject='unsure'")

    def _labels(self, decided) -> np.ndarray:
        if self.reject is None:
            return self.classes_[decided]
        wide = np.result_type(self.classes_, np.asarray(self.reject))
        return np.append(self.classes_.astype(wide), self.reject)[decided]

    def _input_tags(self):
        return {key: value for key, value in getattr(self._density(), "tags", {}).items() if key != "poor_score"}

    def _classifier_tags(self):
        return {"poor_score": getattr(self._density(), "tags", {}).get("poor_score", False)}


class NaiveBayes(BayesClassifier):
    """Bayes' rule with independent features, each of a family of its own if need be.

    Parameters
    ----------
    families : density or sequence of densities
        One for all features or one for each; default `Normal()`.
    missing : "refuse" or "skip"
        What to do with NaN: raise, or leave the feature out of the product for that row.
    priors, losses, reject
        As in `BayesClassifier`.

    Source: Mitchell, Machine Learning, section 6.9.
    """

    def __init__(self, families=None, priors=None, losses=None, reject=None, missing="refuse"):
        self.families, self.missing = families, missing
        self.priors, self.losses, self.reject = priors, losses, reject

    def _density(self):
        return Independent(self.families, self.missing)


class QDA(BayesClassifier):
    """Quadratic discriminant analysis: a normal density with its own covariance for each class.

    Parameters
    ----------
    ridge : float
        A share of the largest overall variance of a feature, added to every variance.
    divisor : "ml" or "unbiased"
        n or n − 1.
    priors, losses, reject
        As in `BayesClassifier`.

    Source: Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, section 4.3.
    """

    def __init__(self, ridge=0.0, divisor="ml", priors=None, losses=None, reject=None):
        self.ridge, self.divisor = ridge, divisor
        self.priors, self.losses, self.reject = priors, losses, reject

    def _density(self):
        return Gaussian(ridge=self.ridge, divisor=self.divisor)


class LDA(QDA):
    """Linear discriminant analysis: normal densities with one covariance for all classes (divisor N or N − K).

    Parameters
    ----------
    ridge, divisor, priors, losses, reject
        As in `QDA`.

    Source: Hastie, Tibshirani & Friedman, The Elements of Statistical Learning, section 4.3.
    """

    def _density(self):
        return Gaussian(pool="tied", ridge=self.ridge, divisor=self.divisor)


class RDA(BayesClassifier):
    """Regularised discriminant analysis: Σ_k(α) = αS_k + (1 − α)S_pooled, then (1 − γ)Σ + γ(tr Σ/D)I.

    Parameters
    ----------
    alpha, gamma : float in [0, 1]
        α = 1 is QDA and α = 0 is LDA, both at γ = 0; γ = 1 makes every class spherical.
    divisor, priors, losses, reject
        As in `QDA`.

    Source: Friedman (1989), Regularized discriminant analysis, JASA 84.
    """

    def __init__(self, alpha=0.5, gamma=0.0, divisor="ml", priors=None, losses=None, reject=None):
        self.alpha, self.gamma, self.divisor = alpha, gamma, divisor
        self.priors, self.losses, self.reject = priors, losses, reject

    def _density(self):
        return Gaussian(pool=rda(self.alpha, self.gamma), divisor=self.divisor)
