"""Inputs, hints and known mistakes of the exercises in 02a_exponential_families."""
import math

import numpy as np

from course_lib.classroom.cases import Case, Exercise
from course_lib.data import load

# --- E2.1 ---------------------------------------------------------------------------------------------------------

natural_parameter = Exercise(
    "natural_parameter", id="E2.1", title="From a mean to a natural parameter", points=1,
    hints=(
        "c′(θ) is the mean. Set it equal to the given mean and solve for θ, family by family. Which of the four "
        "needs no work at all?",
        "normal μ; bernoulli ln(μ/(1 − μ)); binomial ln(μ/(trials − μ)); poisson ln μ. Written as ln μ − ln(…), the "
        "logarithms give −inf and inf at the edges by themselves.",
        "`if family == \"normal\": return mean`. Then find for each other family what the second logarithm is of."),
    notice="What to notice: rare and frequent are treated alike, logit(1 − μ) = −logit(μ), and a mean on the edge has "
           "no finite θ. Only for the normal is the mean itself the natural parameter.",
    ready=("scipy.special.logit",),
)


@natural_parameter.cases
def natural_parameter_cases(rng):
    yield Case("a word in 80 % of the spam and 20 % of the mail", ("bernoulli", np.array([[0.2], [0.8]]), 1))
    yield Case("two misprints a page", ("poisson", np.array([[2.0]]), 1))
    yield Case("4 and 12 inked points of 16", ("binomial", np.array([[4.0, 12.0]]), 16))
    yield Case("normal features, two classes", ("normal", rng.normal(3, 2, size=(2, 3)), 1))
    yield Case("shares of five words in three classes", ("bernoulli", rng.uniform(0.05, 0.95, size=(3, 5)), 1))
    yield Case("a binomial with means below 1", ("binomial", rng.uniform(0.1, 0.9, size=(2, 3)), 10))
    yield Case("counts, means on both sides of 1", ("poisson", rng.uniform(0.2, 6, size=(2, 4)), 1))
    yield Case("words that never or always occur", ("bernoulli", np.array([[0.0, 1.0, rng.uniform(0.3, 0.6)]]), 1))
    yield Case("no misprints at all", ("poisson", np.array([[0.0], [rng.uniform(0.3, 3)]]), 1))
    yield Case("white and black cells", ("binomial", np.array([[0.0, 8.0, 16.0]]), 16))


def _theta(family, mean, trials):
    """θ of one number at a time."""
    if family == "normal":
        return mean
    share = {"bernoulli": mean, "binomial": mean / trials, "poisson": mean}[family]
    if share == 0:
        return -math.inf
    if family == "poisson":
        return math.log(share)
    return math.inf if share == 1 else -math.log(1 / share - 1)


@natural_parameter.variant
def one_by_one(family, mean, trials):
    return np.array([[_theta(family, value, trials) for value in row] for row in mean.tolist()])


@natural_parameter.variant
def by_odds(family, mean, trials):
    with np.errstate(divide="ignore"):
        if family == "bernoulli":
            return np.log(mean / (1 - mean))
        if family == "binomial":
            return np.log(mean / (trials - mean))
        return np.log(mean) if family == "poisson" else mean.copy()


@natural_parameter.variant
def by_arctanh(family, mean, trials):
    """logit p = 2 artanh(2p − 1)."""
    with np.errstate(divide="ignore"):
        if family in ("bernoulli", "binomial"):
            return 2 * np.arctanh(2 * mean / trials - 1)
        return {"normal": np.positive, "poisson": np.log}[family](mean)


@natural_parameter.mistake(
    "The mean itself is returned: [c′]⁻¹ is forgotten.",
    "Only for a normal feature is θ the mean. A share of 0.2 and one of 0.8 must give θ of opposite sign, −1.386 and "
    "1.386, for one speaks against the class and the other for it. Solve c′(θ) = mean for each family.")
def identity(family, mean, trials):
    return mean


@natural_parameter.mistake(
    "It is ln μ where ln(μ/(1 − μ)) belongs.",
    "ln μ is the Poisson's line. A yes-or-no feature also has the no: c′(θ) = 1/(1 + e^(−θ)) = 0.8 gives θ = "
    "ln(0.8/0.2) = 1.386, while ln 0.8 = −0.223. The two are near each other only for rare words, which makes this "
    "easy to miss.")
def logarithm_for_logit(family, mean, trials):
    with np.errstate(divide="ignore"):
        return mean if family == "normal" else np.log(mean / (trials if family == "binomial" else 1))


@natural_parameter.mistake(
    "The binomial is treated as a single trial.",
    "Its mean lies between 0 and `trials`, so 1 − μ may be negative, and its logarithm is NaN. Of 16 points 4 are "
    "inked and 12 are not: θ = ln(4/12). Put `trials` where the Bernoulli has 1.")
def binomial_without_trials(family, mean, trials):
    with np.errstate(all="ignore"):
        return by_odds("bernoulli" if family == "binomial" else family, mean, 1)


@natural_parameter.mistake(
    "The binomial's share is divided by its trials once too often.",
    "θ of a binomial is the logit of ONE trial's probability, μ/trials. ln(μ/(trials − μ)) is that already; no further "
    "factor 1/trials stands before or inside it.")
def theta_over_trials(family, mean, trials):
    return by_odds(family, mean, trials) / (trials if family == "binomial" else 1)


@natural_parameter.mistake(
    "The sign is the other one: ln((1 − μ)/μ).",
    "You solved for −θ. A frequent word must have a positive θ: for a share of 0.8, e^(−θ) = 1/0.8 − 1 = 0.25, so θ = "
    "−ln 0.25 = +1.386.")
