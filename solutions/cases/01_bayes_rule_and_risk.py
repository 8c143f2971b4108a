"""Inputs, hints and known mistakes of the exercises in 01_bayes_rule_and_risk."""
import math

import numpy as np
from scipy.special import ndtr

from course_lib.classroom.cases import Case, Exercise
from course_lib.data import load

posterior = Exercise(
    "posterior", id="E1.1", title="The posterior", points=1,
    hints=(
        "Take one object. How probable is it that it comes from class 0 and looks like this? From class 1? What share "
        "of the two together has class 0?",
        "P(y|x) = P(y)·P(x|y) / Σ_k P(k)·P(x|k). The sum runs over the classes: along each row of the (N, K) table.",
        "`joint = prior * likelihood`, of shape (N, K). Then the sum of each row, with `keepdims=True`."),
    notice="What to notice: each row sums to 1, and dividing by P(x) never changes which class is the largest. To "
           "decide, P(y)·P(x|y) is enough; to say how sure you are, you need the evidence P(x) too.",
    intermediates=("joint", "evidence"),
)


@posterior.cases
def posterior_cases(rng):
    yield Case("two objects, two classes", (np.array([0.75, 0.25]), np.array([[0.2, 0.6], [0.4, 0.4]])))
    yield Case("eight kinds of people on the Titanic, lost or saved", _titanic())
    yield Case("five objects, three classes", (rng.dirichlet([3.0, 2.0, 1.0]), rng.uniform(0.05, 1, size=(5, 3))))
    yield Case("one object, four classes", (rng.dirichlet(np.full(4, 2.0)), rng.uniform(0.05, 1, size=(1, 4))))
    yield Case("an object that class 0 cannot produce",
               (rng.dirichlet([2.0, 3.0]), np.array([[0.0, 0.3], [0.6, 0.2], [0.4, 0.5]]) * rng.uniform(0.5, 1)))
    yield Case("densities above 1", (rng.dirichlet([2.0, 2.0, 4.0]), rng.uniform(1, 60, size=(4, 3))))


def _titanic():
    """The share of the lost and the saved, (2,), and of men and women of each class among them, (8, 2)."""
    freq = load("titanic_table")["freq"].reshape(2, 2, 2, 4)  # survived, age, sex, class: the order of the rows
    counts = freq.sum(axis=1).reshape(2, 8).T
    return counts.sum(axis=0) / counts.sum(), counts / counts.sum(axis=0)


@posterior.mistake(
    "The prior is forgotten.",
    "Only the likelihoods are compared, as if all classes were equally frequent. In the two-by-two example object 0 "
    "then gets 0.25 and 0.75, although both classes produce it equally often. Multiply by P(y) before you normalise.")
def prior_forgotten(prior, likelihood):
    return likelihood / likelihood.sum(axis=1, keepdims=True)


@posterior.mistake(
    "It is normalised over the objects instead of the classes.",
    "Your columns sum to 1; the rows should. P(y|x) shares out one object among the classes, so sum along the row: "
    "`axis=1`, with `keepdims=True`.")
def over_objects(prior, likelihood):
    joint = prior * likelihood
    return joint / joint.sum(axis=0)


@posterior.mistake(
    "The joint probabilities are not divided by the evidence.",
    "You return P(y)·P(x|y), whose rows sum to P(x) and not to 1. Divide each row by its sum.")
def joint_only(prior, likelihood):
    return prior * likelihood


@posterior.mistake(
    "The evidence is summed without the prior.",
    "The numerator is P(y)·P(x|y), but you divide by Σ P(x|k). Sum the rows of your answer: they do not give 1. "
    "The evidence is the sum of the very products in the numerator, Σ P(k)·P(x|k).")
def evidence_without_prior(prior, likelihood):
    return prior * likelihood / likelihood.sum(axis=1, keepdims=True)


@posterior.mistake(
    "Everything is divided by one grand total.",
    "`joint.sum()` adds up all objects; then the whole table sums to 1 instead of each row. One sum for each object: "
    "`joint.sum(axis=1, keepdims=True)`.")
def grand_total(prior, likelihood):
    joint = prior * likelihood
    return joint / joint.sum()


@posterior.mistake(
    "The prior is multiplied down the rows instead of along them.",
    "`prior[:, None]` gives object i the factor prior[i]; that runs only if N = K, and even then the division takes "
    "it out again. The prior belongs to the classes, which are the columns: `prior * likelihood` lines them up.")
def prior_down_the_rows(prior, likelihood):
    joint = prior[:, None] * likelihood
    return joint / joint.sum(axis=1, keepdims=True)


@posterior.mistake(
    "Each column is divided by a row's sum: `keepdims=True` is missing.",
    "`joint.sum(axis=1)` has the shape (N,), and numpy lines it up with the columns: column k is divided by the sum of "
    "row k. If N is not K, that stops with an error. `keepdims=True` gives the shape (N, 1), one sum for each row.")
def without_keepdims(prior, likelihood):
    joint = prior * likelihood
    return joint / joint.sum(axis=1)


@posterior.mistake(
    "The decision is returned instead of the probabilities.",
    "You put 1 at the most probable class and 0 elsewhere. That is what one does with a posterior afterwards; the "
    "exercise wants the probabilities themselves, joint / evidence.")
def decision(prior, likelihood):
    joint = prior * likelihood
    return np.eye(len(prior))[joint.argmax(axis=1)]


@posterior.mistake(
    "Each class's likelihoods are rescaled to sum to 1 over the given objects.",
    "P(x|y) sums to 1 over all x that could occur, not over the rows you happen to have. Rescaled, the answer for one "
    "object depends on which others stand in the table. Use the likelihoods as they come.")
def rescaled_columns(prior, likelihood):
    joint = prior * likelihood / likelihood.sum(axis=0)
    return joint / joint.sum(axis=1, keepdims=True)


@posterior.mistake(
    "The evidence is returned, P(x), not the posterior.",
    "One number for each object is the sum of its joint probabilities, what you divide by. The posterior has a number "
    "for each class too: the table `prior * likelihood`, (N, K), divided by this sum as a column.")
def evidence_alone(prior, likelihood):
    return likelihood @ prior


@posterior.mistake(
    "The softmax is taken of the joint probabilities themselves.",
    "The exp of a softmax undoes a logarithm. Your products were never logarithms, so there is nothing to undo: divide "
    "them by their sum. In E1.2, where the logarithms are given, the exp has its place.")
def softmax_of_products(prior, likelihood):
    joint = np.exp(prior * likelihood)
    return joint / joint.sum(axis=1, keepdims=True)


@posterior.mistake(
    "Only the classes 0 and 1 are reckoned with.",
    "There may be more than two columns, and then the others are lost, from the answer and from the evidence. Work on "
    "whole rows, `prior * likelihood` and a sum over axis 1; the number of classes then never appears in the code.")
def two_classes_only(prior, likelihood):
    joint = prior[:2] * likelihood[:, :2]
    with np.errstate(invalid="ignore"):
        return joint / joint.sum(axis=1, keepdims=True)


@posterior.variant
def object_by_object(prior, likelihood):
    rows = []
    for row in likelihood.tolist():
        joint = [p * q for p, q in zip(prior.tolist(), row)]
        rows.append([value / sum(joint) for value in joint])
    return np.array(rows)


