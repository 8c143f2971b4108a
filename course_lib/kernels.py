"""Kernels in D dimensions, their sums over points and the points near a row, in blocks of at most `BLOCK` distances.

All N × M of them are never held.

Source: Silverman, Density Estimation for Statistics and Data Analysis, sections 3.3 and 4.2.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["EPANECHNIKOV", "GAUSSIAN", "KERNELS", "QUARTIC", "TRIANGULAR", "UNIFORM", "Cells", "Close",
           "CompactKernel", "GaussianKernel", "blocks", "log_windows", "paired_distances",
           "squared_distances"]

BLOCK = 2 ** 17  # distances held at once: 1 MB
CALLS = 2000     # distances that cost as much time as the calls for one cell
LOWEST = -650.0  # exp of less adds nothing to a sum whose largest term is 1, and the processor is slow below 1e-308
SLACK = 8 * np.finfo(np.float32).eps


@dataclass(frozen=True)
class GaussianKernel:
    """K(r) = exp(−r²/2): every point reaches everywhere; in D dimensions V = ∫K(‖u‖)du = (2π)^{D/2}."""

    def log_volume(self, D: int) -> float:
        """ln V, the logarithm of the kernel's integral over R^D."""
        return D / 2 * np.log(2 * np.pi)

    def log_sum(self, d2: np.ndarray, h2: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """ln Σ_i w_i K(d_i/h) (M,) from squared distances d2 (M, n), h2 (M,) and weight (n,).

        The nearest point's exponent is taken out of the sum, so the result is finite however far the points are.
        """
        near = d2.min(axis=1)
        t = d2 - np.where(np.isfinite(near), near, 0)[:, None]
        t *= (-0.5 / h2)[:, None]
        np.maximum(t, LOWEST, out=t)
        return np.log(np.exp(t, out=t) @ weight) - 0.5 * near / h2

    def draw(self, n: int, D: int, rng: np.random.Generator) -> np.ndarray:
        """n displacements (n, D) whose density is K(‖u‖)/V."""
        return rng.standard_normal((n, D))


@dataclass(frozen=True)
class CompactKernel:
    """K(r) = (1 − rᵃ)ᵇ for r ≤ 1, else 0; with B_D the volume of the unit ball, V = B_D · (D/a) · Beta(D/a, b + 1).

    Parameters
    ----------
    a, b : int
        b = 0 is the uniform window (its edge belongs to it), (1, 1) the triangular, (2, 1) the Epanechnikov, (2, 2)
        the quartic.
        Shapes: squared radii (n,) in, values (n,) out.
    """

    a: int
    b: int

    def log_volume(self, D: int) -> float:
        """ln V, the logarithm of the kernel's integral over R^D."""
        from scipy.special import betaln, gammaln
        log_ball = D / 2 * np.log(np.pi) - gammaln(D / 2 + 1)
        return log_ball + np.log(D / self.a) + betaln(D / self.a, self.b + 1)

    def profile(self, t: np.ndarray) -> np.ndarray:
        """K at squared radii t = r²; overwrites t."""
        if self.b == 0:
            return np.less_equal(t, 1, out=t)
        if self.a != 2:
            np.power(t, self.a / 2, out=t)
        np.subtract(1, t, out=t)
        np.maximum(t, 0, out=t)
        return t if self.b == 1 else np.power(t, self.b, out=t)

    def log_sum(self, d2: np.ndarray, h2: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """ln Σ_i w_i K(d_i/h), as `GaussianKernel.log_sum`; −∞ where no window reaches."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.log(self.profile(d2 / h2[:, None]) @ weight)

    def draw(self, n: int, D: int, rng: np.random.Generator) -> np.ndarray:
        """n displacements (n, D) whose density is K(‖u‖)/V: rᵃ is Beta(D/a, b + 1), the direction uniform."""
        u = rng.standard_normal((n, D))
        r = rng.beta(D / self.a, self.b + 1, size=n) ** (1 / self.a)
        return u * (r / np.linalg.norm(u, axis=1))[:, None]


GAUSSIAN = GaussianKernel()
UNIFORM, TRIANGULAR, EPANECHNIKOV, QUARTIC = (CompactKernel(a, b) for a, b in ((2, 0), (1, 1), (2, 1), (2, 2)))
KERNELS = {"gaussian": GAUSSIAN, "uniform": UNIFORM, "triangular": TRIANGULAR, "epanechnikov": EPANECHNIKOV,
           "quartic": QUARTIC}


def blocks(M: int, n: int, least: int = 1):
    """Slices of M rows, each of as many rows as have `BLOCK` distances to n points, or of `least` rows.

    Parameters
    ----------
    M, n, least : int

    Returns
    -------
    iterator of slices, together (M,)
    """
    step = max(least, BLOCK // max(n, 1))
    return (slice(start, min(start + step, M)) for start in range(0, M, step))


def squared_distances(X: np.ndarray, points: np.ndarray, own=None) -> np.ndarray:
    """‖x − p‖² by differences: the expansion x² − 2xᵀp + p² would lose the digits of near points at large offsets.

    Parameters
    ----------
    X : (M, D)
    points : (n, D)
    own : (M,), optional
        The point that a row does not see, whose distance is infinite; −1 for none.

    Returns
    -------
    (M, n)
    """
    from scipy.spatial.distance import cdist
    d2 = cdist(X, points, "sqeuclidean")
    if own is not None:
        at = np.flatnonzero(own >= 0)
        d2[at, own[at]] = np.inf
    return d2


def paired_distances(X: np.ndarray, points: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """‖x_i − p_j‖² (n,) for chosen pairs i, j (n,), to the last digit as `squared_distances`; X (M, D), points (N, D).

    Feature by feature, for to gather short rows is slow.
    """
    return sum((x[i] - p[j]) ** 2 for x, p in zip(X.T, points.T))


def log_windows(X: np.ndarray, points: np.ndarray, weight: np.ndarray, kernel, h2s, own=None) -> np.ndarray:
    """ln Σ_i w_i K(‖x − x_i‖/h) for several widths from one pass over the distances.

    Parameters
    ----------
    X : (M, D)
    points : (n, D)
    weight : (n,)
    kernel : GaussianKernel or CompactKernel
    h2s : sequence of H arrays (M,)
        h² for each row.
    own : (M,), optional
        As in `squared_distances`.

    Returns
    -------
    (H, M)
    """
    out = np.empty((len(h2s), len(X)))
    for rows in blocks(len(X), len(points)):
        d2 = squared_distances(X[rows], points, None if own is None else own[rows])
        for j, h2 in enumerate(h2s):
            out[j, rows] = kernel.log_sum(d2, h2[rows], weight)
    return out


class Cells:
    """Points in the order of cells no narrower than a reach: all within reach of a cell are in 3^(D−1) runs of them.

    A run is a cell with the one before it and the one after it along the last feature.

    Parameters
    ----------
    points : (n, D), D ≤ 3
    reach : float

    Attributes
    ----------
    order : (n,)
        The points, cell by cell.
    """

    def __init__(self, points: np.ndarray, reach: float):
        D, extent = points.shape[1], np.ptp(points, axis=0)
        self.low, self.side = points.min(axis=0), max(reach * (1 + 1e-6), extent.max() / 2 ** (60 // max(D, 2)))
        self.shape = (extent // self.side).astype(int) + 3  # an empty cell at both ends
        self.strides = np.append(np.cumprod(self.shape[:0:-1])[::-1], 1)
        self.steps = (np.indices((3,) * (D - 1)).reshape(D - 1, 3 ** (D - 1)).T - 1) @ self.strides[:-1]
        cells = self._cell(points)
        self.order = np.argsort(cells, kind="stable")
        self.cells = cells[self.order]

    def near(self, X: np.ndarray):
        """In blocks of `BLOCK` distances at most, or those of a row: rows of X (M, D), and the points within their reach.

        The points, and others not far from them, come as runs of `order` for rows that share a cell; or, where a cell's
        calls would cost more than its distances, as pairs i (among these rows), j (in `order`) for rows of many cells.
        None stands in place of the other.
        """
        cells = self._cell(X)
        rows = np.argsort(cells, kind="stable")
        first = np.flatnonzero(np.diff(cells[rows], prepend=-1))
        middle = cells[rows[first]][:, None] + self.steps
        starts, ends = np.searchsorted(self.cells, middle - 1), np.searchsorted(self.cells, middle + 1, side="right")
        count, points = np.diff(first, append=len(rows)), (ends - starts).sum(axis=1)
        few = count * points < CALLS
        for c in np.flatnonzero(~few):
            runs = [slice(a, b) for a, b in zip(starts[c], ends[c])]
            for part in blocks(count[c], points[c]):
                yield rows[first[c]:][part], runs, None
        rows, cell = rows[np.repeat(few, count)], np.repeat(np.flatnonzero(few), count[few])
        for part in blocks(len(rows), points[few].max(initial=0)):
            yield rows[part], None, _listed(starts[cell[part]], ends[cell[part]])

    @np.errstate(over="ignore")
    def _cell(self, X):
        at = np.floor((X - self.low) / self.side) + 1
        return np.clip(at, 0, self.shape - 1).astype(np.int64) @ self.strides


def _listed(starts, ends):
    """All pairs i, j with starts ≤ j < ends in one of the n runs of row i; starts, ends (M, n)."""
    lengths = (ends - starts).ravel()
    i = np.repeat(np.arange(starts.size) // starts.shape[1], lengths)
    return i, np.arange(len(i)) + np.repeat(ends.ravel() - np.cumsum(lengths), lengths)


class Close:
    """Finds the pairs of rows and points that are no farther apart than a reach, or than the nearest point.

    Candidates come from one matrix product in single precision, ‖p‖² − 2xᵀp about the points' centre, with slack for
    all that rounding may take from it; their distances are then taken by differences.

    Parameters
    ----------
    points : (n, D)
    """

    def __init__(self, points: np.ndarray):
        self.points, self.centre = points, points.mean(axis=0)
        Z = points - self.centre
        self.unit = np.sqrt(_squares(Z).max()) or 1.0
        Z /= self.unit
        self.table = np.vstack([Z.T, _squares(Z)]).astype(np.float32)

    def reached(self, X: np.ndarray, reach2: np.ndarray) -> np.ndarray:
        """The rows (m,) of X (M, D) that are within reach of the ball about all points; reach2 as in `pairs`."""
        to_centre = np.sqrt(squared_distances(X, self.centre[None])[:, 0])
        return np.flatnonzero(to_centre <= (self.unit + np.sqrt(reach2)) * (1 + 1e-9))

    def pairs(self, X: np.ndarray, reach2=None, among=None):
        """In blocks of rows of X (M, D), all or those `among` (m,): the rows, and their pairs i (of these), j and d².

        reach2 (M,) is the squared reach of each row, which d² exceeds a little at most; None means the nearest point.
        Where there are so many pairs that all distances cost less, None stands in their place.
        """
        n, D = self.points.shape
        among = np.arange(len(X)) if among is None else among
        for part in blocks(len(among), n, least=16):  # fewer would cost as much
            rows = among[part]
            near = self._near(X[rows], None if reach2 is None else reach2[rows])
            few = np.count_nonzero(near) * (D + 8) <= near.size
            yield rows, _measured(X[rows], self.points, near, few) if few or reach2 is None else None

    @np.errstate(over="ignore", invalid="ignore")
    def _near(self, X, reach2):
        """Which points (M, n) may be that near; where single precision overflows, all of them."""
        Z = (X - self.centre) / self.unit
        z2 = _squares(Z)
        G = np.column_stack([-2 * Z, np.ones(len(Z))]).astype(np.float32) @ self.table
        limit = G.min(axis=1) if reach2 is None else reach2 / self.unit**2 - z2
        far = G > (limit + SLACK * (len(self.centre) + 4) * (z2 + 1)).astype(np.float32)[:, None]
        return np.logical_not(far, out=far)


def _measured(X, points, near, few: bool):
    """Rows, points and squared distances of the pairs that are marked."""
    marked = np.flatnonzero(near)
    i, j = np.divmod(marked, len(points))
    if not few:
        return i, j, squared_distances(X, points).ravel()[marked]
    return i, j, paired_distances(X, points, i, j)


def _squares(Z) -> np.ndarray:
    return np.einsum("nd,nd->n", Z, Z)
