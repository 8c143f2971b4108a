"""The learner's folder: filled once, never overwritten, brought up to date without losing a line."""
import json
import os
import sys
import types

import nbformat
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from course_lib.classroom import notebook as notebooks, workspace
from course_lib.classroom.merge import functions, merge, named, text
from course_lib.classroom.workspace import BASE, lab, prepare, update

SETTINGS = settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])


def markdown(words, id=None):
    return {"cell_type": "markdown", "id": id or words.replace(" ", "-"), "metadata": {}, "source": words}


def code(source, id, tags=(), outputs=()):
    return {"cell_type": "code", "id": id, "metadata": {"tags": [*tags]} if tags else {}, "source": source,
            "outputs": [*outputs], "execution_count": None}


def stub(name, version=0):
    return code(f'def {name}(x):\n    """Version {version}."""\n    raise NotImplementedError', name, ["answer"])


def solved(name, line, id=None):
    return code(f"def {name}(x):\n    return {line}", id or name)


def texts(cells):
    return [text(cell) for cell in cells]


# --- merging: examples a reader can follow ------------------------------------------------------------------------

A, B, C = markdown("A"), markdown("B"), markdown("C")
NOTE = markdown("my note")


@pytest.mark.parametrize("mine, new, merged", [
    ([A, B, C], [A, C], ["A", "C"]),                                            # the course drops a cell
    ([A, B, C], [A, markdown("D"), B, C], ["A", "D", "B", "C"]),                # and adds one
    ([A, B, C], [C, A, B], ["C", "A", "B"]),                                    # and moves one
    ([A, NOTE, B, C], [A, B, markdown("D"), C], ["A", "my note", "B", "D", "C"]),
    ([A, B, NOTE, C], [A, markdown("B2"), C], ["A", "B2", "my note", "C"]),     # the neighbour was rewritten
    ([A, B, NOTE, C], [A, C], ["A", "my note", "C"]),                           # the neighbour is gone
    ([NOTE, A, B, C], [markdown("D"), A, B, C], ["my note", "D", "A", "B", "C"]),
    ([A, markdown("B, mine", "B"), C], [A, B, C, markdown("D")], ["A", "B, mine", "C", "D"]),
    ([A, markdown("B, mine", "B"), C], [A, markdown("B2"), C], ["A", "B2", "B, mine", "C"]),  # both changed it
    ([A, markdown("B, mine", "B"), C], [A, C], ["A", "B, mine", "C"]),
    ([A, C], [A, B, C, markdown("D")], ["A", "C", "D"]),                        # what was deleted stays deleted
    ([A, C], [A, markdown("B2"), C], ["A", "B2", "C"]),                         # until the course changes it
    ([], [A, B, C], []),
])
def test_untouched_cells_follow_the_course_and_the_learners_stay_with_their_neighbours(mine, new, merged):
    assert texts(merge([A, B, C], mine, new)) == merged


F, CHECK = stub("f"), code("check(f)", "check")


@pytest.mark.parametrize("mine", [
    [A, solved("f", 1), CHECK],                              # the stub filled in
    [A, solved("f", 1, "retyped"), CHECK],                   # deleted and typed anew
    [A, F, CHECK, solved("f", 1, "below")],                  # solved further down, the stub left as it was
    [solved("f", 1, "above"), A, CHECK],
    [{k: v for k, v in cell.items() if k != "id"} for cell in (A, solved("f", 1), CHECK)],  # ids lost on the way
])
def test_a_function_takes_the_place_of_its_stub_even_if_the_stub_changed(mine):
    merged = merge([A, F, CHECK], mine, [A, B, stub("f", 2), CHECK])
    assert texts(merged) == ["A", "B", text(solved("f", 1)), "check(f)"]


def test_further_attempts_follow_the_first_in_their_order():
    mine = [F, solved("f", 1, "one"), code("help = 2", "help"), solved("f", "help", "two"), CHECK]
    assert texts(merge([F, CHECK], mine, [stub("f", 2), CHECK])) == texts(mine)[1:]


def test_two_functions_in_one_cell_answer_both_stubs():
    both = code("def f(x): return 1\ndef g(x): return 2", "both")
    assert texts(merge([F, stub("g"), C], [both, C], [stub("f", 2), stub("g", 2), C])) == [text(both), "C"]