@posterior.variant
def from_log_odds(prior, likelihood):
    """One over the sum of the odds of every class against this one, taken in logarithms."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        log_joint = np.log(prior) + np.log(likelihood)
        against = log_joint[:, None, :] - log_joint[:, :, None]
        return np.where(likelihood > 0, 1 / np.exp(against).sum(axis=2), 0.0)


@posterior.variant
def evidence_by_a_product(prior, likelihood):
    return (likelihood @ np.diag(prior)) / (likelihood @ prior)[:, None]


# ---------------------------------------------------------------------------------------------- E1.2 log-posterior

log_posterior = Exercise(
    "log_posterior", id="E1.2", title="The posterior in logarithms", points=1,
    hints=(
        "The posterior is a quotient, so its logarithm is a difference: the log joint minus the logarithm of the "
        "evidence. Which part of this can underflow, and what did unit 00 do about that?",
        "ln P(y|x) = a_y − lse(a) with lse(a) = m + ln Σ_k exp(a_k − m), where m is the largest entry of the row.",
        "`peak = log_joint.max(axis=1, keepdims=True)`, of shape (N, 1). Then the log evidence of each row, also (N, "
        "1)."),
    notice="What to notice: adding the same number to a whole row changes nothing, so log densities may be known up "
           "to a constant. And a class that is 2,000 behind has a perfectly good log posterior, although its posterior "
           "is 0 in floating point.",
    intermediates=("peak", "log_evidence"),
    ready=("scipy.special.logsumexp", "scipy.special.log_softmax", "scipy.special.softmax"),
)


@log_posterior.cases
def log_posterior_cases(rng):
    yield Case("two objects, two classes", (np.log([[0.15, 0.15], [0.3, 0.1]]),))
    yield Case("three objects, four classes", (rng.normal(-1.0, 2.0, size=(3, 4)),))
    yield Case("log joints near −1000, as for a text", (rng.uniform(-1010, -1000, size=(2, 3)),))
    yield Case("log joints near 900, as for many narrow densities", (rng.uniform(900, 910, size=(3, 2)),))
    yield Case("rows that lie 1,600 apart", (rng.uniform(0, 3, size=(3, 3)) + [[800.0], [0.0], [-800.0]],))
    yield Case("a class that is far behind", (np.array([[0.0, -2000.0], [-3.0, -1.0]]) + rng.uniform(size=(2, 1)),))
    yield Case("a class that is impossible", (np.array([[-np.inf, 0.5, 1.0]]) + rng.uniform(size=(2, 1)),))


@log_posterior.mistake(
    "The maximum is not subtracted before exp.",
    "Small numbers come out right, but exp(−1000) is 0 in floating point and exp(900) infinite; the log evidence is "
    "then −inf or inf. Take the row's maximum out first: lse(a) = m + ln Σ exp(a_k − m).")
def log_posterior_unshifted(log_joint):
    with np.errstate(all="ignore"):
        return log_joint - np.log(np.exp(log_joint).sum(axis=1, keepdims=True))


@log_posterior.mistake(
    "One maximum is used for all rows.",
    "A row that lies 1,600 below the largest entry of the table still underflows, and its evidence is lost. Every "
    "object has a maximum of its own: `log_joint.max(axis=1, keepdims=True)`.")
def log_posterior_one_maximum(log_joint):
    peak = log_joint.max()
    with np.errstate(all="ignore"):
        return log_joint - peak - np.log(np.exp(log_joint - peak).sum(axis=1, keepdims=True))


@log_posterior.mistake(
    "The largest of each row is subtracted, not the log of the sum.",
    "Your best class always gets ln 1 = 0, as if it were certain. The maximum only protects the exponentials; what is "
    "divided by is the sum over all classes. Take exp of each row of your answer and add: it must give 1.")
def log_posterior_maximum_only(log_joint):
    return log_joint - log_joint.max(axis=1, keepdims=True)


@log_posterior.mistake(
    "The maximum is not added back to the log evidence.",
    "After the shift the sum is Σ exp(a_k − m), so its logarithm is the log evidence minus m. Either add m back, or "
    "subtract your result from the shifted row instead of the original one.")
def log_posterior_not_added_back(log_joint):
    shifted = log_joint - log_joint.max(axis=1, keepdims=True)
    return log_joint - np.log(np.exp(shifted).sum(axis=1, keepdims=True))


@log_posterior.mistake(
    "It is normalised over the objects instead of the classes.",
    "The exponentials of your columns sum to 1; those of the rows should. One object is shared out among the K "
    "classes, so both the maximum and the sum run along the row: `axis=1`.")
def log_posterior_over_objects(log_joint):
    with np.errstate(invalid="ignore"):
        return log_joint - np.logaddexp.reduce(log_joint, axis=0)


@log_posterior.mistake(
    "Each column loses a row's evidence: `keepdims=True` is missing.",
    "A log evidence of shape (N,) is lined up with the columns, so class k loses the evidence of object k. If N is "
    "not K, that stops with an error; with N = K nothing complains. Give it the shape (N, 1).")
def log_posterior_without_keepdims(log_joint):
    return log_joint - np.logaddexp.reduce(log_joint, axis=1)


@log_posterior.mistake(
    "The posterior is returned, not its logarithm.",
    "Your rows sum to 1, so they are probabilities; the exercise asks for their logarithms, which are never above 0. "
    "Leave the last exp out. (Taking the log of a posterior afterwards loses the class that is far behind.)")
def log_posterior_as_probability(log_joint):
    return np.exp(log_joint - np.logaddexp.reduce(log_joint, axis=1)[:, None])


@log_posterior.mistake(
    "The logarithm is taken of the finished posterior.",
    "That is right until a posterior underflows: the class that is 2,000 behind has the posterior 0 and the logarithm "
    "−inf, where −2000 was asked for. Never leave the logarithms: subtract the log evidence from the log joint.")
def log_posterior_via_probability(log_joint):
    with np.errstate(divide="ignore"):
        return np.log(log_posterior_as_probability(log_joint))


@log_posterior.mistake(
    "The rows are shifted by their minimum or mean, not by their maximum.",
    "Any shift is right on paper, but only the maximum makes every exponent 0 or less. Beside a class that is 2,000 "
    "behind, the best one becomes exp(2000), which is infinite. Take `log_joint.max(axis=1, keepdims=True)`.")
def log_posterior_minimum(log_joint):
    low = log_joint.min(axis=1, keepdims=True)
    with np.errstate(all="ignore"):
        return log_joint - (low + np.log(np.exp(log_joint - low).sum(axis=1, keepdims=True)))


@log_posterior.mistake(
    "The logarithms are divided instead of subtracted.",
    "Bayes' rule divides the probabilities, so it SUBTRACTS their logarithms: ln(p/q) = ln p − ln q. In the first "
    "example ln 0.15 − ln 0.30 = ln 0.5.")
def log_posterior_quotient(log_joint):
    return log_joint / np.logaddexp.reduce(log_joint, axis=1)[:, None]


@log_posterior.mistake(
    "The log evidence is added instead of subtracted.",
    "You multiply by P(x) where Bayes' rule divides by it. Take exp of each row of your answer and add: the log "
    "posterior must give 1.")
def log_posterior_added(log_joint):
    return log_joint + np.logaddexp.reduce(log_joint, axis=1)[:, None]


@log_posterior.mistake(
    "The sum of the log joints is subtracted, not the logarithm of the sum.",
    "ln p + ln q is the logarithm of the product. The evidence is a sum of probabilities: exp first, then sum, then "
    "one logarithm for each row, with the maximum taken out as in unit 00.")
def log_posterior_sum_of_logarithms(log_joint):
    with np.errstate(invalid="ignore"):
        return log_joint - log_joint.sum(axis=1, keepdims=True)


@log_posterior.variant
def log_posterior_pairwise(log_joint):
    return log_joint - np.logaddexp.reduce(log_joint, axis=1)[:, None]


@log_posterior.variant
def log_posterior_in_loops(log_joint):
    rows = []
    for row in log_joint.tolist():
        largest = max(row)
        evidence = largest + math.log(math.fsum(math.exp(a - largest) for a in row))
        rows.append([a - evidence for a in row])
    return np.array(rows)


# ------------------------------------------------------------------------------------- E1.3 decision with losses

bayes_decision = Exercise(
    "bayes_decision", id="E1.3", title="The decision when errors differ in price", points=1,
    hints=(
        "The rule compares the products λ_y P(y) p(x|y). You are given ln P(y) p(x|y). What does a factor become under "
        "the logarithm?",
        "ŷ(x) = argmax_y (ln λ_y + ln P(y) p(x|y)), one argmax along each row. The logarithm does not change which is "
        "the largest.",
        "`log_g = log_joint + np.log(losses)`: the shapes (N, K) and (K,) meet column by column."),
    notice="What to notice: only products λ_y P(y) enter. Ten times the price does the same as ten times the prior, "
           "and multiplying all prices by the same number changes no decision.",
    intermediates=("log_g",),
)


@bayes_decision.cases
def bayes_decision_cases(rng):
    yield Case("three objects, errors on class 1 cost four times as much",
               (np.log([[0.15, 0.15], [0.3, 0.1], [0.5, 0.1]]), np.array([1.0, 4.0])))
    yield Case("forty objects, three classes", (rng.normal(-3, 1.2, size=(40, 3)), np.array([0.2, 1.0, 5.0])))
    yield Case("thirty objects, five classes, prices of any size",
               (rng.normal(-2, 1.5, size=(30, 5)), np.exp(rng.normal(0, 1.2, size=5))))
    yield Case("log joints near −1000", (rng.normal(-1000, 2, size=(30, 3)), np.array([6.0, 1.0, 0.3])))
    apart = np.resize([800.0, 0.0, -800.0], 30)[:, None]
    yield Case("rows that lie 1,600 apart", (rng.normal(0, 1.5, size=(30, 3)) + apart, np.array([0.3, 1.0, 4.0])))


@bayes_decision.mistake(
    "The losses are forgotten.",
    "You take the most probable class, which is best only if all errors cost the same. In the first example object 0 "
    "is a toss-up, but an error on class 1 costs four times as much: decide 1. Add ln λ_y to the column of class y.")
def losses_forgotten(log_joint, losses):
    return log_joint.argmax(axis=1)


@bayes_decision.mistake(
    "The losses divide instead of multiplying.",
    "You make the dear class harder to reach. λ_y is what an error on an object OF class y costs, so a high λ_y is a "
    "reason to decide y. Add ln λ_y; do not subtract it.")
def losses_divide(log_joint, losses):
    return (log_joint - np.log(losses)).argmax(axis=1)


@bayes_decision.mistake(
    "The losses are added to the log joint without a logarithm.",
    "ln(λ·P·p) is ln λ + ln P p. Adding λ itself means multiplying by exp(λ), so that a price of 5 counts as 148. Add "
    "`np.log(losses)`.")
def losses_added_plain(log_joint, losses):
    return (log_joint + losses).argmax(axis=1)


@bayes_decision.mistake(
    "The losses multiply the logarithm.",
    "λ times ln(P p) is the logarithm of (P p) to the power λ. Log joints are negative as a rule, so the dear class "
    "even loses by it. The factor λ goes inside the logarithm: add `np.log(losses)`.")
def losses_multiply_the_log(log_joint, losses):
    return (log_joint * losses).argmax(axis=1)


@bayes_decision.mistake(
    "The smallest product is taken instead of the largest.",
    "g_y(x) = λ_y P(y) p(x|y) is the loss that you avoid by deciding y. So you want the largest one. An argmin "
    "belongs to the expected loss of each decision, which is the sum of the other classes' g.")
def smallest_product(log_joint, losses):
    return (log_joint + np.log(losses)).argmin(axis=1)


@bayes_decision.mistake(
    "exp is taken before comparing.",
    "On small numbers nothing happens, but exp(−1000) is 0 for every class, and argmax of a row of zeros is class 0. "
    "Comparing needs no exp: the logarithm keeps the order.")
def compared_after_exp(log_joint, losses):
    return (np.exp(log_joint) * losses).argmax(axis=1)


@bayes_decision.mistake(
    "One maximum of the whole table is taken out before exp.",
    "That saves the largest row only. A row that lies 1,600 below it is all zeros after exp, and the argmax of a row "
    "of zeros is class 0. Comparing needs no exp at all: the logarithm keeps the order.")
def compared_after_one_shift(log_joint, losses):
    with np.errstate(all="ignore"):
        return (np.exp(log_joint - log_joint.max()) * losses).argmax(axis=1)


@bayes_decision.mistake(
    "Each decision is charged its own price, not that of the true class.",
    "You minimise the decision's λ times the probability of being wrong. But what is paid depends on who the object "
    "IS: deciding ŷ costs Σ λ_y P(y|x) over the other classes y. That is smallest where λ_ŷ P(ŷ|x) is largest.")
def price_of_the_decision(log_joint, losses):
    share = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return ((share.sum(axis=1, keepdims=True) - share) * losses).argmin(axis=1)


@bayes_decision.mistake(
    "A row of 0 and 1 is returned instead of the number of the class.",
    "The 1 stands in the right column, but a decision is the column's number: `argmax(axis=1)` finds it.")
def one_column_a_class(log_joint, losses):
    return np.eye(len(losses), dtype=int)[(log_joint + np.log(losses)).argmax(axis=1)]


@bayes_decision.mistake(
    "The argmax runs down the columns.",
    "You get K numbers, each naming an object; wanted are N numbers, each naming a class. Name the axis that shall "
    "disappear: the classes, `axis=1`.")
def best_object(log_joint, losses):
    return (log_joint + np.log(losses)).argmax(axis=0)


@bayes_decision.mistake(
    "The largest value is returned instead of its class.",
    "`max` gives the value, `argmax` the column in which it stands. A decision is a class.")
def largest_value(log_joint, losses):
    return (log_joint + np.log(losses)).max(axis=1)


@bayes_decision.variant
def by_expected_loss(log_joint, losses):
    """The decision of least expected loss, from the posterior and the full matrix of losses."""
    posterior = np.exp(log_joint - log_joint.max(axis=1, keepdims=True))
    return (posterior @ (losses[:, None] * (1 - np.eye(len(losses))))).argmin(axis=1)


@bayes_decision.variant
def one_object_after_the_other(log_joint, losses):
    return np.array([max(range(len(row)), key=lambda k: row[k] + math.log(losses[k])) for row in log_joint.tolist()])


# ------------------------------------------------------------------------------------- E1.4 loss matrix and reject

decide_or_reject = Exercise(
    "decide_or_reject", id="E1.4", title="A loss matrix, and the right not to decide", points=2,
    hints=(
        "Take one object and one possible decision. The true class is unknown, but you know its probabilities. What "
        "does the decision cost on average?",
        "R(ŷ|x) = Σ_y P(y|x) L[y, ŷ]. That is a matrix product, (N, K) times (K, K). Then the smallest entry of each "
        "row, against the price of not deciding.",
        "`risk = posterior @ L`: risk[i, k] is the expected loss of deciding k for object i."),
    notice="What to notice: with L = 1 − I the expected loss of the best class is 1 − max P(y|x), so one rejects "
           "where the largest posterior is below 1 − cost. That is Chow's rule; with another L it is not a threshold "
           "on the posterior.",
    intermediates=("risk", "best", "least"),
)


@decide_or_reject.cases
def decide_or_reject_cases(rng):
    four = np.array([[0.98, 0.02], [0.9, 0.1], [0.55, 0.45], [0.3, 0.7]])
    yield Case("four objects, two classes", (four, np.array([[0.0, 1.0], [5.0, 0.0]]), 0.4))
    tie = np.array([[0.75, 0.25], [0.5, 0.5], [0.125, 0.875]])
    yield Case("a decision that costs exactly as much as none", (tie, 1 - np.eye(2), 0.25))
    yield Case("errors counted, doubts cost 0.3", (rng.dirichlet([1.0, 1.0, 1.0], size=40), 1 - np.eye(3), 0.3))
    L = np.array([[0.0, 1.0, 4.0], [2.0, 0.0, 1.0], [9.0, 3.0, 0.0]])
    L = L + rng.uniform(0, 0.3, size=(3, 3)) * (1 - np.eye(3))
    yield Case("three classes, every error at its own price", (rng.dirichlet([0.6, 0.6, 0.6], size=60), L, 0.7))
    yield Case("right decisions earn something",
               (rng.dirichlet([0.8, 0.8, 0.8], size=60), L - np.diag([1.0, 0.5, 2.0]), 0.2))
    yield Case("not deciding is too dear", (rng.dirichlet([1.0, 1.0, 1.0], size=40), L, 50.0))


def _decided(risk, cost, reject=None):
    return np.where(risk.min(axis=1) <= cost, risk.argmin(axis=1), risk.shape[1] if reject is None else reject)


@decide_or_reject.mistake(
    "The loss matrix is transposed.",
    "L[y, ŷ] has the TRUE class down and the DECIDED one across, so the sum over true classes is `posterior @ L`. With "
    "`L.T` you charge a missed class 1 what a false alarm costs. A symmetric L never shows it.")
def matrix_transposed(posterior, L, cost):
    return _decided(posterior @ L.T, cost)


@decide_or_reject.mistake(
    "The decision with the largest risk is taken.",
    "Posteriors are maximised, risks are minimised. After the product with L the entries are losses: `argmin`.")
def argmax_of_a_risk(posterior, L, cost):
    risk = posterior @ L
    return np.where(risk.min(axis=1) <= cost, risk.argmax(axis=1), L.shape[1])


@decide_or_reject.mistake(
    "The most probable class is decided, and the losses serve for the reject only.",
    "The losses decide between the classes too: at 0.9 against 0.1 a class whose miss costs nine times as much is as "
    "good a choice. Take the column of the smallest risk, `risk.argmin(axis=1)`.")
def most_probable_class(posterior, L, cost):
    return np.where((posterior @ L).min(axis=1) <= cost, posterior.argmax(axis=1), L.shape[1])


@decide_or_reject.mistake(
    "It never rejects.",
    "The best class is found, but it is not compared with the price of not deciding. Where the smallest risk of a row "
    "exceeds `cost`, the answer is K.")
def never_rejects(posterior, L, cost):
    return (posterior @ L).argmin(axis=1)


@decide_or_reject.mistake(
    "Chow's threshold is used although the errors have different prices.",
    "Rejecting where max P(y|x) < 1 − cost is derived for L = 1 − I, whose smallest risk is 1 − max P. For any other L "
    "compare the smallest risk itself with the cost.")
def chow_for_every_matrix(posterior, L, cost):
    return np.where(1 - posterior.max(axis=1) <= cost, (posterior @ L).argmin(axis=1), L.shape[1])


@decide_or_reject.mistake(
    "The largest posterior is compared with the cost.",
    "A probability is held against a price. Doubt is what is dear: 1 − max P for L = 1 − I, in general the smallest "
    "expected loss of the row. Reject where that exceeds the cost.")
def posterior_against_cost(posterior, L, cost):
    return np.where(posterior.max(axis=1) >= cost, (posterior @ L).argmin(axis=1), L.shape[1])


@decide_or_reject.mistake(
    "Cheap objects are rejected and dear ones decided.",
    "The comparison stands the wrong way round: one gives up where deciding costs MORE than `cost`. "
    "`np.where(least <= cost, best, K)`.")
def reject_reversed(posterior, L, cost):
    risk = posterior @ L
    return np.where(risk.min(axis=1) <= cost, L.shape[1], risk.argmin(axis=1))


@decide_or_reject.mistake(
    "At exactly `cost` it does not decide.",
    "Where the smallest risk equals the cost both pay the same, and the exercise says: decide. `least <= cost`, not "
    "`<`.")
def undecided_at_a_tie(posterior, L, cost):
    risk = posterior @ L
    return np.where(risk.min(axis=1) < cost, risk.argmin(axis=1), L.shape[1])


@decide_or_reject.mistake(
    "The number of the class is compared with the cost.",
    "`argmin` says WHERE the smallest risk stands, `min` how large it is. The price to hold against `cost` is the "
    "value, `risk.min(axis=1)`.")
def class_against_cost(posterior, L, cost):
    best = (posterior @ L).argmin(axis=1)
    return np.where(best <= cost, best, L.shape[1])


@decide_or_reject.mistake(
    "The reject is coded K − 1, which is the last class.",
    "The classes are 0 to K − 1, so \"not decided\" is one further: K, as if L had one more column.")
def reject_is_the_last_class(posterior, L, cost):
    return _decided(posterior @ L, cost, reject=L.shape[1] - 1)


@decide_or_reject.mistake(
    "The most probable class is taken for the true one.",
    "You take one row of L, as if the most probable class were certain. Then deciding it costs nothing, whatever a "
    "surprise would cost. Every true class counts with its probability: Σ_y P(y|x) L[y, ŷ].")
def as_if_certain(posterior, L, cost):
    return _decided(L[posterior.argmax(axis=1)], cost)


@decide_or_reject.mistake(
    "The reject is coded −1 instead of K.",
    "The decisions are right, but \"not decided\" has the code K here, as if it were one more column of L. A −1 used "
    "as an index would quietly mean the last class.")
def reject_is_minus_one(posterior, L, cost):
    return _decided(posterior @ L, cost, reject=-1)


@decide_or_reject.variant
def one_more_column(posterior, L, cost):
    """Not deciding as a decision among the others, with the same loss for every true class."""
    return (posterior @ np.column_stack([L, np.full(len(L), float(cost))])).argmin(axis=1)


@decide_or_reject.variant
def decision_by_decision(posterior, L, cost):
    K, chosen = len(L), []
    for row in posterior.tolist():
        risks = [math.fsum(p * L[y][a] for y, p in enumerate(row)) for a in range(K)]
        chosen.append(risks.index(min(risks)) if min(risks) <= cost else K)
    return np.array(chosen)


# ---------------------------------------------------------------------------------------------- E1.5 average risk

average_risk = Exercise(
    "average_risk", id="E1.5", title="The average risk of any rule", points=1,
    hints=(
        "Every cell of the table is an event: the object is x and its class is y. What does your rule pay in that "
        "event, and how probable is it?",
        "R = Σ_x Σ_y P(x, y) L[y, ŷ(x)]: the true class picks the row of L, the decision its column.",
        "`loss = L[:, decided].T`, of shape (M, K): loss[x, y] is what the rule pays for x if y is true."),
    notice="What to notice: no posterior is needed to price a rule. And for each x separately one could have picked "
           "the cheapest decision; that is the whole proof of the theorem.",
    intermediates=("loss",),
)


@average_risk.cases
def average_risk_cases(rng):
    joint = np.array([[0.30, 0.10], [0.15, 0.45]])
    yield Case("two kinds of objects, two classes", (joint, np.array([0, 1]), np.array([[0.0, 1.0], [5.0, 0.0]])))
    yield Case("four kinds, three classes", _random_table(rng, 4, 3))
    yield Case("as many kinds as classes", _random_table(rng, 3, 3))
    yield Case("right decisions earn something", _random_table(rng, 6, 3, gain=1.0))
    joint, decided, L = _random_table(rng, 5, 4)
    yield Case("a rule that always decides class 2", (joint, np.full_like(decided, 2), L))


def _random_table(rng, M, K, gain=0.0):
    L = rng.uniform(1, 9, size=(K, K)) * (1 - np.eye(K)) - gain * np.diag(rng.uniform(0.5, 1.5, size=K))
    decided = rng.permutation(np.arange(M) % K)
    return rng.dirichlet(np.full(M * K, 1.5)).reshape(M, K), decided, L


@average_risk.mistake(
    "The loss matrix is transposed.",
    "L[y, ŷ] has the true class down and the decision across. `L[decided]` picks rows by the decision, so a missed "
    "class 1 is charged as a false alarm. Take columns: `L[:, decided].T`.")
def price_transposed(joint, decided, L):
    return float((joint * L[decided]).sum())


@average_risk.mistake(
    "Errors are counted, at one price.",
    "You add P(x, y) wherever decision and truth differ: that is the probability of an error, the risk for L = 1 − I. "
    "Weight each cell with its L[y, ŷ(x)].")
def error_rate_only(joint, decided, L):
    return float(joint.sum() - joint[np.arange(len(joint)), decided].sum())


@average_risk.mistake(
    "The cells are not weighted by their probability.",
    "You average the losses over the cells of the table, as if all were equally probable. The risk is an expectation: "
    "multiply by P(x, y) and sum.")
def cells_equally_probable(joint, decided, L):
    return float(L[:, decided].T.mean())


@average_risk.mistake(
    "The sum is divided by the number of kinds.",
    "Σ P(x, y) is 1 already, so the weighted sum is the average. Use `sum`, not a mean of the row sums.")
def divided_once_more(joint, decided, L):
    return float((joint * L[:, decided].T).sum(axis=1).mean())


@average_risk.mistake(
    "Every kind of object counts the same: the evidence P(x) is lost.",
    "Each row was normalised to a posterior, and the conditional risks were then averaged plainly. A kind that is seen "
    "often must count often: R = Σ_x P(x) R(ŷ(x)|x), and P(x) P(y|x) is the joint you were given.")
def kinds_equally_frequent(joint, decided, L):
    posterior = joint / joint.sum(axis=1, keepdims=True)
    return float((posterior * L[:, decided].T).sum(axis=1).mean())


@average_risk.mistake(
    "The priors are divided out.",
    "With the columns normalised you sum P(x|y) L over the classes, as if all were equally frequent (and K times "
    "over). Price the joint as it is, P(y)·P(x|y).")
def priors_divided_out(joint, decided, L):
    return float((joint / joint.sum(axis=0) * L[:, decided].T).sum())


@average_risk.mistake(
    "The most probable class is taken for the true one.",
    "Only one cell of each row is charged. A kind of objects is not all of one class: each of its K cells has its own "
    "probability and its own price.")
def one_truth_a_row(joint, decided, L):
    return float((joint.sum(axis=1) * L[joint.argmax(axis=1), decided]).sum())


@average_risk.mistake(
    "The risk of the best rule is returned, not that of the given one.",
    "You minimise over the decisions, so `decided` plays no part. The exercise prices the rule that it is given, "
    "good or bad.")
def best_rule_instead(joint, decided, L):
    return float((joint @ L).min(axis=1).sum())


@average_risk.mistake(
    "The losses of all decisions are added: `decided` plays no part.",
    "`joint @ L` has a column for every decision that could be taken. The rule takes one of them for each kind: column "
    "`decided[x]` in row x.")
def all_decisions_at_once(joint, decided, L):
    return float((joint @ L).sum())


@average_risk.mistake(
    "Only the first kind of objects is priced.",
    "You return what kind 0 pays. Does a `return` stand inside the loop, one level too far to the right? Every kind "
    "adds its share to the sum.")
def first_kind_only(joint, decided, L):
    return float(joint[0] @ L[:, decided[0]])


@average_risk.mistake(
    "Only the first K kinds are priced.",
    "The loop over the kinds runs as far as there are classes. There are M kinds, one for each row of `joint`, and K "
    "classes, one for each row of `L`; M may be larger.")
def as_many_kinds_as_classes(joint, decided, L):
    K = len(L)
    return float((joint[:K] * L[:, decided[:K]].T).sum())


@average_risk.mistake(
    "Right decisions are taken to cost nothing.",
    "You skip the cells in which decision and truth agree. L[y, y] is 0 as a rule, but not always: a right decision "
    "may earn something, or cost something. Sum over all cells; L says what each is worth.")
def diagonal_skipped(joint, decided, L):
    return average_cost(joint, decided, L * (1 - np.eye(len(L))))


def average_cost(joint, decided, L):
    return float((joint @ L)[np.arange(len(joint)), decided].sum())


@average_risk.variant
def cell_by_cell(joint, decided, L):
    M, K = joint.shape
    return math.fsum(joint[x, y] * L[y, decided[x]] for x in range(M) for y in range(K))


average_risk.variant(average_cost)


# ------------------------------------------------------------------------------------------------ E1.6 two normals

two_normals = Exercise(
    "two_normals", id="E1.6", title="Where two normals meet, and what the best rule costs", points=2,
    hints=(
        "The decision changes where P(0) p(x|0) = P(1) p(x|1). Take logarithms: what kind of equation in x is left? "
        "How many solutions can it have?",
        "ln P(0)p(x|0) − ln P(1)p(x|1) = Ax² + Bx + C with A = 1/2σ₁² − 1/2σ₀², B = μ₀/σ₀² − μ₁/σ₁² and C = μ₁²/2σ₁² "
        "− μ₀²/2σ₀² + ln(P(0)σ₁ / P(1)σ₀). Between two neighbouring points one class wins throughout, so the error "
        "there is the other one's mass, P(y)[Φ((right − μ)/σ) − Φ((left − μ)/σ)].",
        "`A = 1 / (2 * sigma[1]**2) - 1 / (2 * sigma[0]**2)`. If A is 0 the only point is −C/B; else look at B² − "
        "4AC."),
    notice="What to notice: one boundary point if the spreads are equal, else two or none. With none, the wider or "
           "more frequent class takes everything and the error is simply the other class's prior: the measurement is "
           "worth nothing.",
    intermediates=("A", "B", "C", "points", "masses"),
)


@two_normals.cases
def two_normals_cases(rng):
    yield Case("equal spreads, equal priors", (np.array([0.0, 2.0]), np.array([1.0, 1.0]), np.array([0.5, 0.5])))
    yield Case("equal spreads, class 0 four times as frequent",
               (np.array([0.0, 2.0]), np.array([1.5, 1.5]), np.array([0.8, 0.2])))
    priors = np.array([0.6, 0.4]) + rng.uniform(-0.05, 0.1) * np.array([1, -1])
    yield Case("class 0 twice as wide",
               (rng.uniform(-1, 1, size=2) + [0, 2], np.array([2.0, 1.0]) * rng.uniform(0.9, 1.1), priors))
    yield Case("class 1 twice as wide",
               (rng.uniform(-1, 1, size=2) + [3, 0], np.array([0.7, 1.4]) * rng.uniform(0.9, 1.1), priors[::-1]))
    yield Case("the same centre", (np.array([1.0, 1.0]), np.array([1.0, rng.uniform(2.5, 4)]), np.array([0.4, 0.6])))
    yield Case("a rare class inside a frequent one",
               (np.array([0.0, rng.uniform(0.1, 0.5)]), np.array([1.2, 0.9]), np.array([0.9, 0.1])))
    yield Case("body mass of Adelie and Gentoo penguins in grams", _penguins())


def _penguins():
    table = load("penguins")
    mass = [table["body_mass_g"][table["species"] == name] for name in ("Adelie", "Gentoo")]
    mass = [m[np.isfinite(m)] for m in mass]
    count = np.array([len(m) for m in mass])
    return np.array([m.mean() for m in mass]), np.array([m.std() for m in mass]), count / count.sum()


def _coefficients(mu, sigma, priors, log_ratio=None):
    """A, B, C of the quadratic; `log_ratio` is its constant ln P₀σ₁/P₁σ₀."""
    A = 1 / (2 * sigma[1] ** 2) - 1 / (2 * sigma[0] ** 2)
    B = mu[0] / sigma[0] ** 2 - mu[1] / sigma[1] ** 2
    C = mu[1] ** 2 / (2 * sigma[1] ** 2) - mu[0] ** 2 / (2 * sigma[0] ** 2)
    return A, B, C + (np.log(priors[0] * sigma[1] / (priors[1] * sigma[0])) if log_ratio is None else log_ratio)


def _roots(A, B, C):
    if A == 0:
        return np.array([-C / B])
    root = B * B - 4 * A * C
    return np.sort((-B + np.array([-1, 1]) * np.sqrt(root)) / (2 * A)) if root > 0 else np.empty(0)


def _masses(points, mu, sigma, priors):
    edges = np.concatenate([[-np.inf], points, [np.inf]])
    return priors * np.diff(ndtr((edges[:, None] - mu) / sigma), axis=0)


def _boundary_and_error(points, mu, sigma, priors):
    return points, float(_masses(points, mu, sigma, priors).min(axis=1).sum())


@two_normals.mistake(
    "The priors are left out of the boundary.",
    "Your points are where the densities meet; the decision changes where the WEIGHTED densities meet. C needs "
    "ln P(0)/P(1): the boundary moves away from the more frequent class.")
def boundary_without_priors(mu, sigma, priors):
    points = _roots(*_coefficients(mu, sigma, priors, np.log(sigma[1] / sigma[0])))
    return _boundary_and_error(points, mu, sigma, priors)


@two_normals.mistake(
    "The priors stand upside down in the boundary.",
    "C has ln P(0)/P(1), since class 0 comes first in the difference. Check the direction: a more frequent class 0 "
    "must get a larger region.")
def boundary_with_priors_swapped(mu, sigma, priors):
    return _boundary_and_error(_roots(*_coefficients(mu, sigma, priors[::-1])), mu, sigma, priors)


@two_normals.mistake(
    "The factor 1/σ of the density is forgotten in the boundary.",
    "With equal spreads it cancels; otherwise the narrow density is the higher one. Its logarithm puts ln σ₁/σ₀ into "
    "C.")
def boundary_without_height(mu, sigma, priors):
    points = _roots(*_coefficients(mu, sigma, priors, np.log(priors[0] / priors[1])))
    return _boundary_and_error(points, mu, sigma, priors)


@two_normals.mistake(
    "Only one of two points is returned.",
    "With different spreads the equation is quadratic. The narrow class wins between its two roots, and far out on "
    "BOTH sides the wide one comes back, even beyond the narrow class's mean.")
def one_point_only(mu, sigma, priors):
    points = _roots(*_coefficients(mu, sigma, priors))
    inner = points[np.argsort(np.abs(points - mu.mean()))[:1]]
    return _boundary_and_error(inner, mu, sigma, priors)


@two_normals.mistake(
    "σ is taken for the variance.",
    "The exponent of a normal is −(x − μ)²/(2σ²). You divide by 2σ. With σ = 1 nobody sees it.")
def deviation_for_variance(mu, sigma, priors):
    narrow = np.sqrt(sigma)
    points = _roots(*_coefficients(mu, narrow, priors, np.log(priors[0] * sigma[1] / (priors[1] * sigma[0]))))
    return _boundary_and_error(points, mu, sigma, priors)


@two_normals.mistake(
    "The error is the overlap of the unweighted densities.",
    "An error on class y happens with the probability P(y) times the mass of p(x|y) on the wrong side. Without the "
    "weights two equal densities would have the error 1, worse than a coin.")
def overlap_without_priors(mu, sigma, priors):
    points = _roots(*_coefficients(mu, sigma, priors))
    edges = np.concatenate([[-np.inf], points, [np.inf]])
    share, weighted = np.diff(ndtr((edges[:, None] - mu) / sigma), axis=0), _masses(points, mu, sigma, priors)
    return points, float(share[np.arange(len(share)), weighted.argmin(axis=1)].sum())


@two_normals.mistake(
    "The probability of being right is returned.",
    "In each region you add the winner's mass. The errors are the loser's: the smaller of the two masses.")
def share_of_right_decisions(mu, sigma, priors):
    points = _roots(*_coefficients(mu, sigma, priors))
    return points, float(_masses(points, mu, sigma, priors).max(axis=1).sum())


@two_normals.mistake(
    "The points are not in increasing order.",
    "`np.roots`, and the quadratic formula with A < 0, give the larger point first. Sort them before you cut the "
    "line into regions.")
def points_descending(mu, sigma, priors):
    points, error = _boundary_and_error(_roots(*_coefficients(mu, sigma, priors)), mu, sigma, priors)
    return points[::-1], error


@two_normals.mistake(
    "With equal spreads the quadratic formula divides by A = 0.",
    "If the spreads are equal, the square drops out, and what is left is a straight line, Bx + C. Ask for that case "
    "first: its only point is −C/B.")
def divided_by_zero(mu, sigma, priors):
    A, B, C = _coefficients(mu, sigma, priors)
    root = B * B - 4 * A * C
    with np.errstate(all="ignore"):
        points = np.sort((-B + np.array([-1, 1]) * np.sqrt(root)) / (2 * A)) if root > 0 else np.empty(0)
        return _boundary_and_error(points, mu, sigma, priors)


@two_normals.mistake(
    "Where the curves never cross, the points are NaN instead of none.",
    "B² − 4AC is negative then, and its root is not a number. There is no point: return an array of length 0, "
    "`np.empty(0)`. One class is larger everywhere, and the error is the prior of the other.")
def root_of_a_negative(mu, sigma, priors):
    A, B, C = _coefficients(mu, sigma, priors)
    if A == 0:
        return _boundary_and_error(np.array([-C / B]), mu, sigma, priors)
    with np.errstate(invalid="ignore"):
        points = np.sort((-B + np.array([-1, 1]) * np.sqrt(B * B - 4 * A * C)) / (2 * A))
    return _boundary_and_error(points, mu, sigma, priors)


@two_normals.mistake(
    "Where there is no point, the error is taken for 0.",
    "The rule then decides for the same class everywhere, so it is wrong on every object of the other: the error is "
    "the other class's prior.")
def no_point_no_error(mu, sigma, priors):
    points, error = _boundary_and_error(_roots(*_coefficients(mu, sigma, priors)), mu, sigma, priors)
    return points, error if len(points) else 0.0


@two_normals.mistake(
    "The point is put half-way between the means.",
    "That is right for equal spreads AND equal priors. A more frequent class pushes the point away from its mean, and "
    "with different spreads there are two points or none. Solve the equation P(0)p(x|0) = P(1)p(x|1).")
def half_way(mu, sigma, priors):
    middle = mu.mean()
    beyond = ndtr(np.sign(mu - mu[::-1]) * (middle - mu) / sigma)     # each class's mass on the other's side
    return np.array([middle]), float(priors @ beyond)


@two_normals.mistake(
    "`/ 2 * A` divides by 2 and then MULTIPLIES by A.",
    "Python works from left to right: the denominator 2A needs brackets, `/ (2 * A)`. The derivation of A, B and C is "
    "right.")
def denominator_without_brackets(mu, sigma, priors):
    A, B, C = _coefficients(mu, sigma, priors)
    return _boundary_and_error(_roots(A, B, C) * (A**2 if A else 1), mu, sigma, priors)


@two_normals.variant
def with_numpy_roots(mu, sigma, priors):
    A, B, C = _coefficients(mu, sigma, priors)
    found = np.roots([A, B, C]) if A else np.array([-C / B])
    points = sorted(float(r.real) for r in found if abs(r.imag) == 0)
    error, edges = 0.0, [-math.inf, *points, math.inf]
    for left, right in zip(edges, edges[1:]):
        error += min(P / 2 * (math.erf((right - m) / s / math.sqrt(2)) - math.erf((left - m) / s / math.sqrt(2)))
                     for P, m, s in zip(priors, mu, sigma))
    return np.array(points), error


@two_normals.variant
def in_units_of_class_0(mu, sigma, priors):
    """With z = (x − μ₀)/σ₀ class 0 is the standard normal; the winners' masses are taken from 1."""
    shift, scale = (mu[1] - mu[0]) / sigma[0], sigma[1] / sigma[0]
    points = mu[0] + sigma[0] * _roots(*_coefficients(np.array([0, shift]), np.array([1, scale]), priors))
    return points, float(1 - _masses(points, mu, sigma, priors).max(axis=1).sum())


