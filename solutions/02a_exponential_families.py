# %% [markdown]
# # Exercises 02a: Maximum likelihood and the exponential family
#
# Five exercises; they belong to the notebook
# [02a Maximum likelihood and the exponential family](../notebooks/02a_exponential_families.ipynb), about 75 minutes.
# Write each function, run its cell, then the `check(…)` below it. E2.2, E2.3, E2.7, E2.9 and E2.10 belong to
# [02b](02b_naive_bayes.ipynb).

# %% tags=["setup"]
import numpy as np

from course_lib.classroom import check, hint, solution
from course_lib.data import load

# %% [markdown]
# ## E2.1 From a mean to a natural parameter
#
# Maximum likelihood says: take the natural parameter $\theta$ whose mean is the mean of the data, $\hat\theta =
# [c']^{-1}(\bar x)$. Write that function for four families. `family` is a text:
#
# | `family` | values of a feature | $c(\theta)$ |
# |---|---|---|
# | `"normal"` | all numbers | $\theta^2/2$ |
# | `"bernoulli"` | 0, 1 | $\ln(1+e^\theta)$ |
# | `"binomial"` | 0, 1, …, `trials` | `trials` · $\ln(1+e^\theta)$ |
# | `"poisson"` | 0, 1, 2, … | $e^\theta$ |
#
# By hand first. A word occurs in 80 % of the spam, so $\bar x = 0.8$, Bernoulli. $c'(\theta) = 1/(1+e^{-\theta}) =
# 0.8$ means $e^{-\theta} = 0.25$, so $\theta = \ln 4 = 1.386$. A cell of a scanned digit has on average 4 inked points
# of 16. That is a share of a quarter, one inked point for three white ones: $\theta = \ln\frac{4}{12} = -1.099$. And 2
# misprints a page give $\theta = \ln 2 = 0.693$.
#
# **At the edge.** A mean of 0, where only values ≥ 0 are possible, has $\theta = -\infty$. A mean of 1 (Bernoulli) or
# of `trials` has $\theta = +\infty$. Return these; do not clip.


# %% tags=["solution"]
def natural_parameter(family, mean, trials):
    """The natural parameter with the given mean, θ = [c′]⁻¹(mean).

    Parameters
    ----------
    family : str
        "normal", "bernoulli", "binomial" or "poisson".
    mean : (K, D) array
        Mean of each feature in each class.
    trials : int
        Trials of a binomial; the other families do not use it.

    Returns
    -------
    (K, D) array
        θ; −inf or inf where the mean lies on the edge.
    """
    if family == "normal":
        return mean
    rest = {"bernoulli": 1 - mean, "binomial": trials - mean, "poisson": np.ones_like(mean)}[family]
    with np.errstate(divide="ignore"):
        return np.log(mean) - np.log(rest)


# %%
check(natural_parameter)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# Solve $c'(\theta) = \mu$ for $\theta$, four times.
#
# * **Normal:** $c'(\theta) = \theta$. Nothing to do.
# * **Bernoulli:** $\frac{1}{1+e^{-\theta}} = \mu \iff e^{-\theta} = \frac1\mu - 1 = \frac{1-\mu}{\mu} \iff \theta =
#   \ln\frac{\mu}{1-\mu}$.
# * **Binomial:** $\frac{n}{1+e^{-\theta}} = \mu$ is the same with $\mu/n$ for $\mu$: $\theta = \ln\frac{\mu/n}{1-\mu/n}
#   = \ln\frac{\mu}{n-\mu}$.
# * **Poisson:** $e^\theta = \mu \iff \theta = \ln\mu$.
#
# Three of them are $\ln\mu$ minus the logarithm of something: of $1 - \mu$, of $n - \mu$, of 1. So one line serves all
# three. Written as a difference, the logarithm of a quotient is right at both edges: $\ln 0 = -\infty$ in the first or
# in the second place. `np.errstate` says that this is meant.
#
# ### Why the wrong ones are wrong
#
# * *The identity.* A share of 0.8 has $\theta = 1.386$, and a share of 0.2 must have $-1.386$. The identity gives 0.8
#   and 0.2, two positive numbers: a rare word would speak *for* its class. How much that costs is put on trial in 02b.
# * *ln μ for the logit.* Right for rare words, where $1 - \mu \approx 1$; wrong for frequent ones. It is the Poisson's
#   line. The weight of a word must also count what its absence would have said, and that is $-\ln(1-\mu)$.
# * *The binomial without its trials.* $\ln\frac{\mu}{1-\mu}$ of a mean of 4 is the logarithm of a negative number.
# * *Clipped.* A tiny number keeps $\theta$ finite, and hides an estimate that does not exist. How large a weight you
#   get is then decided by the tiny number. If the data shall not decide, let a prior: 02b.