@pytest.mark.parametrize("source", ["def f(x):\n    return (", "%time 1\ndef f(x):\n    return 1"])
def test_a_function_is_found_beside_a_slip_or_a_magic(source):
    assert texts(merge([F], [code(source, "f")], [stub("f", 2)])) == [source]


def test_a_function_that_the_lecture_shows_is_no_stub():
    shown, mine = code("def f(x): return 1", "old"), code("def f(x): return 1 + 1", "old")
    assert texts(merge([shown], [mine], [code("def f(x): return 3", "new")])) == ["def f(x): return 3", text(mine)]


def test_outputs_of_cells_that_stay_are_kept():
    ran = {**CHECK, "outputs": [{"output_type": "stream", "name": "stdout", "text": "green"}], "execution_count": 7}
    assert merge([CHECK, C], [ran, C], [B, CHECK])[1] == ran


# --- merging: properties ------------------------------------------------------------------------------------------

@st.composite
def courses(draw):
    """A notebook of the course and a later version of it."""
    def cell(k):
        return draw(st.sampled_from([markdown(f"course {k}"), code(f"course_{k} = 0", f"c{k}"), stub(f"f{k}")]))
    base = [cell(k) for k in range(draw(st.integers(0, 6)))]
    new = [c for c in base if draw(st.integers(0, 3))]
    new = [_revised(c) if not draw(st.integers(0, 3)) else c for c in new]
    for k in range(draw(st.integers(0, 3))):
        new.insert(draw(st.integers(0, len(new))), cell(100 + k))
    return base, draw(st.permutations(new)) if draw(st.booleans()) else new


def _revised(cell):
    """As the course makes ids: a stub keeps its own, any other cell gets one with its text."""
    if "answer" in cell["metadata"].get("tags", ()):
        return {**cell, "source": cell["source"].replace("Version 0", "Version 1")}
    return {**cell, "source": cell["source"] + " revised", "id": cell["id"] + "-revised"}


EDITS = ["append", "note", "code", "define", "solve", "delete", "move", "copy", "lose ids", "run"]


@st.composite
def learners(draw, base, edits=EDITS):
    """What a learner makes of a notebook; every line of theirs holds the word mine and a number."""
    mine = [dict(cell) for cell in base]
    for n, edit in enumerate(draw(st.lists(st.sampled_from(edits), max_size=6))):
        at, to = draw(st.integers(0, max(len(mine) - 1, 0))), draw(st.integers(0, len(mine)))
        name = f"f{draw(st.integers(0, 5))}"
        if edit in ("note", "code", "define"):
            mine.insert(to, {"note": markdown(f"mine {n}"), "code": code(f"mine_{n} = 1", f"m{n}"),
                             "define": solved(name, f"mine_{n}", f"m{n}")}[edit])
        elif edit == "lose ids":
            mine = [{key: value for key, value in cell.items() if key != "id"} for cell in mine]
        elif mine:
            _edit(mine, edit, at, to, n)
    return mine


def _edit(mine, edit, at, to, n):
    cell = mine[at]
    if edit == "append":
        mine[at] = {**cell, "source": text(cell) + f"\n# mine {n}"}
    elif edit == "solve" and functions(cell):
        mine[at] = {**cell, "source": f"def {functions(cell)[0]}(x):\n    return mine_{n}"}
    elif edit == "delete" and "mine" not in text(cell):
        del mine[at]
    elif edit == "move":
        mine.insert(min(to, len(mine) - 1), mine.pop(at))
    elif edit == "copy":
        mine.insert(to, {**cell, "source": text(cell) + f"\n# mine {n}"})
    elif edit == "run" and cell["cell_type"] == "code":
        mine[at] = {**cell, "execution_count": n}


@st.composite
def histories(draw, edits=EDITS):
    base, new = draw(courses())
    return base, draw(learners(base, edits)), new


@SETTINGS
@given(histories())
def test_every_cell_with_a_line_of_the_learners_stands_in_the_merged_notebook(history):
    base, mine, new = history
    merged = texts(merge(base, mine, new))
    for words in texts(mine):
        assert "mine" not in words or merged.count(words) == texts(mine).count(words)


