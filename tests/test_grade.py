"""What is made of the answers of a submission: statuses, points, reasons, tables; killed, resumed, corrected by hand.

The answers come from a sandbox that is none (fake_sandbox.py) except where the sandbox itself matters.
"""
import csv
import io
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from functools import cache
from pathlib import Path

import fake_sandbox
import nbformat
import numpy as np
import pytest
from course_lib.classroom.grading import crew, grade, sandbox, standings, worker
from course_lib.classroom.grading.classfile import ClassFile
from course_lib.classroom.course import Course
from course_lib.classroom.grading.grade import Grading
from course_lib.classroom.grading.keys import cases_hash, coarse, key, secret_of
from course_lib.classroom.grading.log import Log
from course_lib.classroom.grading.marking import mark
from course_lib.classroom.grading.records import Item, Row, Run, Standing, Student, plain, restored
from course_lib.classroom.grading.regrade import regrade
from fake_sandbox import Fake, reply
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).parents[1]
SECRET = b"a secret of the lecturer"
RIGHT = "def shares(counts):\n    return counts / counts.sum(axis=1, keepdims=True)"
GRAND = "def shares(counts):\n    return counts / counts.sum()"
STUB = 'def shares(counts):\n    raise NotImplementedError("write shares, run this cell, then the next one")'


@pytest.fixture
def no_sandbox(monkeypatch):
    """Grade in this process with the fake."""
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Fake())
    monkeypatch.setattr(sandbox, "missing", lambda: [])


@pytest.fixture
def toy_key(toy):
    return key(toy.references[0], SECRET)


def notebook(*cells) -> bytes:
    made = [
        new_markdown_cell(c[3:]) if c.startswith("md:") else new_code_cell(c) for c in ("import numpy as np", *cells)
    ]
    return nbformat.writes(new_notebook(cells=made)).encode()


def hand_in(folder: Path, **submissions) -> Path:
    folder.mkdir(exist_ok=True)
    for name, cells in submissions.items():
        (folder / f"{name}.ipynb").write_bytes(
            cells if isinstance(cells, bytes) else notebook(*([cells] if isinstance(cells, str) else cells))
        )
    return folder


def graded(toy, tmp_path, to="grades", resume=False, **more) -> dict[str, Row]:
    grading = Grading(toy, tmp_path / "class", tmp_path / to, **more)
    return {row.key: row for row in grading.run(resume)}


def table(folder: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((folder / "grades.csv").read_text(encoding="utf-8"))))


def answers(toy_key, function) -> list:
    """Replies of a sandbox in which this is the function."""
    def one(case):
        try:
            return reply("returned", function(case.args[0].copy()))
        except Exception as error:
            return reply("raised", error=f"{type(error).__name__}: {error}")
    return [one(case) for case in toy_key.cases]


def shares(counts):
    return counts / counts.sum(axis=1, keepdims=True)


@cache
def first_exercise():
    """E0.1, which has seven parts, the first of them the same under every seed."""
    [reference] = Course(ROOT).references_of(ROOT / "solutions" / "00_start_here.py")
    return key(reference, SECRET)


def test_course_is_called_by_the_heading_of_its_readme_or_by_its_folder(toy):
    assert Course(ROOT).title == "Bayesian classification, from scratch" and toy.title == "toy"


# --- marks ----------------------------------------------------------------------------------------------------------

def test_reference_and_variants_get_everything_and_mistakes_are_named(toy, toy_key):
    reference = toy.references[0]
    for function in (reference.function, *reference.exercise.variants):
        item = mark(toy_key, answers(toy_key, function))
        assert (item.status, item.points, item.reason) == ("right", 1.0, "")
    for mistake in reference.exercise.mistakes:
        item = mark(toy_key, answers(toy_key, mistake.function))
        assert (item.status, item.points) == ("wrong", 0.0)
        assert item.mistake == mistake.title == item.reason and item.remedy == mistake.remedy and not item.cluster


def test_example_is_the_simplest_input_that_fails(toy_key):
    def fails_on_three_columns(counts):
        return shares(counts) if counts.shape[1] == 2 else counts
    example = mark(toy_key, answers(toy_key, fails_on_three_columns)).example
    assert example.label == "three columns" and example.given[0][0] == "counts" and example.got == example.given[0][1]
    assert "12 of 12 entries differ" in example.sentence and example.expected


def test_public_input_is_shown_before_hidden_ones(toy_key):
    assert toy_key.public == (True, True, False)
    item = mark(toy_key, answers(toy_key, lambda counts: shares(counts) + (counts.shape[1] == 3)))
    from course_lib.classroom.card import shown
    assert item.example.given == (("counts", shown(toy_key.cases[1].args[0])),)


def test_learnt_answers_earn_nothing(toy, toy_key):
    """Who looks every public answer up gets the part right whose inputs never change, and no points for it."""
    known = {
        case.args[0].tobytes(): value
        for case, value, public in zip(toy_key.cases, toy_key.expected, toy_key.public)
        if public
    }
    item = mark(toy_key, answers(toy_key, lambda counts: known.get(counts.tobytes(), counts)))
    assert item.status == "wrong" and item.points == 0
    assert [(p.label, p.right, p.fixed) for p in item.parts] == [
        ("two rows", True, True),
        ("three columns", False, False),
    ]


