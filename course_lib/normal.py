"""Fitted normal densities: their logarithms, discriminants and new rows; no estimation.

Source: Bishop, Pattern Recognition and Machine Learning, section 2.3; Higham, Accuracy and Stability of Numerical
Algorithms, chapter 10 (Cholesky factors).
"""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_lib.affine import Affine
from course_lib.reduce import NearlySingular
from course_lib.statistics import ClassError, slices

__all__ = ["DiagonalNormal", "FullNormal", "check_pivots", "normal"]

EPS = np.finfo(float).eps
NEAR = 1e4  # squared distance up to which expanding (x − μ)² about a common centre costs at most 4 of 16 digits


def normal(mean, covariance, rest=0.0) -> "DiagonalNormal | FullNormal":
    """K normal densities N(x; μ, Σ) with given parameters.

    Parameters
    ----------
    mean : (K, D)
    covariance : (K, D, D), or variances (K, D), or (K, 1) if common to the features
        With a first axis of 1 if common to the classes.
    rest : (K, D), optional
        What rounding took from the means, which are mean + rest.

    Returns
    -------
    DiagonalNormal or FullNormal

    Raises
    ------
    ValueError
        If a covariance is not symmetric, or singular, or a variance is not positive.
    """
    mean, covariance = np.asarray(mean, dtype=np.float64), np.asarray(covariance, dtype=np.float64)
    if covariance.ndim == 3:
        return FullNormal(mean, _roots(covariance, mean), rest)
    if (zero := _vanishes(covariance, mean)).any():
        raise _zero_variance(*np.argwhere(zero)[0], own=len(covariance) == len(mean))
    return DiagonalNormal(mean, covariance, rest)


def _roots(Sigma, mean) -> np.ndarray:
    """Upper triangular roots, Σ = rootᵀ root, of features scaled to variance 1, so that units do not matter."""
    from scipy.linalg.lapack import dpotrf
    own, size = len(Sigma) == len(mean), np.abs(Sigma).max(axis=(1, 2), keepdims=True)
    if (crooked := (np.abs(Sigma - np.swapaxes(Sigma, 1, 2)) > 1e-10 * size).any(axis=(1, 2))).any():
        raise ValueError(f"a covariance must be symmetric, got {Sigma[crooked][0].tolist()}: pass (A + A.T) / 2 if "
                         "only rounding differs")
    sd = np.sqrt(np.einsum("kdd->kd", Sigma))
    if (zero := _vanishes(sd**2, mean if own else np.abs(mean).min(axis=0))).any():
        raise _zero_variance(*np.argwhere(zero)[0], own)
    roots, failed = zip(*(dpotrf(S, lower=0, clean=1) for S in Sigma / (sd[:, :, None] * sd[:, None, :])))
    roots, failed = np.stack(roots), np.array(failed)
    pivots = np.einsum("kdd->kd", roots)
    if (weak := (failed > 0) | (pivots.min(axis=1) < 1e-4)).any():
        k = weak.argmax()
        raise _singular(NearlySingular, k, failed[k] - 1 if failed[k] else pivots[k].argmin(), own)
    return roots * sd[:, None, :]


def check_pivots(root, mean, k) -> None:
    """Whether a covariance has full rank: every |root_jj| > noise · sd_j, the noise being that of the rows' rounding.

    Parameters
    ----------
    root : (D, D)
        Upper triangular, Σ = rootᵀ root.
    mean : (D,), or (K, D) if the covariance is common to the classes
    k : int
        The class, for the message.

    Raises
    ------
    ClassError
        If a variance is zero or a feature a linear combination of others.
    """
    sd = np.linalg.norm(root, axis=0)
    if (zero := np.atleast_2d(_vanishes(sd**2, mean)).all(axis=0)).any():
        raise _zero_variance(k, zero.argmax(), own=mean.ndim == 1)
    noise = 10 * len(root) * EPS * (1 + np.abs(np.atleast_2d(mean)).max(axis=0) / sd)
    if (lost := np.abs(np.diag(root)) <= noise * sd).any():
        raise _singular(ClassError, k, lost.argmax(), own=mean.ndim == 1)


def _vanishes(variance, mean):
    """Whether a variance is zero but for the rounding of the values themselves."""
    return variance <= (8 * EPS * np.abs(mean)) ** 2