def odds_against(family, mean, trials):
    return -by_odds(family, mean, trials) if family in ("bernoulli", "binomial") else by_odds(family, mean, trials)


@natural_parameter.mistake(
    "c′ is applied to the mean instead of its inverse.",
    "c′ goes from θ to the mean. You have the mean and want θ: the logistic function must be undone, not applied "
    "again. A check: your answers for 0.2 and 0.8 should be each other's negatives.")
def forwards(family, mean, trials):
    logistic = 1 / (1 + np.exp(-mean))
    return {"normal": mean, "bernoulli": logistic, "binomial": trials * logistic, "poisson": np.exp(mean)}[family]


@natural_parameter.mistake(
    "The mean is clipped, so that the edge gives a large finite number.",
    "With no yes at all the likelihood rises towards θ = −∞ and never gets there. A tiny number hides that, and it, "
    "not the data, then decides how large the weight is. Return −inf and inf; smoothing is a decision of its own, in "
    "02b.")
def clipped(family, mean, trials):
    if family == "normal":
        return mean
    top = {"bernoulli": 1, "binomial": trials, "poisson": np.inf}[family]
    return by_odds(family, np.clip(mean, 1e-10, top - 1e-10), trials)


@natural_parameter.mistake(
    "The infinities are replaced by the largest numbers there are.",
    "`np.nan_to_num` makes ±1.8e308 of ±inf. A mean on the edge has no finite θ, and −inf says just that: under this "
    "class the value is impossible. Leave it; `np.errstate(divide=\"ignore\")` silences the warning.")
def infinities_hidden(family, mean, trials):
    return np.nan_to_num(by_odds(family, mean, trials))


@natural_parameter.mistake(
    "The binomial's θ is multiplied by its trials.",
    "The trials multiply c(θ), and so the mean: trials · σ(θ) = μ. Solved for θ the factor goes INTO the logarithm, "
    "μ/(trials − μ), and none stays outside.")
def theta_times_trials(family, mean, trials):
    return by_odds(family, mean, trials) * (trials if family == "binomial" else 1)


@natural_parameter.mistake(
    "c itself is computed from the mean, not the inverse of its derivative.",
    "The table gives c(θ). Its slope c′(θ) is the mean: differentiate first, then solve c′(θ) = mean for θ. For the "
    "Poisson c = e^θ, so c′ = e^θ = μ and θ = ln μ.")
def log_normaliser_of_the_mean(family, mean, trials):
    c = {"normal": lambda t: t**2 / 2, "bernoulli": lambda t: np.logaddexp(0, t),
         "binomial": lambda t: trials * np.logaddexp(0, t), "poisson": np.exp}[family]
    return c(mean)


@natural_parameter.mistake(
    "It is a logarithm to the base 10.",
    "e^θ stands in the densities, so the logarithm that undoes it has the base e: `np.log`. For a share of 0.8 it "
    "gives 1.386; `np.log10` gives 0.602.")
def base_ten(family, mean, trials):
    return mean if family == "normal" else by_odds(family, mean, trials) / math.log(10)


@natural_parameter.mistake(
    "The Poisson is treated like a yes-or-no feature.",
    "A count has no upper bound, so there is no 1 − μ, and for a mean above 1 its logarithm is NaN. c′(θ) = e^θ, hence "
    "θ = ln μ and nothing more.")
def logit_for_poisson(family, mean, trials):
    with np.errstate(all="ignore"):
        return by_odds("bernoulli" if family == "poisson" else family, mean, trials)


# --- E2.4 ---------------------------------------------------------------------------------------------------------

gaussian_fit = Exercise(
    "gaussian_fit", id="E2.4", title="The fit of normal features", points=2,
    hints=(
        "First the means of each class. Then give every row the mean of its own class and subtract it. What do you "
        "sum, and over which rows, for the two kinds of variance?",
        "variance[k] = Σ_{i of class k} (x_i − μ_k)²/N_k; shared = Σ_i (x_i − μ of the class of i)²/N.",
        "`R = np.eye(K)[y]` has a 1 in the column of each row's class; `R.T @ X` sums X class by class."),
    notice="What to notice: shared = Σ_k (N_k/N)·variance_k, an average that counts each class by its size. The fit is "
           "two sums over rows, and sums can be made in blocks and added.",
    intermediates=("counts", "mu", "within", "squares", "variance"),
    ready=("scipy.stats.norm.fit",),
)


@gaussian_fit.cases
def gaussian_fit_cases(rng):
    yield Case("one feature, 2 and 3 rows", (np.array([[1.0], [3], [10], [12], [14]]), np.array([0, 0, 1, 1, 1]), 2))
    yield Case("two features, three classes, mixed order",
               (rng.normal([0, 5], [1, 3], size=(9, 2)) + np.array([0, 4, 9])[[0, 1, 2, 1, 1, 0, 2, 1, 2], None],
                np.array([0, 1, 2, 1, 1, 0, 2, 1, 2]), 3))
    y = np.repeat([0, 1, 2], [2, 5, 11])
    yield Case("very unequal classes", (rng.normal(size=(18, 4)) * (1 + 2 * y[:, None]) + 3 * y[:, None], y, 3))
    yield Case("penguins, bill and flipper", _penguins(rng))
    yield Case("a spread of 1 near 1e8", (1e8 + rng.normal(size=(12, 2)), np.repeat([0, 1], [4, 8]), 2))


def _penguins(rng):
    X, label = load("penguins").Xy("bill_length_mm", "flipper_length_mm", label="species")
    rows = rng.permutation(len(X))[:60]
    return X[rows], np.unique(label, return_inverse=True)[1][rows], 3