# ------------------------------------------------------------------------------------------- E1.7 prior correction

correct_priors = Exercise(
    "correct_priors", id="E1.7", title="A posterior for other priors", points=1,
    hints=(
        "The posterior you have was made with the sample's priors. Which factor of it is out of date, and how do you "
        "get rid of it before you put the new one in?",
        "P(y|x) ∝ P_sample(y|x) · P(y) / P_sample(y); then normalise along the classes.",
        "`ratio = true_priors / sample_priors`, of shape (K,), one factor for each class."),
    notice="What to notice: nothing of x is needed, only the posterior; and the log odds of every object move by the "
           "same amount. It holds as long as p(x|y) is the same in the sample and in the world.",
    intermediates=("ratio", "weighted"),
)


@correct_priors.cases
def correct_priors_cases(rng):
    yield Case("two objects, two classes",
               (np.array([[0.5, 0.5], [0.1, 0.9]]), np.array([0.6, 0.4]), np.array([0.9, 0.1])))
    yield Case("five objects, three classes", (rng.dirichlet([1.0, 1.0, 1.0], size=5), rng.dirichlet([6.0, 3.0, 2.0]),
                                               rng.dirichlet([2.0, 3.0, 7.0])))
    yield Case("as many objects as classes", (rng.dirichlet([1.0, 1.0, 1.0], size=3), np.array([0.5, 0.3, 0.2]),
                                              rng.dirichlet([2.0, 4.0, 8.0])))
    rare = rng.uniform(0.001, 0.01)
    yield Case("a rare class from a balanced sample",
               (rng.dirichlet([1.0, 2.0], size=4), np.array([0.5, 0.5]), np.array([1 - rare, rare])))


