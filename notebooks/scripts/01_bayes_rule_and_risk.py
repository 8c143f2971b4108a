# %% [markdown]
# # 01 Bayes' rule and risk
#
# **The question of this unit:** you have seen an object and must decide. What is the best decision, and best in what
# sense?
#
# After 90 minutes you can
#
# * turn counts and densities into the probability of each class, and say in what unit each quantity is measured;
# * correct these probabilities when the classes are not as frequent in the world as in your sample;
# * derive the rule of least average loss for any prices, with the right not to decide, and prove that no rule is
#   cheaper;
# * find where two normal classes meet, and how often even the best rule is wrong;
# * say how far a rule made from estimates is from the best one, put a standard error on a test error, and judge
#   probabilities as probabilities.
#
# **It builds on** [00 Start here](00_start_here.ipynb): shapes, logarithms, log-sum-exp. You need to know what a
# density, a mean and a variance are. **To run it**, type `course lab` in the folder of the course. The exercises are
# [in their own notebook](../exercises/01_bayes_rule_and_risk.ipynb); the text says when to go there.

# %%
from itertools import product

import numpy as np
from matplotlib import pyplot as plt
from scipy.integrate import quad
from scipy.optimize import brentq, minimize
from scipy.special import expit, gammaln, ndtr, softmax

from course_lib import QDA, plots
from course_lib.classroom import predict, quiz
from course_lib.data import load
from course_lib.decision import (brier_score, correct_priors, decide, log_loss, logit, logsumexp, normal_boundary,
                                 normal_risk, paired_comparison, posterior, sigmoid)

plots.style()

# %% [markdown]
# ## 1. A decision first
#
# Penguins get rings. On this island there are Adelies and the heavier Gentoos, and the person who puts the rings on has
# nothing but a scale. An Adelie with a large ring loses it: that costs a ring. A Gentoo with a small ring gets a sore
# leg, and we agree to call that ten times as bad. **From which mass on do you take the large ring?** Write a guess into
# the `predict` line, in grams, before you run on. (The left half of the figure is what you would like to see first.)

# %%
penguins = load("penguins")
mass, species = penguins["body_mass_g"], penguins["species"]
keep = np.isfinite(mass) & np.isin(species, ["Adelie", "Gentoo"])
x, y = mass[keep], (species[keep] == "Gentoo").astype(int)         # grams; 0 Adelie, 1 Gentoo
print(f"{len(x)} birds, {np.sum(y == 0)} Adelies and {np.sum(y == 1)} Gentoos")
predict("1.1", None)

# %%
thresholds = np.arange(2900, 6000, 25)
too_large = np.array([np.sum((x >= s) & (y == 0)) for s in thresholds])     # Adelies with a large ring
too_small = np.array([np.sum((x < s) & (y == 1)) for s in thresholds])      # Gentoos with a small ring
costs = {price: too_large + price * too_small for price in (1, 10)}

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
for k, name in enumerate(["Adelie", "Gentoo"]):
    look = plots.look(k)
    left.hist(x[y == k], bins=np.arange(2800, 6401, 200), color=look.tint(0.5), hatch=look.hatch, edgecolor=look.colour,
              alpha=0.8, label=name)
for k, (price, cost) in enumerate(costs.items()):
    right.plot(thresholds, cost, ["k-", "k--"][k], label=f"a sore leg costs {price}")
    right.plot(thresholds[cost.argmin()], cost.min(), "kv", zorder=4)
left.set(xlabel="body mass (g)", ylabel="birds")
right.set(xlabel="large ring from this mass on (g)", ylabel="cost, in lost rings", ylim=(0, 260))
left.legend()
right.legend()
plots.alt(fig, "Left: histograms of body mass; Adelies lie around 3,700 g, Gentoos around 5,000 g, and they overlap "
               "between 4,000 and 4,800 g. Right: the cost of all rings against the threshold. With equal prices it is "
               "least near 4,325 g, with a sore leg ten times as dear near 4,100 g.")
plt.show()

# %%
for price, cost in costs.items():
    best = cost.argmin()
    print(f"sore leg costs {price:2d}: threshold {thresholds[best]} g, lost rings {too_large[best]}, sore legs "
          f"{too_small[best]}; at ten for a leg that pays {costs[10][best]}")
predict("1.1", result=int(thresholds[best]))

# %% [markdown]
# With unequal prices the best threshold lies lower. It makes more errors, 33 instead of 23, and still pays less: 42
# instead of 95. (On the left the two curves are one, since no Gentoo is so light.) So "best" is a matter of *prices*,
# not of errors alone.
#
# We found these thresholds by trying. This unit derives them. What would change on an island where Gentoos are rare?
# What if you may also send the bird to somebody with a better instrument? How bad is the best threshold, and how far
# from it may one be that was read off 274 birds? Each question is a section.
#
# ## 2. The letters
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $x$, $y$ | what you see of an object; its true class | (D,); () | `x`, `y` |
# | $P(x, y)$, $p(x, y)$ | joint: probability, or density, of seeing $x$ together with class $y$ | (N, K) | `joint` |
# | $P(y)$ | prior: share of the class before $x$ is seen | (K,) | `priors` |
# | $p(x \mid y)$ | likelihood: density of $x$ within the class | (N, K) | `likelihood` |
# | $p(x)$ | evidence: density of $x$ over all classes | (N,) | `evidence` |
# | $P(y \mid x)$ | posterior: probability of the class once $x$ is seen | (N, K) | `posterior` |
# | $\hat y(x)$ | what a rule decides | (N,) | `decided` |
# | $\lambda_y$ | loss from an error on an object of class $y$ | (K,) | `losses` |
# | $[\,\text{statement}\,]$ | 1 if the statement is true, else 0 | | |
# | $L_{y\hat y}$ | loss when the truth is $y$ (down) and the decision $\hat y$ (across) | (K, K) | `L` |
# | $R(\hat y)$, $R(\hat y \mid x)$ | risk: the average loss of a rule; of one decision at $x$ | | `risk` |
# | $g_y(x)$ | $\lambda_y P(y)\,p(x \mid y)$ | (N, K) | `g` |
# | $a$, $\sigma(a)$ | log odds, and the logistic function that turns them into a probability | | `a`, `sigmoid` |
# | $\Phi$ | distribution function of the standard normal: the area to the left | | `ndtr` |
#
# A capital $P$ is a probability, a plain number between 0 and 1. A small $p$ is a density and has a unit, one over the
# unit of $x$. A hat means "estimated". ($\sigma$ without brackets is a standard deviation.)
#
# ## 3. One table, two ways to cut it
#
# The inquiry into the loss of the *Titanic* sorted 2,201 people by where they belonged and whether they survived.
# **Predict:** of the people in first class, did more than half survive?

# %%
freq = load("titanic_table")["freq"].reshape(2, 2, 2, 4)           # survived, age, sex, class: the order of the rows
where = ["1st", "2nd", "3rd", "crew"]
counts = freq.sum(axis=(1, 2)).T                                   # (4, 2): where, lost or saved
for name, (lost, saved) in zip(where, counts):
    print(f"{name:4s}  lost {lost:3.0f}   saved {saved:3.0f}")

# %% [markdown]
# Divide every cell by 2,201 and you have the joint $P(x, y)$. You can cut it in two ways. First by rows: the share of a
# row, times the shares within it. Or by columns:
#
# $$P(x, y) = P(x)\,P(y \mid x), \qquad P(x, y) = P(y)\,P(x \mid y).$$
#
# Both hold by the definition of a conditional probability, $P(y \mid x) = P(x,y)/P(x)$ and
# $P(x \mid y) = P(x,y)/P(y)$. The left sides are the same cell, so the right sides are equal, and dividing by $P(x)$
# gives **Bayes' rule**:
#
# $$P(y \mid x) = \frac{P(y)\,P(x \mid y)}{P(x)}, \qquad P(x) = \sum_k P(k)\,P(x \mid k).$$
#
# By hand, for the first class: 711 of 2,201 were saved, $P(\text{saved}) = 0.323$. Of the saved, 203 of 711 had been in
# first class, $P(\text{1st} \mid \text{saved}) = 0.2855$. And $P(\text{1st}) = 325/2201 = 0.1477$. So $P(\text{saved}
# \mid \text{1st}) = 0.323 \cdot 0.2855 / 0.1477 \approx 0.62$. The same as 203 of 325, of course: **in one finite
# table, Bayes' rule is counting in another order.**

# %%
# claim 1.1
joint = counts / counts.sum()                                      # P(x, y) (4, 2)
evidence, priors = joint.sum(axis=1), joint.sum(axis=0)            # P(x) (4,), P(y) (2,)
given_x, given_y = joint / evidence[:, None], joint / priors       # P(y|x), P(x|y)
np.testing.assert_allclose(evidence[:, None] * given_x, priors * given_y, rtol=1e-13)      # two ways, one table
np.testing.assert_allclose(priors * given_y / (priors * given_y).sum(axis=1, keepdims=True), given_x, rtol=1e-13)
np.testing.assert_allclose(given_y[0], [0.08187919, 0.28551336], atol=6e-9)      # as the R package e1071 prints them
print("P(saved | where):", dict(zip(where, given_x[:, 1].round(3).tolist())))

# %% [markdown]
# **What if $x$ is a number, such as a mass?** Then no two birds share a cell, and the place of $P(x \mid y)$ is taken
# by a density. The algebra stays, but the units matter. Describe both species by normal densities with the mean and
# the spread (the standard deviation) of their birds, once in grams and once in kilograms:

