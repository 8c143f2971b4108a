"""Notebooks that broke other graders, each from a public report (cases/grading.json): graded, or a row says why.

They hold the exercise ``square(x) = x * x``. Each test names the report's id; together with five honest students all of
them are one class, in which the five get exactly what they deserve.
"""
import json
import shutil
import warnings
from pathlib import Path

import nbformat
import pytest
from course_lib.classroom.grading import sandbox, worker
from course_lib.classroom.cli import app
from course_lib.classroom.course import Course
from course_lib.classroom.grading.grade import Grading
from course_lib.classroom.grading.keys import key
from course_lib.classroom.grading.marking import mark
from course_lib.classroom.grading.records import Row
from course_lib.classroom.grading.roster import slug
from fake_sandbox import reply
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

CASES = Path(__file__).parent / "cases"
REPORTS = {report["id"]: report for report in json.loads((CASES / "grading.json").read_text(encoding="utf-8"))}
PATIENT = sandbox.Limits(cell_seconds=10.0, call_seconds=3.0)

SOLUTION = '''\
# %% tags=["setup"]
import numpy as np

# %% tags=["solution"]
def square(x):
    """The square of a number."""
    return x * x
'''
EXERCISE = '''\
import numpy as np
from course_lib.classroom.cases import Case, Exercise

square = Exercise("square", id="E1.1", title="A square", hints=("a", "b", "c"), notice="Never negative.", points=2)

@square.cases
def cases(rng):
    yield Case("three", (3,))
    yield Case("a fraction", (rng.uniform(2, 3),))
    yield Case("negative", (-rng.uniform(2, 3),))

@square.mistake("It doubles.", "Multiply it with itself.")
def doubled(x): return 2 * x

@square.mistake("It cubes.", "Once is enough.")
def cubed(x): return x ** 3

@square.mistake("It gives the number back.", "Multiply.")
def same(x): return x

@square.mistake("The sign is kept.", "Minus times minus is plus.")
def signed(x): return x * abs(x)

@square.variant
def power(x): return x ** 2

@square.variant
def added(x): return x * (x - 1) + x
'''

READS_A_FILE = (
    "import numpy as np\ndata = np.loadtxt('data/points.csv', delimiter=',')\ndef square(x):\n    return x * x"
)
HONEST = {
    "honest1": ("def square(x):\n    return x * x", 2.0),
    "honest2": ("def square(x):\n    return x ** 2", 2.0),
    "honest3": ("def square(x):\n    return x * abs(x)", 1.0),
    "honest4": ("def square(x):\n    return 2 * x", 0.0),
    "honest5": ("square = lambda x: abs(x) ** 2", 2.0),
}

@pytest.fixture(scope="module")
def course(tmp_path_factory) -> Course:
    root = tmp_path_factory.mktemp("square")
    for name, text in {"solutions/01_square.py": SOLUTION, "solutions/cases/01_square.py": EXERCISE}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return Course(root)


@pytest.fixture(scope="module")
def handed_in(tmp_path_factory) -> Path:
    """Every case as a student of its own, among five honest ones."""
    place = tmp_path_factory.mktemp("class")
    for path in sorted((CASES / "notebooks").iterdir()):
        if path.is_dir():
            shutil.copytree(path, place / path.name)
        else:
            (place / path.stem).mkdir()
            shutil.copy(path, place / path.stem / path.name)
    (place / "NB-13").mkdir()
    for name, (source, _) in HONEST.items():
        (place / name).mkdir()
        nbformat.write(new_notebook(cells=[new_code_cell(source)]), place / name / "hw1.ipynb")
    shutil.copytree(CASES / "notebooks" / "multi", place / "NB-12")
    shutil.copy(CASES / "notebooks" / "hw1.ipynb", place / "NB-12" / "hw1.ipynb")
    (place / "NB-38-same-cell").mkdir()
    nbformat.write(new_notebook(cells=[new_code_cell(READS_A_FILE)]), place / "NB-38-same-cell" / "hw1.ipynb")
    large = new_notebook(
        cells=[new_code_cell(HONEST["honest1"][0], outputs=[nbformat.v4.new_output("stream", text="x" * 6_000_000)])]
    )
    (place / "NB-44").mkdir()
    nbformat.write(large, place / "NB-44" / "hw1.ipynb")
    return place


