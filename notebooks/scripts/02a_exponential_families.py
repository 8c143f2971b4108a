# %% [markdown]
# # 02a Maximum likelihood and the exponential family
#
# **The question of this unit:** features come in kinds: lengths, yes or no, counts. Must each kind be estimated in
# a way of its own, or does one way serve them all?
#
# After 80 minutes you can
#
# * derive a maximum likelihood estimate, show that it is a maximum, and check it with an optimiser;
# * write a density in the form $\exp\bigl((x\theta - c(\theta))/\varphi + h\bigr)$ and read its mean and variance off
#   $c$;
# * estimate any such density from nothing but the mean, and say when there is no finite estimate;
# * turn the estimates into the weights and the bias of a linear classifier, and say when it is not linear;
# * say what the bias can change about a classifier, and what it cannot.
#
# **It builds on** [00 Start here](00_start_here.ipynb) and [01 Bayes' rule and risk](01_bayes_rule_and_risk.ipynb): the
# best rule takes the class with the largest $\ln \lambda_y P(y) + \ln p(x \mid y)$. Here you estimate the last term.
# **To run it**, type `course lab` in the folder of the course. The exercises are
# [in their own notebook](../exercises/02a_exponential_families.ipynb).

# %%
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from time import perf_counter

import numpy as np
from matplotlib import pyplot as plt
from scipy import optimize, stats
from scipy.special import gammaln

from course_lib import LDA, Bernoulli, Binomial, LogisticRegression, NaiveBayes, Normal, Poisson, families, plots
from course_lib.classroom import predict, quiz
from course_lib.data import load
from course_lib.decision import auc, logit, roc_curve, sigmoid

plots.style()

# %% [markdown]
# ## 1. A decision first
#
# A message arrives. It contains the words *remove*, *free* and *our*. It contains neither *money* nor *hp* nor
# *george*. Is it spam? You have 4,601 older messages, sorted by hand into spam and mail. They were collected by a man
# named George who worked for HP, so these two words are worth something.

# %%
spam = load("spambase")
y = spam["spam"].astype(int)                                             # (N,) 1 for spam
signs = [name for name in spam.columns if name.startswith(("w_", "c_"))]  # 48 words and 6 characters
B = (spam.matrix(*signs) > 0).astype(float)                              # (N, 54) does it occur?
words = ["remove", "free", "our", "money", "hp", "george"]
few = B[:, [signs.index(f"w_{word}") for word in words]]
alike = (few == [1, 1, 1, 0, 0, 0]).all(axis=1)
print(f"{alike.sum()} of {len(y)} messages are like this one in the six words; {y[alike].sum()} of them are spam")

# %%
shares = np.array([few[y == k].mean(axis=0) for k in (0, 1)])            # (K, D) = (2, 6)
fig, ax = plt.subplots(figsize=(6.8, 3.4))
plots.bars(ax, shares.T, words, groups=["mail", "spam"], fmt="{:.3f}")
ax.set(xlabel="word", ylabel="share of messages that contain it", ylim=(0, 0.75))
plots.alt(fig, "Share of mail and of spam that contains each of six words. Remove, free, our and money are about 3 to "
               "28 times as frequent in spam; hp and george occur almost only in mail.")
plt.show()

# %% [markdown]
# 145 of 149: you decide for spam. Six words can be counted like that. But the data have 54 words and signs, and you
# would like to use them all. How many of the 4,601 messages have a pattern of 54 that **no other message shares**?
# Guess before you run the second cell.

# %%
predict("2.1", None)

# %%
patterns, count = np.unique(B, axis=0, return_counts=True)
print(f"{2.0 ** 54:.3g} possible patterns, {len(patterns)} of them seen")
print(f"seen only once: {np.mean(count == 1):.0%} of these, and {np.sum(count == 1) / len(y):.0%} of all messages")
predict("2.1", result=np.sum(count == 1))

# %% [markdown]
# More than half of all messages are alone. (That share is also a good estimate, due to Alan Turing and I. J. Good, of
# the chance that the *next* message has a pattern never seen before.) Counting its like then finds nothing. So $p(x
# \mid y)$ has to be put together from pieces that *have* been seen often: the single words. That is the plan of this
# unit. Find a density for one feature in one class, of whatever kind the feature is; find one recipe for all kinds;
# put the pieces together.
#
# **Notation.** Symbols that are new or used in a new way:
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $\mu$ | mean of a feature in a class; for yes or no it is the share of yes | (K, D) | `mu` |
# | $\bar x$ | mean of the data | (K, D) | `mean` |
# | $\ell$ | log likelihood | | `log_likelihood` |
# | $\theta$ | natural parameter | (K, D) | `theta` |
# | $c(\theta)$ | log-normaliser; $c'$, $c''$ its derivatives | (K, D) | `c`, `dc`, `ddc` |
# | $[c']^{-1}$ | the inverse function of $c'$: from a mean to $\theta$ | | `dc_inverse` |
# | $\varphi$ | dispersion: $\sigma^2$ for a normal feature, mostly 1 | (D,) | `phi` |
# | $h(x, \varphi)$ | the rest of the exponent | | `h` |
# | $u(x)$ | what is summed over the data, mostly $x$ | | `u` |
# | $n$; $s$ | a number that is known: trials of a binomial; shape or size of others | | `trials`; `shape`, `size` |
#
# ## 2. Maximum likelihood
#
# A bent coin fell heads 8 times in 10 throws. Which probability $\mu$ of heads would you put your money on, and why?
# Maximum likelihood says: take the $\mu$ **under which what you saw was most probable**. By hand: with $\mu = 0.5$,
# eight heads of ten have the probability $45 \cdot 0.5^{10} = 0.044$; with $\mu = 0.9$ it is
# $45 \cdot 0.9^8 \cdot 0.1^2 = 0.194$. In between it is larger still.
#
# **The maximum.** As a function of $\mu$ (there are 45 ways to place 8 heads among 10 throws),
#
# $$P(8 \mid \mu) = 45\, \mu^8 (1-\mu)^2 .$$
#
# Its derivative, by the product rule and then with the common factors taken out:
#
# $$45 \bigl( 8 \mu^7 (1-\mu)^2 - 2 \mu^8 (1-\mu) \bigr) = 90\, \mu^7 (1-\mu) \bigl( 4(1-\mu) - \mu \bigr)
# = 90\, \mu^7 (1-\mu) (4 - 5\mu).$$
#
# Inside (0, 1) it vanishes only at $\mu = 4/5$. Left of it the derivative is positive, right of it negative, so this is
# the maximum. The second derivative says how sharp it is: at the zero only the last factor needs to be differentiated,
# and $90 \cdot 0.8^7 \cdot 0.2 \cdot (-5) = -18.874$.
#
# **In logs it is shorter.** With $N_1$ heads in $N$ throws, $\ell(\mu) = \text{const} + N_1 \ln \mu + (N - N_1)
# \ln(1-\mu)$, and
#
# $$\ell'(\mu) = \frac{N_1}{\mu} - \frac{N - N_1}{1 - \mu} = 0 \iff N_1 (1-\mu) = (N - N_1)\mu \iff
# \hat\mu = \frac{N_1}{N}.$$
#
# The logarithm grows with its argument, so it has its maximum at the same place; and it turns the product over the
# objects into a sum. Is it true? An optimiser that knows nothing of derivatives should find the same place:


# %%
def coin(mu):
    """P(8 | μ): 8 heads of 10."""
    return 45 * mu**8 * (1 - mu)**2


# %%
# claim 2.0
found = optimize.minimize_scalar(lambda mu: -coin(mu), bounds=(0, 1), method="bounded", options={"xatol": 1e-9}).x
step = 1e-4
curvature = (coin(0.8 + step) - 2 * coin(0.8) + coin(0.8 - step)) / step**2
assert abs(found - 0.8) < 1e-6 and abs(curvature + 18.874368) < 1e-3
print(f"P(8|0.5) = {coin(0.5):.3f}, P(8|0.9) = {coin(0.9):.3f}")
print(f"the optimiser finds {found:.5f}; second derivative there {curvature:.3f}")

