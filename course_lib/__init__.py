"""Bayesian classification, from scratch: estimate the density of each class, decide by Bayes' rule.

The modules read in the order of the lectures: statistics, reduce, normal, gaussian, families, support, tables,
searched, densities, kernels, parzen, widths, starts, safeguards, expectation, mixtures, rbf, decision, bayes, affine,
linear, newton, glm, logistic; around them checks and estimator (what may come in), chunks and passes (tables larger
than memory), plots.  A name is loaded when it is first used, so that importing the package costs next to nothing.
"""
from importlib import import_module

_HOME = {
    "decision": "posterior",
    "families": "Bernoulli Binomial Exponential Gamma Geometric NegativeBinomial Normal Poisson",
    "tables": "Categorical Histogram Multinomial",
    "searched": "StudentT",
    "densities": "Each Gaussian Independent rda",
    "bayes": "BayesClassifier LDA NaiveBayes QDA RDA",
    "parzen": "ParzenClassifier",
    "mixtures": "Mixture MixtureClassifier em",
    "linear": "FisherProjection LeastSquaresClassifier Perceptron",
    "logistic": "FlippedLogisticRegression LogisticRegression ProbitRegression SoftmaxRegression",
    "glm": "GLM irls",
}
_MODULE_OF = {name: module for module, listed in _HOME.items() for name in listed.split()}
__all__ = sorted(_MODULE_OF)


def __getattr__(name: str):
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__():
    return sorted({*globals(), *__all__})
