"""Marks and pages on their way to Canvas, Moodle, Gradescope and nbgrader, read back as those programs read them."""

import csv
import json
import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import environments
import nbformat
import pytest
from course_lib.classroom.grading import gradescope, interchange, sandbox, worker
from course_lib.classroom.grading.classfile import ClassFile
from course_lib.classroom.cli import app
from course_lib.classroom.course import Course, to_solve
from course_lib.classroom.grading.grade import Grading
from course_lib.classroom.grading.nbgrader import nbgrader_notebook
from course_lib.classroom.grading.records import Item, Row, Run, Standing, Student
from fake_sandbox import Fake
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
RIGHT = "def shares(counts):\n    return counts / counts.sum(axis=1, keepdims=True)"
GRAND = "def shares(counts):\n    return counts / counts.sum()"
CANVAS_NAMES = ("lovelaceada_101_9001_hw 1.ipynb", "turingalan_LATE_102_9002_my_hw_2.ipynb", "=cmd()_103_9003_hw.ipynb")
MOODLE_NAMES = (
    "Ada Lovelace_101_assignsubmission_file_/hw.ipynb",
    "Alan M. Turing_102_assignsubmission_file_/hw.ipynb",
    "@O'Hara_103_assignsubmission_file_/hw.ipynb",
)


def notebook(source) -> bytes:
    return nbformat.writes(new_notebook(cells=[new_code_cell("import numpy as np"), new_code_cell(source)])).encode()


@pytest.fixture
def graded(toy, tmp_path, monkeypatch):
    """Grade the toy course; call it with the names of files, of which the first is right and the others are not."""
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Fake())
    monkeypatch.setattr(sandbox, "missing", lambda: [])

    def grade(names, roster="", **more):
        for i, name in enumerate(names):
            (tmp_path / "class" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / "class" / name).write_bytes(notebook(GRAND if i else RIGHT))
        if roster:
            (tmp_path / "roster.csv").write_text(roster, encoding="utf-8")
        grading = Grading(
            toy, tmp_path / "class", tmp_path / "grades", tmp_path / "roster.csv" if roster else None, **more
        )
        list(grading.run())
        return tmp_path / "grades"

    return grade


def read(path):
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


# --- Canvas ---------------------------------------------------------------------------------------------------------


def canvas_accepts(head):
    """Canvas's importer: Student, ID, then SIS User ID only with SIS Login ID after it, and Section last of them."""
    columns = 3
    if len(head) <= 3 or "Student" not in head[0] or "ID" not in head[1]:
        return False
    if "SIS Login ID" in head[2]:
        columns += 1
    elif "SIS User ID" in head[2] and "SIS Login ID" in head[3]:
        columns += 2
    return "Section" in head[columns - 1]


def test_canvas_takes_the_table(graded):
    path = interchange.write_csv(
        graded(CANVAS_NAMES).parent / "canvas.csv", interchange.canvas(graded(CANVAS_NAMES), "Sheet 2 (4711)")
    )
    head, possible, *rows = read(path)
    assert (
        canvas_accepts(head)
        and head[5:] == ["Sheet 2 (4711)"]
        and not canvas_accepts([c for c in head if c != "Section"])
    )
    assert re.match(r"^\s*Points Possible", possible[0]) and possible[5] == "1"
    assert {row[1]: row[5] for row in rows} == {"101": "1", "102": "0", "103": "0"} and all(
        len(r) == len(head) for r in rows
    )


def test_canvas_number_survives_a_roster_of_other_ids(graded):
    folder = graded(CANVAS_NAMES, "id,name\nal1,Ada Lovelace\nzz9,Emmy Noether\n")
    _, _, *rows = interchange.canvas(folder, "Sheet")
    assert ["Ada Lovelace", "101", "al1", "", "", 1.0] in rows and ["Emmy Noether", "", "zz9", "", "", 0.0] in rows


def canvas_reads(path):
    """Canvas's own rule: the first two parts of a name that are all digits are the student and the file."""
    found = {}
    for name in zipfile.ZipFile(path).namelist():
        student, attachment = [part for part in name.split("_") if re.fullmatch(r"\d+", part)][:2]
        found[student, attachment] = zipfile.ZipFile(path).read(name).decode("utf-8")
    return found


