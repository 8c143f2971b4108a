"""Fixtures that several tests use."""
import os

os.environ["COLUMNS"] = "250"      # consoles are made at import: the same width whichever test comes first

import pytest
import toy_course
from course_lib.classroom import answers, build
from course_lib.classroom.course import Course


@pytest.fixture(autouse=True)
def own_progress(tmp_path, monkeypatch):
    """No test reads or writes the progress of whoever runs it."""
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "own_progress.jsonl"))


@pytest.fixture
def toy(tmp_path) -> Course:
    """A course of one exercise, `shares`, in a folder of its own."""
    return Course(toy_course.write(tmp_path / "toy"))


@pytest.fixture
def shares(toy, monkeypatch) -> answers.Answer:
    """The toy exercise, known to the checker."""
    [answer] = build.answers(toy.references)
    monkeypatch.setattr(answers, "everything", lambda: {"shares": answer})
    return answer


@pytest.fixture(scope="session")
def walls():
    """Skip, visibly, where no sandbox can be had; fail where COURSE_REQUIRE says that there must be one."""
    from course_lib.classroom.grading import sandbox

    if lacking := sandbox.missing():
        (pytest.fail if "sandbox" in os.environ.get("COURSE_REQUIRE", "") else pytest.skip)("; ".join(lacking))