def _shares(weighted):
    return weighted / weighted.sum(axis=1, keepdims=True)


@correct_priors.mistake(
    "The new priors are multiplied without dividing by the old.",
    "The posterior contains the sample's priors already; now it contains both. If the sample was balanced, nobody "
    "notices, since equal factors cancel. Multiply by P(y) / P_sample(y).")
def old_priors_left_in(posterior, sample_priors, true_priors):
    return _shares(posterior * true_priors)


@correct_priors.mistake(
    "The ratio of the priors stands upside down.",
    "You make the class that is rarer in the world than in the sample more probable still. New over old: "
    "`true_priors / sample_priors`.")
def ratio_upside_down(posterior, sample_priors, true_priors):
    return _shares(posterior * sample_priors / true_priors)


@correct_priors.mistake(
    "The old priors are divided out, but the new ones are not put in.",
    "What you have is the posterior for equal priors, the likelihoods made to sum to 1. Multiply by `true_priors` "
    "before you normalise.")
def new_priors_missing(posterior, sample_priors, true_priors):
    return _shares(posterior / sample_priors)


@correct_priors.mistake(
    "The rows are not normalised afterwards.",
    "The factors change the sum of each row, and P_sample(x) is not P(x). Divide each row by its new sum.")
def not_normalised_again(posterior, sample_priors, true_priors):
    return posterior * true_priors / sample_priors


