"""Hyperplanes without probabilities: their geometry, least squares, Fisher's projection, the perceptron.

A plane is y(x) = wᵀx + w₀ = 0; the sign of y says on which side x lies, y/‖w‖ how far from it.
"""
from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from course_lib.affine import Affine
from course_lib.decision import log_sigmoid, posterior
from course_lib.estimator import Classifier, Labelled
from course_lib.gaussian import Gaussian
from course_lib.newton import Scale, check_ridge
from course_lib.reduce import Additive, over_rows
from course_lib.statistics import Labels, Triangles, slices

__all__ = ["AMBIGUOUS", "FisherProjection", "Hyperplane", "LeastSquaresClassifier", "NotSeparableWarning", "Perceptron",
           "fisher_coding", "indicator", "least_squares", "margin", "mistake_bound", "one_claim", "one_versus_one",
           "one_versus_rest", "perceptron", "perceptron_criterion", "rest_claim", "rest_posterior", "separating_plane",
           "signs"]

AMBIGUOUS = -1  # in place of a class, where several or none claim a point


@dataclass(frozen=True)
class Hyperplane:
    """The plane wᵀx + w₀ = 0 and its two sides.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.1.
    """

    w: np.ndarray  # (D,) normal vector, towards the positive side
    w0: float      # the value at the origin

    def value(self, X) -> np.ndarray:
        """y(x) = wᵀx + w₀ of each row, (N,)."""
        return np.asarray(X) @ self.w + self.w0

    def signed_distance(self, X) -> np.ndarray:
        """y(x)/‖w‖ of each row, (N,): the distance to the plane, positive on the side to which w points."""
        return self.value(X) / np.linalg.norm(self.w)

    @property
    def origin_distance(self) -> float:
        """−w₀/‖w‖: how far along w the plane lies from the origin."""
        return float(-self.w0 / np.linalg.norm(self.w))

    def projection(self, X) -> np.ndarray:
        """The nearest points on the plane, (N, D): x − y(x) w/‖w‖²."""
        return np.asarray(X) - np.outer(self.value(X), self.w) / (self.w @ self.w)


# Several planes ------------------------------------------------------------------------------------------------------

def one_versus_rest(fit: Callable, X, codes, K: int) -> list[Hyperplane]:
    """One plane for each class against all others: ``fit(X, is_k)``, is_k (N,) of bool, for k = 0..K−1.

    Parameters
    ----------
    fit : callable
        From X (n, D) and is_k (n,), of bool, to the plane with positive values where it is true.
    X : (N, D)
    codes : (N,)
        Classes 0..K−1.
    K : int

    Returns
    -------
    list of K planes

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.2.
    """
    return [fit(X, codes == k) for k in range(K)]


def one_versus_one(fit: Callable, X, codes, K: int) -> list[Hyperplane]:
    """One plane for each pair j < k, fitted to the rows of these two classes, positive on the side of k.

    Parameters
    ----------
    fit : callable
        From X (n, D) and is_k (n,), of bool, to the plane with positive values where it is true.
    X : (N, D)
    codes : (N,)
        Classes 0..K−1.
    K : int

    Returns
    -------
    list of K(K−1)/2 planes, in the order of `itertools.combinations`

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.2.
    """
    pairs = [(np.isin(codes, (j, k)), k) for j, k in combinations(range(K), 2)]
    return [fit(X[rows], codes[rows] == k) for rows, k in pairs]


def rest_claim(values) -> np.ndarray:
    """The class (N,) whose plane alone is positive in values (N, K), else `AMBIGUOUS`: claimed by several or by none.

    Parameters
    ----------
    values : (N, K)
        Of the planes of `one_versus_rest`.

    Returns
    -------
    (N,)

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.2.
    """
    claims = np.asarray(values) > 0
    return np.where(claims.sum(axis=1) == 1, claims.argmax(axis=1), AMBIGUOUS)


def one_claim(values, K: int) -> np.ndarray:
    """The class (N,) with most votes of the pairs j < k in values (N, K(K−1)/2), else, with a tie, `AMBIGUOUS`.

    Parameters
    ----------
    values : (N, K(K−1)/2)
        Of the planes of `one_versus_one`.
    K : int

    Returns
    -------
    (N,)

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.2.
    """
    pairs = np.array(list(combinations(range(K), 2)))
    winner = np.where(np.asarray(values) > 0, pairs[:, 1], pairs[:, 0])
    votes = (winner[:, :, None] == np.arange(K)).sum(axis=1)
    return np.where((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) == 1, votes.argmax(axis=1), AMBIGUOUS)


