# %% [markdown]
# # 00 Start here
#
# **The question of this unit:** how do you work with this course, and why does it do all its sums in logarithms?
#
# After 20 minutes you can
#
# * run a notebook, write a guess down before you see a result, and answer a quiz;
# * read what the checker says about an answer, right or wrong, and ask for hints;
# * say what the shapes `(N, D)` and `(N, K)` stand for, and sum along the right axis;
# * compute $\ln \sum_k e^{a_k}$ for any numbers, however large or small, and say why that matters.
#
# **It builds on** Python, a little numpy, and what a probability is. **To run it**, type `course lab` in the folder
# of the course; a browser opens on your own copy of this page. To run a cell, click into it and press Shift + Enter.

# %%
import numpy as np
from matplotlib import pyplot as plt

from course_lib import plots
from course_lib.classroom import check, hint, predict, quiz, solution
from course_lib.data import load

plots.style()

# %% [markdown]
# ## 1. A decision first
#
# Penguins of three species were caught and measured. Someone brings you one more bird. Its bill is 45 mm long and
# 18.2 mm deep. Which species do you bet on, and how sure are you?

# %%
X, y = load("penguins").Xy("bill_length_mm", "bill_depth_mm", label="species")
bird = np.array([45.0, 18.2])
print("birds and measurements:", X.shape, " species:", y.shape)

# %%
fig, ax = plt.subplots()
plots.scatter_classes(ax, X, y)
ax.plot(*bird, "k*", markersize=16, zorder=5, label="the new bird")
ax.add_patch(plt.Rectangle(bird - [2, 1], 4, 2, fill=False, linestyle="--", zorder=4))
ax.set(xlabel="bill length (mm)", ylabel="bill depth (mm)")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.alt(fig, "Bill depth against bill length of 342 penguins. Adelie have short deep bills, Chinstrap long deep "
               "ones, Gentoo long shallow ones. The new bird, a star, lies between Adelie and Chinstrap, in a dashed "
               "box of 4 by 2 mm.")
plt.show()

# %% [markdown]
# The dashed box holds the birds whose bills are at most 2 mm longer or shorter and 1 mm deeper or shallower. What
# share of them are Chinstraps? **Guess before you count.** Write a number between 0 and 1 in place of `None`. A guess
# costs nothing, and a result that surprises you is one you will remember.

# %%
predict("0.1", None)

# %%
alike = (np.abs(X - bird) <= [2, 1]).all(axis=1)
for species in np.unique(y):
    print(f"{species:10s} {np.sum(y[alike] == species):3d} of {alike.sum()} in the box, "
          f"{np.mean(y == species):.2f} of all birds")
share = np.mean(y[alike] == "Chinstrap")

# %%
predict("0.1", result=round(share, 2))

# %% [markdown]
# So you bet on Chinstrap, although only a fifth of all birds are Chinstraps, and you expect to lose almost one such bet
# in three. That is all this course is about: **from what you see, $x$, to the probability of each class, $P(y \mid x)$,
# to a decision.** Counting in a box works for two measurements. With ten measurements such a box is almost always
# empty. Everything that follows, from naive Bayes to logistic regression, is a better idea of what "birds like this
# one" means.
#
# ## 2. How to work
#
# **The notebooks** explain. Run them cell by cell, in order; change what you like and run it again. If something has
# become odd, choose *Kernel → Restart Kernel and Run All Cells*.
#
# **The exercises** stand in notebooks of their own, under the same number. You write a function, the checker reads it.
#
# | you type | you get |
# |---|---|
# | `check(f)` | whether your function `f` is right, and if not, what is wrong, in words |
# | `hint(f)` | a nudge; called again the formula, then the first line |
# | `solution(f)` | a worked solution beside yours, and why the usual mistakes are mistakes |
# | `predict("0.1", guess)` | your guess is noted, and shown beside the result later |
# | `quiz("0.1")` | a question; every choice, right or wrong, is explained |
#
# **Your files** lie in the folder `work/`. They are yours: no update ever writes over them. `course status`, typed in a
# terminal, says where you were and what comes next. `course update` brings a new edition of the course and carries
# your answers into it.
#
# ## 3. Shapes
#
# Two letters name the two sides of almost every array here: N objects go down, and across go either the D features or
# the K classes. Three birds with two measurements each make a table of shape (N, D) = (3, 2).

# %%
birds = np.array([[39.1, 18.7],
                  [46.5, 17.9],
                  [46.1, 13.2]])