def test_answers_that_are_always_the_same_earn_nothing_though_their_inputs_vary():
    """Whoever finds the public input that is nearest, and gives its answer, gets no point of the whole course."""
    earned = {}
    for reference in Course(ROOT).references:
        k = key(reference, SECRET)
        known = [i for i, public in enumerate(k.public) if public]
        replies = [reply("returned", k.expected[min(known, key=lambda j, case=case: distance(k.cases[j], case))])
                   for case in k.cases]
        earned[k.id] = mark(k, replies).points
    assert len(earned) > 10 and not any(earned.values()), earned


def distance(one, other) -> float:
    """Between the numbers of two inputs; far, where they have not as many."""
    a, b = (np.concatenate([np.zeros(0), *map(numbers, case.args)]) for case in (one, other))
    with np.errstate(all="ignore"):
        return float(np.nansum((a - b) ** 2)) if a.shape == b.shape else 1e300


def numbers(value) -> np.ndarray:
    if isinstance(value, (tuple, list)):
        return np.concatenate([np.zeros(0), *map(numbers, value)])
    array = np.asarray(value)
    return array.astype(float).ravel() if array.dtype.kind in "biuf" else np.zeros(0)


def test_part_that_never_varies_still_costs(toy_key):
    item = mark(
        replace(toy_key, points=3.0),
        answers(toy_key, lambda counts: shares(counts) if counts.shape[1] == 3 else counts),
    )
    assert item.points == 1.5 and item.parts[0].reason and not item.parts[1].reason


@settings(max_examples=60, deadline=None)
@given(st.data(), st.integers(0, 20))
def test_points_are_a_share_and_full_only_if_all_is_right(data, points):
    e01 = first_exercise()
    labels = list(dict.fromkeys(c.label for c in e01.cases))
    hits = data.draw(st.lists(st.booleans(), min_size=len(labels), max_size=len(labels)))
    item = mark(
        replace(e01, points=float(points)),
        [reply("returned", v if hits[labels.index(c.label)] else v - 7.5) for c, v in zip(e01.cases, e01.expected)],
    )
    assert 0 <= item.points <= points and (item.points == points or not all(hits))
    assert (item.status == "right") == all(hits) and len(item.parts) == len(labels)
    counting = len(labels) - hits[0]             # the first never varies: it counts only where it is wrong
    assert item.points == pytest.approx(points * sum(hits[1:]) / counting, abs=1e-4)


@pytest.mark.parametrize(
    "answer, status, words",
    [
        (reply("timed out"), "timed out", "no answer"),
        (reply("crashed"), "crashed", "ended without"),
        (reply("missing"), "missing", "no cell defines it"),
        (reply("raised", error="ValueError: no"), "wrong", "stops with ValueError: no"),
        (reply("raised", error="NotImplementedError: write shares"), "missing", "no code in it yet"),
        (reply("not plain", error="an object array"), "wrong", "no plain array"),
        (reply("not graded", error="no memory"), "not graded", "no memory"),
        (reply("new word"), "not graded", "new word"),
        (reply("returned", None), "wrong", "returned None"),
        (reply("returned", np.zeros(0)), "wrong", "shape is (0,)"),
        (reply("returned", [10**400]), "wrong", "list"),
        (reply("returned", 10**400), "wrong", ""),
        (reply("returned", "x" * 10**6), "wrong", "str"),
    ],
)
def test_every_kind_of_answer_has_its_word(toy_key, answer, status, words):
    item = mark(toy_key, [answer] * len(toy_key.cases))
    assert item.status == status and words in item.reason and (item.points is None) == (status == "not graded")
    assert len(json.dumps(plain(item))) < 20_000


def test_one_input_without_an_answer_costs_its_part_only(toy_key):
    replies = answers(toy_key, shares)
    replies[0] = reply("timed out")
    item = mark(toy_key, replies)
    assert (item.status, item.points) == ("timed out", 0.5) and item.example.got == ""


def test_one_input_that_we_failed_at_leaves_no_number(toy_key):
    replies = [*answers(toy_key, shares)[:-1], reply("not graded", error="disk full")]
    assert (item := mark(toy_key, replies)).points is None and item.reason == "disk full"


def test_changed_input_global_generator_and_unstable_answers_are_wrong(toy_key):
    good = answers(toy_key, shares)
    for change, words in (({"changed": (0,)}, "changes its argument `counts`"), ({"stirred": True}, "global random"),
                          ({"again": False}, "two answers")):
        item = mark(toy_key, [replace(r, **change) for r in good])
        assert item.status == "wrong" and item.points == 0 and words in item.reason and not item.mistake


def test_delegated_answer_scores_nothing_in_its_own_word(toy_key):
    item = mark(toy_key, [replace(r, delegated="toolbox.shares") for r in answers(toy_key, shares)])
    assert (item.status, item.points) == ("delegated", 0.0) and "toolbox.shares" in item.reason


def test_exercise_worth_nothing_is_still_right_or_wrong(toy_key):
    for function, status in ((shares, "right"), (lambda counts: counts, "wrong")):
        assert (
            item := mark(replace(toy_key, points=0.0), answers(toy_key, function))
        ).status == status and item.points == 0