def rest_posterior(values) -> np.ndarray:
    """Normalised one-versus-rest posteriors σ(s_k)/Σ_j σ(s_j), (N, K), from log odds (N, K) however negative.

    Parameters
    ----------
    values : (N, K)
        Log odds s.

    Returns
    -------
    (N, K), rows that sum to 1

    Source: Zadrozny and Elkan (2002), Transforming classifier scores into accurate multiclass probability estimates.
    """
    return posterior(log_sigmoid(values))


# Least squares -------------------------------------------------------------------------------------------------------

def indicator(counts) -> np.ndarray:
    """Targets 0/1, one column a class, (K, K).

    Parameters
    ----------
    counts : (K,)
        Rows, or their weight, of each class.

    Returns
    -------
    (K, K)

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.3.
    """
    return np.eye(len(counts))


def signs(counts) -> np.ndarray:
    """Targets −1 and +1 of two classes, (2, 1); of K classes +1 in the column of the class and −1 elsewhere, (K, K).

    Parameters
    ----------
    counts : (K,)
        Rows, or their weight, of each class.

    Returns
    -------
    (2, 1) or (K, K)

    Source: Duda, Hart and Stork, Pattern Classification, section 5.8.
    """
    return np.array([[-1.0], [1.0]]) if len(counts) == 2 else 2 * np.eye(len(counts)) - 1


def fisher_coding(counts) -> np.ndarray:
    """Targets −N/N₁ and N/N₂ of two classes, (2, 1): w is Fisher's direction and w₀ = −wᵀm with m the overall mean.

    Parameters
    ----------
    counts : (2,)
        Rows, or their weight, of each class.

    Returns
    -------
    (2, 1)

    Raises
    ------
    ValueError
        For more classes than two.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.5 (there with the signs exchanged).
    """
    if len(counts) != 2:
        raise ValueError(f"the coding N/N₁, N/N₂ is of two classes, got {len(counts)}: use the coding `indicator`")
    return np.sum(counts) * np.array([[-1 / counts[0]], [1 / counts[1]]])


def least_squares(X, codes, code, weight=None) -> Affine:
    """Linear functions fitted to the targets code[codes] by least squares: min Σ w ‖t − w₀ − Wᵀx‖².

    With classes of mass n_k and mean m_k the normal equations are S_T W = Σ_k n_k (m_k − m)(c_k − c)ᵀ, S_T the total
    scatter.  Where S_T is ill-conditioned, a QR decomposition takes their place; dependent columns share the weight
    (least norm, each column in units of its standard deviation), and constant ones get none.

    Parameters
    ----------
    X : (N, D)
    codes : (N,)
        Classes 0..K−1.
    code : (K, M)
        The target of each class.
    weight : (N,), optional

    Returns
    -------
    Affine
        From X (n, D) to values (n, M).

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.3.
    """
    return _least_squares(over_rows(X, Labels(codes, len(code), weight)), lambda mass: code)[0]


@dataclass(frozen=True)
class _WithTargets(Additive):
    """The triangle of features and targets together, about their means."""

    code: np.ndarray  # (K, M)

    def statistics(self, X, R: Labels):
        return Triangles.of(np.hstack([X, self.code[R.codes]]), Labels(0 * R.codes, 1, R.weight))


def _least_squares(summed, coding) -> tuple[Affine, np.ndarray]:
    """The linear functions, and the targets (K, M) to which they were fitted."""
    s = summed(Gaussian(pool="tied"))
    code, N = np.asarray(coding(s.mass), dtype=np.float64), s.mass.sum()
    (centre, rest, means), target = s.apart(), s.mass @ code / N
    lead = means.T * s.mass
    scatter = s.scatter[0] + lead @ means
    scale = Scale.of(scatter, N, centre)
    if scale.constant.any() or scale.least_eigenvalue(scatter) < 1e-4:
        slopes = _by_qr(summed(_WithTargets(code)).factor[0], scale)
    else:
        slopes = cho_solve(cho_factor(scatter), lead @ (code - target))
    return Affine(centre, target - rest @ slopes, slopes), code


