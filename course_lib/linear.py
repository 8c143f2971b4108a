"""Hyperplanes without probabilities: their geometry, least squares, Fisher's projection, the perceptron.

A plane is y(x) = wᵀx + w₀ = 0; the sign of y says on which side x lies, y/‖w‖ how far from it.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import eigh, solve_triangular

from course_lib.decision import log_sigmoid, posterior
from course_lib.estimator import Classifier, Estimator, check_labels, check_weight
from course_lib.statistics import Labels, Moments

__all__ = ["AMBIGUOUS", "Affine", "FisherProjection", "Hyperplane", "LeastSquaresClassifier", "Perceptron"]

AMBIGUOUS = -1  # in place of a class where several or none claim a point


@dataclass(frozen=True)
class Affine:
    """The function x ↦ level + (x − centre)·slopes; keeping the centre keeps the digits of data far from 0."""

    centre: np.ndarray  # (D,)
    level: np.ndarray   # () or (K,)
    slopes: np.ndarray  # (D,) or (D, K)

    @property
    def intercept(self):
        """The value () or (K,) at x = 0."""
        return self.level - self.centre @ self.slopes

    def __call__(self, X) -> np.ndarray:
        """Values (N,) or (N, K); the centre is multiplied out only where that costs no more than 1e-13."""
        if np.max(np.abs(self.centre) @ np.abs(self.slopes), initial=0.0) < 1e3:
            return X @ self.slopes + self.intercept
        return (X - self.centre) @ self.slopes + self.level


@dataclass(frozen=True)
class Hyperplane:
    """The plane wᵀx + w₀ = 0 and its two sides.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.1.
    """

    w: np.ndarray  # (D,) normal vector, towards the positive side
    w0: float

    def value(self, X) -> np.ndarray:
        """y(x) = wᵀx + w₀ of each row, (N,)."""
        return np.asarray(X) @ self.w + self.w0

    def signed_distance(self, X) -> np.ndarray:
        """y(x)/‖w‖ of each row, (N,): the distance to the plane, positive on the side to which w points."""
        return self.value(X) / np.linalg.norm(self.w)

    @property
    def origin_distance(self) -> float:
        """−w₀/‖w‖: how far along w the plane lies from the origin."""
        return float(-self.w0 / np.linalg.norm(self.w))

    def projection(self, X) -> np.ndarray:
        """The nearest points on the plane, (N, D): x − y(x) w/‖w‖²."""
        return np.asarray(X) - np.outer(self.value(X), self.w) / (self.w @ self.w)


class FisherProjection(Estimator):
    pass


class LeastSquaresClassifier(Classifier):
    pass


class Perceptron(Classifier):
    pass