@gaussian_fit.variant
def loop_over_classes(X, y, K):
    mu, variance, shared = np.zeros((K, X.shape[1])), np.zeros((K, X.shape[1])), np.zeros(X.shape[1])
    for k in range(K):
        rows = X[y == k]
        mu[k], variance[k] = rows.mean(axis=0), rows.var(axis=0)
        shared += len(rows) * variance[k]
    return mu, variance, shared / len(X)


@gaussian_fit.variant
def by_pairs(X, y, K):
    """Σ over all pairs of (a − b)² is 2n times the sum of squares about the mean."""
    groups = [X[y == k] for k in range(K)]
    variance = np.array([((g[:, None] - g) ** 2).sum(axis=(0, 1)) / (2 * len(g) ** 2) for g in groups])
    mu = np.array([g[0] + (g - g[0]).mean(axis=0) for g in groups])
    return mu, variance, np.bincount(y, minlength=K) @ variance / len(y)


@gaussian_fit.variant
def column_by_column(X, y, K):
    mu, variance, shared = [[] for _ in range(K)], [[] for _ in range(K)], []
    for column in X.T.tolist():
        total = 0.0
        for k in range(K):
            values = [v for v, label in zip(column, y.tolist()) if label == k]
            mean = math.fsum(values) / len(values)
            squares = math.fsum((v - mean) ** 2 for v in values)
            mu[k].append(mean)
            variance[k].append(squares / len(values))
            total += squares
        shared.append(total / len(column))
    return np.array(mu), np.array(variance), np.array(shared)


@gaussian_fit.mistake(
    "The variances divide by n − 1.",
    "That is the unbiased estimate; R takes it. Maximum likelihood divides by the number of rows: for 1 and 3 it is "
    "(1 + 1)/2 = 1, not 2. Use N_k for the own and N for the shared variance.")
def divisor_less_one(X, y, K):
    mu, variance, shared = loop_over_classes(X, y, K)
    n = np.bincount(y, minlength=K)[:, None]
    return mu, variance * n / (n - 1), shared * len(X) / (len(X) - K)


@gaussian_fit.mistake(
    "The own variances divide by N_k − 1; the shared one is right.",
    "`ddof=1` or a divisor of n − 1 makes the unbiased estimate. Maximum likelihood divides by the number of rows of the "
    "class, as your shared variance does by that of all rows: for 1 and 3 it is (1 + 1)/2 = 1.")
def own_unbiased(X, y, K):
    mu, variance, shared = loop_over_classes(X, y, K)
    n = np.bincount(y, minlength=K)[:, None]
    return mu, variance * n / (n - 1), shared


@gaussian_fit.mistake(
    "Standard deviations are returned instead of variances.",
    "You took the root. φ is the mean of the SQUARES, in mm² for a length in mm; for 10, 12 and 14 it is 8/3 = "
    "2.667, and its root 1.633 is another number.")
def deviations(X, y, K):
    mu, variance, shared = loop_over_classes(X, y, K)
    return mu, np.sqrt(variance), np.sqrt(shared)


@gaussian_fit.mistake(
    "The shared variance is taken about the mean of all rows.",
    "Then the distance between the classes counts as spread: in the example 26 instead of 2. From each row subtract "
    "the mean of its own class, `X - mu[y]`.")
def about_the_overall_mean(X, y, K):
    mu, variance, _ = loop_over_classes(X, y, K)
    return mu, variance, X.var(axis=0)


@gaussian_fit.mistake(
    "The shared variance is the plain average of the classes' variances.",
    "A class of 2 rows then counts as much as one of 11. The likelihood adds up rows, so the classes count by their "
    "sizes: Σ N_k·variance_k / N. In the example (2·1 + 3·8/3)/5 = 2, not (1 + 8/3)/2.")
def plain_average(X, y, K):
    mu, variance, _ = loop_over_classes(X, y, K)
    return mu, variance, variance.mean(axis=0)


@gaussian_fit.mistake(
    "The shared variance divides by N − K.",
    "The own variances are right. N − K makes the shared one unbiased, since K means were fitted; maximum likelihood "
    "divides the same sum by N.")
def shared_unbiased(X, y, K):
    mu, variance, shared = loop_over_classes(X, y, K)
    return mu, variance, shared * len(X) / (len(X) - K)


@gaussian_fit.mistake(
    "The own variances are divided by N instead of N_k.",
    "`squares / len(X)` shares a class's sum of squares among all rows. Each class has `counts[k]` rows: divide by "
    "`counts[:, None]`.")
def own_over_all(X, y, K):
    mu, variance, shared = loop_over_classes(X, y, K)
    return mu, variance * np.bincount(y, minlength=K)[:, None] / len(X), shared


@gaussian_fit.mistake(
    "The variance is computed as mean of squares minus square of the mean.",
    "True on paper. Near 1e8 both terms are about 1e16, where floating point numbers are 2 apart: their difference "
    "holds no digit of a variance of 1. Subtract the mean first, then square.")
def raw_moments(X, y, K):
    mu = loop_over_classes(X, y, K)[0]
    squares = np.array([(X[y == k] ** 2).mean(axis=0) for k in range(K)])
    variance = squares - mu**2
    return mu, variance, np.bincount(y, minlength=K) @ variance / len(X)


@gaussian_fit.mistake(
    "All features of a class are thrown together: `axis=0` is missing.",
    "`X[y == k].mean()` is one number for the whole block of rows and columns. Millimetres and grams do not mix: with "
    "`axis=0` the rows are averaged and each column keeps its own mean and variance, (D,) for each class.")
def features_together(X, y, K):
    blocks = [X[y == k] for k in range(K)]
    variance = np.array([block.var() for block in blocks])
    return np.array([block.mean() for block in blocks]), variance, np.bincount(y, minlength=K) @ variance / len(X)