# %% [markdown] tags=["worked"]
# A check by another route: the mean of that density, summed up from its definition, must be the mean we began with.

# %% tags=["worked"]
theta = natural_parameter("binomial", np.array([[4.0, 15.0]]), 16)
x = np.arange(17)[:, None]
ways = np.array([1.0, *np.cumprod(np.arange(16, 0, -1) / np.arange(1, 17))])[:, None]
weight = ways * np.exp(x * theta)
print("means:", ((x * weight).sum(axis=0) / weight.sum(axis=0)).round(6))

# %% [markdown]
# ## E2.4 The fit of normal features
#
# Estimate normal densities for D features in K classes, the features taken as independent within a class. Return three
# arrays:
#
# * `mu` (K, D), the mean of each feature in each class;
# * `variance` (K, D), each class its own: $\frac{1}{N_k}\sum_{i:\,y_i=k}(x_{ij}-\mu_{kj})^2$;
# * `shared` (D,), one for all classes: $\varphi_j = \frac1N\sum_i (x_{ij} - \mu_{y_i j})^2$.
#
# Maximum likelihood, so the divisors are $N_k$ and $N$. By hand, one feature: class 0 has 1 and 3, class 1 has 10, 12
# and 14. The means are 2 and 12. The squares about them are 1, 1 and 4, 0, 4. So the variances are 1 and 8/3, and the
# shared one is 10/5 = 2. (It lies nearer to 8/3 than to 1: the larger class counts for more.)
#
# `y` holds the numbers 0, …, K − 1, and every class occurs. One of the inputs has features near $10^8$ with a spread of
# 1; your variances must be right there too.


# %% tags=["solution"]
def gaussian_fit(X, y, K):
    """Maximum likelihood means and variances of normal features, class by class.

    Parameters
    ----------
    X : (N, D) array
    y : (N,) array of int
        Class of each row, 0 to K − 1.
    K : int
        Number of classes.

    Returns
    -------
    mu : (K, D) array
    variance : (K, D) array
        Own variances, divisor N_k.
    shared : (D,) array
        One variance for all classes, divisor N.
    """
    R = np.eye(K)[y]
    counts = R.sum(axis=0)
    mu = R.T @ X / counts[:, None]
    within = X - mu[y]
    squares = R.T @ within**2
    variance = squares / counts[:, None]
    shared = squares.sum(axis=0) / len(X)
    return mu, variance, shared


