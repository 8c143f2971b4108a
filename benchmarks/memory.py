"""What a fit allocates at its worst moment beyond X, as a share of X, 200,000 rows of 20 features (aim: a tenth)."""
import warnings

from benchmarks import discriminants, linear, mixtures, naive_bayes, regression
from benchmarks.measure import Problem, peak

AIM, N, D = 0.1, 200_000, 20
SUBJECTS = [(naive_bayes, 10), (discriminants, 10), (linear, 10), (mixtures, 10), (regression, 2), (regression, 10)]


def run(quick: bool = False) -> list[dict]:
    """A row for each method that is measured by a fit; windows keep their rows and fit nothing."""
    rows = N // 100 if quick else N
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # EM is stopped after some steps
        return [_row(problem) for subject, K in SUBJECTS for problem in subject.problems(rows, D, K)]


def _row(problem: Problem) -> dict:
    fit = problem.pairs["fit"]
    ours, theirs = (peak(call) / problem.X.nbytes for call in (fit.ours, fit.theirs))
    return {"method": problem.method, "classes": problem.shape[2], "ours": ours, "theirs": theirs, "aim": AIM}