def test_canvas_finds_the_student_of_each_page(graded, tmp_path):
    assert interchange.feedback_zip(graded(CANVAS_NAMES), "canvas", tmp_path / "back.zip") == 3
    pages = canvas_reads(tmp_path / "back.zip")
    assert set(pages) == {("101", "9001"), ("102", "9002"), ("103", "9003")}
    assert "lovelaceada" in pages["101", "9001"] and "turingalan" not in pages["101", "9001"]


# --- Moodle ---------------------------------------------------------------------------------------------------------


def moodle_reads(path):
    """Moodle's own rule: full name, participant, type and name of the plugin, parted by _, in the folder's name."""
    found = {}
    for name in zipfile.ZipFile(path).namelist():
        folder, _, rest = name.partition("/")
        _, participant, kind, plugin, left = folder.split("_", 4)
        assert (kind, plugin, left, rest) == ("assignsubmission", "file", "", "feedback.html")
        found[int(participant)] = zipfile.ZipFile(path).read(name).decode("utf-8")
    return found


def test_moodle_finds_the_student_of_each_page_and_mark(graded, tmp_path):
    folder = graded(MOODLE_NAMES, "id,name\nal1,Ada Lovelace\nzz9,Emmy Noether\n")
    assert interchange.feedback_zip(folder, "moodle", tmp_path / "back.zip") == 3
    pages = moodle_reads(tmp_path / "back.zip")
    assert set(pages) == {101, 102, 103} and "Ada Lovelace" in pages[101] and "Turing" not in pages[101]
    head, *rows = read(interchange.write_csv(tmp_path / "moodle.csv", interchange.moodle(folder)))
    assert {"Identifier", "Grade", "Last modified (grade)"} <= set(head)  # what Moodle's importer looks for
    assert {row[0]: (row[2], row[3], row[5]) for row in rows} == {
        "Participant 101": ("1", "1", "E1.1 right"),
        "Participant 102": ("0", "1", "E1.1 wrong"),
        "Participant 103": ("0", "1", "E1.1 wrong"),
    }


def test_nothing_in_a_table_is_a_formula(graded, tmp_path):
    for names, lines in ((CANVAS_NAMES, lambda f: interchange.canvas(f, "=cmd()")), (MOODLE_NAMES, interchange.moodle)):
        shutil.rmtree(tmp_path / "class", ignore_errors=True)
        rows = read(interchange.write_csv(tmp_path / "out.csv", lines(graded(names))))
        assert not [
            v for row in rows for v in row if v.startswith(("=", "+", "@", "\t")) or (v.startswith("-") and v != "-")
        ]
        assert any(v.startswith(("'=", "'@")) for row in rows for v in row)


def test_not_graded_is_an_empty_cell(graded, monkeypatch):
    def boom(self, *_):
        raise OSError("disk full")

    monkeypatch.setattr(Fake, "run", boom)
    for names, lines, column in (
        (CANVAS_NAMES, lambda f: interchange.canvas(f, "S"), 5),
        (MOODLE_NAMES, interchange.moodle, 2),
    ):
        rows = [line for line in lines(graded(names)) if line[1] not in ("", "ID", "Full name")]
        assert rows and all(row[column] is None for row in rows if row[0] != "Student")


def test_same_marks_give_the_same_zip_and_other_names_are_refused(graded, tmp_path):
    folder = graded(CANVAS_NAMES)
    for name in ("one.zip", "two.zip"):
        interchange.feedback_zip(folder, "canvas", tmp_path / name)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with pytest.raises(ValueError, match="as Moodle gives them expected, found none"):
        interchange.feedback_zip(folder, "moodle", tmp_path / "three.zip")


def test_commands_write_beside_the_marks(graded):
    folder = graded(CANVAS_NAMES)
    for words in (
        ["feedback", "pages", folder],
        ["feedback", "pack", folder, "--canvas"],
        ["export", "canvas", folder, "--assignment", "S"],
        ["export", "moodle", folder],
        ["export", "gradescope", folder, "--to", folder / "scope"],
    ):
        result = CliRunner().invoke(app, list(map(str, words)))
        assert result.exit_code == 0, (result.output, result.exception)
    assert {p.name for p in folder.iterdir()} >= {
        "class.html",
        "feedback",
        "feedback-canvas.zip",
        "canvas.csv",
        "moodle.csv",
    }
    assert json.loads((folder / "scope" / "101" / "results.json").read_text())["score"] == 1
    assert CliRunner().invoke(app, ["feedback", "pack", str(folder)]).exit_code == 2