# %%
def normal(x, mu, sigma):
    """Density of a normal distribution, one column a class: x (N,) to (N, K)."""
    return np.exp(-0.5 * ((np.asarray(x)[..., None] - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))


mu, sigma, bird_priors = np.array([[x[y == k].mean(), x[y == k].std(), np.mean(y == k)] for k in (0, 1)]).T
grams = np.linspace(2500, 6500, 4001)
print("means", mu.round(0), "g, spreads", sigma.round(0), "g, priors", bird_priors.round(3))

# %%
# claim 1.1
in_g, in_kg = normal(4500, mu, sigma), normal(4.5, mu / 1000, sigma / 1000)      # per gram, per kilogram
shares = [bird_priors * p / (bird_priors @ p) for p in (in_g, in_kg)]
areas = [quad(lambda t: bird_priors @ normal(t, mu / s, sigma / s), 0, 9000 / s, limit=200)[0] for s in (1, 1000)]
np.testing.assert_allclose(areas, 1, atol=1e-8)                    # p(x) is a density in either unit
np.testing.assert_allclose(in_kg, 1000 * in_g, rtol=1e-12)         # densities carry the unit
np.testing.assert_allclose(*shares, rtol=1e-12)                    # the posterior has none
print(f"p(4500 g | Gentoo) = {in_g[1]:.6f} per g = {in_kg[1]:.3f} per kg;   P(Gentoo | 4500 g) = {shares[0][1]:.3f}")

# %% [markdown]
# A density is a thousand times larger per kilogram than per gram, and may exceed 1. It is a probability only after you
# multiply it by a width. In the posterior the unit stands above and below the line and cancels.
#
# **To decide, you do not need $p(x)$.** It is the same positive number for every class, and dividing all by the same
# positive number keeps their order. So does the logarithm, which only grows:
#
# $$\arg\max_y P(y \mid x) = \arg\max_y P(y)\,p(x \mid y) = \arg\max_y \bigl(\ln P(y) + \ln p(x \mid y)\bigr).$$
#
# And if all priors are equal, $P(y) = 1/K$ is one more common factor: decide for **the largest likelihood**. Check both
# on the birds, and see what the priors do when they are not equal.

# %%
# claim 1.2, 1.5
likelihood = normal(grams, mu, sigma)
bird_joint = bird_priors * likelihood
share, equal = (p * likelihood / (p * likelihood).sum(axis=1, keepdims=True) for p in (bird_priors, np.full(2, 0.5)))
best, likely, logs = share.argmax(axis=1), likelihood.argmax(axis=1), np.log(bird_priors) + np.log(likelihood)
assert (best == bird_joint.argmax(axis=1)).all() and (best == logs.argmax(axis=1)).all()
assert (equal.argmax(axis=1) == likely).all() and likely.sum() > best.sum()      # the frequent Adelies get more room
print(f"Gentoo from {grams[likely.argmax()]:.0f} g by the likelihood, {grams[best.argmax()]:.0f} g by the posterior")

# %% [markdown]
# ### Which table? Berkeley, 1973
#
# A posterior answers the question that its table asks. In 1973 the University of California at Berkeley admitted the
# shares of men and women printed below to its six largest departments, and men are far ahead. **Predict:** in how
# many of the six departments were men admitted more often than women?

# %%
ucb = load("ucb_admissions")["freq"].reshape(6, 2, 2)              # department, men or women, admitted or not
applied, admitted = ucb.sum(axis=2), ucb[:, :, 0]                  # (6, 2)
overall = admitted.sum(axis=0) / applied.sum(axis=0)
print(f"admitted: {overall[0]:.3f} of the men, {overall[1]:.3f} of the women")
predict("1.2", None)

# %%
rates = admitted / applied                                         # P(admitted | department, gender)
weights = applied / applied.sum(axis=0)                            # P(department | gender), columns sum to 1
names = list("ABCDEF")
fig, axes = plt.subplots(1, 2, figsize=(9, 3.3))
for ax, table, title in zip(axes, (rates, weights), ("share admitted", "share of all applications of that gender")):
    plots.bars(ax, table, names, groups=["men", "women"])
    ax.bar_label(ax.containers[0], fmt="")
    ax.set(xlabel="department", ylabel="share", title=title)
axes[1].get_legend().remove()
plots.alt(fig, "Left: the share admitted in departments A to F; women lead in A, B, D and F, men in C and E. Right: "
               "where men and women applied; half of the men in A and B, which admit many, most women in C to F, which "
               "admit few.")
plt.show()
predict("1.2", result=int(np.sum(rates[:, 0] > rates[:, 1])))

# %%
np.testing.assert_allclose((weights * rates).sum(axis=0), overall, rtol=1e-12)
same_weights = applied.sum(axis=1) / applied.sum()
standardised = same_weights @ rates
assert overall[0] > overall[1] and standardised[0] < standardised[1]
print(f"own weights:  men {overall[0]:.3f}, women {overall[1]:.3f}")
print(f"same weights: men {standardised[0]:.3f}, women {standardised[1]:.3f}")

# %% [markdown]
# In two, C and E. How can women be ahead in four of six departments, clearly in A, and behind in the whole? By the
# rule of total probability the whole is a **weighted mean** of the parts:
#
# $$P(\text{admitted} \mid \text{gender}) = \sum_{d} P(d \mid \text{gender})\;
# P(\text{admitted} \mid d, \text{gender}).$$
#
# The weights $P(d \mid \text{gender})$ are not the same for men and women. Half of the men applied to A and B, where
# most are admitted; women applied to departments that admit few of anybody. Give both genders the same weights, those
# of all applications together, and the order turns round. This is **Simpson's paradox**.
#
# Neither table is false. They condition on different things, and no formula says which of them your question is
# about. That is where Bayes' rule ends: **it takes the table as given.**
#
# **Now you:** [E1.1 and E1.2](../exercises/01_bayes_rule_and_risk.ipynb), the posterior, and the posterior in
# logarithms.
#
# ## 4. Where the priors come from
#
# The natural estimate of $P(y)$ is the share of the class in the sample, $\hat P(y) = N_y/N$. Is it any good? If the
# $N$ objects were drawn independently from the world, then $N_y$ is a sum of $N$ independent 0/1 numbers $t_i$, each
# 1 with the probability $P = P(y)$. With $\mathrm E\,t_i = P$ and, because $t_i^2 = t_i$, a variance of $P - P^2$,
#
# $$\mathrm E\,\hat P = \frac1N \sum_i \mathrm E\,t_i = P, \qquad
# \operatorname{Var}\hat P = \frac1{N^2}\sum_i \operatorname{Var} t_i = \frac{P(1-P)}{N}.$$
#
# So it is **unbiased**: right on average. And the more objects, the less it varies. Whenever $\hat P$ misses $P$ by
# more than $\epsilon$, the square of the miss exceeds $\epsilon^2$; the mean square is $P(1-P)/N$, so this cannot
# happen with a probability above $P(1-P)/N\epsilon^2$ (**Chebyshev's inequality**). That goes to 0: the estimate is
# **consistent**. By hand, for $N = 2$: the values 0, ½, 1 have the probabilities $(1-P)^2$, $2P(1-P)$, $P^2$, and the
# mean is $P(1-P) + P^2 = P$. For larger $N$ let the computer add up all $N + 1$ cases, exactly.

# %%
# claim 1.3
P, tolerance = 0.323, 0.05
misses = []
for N in (20, 200, 2000, 20_000):
    n = np.arange(N + 1)
    chance = np.exp(gammaln(N + 1) - gammaln(n + 1) - gammaln(N - n + 1) + n * np.log(P) + (N - n) * np.log(1 - P))
    mean, variance = chance @ (n / N), chance @ (n / N - P) ** 2
    miss = chance[np.abs(n / N - P) > tolerance].sum()
    np.testing.assert_allclose([mean, variance], [P, P * (1 - P) / N], rtol=1e-9)
    assert miss <= P * (1 - P) / (N * tolerance**2)
    misses.append(miss)
    print(f"N = {N:6d}   mean {mean:.4f}   spread {np.sqrt(variance):.4f}   off by more than {tolerance}: {miss:.2g}")
assert misses == sorted(misses, reverse=True) and misses[-1] < 1e-12

# %% [markdown]
# ### When the sample was rebalanced
#
# "Drawn independently from the world" is the clause that breaks. Suppose that somebody thinned out the table of the
# *Titanic* so that lost and saved are equally many: all 711 saved, and 711 picked by lot from the 1,490 lost. You get
# only this sample. Its share of the saved is ½, and no number of rows makes it 0.323. **Predict:** within this sample,
# is the share of survivors among the crew too high or too low?
#
# The posterior is wrong too, but it can be repaired. Write a prime for the sample. The lot was drawn within a class, so
# $p'(x \mid y) = p(x \mid y)$. Solve Bayes' rule in the sample for the likelihood, and put that into Bayes' rule in the
# world:
#
# $$p(x \mid y) = \frac{P'(y \mid x)\,p'(x)}{P'(y)}, \qquad
# P(y \mid x) = \frac{P(y)\,p(x \mid y)}{p(x)} = P'(y \mid x)\,\frac{P(y)}{P'(y)} \cdot \frac{p'(x)}{p(x)}.$$
#
# The last factor is the same for all classes, and normalising takes care of it:
#
# $$\boxed{P(y \mid x) \;\propto\; P'(y \mid x)\,\frac{P(y)}{P'(y)}}$$
#
# **New prior over old.** In log odds: every object moves by the same amount, $\ln\frac{P(1)}{P(0)} -
# \ln\frac{P'(1)}{P'(0)}$. You must be told the true $P(y)$; the sample does not know it.
#
# And if the thinning was *not* blind to $x$? Let a third sample lose its 779 people mostly from the lost crew, since
# those papers lay on top. Then $p'(x \mid y) \ne p(x \mid y)$, and the correction has nothing to stand on.

# %%
# claim 1.4
half = np.array([0.5, 0.5])
balanced = half * given_y / (half * given_y).sum(axis=1, keepdims=True)      # what the balanced sample says, on average
repaired = correct_priors(balanced, old=half, new=priors)
np.testing.assert_allclose(repaired, given_x, rtol=1e-12)                    # exact, since p(x|y) is the same
assert np.abs(balanced - given_x)[:, 1].min() > 0.10                         # uncorrected: off for everybody
thinned = counts.copy()
thinned[:, 0] -= [20, 20, 139, 600]                                          # 779 of the lost, mostly crew
assert thinned[:, 0].sum() == thinned[:, 1].sum() == 711
biased = correct_priors(thinned / thinned.sum(axis=1, keepdims=True), old=half, new=priors)
assert abs(biased[3, 1] - given_x[3, 1]) > 0.3                               # p(x|y) has changed: no repair
print(f"saved in the world: {priors[1]:.3f}; the sample says too much by", (balanced - given_x)[:, 1].round(2))

# %%
fig, ax = plt.subplots(figsize=(9.4, 3.4))
plots.bars(ax, np.column_stack([given_x[:, 1], balanced[:, 1], repaired[:, 1], biased[:, 1]]), where,
           groups=["in the world", "balanced by lot", "by lot, corrected", "mostly crew removed, corrected"])
ax.set(xlabel="where", ylabel="P(saved | where)", ylim=(0, 1.05))
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.alt(fig, "Chance of survival for four kinds of people. The balanced sample says too much for all; corrected it "
               "agrees with the world. The sample that lost mostly crew stays wrong: 0.58 for the crew instead of "
               "0.24.")
plt.show()

# %% [markdown]
# The first and the third bar agree to the last digit, for every kind. The second is too high everywhere, by 0.15 to
# 0.18. The fourth shows where it fails: the correction mends shares of *classes*, not of kinds within a class.
#
# **A lecture's rule, read with care:** "a rebalanced sample must not be used to estimate the priors". True, always.
# But the sample is not lost: keep what it says about $p(x \mid y)$, and ask whoever thinned it for the true shares.
#
# **Now you:** [E1.7](../exercises/01_bayes_rule_and_risk.ipynb), a posterior for other priors.
#
# ## 5. The best rule
#
# From here on we want a world that we know completely, so that "best" can be checked. Ripley's `synth` is one: 250
# points to learn from and 1,000 to test on, drawn in 1994 from a recipe that was printed with them. Each of two
# equally frequent classes is an even mixture of two round normal clouds with the variance 0.03: a coin decides from
# which of its class's two clouds a point is drawn.

# %%
CENTRES = np.array([[[-0.7, 0.3], [0.3, 0.3]],                     # class 0
                    [[-0.3, 0.7], [0.4, 0.7]]])                    # class 1


def log_density(X):
    """ln p(x|y) of the recipe: X (N, 2) to (N, 2)."""
    squares = ((X[:, None, None, :] - CENTRES) ** 2).sum(axis=-1)  # (N, class, cloud)
    return logsumexp(-squares / (2 * 0.03), axis=-1) - np.log(2 * 2 * np.pi * 0.03)   # ½ · 1/2πσ² of each cloud


X_train, y_train = load("synth_tr").Xy()
X_test, y_test = load("synth_te").Xy()
true_posterior = posterior(np.log(0.5) + log_density(X_test))      # (1000, 2)
print("train", X_train.shape, " test", X_test.shape,
      " errors of the largest posterior on the test set:", np.sum(true_posterior.argmax(axis=1) != y_test))

# %% [markdown]
# Eighty errors of a thousand, by somebody who knows everything. Is that the best there is? And what if an error on
# class 1 costs more than one on class 0? Call the loss $\lambda_y$, for an error on an object *of* class $y$. The
# average loss of a rule $\hat y$ is its **risk**:
#
# $$R(\hat y) = \sum_y \lambda_y \int [\hat y(x) \neq y]\; P(y)\,p(x \mid y)\, dx.$$
#
# **Theorem.** With $g_y(x) = \lambda_y P(y)\,p(x \mid y)$, no rule has a smaller risk than
#
# $$\hat y^*(x) = \arg\max_y\; g_y(x).$$
#
# **Proof.** Take any rule $\hat y$. Draw the sum under the integral:
#
# $$R(\hat y) = \int \sum_y [\hat y(x) \neq y]\, g_y(x)\, dx.$$
#
# Fix an $x$. In the sum, every class is charged except the one that was decided:
#
# $$\sum_y [\hat y(x) \neq y]\, g_y(x) = \sum_y g_y(x) \;-\; g_{\hat y(x)}(x).$$
#
# The first part does not depend on the rule. Its integral is $\sum_y \lambda_y P(y)$, since densities integrate to 1.
# So
#
# $$R(\hat y) = \sum_y \lambda_y P(y) - \int g_{\hat y(x)}(x)\, dx.$$
#
# At every $x$ the number $g_{\hat y(x)}(x)$ is one of $g_0(x), \dots, g_{K-1}(x)$, and hence at most their maximum,
# which is what $\hat y^*$ takes. An integral of something that is nowhere larger is not larger, so $\int g_{\hat y}
# \le \int g_{\hat y^*}$ and $R(\hat y) \ge R(\hat y^*)$. $\blacksquare$
#
# More than that, we see what another rule pays too much:
#
# $$R(\hat y) - R(\hat y^*) = \int \bigl[ g_{\hat y^*(x)}(x) - g_{\hat y(x)}(x) \bigr]\, dx \;\ge\; 0.$$
#
# Where two classes tie, $g$ is equal and either decision is as good. Everywhere else a different decision costs more:
# as soon as a rule differs from $\hat y^*$ on a region in which objects occur, its risk is larger.
#
# **Is it true?** Ask somebody who does not know the theorem. On the *Titanic* there are eight kinds of people, men and
# women of four sorts. A rule says "lost" or "saved" for each kind: there are $2^8 = 256$ rules. Price them all, with
# twice the loss for giving up a survivor.

# %%
# claim 1.6
kinds, losses = freq.sum(axis=1).reshape(2, 8).T / freq.sum(), np.array([1.0, 2.0])      # P(kind, fate) (8, 2)
g = losses * kinds
rules = list(product((0, 1), repeat=8))                            # all there are
risks = [sum(losses[y] * kinds[x, y] for x in range(8) for y in (0, 1) if rule[x] != y) for rule in rules]
assert rules[np.argmin(risks)] == tuple(g.argmax(axis=1)) and np.isclose(min(risks), g.sum() - g.max(axis=1).sum())
print(f"256 rules cost {min(risks):.4f} to {max(risks):.4f}; kind 0: {kinds[0, 1] / kinds[0].sum():.3f} saved")
print("the cheapest rule is the theorem's:", " ".join(["lost", "saved"][k] for k in g.argmax(axis=1)))

# %% [markdown]
# The kinds are the men of first, second and third class and of the crew, then the women in the same order. Look at
# the first one: only 0.344 of these men survived, and still "saved" is the better bet, since a survivor given up
# costs double and the odds 0.344 : 0.656 exceed 1 : 2.
#
# **And in the plane?** There are infinitely many rules there. With two classes, dividing $\lambda_1 P(1 \mid x) >
# \lambda_0 P(0 \mid x)$ by $\lambda_1 P(0 \mid x)$ turns the best rule into a threshold on the odds:
#
# $$\text{decide 1 where}\quad \ln\frac{P(1 \mid x)}{P(0 \mid x)} > \ln\frac{\lambda_0}{\lambda_1}.$$
#
# So move the threshold and see whether anything is gained. Predict the direction: if class 1 becomes dearer, does the
# region in which we decide 1 grow or shrink?
#
# For the exact risk, lay a fine grid over the plane and add up $g$ in its cells. As an independent route, work one
# coordinate out on paper. With $x = (u, v)$ both clouds of class 0 lie at $v = 0.3$, those of class 1 at $v = 0.7$, so
#
# $$a(u, v) = \ln\frac{p(u \mid 1)}{p(u \mid 0)} + \frac{(v - 0.3)^2 - (v - 0.7)^2}{2 \cdot 0.03}
# = \ln\frac{p(u \mid 1)}{p(u \mid 0)} + \frac{0.8 v - 0.4}{0.06},$$
#
# a straight line in $v$. For each $u$ there is one switching point, the share of each class beyond it is a value of
# $\Phi$, and one integral over $u$ is left. The two routes must agree.

# %%
axis1, axis2 = np.linspace(-1.9, 1.6, 400), np.linspace(-0.9, 1.9, 400)
GRID = np.column_stack([c.ravel() for c in np.meshgrid(axis1, axis2)])          # (160000, 2)
CELLS = 0.5 * np.exp(log_density(GRID)) * np.diff(axis1)[0] * np.diff(axis2)[0]  # (160000, 2): P(cell, class)


def risk_of(decided, losses=(1, 1)):
    """Risk of decisions (160000,) on the grid."""
    g = CELLS * losses
    return g.sum() - np.take_along_axis(g, decided[:, None], axis=1).sum()


def on_one_line(u):
    """The best rule's errors along the line of first coordinate u."""
    p0, p1 = (np.mean(normal(u, CENTRES[k, :, 0], np.sqrt(0.03))) for k in (0, 1))
    switch = (0.4 - 0.06 * np.log(p1 / p0)) / 0.8
    return 0.5 * (p0 * ndtr((0.3 - switch) / np.sqrt(0.03)) + p1 * ndtr((switch - 0.7) / np.sqrt(0.03)))


exact = quad(on_one_line, -2, 2, limit=500, epsabs=1e-12, points=[-0.7, -0.3, 0.3, 0.4])[0]
log_odds = np.log(CELLS[:, 1]) - np.log(CELLS[:, 0])

# %%
# claim 1.6
assert abs(risk_of((log_odds > 0).astype(int)) - exact) < 2e-6 and abs(exact - 0.0893265) < 1e-7
for prices in ((1, 1), (5, 1), (1, 5), (1, 20)):
    best = np.log(prices[0] / prices[1])
    risks = {t: risk_of((log_odds > best + t).astype(int), prices) for t in (-2, -1, -0.3, 0, 0.3, 1, 2)}
    assert all(risks[t] > risks[0] for t in risks if t != 0)       # every moved threshold costs more
    print(f"losses {prices}:", "  ".join(f"{t:+.1f}: {risk:.4f}" for t, risk in risks.items()))
print(f"with equal losses the best rule errs with the probability {exact:.7f}; on the test set it was 0.080")

# %%
fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.2), sharey=True)
for ax, (l0, l1) in zip(axes, ((5, 1), (1, 1), (1, 5))):
    plots.decision_regions(ax, lambda X, l=(l0, l1): (np.log(l) + log_density(X)).argmax(axis=1), X_train)
    plots.scatter_classes(ax, X_train, y_train, size=16)
    ax.set(title=f"losses {l0} and {l1}", xlabel="first coordinate")
