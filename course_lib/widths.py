"""The choice of a window's width h: what is said of each row when it is left out, and rules of thumb.

Source: Silverman, Density Estimation for Statistics and Data Analysis, sections 3.4 and 4.3.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

from course_lib.kernels import GAUSSIAN, UNIFORM, blocks, log_windows, squared_distances
from course_lib.parzen import Nearest, entries, positive

__all__ = ["best_width", "leave_one_out", "loo_errors", "loo_log_likelihood", "lscv", "normal_reference", "nrd", "nrd0",
           "width_grid"]

FIRST = Nearest(1e-300)  # the nearest point, whatever its weight


def leave_one_out(X: np.ndarray, R, h, kernel=GAUSSIAN) -> np.ndarray:
    """ln p̂_{−i}(x_i|y), the densities at each row when that row is left out, for many widths from one distance pass.

    p̂_{−i}(x_i|y) = Σ_{j≠i} w_jy K(ρ(x_i, x_j)/h) / (V_h Σ_{j≠i} w_jy): a row leaves with all its weight; a class left
    without points has density 0.

    Parameters
    ----------
    X : (N, D)
    R : (N, K) or `Labels`
    h : sequence of H floats or `Nearest`
    kernel : GaussianKernel or CompactKernel

    Returns
    -------
    (H, N, K)
    """
    N, D = X.shape
    i, k, w, K = entries(R)
    mass = np.bincount(i, w, N)
    h2 = [v.squared(X, X[mass > 0], mass[mass > 0], kernel, np.where(mass > 0, np.cumsum(mass > 0) - 1, -1))
          if isinstance(v, Nearest) else np.full(N, positive(v) ** 2) for v in h]
    out = np.empty((len(h2), N, K))
    for c in range(K):
        rows, weight = i[k == c], w[k == c] / w[k == c].sum()
        own, left = np.full(N, -1), np.ones(N)
        own[rows], left[rows] = np.arange(len(rows)), 1 - weight
        sums = log_windows(X, X[rows], weight, kernel, h2, own)
        with np.errstate(divide="ignore"):
            out[..., c] = np.where(left > 0, sums - np.log(np.where(left > 0, left, 1)), -np.inf)
    return out - D / 2 * np.log(h2)[..., None] - kernel.log_volume(D)


def loo_log_likelihood(X: np.ndarray, h, kernel=GAUSSIAN, weight=None) -> np.ndarray:
    """Σ_i w_i ln p̂_{−i}(x_i), the log likelihood of each row when it is left out, for many widths.

    As h → 0 it falls to −∞ unless every point has a twin; the resubstitution likelihood would grow for ever.

    Parameters
    ----------
    X : (N, D)
        One sample.
    h : sequence of H floats or `Nearest`
    kernel : GaussianKernel or CompactKernel
    weight : (N,), optional

    Returns
    -------
    (H,)

    Source: Silverman, Density Estimation, section 3.4.4.
    """
    weight = np.ones(len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    return leave_one_out(X, weight[:, None], h, kernel)[:, weight > 0, 0] @ weight[weight > 0]


def loo_errors(X: np.ndarray, codes: np.ndarray, h, kernel=GAUSSIAN, priors=None) -> np.ndarray:
    """How many rows the window classifier gets wrong when each is left out in turn, for many widths.

    Parameters
    ----------
    X : (N, D)
    codes : (N,) in 0..K−1
    h : sequence of H floats or `Nearest`
    kernel : GaussianKernel or CompactKernel
    priors : (K,), optional
        By default the class frequencies among the other rows.

    Returns
    -------
    (H,)
    """
    R = np.eye(codes.max() + 1)[codes]
    with np.errstate(divide="ignore"):
        log_prior = np.log(R.sum(axis=0) - R if priors is None else priors)
    log_joint = leave_one_out(X, R, h, kernel) + log_prior
    lost = np.isneginf(log_joint).all(axis=2)
    if lost.any():
        near = leave_one_out(X, R, [FIRST], UNIFORM) + log_prior
        log_joint = np.where(lost[..., None], near, log_joint)
    return (log_joint.argmax(axis=2) != codes).sum(axis=1)


def lscv(X: np.ndarray, h) -> np.ndarray:
    """Least squares cross-validation with a Gaussian kernel, ∫p̂² − (2/N) Σ_i p̂_{−i}(x_i), for each width; exact sums.

    ∫p̂² = N⁻² Σ_ij N(x_i − x_j; 0, 2h²I).  Smaller is better, but when more than .273 N pairs are tied (D = 1) it
    falls to −∞ as h → 0: only a local minimum can then be meant.

    Parameters
    ----------
    X : (N, D), h : (H,)

    Returns
    -------
    (H,)

    Source: Silverman, Density Estimation, section 3.4.3.
    """
    (N, D), h = X.shape, positive(h)
    near, far = np.zeros(len(h)), np.zeros(len(h))  # Σ_{i≠j} exp(−d²/2h²), Σ_{i≠j} exp(−d²/4h²)
    for rows in blocks(N, N):
        d2 = squared_distances(X[rows], X)
        d2[np.arange(len(d2)), np.arange(N)[rows]] = np.inf
        for j, hj in enumerate(h):
            E = np.exp(d2 * (-0.25 / hj ** 2))
            far[j] += E.sum()
            near[j] += np.einsum("ij,ij->", E, E)
    return (4 * np.pi * h ** 2) ** (-D / 2) * ((N + far) / N ** 2 - 2 ** (D / 2 + 1) * near / (N * (N - 1)))


def nrd0(x: np.ndarray) -> float:
    """Silverman's rule of thumb, h = .9 min(s, IQR/1.34) n^{−1/5}, R's default; x (n,).

    Source: Silverman, Density Estimation, eq. 3.31.
    """
    return 0.9 * _spread(np.ravel(x)) * np.size(x) ** -0.2


def nrd(x: np.ndarray) -> float:
    """Scott's variation, h = 1.06 min(s, IQR/1.34) n^{−1/5}; x (n,).

    Source: Scott, Multivariate Density Estimation, chapter 6.
    """
    return 1.06 * _spread(np.ravel(x)) * np.size(x) ** -0.2


def normal_reference(X: np.ndarray) -> float:
    """The best width were the data X (n, D) a spherical normal: s (4/((D + 2) n))^{1/(D+4)}, s² their mean variance.

    Source: Silverman, Density Estimation, eq. 4.14.
    """
    n, D = X.shape
    return _sd(X) * (4 / ((D + 2) * n)) ** (1 / (D + 4))


def width_grid(X: np.ndarray, octaves: int = 10) -> np.ndarray:
    """Widths in ratio √2, upwards to four times the normal reference; the lowest is the search's lower bound.

    Parameters
    ----------
    X : (n, D)
    octaves : int

    Returns
    -------
    (2 octaves + 1,), ascending
    """
    return 4 * normal_reference(X) * 2.0 ** (np.arange(-2 * octaves, 1) / 2)


def best_width(score: Callable[[np.ndarray], np.ndarray], grid: np.ndarray) -> float:
    """The width that maximises a score, ĥ = argmax_h score(h): the best of the grid, refined between its neighbours.

    Parameters
    ----------
    score : function (H,) -> (H,)
        Larger is better: ``lambda h: loo_log_likelihood(X, h)``, or ``lambda h: -lscv(X, h)``.
    grid : (H,)
        Ascending; `width_grid` makes one.

    Returns
    -------
    h; at an end of the grid it is returned as it is, with a warning: tied data can drive h to 0

    Raises
    ------
    ValueError
        If the score is −∞ all over the grid.
    """
    from scipy.optimize import minimize_scalar
    values = np.asarray(score(grid))
    best = int(np.argmax(values))
    if np.isneginf(values[best]):
        raise ValueError("no width of the grid gives every row a positive density: widen the grid upwards")
    if best in (0, len(grid) - 1):
        warnings.warn(f"the score is best at the end h = {grid[best]:.6g} of the grid: are values tied, "
                      "or should the grid go further?", stacklevel=2)
        return float(grid[best])
    lo, hi = np.log(grid[[best - 1, best + 1]])
    found = minimize_scalar(lambda u: -score(np.exp([u]))[0], bounds=(lo, hi), method="bounded",
                            options={"xatol": 1e-8})
    return float(np.exp(found.x))


def _sd(X: np.ndarray) -> float:
    """Root of the mean variance of the columns, or of one sample (n,)."""
    if len(X) < 2 or (X == X[0]).all():
        raise ValueError(f"a rule for the width needs data that vary, got {len(X)} value(s), all {X[0].tolist()}: the "
                         "data are constant, give a width h")
    return float(np.sqrt(np.var(X, axis=0, ddof=1).mean()))


def _spread(x: np.ndarray) -> float:
    """min(s, IQR/1.34); s alone where more than half of the values are tied and the IQR is 0."""
    q1, q3 = np.quantile(x, [0.25, 0.75])
    return min(_sd(x), (q3 - q1) / 1.34) or _sd(x)