def test_clusters_are_equal_for_equal_values_under_any_secret(toy):
    def odd(counts):
        return shares(counts) ** 2
    kinds = [key(toy.references[0], secret) for secret in (SECRET, b"another one of theirs")]
    one, other = (mark(k, answers(k, odd)).cluster for k in kinds)
    rounded = mark(kinds[0], answers(kinds[0], lambda c: odd(c) * (1 + 1e-9))).cluster
    different = mark(kinds[0], answers(kinds[0], lambda c: odd(c) + 1)).cluster
    assert one == other == rounded != different and len(one) == 12


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True, width=32), max_size=5))
def test_coarse_forgives_rounding_only(values):
    array = np.array(values)
    assert coarse(array) == coarse(array.copy()) and coarse([array]) != coarse((array,))
    shifted = np.where(np.isfinite(array), array * 1.001 + 1e-3, array)
    assert not np.isfinite(array).any() or coarse(shifted) != coarse(array)


# --- secrets --------------------------------------------------------------------------------------------------------

def test_secret_is_made_once_and_kept_from_others(tmp_path):
    secret = secret_of(tmp_path / "deep" / "seed")
    assert (
        secret == secret_of(tmp_path / "deep" / "seed")
        and len(secret) == 64
        and secret != secret_of(tmp_path / "other")
    )
    if os.name == "posix":
        assert (tmp_path / "other").stat().st_mode & 0o077 == 0
    (tmp_path / "short").write_text("1")
    with pytest.raises(ValueError, match="16 characters"):
        secret_of(tmp_path / "short")


def test_hidden_inputs_depend_on_the_secret_and_public_ones_do_not(toy):
    one, other = key(toy.references[0], SECRET), key(toy.references[0], b"another one of theirs")
    same = [np.array_equal(a.args[0], b.args[0]) for a, b in zip(one.cases, other.cases)]
    assert same == [True, True, False] == list(one.public)


@pytest.mark.parametrize("source", Course(ROOT).solutions, ids=lambda path: path.stem)
def test_grades_of_references_and_mistakes_do_not_depend_on_the_secret(source):
    """Every exercise of the course, under two secrets."""
    for reference in Course(ROOT).references_of(source):
        told = []
        for secret in (SECRET, b"another one of theirs"):
            k = key(reference, secret)
            functions = (reference.function, *(m.function for m in reference.exercise.mistakes))
            outputs = [[call_reply(f, case.args) for case in k.cases] for f in functions]
            told.append([(i.status, i.points, i.mistake) for i in (mark(k, o) for o in outputs)])
        assert told[0] == told[1] and told[0][0] == ("right", float(reference.exercise.points), "")
        assert [m for _, _, m in told[0][1:]] == [m.title for m in reference.exercise.mistakes]


def call_reply(function, args):
    from course_lib.classroom.run import call
    done = call(function, args)
    return (
        reply("returned", done.value)
        if done.returned
        else reply("raised", error=f"{type(done.error).__name__}: {done.error}")
    )


def test_cases_hash_pins_inputs_answers_and_mistakes(toy):
    before = cases_hash(toy.references)
    assert before == cases_hash(Course(toy.root).references)
    path = toy.root / "solutions" / "cases" / "01_shares.py"
    path.write_text(path.read_text(encoding="utf-8").replace("[2.0, 2.0]", "[2.0, 3.0]"), encoding="utf-8")
    assert cases_hash(Course(toy.root).references) != before


# --- which notebook, and why a function is missing ------------------------------------------------------------------