# %%
check(gaussian_fit)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `R` (N, K) has a 1 in the column of each row's class. `R.T @ X` then adds up the rows of each class: (K, D).
# 2. `mu[y]` (N, D) hands every row the mean of its own class. No loop over classes is needed.
# 3. `squares` (K, D) sums the squares class by class. Divided by $N_k$ it is the own variance; summed over the classes
#    and divided by $N$, the shared one.
#
# Why these are the maxima: for one feature of one class, $\ell = -\frac{1}{2\sigma^2}\sum(x_i-\mu)^2 - N_k\ln\sigma +
# \dots$ The sum of squares is smallest at $\mu = \bar x$, for every $\sigma$. With $S$ for it,
# $\partial\ell/\partial\sigma = (S - N_k\sigma^2)/\sigma^3$ goes from plus to minus at $\sigma^2 = S/N_k$. If the
# classes share $\sigma$, their logs add up to the same function with the sum of all $S$, and with $N$ for $N_k$.
#
# The shared variance is therefore the average of the own ones, **weighted by the sizes**: $\varphi =
# \sum_k \frac{N_k}{N} \sigma_k^2$.
#
# ### Why the wrong ones are wrong
#
# * *Divisor n − 1.* Another estimate, without bias, and not the likeliest. R uses it; then say so.
# * *Standard deviation for variance.* The same numbers only where they are 1. Look at the units: mm², not mm.
# * *About the mean of all rows.* Then the distance between the classes counts as spread within them. In the example you
#   get 26 instead of 2.
# * *The plain average of the variances.* A class of two rows would count as much as a class of two thousand.
# * *Mean of squares minus square of the mean.* True on paper. Near $10^8$ both are about $10^{16}$, where neighbouring
#   floating point numbers are 2 apart. The difference is noise; it may be negative.

# %% tags=["worked"]
table = load("penguins")
X, label = table.Xy("bill_length_mm", "flipper_length_mm", label="species")
kinds, y = np.unique(label, return_inverse=True)
mu, variance, shared = gaussian_fit(X, y, 3)
for name, row, spread in zip(kinds, mu, variance):
    print(f"{name:10s} means {row.round(2)} mm, variances {spread.round(2)} mm²")
print("shared variances", shared.round(2), "=", (np.bincount(y) @ variance / len(y)).round(2))

# %% [markdown]
# ## E2.5 The log joint with features of different kinds
#
# A patient: age, smoker or not, visits last year. A normal feature, a Bernoulli, a Poisson. In the exponential form
# they go into one sum,
#
# $$\ln P(k)\, p(x \mid k) = \ln P(k) + \sum_j \Bigl( \frac{x_j \theta_{kj} - c_j(\theta_{kj})}{\varphi_j} +
# h_j(x_j, \varphi_j) \Bigr).$$
#
# | family | $c(\theta)$ | $h(x, \varphi)$ | $\varphi$ |
# |---|---|---|---|
# | `"normal"` | $\theta^2/2$ | $-\frac{x^2}{2\varphi} - \frac12\ln 2\pi\varphi$ | variance |
# | `"bernoulli"` | $\ln(1+e^\theta)$ | 0 | 1 |
# | `"poisson"` | $e^\theta$ | $-\ln x!$ | 1 |
#
# By hand, one object and one class with $P(k) = \frac12$. A normal feature $x = 3$ with $\theta = 1$ and $\varphi = 4$:
# $(3 - \frac12)/4 - \frac98 - \frac12\ln 8\pi = 0.625 - 1.125 - 1.612 = -2.112$. A Bernoulli $x = 1$ with $\theta = 0$:
# $-\ln 2 = -0.693$. A Poisson $x = 2$ with $\theta = 0$: $0 - 1 - \ln 2 = -1.693$. With $\ln\frac12$ the sum is
# $-5.192$.
#
# Return the whole log joint, $h$ included. $\theta$ of a Bernoulli may be as large as ±800. `scipy.special.gammaln(x +
# 1)` is $\ln x!$.


# %% tags=["solution"]
def mixed_log_joint(X, families, theta, phi, priors):
    """ln P(k) p(x|k) of objects with independent features of different kinds.

    Parameters
    ----------
    X : (N, D) array
    families : tuple of D str
        "normal", "bernoulli" or "poisson", one for each column.
    theta : (K, D) array
        Natural parameters.
    phi : (D,) array
        Dispersions; 1 for all but normal features.
    priors : (K,) array
        P(k).

    Returns
    -------
    (N, K) array
    """
    from scipy.special import gammaln

    log_normaliser = {"normal": lambda t: t**2 / 2, "bernoulli": lambda t: np.logaddexp(0, t), "poisson": np.exp}
    rest = {"normal": lambda x, p: -x**2 / (2 * p) - np.log(2 * np.pi * p) / 2,
            "bernoulli": lambda x, p: np.zeros(len(x)), "poisson": lambda x, p: -gammaln(x + 1)}
    c = np.column_stack([log_normaliser[family](t) for family, t in zip(families, theta.T)])
    h = np.column_stack([rest[family](x, p) for family, x, p in zip(families, X.T, phi)])
    weighted = (X / phi) @ theta.T
    return weighted - (c / phi).sum(axis=1) + h.sum(axis=1)[:, None] + np.log(priors)


