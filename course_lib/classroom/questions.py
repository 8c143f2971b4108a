"""The quiz questions: one TOML file a unit in ``quizzes/``, and what is wrong with it, if anything.

.. code-block:: toml

    [[question]]
    id = "2.3"                # the unit, a point, the number
    text = "May use `code`, **bold** and $math$."

    [[question.choice]]
    key = "a"                 # a, b, c, … in this order; exactly one is right
    text = "…"
    right = false
    why = "shown when it is chosen"

A unit of two notebooks may have two files, ``02a.toml`` and ``02b.toml``, that share the ids 2.1, 2.2, …
"""
from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["Choice", "Question", "problems", "questions", "units"]

FOLDER = files(__package__) / "quizzes"
QUESTION = {"id": str, "text": str, "choice": list}
CHOICE = {"key": str, "text": str, "right": bool, "why": str}
TYPES = {str: "a text", bool: "true or false", list: "a list of tables"}


@dataclass(frozen=True)
class Choice:
    """One answer to choose, and why it is right or not."""

    key: str
    text: str
    right: bool
    why: str


@dataclass(frozen=True)
class Question:
    """A question and its choices, one of which is right."""

    id: str
    text: str
    choices: tuple[Choice, ...]


def units() -> list[str]:
    """The names of the files, sorted: ``["00", "01", "02a", …]``."""
    return sorted(file.name.removesuffix(".toml") for file in FOLDER.iterdir() if file.name.endswith(".toml"))


def questions(unit: int | str) -> tuple[Question, ...]:
    """The questions of a unit (2, "2", "02": all of it; "02a": one notebook's), in the order of the files.

    Raises
    ------
    ValueError
        If the unit has no quiz, or its file has a problem.
    """
    if found := problems(unit):
        raise ValueError("\n".join(found))
    return tuple(Question(q["id"], q["text"].strip(), tuple(Choice(**c) for c in q["choice"]))
                 for name in _files(unit) for q in _load(name)["question"])


def problems(unit: int | str) -> list[str]:
    """What is wrong with the questions of a unit, a sentence each; an empty list if nothing is."""
    names = _files(unit)
    if not names:
        return [f"there is no quiz of unit {unit!r}; there are {', '.join(units()) or 'none'}"]
    found, ids = [], Counter()
    for name in names:
        try:
            table = _load(name)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            found.append(f"{name}.toml is not TOML: {error}")
            continue
        found += [f"{name}.toml, {problem}" for problem in _file_problems(table, int(name[:2]))]
        ids.update(str(q.get("id")) for q in _tables(table.get("question")))
    return found + [f"{'.toml, '.join(names)}.toml: the id {i} stands {n} times" for i, n in ids.items() if n > 1]


def _files(unit: int | str) -> list[str]:
    parts = re.fullmatch(r"(\d+)([a-z]?)", str(unit))
    return [name for name in units() if parts and name.startswith(f"{int(parts[1]):02d}{parts[2]}")]


def _load(name: str) -> dict:
    return tomllib.loads((FOLDER / f"{name}.toml").read_bytes().decode("utf-8"))


def _tables(value) -> list[dict]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _file_problems(table: dict, unit: int) -> Iterator[str]:
    if set(table) != {"question"} or not _tables(table["question"]):
        yield f"top level: expected [[question]] tables and nothing else, got {', '.join(table) or 'nothing'}"
    for number, question in enumerate(_tables(table.get("question")), 1):
        where = f"question {question.get('id', f'number {number}')}"
        for problem in _question_problems(question, unit):
            yield f"{where}: {problem}"


def _question_problems(question: dict, unit: int) -> Iterator[str]:
    yield from _field_problems(question, QUESTION)
    if not re.fullmatch(rf"{unit}\.[1-9]\d*", str(question.get("id"))):
        yield f"expected an id such as {unit}.1"
    choices = _tables(question.get("choice"))
    keys = "".join(str(choice.get("key")) for choice in choices)
    if len(choices) < 2 or keys != "abcdefghij"[:len(choices)]:
        yield f"expected two to ten choices with the keys a, b, c, … in this order, got {keys or 'none'}"
    if (right := sum(choice.get("right") is True for choice in choices)) != 1:
        yield f"expected exactly one right choice, got {right}"
    for choice in choices:
        for problem in _field_problems(choice, CHOICE):
            yield f"choice {choice.get('key')}: {problem}"


def _field_problems(table: dict, fields: dict[str, type]) -> Iterator[str]:
    for name, kind in fields.items():
        if not isinstance(table.get(name), kind) or table[name] == "":
            yield f"expected {name} to be {TYPES[kind]}, got {table.get(name, 'nothing')!r}"
        elif kind is str and table[name].count("$") % 2:
            yield f"{name} has a $ without its partner"
    if extra := sorted(set(table) - set(fields)):
        yield f"expected only {', '.join(fields)}, got also {', '.join(extra)}"