@gaussian_fit.mistake(
    "The sums of squares are not divided by anything.",
    "A variance is the MEAN of the squares. Divide each class's sum by its number of rows N_k, and the sum over all "
    "classes by N. For 1 and 3 the squares sum to 2, the variance is 1.")
def sums_of_squares(X, y, K):
    mu, variance, shared = loop_over_classes(X, y, K)
    return mu, variance * np.bincount(y, minlength=K)[:, None], shared * len(X)


@gaussian_fit.mistake(
    "The sum over a class is divided by the number of all rows.",
    "`R.T @ X` sums the rows of class k, and of those there are N_k: `R.sum(axis=0)[:, None]`. Divided by N, the mean "
    "of 1 and 3 comes out as 4/5.")
def class_sums_over_all(X, y, K):
    R = np.eye(K)[y]
    mu = R.T @ X / len(X)
    squares = R.T @ (X - mu[y]) ** 2
    return mu, squares / len(X), squares.sum(axis=0) / len(X)


@gaussian_fit.mistake(
    "The classes are not kept apart.",
    "Every class has got the mean and the variance of all rows. Pick the rows of class k, `X[y == k]`, or sum with the "
    "0/1 table `np.eye(K)[y]`.")
def one_class(X, y, K):
    mean, variance = X.mean(axis=0), X.var(axis=0)
    return np.tile(mean, (K, 1)), np.tile(variance, (K, 1)), variance


# --- E2.5 ---------------------------------------------------------------------------------------------------------

mixed_log_joint = Exercise(
    "mixed_log_joint", id="E2.5", title="The log joint with features of different kinds", points=2,
    hints=(
        "Take one object, one class, one feature, and write down its logarithm by the table. Everything else is "
        "adding up. Which of the terms depends on the class only, which on the object only?",
        "ln P(k) + Σ_j [ (x_j θ_kj − c_j(θ_kj))/φ_j + h_j(x_j, φ_j) ]. The products give (X/φ) @ θᵀ, of shape (N, K).",
        "`c = np.column_stack([…])` of shape (K, D): send column j of theta through the c of `families[j]`. Then the "
        "same for h with the columns of X, (N, D)."),
    notice="What to notice: the three kinds meet in one sum and know nothing of each other. The column of h is the "
           "same for every class, so a decision never needs it; p(x) does.",
    intermediates=("c", "h", "weighted"),
    ready=("scipy.stats.norm.logpdf", "scipy.stats.bernoulli.logpmf", "scipy.stats.poisson.logpmf"),
)
THREE = ("normal", "bernoulli", "poisson")


@mixed_log_joint.cases
def mixed_log_joint_cases(rng):
    half = np.array([0.5])
    yield Case("a normal feature", (np.array([[3.0]]), ("normal",), np.array([[1.0]]), np.array([4.0]), half))
    yield Case("yes or no", (np.array([[1.0], [0.0]]), ("bernoulli",), np.array([[0.0], [1.2]]), np.ones(1),
                             np.array([0.3, 0.7])))
    yield Case("a count", (np.array([[2.0]]), ("poisson",), np.array([[0.0]]), np.ones(1), half))
    yield Case("three kinds, one object, one class",
               (np.array([[3.0, 1.0, 2.0]]), THREE, np.array([[1.0, 0.0, 0.0]]), np.array([4.0, 1.0, 1.0]), half))
    kinds = ("poisson", "normal", "bernoulli", "normal")
    X = np.column_stack([rng.poisson(2, 5), rng.normal(1, 3, 5), rng.integers(0, 2, 5), rng.normal(40, 2, 5)])
    theta = np.column_stack([rng.normal(0.6, 0.4, 3), rng.normal(1, 2, 3), rng.normal(0, 1, 3), rng.normal(40, 2, 3)])
    phi = np.array([1.0, rng.uniform(5, 9), 1.0, rng.uniform(2, 4)])
    yield Case("four features, three classes", (X, kinds, theta, phi, rng.dirichlet([3.0, 2.0, 4.0])))
    theta = np.array([[800.0, 0.5], [-800.0, rng.uniform(0, 1)]])
    yield Case("a very certain yes or no", (np.array([[1.0, 1.0], [0.0, 3.0]]), ("bernoulli", "poisson"), theta,
                                            np.ones(2), rng.dirichlet([2.0, 3.0])))


def _terms(x, family, theta, phi, c=True, h=True):
    """One feature's logarithm (N, K), from the exponential form; the parts can be left out."""
    normaliser = {"normal": theta**2 / 2, "bernoulli": np.logaddexp(0, theta), "poisson": _exp(theta)}[family]
    rest = {"normal": -x**2 / (2 * phi) - math.log(2 * math.pi * phi) / 2, "bernoulli": 0 * x,
            "poisson": -np.array([math.lgamma(v + 1) for v in x])}[family]
    return (np.outer(x, theta) - c * normaliser) / phi + h * rest[:, None]


def _exp(theta):
    with np.errstate(over="ignore"):
        return np.exp(theta)


def _sum(X, families, theta, phi, priors, **parts):
    return sum(_terms(x, f, t, p, **parts) for x, f, t, p in zip(X.T, families, theta.T, phi.tolist())) + np.log(priors)


@mixed_log_joint.variant
def feature_by_feature(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi, priors)


@mixed_log_joint.variant
def usual_form(X, families, theta, phi, priors):
    """Each logarithm in its textbook form, one number at a time."""
    def one(x, family, t, p):
        if family == "normal":
            return -(x - t) ** 2 / (2 * p) - 0.5 * math.log(2 * math.pi * p)
        if family == "poisson":
            return x * t - math.exp(t) - math.lgamma(x + 1)
        return -(math.log1p(math.exp(-abs(t))) + max(t if x == 0 else -t, 0.0))
    return np.array([[math.log(prior) + math.fsum(map(one, row, families, t, phi.tolist()))
                      for prior, t in zip(priors.tolist(), theta.tolist())] for row in X.tolist()])


