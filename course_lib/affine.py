"""Affine functions of the features: what every linear classifier computes in the end."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.statistics import slices

__all__ = ["Affine"]


@dataclass(frozen=True)
class Affine:
    """The function x ↦ level + (x − centre)·slopes; keeping the centre keeps the digits of data far from 0.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.
    """

    centre: np.ndarray  # (D,)
    level: np.ndarray   # () or (K,)
    slopes: np.ndarray  # (D,) or (D, K)

    @cached_property
    def difference(self) -> "Affine":
        """The second of two functions less the first."""
        return Affine(self.centre, self.level[1] - self.level[0], self.slopes[:, 1] - self.slopes[:, 0])

    @cached_property
    def intercept(self):
        """The value () or (K,) at x = 0."""
        return self.level - self.centre @ self.slopes

    def __call__(self, X) -> np.ndarray:
        """Values (N,) or (N, K), stored class after class."""
        values = np.empty((*np.shape(self.level), len(X)))
        for rows in slices(len(X), X.shape[1] if self._far else np.size(self.level)):
            part = values[..., rows]
            np.matmul(self.slopes.T, (X[rows] - self.centre if self._far else X[rows]).T, out=part)
            part += np.asarray(self.level if self._far else self.intercept)[..., None]
        return values.T

    @cached_property
    def tells(self) -> bool:
        """Whether its values at x are finite only if x is: 0 times infinity may be left out."""
        return bool(np.all(self.slopes != 0))

    @cached_property
    def _far(self) -> bool:
        """Whether multiplying the centre out would cost more than 1e-13."""
        return bool(np.max(np.abs(self.centre) @ np.abs(self.slopes), initial=0.0) >= 1e3)
