"""Generalised linear models by Newton's method, which here is iteratively reweighted least squares (IRLS).

A mean depends on a linear predictor, and the distribution is of the exponential family that naive Bayes uses too:

    η = w₀ + wᵀx + offset,   θ = θ(η),   ln p(t|x) = (tθ − c(θ))/φ + h,   E t = c′(θ),   Var t = φ c″(θ).

A link is kept as the map η → θ, because in θ no tail is ever clipped: the canonical link is θ = η.  What Newton's
method needs are sums over rows: the loss Σ c(θ) − tθ, the gradient Σ (c′(θ) − t)θ′ x and the weights of the Hessian
Σ [c″(θ)θ′² + (c′(θ) − t)θ″] xxᵀ, whose expectation leaves out the last term.

Source: McCullagh and Nelder, Generalized Linear Models, chapter 2.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import erfcx, exprel, xlogy

from course_lib.affine import Affine
from course_lib.checks import flat
from course_lib.estimator import Estimator
from course_lib.families import Bernoulli, ExponentialFamily, Normal, Poisson
from course_lib.newton import (Cases, Design, Local, Loss, Optimum, SeparationWarning, check_ridge, inverse,
                               newton)

__all__ = ["Fit", "GLM", "Link", "SeparationWarning", "deviance", "inverse_mills", "irls", "link_of"]


# Links ---------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Link:
    """How the linear predictor enters the distribution."""

    natural: Callable                               # η (N,) -> θ, θ′, θ″
    start: Callable | None = None                   # mean response -> first intercept; None starts at 0
    range: tuple[float, float] = (-np.inf, np.inf)  # of η
    concave: bool = True                            # the observed weights are never negative


def canonical(eta):
    """θ = η: logit for the binomial, log for Poisson, the identity for a normal.

    Source: McCullagh and Nelder, Generalized Linear Models, section 2.2.4.
    """
    return eta, 1.0, 0.0


def inverse_mills(z):
    """The ratio φ(z)/Φ(z) of the standard normal density to its distribution function, exact in both tails.

    φ(z)/Φ(z) = √(2/π) / erfcx(−z/√2), with erfcx(x) = exp(x²)erfc(x).

    Parameters
    ----------
    z : (N,)

    Returns
    -------
    (N,)

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.5 (probit regression).
    """
    return np.sqrt(2 / np.pi) / erfcx(-np.asarray(z, dtype=np.float64) / np.sqrt(2))


def probit(eta):
    """Mean Φ(η): θ = ln Φ(η) − ln Φ(−η), an odd function, so that only the smaller tail is computed.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.5.
    """
    a = np.abs(eta)
    half = a * a / 2
    tail, bell = erfcx(a / np.sqrt(2)) / 2, np.exp(-half)
    miss, unit = tail * bell, 1 / np.sqrt(2 * np.pi)  # Φ(−a), φ(0)
    far, near = unit / tail, unit * bell / (1 - miss)  # φ(a)/Φ(∓a)
    theta = np.log1p(-miss) - np.log(tail) + half
    return np.copysign(theta, eta), far + near, np.copysign(far * (far - a) - near * (near + a), eta)


def complementary_log_log(eta):
    """Mean 1 − exp(−e^η): θ = ln(exp(e^η) − 1).

    Source: McCullagh and Nelder, Generalized Linear Models, section 4.3.1.
    """
    rate = np.exp(np.minimum(eta, 300))  # beyond, the squares below would overflow
    hit = exprel(-rate)  # (1 − exp(−rate)) / rate, 1 at rate 0
    return np.minimum(eta, 300) + rate + np.log(hit), 1 / hit, (1 - np.exp(-rate) / hit) / hit


def log_of_share(eta):
    """Mean e^η of a binomial, η < 0: θ = η − ln(1 − e^η)."""
    miss = -np.expm1(eta)
    return eta - np.log(miss), 1 / miss, np.exp(eta) / miss**2


def share(eta):
    """Mean η of a binomial, 0 < η < 1: θ = ln η − ln(1 − η)."""
    spread = eta * (1 - eta)
    return np.log(eta) - np.log1p(-eta), 1 / spread, (2 * eta - 1) / spread**2


def count(eta):
    """Mean η > 0 of a Poisson count: θ = ln η."""
    return np.log(eta), 1 / eta, -1 / eta**2


def exponential(eta):
    """Mean e^η of a normal: θ = e^η."""
    return (np.exp(eta),) * 3


# Families ------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Response:
    """A family of `course_lib.families` as the distribution of a response."""

    law: ExponentialFamily | Normal
    local: Callable          # t, θ (N,) -> loss c(θ) − tθ + const(t) ≥ 0 without cancellation, c′(θ) − t, c″(θ)
    range: tuple[float, float]
    links: dict[str, Link]   # the canonical one first
    saturated: Callable = np.zeros_like  # t -> the least loss
    dispersed: bool = False  # φ is estimated, not 1


def _bernoulli(t, theta):
    """Cross-entropy −t ln μ − (1−t) ln(1−μ) and its derivatives from a single exponential."""
    e = np.exp(-np.abs(theta))
    large = 1 / (1 + e)  # of μ and 1 − μ
    small = e * large
    loss = np.where(theta > 0, 1 - t, -t) * theta + np.log1p(e)  # two terms that are never negative: nothing cancels
    return loss, np.where(theta > 0, large, small) - t, small * large


def _entropy(t):
    return -xlogy(t, t) - xlogy(1 - t, 1 - t)


def _poisson(t, theta):
    mean = np.exp(theta)
    return mean - t - t * theta + xlogy(t, t), mean - t, mean


def _normal(t, theta):
    return (theta - t) ** 2 / 2, theta - t, np.ones_like(theta)


FAMILIES = {
    "binomial": Response(Bernoulli(), _bernoulli, (0, 1), {
        "logit": Link(canonical), "probit": Link(probit), "cloglog": Link(complementary_log_log),
        "log": Link(log_of_share, np.log, (-np.inf, 0)), "identity": Link(share, float, (0, 1))},
        saturated=_entropy),
    "poisson": Response(Poisson(), _poisson, (0, np.inf), {
        "log": Link(canonical, np.log), "identity": Link(count, float, (0, np.inf))}),
    "gaussian": Response(Normal(), _normal, (-np.inf, np.inf), {
        "identity": Link(canonical, float), "log": Link(exponential, np.log, concave=False)}, dispersed=True),
}


def family_of(name: str) -> Response:
    """The family of that name, or ValueError listing those there are."""
    if name not in FAMILIES:
        raise ValueError(f"family must be one of {', '.join(FAMILIES)}, got {name!r}")
    return FAMILIES[name]


def link_of(family: str, name: str | None = None) -> Link:
    """The link of that name, by default the canonical one, for which θ = η.

    Parameters
    ----------
    family, name : str

    Returns
    -------
    Link

    Raises
    ------
    ValueError
        If the family or the link is unknown; the message lists those there are.
    """
    links = family_of(family).links
    if name is not None and name not in links:
        raise ValueError(f"the link of a {family} model must be one of {', '.join(links)}, got {name!r}")
    return links[name] if name else next(iter(links.values()))


def deviance(t, eta, family: str = "binomial", link: str | None = None, weight=1.0) -> float:
    """Twice the log likelihood that the saturated model gains over linear predictors η, times φ.

    D = 2 Σ w [sup_θ (tθ − c(θ)) − tθ(η) + c(θ(η))]; for 0/1 responses it is −2 times the log likelihood.

    Parameters
    ----------
    t : (N,)
        Responses: shares of successes, counts or reals.
    eta : (N,)
        Linear predictors.
    family, link : str
        As for `irls`.
    weight : (N,) or float
        Prior weights; the number of trials for shares.

    Returns
    -------
    float

    Source: McCullagh and Nelder, Generalized Linear Models, section 2.3.
    """
    theta, t = link_of(family, link).natural(np.asarray(eta, dtype=np.float64))[0], np.asarray(t, dtype=np.float64)
    return 2 * float(np.sum(weight * _half_deviance(family_of(family), t, theta)))


def _half_deviance(family: Response, t, theta) -> np.ndarray:
    return family.local(t, theta)[0] - family.saturated(t)


# Fitting -------------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Problem(Loss):
    """The loss Σ wᵢ[c(θᵢ) − tᵢθᵢ + const] + qᵀPq/2 over a design; the weights sum to 1."""

    family: Response
    link: Link

    def sums(self, q, curved: bool, both: bool = False) -> tuple:
        """Loss, gradient (M,) and, if `curved`, the observed Hessian (M, M); the expected one where that may fail."""
        both = curved and (both or not self.link.concave)
        value, gradient, hessians = 0.0, np.zeros(len(q)), [np.zeros((len(q),) * 2) for _ in range(curved + both)]
        for Z, t, w, offset in self.blocks():
            theta, first, second = self.link.natural(Z @ q + offset)
            loss, excess, variance = self.family.local(t, theta)
            value += np.sum(w * loss)
            pull = w * excess
            gradient += (pull * first) @ Z
            if curved:
                fisher = w * variance * first**2
                for H, curve in zip(hessians, (fisher + pull * second, fisher)):
                    H += Z.gram(curve)
        return value, gradient, *hessians

    def at(self, q, sums: tuple) -> Local:
        """The loss with its penalty; the expected Hessian stands by where the observed one may fail."""
        value, gradient, *hessians = sums
        return Local(value + q @ self.P @ q / 2, gradient + self.P @ q,
                     lambda: inverse(*(H + self.P for H in hessians)))

    def lead(self, Z, t, direction) -> np.ndarray:
        """Movement (n,) towards the end of the range that t is at; none is good for a t between the ends."""
        push, (low, high) = Z @ direction, self.family.range
        return np.where(t == low, -push, np.where(t == high, push, -np.abs(push)))

    def recedes(self, direction) -> bool:
        """As for any loss, but no direction is without end if the link is bounded."""
        return not np.isfinite(self.link.range).any() and super().recedes(direction)

    def start(self) -> np.ndarray:
        """Zero, or the intercept (M,) that fits the mean response where zero would be far off or not admissible."""
        q = super().start()
        if self.link.start and self.design.intercept and (mean := self.cases.weight @ self.cases.t) > 0:
            q[0] = self.link.start(mean)
        return q

    def solve(self, q=None, steps: int = 100) -> Optimum:
        """The optimum by Newton's method from q (M,), or the same optimum with fewer Hessians from a rough start."""
        optimum = self.minimum() if q is None else newton(self.local, q, self.recedes, steps)
        return replace(optimum, converged=optimum.converged and not self.at_edge(optimum.q))

    def at_edge(self, q) -> bool:
        """True if a predictor has come to the end of a bounded link's range, where the gradient need not vanish."""
        low, high = self.link.range
        if np.isinf([low, high]).all():
            return False
        etas = ((Z @ q + offset)[w > 0] for Z, _, w, offset in self.blocks())
        return any(min((eta - low).min(initial=np.inf), (high - eta).min(initial=np.inf)) < 1e-6 for eta in etas)


