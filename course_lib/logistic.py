"""Classifiers that model the posterior directly: logistic, probit and softmax regression, and flipped labels.

Two classes: the log odds are θ(w₀ + wᵀx), fitted as a binomial model by `course_lib.glm`.  K classes: the posterior is
the softmax of K linear functions, which are identified by Σ_k w_k = 0.
"""
from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from scipy.linalg import helmert

from course_lib.decision import logsumexp, sigmoid
from course_lib.estimator import ProbabilisticClassifier
from course_lib.glm import FAMILIES, Link, link_of, posed, told
from course_lib.newton import Cases, Design, Local, Loss, check_ridge, inverse
from course_lib.passes import Pieces

__all__ = ["FlippedLogisticRegression", "LogisticRegression", "ProbitRegression", "SoftmaxRegression", "flipped"]


class _Binomial(ProbabilisticClassifier):
    """Two classes, the posterior of the second one a binomial mean."""

    def __init__(self, ridge=0.0):
        self.ridge = ridge

    def _classifier_tags(self) -> dict:
        return {"multi_class": False}

    def _fit(self, X, codes, weight) -> None:
        self._learn(*Cases.of(X, codes.astype(np.int8), weight))

    def _fit_sums(self, summed, first) -> None:
        self._learn(*Pieces.of(summed))

    def _learn(self, cases, total) -> None:
        check_ridge(self.ridge)
        if len(self.classes_) != 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass: got "
                             f"{len(self.classes_)} classes; use SoftmaxRegression")
        self._link, optimum, design = self._solve(cases, total)
        self._affine = design.affine(optimum.q)
        self.coef_, self.intercept_ = self._affine.slopes[None], np.array([self._affine.intercept])
        self.n_iter_, self.converged_, self.separated_ = len(optimum.path) - 1, optimum.converged, optimum.separated

    def predict(self, X) -> np.ndarray:
        """Labels (N,) by the side of the plane η = 0, where every link has the log odds 0."""
        X, names = self._table(X)
        return self.classes_[(self._evaluated(X, names, self._affine) > 0).view(np.int8)]

    def _scores(self, X) -> np.ndarray:
        scores = np.zeros((2, len(X)))
        scores[1] = self._link.natural(self._affine(X))[0]  # the log odds
        return scores.T

    def _binomial(self, cases, total, link: Link):
        return posed(cases, total, FAMILIES["binomial"], link, self.ridge)


class LogisticRegression(_Binomial):
    """Logistic regression for two classes: P(y=1|x) = σ(w₀ + wᵀx).

    Minimises −Σ ln P(yₙ|xₙ) + ridge/2·‖w‖² by Newton's method with step halving; the intercept is not penalised.

    Parameters
    ----------
    ridge : float ≥ 0
        scikit-learn's C is 1/ridge; its default is C = 1, here ridge = 0.

    Attributes
    ----------
    classes_ (2,), coef_ (1, D), intercept_ (1,), n_iter_, converged_, separated_ (no maximum exists)

    Raises
    ------
    ValueError
        From fit: for more than two classes, and for linearly dependent columns at ridge 0.

    Warns
    -----
    SeparationWarning
        If a hyperplane separates the classes and ridge is 0; the coefficients are finite.

    Source: Bishop, Pattern Recognition and Machine Learning, sections 4.3.2 and 4.3.3.
    """

    def _solve(self, cases, total):
        problem = self._binomial(cases, total, link_of("binomial", "logit"))
        return problem.link, told(problem.solve()), problem.design


class ProbitRegression(_Binomial):
    """Probit regression for two classes: P(y=1|x) = Φ(w₀ + wᵀx), Φ the standard normal distribution function.

    Parameters
    ----------
    ridge : float ≥ 0
        The penalty ridge/2·‖w‖² is added to the negative log likelihood.

    Attributes, errors and warnings are those of `LogisticRegression`.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.5.
    """

    def _solve(self, cases, total):
        problem = self._binomial(cases, total, link_of("binomial", "probit"))
        return problem.link, told(problem.solve()), problem.design


# Flipped labels ------------------------------------------------------------------------------------------------------

