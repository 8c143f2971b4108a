"""A lecturer's own pack: begun by a command, filled, tested, built, released and graded, without a change elsewhere."""
import re
import subprocess
import sys
from pathlib import Path

import fake_sandbox
import nbformat
import pytest
import toy_course
import typer
from course_lib.classroom import template
from course_lib.classroom.answers import load
from course_lib.classroom.cli import app
from course_lib.classroom.course import Course
from course_lib.classroom.grading import release as handing_out, sandbox, worker
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner


def run(*arguments, status=0) -> str:
    result = CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "250", "TERM": "dumb"})
    assert result.exit_code == status, f"{result.output}\n{result.exception!r}"
    return re.sub(r"\s+", " ", result.output)


@pytest.fixture
def begun(tmp_path) -> Path:
    run("new", "mean_square", "--pack", tmp_path / "mine", "--unit", "07_averages")
    return tmp_path / "mine"


def fill(pack: Path) -> None:
    """What an author does: write every text."""
    for path in pack.rglob("07_averages.py"):
        numbers = iter(range(100))
        path.write_text(
            re.sub(template.MARK, lambda _: f"Text {next(numbers)}", path.read_text(encoding="utf-8")), encoding="utf-8"
        )


def test_new_exercise_builds_and_fails_its_mutation_test_until_it_is_filled(begun):
    said = run("mutants", "--pack", begun, status=1)
    assert "E7.1" in said and "9 texts are still to be written" in said
    assert "3 written" in run("sync", "--pack", begun)
    assert {p.relative_to(begun).as_posix() for p in begun.rglob("*.[in]p*")} == {
        "answers/07_averages.npz", "exercises/07_averages.ipynb", "solutions/07_averages.ipynb"}
    fill(begun)
    assert "3/3 │ 4/4 │ 4/4 │ 50" in run("mutants", "--pack", begun)
    assert "3 written" in run("sync", "--pack", begun) and "Everything follows" in run(
        "sync", "--check", "--pack", begun
    )


def test_second_exercise_is_added_to_its_unit(begun):
    run("new", "second_one", "--pack", begun, "--unit", "07_averages")
    run("new", "elsewhere", "--pack", begun, "--unit", "08_more", "--id", "E8.5")
    references = Course.pack(begun).references
    assert [(r.exercise.name, r.exercise.id, r.topic) for r in references] == [
        ("mean_square", "E7.1", "07_averages"), ("second_one", "E7.2", "07_averages"), ("elsewhere", "E8.5", "08_more")]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (("Mean",), "name of a function"),
        (("class",), "name of a function"),
        (("x", "--unit", "averages"), "unit such as"),
        (("mean_square",), "mean_square is there already"),
        (("fresh", "--id", "E7.1"), "E7.1 is there already"),
    ],
)
def test_names_that_cannot_be_are_explained(begun, arguments, words):
    before = [p.read_bytes() for p in sorted(begun.rglob("*.py"))]
    with pytest.raises(AssertionError, match=words):
        run("new", *arguments, "--pack", begun)
    assert before == [p.read_bytes() for p in sorted(begun.rglob("*.py"))]


LEARNER = """
import sys
from typer.testing import CliRunner
from course_lib.classroom.cli import app
for words in ("lab --version", "update", "hint E7.1", "check", "check book.ipynb", "status", "doctor"):
    print("COMMAND", words, "SAYS", CliRunner().invoke(app, [*words.split(), "--pack", sys.argv[1]]).output)
"""


def test_learners_commands_find_a_pack_from_elsewhere(begun, tmp_path, monkeypatch):
    """It needs no lectures; its progress is its own; a notebook is named from where the command is given."""
    monkeypatch.delenv("COURSE_PROGRESS")
    fill(begun)
    run("sync", "--pack", begun)
    nbformat.write(new_notebook(cells=[new_code_cell("def mean_square(x): return (x ** 2).mean()")]), tmp_path / "book.ipynb")
    done = subprocess.run([sys.executable, "-c", LEARNER, "mine"], cwd=tmp_path, text=True, capture_output=True, check=True)
    said = dict(part.split(" SAYS ") for part in done.stdout.split("COMMAND ")[1:])
    assert "1 of 1 notebooks were up to date" in said["update"]
    assert "[HINT 1 OF 3] E7.1 mean_square" in said["hint E7.1"]
    assert "[NOT STARTED] E7.1 mean_square" in said["check"] and "0 of 1 right" in said["check"]
    assert "[RIGHT] E7.1 mean_square" in said["check book.ipynb"] and "1 of 1 right" in said["check book.ipynb"]
    assert "│ E7.1" in said["status"] and "│ E1.1" not in said["status"]
    assert str(begun / "work") in said["doctor"]
    assert {p.name for p in (begun / "work").iterdir()} >= {"exercises", "progress.jsonl"}
    assert not (tmp_path / "work").exists()


def test_learners_commands_say_what_a_pack_lacks(begun):
    for command in (("lab",), ("update",), ("hint", "E7.1"), ("check",), ("status",), ("doctor",)):
        with pytest.raises(AssertionError, match="course sync --pack"):
            run(*command, "--pack", begun)