@correct_priors.mistake(
    "It is normalised over the objects instead of the classes.",
    "Your columns sum to 1; the rows should. Each object is shared out among the classes: `sum(axis=1, "
    "keepdims=True)`.")
def correction_over_objects(posterior, sample_priors, true_priors):
    weighted = posterior * true_priors / sample_priors
    return weighted / weighted.sum(axis=0)


@correct_priors.mistake(
    "Everything is divided by one grand total.",
    "`sum()` without an axis adds up all objects, so the whole table sums to 1. Each object has its own sum: "
    "`weighted.sum(axis=1, keepdims=True)`.")
def correction_by_the_grand_total(posterior, sample_priors, true_priors):
    weighted = posterior * true_priors / sample_priors
    return weighted / weighted.sum()


@correct_priors.mistake(
    "Each column is divided by a row's sum: `keepdims=True` is missing.",
    "The sums have the shape (N,) and are lined up with the columns. If N is not K, that stops with an error; with N "
    "= K it is silently wrong. Keep the axis: shape (N, 1).")
def correction_without_keepdims(posterior, sample_priors, true_priors):
    weighted = posterior * true_priors / sample_priors
    return weighted / weighted.sum(axis=1)


@correct_priors.mistake(
    "The difference of the priors is added.",
    "Bayes' rule multiplies. Added differences can push a probability below 0 or above 1, and treat a certain object "
    "like a doubtful one. Multiply by the ratio and normalise.")
