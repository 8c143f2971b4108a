"""What a learner is handed: everything that is needed to work and to check, and nothing of the solutions."""
import ast
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from course_lib.classroom.grading import release as handing_out
from course_lib.classroom.answers import load
from course_lib.classroom.grading.classfile import ClassFile
from course_lib.classroom.cli import app
from course_lib.classroom.course import Course
from course_lib.classroom.grading.release import PINNED, drift, release
from typer.testing import CliRunner

ROOT = Path(__file__).parents[1]


@pytest.fixture
def no_wheel(monkeypatch):
    """Building takes seconds and may need a network; the file is tested by itself."""
    def write(to):
        (to / "course_lib-0-py3-none-any.whl").write_bytes(b"PK")
        return to / "course_lib-0-py3-none-any.whl"
    monkeypatch.setattr(handing_out, "wheel", write)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    try:
        return handing_out.wheel(tmp_path_factory.mktemp("wheel"))
    except ValueError as error:
        pytest.skip(str(error)[:200])


@pytest.fixture
def pack(toy) -> Course:
    return Course.pack(toy.root)


def texts(path: Path) -> list[str]:
    """Everything in a file that could be read: the file itself, and the members of archives, answers decoded."""
    raw = path.read_bytes() if isinstance(path, Path) else path
    if not raw.startswith(b"PK") or len(raw) < 30:
        return [raw.decode("utf-8", "replace").replace("\\n", "\n").replace('\\"', '"')]
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return [text for name in archive.namelist() for text in (name, *texts(archive.read(name)))]


