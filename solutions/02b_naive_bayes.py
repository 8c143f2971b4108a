# %% [markdown]
# # Exercises 02b: Naive Bayes at work
#
# These belong to the notebook [02b Naive Bayes at work](../notebooks/02b_naive_bayes.ipynb); about 75 minutes. Write
# each function, run its cell, then the `check(…)` below it. `hint(…)` helps, three times; after that `solution(…)`.

# %% tags=["setup"]
import numpy as np

from course_lib.classroom import check, hint, solution
from course_lib.data import load

# %% [markdown]
# ## E2.2 Find the mistake: shares with pseudo-counts
#
# Someone has copied from a lecture slide how to estimate the share of ones of a yes-or-no feature, with pseudo-counts
# so that no share is 0:
#
# $$P(x_j = 1 \mid k) = \frac{\#[x_j = 1 \text{ and } y = k] + c}{\#[y = k] + c}.$$
#
# **Something is wrong with it.** Find it by hand first. Of the five objects of a class three have a 1. With $c = 1$ the
# formula gives 4/6 for the ones. What does the same formula give for the zeros, of which there are two? What should the
# two give together? Say what the denominator has to be before you write any code.
#
# Then write `fit_bernoulli` with the right formula. It takes N objects with D yes-or-no features and returns the table
# of shares, one row for each of the K classes.
#
# A hand-sized case for the right version: the objects `[1, 0]`, `[1, 1]`, `[0, 0]` with the classes 0, 0, 1, and $c =
# 1$. Class 0 has two objects, with 2 and 1 ones: its shares are 3/4 and 2/4. Class 1 has one object, with 0 and 0
# ones: 1/3 and 1/3. A class that occurs in `range(K)` but has no objects yet gets ½ everywhere: it knows nothing.


# %% tags=["solution"]
def fit_bernoulli(X, y, K, c):
    """Share of ones of each feature in each class, with pseudo-counts.

    Parameters
    ----------
    X : (N, D) array of 0 and 1
    y : (N,) array of ints in range(K)
    K : int
        Number of classes; some may have no objects.
    c : float
        Pseudo-count, above 0: added to the number of ones and to the number of zeros.

    Returns
    -------
    (K, D) array
        P(x_j = 1 | k).
    """
    member = y == np.arange(K)[:, None]
    counts = member.sum(axis=1)
    ones = member @ X
    return (ones + c) / (counts[:, None] + 2 * c)


# %%
check(fit_bernoulli)

# %% [markdown] tags=["worked"]
# ### The mistake, and the solution
#
# The zeros get, by the same formula, (2 + 1)/(5 + 1) = 3/6. Together with 4/6 that is 7/6, and it should be 1. In
# general
#
# $$\frac{n + c}{N + c} + \frac{(N - n) + c}{N + c} = \frac{N + 2c}{N + c} > 1.$$
#
# The pseudo-count was given twice, once to the ones and once to the zeros, so the total must grow by $2c$; for a
# feature with $V$ values by $Vc$. (The slide itself adds $Lc$ below, with $L$ for our $V$.)
#
# 1. `member` has the shape (K, N): row k says who is in class k.
# 2. `counts` sums the rows: $N_k$, of shape (K,).
# 3. `ones` is a matrix product, (K, N) @ (N, D): entry (k, j) sums $x_{ij}$ over the members of class k.
# 4. `counts[:, None]` lines the $N_k$ up with the rows.
#
# ### Why the wrong ones are wrong
#
# * *$c$ above, nothing or $c$ below.* Shares of ones and zeros sum to more than 1. With few objects this is not a
#   detail: a class without objects gets $c/0$ or $c/c = 1$, certainty from nothing.
# * *$Kc$ below.* The pseudo-counts go to the values of the feature, not to the classes. With two classes nobody sees
#   it.
# * *$Dc$ below, or the number of words for the number of objects.* Those belong to the multinomial model, in which a
#   text is a sequence of words and the D shares of a class sum to 1. Here each feature has its own yes and no.
# * *All objects for the objects of the class.* That is $P(x_j = 1, y = k)$, a joint probability.
# * *Drawn to the overall share.* A sensible idea, but another prior. It makes classes alike where one of them has few
#   objects.

# %% [markdown] tags=["worked"]
# A check by another route: sum the share of ones and the share of zeros, which is the share of ones of $1 - x$.

# %% tags=["worked"]
X_small, y_small = np.array([[1, 0], [1, 1], [0, 0]]), np.array([0, 0, 1])
both = fit_bernoulli(X_small, y_small, 3, 1.0) + fit_bernoulli(1 - X_small, y_small, 3, 1.0)
print("ones and zeros together:", both.tolist())

