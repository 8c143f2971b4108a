# %% [markdown]
# # Exercises 01: Bayes' rule and risk
#
# These belong to the notebook [01 Bayes' rule and risk](../notebooks/01_bayes_rule_and_risk.ipynb). Write each
# function, run its cell, then the `check(…)` below it.

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
