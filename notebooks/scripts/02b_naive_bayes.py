# %% [markdown]
# # 02b Naive Bayes at work
#
# **The question of this unit:** what does it take to make a classifier out of D one-dimensional estimates, and what do
# you pay for pretending that the features know nothing of each other?
#
# After 75 minutes you can
#
# * work a spam filter by hand, say where its zeros come from, and repair them with pseudo-counts;
# * leave missing values out of the product, and say what you assume when you do;
# * multiply a thousand small factors without losing them, and mix features of different kinds in one model;
# * draw new objects from a fitted model, and read off them what the model does not know;
# * say what correlated features do to the decision and to the posterior, and judge two shortcuts by experiment.
#
# **It builds on** [01](01_bayes_rule_and_risk.ipynb) for Bayes' rule, and on [02a](02a_exponential_families.ipynb) for
# maximum likelihood and the natural parameter. **To run it**, type `course lab` in the folder of the course.

# %%
import numpy as np
from matplotlib import pyplot as plt

from course_lib import Bernoulli, Binomial, Categorical, NaiveBayes, Normal, plots
from course_lib.classroom import predict, quiz
from course_lib.data import load
from course_lib.decision import log_posterior, logsumexp, posterior

plots.style()

# %% [markdown]
# ## 1. A decision first
#
# The US House of Representatives took 16 votes in 1984 that a yearbook called key votes. You are given the record of
# one member, and two blanks where no vote was recorded. Which party?

# %%
votes = load("votes84")
bills = list(votes.columns)[:-1]
coded = {"y": 1.0, "n": 0.0, "": np.nan}
V84 = np.array([[coded[vote] for vote in votes[bill]] for bill in bills]).T        # (N, D)
party = votes["party"]
democrat = party == "democrat"
print("members and votes:", V84.shape, " democrats:", democrat.sum(), " blanks:", np.isnan(V84).sum())

# %%
shares = np.array([np.nanmean(V84[democrat == side], axis=0) for side in (True, False)])     # (2, 16)
fig, ax = plt.subplots(figsize=(7.2, 4.4))
at = np.arange(16)
ax.hlines(at, *shares, color="0.8", zorder=0)
for k, name in enumerate(("democrats", "republicans")):
    ax.plot(shares[k], at, plots.look(k).marker, color=plots.look(k).colour, label=name)
member = V84[2]
ax.plot(member, at, "k|", markersize=12, markeredgewidth=3, label="the member")
ax.set(yticks=at, xlabel="share that voted yes (the member: 0 no, 1 yes)")
ax.set_yticklabels([bill.replace("_", " ") for bill in bills], fontsize=8)
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.alt(fig, "The share of each party that voted yes on 16 bills. On most bills the two shares lie far apart, on "
               "water project and immigration close together. The member's 14 votes, bars at 0 or 1, lie at the "
               "republicans' end for most bills.")
plt.show()

# %% [markdown]
# Count the bars that lie nearer to the triangles than to the circles, and **guess**: what is the probability that this
# member is a democrat? You will meet the answer in section 3.

# %%
predict("2.10", None)

# %% [markdown]
# If you counted bars, you have just done naive Bayes: every vote gives its own evidence, and the pieces add up. This
# unit is about how they add up, and about when they should not.
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $x_j$ | feature $j$ of an object, here 1 for yes or 0 for no | | `X[:, j]` |
# | $P(k)$ | prior probability of class $k$ | (K,) | `priors` |
# | $p_{kj}$ | probability that $x_j = 1$ in class $k$ | (K, D) | `p` |
# | $N_k$; $n_{kj}$ | objects of class $k$; those of them with $x_j = 1$ | (K,); (K, D) | `counts`; `ones` |
# | $V$ | number of values that a feature can take, 2 for yes and no | | `levels` |
# | $c$ | pseudo-count, added to every count | | `smoothing` |
# | $a_k$ | log score $\ln P(k) + \sum_j \ln p_j(x_j \mid k)$ | (N, K) | `log_joint` |
#
# The **naive assumption** is that within a class the features are independent:
# $p(x \mid k) = p_1(x_1 \mid k) \cdots p_D(x_D \mid k)$.
#
# ## 2. A spam filter by hand
#
# In the next cell stand ten messages, five good ones and five of spam. A 1 says that the word occurs in the message.
# Two of the five spams say *viagra*, none of the good ones does, and so on.
#
# A new message arrives: *confidential: how to win millions*. Its four features are 0, 1, 0, 1. **The words that are not
# there count as well**: that spam often says *viagra*, and this message does not, speaks for a good message.
#
# | | not viagra | millions | not grade | confidential | prior | product |
# |---|---|---|---|---|---|---|
# | spam | 0.6 | 0.6 | 1.0 | 0.6 | 0.5 | 0.108 |
# | good | 1.0 | 0.4 | 0.4 | 0.4 | 0.5 | 0.032 |
#
# The two products sum to 0.140, so the probability of spam is 0.108/0.140, about 0.77. (Exercise E2.3 goes this way.)

# %%
words = ["viagra", "millions", "grade", "confidential"]
good = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
spam = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0]])
ones = np.array([good.sum(axis=0), spam.sum(axis=0)])                     # n_kj, (2, 4)
for name, row in zip(("good", "spam"), ones):
    print(name, dict(zip(words, (row / 5).tolist())))

# %%
def products(p, x, priors=(0.5, 0.5)):
    """P(k) Π_j p_j(x_j|k) for one object x (D,) and tables p (K, D) of P(x_j = 1|k)."""
    return np.array(priors) * np.where(x == 1, p, 1 - p).prod(axis=1)


message = np.array([0, 1, 0, 1])
g = products(ones / 5, message)
print("products, good and spam:", g.round(3), " P(spam|message) =", (g[1] / g.sum()).round(3))

# %% [markdown]
# Now another one: *premium grade viagra available now*. Its features are 1, 0, 1, 0. What does the rule say? Work
# it out with the shares above before you run the cell.

# %%
# claim 2.12
zero = products(ones / 5, np.array([1, 0, 1, 0]))
with np.errstate(invalid="ignore"):
    undefined = zero / zero.sum()
print("products:", zero, " posterior:", undefined)
assert (zero == 0).all() and np.isnan(undefined).all()

# %% [markdown]
# No good message said *viagra*, so the product of the good class is 0. No spam said *grade*, so the other one is 0 as
# well. The posterior is 0/0. Each class has seen something that the other thinks impossible, and the filter has nothing
# to say about it.
#
# The counts are not wrong, but five messages cannot tell 0 from "rare". So **add $c$ to every count**, as if each value
# had been seen $c$ times more. A feature has $V$ values, and each count gets its $c$, so the total grows by $Vc$:
#
# $$p_j(v \mid k) = \frac{n_{kjv} + c}{N_k + Vc}, \qquad \sum_{v=1}^{V} p_j(v \mid k) = \frac{N_k + Vc}{N_k + Vc} = 1.$$
#
# For yes-or-no features $V = 2$: $p_{kj} = (n_{kj} + c)/(N_k + 2c)$. By hand, with $c = 1$: spam has the shares 3,
# 4, 1 and 4 over 7, good messages have 1, 3, 4 and 3 over 7. The message with *confidential* and *millions* now gives
#
# $$\text{spam: } \tfrac47\cdot\tfrac47\cdot\tfrac67\cdot\tfrac47 = \tfrac{384}{2401},\qquad
# \text{good: } \tfrac67\cdot\tfrac37\cdot\tfrac37\cdot\tfrac37 = \tfrac{162}{2401},\qquad
# \frac{384}{384 + 162} = \frac{64}{91} \approx 0.703.$$
#
# Fractions make the check exact, and the other message gets an answer as well:

# %%
# claim 2.12, 2.13
from fractions import Fraction as F

def exact(x, c):
    g = products((ones.astype(object) + c) / F(5 + 2 * c), np.array(x), [F(1, 2), F(1, 2)])
    return g[1] / g.sum()


