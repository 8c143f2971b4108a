"""Notebook files as plain JSON (nbformat 4): read without changing a thing, written whole or not at all."""
from __future__ import annotations

import json
import os
from pathlib import Path

from .merge import named, text

__all__ = ["parse", "stripped", "to_bytes", "write"]


def parse(content: bytes) -> dict | None:
    """The notebook in a file's bytes, or None if there is none (or one of another format than 4)."""
    try:
        notebook = json.loads(content)
        known = notebook["nbformat"] == 4 and isinstance(notebook.get("metadata", {}), dict)
        return notebook if known and all(map(_is_cell, notebook["cells"])) else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None


def stripped(notebook: dict) -> dict:
    """A notebook as it is handed out: without outputs, counts and widgets' state; every cell has an id."""
    metadata = {key: value for key, value in notebook.get("metadata", {}).items() if key != "widgets"}
    cells = [{**cell, "outputs": [], "execution_count": None} if cell["cell_type"] == "code" else cell
             for cell in notebook["cells"]]
    return {**notebook, "metadata": metadata, "cells": named(cells), "nbformat_minor": 5}


def to_bytes(notebook: dict) -> bytes:
    """The file of a notebook; the same cells give the same bytes."""
    return (json.dumps(notebook, indent=1, sort_keys=True) + "\n").encode("ascii")


def write(path: Path, content: bytes) -> None:
    """Write a file aside, then rename it into its place: whenever this is killed, the old or the new one is there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(aside, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)


def _is_cell(cell: dict) -> bool:
    text(cell)
    return (isinstance(cell["cell_type"], str) and isinstance(cell.get("metadata", {}), dict)
            and isinstance(cell.get("id", ""), str))