@pytest.fixture(scope="module")
def rows(walls, course, handed_in, tmp_path_factory) -> dict[str, Row]:
    """The whole class, graded in the sandbox."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("error", FutureWarning)
        patch.setattr(worker.Bench, "sandbox", lambda self: sandbox.Sandbox(PATIENT))
        return {row.key: row for row in Grading(course, handed_in, tmp_path_factory.mktemp("grades")).run()}


def test_every_submission_has_a_row_and_none_is_our_fault(rows, handed_in):
    assert set(rows) == {slug(path.name) for path in handed_in.iterdir()}
    assert not [key for key, row in rows.items() if row.status == "not graded" or row.points is None]


def test_five_honest_students_among_them_get_what_they_deserve(rows):
    assert {name: rows[name].points for name in HONEST} == {name: points for name, (_, points) in HONEST.items()}
    assert rows["honest3"].items[0].mistake == "The sign is kept." and rows["honest4"].items[0].mistake == "It doubles."


@pytest.mark.parametrize(
    "report",
    [
        "NB-03",
        "NB-04",
        "NB-05",
        "NB-08",
        "NB-09",
        "NB-11",
        "NB-18",
        "NB-19",
        "NB-23",
        "NB-26",
        "NB-27",
        "NB-28",
        "NB-30",
        "NB-31",
        "NB-37",
        "NB-38",
        "NB-40",
        "NB-44",
    ],
)
def test_right_answer_is_right_whatever_surrounds_it(rows, report):
    names = {"NB-11": "hw1_1_José_Ñandú", "NB-37": "shadow"}
    [item] = rows[names.get(report, report)].items
    assert (item.status, item.points, item.reason) == ("right", 2.0, ""), REPORTS[report]["fault"]


@pytest.mark.parametrize("report, status, words", [
    ("NB-06", "missing", "is text (markdown)"),
    ("NB-29", "timed out", "code cell 1, which defines it, ran out of time"),
    ("NB-32", "crashed", "code cell 1, which defines it, ended its process (the process ended itself (exit code 0))"),
    ("NB-33", "wrong", "no plain array, number or text"),
    ("NB-35", "missing", "code cell 1, which defines it, stopped with SyntaxError")])
def test_answer_without_a_value_has_its_own_word(rows, report, status, words):
    [item] = rows[report].items
    assert (item.status, item.points) == (status, 0.0) and words in item.reason, REPORTS[report]["fault"]


@pytest.mark.parametrize("report, status, words", [
    ("NB-13", "no submission", "nothing was handed in"), ("NB-14", "unreadable", "empty file"),
    ("NB-16", "unreadable", "invalid JSON at line 1, column 610"), ("multi", "no submission", "nothing was handed in")])
def test_unreadable_submission_is_a_row_with_the_place(rows, report, status, words):
    assert rows[report].status == status and words in rows[report].reason and rows[report].points == 0


def test_checkpoint_beside_another_notebook_is_ignored(rows):
    """NB-12."""
    assert rows["NB-12"].items[0].notebook == "hw1.ipynb" and rows["NB-12"].points == 2 and not rows["NB-12"].notes


def test_file_that_is_missing_is_reported_by_name(rows):
    """NB-38, where the cell that reads it also defines the function."""
    [item] = rows["NB-38-same-cell"].items
    assert item.status == "missing" and "points.csv" in item.reason


def test_exercise_worth_nothing_counts_nothing_and_divides_nothing(course, tmp_path):
    """NB-36."""
    nothing = key(course.references[0], b"a secret of the lecturer", points=0)
    right = mark(nothing, [reply("returned", value) for value in nothing.expected])
    wrong = mark(nothing, [reply("returned", 0) for _ in nothing.expected])
    assert (right.status, right.points, wrong.status, wrong.points) == ("right", 0, "wrong", 0)


def test_command_fails_when_something_could_not_be_graded(course, tmp_path, monkeypatch):
    """NB-42: a status that scripts can rely on."""
    class Gone:
        def __enter__(self):
            raise OSError("no sandbox today")

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(sandbox, "missing", lambda: [])
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Gone())
    nbformat.write(new_notebook(cells=[new_code_cell(HONEST["honest1"][0])]), tmp_path / "ada.ipynb")
    arguments = [
        "grade",
        str(tmp_path / "ada.ipynb"),
        "--to",
        str(tmp_path / "grades"),
        "--workers",
        "1",
        "--pack",
        str(course.root),
    ]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1 and "1 not graded" in result.output and "--resume" in result.output


def test_every_report_is_tested():
    text = Path(__file__).read_text(encoding="utf-8")
    assert not [name for name in REPORTS if name not in text]