N, D = birds.shape
print("N =", N, " D =", D, " mean of each feature:", birds.mean(axis=0).round(2))

# %% [markdown]
# `axis=0` runs down the objects and leaves one number a feature; `axis=1` runs along a row and leaves one number an
# object. **The axis you name is the one that disappears.**
#
# Now a table with one column a class. Row $i$ says how strongly object $i$ speaks for each of K = 2 classes. To turn
# each row into shares, divide it by its sum:

# %%
scores = np.array([[1.0, 3.0],
                   [2.0, 2.0],
                   [9.0, 1.0]])                        # (N, K) = (3, 2)
total = scores.sum(axis=1, keepdims=True)              # (3, 1)
print(scores / total)

# %% [markdown]
# `keepdims=True` keeps the axis that was summed, with length 1. So each row meets its own sum. Without it the sums have
# the shape (3,), and numpy, which lines shapes up from the right, would match them with the columns:

# %%
try:
    scores / scores.sum(axis=1)
except ValueError as error:
    print("numpy says:", error)

# %% [markdown]
# An error is the good case. What happens if there are as many objects as classes? Take only the first two rows, divide,
# and add up each row of what comes out. **Predict** the sum of the first row:

# %%
predict("0.2", None)

# %%
square = scores[:2]                                    # (2, 2)
wrong = square / square.sum(axis=1)                    # (2, 2) / (2,): no error
predict("0.2", result=wrong.sum(axis=1)[0])

# %% [markdown]
# Both rows happen to have the sum 4, so the wrong line gives the right answer. Run it once more with
# `square = scores[[0, 2]]`, whose rows have the sums 4 and 10, and it does not. Now you know why the exercises try your
# functions on tables that are *not* square and whose rows are *not* alike. A test that cannot fail shows nothing.
#
# ## 4. Why logarithms
#
# A text of 400 words, each with a probability of 0.1, has the probability $0.1^{400}$. That is a small number, but it
# is not zero. And we want to compare it with another one, $0.1^{399}$, which is ten times as large.

# %%
few, more = 0.1 ** 400, 0.1 ** 399
print("probabilities:", few, more, " which is larger?", more > few)
print("logarithms:   ", round(400 * np.log(0.1), 2), round(399 * np.log(0.1), 2))

# %% [markdown]
# Below about $e^{-745}$ floating point has only zero. The logarithms of the two are plain numbers, and comparing those
# is enough to decide. So the course keeps $\ln P(y)p(x \mid y)$ and never the product itself.
#
# But probabilities must sum to 1, and for that we need the sum of numbers of which we hold only the logarithms
# $a_1, \dots, a_K$. This is the one function that the whole course leans on, the **log-sum-exp**:
#
# $$\operatorname{lse}(a) = \ln \sum_{k=1}^{K} e^{a_k}.$$
#
# Take $a = (-800, -800)$. The sum is $2 e^{-800}$, so the answer is $-800 + \ln 2$. What does the formula give as it
# stands?

# %%
a = np.array([-800.0, -800.0])
with np.errstate(divide="ignore"):
    print("as it stands:", np.log(np.exp(a).sum()), " right:", round(-800 + np.log(2), 3))

# %% [markdown]
# The exponentials were rounded to 0 before anything could be saved. The way out is one line of algebra. For any number
# $m$ we may write $e^{a_k} = e^{m} e^{a_k - m}$, and $e^m$ does not depend on $k$, so it leaves the sum:
#
# $$\ln \sum_k e^{a_k} \;=\; \ln \Bigl( e^{m} \sum_k e^{a_k - m} \Bigr) \;=\; \ln e^{m} + \ln \sum_k e^{a_k - m}
# \;=\; m + \ln \sum_k e^{a_k - m}.$$
#
# This holds for every $m$. Now choose it well: $m = \max_k a_k$.
#
# * Every $a_k - m \le 0$, so every exponential is at most 1: **nothing overflows.**
# * The largest one is exactly $e^0 = 1$, so the sum lies between 1 and K: **its logarithm is never −∞.**
# * A term that still underflows was smaller than $e^{-745}$ beside a 1. It could not have changed a digit of the
#   answer.
#
# It follows that $m \le \operatorname{lse}(a) \le m + \ln K$: the function is a maximum with soft edges.


# %%
def lse_of_row(a):
    """ln Σ exp a[k] of one row (K,)."""
    m = a.max()
    return m + np.log(np.exp(a - m).sum())


print(round(lse_of_row(a), 3), round(lse_of_row(np.array([1.0, 2.0])), 3))

