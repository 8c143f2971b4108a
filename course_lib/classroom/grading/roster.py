"""Who is in the class, and which of them a platform's name for somebody means."""
from __future__ import annotations

import csv
import io
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path

from .records import Student

__all__ = ["Roster", "separator", "slug", "spellings", "spreadsheet"]


class Roster:
    """The students of a class; in a CSV file, ``id,name`` on each line, further columns ignored."""

    def __init__(self, students: Iterable[Student] = ()):
        self.students = tuple(students)
        self._by_id = {student.id.casefold(): student for student in self.students}
        self._by_name: dict[str, set[Student]] = {}
        for student in self.students:
            for spelling in spellings(student.name):
                self._by_name.setdefault(spelling, set()).add(student)

    @classmethod
    def read(cls, path: Path) -> "Roster":
        """The roster in a file.

        Raises
        ------
        ValueError
            If it has no column named id, or an id twice.
        """
        rows = [{str(key).strip().lower(): str(value or "").strip() for key, value in line.items()}
                for line in spreadsheet(path)]
        if not rows or "id" not in rows[0]:
            raise ValueError(f"{path.name}: a first line with the columns id,name and a line for each student expected")
        ids = [row["id"].casefold() for row in rows if row["id"]]
        if twice := sorted({i for i in ids if ids.count(i) > 1}):
            raise ValueError(
                f"{path.name}: each id once expected, got several times: {', '.join(twice)}; keep one line of each"
            )
        return cls(Student(row["id"], row.get("name", "")) for row in rows if row["id"])

    def knows(self, identity: str) -> bool:
        """Is it an id of the roster?"""
        return identity.casefold() in self._by_id

    def find(self, student: Student) -> Student | None:
        """The student with this id, or else the only one with this name, its words in any rotation."""
        if found := self._by_id.get(student.id.casefold()):
            return found
        for spelling in (*spellings(student.name), *spellings(student.id)):
            if len(namesakes := self._by_name.get(spelling, ())) == 1:
                return next(iter(namesakes))
        return None


def spreadsheet(path: Path) -> list[dict[str, str]]:
    """The lines of a table as any spreadsheet saves it: UTF-8 or what Windows writes, with any of its separators."""
    raw = path.read_bytes()
    try:
        text = raw.decode("utf-16" if raw.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("cp1252", "replace")
    return list(csv.DictReader(io.StringIO(text, newline=""), delimiter=separator(text)))


def separator(text: str) -> str:
    """Comma, semicolon or tab: which of them the first line has most of."""
    return max(",;\t", key=text.partition("\n")[0].count)


def spellings(name: str) -> list[str]:
    """A name as platforms squeeze it: without accents and spaces, in every rotation ("adalovelace", "lovelaceada")."""
    bare = unicodedata.normalize("NFKD", name).casefold()
    words = re.findall(r"[^\W_]+", "".join(c for c in bare if not unicodedata.combining(c)))
    return list(dict.fromkeys("".join(words[i:] + words[:i]) for i in range(len(words))))


def slug(text: str) -> str:
    """A name that any file system takes: at most 80 characters, and 200 bytes."""
    short = re.sub(r"[^\w.-]+", "_", unicodedata.normalize("NFC", text))[:80]
    return short.encode()[:200].decode(errors="ignore").strip("._") or "student"