axes[0].set_ylabel("second coordinate")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", title="class")
plots.alt(fig, "The regions of the best rule on Ripley's data for three pairs of losses. The boundary winds between "
               "the classes. Where class 0 is dear, class 1 is pushed up; where class 1 is dear, its region reaches "
               "down between the two clouds of class 0.")
plt.show()

# %%
# claim 1.7
rare, dear = np.array([10, 1]) / 11, np.array([1.0, 10.0])
log_p = log_density(X_test)
one = (np.log(dear) + np.log(rare) + log_p).argmax(axis=1)
other = (np.log(0.5) + log_p).argmax(axis=1)
gap = np.abs(posterior(np.log(rare) + log_p) - posterior(np.log(0.5) + log_p)).max()
assert (one == other).all() and gap > 0.5                          # one rule, two worlds
print(f"1,000 decisions, all the same; but the posteriors differ by up to {gap:.2f}")

# %% [markdown]
# The region of the dear class grows: the boundary moves away from it. And read each line of numbers from the middle,
# where the threshold is moved by 0: to both sides the cost rises, since the objects between the two thresholds are
# now decided the dearer way. The exact risk is 0.0893265. The famous "8 %" for these data is the best rule's luck on
# one test set; section 8 says how much luck there is.
#
# **Prices and priors are interchangeable.** In $g_y = \lambda_y P(y)\,p(x \mid y)$ they stand side by side, so the rule
# knows their product only. If there are ten objects of class 0 for one of class 1, and an error on class 1 is ten
# times as dear, the rule is that of equal priors and equal prices. But only the *rule*. The risk is a different number,
# and the posterior too: in the last line above it differs by 0.52 for some test point.
#
# **Now you:** [E1.3 and E1.5](../exercises/01_bayes_rule_and_risk.ipynb), the decision with prices, and the price of
# any rule.
#
# ### Any prices, and the right not to decide
#
# One price for each class is not always enough: to take a Gentoo for an Adelie may be dearer than to take it for a
# Chinstrap. Write $L_{y\hat y}$ for the loss if the truth is $y$ and the decision $\hat y$. Once $x$ is seen, the
# decision $\hat y$ costs on average
#
# $$R(\hat y \mid x) = \sum_y P(y \mid x)\,L_{y\hat y}, \qquad R(\hat y) = \int R(\hat y(x) \mid x)\; p(x)\,dx.$$
#
# The proof is the same: at each $x$ you may choose $\hat y$ freely, so take the one of least $R(\hat y \mid x)$. With
# $L_{y\hat y} = \lambda_y [\hat y \neq y]$ we get the theorem back, since $R(\hat y \mid x) = \sum_y \lambda_y P(y \mid
# x) - \lambda_{\hat y} P(\hat y \mid x)$.
#
# The decisions need not be the classes. "I do not know, ask a person" is one more column, with the same loss $c$ for
# every truth. If all errors cost 1, then $R(\hat y \mid x) = 1 - P(\hat y \mid x)$, and comparing with $c$ gives
# **Chow's rule**:
#
# $$\text{do not decide where}\quad \max_y P(y \mid x) < 1 - c.$$
#
# By hand, with $c = 0.2$: a posterior (0.85, 0.15) is decided, at the cost 0.15; (0.7, 0.3) would cost 0.3, so pay
# 0.2. The largest of $K$ probabilities is never below $1/K$: with $c \ge 1 - 1/K$ the column is never used.
#
# The check prices all $3^8 = 6{,}561$ rules that say "lost", "saved" or "ask" for eight kinds of people.