def test_of_several_notebooks_the_units_own_counts_and_it_is_said(no_sandbox, toy, tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    hand_in(tmp_path / "class" / "ada", **{"old": GRAND, "01_shares (copy)": RIGHT})
    row = graded(toy, tmp_path)["ada"]
    assert row.items[0].status == "right" and row.items[0].notebook == "01_shares (copy).ipynb"
    assert "01_shares (copy).ipynb counts, not old.ipynb" in row.notes[0]


def test_number_of_the_unit_in_a_name_counts_too(no_sandbox, toy, tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    hand_in(tmp_path / "class" / "ada", **{"ada_01": RIGHT, "ada_02": GRAND + "\nmore = 1", "x0123": GRAND})
    assert graded(toy, tmp_path)["ada"].items[0].notebook == "ada_01.ipynb"


def test_of_equals_the_last_counts(no_sandbox, toy, tmp_path):
    (tmp_path / "class" / "ada").mkdir(parents=True)
    hand_in(tmp_path / "class" / "ada", **{"hw (9)": GRAND, "hw (10)": RIGHT, "hw": GRAND, "notes": "x = 1"})
    row = graded(toy, tmp_path)["ada"]
    assert row.items[0].notebook == "hw (10).ipynb"
    assert row.notes == ("shares is defined in several notebooks; hw (10).ipynb counts, not hw (9).ipynb, hw.ipynb.",)


@pytest.mark.parametrize(
    "cells, words",
    [
        ("md:" + RIGHT, "text (markdown)"),
        ("def shares(counts)\n    return", "code cell 2, which defines it, stopped with SyntaxError"),
        (RIGHT.replace("shares", "parts"), "renamed or deleted"),
        (["1/0", "x = 1"], "code cell 2 stopped with ZeroDivisionError"),
    ],
)
def test_missing_function_is_explained(cells, words, no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", ada=cells)
    item = graded(toy, tmp_path)["ada"].items[0]
    assert (item.status, item.points) == ("missing", 0.0) and words in item.reason


def test_function_defined_in_an_odd_way_is_still_called(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", ada="globals()['sha' + 'res'] = lambda c: c / c.sum(axis=1, keepdims=True)",
            bob="if True:\n    shares = lambda c: c / c.sum(1, keepdims=True)")
    assert [r.items[0].status for r in graded(toy, tmp_path).values()] == ["right", "right"]


# --- a run ----------------------------------------------------------------------------------------------------------

def test_run_writes_a_row_for_everything(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", right=RIGHT, grand=GRAND, stub=STUB, empty=b"", broken=notebook(RIGHT)[:-9])
    (tmp_path / "roster.csv").write_text("id,name\nright,Ada\nabsent,=cmd()\n")
    rows = graded(toy, tmp_path, roster=tmp_path / "roster.csv")
    assert {k: r.status for k, r in rows.items()} == {
        "absent": "no submission",
        "broken": "unreadable",
        "empty": "unreadable",
        "grand": "graded",
        "right": "graded",
        "stub": "graded",
    }
    lines = {line["id"]: line for line in table(tmp_path / "grades")}
    assert list(lines) == sorted(rows)
    told = {k: (line["total"], line["E1.1"], line["E1.1 status"]) for k, line in lines.items()}
    assert told == {
        "absent": ("0", "0", "missing"),
        "broken": ("0", "0", "unreadable"),
        "empty": ("0", "0", "unreadable"),
        "grand": ("0", "0", "wrong"),
        "right": ("1", "1", "right"),
        "stub": ("0", "0", "missing"),
    }
    assert lines["absent"]["name"] == "'=cmd()" and "invalid JSON at line" in lines["broken"]["remarks"]


def test_same_submissions_and_seed_give_the_same_bytes(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=RIGHT, b=GRAND, c="def shares(counts):\n    return counts ** 2", d=b"{")
    for to in ("one", "two"):
        graded(toy, tmp_path, to, seed_file=tmp_path / "seed")
    assert (tmp_path / "one" / "grades.csv").read_bytes() == (tmp_path / "two" / "grades.csv").read_bytes()
    graded(toy, tmp_path, "three", seed_file=tmp_path / "another")
    assert (tmp_path / "one" / "grades.csv").read_bytes() == (tmp_path / "three" / "grades.csv").read_bytes()


def test_seed_itself_is_written_nowhere_but_in_its_file(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=GRAND)
    graded(toy, tmp_path, seed_file=tmp_path / "seed")
    secret = (tmp_path / "seed").read_bytes().strip()
    assert not [p for p in (tmp_path / "grades").rglob("*") if p.is_file() and secret in p.read_bytes()]
    assert len(standings.read_run(tmp_path / "grades").seed_hash) == 64


def test_failure_of_ours_is_a_row_without_a_number_and_the_next_one_is_graded(no_sandbox, toy, tmp_path, monkeypatch):
    class Broken(Fake):
        def run(self, cells, calls, files=()):
            if "boom" in cells[1]:
                raise OSError("the sandbox is gone")
            return super().run(cells, calls, files)
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Broken())
    hand_in(tmp_path / "class", a="boom = 1", b=RIGHT)
    rows = graded(toy, tmp_path)
    assert rows["a"].status == "not graded" and rows["a"].points is None and "the sandbox is gone" in rows["a"].reason
    assert rows["b"].points == 1
    a, b = table(tmp_path / "grades")
    assert (a["total"], a["E1.1"], a["E1.1 status"]) == ("", "", "not graded") and b["total"] == "1"


def test_resume_grades_only_what_is_new_changed_or_failed(no_sandbox, toy, tmp_path, monkeypatch):
    hand_in(tmp_path / "class", a=RIGHT, b=GRAND, c=RIGHT)
    graded(toy, tmp_path)
    monkeypatch.setattr(Fake, "runs", 0)
    hand_in(tmp_path / "class", b=RIGHT, d=GRAND)
    (tmp_path / "class" / "c.ipynb").unlink()
    rows = graded(toy, tmp_path, resume=True)
    assert Fake.runs == 2 and {k: r.points for k, r in rows.items()} == {"a": 1, "b": 1, "d": 0}
    assert [line["id"] for line in table(tmp_path / "grades")] == ["a", "b", "d"]
    with Log(tmp_path / "grades") as log:
        assert [a.row.points for a in log.attempts("b")] == [0, 1] and len(list(log.attempts("c"))) == 1


def test_resume_under_another_seed_or_other_points_grades_everything(no_sandbox, toy, tmp_path, monkeypatch):
    hand_in(tmp_path / "class", a=RIGHT)
    graded(toy, tmp_path)
    for more in ({"seed_file": tmp_path / "other"}, {"settings": ClassFile.of({"points": {"E1.1": 4}})}):
        monkeypatch.setattr(Fake, "runs", 0)
        graded(toy, tmp_path, resume=True, **more)
        assert Fake.runs == 1
    assert table(tmp_path / "grades")[0]["total"] == "4"


def test_without_a_sandbox_it_refuses_and_says_what_to_do(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(sandbox, "missing", lambda: ["bubblewrap is not installed: apt install bubblewrap."])
    hand_in(tmp_path / "class", a=RIGHT)
    with pytest.raises(ValueError, match="apt install bubblewrap.*--trusted"):
        graded(toy, tmp_path)
    assert not (tmp_path / "grades" / "log.sqlite").exists()


def test_trusted_is_marked_in_every_line(toy, tmp_path, monkeypatch):
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Fake())
    monkeypatch.setattr(sandbox, "missing", lambda: ["no bubblewrap."])
    hand_in(tmp_path / "class", a=RIGHT, b=GRAND)
    graded(toy, tmp_path, trusted=True)
    assert {line["trusted"] for line in table(tmp_path / "grades")} == {"graded without a sandbox"}
    assert standings.read_run(tmp_path / "grades").trusted


# --- the class file -------------------------------------------------------------------------------------------------

LATE = {"dates": {"due": "2026-11-01T12:00:00+00:00"}, "lateness": {"per_day": 0.1, "most": 0.3, "grace_minutes": 10},
        "extensions": {"bob": "2026-11-08T12:00:00+00:00"}}


@pytest.mark.parametrize(
    "student, submitted, days, factor",
    [
        ("ada", "2026-11-01T11:00:00+00:00", 0, 1.0),
        ("ada", "2026-11-01T12:09:00+00:00", 0, 1.0),
        ("ada", "2026-11-01T14:00:00+00:00", 1, 0.9),
        ("ada", "2026-11-01T14:00:00+03:00", 0, 1.0),
        ("ada", "2026-11-03T14:00:00+00:00", 3, 0.7),
        ("ada", "2026-12-01T14:00:00", 31, 0.7),
        ("bob", "2026-11-03T14:00:00+00:00", 0, 1.0),
        ("ada", "", 0, 1.0),
    ],
)
def test_lateness_rule(student, submitted, days, factor):
    settings_ = ClassFile.of(LATE)
    late = settings_.days_late(Row("k", Student(student), "graded", submitted=submitted))
    assert -(-late // 1) == days and settings_.factor(late) == pytest.approx(factor)


def test_bare_mark_of_a_platform_counts_as_one_day(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", lovelaceada_LATE_7_8_hw=RIGHT, turingalan_9_8_hw=RIGHT)
    graded(toy, tmp_path, settings=ClassFile.of({"lateness": {"per_day": 0.25}, "points": {"E1.1": 4}}))
    assert {line["id"]: line["total"] for line in table(tmp_path / "grades")} == {"7": "3", "9": "4"}


@pytest.mark.parametrize(
    "text, words",
    [
        ("colour = 1", "got 'colour'"),
        ("units = 3", "list expected"),
        ("[lateness]\nper_week = 1", "per_week"),
        ("[points]\n'E1.1' = -1", "from 0 on"),
        ("[dates]\ndue = 'soon'", "got 'soon'"),
        ("units = [", "class.toml"),
        ("exercises = ['E9.9']", "got E9.9"),
        ("units = ['7']", "got 7"),
    ],
)
def test_wrong_class_file_is_explained(text, words, toy, tmp_path):
    (tmp_path / "class.toml").write_text(text)
    with pytest.raises(ValueError, match=words.replace("[", r"\[")):
        ClassFile.read(tmp_path / "class.toml").chosen(toy.references)


def test_class_file_survives_the_log():
    settings_ = ClassFile.of(LATE | {"units": ["01"], "points": {"E1.1": 2.5}, "title": "Sheet"})
    assert ClassFile.of(json.loads(json.dumps(settings_.tree()))) == settings_


def test_units_are_chosen_by_number_or_name():
    course = Course(ROOT)
    references = [r for source in course.solutions[:2] for r in course.references_of(source)]
    assert {r.topic for r in ClassFile(units=("01",)).chosen(references)} == {"01_bayes_rule_and_risk"}
    assert [r.exercise.id for r in ClassFile(exercises=("E1.1",), units=("00",)).chosen(references)] == ["E0.1", "E1.1"]


def test_a_unit_without_exercises_may_be_chosen():
    course = Course(ROOT)
    references = course.references_of(course.solutions[0])
    assert [r.exercise.id for r in ClassFile(units=("00", "10")).chosen(references, course.lectures)] == ["E0.1"]
    with pytest.raises(ValueError, match="got 99"):
        ClassFile(units=("00", "99")).chosen(references, course.lectures)


# --- corrections ----------------------------------------------------------------------------------------------------

def test_override_counts_is_kept_and_has_a_reason(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=GRAND, b=RIGHT)
    graded(toy, tmp_path)
    to = tmp_path / "grades"
    standings.override(to, "a", "E1.1", 0.5, "right idea,\n\"almost\"")
    standings.override(to, "a", "E1.1", 0.75, "on second thought")
    a, b = table(to)
    assert (a["total"], a["E1.1"], a["E1.1 status"], a["overridden"]) == ("0.75", "0.75", "wrong", "E1.1") and b[
        "overridden"
    ] == ""
    lines = (to / "overrides.csv").read_text(encoding="utf-8").splitlines()
    assert (
        len(lines) == 3 and lines[0] == "student,exercise,points,reason,time" and '"right idea, ""almost"""' in lines[1]
    )
    graded(toy, tmp_path)
    assert table(to)[0]["total"] == "0.75"
    for bad in (
        ("x", "E1.1", 1, "r"),
        ("a", "E9", 1, "r"),
        ("a", "E1.1", -1, "r"),
        ("a", "E1.1", float("nan"), "r"),
        ("a", "E1.1", 1, " "),
    ):
        with pytest.raises(ValueError, match="expected"):
            standings.override(to, *bad)


def test_overrides_may_be_edited_by_hand(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=GRAND)
    graded(toy, tmp_path)
    to = tmp_path / "grades"
    (to / "overrides.csv").write_text(
        "\ufeffstudent,exercise,points,reason\na,E1.1,1,ok\nadda,E1.1,1,typo\na,E7,1,typo", encoding="utf-8"
    )
    standings.override(to, "a", "E1.1", 0.25, "after all")
    assert table(to)[0]["total"] == "0.25"
    assert standings.strays(to) == [
        "overrides.csv, line 3: no student 'adda' in this run",
        "overrides.csv, line 4: no exercise 'E7' in this run",
    ]
    (to / "overrides.csv").write_text("student,exercise,points,reason\na,E1.1,much,ok\n", encoding="utf-8")
    with pytest.raises(ValueError, match="a number of points expected for a in E1.1, got 'much'"):
        list(standings.standings(to))


@pytest.mark.parametrize("separator, encoding", [(";", "cp1252"), ("\t", "utf-16"), (",", "utf-8")])
def test_overrides_may_come_back_from_any_spreadsheet(separator, encoding, no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=GRAND)
    graded(toy, tmp_path)
    lines = [["student", "exercise", "points", "reason"], ["a", "E1.1", "0.5", "fast schön"]]
    text = "\r\n".join(separator.join(line) for line in lines) + "\r\n"
    (tmp_path / "grades" / "overrides.csv").write_bytes(text.encode(encoding))
    [standing] = standings.standings(tmp_path / "grades")
    assert standing.total == 0.5 and standing.overrides[0].reason == "fast schön"
    if encoding != "utf-16":
        standings.override(tmp_path / "grades", "a", "E1.1", 0.75, "after all")
        assert table(tmp_path / "grades")[0]["total"] == "0.75"
    (tmp_path / "grades" / "overrides.csv").write_text("who,what\na,b\n")
    with pytest.raises(ValueError, match="columns student, exercise, points expected, got who, what"):
        list(standings.standings(tmp_path / "grades"))


def test_override_is_of_whoever_has_that_id_not_of_whose_page_is_called_so(no_sandbox, toy, tmp_path):
    """The pages of "a b" and "a_b" would have one name, so the second one's has another."""
    hand_in(tmp_path / "class", **{"a b": GRAND, "a_b": GRAND})
    assert list(graded(toy, tmp_path)) == ["a_b", "a_b-2"]
    standings.override(tmp_path / "grades", "a_b", "E1.1", 0.75, "of a_b")
    assert [(row["id"], row["total"]) for row in table(tmp_path / "grades")] == [("a b", "0"), ("a_b", "0.75")]
    (tmp_path / "grades" / "overrides.csv").write_text(
        "student,exercise,points,reason\na_b-2,E1.1,1,by the page\na_b,E1.1,0.25,by the id\n")
    assert [s.total for s in standings.standings(tmp_path / "grades")] == [0, 0.25]


def test_extension_that_is_nobodys_is_told(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=GRAND)
    graded(toy, tmp_path, settings=ClassFile.of({"extensions": {"a": "2027-01-01", "adda": "2027-01-01"}}))
    assert standings.strays(tmp_path / "grades") == ["[extensions] of the class: no student 'adda' in this run"]


def test_override_gives_a_number_to_what_we_failed_at():
    row = Row(
        "a",
        Student("a"),
        "not graded",
        items=(Item("E1", "f", "", "", "not graded", None, 2.0), Item("E2", "g", "", "", "right", 1.0, 1.0)),
    )
    from course_lib.classroom.grading.records import Override
    assert Standing(row).total is None and Standing(row, (Override("a", "E1", 1.5, "by hand"),)).total == 2.5


def test_regrade_shows_the_change_before_it_makes_it(no_sandbox, toy, tmp_path):
    hand_in(tmp_path / "class", a=RIGHT, b=GRAND)
    graded(toy, tmp_path)
    before = (tmp_path / "grades" / "grades.csv").read_bytes()
    path = toy.root / "solutions" / "01_shares.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace("axis=1, keepdims=True)\n    share", ")\n    share"), encoding="utf-8"
    )
    changed = Grading(Course(toy.root), tmp_path / "class", tmp_path / "grades")
    found = list(regrade(changed, exercise="E1.1", dry=True))
    assert [(c.key, c.old, c.new) for c in found] == [("a", 1.0, 0.0), ("b", 0.0, 1.0)]
    assert (tmp_path / "grades" / "grades.csv").read_bytes() == before
    assert [(c.key, c.kept) for c in regrade(changed, never_lower=True)] == [("a", True), ("b", False)]
    assert [line["total"] for line in table(tmp_path / "grades")] == ["1", "1"]
    assert [(c.key, c.new) for c in regrade(changed, student="a")] == [("a", 0.0)]
    assert [line["total"] for line in table(tmp_path / "grades")] == ["0", "1"]
    for bad in ({"exercise": "E9"}, {"student": "zoe"}):
        with pytest.raises(ValueError, match="expected, got"):
            list(regrade(changed, **bad))


def test_cluster_gets_a_sentence_and_becomes_a_mistake(no_sandbox, toy, tmp_path):
    odd = "def shares(counts):\n    return (counts / counts.sum(axis=1, keepdims=True)) ** 2"
    hand_in(
        tmp_path / "class", a=odd, b=odd.replace("counts", "n"), c=GRAND, d="def shares(counts):\n    return counts + 1"
    )
    graded(toy, tmp_path)
    to = tmp_path / "grades"
    largest, other = standings.clusters(to)
    assert (
        largest.keys == ("a", "b")
        and other.keys == ("d",)
        and largest.example.label == "two rows"
        and not largest.title
    )
    named = standings.name_cluster(to, largest.id[:6], "The shares are squared.", "Leave the square away.")
    assert named.title == standings.clusters(to)[0].title == "The shares are squared."
    reasons = {s.row.key: (s.row.items[0].mistake, s.row.items[0].reason) for s in standings.standings(to)}
    assert reasons["a"] == reasons["b"] == ("The shares are squared.",) * 2 and reasons["d"][0] == ""
    with pytest.raises(ValueError, match="a cluster expected"):
        standings.name_cluster(to, "zzz", "No.")


# --- tables and records ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize(
    "value, written",
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@x", "'@x"),
        ("\t=1", "'=1"),
        ("\r\n=1", "'=1"),
        (None, ""),
        (2.0, "2"),
        (0.1 + 0.2, "0.3"),
        (1 / 3, "0.333333"),
        (-1.5, "-1.5"),
        ("a\nb", "a b"),
        ("\u202e=x", "'=x"),
        ("\uff1dx", "'\uff1dx"),
        ("a;=1+1; -2", "a;'=1+1;' -2"),
        ("", ""),
        ("Ñandú", "Ñandú"),
    ],
)
def test_cell_is_never_a_formula(value, written):
    assert standings.cell(value) == written


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_no_text_makes_a_formula_or_a_second_line(text):
    made = standings.cell(text)
    assert not made.startswith(("=", "+", "-", "@", "\t", "\r")) and len(made.splitlines()) <= 1