# %% [markdown]
# ## E2.3 A spam filter on one page
#
# Now the whole way, for one message: from a table of old messages to the probability that a new one is spam.
#
# Take the ten messages of the notebook and the message *confidential: how to win millions*, whose features (viagra,
# millions, grade, confidential) are 0, 1, 0, 1. Without smoothing spam gives 0.5 · 0.6 · 0.6 · 1.0 · 0.6 = 0.108: half
# of the messages are spam; 3 of 5 spams do **not** say viagra, 3 say millions, 5 do not say grade, 3 say confidential.
# Good messages give 0.5 · 1.0 · 0.4 · 0.4 · 0.4 = 0.032. The answer is 0.108/0.140, about 0.771. With $c = 1$ it is
# 64/91.
#
# Prior: the shares of the two kinds among the old messages, without pseudo-counts. With $c = 0$ it may happen that both
# products are 0; you need not catch that.


# %% tags=["solution"]
def spam_posterior(X, spam, message, c):
    """Probability that a message is spam, by Bernoulli naive Bayes.

    Parameters
    ----------
    X : (N, D) array of 0 and 1
        Which words occur in the old messages.
    spam : (N,) array of bool
        Which of them are spam; at least one is and one is not.
    message : (D,) array of 0 and 1
    c : float
        Pseudo-count, 0 or more.

    Returns
    -------
    float
        P(spam | message).
    """
    g = []
    for kind in (X[~spam], X[spam]):
        p = (kind.sum(axis=0) + c) / (len(kind) + 2 * c)
        factors = np.where(message == 1, p, 1 - p)
        g.append(len(kind) / len(X) * factors.prod())
    return g[1] / (g[0] + g[1])


# %%
check(spam_posterior)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. Each kind is handled by itself: its shares `p` come from its own rows, `len(kind)` of them.
# 2. `factors` has one factor **for every word of the list**, $p_j$ if the word is there and $1 - p_j$ if it is not.
# 3. `g` is $P(k)\,p(x \mid k)$, good first, spam second. Dividing by the sum is Bayes' rule.
#
# ### Why the wrong ones are wrong
#
# * *Absent words left out.* In this model a message says yes or no to every word. In the example the missing *grade*,
#   which three of five good messages have, is evidence for spam, and you would throw it away.
# * *The evidence as a product, $P(x) = \prod_j P(x_j)$.* Independence was assumed **within each class**. Over both
#   classes together the words are not independent, and the two posteriors would not sum to 1. $P(x)$ is the sum of the
#   two `g`.
# * *Pseudo-counts in the prior too.* Not absurd, but not asked; with many messages of both kinds it has no effect.
# * *Shares over all messages.* $P(x_j \mid k)$ divides by the messages of class k. Dividing by all gives joint
#   probabilities, so that the prior enters once more with each word.

# %% tags=["worked"]
from fractions import Fraction

good = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
junk = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0]])
ten, which = np.vstack([good, junk]), np.arange(10) >= 5
for c in (0, 1):
    print(c, Fraction(spam_posterior(ten, which, np.array([0, 1, 0, 1]), c)).limit_denominator(1000))

# %% [markdown]
# ## E2.7 What naive Bayes sees of a table
#
# Two features with $V_1$ and $V_2$ values, and K classes. You are given how often each pair of values occurred in each
# class, as a table of counts of the shape (K, V₁, V₂). Naive Bayes keeps only the two marginals of each class and
# multiplies them. Return what it believes: $p_1(v \mid k)\, p_2(w \mid k)$ for every class and every pair.
#
# By hand: a class of 100 objects has the counts
#
# | | $x_2 = 0$ | $x_2 = 1$ | sum |
# |---|---|---|---|
# | $x_1 = 0$ | 40 | 0 | 40 |
# | $x_1 = 1$ | 20 | 40 | 60 |
# | sum | 60 | 40 | 100 |
#
# The marginals are .4 and .6 for $x_1$, .6 and .4 for $x_2$. Their products are .4·.6 = .24 and .4·.4 = .16 in the
# first row, .36 and .24 in the second. The cell that never occurred gets .16. No smoothing here; every class has at
# least one object.


# %% tags=["solution"]
def product_of_marginals(counts):
    """The table of probabilities that naive Bayes makes of a table of counts.

    Parameters
    ----------
    counts : (K, V1, V2) array of ints
        How often x1 = v and x2 = w occurred together in class k.

    Returns
    -------
    (K, V1, V2) array
        P(x1 = v | k) P(x2 = w | k); each class sums to 1.
    """
    size = counts.sum(axis=(1, 2), keepdims=True)
    first = counts.sum(axis=2, keepdims=True) / size
    second = counts.sum(axis=1, keepdims=True) / size
    return first * second


