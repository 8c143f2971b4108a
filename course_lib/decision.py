"""Decisions from probabilities: posterior, risk, the optimal rule, prior correction, scores; pure functions.

Source: Duda, Hart & Stork, Pattern Classification, chapter 2; Bishop, Pattern Recognition and Machine Learning, section
1.5; where a function has a source of its own, it says so.
"""
from __future__ import annotations

from dataclasses import dataclass

import numpy as np

__all__ = ["Paired", "auc", "average_risk", "brier_score", "correct_priors", "decide", "expected_loss", "log_loss",
           "log_posterior", "log_sigmoid", "logit", "logsumexp", "loss_matrix", "normal_boundary", "normal_risk",
           "paired_comparison", "posterior", "roc_curve", "sigmoid"]


def logsumexp(a, axis: int = -1) -> np.ndarray:
    """Logarithm of a sum of exponentials, ln Σ exp a = m + ln Σ exp(a − m) with m the largest of each slice.

    Each slice has its own maximum, so that a row far below the others does not underflow; a slice of −∞ gives −∞.

    Parameters
    ----------
    a : (..., K, ...)
    axis : int
        Which is summed over.

    Returns
    -------
    (..., ...)
        The shape of a without that axis.
    """
    a = np.asarray(a, dtype=np.float64)
    m = _peak(a, axis)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(a - m).sum(axis=axis)) + m.squeeze(axis)


def _peak(a, axis: int = -1) -> np.ndarray:
    """The largest value of each slice, and 0 where all are −∞."""
    m = a.max(axis=axis, keepdims=True)
    return np.where(np.isneginf(m), 0.0, m)


