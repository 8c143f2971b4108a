"""The EM algorithm for one mixture of any densities, on rows in memory.

EM is the plug-in classifier iterated on its own posteriors: fit the components to X with weights R, let Bayes' rule
say anew how much of each row belongs to each component, and again.

>>> em(Gaussian("diagonal"), X, R)                                  # from responsibilities R (N, J)
>>> em(Gaussian("full"), X, Mixed(weight, normal(mean, Sigma)))     # from parameters

Source: Bishop, Pattern Recognition and Machine Learning, sections 9.2 and 9.3.
"""
from __future__ import annotations

import warnings
from dataclasses import dataclass, replace

import numpy as np

from course_lib.decision import logsumexp
from course_lib.densities import Density, Fitted
from course_lib.passes import Expected, Held, Step, climb
from course_lib.reduce import over_rows
from course_lib.safeguards import at_floor
from course_lib.starts import reseeded
from course_lib.statistics import Labels, slices

__all__ = ["Mixed", "em", "warned"]

EMPTY = 1e-8  # a component with a smaller share of the rows' weight counts as empty


@dataclass(frozen=True)
class Mixed:
    """One mixture, p(x) = Σ_j w_j p_j(x).

    Parameters
    ----------
    weight : (J,)
        w, sums to 1.
    components : fitted density
        Of J components.
    history : (T,)
        Log likelihood after each M-step; the last is that of these parameters.
    converged : bool
    reseeded : tuple of ints
        Steps of the history before which an empty component was started anew.
    mass : float
        Weight of all rows.

    Source: Bishop, Pattern Recognition and Machine Learning, section 9.2.
    """

    weight: np.ndarray
    components: Fitted
    history: np.ndarray = ()
    converged: bool = False
    reseeded: tuple[int, ...] = ()
    mass: float = 0.0

    @property
    def n_parameters(self) -> int:
        """Free parameters, the J − 1 weights among them."""
        return self.components.n_parameters + len(self.weight) - 1

    @property
    def log_likelihood(self) -> float:
        """Σ_n ln p(x_n) of the rows that were fitted (of those kept, if some were trimmed)."""
        return float(self.history[-1])

    @property
    def bic(self) -> float:
        """−2 ln L + p ln N: smaller is better (mclust prints the negative)."""
        return -2 * self.log_likelihood + self.n_parameters * np.log(self.mass)

    @property
    def aic(self) -> float:
        """−2 ln L + 2p: smaller is better."""
        return -2 * self.log_likelihood + 2 * self.n_parameters

    def log_joint(self, X) -> np.ndarray:
        """ln w_j p_j(x), (N, J)."""
        with np.errstate(divide="ignore"):
            return self.components.log_density(X) + np.log(self.weight)

    def log_density(self, X) -> np.ndarray:
        """ln p(x), (N,)."""
        return logsumexp(self.log_joint(X), axis=1)

    def responsibilities(self, X) -> np.ndarray:
        """P(j|x) = w_j p_j(x)/p(x), (N, J): the E-step, which is Bayes' rule."""
        return self.expected(X, np.ones(len(X)))[0]

    def expected(self, X, w) -> tuple[np.ndarray, np.ndarray]:
        """Responsibilities times the rows' weights w (N,), and ln p(x), (N,)."""
        R, log_p = np.empty((len(self.weight), len(X))), np.empty(len(X))  # so the M-step reads each component in a row
        for rows in slices(*X.shape):
            log_p[rows] = _bayes(self.log_joint(X[rows]).T, w[rows], R[:, rows])
        if not np.isfinite(log_p).all():
            raise ValueError(f"row {np.flatnonzero(~np.isfinite(log_p))[0]} has density 0 under every component: "
                             "smooth the components, or check the row")
        return R.T, log_p

    def sample(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """n new rows (n, D)."""
        return self.components.sample(rng.choice(len(self.weight), size=n, p=self.weight), rng)


def _bayes(log_joint, w, R) -> np.ndarray:
    """Posterior times w into R (J, N); returns the log evidence (N,)."""
    top = log_joint.max(axis=0)
    with np.errstate(invalid="ignore"):
        np.exp(np.subtract(log_joint, top, out=R), out=R)
    total = R.sum(axis=0)
    R *= w / total
    return np.log(total) + top


def em(density: Density, X: np.ndarray, R, weight=None, tol: float = 1e-6, max_iter: int = 500,
       trim: float = 0.0) -> Mixed:
    """Maximum likelihood of a mixture by expectation and maximisation, from given responsibilities.

    M-step: w_j = Σ_n r_nj/N and p_j = density.fit(X, R); E-step: r_nj = w_j p_j(x_n)/p(x_n).  The log likelihood never
    falls, except where an empty component is started anew: it is placed on the rows about the one explained worst,
    with a warning, up to J times.

    Where the M-step needs sums only, both steps are taken on a few rows at a time, and no more responsibilities held.

    Parameters
    ----------
    density : density
        Of the J components, fitted together.
    X : (N, D)
    R : (N, J) array or `Labels`, or Mixed
        Responsibilities, or the mixture that gives them.
    weight : (N,), optional
        Of the rows.
    tol : float
        Stop when a step gains less than this in log likelihood, per unit of row weight.
    max_iter : int
    trim : float in [0, 1)
        Share of the weight, from the rows least likely under the mixture, that each M-step leaves out.

    Returns
    -------
    Mixed

    Source: Dempster, Laird & Rubin (1977), JRSS B 39:1; trimming: Neykov et al. (2007), CSDA 52:299.
    """
    w = np.broadcast_to(1.0, len(X)) if weight is None else np.asarray(weight, dtype=np.float64)
    if isinstance(R, Labels):
        w = w if R.weight is None else w * R.weight
        R = replace(R, weight=w)
    elif not isinstance(R, Mixed):
        R = np.asarray(R, dtype=np.float64) if weight is None else R * w[:, None]
        w = R.sum(axis=1)
    rows = _Rows(density, X, w, trim)
    (result,), _ = climb(rows.additive, rows.summed, (rows.begin(R),), tol / (1 - trim), max_iter, rows.after)
    return warned(density, replace(result, mass=w.sum()))


@dataclass(frozen=True)
class _Rows:
    """What EM of one mixture asks of rows that are in memory."""

    density: Density
    X: np.ndarray  # (N, D)
    w: np.ndarray  # (N,)
    trim: float

    @property
    def additive(self):
        return self.density if getattr(self.density, "additive", False) else Held(self.density)

    def summed(self, step: Step):
        """The sums of a step, over the rows that are kept."""
        (mixed,), R = step.mixtures, self._kept(step.mixtures[0])[:, None]
        try:
            return over_rows(self.X, R)(step) if self.additive is self.density else step.statistics(self.X, R)
        except ValueError:
            mixed.expected(self.X, self.w)  # a row without density is told by its number among all
            raise

    def begin(self, R) -> Mixed:
        """The first M-step."""
        if isinstance(R, Mixed):
            step = Step(self.additive, (replace(R, history=np.zeros(0), converged=False, reseeded=()),))
            whole = replace(self, trim=0.0)
            return whole.after(0, step, whole.summed(step))
        empty = _empty(self.density, R.sum(axis=0))
        if not empty.size:
            return self._maximised(R)
        R = R.toarray() if isinstance(R, Labels) else R
        return replace(self._anew(R, None, empty[0]), reseeded=(0,))

    def after(self, k, step: Step, s: Expected) -> Mixed:
        """The mixture after the M-step, or with an empty component started anew, unless that was done too often."""
        mixed, empty = step.mixtures[k], _empty(self.density, s.parts[k].mass)
        if not empty.size:
            return step.solved(k, s, self.summed)
        if len(mixed.reseeded) == len(mixed.weight):
            return mixed
        new = self._anew(*mixed.expected(self.X, self._kept(mixed)), empty[0])
        return replace(mixed, weight=new.weight, components=new.components,
                       reseeded=(*mixed.reseeded, len(mixed.history)))

    def _maximised(self, R) -> Mixed:
        mass = R.sum(axis=0)
        return Mixed(mass / mass.sum(), self.density.fit(self.X, R), np.zeros(0))

    def _anew(self, R, log_p, j) -> Mixed:
        return self._maximised(reseeded(self.X, R, log_p, j))

    def _kept(self, mixed) -> np.ndarray:
        """Weights (N,) of the rows, less the share `trim` of all weight, which the least likely rows lose."""
        if not self.trim:
            return self.w
        order = np.argsort(mixed.log_density(self.X), kind="stable")
        kept = np.empty_like(self.w)
        w = self.w[order]
        kept[order] = np.clip(np.cumsum(w) - self.trim * w.sum(), 0, w)
        return kept


def _empty(density, mass) -> np.ndarray:
    ordinary = len(mass) - getattr(density, "background", 0)
    return np.flatnonzero(mass[:ordinary] <= EMPTY * mass.sum())


def warned(density: Density, result: Mixed) -> Mixed:
    """The result itself, after a warning if a component was started anew or stands at the floor, σ² = floor.

    Parameters
    ----------
    density : density
        Of the components.
    result : Mixed

    Returns
    -------
    Mixed

    Source: McLachlan & Peel, Finite Mixture Models, section 3.8 (components that collapse).
    """
    if result.reseeded:
        warnings.warn(f"{len(result.reseeded)} empty component(s) were started anew where the mixture fitted worst: "
                      "try fewer components or more starts", stacklevel=3)
    at = at_floor(density, result.components)
    if at.size:
        warnings.warn(f"the variance floor holds component(s) {at.tolist()}: the likelihood would grow without bound "
                      "as they collapse; use fewer components, tie them, or raise the floor", stacklevel=3)
    return result
