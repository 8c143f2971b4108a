"""The command line on a course of its own: what a learner or an author types, and what comes back."""
import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import environments
import nbformat
import pytest
from course_lib.classroom import answers, desk, progress, workspace
from course_lib.classroom.cli import app
from course_lib.classroom.course import Course
from course_lib.classroom.sync import sync
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]
RIGHT = "def shares(counts):\n    return counts / counts.sum(axis=1, keepdims=True)"


@pytest.fixture
def desk_of(toy, shares, monkeypatch):
    """The toy course with a learner's notebook in work/; call it with the cells."""
    monkeypatch.chdir(toy.root)
    folder = toy.root / "work" / "exercises"
    folder.mkdir(parents=True)

    def write(*cells, name="01_shares.ipynb"):
        made = [new_markdown_cell(c[3:]) if c.startswith("md:") else new_code_cell(c) for c in cells]
        nbformat.write(new_notebook(cells=made), folder / name)
        return folder / name
    return write


def run(*arguments, status=0):
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200", "TERM": "dumb"})
    assert result.exit_code == status, f"{result.output}\n{result.exception!r}"
    return re.sub(r"\s+", " ", result.output)


def test_check_runs_the_notebook_and_says_right(desk_of):
    desk_of("import numpy as np", RIGHT)
    assert "[RIGHT] E1.1 shares" in (said := run("check")) and "1 of 1 right" in said
    assert "1 of 1 right" in run("check", "E1.1") and "1 of 1 right" in run("check", "shares")


def test_check_fails_with_status_1_and_names_the_mistake(desk_of):
    desk_of("def shares(counts):\n    return counts / counts.sum()")
    assert "It divides by the grand total." in run("check", status=1)


def test_checks_and_hints_in_the_notebook_are_not_noted_again(desk_of):
    desk_of("from course_lib.classroom import check, hint", "def shares(counts):\n    return counts / counts.sum()",
            "check(shares)", "hint(shares)")
    assert "worked step by step" not in desk.check_files("E1.1")[0].card.text()
    assert len(progress.events("check")) == 1 and not progress.events("hint")


def test_broken_cell_costs_only_itself(desk_of):
    desk_of("1 / 0", "not python at all", "%matplotlib inline\n!ls", "import sys; sys.exit()", RIGHT, "raise SystemExit")
    assert "1 of 1 right" in run("check")


def test_cell_runs_in_the_notebooks_folder_and_leaves_the_current_one(desk_of):
    path = desk_of("import os; here = os.getcwd()", RIGHT)
    before = os.getcwd()
    assert Path(desk.defined(path)["here"]) == path.parent.resolve() and os.getcwd() == before


@pytest.mark.parametrize("cells", [(), ("md:" + RIGHT,), ("shares = 3",), (RIGHT.replace("shares", "parts"),)])
def test_missing_function_is_said_to_be_missing(desk_of, cells):
    desk_of(*cells)
    assert "defines no function `shares`" in run("check", status=1)


def test_notebook_may_be_named_and_lie_anywhere(desk_of, tmp_path):
    path = desk_of(RIGHT).rename(tmp_path / "my answers.ipynb")
    assert "1 of 1 right" in run("check", str(path))


@pytest.mark.parametrize("what, words", [("E9.9", "an exercise (id or function) or a notebook expected, got 'E9.9'"),
                                         ("nowhere.ipynb", "no notebook nowhere.ipynb")])
def test_wrong_name_is_answered_with_what_there_is(desk_of, what, words):
    desk_of(RIGHT)
    with pytest.raises((ValueError, OSError), match=re.escape(words)):
        desk.check_files(what)


def test_hint_and_status_show_the_way(desk_of):
    desk_of(RIGHT)
    assert "Rows." in run("hint", "E1.1") and "n / sum n" in run("hint", "shares")
    assert "not started" in run("status") and "Next: E1.1 Shares" in run("status")
    run("check")
    assert "solved" in (said := run("status")) and "Last: check E1.1, just now." in said


def test_sync_reports_what_it_writes_and_check_what_is_stale(toy, monkeypatch):
    monkeypatch.chdir(toy.root)
    assert "6 stale" in run("sync", "--check", status=1)
    assert "answers: course_lib/classroom/answers/01_shares.npz" in (said := run("sync").replace("\\", "/")) and "6 written" in said
    assert "Everything follows from its source." in run("sync", "--check")
    assert "1.1 │ One and one is two. │ 01_shares, cell 2" in run("claims")
    assert "3/3 │ 4/4 │ 4/4 │ 50" in run("mutants")
    with pytest.raises(AssertionError, match="an exercise expected, got 'E7'"):
        run("mutants", "E7")


def test_mutants_fail_where_the_check_cannot_tell(toy, monkeypatch):
    cases = toy.root / "solutions" / "cases" / "01_shares.py"
    cases.write_text(cases.read_text(encoding="utf-8").replace(
        "def same(counts): return counts * 1.0", "def same(counts): return counts / counts.sum()"), encoding="utf-8")
    monkeypatch.chdir(toy.root)
    assert "cannot be told from" in run("mutants", status=1)