def test_records_survive_json(toy_key):
    item = mark(toy_key, answers(toy_key, lambda counts: counts + 1))
    row = Row("k", Student("1", "Ada"), "graded", notes=("n",), items=(item, mark(toy_key, [reply("not graded")] * 3)))
    assert restored(Row, json.loads(json.dumps(plain(row)))) == row
    run = Run("toy", ("E1.1",), "a", "b", True, extra={"class": {}})
    assert restored(Run, json.loads(json.dumps(plain(run)))) == run


# --- more than one process ------------------------------------------------------------------------------------------

def test_dead_worker_costs_only_who_killed_it(toy_key, monkeypatch, tmp_path):
    """Packages flow through an executor whose process dies at one of them, each time it is tried."""
    tried: list[str] = []

    class Dying:
        def __init__(self, size):
            self.dead = False

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def submit(self, function, package):
            from concurrent.futures import Future
            if self.dead:
                raise BrokenProcessPool
            tried.append(package.key)
            future: Future = Future()
            self.dead = package.key == "killer"
            future.set_exception(BrokenProcessPool()) if self.dead else future.set_result(
                Row(package.key, package.student, "graded"))
            return future

    monkeypatch.setattr(crew, "ProcessPoolExecutor", lambda size, *_, **__: Dying(size))
    from course_lib.classroom.grading.intake import Package
    packages = [Package(name, Student(name)) for name in ("a", "b", "killer", "c", "d")]
    rows = {row.key: row.status for row in crew.processes(worker.Bench((toy_key,)), iter(packages), 2)}
    assert rows == {"a": "graded", "b": "graded", "killer": "not graded", "c": "graded", "d": "graded"}
    assert tried.count("killer") == 2