# %% [markdown]
# **A normal feature** has two parameters. The log likelihood of $x_1, \dots, x_N$ is
#
# $$\ell(\mu, \sigma) = \sum_{i} \ln \frac{e^{-(x_i - \mu)^2 / 2\sigma^2}}{\sqrt{2\pi}\,\sigma}
# = -\frac{1}{2\sigma^2} \sum_i (x_i - \mu)^2 - N \ln \sigma - \frac N2 \ln 2\pi .$$
#
# *The mean.* Write $x_i - \mu = (x_i - \bar x) + (\bar x - \mu)$ and square. The mixed terms sum to
# $2(\bar x - \mu)\sum_i (x_i - \bar x) = 0$, so
#
# $$\sum_i (x_i - \mu)^2 = \sum_i (x_i - \bar x)^2 + N (\bar x - \mu)^2 .$$
#
# Whatever $\sigma$ is, this is smallest, and $\ell$ largest, at $\hat\mu = \bar x$.
#
# *The variance.* Put that in and call the remaining sum $S = \sum_i (x_i - \bar x)^2$. Then
#
# $$\frac{\partial \ell}{\partial \sigma} = \frac{S}{\sigma^3} - \frac{N}{\sigma} = \frac{S - N\sigma^2}{\sigma^3},$$
#
# which is positive for $\sigma^2 < S/N$ and negative above. So this is the maximum, over all $\mu$ and $\sigma$:
#
# $$\hat\mu = \frac1N \sum_i x_i, \qquad \hat\sigma^2 = \frac1N \sum_i (x_i - \hat\mu)^2 .$$
#
# By hand: 1, 3, 8 have the mean 4 and the squares 9, 1, 16; $\hat\sigma^2 = 26/3$. Now the flippers of 151 Adelie
# penguins, and an optimiser that looks for both numbers at once, in $\mu$ and $\ln\sigma$:

# %%
penguins = load("penguins")
flipper = penguins["flipper_length_mm"][penguins["species"] == "Adelie"]
flipper = flipper[~np.isnan(flipper)]                                    # one Adelie was not measured


def normal_log_likelihood(mu, sigma):
    return stats.norm.logpdf(flipper, mu, sigma).sum()


# %%
# claim 2.0
best = optimize.minimize(lambda v: -normal_log_likelihood(v[0], np.exp(v[1])), [180, 1], method="Nelder-Mead",
                         options={"xatol": 1e-7, "fatol": 1e-10, "maxiter": 2000}).x
by_formula = flipper.mean(), np.sqrt(np.mean((flipper - flipper.mean())**2))
np.testing.assert_allclose([best[0], np.exp(best[1])], by_formula, rtol=1e-5)
print(f"N = {len(flipper)}, mean {by_formula[0]:.3f} mm, sd {by_formula[1]:.4f} mm; the optimiser agrees")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
mu = np.linspace(0, 1, 301)
for heads, k in ((5, 0), (8, 1), (10, 2)):
    left.plot(mu, stats.binom.pmf(heads, 10, mu), color=plots.look(k).colour, linestyle=plots.look(k).line,
              label=f"{heads} of 10")
    left.plot(heads / 10, stats.binom.pmf(heads, 10, heads / 10), plots.look(k).marker, color=plots.look(k).colour)
left.set(xlabel="μ, probability of heads", ylabel="likelihood", title="a coin")
left.legend(title="heads", loc="upper left")
surface = np.vectorize(normal_log_likelihood)
area = np.array([[187.5, 5.2], [192.5, 8.2]])
plots.contours(right, lambda v: surface(v[:, 0], v[:, 1]) - normal_log_likelihood(*by_formula), area, resolution=50,
               levels=[-16, -8, -4, -2, -1, -0.25])
right.plot(*by_formula, "k*", markersize=12)
right.set(xlabel="μ (mm)", ylabel="σ (mm)", title="flippers: ℓ below its maximum")
plots.alt(fig, "Left: the likelihood of the coin's μ for 5, 8 and 10 heads of 10; the peaks lie at 0.5, 0.8 and at the "
               "very edge, 1. Right: contour lines of the log likelihood of the flippers; closed curves around one "
               "maximum, a star at 189.95 mm and 6.52 mm.")
plt.show()

# %% [markdown]
# What we see: one peak each. For 10 heads of 10 it lies **at the edge**; the coin that can only fall heads explains the
# throws best. Keep that in mind, it will cost us something in section 5.
#
# **Where it fails.** Small samples. $\hat\sigma^2$ measures the spread about a mean that was itself fitted to the
# data, so it comes out too small. By how much? The identity above says $S = \sum_i (x_i - \mu)^2 - N(\bar x - \mu)^2$
# for the true $\mu$. On average the first sum is $N\sigma^2$, and $(\bar x - \mu)^2$ is the variance of a mean,
# $\sigma^2/N$. So $S$ is $(N - 1)\sigma^2$ on average, and $\hat\sigma^2 = S/N$ is $\frac{N-1}{N}\sigma^2$. With the
# divisor $N - 1$ this bias is gone; that estimate is no longer the maximum likelihood one. Five values at a time from a
# normal with variance 1:

# %%
rng = np.random.default_rng(20)
samples = rng.standard_normal((40_000, 5))
ml, unbiased = samples.var(axis=1).mean(), samples.var(axis=1, ddof=1).mean()
assert abs(ml - 4 / 5) < 0.01 and abs(unbiased - 1) < 0.01
print(f"average estimate: {ml:.2f} with the divisor 5, {unbiased:.2f} with the divisor 4")

# %% [markdown]
# The course uses maximum likelihood, divisor $N$, unless it says otherwise. The language R divides by $N - 1$, in its
# `var` and in its package for naive Bayes, `e1071`.
#
# **Now you:** [E2.4](../exercises/02a_exponential_families.ipynb), the fit of normal features, class by class.
#
# ## 3. One feature at a time
#
# How many numbers must you estimate to know $p(x \mid y)$ for one class? Suppose there are $D = 54$ features, each of
# them yes or no. **Guess** how many digits that number has; it stands in the table below.
#
# **Without any assumption.** A feature with $V$ values makes $V^D$ possible objects; each has a probability, and they
# sum to 1, so $V^D - 1$ of them are free. For normal features there are $D$ means and a covariance matrix; it is
# symmetric, so $D$ entries on its diagonal and $D(D-1)/2$ above it are free, together $D + D(D+1)/2$.
#
# **The naive assumption:** within a class the features are independent,
#
# $$p(x \mid y) = p_1(x_1 \mid y)\; p_2(x_2 \mid y) \cdots p_D(x_D \mid y).$$
#
# Then you need $D$ little tables of $V - 1$ free numbers, $(V-1)D$ in all, or $D$ means and $D$ variances, $2D$. By
# hand, three features with two values: $2^3 - 1 = 7$ against 3. The growth is what matters: exponential or quadratic
# in $D$ without the assumption, linear with it.
#
# The second cell counts by another route. List all objects; list the entries of a covariance matrix that differ; ask
# the library how many parameters its fitted densities have. And see that naive Bayes really is $D$ problems of one
# dimension: fit each column of each class alone, with scipy, and add the logarithms. The third has a published number.
# Johnson, Ott and Dogucu (*Bayes Rules!*, section 14.2) ask R's `e1071` about a bird with a bill of 50 mm and flippers
# of 195 mm. They get .0003446 for Adelie, .9948681 for Chinstrap and .0047874 for Gentoo. R divides by $N_k - 1$, and
# the priors are those of all 344 birds, also of the two without measurements.


# %%
def free_parameters(D, V):
    """Free numbers for one class: tables with and without the assumption, normals with and without it."""
    return V**D - 1, (V - 1) * D, D + D * (D + 1) // 2, 2 * D


print("  D   table, V = 2   naive   normal   naive")
for D in (3, 10, 54):
    print("{:3d} {:14.4g} {:7d} {:8d} {:7d}".format(D, *free_parameters(D, 2)))

# %%
# claim 2.1
P, species = penguins.Xy("bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", label="species")
D, V = 4, 3
every_object, entries = list(product(range(V), repeat=D)), len(np.triu_indices(D)[0])
assert free_parameters(D, V) == (len(every_object) - 1, sum(V - 1 for _ in range(D)), D + entries, D + D)
naive, kinds = NaiveBayes(Normal()).fit(P, species), np.unique(species)
assert naive.fitted_.n_parameters == len(kinds) * free_parameters(D, V)[3]
one_by_one = [sum(stats.norm.logpdf(P[:, j], *stats.norm.fit(P[species == k, j])) for j in range(D)) for k in kinds]
np.testing.assert_allclose(naive.log_joint(P) - np.log(naive.priors_), np.transpose(one_by_one), rtol=1e-10)
print(f"{len(kinds)} classes, {D} features: {len(kinds) * D} fits in one dimension give the same density")

# %%
# claim 2.1
Q, _ = penguins.Xy("bill_length_mm", "flipper_length_mm", label="species")
everybody = np.unique(penguins["species"], return_counts=True)[1]
as_in_R = NaiveBayes(Normal(divisor="unbiased"), priors=everybody / everybody.sum()).fit(Q, species)
answer = as_in_R.predict_proba([[50.0, 195.0]])[0]
np.testing.assert_allclose(answer, [0.0003445688, 0.9948681, 0.004787365], atol=5e-8)
print("Adelie, Chinstrap, Gentoo:", *[f"{value:.5f}" for value in answer])

