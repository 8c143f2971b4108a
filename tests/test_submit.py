"""submit(): the notebook is run from nothing, what a grader will find is said, and grading takes the zip."""
import json
import os
import zipfile

import nbformat
import pytest
from course_lib.classroom import submit
from course_lib.classroom.grading import intake
from course_lib.classroom.submit import RERUN, pack
from nbformat.v4 import new_code_cell, new_notebook

RIGHT = "def log_sum_exp(a):\n    return helper(a)"
HELPER = "import numpy as np\ndef helper(a):\n    return np.log(np.exp(a).sum(axis=1))"


@pytest.fixture
def book(tmp_path):
    def write(*cells, name="00_start_here.ipynb"):
        nbformat.write(new_notebook(cells=[new_code_cell(c) for c in cells]), tmp_path / name)
        return tmp_path / name
    return write


def test_found_functions_are_packed_with_a_receipt_that_grading_takes(book, tmp_path):
    path = book(HELPER, RIGHT, "from course_lib.classroom import submit\nsubmit()")
    receipt, archive = pack(path)
    assert (receipt.found, receipt.missing, receipt.leaning, receipt.stopped) == (("log_sum_exp",), (), {}, ())
    with zipfile.ZipFile(archive) as made:
        assert (
            made.namelist() == ["00_start_here.ipynb", "receipt.json"]
            and made.read("00_start_here.ipynb") == path.read_bytes()
        )
        assert json.loads(made.read("receipt.json"))["sha256"] == receipt.sha256
    (tmp_path / "class" / "ada").mkdir(parents=True)
    archive.rename(tmp_path / "class" / "ada" / archive.name)
    [heap] = intake.collect(tmp_path / "class")
    assert [n.name for n in intake.read(heap.package()).notebooks] == ["00_start_here.ipynb"]


def test_what_leans_on_hidden_state_is_said(book):
    inner = "def log_sum_exp(a):\n    return [ghost for _ in a] + [(lambda: other)(), len(a), __name__]"
    receipt, _ = pack(book(inner))
    assert receipt.found == ("log_sum_exp",) and receipt.leaning == {"log_sum_exp": ("ghost", "other")}


def test_function_of_a_deleted_cell_is_missing_though_the_session_has_it(book):
    receipt, _ = pack(book("x = 1"), live={"log_sum_exp": lambda a: a})
    assert receipt.missing == ("log_sum_exp",) and "no longer there" in receipt.leaning["log_sum_exp"][0]


def test_renamed_notebook_is_known_by_its_functions_and_a_cell_that_stops_costs_only_itself(book):
    receipt, _ = pack(book("1 / 0", HELPER, RIGHT, name="my hw.ipynb"))
    assert receipt.found == ("log_sum_exp",) and receipt.stopped == ("my hw.ipynb, cell 1: division by zero",)


@pytest.mark.parametrize(
    "cells, words", [(("import os; os._exit(3)",), "ended its own process"), (("x = 1",), "holds no exercise")]
)
def test_notebook_that_cannot_be_packed_is_explained(book, capsys, cells, words):
    submit(book(*cells, name="00_start_here.ipynb" if "exit" in cells[0] else "other.ipynb"))
    assert words in capsys.readouterr().out


def test_missing_and_broken_files_are_explained(tmp_path, capsys, monkeypatch):
    (tmp_path / "bad.ipynb").write_text("{")
    monkeypatch.delenv("JPY_SESSION_NAME", raising=False)
    for what, words in (
        (tmp_path / "none.ipynb", "found none at"),
        (tmp_path / "bad.ipynb", "invalid JSON at line 1"),
        (None, "submit(\"its_name.ipynb\")"),
    ):
        submit(what)
        assert "[NOT PACKED]" in (said := capsys.readouterr().out) and words in said


def test_jupyter_tells_which_notebook_it_is(book, monkeypatch, capsys):
    monkeypatch.setenv("JPY_SESSION_NAME", str(book(HELPER, RIGHT)))
    submit()
    assert (
        "[PACKED] 1 of 1 functions found." in (said := capsys.readouterr().out)
        and "A grader will find every function." in said
    )


def test_notebooks_own_submit_does_nothing_while_it_runs_again(monkeypatch, capsys):
    monkeypatch.setenv(RERUN, "1")
    submit()
    assert capsys.readouterr().out == "" and os.environ[RERUN]