@dataclass(frozen=True)
class Fit:
    """A fitted generalised linear model; coefficients begin with the intercept if there is one."""

    coef: np.ndarray                 # (M,)
    covariance: np.ndarray           # (M, M) φ times the inverse of the expected information
    covariance_observed: np.ndarray  # (M, M) the same of the observed information, which probit programs often use
    deviance: float                  # as `deviance` gives it
    dispersion: float                # φ: 1, or for a normal the residual variance, divisor Σw − M
    path: tuple[np.ndarray, ...]     # coefficients (M,) after 0, 1, 2, … Newton steps
    converged: bool                  # to what rounding allows
    separated: bool                  # the likelihood has no maximum
    predictor: Affine                # X (N, D) -> η (N,), without the offset, from centred columns

    def standard_errors(self, observed: bool = False) -> np.ndarray:
        """Square roots (M,) of the diagonal of the covariance, by the expected or the observed information."""
        return np.sqrt(np.diag(self.covariance_observed if observed else self.covariance))


def irls(X, t, family: str = "binomial", link: str | None = None, *, weight=None, trials=None, offset=None,
         ridge: float = 0.0, intercept: bool = True, steps: int = 100) -> Fit:
    """Fit a generalised linear model by iteratively reweighted least squares with step halving.

    Each step solves (Σ wᵢ xᵢxᵢᵀ + ridge·I₀) Δ = Σ wᵢ′(tᵢ − μᵢ)xᵢ − ridge·I₀β; I₀ has a zero for the intercept, which
    is never penalised.  The weights are those of the observed information, or of the expected one where the former is
    not positive definite; for a canonical link the two are the same.

    Parameters
    ----------
    X : (N, D)
        Features, without the column of ones.
    t : (N,)
        Responses; with `trials`, the number of successes out of that many.
    family : {"binomial", "poisson", "gaussian"}
    link : str, optional
        See `GLM`; by default the canonical one.
    weight, trials, offset : (N,), optional
        Prior weights ≥ 0 (a weight of 2 is a row given twice), group sizes, and a known part of the predictor.
    ridge : float
        The penalty ridge/2·‖slopes‖² is added to the negative log likelihood.
    intercept : bool
        Whether there is one; it comes first among the coefficients.
    steps : int
        Newton steps at most; `Fit.path` holds the coefficients after each.

    Returns
    -------
    Fit
        With coefficients (M,) and their covariances (M, M).

    Raises
    ------
    ValueError
        For a response outside the family's range, an unknown family or link, and dependent columns at ridge 0.

    Warns
    -----
    SeparationWarning
        If the likelihood has no maximum; the coefficients are finite, `separated` is True.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.3.3; McCullagh and Nelder, Generalized Linear
    Models, section 2.5.
    """
    problem, total = pose(np.asarray(X, dtype=np.float64), t, family_of(family), link_of(family, link), weight=weight,
                          trials=trials, offset=offset, ridge=ridge, intercept=intercept)
    return summary(problem, total, told(problem.solve(problem.start(), steps)))