def _by_qr(F, scale: Scale) -> np.ndarray:
    """Slopes (D, M) of least norm in units of `scale`, from the triangular factor of features and targets together."""
    D = len(scale.spread)
    unit = np.where(scale.constant, np.inf, scale.root)
    return np.linalg.lstsq(F[:D, :D] / unit, F[:D, D:], rcond=10 * scale.noise.sum())[0] / unit[:, None]


class LeastSquaresClassifier(Classifier):
    """Linear functions fitted to class targets by least squares; the class whose target they resemble most wins.

    ŷ(x) = w₀ + Wᵀx is fitted to the target c_k of each row's class; decided is the k with the largest ŷᵀc_k.  For
    0/1 targets that is the largest component, for ±1 and N/N₁, −N/N₂ the sign.

    Parameters
    ----------
    coding : callable
        From class masses (K,) to targets (K, M): `indicator`, `signs`, `fisher_coding` or your own.

    Attributes
    ----------
    classes_ (K,), code_ (K, M), coef_ (M, D), intercept_ (M,)

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.3.
    """

    def __init__(self, coding=indicator):
        self.coding = coding

    def _fit_sums(self, summed, first) -> None:
        fitted, self.code_ = _least_squares(summed, self.coding)
        self.coef_, self.intercept_ = fitted.slopes.T, fitted.intercept
        self._affine = Affine(fitted.centre, fitted.level @ self.code_.T, fitted.slopes @ self.code_.T)

    def _linear(self) -> Affine:
        return self._affine


# Fisher --------------------------------------------------------------------------------------------------------------

class FisherProjection(Labelled):
    """The directions in which class means lie farthest apart, measured by the scatter within the classes.

    J(w) = wᵀS_B w / wᵀS_W w is stationary where S_B w = λ S_W w.  With the Cholesky factor S_W/(N−K) = LLᵀ the whitened
    class means L⁻¹(m_k − m)√n_k have the singular values √(λ(N−K)) and the left vectors U; W = L⁻ᵀU.  So
    WᵀS_W W/(N−K) = I, as R's `lda` scales its directions; the last class projects above the first.

    Parameters
    ----------
    n_components : int, optional
        At most min(K−1, D), which is the default.
    ridge : float
        A share of the largest overall variance of a feature, added to every variance within the classes.

    Attributes
    ----------
    classes_ (K,), means_ (K, D), center_ (D,), scalings_ (D, n_components), eigenvalues_ (n_components,) of S_W⁻¹S_B,
    explained_variance_ratio_ (n_components,), shares of all min(K−1, D) eigenvalues

    Raises
    ------
    ValueError
        From fit: for more components than min(K−1, D), and if columns are dependent within the classes at ridge 0.

    Source: Fisher (1936), Annals of Eugenics 7:179; Bishop, Pattern Recognition and Machine Learning, sections 4.1.4
    and 4.1.6.
    """

    def __init__(self, n_components=None, ridge=0.0):
        self.n_components = n_components
        self.ridge = ridge

    def _fit_sums(self, summed, first) -> None:
        check_ridge(self.ridge)
        n, most = self.n_components, min(len(self.classes_) - 1, first.shape[1])
        if n is not None and not 1 <= n <= most:
            raise ValueError(f"n_components must be between 1 and min(K-1, D) = {most}, got {n}: {len(self.classes_)} "
                             f"class means span no more than {most} directions")
        within, s = Gaussian(pool="tied", divisor="unbiased", ridge=self.ridge).fit_sums(summed)
        self.center_, rest, means = s.apart()
        _, singular, V = np.linalg.svd(np.sqrt(s.mass)[:, None] * (means @ within.whitener[0]), full_matrices=False)
        W = within.whitener[0] @ V[: n or most].T
        self.scalings_, self.means_ = W * np.where((means[-1] - means[0]) @ W < 0, -1.0, 1.0), s.mean
        self._affine = Affine(self.center_, -rest @ self.scalings_, self.scalings_)
        eigenvalues = singular[:most] ** 2 / (s.mass.sum() - len(s.mass))
        self.eigenvalues_ = eigenvalues[:n]
        self.explained_variance_ratio_ = self.eigenvalues_ / eigenvalues.sum()

    def transform(self, X) -> np.ndarray:
        """Coordinates (N, n_components) of the rows about the overall mean."""
        return self._evaluated(*self._table(X), self._affine)

    def fit_transform(self, X, y, sample_weight=None) -> np.ndarray:
        """`fit`, then `transform` of the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names (n_components,) of the coordinates: fisherprojection0, …"""
        return np.array([f"fisherprojection{j}" for j in range(self.scalings_.shape[1])], dtype=object)

    def __sklearn_tags__(self):
        from sklearn.utils import TransformerTags
        tags = super().__sklearn_tags__()
        tags.transformer_tags = TransformerTags(preserves_dtype=[])
        return tags


