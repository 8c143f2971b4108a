# %% [markdown]
# # Exercises 01: Bayes' rule and risk
#
# These belong to the notebook [01 Bayes' rule and risk](../notebooks/01_bayes_rule_and_risk.ipynb). Write each
# function, run its cell, then the `check(…)` below it. Stuck? `hint(…)` with the function's name helps in three steps.
#
# | after section | exercise | minutes |
# |---|---|---|
# | 3 | E1.1 the posterior, E1.2 the posterior in logarithms | 25 |
# | 4 | E1.7 a posterior for other priors | 10 |
# | 5 | E1.3 the decision with prices, E1.5 the price of any rule, E1.4 a loss matrix and the right not to decide | 35 |
# | 6 | E1.6 two normals exactly, E1.8 a formula with a mistake | 40 |

# %% tags=["setup"]
import numpy as np

from course_lib.classroom import check, hint, solution
from course_lib.data import load

# %% [markdown]
# ## E1.1 The posterior
#
# The inquiry into the loss of the *Titanic* counted 2,201 people on board, of whom 711 survived. Someone tells you
# about one of them: "she travelled first class". What is now the probability that she survived? And what is it for a
# man of the crew?
#
# You know two things. Before any news, the share of each class $y$: the **prior** $P(y)$. And how often such a person
# turns up within each class: the **likelihood** $P(x\mid y)$. Bayes' rule makes the **posterior** of them,
#
# $$P(y \mid x) = \frac{P(y)\, P(x \mid y)}{P(x)}, \qquad P(x) = \sum_{k} P(k)\, P(x \mid k).$$
#
# By hand first, with two classes and two objects:
#
# | | class 0 | class 1 |
# |---|---|---|
# | prior | 0.75 | 0.25 |
# | likelihood of object 0 | 0.2 | 0.6 |
# | likelihood of object 1 | 0.4 | 0.4 |
#
# Object 0 has the joint probabilities 0.75 · 0.2 = 0.15 and 0.25 · 0.6 = 0.15, together 0.30. Its posterior is 0.5 and
# 0.5: three times the likelihood makes up for a third of the prior. Object 1 has 0.30 and 0.10, together 0.40; its
# posterior is 0.75 and 0.25. Both classes produce it equally often, so it tells you nothing, and the prior stays.
#
# Write `posterior` for any number N of objects and K of classes. Every object is possible under at least one class.
# Likelihoods may be densities, so they can exceed 1, and they need not sum to 1 over the objects that you are given.


# %% tags=["solution"]
def posterior(prior, likelihood):
    """Posterior probability of each class for each object, by Bayes' rule.

    Parameters
    ----------
    prior : (K,) array
        P(y); sums to 1.
    likelihood : (N, K) array
        P(x|y) of each object x under each class y.

    Returns
    -------
    (N, K) array
        P(y|x).
    """
    joint = prior * likelihood
    evidence = joint.sum(axis=1, keepdims=True)
    return joint / evidence


# %%
check(posterior)

# %% [markdown]
# Stuck? `hint(posterior)` gives a nudge, called again the formula, and once more the first line.
#
# Once the card is green, ask it about the ship. The next cell counts eight kinds of people, men and women of three
# classes and the crew, among those who died and those who survived.

# %% tags=["setup"]
kinds = [f"{sex} {where}" for sex in ("Male", "Female") for where in ("1st", "2nd", "3rd", "Crew")]
freq = load("titanic_table")["freq"].reshape(2, 2, 2, 4)      # survived, age, sex, class: the order of the rows
counts = freq.sum(axis=1).reshape(2, 8).T                     # (8, 2): kinds of people, lost and saved
ship_prior = counts.sum(axis=0) / counts.sum()                # (2,)
ship_likelihood = counts / counts.sum(axis=0)                 # (8, 2), each column sums to 1

# %% [markdown]
# Then run `posterior(ship_prior, ship_likelihood)` in a cell of your own. Whose chances surprise you?

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `joint = prior * likelihood`. The shapes are (K,) and (N, K). Numpy lines shapes up from the right, so `prior[k]`
#    meets column k in every row. This is $P(x, y)$, of shape (N, K).
# 2. `evidence` sums the joint over the **classes**, along each row: $P(x)$, of shape (N, 1). `keepdims=True` keeps the
#    axis that the division needs.
# 3. Each row of `joint / evidence` sums to 1: whatever this person is, they either died or survived.

