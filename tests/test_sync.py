"""Everything derived follows from its source, and a derived file that does not is found."""
import json
import shutil
import tomllib
from pathlib import Path

import nbformat
import pytest
import toy_course
import yaml
from course_lib.classroom import build, claims
from course_lib.classroom.course import Course, lecture, same_cells, to_solve
from course_lib.classroom.mutants import report
from course_lib.classroom.sync import derived, stale, sync

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def pattern(tmp_path_factory) -> Path:
    """The toy course with everything derived; its notebooks are executed once."""
    root = toy_course.write(tmp_path_factory.mktemp("pattern"))
    list(sync(Course(root)))
    return root


@pytest.fixture
def made(pattern, tmp_path) -> Course:
    """A copy of it that a test may spoil."""
    return Course(Path(shutil.copytree(pattern, tmp_path / "made", ignore=shutil.ignore_patterns("__pycache__"))))


@pytest.fixture(scope="module")
def examined():
    """This course and the problems of its exercises: to be in step and to know every mistake both ask for them."""
    course = Course(ROOT)
    return course, {reference.exercise.name: list(build.examine(reference)) for reference in course.references}


@pytest.fixture
def this_course(examined, monkeypatch) -> Course:
    course, problems = examined
    monkeypatch.setattr(build, "examine", lambda reference: problems[reference.exercise.name])
    return course


