"""Decisions from probabilities: posterior, risk, the optimal rule, prior correction, scores; pure functions."""
from __future__ import annotations

import numpy as np


def logsumexp(a, axis: int = -1) -> np.ndarray:
    """Logarithm of a sum of exponentials, ln Σ exp a = m + ln Σ exp(a − m) with m the largest of each slice.

    Each slice has its own maximum, so that a row far below the others does not underflow; a slice of −∞ gives −∞.
    """
    a = np.asarray(a, dtype=np.float64)
    m = a.max(axis=axis, keepdims=True)
    m = np.where(np.isfinite(m), m, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(a - m).sum(axis=axis)) + m.squeeze(axis)


def log_posterior(log_joint) -> np.ndarray:
    """Bayes' rule in logs: ln P(y|x) = ln P(y)p(x|y) − ln Σ_y P(y)p(x|y).

    Parameters
    ----------
    log_joint : (N, K)
        ln P(y)p(x|y), up to a constant of the row.

    Raises
    ------
    ValueError
        If a row is −∞ for every class (the posterior would be 0/0) or holds NaN.

    Source: Bishop, Pattern Recognition and Machine Learning, section 1.5.
    """
    log_joint = np.asarray(log_joint, dtype=np.float64)
    evidence = logsumexp(log_joint, axis=-1)
    if not np.isfinite(evidence).all():
        row = np.argwhere(~np.isfinite(np.atleast_1d(evidence)))[0].tolist()
        raise ValueError(f"Bayes' rule needs a class under which the row is possible; in row {row[0]} the log joint of "
                         "every class is -inf (or one is not a number): smooth the zero probabilities, or check the row")
    return log_joint - evidence[..., None]


def posterior(log_joint) -> np.ndarray:
    """Bayes' rule: P(y|x) = P(y)p(x|y) / Σ_y P(y)p(x|y), from logs (N, K) to probabilities (N, K).

    Rows sum to 1; see `log_posterior` for the arguments, the errors and the source.
    """
    return np.exp(log_posterior(log_joint))


def log_sigmoid(a) -> np.ndarray:
    """ln σ(a) = −ln(1 + exp(−a)), without overflow on either side."""
    return -np.logaddexp(0.0, -np.asarray(a, dtype=np.float64))


def sigmoid(a) -> np.ndarray:
    """The logistic function σ(a) = 1 / (1 + exp(−a)), which turns log odds into a probability; σ(−a) = 1 − σ(a)."""
    return np.exp(log_sigmoid(a))


def logit(p) -> np.ndarray:
    """Log odds ln p/(1 − p), the inverse of `sigmoid`; ∓∞ at 0 and 1."""
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def loss_matrix(losses, K: int) -> np.ndarray:
    """``losses[true, decided]`` as (K, A), A = K, or K + 1 with a last column for not deciding.

    Parameters
    ----------
    losses : None, (K,) or (K, A)
        None counts errors, 1 − I; a vector λ gives λ_y for any error in class y, λ_y (1 − I); a matrix is taken as is.
    """
    losses = np.ones(K) if losses is None else np.asarray(losses, dtype=np.float64)
    L = losses[:, None] * (1.0 - np.eye(K)) if losses.ndim == 1 and losses.size == K else losses
    if L.ndim != 2 or L.shape not in ((K, K), (K, K + 1)):
        raise ValueError(f"losses must have shape ({K},), ({K}, {K}) or ({K}, {K + 1}), rows by the true class, got "
                         f"{losses.shape}")
    if not np.isfinite(L).all():
        raise ValueError("losses must be finite, got NaN or infinity: use a large number for a forbidden decision")
    return L


def expected_loss(posterior, losses=None) -> np.ndarray:
    """Conditional risk of each decision, R(a|x) = Σ_y P(y|x) losses[y, a], (N, A), see `loss_matrix`."""
    posterior = np.asarray(posterior, dtype=np.float64)
    return posterior @ loss_matrix(losses, posterior.shape[-1])


def decide(posterior, losses=None) -> np.ndarray:
    """The optimal rule: the decision (N,) of least expected loss, K standing for "not decided".

    Parameters
    ----------
    posterior : (N, K)
    losses : None, (K,) or (K, A)
        See `loss_matrix`; with a vector λ this is argmax λ_y P(y|x).

    Source: Duda, Hart & Stork, Pattern Classification, section 2.2; Chow (1970) for the option not to decide.
    """
    return expected_loss(posterior, losses).argmin(axis=-1)
