"""Inputs, hints and known mistakes of the exercises in 02b_naive_bayes."""
import math

import numpy as np

from course_lib.classroom.cases import Case, Exercise
from course_lib.data import load

GOOD = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 1, 0], [0, 1, 0, 1], [0, 0, 0, 0]])
SPAM = np.array([[1, 1, 0, 0], [1, 0, 0, 1], [0, 1, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0]])
TEN, WHICH = np.vstack([GOOD, SPAM]), np.arange(10) >= 5


def _classes(rng, N, K):
    """Labels (N,) in which every class occurs and none as often as another."""
    sizes = np.arange(1, K + 1)
    y = np.repeat(np.arange(K), sizes)
    return rng.permutation(np.append(y, rng.integers(K - 1, K, size=N - len(y))))


# --- E2.2 -----------------------------------------------------------------------------------------------------------

fit_bernoulli = Exercise(
    "fit_bernoulli", id="E2.2", title="Find the mistake: shares with pseudo-counts", points=1,
    hints=(
        "Compute the share of ones and the share of zeros with the copied formula and add them. By how much is the "
        "sum too large? How often was c handed out?",
        "P(x_j = 1 | k) = (n_kj + c)/(N_k + 2c): one c for the ones, one for the zeros, two in the total. n_kj "
        "counts the ones of feature j among the members of class k, N_k the members.",
        "`member = y == np.arange(K)[:, None]`, of shape (K, N). Its row sums are the N_k, and `member @ X` the n_kj."),
    notice="What to notice: a class without objects gets ½ everywhere, whatever c is. As soon as there are objects, "
           "c says how many of them it takes to move the share away from ½.",
    intermediates=("counts", "ones"),
)


@fit_bernoulli.cases
def bernoulli_cases(rng):
    yield Case("three objects, two features", (np.array([[1, 0], [1, 1], [0, 0]]), np.array([0, 0, 1]), 2, 1.0))
    yield Case("the ten messages", (TEN, WHICH.astype(int), 2, 1.0))
    yield Case("eleven objects of three classes, c = 0.5",
               (rng.integers(0, 2, size=(11, 4)), _classes(rng, 11, 3), 3, 0.5))
    yield Case("twelve objects of four classes, c = 2",
               (rng.integers(0, 2, size=(12, 3)), _classes(rng, 12, 4), 4, 2.0))
    yield Case("a class without objects", (rng.integers(0, 2, size=(5, 3)), np.array([0, 0, 2, 2, 2]), 3, 1.5))
    yield Case("no objects yet of the last class", (rng.integers(0, 2, size=(4, 2)), np.array([1, 0, 1, 1]), 3, 1.0))


def _counted(X, y, K):
    return np.array([(y == k).sum() for k in range(K)])[:, None], np.array([X[y == k].sum(axis=0) for k in range(K)])


@fit_bernoulli.mistake(
    "The pseudo-count is added above and once below, as in the copied formula.",
    "Add the share of zeros, ((N_k − n) + c)/(N_k + c), to yours: the sum is (N_k + 2c)/(N_k + c), more than 1. "
    "Ones and zeros both got a c, so the total grows by 2c.")
def once_below(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + c) / (counts + c)


@fit_bernoulli.mistake(
    "The pseudo-count is added above and not below.",
    "A class of two objects that both have a 1 then gets (2 + 1)/2, and a probability above 1 is none. Whatever is "
    "added to the counts is added to their total: 2c for the two values.")
def not_below(X, y, K, c):
    counts, ones = _counted(X, y, K)
    with np.errstate(divide="ignore"):
        return (ones + c) / counts


@fit_bernoulli.mistake(
    "K·c is added below: the number of classes, not of values.",
    "The pseudo-counts are shared out among the values of one feature, within one class. How many classes there are "
    "does not matter to it. With K = 2 you would never see the difference; with three classes ones and zeros no "
    "longer sum to 1.")
def classes_for_values(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + c) / (counts + K * c)


@fit_bernoulli.mistake(
    "D·c is added below: the number of features, not of values.",
    "That is right for the multinomial model, in which the D words of a class share one total. Here every feature "
    "is a yes or no of its own, with two values: 2c.")
def features_for_values(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + c) / (counts + X.shape[1] * c)


@fit_bernoulli.mistake(
    "The ones of the class are divided by all its ones together.",
    "Your rows sum to 1, as in the multinomial model, where each word is drawn from one list. A message can contain "
    "several of the words or none: divide by the number of objects of the class, N_k + 2c.")
def multinomial(X, y, K, c):
    _, ones = _counted(X, y, K)
    return (ones + c) / (ones + c).sum(axis=1, keepdims=True)


@fit_bernoulli.mistake(
    "The total is that of all objects, not of the class.",
    "n_kj/N is the share of objects that are in class k *and* have a 1, a joint probability. For P(x_j = 1 | k) "
    "divide by the members of class k alone.")
def all_objects(X, y, K, c):
    _, ones = _counted(X, y, K)
    return (ones + c) / (len(X) + 2 * c)


@fit_bernoulli.mistake(
    "Smoothed across the classes: drawn to the overall share instead of ½.",
    "You gave the class 2c pseudo-objects that look like all the objects together. That is a prior too, but another "
    "one: the exercise gives c to the ones and c to the zeros, whatever the other classes do.")
def across_classes(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + 2 * c * X.mean(axis=0)) / (counts + 2 * c)


@fit_bernoulli.mistake(
    "There is no pseudo-count at all.",
    "A plain share n/N_k is 0 for what was not seen yet, and 0/0 for a class without objects. Add c above and 2c "
    "below.")
