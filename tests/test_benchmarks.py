"""The frame of the measurements; no time is asserted."""
import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import page
from benchmarks.__main__ import NAMES, QUICK, keep, main
from benchmarks.measure import Pair, Problem, measured, peak, relative, timed

FOLDER = Path(page.__file__).parent


def test_the_page_follows_from_the_results():
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert text == page.filled(text, json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))), \
        "run python -m benchmarks NAME --keep"


def test_every_benchmark_has_results():
    assert list(json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))["results"]) == NAMES


def test_answers_agree_to_ten_digits_at_every_point():
    kept = json.loads((FOLDER / "results.json").read_text(encoding="utf-8"))
    loose = [row for row in page.pairs(kept) if row["agreement"] is not None and not row["agreement"] <= 1e-10]
    assert not loose, loose


@pytest.mark.parametrize("name", NAMES)
def test_problems_agree_before_they_are_timed(name):
    module = importlib.import_module(f"benchmarks.{name}")
    for problem in module.problems(300, 5, 3) if hasattr(module, "problems") else ():
        for pair in problem.pairs.values():
            pair.ours(), pair.theirs()
        agreement = problem.agreement()
        assert agreement is None or agreement <= 1e-10, problem


def test_relative_difference_knows_infinities_and_nan():
    assert relative([1.0, -np.inf], [1.0, -np.inf]) == 0
    assert relative([200.0], [100.0]) == 1
    assert relative([1e-3], [0.0]) == 1e-3
    assert np.isnan(relative([np.nan], [1.0]))
    assert relative([0.0], [-np.inf]) > 1 or np.isnan(relative([0.0], [-np.inf]))


def test_pairs_are_called_in_turn():
    calls = []
    ours, theirs = timed(Pair(lambda: calls.append("ours"), lambda: calls.append("theirs"), calls=2), pairs=3, budget=0)
    assert calls[:2] == ["ours", "theirs"] and calls[2:] == ["ours", "ours", "theirs", "theirs"] * 3
    assert len(ours) == len(theirs) == 3 and (ours >= 0).all()


def test_peak_counts_what_is_allocated_at_once():
    assert 8e6 <= peak(lambda: np.ones(1_000_000)) < 9e6


def test_rows_of_a_problem_have_ratio_and_memory():
    X = np.ones((1000, 2))
    problem = Problem("sum", (1000, 2, 1), {"fit": Pair(X.sum, X.sum, 1.0)}, lambda: 0.0, X)
    row, = measured(problem, pairs=3, budget=0)
    assert row["low"] <= row["ratio"] <= row["high"] and row["pairs"] == 3 and row["peak"] < 1


def made(**changed):
    return {"method": "m", "what": "fit", "N": 1000, "D": 20, "K": 10, "ours": 1.0, "theirs": 2.0, "ratio": 0.5,
            "low": 0.4, "high": 0.6, "pairs": 7, "target": None, "agreement": 0.0} | changed


def test_growth_is_the_slope_in_the_size_that_changes():
    rows = [made(N=N, ours=N**1.5) for N in (10_000, 100_000, 1_000_000)] + [made(N=100_000, D=100, ours=5e7 * 5**2)]
    table = page.growth(rows)
    assert "1.5" in table and page.growth([made(N=100)]) == "Nothing was measured at 10,000 rows or more.\n"


def test_what_misses_its_target_is_listed():
    assert page.exceptions([made(target=0.6)]) == "None.\n"
    assert "0.500" in page.exceptions([made(target=0.4)])
    assert page.exceptions([made(N=100, ratio=3.0)]) == "None.\n"
    assert "3.000" in page.exceptions([made(ratio=3.0)])


def test_earlier_results_of_other_benchmarks_stay(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.__main__.HERE", tmp_path)
    (tmp_path / "README.md").write_text(f"# Page\n{page.BEGIN}\n{page.END}\n", encoding="utf-8")
    keep({NAMES[0]: [made()]})
    keep({NAMES[1]: [made(method="other")]})
    assert list(json.loads((tmp_path / "results.json").read_text())["results"]) == NAMES[:2]
    assert "other" in (tmp_path / "README.md").read_text(encoding="utf-8") and (tmp_path / "ratios.png").stat().st_size


def test_a_name_that_does_not_exist_is_told(capsys):
    with pytest.raises(SystemExit):
        main(["nonsense"])
    assert "there are check" in capsys.readouterr().err and QUICK
