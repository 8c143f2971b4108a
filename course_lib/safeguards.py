"""Safeguards of mixtures, as densities: a floor under variances, a uniform background for rows that fit nowhere."""
from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from course_lib.densities import Density, Fitted
from course_lib.gaussian import Gaussian
from course_lib.reduce import over_rows

__all__ = ["Backed", "WithBackground", "at_floor", "floored"]


def floored(density: Density, X: np.ndarray, share: float = 1e-6, R=None) -> Density:
    """The density with a floor of `share` times each feature's variance over all rows.

    The fit is then the greatest likelihood subject to Σ ⪰ diag(floor), so that EM still climbs, unlike with a ridge.  A
    constant feature takes the largest of the variances.

    Parameters
    ----------
    density : density
        Only a `Gaussian` without a floor gets one; any other is returned as it is.
    X : (N, D)
    share : float
    R : (N, K), optional
        Weights of the rows.

    Returns
    -------
    density

    Raises
    ------
    ValueError
        If all rows are equal.

    Source: Hathaway (1985), Annals of Statistics 13:795, on constrained maximum likelihood.
    """
    if not isinstance(density, Gaussian) or np.any(density.floor) or not share > 0:
        return density
    variance = over_rows(X, np.ones((len(X), 1)) if R is None else R)(Gaussian("diagonal")).overall
    if not variance.any():
        raise ValueError(f"all {len(X)} rows are equal, so nothing can be said of their variance: use rows that differ")
    return replace(density, floor=share * np.where(variance > 0, variance, variance.max()))


def at_floor(density: Density, fitted: Fitted) -> np.ndarray:
    """Which fitted components stand at the density's floor in some direction.

    Parameters
    ----------
    density : density
        That was fitted.
    fitted : fitted density
        Of J components.

    Returns
    -------
    indices (n,), n ≤ J

    Source: as `floored`.
    """
    if isinstance(density, WithBackground):
        return at_floor(density.density, fitted.components)
    floor = np.asarray(getattr(density, "floor", 0.0))
    if not floor.any():
        return np.zeros(0, int)
    unit = np.sqrt(np.broadcast_to(floor, fitted.mean.shape[1]))
    least = np.linalg.eigvalsh(fitted.covariance / np.outer(unit, unit)).min(axis=1)
    return np.flatnonzero(least < 1 + 1e-6)


@dataclass(frozen=True)
class WithBackground:
    """Components and, last, a uniform density over a box: rows that fit nowhere go there instead of moving a mean.

    Parameters
    ----------
    density : density
        Of the components.
    low, high : (D,)
        Corners of the box.

    Raises
    ------
    ValueError
        If a side of the box is not positive.

    Source: Banfield & Raftery (1993), Biometrics 49:803.
    """

    density: Density
    low: np.ndarray
    high: np.ndarray
    background = 1  # how many of the last columns of R are no ordinary components

    def __post_init__(self):
        if not (self.high > self.low).all():
            raise ValueError(f"a background needs a box with positive sides, got {self.high - self.low}: drop constant "
                             "features")

    def fit(self, X, R) -> "Backed":
        """Fit the components with all columns of R (N, J) but the last; what goes to the background fits nothing."""
        return Backed(self.density.fit(X, R[:, :-1]), R.shape[1] - 1, self.low, self.high)


@dataclass(frozen=True)
class Backed:
    """Fitted components and the uniform density over a box, p(x) = 1/Π_d(high_d − low_d).

    Parameters
    ----------
    components : fitted density
    ordinary : int
        How many components.
    low, high : (D,)

    Source: as `WithBackground`.
    """

    components: Fitted
    ordinary: int
    low: np.ndarray
    high: np.ndarray

    @property
    def n_parameters(self) -> int:
        """Those of the components; the box is given."""
        return self.components.n_parameters

    def log_density(self, X) -> np.ndarray:
        """ln p(x|j), (N, J); −∞ in the last column outside the box."""
        inside = ((X >= self.low) & (X <= self.high)).all(axis=1)
        uniform = np.where(inside, -np.log(self.high - self.low).sum(), -np.inf)
        return np.column_stack([self.components.log_density(X), uniform])

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from component k[i] for each i, (n, D)."""
        X = rng.uniform(self.low, self.high, size=(len(k), len(self.low)))
        ordinary = k < self.ordinary
        X[ordinary] = self.components.sample(k[ordinary], rng)
        return X