# %% [markdown]
# **Where it fails.** Wherever features are *not* independent within a class, as flippers and body mass are not.
# [02b Naive Bayes](02b_naive_bayes.ipynb) shows what that costs and when it costs nothing.
#
# What is left to find is one density of one number. The normal is one kind. For a word that occurs or does not, or for
# a number of visits, it is not the right one. Must we start anew for each kind?
#
# ## 4. One form for many kinds
#
# Write the probability of a yes or no as a power of $e$. For $x \in \{0, 1\}$,
#
# $$\mu^x (1-\mu)^{1-x} = \exp\bigl( x \ln \mu + (1-x)\ln(1-\mu) \bigr)
# = \exp\Bigl( x \underbrace{\ln\tfrac{\mu}{1-\mu}}_{\theta} + \ln(1-\mu) \Bigr).$$
#
# By hand, with $\mu = 0.8$: $\theta = \ln 4 = 1.386$ and $\ln 0.2 = -1.609$. For $x = 1$ the exponent is
# $-0.223 = \ln 0.8$, for $x = 0$ it is $-1.609 = \ln 0.2$. Right both times.
#
# The data $x$ and the parameter $\theta$ meet in one place only, as a **product**. That is the whole idea. A density
# belongs to an **exponential family** if it can be written
#
# $$p(x \mid \theta, \varphi) = \exp\Bigl( \frac{x\theta - c(\theta)}{\varphi} + h(x, \varphi) \Bigr),$$
#
# with a function $c$ of the parameter alone and a function $h$ without the parameter. Four of them, each line only
# rewritten:
#
# * **normal**, $\theta = \mu$, $\varphi = \sigma^2$: expand the square,
#   $-\frac{(x-\mu)^2}{2\sigma^2} - \frac12 \ln 2\pi\sigma^2 = \frac{x\mu - \mu^2/2}{\sigma^2} - \frac{x^2}{2\sigma^2} -
#   \frac12\ln 2\pi\sigma^2$.
# * **Bernoulli**, $\theta = \ln\frac{\mu}{1-\mu}$: solved for $\mu$ it is $\mu = \frac{1}{1+e^{-\theta}}$. Then $1 -
#   \mu = \frac{1}{1+e^{\theta}}$, so $\ln(1-\mu) = -\ln(1+e^\theta)$.
# * **binomial**, $x$ of $n$ trials, each with the probability $\mu/n$:
#   $\ln\binom nx + x \ln\frac{\mu}{n} + (n - x)\ln\bigl(1 - \frac{\mu}{n}\bigr) = x \ln\frac{\mu}{n-\mu} +
#   n \ln\bigl(1 - \frac\mu n\bigr) + \ln\binom nx$. As before, $1 - \frac\mu n = \frac{1}{1+e^{\theta}}$.
# * **Poisson**: $\ln\frac{\mu^x e^{-\mu}}{x!} = x\ln\mu - \mu - \ln x!$, and $\mu = e^\theta$.
#
# | family | values | $c(\theta)$ | $c'(\theta)$ | $[c']^{-1}(\mu)$ | $c''(\theta)$ | $\varphi$ | $h(x, \varphi)$ |
# |---|---|---|---|---|---|---|---|
# | normal | all numbers | $\theta^2/2$ | $\theta$ | $\mu$ | 1 | $\sigma^2$ | $-\frac{x^2}{2\varphi} - \frac12\ln 2\pi\varphi$ |
# | Bernoulli | 0, 1 | $\ln(1+e^\theta)$ | $\sigma(\theta)$ | $\ln\frac{\mu}{1-\mu}$ | $\sigma(\theta)\sigma(-\theta)$ | 1 | 0 |
# | binomial | 0, …, $n$ | $n\ln(1+e^\theta)$ | $n\,\sigma(\theta)$ | $\ln\frac{\mu}{n-\mu}$ | $n\,\sigma(\theta)\sigma(-\theta)$ | 1 | $\ln\binom nx$ |
# | Poisson | 0, 1, 2, … | $e^\theta$ | $e^\theta$ | $\ln\mu$ | $e^\theta$ | 1 | $-\ln x!$ |
#
# Here $\sigma(\theta) = 1/(1+e^{-\theta})$ is the logistic function of unit 01. The table as a program is a table too.
# (`np.logaddexp(0, t)` is $\ln(1+e^t)$ without overflow, and $\ln x! = \ln\Gamma(x+1)$.) Is every row right? scipy
# knows the densities in their usual form. We compare for five values of $\theta$ at once, and give the normal a
# $\varphi$ that is not 1, so that a forgotten $\varphi$ would show.


# %%
@dataclass(frozen=True)
class Family:
    c: Callable         # c(θ)
    dc: Callable        # c′(θ)
    dc_inverse: Callable  # [c′]⁻¹(μ)
    ddc: Callable       # c″(θ)
    h: Callable         # h(x, φ)


trials = 16
scratch = {
    "normal": Family(lambda t: t**2 / 2, lambda t: t, lambda mu: mu, np.ones_like,
                     lambda x, phi: -x**2 / (2 * phi) - np.log(2 * np.pi * phi) / 2),
    "Bernoulli": Family(lambda t: np.logaddexp(0, t), sigmoid, logit, lambda t: sigmoid(t) * sigmoid(-t),
                        lambda x, phi: 0 * x),
    "binomial": Family(lambda t: trials * np.logaddexp(0, t), lambda t: trials * sigmoid(t),
                       lambda mu: np.log(mu / (trials - mu)), lambda t: trials * sigmoid(t) * sigmoid(-t),
                       lambda x, phi: gammaln(trials + 1) - gammaln(x + 1) - gammaln(trials - x + 1)),
    "Poisson": Family(np.exp, np.exp, np.log, np.exp, lambda x, phi: -gammaln(x + 1)),
}

# %%
# claim 2.2
theta, x, phi = np.array([[-2.0], [-0.5], [0.0], [0.7], [1.6]]), np.arange(17.0), 2.5
usual = {"normal": stats.norm(theta, np.sqrt(phi)).logpdf(x),
         "Bernoulli": stats.bernoulli(sigmoid(theta)).logpmf(x[:2]),
         "binomial": stats.binom(trials, sigmoid(theta)).logpmf(x), "Poisson": stats.poisson(np.exp(theta)).logpmf(x)}