# Perceptron ----------------------------------------------------------------------------------------------------------

class NotSeparableWarning(UserWarning):
    """The perceptron stopped without having separated the classes."""


@dataclass(frozen=True)
class Run:
    """Where the perceptron stopped."""

    plane: Hyperplane
    mistakes: int     # updates made
    epochs: int       # passes over the rows, the last one without a mistake if it converged
    converged: bool


def perceptron(X, t, epochs: int = 1000, rng: np.random.Generator | None = None) -> Run:
    """Rosenblatt's rule: whenever t(wᵀx + w₀) ≤ 0, add tx to w and t to w₀; start at 0, so the rate does not matter.

    It descends the criterion −Σ_{mistakes} t(wᵀx + w₀) one row at a time, in the given order, or in a new random one
    each epoch if `rng` is given.  If some unit vector has all margins ≥ γ, at most (R/γ)² updates are made
    (`mistake_bound`).  If the epochs run out, the plane is the one with fewest errors among those at the epochs' ends.

    Parameters
    ----------
    X : (N, D)
    t : (N,)
        −1 or +1.
    epochs : int
        Passes over the rows at most.
    rng : numpy.random.Generator, optional

    Returns
    -------
    Run
        Its `plane` has w (D,).

    Source: Novikoff (1962); Bishop, Pattern Recognition and Machine Learning, section 4.1.7.
    """
    w, mistakes, best, fewest = np.zeros(X.shape[1] + 1), 0, None, np.inf
    for epoch in range(1, epochs + 1):
        made = _epoch(X, t, w, None if rng is None else rng.permutation(len(X)))
        mistakes += made
        if made == 0:
            return Run(Hyperplane(w[1:], float(w[0])), mistakes, epoch, True)
        errors = sum(np.sum(t[rows] * (X[rows] @ w[1:] + w[0]) <= 0) for rows in slices(*X.shape))
        if errors < fewest:
            best, fewest = w.copy(), errors
    return Run(Hyperplane(best[1:], float(best[0])), mistakes, epochs, False)


def _epoch(X, t, w, order) -> int:
    """One pass that changes w (D + 1,) in place; it looks ahead over as many rows as lately had no mistake."""
    slope, start, last, size, mistakes = w[1:], 0, 0, 64, 0
    while start < len(X):
        rows = slice(start, start + size) if order is None else order[start:start + size]
        wrong = (X[rows] @ slope + w[0]) * t[rows] <= 0
        first = int(wrong.argmax())
        if not wrong[first]:
            start, size = start + size, min(2 * size, 8192)
            continue
        n = start + first if order is None else rows[first]
        w[0] += t[n]
        slope += t[n] * X[n]
        mistakes, start = mistakes + 1, start + first + 1
        last, size = start, min(max(start - last, 32), 8192)
    return mistakes


def perceptron_criterion(X, t, plane: Hyperplane) -> float:
    """−Σ t(wᵀx + w₀) over the rows on the wrong side or on the plane: 0 if it separates, else what a step should lower.

    Parameters
    ----------
    X : (N, D)
    t : (N,)
        −1 or +1.
    plane : Hyperplane

    Returns
    -------
    float

    Source: Bishop, Pattern Recognition and Machine Learning, equation 4.54.
    """
    return float(np.sum(np.maximum(-t * plane.value(X), 0)))


def margin(X, t, plane: Hyperplane) -> float:
    """γ = min t(wᵀx + w₀)/‖(w, w₀)‖, the margin of rows (1, x): positive if and only if the plane separates them.

    Parameters
    ----------
    X : (N, D)
    t : (N,)
        −1 or +1.
    plane : Hyperplane

    Returns
    -------
    float

    Source: Novikoff (1962), On convergence proofs on perceptrons.
    """
    return float(np.min(t * plane.value(X)) / np.hypot(np.linalg.norm(plane.w), plane.w0))