@mixed_log_joint.mistake(
    "φ is not divided out.",
    "xθ − c(θ) must be divided by φ. Where φ = 1 nobody can tell; a normal feature with φ = 4 otherwise counts four "
    "times too much. In the example (3 − ½)/4, not 3 − ½.")
def phi_left_in(X, families, theta, phi, priors):
    h = _sum(X, families, theta, phi, priors) - _sum(X, families, theta, phi, priors, h=False)
    return _sum(X, families, theta, np.ones_like(phi), priors, h=False) + h


@mixed_log_joint.mistake(
    "φ is taken for a standard deviation and squared.",
    "For a normal feature φ IS the variance σ². Divide by φ itself; φ² is σ⁴.")
def phi_squared(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi**2, priors)


@mixed_log_joint.mistake(
    "c(θ) is missing.",
    "Without −c(θ)/φ the density does not sum to 1, and the class with the larger θ wins wherever x is positive. For "
    "the coin with θ = 0: xθ = 0 for both sides, and what makes each of them ½ is −c(0) = −ln 2.")
def without_c(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi, priors, c=False)


@mixed_log_joint.mistake(
    "c(θ) is subtracted, but not divided by φ.",
    "The bracket is (xθ − c)/φ: both terms are divided. Here the products are right and the constant of the class is "
    "not; check a feature with φ different from 1.")
def c_not_divided(X, families, theta, phi, priors):
    one = np.ones_like(phi)
    c = _sum(X, families, theta, one, priors, c=False) - _sum(X, families, theta, one, priors)
    return _sum(X, families, theta, phi, priors, c=False) - c


@mixed_log_joint.mistake(
    "h(x, φ) is missing.",
    "The decision would be the same, for h is the same in all classes. The exercise wants the log joint itself: add "
    "−x²/2φ − ½ ln 2πφ for a normal feature and −ln x! for a count.")
def without_h(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi, priors, h=False)


@mixed_log_joint.mistake(
    "The normal's −½ ln 2πφ is missing.",
    "−x²/2φ is only half of h. The density of a normal has 1/√(2πφ) before the exponential; its logarithm, −½ ln "
    "2πφ, is the other half.")
def half_of_h(X, families, theta, phi, priors):
    constant = sum(0.5 * math.log(2 * math.pi * p) for f, p in zip(families, phi) if f == "normal")
    return _sum(X, families, theta, phi, priors) + constant


@mixed_log_joint.mistake(
    "The count's −ln x! is missing.",
    "The Poisson has h = −ln x!, which is not 0 from x = 2 on. `scipy.special.gammaln(x + 1)` is ln x!; subtract it.")
def without_factorial(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi, priors) + _of_counts(X, families, lambda x: math.lgamma(x + 1))


@mixed_log_joint.mistake(
    "`gammaln(x)` is taken for ln x!.",
    "Γ(x) is (x − 1)!, one factor short: ln x! is `gammaln(x + 1)`. At x = 1 nobody sees it, at x = 2 you lose ln 2, "
    "and at x = 0 it is infinite.")
def gamma_one_off(X, families, theta, phi, priors):
    with np.errstate(divide="ignore"):
        return _sum(X, families, theta, phi, priors) + _of_counts(X, families, lambda x: np.log(x))


def _of_counts(X, families, what):
    """The sum of what(x) over the Poisson features of each object, (N, 1)."""
    counts = X[:, [family == "poisson" for family in families]]
    return np.array([[sum(what(x) for x in row)] for row in counts])


@mixed_log_joint.mistake(
    "`/ 2 * phi` divides by 2 and then MULTIPLIES by φ.",
    "−x²/2φ has 2φ below the line. Python works from left to right, so the denominator needs brackets: "
    "`-x**2 / (2 * phi)`.")
def denominator_without_brackets(X, families, theta, phi, priors):
    normal = np.array([family == "normal" for family in families])
    moved = (X**2 / 2 * (1 / phi - phi))[:, normal].sum(axis=1, keepdims=True)
    return _sum(X, families, theta, phi, priors) + moved


@mixed_log_joint.mistake(
    "h is divided by φ as well.",
    "The bracket is (xθ − c)/φ, and h stands OUTSIDE it. h has its own φ inside: −x²/2φ − ½ ln 2πφ.")
def h_divided_too(X, families, theta, phi, priors):
    return sum(_terms(x, f, t, p, h=False) + (_terms(x, f, t, p) - _terms(x, f, t, p, h=False)) / p
               for x, f, t, p in zip(X.T, families, theta.T, phi.tolist())) + np.log(priors)


@mixed_log_joint.mistake(
    "The exponential is taken at the end.",
    "These are P(k)·p(x|k), and the exercise asks for their logarithms. With many features the products underflow to "
    "0; leave the last exp out.")
def joint_itself(X, families, theta, phi, priors):
    with np.errstate(all="ignore"):
        return np.exp(_sum(X, families, theta, phi, priors))


@mixed_log_joint.mistake(
    "The yes or no goes through its probability, which is exactly 0 or 1 for a large θ.",
    "At θ = 800 the logistic function is 1 in floating point and 1 − p is 0, with −∞ for its logarithm. Stay with the "
    "form of the table, xθ − ln(1 + exp θ): `np.logaddexp(0, theta)` is exact for every θ.")
