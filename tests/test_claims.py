"""Do the cells that check the claims fail when a claim is false? A wrong formula is patched into each and must not pass."""
import os
from itertools import groupby
from pathlib import Path

import jupytext
import pytest
from course_lib.classroom import claims
from course_lib.classroom.course import Course

ROOT = Path(__file__).parents[1]
UNIT_1, UNIT_2A, UNIT_2B = "01_bayes_rule_and_risk", "02a_exponential_families", "02b_naive_bayes"
UNIT_10 = "10_scaling_out"

# claim, notebook, what stands in its cell, and the usual mistake
FALSE = [
    ("1.6", UNIT_1, "best = np.log(prices[0] / prices[1])", "best = np.log(prices[1] / prices[0])"),
    ("1.7", UNIT_1, "np.array([1.0, 10.0])", "np.array([1.0, 5.0])"),
    ("1.11", UNIT_1, "sigmoid(scores[:, 1] - scores[:, 0])", "sigmoid(scores[:, 0] - scores[:, 1])"),
    ("1.12", UNIT_1, "(P3 * normal(t, mean3, sd3)).max()", "(P3 * normal(t, mean3, sd3)).min()"),
    ("1.13", UNIT_1, "< 1 - c)", "< 1 - 2 * c)"),
    ("1.15", UNIT_1, "np.log(p / q)", "np.log(q / p)"),
    ("2.0", UNIT_2A, "np.sqrt(np.mean((flipper - flipper.mean())**2))", "flipper.std(ddof=1)"),
    ("2.4", UNIT_2A, "theta = Bernoulli().dc_inverse(class_means(few, y, 2))", "theta = class_means(few, y, 2)"),
    ("2.6", UNIT_2A, "shared = np.mean(within**2, axis=0)", "shared = np.var(P, axis=0)"),
    ("2.7", UNIT_2A, "- np.logaddexp(0, theta).sum(axis=1)", ""),
    ("2.13", UNIT_2B, "F(5 + 2 * c)", "F(5 + c)"),
    ("2.14", UNIT_2B, "0.5 ** 1075 == 0", "0.5 ** 1074 == 0"),
    ("10.2", UNIT_10, "Fraction(194, 5)", "Fraction(144, 5)"),
    ("10.3", UNIT_10, "merged - 8 / 3", "merged - 2"),
    ("10.4", UNIT_10, "(reduce(add, pieces).scatter == left.scatter)", "(reduce(add, shuffled).scatter == left.scatter)"),
]


def test_every_claim_of_the_finished_units_is_stated_and_checked():
    found = {claim.id: claim for claim in claims.claims(Course(ROOT))}
    wanted = [*(f"1.{i}" for i in range(1, 16)), *(f"2.{i}" for i in range(19)), *(f"10.{i}" for i in range(1, 16))]
    assert set(wanted) <= set(found) and all(found[key].cells for key in wanted)
    assert claims.problems(Course(ROOT)) == []


@pytest.mark.parametrize("notebook, patches", [(name, list(group)) for name, group in groupby(FALSE, lambda row: row[1])])
def test_cell_fails_when_its_claim_is_false(notebook, patches, tmp_path, monkeypatch):
    """Run the notebook once; before each cell that has a patch, run its false version on a copy of the state."""
    import matplotlib

    monkeypatch.setattr("matplotlib.pyplot.show", lambda: matplotlib.pyplot.close("all"))
    monkeypatch.chdir(ROOT / "notebooks")
    monkeypatch.setitem(os.environ, "COURSE_PROGRESS", str(tmp_path / "progress.jsonl"))
    matplotlib.use("agg")
    state, todo = {"__name__": notebook}, list(patches)
    for cell in jupytext.read(ROOT / "notebooks" / "scripts" / f"{notebook}.py").cells:
        if cell.cell_type != "code":
            continue
        for patch in [p for p in todo if f"claim {p[0]}" in cell.source.replace(", ", " claim ") and p[2] in cell.source]:
            todo.remove(patch)
            with pytest.raises(AssertionError):
                exec(cell.source.replace(patch[2], patch[3]), dict(state))
        if not todo:
            break
        exec(cell.source, state)
    assert todo == [], "the cell to patch is not there any more"
