"""Where everything of a course stands on disk, and the notebooks that are made from its sources."""
from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from . import build
from .answers import Answer

__all__ = ["Course", "lecture", "same_cells", "text_of", "to_solve"]

METADATA = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
            "language_info": {"name": "python"}}


@dataclass(frozen=True)
class Course:
    """The folder that holds ``notebooks/``, ``exercises/`` and, for its authors, ``solutions/``.

    A pack is such a folder of somebody else's: its answers lie in ``answers/`` and not in the library.
    """

    root: Path
    is_pack: bool = False

    @classmethod
    def here(cls, start: Path | None = None) -> "Course":
        """The course around a folder, by default the current one."""
        from .workspace import course_root

        return cls(course_root(start))

    @classmethod
    def pack(cls, folder: Path) -> "Course":
        """The pack in a folder.

        Raises
        ------
        FileNotFoundError
            If there are no exercises in it.
        """
        if not (folder / "solutions").is_dir():
            raise FileNotFoundError(f"a pack, a folder with solutions/ and solutions/cases/, expected in {folder}; "
                                    f"`course new my_function --pack {folder}` begins one")
        return cls(folder, is_pack=True)

    @property
    def title(self) -> str:
        """The heading of its README, or else the name of its folder."""
        readme = self.root / "README.md"
        first = readme.read_text(encoding="utf-8").partition("\n")[0] if readme.exists() else ""
        return first.removeprefix("# ").strip() if first.startswith("# ") else self.root.resolve().name

    @property
    def lectures(self) -> list[Path]:
        """The sources of the lecture notebooks, in the order of the course."""
        return sorted((self.root / "notebooks" / "scripts").glob("[0-9]*.py"))

    @property
    def solutions(self) -> list[Path]:
        """The sources of the worked solutions, in the order of the course."""
        return sorted((self.root / "solutions").glob("[0-9]*.py"))

    @property
    def answer_folder(self) -> Path:
        return self.root / "answers" if self.is_pack else self.root / "course_lib" / "classroom" / "answers"

    @property
    def references(self) -> list[build.Reference]:
        """Every reference function of the course; raises as `references_of`."""
        return [reference for source in self.solutions for reference in self.references_of(source)]

    def references_of(self, source: Path) -> list[build.Reference]:
        """The reference functions of one solution file.

        Raises
        ------
        build.BuildError
            If the file or its cases cannot be read, or an exercise has a name or an id that another one has.
        """
        own = self._loaded[source]
        if isinstance(own, build.BuildError):
            raise own
        others = {key: r for s, found in self._loaded.items() if s != source and isinstance(found, list)
                  for r in found for key in (r.exercise.name, r.exercise.id)}
        for key in (key for r in own for key in (r.exercise.name, r.exercise.id)):
            if key in others:
                first, second = sorted((others[key].topic, source.stem))
                raise build.BuildError(f"{key} stands in {first} and again in {second}; names and ids of exercises are "
                                       "unique in the course: rename one")
        return own

    @cached_property
    def _loaded(self) -> dict[Path, list[build.Reference] | build.BuildError]:
        return {source: _references_or_error(source) for source in self.solutions}

    def solution_of(self, answer: Answer) -> str:
        """The source of a reference function."""
        cells = build.read(self.root / "solutions" / f"{answer.topic}.py").cells
        return next(c.source for c in cells if "solution" in _tags(c) and f"def {answer.name}(" in c.source)


def lecture(source: Path) -> Any:
    """The notebook of a py:percent script, a lecture or worked solutions, without outputs."""
    return _notebook(build.read(source).cells)


def to_solve(source: Path) -> Any:
    """The learner's notebook: solutions replaced by stubs, what explains them left out."""
    cells = [cell for cell in build.read(source).cells if "worked" not in _tags(cell)]
    return _notebook(_stubbed(cell) for cell in cells)


def same_cells(one: Any, other: Any) -> bool:
    """Have two notebooks the same cells: type, id, source and tags?"""
    def sides(notebook):
        return [(c.cell_type, c.get("id"), c.source, _tags(c)) for c in notebook.cells]
    return sides(one) == sides(other)


def _references_or_error(source: Path) -> list[build.Reference] | build.BuildError:
    try:
        return build.references(source)
    except build.BuildError as error:
        return error
    except Exception as error:  # the code of an author may fail in any way
        return build.BuildError(f"{source.name} or its cases cannot be run: {type(error).__name__}: {error}")


def _stubbed(cell):
    if "solution" not in _tags(cell):
        return cell
    from nbformat.v4 import new_code_cell

    return new_code_cell(build.stub(cell.source), metadata={"tags": ["answer"]})


def _notebook(cells: Iterable) -> Any:
    """Cells with ids made from what stands in them, so that the same source gives the same file."""
    from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

    made, taken = [], set()
    for cell in cells:
        identity = _identity(cell, taken)
        taken.add(identity)
        metadata = {"tags": _tags(cell)} if _tags(cell) else {}
        new = new_code_cell if cell.cell_type == "code" else new_markdown_cell
        made.append(new(cell.source, id=identity, metadata=metadata))
    return new_notebook(cells=made, metadata=METADATA, nbformat_minor=5)


def _identity(cell, taken: set[str]) -> str:
    name = _function(cell) if {"answer", "solution"} & set(_tags(cell)) else None
    base = name.replace("_", "-")[:60] if name else hashlib.sha256(cell.source.encode()).hexdigest()[:12]
    return next(i for n in range(1, 10_000) if (i := base if n == 1 else f"{base}-{n}") not in taken)


def _function(cell) -> str | None:
    return next((n.name for n in ast.parse(cell.source).body if isinstance(n, ast.FunctionDef)), None)


def _tags(cell) -> list[str]:
    return list(cell.metadata.get("tags", []))


def text_of(notebook: Any) -> str:
    """The JSON of a notebook as it is committed."""
    import nbformat

    return nbformat.writes(notebook, version=4) + "\n"