# %%
check(mixed_log_joint)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `c` (K, D): each column of `theta` goes through its own family's function. `np.logaddexp(0, t)` is $\ln(1+e^t)$; it
#    does not overflow at 800, where $e^t$ does.
# 2. `h` (N, D): each column of `X` through its own. It depends on the object and not on the class.
# 3. `weighted` (N, K): $\sum_j x_{ij}\theta_{kj}/\varphi_j$ is one matrix product. Divide the columns of `X` (or of
#    `theta`) by $\varphi$ first.
# 4. Three more terms: one for each class, $-\sum_j c/\varphi$; one for each object, $\sum_j h$, as a column; and
#    $\ln P(k)$ for each class.
#
# Line 4 shows what happens in a classifier: the column of $h$ is the same for all classes and drops out. For the
# *density* it is needed, and for $\ln p(x) = \operatorname{lse}_k$ of the row too.
#
# ### Why the wrong ones are wrong
#
# * *φ not divided out*: with $\varphi = 1$ nobody sees it. A normal feature in millimetres then counts $\varphi$ times
#   too much.
# * *φ taken for a standard deviation*: $\varphi$ is the variance, $\varphi = \sigma^2$.
# * *c missing*: the class with the larger $\theta$ wins everywhere. $c$ is what makes the density sum to 1.
# * *c not divided by φ*: half of the mistake above, and harder to see.
# * *h missing*: harmless for the decision, wrong as a log density.
# * *P(k) added without its logarithm*: a probability among logarithms.
# * *ln(1 + exp t) written out*: infinite from $t = 710$ on.

# %% [markdown] tags=["worked"]
# A check by another route, scipy's densities in their usual form:

# %% tags=["worked"]
from scipy import stats

X = np.array([[3.0, 1, 2], [-1.0, 0, 5]])
theta, phi = np.array([[1.0, 0.0, 0.0], [-0.5, 2.0, 1.2]]), np.array([4.0, 1.0, 1.0])
usual = np.array([stats.norm.logpdf(X[:, 0], t[0], 2) + stats.bernoulli.logpmf(X[:, 1], 1 / (1 + np.exp(-t[1])))
                  + stats.poisson.logpmf(X[:, 2], np.exp(t[2])) for t in theta]).T + np.log([0.5, 0.5])
ours = mixed_log_joint(X, ("normal", "bernoulli", "poisson"), theta, phi, np.array([0.5, 0.5]))
print(ours.round(3), " agree:", bool(np.allclose(ours, usual, rtol=1e-12)))

# %% [markdown]
# ## E2.6 Find the mistake: weights and bias
#
# Densities $\exp\bigl((x\theta - c(\theta))/\varphi + h(x, \varphi)\bigr)$ whose $\varphi_j$ is the same for all
# classes give a linear rule: decide for the class with the largest $w_k^\top x + w_{k0}$. In a set of lecture notes
# you find the recipe, written in our letters,
#
# $$w_{kj} = \theta_{kj}, \qquad w_{k0} = \ln P(k) - \sum_j c(\theta_{kj}). \qquad\text{(as printed)}$$
#
# **Something was lost on the way to the printer.** Find out what, and write the right one, with losses $\lambda_k$ too.
#
# Try it on one normal feature with $\varphi = 2$, class means 2 and 12, and priors 0.9 and 0.1. You know the answer
# from the densities. By hand, the log joints are equal where $\ln 0.9 - \frac{(x-2)^2}{4} = \ln 0.1 -
# \frac{(x-12)^2}{4}$, that is $5x - 35 = \ln 9$, at $x = 7.439$. The printed recipe has $c = \theta^2/2 = 2$ and 72;
# it compares $2x - 2 + \ln 0.9$ with $12x - 72 + \ln 0.1$ and puts the boundary at $x = 7.220$.
#
# With equal priors both say 7: no test on balanced classes would have found it. You are given the *values* of $c$, so
# that your function works for every family. Return the weights (K, D) and the bias (K,) that make $w_k^\top x +
# w_{k0} = \ln \lambda_k P(k) p(x \mid k)$, up to the $h$ that all classes share.