# --- Gradescope -----------------------------------------------------------------------------------------------------

RUN = Run("toy", ("E1.1",), "s", "c", True)


def scoped(*items, **more):
    return gradescope.results(Standing(Row("k", Student("k"), "graded", items=items), **more), RUN)


def test_results_are_what_gradescope_documents():
    told = scoped(
        Item("E1.1", "f", "A title", "t", "wrong", 0.5, 2.0, "It forgets.", "It forgets.", "Remember."), factor=0.5
    )
    assert (
        told["score"] == 0.25
        and "Graded without a sandbox." in told["output"]
        and told["stdout_visibility"] == "hidden"
    )
    [test] = told["tests"]
    assert (test["score"], test["max_score"], test["status"]) == (
        0.5,
        2.0,
        "failed",
    ) and "It forgets.\nRemember." in test["output"]
    assert set(told) <= {
        "score",
        "execution_time",
        "output",
        "output_format",
        "test_output_format",
        "test_name_format",
        "visibility",
        "stdout_visibility",
        "extra_data",
        "tests",
        "leaderboard",
    }
    assert set(test) <= {
        "score",
        "max_score",
        "status",
        "name",
        "name_format",
        "number",
        "output",
        "output_format",
        "tags",
        "visibility",
        "extra_data",
    }


def test_result_that_is_not_graded_is_no_result():
    with pytest.raises(ValueError, match="not graded: disk full"):
        scoped(Item("E1.1", "f", "A title", "t", "not graded", None, 2.0, "disk full"))


@pytest.fixture(scope="module")
def container(tmp_path_factory):
    """The folders that Gradescope documents, with the autograder of a toy course in them; setup.sh has run."""
    import toy_course

    root = tmp_path_factory.mktemp("autograder")
    toy = Course(toy_course.write(root / "toy"), is_pack=True)
    gradescope.autograder(
        root / "autograder.zip", toy, b"a secret of the lecturer", ClassFile.of({"points": {"E1.1": 4}})
    )
    with zipfile.ZipFile(root / "autograder.zip") as archive:
        for info in archive.infolist():
            os.chmod(archive.extract(info, root / "source"), info.external_attr >> 16)
    shutil.rmtree(root / "toy")
    shutil.copy(root / "source" / "run_autograder", root)
    done = subprocess.run(
        [root / "source" / "setup.sh"], capture_output=True, text=True, timeout=400,
        env=os.environ | {"PIP_NO_COMPILE": "1"},  # of what is installed, little is imported
    )
    if done.returncode and ("No matching distribution" in done.stderr or "onnection" in done.stderr):
        pytest.skip("no packages can be had here, so that setup.sh cannot be run")
    assert done.returncode == 0, done.stderr
    return root


def graded_there(root, **files):
    shutil.rmtree(root / "submission", ignore_errors=True)
    (root / "submission").mkdir()
    (root / "results").mkdir(exist_ok=True)
    for name, content in files.items():
        (root / "submission" / f"{name}.ipynb").write_bytes(content)
    environment = {"PATH": os.environ["PATH"], "HOME": str(root), "AUTOGRADER_ROOT": str(root)}
    done = subprocess.run(
        [root / "run_autograder"], capture_output=True, text=True, timeout=200, env=environment, cwd=root
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))


def test_autograder_works_in_gradescopes_folders(container):
    right, wrong = graded_there(container, hw=notebook(RIGHT)), graded_there(container, hw=notebook(GRAND))
    assert (right["score"], right["tests"][0]["max_score"], right["tests"][0]["status"]) == (4, 4, "passed")
    assert (
        wrong["score"] == 0
        and "It divides by the grand total." in wrong["tests"][0]["output"]
        and "sandbox" in wrong["output"]
    )
    both = graded_there(container, a=notebook("x = 1"), b=notebook(RIGHT))
    assert both["score"] == 4, "several files are one submission"
    broken = graded_there(container, hw=b"{")
    assert broken["score"] == 0 and "invalid JSON" in broken["output"]


# --- nbgrader -------------------------------------------------------------------------------------------------------


def e01(points=2.0):
    return nbgrader_notebook(to_solve(ROOT / "solutions" / "00_start_here.py"), {"log_sum_exp": points})


