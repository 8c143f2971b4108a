# %% [markdown]
# # 10 Scaling out (a bonus unit)
#
# **The question of this unit:** what must change in a fit when the table does not fit into memory, and when is it
# better to read less?
#
# After 60 minutes you can
#
# * fit a classifier to a table that is never in memory as a whole;
# * derive the rule that merges what two parts of a table say, and tell why sums of squares are no substitute for it;
# * sort fits into four tiers by what they need of the rows: one pass, several, all of them kept, or their order;
# * sum in processes or on a cluster, get the same bits, and lose a worker without losing anything;
# * say beforehand what a further worker will bring, and how many rows a decision needs.
#
# **It builds on** [01](01_bayes_rule_and_risk.ipynb) for risk and what a test error is worth, and on
# [02b](02b_naive_bayes.ipynb), where a fitted model drew new objects. Fits that have units of their own are introduced
# here in a sentence each. **It is a bonus**: it has no exercises, and no other unit needs it. **To run it**, type
# `course lab` in the folder of the course. Two cells also want `pip install -e ".[scale]"`, and say so if they do not
# find it.

# %%
import os

for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ[name] = "1"     # before numpy is imported: this process sums with one thread, as each worker will

import numpy as np
from matplotlib import pyplot as plt

from course_lib import LDA, plots
from course_lib.chunks import chunks
from course_lib.classroom import predict, quiz
from course_lib.data import load

plots.style()

# %% [markdown]
# ## 1. A decision first
#
# The spam filter of unit 02b learned from 4,601 mails. A mail provider delivers as many in a blink, and its users say
# which of them are spam. How should such a table be turned into a rule?
#
# No provider publishes that table, so we draw one. Take 20 of the word frequencies, in logarithms, and fit **LDA**:
# normal densities, a mean for each class, and one covariance matrix $\Sigma$ for both. (Unit 03 is about it. All you
# need here is that its log odds are linear, $a(x) = w^\top x + w_0$, with $w = \Sigma^{-1}(\mu_1 - \mu_0)$.) A fitted
# density can draw as many new mails as we like.

# %%
real, spam = load("spambase").Xy()
words = np.log(real[:, :20] + 0.1)                                 # per cent of all words, on a log scale
world = LDA().fit(words, spam)
MEAN, ROOT, PRIORS = world.fitted_.mean, world.fitted_.root[0], world.priors_      # Σ = ROOTᵀ ROOT
print("mails and words:", words.shape, " share of spam:", round(PRIORS[1], 3))
print(f"LDA files {np.mean(world.predict(words) != spam):.3f} of them wrongly")


def draw(n, rng):
    """n new mails (n, 20) and whether they are spam (n,)."""
    y = (rng.random(n) < PRIORS[1]).astype(np.int64)
    return MEAN[y] + rng.normal(size=(n, MEAN.shape[1])) @ ROOT, y


# %% [markdown]
# A file of 200,000 mails, written piece by piece: 32 MB. That is no large table, but everything below treats it as if
# it were one: it is opened as a **memory map**. `X` then looks like an array, while its rows stay in the file until
# somebody asks for them.

# %%
import tempfile
from pathlib import Path

N, D, ROWS = 200_000, 20, 10_000
folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)   # Windows keeps a file that is still mapped
HERE = Path(folder.name)
X = np.lib.format.open_memmap(HERE / "X.npy", "w+", np.float64, (N, D))
y = np.lib.format.open_memmap(HERE / "y.npy", "w+", np.int64, (N,))
for b, start in enumerate(range(0, N, ROWS)):
    X[start:start + ROWS], y[start:start + ROWS] = draw(ROWS, np.random.default_rng([10, b]))
X.flush(), y.flush()
X, y = (np.load(HERE / f"{name}.npy", mmap_mode="r") for name in ("X", "y"))
print("the table:", X.shape, f"{X.nbytes / 1e6:.0f} MB, share of spam {y.mean():.3f}")

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3), sharey=True)
for ax, rows, kind, name in ((axes[0], words, spam, "4,601 real mails"), (axes[1], X[:50_000], y[:50_000], "drawn")):
    a = world.decision_function(rows)
    for k, label in enumerate(("good", "spam")):
        ax.hist(a[kind == k], np.linspace(-9, 9, 73), density=True, histtype="step", label=label,
                color=plots.look(k).colour, linestyle=plots.look(k).line, linewidth=1.5)
    ax.axvline(0, color="black", linewidth=1)
    ax.set(xlabel="log odds of spam", title=f"{name}: {np.mean((a > 0) != kind):.3f} filed wrongly")
axes[0].set_ylabel("density within the class")
axes[1].legend()
plots.alt(fig, "Log odds of spam within good mail and spam. Real mails give jagged, skewed histograms, with a peak of "
               "good mail near −4; the drawn ones give two bells. In both panels the classes overlap around 0.")
plt.show()

# %% [markdown]
# What we see: the drawn mails are tidier than real ones, for no mail is normal. (The peak are good mails that hold
# hardly any of the 20 words.) But they have the same means and covariances, the classes overlap about as much, and we
# know *everything* about them. In section 5 that will tell us exactly what a rule costs.
#
# | symbol | in words | shape | in code |
# |---|---|---|---|
# | $N, D$ | number of mails, of words | | `N, D` |
# | $n, m$ | rows in one part of a table, and in another | | `n, m` |
# | $\bar x$; $S$ | mean, scatter $\sum (x_i - \bar x)(x_i - \bar x)^\top$ | (D,); (D, D) | `mean, scatter` |
# | $\delta$ | difference of two means | (D,) | `delta` |
# | $B$ | number of pieces of a table | | `B` |
# | $s_b$ | what the fit needs of piece $b$: a record that can be added | | `s` |
# | $Q$ | number of workers: processes that sum | | `Q` |
# | $w$ | weights of a linear rule, with the intercept in front | (D + 1,) | `w` |
#
# Now the fit. `chunks` says where the rows are and how many make a piece; `fit` takes it in place of `X` and `y`. The
# table has 32 MB. **Predict** the memory that the fit takes at most, in MB:

# %%
predict("10.1", None)

# %%
import tracemalloc


def peak(call):
    """The most memory that a call holds at once, in bytes."""
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