# %% tags=["worked"]
ship_posterior = posterior(ship_prior, ship_likelihood)
for kind, row in zip(kinds, ship_posterior):
    print(f"{kind:12s} survived: {row[1]:.3f}")

# %% [markdown] tags=["worked"]
# Of the women in first class 97 % survived, of the men in second class 14 %. A check by another route: here the
# posterior can simply be counted, as the share of survivors among the people of a kind. Write $n_{xy}$ for the counts
# and $n$ for their sum; then
#
# $$\frac{P(y) P(x\mid y)}{P(x)} = \frac{(n_y / n)(n_{xy} / n_y)}{n_x / n} = \frac{n_{xy}}{n_x}.$$

# %% tags=["worked"]
counted = counts / counts.sum(axis=1, keepdims=True)
print("largest difference below 1e-12:", bool(np.abs(ship_posterior - counted).max() < 1e-12))

# %% [markdown] tags=["worked"]
# Then why not always count? Because the two ingredients can change apart. Suppose more boats had saved half of all
# people, the same kinds in the same proportions among the saved and the lost. No such ship was ever counted; the rule
# needs only the new prior.

# %% tags=["worked"]
more_boats = posterior(np.array([0.5, 0.5]), ship_likelihood)
for k in (2, 6):
    print(f"{kinds[k]:12s} survived: {more_boats[k, 1]:.3f}")

# %% [markdown] tags=["worked"]
# ### Why the wrong ones are wrong
#
# * *The prior is forgotten.* Then a class counts as often as any other, however rare it is. On this ship it makes
#   everybody's chances look better than they were, because fewer than a third survived.
# * *The columns are normalised.* $P(y \mid x)$ is a distribution over the classes, for one object. Down a column you
#   compare objects, and the answer for one person would change with whom else you ask about.
# * *The joint is not divided.* For the decision alone that would do, since $P(x)$ is the same for every class. As a
#   probability it is wrong: it does not sum to 1.
# * *The evidence without the prior.* The sum in the denominator is over the same products as the numerator; else the
#   rows do not sum to 1. Check that first, always.
# * *The prior along the wrong axis.* `prior[:, None]` gives the objects a prior. With N = K nothing complains.
# * *`keepdims` forgotten.* The sums then have the shape (N,), and the division hands the sum of row k to column k. With
#   N = K nothing complains there either.
# * *The likelihoods rescaled.* $\sum_x P(x \mid y) = 1$ runs over all x there could be, not over your rows.

# %% [markdown]
# ## E1.2 The posterior in logarithms
#
# A text of 400 words has a probability near $e^{-1000}$ under every class. Floating point takes that for 0, and
# $0/0$ is no posterior. So the course hands around the logarithms, the **log joint**
# $a_{iy} = \ln P(y)\,p(x_i \mid y)$, and never leaves them. Write Bayes' rule for logarithms:
#
# $$\ln P(y \mid x_i) = a_{iy} - \ln \sum_k e^{a_{ik}}.$$
#
# By hand first. The row `[ln 0.15, ln 0.15]` gives ln 0.5 ≈ −0.6931 twice: it is the row of E1.1 in logarithms. The row
# `[-1000, -1001]` gives −0.3133 and −1.3133, the same as `[0, -1]`, since only the difference counts. And `[0, -2000]`
# gives 0 and −2000: a posterior that floating point cannot hold, with a logarithm that it can.
#
# Your rows may lie anywhere, near −1000 or near 900, in one table; −inf stands for an impossible class, and every
# object is possible under at least one. Use numpy; no ready-made log-sum-exp or softmax, please.


# %% tags=["solution"]
def log_posterior(log_joint):
    """Bayes' rule in logarithms.

    Parameters
    ----------
    log_joint : (N, K) array
        ln P(y)p(x|y); −inf for an impossible class, never in a whole row.

    Returns
    -------
    (N, K) array
        ln P(y|x).
    """
    peak = log_joint.max(axis=1, keepdims=True)
    log_evidence = peak + np.log(np.exp(log_joint - peak).sum(axis=1, keepdims=True))
    return log_joint - log_evidence