@SETTINGS
@given(histories())
def test_nothing_else_than_the_learners_and_the_courses_cells_comes_in_and_ids_differ(history):
    base, mine, new = history
    merged = merge(base, mine, new)
    assert all("mine" in words or words in texts(new) for words in texts(merged))
    assert len({cell["id"] for cell in merged}) == len(merged)


@SETTINGS
@given(histories())
def test_merging_again_changes_nothing(history):
    """So a kill after the notebook was renewed and before its base was leaves no trace."""
    base, mine, new = history
    merged = merge(base, mine, new)
    assert merge(base, merged, new) == merged
    assert merge(new, merged, new) == merged


@SETTINGS
@given(histories())
def test_what_the_course_changed_or_added_comes_in_unless_it_is_a_stub_that_is_answered(history):
    base, mine, new = history
    merged = texts(merge(base, mine, new))
    answered = {name for cell in mine for name in functions(cell) if "mine" in text(cell)}
    for cell in new:
        if text(cell) not in texts(base):
            assert merged.count(text(cell)) == (not answered & set(functions(cell)))


@SETTINGS
@given(histories(edits=["run"]))
def test_without_edits_the_course_comes_through_as_it_is(history):
    base, mine, new = history
    assert texts(merge(base, mine, new)) == texts(new)


@SETTINGS
@given(histories(edits=["append", "note", "code", "solve", "delete", "run"]))
def test_without_changes_of_the_course_the_learners_notebook_comes_through_as_it_is(history):
    base, mine, _ = history
    assert texts(merge(base, mine, base)) == texts(mine)


# --- the folder ---------------------------------------------------------------------------------------------------

def save(path, cells, **extra):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **extra}))


def load(path):
    return json.loads(path.read_bytes())["cells"]


def tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


TWO = {"output_type": "execute_result", "data": {"text/plain": "2"}, "metadata": {}, "execution_count": 3}
RAN = {**code("1 + 1", "sum", outputs=[TWO]), "execution_count": 3}
LECTURE, TASK = "notebooks/00_start_here.ipynb", "exercises/00_start_here.ipynb"


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "course"
    save(folder / LECTURE, [A, RAN, B],
         metadata={"widgets": {"state": 1}, "kernelspec": {"display_name": "Python 3", "name": "python3"}})
    save(folder / TASK, [A, F, CHECK])
    return folder


def revise(root):
    save(root / LECTURE, [A, RAN, markdown("B2")])
    save(root / TASK, [A, B, stub("f", 2), CHECK])


def test_notebooks_are_handed_out_without_outputs_under_their_ids(root):
    work = prepare(root)
    given_out = nbformat.read(work / LECTURE, as_version=4)
    nbformat.validate(given_out)
    assert [cell.id for cell in given_out.cells] == ["A", "sum", "B"]
    assert (given_out.cells[1].outputs, given_out.cells[1].execution_count) == ([], None)
    assert given_out.metadata == {"kernelspec": {"display_name": "Python 3", "name": "python3"}}
    assert (work / TASK).read_bytes() == (work / BASE / TASK).read_bytes()
    assert (work / "notebooks" / "../exercises/00_start_here.ipynb").resolve() == (work / TASK).resolve()


@pytest.mark.parametrize("content", [b"", b"mine", b'{"cells": []}'])
def test_a_file_that_is_there_is_never_overwritten(root, content):
    (root / "work/exercises").mkdir(parents=True)
    (root / "work" / TASK).write_bytes(content)
    prepare(root), prepare(root)
    assert (root / "work" / TASK).read_bytes() == content
    assert (root / "work" / LECTURE).exists()


def test_a_notebook_that_the_learner_removed_is_handed_out_anew(root):
    (prepare(root) / TASK).unlink()
    revise(root)
    assert texts(load(prepare(root) / TASK)) == ["A", "B", text(stub("f", 2)), "check(f)"]
    assert "up to date" in str(update(root)) and texts(load(root / "work" / BASE / TASK))[1] == "B"


