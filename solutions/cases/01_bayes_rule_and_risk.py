"""Inputs, hints and known mistakes of the exercises in 01_bayes_rule_and_risk."""
import numpy as np

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