print("without smoothing:", exact(message, 0), " with c = 1:", exact(message, 1))
print("the message with viagra and grade, c = 1:", exact([1, 0, 1, 0], 1))
assert exact(message, 0) == F(108, 140) and exact(message, 1) == F(64, 91) and 0 < exact([1, 0, 1, 0], 1) < 1

# %% [markdown]
# ### Where the pseudo-count comes from
#
# It is more than a trick. Call the $V$ unknown probabilities of one feature in one class $p_1, \dots, p_V$, and the
# counts $n_1, \dots, n_V$ with the sum $N$. The data have the likelihood $\prod_v p_v^{n_v}$. Before you see any data,
# let your belief about $p$ be the **Dirichlet density** with all parameters equal to $c$, a density over all $p$ with
# $p_v \ge 0$ and sum 1 (for $V = 2$ over the numbers from 0 to 1):
#
# $$f(p) \propto \prod_{v=1}^{V} p_v^{\,c - 1}.$$
#
# Bayes' rule multiplies the two, and the powers add:
#
# $$f(p \mid \text{data}) \;\propto\; \prod_v p_v^{\,n_v} \cdot \prod_v p_v^{\,c-1} = \prod_v p_v^{\,(n_v + c) - 1},$$
#
# which is a Dirichlet density again, with the parameters $\alpha_v = n_v + c$ in place of $c$. What is the probability
# that the *next* object has the value $v$? It is the mean of $p_v$ under this density. To find it, take two of the
# values, $v$ and $u$, and the function $F = p_v\, p_u \prod_w p_w^{\alpha_w - 1}$. Move a little probability from $u$
# to $v$. The change of $F$ is
#
# $$\frac{\partial F}{\partial p_v} - \frac{\partial F}{\partial p_u}
# = (\alpha_v\, p_u - \alpha_u\, p_v) \prod_w p_w^{\alpha_w - 1}.$$
#
# Now move all the way, from $p_v = 0$ to $p_u = 0$. At both ends $F = 0$, so the changes add up to 0; so they do over
# all $p$. The product on the right is the density, up to a factor. So for any two values
# $\alpha_v \mathrm E[p_u] = \alpha_u \mathrm E[p_v]$: the means are in proportion to the $\alpha_v$. And they sum to 1,
# hence
#
# $$\mathrm E[p_v \mid \text{data}] = \frac{\alpha_v}{\sum_u \alpha_u} = \frac{n_v + c}{N + Vc}.$$
#
# So smoothing is Bayes' rule once more, applied to the probabilities themselves. $c = 1$ says that every $p$ was
# equally credible. The *most credible* $p$, the peak of the density, is another number, at $c = 1$ the plain share. Is
# the formula right? Go the long way, on a feature with three values: draw many $p$ from the prior, give each the weight
# of its likelihood, and average.
#
# Adding $c$ above but something else below is a common slip. With $c$ above and $c$ below, the
# probabilities of "the word is there" and "the word is not there" sum to $(N + 2c)/(N + c)$, more than 1. Exercise E2.2
# is about it.
#
# **The code** for one class at a time is five lines; $x_j \in \{0, 1\}$ picks one of the two logarithms. We check it
# against the library's `NaiveBayes`, which we take from here on. Then: what does $c$ do to the four words and to the
# two messages?

# %%
# claim 2.12
n, c = np.array([4, 1, 0]), 1.5
p = np.random.default_rng(0).dirichlet([c, c, c], size=400_000)            # draws from the prior
likelihood = (p**n).prod(axis=1)
mean = likelihood @ p / likelihood.sum()
print("weighted mean:", mean.round(3), " formula:", ((n + c) / (n.sum() + 3 * c)).round(3))
np.testing.assert_allclose(mean, (n + c) / (n.sum() + 3 * c), atol=0.003)

# %%
def fit_class(X, c=1.0):
    """P(x_j = 1) of each feature, (D,), from the objects X (N_k, D) of one class."""
    return (X.sum(axis=0) + c) / (len(X) + 2 * c)


def class_log_density(p, X):
    """Σ_j ln p_j(x_j) of each row, (N,)."""
    return np.where(X == 1, np.log(p), np.log1p(-p)).sum(axis=1)


X10, y10 = np.vstack([good, spam]).astype(float), np.repeat([0, 1], 5)
by_hand = np.stack([np.log(0.5) + class_log_density(fit_class(X10[y10 == k]), X10) for k in (0, 1)], axis=1)
library = NaiveBayes(Bernoulli(smoothing=1)).fit(X10, y10)
print("the ten messages, P(spam):", posterior(by_hand)[:, 1].round(2))
np.testing.assert_allclose(library.log_joint(X10), by_hand, rtol=1e-12)

# %%
def smoothed(c, ax):
    """Draw P(word|class) for one c and say what the rule makes of the two messages."""
    p = (ones + c) / (5 + 2 * c)
    for k, name in enumerate(("good", "spam")):
        ax.plot(p[k], plots.look(k).marker, color=plots.look(k).colour, label=name, markersize=8)
    both = [products(p, x) for x in (message, np.array([1, 0, 1, 0]))]
    first, second = ("0/0" if g.sum() == 0 else f"{g[1] / g.sum():.2f}" for g in both)
    ax.set(xticks=range(4), xlim=(-0.4, 3.4), ylim=(-0.06, 1), title=f"c = {c:g}: {first} and {second}")
    ax.set_xticklabels(words, rotation=30, fontsize=8, ha="right")
    ax.set_ylabel("P(word | class)")
    return f"With c = {c:g} the probability of spam is {first} for the first message and {second} for the second."


fig, axes = plt.subplots(1, 4, figsize=(10, 3), sharey=True)
sentences = [smoothed(c, ax) for c, ax in zip((0, 1, 5, 50), axes)]
for ax in axes:
    ax.label_outer()
axes[-1].legend(loc="upper right")
plots.alt(fig, "The probability of four words in good messages (circles) and in spam (triangles), for four values of "
               "c. As c grows, all move to one half. " + " ".join(sentences))
plt.show()

# %% tags=["nbval-ignore-output"]
def with_legend(ax, c):
    words = smoothed(c, ax)
    ax.legend()
    return words


plots.explore(with_legend, c=(0.0, 10.0, 1.0, 0.25))

# %% [markdown]
# What we see: with $c = 0$ two of the words have a probability of 0 in one class. As $c$ grows, all probabilities move
# towards ½, the two classes towards each other, and the posterior towards the prior. Each title gives $P(\text{spam})$
# of the message with *confidential*, and of the one with *viagra*. Move $c$ yourself; where does 0/0 turn into a
# number?
#
# Any $c > 0$ will do for that, however small. Which one is best? On real mail, then: 4,601 messages with 57 features
# each, of which we keep only whether they are above 0. We train on few messages and then on many, and try the rest.

# %%
mail, is_spam = load("spambase").Xy()
B = (mail > 0).astype(float)
order = np.random.default_rng(7).permutation(len(B))
pseudo = np.array([0.0, 0.01, 0.1, 1, 10, 100])
for size in (100, 2000):
    few = order[:size]
    p = np.array([fit_class(B[few][is_spam[few] == k], c=0.0) for k in (0, 1)])
    impossible = np.array([(B @ (p[k] == 0) + (1 - B) @ (p[k] == 1)) > 0 for k in (0, 1)])
    print(f"{size:5d} messages: {(p == 0).sum():2d} zeros in the table, "
          f"{impossible.all(axis=0)[order[2000:]].mean():.3f} of the others get 0/0")


def error(size, c):
    """Share of the messages after the first 2,000 that are filed wrongly; 0/0 counts as wrong."""
    few, rest = order[:size], order[2000:]
    a = NaiveBayes(Bernoulli(smoothing=c)).fit(B[few], is_spam[few]).log_joint(B[rest])
    return np.mean((a.argmax(axis=1) != is_spam[rest]) | np.isneginf(a).all(axis=1))


curves = {size: [error(size, c) for c in pseudo] for size in (100, 2000)}
print("c:", pseudo.tolist())
for size, curve in curves.items():
    print(f"{size:5d} messages, error:", np.round(curve, 3).tolist())

