# %% [markdown]
# # Exercises 00: Start here
#
# One exercise, to try the checker on. It belongs to the notebook
# [00 Start here](../notebooks/00_start_here.ipynb); about 10 minutes.
#
# How it goes: read the statement, replace the line `raise NotImplementedError(…)` by your code, run that cell
# (Shift + Enter), then run the cell with `check(…)` below it. The card says what is right and what is not. Check as
# often as you like; nobody counts.

# %% tags=["setup"]
import numpy as np

from course_lib.classroom import check, hint, solution

# %% [markdown]
# ## E0.1 The logarithm of a sum of exponentials
#
# Each row of a table `a` holds the logarithms of K numbers. Find the logarithm of the numbers' sum, row by row:
#
# $$\operatorname{lse}(a_i) = \ln \sum_{k=1}^{K} e^{a_{ik}}, \qquad i = 1, \dots, N.$$
#
# By hand first. The row `[0, 0]` stands for the numbers 1 and 1, whose sum is 2: the answer is ln 2 ≈ 0.6931. The
# row `[1, 2]` stands for 2.718 and 7.389, whose sum is 10.107: the answer is 2.3133.
#
# Your function must also answer where the plain formula cannot:
#
# | row | answer | why it is hard |
# |---|---|---|
# | `[-800, -800]` | −800 + ln 2 ≈ −799.3069 | $e^{-800}$ is 0 in floating point |
# | `[800, 800]` | 800 + ln 2 ≈ 800.6931 | $e^{800}$ is infinite in floating point |
# | `[-800, 800]` | 800 | whatever saves the one must not ruin the other |
# | `[-inf, 0]` | 0 | the number 0 has the logarithm −∞; it adds nothing |
# | `[-inf, -inf]` | −∞ | two zeros add up to zero, and −∞ − (−∞) is not a number |
#
# Rows of all these kinds may stand in one table. `a` must not be changed. Write it with numpy; no ready-made
# log-sum-exp, please.


# %% tags=["solution"]
def log_sum_exp(a):
    """Logarithm of the sum of exponentials of each row.

    Parameters
    ----------
    a : (N, K) array of floats
        Logarithms; −inf is allowed, also in a whole row.

    Returns
    -------
    (N,) array
        ln Σ_k exp a[i, k].
    """
    peak = a.max(axis=1, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0)
    shifted = a - peak
    total = np.exp(shifted).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.log(total) + peak[:, 0]


# %%
check(log_sum_exp)

# %% [markdown]
# Stuck? `hint(log_sum_exp)` gives a nudge, called again the formula, and once more the first line. After that
# `solution(log_sum_exp)` shows a worked solution beside yours.

# %% [markdown] tags=["worked"]
# ### The solution, line by line
#
# **The identity.** For any number $m$,
#
# $$\ln \sum_k e^{a_k} = \ln \Bigl( e^{m} \sum_k e^{a_k - m} \Bigr) = m + \ln \sum_k e^{a_k - m}.$$
#
# It holds for every $m$; the computer cares which one we take. With $m = \max_k a_k$ the largest exponent is 0. So
# nothing overflows, and one term of the sum is exactly $e^0 = 1$. The sum therefore lies between 1 and $K$, where the
# logarithm is harmless. Terms that underflow to 0 were smaller than $e^{-745}$ beside that 1: they could not have
# changed any digit.
#
# 1. `peak` has the shape (N, 1): one maximum **for each row**. `keepdims=True` keeps the axis of length 1, and
#    numpy then subtracts each row's own maximum from that row.
# 2. A row of −∞ has the maximum −∞, and −∞ − (−∞) is NaN. We subtract 0 there instead: the exponentials are 0, their
#    sum is 0, its logarithm −∞, as it should be.
# 3. `total` has the shape (N,). Adding a `peak` of shape (N, 1) to it would give a table of shape (N, N), without any
#    error. Hence the `[:, 0]`.
# 4. `np.errstate(divide="ignore")` says that ln 0 = −∞ is meant, so that numpy does not warn.
#
# ### Why the wrong ones are wrong
#
# * *exp before the maximum*: right on small numbers, and −∞ or ∞ beyond 745. It passes every test that is too gentle.
# * *one maximum for the whole table*: right as long as the rows are alike. A row 800 below the largest one is lost.
# * *the maximum is not added back*, or *subtracted once more*: too small by the row's maximum, or by twice that.
#   A row whose maximum is 0 cannot show it, which is why `[0, 0]` is not enough of a test.
# * *`keepdims` forgotten*: with as many rows as columns nothing complains, and column k loses the maximum of row k.
# * *the minimum or the mean subtracted*: true for every $m$ on paper, but then $e^{1600}$ stands in the row
#   `[-800, 800]`. Only the maximum bounds all exponents from above.
# * *the mean for the sum*: off by ln K in every row.
# * *NaN for a row of −∞*: rare in a textbook, daily in naive Bayes, where a word never seen gives a probability 0.

# %% [markdown] tags=["worked"]
# A check by another route: the identity holds for every $m$, so take one that is not the maximum, and let
# `math.fsum` add without rounding.

# %% tags=["worked"]
import math

row = [-800.0, -803.0, -1000.0]
by_hand = -803 + math.log(math.fsum(math.exp(value + 803) for value in row))
print(f"{by_hand:.3f} by hand, {log_sum_exp(np.array([row]))[0]:.3f} by the function")
