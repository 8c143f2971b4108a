"""Progress survives what happens to laptops: killed kernels, two kernels at once, full and read-only disks."""
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from course_lib.classroom import progress
from course_lib.classroom.workspace import BASE

can_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork (Linux, macOS)")
FOREVER = """
import sys
from course_lib.classroom import progress
for n in range(int(sys.argv[2])):
    assert progress.record("check", exercise=sys.argv[1], n=n)
"""


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    place = tmp_path / "sub" / "progress.jsonl"
    monkeypatch.setenv("COURSE_PROGRESS", str(place))
    monkeypatch.setattr(progress, "_warned", set())
    return place


def clear(file):
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(b"")


# --- what is written is read -----------------------------------------------------------------------------------

JSON = st.recursive(st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
                    max_leaves=6)


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.text(min_size=1), JSON), max_size=6))
def test_events_come_back_in_order_and_unchanged(file, made):
    clear(file)
    for event, value in made:
        assert progress.record(event, value=value)
    assert [(e["event"], e["value"]) for e in progress.events()] == made
    assert progress.read().unreadable == 0


def test_events_are_chosen_by_kind_and_by_fields():
    for n in range(4):
        progress.record("check", exercise=f"E{n % 2}", n=n)
    progress.record("hint", exercise="E0")
    assert [e["n"] for e in progress.events("check", exercise="E0")] == [0, 2]
    assert [e["event"] for e in progress.events(exercise="E0")] == ["check", "check", "hint"]
    assert progress.events("check", missing=None) == []


def test_numpy_and_foreign_values_are_written():
    progress.record("predict", array=np.arange(3), scalar=np.float32(0.5), other=object)
    (event,) = progress.events()
    assert event["array"] == [0, 1, 2] and event["scalar"] == 0.5 and event["other"] == repr(object)


def test_no_file_is_an_empty_history():
    assert progress.read() == progress.History((), 0)
    assert progress.summary(["E1"]).last is None


# --- kills, torn lines, two processes --------------------------------------------------------------------------

@can_fork
def test_every_acknowledged_record_survives_kill_9(file):
    rng, acknowledged = random.Random(20), set()
    for life in range(60):
        acknowledged |= {(life, n) for n in _write_until_killed(life, rng.uniform(0.0005, 0.02))}
    found = {(e["life"], e["n"]) for e in progress.events("check")}
    assert len(acknowledged) >= 60
    assert acknowledged <= found
    assert len(found) <= len(acknowledged) + 60  # a record that was written, but not yet acknowledged, a life


def _write_until_killed(life, seconds):
    out, into = os.pipe()
    if (child := os.fork()) == 0:
        try:
            for n in range(10**9):
                progress.record("check", life=life, n=n, padding="x" * 5000)
                os.write(into, n.to_bytes(4, "big"))
        finally:
            os._exit(1)
    os.close(into)
    heard = os.read(out, 4)  # so that a slow machine, too, has something to lose
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with os.fdopen(out, "rb") as pipe:
        heard += pipe.read()
    return [int.from_bytes(heard[i:i + 4], "big") for i in range(0, len(heard) - 3, 4)]


def test_a_record_is_forced_to_the_disk_before_it_is_acknowledged(file, monkeypatch):
    """The next best thing to a power cut: what stood in the file when the system was asked to flush it."""
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(file.read_bytes()))
    progress.record("check", n=1)
    assert flushed == [file.read_bytes()]


def test_two_processes_at_once_lose_nothing():
    writers = [subprocess.Popen([sys.executable, "-c", FOREVER, name, "1000"]) for name in ("A", "B")]
    assert [writer.wait() for writer in writers] == [0, 0]
    for name in ("A", "B"):
        assert [e["n"] for e in progress.events("check", exercise=name)] == list(range(1000))
    assert progress.read().unreadable == 0


@pytest.mark.parametrize("keep", [1, 10, -1])
def test_a_torn_last_line_costs_only_itself(file, keep):
    progress.record("check", n=1)
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:keep])
    progress.record("check", n=2)
    assert [e["n"] for e in progress.events()] in ([1, 2], [1, 1, 2])  # a line that lacks only its end is whole
    assert file.read_bytes().startswith(whole + whole[:keep])


@settings(deadline=None, max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60))
def test_whatever_stands_in_the_file_is_kept_and_does_not_hide_the_next_record(file, noise):
    clear(file)
    file.write_bytes(noise)
    assert progress.record("check", n=7)
    assert file.read_bytes().startswith(noise)
    assert progress.events()[-1]["n"] == 7


def test_unreadable_lines_are_counted(file):
    progress.record("check")
    with open(file, "ab") as stream:
        stream.write(b'\xff\xfe\n[1, 2]\n{"time": 3}\n' + b"[" * 100_000 + b"\n\n")
    assert len(progress.events()) == 1
    assert progress.read().unreadable == 4


def test_a_file_saved_by_an_editor_on_windows_reads(file):
    clear(file)
    file.write_bytes(b'\xef\xbb\xbf{"event": "check"}\r\n{"event": "hint"}\r\n')
    assert [e["event"] for e in progress.events()] == ["check", "hint"]


