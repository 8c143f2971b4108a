"""What a feature may hold, and the refusal of what it may not; the refusal of classes and features without rows.

Source: Johnson, Kemp & Kotz, Univariate Discrete Distributions, section 1.2 (supports).
"""
from __future__ import annotations

import numpy as np

from course_lib.statistics import ClassError, slices

__all__ = ["Support", "check_observed", "pieces"]

MOST = np.finfo(np.float64).max


def pieces(X):
    """Cut a table into pieces that stay in a core's cache, each together with a rounded copy.

    Parameters
    ----------
    X : (N, D)

    Returns
    -------
    iterator of (n, D)
    """
    return (X[rows] for rows in slices(len(X), 2 * X.shape[1]))


class Support:
    """Numbers from `lower` to `upper`, whole ones only if `whole`; mixed into a family of densities."""

    lower, upper = 0.0, np.inf  # of all features, or (D,)
    whole = True
    smoothing = 0.0             # pseudo-observations, which cannot be negative either

    def clean(self, X) -> bool:
        """Whether a glance at X (N, D) acquits it of all that `check` refuses, and of NaN and infinities."""
        least, most = max(self.lower, -MOST), min(np.min(self.upper), MOST)
        return self.smoothing >= 0 and all(
            x.min() >= least and x.max() <= most and not (self.whole and (np.rint(x) != x).any()) for x in pieces(X))

    def check(self, X, features=None) -> None:
        """Raise ValueError if X (N, D) holds a value outside the support; `features` (D,) are the columns' names."""
        if not self.smoothing >= 0:
            raise ValueError(f"smoothing must be >= 0, got {self.smoothing}: it counts pseudo-observations")
        if self.clean(X):
            return
        for x in pieces(X):
            if (bad := self._outside(x)).any():
                n, j = np.argwhere(bad)[0]
                top = np.broadcast_to(self.upper, X.shape[1])[j]
                raise ValueError(self._complaint(x[n, j], top, j if features is None else features[j]))

    def _outside(self, X) -> np.ndarray:
        bad = (X < self.lower) | (X > self.upper)
        return bad | (np.rint(X) != X) & ~np.isnan(X) if self.whole else bad

    def _complaint(self, value, top, feature) -> str:
        name, kind = type(self).__name__, "whole numbers" if self.whole else "numbers"
        limit = "" if np.isinf(top) else f" and <= {top:g}"
        negative = f"Negative values in data passed to {name}: " if value < self.lower else ""
        return (f"{negative}{name} features hold {kind} >= {self.lower:g}{limit}, got {value:g} in feature {feature}: "
                "check the column or choose another family")


def check_observed(mass, count) -> None:
    """Whether there is anything to estimate from: 0 < mass_k and 0 < count_kj for all classes k and features j.

    Parameters
    ----------
    mass : (K,)
        Rows of each class.
    count : (K, D)
        Observed values of each feature among them, pseudo-observations included.

    Raises
    ------
    ClassError
        If a class has no rows, or a feature no value in a class.
    """
    if (empty := mass == 0).any():
        raise ClassError("class {k} has no rows, so its density is unknown: drop the class or add rows", empty.argmax())
    if (count == 0).any():
        k, j = np.argwhere(count == 0)[0]
        raise ClassError("class {k} has no observed value of feature {j}: drop the feature or use smoothing", k, j)