def _zero_variance(k, j, own: bool) -> ClassError:
    where = "class {k}" if own else "every class"
    return ClassError(f"the variance of feature {{j}} is zero in {where}: drop the feature, or use a ridge (such as "
                      "1e-9)" + (", or pool the classes" if own else ""), k, j)


def _singular(kind, k, j, own: bool) -> ClassError:
    whose = "covariance of class {k}" if own else "pooled covariance"
    return kind(f"the {whose} is not full rank: feature {{j}} is a linear combination of those before it; drop it, or "
                "use a ridge or rda(alpha, gamma)" + (", or pool the classes" if own else ""), k, j)


class _Linear:
    """What normal densities with one common covariance share: their discriminant may leave the quadratic term out."""

    def linear(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights Σ⁻¹μ (K, D) and bias −½ μᵀΣ⁻¹μ (K,) of the linear discriminants; needs one common covariance."""
        if not self.tied:
            raise ValueError("the discriminants are linear only with one covariance for all classes, got one each: use "
                             "pool='tied'")
        weights = self._precise(self.mean)
        return weights, -np.einsum("kd,kd->k", weights, self.mean) / 2

    @cached_property
    def affine(self) -> Affine | None:
        """The log densities (N, K) up to a term common to them, if they are linear and keep their digits as such."""
        centre, shifted, near = self._expansion
        if not (self.tied and near):
            return None
        weights = self._precise(shifted)
        return Affine(centre, -np.einsum("kd,kd->k", weights, shifted) / 2, weights.T)

    @cached_property
    def _expansion(self) -> tuple[np.ndarray, np.ndarray, bool]:
        """What squares are expanded about, 0 or the middle of the means; the means less that; whether all are near."""
        centre, shifted = np.zeros(self.mean.shape[1]), self.mean + self.rest
        if not (near := self._distance(shifted).max() <= NEAR):
            centre = self.mean.mean(axis=0)
            shifted = (self.mean - centre) + self.rest
            near = self._distance(shifted).max() <= NEAR
        return centre, shifted, bool(near)

    def _about_mean(self, X, k: int) -> np.ndarray:
        Z = X - self.mean[k]
        if np.any(self.rest):
            Z -= self.rest[k]
        return Z


def _moved(X, centre) -> np.ndarray:
    return X - centre if centre.any() else X


@dataclass(frozen=True)
class DiagonalNormal(_Linear):
    """K normal densities of D independent features."""

    mean: np.ndarray      # (K, D)
    variance: np.ndarray  # (K, D), or (1, D) if common to the classes; (K, 1) or (1, 1) if common to the features
    rest: np.ndarray | float = 0.0  # (K, D) what rounding took from the mean

    @property
    def tied(self) -> bool:
        """Whether all classes have the same covariance."""
        return len(self.variance) == 1 < len(self.mean)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        return self.mean.size + self.variance.size

    @property
    def covariance(self) -> np.ndarray:
        """(K, D, D), or (1, D, D) if common to the classes."""
        return self.variance[:, :, None] * np.eye(self.mean.shape[1])

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K); a missing feature (NaN) is integrated out."""
        out = np.empty((len(self.mean), len(X)))
        block = self._expanded if self._expansion[-1] else self._centred
        for rows in slices(*X.shape):
            block(X[rows], out[:, rows])
        return out.T

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        sd = np.sqrt(np.broadcast_to(self.variance, self.mean.shape)[k])
        return self.mean[k] + sd * rng.standard_normal(sd.shape)

    def _precise(self, mean):
        return mean / self.variance

    def _distance(self, shift) -> np.ndarray:
        return (shift**2 / self.variance).sum(axis=1)

    @cached_property
    def _coefficients(self) -> tuple:
        """What multiplies z², z and 1 in the log density of each feature of z = x − centre, (K, D) each."""
        m, v = np.broadcast_arrays(self._expansion[1], self.variance)
        return -0.5 / v, m / v, -0.5 * (m**2 / v + np.log(2 * np.pi * v))

    def _expanded(self, X, out) -> None:
        a, b, c = self._coefficients
        Z = _moved(X, self._expansion[0])
        np.matmul(a, (Z * Z).T, out=out)
        out += b @ Z.T
        if np.isnan(out[0]).any():
            Z, seen = np.nan_to_num(Z, nan=0.0), (~np.isnan(Z)).astype(np.float64)
            out[...] = a @ (Z * Z).T + b @ Z.T + c @ seen.T
        else:
            out += c.sum(axis=1)[:, None]

    def _centred(self, X, out) -> None:
        for k, v in enumerate(np.broadcast_to(self.variance, self.mean.shape)):
            out[k] = -0.5 * np.nansum(self._about_mean(X, k) ** 2 / v + np.log(2 * np.pi * v), axis=1)


@dataclass(frozen=True)
class FullNormal(_Linear):
    """K normal densities, each with the upper triangular root of its covariance, Σ = rootᵀ root."""

    mean: np.ndarray  # (K, D)
    root: np.ndarray  # (K, D, D), or (1, D, D) if common to the classes
    rest: np.ndarray | float = 0.0  # (K, D) what rounding took from the mean

    @property
    def tied(self) -> bool:
        """Whether all classes have the same covariance."""
        return len(self.root) == 1 < len(self.mean)

    @property
    def n_parameters(self) -> int:
        """Free parameters of all the densities together."""
        D = self.mean.shape[1]
        return self.mean.size + len(self.root) * D * (D + 1) // 2

    @property
    def covariance(self) -> np.ndarray:
        """(K, D, D), or (1, D, D) if common to the classes."""
        return np.swapaxes(self.root, 1, 2) @ self.root

    @property
    def least_pivot(self) -> float:
        """The least share of a feature's variance that the features before it leave unexplained."""
        return float((np.einsum("kdd->kd", self.root) ** 2 / (self.root**2).sum(axis=1)).min())

    @cached_property
    def whitener(self) -> np.ndarray:
        """root⁻¹, like `root`: (x − μ) root⁻¹ has unit covariance."""
        from scipy.linalg.lapack import dtrtri
        return np.stack([dtrtri(root)[0] for root in self.root])

    @cached_property
    def log_norm(self) -> np.ndarray:
        """−½ ln |2πΣ|, (K,) or (1,)."""
        D = self.mean.shape[1]
        return -np.log(np.abs(np.einsum("kdd->kd", self.root))).sum(axis=1) - D / 2 * np.log(2 * np.pi)

    def log_density(self, X) -> np.ndarray:
        """ln p(x|k), (N, K)."""
        K, D = self.mean.shape
        out = np.empty((K, len(X)))
        near = self._expansion[-1]
        squares = self._class_by_class if not near else self._common if self.tied else self._stacked
        for rows in slices(len(X), K * D):
            part = out[:, rows]
            squares(X[rows], part)
            part *= -0.5
            part += self.log_norm[:, None]
        return out.T

    def _common(self, X, out) -> None:
        """Squared distances |z − m|² (K, n) expanded, with one whitening for all classes."""
        centre, shifted, _ = self._expansion
        Z, M = (X - centre) @ self.whitener[0], shifted @ self.whitener[0]
        np.matmul(-2 * M, Z.T, out=out)
        out += np.einsum("nd,nd->n", Z, Z)
        out += np.einsum("kd,kd->k", M, M)[:, None]

    def _stacked(self, X, out) -> None:
        """Squared distances (K, n) by one product for all classes."""
        K, D = self.mean.shape
        rows = np.ones((len(X), D + 1))
        np.subtract(X, self._expansion[0], out=rows[:, :D])
        Z = (self._stack @ rows.T).reshape(K, D, len(X))
        np.einsum("kdn,kdn->kn", Z, Z, out=out)

    @cached_property
    def _stack(self) -> np.ndarray:
        """Maps (x − centre, 1) to the whitened x − μ of every class, (KD, D + 1)."""
        moved = np.einsum("kd,kde->ke", self._expansion[1], self.whitener)
        return np.column_stack([np.concatenate(list(self.whitener), axis=1).T, -moved.ravel()])

    def _class_by_class(self, X, out) -> None:
        for k in range(len(self.mean)):
            Z = self._about_mean(X, k) @ self.whitener[k if len(self.root) > 1 else 0]
            np.einsum("nd,nd->n", Z, Z, out=out[k])

    def sample(self, k, rng) -> np.ndarray:
        """Draw a row (D,) from class k[i] for each i, (n, D)."""
        Z = rng.standard_normal((len(k), self.mean.shape[1]))
        root = self.root[k if len(self.root) > 1 else np.zeros_like(k)]
        return self.mean[k] + np.einsum("ni,nij->nj", Z, root)

    def _precise(self, mean):
        return (mean @ self.whitener[0]) @ self.whitener[0].T

    def _distance(self, shift) -> np.ndarray:
        return ((shift @ self.whitener) ** 2).sum(axis=2).ravel()