# %%
check(log_posterior)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# Take the logarithm of $P(y \mid x) = P(y)p(x \mid y)/P(x)$: the quotient becomes a difference, and $\ln P(x)$ is the
# log-sum-exp of the row. By unit 00,
#
# $$\ln \sum_k e^{a_k} = m + \ln \sum_k e^{a_k - m}, \qquad m = \max_k a_k.$$
#
# 1. `peak` is $m$, one for each object, of shape (N, 1).
# 2. `log_evidence` is $\ln P(x)$, of the same shape. The largest term of the sum is 1, so the logarithm is harmless.
# 3. The difference keeps every digit: no probability was formed that could underflow.
#
# ### Why the wrong ones are wrong
#
# * *exp before the maximum*, and *one maximum for all rows*: right on gentle numbers, −inf or NaN on a long text.
# * *Only the maximum subtracted*: the best class would always be certain.
# * *The maximum not added back*: off by $m$ in every entry; a row whose maximum is 0 cannot show it.
# * *Over the objects*, or *`keepdims` forgotten*: the sum must run over what is shared out, the classes.
# * *The logarithm of the finished posterior*: $\ln 0 = -\infty$ for a class that is 2,000 behind. Later units subtract
#   such numbers from each other, and $-\infty - (-\infty)$ is NaN.
#
# A check by another route: with 60 decimal digits nothing underflows, and the definition works as it stands.

# %% tags=["worked"]
from decimal import Decimal, localcontext

row = [-1000.0, -1001.0, -3000.0]
with localcontext(prec=60):
    terms = [Decimal(a).exp() for a in row]
    slow = [float((term / sum(terms)).ln()) for term in terms]
for k, (other, mine) in enumerate(zip(slow, log_posterior(np.array([row]))[0])):
    print(f"class {k}: 60 digits {other:.3f}, the function {mine:.3f}")

# %% [markdown]
# ## E1.3 The decision when errors differ in price
#
# An error on an object of class $y$ costs $\lambda_y$. The best rule then decides
#
# $$\hat y(x) = \arg\max_y \; \lambda_y\, P(y)\, p(x \mid y).$$
#
# You are given the log joint $\ln P(y)p(x \mid y)$ and the losses $\lambda$. By hand first, with λ = (1, 4):
#
# | | $P(0)p(x\mid 0)$ | $P(1)p(x\mid 1)$ | times λ | decision |
# |---|---|---|---|---|
# | object 0 | 0.15 | 0.15 | 0.15 and 0.60 | 1 |
# | object 1 | 0.30 | 0.10 | 0.30 and 0.40 | 1 |
# | object 2 | 0.50 | 0.10 | 0.50 and 0.40 | 0 |
#
# Object 1 belongs to class 0 with probability ¾, and still it is wiser to decide 1.
#
# The log joints may lie near −1000. No two classes tie.


# %% tags=["solution"]
def bayes_decision(log_joint, losses):
    """The rule of least average loss.

    Parameters
    ----------
    log_joint : (N, K) array
        ln P(y)p(x|y).
    losses : (K,) array
        What an error on an object of each class costs, positive.

    Returns
    -------
    (N,) array of int
        The decided class of each object.
    """
    log_g = log_joint + np.log(losses)
    return log_g.argmax(axis=1)


# %%
check(bayes_decision)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# The logarithm grows with its argument, so it keeps the order: the largest $\lambda_y P(y)p(x\mid y)$ has the largest
# $\ln\lambda_y + \ln P(y)p(x \mid y)$. `log_joint` has the shape (N, K), `np.log(losses)` the shape (K,); numpy adds
# $\ln\lambda_k$ to column k. Then one argmax for each row.
#
# Why maximise this product at all? Deciding $\hat y$ for $x$ costs, on average over the true class,
#
# $$R(\hat y \mid x) = \sum_{y \neq \hat y} \lambda_y P(y \mid x)
# = \sum_y \lambda_y P(y \mid x) - \lambda_{\hat y} P(\hat y \mid x).$$
#
# The first sum is the same for every decision. So the risk is smallest where $\lambda_{\hat y} P(\hat y\mid x)$ is
# largest, and $P(x)$, which is common to all classes, may be left out.
#
# ### Why the wrong ones are wrong
#
# * *λ forgotten*: right only if all errors cost the same.
# * *λ divides*: the risk of a decision is what you would pay for the *other* classes; its own class's price is saved.
# * *The price of the decision*: what is paid depends on who the object is, so the risk sums the *others'* λ.
# * *λ added, or multiplying the logarithm*: $\ln(\lambda g) = \ln \lambda + \ln g$, and nothing else.
# * *The smallest product*: an argmin belongs to $R(\hat y \mid x)$, not to the product.
# * *exp first*, with or without one maximum for the whole table: a row of zeros has its argmax at class 0, without any
#   warning.
#
# A check by another route: the expected losses themselves, and their smallest.