# %%
# claim 1.13
L = np.array([[0.0, 1.0, 0.25],                                    # truly lost: decided lost, saved, ask
              [3.0, 0.0, 0.25]])                                   # truly saved
rules = list(product(range(3), repeat=8))
risks = (kinds @ L)[np.arange(8), rules].sum(axis=1)               # (6561,)
best = decide(kinds / kinds.sum(axis=1, keepdims=True), losses=L)
assert rules[risks.argmin()] == tuple(best)
for c in (0.1, 0.2, 0.3, 0.5):
    asked = decide(true_posterior, losses=np.column_stack([1 - np.eye(2), [c, c]])) == 2
    assert (asked == (true_posterior.max(axis=1) < 1 - c)).all()   # Chow
assert not asked.any()                                             # from c = 1 − 1/K on nobody is asked
print(f"6,561 rules; the cheapest, at {risks.min():.4f}: ", " ".join(["lost", "saved", "ask"][a] for a in best))

# %%
fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.2), sharey=True)
for ax, c in zip(axes, (0.4, 0.2, 0.05)):
    L = np.column_stack([1 - np.eye(2), [c, c]])
    plots.decision_regions(ax, lambda X, L=L: decide(posterior(log_density(X)), L), X_train, classes=[0, 1])
    plots.scatter_classes(ax, X_train, y_train, size=16)
    decided = decide(CELLS / CELLS.sum(axis=1, keepdims=True), L)
    asked = CELLS[decided == 2].sum()
    errors = CELLS[decided == 0, 1].sum() + CELLS[decided == 1, 0].sum()
    ax.set(title=f"asking costs {c}: {asked:.0%} asked,\n{errors / (1 - asked):.1%} errors among the rest",
           xlabel="first coordinate")
axes[0].set_ylabel("second coordinate")
fig.legend(*axes[0].get_legend_handles_labels(), loc="outside right upper", title="class")
plots.alt(fig, "The same data with a band along the boundary where nothing is decided. The cheaper it is to ask, the "
               "wider the band, and the fewer errors remain outside it.")
plt.show()

# %% [markdown]
# The dotted band is "ask". It follows the boundary and is wide where the classes mix over a long stretch. The cheaper
# asking is, the more is asked, and the fewer errors are left.
#
# *Where it fails:* the band holds objects between the classes, not objects unlike either class. A point far outside all
# clouds may have a posterior of 0.999. Doubt about the class and doubt about the model are not the same.
#
# **Now you:** [E1.4](../exercises/01_bayes_rule_and_risk.ipynb), a loss matrix and the right not to decide.
#
# ## 6. Log odds, and the errors that nobody can avoid
#
# Divide Bayes' rule for two classes, above and below the line, by $P(1)p(x\mid 1)$:
#
# $$P(1 \mid x) = \frac{P(1)p(x \mid 1)}{P(1)p(x \mid 1) + P(0)p(x \mid 0)} = \frac1{1 + e^{-a}} = \sigma(a), \qquad
# a = \ln\frac{P(1)p(x \mid 1)}{P(0)p(x \mid 0)} = \ln\frac{P(1\mid x)}{P(0 \mid x)}.$$
#
# **The posterior is the logistic function of the log odds.** Three facts follow by one line each:
#
# * $\sigma(-a) = \dfrac1{1+e^{a}} = \dfrac{e^{-a}}{e^{-a} + 1} = 1 - \dfrac{1}{1+e^{-a}} = 1 - \sigma(a)$: swapping the
#   classes turns the sign;
# * solve $s = 1/(1+e^{-a})$ for $a$: $e^{-a} = (1-s)/s$, so $a = \ln \dfrac{s}{1-s}$, the **logit**, is its inverse;
# * for $K$ classes, with $a_k = \ln P(k)p(x \mid k)$, Bayes' rule reads $P(k \mid x) = e^{a_k}/\sum_j e^{a_j}$: the
#   **softmax**. For $K = 2$ it is $\sigma(a_1 - a_0)$.
#
# By hand: log odds of 0 are a toss-up. $\ln 9 \approx 2.2$ means 9 : 1, so 0.9. One more unit multiplies the odds by
# $e \approx 2.7$, wherever you are.