def difference_added(posterior, sample_priors, true_priors):
    return posterior + (true_priors - sample_priors)


@correct_priors.mistake(
    "The old priors are multiplied in once more instead of divided out.",
    "They are in the posterior already, as a factor. Divide by them, then multiply by the new ones; in logarithms: "
    "+ ln P(y) − ln P_sample(y).")
def both_multiplied(posterior, sample_priors, true_priors):
    return _shares(posterior * sample_priors * true_priors)


@correct_priors.mistake(
    "The ratio of the priors is lined up with the objects instead of the classes.",
    "`ratio[:, None]` gives row i the factor ratio[i]; that runs only if N = K, and the normalising then takes it out "
    "again. The classes are the columns: `posterior * ratio` lines them up.")
def ratio_down_the_rows(posterior, sample_priors, true_priors):
    return _shares(posterior * (true_priors / sample_priors)[:, None])


@correct_priors.variant
def odds_by_odds(posterior, sample_priors, true_priors):
    corrected = []
    for row in posterior.tolist():
        parts = [p / old * new for p, old, new in zip(row, sample_priors.tolist(), true_priors.tolist())]
        corrected.append([part / math.fsum(parts) for part in parts])
    return np.array(corrected)


@correct_priors.variant
def in_logarithms(posterior, sample_priors, true_priors):
    a = np.log(posterior) - np.log(sample_priors) + np.log(true_priors)
    return np.exp(a - np.logaddexp.reduce(a, axis=1)[:, None])


