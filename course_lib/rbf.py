"""A Bayes classifier of normal mixtures, written as a network of radial basis functions in three layers.

Source: Bishop, Neural Networks for Pattern Recognition, chapter 5; Hastie, Tibshirani & Friedman, section 6.7.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.gaussian import DiagonalNormal, FullNormal

__all__ = ["RBFNetwork", "network"]


@dataclass(frozen=True)
class RBFNetwork:
    """Three layers: weighted distances to centres → radial functions, summed by class → λ_y P(y), and the largest.

    Its outputs are λ_y P(y) p(x|y) themselves; far from all centres they underflow, where the classifier, which works
    in logs, still decides.
    """

    centre: np.ndarray     # (J, D) μ_yj
    precision: np.ndarray  # (J, D) 1/σ²_yjd, or (J, D, D) Σ⁻¹_yj
    norm: np.ndarray       # (J,) N_yj
    weight: np.ndarray     # (K, J) w_yj, zero for components of other classes
    stake: np.ndarray      # (K,) λ_y P(y)
    classes: np.ndarray    # (K,)

    def distances(self, X) -> np.ndarray:
        """ρ²_yj(x) = (x − μ)ᵀΣ⁻¹(x − μ), (N, J)."""
        Z = X[:, None, :] - self.centre
        if self.precision.ndim == 2:
            return np.einsum("njd,jd->nj", Z**2, self.precision)
        return np.einsum("njd,jde,nje->nj", Z, self.precision, Z)

    def radial(self, X) -> np.ndarray:
        """p_yj(x) = N_yj exp(−½ρ²_yj(x)), (N, J)."""
        return self.norm * np.exp(-self.distances(X) / 2)

    def outputs(self, X) -> np.ndarray:
        """λ_y P(y) Σ_j w_yj p_yj(x), (N, K)."""
        return self.radial(X) @ self.weight.T * self.stake

    def predict(self, X) -> np.ndarray:
        """Labels (N,) of the largest output."""
        return self.classes[self.outputs(X).argmax(axis=1)]


def network(mixtures, priors: np.ndarray, losses, classes: np.ndarray) -> RBFNetwork:
    """The network whose outputs are λ_y P(y) Σ_j w_yj N(x; μ_yj, Σ_yj).

    Parameters
    ----------
    mixtures : K fitted mixtures
        With ``weight`` and normal ``components``.
    priors : (K,)
    losses : (K,) or None
        λ; None for ones.
    classes : (K,)

    Returns
    -------
    RBFNetwork

    Raises
    ------
    ValueError
        If components are not normal, or losses are a matrix.
    """
    stake = np.ones(len(priors)) if losses is None else np.asarray(losses, dtype=np.float64)
    if stake.ndim > 1 or not all(isinstance(m.components, DiagonalNormal | FullNormal) for m in mixtures):
        raise ValueError("the network needs normal components, no background, and losses of one number a class")
    owner = np.repeat(np.arange(len(mixtures)), [len(m.weight) for m in mixtures])
    weight = np.where(owner == np.arange(len(mixtures))[:, None], np.concatenate([m.weight for m in mixtures]), 0)
    parts = zip(*(_radial(m.components) for m in mixtures))
    return RBFNetwork(*(np.concatenate(part) for part in parts), weight, stake * priors, classes)


def _radial(components) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Centres, precisions and norms N_j = (2π)^{−D/2} |Σ_j|^{−½} of normal components."""
    J, D = components.mean.shape
    if isinstance(components, DiagonalNormal):
        precision = np.broadcast_to(1 / components.variance, (J, D))
        return components.mean, precision, np.sqrt((precision / (2 * np.pi)).prod(axis=1))
    W = np.broadcast_to(components.whitener, (J, D, D))
    return components.mean, W @ np.swapaxes(W, 1, 2), np.broadcast_to(np.exp(components.log_norm), J)