# %%
fig, ax = plt.subplots()
for k, (size, curve) in enumerate(curves.items()):
    look = plots.look(k)
    ax.plot(curve, look.line, marker=look.marker, color=look.colour, label=f"{size:,} training messages")
ax.set(xlabel="pseudo-count c", ylabel="error on 2,601 other messages", xticks=range(6), ylim=(0, None))
ax.set_xticklabels([f"{c:g}" for c in pseudo])
ax.legend()
plots.alt(fig, "Error against the pseudo-count. With 100 training messages it falls from 0.18 without smoothing to "
               "0.11 with a small c, and rises to 0.30 at c = 100; with 2,000 messages it is nearly flat up to c = 10.")
plt.show()
assert curves[100][3] < curves[100][0] and curves[100][3] < curves[100][5]

# %% [markdown]
# What we see: with 100 messages some smoothing helps a lot and much smoothing hurts, since $c = 100$ is then more data
# than the data. With 2,000 messages no zero is left, and $c$ hardly matters until it reaches the size of the counts.
# With a little smoothing, 100 messages do as well as 2,000: one-dimensional estimates are content with few data. (If
# you choose $c$ by such a curve, report the error on yet other messages.)
#
# **Where it fails.** Pseudo-counts say "a bit of everything in every class". If an absence is structural (no message of
# class $k$ *can* contain the feature), the zero is knowledge, and smoothing throws it away.
#
# ## 3. Missing values
#
# The member of section 1 has two blanks. What is $p(x \mid k)$ if you do not know all of $x$? It is the probability of
# what you do know: sum over everything that the blanks could have been. Let feature 1 be missing and the rest be seen.
#
# $$p(x_2, \dots, x_D \mid k) = \sum_{v} p_1(v \mid k) \prod_{j \ge 2} p_j(x_j \mid k)
# = \Bigl(\sum_{v} p_1(v \mid k)\Bigr) \prod_{j \ge 2} p_j(x_j \mid k) = \prod_{j \ge 2} p_j(x_j \mid k).$$
#
# The bracket is 1. So a missing factor is **left out**, and each further blank in the same way. The same holds in
# training: a blank adds neither to $n_{kj}$ nor to the number $N_{kj}$ of recorded votes by which you divide. That
# this is so easy is a real strength of naive Bayes. In unit 03 the sum becomes an integral of a joint density.

# %%
house = NaiveBayes(Bernoulli(), missing="skip").fit(V84, party)
P_member = house.predict_proba(V84[[2]])[0]
blanks = np.flatnonzero(np.isnan(member))
completions = np.repeat(member[None], 4, axis=0)
completions[:, blanks] = [[0, 0], [0, 1], [1, 0], [1, 1]]
summed = logsumexp(house.log_joint(completions), axis=0)
np.testing.assert_allclose(summed, house.log_joint(V84[[2]])[0], rtol=1e-12)
print("skipping the blanks = summing over the four ways to fill them in:", summed.round(4))
predict("2.10", result=round(P_member[0], 4))
print("party:", party[2])
confusion = [[int(np.sum((house.predict(V84) == said) & (party == true))) for true in house.classes_]
             for said in house.classes_]
print("said democrat, republican (rows) against true (columns):", confusion)
assert confusion == [[238, 13], [29, 155]]                          # the help page of R's e1071::naiveBayes
np.testing.assert_allclose(P_member, [0.00568493662, 0.99431506343], atol=1e-10)

# %% [markdown]
# A democrat. Being wrong now and then is no scandal: 42 of 435 members are filed wrongly, which is what R prints for
# the same model. But the model was *sure*: 99.4 %. Keep this member in mind; section 6 explains the sureness.
#
# **Where it fails.** Skipping assumes that a blank says nothing about the party. Does it? A quarter of all blanks
# belong to one bill, on exports to South Africa, and there a blank *is* evidence, for a democrat, as the next cell
# shows. The remedy is to make it a value of its own, yes, no or blank: $V = 3$. Which of the two is better? We must not
# judge on members that the fit has seen. So deal them into ten folds, and let each fold be judged by a model of the
# nine others.

# %%
blank = np.isnan(V84)
print(f"{blank[:, 15].sum()} of {blank.sum()} blanks are on {bills[15]}")
for j in (15, 1, 0):
    print(f"{bills[j]:25s} blank for {blank[democrat, j].mean():.2f} of the democrats, "
          f"{blank[~democrat, j].mean():.2f} of the republicans")

# %%
def deal(y, seed, K=10):
    """A fold number for each object; each class is dealt out evenly."""
    order = np.random.default_rng(seed).permutation(len(y))
    order = order[np.argsort(y[order], kind="stable")]
    fold = np.empty(len(y), int)
    fold[order] = np.arange(len(y)) % K
    return fold


def held_out(fit, X, y, fold):
    """Log scores (N, K) of each object by a model of the other folds; fit(X, y) returns such a function."""
    out = np.empty((len(y), len(np.unique(y))))
    for f in range(fold.max() + 1):
        out[fold == f] = fit(X[fold != f], y[fold != f])(X[fold == f])
    return out


def family(marginal):
    return lambda X, y: NaiveBayes(marginal, missing="skip").fit(X, y).log_joint


republican = (~democrat).astype(int)
tenfold = deal(republican, seed=0)
skipped = held_out(family(Bernoulli(smoothing=1)), V84, republican, tenfold)
valued = held_out(family(Categorical(3, smoothing=1)), np.where(blank, 2, V84), republican, tenfold)
for name, a in (("blanks skipped", skipped), ("blank as a value", valued)):
    print(f"{name:17s}{np.sum(a.argmax(axis=1) != republican)} errors of {len(a)}")

# %% [markdown]
# Here it makes hardly any difference; it is one bill of 16. Where much of a table is blank, ask who left it blank, and
# why, before you skip. (Exercise E2.10 skips.)
#
# ## 4. A thousand small factors
#
# A product of many numbers below 1 is small; how many factors until the computer says 0? The smallest number that it
# can hold is $2^{-1074}$, and anything up to half of that is rounded to 0: $2^{-1075} = e^{-745.13}$. So a product is
# lost when $-\sum_j \ln p_j$ exceeds 745.
#
# After how many factors of ½ is that? Divide: $745.13 / \ln 2 = 1075$. And after how many densities of a standard
# normal, at points drawn from it? There $-\ln p(x) = \tfrac12 \ln 2\pi + \tfrac12 x^2$, and $x^2$ has the mean 1, so a
# factor costs $\tfrac12 \ln 2\pi + \tfrac12 = 1.419$ on average, and $745.13 / 1.419 = 525$. The first cell below tries
# both.
#
# A thousand features are nothing special: a vocabulary has ten thousand words, a small photograph as many pixels. The
# handwritten digits of this course have 64, each a number from 0 to 16. We take a binomial of 16 for each pixel, and to
# see larger pictures we write each pixel down $m$ times:

# %%
# claim 2.14
assert 0.5 ** 1074 > 0 and 0.5 ** 1075 == 0
x = np.random.default_rng(3).normal(size=(2000, 700))
gone_at = (np.cumprod(np.exp(-x**2 / 2) / np.sqrt(2 * np.pi), axis=1) > 0).sum(axis=1) + 1
print(f"the normals vanish at factor {gone_at.mean():.1f} on average, between {gone_at.min()} and {gone_at.max()}")
assert abs(gone_at.mean() - 1075 * np.log(2) / (np.log(2 * np.pi) / 2 + 0.5)) < 2