# -------------------------------------------------------------------------- E1.8 threshold on the log odds (misprint)

log_odds_rule = Exercise(
    "log_odds_rule", id="E1.8", title="Find the mistake: a threshold on the log odds", points=2,
    hints=(
        "Make class 1 more frequent and leave everything else alone. Should the log odds of class 1 rise or fall? "
        "What do the printed lines say? Then ask the same about a higher price λ₁ and the threshold.",
        "a(x) = ln P(1)p(x|1) − ln P(0)p(x|0); write both normals out and cancel x²/2σ². Decide 1 where "
        "λ₁P(1|x) > λ₀P(0|x): divide and take logarithms.",
        "`w = (mu[1] - mu[0]) / sigma**2`, and `w0 = (mu[0]**2 - mu[1]**2) / (2 * sigma**2) + …` with the logarithm "
        "of a ratio of priors."),
    notice="What to notice: the priors shift the log odds, the prices shift the threshold, and for the decision the "
           "two are interchangeable. Keeping them apart pays: the log odds stay a statement about the world when "
           "prices change.",
    intermediates=("w", "w0", "threshold"),
)


@log_odds_rule.cases
def log_odds_rule_cases(rng):
    x, means = np.linspace(-10, 10, 101), np.array([0.0, 2.0])
    yield Case("three objects", (np.array([0.0, 1.0, 2.0]), means, 1.0, np.array([0.75, 0.25]), np.array([1.0, 4.0])))
    yield Case("equal priors and prices, σ = 2", (x[45:75], means, 2.0, np.array([0.5, 0.5]), np.array([1.0, 1.0])))
    yield Case("class 1 is rare and dear",
               (rng.permutation(x), rng.uniform(-1, 1, size=2) + [0, 3], rng.uniform(1.2, 2.2), np.array([0.9, 0.1]),
                np.array([1.0, rng.uniform(3, 6)])))
    yield Case("class 1 lies to the left and is cheap",
               (x, rng.uniform(-1, 1, size=2) + [2, -2], rng.uniform(1.2, 2.2), np.array([0.3, 0.7]),
                np.array([5.0, 0.5])))