def through_the_probability(X, families, theta, phi, priors):
    total = _sum(X, families, theta, phi, priors)
    for x, family, t in zip(X.T, families, theta.T):
        if family == "bernoulli":
            with np.errstate(all="ignore"):
                p = 1 / (1 + np.exp(-t))
                total = total + np.outer(x, np.log(p)) + np.outer(1 - x, np.log(1 - p)) - _terms(x, family, t, 1.0)
    return total


@mixed_log_joint.mistake(
    "The prior is added without its logarithm.",
    "A product becomes a sum only in logarithms: ln(P·p) = ln P + ln p. You add P itself, which is always positive, "
    "where ln P is negative.")
def prior_plain(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi, priors) - np.log(priors) + priors


@mixed_log_joint.mistake(
    "The prior is forgotten.",
    "This is ln p(x|k). The log joint has ln P(k) as well, one number for each class.")
def prior_forgotten(X, families, theta, phi, priors):
    return _sum(X, families, theta, phi, priors) - np.log(priors)


@mixed_log_joint.mistake(
    "ln(1 + exp θ) overflows for a large θ.",
    "exp(800) is infinite in floating point, although ln(1 + exp 800) is simply 800. `np.logaddexp(0, theta)` "
    "computes it without the detour.")
def softplus_as_it_stands(X, families, theta, phi, priors):
    with np.errstate(over="ignore"):
        lost = sum(np.log(1 + np.exp(t)) - np.logaddexp(0, t) for f, t in zip(families, theta.T) if f == "bernoulli")
    return _sum(X, families, theta, phi, priors) - lost


# --- E2.6 ---------------------------------------------------------------------------------------------------------

linear_form = Exercise(
    "linear_form", id="E2.6", title="Find the mistake: weights and bias", points=1,
    hints=(
        "Write down ln λ_k P(k) p(x|k) for one feature and sort its terms: which hold x and k, which only k, which "
        "only x?",
        "w_kj = θ_kj/φ_j and w_k0 = ln λ_k P(k) − Σ_j c(θ_kj)/φ_j. What was lost in print is the division by φ, twice.",
        "`weights = theta / phi`, of shape (K, D): numpy lines the D dispersions up with the columns."),
    notice="What to notice: losses and priors sit in the bias only, as ln λP, and the weights know nothing of them. "
           "With equal priors and one φ for all features the printed formula decides the same, so no balanced test "
           "finds it.",
    intermediates=("weights", "normaliser"),
)


@linear_form.cases
def linear_form_cases(rng):
    yield Case("one normal feature, two classes",
               _normal(np.array([[2.0], [12.0]]), np.array([2.0]), np.array([0.9, 0.1]), np.ones(2)))
    yield Case("a missed spam is three times as dear",
               _normal(np.array([[1.0], [4.0]]), np.array([3.0]), np.array([0.6, 0.4]), np.array([1.0, 3.0])))
    yield Case("three classes, four normal features",
               _normal(rng.normal(2, 3, size=(3, 4)), rng.uniform(1.5, 6, size=4), rng.dirichlet([4.0, 2.0, 3.0]),
                       rng.uniform(1.5, 4, 3)))
    theta = np.column_stack([rng.normal(0.5, 1, 3), rng.normal(0.8, 0.3, 3), rng.normal(20, 2, 3)])
    c = np.column_stack([np.logaddexp(0, theta[:, 0]), np.exp(theta[:, 1]), theta[:, 2] ** 2 / 2])
    yield Case("yes or no, a count and a length",
               (theta, c, np.array([1.0, 1.0, rng.uniform(4, 9)]), rng.dirichlet([4.0, 2.0, 3.0]),
                rng.uniform(0.5, 4, 3)))


def _normal(theta, phi, priors, losses):
    return theta, theta**2 / 2, phi, priors, losses


@linear_form.variant
def number_by_number(theta, c, phi, priors, losses):
    weights = [[t / p for t, p in zip(row, phi.tolist())] for row in theta.tolist()]
    bias = [math.log(prior) + math.log(loss) - math.fsum(v / p for v, p in zip(row, phi.tolist()))
            for row, prior, loss in zip(c.tolist(), priors.tolist(), losses.tolist())]
    return np.array(weights), np.array(bias)


@linear_form.variant
def as_matrix_products(theta, c, phi, priors, losses):
    scale = np.diag(1 / phi)
    return theta @ scale, np.log(losses) + np.log(priors) - c @ scale @ np.ones(len(phi))


@linear_form.mistake(
    "This is the recipe as printed: φ is divided out nowhere.",
    "The exponent is (xθ − c)/φ. Both the weight and c(θ) in the bias are divided by φ_j. As printed, the boundary "
    "of the first example lies at 7.220 instead of 7.439: the priors count φ times too little.")
def as_printed(theta, c, phi, priors, losses):
    return theta.copy(), np.log(losses * priors) - c.sum(axis=1)


@linear_form.mistake(
    "φ is divided out of the weights, but not out of the bias.",
    "c(θ) stands under the same φ as xθ. Half-way between the means of two normal classes with equal priors the two "
    "sides must be equal; with your bias they are not. Subtract Σ c/φ.")
def phi_in_weights_only(theta, c, phi, priors, losses):
    return theta / phi, np.log(losses * priors) - c.sum(axis=1)


@linear_form.mistake(
    "φ is divided out of the bias, but not out of the weights.",
    "The weight of feature j is θ/φ_j. Otherwise a feature in millimetres counts φ times too much against the "
    "others, and the boundary is not where the densities cross.")
def phi_in_bias_only(theta, c, phi, priors, losses):
    return theta.copy(), np.log(losses * priors) - (c / phi).sum(axis=1)


@linear_form.mistake(
    "c(θ) is missing from the bias.",
    "Then, with equal λP, all classes are equal at x = 0, wherever their means are. −Σ c(θ)/φ is what puts the "
    "boundary between the means.")