# %%
D8, digit = load("digits8x8").Xy()
train, test = np.arange(0, len(D8), 2), np.arange(1, len(D8), 2)
wide = NaiveBayes(Binomial(16, smoothing=1)).fit(D8[train], digit[train])
log_prior = np.log(wide.priors_)
log_density = wide.log_joint(D8[test]) - log_prior                         # ln p(x|k), (N, K)
copies = np.arange(1, 20)
lost = [np.mean(np.exp(log_prior + m * log_density).sum(axis=1) == 0) for m in copies]      # 0 in every class
fig, ax = plt.subplots(figsize=(6.4, 3.2))
plots.curve(ax, lambda n: n >= 1075, (1, 1200), k=0, label="halves", points=1200)
plots.curve(ax, lambda n: (gone_at <= n[:, None]).mean(axis=1), (1, 1200), k=1, label="standard normals")
ax.plot(64 * copies, lost, plots.look(2).line, marker=plots.look(2).marker, color=plots.look(2).colour, label="digits")
ax.set(xlabel="number of factors", ylabel="share of the products lost")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plots.alt(fig, "The share of products that have become 0, against the number of factors. Pixels of digits go first, "
               "between 200 and 500 factors; standard normals around 525; halves all at once, at 1,075.")
plt.show()

# %% [markdown]
# What we see: there is no warning before the cliff, and it stands at a few hundred factors. The curve of the digits
# counts the pictures that are lost in *every* class, where the posterior would be 0/0.
#
# The repair has four lines, and you know it from unit 00. Sum logarithms; subtract the largest of the row;
# exponentiate; divide by the sum. Nothing is lost, for the subtraction multiplies all classes of an object by the same
# number, and that cancels:
#
# $$P(k \mid x) = \frac{e^{a_k}}{\sum_l e^{a_l}} = \frac{e^{a_k - m}}{\sum_l e^{a_l - m}}, \qquad m = \max_l a_l.$$

# %%
# claim 2.14
from decimal import Decimal, localcontext

a = log_prior + 8 * log_density                                            # 512 pixels
L = a - a.max(axis=1, keepdims=True)
P = np.exp(L)
P = P / P.sum(axis=1, keepdims=True)
with localcontext(prec=60):
    slow = [Decimal(value).exp() for value in a[0].tolist()]
    slow = np.array([float(value / sum(slow)) for value in slow])
np.testing.assert_allclose(P[0], slow, rtol=1e-9, atol=1e-300)
np.testing.assert_allclose(P, posterior(a), atol=1e-15)
print("rows that sum to 1:", int(np.isclose(P.sum(axis=1), 1).sum()), "of", len(P))

# %% [markdown]
# **Where it fails.** If *every* class has a factor of exactly 0, all $a_k$ are −∞ and there is nothing to subtract.
# That is no underflow but the 0/0 of section 2, and its cure is smoothing. `posterior` raises an error that says so.
#
# ## 5. Features of different kinds, and other marginals
#
# Nothing in $\ln P(k) + \sum_j \ln p_j(x_j \mid k)$ asks the features to be alike. Each has its own density or its own
# table, and their logarithms add. A penguin: bill and flipper in millimetres (normal), sex (Bernoulli), island (one of
# three).
#
# We begin with two features of one kind, for which a book prints the answer. A bird has a bill of 50 mm. Which species?
# And what if its flipper has 195 mm? The first cell says Gentoo, then Chinstrap. The second one adds the two features
# that are not numbers. The codes 0, 1, 2 of the islands are names, not amounts: their table has $V = 3$ entries a
# class. We add up the terms one by one, with other tools, and compare.

# %%
birds = load("penguins")
size, species = birds.matrix("bill_length_mm", "flipper_length_mm"), birds["species"]
model = NaiveBayes(Normal(divisor="unbiased"), missing="skip").fit(size, species)
P = model.predict_proba([[50.0, np.nan], [50.0, 195.0]])
for row, what in zip(P, ("bill of 50 mm", "and flipper of 195 mm")):
    print(f"{what:22s}", dict(zip(model.classes_.tolist(), row.round(4).tolist())))
printed = [[0.0001690279, 0.3978306, 0.6020004], [0.0003445688, 0.9948681, 0.004787365]]
np.testing.assert_allclose(P, printed, atol=5e-8)          # Johnson, Ott, Dogucu, Bayes Rules!, section 14.2

# %%
# claim 2.9
from scipy import stats

islands, island = np.unique(birds["island"], return_inverse=True)
sex = np.where(birds["sex"] == "", np.nan, birds["sex"] == "male")
X = np.column_stack([size, sex, island])
mixed = NaiveBayes([Normal(), Normal(), Bernoulli(smoothing=1), Categorical(3, smoothing=1)], missing="skip")
mixed.fit(X, species)
new = np.array([50.0, 195.0, 1.0, 1.0])                                    # a male from Dream
terms = np.empty((3, 4))
for k, name in enumerate(mixed.classes_):
    own = X[species == name]
    for j in (0, 1):
        terms[k, j] = stats.norm(np.nanmean(own[:, j]), np.nanstd(own[:, j])).logpdf(new[j])
    terms[k, 2] = np.log((np.nansum(own[:, 2]) + 1) / (np.sum(~np.isnan(own[:, 2])) + 2))
    terms[k, 3] = np.log((np.sum(own[:, 3] == 1) + 1) / (len(own) + 3))
np.testing.assert_allclose(mixed.log_joint(new[None])[0], np.log(mixed.priors_) + terms.sum(axis=1), rtol=1e-12)

# %%
names = ["prior", "bill", "flipper", "male", "Dream"]
evidence = np.column_stack([np.log(mixed.priors_), terms])                 # (3, 5)
against = evidence[1] - evidence[[0, 2]]                                   # Chinstrap against each of the others
fig, axes = plt.subplots(1, 2, figsize=(8, 3), sharey=True)
for k, ax, row in zip((0, 2), axes, against):
    ax.barh(names, row, color=plots.look(1).tint(0.7), hatch=plots.look(1).hatch, edgecolor="white")
    ax.bar_label(ax.containers[0], fmt="{:+z.1f}", padding=3, fontsize=8)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.set(xlabel="evidence (log odds)", title=f"Chinstrap against {mixed.classes_[k]}: {row.sum():+.1f}")
    ax.margins(x=0.2)
axes[0].invert_yaxis()
plots.alt(fig, "Bars of the evidence for Chinstrap, from the prior and each of four features. Against Adelie the bill "
               "speaks for it most; against Gentoo the flipper and the island do. The sex says almost nothing.")
plt.show()

# %% [markdown]
# What we see: pieces of evidence of quite different origin in one currency, the logarithm of a ratio. Each bar is $\ln
# p_j(x_j \mid \text{Chinstrap}) - \ln p_j(x_j \mid \text{other})$, and the sum, with the prior, is the log odds. The
# sex says next to nothing, as it should: every species has about as many males as females.
#
# ### Other marginals
#
# A family need not be exponential. Any one-dimensional density will do, and the naive assumption is exactly what lets
# you use a fine one: with one dimension and a few hundred points, even a histogram is an estimate. Take the average
# length of the runs of capital letters in a mail, on a log scale, and four candidates.
#
# * **Normal**: mean and variance.
# * **Student's t** with $\nu$ degrees of freedom; the smaller $\nu$, the heavier its tails:
#   $p(x) \propto \frac1s \bigl(1 + \frac{z^2}{\nu}\bigr)^{-(\nu+1)/2}$ with $z = \frac{x - m}{s}$.
# * **Histogram**: the share of the points in each of $V$ bins of width $b$, divided by $b$, smoothed as in section 2.
# * **Kernel**: a small normal density around each training point, averaged (unit 04 is about it).
#
# The likelihood equations of the normal are solved by the mean and variance; those of the t are not solved by anything
# so simple. With $\ln p(x) = -\ln s - \frac{\nu + 1}{2} \ln\bigl(1 + \frac{z^2}{\nu}\bigr)$ up to a constant, the
# derivatives of one term by $m$ and by $s^2$ are, with a weight $w = (\nu + 1)/(\nu + z^2)$,
#
# $$\frac{\nu+1}{2} \cdot \frac{2z/\nu}{1 + z^2/\nu} \cdot \frac1s = \frac{w\,(x - m)}{s^2}
# \qquad\text{and}\qquad -\frac{1}{2s^2} + \frac{w\,(x-m)^2}{2 s^4}.$$
#
# Sum over the $x_i$ and set to 0:
#
# $$\sum_i w_i (x_i - m) = 0, \qquad s^2 = \frac1N \sum_i w_i (x_i - m)^2, \qquad w_i = \frac{\nu + 1}{\nu + z_i^2}.$$
#
# This is a *weighted* mean and variance, in which far points weigh little. The weights depend on the answer, so repeat
# until nothing moves; the first cell below does it for many samples at once, one a row.
#
# **Moments or maximum likelihood?** The quick way is to choose the parameters so that the density has the mean and the
# variance of the sample. For the normal the two ways agree. For $\nu = 3$ they do not: the variance of $x$ is $s^2
# \nu/(\nu-2) = 3s^2$, so the sample mean has the variance $3 s^2/N$. A theorem that we take from statistics says what
# maximum likelihood reaches for large $N$: one over the information $N \,\mathrm E[(\partial \ln p/\partial m)^2] = N
# (\nu+1)/\bigl((\nu+3)s^2\bigr) = \tfrac23 N/s^2$, that is $1.5\, s^2/N$ (the cell below computes the integral). Half:
# **the mean wastes every second observation.** The second cell tries it on 4,000 samples of 200.
#
# **Then the capitals.** $\nu$ is chosen among a few by the likelihood of the training half, the bins by eye and the
# kernel's width by a rule of thumb. All four are judged on the other half: by the mean log density of the messages *in
# their own class*, the higher the better, and by the errors they save against the normal, message by message.