# --- disks that refuse ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("place", ["/dev/full", "/proc/progress.jsonl", "a file/progress.jsonl"])
def test_a_disk_that_refuses_is_told_once_and_breaks_nothing(place, monkeypatch, tmp_path):
    if place.startswith("/") and not Path(place).parent.is_dir():
        pytest.skip(f"{place} is of Linux")
    (tmp_path / "a file").write_text("")
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / place))
    with pytest.warns(UserWarning, match="could not be written.*COURSE_PROGRESS") as told:
        assert not any([progress.record("check"), progress.record("check")])
    assert len(told) == 1


def test_a_file_that_cannot_be_read_is_an_empty_history(file):
    file.mkdir(parents=True)
    assert progress.summary(["E1"]).standings[0].state == "not started"


@can_fork
def test_a_read_only_folder_is_told_and_breaks_nothing(file):
    clear(file)
    file.unlink()
    file.parent.chmod(0o555)
    if (child := os.fork()) == 0:
        try:
            if os.getuid() == 0:
                os.setuid(65534)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                os._exit(0 if not progress.record("check") and len(told) == 1 else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    file.parent.chmod(0o755)
    assert os.waitstatus_to_exitcode(status) == 0


@can_fork
def test_a_disk_that_fills_in_the_middle_of_a_line_loses_only_that_line(file):
    import resource
    for n in range(3):
        progress.record("check", n=n)
    before = file.read_bytes()
    if (child := os.fork()) == 0:
        try:
            warnings.simplefilter("ignore")
            resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20,) * 2)  # Python ignores SIGXFSZ
            os._exit(0 if not progress.record("check", n=3) and not progress.record("check", n=4) else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(file.read_bytes()) == len(before) + 20
    progress.record("check", n=5)
    assert [e["n"] for e in progress.events()] == [0, 1, 2, 5]
    assert progress.read().unreadable == 1


# --- summaries --------------------------------------------------------------------------------------------------

def test_summary_tells_the_four_states_and_what_is_next():
    check = lambda exercise, passed, mistake=None: progress.record(  # noqa: E731
        "check", exercise=exercise, passed=passed, mistake=mistake)
    check("E1", False, "prior forgotten"), check("E1", True), progress.record("solution", exercise="E1")
    check("E2", False), progress.record("solution", exercise="E2"), check("E2", True)
    check("E3", False, "axis 0"), check("E3", False, "divisor n - 1"), progress.record("hint", exercise="E3", step=1)
    told = progress.summary(["E1", "E2", "E3", "E4"])
    assert [(s.state, s.tries, s.mistake) for s in told.standings] == [
        ("solved", 1, None), ("seen", 1, None), ("tried", 2, "divisor n - 1"), ("not started", 0, None)]
    assert (told.next, told.last["event"]) == ("E3", "hint")
    assert progress.summary(["E4", "E3"]).next == "E4"
    assert progress.summary(["E1", "E2"]).next is None


def test_a_clock_set_back_does_not_change_what_came_last(file):
    progress.record("check", exercise="E1", passed=False)
    later = (datetime.now(timezone.utc) + timedelta(days=400)).isoformat()
    with open(file, "a") as stream:
        stream.write(json.dumps({"time": later, "event": "check", "exercise": "E1", "passed": True}) + "\n")
    progress.record("hint", exercise="E2")
    told = progress.summary(["E1", "E2"])
    assert (told.last["event"], told.standings[0].state) == ("hint", "solved")
    assert progress.ago(progress.events("check")[-1]) == "just now"


@pytest.mark.parametrize("seconds, words", [(0, "just now"), (59, "just now"), (60, "1 minute ago"),
                                            (7199, "1 hour ago"), (9 * 86400 + 5, "9 days ago")])
def test_ago_speaks_in_the_largest_whole_unit(seconds, words):
    now = datetime(2026, 3, 1, tzinfo=timezone.utc)
    assert progress.ago({"time": (now - timedelta(seconds=seconds)).isoformat()}, now) == words


@pytest.mark.parametrize("event", [{}, {"time": 3}, {"time": "yesterday"}, {"time": "2026-01-01T00:00:00"}])
def test_ago_of_a_time_that_is_none_says_so(event):
    assert progress.ago(event) == "at an unknown time"


# --- where the file is ------------------------------------------------------------------------------------------

def course(folder):
    for name in ("notebooks/deep", "exercises"):
        (folder / name).mkdir(parents=True)
    return folder


def test_the_file_is_in_the_nearest_work_folder_made_by_the_course(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS")
    inside = course(course(tmp_path / "c") / "work") / "notebooks"
    (tmp_path / "c" / "work" / BASE).mkdir()
    monkeypatch.chdir(inside)
    assert progress.path() == tmp_path / "c" / "work" / "progress.jsonl"


def test_a_foreign_folder_called_work_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS")
    monkeypatch.chdir(course(tmp_path / "work" / "course") / "notebooks" / "deep")
    assert progress.path() == tmp_path / "work" / "course" / "work" / "progress.jsonl"


def test_outside_any_course_the_file_is_at_home(tmp_path, monkeypatch):
    monkeypatch.delenv("COURSE_PROGRESS")
    monkeypatch.setattr(Path, "home", lambda: tmp_path / "home")
    monkeypatch.chdir(tmp_path)
    assert progress.path() == tmp_path / "home" / ".course_lib" / "progress.jsonl"