def pack_of(root: Path) -> Path:
    import toy_course
    return toy_course.write(root)


def course_command(*arguments) -> subprocess.Popen:
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "course_lib", *map(str, arguments)],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_killed_grader_resumes_and_loses_nothing(walls, tmp_path, monkeypatch):
    """The command, with two processes and a sandbox each, is killed in the middle and run again with --resume."""
    pack = pack_of(tmp_path / "pack")
    slow = RIGHT + "\nimport time; time.sleep(0.3)"
    hand_in(tmp_path / "class", **{f"student{i:02d}": (slow, GRAND, STUB)[i % 3] for i in range(18)})
    common = (
        "grade",
        tmp_path / "class",
        "--to",
        tmp_path / "killed",
        "--pack",
        pack,
        "--seed-file",
        tmp_path / "seed",
    )
    process = course_command(*common, "--workers", 2)
    deadline = time.monotonic() + 120
    while (done := logged(tmp_path / "killed")) < 3:
        assert time.monotonic() < deadline and process.poll() is None, process.stdout.read()
        time.sleep(0.02)
    workers = children(process.pid)
    process.send_signal(signal.SIGKILL)
    process.wait()
    while [
        pid for pid in workers if _text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1] not in ([], ["Z"])
    ]:
        assert time.monotonic() < deadline, "workers outlived the grader"
        time.sleep(0.02)
    assert (
        len(workers) >= 2
        and done <= logged(tmp_path / "killed") < 18
        and not (tmp_path / "killed" / "grades.csv").exists()
    )

    assert "18 graded" in course_command(*common, "--workers", 1, "--resume").communicate()[0]
    assert logged(tmp_path / "killed") == 18                    # nothing that was in the log was graded again
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Fake())
    graded(Course(pack), tmp_path, "whole", seed_file=tmp_path / "seed")
    assert (tmp_path / "killed" / "grades.csv").read_bytes() == (tmp_path / "whole" / "grades.csv").read_bytes()