# %% [markdown]
# Is it right? Ask someone who computes in another way. Python's `decimal` works with as many digits as you like, and
# with exponents that reach much further down; with 50 digits it needs no trick. And scipy has a function of its own.

# %%
from decimal import Decimal, localcontext

from scipy.special import logsumexp

row = np.array([-1000.0, -1002.5, -1010.0])
with localcontext(prec=50):
    exact = sum(Decimal(value).exp() for value in row.tolist()).ln()
for name, other in (("50 digits", float(exact)), ("scipy", logsumexp(row))):
    print(f"{name:9s} {other:.3f}, agrees to 12 digits: {bool(np.isclose(lse_of_row(row), other, rtol=1e-12, atol=0))}")

# %% [markdown]
# Where does the plain formula give up? Take $a = (s, s)$ and let $s$ run from −1000 to 1000. The right answer is
# always $s + \ln 2$.

# %%
s = np.linspace(-1000, 1000, 2001)
with np.errstate(all="ignore"):
    plain = np.log(2 * np.exp(s))
works = np.isfinite(plain)
fig, ax = plt.subplots(figsize=(6.4, 3.2))
ax.plot(s, s + np.log(2), color=plots.COLOURS[0], label="maximum subtracted")
ax.plot(s[works], plain[works], "--", color=plots.COLOURS[1], linewidth=4, label="as it stands")
ax.axvspan(s[0], s[works][0], color="0.9", zorder=0)
ax.axvspan(s[works][-1], s[-1], color="0.9", zorder=0)
for at, says in ((-870, "says −∞"), (855, "says ∞")):
    ax.text(at, 0, says, ha="center", rotation=90, color=plots.COLOURS[6])
ax.set(xlabel="s", ylabel="ln(exp s + exp s)")
ax.legend()
plots.alt(fig, "Two lines that agree between about −745 and 709. Outside, in the grey areas, only the one with the "
               "maximum subtracted goes on; the plain formula says minus infinity on the left, infinity on the right.")
plt.show()
print("the plain formula works for s from", s[works][0], "to", s[works][-1])

# %% [markdown]
# In the middle the two cannot be told apart. So a test on small numbers finds nothing wrong with the plain formula, and
# it fails on the first long text. The limits are those of floating point, which takes smaller exponentials for 0 and
# larger ones for infinite.
#
# ## 5. Shares: softmax
#
# With the logarithm of the sum at hand, each number's share of the sum is one step away:
#
# $$\frac{e^{a_k}}{\sum_j e^{a_j}} = e^{\,a_k - \operatorname{lse}(a)}.$$
#
# These shares are positive and sum to 1. If $a_k$ is the logarithm of the probability of class $k$ times that of what
# you see within it, $\ln P(k)\,p(x \mid k)$, the shares are the probabilities of the classes: **this is Bayes' rule**,
# the subject of unit 01. Below, two of three numbers stay at 0 and 1, and the third one moves.


# %%
def shares(a0, ax):
    """Draw the softmax of (a0, 0, 1) and say in words what it is."""
    a = np.array([a0, 0.0, 1.0])
    share = np.exp(a - lse_of_row(a))
    plots.bars(ax, share, [f"{value:.1f}" for value in a], k=range(3))
    ax.set(ylim=(0, 1.1), xlabel="the three numbers", ylabel="share of the sum", title=f"lse = {lse_of_row(a):.2f}")
    return f"For a = ({a0:.1f}, 0.0, 1.0) the shares are {share[0]:.2f}, {share[1]:.2f} and {share[2]:.2f}."


# %%
fig, axes = plt.subplots(1, 4, figsize=(9, 2.6), sharey=True)
sentences = [shares(a0, ax) for a0, ax in zip((-3, 0, 1, 4), axes)]
for ax in axes:
    ax.label_outer()
plots.alt(fig, "The shares of three numbers as the first one grows. " + " ".join(sentences))
plt.show()

# %% [markdown]
# What we see: the first number's share grows from almost nothing to almost everything. The other two shrink, but
# **their ratio stays** $e^{0} : e^{1}$, in every panel, since only differences of the $a_k$ matter. And lse stays just
# above the largest of the three numbers: by most where the two largest are equal, as in the third panel, and hardly at
# all where one has almost the whole sum.
#
# The same with a slider. Focus it with Tab and press the arrow keys. At which value is the first share one half? Then
# $e^{a_0} = e^0 + e^1$; work it out before you look for it.