def test_trouble_is_one_sentence_without_a_traceback(tmp_path):
    result = subprocess.run([sys.executable, "-m", "course_lib", "check", "E9.9"], cwd=tmp_path, capture_output=True,
                            text=True, encoding="utf-8", env=os.environ | {"PYTHONIOENCODING": "utf-8"})
    assert result.returncode == 1 and "E9.9" in result.stdout and "Traceback" not in result.stdout + result.stderr


def test_watch_checks_again_at_every_save(tmp_path):
    """A real process on a real course: the toy's answers are not installed, so this one uses E0.1."""
    workspace_root = tmp_path / "course"
    for folder in ("notebooks", "exercises"):
        (workspace_root / folder).mkdir(parents=True)
    (workspace_root / "exercises" / "00_start_here.ipynb").write_bytes((ROOT / "exercises" / "00_start_here.ipynb").read_bytes())
    workspace.prepare(workspace_root)
    mine = workspace_root / "work" / "exercises" / "00_start_here.ipynb"
    process = subprocess.Popen([sys.executable, "-u", "-m", "course_lib", "check", "E0.1", "--watch"], cwd=workspace_root,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                               env=os.environ | {"PYTHONIOENCODING": "utf-8"})
    lines: list[str] = []
    threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")), daemon=True).start()
    try:
        _until(lambda: any("NOT STARTED" in line for line in lines))
        book = json.loads(mine.read_text(encoding="utf-8"))
        cell = next(c for c in book["cells"] if "def log_sum_exp" in "".join(c["source"]))
        cell["source"] = "from scipy.special import logsumexp\ndef log_sum_exp(a):\n    return logsumexp(a, axis=1)"
        mine.write_text(json.dumps(book), encoding="utf-8")
        _until(lambda: any("NOT YOUR OWN" in line for line in lines))
    finally:
        process.terminate()
        process.wait(10)


def test_doctor_says_what_it_found(toy, monkeypatch):
    monkeypatch.chdir(toy.root)
    assert "Python" in run("doctor")


def test_update_tells_what_it_did(toy, monkeypatch):
    list(sync(toy))
    monkeypatch.chdir(toy.root)
    workspace.prepare(toy.root)
    assert "were up to date" in run("update")
    source = toy.root / "solutions" / "01_shares.py"
    source.write_text(source.read_text(encoding="utf-8").replace("# # Shares", "# # Parts"), encoding="utf-8")
    list(sync(Course(toy.root)))
    assert "exercises/01_shares.ipynb: updated" in run("update")
    assert "# Parts" in (toy.root / "work" / "exercises" / "01_shares.ipynb").read_text(encoding="utf-8")


def test_every_exercise_of_the_course_is_found_by_name_and_id():
    for name, answer in answers.everything().items():
        assert answers.find(name) is answers.find(answer.id) is answer


def _until(condition, seconds=120):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.1)


def test_learners_files_survive_reinstalling_syncing_and_updating(tmp_path):
    """The whole life of a folder work/: handed out, worked in, the course reinstalled and brought up to date."""
    root, python = tmp_path / "course", environments.python(tmp_path / "venv")
    for part in ("course_lib", "notebooks", "exercises", "solutions"):
        shutil.copytree(ROOT / part, root / part, ignore=shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints"))
    for part in ("pyproject.toml", "README.md", "environment.yml"):
        shutil.copy(ROOT / part, root / part)
    environments.make(tmp_path / "venv")
    if (fetched := environments.pip(tmp_path / "venv", "install", "hatchling", "editables")).returncode:
        pytest.skip(f"pip cannot fetch the build backend here: {fetched.stderr.strip().splitlines()[-1][:80]}")

    def do(*command, may_fail=False):
        environment = {k: v for k, v in os.environ.items() if k not in ("COURSE_PROGRESS", "PYTHONPATH")}
        done = subprocess.run([python, "-m", *command], cwd=root, env=environment, capture_output=True, text=True)
        assert may_fail or done.returncode == 0, done.stdout + done.stderr

    def install(*more):
        do("pip", "install", "--no-deps", "--no-build-isolation", *more, "-e", ".")

    install()
    where = subprocess.run([python, "-c", "import course_lib; print(course_lib.__file__)"], cwd=tmp_path,
                           capture_output=True, text=True)
    assert Path(where.stdout.strip()).is_relative_to(root)
    subprocess.run([python, "-c", "from course_lib.classroom import workspace as w; w.prepare(w.course_root())"], cwd=root)
    mine = root / "work" / "exercises" / "00_start_here.ipynb"
    book = json.loads(mine.read_text(encoding="utf-8"))
    book["cells"].append(new_code_cell("mine = 'a line of my own'"))
    mine.write_text(json.dumps(book), encoding="utf-8")
    (root / "work" / "notes.txt").write_text("my notes")
    do("course_lib", "check", "E0.1", may_fail=True)
    before = {p: p.read_bytes() for p in (root / "work").rglob("*") if p.is_file()}
    do("course_lib", "sync", "00")
    install("--force-reinstall")
    do("pip", "uninstall", "-y", "course_lib")
    install()
    do("course_lib", "update")
    assert {p: p.read_bytes() for p in before} == before


def test_name_that_is_said_commands_no_terminal(capsys):
    from course_lib.classroom.terminal import say

    say("[red]Zoë\x1b[2J\u202e\x07[/]")
    assert capsys.readouterr().out == "[red]Zoë\ufffd[2J\ufffd\ufffd[/]\n"