def mistake_bound(X, t, plane: Hyperplane) -> float:
    """(R/γ)² with R = max ‖(1, x)‖ and the `margin` γ of any separating plane: the perceptron makes no more updates.

    Parameters
    ----------
    X : (N, D)
    t : (N,)
        −1 or +1.
    plane : Hyperplane

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If the plane does not separate the classes: then there is no bound.

    Source: Novikoff (1962), On convergence proofs on perceptrons.
    """
    gamma = margin(X, t, plane)
    if gamma <= 0:
        raise ValueError(f"the bound needs a plane that separates the classes, got one with margin {gamma:.3g}: find "
                         "one with `separating_plane`")
    return float((1 + np.max(np.einsum("nd,nd->n", X, X))) / gamma**2)


def separating_plane(X, t) -> Hyperplane | None:
    """A plane with t(wᵀx + w₀) ≥ 1 on all rows, or None: a linear programme, which decides whether there is any.

    Parameters
    ----------
    X : (N, D)
    t : (N,)
        −1 or +1.

    Returns
    -------
    Hyperplane, with w (D,), or None

    Source: Boyd and Vandenberghe, Convex Optimization, section 8.6.1.
    """
    from scipy.optimize import linprog
    centre, spread = X.mean(axis=0), X.std(axis=0)
    spread = np.where(spread > 0, spread, 1.0)
    rows = -t[:, None] * np.column_stack([np.ones(len(X)), (X - centre) / spread])
    result = linprog(np.zeros(rows.shape[1]), A_ub=rows, b_ub=-np.ones(len(X)), bounds=(None, None))
    if result.status == 2:
        return None
    w = result.x[1:] / spread
    return Hyperplane(w, float(result.x[0] - centre @ w))


class Perceptron(Classifier):
    """Rosenblatt's perceptron for two classes, as in `perceptron`; the second of ``classes_`` has t = +1.

    Parameters
    ----------
    epochs : int
        Passes over the rows at most.
    seed : int, optional
        Takes the rows of each epoch in random order; by default they keep theirs, on which the result depends.

    Attributes
    ----------
    classes_ (2,), coef_ (1, D), intercept_ (1,), converged_, mistakes_ (updates), n_iter_ (epochs)

    Warns
    -----
    NotSeparableWarning
        If the epochs run out; the plane is then the best of those at the epochs' ends, and separates nothing.

    Source: Bishop, Pattern Recognition and Machine Learning, section 4.1.7.
    """

    def __init__(self, epochs=1000, seed=None):
        self.epochs = epochs
        self.seed = seed

    def _classifier_tags(self) -> dict:
        return {"multi_class": False}

    def fit(self, X, y):
        """Learn from rows X (N, D) and labels y (N,); weights have no meaning for a rule that stops at no mistakes."""
        return super().fit(X, y)

    def _fit(self, X, codes, weight) -> None:
        if len(self.classes_) != 2:
            raise ValueError("Only binary classification is supported. The type of the target is multiclass: got "
                             f"{len(self.classes_)} classes; combine planes with `one_versus_rest`")
        rng = None if self.seed is None else np.random.default_rng(self.seed)
        run = perceptron(X, np.where(codes, 1.0, -1.0), self.epochs, rng)
        if not run.converged:
            warnings.warn(f"the perceptron did not separate the classes in {self.epochs} epochs: they may not be "
                          "linearly separable (`separating_plane` tells), or the features may need standardising, or "
                          "more epochs", NotSeparableWarning, stacklevel=4)
        self._plane, self.coef_, self.intercept_ = run.plane, run.plane.w[None], np.array([run.plane.w0])
        self.converged_, self.mistakes_, self.n_iter_ = run.converged, run.mistakes, run.epochs

    def _scores(self, X) -> np.ndarray:
        return np.column_stack([np.zeros(len(X)), self._plane.value(X)])

    def predict(self, X) -> np.ndarray:
        """Labels (N,): the second on the positive side of the plane, else the first."""
        X = self._features(X)
        return self.classes_[(self._plane.value(X) > 0).astype(np.intp)]