# %% tags=["nbval-ignore-output"]
# claim 10.1
half, whole = (peak(lambda: LDA().fit(chunks(X[:n], y[:n], rows=ROWS, classes=[0, 1]))) for n in (N // 2, N))
loaded = peak(lambda: np.array(X))
predict("10.1", result=round(whole / 1e6, 1))
print(f"fit in pieces: {half / 1e6:.1f} MB for half of the table, {whole / 1e6:.1f} MB for all; "
      f"the table in memory: {loaded / 1e6:.0f} MB")
assert loaded >= X.nbytes and whole < X.nbytes / 5 and whole < 1.05 * half

# %% [markdown]
# A few MB, and no more for the whole table than for half of it: the memory is that of a *piece*, of 10,000 rows here.
# So a table of 32 GB would take as much. (We named the classes. Otherwise `chunks` would look through all of `y` to
# find them.)
#
# How can a mean and a covariance come out right, if nobody ever saw all the rows?
#
# ## 2. Sums that add
#
# Two people share five numbers. One has 1 and 3, the other 2, 4 and 9. Each may tell the other three numbers: how many
# there are, their mean, and the sum of squares about that mean, the **scatter**. That is 2, 2, 2 from the one, and 3,
# 5, 26 from the other. **Predict** the scatter of all five. (It is not 2 + 26.)

# %%
predict("10.2", None)

# %% [markdown]
# Let the first part have $n$ rows $x_i$ with the mean $\bar x$ and the scatter $S_x$, the second $m$ rows $z_i$ with
# $\bar z$ and $S_z$. Write $\delta = \bar z - \bar x$. What are the mass, the mean and the scatter of both together?
#
# **The mass** is $n + m$. **The mean**, $c$, is the sum of all rows over their number. The sum of the first part is
# $n \bar x$, that of the second $m \bar z = m \bar x + m\delta$:
#
# $$c = \frac{n \bar x + m \bar z}{n + m} = \frac{(n + m)\,\bar x + m\,\delta}{n + m}
# = \bar x + \frac{m}{n+m}\,\delta.$$
#
# **The scatter** is to be taken about $c$, but the parts know theirs about $\bar x$ and $\bar z$. For the first part
# put $\bar x$ in between, $x_i - c = (x_i - \bar x) + (\bar x - c)$, and multiply out:
#
# $$\sum_i (x_i - c)(x_i - c)^\top = \underbrace{\sum_i (x_i - \bar x)(x_i - \bar x)^\top}_{S_x}
# + \underbrace{\sum_i (x_i - \bar x)}_{0}\,(\bar x - c)^\top + (\bar x - c) \underbrace{\sum_i (x_i - \bar x)^\top}_{0}
# + \; n\,(\bar x - c)(\bar x - c)^\top.$$
#
# Deviations from the mean sum to 0, so both cross terms vanish. The second part gives $S_z + m\,(\bar z - c)(\bar z -
# c)^\top$ in the same way. From the formula for $c$,
#
# $$\bar x - c = -\frac{m}{n+m}\,\delta, \qquad \bar z - c = \delta + (\bar x - c) = \delta - \frac{m}{n+m}\,\delta
# = \frac{n}{n+m}\,\delta.$$
#
# So the two additions are multiples of $\delta\delta^\top$, and their factors sum to
#
# $$n \frac{m^2}{(n+m)^2} + m \frac{n^2}{(n+m)^2} = \frac{nm\,(m + n)}{(n+m)^2} = \frac{nm}{n+m}.$$
#
# That is the rule of Chan, Golub and LeVeque (1979):
#
# $$\boxed{\;n + m, \qquad \bar x + \frac{m}{n+m}\,\delta, \qquad S_x + S_z + \frac{nm}{n+m}\,\delta\delta^\top\;}$$
#
# The last term is the scatter *between* the parts; it is what 2 + 26 forgets. **By hand**: $\delta = 5 - 2 = 3$, the
# mean is $2 + \tfrac35 \cdot 3 = 3.8$, and the scatter $2 + 26 + \tfrac{2 \cdot 3}{5} \cdot 9 = 38.8$. In code it is
# an addition:

# %%
from dataclasses import dataclass


@dataclass(frozen=True)
class Sums:
    """What a normal density needs of some rows."""

    n: int
    mean: np.ndarray     # (D,)
    scatter: np.ndarray  # (D, D)

    @classmethod
    def of(cls, X):
        mean = X.sum(axis=0) / len(X)
        return cls(len(X), mean, (X - mean).T @ (X - mean))

    def __add__(self, other):
        n, delta = self.n + other.n, other.mean - self.mean
        between = np.outer(delta, delta) * self.n * other.n / n
        return Sums(n, self.mean + delta * other.n / n, self.scatter + other.scatter + between)


# %% [markdown]
# Is the rule exact, or only nearly? Fractions know no rounding. We let them speak on the five numbers, and on 40 rows
# of three columns that are cut at every place. And what does the course library say to our class?

# %%
# claim 10.2
from fractions import Fraction

exact = np.vectorize(Fraction)
first, second = (Sums.of(exact(np.array(part)[:, None])) for part in ([1, 3], [2, 4, 9]))
five = first + second
predict("10.2", result=float(five.scatter[0, 0]))
print("mass, mean, scatter:", five.n, five.mean[0], five.scatter[0, 0])
assert five.mean[0] == Fraction(19, 5) and five.scatter[0, 0] == Fraction(194, 5)

# %%
# claim 10.2
forty = exact(np.random.default_rng(1).integers(-9, 10, size=(40, 3)))
direct = Sums.of(forty)
for cut in range(1, 40):
    merged = Sums.of(forty[:cut]) + Sums.of(forty[cut:])
    assert (merged.mean == direct.mean).all() and (merged.scatter == direct.scatter).all()     # equal, not nearly

# %%
from course_lib.statistics import Moments


def one_class(X):
    """The library's record of rows that all belong to one class."""
    return Moments.of(X, np.ones((len(X), 1)))


ours, library = (of(X[:ROWS]) + of(X[ROWS:2 * ROWS]) for of in (Sums.of, one_class))
np.testing.assert_allclose(library.scatter[0], ours.scatter, rtol=1e-10, atol=1e-8)
np.testing.assert_allclose(ours.scatter / (2 * ROWS - 1), np.cov(X[:2 * ROWS].T), rtol=1e-10, atol=1e-12)
print("our sums, the library's Moments and numpy's cov agree on", 2 * ROWS, "rows")

# %% [markdown]
# From here on we take the library's. It keeps a record for each class, and also what rounding took from the means.
#
# ### Why not simply sums of squares?
#
# Because $\sum_i (x_i - \bar x)^2 = \sum_i x_i^2 - n \bar x^2$, there seems to be a shorter way. Keep $\sum 1$,
# $\sum x$ and $\sum x^2$: plain sums, which merge by plain additions. On paper that is right. Now take three numbers a
# long way from 0, such as times in seconds since some year long ago: $10^8 + 1$, $10^8 + 1$, $10^8 + 3$. Their scatter
# is that of 1, 1, 3, which is $\tfrac83$. **What does the short way give?**

# %%
predict("10.3", None)

# %%
def raw(x):
    """The scatter of x from Σ1, Σx and Σx²."""
    n, total, squares = 0, 0.0, 0.0
    for value in x:
        n, total, squares = n + 1, total + value, squares + value * value
    return squares - n * ((total / n) * (total / n))


# %%
# claim 10.3
three = [1e8 + 1, 1e8 + 1, 1e8 + 3]
parts = [Sums.of(np.array([[value]])) for value in three]
merged = (parts[0] + parts[1] + parts[2]).scatter.item()
predict("10.3", result=raw(three))
print(f"three numbers: by raw sums {raw(three):.3g}, merged {merged:.6g}, near 0 by raw sums {raw([1, 1, 3]):.6g}")
assert raw(three) < 0 and abs(merged - 8 / 3) < 1e-7

# %% [markdown]
# A negative sum of squares. A double holds 16 digits, and $x^2 \approx 10^{16}$ uses all of them: neighbouring doubles
# are 2 apart there, and 4 in the sum. The difference of two such numbers cannot be $\tfrac83$; it is a multiple of 4,
# of either sign. The merged sums subtract *first*, $x_i - \bar x$ and $\bar z - \bar x$, and square what is left.
#
# At which offset does the short way fail? Take 1,000 draws of a standard normal in 20 pieces, move them away from 0,
# and compare with the scatter in fractions.

# %%
# claim 10.3
from functools import reduce
from operator import add


def error(scatter, x):
    """How far a scatter is from the true one of x, relative to it."""
    values = [Fraction(value) for value in x.tolist()]
    true = sum(value * value for value in values) - sum(values) ** 2 / len(values)
    return abs(float((Fraction(float(scatter)) - true) / true)) + 1e-17


NAMES = ("raw sums", "merged", "merged, with the rest of the mean")
offsets = 10.0 ** np.arange(0, 11)
z = np.random.default_rng(2).normal(size=1000)
wrong = np.empty((3, len(offsets)))
for i, offset in enumerate(offsets):
    x = offset + z
    pieces = [part[:, None] for part in np.split(x, 20)]
    ours, library = (reduce(add, map(record, pieces)).scatter.item() for record in (Sums.of, one_class))
    wrong[:, i] = error(raw(x), x), error(ours, x), error(library, x)
print("true to one part in a million at offset 1e8:", dict(zip(NAMES, (wrong[:, 8] < 1e-6).tolist())))
assert wrong[0, 8] > 0.1 and wrong[1, 8] < 1e-6 and (wrong[2] < 1e-12).all()

# %%
def curves(x, named, xlabel, ylabel):
    """Draw curves {name: (M,)} over x (M,) on logarithmic axes; returns the figure and its axes."""
    fig, ax = plt.subplots(figsize=(8.4, 3.2))
    for k, (name, curve) in enumerate(named.items()):
        look = plots.look(k)
        ax.loglog(x, curve, look.line, marker=look.marker, color=look.colour, label=name)
    ax.set(xlabel=xlabel, ylabel=ylabel)
    return fig, ax


fig, ax = curves(offsets, dict(zip(NAMES, wrong)), "offset, in standard deviations", "relative error of the scatter")
ax.axhline(1, color="0.4", linewidth=1, linestyle=":", label="not a digit is right")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.alt(fig, "Relative error of the scatter against the offset, both on logarithmic axes. With raw sums it rises by "
               "two powers of ten for each power of ten of the offset, and passes 1 near an offset of ten to the "
               "eighth. With merged sums it rises by one power at most and stays below ten to the minus seven; with "
               "the rest of the mean it stays below ten to the minus twelve.")
plt.show()

# %% [markdown]
# What we see: each power of ten in the offset costs the raw sums two digits, since they square it. The merged sums lose
# one at most: a mean near $10^8$ is rounded to 8 digits behind the point, and $\delta$ with it. The library's `Moments`
# keep what rounding took from each mean, its *rest*, as a second number, and lose nothing.
#
# **Where it fails.** Nothing here mends what is lost before the sum. If the file holds the times as 32-bit floats, of 7
# digits, the differences are gone, however you add.
#
# ### In which order?
#
# The rule derives the record of the union, and the union does not care who met whom first. So pieces may be merged from
# left to right, in pairs and pairs of pairs, or as they come. Up to rounding: a floating-point sum depends on its
# order, $(a + b) + c \neq a + (b + c)$ in the last digit. Three orders, then, of the same 20 pieces:

# %%
def in_pairs(records):
    """The sum of neighbours, of neighbouring sums, and so on."""
    while len(records) > 1:
        pairs = [records[i] + records[i + 1] for i in range(0, len(records) - 1, 2)]
        records = pairs + records[2 * len(pairs):]
    return records[0]


# %%
# claim 10.4
pieces = [Sums.of(X[start:start + ROWS]) for start in range(0, N, ROWS)]
shuffled = [pieces[b] for b in np.random.default_rng(3).permutation(len(pieces))]
left, pairs, other = reduce(add, pieces), in_pairs(pieces), reduce(add, shuffled)
for tree in (pairs, other):
    np.testing.assert_allclose(tree.scatter, left.scatter, rtol=1e-12, atol=1e-10 * left.scatter.max())
    assert (tree.scatter != left.scatter).any()                    # the last bits differ …
assert (reduce(add, pieces).scatter == left.scatter).all()         # … and the same order gives the same bits

whole_numbers = [Sums.of(forty[i:i + 4]) for i in range(0, 40, 4)]
assert (in_pairs(whole_numbers).scatter == direct.scatter).all()   # without rounding there is no difference at all
print("three orders agree to 12 digits, in fractions to the last")

# %% [markdown]
# The same sums to 12 digits, and other last bits. That is harmless for the decision and a nuisance for whoever must
# find out why two runs differ. So the library adds **in the order of the pieces**, whoever made them. Section 4 will
# hold it to that.
#
# ## 3. Four tiers
#
# Which fits are made of sums? It is fashionable to say "all of them". Honestly, there are four tiers.
#
# | tier | what the fit needs of the rows | fits |
# |---|---|---|
# | 1 | **one pass**: a record of fixed size | normal densities (LDA, QDA), naive Bayes, least squares, Fisher |
# | 2 | **one pass a step**: a record that depends on where the last step ended | logistic regression, EM |
# | 3 | **the rows themselves**, for ever | Parzen windows, nearest neighbours |
# | 4 | **the rows in an order** | the online perceptron |
#
# ### Tier 1: one pass
#
# A normal density needs mass, mean and scatter of each class. Naive Bayes needs counts, or the diagonal of the scatter.
# Least squares needs $\sum_i x_i x_i^\top$ and $\sum_i x_i t_i$, which are in the scatter of $x$ and $t$ together.
# Fisher's direction is made of the scatter within the classes and their means. In all of them the record has a fixed
# size, whatever $N$ is. With 20 words and two classes LDA's has 2 masses, 40 means and 400 products, in place of 4
# million numbers.
#
# Check: five fits in pieces against the same fits to the table in memory, on the first 100,000 rows. A generator hands
# out the pieces and counts them.

# %%
from collections import Counter

from course_lib import QDA, FisherProjection, LeastSquaresClassifier, NaiveBayes

SOME, handed_out = 100_000, Counter()


def counted(name, n=SOME):
    """The first n rows in pieces; how many pieces were read stands in handed_out[name]."""
    def rows():
        for start in range(0, n, ROWS):
            handed_out[name] += 1
            yield X[start:start + ROWS], y[start:start + ROWS]
    return chunks(rows, classes=[0, 1])


# claim 10.5
def says(model, rows):
    """What a fitted model makes of some rows."""
    return model.transform(rows) if hasattr(model, "transform") else model.decision_function(rows)


new = X[-1000:]
for kind in (LDA, QDA, NaiveBayes, LeastSquaresClassifier, FisherProjection):
    in_memory = kind().fit(np.array(X[:SOME]), np.array(y[:SOME]))
    in_pieces = kind().fit(counted(kind.__name__))
    np.testing.assert_allclose(says(in_pieces, new), says(in_memory, new), rtol=1e-8, atol=1e-10)
    passes = (handed_out[kind.__name__] - 1) / (SOME / ROWS)       # one piece is read ahead, to learn D
    print(f"{kind.__name__:24s}{passes:.0f} pass, the same answers")
    assert passes == 1

# %% [markdown]
# **Where it fails.** One pass needs to know beforehand what to sum: the classes, the levels of a categorical feature,
# the bins of a histogram. And not everything is a sum. The median of two parts does not follow from their medians.
#
# ### Tier 2: one pass a step
#
# **Logistic regression** (unit 06) takes $P(1 \mid x) = \sigma(w^\top z)$ with $z = (1, x)$, and looks for the $w$ that
# makes the labels most probable. It minimises
#
# $$L(w) = -\sum_i \Bigl( y_i \ln \sigma(w^\top z_i) + (1 - y_i) \ln \bigl(1 - \sigma(w^\top z_i)\bigr) \Bigr).$$
#
# Since $\sigma' = \sigma(1 - \sigma)$, we have $(\ln \sigma)' = 1 - \sigma$ and $(\ln(1 - \sigma))' = -\sigma$. With
# $\sigma_i = \sigma(w^\top z_i)$ the derivative of one term is $-y_i(1 - \sigma_i)z_i + (1 - y_i)\sigma_i z_i =
# (\sigma_i - y_i)\,z_i$, and once more:
#
# $$\nabla L = \sum_i (\sigma_i - y_i)\, z_i, \qquad H = \sum_i \sigma_i (1 - \sigma_i)\, z_i z_i^\top, \qquad
# w \leftarrow w - H^{-1} \nabla L.$$
#
# Both are sums over rows, of fixed size. Newton's step solves for them. But $\sigma_i$ depends on $w$: the sums of one
# step are of no use for the next. So a step is a pass over the table. **By hand**: at $w = 0$ every $\sigma_i$ is ½, so
# two objects $x = 1, 3$ of the classes 0 and 1 give $\nabla L = \tfrac12(1, 1) - \tfrac12(1, 3) = (0, -1)$ and $H =
# \tfrac14 \begin{pmatrix} 2 & 4 \\ 4 & 10 \end{pmatrix}$.
#
# `total` of the pieces is $\sum_b f(X_b, y_b)$ for any $f$ whose results can be added. So the whole fit is:

# %%
from functools import partial

from course_lib.decision import sigmoid


def newton_sums(w, X, y, weight=None):
    """The Hessian of −Σ ln P(y|x) and, as its last column, the gradient, (D + 1, D + 2)."""
    Z = np.column_stack([np.ones(len(X)), X])
    p = sigmoid(Z @ w)
    return np.column_stack([(Z.T * (p * (1 - p))) @ Z, Z.T @ (p - y)])


def newton(table, width, tol=1e-9):
    """w (D + 1,) of logistic regression, and the length of each step."""
    w, steps = np.zeros(width), []
    while not steps or steps[-1] > tol and len(steps) < 20:
        s = table.total(partial(newton_sums, w))                   # one pass
        step = np.linalg.solve(s[:, :-1], s[:, -1])
        w, steps = w - step, [*steps, np.abs(step).max()]
    return w, steps


print(newton_sums(np.zeros(2), np.array([[1.0], [3.0]]), np.array([0, 1])))

# %%
# claim 10.6
from course_lib import LogisticRegression

table = chunks(X[:SOME], y[:SOME], rows=ROWS, classes=[0, 1])
w, steps = newton(table, D + 1)
for rows in ((np.array(X[:SOME]), np.array(y[:SOME])), (table,)):  # in memory, and in pieces
    library = LogisticRegression().fit(*rows)
    np.testing.assert_allclose(w, [*library.intercept_, *library.coef_[0]], rtol=1e-7, atol=1e-8)
print(f"{len(steps)} passes; the fifth step moved w by {steps[4]:.1g}, the sixth by {steps[5]:.1g}")

# %% [markdown]
# The same optimum as in memory, in a handful of passes. The library's fit takes the pieces too. It begins where a sample
# of the rows has its optimum, halves a step that leads too far, and says so if the classes can be separated (unit 06).
#
# **EM** (unit 05) is of the same kind. It fits densities to rows whose class nobody knows. A step asks Bayes' rule,
# with the densities it has, for the share $R_{ik}$ of row $i$ in class $k$, and then fits the densities with these
# shares as weights. The first half needs one row at a time, the second is tier 1. So let each piece do both, and only
# its record travels. We take the labels away, begin with what 500 labelled mails say, and let EM go on from there.

# %%
from course_lib import Gaussian, posterior
from course_lib.mixtures import em

NORMALS = Gaussian(pool="tied")                                    # a mean for each class, one covariance


def em_sums(model, X, y=None, weight=None):
    """Moments of X under the shares of its rows in the classes, by Bayes' rule with priors and densities."""
    priors, densities = model
    return NORMALS.statistics(X, posterior(densities.log_density(X) + np.log(priors)))


def em_step(model, table):
    """The priors and densities after one pass."""
    s = table.total(partial(em_sums, model))
    return s.mass / s.mass.sum(), NORMALS.solve(s)


# claim 10.7
few = LDA().fit(np.array(X[:500]), np.array(y[:500]))
model = few.priors_, few.fitted_
for step in range(10):
    model = em_step(model, chunks(X[:40_000], y[:40_000], rows=ROWS))
start = posterior(few.log_joint(np.array(X[:40_000])))
in_memory = em(NORMALS, np.array(X[:40_000]), start, tol=0, max_iter=10)
np.testing.assert_allclose(model[0], in_memory.weight, rtol=1e-9)
np.testing.assert_allclose(model[1].mean, in_memory.components.mean, rtol=1e-7, atol=1e-9)
for name, densities in (("500 labelled mails", few.fitted_), ("and 10 passes without labels", model[1])):
    print(f"{name:29s} means off by {np.sqrt(np.mean((densities.mean - MEAN) ** 2)):.3f} on average")

# %% [markdown]
# Again the answer of the fit in memory, with one record a piece.
#
# **Where it fails.** A pass over a file on a disk or in a network costs what reading it costs. Ten passes cost ten
# times that. So what saves *passes* wins here: a start from a sample of the rows, second derivatives where the first
# alone would take a hundred steps.
#
# ### Tier 3: the rows themselves
#
# A **Parzen** estimate (unit 04) puts a small bump, a normal density of width $h$, on each row:
#
# $$\hat p(x) = \frac1N \sum_i \frac1h\,\kappa\Bigl(\frac{x - x_i}{h}\Bigr).$$
#
# That is a sum over rows! Is it of tier 1, then? For a point $x$ that is *fixed beforehand*, yes: sum the bumps there,
# piece by piece. But the points to be classified come later, and no record of fixed size answers for all of them. The
# fitted model *is* the table, and each decision costs $N$ bumps.
#
# What remains is to keep a sample of the rows. What does that cost? For smooth densities in one dimension and the best
# $h \propto N^{-1/5}$, the squared error falls like $N^{-4/5}$: half of the rows, $2^{4/5} = 1.74$ times the error. The
# normal family, where it holds, goes like $N^{-1}$. Let us see it, on the log odds of section 1, whose density we know:
# a mixture of two normals.

# %%
w_true = world.linear()[0][1] - world.linear()[0][0]
CENTRES, SPREAD = world.decision_function(MEAN), np.linalg.norm(ROOT @ w_true)     # of the log odds in each class
GRID, CELL = np.linspace(-13, 13, 131, retstep=True)


def bells(x, centre, spread):
    """Normal densities at x, (M, K)."""
    return np.exp(-((x[:, None] - centre) / spread) ** 2 / 2) / (spread * np.sqrt(2 * np.pi))


TRUTH = bells(GRID, CENTRES, SPREAD) @ PRIORS
curvature = np.sum(np.gradient(np.gradient(TRUTH, CELL), CELL) ** 2) * CELL        # ∫p″², which sets the best h


def squared_errors(n, rng):
    """∫(p̂ − p)² of a Parzen estimate and of two normals, both from n mails."""
    rows, kind = draw(n, rng)
    a = world.decision_function(rows)
    h = (0.5 / np.sqrt(np.pi) / (curvature * n)) ** 0.2
    share, means = np.bincount(kind) / n, np.array([a[kind == k].mean() for k in (0, 1)])
    normals = bells(GRID, means, (a - means[kind]).std()) @ share
    return [np.sum((p - TRUTH) ** 2) * CELL for p in (bells(GRID, a, h).mean(axis=1), normals)]


# %%
# claim 10.8
kept = 100 * 3 ** np.arange(5)
runs = np.array([[squared_errors(n, np.random.default_rng([8, n, r])) for r in range(24)] for n in kept])
ise = runs.mean(axis=1)                                            # (5, 2)
slopes = np.polyfit(np.log(kept), np.log(ise), 1)[0]
print(f"slopes on logarithmic axes: Parzen {slopes[0]:.2f}, normals {slopes[1]:.2f}")
assert abs(slopes[0] + 0.8) < 0.1 and abs(slopes[1] + 1) < 0.15


def bumps(X, y=None, weight=None):
    """Σ_i κ at the fixed points of the grid: a record that can be added, (131,)."""
    return bells(GRID, world.decision_function(X), 0.5).sum(axis=1)


np.testing.assert_allclose(chunks(X[:4000], rows=1000).total(bumps), bumps(X[:4000]), rtol=1e-9, atol=1e-9)

# %%
names = [f"{name}, slope {slope:.2f}" for name, slope in zip(("Parzen windows", "two normals"), slopes)]
fig, ax = curves(kept, dict(zip(names, ise.T)), "rows kept", "squared error of the density")
ax.legend()
plots.alt(fig, "Squared error of an estimated density against the number of rows kept, on logarithmic axes. Both fall "
               "along straight lines; that of the two normals lies lower and is steeper.")
plt.show()

# %% [markdown]
# What we see: the theory's slopes. A sample of a tenth of the rows makes the squared error of a Parzen estimate
# $10^{4/5} = 6.3$ times as large, that of the normals 10 times. So a Parzen estimate loses *less* by reading less. It
# has more to lose, though: its error is the larger one to begin with, and in $D$ dimensions the exponent shrinks to
# $4/(4 + D)$.
#
# ### Tier 4: the rows in an order
#
# The **perceptron** (unit 08) looks at one row after the other. Whenever $w$ has the row on the wrong side, it adds the
# row to $w$, with the sign of its class, and it stops after a round without mistakes. Two of the penguins' species can
# be separated by a line. We show the same birds to it in two orders.

# %%
birds = load("penguins")
B2, species = birds.Xy("bill_depth_mm", "flipper_length_mm", label="species")
two = np.isin(species, ["Adelie", "Gentoo"])
B2, t = (B2[two] - B2[two].mean(axis=0)) / B2[two].std(axis=0), np.where(species[two] == "Gentoo", 1.0, -1.0)


def perceptron(X, t):
    """w (D + 1,) that puts all rows (N, D) on the side of their t = ±1; the rows are taken in their order."""
    Z, w, mistakes = np.column_stack([np.ones(len(X)), X]), np.zeros(X.shape[1] + 1), 1
    while mistakes:
        mistakes = 0
        for z, side in zip(Z, t):
            if side * (w @ z) <= 0:
                w, mistakes = w + side * z, mistakes + 1
    return w


# %%
# claim 10.9
forth, back = np.arange(len(t)), np.arange(len(t))[::-1]
planes = [perceptron(B2[order], t[order]) for order in (forth, back)]
lda = [LDA().fit(B2[order], t[order]).decision_function(B2) for order in (forth, back)]
for w in planes:
    assert (t * (w[0] + B2 @ w[1:]) > 0).all()                     # both are right about every bird
cosine = planes[0] @ planes[1] / np.prod(np.linalg.norm(planes, axis=1))
print(f"two orders, two planes: the angle between their (w0, w) is {np.degrees(np.arccos(cosine)):.0f} degrees")
assert cosine < 0.999
np.testing.assert_allclose(*lda, rtol=1e-9, atol=1e-9)             # sums do not see the order

# %%
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True)
for ax, w, name in zip(axes, planes, ("from the first to the last", "from the last to the first")):
    plots.decision_regions(ax, lambda P, w=w: np.where(w[0] + P @ w[1:] > 0, "Gentoo", "Adelie"), B2)
    plots.scatter_classes(ax, B2, species[two])
    ax.set(xlabel="bill depth (standardised)", title=f"perceptron, rows {name}")
axes[0].set_ylabel("flipper (standardised)")
axes[0].legend(loc="lower left")
plots.alt(fig, "Adelie and Gentoo penguins, bill depth against flipper length, standardised: two clouds with a gap. In "
               "both panels a line runs through the gap, but with a different slope.")
plt.show()

# %% [markdown]
# What we see: two lines, both without a mistake, and no reason to prefer one. Neither is *the* answer, for the
# algorithm's answer is a function of the order. So it cannot be summed in pieces. You may fit a plane to each piece and
# average them, and many do. That is another algorithm, with properties of its own.
#
# ## 4. Map and reduce
#
# Tiers 1 and 2 have the form
#
# $$\text{fit} = \operatorname{solve}\Bigl(\sum_{b=1}^{B} s_b\Bigr), \qquad s_b = \text{statistics of piece } b.$$
#
# No $s_b$ needs another one. So they may be made anywhere: **map** the pieces to their records, then **reduce** the
# records by addition. (The names are those of Dean and Ghemawat, 2004; that most of machine learning has this form is
# from Chu and others, 2006.) In `chunks`, `map=` says where. By default it is Python's own `map`: one piece after the
# other, here. `processes(2)` is another one: two new Pythons, which get the *addresses* of the pieces, read them from
# the file, and send back a record each.
#
# A worker is a *fresh* Python. It does not know what you typed in this notebook; what is sent to it must be in a module
# that it can import, such as the library. For an experiment below we need a reader that kills its own process, at the
# first attempt only. So we write it into a module, and put its folder on the path, which workers inherit.

# %%
import sys

MODULE = '''
import os
import signal
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class DeadlyOnce:
    """Reads a piece, but kills its process at the first attempt."""

    read: object
    trace: str  # a file that tells that it has happened

    def __call__(self):
        if not os.path.exists(self.trace):
            Path(self.trace).touch()
            os.kill(os.getpid(), signal.SIGTERM)
        return self.read()
'''
sys.path.insert(0, str(HERE))
with open(HERE / "deadly.py", "w", encoding="utf-8") as file:
    file.write(MODULE)

# %%
import pickle
from contextlib import ExitStack

from course_lib.reduce import processes

open_pools = ExitStack()
two_workers = open_pools.enter_context(processes(2))               # in use until the end of section 5
table = chunks(X, y, rows=ROWS, classes=[0, 1])
sent = len(pickle.dumps(list(table.pieces)[7]))
back = len(pickle.dumps(Moments.of(X[:ROWS], np.eye(2)[y[:ROWS]], pooled=True)))
print(f"a piece: {X[:ROWS].nbytes / 1e3:,.0f} kB; to a worker go {sent / 1e3:.1f} kB, {back / 1e3:.1f} kB come back")

# %% [markdown]
# Whose records come first depends on who is faster. If we added them as they come, the last bits would change from run
# to run, as in section 2. `total` waits for them in the order of the pieces. **Guess**: in how many of its 42
# coefficients will the fit by two workers differ from the fit here?

# %%
# claim 10.10
def coefficients(table, model=LDA):
    """Weights and bias of a fitted linear rule, in one array."""
    weights, bias = model().fit(table).linear()
    return np.append(weights, bias)


here, there = (coefficients(chunks(X, y, rows=ROWS, classes=[0, 1], map=place)) for place in (map, two_workers))
assert here.tobytes() == there.tobytes() and len(here) == 2 * (D + 1)
print("two processes: the same", 8 * len(here), "bytes")

# %% [markdown]
# Not one bit. "It is only rounding" is never the explanation, and a test may ask for equality. The fits of tier 2 are
# sent through the same door, once a step:

# %%
# claim 10.10
from course_lib import MixtureClassifier

for rule in (LogisticRegression(), MixtureClassifier(2, "diagonal", tol=1e-3)):
    both = [rule.fit(chunks(X[:SOME], y[:SOME], rows=ROWS, classes=[0, 1], map=place)).decision_function(new)
            for place in (map, two_workers)]
    assert both[0].tobytes() == both[1].tobytes()
    print(f"{type(rule).__name__}: the same {both[0].nbytes} bytes")

# %% [markdown]
# ### A worker dies
#
# On a large machine something always breaks: memory runs out, somebody pulls a plug. What is lost? A record that had
# not arrived. But a record is a pure function of its piece, and the piece is still in the file. So its task is simply
# done again, and nothing else changes.
#
# So put the deadly reader before one of the pieces:

# %%
# claim 10.11
from dataclasses import replace

from deadly import DeadlyOnce

readers = list(table.pieces)
readers[5] = DeadlyOnce(readers[5], str(HERE / "it_happened"))
survived = coefficients(replace(table, pieces=readers, map=two_workers))
assert (HERE / "it_happened").exists() and survived.tobytes() == here.tobytes()
print("a worker was killed, and the answer has the same", 8 * len(here), "bytes")

# %% [markdown]
# **Where it fails.** If it is the *piece* that kills, say by asking for more memory than there is, trying again kills
# again. After three times in a row without a result the library gives up with an error, instead of trying for ever.
# And if the *first* process dies, the one that adds, all is lost.
#
# ### A cluster
#
# On several machines somebody must send tasks, notice the dead, and keep an account of who is doing what. That is the
# business of a scheduler, such as Dask's. Its `Client` is the same thing to us: yet another `map`. `cluster(2)` starts
# a scheduler and two workers on this machine; with a scheduler elsewhere you write `on(Client("tcp://…"))` instead.

# %%
# claim 10.12
from importlib.util import find_spec

from course_lib.reduce import cluster, on

if find_spec("distributed"):
    with cluster(2) as client:
        afar = coefficients(chunks(X, y, rows=ROWS, classes=[0, 1], map=on(client)))
    assert afar.tobytes() == here.tobytes()
    print("a cluster of two workers: the same", 8 * len(here), "bytes")
else:
    print('for this cell: pip install -e ".[scale]"')

# %% [markdown]
# And where do the rows come from?
#
# | source | how | a piece is | what travels |
# |---|---|---|---|
# | array in memory | `chunks(X, y, rows=…)` | so many rows | the rows |
# | memory map | the same | so many rows | file name, a place in it |
# | function that returns a generator | `chunks(rows, classes=…)` | what it yields | the rows |
# | Parquet: a file or a folder | `parquet(path, target=…, classes=…)` | a row group | file name, a number |
# | `dask.array`, over any store | `chunks(X, y)` | a block | the recipe of the block |
#
# The fit does not see the difference. One of them for a test: the first 40,000 mails, written as Parquet and read
# again.

# %%
# claim 10.12
from course_lib.chunks import parquet

if find_spec("pyarrow"):
    import pyarrow
    from pyarrow.parquet import write_table
    columns = {f"word{j}": X[:40_000, j] for j in range(D)} | {"spam": y[:40_000]}
    write_table(pyarrow.table(columns), HERE / "mails.parquet", row_group_size=10_000)
    from_parquet = coefficients(parquet(HERE / "mails.parquet", target="spam", classes=[0, 1]))
    from_map = coefficients(chunks(X[:40_000], y[:40_000], rows=10_000, classes=[0, 1]))
    np.testing.assert_allclose(from_parquet, from_map, rtol=1e-10)
    print("four row groups of a Parquet file, four pieces of a memory map: the same fit")
else:
    print('for this cell: pip install -e ".[scale]"')

# %% [markdown]
# ## 5. What it costs, and whether it is worth it
#
# ### What a worker brings
#
# Some of the work can be shared out, some cannot. Let the whole take $p$ seconds that can be shared and $r$ seconds
# that cannot: starting the workers, handing out pieces, merging records. With $Q$ workers that is
#
# $$T(Q) = r + \frac pQ, \qquad
# \frac{T(1)}{T(Q)} = \frac{r + p}{r + p/Q} < \frac{r + p}{r} = \frac1{\text{share of } r}.$$
#
# This is **Amdahl's law**. If a twentieth of the work cannot be shared, a thousand workers are not 20 times as fast as
# one. **Predict**: how many times as fast are 20 workers?

# %%
predict("10.13", None)

# %%
import heapq


def simulate(pieces, Q, each=1.0, rest=0.0):
    """When Q workers have done all pieces, each taken by the first one free, and the rest is done by one."""
    free = [0.0] * Q
    for _ in range(pieces):
        heapq.heappush(free, heapq.heappop(free) + each)
    return max(free) + rest


# %%
def speedup(share, Q):
    """Amdahl's law: how many times as fast Q workers are if this share of the work cannot be shared out."""
    return 1 / (share + (1 - share) / Q)


# %%
# claim 10.13
predict("10.13", result=round(speedup(0.05, 20), 2))
for Q in (1, 2, 5, 20, 100):
    times = [simulate(1900, workers, rest=100.0) for workers in (1, Q)]            # rest: 100 of 2,000
    np.testing.assert_allclose(times[0] / times[1], speedup(0.05, Q), rtol=1e-12)
    assert times[0] / times[1] < 20
    print(f"{Q:4d} workers: {times[0] / times[1]:.2f} times as fast; rounds for 7 pieces: {simulate(7, Q):.0f}")

# %%
some = 2 ** np.arange(11)
laws = {f"{share:.0%} cannot be shared": speedup(share, some) for share in (0.0, 0.01, 0.05, 0.2)}
fig, ax = curves(some, laws, "workers Q", "times as fast as one")
ax.legend()
plots.alt(fig, "How many times as fast Q workers are as one, on logarithmic axes, for shares of 0, 1, 5 and 20 per "
               "cent that cannot be shared out. Only the first rises without end; the others bend and level off at "
               "100, 20 and 5.")
plt.show()

# %% [markdown]
# What we see: the curves bend where $p/Q$ has come down to $r$. After that, money spent on workers is money lost.
# (The last column of the printout is another limit: there are never more workers busy than there are pieces. Seven
# pieces on five workers take two rounds, and three workers idle in the second.)
#
# Which $r$ and $p$ have we got? Measure the parts, one by one, and put them into the formula. These are seconds of the
# machine that ran this page; run the cell for yours. Two workers that we really time are there for comparison.

# %% tags=["nbval-ignore-output"]
from timeit import repeat


def seconds(call, times=5):
    """The least time of a few calls."""
    return min(repeat(call, number=1, repeat=times))


read = list(table.pieces)[7]
rows, labels, _ = read()
R = np.eye(2)[labels]
one, other = (Moments.of(rows, R, pooled=True) for _ in range(2))
cost = {"read": seconds(read), "sum": seconds(lambda: Moments.of(rows, R, pooled=True)),
        "merge": seconds(lambda: one + other, 50),
        "hand out": seconds(lambda: list(two_workers(abs, range(20)))) / 20}
for part, spent in cost.items():
    print(f"{part:9s}{1e3 * spent:8.3f} ms a piece")

# %% tags=["nbval-ignore-output"]
def modelled(pieces, Q, start=1.0):
    """Seconds that a fit takes: the parts above, and a second to start Pythons if there are any."""
    shared, alone = cost["read"] + cost["sum"], cost["merge"] + (Q > 1) * cost["hand out"]
    return (Q > 1) * start + pieces * (alone + shared / Q)


tables = {f"{n * ROWS:,} rows, {8 * n * ROWS * D / 1e9:,.2g} GB": modelled(n, some) for n in (20, 1_000, 50_000)}
fig, ax = curves(some, tables, "workers Q", "seconds (model)")
ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
plots.alt(fig, "Seconds that a fit should take against the number of workers, for three sizes of table, on logarithmic "
               "axes. The smallest table takes longest with more than one worker, since they must be started. The "
               "curves of the larger ones fall and then level off, where handing out takes as long as summing.")
plt.show()

# %% tags=["nbval-ignore-output"]
for name, place in (("here", map), ("two workers, started", two_workers)):
    spent = seconds(lambda: coefficients(chunks(X, y, rows=ROWS, classes=[0, 1], map=place)), 2)
    print(f"{name:21s}{spent:.3f} s")
open_pools.close()

# %% [markdown]
# What we see: for *this* table, processes are a waste, since the whole fit takes less than starting them. For a table a
# thousand times as large they are not. Handing out costs the same fraction of a millisecond however large the piece is.
# So make pieces large: as large as the memory of a worker allows, while there are still several for each worker.
#
# The model leaves out that all workers may read from one disk, or share one memory bus. Then reading cannot be shared,
# and belongs to $r$. Measure yours.
#
# ### On trial: "more data beats everything"
#
# You have 200,000 mails. You may fit to all of them, or to a tenth, drawn by lot. (Ours stand in no order, so the first
# tenth will do. In a table that is sorted, by date or by user, it would not.) *Question:* **does the tenth of the rows
# decide differently?** *Data:* the drawn world, in which the risk of any linear rule is known exactly. *Yardsticks*,
# before we look: (1) the share of mails that the two rules file differently; (2) the excess risk of each, its risk less
# the least possible; (3) the standard error of a test error, as in unit 01: what nobody can measure is no reason to
# pay.
#
# In class $k$ the score $w_0 + w^\top x$ is normal, with the mean $w_0 + w^\top \mu_k$ and the variance $w^\top \Sigma
# w$. So the rule that says *spam* where the score is positive has the risk
#
# $$R = P(0)\,\Phi\Bigl(\frac{w_0 + w^\top \mu_0}{\sqrt{w^\top \Sigma w}}\Bigr)
# + P(1)\,\Phi\Bigl(-\frac{w_0 + w^\top \mu_1}{\sqrt{w^\top \Sigma w}}\Bigr).$$
#
# What should we expect? Unit 01 (claim 1.9) had it in one dimension. Estimates are off by about $1/\sqrt N$, so the
# plane moves by about $1/\sqrt N$, and so does the share of mails between the old plane and the new one. But these are
# mails near the boundary, where both classes are about equally probable: a mail at a distance $d$ from it costs about
# $d$ if it is filed the other way. That is $1/\sqrt N$ mails at a cost of $1/\sqrt N$ each: the excess risk goes like
# $1/N$.

# %%
from scipy.special import ndtr


def plane(model):
    """(w0, w) of a fitted two-class rule, (D + 1,)."""
    weights, bias = model.linear()
    return np.append(bias[1] - bias[0], weights[1] - weights[0])


def risk(w, priors=PRIORS):
    """Exact probability that the plane w files a mail of the drawn world wrongly."""
    scores = (w[0] + MEAN @ w[1:]) / np.linalg.norm(ROOT @ w[1:])
    return priors[0] * ndtr(scores[0]) + priors[1] * ndtr(-scores[1])


BEST = plane(world)                                                # the world's own rule: no other is better
test, kind = draw(100_000, np.random.default_rng(11))
measured = np.mean((BEST[0] + test @ BEST[1:] > 0) != kind)
print(f"least risk {risk(BEST):.4f}; on 100,000 new mails {measured:.4f}")
assert abs(measured - risk(BEST)) < 4 * np.sqrt(0.14 * 0.86 / 100_000)

# %%
def trial(n, rng):
    """Excess risk of LDA from n mails, and the share of mails that it files otherwise than the best rule."""
    w = plane(LDA().fit(*draw(n, rng)))
    differently = (w[0] + test @ w[1:] > 0) != (BEST[0] + test @ BEST[1:] > 0)
    return risk(w) - risk(BEST), differently.mean()


# %%
# claim 10.14
sizes = 200 * 2 ** np.arange(7)
trials = np.array([[trial(n, np.random.default_rng([12, n, r])) for r in range(16)] for n in sizes])
excess, moved = trials.mean(axis=1).T
slopes = [np.polyfit(np.log(sizes), np.log(curve), 1)[0] for curve in (moved, excess)]
price = np.mean(excess[2:] * sizes[2:])                            # excess risk ≈ price / N
print(f"slopes: mails filed differently {slopes[0]:.2f}, excess risk {slopes[1]:.2f}; excess about {price:.1f}/N")
assert abs(slopes[0] + 0.5) < 0.05 and abs(slopes[1] + 1) < 0.1 and trials[:, :, 0].min() >= 0

# %%
everything, tenth = (plane(LDA().fit(chunks(X[:n], y[:n], rows=ROWS, classes=[0, 1]))) for n in (N, N // 10))
otherwise = np.mean((everything[0] + test @ everything[1:] > 0) != (tenth[0] + test @ tenth[1:] > 0))
unsure = np.sqrt(risk(BEST) * (1 - risk(BEST)) / N)                # standard error of an error rate on N test mails
both = {"mails filed differently": moved, "excess risk": excess}
fig, ax = curves(sizes, both, "mails in the fit", "share of all mails")
ax.loglog([N // 10, N], [risk(w) - risk(BEST) for w in (tenth, everything)], plots.look(1).marker, markersize=9,
          color=plots.look(1).colour, markerfacecolor="white", label="excess of a tenth, and of all")
ax.axhline(unsure, color="0.4", linewidth=1, linestyle=":", label="standard error of a test on all")
ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
plots.alt(fig, "Against the number of mails in the fit, on logarithmic axes: the share filed differently from the best "
               "rule falls with slope minus one half, the excess risk with slope minus one. At a tenth of the table "
               "and at all of it the excess risk lies below the standard error of a test on 200,000 mails.")
plt.show()

# %%
# claim 10.15
for name, w in (("a tenth", tenth), ("everything", everything)):
    print(f"{name:11s} excess risk {1e4 * (risk(w) - risk(BEST)):.2f} in 10,000 mails")
paired = np.sqrt(otherwise / N)                                    # of a difference, on the mails filed differently
print(f"filed differently {otherwise:.2%}; standard error of a test {1e4 * unsure:.1f}, paired {1e4 * paired:.1f}")
gain = risk(tenth) - risk(everything)
assert 0 < gain < unsure / 2 and gain < 2 * paired and otherwise > 10 * gain and price / 100_000 < unsure / 10
print(f"for 0.001: {price / 1e-3:,.0f} mails to learn from, {risk(BEST) * (1 - risk(BEST)) / 1e-6:,.0f} to test on")

# %% [markdown]
# What we see: the tenth *does* decide differently, on some mails in a thousand. But what that costs is so little that a
# test on all 200,000 mails could not tell, not even mail by mail. How many rows are enough, then? **Say what excess you
# would pay for**, $e$, and take $N = \text{price}/e$. To *measure* a risk near 0.14 with the standard error $e$, take
# $0.14 \cdot 0.86 / e^2$ test mails. For $e = 0.001$, one mail in a thousand, the last line of the printout has both.
#
# Five thousand mails to learn from and some hundred thousand to test on: that fits into any laptop. It is the *test*
# that needs the rows. So for a plane of 21 coefficients **a sample of 100,000 rows is enough**: its excess risk,
# price$/100{,}000$, is less than a tenth of the standard error of a test on all the mails. The rest is for checking.
#
# But the charge has another side. Let the class you care about be *rare*: one mail in 1,000 is a fraud, and a missed
# one costs as much as 999 false alarms. (So $\lambda_y P(y)$ are equal, and the risk is the mean of the two classes'
# error rates.) We make the fraud look as spam did, and compare 30,000 rows; a tenth of them, by lot; and a tenth that
# keeps every fraud and draws the others by lot. By claim 1.4 a rebalanced sample is no fault as long as the priors are
# put right, and here $\lambda P$ is known.

# %%
def rare(n0, n1, rng):
    """Excess risk, at equal λP, of LDA from n0 good mails and n1 frauds."""
    kinds = np.repeat([0, 1], [n0, n1])
    rows = MEAN[kinds] + rng.normal(size=(n0 + n1, D)) @ ROOT
    w = plane(LDA(priors=[0.5, 0.5]).fit(rows, kinds))
    return risk(w, (0.5, 0.5)) - LEAST


LEAST = risk(plane(LDA(priors=[0.5, 0.5]).fit(words, spam)), (0.5, 0.5))
plans = {"all 30,000": (29_970, 30), "a tenth by lot": (2_997, 3), "a tenth, with every fraud": (2_970, 30)}
costs = {name: np.array([rare(*plan, np.random.default_rng([13, r])) for r in range(12)])
         for name, plan in plans.items()}

# %%
# claim 10.15
for name, cost_of_plan in costs.items():
    spread = cost_of_plan.std(ddof=1) / np.sqrt(12)
    print(f"{name:26s} excess risk {cost_of_plan.mean():.4f} ± {spread:.4f}")
lost = costs["a tenth by lot"] - costs["all 30,000"]
assert lost.mean() > 4 * lost.std(ddof=1) / np.sqrt(12)
assert costs["a tenth by lot"].mean() > 4 * costs["all 30,000"].mean()
assert costs["a tenth, with every fraud"].mean() < 1.5 * costs["all 30,000"].mean()

# %% [markdown]
# **The verdict.** On the mails the saying is **wrong**, on the frauds it is **right, about the frauds alone**. What
# counts is not $N$ but the number of rows *for each number that you estimate*, in the class that has fewest. Where that
# is large, a tenth decides differently here and there, at no cost that could be measured. Where it is small, every row
# of the rare class counts, and most of the others do not: choose *which* rows you read, before you buy machines.
#
# All rows do matter if a class is rare; if the model grows with the data (a word of its own for each sender, Parzen
# windows); if there is a fit for each of a million customers; or if the rows must all be *decided*. That last one is
# the easiest: each row for itself, no sum at all.
#
# ## 6. Quiz
#
# Five questions, and every choice is explained.

# %% tags=["nbval-ignore-output"]
quiz("10.1")
quiz("10.2")
quiz("10.3")
quiz("10.4")
quiz("10.5")

# %% [markdown]
# ## Close
#
# **In one paragraph.** Many fits are made of sums over rows, so a table can be read in pieces, and the memory is that
# of a piece. The sums that merge without loss are mass, mean and scatter, not squares. One pass serves normal
# densities, naive Bayes, least squares and Fisher; EM and Newton's method take one a step; Parzen windows keep their
# rows, and the perceptron depends on their order. Pieces may be summed anywhere, and if the records are added in the
# order of the pieces, the answer is the same to the last bit, whoever dies on the way. More workers help until what
# cannot be shared out is all that is left. And more rows help until their number for each estimated quantity is large;
# an excess risk falls like $1/N$.
#
# > **Formula card**
# >
# > two parts, $\delta = \bar z - \bar x$: $\quad n + m, \qquad \bar x + \dfrac{m}{n+m}\delta, \qquad
# > S_x + S_z + \dfrac{nm}{n+m}\,\delta\delta^\top$
# >
# > fit $=$ solve$\bigl(\sum_b s_b\bigr)$; Newton: $s_b = \bigl(\sum (\sigma_i - y_i) z_i,\;
# > \sum \sigma_i(1 - \sigma_i) z_i z_i^\top\bigr)$ over the rows of piece $b$
# >
# > $T(Q) = r + p/Q$, never more than $(r + p)/r$ times as fast
# >
# > rows to learn: price$/e$; rows to test: $R(1 - R)/e^2$
#
# **Common mistakes.** Scatters added without the term between · means averaged without their masses · $\sum x^2 - n\bar
# x^2$ · records added as they come, and the last bits change · a generator read twice · classes that are missing from
# the first piece · thousands of tiny pieces · a cluster for what takes a second · a tenth by lot of a rare class.
#
# **When not to use it.** When the table fits into memory: `fit(X, y)` does the same sums with less ado. When the answer
# from a sample is already better than you can measure.
#
# **Elsewhere.** In scikit-learn, `partial_fit` takes a table piece by piece. For `GaussianNB` and the other naive Bayes
# models that is tier 1, the fit of the whole table. For `SGDClassifier` and `Perceptron` it is tier 4, and the order
# matters. `LinearDiscriminantAnalysis` and `LogisticRegression` have none. `n_jobs` shares out the folds, trees or
# classes, not the rows. Dask-ML and Spark's MLlib fit tables on clusters in the way of tiers 1 and 2.
#
# **In the library.** `course_lib.chunks` has `chunks` and `parquet`; `course_lib.reduce` has `processes`, `cluster` and
# `on`; `course_lib.statistics` has the records. `progress=True` shows a bar for each pass.
#
# **References.** T. F. Chan, G. H. Golub, R. J. LeVeque, *Updating formulae and a pairwise algorithm for computing
# sample variances*, Stanford University, STAN-CS-79-773 (1979); and *Algorithms for computing the sample variance*, The
# American Statistician 37 (1983) 242–247. J. Dean, S. Ghemawat, *MapReduce: simplified data processing on large
# clusters*, OSDI (2004). C.-T. Chu and others, *Map-reduce for machine learning on multicore*, NIPS (2006). G. M.
# Amdahl, *Validity of the single processor approach to achieving large scale computing capabilities*, AFIPS (1967). B.
# Efron, *The efficiency of logistic regression compared to normal discriminant analysis*, JASA 70 (1975) 892–898, for
# the excess risk of LDA. B. W. Silverman, *Density Estimation* (1986), section 3.3. M. Rocklin, *Dask: parallel
# computation with blocked algorithms and task scheduling*, SciPy (2015).
#
# **Next:** nothing; this was a bonus. [Back to the start](00_start_here.ipynb), where the register of symbols is.