# %% tags=["solution"]
def linear_form(theta, c, phi, priors, losses):
    """Weights and bias of the linear discriminants of exponential families with a shared dispersion.

    Parameters
    ----------
    theta : (K, D) array
        Natural parameters.
    c : (K, D) array
        Values c(θ) of the log-normalisers.
    phi : (D,) array
        Dispersion of each feature.
    priors, losses : (K,) arrays
        P(k) and λ_k.

    Returns
    -------
    weights : (K, D) array
    bias : (K,) array
    """
    weights = theta / phi
    normaliser = (c / phi).sum(axis=1)
    bias = np.log(losses * priors) - normaliser
    return weights, bias


# %%
check(linear_form)

# %% [markdown] tags=["worked"]
# ### The solution
#
# Write the log joint down and sort its terms by what they depend on:
#
# $$\ln\lambda_k P(k) + \sum_j\Bigl(\frac{x_j\theta_{kj} - c(\theta_{kj})}{\varphi_j} + h(x_j, \varphi_j)\Bigr)
# = \sum_j \underbrace{\frac{\theta_{kj}}{\varphi_j}}_{w_{kj}} x_j + \underbrace{\ln\lambda_k P(k) - \sum_j
# \frac{c(\theta_{kj})}{\varphi_j}}_{w_{k0}} + \sum_j h(x_j, \varphi_j).$$
#
# The printed recipe has lost $1/\varphi_j$, twice. (In the notes it is one factor, $1/s$ in $\theta^\top x/s$, because
# their form is $\frac1s h(\frac xs) g(\theta) e^{\theta^\top x/s}$, where $g$ is not divided by $s$. In the same line
# $\frac1s$ should be $1/s^D$. *That* one never harms a decision; it is the same for all classes.)
#
# **When is it visible?** If all $\varphi_j$ are the same number $\varphi$, the printed rule is $\varphi$ times the
# right one, but for $\ln P(k)$, which is not multiplied. So with equal priors it decides the same. It shows as soon as
# priors or losses differ, or one feature's $\varphi$ differs from another's; there the feature with the larger spread
# counts too much.
#
# ### Why the wrong ones are wrong
#
# * *As printed*: the priors count $\varphi$ times too little, and features are not brought to one scale.
# * *φ in the weights only*: the boundary of two normals is no longer half-way between the means.
# * *c left out*: the boundary goes through the origin, wherever the classes are.
# * *+c*: the constant has the wrong sign; check it half-way between two means.
# * *λ left out*, or *λ and P without the logarithm*: the bias lives among logarithms.
# * *times φ*: units. A weight times $x$ must be a pure number, and $\theta x/\varphi$ is, for mm · mm / mm².

# %% tags=["worked"]
theta, phi = np.array([[2.0], [12.0]]), np.array([2.0])
w, w0 = linear_form(theta, theta**2 / 2, phi, np.array([0.9, 0.1]), np.ones(2))
printed = theta[:, 0], np.log([0.9, 0.1]) - theta[:, 0]**2 / 2
for name, slope, constant in (("right", w[:, 0], w0), ("as printed", *printed)):
    print(f"{name:10s} boundary at {(constant[0] - constant[1]) / (slope[1] - slope[0]):.3f}")

# %% [markdown] tags=["worked"]
# And the other misprint, $\frac1s$ for $1/s^D$: take $h(u) = (2\pi)^{-D/2} e^{-u^\top u/2}$ and $\theta = 0$, so that
# $g = 1$, in $D = 2$ dimensions with $s = \frac12$. Summed over a fine grid the printed density gives $s^{D-1}$ and
# not 1.