for name, f in scratch.items():
    at, dispersion = x[:usual[name].shape[1]], phi if name == "normal" else 1.0
    ours = (at * theta - f.c(theta)) / dispersion + f.h(at, dispersion)
    np.testing.assert_allclose(ours, usual[name], rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(f.dc_inverse(f.dc(theta)), theta, rtol=1e-10, atol=1e-12)
    print(f"{name:9s} agrees with scipy.stats at {ours.size} points")

# %% [markdown]
# From here on we take them from the library: `Normal()`, `Bernoulli()`, `Binomial(n)` and `Poisson()` have the same
# five functions. (Some tables print $n\ln\frac{1+e^\theta}{n}$ for the binomial's $c$ and $-n \ln n$ more in its $h$.
# That is the same density: a constant may be moved from the one to the other.)
#
# **What $c$ knows.** A density sums to 1. Take the factor without $x$ out of the sum (or the integral):
#
# $$e^{-c(\theta)/\varphi} \sum_x e^{x\theta/\varphi + h(x, \varphi)} = 1, \qquad\text{so}\qquad
# c(\theta) = \varphi \ln \sum_x e^{x\theta/\varphi + h(x,\varphi)} .$$
#
# So $c$ is a log-sum-exp, and it is no free choice: $h$ decides it. Differentiate, term by term (allowed inside the
# range of the $\theta$ for which the sum is finite), and recognise $p$ in the result:
#
# $$c'(\theta) = \varphi\, \frac{\sum_x \frac{x}{\varphi}\, e^{x\theta/\varphi + h}}{\sum_x e^{x\theta/\varphi + h}}
# = \sum_x x\, p(x \mid \theta) = \mu .$$
#
# **The slope of $c$ is the mean.** Once more. The derivative of $p = e^{(x\theta - c)/\varphi + h}$ with respect to
# $\theta$ is $p \cdot (x - c'(\theta))/\varphi$, so
#
# $$c''(\theta) = \sum_x x\, p(x \mid \theta)\, \frac{x - \mu}{\varphi} = \frac{1}{\varphi}\Bigl(\sum_x x^2 p - \mu
# \sum_x x\,p\Bigr) = \frac{\text{variance}}{\varphi}.$$
#
# **The curvature of $c$, times $\varphi$, is the variance.** It is positive unless $x$ is constant. So $c'$ grows
# strictly, each mean belongs to one $\theta$ only, and $[c']^{-1}$ exists. Check: slope and curvature of $c$ by finite
# differences, mean and variance by scipy.

# %%
# claim 2.5
step = 1e-3
for name, f in scratch.items():
    known = {"normal": stats.norm(theta, np.sqrt(phi)), "Bernoulli": stats.bernoulli(sigmoid(theta)),
             "binomial": stats.binom(trials, sigmoid(theta)), "Poisson": stats.poisson(np.exp(theta))}[name]
    dispersion = phi if name == "normal" else 1.0
    slope = (f.c(theta + step) - f.c(theta - step)) / (2 * step)
    bend = (f.c(theta + step) - 2 * f.c(theta) + f.c(theta - step)) / step**2
    np.testing.assert_allclose(slope, known.mean(), atol=1e-5)
    np.testing.assert_allclose(dispersion * bend, known.var(), atol=1e-5)
    np.testing.assert_allclose(dispersion * f.ddc(theta), known.var(), rtol=1e-12)
    print(f"{name:9s} slope = mean, φ · curvature = variance")


# %%
def mean_curve(ax, family, theta, span=(-4.0, 4.0)):
    """The mean as a function of θ, a band of one standard deviation, and one mean read sideways."""
    f, t = scratch[family], np.linspace(*span, 201)
    mu, sd = f.dc(t), np.sqrt(f.ddc(t))
    ax.fill_between(t, mu - sd, mu + sd, color=plots.look(0).tint(), linewidth=0)
    ax.plot(t, mu, color=plots.look(0).colour)
    ax.plot([span[0], theta, theta], [f.dc(theta), f.dc(theta), (mu - sd).min()], "k:", linewidth=1.2)
    ax.plot(theta, f.dc(theta), "ko")
    ax.set(xlabel="θ", ylabel="mean c′(θ)", title=family, xlim=span)
    return (f"{family}: at θ = {theta:.1f} the mean is {f.dc(theta):.2f} and the standard deviation "
            f"{np.sqrt(f.ddc(theta)):.2f}.")


fig, axes = plt.subplots(1, 4, figsize=(10.5, 2.9))
sentences = [mean_curve(ax, name, 1.4, span) for ax, name, span in
             zip(axes, scratch, [(-4, 4), (-6, 6), (-6, 6), (-2, 3)])]
plots.alt(fig, "The mean as a function of the natural parameter, with a band of one standard deviation. Normal: a "
               "straight line, band of equal width. Bernoulli and binomial: an S between 0 and 1, or 0 and 16, the "
               "band narrow at both ends. Poisson: an exponential, the band widens. " + " ".join(sentences))
plt.show()

# %% [markdown]
# What we see: the curve is $c'$; read from left to right it takes you from $\theta$ to the mean. **Read sideways**,
# along the dots, it takes you from a mean to $\theta$. That is $[c']^{-1}$. Where the curve is steep the band is wide,
# for the slope of this curve is the variance (all four at $\varphi = 1$). The band is one standard deviation up and
# down; it may reach beyond the values that $x$ can take. Where the curve is flat, near 0 and $n$, a tiny change of the
# mean is a large change of $\theta$; and a mean *of* 0 or $n$ is met by no $\theta$ at all.
#
# The same with sliders: family 0 to 3, and $\theta$. Set the family to 1. Which $\theta$ has the mean 0.9? (Work it
# out from the table first.)

# %% tags=["nbval-ignore-output"]
plots.explore(lambda ax, family, theta: mean_curve(ax, list(scratch)[family], theta),
              family=(0, 3, 1), theta=(-4.0, 4.0, 0.0, 0.1))

# %% [markdown]
# **More members.** Each line is again only rewritten; the known number $s$ is a shape or a size.
#
# | family | density | $\theta$ | $c(\theta)$ | $\varphi$ | $h(x, \varphi)$ |
# |---|---|---|---|---|---|
# | exponential, $x > 0$ | $\frac1\mu e^{-x/\mu}$ | $-1/\mu$ | $-\ln(-\theta)$ | 1 | 0 |
# | gamma, shape $s$ known | $\frac{(s/\mu)^s x^{s-1}}{\Gamma(s)} e^{-sx/\mu}$ | $-1/\mu$ | $-\ln(-\theta)$ | $1/s$ | $s\ln s + (s-1)\ln x - \ln\Gamma(s)$ |
# | geometric, $x = 0, 1, \dots$ | $\frac{1}{1+\mu}\bigl(\frac{\mu}{1+\mu}\bigr)^x$ | $\ln\frac{\mu}{1+\mu}$ | $-\ln(1-e^\theta)$ | 1 | 0 |
# | negative binomial, size $s$ known | $\binom{x+s-1}{x}\bigl(\frac{s}{s+\mu}\bigr)^s\bigl(\frac{\mu}{s+\mu}\bigr)^x$ | $\ln\frac{\mu}{s+\mu}$ | $-s\ln(1-e^\theta)$ | 1 | $\ln\binom{x+s-1}{x}$ |
#
# Take the gamma. Its logarithm is $-sx/\mu + s\ln\frac1\mu + s\ln s + (s-1)\ln x - \ln\Gamma(s)$. With $\theta =
# -1/\mu$ the first two terms are $s\,(x\theta + \ln(-\theta)) = (x\theta - c(\theta))/\varphi$ with $\varphi = 1/s$.
# The others hold no $\theta$. The exponential is the gamma with $s = 1$, the geometric the negative binomial with $s =
# 1$.
#
# A **category** with $V$ values has no mean. It needs the vector $u(x)$ in place of $x$: a 1 at the value that came, 0
# elsewhere. $P(x) = \exp\bigl(\theta^\top u(x) - c(\theta)\bigr)$ with a $\theta_v$ for each value and $c(\theta) =
# \ln\sum_v e^{\theta_v}$, the log-sum-exp of unit 00. Its slopes are the shares $e^{\theta_v - c(\theta)}$: the mean
# of $u(x)$, as it must be. (A constant added to all $\theta_v$ changes nothing; the library takes the one with
# $c(\theta) = 0$, that is $\theta_v = \ln P(v)$.)

# %%
# claim 2.3
mu, at = np.array([[0.4], [1.3], [5.0]]), np.arange(12.0)
members = [(families.Exponential(), stats.expon(scale=mu)), (families.Gamma(3.0), stats.gamma(3.0, scale=mu / 3.0)),
           (families.Geometric(), stats.geom(1 / (1 + mu), loc=-1)),
           (families.NegativeBinomial(2.5), stats.nbinom(2.5, 2.5 / (2.5 + mu)))]
for family, known in members:
    points = at if family.whole else at + 0.3              # whole: a density of 0, 1, 2, …
    theta = family.dc_inverse(mu)
    usual = known.logpmf(points) if family.whole else known.logpdf(points)
    np.testing.assert_allclose((points * theta - family.c(theta)) / family.phi + family.h(points), usual, rtol=1e-9)
    np.testing.assert_allclose(family.dc(theta), known.mean(), rtol=1e-9)
    np.testing.assert_allclose(family.phi * family.ddc(theta), known.var(), rtol=1e-9)
    print(f"{type(family).__name__:16s} density, mean and variance agree with scipy.stats")

# %%
# claim 2.3
theta = np.array([0.2, -1.0, 1.5])
lse = lambda t: np.log(np.exp(t).sum())
slopes = [(lse(theta + move) - lse(theta - move)) / 2e-5 for move in 1e-5 * np.eye(3)]
chance = stats.multinomial(1, np.exp(theta) / np.exp(theta).sum())
np.testing.assert_allclose(np.exp(np.eye(3) @ theta - lse(theta)), chance.pmf(np.eye(3)), rtol=1e-12)
np.testing.assert_allclose(slopes, chance.p, atol=1e-9)
print("a category with three values: probabilities", np.round(slopes, 4), "= slopes of the log-sum-exp")

# %% [markdown]
# **Where it fails.** Not every density has the form. Student's $t$ has not: $\theta$ and $x$ cannot be parted. The
# uniform on $[0, \beta]$ has not: its *support* depends on the parameter, and no $h$ without $\beta$ can say so. And
# the negative binomial is a member only while its size is known; we meet it again in a moment.
#
# ## 5. One estimate for all: $[c']^{-1}$ of the mean
#
# Three pages of a book have 2, 0 and 4 misprints. Suppose a Poisson density. **Predict** the best $\theta$.

# %%
predict("2.2", None)

# %% [markdown]
# **First, the likelihood splits.** With independent features, class by class, all parameters together have
#
# $$\ell = \sum_{i} \ln \prod_{j} p_j(x_{ij} \mid \theta_{y_i j}) = \sum_{k} \sum_{j} \Bigl[ \sum_{i:\, y_i = k}
# \ln p_j(x_{ij} \mid \theta_{kj}) \Bigr].$$
#
# Only the order of summation was changed. Each bracket holds one parameter, one class and one feature, so each can be
# made as large as possible by itself: **K · D problems in one unknown.**
#
# **Now one bracket.** Put the form in; let $\bar x$ be the mean of the $N_k$ values:
#
# $$\sum_{i:\,y_i=k} \Bigl( \frac{x_i\theta - c(\theta)}{\varphi} + h(x_i, \varphi) \Bigr)
# = \frac{N_k}{\varphi} \bigl( \bar x\,\theta - c(\theta) \bigr) + \text{a term without } \theta .$$
#
# Its first derivative is $\frac{N_k}{\varphi}\bigl(\bar x - c'(\theta)\bigr)$, its second $-\frac{N_k}{\varphi}
# c''(\theta) < 0$. The curve bends downwards everywhere, so it has at most one maximum, and that is where
#
# $$c'(\hat\theta) = \bar x, \qquad\text{that is}\qquad \hat\theta = [c']^{-1}(\bar x).$$
#
# Choose the parameter whose mean is the mean of the data. For the misprints: $\bar x = 2$, $\hat\theta = \ln 2$. $h$
# and $\varphi$ play no part. So the fit of a naive Bayes classifier is a table of means, seen through one function.
#
# Is that the maximum? We give an optimiser *all twelve* $\theta$ of the six words at once, with the likelihood of the
# whole table, and let it look for itself. Then one unknown at a time, for other families, with data drawn from them.


# %%
def class_means(X, y, K):
    """(K, D): the mean of each feature in each class, as one matrix product."""
    R = np.eye(K)[y]                                   # (N, K), 1 in the column of the class
    return R.T @ X / R.sum(axis=0)[:, None]


predict("2.2", result=round(Poisson().dc_inverse(np.mean([2, 0, 4])), 3))

# %%
# claim 2.4
theta = Bernoulli().dc_inverse(class_means(few, y, 2))
np.testing.assert_allclose(NaiveBayes(Bernoulli()).fit(few, y).linear()[0], theta, rtol=1e-12)
for name, row in zip(("mail", "spam"), theta):
    print(name, *[f"{word} {value:.2f} " for word, value in zip(words, row)])


rows, times_seen = np.unique(np.column_stack([few, y]), axis=0, return_counts=True)


def minus_log_likelihood(flat):
    t = flat.reshape(2, 6)[rows[:, 6].astype(int)]                      # the parameters of each row's class
    return -times_seen @ stats.bernoulli.logpmf(rows[:, :6], sigmoid(t)).sum(axis=1) / len(y)


together = optimize.minimize(minus_log_likelihood, np.zeros(12), method="BFGS", options={"gtol": 1e-6}).x
np.testing.assert_allclose(together.reshape(2, 6), theta, atol=2e-2)
ours = minus_log_likelihood(theta.ravel())
assert ours <= minus_log_likelihood(together) < ours + 1e-6
print(f"average log likelihood {-ours:.5f}; twelve at once, the optimiser cannot beat it")

# %%
# claim 2.4
rng = np.random.default_rng(24)
drawn = {Normal(): rng.normal(3, 2, 50), Binomial(16): rng.binomial(16, 0.3, 50), Poisson(): rng.poisson(2.5, 50),
         families.Exponential(): rng.exponential(2.0, 50),
         families.NegativeBinomial(2.0): rng.negative_binomial(2, 0.4, 50)}
for family, x in drawn.items():
    estimate = family.dc_inverse(x.mean())
    around = sorted([0.3 * estimate, 1.7 * estimate])
    searched = optimize.minimize_scalar(lambda t: family.c(t) - x.mean() * t, bounds=around, method="bounded",
                                        options={"xatol": 1e-10}).x
    np.testing.assert_allclose(searched, estimate, rtol=1e-5)
    print(f"{type(family).__name__:16s} mean {x.mean():6.3f}  θ {estimate:7.4f}  found by search as well")

# %% [markdown]
# **At the edge there is no finite estimate.** The derivative $\frac{N_k}{\varphi}(\bar x - c'(\theta))$ vanishes
# somewhere only if $\bar x$ is a value of $c'$. A word that no spam contained has $\bar x = 0$. Then the derivative is
# $-N_k\, \sigma(\theta) < 0$ for **every** $\theta$. The likelihood keeps rising towards $\theta = -\infty$ and never
# arrives: the ten heads of ten, seen from the other side. Numbers, for ten throws without heads:

# %%
# claim 2.4
steps = np.array([-2.0, -5.0, -10.0, -20.0])
rising = -10 * np.logaddexp(0, steps)                   # N (x̄θ − c(θ)) with x̄ = 0
assert (np.diff(rising) > 0).all() and (rising < 0).all()
with np.errstate(divide="ignore"):
    assert [Bernoulli().dc_inverse(np.array(mean)) for mean in (0.0, 1.0)] == [-np.inf, np.inf]
print("θ:", *[f"{t:8.0f}" for t in steps], "\nℓ:", *[f"{value:8.2g}" for value in rising])

# %%
try:
    NaiveBayes(Bernoulli()).fit([[0, 1], [0, 0], [1, 1], [1, 0]], [0, 0, 1, 1]).linear()
except ValueError as error:
    print("the library says:", error)

# %% [markdown]
# The library keeps $\mp\infty$, which means "impossible", and refuses to make a weight of it. In a classifier this is
# serious: one word never seen in spam, and no other word can make the message spam. The cure, a few invented
# observations, is the subject of [02b](02b_naive_bayes.ipynb). Until then we use `smoothing=1`.
#
# **Now you:** [E2.1](../exercises/02a_exponential_families.ipynb), the natural parameter of four families.
#
# **A family is a claim about the variance.** In 262 blocks of some 200 words each, James Madison wrote *may* so many
# times (Mosteller and Wallace, who asked who had written the disputed Federalist papers): see the first lines below.
# Counts without an upper bound: Poisson, the textbook says. $\hat\mu = 0.6565$. But a Poisson density has $c'' = c'$:
# **variance = mean.** These data vary half as much again. The negative binomial has the variance $\mu + \mu^2/s$,
# which is always more. Its size $s$ must be found as well, and that is not a matter of a mean: $s$ stands in $h$ and
# in $c$. The library searches for it, at the best $\mu$, which is $\bar x$ for every $s$; another optimiser, which
# searches for both, agrees.

# %%
may = load("federalist_may_madison")
uses, blocks = may["n_may"], may["blocks"]
total = blocks.sum()
average = uses @ blocks / total
spread = (uses - average)**2 @ blocks / total
print("uses  ", uses.astype(int), "\nblocks", blocks.astype(int))
print(f"mean {average:.4f}, variance {spread:.4f}")

# %%
x = np.repeat(uses, blocks.astype(int))
fit = families.NegativeBinomial().fit(x[:, None], np.ones((len(x), 1)))
s = fit.size[0, 0]
searched = optimize.minimize(lambda v: -stats.nbinom.logpmf(x, np.exp(v[0]), 1 / (1 + np.exp(v[1] - v[0]))).sum(),
                             [0.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-7, "fatol": 1e-10}).x
np.testing.assert_allclose(np.exp(searched), [s, average], rtol=1e-4)
expected = total * np.array([stats.poisson.pmf(uses, average), stats.nbinom.pmf(uses, s, s / (s + average))])
print(f"size {s:.4f}; variance of the fits: Poisson {average:.3f}, negative binomial {average + average**2 / s:.3f}")

# %%
fig, ax = plt.subplots(figsize=(7.2, 3.4))
plots.bars(ax, np.column_stack([blocks, *expected]), [f"{n:.0f}" for n in uses], fmt="{:.0f}",
           groups=["observed", "Poisson", "negative binomial"])
ax.set(xlabel="uses of “may” in a block of 200 words", ylabel="number of blocks")
plots.alt(fig, "Blocks with 0 to 6 uses of may: observed, by the Poisson fit and by the negative binomial fit. The "
               "Poisson has too few blocks with none and too many with one; the negative binomial follows closely.")
plt.show()

# %%
def g_squared(expected):
    return 2 * (blocks * np.log(blocks / expected)).sum(axis=-1)


with_tail = expected.copy()
with_tail[:, -1] += total - expected.sum(axis=1)
np.testing.assert_allclose(g_squared(expected), [25.243, 1.964], atol=5e-4)
np.testing.assert_allclose(g_squared(with_tail), [25.049, 1.055], atol=5e-4)
chance = stats.chi2.sf(g_squared(with_tail), [7 - 1 - 1, 7 - 1 - 2])
print(f"with the tail: Poisson {g_squared(with_tail)[0]:.2f}, as large by chance once in {1 / chance[0]:.0f} times; "
      f"negative binomial {g_squared(with_tail)[1]:.2f}, in {chance[1]:.0%} of all cases")

# %% [markdown]
# What we see in the figure: the Poisson has too few blocks without *may*, too many with one, and too few with four or
# more: writers repeat themselves. How bad is that? The statistic $G^2 = 2\sum O \ln(O/E)$ compares observed and
# expected blocks. Friendly and Meyer print 25.243 for the Poisson and 1.964 for the negative binomial. They leave the
# tail out: the blocks that a fit expects at 7 uses or more. Adding it to the last cell is cleaner, and gives 25.049 and
# 1.055. Both pairs are in the cell. If the family is true, $G^2$ has roughly a $\chi^2$ distribution; its degrees of
# freedom are the 7 cells less 1, less one for each fitted number. So large a $G^2$ then comes once in 7,000 times for
# the Poisson, while what the negative binomial leaves is smaller than chance alone leaves in most cases.
#
# So maximum likelihood finds the best member of the family you chose, and says nothing about whether you chose well.
# Compare the variance of the data with $\varphi c''(\hat\theta)$; it is the quickest test there is.
#
# ## 6. The classifier is linear
#
# Before you read on: two classes, normal features, naive Bayes. Is the boundary straight or curved? What does it
# depend on?
#
# **The dispersion.** Bernoulli, binomial and Poisson have $\varphi = 1$. A normal feature has $\varphi = \sigma^2$, and
# two choices are open: each class its own, or one for all classes. Take one $\varphi$ for feature $j$. Its part of the
# log likelihood, with the best means already put in, is
#
# $$-\frac N2 \ln 2\pi\varphi - \frac{1}{2\varphi} \sum_i (x_{ij} - \bar x_{y_i j})^2,$$
#
# the same function as in section 2 with another sum. Its derivative $-\frac{N}{2\varphi} + \frac{1}{2\varphi^2}\sum_i
# (\dots)^2$ changes its sign from plus to minus at
#
# $$\hat\varphi_j = \frac1N \sum_{i} \bigl(x_{ij} - \bar x_{y_i j}\bigr)^2 .$$
#
# From each object subtract **the mean of its own class**. By hand: class 0 has 1 and 3, class 1 has 10, 12 and 14.
# Means 2 and 12; squares 1, 1 and 4, 0, 4; $\hat\varphi = 10/5 = 2$. Not 26, which is the spread about the common mean
# 8. And not the plain average of the variances 1 and 8/3: the classes count by their sizes.

# %%
# claim 2.6
x, of = np.array([1.0, 3, 10, 12, 14]), np.array([0, 0, 1, 1, 1])
own_means = class_means(x[:, None], of, 2)[of, 0]
assert np.mean((x - own_means)**2) == 2 and np.mean((x - x.mean())**2) == 26

# %%
# claim 2.6
codes = np.unique(species, return_inverse=True)[1]
within = P - class_means(P, codes, 3)[codes]
shared = np.mean(within**2, axis=0)
searched = [np.exp(optimize.minimize_scalar(lambda v: -stats.norm.logpdf(r, 0, np.exp(v / 2)).sum(), bracket=(0, 5)).x)
            for r in within.T]
np.testing.assert_allclose(searched, shared, rtol=1e-5)
own = np.array([P[codes == k].var(axis=0) for k in range(3)])            # (K, D)
np.testing.assert_allclose(shared, np.bincount(codes) @ own / len(P), rtol=1e-12)
print("shared φ of the four measurements:", *[f"{value:.5g}" for value in shared])

# %% [markdown]
# **Now put everything together.** The rule compares, for each class $k$,
#
# $$\ln \lambda_k P(k) + \sum_j \ln p_j(x_j \mid k) = \underbrace{\sum_j \frac{\theta_{kj}}{\varphi_j}\, x_j}_{\text{linear}} +
# \underbrace{\ln \lambda_k P(k) - \sum_j \frac{c(\theta_{kj})}{\varphi_j}}_{\text{a constant of the class}} +
# \underbrace{\sum_j h(x_j, \varphi_j)}_{\text{the same for all classes}} .$$
#
# If $\varphi_j$ does not depend on the class, the last sum does not either, and drops out of the comparison. What is
# left is a **linear classifier** with weights and a bias:
#
# $$w_{kj} = \frac{\theta_{kj}}{\varphi_j}, \qquad w_{k0} = \ln\lambda_k P(k) - \sum_j \frac{c(\theta_{kj})}{\varphi_j} .$$
#
# By hand: one normal feature, means 2 and 12, $\varphi = 2$, equal priors. Weights 1 and 6; biases $-\frac{2^2/2}{2} =
# -1$ and $-\frac{12^2/2}{2} = -36$ (plus the same $\ln\frac12$). Equal at $x - 1 = 6x - 36$, that is at $x = 7$:
# half-way, as it should be.
#
# **If each class has its own variance**, $h$ stays in the comparison and brings $-x^2/2\varphi_{kj}$ with it: the rule
# is quadratic. Take three points one unit apart along feature $j$: the second difference, first minus twice the second
# plus third value, is 0 for a line and $-1/\varphi$ for $-x_j^2/2\varphi$. In the log odds of two classes it is exactly
# $-(1/\varphi_{1j} - 1/\varphi_{0j})$.
#
# The first cell takes all 54 words and signs, where $\varphi = 1$, with a lost mail three times as dear as a missed
# spam. (The "+ 1" and "+ 2" are the smoothing of 02b.) Bayes' rule is computed in its own way, from scipy's
# probabilities of every word. The second takes normal features. With a shared $\varphi$ what the linear form leaves
# out is the same for all classes, and the log odds have no bend. With own ones they have the bend that was predicted.
# And one published number: with own variances R's `e1071` makes 6 errors on the 150 iris that it was fitted to.

# %%
# claim 2.7
losses = np.array([3.0, 1.0])
rule = NaiveBayes(Bernoulli(smoothing=1), losses=losses).fit(B, y)
theta = logit((class_means(B, y, 2) * np.bincount(y)[:, None] + 1) / (np.bincount(y)[:, None] + 2))   # smoothed shares
w, w0 = theta, np.log(losses * rule.priors_) - np.logaddexp(0, theta).sum(axis=1)
by_bayes = np.transpose([stats.bernoulli.logpmf(B, sigmoid(t)).sum(axis=1) for t in theta])
by_bayes += np.log(losses * rule.priors_)
np.testing.assert_allclose(B @ w.T + w0, by_bayes, rtol=1e-10)
np.testing.assert_allclose(np.vstack([w.T, w0]), np.vstack([rule.linear()[0].T, rule.linear()[1]]), rtol=1e-10)
np.testing.assert_array_equal((B @ w.T + w0).argmax(axis=1), rule.predict(B))
print(f"{len(y)} messages: the linear rule decides as Bayes' rule does, every time")

# %%
# claim 2.7
tied = NaiveBayes(Normal(pool="tied")).fit(P, species)
w, w0 = tied.linear()
np.testing.assert_allclose(w, class_means(P, codes, 3) / shared, rtol=1e-10)
left_out = tied.log_joint(P) - (P @ w.T + w0)
assert np.ptp(left_out, axis=1).max() < 1e-8 * np.abs(left_out).max()
line = P[0] + np.outer([-1.0, 0, 1], [0, 0, 1, 0])                       # three points along the flipper length
bends = [np.diff(np.diff(m.log_joint(line)[:, :2]), axis=0, n=2).item() for m in (tied, naive)]
np.testing.assert_allclose(bends, [0, 1 / own[0, 2] - 1 / own[1, 2]], atol=1e-8)
X, flower = load("iris").Xy()
assert np.sum(NaiveBayes(Normal(divisor="unbiased")).fit(X, flower).predict(X) != flower) == 6
print(f"second difference of the log odds, Chinstrap to Adelie: shared φ {abs(bends[0]):.5f}, own φ {bends[1]:.5f}")

# %%
shared_rule, own_rule = NaiveBayes(Normal(pool="tied")).fit(Q, species), NaiveBayes(Normal()).fit(Q, species)
wide = np.vstack([Q, [[25, 165], [68, 245]]])
fig, axes = plt.subplots(1, 2, figsize=(9.6, 3.9), sharey=True)
for ax, rule, name in zip(axes, (shared_rule, own_rule), ("one φ for all classes", "each class its own φ")):
    plots.decision_regions(ax, rule, wide)
    plots.scatter_classes(ax, Q, species)
    ax.plot(50, 195, "k*", markersize=13, zorder=5)
    ax.set(xlabel="bill length (mm)", title=f"{name}: {np.sum(rule.predict(Q) != species)} of {len(Q)} wrong")
axes[0].set(ylabel="flipper length (mm)")
axes[1].legend(loc="upper left", bbox_to_anchor=(1, 1))
print(f"the rules disagree about {np.sum(shared_rule.predict(Q) != own_rule.predict(Q))} of {len(Q)} birds")
plots.alt(fig, "Regions of naive Bayes in bill length and flipper length of penguins. With a shared dispersion the "
               "boundaries are straight lines; with own dispersions they are curves. Among the birds both run in "
               "nearly the same places, and both make 16 errors of 342; away from the birds they part.")
plt.show()

# %% [markdown]
# What we see: straight boundaries on the left, curved ones on the right, and the same number of errors. (The star is
# the bird of section 3.) Where there are birds the two rules hardly differ: they disagree about 2 of 342. Where there
# are none they part, and no data say who is right.
#
# **Where it fails.** The step that made the rule linear was to drop $h$. A $\varphi$, a shape or a size of its own for
# each class stays in $h$, and the rule is curved. So is it for the densities without the form, such as Student's $t$.
#
# **Weights can be looked at.** The digits of the next figure are pictures of 8 × 8 cells, each with 0 to 16 inked
# points: a binomial with $n = 16$. To tell a 3 from an 8 the rule needs only the difference of the two rows of
# weights, $\theta_{8j} - \theta_{3j}$.

# %%
digits, number = load("digits8x8").Xy()
scanner = NaiveBayes(Binomial(16, smoothing=1)).fit(digits, number)
w, w0 = scanner.linear()
fig, axes = plt.subplots(1, 3, figsize=(9, 3))
for ax, image, title in zip(axes, (*class_means(digits, number, 10)[[3, 8]], w[8] - w[3]),
                            ("mean ink of a 3", "mean ink of an 8", "weight, 8 against 3")):
    span = (0, 16) if "ink" in title else (-3, 3)
    shown = ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=span[0], vmax=span[1])
    ax.set(title=title, xticks=[], yticks=[])
    ax.spines[:].set_visible(True)
    fig.colorbar(shown, ax=ax, shrink=0.8, label="points of 16" if "ink" in title else "dark speaks for 8")