def summary(problem: Problem, total: float, optimum: Optimum) -> Fit:
    """What is told of an optimum; `total` is the sum of the weights as they were given."""
    q, M = optimum.q, problem.design.width
    with np.errstate(all="ignore"):  # at the edge of a bounded link
        value, _, *hessians = problem.sums(q, curved=True, both=problem.link.natural is not canonical)
    least = sum(w @ problem.family.saturated(t) for _, t, w, _ in problem.blocks())
    loss = 2 * total * (value - least)
    phi = loss / (total - M) if problem.family.dispersed and total > M else 1.0
    A = problem.design.coef(np.eye(M))
    covariances = [phi / total * A @ _inverse(H + problem.P) @ A.T for H in (hessians[-1], hessians[0])]
    path = tuple(problem.design.coef(q) for q in optimum.path)
    return Fit(path[-1], *covariances, float(loss), float(phi), path, optimum.converged, optimum.separated,
               problem.design.affine(q))


def pose(X, t, family: Response, link: Link, *, weight=None, trials=None, offset=None, ridge=0.0,
         intercept=True) -> tuple[Problem, float]:
    """The problem with weights of sum 1, and their true sum."""
    t, weight, trials, offset = (v if v is None else np.asarray(v, dtype=np.float64)
                                 for v in (t, weight, trials, offset))
    if trials is not None:
        t, weight = t / np.where(trials > 0, trials, 1), trials if weight is None else weight * trials
    check_ridge(ridge)
    low, high = family.range
    if not (low <= t.min(initial=low) and t.max(initial=high) <= high and np.isfinite(t).all()):
        raise ValueError(f"responses must be finite and lie between {low} and {high} in this family, got values from "
                         f"{t.min()} to {t.max()}: pass counts of successes with trials=, or choose another family")
    if weight is not None and not weight.sum() > 0:
        raise ValueError("the weights must not all be zero, or there is nothing to fit: pass sample weights of which "
                         "some are positive")
    cases, total = Cases.of(X, t, weight, offset)
    return posed(cases, total, family, link, ridge, intercept), total