# %%
def fit_t(x, nu, steps=60):
    """Location and scale (R,) of Student's t by maximum likelihood, for samples x (R, N)."""
    m, s2 = np.median(x, axis=1, keepdims=True), x.var(axis=1, keepdims=True)
    for _ in range(steps):
        w = (nu + 1) / (nu + (x - m) ** 2 / s2)
        m = (w * x).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
        s2 = (w * (x - m) ** 2).mean(axis=1, keepdims=True)
    return m[:, 0], np.sqrt(s2[:, 0])

# %%
# claim 2.11
from scipy.integrate import quad

samples = np.random.default_rng(11).standard_t(3, size=(4000, 200))
m_ml, s_ml = fit_t(samples, nu=3)
m_mom, s_mom = samples.mean(axis=1), samples.std(axis=1) / np.sqrt(3)
ratio = m_ml.var() / m_mom.var()
information = quad(lambda z: stats.t(3).pdf(z) * (4 * z / (3 + z**2)) ** 2, -np.inf, np.inf)[0]
print(f"variance of the location, ML over moments: {ratio:.3f}; theory: {1 / information / 3:.3f}")
print(f"spread of the scale: ML {s_ml.std():.3f}, moments {s_mom.std():.3f}")
assert abs(ratio - 1 / information / 3) < 0.04 and abs(information - 2 / 3) < 1e-6 and s_ml.std() < s_mom.std() / 2
assert abs(fit_t(samples[:1], 3)[0][0] - stats.t.fit(samples[0], fdf=3)[1]) < 1e-3

# %%
capitals = np.log(mail[:, 54])                                             # mean length of runs of capitals
half = np.arange(len(capitals)) % 2 == 0
grid = np.linspace(-1, 8, 1801)

def student(x):
    fits = [(nu, *(v[0] for v in fit_t(x[None], nu, 200))) for nu in (2, 3, 4, 5, 6, 8, 12, 30)]
    return max((stats.t(*f) for f in fits), key=lambda d: d.logpdf(x).sum()).pdf

def histogram(x, b=0.5, low=-1.0, bins=18):
    n = np.histogram(x, low + b * np.arange(bins + 1))[0]
    density = (n + 1) / (len(x) + bins) / b
    return lambda z: density[np.clip(((z - low) / b).astype(int), 0, bins - 1)]

def kernel(x):
    h = 0.9 * min(x.std(ddof=1), np.subtract(*np.percentile(x, [75, 25])) / 1.349) * len(x) ** -0.2
    return lambda z: (np.exp(-((z[:, None] - x) / h) ** 2 / 2)).mean(axis=1) / (h * np.sqrt(2 * np.pi))


candidates = {"normal": lambda x: stats.norm(x.mean(), x.std()).pdf, "Student's t": student,
              "histogram": histogram, "kernel": kernel}

# %%
# claim 2.11
densities, held, wrong = {}, {}, {}
rest, truth = capitals[~half], is_spam[~half]
weight = np.log(np.bincount(is_spam[half]))
for name, candidate in candidates.items():                                  # the normal first, for the others to beat
    densities[name] = [candidate(capitals[half & (is_spam == k)]) for k in (0, 1)]
    L = np.log([f(rest) for f in densities[name]])                         # (2, N)
    held[name] = L[truth, np.arange(len(rest))].mean()
    wrong[name] = (L + weight[:, None]).argmax(axis=0) != truth
    saved = wrong["normal"].astype(int) - wrong[name]
    print(f"{name:12s} log density {held[name]:.3f}, error {wrong[name].mean():.3f}, saves {saved.mean():.4f} "
          f"(standard error {saved.std() / np.sqrt(len(saved)):.4f})")
    assert np.allclose([np.trapezoid(f(grid), grid) for f in densities[name]], 1, atol=0.02)
assert held["normal"] < held["Student's t"] < held["kernel"] < held["histogram"]

# %%
fig, axes = plt.subplots(2, 2, figsize=(8, 4.8), sharex=True, sharey=True)
for ax, (name, pair) in zip(axes.flat, densities.items()):
    for k, f in enumerate(pair):
        ax.hist(rest[truth == k], bins=np.arange(-0.1, 5, 0.1), density=True, color=plots.look(k).tint(0.5), alpha=0.6)
        plots.curve(ax, f, (-0.5, 5), k=k, label=("good", "spam")[k])
    ax.set(title=f"{name}: {held[name]:.3f}", xlabel="ln mean length of capital runs", ylabel="density")
    ax.label_outer()
axes[0, 1].legend()
plots.alt(fig, "Four estimates of the density of the log length of capital runs, good mail solid and spam dashed, "
               "over bars of the held-out messages. The data peak more sharply than the normal; Student's t is "
               "narrower; both reach below 0. The histogram has an edge at 0, the kernel a hill there.")
plt.show()

# %% [markdown]
# What we see (the titles give the log density of the held-out half): the normal is too broad in the middle, because a
# few long runs blow its variance up. The t ignores those. Both reach below 0, where no message can be: a run of
# capitals has at least the length 1, and many messages have just that. The histogram, with an edge at 0, gives next
# to nothing below it; the kernel at least has a hill there.
#
# The t and the kernel save almost two errors in a hundred, between two and three standard errors. The histogram, by far
# the best *density*, saves least. To classify, you need the densities near the boundary only (unit 01).
#
# **Where it fails.** Every bin costs data. With 20 messages of a class and 18 bins the pseudo-counts would decide, and
# a kernel would draw 20 hills. The fewer data, the more you need a family.
#
# ## 6. What the model does not know
#
# ### Two features that hang together
#
# Two yes-or-no features and two classes, each a table of $P(x_1, x_2 \mid k)$, $x_1$ down and $x_2$ across:
#
# $$\text{class 0: } \begin{pmatrix} .4 & 0 \\ .2 & .4 \end{pmatrix} \qquad
# \text{class 1: } \begin{pmatrix} .1 & .5 \\ .3 & .1 \end{pmatrix}$$
#
# Naive Bayes sees only the margins. In class 0 the rows sum to .4 and .6, the columns to .6 and .4. Their products are
# $.4\cdot.6 = .24$, $.4\cdot.4=.16$, $.6\cdot.6=.36$ and $.6\cdot.4=.24$. The cell that *never* occurs gets .16. With
# equal priors, the best rule that knows the true tables takes the larger of the two numbers in each cell and errs with
# the smaller: half of $.1 + 0 + .2 + .1$, that is .20. What is the error of naive Bayes? **Think before you run the
# second cell**: in two of the four cells, (0, 0) and (1, 1), it has the *same* number for both classes.