plots.alt(fig, "Mean images of the digits 3 and 8, and the weights that tell them apart. The weights are dark, for an "
               "8, in a block left of the middle, where the 8 has ink and the 3 is open; lightest, for a 3, in a few "
               "cells at the right below the middle; grey, near 0, along the edges.")
plt.show()

# %% [markdown]
# The weights are dark where the 8 closes its two loops on the left and the 3 is open. A few light cells on the right
# speak for a 3. In the corners, where neither has ink, the weights are nearly 0.
#
# **Now you:** [E2.5](../exercises/02a_exponential_families.ipynb), the log joint with features of different kinds, and
# [E2.6](../exercises/02a_exponential_families.ipynb), weights and bias. There you meet the recipe as it stands in a
# set of lecture notes, and are asked **what was lost on the way to the printer**.
#
# ## 7. What the bias can change
#
# Two classes. The score is the log odds $a(x) = w^\top x + w_0$; you call a message spam if $a > 0$. Much of the fit
# went into $w_0$: the priors, the losses, all the $c(\theta)$. How well do the scores put the messages in order? The
# **AUC** says it in one number: draw a spam and a mail at random; it is the probability that the spam scores higher.
# **Predict**, in one word: add 5 to the bias. Does the AUC rise, fall, or stay?

# %%
predict("2.3", None)