# %%
# claim 1.11
a = np.log(bird_joint[:, 1] / bird_joint[:, 0])                    # log odds along the scale of the birds
np.testing.assert_allclose([sigmoid(a), 1 - sigmoid(-a), expit(a)], [share[:, 1]] * 3, rtol=1e-6, atol=1e-12)
np.testing.assert_allclose(logit(sigmoid(a)), a, atol=1e-6)
scores = np.random.default_rng(111).normal(0, 5, size=(200, 4))                       # K = 4
np.testing.assert_allclose(posterior(scores), softmax(scores, axis=1), rtol=1e-10)    # scipy's
np.testing.assert_allclose(posterior(scores[:, :2])[:, 1], sigmoid(scores[:, 1] - scores[:, 0]), rtol=1e-10)
print(f"odds of 9 : 1 are log odds of {logit(0.9):.2f}; one unit more makes {sigmoid(logit(0.9) + 1):.2f} of 0.9")

# %% [markdown]
# ### The overlap
#
# At an $x$ the best rule with equal losses takes the class with the largest $P(y)p(x \mid y)$. It is wrong there with
# all the rest. So its error is
#
# $$\int \Bigl[\sum_y P(y)p(x \mid y) - \max_y P(y)p(x \mid y)\Bigr] dx = 1 - \int \max_y P(y)p(x \mid y)\,dx,$$
#
# and with two classes, where sum minus maximum is the minimum, **the overlap of the prior-weighted densities**
#
# $$\int \min\bigl(P(0)p(x\mid 0),\; P(1)p(x \mid 1)\bigr)\,dx.$$
#
# Weighted: two identical densities overlap completely, but the error is ½ and not 1, by tossing a coin.
#
# **Two normals on a line.** Where do the weighted densities cross? Their logarithms are
# $\ln P(y) - \ln\sigma_y - (x-\mu_y)^2/2\sigma_y^2$, up to a constant that both have. They are equal where
# the difference, class 0 minus class 1, is 0. Sort it by powers of $x$:
#
# $$\Bigl(\frac1{2\sigma_1^2} - \frac1{2\sigma_0^2}\Bigr)x^2 + \Bigl(\frac{\mu_0}{\sigma_0^2} -
# \frac{\mu_1}{\sigma_1^2}\Bigr)x + \frac{\mu_1^2}{2\sigma_1^2} - \frac{\mu_0^2}{2\sigma_0^2} +
# \ln\frac{P(0)\,\sigma_1}{P(1)\,\sigma_0} = 0.$$
#
# Equal spreads: the square drops out, and what is left, if the means differ, is a straight line with **one** root.
# Different spreads: a parabola has **two** roots, or **none** (or just touches zero, and then nothing changes there).
# Predict what "none" looks like before you see it.

# %%
CASES = {"equal spreads": ([0.0, 2.0], [1.0, 1.0], np.array([0.5, 0.5])),
         "one class wider": ([0.0, 1.5], [1.0, 2.5], np.array([0.5, 0.5])),
         "one class rare": ([0.0, 0.5], [1.3, 1.0], np.array([0.85, 0.15]))}


def weighted_pair(ax, mean, sd, P):
    """Draw two weighted densities, their overlap and their crossings, and say in words what there is."""
    t = np.linspace(-6, 8, 561)
    both = P * normal(t, np.array(mean), np.array(sd))
    for k in (0, 1):
        ax.plot(t, both[:, k], color=plots.look(k).colour, linestyle=plots.look(k).line, label=f"class {k}")
    ax.fill_between(t, both.min(axis=1), color="0.75", zorder=0, label="overlap")
    points, error = normal_boundary(mean, sd, P), normal_risk(mean, sd, P)
    for point in points:
        ax.axvline(point, color="black", linewidth=1, linestyle=":")
    words = f"crossings: {len(points)}, error {error:.3f}"
    ax.set(xlabel="x", ylabel="weighted density", ylim=(0, 1.15 * both.max()), title=words)
    return words + "."


# %%
fig, axes = plt.subplots(1, 3, figsize=(9.4, 3.1))
sentences = [f"{name}: {weighted_pair(ax, *case)}" for ax, (name, case) in zip(axes, CASES.items())]
for ax, name in zip(axes, CASES):
    ax.set(title=f"{name}\n{ax.get_title()}", ylabel="")
axes[0].set_ylabel("weighted density")
axes[0].legend(fontsize=8, loc="upper left")
plots.alt(fig, "Two weighted normal densities, their overlap shaded, dotted where they cross. " + " ".join(sentences))
plt.show()

# %%
# claim 1.12
for name, (mean, sd, P) in CASES.items():
    pair = lambda t: P * normal(t, np.array(mean), np.array(sd))
    points = normal_boundary(mean, sd, P)
    edges = [-30, *points, 30]
    overlap = sum(quad(lambda t: pair(t).min(), a, b, limit=200)[0] for a, b in zip(edges, edges[1:]))
    assert abs(overlap - normal_risk(mean, sd, P)) < 1e-8
    grid = np.linspace(-30, 30, 6000)
    sign = np.sign(np.log(pair(grid)) @ [1, -1])
    found = [brentq(lambda t: np.log(pair(t)) @ [1, -1], grid[i], grid[i + 1]) for i in np.flatnonzero(np.diff(sign))]
    np.testing.assert_allclose(points, found, atol=1e-8)           # the quadratic against a root finder
    print(f"{name:16s} points {np.round(points, 3)}   error {overlap:.4f}")

# %%
# claim 1.12
mean3, sd3, P3 = np.array([-1.5, 0.0, 2.0]), np.array([1.0, 0.6, 1.2]), np.array([0.3, 0.3, 0.4])
upper = quad(lambda t: (P3 * normal(t, mean3, sd3)).max(), -12, 12, limit=400, epsabs=1e-10)[0]
rng = np.random.default_rng(112)
label = rng.choice(3, size=200_000, p=P3)
wrong = np.mean((P3 * normal(rng.normal(mean3[label], sd3[label]), mean3, sd3)).argmax(axis=1) != label)
assert abs(wrong - (1 - upper)) < 4 * np.sqrt(upper * (1 - upper) / 200_000)      # within four standard errors
print(f"1 − ∫max = {1 - upper:.4f}, errors of 200,000 drawn: {wrong:.4f}")

# %% [markdown]
# With one class rare, in the third panel, its curve lies below the other everywhere. The best rule never decides for
# it, its error is the rare class's prior, 0.15, and **the measurement is worth nothing**. In the second panel the
# wide class wins on *both* sides. The second check drew 200,000 objects of three classes: they were missed as often
# as 1 minus the area under the upper envelope says.
#
# Back to the rings of section 1. With the two normals and the prices 1 and 10 the weights are $\lambda_y P(y)$, and the
# formula gives the threshold that we found by trying, or nearly: see the lines below, before the sliders.
#
# Move the second class yourself. Start with equal spreads; then find a setting with no boundary at all without making
# the prior extreme. (It must not be wider than the first.)

# %%
for price in (1, 10):
    weight = bird_priors * [1, price]
    inside = [t for t in normal_boundary(mu, sigma, weight) if 3000 < t < 6000]
    print(f"a sore leg costs {price:2d}: large ring from {inside[0]:.0f} g on")

# %% tags=["nbval-ignore-output"]
def second_class(ax, mean, spread, prior):
    words = weighted_pair(ax, [0, mean], [1, spread], np.array([1 - prior, prior]))
    ax.legend()
    return words


plots.explore(second_class, mean=(-3.0, 5.0, 2.0, 0.1), spread=(0.4, 3.0, 1.0, 0.1), prior=(0.05, 0.95, 0.5, 0.05))

# %% [markdown]
# **Now you:** [E1.6 and E1.8](../exercises/01_bayes_rule_and_risk.ipynb), two normals exactly, and a formula with a
# mistake.
#
# ## 7. When you have only estimates
#
# Everything so far assumed that $P(y)$ and $p(x \mid y)$ are known. In practice you put estimates in their place,
# $\hat g_y = \lambda_y \hat P(y)\hat p(x\mid y)$, and decide $\hat y(x) = \arg\max_y \hat g_y(x)$: the **plug-in
# rule**. A lecturer says: *then the optimal Bayes classifier is not optimal at all.* How far off is it? From section
# 5,
#
# $$R(\hat y) - R(\hat y^*) = \int \bigl(g_{\hat y^*} - g_{\hat y}\bigr)\,dx.$$
#
# Put the estimates in between, at each $x$:
#
# $$g_{\hat y^*} - g_{\hat y} = \bigl(g_{\hat y^*} - \hat g_{\hat y^*}\bigr) +
# \underbrace{\bigl(\hat g_{\hat y^*} - \hat g_{\hat y}\bigr)}_{\le\, 0} + \bigl(\hat g_{\hat y} - g_{\hat y}\bigr).$$
#
# The middle bracket cannot be positive, because $\hat y$ is what maximises $\hat g$. Where $\hat y = \hat y^*$ the
# left side is 0. Where they differ, the outer brackets concern two different classes, and each is at most its
# absolute value:
#
# $$\boxed{\;0 \le R(\hat y) - R(\hat y^*) \le \int \sum_y \bigl|\hat g_y(x) - g_y(x)\bigr|\, dx\;}$$
#
# **Good estimates make a good rule.** If the error of the densities goes to 0, so does the excess risk.
#
# ### On trial: "with estimates it is no longer optimal"
#
# *Question:* how much does the plug-in rule lose, and does the loss go away with more data? *Data:* two normals that
# we know, $\mu = (0, 1.5)$, $\sigma = (1, 1.7)$, equal priors; samples of 8 to 8,192 objects, half from each class, and
# 150 samples of each size (1,000 of the smallest). *Two families:* normals with their **own** spreads, which contain
# the truth, and normals with one **shared** spread, which do not. *Yardstick:* the exact excess risk. **Predict:** with
# 8 objects, which family makes the better rule?
#
# A third family can take any shape: a histogram for each class, here on 200 objects. Its cells can be made so fine
# that each holds one object at most. Then it is never wrong on its sample.