def c_missing(theta, c, phi, priors, losses):
    return theta / phi, np.log(losses * priors)


@linear_form.mistake(
    "c(θ) is added to the bias instead of subtracted.",
    "The exponent is (xθ − c)/φ: the minus belongs to c and goes with it into the bias. With the plus the boundary "
    "lands on the other side of 0.")
def c_added(theta, c, phi, priors, losses):
    return theta / phi, np.log(losses * priors) + (c / phi).sum(axis=1)


@linear_form.mistake(
    "The losses are forgotten.",
    "The rule compares λ_k P(k) p(x|k). A class whose errors are three times as dear gets ln 3 more bias.")
def without_losses(theta, c, phi, priors, losses):
    return theta / phi, np.log(priors) - (c / phi).sum(axis=1)


@linear_form.mistake(
    "The losses are divided by instead of multiplied with.",
    "A dearer class must be decided for more readily, so its bias grows: + ln λ_k, not − ln λ_k.")
def losses_divide(theta, c, phi, priors, losses):
    return theta / phi, np.log(priors / losses) - (c / phi).sum(axis=1)


@linear_form.mistake(
    "λP goes into the bias without a logarithm.",
    "All other terms are logarithms of densities. The factor λP becomes the term ln λP.")
def no_logarithm(theta, c, phi, priors, losses):
    return theta / phi, losses * priors - (c / phi).sum(axis=1)


@linear_form.mistake(
    "λ is added to the bias without a logarithm.",
    "ln(λP) = ln λ + ln P. An error that costs nothing extra has λ = 1 and adds ln 1 = 0, not 1.")
def losses_without_logarithm(theta, c, phi, priors, losses):
    return theta / phi, losses + np.log(priors) - (c / phi).sum(axis=1)


@linear_form.mistake(
    "All classes get the same sum of c(θ): it runs over the classes too.",
    "`(c / phi).sum()` without an axis adds up all K rows. Each class has its own sum over the features: "
    "`sum(axis=1)`, of shape (K,).")
def c_of_all_classes(theta, c, phi, priors, losses):
    return theta / phi, np.log(losses * priors) - (c / phi).sum()


@linear_form.mistake(
    "c(θ) is summed over the classes instead of the features.",
    "Row k of c belongs to class k. Name the axis that shall disappear: the D features, `axis=1`. With D = 1, or with "
    "D = K, the wrong axis gives no error.")
def c_down_the_columns(theta, c, phi, priors, losses):
    return theta / phi, np.log(losses * priors) - (c / phi).sum(axis=0)


@linear_form.mistake(
    "ln λP is divided by φ too.",
    "Only (xθ − c) stands over φ. The prior and the loss belong to the class, not to any feature, and enter once, as "
    "they are: ln λ_k P(k) − Σ_j c/φ_j.")
def prior_divided_too(theta, c, phi, priors, losses):
    return theta / phi, ((np.log(losses * priors)[:, None] - c) / phi).sum(axis=1)


@linear_form.mistake(
    "φ is taken for a variance, and its root divided out.",
    "The exponent is (xθ − c)/φ, with φ itself. For a normal feature φ is σ² already, and θx/σ would be in mm.")
def root_of_phi(theta, c, phi, priors, losses):
    root = np.sqrt(phi)
    return theta / root, np.log(losses * priors) - (c / root).sum(axis=1)


@linear_form.mistake(
    "λP is made to sum to 1 first.",
    "Your rule decides the same, for every bias has lost the same number. But the exercise asks for "
    "ln λ_k P(k) p(x|k) itself: take λ and P as they come.")
def weights_normalised(theta, c, phi, priors, losses):
    g = losses * priors
    return theta / phi, np.log(g / g.sum()) - (c / phi).sum(axis=1)


@linear_form.mistake(
    "c(θ) is computed anew as θ²/2.",
    "That is the normal's. You are given the values of c, of whatever family each feature is: use those.")
def always_normal(theta, c, phi, priors, losses):
    return theta / phi, np.log(losses * priors) - (theta**2 / 2 / phi).sum(axis=1)


@linear_form.mistake(
    "φ is multiplied in instead of divided out.",
    "Look at the units. For a length, θ is in mm and φ in mm²; θ·x/φ is a pure number, θ·x·φ is mm⁴. A feature that "
    "spreads widely must weigh less.")
def phi_multiplied(theta, c, phi, priors, losses):
    return theta * phi, np.log(losses * priors) - (c * phi).sum(axis=1)


# --- E2.8 ---------------------------------------------------------------------------------------------------------

area_under_roc = Exercise(
    "area_under_roc", id="E2.8", title="The area under the ROC curve, ties included", points=1,
    hints=(
        "Write the positives down one side of a table and the negatives along the other. In each cell: who wins? How "
        "many cells are there?",
        "(wins + ½ ties)/(N₁·N₀), where wins and ties are counted over all pairs of a positive and a negative.",
        "`gap = score[positive][:, None] - score[~positive]`: a column minus a row is the table of all pairs."),
    notice="What to notice: only differences of scores occur, so a bias, or any growing function of the score, changes "
           "nothing. A score that says the same of everybody gets ½.",
    intermediates=("wins", "ties"),
    ready=("scipy.stats.mannwhitneyu", "sklearn.metrics.roc_auc_score"),
)