# %% tags=["worked"]
log_joint, losses = np.log([[0.15, 0.15], [0.3, 0.1], [0.5, 0.1]]), np.array([1.0, 4.0])
share = np.exp(log_joint) / np.exp(log_joint).sum(axis=1, keepdims=True)
risk = share @ (losses[:, None] * (1 - np.eye(2)))
print("expected losses:\n", risk.round(3))
print("smallest:", risk.argmin(axis=1), " the function:", bayes_decision(log_joint, losses))

# %% [markdown]
# ## E1.4 A loss matrix, and the right not to decide
#
# In general every pair of truth and decision has a price of its own: $L_{y\hat y}$ is paid if the truth is $y$ and you
# decide $\hat y$. **The true class goes down, the decision across.** For an object with the posterior $P(y \mid x)$ the
# decision $\hat y$ costs on average
#
# $$R(\hat y \mid x) = \sum_y P(y \mid x)\, L_{y\hat y}.$$
#
# You may also decide nothing, ask a doctor, send the letter to a person: that costs `cost`, whatever the truth.
# Return for each object the class of least expected loss, or K, "not decided", where even that exceeds `cost`.
# (At exactly `cost`, decide.)
#
# By hand first, with $L = \begin{pmatrix} 0 & 1 \\ 5 & 0 \end{pmatrix}$ (a missed class 1 costs 5, a false alarm 1) and
# a cost of 0.4 for not deciding:
#
# | posterior | deciding 0 costs | deciding 1 costs | answer |
# |---|---|---|---|
# | 0.98, 0.02 | 0.02 · 5 = 0.10 | 0.98 | 0 |
# | 0.90, 0.10 | 0.10 · 5 = 0.50 | 0.90 | 2, not decided |
# | 0.55, 0.45 | 2.25 | 0.55 | 2, not decided |
# | 0.30, 0.70 | 3.50 | 0.30 | 1 |
#
# Entries of $L$ may be negative, on the diagonal for instance: a right decision can earn something.


# %% tags=["solution"]
def decide_or_reject(posterior, L, cost):
    """The decision of least expected loss, or none where that is too dear.

    Parameters
    ----------
    posterior : (N, K) array
        P(y|x).
    L : (K, K) array
        L[y, ŷ] is paid if the true class is y and ŷ is decided.
    cost : float
        The price of not deciding.

    Returns
    -------
    (N,) array of int
        0 … K−1, or K for "not decided".
    """
    risk = posterior @ L
    best = risk.argmin(axis=1)
    least = risk.min(axis=1)
    return np.where(least <= cost, best, L.shape[1])


# %%
check(decide_or_reject)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `posterior @ L` sums over $y$: rows are objects, columns decisions. The inner axis of the product is the true
#    class, which is why the true class must stand in the *rows* of $L$.
# 2. `best` and `least` are the position and the value of each row's smallest risk.
# 3. Not deciding is one more decision, with the same price for every truth. It wins where `least` exceeds `cost`.
#
# **Chow's rule** is the special case $L = 1 - I$. There $R(\hat y\mid x) = 1 - P(\hat y \mid x)$, so the smallest risk
# is $1 - \max_y P(y \mid x)$, and one rejects where $\max_y P(y\mid x) < 1 - \text{cost}$. Since the largest of K
# probabilities is at least 1/K, a cost of $1 - 1/K$ or more never rejects anything.
#
# ### Why the wrong ones are wrong
#
# * *$L$ transposed*: misses are charged as false alarms. With a symmetric $L$ nobody notices.
# * *argmax of a risk*: the dearest decision.
# * *The most probable class decided*: then $L$ has no say between the classes.
# * *Chow's threshold for any $L$*: it holds for $L = 1 - I$ alone.
# * *The most probable class taken for certain*: expected losses need every class, weighted.
# * *−1 or K − 1 for the reject*: used as an index, either is the last class.
# * *The class compared with the cost*: `argmin` is a position; the price is the `min`.
#
# A check by another route: put the price of not deciding into $L$ as a last column, and take a plain argmin.