def contents(course):
    return {path: path.read_bytes() for path in course.root.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


def test_this_course_is_in_step(this_course):
    assert [f"{d.kind}: {d.path.relative_to(ROOT)}" for d in stale(this_course)] == []


def test_second_sync_writes_nothing_and_a_forced_one_the_same_bytes(made):
    before = contents(made)
    assert len({d.kind for d in derived(made)}) == 6
    assert list(sync(Course(made.root))) == []
    assert len(list(sync(Course(made.root), everything=True))) == 6
    assert contents(made) == before


PLANTS = {
    "answers": ("course_lib/classroom/answers/01_shares.npz", None),
    "exercise notebook": ("exercises/01_shares.ipynb", ("your code here", "your code there")),
    "solution notebook": ("solutions/01_shares.ipynb", ("total = counts.sum", "total = counts.max")),
    "lecture notebook": ("notebooks/01_shares.ipynb", ("total = 1 + 1", "total = 2 + 0")),
    "claims index": ("notebooks/CLAIMS.md", ("One and one", "One and two")),
    "environment": ("environment.yml", ("numpy>=2.0", "numpy>=1.0")),
}


@pytest.mark.parametrize("kind", PLANTS)
def test_stale_file_is_found_and_mended(made, kind):
    name, edit = PLANTS[kind]
    path = made.root / name
    good = path.read_bytes()
    if edit:
        assert edit[0].encode() in good
        path.write_bytes(good.replace(edit[0].encode(), edit[1].encode()))
    else:
        cases = made.root / "solutions" / "cases" / "01_shares.py"
        cases.write_text(cases.read_text(encoding="utf-8").replace("[2.0, 2.0]", "[2.0, 2.5]"), encoding="utf-8")
        good = None
    assert [d.kind for d in stale(Course(made.root))] == [kind]
    shown = ["solution notebook"] if kind == "answers" else []         # the checker's cards stand in it
    assert [d.kind for d in sync(Course(made.root))] == [kind, *shown]
    assert stale(Course(made.root)) == [] and (good is None or path.read_bytes() == good)


@pytest.mark.parametrize("kind", PLANTS)
def test_missing_or_broken_file_is_found(made, kind):
    path = made.root / PLANTS[kind][0]
    path.unlink()
    assert [d.kind for d in stale(Course(made.root))] == [kind]
    path.write_bytes(b"{ not a file of this kind")
    assert [d.kind for d in stale(Course(made.root))] == [kind]


def test_changed_source_makes_its_notebooks_stale(made):
    source = made.root / "solutions" / "01_shares.py"
    source.write_text(source.read_text(encoding="utf-8").replace("# # Shares", "# # Parts"), encoding="utf-8")
    assert {d.kind for d in stale(Course(made.root))} == {"exercise notebook", "solution notebook"}


def test_tampered_tags_and_ids_are_found(made):
    path = made.root / "notebooks" / "01_shares.ipynb"
    for field, value in (("id", "other"), ("metadata", {"tags": ["other"]})):
        book = json.loads(path.read_text(encoding="utf-8"))
        book["cells"][1][field] = value
        path.write_text(json.dumps(book), encoding="utf-8")
        assert [d.kind for d in stale(Course(made.root))] == ["lecture notebook"]
        list(sync(Course(made.root)))


def test_file_without_source_is_an_orphan_and_goes(made):
    (made.root / "exercises" / "07_gone.ipynb").write_text("{}", encoding="utf-8")
    assert [d.kind for d in stale(made)] == ["orphan"]
    list(sync(made))
    assert stale(made) == []


def test_learners_notebook_holds_no_solution(made):
    text = (made.root / "exercises" / "01_shares.ipynb").read_text(encoding="utf-8")
    assert "NotImplementedError" in text and "keepdims" not in text and "secret" not in text
    assert "Each row's counts as shares" in text, "the docstring states the task"


def test_notebook_equals_its_script_read_by_jupytext(made):
    import jupytext

    book = nbformat.read(made.root / "notebooks" / "01_shares.ipynb", as_version=4)
    script = jupytext.read(made.root / "notebooks" / "scripts" / "01_shares.py")
    assert [(c.cell_type, c.source) for c in book.cells] == [(c.cell_type, c.source) for c in script.cells]
    assert same_cells(book, lecture(made.root / "notebooks" / "scripts" / "01_shares.py"))
    assert len({c.id for c in book.cells}) == len(book.cells)
    assert not same_cells(book, to_solve(made.root / "solutions" / "01_shares.py"))


def test_notebook_that_fails_is_not_written(made):
    source = made.root / "notebooks" / "scripts" / "01_shares.py"
    before = (made.root / "notebooks" / "01_shares.ipynb").read_bytes()
    source.write_text(source.read_text(encoding="utf-8") + "\n# %%\n1 / 0\n", encoding="utf-8")
    with pytest.raises(ValueError, match="01_shares.py does not run"):
        list(sync(Course(made.root)))
    assert (made.root / "notebooks" / "01_shares.ipynb").read_bytes() == before


def test_claims_without_cell_without_sentence_or_without_assertion_are_problems(toy):
    register, script = toy.root / "notebooks" / "claims.toml", toy.root / "notebooks" / "scripts" / "01_shares.py"
    assert claims.problems(toy) == []
    register.write_text('"1.1" = "One."\n"1.2" = "Two."\n', encoding="utf-8")
    script.write_text("# %%\n# claim 1.1\nprint(1)\n\n# %%\nassert True\n# claim 1.9\n", encoding="utf-8")
    assert sorted(claims.problems(toy)) == [
        "01_shares cell 1 is marked for claim 1.1 but asserts nothing",
        "01_shares cell 2 is marked for claim 1.9, which claims.toml does not have",
        "claim 1.2 is checked by no cell: mark one with `# claim 1.2`"]


def test_every_claim_of_this_course_is_checked():
    assert claims.problems(Course(ROOT)) == []


def test_environment_has_the_names_and_bounds_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = {r.split(";")[0].strip() for group in (project["dependencies"], project["optional-dependencies"]["test"],
                                                    project["optional-dependencies"]["grade"])
              for r in group if not r.startswith("course_lib")}
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    pip = next(entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict))
    conda = [entry for entry in environment["dependencies"] if isinstance(entry, str)]
    assert set(conda) | set(pip) == wanted | {f"python{project['requires-python']}", "pip", "-e ."}
    assert environment["channels"] == ["conda-forge"]


def test_every_mistake_of_this_course_fails_and_is_named(this_course):
    found = report(this_course)
    assert {row.id for row in found} >= {"E0.1", "E1.1"}
    for row in found:
        assert row.problems == () and row.seeds == 50
        assert row.variants_right == row.variants >= 3 and row.failed == row.named == row.mistakes >= 4