def _line(mu, sigma, priors):
    return (mu[1] - mu[0]) / sigma**2, (mu[0] ** 2 - mu[1] ** 2) / (2 * sigma**2) + np.log(priors[1] / priors[0])


def _answer(a, threshold):
    return a, (a > threshold).astype(int)


@log_odds_rule.mistake(
    "ln P(0)/P(1) is used as printed; it stands upside down.",
    "A more frequent class 1 must raise the log odds of class 1. Without any measurement they are ln P(1)/P(0); that "
    "is what the last term of w₀ has to be.")
def as_printed(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0 - 2 * np.log(priors[1] / priors[0]), np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "The threshold has the wrong sign.",
    "If missing class 1 is dear, one decides 1 sooner: the threshold goes DOWN as λ₁ goes up. From λ₁P(1|x) > λ₀P(0|x) "
    "follows a > ln λ₀/λ₁.")
def threshold_upside_down(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0, np.log(losses[1] / losses[0]))


@log_odds_rule.mistake(
    "The losses are ignored: the threshold is 0.",
    "Log odds of 0 are a toss-up, and a toss-up is the right place to switch only if both errors cost the same. The "
    "threshold is ln λ₀/λ₁.")
def threshold_zero(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0, 0.0)


@log_odds_rule.mistake(
    "The losses are mixed into the log odds.",
    "Your decisions are right, but ln P(1|x)/P(0|x) is a statement about the world and knows no prices. Leave them "
    "out of w₀ and put them into the threshold.")
def losses_in_the_log_odds(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0 + np.log(losses[1] / losses[0]), 0.0)


@log_odds_rule.mistake(
    "The threshold is the ratio of the losses, without a logarithm.",
    "λ₀/λ₁ is the threshold for the odds. Log odds are compared with its logarithm; at equal prices that is 0, not 1.")
def threshold_without_logarithm(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0, losses[0] / losses[1])


@log_odds_rule.mistake(
    "The priors are counted twice: in the log odds and again in the threshold.",
    "a(x) contains ln P(1)/P(0) already. Against the log odds stands the ratio of the prices alone; "
    "ln λ₀P(0)/λ₁P(1) would be the threshold for the log ratio of the densities.")
def priors_twice(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0, np.log(losses[0] * priors[0] / (losses[1] * priors[1])))


@log_odds_rule.mistake(
    "The priors are forgotten.",
    "What you return is the log ratio of the densities, the log odds for equal priors. Add ln P(1)/P(0) to w₀.")
def log_odds_without_priors(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, np.array([0.5, 0.5]))
    return _answer(w * x + w0, np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "σ is taken for the variance.",
    "Both w and the squares of the means are divided by σ², not by σ. With σ = 1 nobody sees it.")
def log_odds_with_sigma(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, math.sqrt(sigma), priors)
    return _answer(w * x + w0, np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "The ½ before the squares of the means is missing.",
    "The exponent of a normal is −(x − μ)²/(2σ²): the cross term loses its 2, the squares keep it. At equal priors "
    "the log odds must be 0 exactly half-way between the means.")
def half_missing(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0 + (mu[0] ** 2 - mu[1] ** 2) / (2 * sigma**2), np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "These are the log odds of class 0.",
    "Every sign is turned: you return ln P(0|x)/P(1|x). The exercise asks for class 1 over class 0, so that large "
    "values speak for 1.")
def log_odds_of_class_0(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(-(w * x + w0), np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "The squares of the means were turned round, and the priors left as printed.",
    "μ₀² − μ₁² is right as it stands: at equal priors the log odds must be 0 half-way between the means, and with "
    "w = (μ₁ − μ₀)/σ² they are. What stands upside down is the ratio of the priors.")
def squares_for_priors(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x - w0, np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "The slope was turned round, and the priors left as printed.",
    "(μ₁ − μ₀)/σ² is right: the larger x, the more it speaks for the class with the larger mean. What stands upside "
    "down is the ratio of the priors.")
def slope_for_priors(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(-w * x + w0 - 2 * np.log(priors[1] / priors[0]), np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "The squares of the means stand the wrong way round.",
    "−(x − μ₁)² + (x − μ₀)² leaves μ₀² − μ₁². Half-way between the means, at equal priors, the log odds must be 0; try "
    "x = (μ₀ + μ₁)/2.")
def squares_turned(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0 - (mu[0] ** 2 - mu[1] ** 2) / sigma**2, np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "`/ 2 * sigma**2` divides by 2 and then MULTIPLIES by σ².",
    "Python works from left to right: the denominator 2σ² needs brackets, `/ (2 * sigma**2)`. With σ = 1 nobody sees "
    "it.")
def spread_without_brackets(x, mu, sigma, priors, losses):
    w, _ = _line(mu, sigma, priors)
    w0 = (mu[0] ** 2 - mu[1] ** 2) * sigma**2 / 2 + np.log(priors[1] / priors[0])
    return _answer(w * x + w0, np.log(losses[0] / losses[1]))


@log_odds_rule.mistake(
    "The posterior is returned instead of the log odds.",
    "The decisions are right, but σ(a) lies between 0 and 1. Log odds may be any number; leave the logistic function "
    "out.")
def posterior_for_log_odds(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    share = 1 / (1 + np.exp(-(w * x + w0)))
    return share, (share > losses[0] / losses.sum()).astype(int)


@log_odds_rule.mistake(
    "The log odds are compared with ½.",
    "½ is the toss-up of a probability, at equal prices. For log odds the toss-up is 0, and with prices the threshold "
    "is ln λ₀/λ₁.")
def threshold_one_half(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    return _answer(w * x + w0, 0.5)


@log_odds_rule.mistake(
    "It decides 1 below the threshold instead of above.",
    "Large log odds speak for class 1: `log_odds > threshold`.")
def below_the_threshold(x, mu, sigma, priors, losses):
    w, w0 = _line(mu, sigma, priors)
    a = w * x + w0
    return a, (a <= np.log(losses[0] / losses[1])).astype(int)


@log_odds_rule.variant
def from_the_log_densities(x, mu, sigma, priors, losses):
    log_joint = np.log(priors) - (x[:, None] - mu) ** 2 / (2 * sigma**2)
    return log_joint[:, 1] - log_joint[:, 0], (log_joint + np.log(losses)).argmax(axis=1)


@log_odds_rule.variant
def measured_from_the_middle(x, mu, sigma, priors, losses):
    """Equal priors put the toss-up half-way between the means; the priors move it."""
    a = (x - mu.mean()) * (mu[1] - mu[0]) / sigma**2 + math.log(priors[1]) - math.log(priors[0])
    return a, np.where(np.exp(a) * losses[1] > losses[0], 1, 0)