# %% tags=["worked"]
posterior_of_four = np.array([[0.98, 0.02], [0.9, 0.1], [0.55, 0.45], [0.3, 0.7]])
L = np.array([[0.0, 1.0], [5.0, 0.0]])
wide = np.column_stack([L, [0.4, 0.4]])
print("one more column:", (posterior_of_four @ wide).argmin(axis=1))
print("the function:   ", decide_or_reject(posterior_of_four, L, 0.4))

# %% [markdown]
# ## E1.5 The average risk of any rule
#
# There are M kinds of objects and K classes, and `joint[x, y]` is the probability $P(x, y)$ that an object is of kind
# $x$ and of class $y$; all cells together sum to 1. Somebody has a rule: for kind $x$ they decide `decided[x]`. What do
# they pay on average?
#
# $$R(\hat y) = \sum_x \sum_y P(x, y)\, L_{y\,\hat y(x)}.$$
#
# By hand first, with $L = \begin{pmatrix} 0 & 1 \\ 5 & 0 \end{pmatrix}$, the true class down:
#
# | | class 0 | class 1 | decided |
# |---|---|---|---|
# | kind 0 | 0.30 | 0.10 | 0 |
# | kind 1 | 0.15 | 0.45 | 1 |
#
# Kind 0 pays 5 where it is of class 1: 0.10 · 5 = 0.50. Kind 1 pays 1 where it is of class 0: 0.15 · 1 = 0.15. Together
# 0.65. Always deciding 1 pays 0.30 + 0.15 = 0.45: more errors, and cheaper.


# %% tags=["solution"]
def average_risk(joint, decided, L):
    """Average loss of a rule on a finite set of kinds.

    Parameters
    ----------
    joint : (M, K) array
        P(x, y); sums to 1.
    decided : (M,) array of int
        The class that the rule decides for each kind x.
    L : (K, K) array
        L[y, ŷ] is paid if the true class is y and ŷ is decided.

    Returns
    -------
    float
    """
    loss = L[:, decided].T
    return float((joint * loss).sum())


# %%
check(average_risk)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `L[:, decided]` takes for each kind the column of its decision: shape (K, M). Transposed, `loss[x, y]` is
#    $L_{y\,\hat y(x)}$ and lies over `joint` cell by cell.
# 2. Probability times price, summed over all cells. Nothing is divided: the weights sum to 1.
#
# **What this has to do with the best rule.** Write the sum in another order: $R = \sum_x \bigl[\sum_y P(x,y)
# L_{y\,\hat y(x)}\bigr]$. The bracket of one $x$ depends on the decision for that $x$ only. So each may be made as
# small as possible by itself, and the rule that does so for every $x$ is the best of all rules.
#
# ### Why the wrong ones are wrong
#
# * *$L$ transposed*: `L[decided]` picks rows, which are true classes.
# * *Errors counted*: the risk for $L = 1 - I$ only.
# * *Cells, or kinds, equally probable*: a plain mean is an average over the table, not over objects.
# * *The priors divided out*: prices $p(x \mid y)$, as if all classes were equally frequent.
# * *One truth a row*: the less probable class of a kind exists as well, and may be the dear one.
#
# A check by another route: draw 200,000 objects, decide them one by one, and average what was paid.

# %% tags=["worked"]
joint = np.array([[0.30, 0.10], [0.15, 0.45]])
decided = np.array([0, 1])
kind, truth = np.divmod(np.random.default_rng(15).choice(4, size=200_000, p=joint.ravel()), 2)
paid = L[truth, decided[kind]]
print(f"drawn: {paid.mean():.2f}, the function: {average_risk(joint, decided, L):.2f}")