def flipped(epsilon: float) -> Link:
    """The link of a logistic model whose labels are flipped with probability ε: mean ε + (1 − 2ε)σ(η).

    With k = ln((1 − ε)/ε) the log odds are θ(η) = ln(1 + e^{η+k}) − ln(1 + e^{η−k}) − k, which saturate at ±k: one
    label weighs no more than k, however far out it lies.

    Parameters
    ----------
    epsilon : float in [0, 1/2)

    Returns
    -------
    Link
        From η (N,) to θ and its two derivatives, (N,) each.

    Raises
    ------
    ValueError
        For ε outside [0, 1/2), where the same model has another name.

    Source: Bishop, Pattern Recognition and Machine Learning, equation 4.117.
    """
    if not 0 <= epsilon < 0.5:
        raise ValueError(f"the flip probability must be in [0, 1/2), got {epsilon}: (ε, w) and (1 − ε, −w) are the "
                         "same model, so take the smaller ε")
    if epsilon == 0:
        return link_of("binomial", "logit")
    return Link(partial(_saturating, np.log1p(-epsilon) - np.log(epsilon)), concave=False)


def _saturating(k, eta):
    low, high = sigmoid(eta - k), sigmoid(eta + k)
    return (np.logaddexp(0, eta + k) - np.logaddexp(0, eta - k) - k, high - low,
            high * (1 - high) - low * (1 - low))


class FlippedLogisticRegression(_Binomial):
    """Logistic regression that allows for wrong labels: P(y=1|x) = ε + (1 − 2ε)σ(w₀ + wᵀx).

    `predict_proba` is the posterior of the label as it would be written down, flips included.

    Parameters
    ----------
    ridge : float ≥ 0
        As for `LogisticRegression`.
    flip : float in [0, 1/2), or None
        ε; None learns it by maximum likelihood: at the optimum the derivative of the profile likelihood,
        Σ (tₙ − μₙ)(1 − 2σₙ)/(μₙ(1 − μₙ)), is 0, or it is negative at ε = 0.

    Attributes
    ----------
    flip_ (the ε used), and those of `LogisticRegression`

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.5.
    """

    def __init__(self, ridge=0.0, flip=None):
        super().__init__(ridge)
        self.flip = flip

    def _fit_sums(self, summed, first) -> None:
        ProbabilisticClassifier._fit_sums(self, summed, first)  # which refuses: every ε would be a fit of its own

    def _solve(self, cases, total):
        first = self._binomial(cases, total, link_of("binomial", "logit"))
        profile = _Profile(first)
        self.flip_ = profile.best() if self.flip is None else self.flip
        problem, optimum = profile.at(self.flip_)
        return problem.link, told(optimum), problem.design


class _Profile:
    """The least loss over w at each ε; every search over w starts at the logistic fit, where ε = 0."""

    GRID = (0.0, 0.005, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.45)

    def __init__(self, problem):
        self.problem = problem
        self.q = problem.solve().q

    def at(self, epsilon: float, steps: int = 100):
        """The problem at ε and its optimum."""
        problem = replace(self.problem, link=flipped(epsilon))
        return problem, problem.solve(self.q, steps)

    def loss(self, epsilon: float) -> float:
        problem, optimum = self.at(epsilon, steps=25)
        return problem.local(optimum.q).value

    def slope(self, epsilon: float) -> float:
        """Derivative of the least loss with respect to ε; by the envelope theorem w may be held fixed."""
        problem, optimum = self.at(epsilon)
        t, sigma = problem.cases.t, sigmoid(problem.design.affine(optimum.q)(problem.cases.X))
        mean = epsilon + (1 - 2 * epsilon) * sigma
        with np.errstate(divide="ignore", invalid="ignore"):
            pull = np.where(t > 0, t / mean, 0.0) - np.where(t < 1, (1 - t) / (1 - mean), 0.0)
        return -float(problem.cases.weight @ (pull * (1 - 2 * sigma)))

    def best(self) -> float:
        """ε of least loss: the best of a grid, then the root of the slope between its neighbours."""
        from scipy.optimize import brentq, minimize_scalar
        i = int(np.argmin([self.loss(epsilon) for epsilon in self.GRID]))
        low, high = self.GRID[max(i - 1, 0)], self.GRID[min(i + 1, len(self.GRID) - 1)]
        if i == 0 and self.slope(0.0) >= 0:
            return 0.0
        if self.slope(low) < 0 < self.slope(high):
            return float(brentq(self.slope, low, high, xtol=1e-13))
        return float(minimize_scalar(self.loss, bounds=(low, high), method="bounded", options={"xatol": 1e-9}).x)