def test_update_carries_cells_keeps_the_old_file_and_tells_the_difference(root):
    work = prepare(root)
    save(work / TASK, [A, solved("f", "mine"), CHECK, NOTE])
    before = (work / TASK).read_bytes()
    revise(root)
    report = update(root)
    assert texts(load(work / TASK)) == ["A", "B", text(solved("f", "mine")), "check(f)", "my note"]
    (backup,) = work.glob(f"backups/*/{TASK}")
    assert backup.read_bytes() == before
    told = {change.path: change for change in report.changes}
    assert told[TASK].state == "updated" and backup.relative_to(root).as_posix() in told[TASK].words
    assert "+B" in told[TASK].diff.splitlines() and "-my note" not in told[TASK].diff


def test_a_second_update_has_nothing_to_do(root):
    work = prepare(root)
    save(work / TASK, [A, NOTE, F, CHECK])
    revise(root)
    update(root)
    once = tree(work)
    assert {change.state for change in update(root).changes} == {"unchanged"}
    assert tree(work) == once


def test_two_updates_in_one_second_keep_both_old_files(root):
    work = prepare(root)
    olds = []
    for version in (2, 3, 4):
        olds.append((work / TASK).read_bytes())
        save(root / TASK, [A, stub("f", version), CHECK])
        update(root)
    assert sorted(p.read_bytes() for p in work.glob(f"backups/*/{TASK}*")) == sorted(olds)


def test_update_hands_out_notebooks_that_are_new(root):
    prepare(root)
    save(root / "notebooks/01_bayes.ipynb", [A])
    assert {c.path: c.state for c in update(root).changes}["notebooks/01_bayes.ipynb"] == "new"
    assert texts(load(root / "work/notebooks/01_bayes.ipynb")) == ["A"]


@pytest.mark.parametrize("content", [
    b"", b"{", b"[]", b"[" * 100_000, b"\xff\xfe", b'{"nbformat": 4, "cells": 3}', b'{"nbformat": 3, "worksheets": []}',
    b'{"nbformat": 4, "cells": [{"source": ""}]}'])
def test_a_file_that_is_no_notebook_is_left_alone_and_named(root, content):
    work = prepare(root)
    (work / TASK).write_bytes(content)
    revise(root)
    report = update(root)
    assert (work / TASK).read_bytes() == content
    assert {c.path: c.state for c in report.changes} == {TASK: "left alone", LECTURE: "updated"}
    assert f"{TASK}: left alone, it cannot be read as a notebook" in str(report)


def test_a_file_without_its_base_is_left_alone_and_named(root):
    work = prepare(root)
    (work / BASE / TASK).unlink()
    before = (work / TASK).read_bytes()
    revise(root)
    assert f"{TASK}: left alone, its copy in .base is missing" in str(update(root))
    assert (work / TASK).read_bytes() == before


def test_other_files_of_the_learner_are_untouched(root):
    work = prepare(root)
    others = {"progress.jsonl": b"1", "exercises/00_start_here-Copy1.ipynb": b"2", "notebooks/my data.csv": b"3"}
    for name, content in others.items():
        (work / name).write_bytes(content)
    revise(root)
    update(root), prepare(root)
    assert {name: tree(work)[name] for name in others} == others


def test_a_file_saved_during_the_update_wins(root, monkeypatch):
    work = prepare(root)
    revise(root)

    def slow(*cells):
        save(work / TASK, [A, solved("f", "mine"), CHECK])
        return merge(*cells)

    monkeypatch.setattr(workspace, "merge", slow)
    assert f"{TASK}: left alone, it was saved during the update" in str(update(root))
    assert text(solved("f", "mine")) in texts(load(work / TASK))
    monkeypatch.undo()
    update(root)
    assert texts(load(work / TASK)) == ["A", "B", text(solved("f", "mine")), "check(f)"]