def log_posterior(log_joint) -> np.ndarray:
    """Bayes' rule in logs: ln P(y|x) = ln P(y)p(x|y) − ln Σ_y P(y)p(x|y).

    Parameters
    ----------
    log_joint : (N, K)
        ln P(y)p(x|y), up to a constant of the row.

    Returns
    -------
    (N, K)
        Its exponentials sum to 1 in each row.

    Raises
    ------
    ValueError
        If a row is −∞ for every class (the posterior would be 0/0) or holds NaN.

    Source: Bishop, Pattern Recognition and Machine Learning, section 1.5.
    """
    log_joint = np.asarray(log_joint, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        a = log_joint - _peak(log_joint)  # the peak goes first: its digits would be lost in the evidence
    evidence = logsumexp(a)
    if not np.isfinite(evidence).all():
        row = np.flatnonzero(~np.isfinite(np.ravel(evidence)))[0]
        raise ValueError(f"Bayes' rule needs a class under which the row is possible; in row {row} the log joint of "
                         "every class is -inf (or one is NaN): smooth the zero probabilities, or check the row")
    return a - evidence[..., None]


def posterior(log_joint) -> np.ndarray:
    """Bayes' rule: P(y|x) = P(y)p(x|y) / Σ_y P(y)p(x|y), from logs to probabilities.

    Parameters
    ----------
    log_joint : (N, K)
        As in `log_posterior`, with its errors.

    Returns
    -------
    (N, K)
        Rows sum to 1.
    """
    return np.exp(log_posterior(log_joint))


def log_sigmoid(a) -> np.ndarray:
    """ln σ(a) = −ln(1 + exp(−a)), without overflow on either side.

    Parameters
    ----------
    a : (...)

    Returns
    -------
    (...)
    """
    return -np.logaddexp(0.0, -np.asarray(a, dtype=np.float64))


def sigmoid(a) -> np.ndarray:
    """The logistic function σ(a) = 1 / (1 + exp(−a)), which turns log odds into a probability; σ(−a) = 1 − σ(a).

    Parameters
    ----------
    a : (...)

    Returns
    -------
    (...)
    """
    return np.exp(log_sigmoid(a))


def logit(p) -> np.ndarray:
    """Log odds ln p/(1 − p), the inverse of `sigmoid`; ∓∞ at 0 and 1.

    Parameters
    ----------
    p : (...)

    Returns
    -------
    (...)
    """
    p = np.asarray(p, dtype=np.float64)
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def loss_matrix(losses, K: int) -> np.ndarray:
    """``losses[true, decided]`` as (K, A), A = K, or K + 1 with a last column for not deciding.

    Parameters
    ----------
    losses : None, (K,) or (K, A)
        None counts errors, 1 − I; a vector λ gives λ_y for any error in class y, λ_y (1 − I); a matrix is taken as is.
    K : int
        Number of classes.

    Returns
    -------
    (K, A)

    Raises
    ------
    ValueError
        If the losses have another shape, or are not finite.
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
    """Conditional risk of each decision, R(ŷ|x) = Σ_y P(y|x) losses[y, ŷ].

    Parameters
    ----------
    posterior : (N, K)
    losses : None, (K,) or (K, A)
        See `loss_matrix`, also for the errors.

    Returns
    -------
    (N, A)
    """
    posterior = np.asarray(posterior, dtype=np.float64)
    return posterior @ loss_matrix(losses, posterior.shape[-1])


def decide(posterior, losses=None) -> np.ndarray:
    """The optimal rule: the decision (N,) of least expected loss, K standing for "not decided".

    Parameters
    ----------
    posterior : (N, K)
    losses : None, (K,) or (K, A)
        See `loss_matrix`; with a vector λ this is argmax λ_y P(y|x).

    Returns
    -------
    (N,) of int

    Source: Duda, Hart & Stork, Pattern Classification, section 2.2; Chow (1970) for the option not to decide.
    """
    return expected_loss(posterior, losses).argmin(axis=-1)


def average_risk(y, decided, losses=None, weight=None) -> float:
    """Average loss of decisions, R = Σ_n w_n losses[y_n, a_n] / Σ_n w_n.

    Parameters
    ----------
    y : (N,) of int
        True classes as codes 0..K−1.
    decided : (N,) of int
        Decisions 0..K−1, or K for "not decided".
    losses : None, (K,) or (K, A)
        See `loss_matrix`; None gives the share of errors.
    weight : (N,), optional

    Returns
    -------
    float
    """
    y, decided = np.asarray(y), np.asarray(decided)
    K = max(y.max(), decided.max()) + 1 if losses is None else len(losses)
    return float(np.average(loss_matrix(losses, K)[y, decided], weights=weight))


def correct_priors(posterior, old, new) -> np.ndarray:
    """Posterior (N, K) under other priors, P′(y|x) ∝ P(y|x) P′(y)/P(y), if p(x|y) has not changed.

    Parameters
    ----------
    posterior : (N, K)
        Made with the priors `old`, for example those of a rebalanced sample.
    old, new : (K,)

    Returns
    -------
    (N, K)

    Source: Saerens, Latinne & Decaestecker (2002), Neural Computation 14.
    """
    ratio = np.asarray(new, dtype=np.float64) / np.asarray(old, dtype=np.float64)
    weighted = np.asarray(posterior, dtype=np.float64) * ratio
    return weighted / weighted.sum(axis=-1, keepdims=True)


# ------------------------------------------------------------------------------------------------ two normals, exactly

def normal_boundary(mean, sd, weight=(0.5, 0.5)) -> np.ndarray:
    """Points where w₀N(x; μ₀, σ₀) = w₁N(x; μ₁, σ₁) and the decision changes: none, one or two, sorted.

    Parameters
    ----------
    mean, sd : (2,)
    weight : (2,)
        λ_y P(y), positive.

    Returns
    -------
    (0,), (1,) or (2,)

    Source: Duda, Hart & Stork, Pattern Classification, section 2.6.
    """
    (m0, m1), (s0, s1), (w0, w1) = mean, sd, weight
    centre = (m0 + m1) / 2
    half = (m0 - m1) / 2  # the means are centre ± half: no digits are lost far from 0
    a = (s0 - s1) * (s0 + s1) / (2 * (s0 * s1) ** 2)
    b = half * (1 / s0**2 + 1 / s1**2)
    c = np.log(w0 / w1) - np.log(s0 / s1) + half**2 * a
    return centre + _real_roots(a, b, c)


def normal_risk(mean, sd, weight=(0.5, 0.5), points=None, first: int | None = None) -> float:
    """Exact risk Σ_y w_y P(decided ≠ y | y) of a rule on the line that changes its decision at `points`.

    Parameters
    ----------
    mean, sd, weight : (2,)
        Of the two normals; the weights are λ_y P(y).
    points : sequence of float
        Increasing; by default `normal_boundary`, which gives the Bayes risk.
    first : 0 or 1
        What is decided left of all points; by default what is best there.

    Returns
    -------
    float
        With weights P(y), the probability of an error: the area under the lower of the two weighted densities.
    """
    from scipy.special import ndtr
    points = normal_boundary(mean, sd, weight) if points is None else np.asarray(points, dtype=np.float64)
    first = _best_first(mean, sd, weight, len(points)) if first is None else first
    edges = np.concatenate([[-np.inf], points, [np.inf]])
    decided = (first + np.arange(len(points) + 1)) % 2
    share = [np.diff(ndtr((edges - m) / s)) for m, s in zip(mean, sd)]
    return float(weight[0] * share[0][decided == 1].sum() + weight[1] * share[1][decided == 0].sum())


def _real_roots(a: float, b: float, c: float) -> np.ndarray:
    """Where ax² + bx + c changes its sign, sorted; without the cancellation of the schoolbook formula."""
    if a == 0:
        return np.array([-c / b]) if b != 0 and np.isfinite(-c / b) else np.empty(0)
    discriminant = b * b - 4 * a * c
    if discriminant <= 0:
        return np.empty(0)
    q = -(b + np.copysign(np.sqrt(discriminant), b)) / 2
    return np.sort([q / a, c / q])


def _best_first(mean, sd, weight, changes: int) -> int:
    """The heavier class if no decision changes; else what is best towards −∞, the wider class or else the left one."""
    return int(weight[1] > weight[0] if changes == 0 else (sd[1], -mean[1]) > (sd[0], -mean[0]))


# ----------------------------------------------------------------------------------------------------- how good it was

def log_loss(posterior, y, weight=None) -> float:
    """Average surprise, −(1/N) Σ ln P(y_n|x_n); a proper score: in expectation the true posterior has the least.

    Parameters
    ----------
    posterior : (N, K)
    y : (N,) of int
        True classes as codes 0..K−1.
    weight : (N,), optional

    Returns
    -------
    float
        In nats; infinite if a true class was given probability 0.
    """
    y = np.asarray(y)
    with np.errstate(divide="ignore"):
        return float(np.average(-np.log(np.asarray(posterior)[np.arange(len(y)), y]), weights=weight))


def brier_score(posterior, y, weight=None) -> float:
    """Average squared distance to the truth, (1/N) Σ_n Σ_k (P(k|x_n) − [y_n = k])², between 0 and 2; a proper score.

    For two classes it is twice the mean of (P(1|x) − y)².

    Parameters
    ----------
    posterior : (N, K)
    y : (N,) of int
        True classes as codes 0..K−1.
    weight : (N,), optional

    Returns
    -------
    float

    Source: Brier (1950), Monthly Weather Review 78.
    """
    posterior = np.asarray(posterior, dtype=np.float64)
    return float(np.average(((posterior - np.eye(posterior.shape[1])[y]) ** 2).sum(axis=1), weights=weight))


def roc_curve(score, positive) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """False alarms, hits and thresholds of the rules "score ≥ t", from the strictest (nobody) to the laxest.

    Parameters
    ----------
    score : (N,)
    positive : (N,) of bool

    Returns
    -------
    false_positive_rate, true_positive_rate, threshold : (T + 1,)
        One point for each of the T distinct scores, so that tied rows move together; the first threshold is ∞.

    Raises
    ------
    ValueError
        If all rows are of one kind.

    Source: Fawcett (2006), An introduction to ROC analysis, Pattern Recognition Letters 27.
    """
    score, positive = np.asarray(score, dtype=np.float64), np.asarray(positive, dtype=bool)
    if positive.all() or not positive.any():
        raise ValueError("a ROC curve needs rows of both kinds, got only "
                         f"{'positive' if positive.any() else 'negative'} ones: add rows of the other")
    order = np.argsort(-score, kind="stable")
    last = np.append(np.flatnonzero(np.diff(score[order])), len(score) - 1)
    hits = np.concatenate([[0], np.cumsum(positive[order])[last]])
    alarms = np.concatenate([[0], last + 1]) - hits
    return alarms / alarms[-1], hits / hits[-1], np.concatenate([[np.inf], score[order][last]])


def auc(score, positive) -> float:
    """Area under the ROC curve, P(s₊ > s₋) + ½ P(s₊ = s₋): a positive row's chance to score above a negative one's.

    Adding a constant to the score changes nothing.

    Parameters
    ----------
    score : (N,)
    positive : (N,) of bool
        Of both kinds, as for `roc_curve`.

    Returns
    -------
    float

    Source: Hanley & McNeil (1982), Radiology 143.
    """
    false_alarms, hits, _ = roc_curve(score, positive)
    return float((np.diff(false_alarms) * (hits[1:] + hits[:-1]) / 2).sum())


@dataclass(frozen=True)
class Paired:
    """Two rules on the same rows."""

    difference: float      # error rate of the first minus that of the second
    standard_error: float  # of the difference
    only_first: int        # rows only the first gets wrong
    only_second: int       # rows only the second gets wrong
    p_value: float         # McNemar's exact test: two-sided, of equal error rates


def paired_comparison(first_wrong, second_wrong) -> Paired:
    """Compare the errors of two rules row by row, d_n = [first wrong] − [second wrong].

    Parameters
    ----------
    first_wrong, second_wrong : (N,) of bool

    Returns
    -------
    Paired
        Mean of d with its standard error s_d/√N, and McNemar's exact test on the rows where the rules differ.

    Raises
    ------
    ValueError
        If the two are not of one length, two at least.

    Source: McNemar (1947), Psychometrika 12; Dietterich (1998), Neural Computation 10.
    """
    from scipy.special import bdtr
    first, second = np.asarray(first_wrong, dtype=bool), np.asarray(second_wrong, dtype=bool)
    if first.shape != second.shape or first.ndim != 1 or len(first) < 2:
        raise ValueError("paired_comparison needs the same rows, two at least, for both rules, got shapes "
                         f"{first.shape} and {second.shape}")
    d = first.astype(float) - second
    only_first, only_second = int((first & ~second).sum()), int((second & ~first).sum())
    tail = bdtr(min(only_first, only_second), only_first + only_second, 0.5)
    error = d.std(ddof=1) / np.sqrt(len(d))
    return Paired(float(d.mean()), float(error), only_first, only_second, min(1.0, 2 * float(tail)))