# %% [markdown]
# ## E1.6 Where two normals meet, and what the best rule costs
#
# Two classes, one measurement, a normal density for each: means $\mu = (\mu_0, \mu_1)$, standard deviations
# $\sigma = (\sigma_0, \sigma_1)$, priors $P(0), P(1)$. All errors cost 1. Where does the best rule change its decision,
# and how often is it wrong?
#
# Return the **points** where $P(0)p(x\mid 0)$ and $P(1)p(x \mid 1)$ cross, in increasing order (an array of 0, 1 or 2
# numbers), and the **Bayes error**
#
# $$\int \min\bigl(P(0)\,p(x \mid 0),\; P(1)\,p(x \mid 1)\bigr)\, dx.$$
#
# By hand first. For μ = (0, 2), σ = (1, 1) and equal priors the curves cross half-way, at 1. Each class has the share
# $\Phi(-1) \approx 0.1587$ on the wrong side, so the error is ½ · 0.1587 + ½ · 0.1587 = 0.1587. If class 0 is four
# times as frequent, the point moves away from it, to $1 + \tfrac12 \ln 4 \approx 1.6931$. And for μ = (0, 0.3), σ =
# (1.2, 0.9), P = (0.9, 0.1) there is no point at all: class 0 is above everywhere, and the error is 0.1.
#
# $\Phi$, the distribution function of the standard normal, is `ndtr`. The spreads are either equal or clearly
# different; the classes are never identical; no two curves just touch.

# %% tags=["setup"]
from scipy.special import ndtr


# %% tags=["solution"]
def two_normals(mu, sigma, priors):
    """Boundary points and error of the best rule for two normal classes.

    Parameters
    ----------
    mu, sigma : (2,) arrays
        Mean and standard deviation of each class.
    priors : (2,) array
        P(y).

    Returns
    -------
    points : (0,), (1,) or (2,) array
        Where the decision changes, in increasing order.
    error : float
        Probability of an error of the best rule.
    """
    A = 1 / (2 * sigma[1] ** 2) - 1 / (2 * sigma[0] ** 2)
    B = mu[0] / sigma[0] ** 2 - mu[1] / sigma[1] ** 2
    C = (mu[1] ** 2 / (2 * sigma[1] ** 2) - mu[0] ** 2 / (2 * sigma[0] ** 2)
         + np.log(priors[0] * sigma[1] / (priors[1] * sigma[0])))
    discriminant = B**2 - 4 * A * C
    if A == 0:
        points = np.array([-C / B])
    elif discriminant > 0:
        points = np.sort((-B + np.array([-1, 1]) * np.sqrt(discriminant)) / (2 * A))
    else:
        points = np.empty(0)
    edges = np.concatenate([[-np.inf], points, [np.inf]])
    masses = priors * np.diff(ndtr((edges[:, None] - mu) / sigma), axis=0)
    return points, float(masses.min(axis=1).sum())


# %%
check(two_normals)

# %% [markdown] tags=["worked"]
# ### The derivation
#
# The logarithm of a weighted normal density is
#
# $$\ln P(y)p(x \mid y) = \ln P(y) - \ln \sigma_y - \tfrac12 \ln 2\pi - \frac{(x-\mu_y)^2}{2\sigma_y^2}.$$
#
# Take the difference, class 0 minus class 1, and sort by powers of $x$; $\tfrac12\ln 2\pi$ cancels:
#
# $$\underbrace{\Bigl(\frac1{2\sigma_1^2} - \frac1{2\sigma_0^2}\Bigr)}_{A} x^2 +
# \underbrace{\Bigl(\frac{\mu_0}{\sigma_0^2} - \frac{\mu_1}{\sigma_1^2}\Bigr)}_{B} x +
# \underbrace{\frac{\mu_1^2}{2\sigma_1^2} - \frac{\mu_0^2}{2\sigma_0^2} +
# \ln \frac{P(0)\,\sigma_1}{P(1)\,\sigma_0}}_{C}.$$
#
# Equal spreads: $A = 0$, a straight line, one root. Otherwise a parabola: two roots, or none if $B^2 - 4AC < 0$.
#
# **The error.** Between two neighbouring roots the difference keeps its sign, so one class is the larger one
# throughout and the integral of the minimum there is the whole mass of the other. `edges` cuts the line into those
# regions, `masses[r, y]` is $P(y)[\Phi((\text{right}-\mu_y)/\sigma_y) - \Phi((\text{left}-\mu_y)/\sigma_y)]$. The
# minimum of the two masses is the error in region r, with no need to ask who decides there.
#
# ### Why the wrong ones are wrong
#
# * *Priors left out, or swapped*: the weighted curves are compared; a more frequent class gets the larger region.
# * *The height $1/\sigma$ forgotten*: of two densities with the same centre the narrow one is higher there.
# * *One point only*: the wide class comes back on the far side.
# * *σ for σ²*: invisible at σ = 1.
# * *The unweighted overlap*: two identical densities would have the error 1.
#
# A check by another route: no roots, no Φ, only the smaller of the two curves, added up on a fine grid.