# %%
rng = np.random.default_rng(0)
test = rng.permutation(len(y)) < len(y) // 3                            # a third is kept for the test
rule = NaiveBayes(Bernoulli(smoothing=1)).fit(B[~test], y[~test])
w, w0 = rule.linear()
score, is_spam = B[test] @ (w[1] - w[0]) + (w0[1] - w0[0]), y[test] == 1
area = auc(score, is_spam)
moved = auc((score + 5).round(9), is_spam) - auc(score.round(9), is_spam)   # rounded: equal scores stay equal
predict("2.3", result={0.0: "stay", 1.0: "rise"}.get(np.sign(moved), "fall"))
print(f"{test.sum()} test messages: errors {np.mean((score > 0) != is_spam):.3f}, AUC {area:.4f}")

# %% [markdown]
# **What the AUC is.** Count all pairs of a spam and a mail, and in which share of them the spam has the higher score; a
# tie counts one half:
#
# $$\text{AUC} = \frac{1}{N_1 N_0} \sum_{i:\,y_i=1}\; \sum_{l:\,y_l=0} \Bigl( [a_i > a_l] + \tfrac12 [a_i = a_l] \Bigr).$$
#
# It is also an area, hence the name, *area under the curve*. The curve is that of hits against false alarms, known as
# the **ROC curve** (from radar: receiver operating characteristic). Lower the threshold over the scores from the top:
# each spam you pass lifts the curve by $1/N_1$, each mail moves it right by $1/N_0$. The area under a step to the right
# is the share of spam already passed, the spam *above* that mail; summed over the mails it is the double sum. Spam and
# mail with equal scores are passed at once, in a slanted step, whose triangle gives the halves.
#
# By hand: spam 3, 2, 2 and mail 2, 0. Six pairs: 3 beats both; each 2 beats the 0 and ties with the 2. $(2 + 2 \cdot
# 1\frac12)/6 = 5/6$.
#
# **Why the bias does not matter.** $[a_i > a_l]$ compares two scores. Add the same number to both and nothing changes.
# So the AUC depends on $w$ alone, on the direction in which the messages are lined up. The bias only says where the
# line is cut. The area of the curve, a rank statistic of scipy and pairs drawn at random agree; then come nine shifts
# of the bias:

# %%
# claim 2.8
assert abs(auc([3, 2, 2, 2, 0], np.array([1, 1, 1, 0, 0]) == 1) - 5 / 6) < 1e-12
U = stats.mannwhitneyu(score[is_spam], score[~is_spam]).statistic
assert abs(U / (is_spam.sum() * (~is_spam).sum()) - area) < 1e-12
gaps = rng.choice(score[is_spam], 100_000) - rng.choice(score[~is_spam], 100_000)      # pairs drawn at random
assert abs(np.mean(gaps > 0) + np.mean(gaps == 0) / 2 - area) < 4 * np.sqrt(area * (1 - area) / len(gaps))
shifts = np.arange(-8, 9, 2)
areas = [auc((score + shift).round(9), is_spam) for shift in shifts]
errors = [np.mean((score + shift > 0) != is_spam) for shift in shifts]
assert np.ptp(areas) < 1e-12 and min(errors) < 0.115 and max(errors) > 0.2
print("shift of the bias:", shifts, "\nAUC:   ", np.round(areas, 4), "\nerrors:", np.round(errors, 3))

# %%
false_alarms, hits, _ = roc_curve(score, is_spam)


def cut(ax, shift):
    """The ROC curve and the point that a shift of the bias chooses on it."""
    says = score + shift > 0
    at = says[~is_spam].mean(), says[is_spam].mean()
    ax.plot(false_alarms, hits, color=plots.look(0).colour)
    ax.plot([0, 1], [0, 1], ":", color="0.5", linewidth=1)
    ax.plot(*at, "ko", markersize=8)
    ax.set(xlabel="false alarms: share of mail called spam", ylabel="hits: share of spam found",
           title=f"shift {shift:+.1f}: {np.mean(says != is_spam):.3f} wrong", xlim=(-0.02, 1), ylim=(0, 1.02))
    return f"Shift {shift:+.1f}: {at[0]:.3f} of the mail and {at[1]:.3f} of the spam are called spam."


fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
sentences = [cut(ax, shift) for ax, shift in zip(axes, (-5, 0, 5))]
axes[0].set(xlabel="")
axes[2].set(xlabel="")
for ax in axes[1:]:
    ax.set(ylabel="")
plots.alt(fig, "The same ROC curve three times, steep at the left, far above the diagonal. The chosen point moves "
               "along it from bottom left to top right as the bias grows. " + " ".join(sentences))
plt.show()

# %% tags=["nbval-ignore-output"]
plots.explore(cut, shift=(-10.0, 10.0, 0.0, 0.5))

# %% [markdown]
# What we see, and can move with the slider: one curve; the bias picks a point on it. To lose less mail, pay with spam
# in the inbox. That is the $\lambda$ of unit 01: it enters the bias as $\ln\lambda$ and nothing else.
#
# **Where it fails.** First, in floating point. The posterior $\sigma(a)$ grows with $a$, so its AUC should be the
# same. But naive Bayes is very sure of itself; beyond $a \approx 37$, $\sigma(a)$ **is** 1 to the computer, and
# messages that had different scores now tie. The first cell takes normal densities for all 57 features of the spam
# data. So rank by log odds, not by posteriors.
#
# Second, with three classes or more there are K biases, and they do not act as one shift. Two objects have the log
# scores $(0, 0, -9)$ and $(0, -9, -1)$: which of them is the more likely to be of class 0? The second. Add 3 to the
# bias of class 2, and it is the first. That is the second cell.