# %%
# claim 2.16
true = np.array([[[.4, 0], [.2, .4]], [[.1, .5], [.3, .1]]])               # (K, 2, 2)
naive = true.sum(axis=2)[:, :, None] * true.sum(axis=1)[:, None, :]
np.testing.assert_allclose(naive[0], [[.24, .16], [.36, .24]])
np.testing.assert_allclose(naive[1], [[.24, .36], [.16, .24]])
bayes_risk = 1 - 0.5 * true.max(axis=0).sum()
print("naive tables:", naive.round(2).tolist(), " Bayes risk:", bayes_risk.round(2))

# %%
# claim 2.16
risks = {}
for first, last in ((0, 0), (0, 1), (1, 0), (1, 1)):
    decided = np.array([[[first, 1], [0, last]]])                          # classes chosen in the four cells
    assert np.allclose(np.take_along_axis(naive, decided, 0), naive.max(axis=0))
    risks[first, last] = round(1 - float(np.take_along_axis(true, decided, 0).sum()) / 2, 2)
print("risk by the classes chosen at (0,0) and (1,1):", risks)
assert set(risks.values()) == {0.25, 0.40, 0.55} and np.isclose(bayes_risk, 0.20)

# %% [markdown]
# Everything depends on how the ties are broken: .25, .40 or .55, so at worst naive Bayes is worse than a coin. In
# class 0 the features tend to be *equal*, in class 1 *different*, and that is just what the margins do not show
# (exercise E2.7).
#
# ### Draw from the model
#
# A model of $p(x \mid k)$ and $P(k)$ can be run forwards. Draw a class: cut the line from 0 to 1 into pieces of the
# lengths $P(k)$, and see into which piece a uniform number $u$ falls; that has the probability $P(k)$. Then draw each
# feature of *that class*: $x_j = 1$ if another uniform number is below $p_{kj}$. What comes out is what the model
# believes the world to be like. Exercise E2.9 does so. Here we draw digits, each pixel a binomial number out of 16:

# %%
rng = np.random.default_rng(5)
priors = wide.priors_
p = np.array([(D8[train][digit[train] == d].sum(axis=0) + 1) / (16 * np.sum(digit[train] == d) + 2) for d in range(10)])
k = (rng.uniform(size=(20000, 1)) >= priors.cumsum()[:-1]).sum(axis=1)     # the piece that the number falls into
drawn = rng.binomial(16, p[k])                                             # each pixel by itself, given the class
fig, axes = plt.subplots(3, 10, figsize=(8, 2.7))
for d in range(10):
    own = D8[train][digit[train] == d]
    for ax, picture in zip(axes[:, d], (own[0], drawn[k == d][0], own.mean(axis=0))):
        ax.imshow(picture.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
        ax.spines[:].set_visible(True)
for ax, title in zip(axes[:, 0], ("real", "drawn", "mean")):
    ax.set_ylabel(title)
plots.alt(fig, "Ten digits in three rows: a real one with clean strokes, one drawn from the model, and the mean of the "
               "class. The drawn ones look like the means with noise strewn over each pixel; strokes are broken.")
plt.show()

# %% [markdown]
# What we see: every drawn digit is its class's mean with noise. No stroke leans, no stroke is thick or thin as a whole,
# because in a stroke neighbouring pixels go together, and the model lets every pixel decide for itself. In numbers: the
# means are right, and the correlation of neighbours within a class is gone. Then we ask the model about its own
# children, and about real digits that it has not seen.

# %%
# claim 2.15
def neighbours(X, y):
    """Mean correlation within the classes of each pixel with the one below it, inside the frame."""
    Z = (X - np.array([X[y == c].mean(axis=0) for c in range(10)])[y]).reshape(-1, 8, 8)
    upper, lower = Z[:, 1:6, 2:5], Z[:, 2:7, 2:5]
    return np.mean((upper * lower).mean(axis=0) / np.sqrt((upper**2).mean(axis=0) * (lower**2).mean(axis=0)))


means = np.array([drawn[k == c].mean(axis=0) for c in range(10)])
tolerance = 5 * np.sqrt(4 / np.bincount(k).min())                          # a pixel's variance is at most 16/4
assert np.abs(means - 16 * p).max() < tolerance and np.abs(np.bincount(k) / len(k) - priors).max() < 0.01
real, fake = neighbours(D8[train], digit[train]), neighbours(drawn, k)
print(f"correlation of neighbours within a class: real {real:.2f}, drawn {fake:.3f}")
assert real > 0.3 and abs(fake) < 0.02
own_error = np.mean(wide.predict(drawn) != k)
real_error = np.mean(wide.predict(D8[test]) != digit[test])
print(f"error on digits drawn from the model {own_error:.4f}, on real ones {real_error:.3f}")
assert own_error < 0.005 < 0.05 < real_error

# %% [markdown]
# In the world that the model believes in, it is hardly ever wrong: that is where its sureness comes from.
#
# ### The same thing said twice
#
# Push it to the end. Copy every feature $m$ times. Nothing new is known, but the model does not see that, and
# multiplies each factor $m$ times:
#
# $$\ln \frac{p(x \mid 1)}{p(x \mid 0)} \text{ becomes } m \ln \frac{p(x \mid 1)}{p(x \mid 0)}, \qquad
# \text{log odds} = \ln\frac{P(1)}{P(0)} + m \ln \frac{p(x \mid 1)}{p(x \mid 0)}.$$
#
# With equal priors the sign of the log odds, and so every decision, stays. The posterior does not: it runs to 0 or 1.
# With unequal priors ($\lambda P$ unequal, if there are losses) the prior loses weight, and decisions near the boundary
# move. **Guess**: with ten copies of each feature, what share of the posteriors on spam is above 0.999 or below 0.001?

# %%
predict("2.14", None)

# %%
# claim 2.18
few, rest = order[:2000], order[2000:]
def with_copies(m, priors):
    tiled = np.tile(B, m)
    return NaiveBayes(Bernoulli(smoothing=1), priors=priors).fit(tiled[few], is_spam[few]).log_joint(tiled[rest])

one, ten = with_copies(1, [0.5, 0.5]), with_copies(10, [0.5, 0.5])
np.testing.assert_allclose(np.diff(ten), 10 * np.diff(one), rtol=1e-9, atol=1e-8)
assert (one.argmax(axis=1) == ten.argmax(axis=1)).all()
moved = np.sum(with_copies(1, [0.9, 0.1]).argmax(axis=1) != with_copies(10, [0.9, 0.1]).argmax(axis=1))
sure = {m: np.mean(posterior(m * one).max(axis=1) > 0.999) for m in (1, 2, 10)}
predict("2.14", result=round(sure[10], 2))
print("posteriors beyond .999 or .001:", {m: round(float(s), 2) for m, s in sure.items()})
print("share in the outer tenths without copies:", np.mean(posterior(one).max(axis=1) > 0.9).round(2))
print("decisions that ten copies change: 0 at equal priors,", moved, "at priors .9 and .1")
assert sure[1] < sure[2] < sure[10] and moved > 0

# %%
fig, axes = plt.subplots(1, 3, figsize=(9, 3.1), sharey=True)
for ax, m in zip(axes, (1, 2, 10)):
    q = posterior(m * one)[:, 1]
    parts = ax.hist([q[is_spam[rest] == k] for k in (0, 1)], bins=10, stacked=True, label=["good", "spam"])[2]
    for k, part in enumerate(parts):
        plt.setp(part, facecolor=plots.look(k).tint(0.7), hatch=plots.look(k).hatch, edgecolor="white")
    claimed, wrong = 1 - np.maximum(q, 1 - q), (q > 0.5) != is_spam[rest]
    ax.set(title=f"m = {m}: expects {claimed.mean():.3f}, errs {wrong.mean():.3f}", xlabel="P(spam | x) by the model")
axes[0].set_ylabel("messages")
axes[1].legend()
plots.alt(fig, "Histograms of the posterior that the model gives to 2,601 messages, for one, two and ten copies of the "
               "features. Already with one copy almost all messages lie in the two outer tenths, and some in the wrong "
               "one; with ten copies hardly a message is left in between. The titles compare the error that the model "
               "expects with the error it makes.")
plt.show()
P = posterior(skipped)                                                     # the House, held out
sure, wrong = P.max(axis=1) > 0.99, skipped.argmax(axis=1) != republican
print(f"House: more than 99 % sure of {sure.sum()} members, {wrong[sure].sum()} of them wrongly; "
      f"expected {(1 - P.max(axis=1))[sure].sum():.1f}")
assert np.mean(1 - posterior(one).max(axis=1)) < 0.5 * np.mean(one.argmax(axis=1) != is_spam[rest])

# %% [markdown]
# What we see: even with $m = 1$ nine messages in ten sit in the outer tenths, and not all of them on the right side.
# The titles say it in numbers. If the posteriors were right, the error would be the mean of what the less probable
# class gets. The model *expects* 2.7 % of errors and makes 11.5 %; each copy makes it surer, and the errors stay.
#
# The House is the same, and worse: of the members of whom the model is more than 99 % sure, it files 23 in the wrong
# party, where it expects a tenth of an error. The votes of the member of section 1 are not 14 independent facts, but to
# a good part one leaning, reported 14 times. **The decisions of naive Bayes may be good where its posteriors are
# not**: evidence that is counted again exaggerates the log odds, but it seldom turns their sign.
#
# ## 7. On trial: two shortcuts
#
# A lecture says of packages that implement only the Gaussian version: *if your features are binary, do not use
# implementations in which the mean is used without the correction* $[c']^{-1}$. There are two charges in that.
#
# * **(a)** The identity in the Bernoulli formula: $\theta = \mu$, the mean, instead of $\theta = \ln \mu/(1-\mu)$.
# * **(b)** A normal density for a feature that is not normal.
#
# **Data, yardstick, before we look.** Spam with its features as 0/1; the votes, blanks skipped; for (b) the digits too,
# where the right family is a binomial of 16. Ten folds, each class dealt out evenly. The yardstick is the number of
# errors, compared paired, with the standard error of the difference; beside it the log loss. Smoothing is $c = 1$; the
# normals get a floor of $10^{-9}$ of the largest variance, as in scikit-learn. Now **place your bets**: on which of the
# tables is (a) worse than the right family, on which (b), and by how much?
#
# First, what each shortcut *is*. For $x \in \{0, 1\}$ only the difference between $x = 1$ and $x = 0$ counts, and that
# is the weight of the feature. With $\mu = \bar x$:
#
# * right: $\theta = \ln \frac{\mu}{1 - \mu}$.
# * (a): $\theta = \mu$, and with it the normaliser $c(\mu) = \ln(1 + e^{\mu})$. That is a proper Bernoulli density,
#   with the wrong probability: $\sigma(\mu)$ in place of $\mu$. A word that never occurs is credited with
#   $\sigma(0) = ½$, one that always does with $\sigma(1) = 0.73$.
# * (b): $\frac{-(1-\mu)^2 + \mu^2}{2\mu(1-\mu)} = \frac{2\mu - 1}{2\mu(1-\mu)}$, with the variance $\mu(1-\mu)$.
#   At ½ all is well: it has the slope 4 of the logit. Near 0 it goes as $-1/2\mu$, far steeper than the logarithm.

# %%
mu = np.linspace(0.02, 0.98, 200)
fig, ax = plt.subplots()
weights = {"right: logit": np.log(mu / (1 - mu)), "(a) identity": mu, "(b) normal": (2 * mu - 1) / (2 * mu * (1 - mu))}
for k, (name, w) in enumerate(weights.items()):
    ax.plot(mu, w, plots.look(k).line, color=plots.look(k).colour, label=name)
ax.set(xlabel="share of ones μ in the class", ylabel="weight of the feature in the score", ylim=(-12, 12))
ax.legend(loc="upper left")
plots.alt(fig, "The weight of a yes-or-no feature against its share of ones. The identity is almost flat, between 0 "
               "and 1. The normal agrees with the logit around one half and is far steeper near 0 and 1.")
plt.show()

# %%
def report(a, codes):
    """Which decisions are wrong, (N,), and the log loss."""
    return a.argmax(axis=1) != codes, -log_posterior(a)[np.arange(len(codes)), codes].mean()


def identity(X, y):
    """The shortcut (a): the Bernoulli formula with θ = mean."""
    own = [X[y == k] for k in (0, 1)]
    theta = np.array([(np.nansum(rows, axis=0) + 1) / ((~np.isnan(rows)).sum(axis=0) + 2) for rows in own])
    return lambda Z: (np.nan_to_num(Z) @ theta.T - ~np.isnan(Z) @ np.log1p(np.exp(theta)).T
                      + np.log([len(rows) / len(X) for rows in own]))


def compare(name, wrong, other):
    """Difference of two error rates on the same objects, with its standard error."""
    d = other.astype(int) - wrong
    print(f"   {name}: {d.sum():+d} errors of {len(d)}, difference {d.mean():+.4f} ± {d.std() / np.sqrt(len(d)):.4f}")


# claim 2.10
fits = {"right": family(Bernoulli(smoothing=1)), "(a) identity": identity, "(b) normal": family(Normal(ridge=1e-9))}
codes, inputs, table = {"spam": is_spam, "votes": republican}, {"spam": B, "votes": V84}, {}
for data, X in inputs.items():
    for name, fit in fits.items():
        a = held_out(fit, X, codes[data], deal(codes[data], seed=0))
        table[data, name], loss = wrong, _ = report(a, codes[data])
        print(f"{data:6s}{name:13s}{wrong.sum():4d} errors, {wrong.mean():.3f}, log loss {loss:.3g}")
rate = {key: wrong.mean() for key, wrong in table.items()}
assert abs(rate["spam", "right"] - 0.113) < 0.003 and abs(rate["spam", "(a) identity"] - 0.187) < 0.003
assert abs(rate["spam", "(b) normal"] - 0.144) < 0.006

# %%
# claim 2.10
for data, name in table:
    if name != "right":
        compare(f"{data:6s}{name:13s} against right", table[data, "right"], table[data, name])
errors = {name: int(table["votes", name].sum()) for name in fits}
george = np.array([B[is_spam == k, 26].mean() for k in (0, 1)])
print("george in good mail and spam:", george.round(3), " weights:", np.log(george / (1 - george)).round(2))
assert abs(errors["right"] - 43) <= 2 and abs(errors["(b) normal"] - 25) <= 2

# %% [markdown]
# **Charge (a), the identity,** stands on spam, by many standard errors. On the votes the two cannot be told apart. Why?
# The identity makes all weights small, between 0 and 1. The votes have shares all over the range, and what is left of
# their differences will do. In mail most words are rare in one class at least. *George*, the man who collected the good
# mail, is in 28 % of it and in 0.4 % of the spam: a difference of 4.5 for the logit, of 0.27 for the identity.
#
# But look at the log loss: the identity has the *smaller* one, on both. Its weights are too small; those of naive Bayes
# are too large, since correlated features are counted several times. One wrong makes up for another. That is no reason
# to keep the shortcut, for unit 06 learns weights that do well on both counts. It does say where the log loss comes
# from.
#
# **Charge (b), the normal,** stands on spam and falls on the votes: there the normal makes far *fewer* errors. Its
# steep weights near 0 and 1 are the reason. One of the 16 votes nearly decides the party by itself, as the next cell
# shows. The normal gives it twice the share of the weight; the right family lets 15 correlated ones outvote it. So the
# wrong family was better by a kind of accident, and that one vote *alone* beats both.
#
# The third table is the digits, and with it comes the **floor** of the variance. A pixel that never varies within a
# class has the variance 0 and an infinite weight. The floor, a share of the largest variance of any pixel, decides what
# it gets instead, and with it who wins. Then what about spam? There too the floor was $10^{-9}$, and the log loss of
# the normal was grotesque. In the third cell the floor is chosen *within each training part*, by the error on a fifth
# of it, so that no fold has a say in its own judgement.

# %%
single = (held_out(fits["right"], V84[:, [j]], republican, tenfold) for j in range(16))
alone = [int(np.sum(a.argmax(axis=1) != republican)) for a in single]
best, p = int(np.argmin(alone)), shares
print("best single vote:", bills[best], "with", alone[best], "errors; all 16:", errors["right"])
for name, w in (("right", np.log(p / (1 - p))), ("(b) normal", (2 * p - 1) / (2 * p * (1 - p)))):
    gap = np.abs(w[1] - w[0])
    print(f"{name:11s} gives this vote {gap[best] / gap.sum():.0%} of the sum of all weights")
assert alone[best] < errors["(b) normal"] < errors["right"]

# %%
# claim 2.10
fold = deal(digit, seed=0)
binomial, _ = report(held_out(family(Binomial(16, smoothing=1)), D8, digit, fold), digit)
floors = (1e-9, 1e-4, 1e-2, 0.1)
normals = {r: report(held_out(family(Normal(ridge=r)), D8, digit, fold), digit)[0] for r in floors}
print(f"digits, binomial: {binomial.mean():.3f}")
for r, wrong in normals.items():
    compare(f"normal, floor {r:g}: {wrong.mean():.3f}", binomial, wrong)
assert abs(binomial.mean() - 0.089) < 0.006
assert abs(normals[1e-9].mean() - 0.160) < 0.006 and abs(normals[1e-2].mean() - 0.081) < 0.006

# %%
def tuned(X, y):
    """The scores by a normal density whose floor does best on a fifth of the training rows."""
    part = deal(y, seed=1, K=5)
    def inner(r):
        a = family(Normal(ridge=r))(X[part > 0], y[part > 0])(X[part == 0])
        return np.mean(a.argmax(axis=1) != y[part == 0])
    return family(Normal(ridge=min(floors, key=inner)))(X, y)


# claim 2.10
floored, loss = report(held_out(tuned, B, is_spam, deal(is_spam, seed=0)), is_spam)
print(f"spam, normal with a chosen floor: {floored.mean():.3f}, log loss {loss:.3g}")
compare("against the right family", table["spam", "right"], floored)
assert floored.mean() < rate["spam", "right"] < rate["spam", "(b) normal"]

# %%
rows = {"right family": (rate["spam", "right"], errors["right"], binomial.mean()),
        "(a) identity": (rate["spam", "(a) identity"], errors["(a) identity"], np.nan),
        "(b) normal, floor 1e-9": (rate["spam", "(b) normal"], errors["(b) normal"], normals[1e-9].mean()),
        "(b) normal, larger floor": (floored.mean(), np.nan, normals[1e-2].mean())}
print(f"{'':26s}{'spam 0/1':>9s}{'votes':>7s}{'digits':>8s}")
for name, (mails, members, figures) in rows.items():
    print(f"{name:26s}{mails:9.3f}{members:7.0f}{figures:8.3f}".replace("nan", "  –"))

# %% [markdown]
# **The verdict.** (a) is a mistake in the algebra. It costs much where features are rare, and on the votes it gained
# nothing. That its posteriors are less exaggerated does not excuse it: shrinking all the weights would have done that
# honestly. **Guilty.**
#
# (b) is a *choice*, and "do not use a Gaussian on binary features" is too simple a rule. What condemned the normal on
# spam and digits was not its shape but its floor: variances near 0, and with them boundless weights. With a larger
# floor it made fewer errors than the right family, there as well. **Acquitted: the floor did it.** That is a fact about
# errors on three tables, not a law: where features really are independent, the right family is the best there is. And
# the log losses say that none of these posteriors is to be trusted. (The pseudo-count was not tuned for the right
# family; section 2 showed how little it does.)
#
# ## 8. Quiz
#
# Five questions, and every choice is explained.

# %% tags=["nbval-ignore-output"]
quiz("2.6")

# %% tags=["nbval-ignore-output"]
quiz("2.7")

# %% tags=["nbval-ignore-output"]
quiz("2.8")

# %% tags=["nbval-ignore-output"]
quiz("2.9")

# %% tags=["nbval-ignore-output"]
quiz("2.10")

# %%
from importlib.util import find_spec

if find_spec("sklearn"):
    from sklearn.naive_bayes import BernoulliNB, GaussianNB
    pairs = (Bernoulli(smoothing=1), BernoulliNB(alpha=1)), (Normal(ridge=0.01), GaussianNB(var_smoothing=0.01))
    for ours, theirs in pairs:
        a, b = (m.fit(B[few], is_spam[few]).predict_proba(B[rest]) for m in (NaiveBayes(ours), theirs))
        np.testing.assert_allclose(a, b, atol=1e-9)
        print(type(theirs).__name__, "gives the same posteriors")

# %% [markdown]
# ## Close
#
# **In one paragraph.** Naive Bayes adds up, in logarithms, one piece of evidence for each feature; each piece is a
# one-dimensional estimate, of whatever kind suits the feature. Counts get a pseudo-count $c$, their total $Vc$. A
# missing feature is left out. The model can be run forwards, and what it draws shows what it ignores: how features go
# together within a class. For that it pays with posteriors that are far too sure, more than with wrong decisions.
#
# > **Formula card**
# >
# > $a_k = \ln P(k) + \sum_{j \text{ seen}} \ln p_j(x_j \mid k), \qquad P(k \mid x) = e^{a_k - \operatorname{lse}(a)}$
# >
# > $p_j(v \mid k) = \dfrac{n_{kjv} + c}{N_k + Vc}$, the mean of $p$ after a Dirichlet prior with all parameters $c$
# >
# > a product is lost when $-\sum_j \ln p_j > 745.13$
# >
# > $m$ copies: log odds $= \ln\frac{P(1)}{P(0)} + m \ln\frac{p(x \mid 1)}{p(x \mid 0)}$
#
# **Common mistakes.** $c$ above but not $Vc$ below · absent words left out, though $1 - p$ speaks too · a blank taken
# for a no · smoothing across the classes · products before logarithms · a posterior of .99 believed · codes of
# categories treated as amounts.
#
# **When not to use it.** When you need probabilities and the features hang together; when the classes differ in how
# features go *together* and not in their means; when you have data enough to learn the weights (unit 06).
#
# **In scikit-learn.** The conventions differ more than the formulas.
#
# | here | there | mind |
# |---|---|---|
# | `Bernoulli(smoothing=c)` | `BernoulliNB(alpha=c)` | same $c$ and $2c$; cuts the features at 0 first (`binarize`) |
# | `Categorical(V, smoothing=c)` | `CategoricalNB(alpha=c)` | $V$ is taken from the data, or from `min_categories` |
# | `Normal(ridge=r)` | `GaussianNB(var_smoothing=r)` | divisor $N_k$; `1e-9` by default: see the trial |
# | `missing="skip"` | nothing | all of them refuse NaN |
# | a list of families | nothing | add the `predict_joint_log_proba` of several, and take off the surplus log priors |
#
# R's `naiveBayes` (package e1071) skips missing values, divides by $N_k - 1$, and adds `laplace` to each count and $V$
# times that to the total. If scikit-learn is installed, the cell above compares the first and the third line on the
# mail.
#
# **References.** T. Mitchell, *Machine Learning* (1997), section 6.9. D. Hand, K. Yu, *Idiot's Bayes: not so stupid
# after all?*, International Statistical Review 69 (2001) 385–398. P. Domingos, M. Pazzani, *On the optimality of the
# simple Bayesian classifier under zero-one loss*, Machine Learning 29 (1997) 103–130. C. Manning, P. Raghavan, H.
# Schütze, *Introduction to Information Retrieval* (2008), chapter 13. R. Holte, *Very simple classification rules
# perform well on most commonly used datasets*, Machine Learning 11 (1993) 63–91, for the one vote. A. Johnson, M. Ott,
# M. Dogucu, *Bayes Rules!* (2022), chapter 14.
#
# **Next:** [the exercises](../exercises/02b_naive_bayes.ipynb), then
# 03a Gaussian classes (to come), where features may hang together.
#
# A bonus, for tables that do not fit into memory: [10 Scaling out](10_scaling_out.ipynb).