# %% tags=["worked"]
mu, sigma, priors = np.array([0.0, 2.0]), np.array([2.0, 1.0]), np.array([0.6, 0.4])
x = np.linspace(-20, 20, 400_001)[:, None]
weighted = priors * np.exp(-0.5 * ((x - mu) / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))
points, error = two_normals(mu, sigma, priors)
print("points:", points.round(4), f" error {error:.6f}, on the grid {weighted.min(axis=1).sum() * 1e-4:.6f}")

# %% [markdown]
# ## E1.7 A posterior for other priors
#
# Somebody trained a model on a sample in which 60 % of the objects were of class 0. In the world it is 90 %. The sample
# was picked by class only, so within each class it shows the same kinds of objects, $p(x \mid y)$, as the world does.
# You cannot train again; you have only the posteriors. Correct them:
#
# $$P(y \mid x) \;\propto\; P_{\text{sample}}(y \mid x)\, \frac{P(y)}{P_{\text{sample}}(y)}.$$
#
# By hand first: sample priors (0.6, 0.4), true priors (0.9, 0.1). The factors are 0.9/0.6 = 1.5 and 0.1/0.4 = 0.25. A
# posterior (0.5, 0.5) becomes 0.75 and 0.125, which sum to 0.875; divided by that, 0.857 and 0.143. And (0.1, 0.9)
# becomes 0.15 and 0.225, so 0.4 and 0.6.


# %% tags=["solution"]
def correct_priors(posterior, sample_priors, true_priors):
    """The posterior that belongs to other priors, for the same p(x|y).

    Parameters
    ----------
    posterior : (N, K) array
        P(y|x) for the priors of the sample.
    sample_priors, true_priors : (K,) arrays
        Positive; each sums to 1.

    Returns
    -------
    (N, K) array
        P(y|x) for the true priors.
    """
    ratio = true_priors / sample_priors
    weighted = posterior * ratio
    return weighted / weighted.sum(axis=1, keepdims=True)


# %%
check(correct_priors)

# %% [markdown] tags=["worked"]
# ### The derivation
#
# Bayes' rule in the sample, solved for the likelihood: $p(x \mid y) = P_{\text{sample}}(y \mid x)\,
# p_{\text{sample}}(x) / P_{\text{sample}}(y)$. Bayes' rule in the world, with the same likelihood put in:
#
# $$P(y \mid x) = \frac{P(y)\, p(x \mid y)}{p(x)}
# = P_{\text{sample}}(y \mid x)\, \frac{P(y)}{P_{\text{sample}}(y)} \cdot \frac{p_{\text{sample}}(x)}{p(x)}.$$
#
# The last factor does not depend on $y$. So it need not be known: dividing by the row's sum takes care of it.
#
# ### Why the wrong ones are wrong
#
# * *The old priors left in*: the posterior would contain both. Invisible if the sample was balanced.
# * *Upside down*: it corrects away from the truth.
# * *The new ones missing*: that is the posterior for equal priors.
# * *Not normalised*: the two evidences differ, so the sums do.
# * *The difference added*: Bayes' rule knows products only. Try it on a certain object: (1, 0) must stay (1, 0).
#
# A check by another route: make both posteriors from the same likelihoods.

# %% tags=["worked"]
likelihood = np.array([[0.2, 0.3], [0.5, 0.1], [0.05, 0.6]])
in_sample, in_world = (posterior(np.array(p), likelihood) for p in ([0.6, 0.4], [0.9, 0.1]))
corrected = correct_priors(in_sample, np.array([0.6, 0.4]), np.array([0.9, 0.1]))
print("corrected:", corrected[:, 1].round(4), " made with the true priors:", in_world[:, 1].round(4))

