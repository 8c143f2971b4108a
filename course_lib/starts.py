"""Where components of a mixture begin, and begin anew: responsibilities made from distances, not from a model."""
from __future__ import annotations

import warnings

import numpy as np

from course_lib.gaussian import Gaussian
from course_lib.reduce import over_rows
from course_lib.statistics import Labels, slices

__all__ = ["halved", "plus_plus", "reseeded"]


def plus_plus(X: np.ndarray, k: int, rng: np.random.Generator, weight=None) -> Labels:
    """A start by k-means++: centres drawn with probability ∝ squared distance to those before, each row to its nearest.

    Distances are taken in units of each feature's standard deviation.  The draw does not depend on the order of the
    rows, and a weight counts as repetition.

    Parameters
    ----------
    X : (N, D)
    k : int
    rng : numpy.random.Generator
    weight : (N,), optional

    Returns
    -------
    Labels (N, k) of weight 1; of fewer classes, with a warning, where X has fewer than k distinct rows

    Source: Arthur & Vassilvitskii (2007), SODA, 1027.
    """
    w = np.broadcast_to(1.0, len(X)) if weight is None else weight
    (_, sd), order = _scale(X, w), _sorted(X)
    owner, nearest = np.zeros(len(X), np.int32), np.full(len(X), np.inf)
    for j in range(k):
        mass = (w if j == 0 else w * nearest)[order]
        np.cumsum(mass, out=mass)
        if mass[-1] == 0:
            warnings.warn(f"{k} components were asked of {j} distinct row(s): {j} are used; lower k", stacklevel=2)
            k = j
            break
        drawn = np.searchsorted(mass[:-1], rng.random() * mass[-1], side="right")
        d2 = _squared_distances(X, X[order[drawn]], sd)
        owner[d2 < nearest] = j
        np.minimum(nearest, d2, out=nearest)
    return Labels(owner, k)


def reseeded(X: np.ndarray, R: np.ndarray, log_p: np.ndarray | None, j: int) -> np.ndarray:
    """R after component j has been placed on the rows about the one explained worst.

    Half of each of these rows goes to it, until it has a share 1/2J of all weight.

    Parameters
    ----------
    X : (N, D)
    R : (N, J)
        Rows sum to their weights.
    log_p : (N,) or None
        The worst explained row has the smallest; None takes the row farthest from the mean.
    j : int

    Returns
    -------
    (N, J)

    Source: Ueda, Nakano, Ghahramani & Hinton (2000), Neural Computation 12:2109, on moving components.
    """
    w = R.sum(axis=1)
    mean, sd = _scale(X, w)
    worst = np.where(w > 0, -_squared_distances(X, mean, sd) if log_p is None else log_p, np.inf).argmin()
    order = np.argsort(_squared_distances(X, X[worst], sd), kind="stable")
    taken = order[:1 + np.searchsorted(np.cumsum(w[order]), w.sum() / (2 * R.shape[1]))]
    R = R.copy()
    R[taken] /= 2
    R[taken, j] += R[taken].sum(axis=1)
    return R


def halved(X: np.ndarray, R: np.ndarray, j: int) -> np.ndarray:
    """R after the rows on one side of component j, across its longest axis, have gone to the last component.

    Parameters
    ----------
    X : (N, D)
    R : (N, J)
        Rows sum to their weights.
    j : int

    Returns
    -------
    (N, J)

    Source: Verbeek, Vlassis & Kröse (2003), Neural Computation 15:469.
    """
    mean, sd = _scale(X, R[:, j])
    Z = (X - mean) / sd
    axis = np.linalg.eigh(Z.T @ (R[:, j, None] * Z))[1][:, -1]
    R, side = R.copy(), Z @ axis > 0
    R[side, -1], R[side, j] = R[side, j], 0
    return R


def _sorted(X) -> np.ndarray:
    """The rows (N,) in lexicographic order; all columns are looked at only if some rows are equal in the first."""
    order = np.argsort(X[:, 0], kind="stable")
    first = X[order, 0]
    return np.lexsort(X.T[::-1]) if (first[1:] == first[:-1]).any() else order


def _scale(X, w) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each feature, 1 for one that is constant, (D,) each."""
    s = over_rows(X, w[:, None])(Gaussian("diagonal"))
    sd = np.sqrt(np.maximum(s.scatter[0], 0) / s.mass)
    return s.mean[0], np.where(sd > 0, sd, 1)


def _squared_distances(X, centre, unit) -> np.ndarray:
    """Σ_d (x_d − centre_d)²/unit_d², (N,)."""
    d2 = np.empty(len(X))
    for rows in slices(*X.shape):
        Z = (X[rows] - centre) / unit
        np.einsum("nd,nd->n", Z, Z, out=d2[rows])
    return d2