@pytest.mark.parametrize("task", [prepare, update])
def test_a_kill_at_any_step_loses_nothing_and_the_next_run_ends_alike(root, task, monkeypatch):
    """A kill before, in the middle of and after each write of a file, one at a time, always from the same start."""
    if task is update:
        save(prepare(root) / TASK, [A, solved("f", "mine"), CHECK, NOTE])
        revise(root)
    start, write, steps = tree(root), notebooks.write, []
    monkeypatch.setattr(workspace, "write", lambda path, content: (steps.append(path), write(path, content)))
    task(root)
    end = _without_backups(tree(root))
    for step in range(len(steps)):
        for moment in ("before", "amid", "after"):
            _restore(root, start)
            with pytest.raises(Killed):
                monkeypatch.setattr(workspace, "write", _killed(step, moment))
                task(root)
            monkeypatch.setattr(workspace, "write", write)
            assert any(b"my note" in content for content in tree(root).values()) or task is prepare
            task(root)
            assert _without_backups(tree(root)) == end, (step, moment)
    assert len(steps) > 3


class Killed(BaseException):
    pass


def _killed(step, moment):
    count = iter(range(10**6))

    def write(path, content):
        mine = next(count) == step
        if mine and moment == "before":
            raise Killed
        if mine and moment == "amid":
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.1.part").write_bytes(content[:10])
            raise Killed
        notebooks.write(path, content)
        if mine:
            raise Killed
    return write


def _restore(root, files):
    for name in set(tree(root)) - set(files):
        (root / name).unlink()
    for name, content in files.items():
        (root / name).write_bytes(content)


def _without_backups(files):
    return {name: content for name, content in files.items() if "/backups/" not in name and not name.endswith(".part")}


def test_a_write_that_fails_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    (tmp_path / "a").write_bytes(b"old")
    monkeypatch.setattr(os, "replace", lambda *_: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError):
        notebooks.write(tmp_path / "a", b"new")
    assert tree(tmp_path) == {"a": b"old"}


@pytest.mark.parametrize("words", ["é θ ∑", "\ud800 alone", "quote \" and \\ back"])
def test_any_text_survives_the_file(root, words):
    save(prepare(root) / TASK, [A, {**NOTE, "source": words}, F, CHECK])
    revise(root)
    update(root)
    assert words in texts(load(root / "work" / TASK))


def test_a_course_with_a_broken_notebook_says_which(root):
    (root / TASK).write_text("{")
    with pytest.raises(ValueError, match="expected a notebook .*00_start_here.ipynb"):
        update(root)


def test_ids_are_made_for_cells_without_and_stay_the_same():
    cells = [{**A, "id": "x"}, {**A, "id": "x"}, {k: v for k, v in A.items() if k != "id"}]
    assert len({cell["id"] for cell in named(cells)}) == 3
    assert named(cells) == named(cells) == named(named(cells))


# --- finding the course, starting JupyterLab ----------------------------------------------------------------------

def test_the_course_is_found_from_within_and_from_the_learners_folder(root, monkeypatch):
    work = prepare(root)
    for folder in (root, root / "notebooks", work, work / "exercises"):
        monkeypatch.chdir(folder)
        assert workspace.course_root() == root
    assert workspace.course_root(work / "notebooks") == root


def test_the_course_is_found_around_the_library_or_else_the_message_says_where_to_go(root, tmp_path, monkeypatch):
    monkeypatch.setattr(workspace, "__file__", str(root / "course_lib/classroom/workspace.py"))
    assert workspace.course_root(tmp_path) == root
    monkeypatch.setattr(workspace, "__file__", str(tmp_path / "workspace.py"))
    with pytest.raises(FileNotFoundError, match="in neither; change to the folder"):
        workspace.course_root(tmp_path)


def test_lab_opens_the_first_notebook_in_work_and_passes_arguments_on(root, monkeypatch):
    got = []
    monkeypatch.setitem(sys.modules, "jupyterlab", types.ModuleType("jupyterlab"))
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", types.SimpleNamespace(main=got.extend))
    assert lab(root, ["--no-browser", "--port=1"]) == 0
    assert got == [f"--ServerApp.root_dir={root / 'work'}",
                   "--LabApp.default_url=/lab/tree/notebooks/00_start_here.ipynb", "--no-browser", "--port=1"]
    assert (root / "work" / TASK).exists()


def test_without_jupyterlab_the_message_says_how_to_get_it(root, monkeypatch):
    monkeypatch.setitem(sys.modules, "jupyterlab", None)
    with pytest.raises(FileNotFoundError, match=f'"{sys.executable}" -m pip install jupyterlab'.replace("\\", r"\\")):
        lab(root)