def test_each_answer_is_followed_by_a_locked_cell_that_ends_in_the_points():
    book = e01()
    nbformat.validate(book)
    answer, check = [c for c in book.cells if "nbgrader" in c.metadata]
    assert answer.metadata["nbgrader"] | {"grade_id": ""} == {
        "schema_version": 3,
        "grade_id": "",
        "grade": False,
        "locked": False,
        "solution": True,
        "task": False,
    }
    assert (
        check.metadata["nbgrader"]["points"] == 2.0
        and check.metadata["nbgrader"]["locked"]
        and check.metadata["nbgrader"]["grade"]
    )
    assert check.source.splitlines()[-1] == '2.0 * (examine(log_sum_exp).status == "right")'
    assert "### BEGIN SOLUTION" in answer.source and answer.source.count("raise NotImplementedError") == 1


def test_every_exercise_of_the_course_gets_its_pair():
    course = Course(ROOT)
    for source in course.solutions:
        worth = {r.exercise.name: r.exercise.points for r in course.references_of(source)}
        book = nbgrader_notebook(to_solve(source), worth)
        kinds = [c.metadata["nbgrader"] for c in book.cells if "nbgrader" in c.metadata]
        assert sum(k["solution"] for k in kinds) == sum(k["grade"] for k in kinds) == len(worth), source.name
        assert sum(k.get("points", 0) for k in kinds) == sum(worth.values())
        assert len({k["grade_id"] for k in kinds}) == len(kinds) and all(
            re.fullmatch(r"[\w-]+", k["grade_id"]) for k in kinds
        )


@pytest.fixture(scope="module")
def nbgrader(tmp_path_factory):
    """The Python of an environment with nbgrader 0.9; COURSE_NBGRADER names a folder to keep it in."""
    folder = Path(os.environ.get("COURSE_NBGRADER") or tmp_path_factory.mktemp("nbgrader") / "env")
    if not environments.python(folder).exists():
        environments.make(folder)
        if environments.pip(folder, "install", "--no-compile", "nbgrader>=0.9,<0.10").returncode:
            shutil.rmtree(folder)
            pytest.skip("nbgrader cannot be installed here")
    return environments.python(folder)


def test_real_nbgrader_gives_the_reference_everything_and_others_nothing(nbgrader, tmp_path):
    (tmp_path / "source" / "ps").mkdir(parents=True)
    nbformat.write(e01(), tmp_path / "source" / "ps" / "hw.ipynb")

    def call(*words):
        environment = os.environ | {
            "PYTHONPATH": str(ROOT),
            "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
            "HOME": str(tmp_path),
            "PATH": f"{nbgrader.parent}{os.pathsep}{os.environ['PATH']}",
        }
        done = subprocess.run(
            [nbgrader, "-m", "nbgrader", *words],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stdout + done.stderr

    call("generate_assignment", "ps")
    released = nbformat.read(tmp_path / "release" / "ps" / "hw.ipynb", 4)
    assert any("def log_sum_exp(a):" in c.source and "NotImplementedError" in c.source for c in released.cells)
    [source] = [
        c.source
        for c in nbformat.read(ROOT / "solutions" / "00_start_here.ipynb", 4).cells
        if c.source.startswith("def log_sum_exp")
    ]
    for student, answer in {
        "reference": source,
        "wrong": "def log_sum_exp(a):\n    return np.log(np.exp(a).sum())",
        "blank": None,
    }.items():
        book = nbformat.from_dict(json.loads(json.dumps(released)))
        for cell in book.cells:
            if answer and "def log_sum_exp" in cell.source:
                cell.source = answer
            if student == "wrong" and "examine" in cell.source:
                cell.source = "2.0"  # nbgrader puts the locked cell back
        (tmp_path / "submitted" / student / "ps").mkdir(parents=True)
        nbformat.write(book, tmp_path / "submitted" / student / "ps" / "hw.ipynb")
    call("autograde", "ps")
    call("export")
    with open(tmp_path / "grades.csv", newline="") as stream:
        scores = {
            line["student_id"]: (float(line["score"]), float(line["max_score"])) for line in csv.DictReader(stream)
        }
    assert scores == {"reference": (2.0, 2.0), "wrong": (0.0, 2.0), "blank": (0.0, 2.0)}
