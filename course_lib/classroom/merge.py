"""A learner's cells in a new notebook: a three-way merge by cell, in which nothing of the learner's is lost.

A cell is the dictionary that nbformat 4 stores. Three lists of them come in: `base`, the course's notebook as the
learner got it, `mine`, what the learner made of it, and `new`, the course's notebook now.

- What the learner did not touch follows the course: it is renewed, moved or dropped as in `new`.
- What the learner changed stays changed; if the course has changed the same cell, both stand, the course's first.
- What the learner added stays after its neighbour; what the learner deleted stays deleted until the course changes it.
- A cell that defines the function of an exercise takes the place of the stub of that name.
"""
from __future__ import annotations

import ast
import hashlib
import re
import warnings
from collections import defaultdict
from difflib import SequenceMatcher

__all__ = ["functions", "merge", "named", "same", "text"]

Cell = dict
TOP = -1  # the place before the first cell


def merge(base: list[Cell], mine: list[Cell], new: list[Cell]) -> list[Cell]:
    """The cells of the new notebook with the learner's carried over, every one with an id of its own."""
    base, new = named(base), named(new)
    old, now = _by_id(base), _by_id(new)
    home = {**_places(base, new), **{cell["id"]: i for i, cell in enumerate(new)}}
    origins = _origins(mine, base + new)
    written = [not (same(cell, old.get(origin)) or same(cell, now.get(origin))) for cell, origin in zip(mine, origins)]
    stubs = _stubs(new)
    places = [[stubs[name] for name in functions(cell) if name in stubs] if own else []
              for cell, own in zip(mine, written)]
    deleted = {i for i, cell in enumerate(new) if cell["id"] not in origins and same(cell, old.get(cell["id"]))}
    gone = deleted.union(*places)
    slots: dict[int, Cell] = {}
    after: dict[int, list[Cell]] = defaultdict(list)
    place = TOP
    for cell, origin, own, answered in zip(mine, origins, written, places):
        place = answered[0] if answered else home.get(origin, place)
        course = now.get(origin)
        if place not in gone and (same(cell, course) or same(old.get(origin), course)):
            slots[place] = _renewed(cell, course)
        elif own:
            after[place].append(cell if origin else _own(cell, home))
    merged = [*after[TOP]]
    for i, cell in enumerate(new):
        merged += ([] if i in gone else [slots.get(i, cell)]) + after[i]
    return named(merged)


def same(one: Cell | None, other: Cell | None) -> bool:
    """Are there two cells, and have they the same kind and the same text?"""
    return None not in (one, other) and _content(one) == _content(other)


def text(cell: Cell) -> str:
    """The source of a cell, stored as one string or as lines; white space at its end is no difference."""
    source = cell["source"]
    return (source if isinstance(source, str) else "".join(source)).replace("\r\n", "\n").rstrip()


def functions(cell: Cell) -> list[str]:
    """The names of the functions that a cell defines, even if it holds a slip or a magic."""
    if cell["cell_type"] != "code":
        return []
    try:
        with warnings.catch_warnings(action="ignore"):  # such as one about "\\d"
            return [node.name for node in ast.parse(text(cell)).body if isinstance(node, ast.FunctionDef)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return re.findall(r"^def[ \t]+(\w+)", text(cell), re.MULTILINE)


def _renewed(cell: Cell, course: Cell) -> Cell:
    """A cell as the learner left it, outputs included, under the course's id and tags."""
    return {**cell, "id": course["id"], "metadata": {**cell.get("metadata", {}), **course.get("metadata", {})}}


def _own(cell: Cell, course: dict[str, int]) -> Cell:
    """A copy of a course's cell gives up the id, lest it be taken for the cell once that is gone."""
    return {**cell, "id": None} if cell.get("id") in course else cell


def _by_id(cells: list[Cell]) -> dict[str, Cell]:
    return {cell["id"]: cell for cell in cells}


def _places(base: list[Cell], new: list[Cell]) -> dict[str, int]:
    """For each cell of the base the position in `new` of the cell that came in its stead, or else before it."""
    before, after = [cell["id"] for cell in base], [cell["id"] for cell in new]
    return {before[i]: min(start + i - first, end - 1)
            for _, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
            for i in range(first, last)}


def _origins(mine: list[Cell], course: list[Cell]) -> list[str | None]:
    """The id of the course's cell that each of the learner's is or was; a copy of a cell is the learner's own."""
    ids = {cell["id"] for cell in course}
    whole = {(cell["id"], *_content(cell)) for cell in course}
    by_text = {_content(cell): cell["id"] for cell in course}
    found: list[str | None] = [None] * len(mine)
    for origin in (lambda cell: cell.get("id") if (cell.get("id"), *_content(cell)) in whole else None,
                   lambda cell: cell.get("id"),                   # edited
                   lambda cell: by_text.get(_content(cell))):     # its id got lost
        for k, cell in enumerate(mine):
            if found[k] is None and (name := origin(cell)) in ids - set(found):
                found[k] = name
    return found


def _content(cell: Cell) -> tuple[str, str]:
    return cell["cell_type"], text(cell)


def _stubs(new: list[Cell]) -> dict[str, int]:
    """The positions of the functions that are for the learner to write."""
    return {name: i for i, cell in enumerate(new) if "answer" in cell.get("metadata", {}).get("tags", ())
            for name in functions(cell)}


def named(cells: list[Cell]) -> list[Cell]:
    """Cells whose ids are there and differ; a missing one is made from the text, so that it is the same each time."""
    taken = {cell.get("id") for cell in cells}
    named, used = [], set()
    for cell in cells:
        name = cell.get("id")
        if not name or name in used:
            stem = hashlib.sha256(text(cell).encode("utf-8", "replace")).hexdigest()[:12]
            name = next(n for i in range(len(cells) + 1) if (n := f"{stem}-{i}") not in taken | used)
        used.add(name)
        named.append({**cell, "id": name})
    return named