# %% tags=["nbval-ignore-output"]
plots.explore(lambda ax, a0: shares(a0, ax), a0=(-6.0, 6.0, 0.0, 0.1))

# %% [markdown]
# By the definition it is the log-sum-exp of the other two:

# %%
print("a0 =", round(lse_of_row(np.array([0.0, 1.0])), 2))

# %% [markdown]
# ## 6. Meet the checker
#
# The first exercise asks for `log_sum_exp(a)` for a whole table (N, K), one answer for each row. Here is an answer that
# looks right. It is the definition, word for word. We hand it in on purpose:


# %%
def log_sum_exp(a):
    return np.log(np.exp(a).sum(axis=1))


check(log_sum_exp)

# %% [markdown]
# Read the card from the top.
#
# 1. **The heading** says *NOT YET* and names the mistake, if it is one that the checker knows.
# 2. **The input** is the simplest one on which the answer is wrong. Below it stand *yours* and *expected*, and whatever
#    numpy warned about. Small numbers were fine, so you see large negative ones.
# 3. **Then** it says what to do about it, and how to get a hint.
#
# A red card is not a mark. Nobody counts how many you collect, and most people need some. A mistake that the checker
# does not know it tries to locate: it compares your intermediate steps with its own, as far as they have the same
# names. So do give names to your steps.
#
# **Now you:** [the exercise E0.1](../exercises/00_start_here.ipynb) takes ten minutes. Come back for the quiz.
#
# ## 7. One symbol, one meaning
#
# Books use the same letters for different things. This course does not: skim the tables now, come back when a letter
# puzzles you. **A letter with brackets behind it is a function, and another symbol than the letter alone**: $\sigma$ is
# a standard deviation, $\sigma(a)$ the logistic function. Letters that live for a few lines only, such as the $m$ and
# $s$ above, are explained on the spot.
#
# **Data and classes**
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $N, D, K$ | number of objects, features, classes | | `N, D, K` |
# | $i, j, k$ | which object, which feature, which class | | `i, j, k` |
# | $x$; $X$ | one object; all of them, one a row | (D,); (N, D) | `x`, `X` |
# | $y$ | the true class of an object; of all objects | (N,) | `y` |
# | $\hat y(x)$ | the class that a rule decides for $x$ | (N,) | `predict(X)` |
# | $t$; $T$ | the classes coded as numbers: 0/1 or ±1; one column a class | (N,); (N, K) | `t`, `T` |
# | $N_k$ | number of objects of class $k$ | (K,) | `counts` |
# | $V$ | number of values that a discrete feature can take | | `levels` |
# | $R$ | how much each object counts for each class: 0/1 for known labels, shares for guessed ones | (N, K) | `R` |
#
# **Probabilities and decisions**
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $P(\cdot)$; $p(\cdot)$ | probability of something countable; density | | |
# | $P(y)$ | prior: share of a class before $x$ is seen | (K,) | `priors` |
# | $p(x \mid y)$ | likelihood: density of $x$ within a class | (N, K) | `log_density` (its logarithm) |
# | $p(x)$ | evidence: density of $x$ over all classes | (N,) | `evidence` |
# | $P(y \mid x)$ | posterior: probability of a class once $x$ is seen | (N, K) | `posterior` |
# | $\lambda_y$ | loss from an error on an object of class $y$ | (K,) | `losses` |
# | $L$ | loss of every pair: the true class down, the decided one across | (K, K) | `losses` |
# | $R(\hat y)$ | risk: the average loss of a rule | | `risk` |
# | $g_y(x)$ | $\lambda_y P(y)\, p(x \mid y)$, what the best rule compares | (N, K) | `g` |
# | $a$ | log odds of two classes, $\ln P(1 \mid x)/P(0 \mid x)$ | (N,) | `log_odds` |
# | $a_k$ | log score $\ln P(k)\,p(x \mid k)$, up to a shift of the row | (N, K) | `log_joint` |
# | $\sigma(a)$ | logistic function $1/(1+e^{-a})$: from log odds to probability | | `sigmoid` |
# | $\hat P, \hat p, \hat\mu$ | a hat: estimated from data | | |
#
# **Models**
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $\mu$ | mean of a class | (D,); (K, D) | `mu` |
# | $\Sigma$ | covariance matrix of a class | (D, D); (K, D, D) | `Sigma` |
# | $\sigma$ | standard deviation, of one feature or of a spherical class | | `sigma` |
# | $\ell$ | log likelihood of a model | | `log_likelihood` |
# | $\theta$ | natural parameter of an exponential family | | `theta` |
# | $c(\theta)$ | its log-normaliser: $c'$ is the mean, $\varphi c''$ the variance | | `c` |
# | $\varphi$ | its dispersion | | `phi` |
# | $u(x)$ | what a family sums over the data, mostly $x$ itself | | `u` |
# | $h(x, \varphi)$ | what is left in its exponent, free of $\theta$ | | `h` |
# | $c$ | pseudo-count, added to a count | | `smoothing` |
# | $h$ | width of a Parzen window | | `h` |
# | $\pi_m$ | weight of component $m = 1, \dots, M$ of a mixture ($\pi$ alone is 3.14159…) | (M,) | `weights` |
# | $\alpha, \gamma$ | share of its own class in a covariance; share of a sphere in it | | `alpha, gamma` |
# | $S_B, S_W$ | scatter between and within classes | (D, D) | `S_B, S_W` |
# | $J(w)$ | Fisher's criterion: the one over the other, along $w$ | | |
# | $w, w_0$ | weights and intercept of a linear function $w^\top x + w_0$ | (D,), () | `w`, `w0` |
# | $\psi(x)$; $\Psi$ | basis functions of $x$; one row an object | (M,); (N, M) | `Psi` |
# | $\eta$ | linear predictor of a generalised linear model | (N,) | `eta` |
# | $v$ | variance of a target under the model; the weights of a Newton step | (N,) | `v` |
# | $H$ | second derivatives of a loss (Hessian) | (D, D) | `H` |
# | $\Phi(a)$ | distribution function of the standard normal | | `ndtr` |
# | $\varepsilon$ | probability that a label was flipped | | `epsilon` |
# | $\delta, r$ | margin of a separating plane; length of the longest $x$ | | `margin`, `radius` |
# | $[\,\text{statement}\,]$ | 1 if it is true, else 0 | | |
# | $\ln$ | natural logarithm; there is no other | | `np.log` |