# %%
MEAN, SD, EVEN = np.array([0.0, 1.5]), np.array([1.0, 1.7]), np.array([0.5, 0.5])
BEST, SIZES, LINE = normal_risk(MEAN, SD, EVEN), 2 ** np.arange(3, 14), np.linspace(-20, 22, 841)


def plug_in(m, s):
    """Excess risk of the plug-in rule of two fitted normals, and the bound ∫ Σ|ĝ − g| dx."""
    first = int(np.argmax(-np.log(s) - ((-1e6 - m) / s) ** 2 / 2))  # decided at the far left
    bound = (np.abs(normal(LINE, m, s) - normal(LINE, MEAN, SD)) * EVEN).sum() * 0.05
    return normal_risk(MEAN, SD, EVEN, normal_boundary(m, s), first) - BEST, bound


def histogram_rule(bins, rng, N=200):
    """Training error and exact risk of a plug-in rule made of two histograms on N objects."""
    edges = np.linspace(-8, 10, bins + 1)
    sample = rng.normal(MEAN, SD, size=(N // 2, 2))
    count = np.array([np.histogram(sample[:, k], np.r_[-np.inf, edges[1:-1], np.inf])[0] for k in (0, 1)])
    mass = np.diff(ndtr((np.r_[-np.inf, edges[1:-1], np.inf] - MEAN[:, None]) / SD[:, None]), axis=1) / 2
    decided = count.argmax(axis=0)
    return count.min(axis=0).sum() / N, mass.sum() - np.take_along_axis(mass, decided[None], axis=0).sum()


# %%
rng = np.random.default_rng(18)
own, shared = [], []                                               # for each size (runs, 2): excess and bound
for N in SIZES:
    sample = rng.normal(MEAN, SD, size=(1000 if N == 8 else 150, N // 2, 2))     # runs, objects, classes
    m, s = sample.mean(axis=1), sample.std(axis=1)                 # (runs, 2)
    pooled = np.sqrt((s**2).mean(axis=1, keepdims=True)) * [1, 1]
    own.append(np.array([plug_in(*fit) for fit in zip(m, s)]))
    shared.append(np.array([plug_in(*fit) for fit in zip(m, pooled)]))

# %%
BINS = np.array([2, 4, 8, 16, 32, 64, 256, 1024, 4096, 32768])
train, risk = np.array([np.mean([histogram_rule(b, np.random.default_rng([18, r])) for r in range(40)], axis=0)
                        for b in BINS]).T

# %%
# claim 1.8
floor = normal_risk(MEAN, SD, EVEN, [MEAN.mean()], 0) - BEST       # the shared family with infinitely many objects
mean_own, mean_shared = (np.array([runs.mean(axis=0) for runs in family]) for family in (own, shared))      # (11, 2)
excess, bound = np.concatenate(own + shared).T
assert (excess >= -1e-12).all() and (excess <= bound + 1e-6).all()                          # 0 ≤ excess ≤ bound, always
spread = shared[-1][:, 0].std() / np.sqrt(150)
wins = own[0][:, 0] - shared[0][:, 0]                              # eight objects: the smaller family is better …
assert wins.mean() > 3 * wins.std() / np.sqrt(1000)                # … by more than three standard errors
assert mean_own[-1, 0] < 1e-4 and abs(mean_shared[-1, 0] - floor) < 4 * spread + 1e-4       # to 0, and to the floor
assert train[-1] < 0.01 and risk[-1] > BEST + 0.15 and risk.argmin() < 5                     # it can overfit
print(f"best possible error {BEST:.4f}; floor of the shared family {floor:.4f} above it")
for i in (0, 1, 2, 4, 7, 10):
    print(f"N = {SIZES[i]:5d}   excess with own spreads {mean_own[i, 0]:.5f}, a shared one {mean_shared[i, 0]:.5f}")
print(f"{BINS[-1]:,} cells: {train[-1]:.3f} errors on the sample, {risk[-1]:.3f} in truth")

# %%
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5))
for k, (runs, name) in enumerate(((mean_own, "own spreads (contain the truth)"), (mean_shared, "a shared spread"))):
    look = plots.look(k)
    left.loglog(SIZES, runs[:, 0], color=look.colour, linestyle=look.line, marker=look.marker, label=name)
left.axhline(floor, color="0.4", linewidth=1, linestyle=":", label="floor of the shared family")
left.set(xlabel="objects in the sample", ylabel="excess risk (mean)")
left.legend(fontsize=8)
right.semilogx(BINS, train, "o-", color=plots.COLOURS[0], label="error on the sample")
right.semilogx(BINS, risk, "s--", color=plots.COLOURS[6], label="exact risk")
right.axhline(BEST, color="0.4", linewidth=1, linestyle=":", label="best possible")
right.set(xlabel="cells of the histogram", ylabel="share of errors", ylim=(0, 0.55))
right.legend(fontsize=8)
plots.alt(fig, "Left, on logarithmic axes: the excess risk with own spreads falls along a straight line; with a shared "
               "spread it starts lower and stops at a floor of 0.0085. Right: with more cells a histogram's error on "
               "its sample falls to 0, while the exact risk stays near the best up to 16 cells and then rises to one "
               "half.")
plt.show()

# %% [markdown]
# **Verdict: right, with two footnotes.** No plug-in rule beat the best one, as none can. But with the right family
# the loss melts away, at 8,192 objects to less than 0.0001. With the wrong family it stops at a floor, 0.0085 here,
# which no amount of data removes. With a family that can take any shape the rule overfits like any other. And the
# reversal: **with 8 objects the wrong family wins**, because it has one number less to estimate; with 16 the two are
# about even. So "does the family contain the truth?" is the question for large samples only.
#
# ### On trial: "a density is harder to estimate than a boundary"
#
# Two reasons are given. A density is a function with infinitely many values, a rule has $K$; and a rule needs to be
# right only where the classes meet. *Question:* is it so? *Data:* the samples above, and one pair of densities made to
# be wrong. *Yardsticks:* the error of the densities $\int\sum_y|\hat g_y - g_y|\,dx$, and the excess risk.
#
# First, the rates. Move a boundary point $\tau$: the risk changes at the rate $\pm(g_0(\tau) - g_1(\tau))$, and that
# is 0 where the two cross. At the best boundary the risk is flat. So a boundary that is off by a small $\delta$ costs
# about $\delta^2$, while the densities are off by about $\delta$ itself. Estimates are off by about $1/\sqrt N$:
# **predict** the slopes of both curves on logarithmic axes.
#
# Second, an extreme case. Take two normals 4 apart, and make waves on both densities wherever the log odds exceed 3.2
# in size: multiply one by $1 + u$ and the other by $1 - u$, with $|u| \le 0.9$. That changes the log odds by at most
# $\ln (1.9/0.1) \approx 2.94$. So no decision changes.

# %%
t = np.linspace(-6, 10, 16_001)
true = normal(t, np.array([0.0, 4.0]), np.ones(2)) / 2             # g with equal priors
a = np.log(true[:, 1] / true[:, 0])                                # 4t − 8
waves = 0.9 * np.sin(12 * (t - 2)) * (np.abs(a) > 3.2)
wavy = true * np.column_stack([1 + waves, 1 - waves])
wavy *= true.sum(axis=0) / wavy.sum(axis=0)                        # densities again
distance = np.abs(wavy - true).sum() * 0.001

fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
for ax, both, title in zip(axes, (true, wavy), ("true densities", f"wrong densities, off by {distance:.2f}")):
    for k in (0, 1):
        ax.plot(t, both[:, k], color=plots.look(k).colour, linestyle=plots.look(k).line, label=f"class {k}")
    ax.axvline(2, color="black", linewidth=1, linestyle=":")
    ax.set(xlabel="x", title=title, xlim=(-4, 8))
axes[0].set_ylabel("weighted density")
axes[0].legend(loc="upper left", fontsize=8)
plots.alt(fig, "Left: two normal densities that meet at 2. Right: the same with wild waves on both, but not at 2. The "
               "curves meet at the same place, so the decisions are the same.")
plt.show()

# %%
# claim 1.9
def excess_at(losses):
    """What deciding by the wavy densities costs too much at these losses."""
    g = true * losses
    return (g.max(axis=1) - np.take_along_axis(g, (wavy * losses).argmax(axis=1)[:, None], axis=1)[:, 0]).sum() * 0.001


assert distance > 0.45 and excess_at([1, 1]) < 1e-12                # very wrong densities, not one decision changed
late = SIZES >= 64
slope_risk, slope_density = (np.polyfit(np.log(SIZES[late]), np.log(mean_own[late, j]), 1)[0] for j in (0, 1))
assert abs(slope_risk + 1) < 0.15 and abs(slope_density + 0.5) < 0.05
dear_excess = excess_at([1, np.exp(4.4)])
assert dear_excess > 1e-3                                          # at other prices the waves do matter
print(f"slopes: excess risk {slope_risk:.2f}, error of the densities {slope_density:.2f}")
print(f"waves: densities off by {distance:.2f}, excess risk {excess_at([1, 1]):.4f} at equal losses, "
      f"{dear_excess:.4f} at 1 and {np.exp(4.4):.0f}")

# %% [markdown]
# **Verdict: right, for one fixed price list.** The densities improve like $N^{-1/2}$, the rule like $N^{-1}$. And
# densities that are off by 0.50, of at most 2, make not a single wrong decision. The reversal: change the prices, and
# the boundary moves to where the waves are. The densities, or at least the posterior, are what you need if you do not
# know yet what errors will cost. A boundary is all you need if you do, and if it will never change.
#
# ### Three routes to a rule
#
# That suggests three things one may estimate, each contained in the next:
#
# | route | what is estimated | what it can tell | examples |
# |---|---|---|---|
# | discriminant function | $\hat y(x)$ itself | the class | nearest mean, perceptron |
# | discriminative model | $P(y \mid x)$ | the class at any prices, the doubt, other priors | logistic regression |
# | generative model | $P(y)$ and $p(x \mid y)$ | that, how unusual $x$ is, **new objects** | naive Bayes, LDA, Parzen |
#
# Only the third can draw: first a class from $P(y)$, then an object from $p(x \mid y)$. Could one not get new objects
# out of the posterior? No: **the posterior does not determine the densities.** Imagine a second ship on which every
# kind of person had the same chances as on the *Titanic*, but with other numbers of each kind. Its $P(y \mid x)$ is
# the same, and so is every decision at every price. But what it looks like, $P(x)$ and $P(x \mid y)$, is another
# matter.
#
# First all three routes on Ripley's data, in a few lines each; then the two ships, and 100,000 drawn objects. (The
# middle route here is logistic regression, the subject of unit 06: take the $w$ for which $\sigma(w^\top x + w_0)$
# makes the labels most probable.)

# %%
centroids = np.array([X_train[y_train == k].mean(axis=0) for k in (0, 1)])
by_function = ((X_test[:, None] - centroids) ** 2).sum(axis=2).argmin(axis=1)

design = np.column_stack([X_train, np.ones(250)])
cross_entropy = lambda w: np.logaddexp(0, -(2 * y_train - 1) * (design @ w)).sum()      # −Σ ln P(label), by σ(±a)
w = minimize(cross_entropy, np.zeros(3), method="BFGS", options={"gtol": 1e-4}).x
by_posterior = (X_test @ w[:2] + w[2] > 0).astype(int)

model = QDA(divisor="unbiased").fit(X_train, y_train)              # a normal density for each class
by_density = model.predict(X_test)
errors = [int(np.sum(decided != y_test)) for decided in (by_function, by_posterior, by_density)]
assert errors[1:] == [114, 102]                                    # as published for these data
print("errors of 1,000: nearest mean", errors[0], " logistic", errors[1], " normal densities", errors[2])

# %%
# claim 1.10
second_ship = joint * np.array([0.2, 0.5, 1.0, 2.0])[:, None]      # more crew, fewer in first class
second_ship /= second_ship.sum()
np.testing.assert_allclose(second_ship / second_ship.sum(axis=1, keepdims=True), given_x, rtol=1e-12)
assert np.abs(second_ship / second_ship.sum(axis=0) - given_y).max() > 0.1       # same posterior, other densities
for name, table in (("Titanic", joint), ("second ship", second_ship)):
    chances = table[:, 1] / table.sum(axis=1)
    print(f"{name:11s}  P(x) =", table.sum(axis=1).round(3), "  P(saved | x) =", chances.round(3))

# %%
# claim 1.10
rng = np.random.default_rng(110)
label = rng.choice(2, size=100_000, p=[0.5, 0.5])                                # first y from P(y) …
new = CENTRES[label, rng.integers(2, size=100_000)] + rng.normal(0, np.sqrt(0.03), size=(100_000, 2))   # … then x
wrong = np.mean(log_density(new).argmax(axis=1) != label)
assert abs(wrong - exact) < 4 * np.sqrt(exact * (1 - exact) / 100_000)           # as hard as the real thing
assert abs(new[label == 1].mean(axis=0) - CENTRES[1].mean(axis=0)).max() < 0.01
print(f"100,000 drawn objects; the best rule misses {wrong:.4f} of them")

# %% [markdown]
# ## 8. How good is it? Errors and probabilities
#
# **A test error is an estimate.** It is a share, like $\hat P$ in section 4. So with the true error $e$ and $N$ test
# objects its standard error is $\sqrt{e(1-e)/N}$. For 80 of 1,000 that is $\sqrt{0.08 \cdot 0.92/1000} = 0.0086$. The
# exact risk, 0.0893, lies 1.1 of these away from 0.080: nothing unusual.
#
# **Two rules on the same test set are compared object by object.** Let $d_i = [\text{first wrong}] - [\text{second
# wrong}]$, one of −1, 0, 1. With $b$ objects that only the first gets wrong and $c$ that only the second does,
#
# $$\bar d = \frac{b - c}{N}, \qquad \operatorname{Var}\bar d = \frac1N\Bigl(\frac{b+c}N - \bar d^{\,2}\Bigr).$$
#
# Objects that both get right, or both wrong, do not disturb the comparison. Treating the two errors as independent
# adds their variances instead, and gives away what the pairing knows.
#
# First the formulas on the real test set. Then a check of the formulas: we know the world, so let 5,000 others draw
# test sets of 1,000. Each object falls into one of four boxes: both rules right, only one wrong, only the other
# wrong, both wrong. The grid of section 5 gives the exact probabilities of the boxes.

# %%
best_wrong = true_posterior.argmax(axis=1) != y_test
qda_wrong = by_density != y_test
pair = paired_comparison(qda_wrong, best_wrong)
unpaired = np.sqrt(sum(w.mean() * (1 - w.mean()) / 1000 for w in (qda_wrong, best_wrong)))
print(f"the exact risk lies {(exact - 0.08) / np.sqrt(0.08 * 0.92 / 1000):.1f} standard errors from 0.080")
print(f"wrong: densities {qda_wrong.sum()}, {pair.only_first} alone; best {best_wrong.sum()}, {pair.only_second} alone")
print(f"difference {pair.difference:.3f}: paired {pair.difference / pair.standard_error:.1f} standard errors of "
      f"{pair.standard_error:.4f}, unpaired {pair.difference / unpaired:.1f} of {unpaired:.4f}")

# %%
# claim 1.14
rule_best, rule_qda = (log_odds > 0).astype(int), model.predict(GRID)
miss_best, miss_qda = ((np.arange(2) != rule[:, None]) for rule in (rule_best, rule_qda))     # (160000, 2)
boxes = [CELLS[(miss_best == i) & (miss_qda == j)].sum() for i, j in product((0, 1), repeat=2)]
drawn = np.random.default_rng(114).multinomial(1000, np.array(boxes) / sum(boxes), size=5000)  # (5000, 4)
error_best, error_qda = drawn[:, [2, 3]].sum(axis=1) / 1000, drawn[:, [1, 3]].sum(axis=1) / 1000
assert abs(np.sqrt(0.08 * 0.92 / 1000) - 0.0086) < 5e-5
np.testing.assert_allclose(error_best.std(), np.sqrt(exact * (1 - exact) / 1000), rtol=0.04)
paired_se = np.sqrt((boxes[1] + boxes[2] - (boxes[1] - boxes[2]) ** 2) / 1000)
np.testing.assert_allclose((error_qda - error_best).std(), paired_se, rtol=0.04)
independent = np.sqrt(error_qda.var() + error_best.var())
assert (error_qda - error_best).std() < 0.8 * independent          # pairing pays
low, high = np.quantile(error_best, [0.025, 0.975])
print(f"error of the best rule on 95 % of test sets: {low:.3f} to {high:.3f}; exact {exact:.4f}")
print(f"spread of the difference: {(error_qda - error_best).std():.4f}; if they were independent {independent:.4f}")

# %% [markdown]
# On the real test set the best rule makes 22 errors fewer than the normal densities. Compared in pairs that is 2.6
# standard errors, hardly luck; with the pairing thrown away it would be 1.7, and you could not say. The best rule would
# have scored between 7.2 and 10.7 % on 95 of 100 test sets. So an error rate alone, of one rule on 1,000 objects, says
# little about the second digit.
#
# ### Judging probabilities
#
# The share of errors sees only on which side of the boundary an object lies. A posterior says more, and may be wrong
# though every decision is right. Two scores look at the probability $q$ itself that was announced:
#
# $$\text{log loss: } -\ln q_y, \qquad \text{Brier score: } \sum_k \bigl(q_k - [k = y]\bigr)^2.$$
#
# A score is **proper** if, when the classes have the probabilities $p_k$, announcing $q = p$ is best on average. Both
# are. For the log loss, subtract what $q = p$ would cost, and use $\ln u \le u - 1$ (equality only at $u = 1$):
#
# $$\sum_k p_k(-\ln q_k) - \sum_k p_k(-\ln p_k) = -\sum_k p_k \ln \frac{q_k}{p_k}
# \ge -\sum_k p_k\Bigl(\frac{q_k}{p_k} - 1\Bigr)
# = -\sum_k q_k + \sum_k p_k = 0.$$
#
# For the Brier score, write $q_k - [k=y] = (q_k - p_k) + (p_k - [k=y])$ and square. The mean of $[k=y]$ is $p_k$, so
# the mixed term vanishes, and the mean of the last square is the variance $p_k(1-p_k)$:
#
# $$\mathrm E \sum_k (q_k - [k=y])^2 = \sum_k (q_k - p_k)^2 + \sum_k p_k(1-p_k).$$
#
# The first part is the price of announcing $q$ for $p$. The second nobody can avoid.
#
# Not every score is like that. The plain distance $\sum_k |q_k - [k=y]|$ looks reasonable; for two classes its mean is
# $2\bigl(p(1-q) + (1-p)q\bigr)$, a straight line in $q$. Its least value lies at an end, $q = 0$ or 1. **It rewards you
# for boasting.**
#
# The first check below compares 20,000 announcements with the truth. The second is Ripley's world: multiply the true
# log odds by a factor $m$ and announce $\sigma(ma)$. With $m > 1$ you boast, with $m < 1$ you hedge; the decisions
# never change. The solid lines are exact, by the grid; the dashed ones come from the 1,000 test points. **Predict**
# where each of the three curves has its lowest point.

# %%
# claim 1.15
rng = np.random.default_rng(115)
p = np.array([0.6, 0.3, 0.1])
q = rng.dirichlet([1, 1, 1], size=20_000)
excess_log = (p * np.log(p / q)).sum(axis=1)
brier = np.array([((q - np.eye(3)[k]) ** 2).sum(axis=1) for k in range(3)]).T @ p
assert (excess_log >= 0).all()
np.testing.assert_allclose(brier, ((q - p) ** 2).sum(axis=1) + (p * (1 - p)).sum(), rtol=1e-10)
expected = {"log loss": lambda a: -(p * (a - logsumexp(a))).sum(),
            "Brier": lambda a: sum(p[k] * ((softmax(a) - np.eye(3)[k]) ** 2).sum() for k in range(3))}
for name, f in expected.items():                                   # an optimiser that knows nothing of p
    found = softmax(minimize(f, np.zeros(3), options={"gtol": 1e-9}).x)
    np.testing.assert_allclose(found, p, atol=1e-5)
    print(f"{name:8s} is least at q =", found.round(4))

# %%
# claim 1.15
factors = np.geomspace(0.25, 4, 25)
a_test, (zero, one) = logit(true_posterior[:, 1]), CELLS.T
scores = np.empty((2, 3, 25))                                      # exact or test; log loss, Brier, distance; factor
for j, m in enumerate(factors):
    q = sigmoid(m * log_odds)
    scores[0, :, j] = [zero @ np.logaddexp(0, m * log_odds) + one @ np.logaddexp(0, -m * log_odds),
                       2 * (zero @ q**2 + one @ (1 - q) ** 2), 2 * (zero @ q + one @ (1 - q))]
    announced = np.column_stack([1 - sigmoid(m * a_test), sigmoid(m * a_test)])
    scores[1, :, j] = [log_loss(announced, y_test), brier_score(announced, y_test),
                       np.abs(announced - np.eye(2)[y_test]).sum(axis=1).mean()]
at_best = factors[scores.argmin(axis=2)]                           # (2, 3)
assert np.allclose(at_best[0], [1, 1, 4])                          # proper: the truth is best; not so the distance
print("least at m =", at_best[0].round(2), "exactly,", at_best[1].round(2), "on the test points")

# %%
fig, axes = plt.subplots(1, 3, figsize=(9, 3))
for i, (ax, name) in enumerate(zip(axes, ("log loss", "Brier score", "plain distance"))):
    for of, colour, label in ((0, plots.COLOURS[0], "exact"), (1, plots.COLOURS[6], "1,000 test points")):
        ax.semilogx(factors, scores[of, i], ["-", "--"][of], color=colour, label=label)
        ax.plot(factors[scores[of, i].argmin()], scores[of, i].min(), "v", color=colour, zorder=4)
    ax.set(xlabel="factor m on the log odds", title=name, xticks=[0.25, 0.5, 1, 2, 4], xticklabels=list("¼½124"))
    ax.minorticks_off()
axes[0].set_ylabel("average score")
axes[0].legend(fontsize=8)
plots.alt(fig, "Three scores against the factor on the log odds. The exact log loss and Brier score are least at 1, "
               "the truth; on the test points near 1. The plain distance falls all the way: it is least for the "
               "boldest claim.")
plt.show()

# %% [markdown]
# Both proper scores have their lowest point at the truth, $m = 1$; on 1,000 points a little beside it, by luck. The
# share of errors is the same for every $m$: it cannot tell an honest posterior from a boastful one. *Where they
# fail:* the log loss is infinite if you ever announce 0 for what then happens. One such object outweighs all others.
#
# ## 9. Quiz
#
# Without buttons: `quiz("1.1", "b")`.

# %% tags=["nbval-ignore-output"]
quiz("1.1")
quiz("1.2")
quiz("1.3")
quiz("1.4")
quiz("1.5")

# %% [markdown]
# ## Close
#
# **In one paragraph.** Prior times likelihood, normalised over the classes, is the posterior. To decide, weigh it
# with what errors cost, and take the cheapest decision at each $x$ by itself; nothing can be cheaper. Only the
# products $\lambda_y P(y)$ matter for the decision, and a sample with wrong shares can be corrected by new over old.
# What remains is the overlap of the weighted densities, and nobody can avoid it. With estimates in the place of the
# truth you lose at most the error of the densities, usually far less. An error rate has a standard error; a posterior
# is judged by a proper score.
#
# > **Formula card**
# >
# > $P(y \mid x) = \dfrac{P(y)p(x\mid y)}{\sum_k P(k)p(x \mid k)}$ = softmax of $\ln P(y)p(x\mid y)$; two classes:
# > $\sigma(a)$, $a = \ln \dfrac{P(1)p(x\mid 1)}{P(0)p(x \mid 0)}$
# >
# > $\hat y^*(x) = \arg\max_y \lambda_y P(y) p(x \mid y)$; of two classes 1 where $a > \ln \lambda_0/\lambda_1$;
# > for any prices $\arg\min_{\hat y} \sum_y P(y \mid x)L_{y\hat y}$
# >
# > Chow: do not decide where $\max_y P(y \mid x) < 1 - c$
# >
# > other priors: $P(y \mid x) \propto P'(y \mid x)\,P(y)/P'(y)$
# >
# > least error: $1 - \int \max_y P(y)p(x\mid y)\,dx$; plug-in:
# > $0 \le R(\hat y) - R(\hat y^*) \le \int \sum_y |\hat g_y - g_y|\,dx$
#
# **Common mistakes.** The prior forgotten · normalised over the objects · $L$ transposed · argmax of a risk · λ
# divides · the threshold with the wrong sign · new priors put in without taking the old ones out · unweighted overlap
# · two rules compared without pairing.
#
# **When not to use it.** Where nobody can say what errors cost, hand over the posterior and not a decision. Where
# objects arrive that no class describes, a posterior is no warning; look at $p(x)$. Where the kinds within a class
# differ between sample and world, no prior correction helps.
#
# **Elsewhere.** In scikit-learn, `predict_proba` is the posterior and `predict` its argmax, at equal losses; for
# other prices compute `predict_proba(X) @ L` yourself, or move the threshold of two classes with
# `FixedThresholdClassifier`. Priors are called `priors` (`LinearDiscriminantAnalysis`, `GaussianNB`) or
# `class_prior`; `class_weight` elsewhere acts like $\lambda_y$ during the fit. `log_loss` is ours; `brier_score_loss`
# with two classes is by default half of ours. There is no reject option.
#
# **In the library.** `course_lib.decision` holds what you have seen: `posterior`, `decide` with any losses,
# `correct_priors`, `normal_boundary` and `normal_risk`, `paired_comparison`, `log_loss`, `brier_score`;
# `BayesClassifier` puts them behind `fit` and `predict`.
#
# **References.** C. K. Chow, *On optimum recognition error and reject tradeoff*, IEEE Trans. Information Theory 16
# (1970) 41–46. R. O. Duda, P. E. Hart, D. G. Stork, *Pattern Classification* (2001), chapter 2. L. Devroye, L.
# Györfi, G. Lugosi, *A Probabilistic Theory of Pattern Recognition* (1996), chapter 2. C. M. Bishop, *Pattern
# Recognition and Machine Learning* (2006), sections 1.5 and 4.2. B. D. Ripley, *Pattern Recognition and Neural
# Networks* (1996). P. J. Bickel, E. A. Hammel, J. W. O'Connell, *Sex bias in graduate admissions*, Science 187 (1975)
# 398–404. M. Saerens, P. Latinne, C. Decaestecker, Neural Computation 14 (2002) 21–41. T. Gneiting, A. E. Raftery,
# *Strictly proper scoring rules*, JASA 102 (2007) 359–378.
#
# **Next:** the [exercises](../exercises/01_bayes_rule_and_risk.ipynb) that are still open; then [02a Maximum
# likelihood and the exponential family](02a_exponential_families.ipynb), which estimates the $p(x \mid y)$.