# %% [markdown]
# ## E1.8 Find the mistake: a threshold on the log odds
#
# In printed lecture notes the last term of the following formula tends to suffer. Somebody copied it like this, for two
# normal classes with a common σ:
#
# > $$a(x) = \ln \frac{P(1 \mid x)}{P(0 \mid x)} = w x + w_0,$$
# >
# > $$w = \frac{\mu_1 - \mu_0}{\sigma^2}, \qquad w_0 = \frac{\mu_0^2 - \mu_1^2}{2\sigma^2} + \ln \frac{P(0)}{P(1)}.$$
#
# **One of them is wrong.** Find out which, and write the right ones. Then decide: an error on class $y$ costs
# $\lambda_y$, and the rule is a threshold on the log odds, "decide 1 if $a(x) > \text{threshold}$". Which threshold?
# Return the log odds, which are a statement about the world and know no prices, and the decisions.
#
# By hand: μ = (0, 2), σ = 1, P = (0.75, 0.25), λ = (1, 4). At x = 1, half-way, the densities are equal, so the odds of
# class 1 are 0.25 : 0.75 = 1 : 3, and the log odds −1.0986. But a missed class 1 costs four times as much, 0.25 · 4 = 1
# against 0.75 · 1: decide 1. At x = 0 the log odds are −3.0986: decide 0. At x = 2 they are 0.9014: decide 1.


# %% tags=["solution"]
def log_odds_rule(x, mu, sigma, priors, losses):
    """Log odds of class 1 for two normals of equal spread, and the decisions at given prices.

    Parameters
    ----------
    x : (N,) array
        The measurements.
    mu : (2,) array
        Mean of each class.
    sigma : float
        The standard deviation of both.
    priors, losses : (2,) arrays
        P(y), and what an error on an object of class y costs.

    Returns
    -------
    log_odds : (N,) array
        ln P(1|x)/P(0|x).
    decided : (N,) array of int
        0 or 1.
    """
    w = (mu[1] - mu[0]) / sigma**2
    w0 = (mu[0] ** 2 - mu[1] ** 2) / (2 * sigma**2) + np.log(priors[1] / priors[0])
    log_odds = w * x + w0
    threshold = np.log(losses[0] / losses[1])
    return log_odds, (log_odds > threshold).astype(int)


# %%
check(log_odds_rule)

# %% [markdown] tags=["worked"]
# ### The derivation, and the mistake
#
# With a common σ the factors $1/\sigma\sqrt{2\pi}$ cancel, and so does $x^2$:
#
# $$a(x) = \ln\frac{P(1)}{P(0)} - \frac{(x-\mu_1)^2}{2\sigma^2} + \frac{(x-\mu_0)^2}{2\sigma^2}
# = \ln\frac{P(1)}{P(0)} + \frac{(\mu_1-\mu_0)\,x}{\sigma^2} + \frac{\mu_0^2 - \mu_1^2}{2\sigma^2}.$$
#
# **The printed ln P(0)/P(1) stands upside down.** You can see it without algebra: with $\mu_0 = \mu_1$ the measurement
# says nothing, so the log odds must be those before any measurement, $\ln P(1)/P(0)$.
#
# **The threshold.** Decide 1 where $\lambda_1 P(1\mid x) > \lambda_0 P(0 \mid x)$. Divide by $\lambda_1 P(0\mid x)$
# and take logarithms: $a(x) > \ln(\lambda_0/\lambda_1)$. A high price $\lambda_1$ lowers it.
#
# ### Why the wrong ones are wrong
#
# * *The sign of the threshold*: make λ₁ enormous; everything should be decided 1, so the threshold must go to −∞.
# * *λ in the log odds*: the decisions come out right, the probabilities do not.
# * *Priors in the threshold as well*: they are in $a(x)$ already. $\ln \lambda_0P(0)/\lambda_1P(1)$ is the threshold
#   for the log ratio of the densities alone.
# * *No logarithm*: at equal prices the threshold on the log odds is 0, not 1.
# * *½ missing, σ for σ²*: at equal priors the toss-up must lie half-way between the means, whatever σ is.
#
# A check by another route: the joint probabilities, compared as they stand.

# %% tags=["worked"]
x, mu, priors, losses = np.array([0.0, 1.0, 2.0]), np.array([0.0, 2.0]), np.array([0.75, 0.25]), np.array([1.0, 4.0])
joint_of_x = priors * np.exp(-0.5 * (x[:, None] - mu) ** 2)
a, decision = log_odds_rule(x, mu, 1.0, priors, losses)
print("by the densities:", np.log(joint_of_x[:, 1] / joint_of_x[:, 0]).round(4), (joint_of_x * losses).argmax(axis=1))
print("by the function: ", a.round(4), decision)
