"""The sources of a notebook's cells, whatever its format and whichever program wrote it; all else is left behind."""
from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from .archive import Refused

__all__ = ["Notebook", "defining", "parse"]

MOST_PARTS = 5_000_000         # each may take a hundred bytes of memory
MOST_CELLS = 10_000


@dataclass(frozen=True)
class Notebook:
    """What counts of a notebook: the sources of its cells."""

    name: str
    code: tuple[str, ...]
    text: tuple[str, ...] = ()


def parse(name: str, raw: bytes) -> Notebook:
    """The cells of a notebook; stored outputs, widgets' states and all other metadata are not kept.

    Raises
    ------
    Refused
        If it is no notebook; the message says where it breaks.
    """
    if not raw.strip(b"\0 \t\r\n"):
        raise Refused("empty file")
    if sum(map(raw.count, (b"{", b"[", b","))) > MOST_PARTS:
        raise Refused(f"its JSON has more than {MOST_PARTS:,} parts: clear the outputs and hand it in again")
    cells = _cells(_tree(_text(raw)))
    if len(cells) > MOST_CELLS:
        raise Refused(f"it has {len(cells):,} cells, where at most {MOST_CELLS:,} are read")
    code = tuple(_source(cell) for cell in cells if cell.get("cell_type") == "code")
    return Notebook(name, code, tuple(_source(cell) for cell in cells if cell.get("cell_type") != "code"))


def defining(cells: Sequence[str], name: str) -> list[int]:
    """The positions of the cells that seem to define a function."""
    return [i for i, source in enumerate(cells) if name in source and _definition(name).search(source)]


@cache
def _definition(name: str) -> re.Pattern:
    """Its time grows with the length of a line only: the first `import` of a line is not given back."""
    return re.compile(
        rf"^[ \t]*(?:(?:async[ \t]+)?def[ \t]+{name}[ \t]*\(|{name}[ \t]*=|from\b(?>.*?\bimport\b).*\b{name}\b)",
        re.MULTILINE,
    )


def _text(raw: bytes) -> str:
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    return raw.decode("utf-16" if wide else "utf-8-sig", "replace")


def _tree(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        merge = " (it holds the marks of an unfinished git merge)" if "<<<<<<<" in text else ""
        raise Refused(f"invalid JSON at line {error.lineno}, column {error.colno}: {error.msg}{merge}") from None
    except (ValueError, RecursionError) as error:
        raise Refused(f"invalid JSON: {error}") from None


def _cells(tree: Any) -> list[dict]:
    """Of format 4, or of the formats 2 and 3, where cells stand in worksheets."""
    tree = tree if isinstance(tree, dict) else {}
    cells = tree.get("cells")
    if cells is None and isinstance(sheets := tree.get("worksheets"), list):
        lists = [sheet.get("cells") for sheet in sheets if isinstance(sheet, dict)]
        cells = [cell for found in lists if isinstance(found, list) for cell in found]
    if not isinstance(cells, list):
        raise Refused("it is JSON but not a notebook: it has no list of cells")
    return [cell for cell in cells if isinstance(cell, dict)]


def _source(cell: dict) -> str:
    """As one text with plain line ends that can be written as UTF-8."""
    source = cell.get("source", cell.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    return text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-8", "replace").decode()