def posed(cases: Cases, total: float, family: Response, link: Link, ridge=0.0, intercept=True) -> Problem:
    """The problem of cases whose weights had the sum `total`."""
    design = Design.of(cases, intercept, ridge > 0)
    return Problem(design, cases, ridge / total * design.penalty(), family, link)


def told(optimum: Optimum) -> Optimum:
    """Warn if an optimum was not reached."""
    if optimum.separated:
        warnings.warn("the classes are separable along some direction, so the likelihood has no maximum and the "
                      "coefficients grow without bound; those returned are where it stopped growing noticeably: "
                      "use ridge > 0 for finite estimates", SeparationWarning, stacklevel=3)
    elif not optimum.converged:
        warnings.warn(f"no convergence after {len(optimum.path) - 1} Newton steps: allow more steps, use ridge > 0, "
                      "or, if the link is bounded, another link, for the maximum may lie at its edge", stacklevel=3)
    return optimum


def _inverse(H) -> np.ndarray:
    try:
        return cho_solve(cho_factor(H), np.eye(len(H)))
    except (np.linalg.LinAlgError, ValueError):  # some directions carry no information at all, or H is not finite
        return np.full_like(H, np.inf)


# Estimator -----------------------------------------------------------------------------------------------------------

class GLM(Estimator):
    """A generalised linear model with scikit-learn's interface; `predict` gives the mean response.

    E t = c′(θ(w₀ + wᵀx + offset)), fitted by `irls`.

    Parameters
    ----------
    family : {"gaussian", "binomial", "poisson"}
        Responses are reals, shares of successes (or successes, with `trials`), or counts.
    link : str, optional
        By default the canonical one; else for a binomial "logit", "probit", "cloglog", "log", "identity", for Poisson
        "log", "identity", for a normal "identity", "log".
    ridge : float
        The penalty ridge/2·‖w‖² on the slopes.

    Attributes
    ----------
    coef_ (D,), intercept_, fit_ (a `Fit`: deviance, standard errors, path), n_iter_, n_features_in_

    Source: McCullagh and Nelder, Generalized Linear Models, chapter 2.
    """

    _estimator_type = "regressor"

    def __init__(self, family="gaussian", link=None, ridge=0.0):
        self.family = family
        self.link = link
        self.ridge = ridge

    def fit(self, X, y, sample_weight=None, trials=None, offset=None):
        """Learn from X (N, D) and y (N,); weights, group sizes and offsets are (N,) too; returns the estimator."""
        self._fitted = False
        X = self._features(X, reset=True)
        N = len(X)
        y, weight = _column("y", y, N), _column("sample_weight", sample_weight, N, least=0)
        trials, offset = _column("trials", trials, N, least=0), _column("offset", offset, N)
        if y is None:
            raise ValueError("a regression requires y to be passed, but the target y is None")
        posed = pose(X, y, family_of(self.family), link_of(self.family, self.link), weight=weight, trials=trials,
                     offset=offset, ridge=self.ridge)
        self.fit_ = summary(*posed, told(posed[0].solve()))
        self.intercept_, self.coef_ = float(self.fit_.coef[0]), self.fit_.coef[1:]
        self.n_iter_ = len(self.fit_.path) - 1
        self._fitted = True
        return self

    def _theta(self, X, offset):
        eta, link = self._evaluated(*self._table(X), self.fit_.predictor), link_of(self.family, self.link)
        if (offset := _column("offset", offset, len(eta))) is not None:
            eta = eta + offset
        with np.errstate(divide="ignore", invalid="ignore"):
            return link.natural(np.clip(eta, *link.range))[0]

    def predict(self, X, offset=None) -> np.ndarray:
        """Mean responses (N,): shares for a binomial, expected counts for Poisson.

        A predictor outside the range of a bounded link counts as the end of that range.
        """
        return family_of(self.family).law.dc(self._theta(X, offset))

    def score(self, X, y, sample_weight=None, offset=None) -> float:
        """Share of the deviance that the features explain; for a normal this is R²."""
        theta, y = self._theta(X, offset), _column("y", y, len(X))
        weight = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        family = family_of(self.family)
        alone = family.law.dc_inverse(np.full(len(y), np.average(y, weights=weight)))
        left, null = (weight @ _half_deviance(family, y, a) for a in (theta, alone))
        return float(1 - left / null)

    def __sklearn_tags__(self):
        from sklearn.utils import RegressorTags
        tags = super().__sklearn_tags__()
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        return tags


def _column(name: str, values, n: int, least: float = -np.inf) -> np.ndarray | None:
    """`values` as float64 (n,), or None."""
    if values is None:
        return None
    values = np.asarray(values)
    if values.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} must be real, got {values.dtype}")
    values = flat(values).astype(np.float64)
    if values.shape != (n,):
        raise ValueError(f"{name} must have one value a row of X, {n}, got shape {values.shape}")
    if not np.isfinite(values).all():
        raise ValueError(f"{name} must be finite, but contains NaN or infinity: drop these rows")
    if (values < least).any():
        raise ValueError(f"{name} must be >= {least}, got {values.min()}")
    return values