# %% [markdown]
# ## 8. Quiz
#
# Five questions. Every choice has an explanation, so the wrong ones are worth a click too. Without buttons:
# `quiz("0.1", "b")`.

# %% tags=["nbval-ignore-output"]
quiz("0.1")

# %% tags=["nbval-ignore-output"]
quiz("0.2")

# %% tags=["nbval-ignore-output"]
quiz("0.3")

# %% tags=["nbval-ignore-output"]
quiz("0.4")

# %% tags=["nbval-ignore-output"]
quiz("0.5")

# %% [markdown]
# ## Close
#
# **In one paragraph.** From what you see to the probability of each class to a decision: that is the course. You write
# functions, the checker answers in words. Tables are (N, D) or (N, K); name the axis that shall disappear. Products of
# many probabilities underflow, so we keep their logarithms, and sum them with the maximum taken out first.
#
# > **Formula card**
# >
# > $\operatorname{lse}(a) = \ln \sum_k e^{a_k} = m + \ln \sum_k e^{a_k - m}$, with $m = \max_k a_k$ **of each row**
# >
# > $m \le \operatorname{lse}(a) \le m + \ln K, \qquad \operatorname{lse}(a + s) = \operatorname{lse}(a) + s$
# >
# > softmax: $e^{\,a_k - \operatorname{lse}(a)}$, positive, sums to 1 over the classes
#
# **Common mistakes.** exp before the maximum · one maximum for the whole table · the maximum not added back · a sum
# over the objects instead of the classes · `keepdims` forgotten where N = K, so that nothing complains.
#
# **When not to.** If all numbers are moderate, as after a softmax, there is nothing to protect; and where only the
# largest is wanted, `argmax` of the logarithms needs no sum at all.
#
# **Elsewhere.** scipy has `scipy.special.logsumexp` and `softmax`; both take `axis=`, which by default is *everything*
# for them and the last axis for `course_lib.decision.logsumexp`. In scikit-learn, `predict_log_proba` is the result
# of such a step.
#
# **References.** P. Blanchard, D. J. Higham, N. J. Higham, *Accurately computing the log-sum-exp and softmax
# functions*, IMA Journal of Numerical Analysis 41 (2021) 2311–2330. C. M. Bishop, *Pattern Recognition and Machine
# Learning* (2006), section 1.5.
#
# **Next:** [the exercise E0.1](../exercises/00_start_here.ipynb), if you have not done it yet; then
# [01 Bayes' rule and risk](01_bayes_rule_and_risk.ipynb).