@area_under_roc.cases
def area_under_roc_cases(rng):
    yield Case("three positives, two negatives, two ties",
               (np.array([3.0, 2.0, 2.0, 2.0, 0.0]), np.array([True, True, True, False, False])))
    yield Case("no ties, mixed order", (np.array([0.3, -1.0, 2.0, 0.1]), np.array([True, False, False, True])))
    yield Case("the same score for everybody", (np.full(5, 1.5), np.array([False, True, True, False, False])))
    positive = np.array([True, False] * 4 + [False] * 5)
    yield Case("thirteen objects with marks from 1 to 4", (rng.integers(1, 5, 13) + positive.astype(float), positive))
    labels = rng.permutation(np.repeat([True, False], [7, 12]))
    yield Case("scores around −3, which a bias has moved", (rng.normal(size=19).round(1) + labels - 3, labels))


@area_under_roc.variant
def by_ranks(score, positive):
    rank = [1 + sum(other < a for other in score) + (sum(other == a for other in score) - 1) / 2 for a in score]
    n = int(positive.sum())
    return (math.fsum(r for r, p in zip(rank, positive) if p) - n * (n + 1) / 2) / (n * (len(score) - n))


@area_under_roc.variant
def by_trapezoids(score, positive):
    cuts = [math.inf, *sorted(set(score.tolist()), reverse=True)]
    hits = np.array([np.mean(score[positive] >= cut) for cut in cuts])
    alarms = np.array([np.mean(score[~positive] >= cut) for cut in cuts])
    return float((np.diff(alarms) * (hits[1:] + hits[:-1]) / 2).sum())


@area_under_roc.variant
def double_loop(score, positive):
    pairs = [(a, b) for a in score[positive] for b in score[~positive]]
    return math.fsum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in pairs) / len(pairs)


def _counts(score, positive):
    gap = score[positive][:, None] - score[~positive]
    return (gap > 0).sum(), (gap == 0).sum(), gap.size


@area_under_roc.mistake(
    "Ties count 0.",
    "`>` alone gives a tie to the negative. Then a score that says the same of everybody has an AUC of 0, as if it "
    "were wrong every time. A tie is a toss-up: add half of `(gap == 0).sum()`.")
def ties_lost(score, positive):
    wins, _, pairs = _counts(score, positive)
    return wins / pairs


@area_under_roc.mistake(
    "Ties count 1.",
    "`>=` gives every tie to the positive. A score that says the same of everybody then has a perfect AUC. A tie "
    "counts one half.")
def ties_won(score, positive):
    wins, ties, pairs = _counts(score, positive)
    return (wins + ties) / pairs


@area_under_roc.mistake(
    "Positives and negatives are exchanged: you return 1 − AUC.",
    "You count the pairs in which the negative has the higher score. Take the scores of the positives minus those of "
    "the negatives, not the other way round.")
def exchanged(score, positive):
    wins, ties, pairs = _counts(score, positive)
    return 1 - (wins + 0.5 * ties) / pairs


@area_under_roc.mistake(
    "Ties are broken by the order of the rows.",
    "`argsort` puts equal scores in some order, and your ranks believe it. Sort the table differently and the AUC "
    "changes. Equal scores must share their average rank, or be counted one half in pairs.")
def ranks_by_position(score, positive):
    rank = np.empty(len(score))
    rank[np.argsort(score, kind="stable")] = np.arange(1, len(score) + 1)
    n = positive.sum()
    return (rank[positive].sum() - n * (n + 1) / 2) / (n * (len(score) - n))


@area_under_roc.mistake(
    "Equal scores are passed one after the other: the curve has steps where it should slant.",
    "Your ROC curve takes the objects one by one, and among equal scores the order of the rows decides. All objects "
    "with the same score are passed at once; the slanted piece gives each such pair its half.")
def staircase(score, positive):
    hit = positive[np.argsort(-score, kind="stable")]
    return np.cumsum(hit)[~hit].sum() / (positive.sum() * (~positive).sum())


@area_under_roc.mistake(
    "All objects are compared with all.",
    "In a table of everybody against everybody each pair occurs twice, once won and once lost, so this is ½ whatever "
    "the scores are. Put the positives down the side, `score[positive][:, None]`, and the negatives across.")
def everybody_against_everybody(score, positive):
    gap = score[:, None] - score
    return np.mean((gap > 0) + 0.5 * (gap == 0))


@area_under_roc.mistake(
    "Lost pairs are counted −1.",
    "The mean of the signs is (wins − losses)/pairs = 2·AUC − 1, which is 0 for a coin. The AUC counts a lost pair 0 "
    "and a tie ½.")
def wins_less_losses(score, positive):
    return np.sign(score[positive][:, None] - score[~positive]).mean()


@area_under_roc.mistake(
    "It is divided by the square of the number of objects.",
    "N² counts every object against every other and itself. You compared positives with negatives only: N₁·N₀ pairs, "
    "`gap.size`.")
def squared_number(score, positive):
    wins, ties, _ = _counts(score, positive)
    return (wins + 0.5 * ties) / len(score) ** 2


@area_under_roc.mistake(
    "It is divided by all pairs of objects.",
    "N(N − 1)/2 counts pairs of two positives and of two negatives too, which are never compared. There are N₁·N₀ "
    "pairs of a positive and a negative.")
def all_pairs(score, positive):
    wins, ties, _ = _counts(score, positive)
    return (wins + 0.5 * ties) / (len(score) * (len(score) - 1) / 2)


@area_under_roc.mistake(
    "The number of pairs is not divided out.",
    "You return how many pairs were won. The AUC is their share: divide by N₁·N₀, the number of cells of the table.")
def not_divided(score, positive):
    wins, ties, _ = _counts(score, positive)
    return wins + 0.5 * ties


@area_under_roc.mistake(
    "This is the share of right decisions at the threshold 0.",
    "That depends on the bias: add 3 to all scores and it changes. The AUC asks how the objects are ordered, over all "
    "thresholds; no threshold occurs in it.")
def accuracy(score, positive):
    return np.mean((score > 0) == positive)