# K classes -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Softmax(Loss):
    """The loss −Σ wₙ ln P(yₙ|xₙ) + ridge/2·Σ_k ‖w_k‖² with P(k|x) = exp(w_kᵀz)/Σ_j exp(w_jᵀz).

    Only differences of the w_k matter, so they are sought where Σ_k w_k = 0: W = VC with the K−1 orthonormal rows of C
    orthogonal to (1, …, 1); q holds V (M, K−1) row by row.
    """

    C: np.ndarray  # (K−1, K)
    formed: bool   # whether the Hessian is formed and factorised, or only multiplied with vectors
    SMALL = 500    # rows of the largest Hessian that is formed; of a table in pieces any, since a product is a pass

    @classmethod
    def of(cls, cases: Cases, total: float, K: int, ridge: float) -> "Softmax":
        """The problem of cases, whose responses are classes below K and whose weights had the sum `total`."""
        design = Design.of(cases, ridge=ridge > 0)
        formed = design.width * K <= cls.SMALL or isinstance(cases, Pieces)
        return cls(design, cases, ridge / total * design.penalty(), helmert(K), formed)

    def W(self, q) -> np.ndarray:
        """Coefficients (M, K) on z."""
        return q.reshape(self.design.width, -1) @ self.C

    def posteriors(self, W):
        """Z, weights, posteriors Y (n, K), Y − T with T the 0/1 targets, and −ln P(y|x) (n,), block by block.

        All are computed from the odds of the other classes against the row's own, so that a posterior near 1 costs no
        digits.
        """
        for Z, codes, w, _ in self.blocks(2 * W.size, least=256):
            own = np.arange(len(codes)), codes
            A = Z @ W
            A -= A[own][:, None]
            A[own] = -np.inf
            loss = np.logaddexp(0, logsumexp(A))
            excess = np.exp(A - loss[:, None])
            Y = excess.copy()
            Y[own], excess[own] = np.exp(-loss), -excess.sum(axis=1)
            yield Z, w, Y, excess, loss

    def sums(self, q, curved: bool) -> tuple:
        """Loss, its derivatives (M, K) by W and, if asked for and not too large, Σ w y_k y_j zzᵀ (K·M, K·M)."""
        W = self.W(q)
        value, gradient, products = 0.0, np.zeros(W.shape), [np.zeros((W.size,) * 2)] * (curved and self.formed)
        for Z, w, Y, excess, loss in self.posteriors(W):
            value += np.sum(w * loss)
            gradient += ((w[:, None] * excess).T @ Z).T
            for H in products:
                H += square(Z.outer(np.sqrt(w)[:, None] * Y))
        return value, gradient, *products

    def at(self, q, sums: tuple) -> Local:
        """The loss with its penalty and its Newton step, by a factorised Hessian or by conjugate gradients."""
        value, gradient, *products = sums
        V = q.reshape(self.design.width, -1)
        value, gradient = value + np.sum(V * (self.P @ V)) / 2, gradient @ self.C.T + self.P @ V
        return Local(value, gradient.ravel(),
                     lambda: inverse(self.hessian(*products)) if self.formed else Conjugate(self, q))

    def hessian(self, products) -> np.ndarray:
        """Σ w [y_k(I_kj − y_j)] ⊗ zzᵀ in the coordinates of V, from the sums of y_k y_j zzᵀ.

        On the diagonal y_k(1 − y_k) = Σ_{j≠k} y_k y_j, which keeps its digits where y_k is near 1.
        """
        M, K = self.design.width, self.C.shape[1]
        H = -products.reshape(K, M, K, M)
        k = np.arange(K)
        H[k, :, k] = 0.0
        H[k, :, k] = -H.sum(axis=2)
        H = np.einsum("ak,kmjn,bj->manb", self.C, H, self.C, optimize=True)
        H += self.P[:, None, :, None] * np.eye(K - 1)[None, :, None, :]
        return H.reshape(M * (K - 1), -1)

    @cached_property
    def bound(self):
        """The inverse of Böhning's bound on the Hessian of each class, ½ Σ w zzᵀ + P."""
        return inverse(sum(Z.gram(w) for Z, _, w, _ in self.blocks()) / 2 + self.P)

    def times_hessian(self, q, S) -> np.ndarray:
        """The Hessian at q times S (M, K−1), without forming it."""
        out, slope = self.P @ S, S @ self.C
        for Z, w, Y, *_ in self.posteriors(self.W(q)):
            T = Y * (Z @ slope)
            T -= Y * T.sum(axis=1, keepdims=True)
            out += ((w[:, None] * T @ self.C.T).T @ Z).T
        return out

    def conjugate(self, q, g) -> np.ndarray:
        """H⁻¹g by conjugate gradients in the metric of Böhning's bound, as exact as the gradient is small.

        Source: Böhning (1992), Multinomial logistic regression algorithm; Nocedal and Wright, section 7.1.
        """
        residual = g.reshape(self.design.width, -1)
        scaled = self.bound @ residual
        step, direction, size = np.zeros_like(residual), scaled, np.sum(residual * scaled)
        enough = size * min(0.01, size)
        for _ in range(g.size):
            if size <= enough:
                break
            image = self.times_hessian(q, direction)
            rate = size / np.sum(direction * image)
            step, residual = step + rate * direction, residual - rate * image
            scaled = self.bound @ residual
            size, last = np.sum(residual * scaled), size
            direction = scaled + size / last * direction
        return step.ravel()

    def lead(self, Z, t, direction) -> np.ndarray:
        """How far the row's own class gains on each other one, (n, K)."""
        A = Z @ self.W(direction)
        return A[np.arange(len(A)), t][:, None] - A

    def start(self) -> np.ndarray:
        """Equal posteriors."""
        return np.zeros(self.design.width * len(self.C))

    @property
    def keep(self) -> float:
        """As for any loss, but what is never formed cannot be kept."""
        return super().keep if self.formed else 0.0