def test_every_command_takes_a_pack_but_those_on_grades_which_name_theirs():
    """Of a folder of grades the log tells which pack it is of."""
    def commands(group, *above):
        for name, command in group.commands.items():
            yield from commands(command, *above, name) if hasattr(command, "commands") else [(*above, name, command)]

    without = {" ".join(name) for *name, command in commands(typer.main.get_command(app))
               if not any("--pack" in p.opts for p in command.params)}
    assert without == {"override", "mistakes", "feedback pages", "feedback pack", "export canvas", "export moodle",
                       "export gradescope"}


def test_folder_without_exercises_is_no_pack(tmp_path):
    for command in (("sync",), ("mutants",), ("release", tmp_path / "x"), ("grade", tmp_path, "--to", tmp_path / "y")):
        with pytest.raises(AssertionError, match="course new my_function --pack"):
            run(*command, "--pack", tmp_path / "nothing")


def test_private_pack_is_released_and_graded(begun, tmp_path, monkeypatch):
    """The whole way, by the commands: fill, release, hand in, grade."""
    monkeypatch.setattr(handing_out, "wheel", lambda to: _empty(to / "course_lib-0-py3-none-any.whl"))
    monkeypatch.setattr(sandbox, "missing", lambda: [])
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: fake_sandbox.Fake())
    fill(begun)
    assert "exercises/07_averages.ipynb" in run("release", tmp_path / "bundle", "--pack", begun)
    [answer] = load((tmp_path / "bundle" / "answers" / "07_averages.npz").read_bytes())
    assert (answer.name, answer.id) == ("mean_square", "E7.1")
    handout = nbformat.read(tmp_path / "bundle" / "exercises" / "07_averages.ipynb", as_version=4)
    for name, body in {"ada": "    return (x ** 2).mean()", "bob": "    return (x ** 2).sum()", "kim": ""}.items():
        book = nbformat.from_dict(handout)
        for cell in book.cells:
            if "answer" in cell.metadata.get("tags", []):
                cell.source = f"def mean_square(x):\n{body}" if body else cell.source
        (tmp_path / "class").mkdir(exist_ok=True)
        nbformat.write(book, tmp_path / "class" / f"{name}.ipynb")
    (tmp_path / "class.toml").write_text("[points]\n'E7.1' = 4\n")
    said = run(
        "grade",
        tmp_path / "class",
        "--to",
        tmp_path / "grades",
        "--pack",
        begun,
        "--workers",
        "1",
        "--class",
        tmp_path / "class.toml",
    )
    assert "3 graded" in said
    lines = (tmp_path / "grades" / "grades.csv").read_text(encoding="utf-8").splitlines()
    assert [line.split(",")[:7] for line in lines[1:]] == [
        ["ada", "", "graded", "4", "4", "4", "right"],
        ["bob", "", "graded", "0", "4", "0", "wrong"],
        ["kim", "", "graded", "0", "4", "0", "missing"],
    ]


def _empty(path: Path) -> Path:
    path.write_bytes(b"PK")
    return path


def test_corrections_by_the_commands(tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "missing", lambda: [])
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: fake_sandbox.Fake())
    pack = toy_course.write(tmp_path / "pack")
    (tmp_path / "class").mkdir()
    for name, body in {
        "ada": "counts + 1",
        "bob": "1 + counts",
        "kim": "counts / counts.sum(axis=1, keepdims=True)",
    }.items():
        nbformat.write(
            new_notebook(cells=[new_code_cell(f"def shares(counts):\n    return {body}")]),
            tmp_path / "class" / f"{name}.ipynb",
        )
    grades = tmp_path / "grades"
    run("grade", tmp_path / "class", "--to", grades, "--pack", pack, "--workers", "1")
    said = run("mistakes", grades)
    [cluster] = re.findall("[0-9a-f]{12}", said)
    assert "E1.1 │ 2 │ two rows" in said
    assert "2 submissions now read: One is added." in run(
        "mistakes", grades, cluster[:5], "--say", "One is added.", "--remedy", "Do not."
    )
    assert "One is added." in run("mistakes", grades)
    assert "ada has 0.5 in E1.1" in run("override", grades, "ada", "E1.1", "0.5", "the idea is right")
    assert "Nothing changes." in run("regrade", grades, "--workers", "1", "--dry-run")
    nbformat.write(new_notebook(cells=[new_code_cell("x = 1")]), tmp_path / "class" / "kim.ipynb")
    assert (
        "kim │ E1.1 │ 1 │ 0" in (said := run("regrade", grades, "--workers", "1", "--student", "kim", "--dry-run"))
        and "Nothing was written" in said
    )
    assert "kept" in run("regrade", grades, "--workers", "1", "--student", "kim", "--never-lower")
    totals = {
        line.split(",")[0]: line.split(",")[3]
        for line in (grades / "grades.csv").read_text(encoding="utf-8").splitlines()[1:]
    }
    assert totals == {"ada": "0.5", "bob": "0", "kim": "1"}


def test_lecturers_commands_cost_a_learner_no_time():
    """Nothing of grading is imported before a command of it runs."""
    code = (
        "import sys, course_lib.classroom.cli; print([m for m in ('sqlite3', 'jinja2', 'yaml', 'course_lib.classroom.grading.grade', "
        "'course_lib.classroom.grading.sandbox', 'concurrent.futures.process') if m in sys.modules])"
    )
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
    )