# %%
check(product_of_marginals)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `size` is the number of objects of each class, of shape (K, 1, 1).
# 2. The marginal of the *first* feature is what is left when you sum over the *second*: `axis=2`. With `keepdims=True`
#    it has the shape (K, V₁, 1).
# 3. `second` has the shape (K, 1, V₂). The product of the two broadcasts to (K, V₁, V₂), an outer product in each
#    class.
#
# The product has the right marginals: sum it over $w$, and since $\sum_w p_2(w \mid k) = 1$ you are left with $p_1(v
# \mid k)$. Of all tables with these marginals it is the one in which the features tell nothing of each other.
#
# ### Why the wrong ones are wrong
#
# * *Rows times columns over n.* These are the expected **counts** of the chi-square test. Divide once more by n.
# * *Divided by all objects.* Each class must sum to 1, for $p(x \mid k)$ is a distribution within the class; its share
#   among all objects is the business of the prior.
# * *Marginals of all classes together.* Then all classes have the same table, and there is nothing left to classify by.
# * *The table itself, divided by its sum.* That is the true share of each pair; the naive assumption was never made.
# * *On its side.* Summing over the first feature leaves the second. With two values each, the shape does not give you
#   away.

# %% tags=["worked"]
slide = np.array([[[40, 0], [20, 40]], [[10, 50], [30, 10]]])
print(product_of_marginals(slide).round(2).tolist())

# %% [markdown]
# ## E2.9 Draw new objects
#
# Run the model forwards. You get the priors of K classes, the table `p` of $P(x_j = 1 \mid k)$ and uniform random
# numbers between 0 and 1, a row for each object to draw: the first of a row for the class, the other D for the
# features, in order. (Because the numbers are passed in, the answer is determined and can be checked.)
#
# * **Class.** Lay the priors end to end on the line from 0 to 1. With the priors .5, .25, .25 the numbers from 0 up to
#   but not including .5 mean class 0, from .5 up to but not including .75 class 1, the rest class 2.
# * **Feature j.** It is 1 if its uniform number is *below* the $p$ of the class just drawn, and else 0.
#
# By hand: priors .5 and .5, `p` = `[[0.9, 0.1], [0.25, 0.75]]`. The row `[0.3, 0.8, 0.4]` gives class 0 as .3 < .5;
# then .8 < .9 makes a 1, and .4 < .1 is false, a 0. The row `[0.5, 0.25, 0.7]` gives class 1, for .5 is no longer in
# the first piece; .25 < .25 is false, a 0; .7 < .75, a 1.


# %% tags=["solution"]
def draw_objects(priors, p, u):
    """Objects and classes drawn from a Bernoulli naive Bayes model.

    Parameters
    ----------
    priors : (K,) array
        P(k); sums to 1.
    p : (K, D) array
        P(x_j = 1 | k).
    u : (n, 1 + D) array
        Uniform numbers in [0, 1): the class, then the features.

    Returns
    -------
    X : (n, D) array of ints
        The features, 0 or 1.
    y : (n,) array of ints
        The classes.
    """
    edges = priors.cumsum()[:-1]
    y = (u[:, :1] >= edges).sum(axis=1)
    X = (u[:, 1:] < p[y]).astype(int)
    return X, y


# %%
check(draw_objects)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `edges` are the K − 1 points where one class ends and the next begins. The last sum is 1, or 0.9999999999999999,
#    and is left out.
# 2. Compare each first number, as a column (n, 1), with all edges, (K − 1,). The number of edges that it has passed is
#    its class. A uniform number falls into a piece with the probability of the piece's length, which is $P(k)$.
# 3. `p[y]` has the shape (n, D): for each object the row of *its* class. $P(u < p) = p$.
#
# ### Why the wrong ones are wrong
#
# * *Priors not added up.* The edges are at .5 and .75, not at .5 and .25.
# * *All features from the average share.* $\sum_k P(k) p_{kj}$ is the right share of ones over all objects, but then
#   features are independent over *all* objects, and $X$ has nothing to do with $y$.
# * *The number for the class used again.* Then the first feature knows which part of the piece the class came from:
#   class and feature are no longer drawn independently. In class 1 of the example $u \ge .5$ always, and a feature
#   with $p = .25$ is never 1.
# * *The most probable class each time.* That is a decision, not a draw.
# * *Above for below.* You drew $1 - x$.

# %% tags=["worked"]
rng = np.random.default_rng(1)
shares = np.array([[0.9, 0.1], [0.25, 0.75]])
X_drawn, y_drawn = draw_objects(np.array([0.3, 0.7]), shares, rng.uniform(size=(20_000, 3)))
print("share of class 1:", y_drawn.mean().round(2))
print("shares of ones:", [X_drawn[y_drawn == k].mean(axis=0).round(2).tolist() for k in (0, 1)])