def secrets_of(course: Course) -> list[str]:
    """Each body of a reference, a mistake or a variant that is longer than a line or two, without white space."""
    found = []
    for source in course.solutions:
        cells = [c.source for c in handing_out.build.read(source).cells if "solution" in c.metadata.get("tags", [])]
        for text in (*cells, (source.parent / "cases" / source.name).read_text(encoding="utf-8")):
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef):
                    body = node.body[1:] if ast.get_docstring(node) else node.body
                    found.append(squeezed("\n".join(ast.get_source_segment(text, statement) for statement in body)))
    return [text for text in found if len(text) >= 30]


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def leaks(folder: Path, course: Course, skip: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    hidden, found = secrets_of(course), []
    assert hidden
    for path in sorted(p for p in folder.rglob("*") if p.is_file() and p.name not in skip):
        inside = squeezed("\n".join(texts(path)))
        found += [(path.name, text[:60]) for text in hidden if text in inside]
    return found


def test_bundle_of_a_pack_holds_no_solution(pack, tmp_path, no_wheel):
    files = release(pack, tmp_path / "bundle")
    names = {p.relative_to(tmp_path / "bundle").as_posix() for p in files}
    assert names == {
        "README.md",
        "environment.yml",
        "requirements.txt",
        PINNED,
        "exercises/01_shares.ipynb",
        "answers/01_shares.npz",
        "course_lib-0-py3-none-any.whl",
        "notebooks/README.md",
    }
    assert leaks(tmp_path / "bundle", pack) == []
    exercise = (tmp_path / "bundle" / "exercises" / "01_shares.ipynb").read_text(encoding="utf-8")
    assert "raise NotImplementedError" in exercise and "The secret is" not in exercise


def test_search_for_leaks_finds_one(pack, tmp_path, no_wheel):
    """The test before would fail if a solution were inside: in a file, in an archive, or in a notebook's JSON."""
    release(pack, tmp_path / "bundle")
    source = (pack.root / "solutions" / "01_shares.py").read_text(encoding="utf-8")
    (tmp_path / "bundle" / "plain.py").write_text(source, encoding="utf-8")
    (tmp_path / "bundle" / "book.json").write_text(json.dumps(source), encoding="utf-8")
    with zipfile.ZipFile(tmp_path / "bundle" / "packed.bin", "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("x.py", source)
    assert {name for name, _ in leaks(tmp_path / "bundle", pack)} == {"plain.py", "book.json", "packed.bin"}


def test_answers_are_data_that_the_checker_reads(pack, tmp_path, no_wheel):
    release(pack, tmp_path / "bundle")
    [answer] = load((tmp_path / "bundle" / "answers" / "01_shares.npz").read_bytes())
    assert answer.name == "shares" and len(answer.mistakes) == 4


def test_bundle_of_the_course_holds_the_chosen_units_and_no_solution(tmp_path, no_wheel):
    release(_first_units(tmp_path), tmp_path / "bundle", ClassFile(units=("01",), title="Sheet one"))
    names = {p.relative_to(tmp_path / "bundle").as_posix() for p in (tmp_path / "bundle").rglob("*") if p.is_file()}
    assert "exercises/01_bayes_rule_and_risk.ipynb" in names and "notebooks/00_start_here.ipynb" in names
    assert not [n for n in names if "solution" in n or n.startswith("exercises/00")]
    assert "# Sheet one" in (tmp_path / "bundle" / "README.md").read_text(encoding="utf-8")
    assert leaks(tmp_path / "bundle" / "exercises", _first_units(tmp_path)) == []


def test_bundle_holds_the_lecture_of_a_unit_without_exercises(toy, tmp_path, no_wheel):
    for name in ("01_shares", "02_bonus"):
        (toy.root / "notebooks" / "scripts" / f"{name}.py").write_text("# %%\n1 + 1\n", encoding="utf-8")
        (toy.root / "notebooks" / f"{name}.ipynb").write_text("{}", encoding="utf-8")
    release(toy, tmp_path / "bundle", ClassFile(units=("02",)))
    assert [p.name for p in (tmp_path / "bundle" / "notebooks").iterdir()] == ["02_bonus.ipynb"]
    assert [p.name for p in (tmp_path / "bundle" / "exercises").iterdir()] == ["README.md"]     # or a zip would lose it


def _first_units(tmp_path: Path) -> Course:
    """The course with its first two units."""
    root = tmp_path / "course"
    if not root.exists():
        for name in (
            "solutions/00_start_here.py",
            "solutions/01_bayes_rule_and_risk.py",
            "solutions/cases/00_start_here.py",
            "solutions/cases/01_bayes_rule_and_risk.py",
            "notebooks/00_start_here.ipynb",
        ):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes((ROOT / name).read_bytes())
    return Course(root)


def test_wheel_holds_the_answers_and_no_sources_of_exercises(wheel):
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert "course_lib/classroom/answers/00_start_here.npz" in names and "course_lib/data/synth_tr.csv" in names
    assert not [n for n in names if "solutions" in n or "cases/" in n or n.startswith("tests")]


def test_wheel_holds_no_body_of_a_solution(wheel, tmp_path):
    """What the library itself teaches may look like a solution: those files are its mathematics, and public."""
    course = _first_units(tmp_path)
    with zipfile.ZipFile(wheel) as archive:
        inside = {name: squeezed("\n".join(texts(archive.read(name)))) for name in archive.namelist()
                  if name.startswith("course_lib/classroom/") or ".dist-info/" in name}
    assert not [(name, text[:60]) for text in secrets_of(course) for name, whole in inside.items() if text in whole]


def test_learner_works_with_nothing_but_the_bundle(pack, wheel, tmp_path, monkeypatch):
    """Unpacked elsewhere, with the wheel's library: the check knows the pack's exercise and names its mistakes."""
    monkeypatch.setattr(
        handing_out,
        "wheel",
        lambda to: Path(to, wheel.name) if Path(to, wheel.name).write_bytes(wheel.read_bytes()) else None,
    )
    release(pack, tmp_path / "bundle")
    with zipfile.ZipFile(tmp_path / "bundle" / wheel.name) as archive:
        archive.extractall(tmp_path / "installed")
    script = ("from course_lib.classroom import workspace, check; import course_lib, pathlib, os\n"
              "assert 'installed' in course_lib.__file__\n"
              "work = workspace.prepare(workspace.course_root()); os.chdir(work / 'exercises')\n"
              "def shares(counts): return counts / counts.sum()\n"
              "check(shares)\n"
              "def shares(counts): return counts / counts.sum(axis=1, keepdims=True)\n"
              "check(shares)\n")
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path / "bundle",
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONPATH": str(tmp_path / "installed"), "PYTHONIOENCODING": "utf-8"},
    )
    assert "It divides by the grand total." in done.stdout and "[RIGHT] E1.1 shares" in done.stdout, (
        done.stdout + done.stderr
    )


def test_release_pins_its_cases_and_drift_is_told(pack, tmp_path, no_wheel):
    release(pack, tmp_path / "bundle")
    assert drift(tmp_path / "bundle", pack) == []
    path = pack.root / "solutions" / "cases" / "01_shares.py"
    path.write_text(path.read_text(encoding="utf-8").replace("[[1.0, 3.0]", "[[1.0, 4.0]"), encoding="utf-8")
    assert drift(tmp_path / "bundle", Course.pack(pack.root)) == ["E1.1"]
    result = CliRunner().invoke(app, ["release", str(tmp_path / "bundle"), "--check", "--pack", str(pack.root)])
    assert result.exit_code == 1 and "Changed since: E1.1" in result.output
    with pytest.raises(FileNotFoundError, match="course release"):
        drift(tmp_path, pack)


def test_pinned_hashes_are_those_of_the_files(pack, tmp_path, no_wheel):
    import hashlib

    release(pack, tmp_path / "bundle")
    told = json.loads((tmp_path / "bundle" / PINNED).read_text(encoding="utf-8"))["files"]
    assert len(told) == 7 and all(
        hashlib.sha256((tmp_path / "bundle" / name).read_bytes()).hexdigest() == h for name, h in told.items()
    )


def test_release_does_not_write_over_anything(pack, tmp_path, no_wheel):
    (tmp_path / "bundle").mkdir()
    (tmp_path / "bundle" / "mine.txt").write_text("mine")
    with pytest.raises(ValueError, match="empty folder expected"):
        release(pack, tmp_path / "bundle")


def test_exercise_that_cannot_be_checked_is_not_released(pack, tmp_path, no_wheel):
    path = pack.root / "solutions" / "cases" / "01_shares.py"
    path.write_text(
        path.read_text(encoding="utf-8").replace("return counts * 1.0", "return counts / counts.sum()"),
        encoding="utf-8",
    )
    with pytest.raises(ValueError, match="cannot be told from"):
        release(Course.pack(pack.root), tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_without_a_builder_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(
        handing_out,
        "_builders",
        lambda root, to: [[sys.executable, "-c", "raise SystemExit('no hatchling')"], ["no-such-program"]],
    )
    with pytest.raises(ValueError, match="no hatchling.*pip install build hatchling"):
        handing_out.wheel(tmp_path)


def test_command_writes_the_bundle_and_lists_it(pack, tmp_path, no_wheel):
    result = CliRunner().invoke(app, ["release", str(tmp_path / "bundle"), "--pack", str(pack.root), "--units", "01"])
    assert result.exit_code == 0 and "exercises/01_shares.ipynb" in result.output, result.output