def children(pid: int) -> list[int]:
    return [
        int(stat.split()[0])
        for path in Path("/proc").glob("[0-9]*/stat")
        if (stat := _text(path)) and int(stat.rpartition(")")[2].split()[1]) == pid
    ]


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:                                             # it has ended meanwhile
        return ""


def test_ready_made_solution_scores_nothing_in_its_own_word(walls, tmp_path):
    """Of another library, of the course's own, and one that hides behind a fallback."""
    own = "import numpy as np\ndef log_sum_exp(a):\n    return np.array([np.log(sum(np.exp(r - max(r)))) + max(r) for r in a])"
    hand_in(
        tmp_path / "class",
        a="from scipy.special import logsumexp\ndef log_sum_exp(a):\n    return logsumexp(a, axis=1)",
        b="import course_lib.decision as d\ndef log_sum_exp(a):\n    return d.logsumexp(a)",
        c=own
        + "\nmine = log_sum_exp\nimport scipy.special\ndef log_sum_exp(a):\n    scipy.special.logsumexp(a, axis=1)\n    return mine(a)",
    )
    grading = Grading(Course(ROOT), tmp_path / "class", tmp_path / "grades", settings=ClassFile(exercises=("E0.1",)))
    vars(grading)["_references"] = Course(ROOT).references_of(ROOT / "solutions" / "00_start_here.py")
    told = {row.key: (row.items[0].status, row.items[0].points, row.items[0].reason) for row in grading.run()}
    assert {k: v[:2] for k, v in told.items()} == dict.fromkeys("abc", ("delegated", 0.0))
    assert "scipy.special.logsumexp" in told["a"][2] and "course_lib.decision" in told["b"][2]