# %% tags=["worked"]
s, side = 0.5, np.arange(-4, 4, 0.02)
grid = np.stack(np.meshgrid(side, side), axis=-1)
h = np.exp(-(grid**2).sum(axis=-1) / (2 * s**2)) / (2 * np.pi)
print(f"with 1/s: {h.sum() * 0.02**2 / s:.4f}, with 1/s²: {h.sum() * 0.02**2 / s**2:.4f}")

# %% [markdown]
# ## E2.8 The area under the ROC curve, ties included
#
# Draw one positive and one negative object at random. The AUC is the probability that the positive one has the higher
# score; if the scores are equal it counts one half:
#
# $$\text{AUC} = \frac{1}{N_1 N_0}\sum_{i:\,\text{positive}}\;\sum_{l:\,\text{negative}} \Bigl([a_i > a_l] + \tfrac12[a_i =
# a_l]\Bigr).$$
#
# By hand: positives 3, 2, 2; negatives 2, 0. There are 3 · 2 = 6 pairs. 3 beats both, each 2 beats the 0 and ties with
# the 2: $2 + 1.5 + 1.5 = 5$ of 6.
#
# `positive` is an array of True and False, with both kinds in it. Return one number. Scores are few enough for you to
# compare all pairs.


# %% tags=["solution"]
def area_under_roc(score, positive):
    """Probability that a positive scores above a negative, a tie counting one half.

    Parameters
    ----------
    score : (N,) array
        Scores, for example log odds.
    positive : (N,) array of bool

    Returns
    -------
    float
    """
    gap = score[positive][:, None] - score[~positive]
    wins = (gap > 0).sum()
    ties = (gap == 0).sum()
    return (wins + 0.5 * ties) / gap.size


# %%
check(area_under_roc)

# %% [markdown] tags=["worked"]
# ### The solution
#
# `score[positive][:, None]` is a column (N₁, 1), `score[~positive]` a row (N₀,). Their difference has every pair once,
# (N₁, N₀), and its size is the number of pairs.
#
# **For many objects** a table of all pairs is large. Rank all scores, equal ones sharing their average rank, and add
# the ranks of the positives: $U = \sum_i r_i - \frac{N_1(N_1+1)}{2}$. The rank of a positive counts the objects at or
# below it: the negatives that it beats (ties half, by the average), and the positives that it beats or is. Summed over
# the positives the latter make $1 + 2 + \dots + N_1$. What is left is the number of pairs won, and AUC $= U/(N_1N_0)$.
#
# **Why the bias does not matter**: only differences of scores occur.
#
# ### Why the wrong ones are wrong
#
# * *Ties count 0*, or *1*. Then the answer depends on which class is called positive: the AUC of the turned problem
#   should be 1 minus this one. A score that says the same of everybody would have an AUC of 0 or 1. It should be a
#   half.
# * *Ranks in the order of the rows*: `argsort` breaks ties by position. Sort the table and the AUC changes.
# * *Positive and negative exchanged*: 1 − AUC. A good score with an AUC near 0 is a sign turned round.
# * *Divided by all pairs of objects*, $N(N-1)/2$ or $N^2$: only pairs of a positive and a negative are compared.
# * *The share of right decisions*: that depends on the bias. The AUC does not.

# %% tags=["worked"]
score, positive = np.array([3.0, 2, 2, 2, 0]), np.array([True, True, True, False, False])
rank = np.array([np.mean(np.flatnonzero(np.sort(score) == a)) + 1 for a in score])
by_ranks = (rank[positive].sum() - 3 * 4 / 2) / (3 * 2)
print(f"by pairs {area_under_roc(score, positive):.4f}, by ranks {by_ranks:.4f}, "
      f"with 5 added {area_under_roc(score + 5, positive):.4f}, turned round {area_under_roc(-score, positive):.4f}")
