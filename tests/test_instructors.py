"""The instructor's guide: its commands are run and its files written, in the order of the page, for a made-up class."""
import ast
import csv
import os
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest
from course_lib.classroom import build
from course_lib.classroom.grading import lecturer, sandbox
from course_lib.classroom.cli import app
from nbformat.v4 import new_code_cell, new_notebook
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
GUIDE = (ROOT / "docs" / "instructors.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
UNITS = ("00_start_here", "01_bayes_rule_and_risk")
MEAN_SQUARE = "def mean_square(x):\n    return (x ** 2).mean()"

def notebook(*cells) -> bytes:
    return nbformat.writes(new_notebook(cells=list(map(new_code_cell, cells)))).encode()


def solved(topic) -> list[str]:
    """The cells that a student hands in who has everything right."""
    cells = build.read(ROOT / "solutions" / f"{topic}.py").cells
    return [c.source for c in cells if {"setup", "solution"} & set(c.metadata.get("tags", ()))]


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """A copy of the course, and beside it a class with five students, one of whom handed in nothing."""
    if "sandbox" not in os.environ.get("COURSE_REQUIRE", "") and (lacking := sandbox.missing()):
        pytest.skip(f"no sandbox here: {lacking[0]}")
    root = tmp_path_factory.mktemp("instructor")
    for pattern in ("notebooks/{}.ipynb", "notebooks/scripts/{}.py", "exercises/{}.ipynb", "solutions/{}.py",
                    "solutions/cases/{}.py"):
        for unit in UNITS:
            source = ROOT / pattern.format(unit)
            if source.exists():
                target = root / "course" / pattern.format(unit)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)
    shutil.copy(ROOT / "pyproject.toml", root / "course")
    folder = root / "class"
    folder.mkdir()
    right = solved(UNITS[1])
    silly = "def posterior(*arguments):\n    return 'no idea'"
    with zipfile.ZipFile(folder / "submissions.zip", "w") as archive:
        archive.writestr("lovelaceada_101_9001_hw.ipynb", notebook(*right))
        archive.writestr("turingalan_LATE_102_9002_hw.ipynb", notebook(*right, silly))
        archive.writestr("gausscarl_103_9003_hw.ipynb", notebook("import numpy as np"))
        archive.writestr("noetheremmy_104_9004_hw.ipynb", b"{")
    (folder / "roster.csv").write_text("id,name\nal1,Ada Lovelace\nal2,Alan Turing\ncg3,Carl Gauss\nen4,Emmy Noether\n"
                                       "sk5,Sofia Kovalevskaya\n", encoding="utf-8")
    (folder / "own-submissions").mkdir()
    (folder / "own-submissions" / "ada.ipynb").write_bytes(notebook(MEAN_SQUARE))
    squared = MEAN_SQUARE.replace("(x ** 2).mean()", "x.mean() ** 2")
    (folder / "own-submissions" / "alan.ipynb").write_bytes(notebook(squared))
    return root


@pytest.fixture(scope="module")
def followed(desk):
    """Everything on the page has been done."""
    said = []
    for kind, text in BLOCKS:
        if kind == "sh":
            said.append(run(desk / "course", text))
        else:
            first, _, rest = text.partition("\n")
            path = desk / "course" / first.removeprefix("# ")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(rest, encoding="utf-8")
    return desk, "\n".join(said)


def run(folder, commands):
    """Run the lines of a block in this process: a new one each would spend its time on imports."""
    said = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(lecturer, "_cores", lambda: 1)
        for line in commands.replace("\\\n", " ").strip().splitlines():
            program, *words = shlex.split(line)
            assert program == "course", f"a page whose commands are all `course …` expected, got {line}"
            done = CliRunner().invoke(app, words, env={"COLUMNS": "200", "TERM": "dumb"})
            if "wheel could not be built" in str(done.exception):
                pytest.skip(f"no wheel can be built here: {done.exception}")
            assert done.exit_code == 0, f"{line}\n{done.output}\n{done.exception!r}"
            said.append(done.output)
    return "\n".join(said)


def table(path):
    with open(path, encoding="utf-8", newline="") as stream:
        return {line["id"]: line for line in csv.DictReader(stream)}


def test_page_has_nothing_that_the_test_does_not_do():
    assert {kind for kind, _ in BLOCKS} == {"sh", "toml", "python"}
    named = set(re.findall(r"^course (\w+)", "".join(text for kind, text in BLOCKS if kind == "sh"), re.MULTILINE))
    assert named == {"doctor", "release", "grade", "mistakes", "override", "regrade", "feedback", "export", "new",
                     "mutants", "sync"}


def test_class_has_its_grades(followed):
    desk, _ = followed
    lines = table(desk / "class" / "grades" / "grades.csv")
    assert {i: (line["status"], line["E1.1 status"]) for i, line in lines.items()} == {
        "al1": ("graded", "right"), "al2": ("graded", "wrong"), "cg3": ("graded", "missing"),
        "en4": ("unreadable", "unreadable"), "sk5": ("no submission", "missing")}
    assert lines["al1"]["total"] == lines["al1"]["out of"] and lines["al1"]["E1.1"] == "3"
    late = float(lines["al2"]["out of"]) - 3 + 1.5
    assert lines["al2"]["overridden"] == "E1.1" and float(lines["al2"]["total"]) == pytest.approx(late)
    assert {p.stem for p in (desk / "class" / "grades" / "feedback").iterdir()} == set(lines)


def test_bundle_is_without_solutions_and_files_are_there(followed):
    desk, _ = followed
    names = {p.name for p in (desk / "class" / "bundle").rglob("*")}
    assert "01_bayes_rule_and_risk.ipynb" in names and not {"solutions", "cases"} & names
    for path in ("grades/feedback-canvas.zip", "grades/canvas.csv", "autograder.zip", "seed", "own-seed",
                 "nbgrader/source/01_bayes_rule_and_risk/01_bayes_rule_and_risk.ipynb"):
        assert (desk / "class" / path).stat().st_size > 0


def test_private_pack_is_released_and_graded(followed):
    desk, said = followed
    assert "2/2" in said and "4/4" in said, "the mutation test has passed"
    own = desk / "class" / "own-bundle"
    texts = [p.read_text(encoding="utf-8") for p in own.rglob("*") if p.suffix in (".py", ".ipynb", ".md", ".json")]
    assert any("def mean_square" in t for t in texts) and not any("squares.mean()" in t for t in texts)
    lines = table(desk / "class" / "own-grades" / "grades.csv")
    told = {i: (line["E1.1"], line["E1.1 status"]) for i, line in lines.items()}
    assert told == {"ada": ("2", "right"), "alan": ("0", "wrong")}
    page = desk / "class" / "own-grades" / "feedback" / "alan.html"
    assert "It squares the mean." in page.read_text(encoding="utf-8")


def test_new_exercise_fails_its_mutation_test_until_it_is_written(desk, tmp_path):
    run(tmp_path, f"course new another --pack {tmp_path / 'pack'}")
    with pytest.raises(AssertionError, match="TODO"):
        run(tmp_path, f"course mutants --pack {tmp_path / 'pack'}")


def test_python_on_the_page_is_python():
    for kind, text in BLOCKS:
        if kind == "python":
            ast.parse(text)