def square(G) -> np.ndarray:
    """GᵀG, (M, M), of G (n, M), which need not outlive it."""
    return G.T @ G


class Conjugate(NamedTuple):
    """The inverse Hessian of a softmax problem at q, never formed."""

    problem: Softmax
    q: np.ndarray  # (M·(K−1),)

    def __matmul__(self, g) -> np.ndarray:
        return self.problem.conjugate(self.q, g)


class SoftmaxRegression(ProbabilisticClassifier):
    """Logistic regression for K classes: P(k|x) = exp(a_k)/Σ_j exp(a_j) with a_k = w_k0 + w_kᵀx.

    Minimises −Σ ln P(yₙ|xₙ) + ridge/2·Σ_k ‖w_k‖² by Newton's method with step halving; the intercepts are not
    penalised.  A shift common to all w_k changes nothing, so they are given with Σ_k w_k = 0, the same solution
    whatever the order of the classes, and that of least norm.

    Parameters
    ----------
    ridge : float ≥ 0
        scikit-learn's C is 1/ridge for K ≥ 3.

    Attributes
    ----------
    classes_ (K,), coef_ (K, D), intercept_ (K,), n_iter_, converged_, separated_

    Raises
    ------
    ValueError
        From fit: for linearly dependent columns at ridge 0.

    Warns
    -----
    SeparationWarning
        If some classes can be separated without error and ridge is 0; the coefficients are finite.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.4.
    """

    def __init__(self, ridge=0.0):
        self.ridge = ridge

    def _fit(self, X, codes, weight) -> None:
        self._learn(*Cases.of(X, codes, weight))

    def _fit_sums(self, summed, first) -> None:
        self._learn(*Pieces.of(summed))

    def _learn(self, cases, total) -> None:
        check_ridge(self.ridge)
        problem = Softmax.of(cases, total, len(self.classes_), self.ridge)
        optimum = told(problem.minimum())
        self._affine = problem.design.affine(problem.W(optimum.q))
        self.coef_, self.intercept_ = self._affine.slopes.T, self._affine.intercept
        self.n_iter_, self.converged_, self.separated_ = len(optimum.path) - 1, optimum.converged, optimum.separated

    def _scores(self, X) -> np.ndarray:
        return self._affine(X)
