"""Inputs, hints and known mistakes of the exercises in 00_start_here."""
import math

import numpy as np

from course_lib.classroom.cases import Case, Exercise

log_sum_exp = Exercise(
    "log_sum_exp", id="E0.1", title="The logarithm of a sum of exponentials", points=1,
    hints=(
        "The exponentials are too small or too large for the computer, but only their ratios matter. What could you "
        "take out of every term of a row, so that its largest term becomes 1?",
        "For any number m, ln Σ exp(a_k) = m + ln Σ exp(a_k − m). Take for m the largest entry of the row, one m for "
        "each row; in a row of −inf take 0.",
        "`peak = a.max(axis=1, keepdims=True)`, of shape (N, 1). Then replace its −inf by 0 with "
        "`np.where(np.isfinite(peak), peak, 0)`, and subtract."),
    notice="What to notice: the answer never needed the sum itself, which for the row of −800s is a number that the "
           "computer cannot hold. From here on the course keeps products of probabilities as sums of logarithms.",
    intermediates=("peak", "shifted", "total"),
    ready=("scipy.special.logsumexp",),
)


@log_sum_exp.cases
def cases(rng):
    yield Case("two rows of small numbers", (np.array([[0.0, 0.0], [1.0, 2.0]]),))
    yield Case("three rows of four numbers", (rng.normal(1.0, 2.0, size=(3, 4)),))
    yield Case("numbers near −800", (rng.uniform(-810, -800, size=(2, 3)),))
    yield Case("numbers near 800", (rng.uniform(800, 810, size=(2, 3)),))
    yield Case("rows that lie 1,600 apart", (rng.uniform(0, 3, size=(3, 2)) + [[800.0], [0.0], [-800.0]],))
    yield Case("entries of one row that lie 1,600 apart", (rng.uniform(0, 3, size=(2, 3)) + [-800.0, 0.0, 800.0],))
    yield Case("a zero probability, whose logarithm is −inf",
               (np.array([[-np.inf, 0.5, 1.0]]) + rng.uniform(size=(2, 1)),))
    yield Case("a row of −inf only", (np.array([[-np.inf, -np.inf], rng.uniform(size=2)]),))


@log_sum_exp.mistake(
    "The maximum is not subtracted before exp.",
    "Small numbers come out right, but exp(−800) is 0 in floating point and exp(800) is infinite, so the logarithm "
    "gives −inf or inf. Subtract each row's maximum first, then take exp, sum and log, and add the maximum back.")
def no_shift(a):
    with np.errstate(all="ignore"):
        return np.log(np.exp(a).sum(axis=1))


@log_sum_exp.mistake(
    "One maximum is used for the whole table.",
    "A row that lies far below the largest entry of the table still underflows: its exponentials are all 0. Every "
    "row needs its own maximum: `a.max(axis=1, keepdims=True)` has one for each.")
def one_maximum(a):
    peak = a.max()
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - peak).sum(axis=1)) + peak


@log_sum_exp.mistake(
    "The minimum or the mean of the row is subtracted, not its maximum.",
    "The identity holds for any m, but only the maximum makes every exponent 0 or less. Beside −800 an entry of 800 "
    "becomes exp(1600), which is infinite. Take `a.max(axis=1, keepdims=True)`.")
def minimum_subtracted(a):
    low = a.min(axis=1, keepdims=True)
    low = np.where(np.isfinite(low), low, 0)
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - low).sum(axis=1)) + low[:, 0]


@log_sum_exp.mistake(
    "Only the largest entry of each row is returned.",
    "The maximum is what you take out of the sum; what is left is Σ exp(a_k − m), between 1 and K, and its logarithm "
    "is still to be added. For the row [0, 0] the maximum is 0, the answer ln 2 ≈ 0.693.")
def maximum_alone(a):
    return a.max(axis=1)


@log_sum_exp.mistake(
    "It is a logarithm to the base 10.",
    "The exponentials have the base e, and so must the logarithm that undoes them: `np.log`. There is no other in this "
    "course. For the row [0, 0] it gives ln 2 ≈ 0.693; `np.log10` gives 0.301.")
def base_ten(a):
    peak = _finite_peak(a)
    with np.errstate(all="ignore"):
        return np.log10(np.exp(a - peak).sum(axis=1)) + peak[:, 0]


@log_sum_exp.mistake(
    "The maximum is subtracted but not added back.",
    "Your answer is too small by the maximum of its row; look at the row [1, 2], where exactly 2 is missing. What "
    "was taken out of the sum as a factor exp(m) comes back as a term m after the logarithm.")
def not_added_back(a):
    peak = _finite_peak(a)
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - peak).sum(axis=1))