# %% [markdown]
# ## E2.10 Blanks
#
# Features may be blank, `nan`, both in the table you learn from and in the objects to judge. Return the log scores
#
# $$a_k = \ln \frac{N_k}{N} + \sum_{j \text{ seen}} \ln p_j(x_j \mid k), \qquad
# p_{kj} = \frac{\text{ones seen in class } k + c}{\text{values seen in class } k + 2c} \text{ of feature } j.$$
#
# In words: **a blank adds nothing, neither to the counts nor to the sum.** An object with a blank still counts as an
# object of its class, $N_k$, and its other features count in full.
#
# By hand: class 0 has the objects `[1, nan]`, `[1, 0]`, `[0, 0]`, class 1 has `[0, 1]`; $c = 1$. In class 0 the first
# feature was seen three times, with two ones: (2 + 1)/(3 + 2) = .6. The second was seen *twice*, with no one: 1/4. In
# class 1 the shares are 1/3 and 2/3. The new object `[1, nan]` has the scores ln(3/4 · .6) = ln .45 and ln(1/4 · 1/3)
# = ln .083.


# %% tags=["solution"]
def log_joint_with_blanks(X, y, X_new, K, c):
    """Log scores ln P(k) p(x|k) of Bernoulli naive Bayes, blanks skipped.

    Parameters
    ----------
    X : (N, D) array of 0, 1 and nan
        The objects to learn from.
    y : (N,) array of ints in range(K)
        Their classes; each class occurs.
    X_new : (M, D) array of 0, 1 and nan
        The objects to judge.
    K : int
    c : float
        Pseudo-count, above 0.

    Returns
    -------
    (M, K) array
    """
    member = (y == np.arange(K)[:, None]).astype(float)
    priors = member.sum(axis=1) / len(y)
    values_seen = member @ ~np.isnan(X)
    ones_seen = member @ np.nan_to_num(X)
    shares = (ones_seen + c) / (values_seen + 2 * c)
    terms = np.where(X_new[:, None] == 1, np.log(shares), np.log(1 - shares))
    terms = np.where(np.isnan(X_new)[:, None], 0, terms)
    return np.log(priors) + terms.sum(axis=2)


# %%
check(log_joint_with_blanks)

# %% [markdown]
# Once the card is green, try it on the House of 1984: what does it say about a member of whom only one vote is known?

# %% tags=["setup"]
votes = load("votes84")
coded = {"y": 1.0, "n": 0.0, "": np.nan}
V84 = np.array([[coded[vote] for vote in votes[bill]] for bill in list(votes.columns)[:-1]]).T
republican = (votes["party"] == "republican").astype(int)

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# 1. `values_seen` counts, for each class and each feature, how often it was *not* blank: (K, N) @ (N, D). `ones_seen`
#    does the same for the ones; `nan_to_num` makes the blanks 0, and a 0 adds no one.
# 2. `terms` has the shape (M, K, D), by lining up (M, 1, D) with (K, D).
# 3. The blanks' terms are set to 0 **after** the logarithms. `nan == 1` is false, so a blank first takes the branch of
#    the zeros; the second `where` takes it back.
#
# ### Why that is right
#
# The probability of what was seen is the sum over what could have stood in the blank: $\sum_v p_j(v \mid k) = 1$, so
# the factor is 1 and its logarithm 0. In training, the likelihood of what was seen has a factor $p$ or $1 - p$ for
# each *seen* value only; its maximum is at ones seen over values seen.
#
# ### Why the wrong ones are wrong
#
# * *A blank taken for a no.* Members who stayed away become opponents. Features with many blanks get shares that are
#   too small.
# * *Divided by $N_k$.* Half of the same mistake: the blanks are not counted as ones, but they are counted.
# * *Objects with a blank thrown away.* In the House this costs 203 of 435 members, for 392 blanks among 6,960 votes.
# * *½ for a blank, or the share $p$ itself.* With $x = p$ the term is $p \ln p + (1-p)\ln(1-p)$, never 0: a class in
#   which the vote is contested is punished because *you* did not see it.
# * *Scaled up by D over the number seen.* What was not seen is assumed to look like what was. It makes the posterior
#   surer the less is known.

# %% tags=["worked"]
only_one = np.full((2, 16), np.nan)
only_one[:, 3] = [0, 1]                                        # a freeze of physicians' fees
a = log_joint_with_blanks(V84, republican, only_one, 2, 1.0)
share = np.exp(a[:, 1] - np.logaddexp(a[:, 0], a[:, 1]))
print("P(republican) after a no and after a yes:", share.round(3))
