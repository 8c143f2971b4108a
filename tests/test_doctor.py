"""The doctor finds what is missing, planted here piece by piece, and says how to mend it."""
import json
import platform
import sys
from importlib import metadata

import pytest

from course_lib.classroom import doctor, workspace


@pytest.fixture(autouse=True)
def course(tmp_path, monkeypatch):
    """An empty course as the current folder."""
    for name in workspace.FOLDERS:
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.jsonl"))
    return tmp_path


def requires(monkeypatch, *requirements):
    monkeypatch.setattr(metadata, "requires", lambda name: list(requirements))


def program(folder, name, script):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return folder


def test_everything_is_looked_at_once_and_has_a_way_to_be_mended():
    findings = doctor.probe()
    assert len({finding.name for finding in findings}) == len(findings) == 9
    assert all(finding.ok or finding.mend for finding in findings)


def test_a_machine_on_which_these_tests_run_has_what_a_learner_needs():
    assert [finding for finding in doctor.probe()[:5] if not finding.ok] == []


def test_looking_leaves_no_trace(course):
    before = sorted(course.rglob("*"))
    doctor.probe()
    assert sorted(course.rglob("*")) == before


def test_a_course_that_is_not_installed_is_all_there_is_to_say(monkeypatch):
    monkeypatch.setattr(doctor, "PACKAGE", "no-such-package-as-this")
    (finding,) = doctor.probe()
    assert not finding.ok and finding.mend.endswith(f'"{sys.executable}" -m pip install -e .')


def test_an_old_python_is_told(monkeypatch):
    monkeypatch.setattr(platform, "python_version", lambda: "3.8.1")
    finding = doctor.python()
    assert not finding.ok and "3.8.1" in finding.found and "needs Python >=3.11" in finding.mend


def test_old_and_missing_packages_are_named_with_their_bounds(monkeypatch):
    requires(monkeypatch, "numpy>=99", "scipy>=1.0", "no-such-package-as-this>=1.2")
    finding = doctor.packages()
    assert not finding.ok and "scipy" not in finding.found
    assert f"numpy {metadata.version('numpy')}, >=99 is needed" in finding.found
    assert "no-such-package-as-this is missing, >=1.2 is needed" in finding.found
    assert finding.mend.endswith('install --upgrade "numpy>=99" "no-such-package-as-this>=1.2"')


def test_packages_of_other_systems_and_of_extras_are_not_asked_of_a_learner(monkeypatch):
    requires(monkeypatch, "absent-1; sys_platform == 'emscripten'", "absent-2; extra == 'test'")
    assert doctor.packages().ok


def test_an_extra_within_an_extra_is_looked_at(monkeypatch):
    requires(monkeypatch, "absent-1", "course_lib[grade]; extra == 'test'", "absent-2; extra == 'test'",
             "absent-3; extra == 'grade'")
    found = doctor.packages("test").found
    assert "absent-1" not in found and "absent-2" in found and "absent-3" in found
    assert doctor.packages("test").mend.startswith("Only if you want to test: run")


def test_a_kernel_of_another_python_without_the_course_is_told(course, monkeypatch):
    other = program(course / "bin", "other-python", "echo \"No module named 'course_lib'\" >&2; exit 1")
    spec = course / "jupyter" / "kernels" / "python3" / "kernel.json"
    spec.parent.mkdir(parents=True)
    spec.write_text(json.dumps({"argv": [str(other / "other-python"), "-m", "x"], "display_name": "", "language": ""}))
    monkeypatch.setenv("JUPYTER_PATH", str(course / "jupyter"))
    finding = doctor.kernel()
    assert not finding.ok and "other-python: No module named 'course_lib'" in finding.found
    assert "ipykernel install --sys-prefix" in finding.mend


def test_a_course_outside_any_course_folder_says_where_to_go(tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "__file__", str(tmp_path.parent / "workspace.py"))
    monkeypatch.chdir(tmp_path.parent)
    assert not doctor.work_folder().ok and "change to the folder" in doctor.work_folder().found


def test_a_work_folder_that_takes_no_file_is_told(course):
    (course / "work").write_text("a file")
    finding = doctor.work_folder()
    assert not finding.ok and "folder that you may write to" in finding.mend


def test_progress_counts_events_and_lines_that_are_torn(course):
    (course / "progress.jsonl").write_text('{"event": "check"}\n{"event": "che')
    finding = doctor.progress_file()
    assert not finding.ok and finding.found.startswith("1 events, 1 unreadable lines")
    (course / "progress.jsonl").write_text('{"event": "check"}\n')
    assert doctor.progress_file().ok


def test_a_progress_file_that_is_none_is_told(course):
    (course / "progress.jsonl").mkdir()
    finding = doctor.progress_file()
    assert not finding.ok and "cannot be read and written" in finding.found


def test_without_programs_on_the_path_browser_and_sandbox_are_missing(course, monkeypatch):
    monkeypatch.setenv("PATH", str(course))
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    assert not doctor.browser().ok and "apt install chromium" in doctor.browser().mend
    assert not doctor.sandbox().ok and "bubblewrap" in doctor.sandbox().mend


def test_the_sandbox_is_fine_if_the_grader_finds_it_so():
    from course_lib.classroom.grading.sandbox import missing

    assert doctor.sandbox().ok == (not missing())


@pytest.mark.parametrize("system", ["Darwin", "Windows"])
def test_elsewhere_than_on_linux_there_is_no_sandbox_and_it_says_so(system, monkeypatch):
    monkeypatch.setattr(platform, "system", lambda: system)
    finding = doctor.sandbox()
    assert not finding.ok and f"this is {system}" in finding.found and "--trusted" in finding.mend
