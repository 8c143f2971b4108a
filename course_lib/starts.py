"""Where components of a mixture begin, and begin anew: responsibilities made from distances, not from a model."""
from __future__ import annotations

import warnings

import numpy as np

__all__ = ["halved", "plus_plus", "reseeded"]


def plus_plus(X: np.ndarray, k: int, rng: np.random.Generator, weight=None) -> np.ndarray:
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
    R (N, k), one-hot; fewer columns, with a warning, where X has fewer than k distinct rows

    Source: Arthur & Vassilvitskii (2007), SODA, 1027.
    """
    w = np.ones(len(X)) if weight is None else weight
    Z, order = _standardised(X, w), np.lexsort(X.T[::-1])
    owner, nearest = np.zeros(len(X), int), np.full(len(X), np.inf)
    for j in range(k):
        total = np.cumsum((w if j == 0 else w * nearest)[order])
        if total[-1] == 0:
            warnings.warn(f"{k} components were asked of {j} distinct row(s): {j} are used; lower k", stacklevel=2)
            k = j
            break
        drawn = np.searchsorted(total[:-1], rng.random() * total[-1], side="right")
        d2 = _squared_distances(Z, Z[order[drawn]])
        owner[d2 < nearest] = j
        np.minimum(nearest, d2, out=nearest)
    return np.eye(k)[owner]


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
    Z = _standardised(X, w)
    worst = np.where(w > 0, -(Z**2).sum(axis=1) if log_p is None else log_p, np.inf).argmin()
    order = np.argsort(_squared_distances(Z, Z[worst]), kind="stable")
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
    Z = _standardised(X, R[:, j])
    axis = np.linalg.eigh(Z.T @ (R[:, j, None] * Z))[1][:, -1]
    R, side = R.copy(), Z @ axis > 0
    R[side, -1], R[side, j] = R[side, j], 0
    return R


def _standardised(X, w) -> np.ndarray:
    mean = w @ X / w.sum()
    sd = np.sqrt(w @ (X - mean) ** 2 / w.sum())
    return (X - mean) / np.where(sd > 0, sd, 1)


def _squared_distances(Z, centre) -> np.ndarray:
    return ((Z - centre) ** 2).sum(axis=1)