def logged(folder: Path) -> int:
    try:
        base = sqlite3.connect(f"file:{folder / 'log.sqlite'}?mode=ro", uri=True)
        return base.execute("SELECT count(*) FROM attempt").fetchone()[0]
    except sqlite3.OperationalError:
        return 0


def test_walls_and_trust_give_the_same_grades(walls, tmp_path):
    pack = pack_of(tmp_path / "pack")
    hand_in(tmp_path / "class", a=["1/0", RIGHT], b="def shares(counts):\n    import os; os._exit(0)" )
    rows = {}
    for trusted in (False, True):
        grading = Grading(
            Course(pack),
            tmp_path / "class",
            tmp_path / f"grades{trusted}",
            seed_file=tmp_path / "seed",
            trusted=trusted,
        )
        rows[trusted] = [(row.key, row.items[0].status, row.items[0].points) for row in grading.run()]
    assert rows[False] == rows[True] == [("a", "right", 1.0), ("b", "crashed", 0.0)]


def test_cluster_grades_the_same_and_a_killed_worker_loses_nothing(walls, tmp_path, monkeypatch):
    """Two dask workers; one is killed after the first rows, and started anew by its nanny."""
    distributed = pytest.importorskip(
        "distributed", reason="dask.distributed is not installed: pip install distributed"
    )
    pack = pack_of(tmp_path / "pack")
    slow = RIGHT + "\nimport time; time.sleep(0.3)"
    hand_in(tmp_path / "class", **{f"student{i:02d}": (slow, GRAND, STUB)[i % 3] for i in range(24)})
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        grading = Grading(
            Course(pack),
            tmp_path / "class",
            tmp_path / "cluster",
            seed_file=tmp_path / "seed",
            scheduler=cluster.scheduler_address,
        )
        rows = grading.run()
        first = [next(rows) for _ in range(2)]
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        assert len(first) + sum(1 for _ in rows) == 24
    monkeypatch.setattr(worker.Bench, "sandbox", lambda self: Fake())
    graded(Course(pack), tmp_path, "here", seed_file=tmp_path / "seed")
    assert (tmp_path / "cluster" / "grades.csv").read_bytes() == (tmp_path / "here" / "grades.csv").read_bytes()