@log_sum_exp.mistake(
    "The maximum is subtracted once more at the end instead of added.",
    "Your answer is too small by twice the maximum of its row. The factor exp(m) was taken out of the sum, so its "
    "logarithm m is added: ln(exp(m)·S) = m + ln S.")
def subtracted_at_the_end(a):
    peak = _finite_peak(a)
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - peak).sum(axis=1)) - peak[:, 0]


@log_sum_exp.mistake(
    "Each column loses a row's maximum: `keepdims=True` is missing.",
    "`a.max(axis=1)` has the shape (N,), and numpy lines it up with the columns: column k loses the maximum of row "
    "k. If N is not K, that stops with an error. `keepdims=True` gives the shape (N, 1), one maximum for each row.")
def without_keepdims(a):
    peak = a.max(axis=1)
    peak = np.where(np.isfinite(peak), peak, 0)
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - peak).sum(axis=1)) + peak


@log_sum_exp.mistake(
    "A column of maxima is added to a row of logarithms, which makes a table.",
    "The sum has the shape (N,), the maximum with `keepdims=True` the shape (N, 1); numpy adds every one to every one, "
    "(N, N). Take the axis of length 1 off the maximum before you add it: `peak[:, 0]`.")
def column_plus_row(a):
    peak = _finite_peak(a)
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - peak).sum(axis=1)) + peak


@log_sum_exp.mistake(
    "The sum runs down the columns instead of along the rows.",
    "Each row of `a` is one object, and its K entries are to be added. With the shape (N, K) beside it: `axis=0` sums "
    "the N away, `axis=1` sums the K away. You want to be left with (N,).")
def down_the_columns(a):
    return _right(a.T)


@log_sum_exp.mistake(
    "The whole table is added up into a single number.",
    "`sum()` and `max()` without `axis` run over all N·K entries. Give both of them `axis=1`, so that one number is "
    "left for each row.")
def over_everything(a):
    return _right(a.reshape(1, -1))[0]


@log_sum_exp.mistake(
    "The logarithm of the sum is missing.",
    "You return the shifted sum plus the maximum. After the sum comes a logarithm: m + ln Σ exp(a_k − m). Check it on "
    "the row [0, 0]: the sum is 2, the answer ln 2 ≈ 0.693.")
def without_logarithm(a):
    peak = _finite_peak(a)
    return np.exp(a - peak).sum(axis=1) + peak[:, 0]


@log_sum_exp.mistake(
    "The logarithm is taken of each term instead of the sum.",
    "ln exp(a) is a again, so you have only added up the entries: the row [1, 2] gives 3. The logarithm of a sum is "
    "not the sum of the logarithms; add first, then take one logarithm for each row.")
def sum_of_logarithms(a):
    return a.sum(axis=1)


@log_sum_exp.mistake(
    "The mean is taken instead of the sum.",
    "Every row is too small by ln K, for two entries by ln 2 ≈ 0.693. Replace `mean` by `sum`.")
def mean_for_sum(a):
    return _right(a) - math.log(a.shape[1])


@log_sum_exp.mistake(
    "A row of −inf gives NaN instead of −inf.",
    "The maximum of such a row is −inf, and −inf − (−inf) is not a number. Subtract 0 in such a row: "
    "`np.where(np.isfinite(peak), peak, 0)`. The sum is then 0 and its logarithm −inf, the logarithm of zero.")
def nan_for_impossible(a):
    peak = a.max(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        return np.log(np.exp(a - peak).sum(axis=1)) + peak[:, 0]


def _finite_peak(a):
    peak = a.max(axis=1, keepdims=True)
    return np.where(np.isfinite(peak), peak, 0)


@log_sum_exp.variant
def _right(a):
    """Term by term: logaddexp is stable for two numbers at a time."""
    return np.logaddexp.reduce(np.asarray(a, dtype=float), axis=1)


@log_sum_exp.variant
def loops_over_lists(a):
    return np.array([_of_row([float(value) for value in row]) for row in a])


def _of_row(row):
    largest = max(row)
    if largest == -math.inf:
        return -math.inf
    return largest + math.log(math.fsum(math.exp(value - largest) for value in row))


@log_sum_exp.variant
def sorted_first(a):
    """The largest term is 1; log1p adds the others to it."""
    ordered = np.sort(a, axis=1)
    rest, largest = ordered[:, :-1], ordered[:, -1:]
    with np.errstate(invalid="ignore"):
        others = np.exp(rest - largest).sum(axis=1)
    return np.where(np.isneginf(largest[:, 0]), -np.inf, largest[:, 0] + np.log1p(others))