# %%
# claim 2.8
everything = spam.matrix(*list(spam.columns)[:-1])
bold = NaiveBayes(Normal()).fit(everything[~test], y[~test])
log_odds = np.diff(bold.log_joint(everything[test]))[:, 0]
from_score, from_posterior = auc(log_odds, is_spam), auc(sigmoid(log_odds), is_spam)
at_one = np.sum(sigmoid(log_odds) == 1)
assert at_one > 100 and from_score - from_posterior > 0.001
print(f"σ(a) is 1 to the computer from a = {-np.log(np.finfo(float).eps / 2):.1f} on")
print(f"{at_one} of {test.sum()} posteriors are exactly 1")
print(f"AUC {from_score:.4f} by scores, {from_posterior:.4f} by posteriors")

# %%
log_joint = np.array([[0.0, 0.0, -9.0], [0.0, -9.0, -1.0]])
for bias in (0.0, 3.0):
    g = np.exp(log_joint + [0, 0, bias])
    print(f"bias of class 2 {bias:+.0f}: P(class 0 | x) =", (g / g.sum(axis=1, keepdims=True))[:, 0].round(3))

# %% [markdown]
# Third, the AUC does not say how good the *decisions* are: the errors above went from 11 % to 20 % with the same AUC.
#
# **Now you:** [E2.8](../exercises/02a_exponential_families.ipynb), the AUC, ties included.
#
# ## 8. On trial: "naive Bayes is the fastest"
#
# One of the lectures behind this course says: of all linear classifiers this is the worst, *but it is the fastest: no
# matrices need to be inverted, the coefficients are computed from the means of the features.* The first half goes to
# court in unit 06. Here is the second.
#
# * **The question.** Is any other classifier of this course fitted as fast or faster?
# * **The data.** The spam messages, with 4, 16 and all 54 words and signs.
# * **The yardstick.** The shortest of five fits, in an order that changes every round; whatever else the machine does
#   can only make a fit slower. Before the clock, a count: how many multiplications does each fit need, for $N$ objects
#   and $D$ features?
# * **The others.** Nearest centroid, which decides for the class with the nearest mean: means only, by `class_means`
#   above, without the library's checks of the input. LDA (unit 03): means and one covariance matrix, which is then
#   factorised. Logistic regression (unit 06): found step by step, each step with a $D \times D$ matrix.
#
# | fit | what is summed | multiplications, about |
# |---|---|---|
# | nearest centroid | x | $ND$ |
# | naive Bayes, Bernoulli | x | $ND$ |
# | naive Bayes, normal | x, x² | $2ND$ |
# | LDA | x, xxᵀ | $ND^2 + D^3$ |
# | logistic regression | vxxᵀ, in each step | steps · $(ND^2 + D^3)$ |

# %% tags=["nbval-ignore-output"]
# claim 2.17
rivals = {"nearest centroid": lambda X: class_means(X, y, 2), "naive Bayes, Bernoulli": NaiveBayes(Bernoulli(1)).fit,
          "naive Bayes, normal": NaiveBayes(Normal()).fit, "LDA": LDA().fit,
          "logistic": LogisticRegression(ridge=1).fit}


def seconds(D):
    """Shortest time of each fit on the first D words, (rivals,)."""
    X, rounds = np.ascontiguousarray(B[:, :D]), []
    for turn in range(5):
        taken = {}
        for name in np.roll(list(rivals), turn):
            start = perf_counter()
            rivals[name](X) if name == "nearest centroid" else rivals[name](X, y)
            taken[name] = perf_counter() - start
        rounds.append([taken[name] for name in rivals])
    return np.min(rounds, axis=0)


times = np.array([seconds(D) for D in (4, 16, 54)])
for name, row in zip(rivals, times.T * 1000):
    print(f"{name:23s}" + "".join(f"{value:9.2f} ms" for value in row))
steps, estimates = rivals["logistic"](B, y).n_iter_, rivals["naive Bayes, normal"](B, y).fitted_.n_parameters
assert steps >= 4 and estimates == 2 * class_means(B, y, 2).size    # the counts behind the clock

# %% [markdown]
# **The verdict: fast, yes; the fastest, no.** What iterates is many times slower: the cell asserts that logistic
# regression takes at least four steps, each as dear as all of LDA. (Times depend on the machine; only the counts are
# asserted.) But *nearest centroid* sums the means and nothing else, half of what naive Bayes with normals estimates,
# and is a linear classifier too: it takes less time. And *LDA*, which does factorise a matrix, is hardly slower as long
# as $D$ is small: both read the table once, and for a few features reading is what takes the time. The gap grows with
# $D$, as the count said it would.
#
# What is true in the sentence, and worth more than milliseconds: **a naive Bayes fit is one pass of sums.** It can be
# stopped and continued, split over machines and added up, and it never fails to converge.
#
# ## 9. Quiz
#
# Five questions. Without buttons: `quiz("2.1", "b")`.

# %% tags=["nbval-ignore-output"]
quiz("2.1")
quiz("2.2")
quiz("2.3")
quiz("2.4")
quiz("2.5")

# %% [markdown]
# ## Close
#
# **In one paragraph.** Maximum likelihood takes the parameters under which the data were most probable. If features
# are taken as independent within a class, the problem falls into K · D problems in one unknown. If each density has
# the form $\exp((x\theta - c)/\varphi + h)$, all of them have the same solution: the mean, seen through $[c']^{-1}$.
# And if the dispersion does not depend on the class, the classifier that comes out is linear, with weights and a bias
# that you can write down. Its weights put the objects in order; its bias only cuts.
#
# > **Formula card**
# >
# > $p(x \mid \theta, \varphi) = \exp\bigl((x\theta - c(\theta))/\varphi + h(x, \varphi)\bigr), \qquad c' = \text{mean},
# > \qquad \varphi c'' = \text{variance}$
# >
# > $\hat\theta_{kj} = [c']^{-1}(\bar x_{kj}), \qquad \hat\varphi_j = \frac1N\sum_i (x_{ij} - \bar x_{y_i j})^2$ (normal,
# > shared)
# >
# > normal $\mu$ · Bernoulli $\ln\frac{\mu}{1-\mu}$ · binomial $\ln\frac{\mu}{n-\mu}$ · Poisson $\ln\mu$
# >
# > $w_{kj} = \theta_{kj}/\varphi_j, \qquad w_{k0} = \ln\lambda_k P(k) - \sum_j c(\theta_{kj})/\varphi_j$
# >
# > $\text{AUC} = P(a_1 > a_0) + \frac12 P(a_1 = a_0)$, free of the bias
#
# **Common mistakes.** The mean used as $\theta$ where the table has a logarithm · $\ln\mu$ for $\ln\frac{\mu}{1-\mu}$
# · the binomial without its $n$ · the standard deviation where the variance belongs · $\varphi$ about the common mean
# · $c(\theta)$ missing from the bias · $\varphi$ divided out of the weights but not out of the bias · ties counted 0
# or 1.
#
# **When not to use it.** When the features depend on each other within the classes and the probabilities must be right,
# not only the decisions. When the variance of the data is far from $\varphi c''$. When a mean lies on the edge, until
# you have smoothed. When the features have tails or several peaks that no member has.
#
# **In scikit-learn.** `GaussianNB` gives each class its own variances, divisor $N_k$, and adds $10^{-9}$ of the
# largest variance to all of them (`var_smoothing`); a shared $\varphi$ is not on offer. `BernoulliNB` and
# `MultinomialNB` smooth by default (`alpha=1.0`). There is no binomial, Poisson or mixed one. `roc_auc_score` counts
# ties one half, as we do. R's `e1071::naiveBayes` divides by $N_k - 1$.
#
# **References.** P. McCullagh, J. A. Nelder, *Generalized Linear Models* (2nd ed. 1989), section 2.2. C. M. Bishop,
# *Pattern Recognition and Machine Learning* (2006), sections 2.4 and 4.2. F. Mosteller, D. L. Wallace, *Inference and
# Disputed Authorship: The Federalist* (1964). M. Friendly, D. Meyer, *Discrete Data Analysis with R* (2016), chapter 3.
# A. A. Johnson, M. Q. Ott, M. Dogucu, *Bayes Rules!* (2022), section 14.2. J. A. Hanley, B. J. McNeil, *The meaning and
# use of the area under a ROC curve*, Radiology 143 (1982) 29–36.
#
# **Next:** [the exercises](../exercises/02a_exponential_families.ipynb), then [02b Naive Bayes](02b_naive_bayes.ipynb):
# features of different kinds in one model, counts of zero, and what the naive assumption costs.