def unsmoothed(X, y, K, c):
    counts, ones = _counted(X, y, K)
    with np.errstate(invalid="ignore"):
        return ones / counts


@fit_bernoulli.mistake(
    "It counts the zeros instead of the ones.",
    "Your table is one minus the right one: P(x_j = 0 | k). Look at the first feature of the three objects, where "
    "class 0 has only ones.")
def zeros(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (counts - ones + c) / (counts + 2 * c)


@fit_bernoulli.mistake(
    "Brackets are missing: only c is divided, and the ones stay a count.",
    "`ones + c / (counts + 2 * c)` divides before it adds. The whole numerator wants a bracket: "
    "`(ones + c) / (counts + 2 * c)`. A share above 1 gives it away.")
def numerator_without_brackets(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return ones + c / (counts + 2 * c)


@fit_bernoulli.mistake(
    "The pseudo-count is added to the share instead of the count.",
    "(share + c)/(1 + 2c) moves a class of two objects as much as one of two thousand. c is a number of objects: add "
    "it before you divide, (n + c)/(N_k + 2c).")
def added_to_the_share(X, y, K, c):
    counts, ones = _counted(X, y, K)
    with np.errstate(invalid="ignore"):
        return (ones / counts + c) / (1 + 2 * c)


@fit_bernoulli.mistake(
    "c is always taken for 1.",
    "1 and 2 stand in your formula where c and 2c belong; as long as c is 1 nobody sees it.")
def always_one(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + 1) / (counts + 2)


@fit_bernoulli.mistake(
    "One c is shared out among the two values: c/2 above and c below.",
    "Ones and zeros sum to 1, so this too is a right formula, with half the pseudo-count. The exercise gives c to the "
    "ones and c to the zeros: 2c below.")
def half_each(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + c / 2) / (counts + c)


@fit_bernoulli.mistake(
    "The sizes of the classes are lined up with the features.",
    "N_k has the shape (K,), and numpy lines it up with the columns: feature k is divided by the size of class k. If D "
    "is not K, that stops with an error. `counts[:, None]` stands beside the rows.")
def sizes_along_the_row(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + c) / (counts[:, 0] + 2 * c)


@fit_bernoulli.mistake(
    "A class without objects has no row.",
    "`np.unique(y)` names the classes that occur. The table has a row for each of `range(K)`; a class without objects "
    "gets (0 + c)/(0 + 2c) = ½.")
def classes_that_occur(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return ((ones + c) / (counts + 2 * c))[np.unique(y)]


@fit_bernoulli.mistake(
    "Only the first class is filled in.",
    "All other rows are 0. Does a `return` stand inside the loop over the classes, one level too far to the right?")
def first_class_only(X, y, K, c):
    counts, ones = _counted(X, y, K)
    return (ones + c) / (counts + 2 * c) * (np.arange(K) == 0)[:, None]


@fit_bernoulli.variant
def bernoulli_loops(X, y, K, c):
    table = np.empty((K, X.shape[1]))
    for k in range(K):
        rows = [row for row, label in zip(X.tolist(), y.tolist()) if label == k]
        for j in range(X.shape[1]):
            table[k, j] = (sum(row[j] for row in rows) + c) / (len(rows) + 2 * c)
    return table


@fit_bernoulli.variant
def bernoulli_with_pseudo_objects(X, y, K, c):
    """A mean in which two further objects, all ones and all zeros, weigh c each."""
    weight = np.append(np.ones(len(X)), [c, c])
    more = np.vstack([X, np.ones(X.shape[1]), np.zeros(X.shape[1])])
    return np.array([np.average(more, axis=0, weights=weight * np.append(y == k, [True, True])) for k in range(K)])


@fit_bernoulli.variant
def bernoulli_from_odds(X, y, K, c):
    R = np.eye(K)[y]
    odds = (R.T @ X + c) / (R.T @ (1 - X) + c)
    return odds / (1 + odds)


# --- E2.3 -----------------------------------------------------------------------------------------------------------

spam_posterior = Exercise(
    "spam_posterior", id="E2.3", title="A spam filter on one page", points=1,
    hints=(
        "Pretend you know that the message is spam. How probable is it then that viagra is absent, millions "
        "present, and so on? Multiply, and multiply by the share of spam. Do the same for good mail. What share of "
        "the two has spam?",
        "g_k = N_k/N · Π_j q_j with q_j = p_kj if the word is there and 1 − p_kj if it is not, p_kj = (n_kj + "
        "c)/(N_k + 2c). The answer is g_spam/(g_good + g_spam).",
        "For `kind` in `(X[~spam], X[spam])`: `p = (kind.sum(axis=0) + c) / (len(kind) + 2 * c)`, then "
        "`np.where(message == 1, p, 1 - p)`."),
    notice="What to notice: the smoothed answer, 64/91, is nearer to ½ than 27/35. Five messages of each kind are "
           "little evidence, and the pseudo-counts say so.",
    intermediates=("g",),
)


@spam_posterior.cases
def spam_cases(rng):
    yield Case("the ten messages, no smoothing", (TEN, WHICH, np.array([0, 1, 0, 1]), 0.0))
    yield Case("the ten messages, c = 1", (TEN, WHICH, np.array([0, 1, 0, 1]), 1.0))
    yield Case("premium grade viagra, c = 1", (TEN, WHICH, np.array([1, 0, 1, 0]), 1.0))
    for N, spams, c in ((12, 3, 1.0), (15, 11, 0.5)):
        which = rng.permutation(np.arange(N) < spams)
        yield Case(f"{N} messages, {spams} of them spam, c = {c:g}",
                   (rng.integers(0, 2, size=(N, 5)), which, np.array([1, 0, 0, 1, 0]), c))


def _shares(X, spam, c):
    return [(kind.sum(axis=0) + c) / (len(kind) + 2 * c) for kind in (X[~spam], X[spam])]


def _answer(X, spam, message, tables, priors=None):
    priors = (np.mean(~spam), np.mean(spam)) if priors is None else priors
    good, bad = (prior * np.where(message == 1, p, 1 - p).prod() for prior, p in zip(priors, tables))
    with np.errstate(invalid="ignore"):
        return np.divide(bad, good + bad)


@spam_posterior.mistake(
    "Absent words are left out.",
    "You multiply p only where the word is there. In the Bernoulli model a word that is not there has the factor 1 "
    "− p: the example message lacks *grade*, which three of five good ones have, and that speaks for spam.")
def present_only(X, spam, message, c):
    good, bad = (np.mean(kind) * p[message == 1].prod() for kind, p in zip((~spam, spam), _shares(X, spam, c)))
    return bad / (good + bad)


@spam_posterior.mistake(
    "The prior is left out.",
    "Good mail and spam then count as equally frequent, right for the ten messages only. Multiply each product by "
    "the share of its kind among all old messages.")
def without_prior(X, spam, message, c):
    return _answer(X, spam, message, _shares(X, spam, c), (0.5, 0.5))


@spam_posterior.mistake(
    "The pseudo-count is added above but not 2c below.",
    "The shares of present and absent then sum to more than 1, and 1 − p may even be negative. Each of the two "
    "values got a c: divide by N_k + 2c.")
def spam_not_below(X, spam, message, c):
    return _answer(X, spam, message, [(kind.sum(axis=0) + c) / len(kind) for kind in (X[~spam], X[spam])])


@spam_posterior.mistake(
    "The pseudo-count is added above and only once below.",
    "Present and absent both got a c, so the total has grown by 2c. With c below, P(present) + P(absent) is (N_k + "
    "2c)/(N_k + c).")
def spam_once_below(X, spam, message, c):
    return _answer(X, spam, message, [(kind.sum(axis=0) + c) / (len(kind) + c) for kind in (X[~spam], X[spam])])


@spam_posterior.mistake(
    "There is no smoothing.",
    "You ignore c. On *premium grade viagra* both products are then 0, and 0/0 is not a number. Use (n + c)/(N_k + "
    "2c).")
def spam_unsmoothed(X, spam, message, c):
    return _answer(X, spam, message, _shares(X, spam, 0.0))


@spam_posterior.mistake(
    "The evidence is taken as a product over the words.",
    "P(x) = Π P(x_j) would hold if the words were independent over all mail. Naive Bayes assumes it within each "
    "class only. Then P(x) is the sum of the two products, and the two posteriors sum to 1; yours do not.")
def product_evidence(X, spam, message, c):
    p = (X.sum(axis=0) + 2 * c) / (len(X) + 4 * c)
    bad = np.mean(spam) * np.where(message == 1, (q := _shares(X, spam, c)[1]), 1 - q).prod()
    return bad / np.where(message == 1, p, 1 - p).prod()


@spam_posterior.mistake(
    "It returns the probability of a good message.",
    "Your answer and the right one sum to 1. Put the product of spam into the numerator.")
def good_share(X, spam, message, c):
    return 1 - _answer(X, spam, message, _shares(X, spam, c))


@spam_posterior.mistake(
    "The product of spam is not divided by the sum of the two.",
    "0.108 is P(spam)·P(x | spam), the probability of spam *and* this message. Divide it by what both kinds give "
    "together, 0.140.")
def spam_joint(X, spam, message, c):
    p = _shares(X, spam, c)[1]
    return np.mean(spam) * np.where(message == 1, p, 1 - p).prod()


@spam_posterior.mistake(
    "The shares are taken of all messages, not of the messages of a kind.",
    "Three of ten messages say *millions* and are spam, but three of the five spams say it. P(x_j | spam) divides "
    "by the number of spams.")
def spam_all_messages(X, spam, message, c):
    return _answer(X, spam, message, [(kind.sum(axis=0) + c) / (len(X) + 2 * c) for kind in (X[~spam], X[spam])])


@spam_posterior.mistake(
    "The factors of the words are added instead of multiplied.",
    "Independent within a class means that the probability of all words together is the PRODUCT: `prod`, not `sum`.")
def factors_added(X, spam, message, c):
    good, bad = (prior * np.where(message == 1, p, 1 - p).sum()
                 for prior, p in zip((np.mean(~spam), np.mean(spam)), _shares(X, spam, c)))
    return bad / (good + bad)


@spam_posterior.mistake(
    "An absent word gives the factor 0.",
    "`message * p` is 0 wherever the word is not there, and one 0 makes the product 0. An absent word has the factor "
    "1 − p: `np.where(message == 1, p, 1 - p)`.")
def absent_is_impossible(X, spam, message, c):
    good, bad = (prior * (message * p).prod()
                 for prior, p in zip((np.mean(~spam), np.mean(spam)), _shares(X, spam, c)))
    with np.errstate(invalid="ignore"):
        return np.divide(bad, good + bad)


@spam_posterior.mistake(
    "Present and absent are exchanged.",
    "p is the probability that the word IS there. Where the message has a 1 the factor is p, where it has a 0 it is "
    "1 − p.")
def present_for_absent(X, spam, message, c):
    return _answer(X, spam, 1 - message, _shares(X, spam, c))


@spam_posterior.mistake(
    "The odds are returned, spam to good.",
    "0.108/0.032 says how many spams come on one good message like this. The probability is the share of spam in the "
    "two together: 0.108/(0.108 + 0.032).")
def odds_of_spam(X, spam, message, c):
    share = _answer(X, spam, message, _shares(X, spam, c))
    return share / (1 - share)


@spam_posterior.mistake(
    "The logarithms are shared out instead of the probabilities.",
    "a_spam/(a_good + a_spam) is no probability: the likelier class has the logarithm nearer to 0, so it even gets the "
    "smaller part. Take exp of both before you divide by their sum.")
def logarithms_shared(X, spam, message, c):
    with np.errstate(divide="ignore", invalid="ignore"):
        good, bad = (np.log(prior) + np.log(np.where(message == 1, p, 1 - p)).sum()
                     for prior, p in zip((np.mean(~spam), np.mean(spam)), _shares(X, spam, c)))
        return bad / (good + bad)


@spam_posterior.mistake(
    "The priors are given pseudo-counts too.",
    "Not absurd, but not asked: the prior is the plain share of each kind, N_k/N. Both kinds occur, so no prior is 0.")
def smoothed_priors(X, spam, message, c):
    priors = [(np.sum(kind) + c) / (len(X) + 2 * c) for kind in (~spam, spam)]
    return _answer(X, spam, message, _shares(X, spam, c), priors)


@spam_posterior.variant
def spam_by_log_odds(X, spam, message, c):
    a = np.log(spam.sum() / (~spam).sum())
    for x, column in zip(message, X.T):
        q = [(np.sum(column[kind] == x) + c) / (kind.sum() + 2 * c) for kind in (~spam, spam)]
        a += math.log(q[1] / q[0])
    return 1 / (1 + np.exp(-a))


@spam_posterior.variant
def spam_by_powers(X, spam, message, c):
    g = [math.prod(float(p**x * (1 - p) ** (1 - x)) for p, x in zip(table, message)) * size
         for table, size in zip(_shares(X, spam, c), (np.sum(~spam), np.sum(spam)))]
    return float(g[1] / sum(g))


# --- E2.7 -----------------------------------------------------------------------------------------------------------

product_of_marginals = Exercise(
    "product_of_marginals", id="E2.7", title="What naive Bayes sees of a table", points=1,
    hints=(
        "Take one class. How often is x1 = 0, whatever x2 is? Which axis do you sum away for that? And for x2?",
        "P(x1 = v | k) = Σ_w n_kvw / n_k, P(x2 = w | k) = Σ_v n_kvw / n_k, with n_k the number of objects of the "
        "class; multiply each with each.",
        "`size = counts.sum(axis=(1, 2), keepdims=True)`, then `counts.sum(axis=2, keepdims=True) / size` for the "
        "first feature."),
    notice="What to notice: the cell of class 0 that never occurred gets .16. Each product has the marginals of the "
           "table that it was made of, but what told the classes apart on the diagonal is gone.",
    intermediates=("size", "first", "second"),
)


@product_of_marginals.cases
def marginal_cases(rng):
    yield Case("two classes of 100 objects each", (np.array([[[40, 0], [20, 40]], [[10, 50], [30, 10]]]),))
    yield Case("one class, three by two values",
               (rng.integers(1, 9, size=(1, 3, 2)) + np.array([[[3, 0], [0, 0], [0, 5]]]),))
    yield Case("three classes of different sizes, two by four values",
               (rng.integers(1, 9, size=(3, 2, 4)) * np.array([1, 5, 2])[:, None, None] + np.eye(2, 4, dtype=int) * 7,))
    yield Case("two classes, two by two values, one value never seen",
               (np.array([[[0, 0], [7, 4]], [[5, 2], [1, 8]]]) * rng.integers(1, 6),))


@product_of_marginals.mistake(
    "The products of rows and columns are divided once only: expected counts.",
    "Row total times column total over n is the count that the chi-square test expects. As a probability it needs "
    "one more division: each class of your table sums to its number of objects, not to 1.")
def expected_counts(counts):
    size = counts.sum(axis=(1, 2), keepdims=True)
    return counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) / size


@product_of_marginals.mistake(
    "It is divided by the objects of all classes.",
    "p(x | k) is a distribution within class k and sums to 1 there. With the grand total you have mixed the class's "
    "share in, once for each feature.")
def grand_total_of_classes(counts):
    return counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) / counts.sum() ** 2


@product_of_marginals.mistake(
    "The marginals are those of all classes together.",
    "You summed over the classes too, so each class has the same table. The independence is assumed within a class: "
    "keep axis 0.")
def pooled_marginals(counts):
    n = counts.sum()
    one = counts.sum(axis=(0, 2))[:, None] * counts.sum(axis=(0, 1))[None, :] / n**2
    return np.broadcast_to(one, counts.shape).copy()


@product_of_marginals.mistake(
    "It is the joint table itself, divided by its sum.",
    "These are the true shares of the pairs, what naive Bayes does *not* keep. Sum to the two marginals first, then "
    "multiply those.")
def joint_table(counts):
    return counts / counts.sum(axis=(1, 2), keepdims=True)


@product_of_marginals.mistake(
    "The table lies on its side: the two marginals are exchanged.",
    "Summing over axis 1 removes the first feature and leaves the *second*. With two values each, the shape does "
    "not tell; the cell that never occurred has .36 instead of .16. P(x1 = v) is the sum over axis 2.")
def on_its_side(counts):
    size = counts.sum(axis=(1, 2))[:, None, None]
    return counts.sum(axis=1)[:, :, None] * counts.sum(axis=2)[:, None, :] / size**2


@product_of_marginals.mistake(
    "The marginal of the first feature is used for both.",
    "Both factors come from the same sum. One sum runs over axis 2 and leaves x1, the other over axis 1 and leaves x2.")
def first_twice(counts):
    first = counts.sum(axis=2) / counts.sum(axis=(1, 2))[:, None]
    return first[:, :, None] * first[:, None, :]


@product_of_marginals.mistake(
    "The marginals are added instead of multiplied.",
    "Independent means that the probability of both is the *product*. The mean of the two marginals puts .5 into a "
    "cell whose row and column have .4 and .6, where .24 belongs.")
def mean_of_marginals(counts):
    size = counts.sum(axis=(1, 2), keepdims=True)
    return (counts.sum(axis=2, keepdims=True) + counts.sum(axis=1, keepdims=True)) / size / 2


@product_of_marginals.mistake(
    "The marginals are not divided by anything.",
    "Row total times column total is the square of the number of objects too large. Make the two marginals shares "
    "first: divide each by the number of objects of the class.")
def undivided(counts):
    return counts.sum(axis=2, keepdims=True) * counts.sum(axis=1, keepdims=True) + 0.0


@product_of_marginals.mistake(
    "The result is cut off to whole numbers: the table that it is written into holds integers.",
    "`np.zeros_like(counts)` makes integers, as the counts are, and writing .24 into it leaves 0. Make it with "
    "`np.zeros(counts.shape)`, or do without a table to fill.")
def cut_to_integers(counts):
    return outer_products(counts).astype(counts.dtype)


@product_of_marginals.mistake(
    "The marginals are multiplied place by place instead of each with each.",
    "`first * second` pairs the value v of the one feature with the value v of the other only. A table needs a column "
    "times a row: `first[:, None] * second`, or `np.outer(first, second)`.")
def place_by_place(counts):
    size = counts.sum(axis=(1, 2))[:, None]
    line = counts.sum(axis=2) / size * (counts.sum(axis=1) / size)
    return np.repeat(line[:, None, :], counts.shape[1], axis=1)


@product_of_marginals.mistake(
    "The conditional shares are multiplied instead of the marginal ones.",
    "You divide each cell by its row's and by its column's sum. Those are P(x2 | x1, k) and P(x1 | x2, k), which know "
    "how the features go together. A marginal is a whole row's or column's sum, divided by the size of the class.")
def conditionals(counts):
    with np.errstate(invalid="ignore"):
        return counts / counts.sum(axis=1, keepdims=True) * (counts / counts.sum(axis=2, keepdims=True))


@product_of_marginals.variant
def outer_products(counts):
    return np.stack([np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum() ** 2 for table in counts])


@product_of_marginals.variant
def marginals_by_einsum(counts):
    p = counts / np.einsum("kvw->k", counts)[:, None, None]
    return np.einsum("kva,kbw->kvw", p, p)


@product_of_marginals.variant
def marginals_by_loops(counts):
    K, V1, V2 = counts.shape
    n = [counts[k].sum() for k in range(K)]
    return np.array([[[counts[k, v, :].sum() / n[k] * (counts[k, :, w].sum() / n[k]) for w in range(V2)]
                      for v in range(V1)] for k in range(K)])


# --- E2.9 -----------------------------------------------------------------------------------------------------------

draw_objects = Exercise(
    "draw_objects", id="E2.9", title="Draw new objects", points=1,
    hints=(
        "Mark the ends of the pieces on the line from 0 to 1. How many of the marks has the number passed? Then "
        "look only at the row of `p` that belongs to this class.",
        "y_i = number of edges ≤ u_i0, with the edges P(0), P(0) + P(1), …; x_ij = 1 if u_ij < p[y_i, j].",
        "`edges = priors.cumsum()[:-1]`, then compare `u[:, :1]`, of shape (n, 1), with them, and sum along the row."),
    notice="What to notice: given the class, every feature has a random number of its own. That is the naive "
           "assumption, run forwards.",
    intermediates=("edges", "y", "X"),
)


@draw_objects.cases
def draw_cases(rng):
    yield Case("two objects, two classes, one number on an edge",
               (np.array([0.5, 0.5]), np.array([[0.9, 0.1], [0.25, 0.75]]),
                np.array([[0.3, 0.8, 0.4], [0.5, 0.25, 0.7]])))
    yield Case("thirty objects, three classes, four features",
               (np.array([0.5, 0.25, 0.25]), rng.uniform(0.1, 0.9, size=(3, 4)), rng.uniform(size=(30, 5))))
    yield Case("forty objects, four classes of random sizes",
               (rng.dirichlet([4.0, 3.0, 2.0, 5.0]), rng.uniform(0.1, 0.9, size=(4, 3)), rng.uniform(size=(40, 4))))
    yield Case("features that are certain", (np.array([0.25, 0.75]), np.array([[0.0, 1.0, 0.5], [1.0, 0.0, 0.5]]),
                                             np.vstack([[0.0, 0.0, 0.0, 0.0], rng.uniform(size=(20, 4))])))


def _drawn(u, y, p):
    return (u[:, 1:] < p[y]).astype(int), y


def _class(priors, u):
    return (u[:, :1] >= priors.cumsum()[:-1]).sum(axis=1)


@draw_objects.mistake(
    "A feature is 1 above its p instead of below.",
    "A uniform number is below p with the probability p. You drew 1 − x: features with p = .9 come out 1 in a tenth "
    "of the cases.")
def above(priors, p, u):
    y = _class(priors, u)
    return (u[:, 1:] >= p[y]).astype(int), y


@draw_objects.mistake(
    "The priors are compared one by one, not added up.",
    "With priors .5, .25, .25 the pieces end at .5, .75 and 1. You compared with .5 and .25. `priors.cumsum()` "
    "gives the ends.")
def not_cumulated(priors, p, u):
    return _drawn(u, (u[:, :1] >= priors[:-1]).sum(axis=1), p)


@draw_objects.mistake(
    "A number exactly on an edge falls into the lower class.",
    "The first piece runs up to its end without including it: u = .5 is class 1. Random numbers hardly ever hit an "
    "edge, but a class with the prior 0 would be drawn for u = 0. Count the edges with u ≥ edge; in searchsorted "
    "that is side='right'.")
def lower_at_edges(priors, p, u):
    return _drawn(u, (u[:, :1] > priors.cumsum()[:-1]).sum(axis=1), p)


@draw_objects.mistake(
    "A number equal to p makes a 1.",
    "`<=` lets a feature with p = 0 come out 1 when u is 0. With `<` the numbers from 0 up to but not including p "
    "make a 1, a piece of length p.")
def equal_counts(priors, p, u):
    y = _class(priors, u)
    return (u[:, 1:] <= p[y]).astype(int), y


@draw_objects.mistake(
    "All objects come from the most probable class.",
    "argmax of the priors is a decision. Drawing means that each class comes up with its own frequency: see in "
    "which piece of the line the first number of the row falls.")
def always_most_probable(priors, p, u):
    return _drawn(u, np.full(len(u), priors.argmax()), p)


@draw_objects.mistake(
    "The features are drawn from the average of the classes.",
    "Σ P(k)·p_kj has the right number of ones over all objects, but then the features do not know the class: your X "
    "and y are independent. Take the row p[y] of the class that was drawn.")
def averaged(priors, p, u):
    return (u[:, 1:] < priors @ p).astype(int), _class(priors, u)


@draw_objects.mistake(
    "The number that chose the class is used again for the first feature.",
    "Feature j is compared with column j of u, so each feature has its neighbour's number and the first shares that "
    "of the class. The features' numbers are `u[:, 1:]`.")
def number_used_twice(priors, p, u):
    y = _class(priors, u)
    return (u[:, :-1] < p[y]).astype(int), y


@draw_objects.mistake(
    "One random number decides all features of an object.",
    "Then the features of an object go together as closely as they can: where one is 1, each with a larger p is 1 "
    "too. Within a class the model draws them independently, each with its own column of u.")
def one_number_for_all(priors, p, u):
    y = _class(priors, u)
    return (u[:, 1:2] < p[y]).astype(int), y


@draw_objects.mistake(
    "The features come from another class than the one returned.",
    "p is read one row off. The first piece of the line is class 0 and belongs to row 0 of p: the number of edges "
    "passed is the class, with nothing to add or to take off.")
def row_off(priors, p, u):
    y = _class(priors, u)
    return _drawn(u, y, np.roll(p, 1, axis=0))


@draw_objects.mistake(
    "The classes come first and the objects second.",
    "The two results are exchanged: return X, y, the objects and then their classes, as the fits of this course "
    "take them.")
def exchanged(priors, p, u):
    X, y = _drawn(u, _class(priors, u), p)
    return y, X


@draw_objects.variant
def by_searchsorted(priors, p, u):
    y = np.searchsorted(np.cumsum(priors)[:-1], u[:, 0], side="right")
    return np.where(u[:, 1:] < np.take(p, y, axis=0), 1, 0), y


@draw_objects.variant
def object_after_object(priors, p, u):
    X, y = np.zeros((len(u), p.shape[1]), dtype=int), np.zeros(len(u), dtype=int)
    for i, (first, *others) in enumerate(u.tolist()):
        end = priors[0]
        while first >= end and y[i] < len(priors) - 1:
            y[i] += 1
            end += priors[y[i]]
        for j, number in enumerate(others):
            X[i, j] = int(number < p[y[i], j])
    return X, y


# --- E2.10 ----------------------------------------------------------------------------------------------------------

log_joint_with_blanks = Exercise(
    "log_joint_with_blanks", id="E2.10", title="Blanks", points=2,
    hints=(
        "Two counts for each class and feature: how many values were seen, and how many of those were ones. Does a "
        "blank enter either of them? And what may it add to the score of an object?",
        "p_kj = (ones seen + c)/(values seen + 2c); a_k = ln(N_k/N) + Σ over the seen j of ln p_kj where x_j = 1 "
        "and ln(1 − p_kj) where x_j = 0.",
        "`member = (y == np.arange(K)[:, None]).astype(float)`; then `values_seen = member @ ~np.isnan(X)` and "
        "`ones_seen = member @ np.nan_to_num(X)`, both (K, D)."),
    notice="What to notice: an object that is blank altogether has the log priors as its scores: knowing nothing, "
           "you stay with the prior.",
    intermediates=("priors", "values_seen", "ones_seen", "shares", "terms"),
)


@log_joint_with_blanks.cases
def blank_cases(rng):
    nan = np.nan
    X, y = np.array([[1, nan], [1, 0], [0, 0], [0, 1]]), np.array([0, 0, 0, 1])
    yield Case("four objects, one blank", (X, y, np.array([[1, nan], [0, 1]]), 2, 1.0))
    yield Case("thirty members of the House, three to judge", _house())
    for K, D, N, c in ((3, 4, 14, 0.5), (4, 3, 20, 2.0)):
        yield Case(f"{N} objects of {K} classes, a quarter blank",
                   (_blanked(rng, N, D), _classes(rng, N, K), _blanked(rng, 5, D), K, c))
    X = _blanked(rng, 12, 3)
    y = _classes(rng, 12, 3)
    X[y == 0, 1] = nan
    yield Case("a feature never seen in class 0, and an object that is all blank",
               (X, y, np.vstack([np.full(3, nan), [1, 1, 0], [nan, 0, 1]]), 3, 1.0))


def _blanked(rng, N, D):
    """Zeros and ones with blanks, at least one in each row but the last."""
    X = rng.integers(0, 2, size=(N, D)).astype(float)
    X[rng.uniform(size=(N, D)) < 0.15] = np.nan
    X[np.arange(N - 1), rng.integers(0, D, size=N - 1)] = np.nan
    X[-1] = rng.integers(0, 2, size=D)
    return X


def _house():
    votes = load("votes84")
    X = np.array([[{"y": 1.0, "n": 0.0, "": np.nan}[v] for v in votes[bill]] for bill in list(votes.columns)[:-1]]).T
    y = (votes["party"] == "republican").astype(int)
    return X[30:60], y[30:60], X[:3], 2, 1.0


def _fitted(X, y, K, c):
    seen = np.array([(~np.isnan(X[y == k])).sum(axis=0) for k in range(K)])
    ones = np.array([np.nansum(X[y == k], axis=0) for k in range(K)])
    return (ones + c) / (seen + 2 * c), np.log([np.mean(y == k) for k in range(K)])


def _scores(X_new, p, log_priors, blank=0.0):
    """Log scores with `blank` (K, D) in place of the terms of blanks."""
    x = X_new[:, None]
    terms = np.where(x == 1, np.log(p), np.log(1 - p))
    return np.where(np.isnan(x), blank, terms).sum(axis=2) + log_priors


@log_joint_with_blanks.mistake(
    "A blank in the objects to judge is taken for a no.",
    "`x == 1` is false for a blank, so it takes the branch of the zeros and adds ln(1 − p). Set the terms of the "
    "blanks to 0 afterwards: `np.where(np.isnan(x), 0, terms)`.")
def blank_is_no(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    return _scores(np.nan_to_num(X_new), p, log_priors)


@log_joint_with_blanks.mistake(
    "Blanks are taken for zeros throughout.",
    "`nan_to_num` on everything makes every blank a no, in the table and in the new objects. Who did not vote "
    "becomes an opponent. Count how often a value was seen, and leave the terms of blanks out.")
def all_blanks_no(X, y, X_new, K, c):
    return _scores(np.nan_to_num(X_new), *_fitted(np.nan_to_num(X), y, K, c))


@log_joint_with_blanks.mistake(
    "The shares are divided by all objects of the class, blank or not.",
    "In class 0 of the first example the second feature was seen twice, not three times. Dividing by N_k counts "
    "each blank as a zero. Count `~np.isnan(X)` for each class and feature.")
def divided_by_members(X, y, X_new, K, c):
    p, log_priors = _fitted(np.nan_to_num(X), y, K, c)
    return _scores(X_new, p, log_priors)


@log_joint_with_blanks.mistake(
    "Objects with a blank are thrown away before counting.",
    "Their other features are known, and so is their class. In the House that would cost 203 of 435 members for 392 "
    "blanks. Skip the blank, not the object.")
def complete_only(X, y, X_new, K, c):
    keep = ~np.isnan(X).any(axis=1)
    p, _ = _fitted(X[keep], y[keep], K, c)
    return _scores(X_new, p, np.log([np.mean(y == k) for k in range(K)]))


@log_joint_with_blanks.mistake(
    "A blank in the objects to judge is replaced by ½.",
    "½ is half a yes and half a no: it adds (ln p + ln(1 − p))/2, which is not 0 and differs from class to class. A "
    "blank must add the same to every class, so add nothing.")
def half_for_blank(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    return _scores(X_new, p, log_priors, blank=(np.log(p) + np.log(1 - p)) / 2)


@log_joint_with_blanks.mistake(
    "A blank is replaced by the share of ones in the class.",
    "The term becomes p ln p + (1 − p) ln(1 − p), below 0 and lowest where p is ½. Classes that are divided on the "
    "question are then punished for an answer that nobody gave. Leave the term out.")
def share_for_blank(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    return _scores(X_new, p, log_priors, blank=p * np.log(p) + (1 - p) * np.log(1 - p))


@log_joint_with_blanks.mistake(
    "The sum is scaled up to the full number of features.",
    "Multiplying by D over the number seen pretends that what is blank would have looked like what is not. The "
    "evidence is then counted more often than it was given. A plain sum over the seen features is right.")
def scaled_up(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    seen = (~np.isnan(X_new)).sum(axis=1, keepdims=True)
    return _scores(X_new, p, 0.0) * X_new.shape[1] / np.maximum(seen, 1) + log_priors


@log_joint_with_blanks.mistake(
    "The pseudo-count is added above but not 2c below.",
    "Shares of ones and zeros then sum to more than 1, and 1 − p can be negative, with NaN for its logarithm. "
    "Divide by the number seen plus 2c.")
def blanks_not_below(X, y, X_new, K, c):
    seen = np.array([(~np.isnan(X[y == k])).sum(axis=0) for k in range(K)])
    ones = np.array([np.nansum(X[y == k], axis=0) for k in range(K)])
    with np.errstate(all="ignore"):
        return _scores(X_new, (ones + c) / seen, np.log([np.mean(y == k) for k in range(K)]))


@log_joint_with_blanks.mistake(
    "The priors are left out.",
    "An object that is blank altogether then has the score 0 in each class, as if all were equally frequent. Add "
    "ln(N_k/N) to each class.")
def blanks_without_prior(X, y, X_new, K, c):
    p, _ = _fitted(X, y, K, c)
    return _scores(X_new, p, 0.0)


@log_joint_with_blanks.mistake(
    "All classes get the same prior, 1/K.",
    "The prior is the class's share of the objects, N_k/N. Look at an object that is blank altogether: nothing was "
    "seen, and its scores are to be the logarithms of those shares.")
def blanks_same_prior(X, y, X_new, K, c):
    p, _ = _fitted(X, y, K, c)
    return _scores(X_new, p, -math.log(K))


@log_joint_with_blanks.mistake(
    "Only the ones are summed; the zeros add nothing.",
    "A no is an answer too, and its term is ln(1 − p). Only a blank has none.")
def ones_only(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    return np.where(X_new[:, None] == 1, np.log(p), 0).sum(axis=2) + log_priors


@log_joint_with_blanks.mistake(
    "A blank makes the whole score NaN.",
    "x ln p + (1 − x) ln(1 − p) is NaN where x is, and one NaN spoils the sum. Use `np.nansum`, or set the terms of "
    "the blanks to 0.")
def nan_spreads(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    return _scores(X_new, p, log_priors, blank=np.nan)


@log_joint_with_blanks.mistake(
    "The pseudo-count is added above and only once below.",
    "Ones and zeros both got a c, so the total has grown by 2c. With c below, the two shares sum to more than 1.")
def blanks_once_below(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    seen = np.array([(~np.isnan(X[y == k])).sum(axis=0) for k in range(K)])
    with np.errstate(all="ignore"):
        return _scores(X_new, p * (seen + 2 * c) / (seen + c), log_priors)


@log_joint_with_blanks.mistake(
    "Objects with a blank are thrown away altogether, from the priors too.",
    "Their class is known, and so are their other features. An object with a blank counts in N_k; only the blank "
    "itself is skipped.")
def complete_throughout(X, y, X_new, K, c):
    keep = ~np.isnan(X).any(axis=1)
    with np.errstate(divide="ignore"):
        return _scores(X_new, *_fitted(X[keep], y[keep], K, c))


@log_joint_with_blanks.mistake(
    "The log posterior is returned, not the log joint.",
    "You subtracted ln P(x) from each row. That changes no decision, but the exercise asks for ln P(k) p(x|k): leave "
    "the normalising out.")
def blanks_normalised(X, y, X_new, K, c):
    a = _scores(X_new, *_fitted(X, y, K, c))
    return a - np.logaddexp.reduce(a, axis=1)[:, None]


@log_joint_with_blanks.mistake(
    "The exponential is taken at the end.",
    "These are P(k)·p(x|k). The exercise asks for their logarithms, which do not underflow: leave the last exp out.")
def blanks_joint_itself(X, y, X_new, K, c):
    return np.exp(_scores(X_new, *_fitted(X, y, K, c)))


@log_joint_with_blanks.mistake(
    "The prior is added without its logarithm.",
    "The product P(k)·p(x|k) becomes ln P(k) + ln p(x|k): both factors go under the logarithm.")
def blanks_prior_plain(X, y, X_new, K, c):
    p, log_priors = _fitted(X, y, K, c)
    return _scores(X_new, p, np.exp(log_priors))


@log_joint_with_blanks.mistake(
    "The priors are given pseudo-counts too.",
    "The pseudo-count belongs to the values of the features. The prior is the plain share of the class, N_k/N.")
def blanks_smoothed_prior(X, y, X_new, K, c):
    p, _ = _fitted(X, y, K, c)
    return _scores(X_new, p, np.log([(np.sum(y == k) + c) / (len(y) + K * c) for k in range(K)]))


@log_joint_with_blanks.variant
def blanks_by_nansum(X, y, X_new, K, c):
    a = np.empty((len(X_new), K))
    for k in range(K):
        own = X[y == k]
        p = (np.nansum(own, axis=0) + c) / (np.sum(own == own, axis=0) + 2 * c)
        a[:, k] = np.nansum(X_new * np.log(p) + (1 - X_new) * np.log1p(-p), axis=1) + np.log(len(own) / len(X))
    return a


@log_joint_with_blanks.variant
def blanks_as_counts(X, y, X_new, K, c):
    """Linear form: (x = 1) ln p + (x = 0) ln(1 − p), with a blank equal to neither."""
    R = np.eye(K)[y]
    yes, no = R.T @ (X == 1) + c, R.T @ (X == 0) + c
    return (X_new == 1) @ np.log(yes / (yes + no)).T + (X_new == 0) @ np.log(no / (yes + no)).T + np.log(R.mean(axis=0))


@log_joint_with_blanks.variant
def blanks_in_loops(X, y, X_new, K, c):
    def term(x, j, k):
        if math.isnan(x):
            return 0.0
        column = [v for v, label in zip(X[:, j].tolist(), y.tolist()) if label == k and not math.isnan(v)]
        return math.log((column.count(x) + c) / (len(column) + 2 * c))
    return np.array([[math.log(np.mean(y == k)) + math.fsum(term(x, j, k) for j, x in enumerate(row)) for k in range(K)]
                     for row in X_new.tolist()])
