"""What the repository promises about itself."""
import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jupytext
import nbformat
import pytest
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
MATHEMATICS = sorted((ROOT / "course_lib").glob("[a-z]*.py"))
LECTURES = sorted((ROOT / "notebooks" / "scripts").glob("[0-9]*.py"))
TEXTS = [p for pattern in ("*.md", "*.toml", "*.yml", "*.cff", ".ci/*", "course_lib/**/*.py", "course_lib/**/*.toml",
                           "tests/*.py", "benchmarks/*", "notebooks/**/*.py", "notebooks/*.ipynb", "notebooks/*.toml",
                           "solutions/**/*.py", "solutions/*.ipynb", "exercises/*.ipynb") for p in ROOT.glob(pattern) if p.is_file()]


@pytest.mark.parametrize("command", ["pip install -e . && course lab", 'pip install -e ".[test]" && pytest'])
def test_readme_has_the_two_commands(command):
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    if "test" in command:
        assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").replace(" -q", "")


def test_links_of_the_front_matter_lead_somewhere():
    for page in ("README.md", "CONTRIBUTING.md", "notebooks/CLAIMS.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
            assert (ROOT / page).parent.joinpath(target).exists(), f"{page} links to {target}"


def test_links_between_notebooks_lead_somewhere():
    for source in [*LECTURES, *sorted((ROOT / "solutions").glob("[0-9]*.py"))]:
        folder = ROOT / ("notebooks" if source in LECTURES else "exercises")
        for cell in jupytext.read(source).cells:
            for target in re.findall(r"\]\((?!https?:)([^)#\s]+\.(?:ipynb|md))\)", cell.source) if cell.cell_type == "markdown" else ():
                assert (folder / target).exists(), f"{source.name} links to {target}"


def test_mathematics_does_not_know_the_classroom_nor_other_libraries_of_the_subject():
    for path in MATHEMATICS:
        if path.name == "__main__.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else \
                [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert "classroom" not in name and not name.startswith(("statsmodels", "scipy.stats")), f"{path.name}: {name}"


def test_import_brings_in_no_oracle_and_no_plotting():
    code = ("import sys, course_lib; from course_lib import NaiveBayes; "
            "print([m for m in ('sklearn', 'statsmodels', 'scipy.stats', 'matplotlib', 'pandas') if m in sys.modules])")
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"


def test_lock_pins_every_requirement_within_its_bounds_and_holds_no_address():
    text = (ROOT / "requirements.lock.txt").read_text(encoding="utf-8")
    assert "://" not in text
    pinned: dict[str, list[Version]] = {}
    for name, version in re.findall(r"^([A-Za-z0-9_.-]+)==([^\s;\\]+)", text, re.MULTILINE):
        pinned.setdefault(name.lower().replace("_", "-"), []).append(Version(version))
    for line in PROJECT["dependencies"] + PROJECT["optional-dependencies"]["test"]:
        requirement = Requirement(line)
        if (name := requirement.name.lower().replace("_", "-")) != "course-lib":
            assert pinned[name] and all(version in requirement.specifier for version in pinned[name]), line


def test_browser_can_install_the_core():
    for line in PROJECT["dependencies"]:
        requirement = Requirement(line)
        wanted = requirement.marker is None or requirement.marker.evaluate({"sys_platform": "emscripten"})
        assert wanted == (requirement.name in ("numpy", "scipy", "matplotlib", "ipywidgets")), line


def test_learners_side_runs_without_what_a_browser_lacks():
    code = ("import sys\nfor name in ('jupyterlab', 'jupytext', 'nbclient', 'nbformat', 'rich', 'typer', 'IPython', 'ipywidgets'):\n"
            "    sys.modules[name] = None\n"
            "from course_lib.classroom import check, hint, predict, quiz, solution\n"
            "def posterior(prior, likelihood): return prior * likelihood\n"
            "check(posterior); hint('E1.1'); solution('E1.1', give_up=True); quiz('0.1'); quiz('0.1', 'a'); predict('0.1', 1)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8",
                          env=os.environ | {"PYTHONIOENCODING": "utf-8"})
    assert done.returncode == 0, done.stderr
    for words in ("NOT YET", "HINT 1 OF 3", "NOT HERE", "Question 0.1", "PREDICTION"):
        assert words in done.stdout


def test_nothing_names_a_machine_or_a_registry():
    for path in TEXTS:
        text = path.read_text(encoding="utf-8", errors="replace")
        found = re.search(r"/(?:root|home/\w+|tmp|work)/(?!ipykernel)|files\.pythonhosted|pypi\.org|deb\.debian", text)
        assert not found or path.name == "test_project.py", f"{path.relative_to(ROOT)}: {found[0]}"


@pytest.mark.parametrize("source", LECTURES, ids=lambda p: p.stem)
class TestLecture:
    """The craft of a notebook, as far as it can be counted."""

    def executed(self, source):
        return nbformat.read(ROOT / "notebooks" / f"{source.stem}.ipynb", as_version=4)

    def code(self, source):
        return [c for c in jupytext.read(source).cells if c.cell_type == "code"]

    def test_cells_are_short(self, source):
        lengths = sorted(len([line for line in c.source.splitlines() if line.strip()]) for c in self.code(source))
        assert lengths[len(lengths) // 2] <= 8 and lengths[-1] <= 25

    def test_every_figure_has_alt_text(self, source):
        for cell in self.executed(source).cells:
            for output in cell.get("outputs", []):
                if "image/png" in output.get("data", {}):
                    assert output.metadata.get("image/png", {}).get("alt", "").strip() or "plots.explore" in cell.source

    def test_printed_numbers_are_rounded(self, source):
        for cell in self.executed(source).cells:
            for output in cell.get("outputs", []):
                text = output.get("text", "") + "".join(output.get("data", {}).get("text/plain", ""))
                for number in re.findall(r"(?<![\w.])\d+\.\d+(?:e[-+]?\d+)?", text):
                    digits = number.split("e")[0].replace(".", "").lstrip("0")
                    assert len(digits) <= 6, f"{number} in: {cell.source[:80]}"

    def test_no_output_holds_an_address_or_complains(self, source):
        for cell in self.executed(source).cells:
            for output in cell.get("outputs", []):
                assert output.get("name") != "stderr", output.get("text")
                assert " at 0x" not in "".join(output.get("data", {}).get("text/plain", ""))

    def test_no_cell_ends_in_a_semicolon(self, source):
        assert not [c.source for c in self.code(source) if c.source.rstrip().endswith(";")]

    def test_interactive_cells_and_quizzes_are_not_compared(self, source):
        for cell in self.code(source):
            if re.search(r"^(quiz\(|plots\.explore\()", cell.source, re.MULTILINE):
                assert "nbval-ignore-output" in cell.metadata.get("tags", []), cell.source
