"""From whatever was handed in to code cells: one `Package` for each submission, whatever is wrong with it.

`collect` only lists; each package is read when its turn comes, so that a class of any size takes little memory.
"""
from __future__ import annotations

import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .archive import (ARCHIVE_BYTES, ARCHIVE_FILES, FILE_BYTES, Entry, Refused, megabytes, of_file, of_folder,
                      of_zip)
from .cells import Notebook, parse
from .layouts import CHECKPOINT, Pile, piles
from .records import NOTHING, UNREADABLE, Student
from .roster import Roster, slug

__all__ = ["Heap", "Package", "Submission", "collect", "read"]

EXTRA_BYTES, EXTRAS_BYTES = 2 << 20, 16 << 20       # of one file beside the notebook, and of all of them
EXTRAS = 1_000                                      # their number
FAULTS, FAULT_CHARACTERS = 10, 300                  # sentences about files, and the length of one
LISTED = b"PK\x01\x02"                              # begins each file's entry in the list of a zip
OFF_ROSTER = ("This student is not on the roster.",)
IGNORED = re.compile(r"(^|/)(\.|__MACOSX|__pycache__)|(^|/)(Thumbs\.db|desktop\.ini)$")


@dataclass(frozen=True)
class Package:
    """The files of one submission, as bytes: what is sent to a worker."""

    key: str
    student: Student
    files: tuple[tuple[str, bytes], ...] = ()
    faults: tuple[str, ...] = ()                    # files that were refused, a sentence each
    notes: tuple[str, ...] = ()
    submitted: str = ""
    late: bool = False
    failure: str = ""                               # why we could not read it

    @property
    def digest(self) -> str:
        """Of everything that its row depends on."""
        told = hashlib.sha256(repr((self.student, self.faults, self.notes, self.submitted, self.late)).encode())
        for name, content in self.files:
            told.update(repr((name, len(content))).encode("utf-8", "replace"))
            told.update(content)
        return told.hexdigest()


@dataclass(frozen=True)
class Heap:
    """A submission that is listed and not read."""

    key: str
    student: Student
    entries: tuple[tuple[str, Entry], ...] = ()
    notes: tuple[str, ...] = ()
    submitted: str = ""
    late: bool = False

    def package(self) -> Package:
        """Read it; a file that cannot be read or is refused becomes a sentence, and so does a failure of ours."""
        faults: list[str] = []
        try:
            read = list(_contents(self.entries, faults))
        except Exception as error:
            failure = f"the files could not be read: {type(error).__name__}: {error}"
            return Package(self.key, self.student, failure=failure)
        times = Counter(name for name, _ in read)
        faults += [f"{name}: handed in {n} times; the last one counts" for name, n in times.items() if n > 1]
        files = tuple(sorted(dict(read).items()))
        return Package(self.key, self.student, files, _short(faults), self.notes, self.submitted, self.late)


@dataclass(frozen=True)
class Submission:
    """A package as far as it can be read; where there is no notebook in it, `status` and `reason` say why."""

    notebooks: tuple[Notebook, ...] = ()
    files: tuple[tuple[str, bytes], ...] = ()
    notes: tuple[str, ...] = ()
    status: str = ""
    reason: str = ""


def collect(path: Path, roster: Roster | None = None) -> list[Heap]:
    """Every submission in a folder, a zip or a single notebook, and every student of the roster, in the order of keys.

    Raises
    ------
    FileNotFoundError
        If there is nothing of that name.
    ValueError
        If the zip cannot be opened.
    """
    merged = {student: Pile(student) for student in (roster.students if roster else ())}
    found = piles(_listed(path), path.suffix.lower() == ".zip")
    owners, notes = _owners([pile.student for pile in found], roster or Roster())
    for pile in found:
        student = owners[pile.student]
        whole = merged.setdefault(student, Pile(student))
        whole.entries += [(name, entry) for name, entry in pile.entries if not IGNORED.search(name)]
        whole.late |= pile.late
        whole.submitted = max(whole.submitted, pile.submitted)
    heaps, taken = [], set()
    for pile in sorted(merged.values(), key=lambda p: (p.student.id, p.student.name)):
        told = notes.get(pile.student) or (OFF_ROSTER if roster and pile.student not in roster.students else ())
        heaps.append(Heap(_unique(slug(pile.student.id), taken), pile.student, tuple(pile.entries), told,
                          pile.submitted, pile.late))
    return sorted(heaps, key=lambda heap: heap.key)


def _owners(people: list[Student], roster: Roster) -> tuple[dict[Student, Student], dict[Student, tuple[str, ...]]]:
    """Who each of them is on the roster, and what to say where that is in doubt.

    An id decides. A name, which its bearer can often change, counts only as long as nobody else goes by it.
    """
    owners = {person: roster.find(person) or person for person in people}
    claims: dict[Student, list[Student]] = {}
    for person, owner in owners.items():
        if owner != person:
            claims.setdefault(owner, []).append(person)
    notes = {}
    for owner, several in claims.items():
        by_name = [person for person in several if not roster.knows(person.id)]
        if len(several) > 1 and by_name:
            owners |= {person: person for person in by_name}
            names = ", ".join(person.id for person in several)
            notes |= {person: (f"Several submissions are named like {owner.id} of the roster ({names}); a name alone "
                               "does not say whose this is. Ids of the platform in the roster would.",)
                      for person in (*by_name, *([owner] if by_name == several else []))}
    return owners, notes


def read(package: Package) -> Submission:
    """The notebooks of a package, and its small files."""
    good, faults = [], list(package.faults)
    for name, content in package.files:
        if _is_notebook(name):
            try:
                good.append(parse(name, content))
            except Refused as error:
                faults.append(f"{name}: {error}")
    extras = tuple((name, content) for name, content in package.files if not _is_notebook(name))
    if good:
        return Submission(tuple(good), extras, (*package.notes, *faults))
    if faults:
        return Submission(notes=package.notes, status=UNREADABLE, reason="; ".join(faults))
    if extras:
        listed = ", ".join(name for name, _ in extras[:5])
        return Submission(
            notes=package.notes, status=UNREADABLE, reason=f"there is no notebook (.ipynb) in it, only {listed}"
        )
    return Submission(notes=package.notes, status=NOTHING, reason="nothing was handed in")


def _listed(path: Path) -> Iterator[Entry]:
    if not path.exists():
        raise FileNotFoundError(f"a folder, a zip or a notebook with submissions expected, found nothing at {path}")
    if path.is_dir():
        return of_folder(path)
    if path.suffix.lower() != ".zip":
        return of_file(path)
    try:
        return iter(list(of_zip(path)))
    except Refused as error:
        raise ValueError(f"{path.name}: {error}; download it once more") from None


def _contents(entries: tuple[tuple[str, Entry], ...], faults: list[str]) -> Iterator[tuple[str, bytes]]:
    """Notebooks and small files; what is refused is added to `faults`."""
    opened = [pair for name, entry in entries for pair in _opened(name, entry, faults)]
    several = sum(_is_notebook(name) for name, _ in opened) > 1
    room = {True: Room("notebook", FILE_BYTES, ARCHIVE_BYTES, ARCHIVE_FILES),
            False: Room("file beside the notebook", EXTRA_BYTES, EXTRAS_BYTES, EXTRAS)}
    for name, entry in opened:
        if name.endswith("/") or (several and CHECKPOINT.search(name)):
            continue
        try:
            yield name, room[_is_notebook(name)].read(entry)
        except Refused as error:
            faults.append(f"{name}: {error}")


@dataclass
class Room:
    """What may still be read of one kind of files."""

    kind: str
    most: int                                       # bytes of one
    left: int                                       # bytes of all
    number: int

    def read(self, entry: Entry) -> bytes:
        if not entry.fault and entry.size <= FILE_BYTES and entry.size > min(self.most, self.left):
            raise Refused(f"it is left out: {entry.size:,} bytes are too many for a {self.kind}")
        if not self.number:
            raise Refused(f"it is left out: there are too many files like this {self.kind}")
        content = entry.read()
        self.left -= len(content)
        self.number -= 1
        return content


def _opened(name: str, entry: Entry, faults: list[str]) -> list[tuple[str, Entry]]:
    """A file itself, or the files in a student's zip."""
    if not name.lower().endswith(".zip"):
        return [(name, entry)]
    try:
        raw = entry.read()
        if (number := raw.count(LISTED)) > 2 * ARCHIVE_FILES:             # before they take memory
            raise Refused(f"the archive is refused: {number:,} files, where at most {ARCHIVE_FILES:,} are read")
        inner = [e for e in of_zip(io.BytesIO(raw)) if not IGNORED.search(e.name)]
        _acceptable(inner)
    except Refused as error:
        faults.append(f"{name}: {error}")
        return []
    return [(e.name, e) for e in inner]


def _acceptable(inner: list[Entry]) -> None:
    """Refuse the whole of an archive that was made to harm."""
    size = sum(e.size for e in inner)
    if len(inner) > ARCHIVE_FILES or size > ARCHIVE_BYTES:
        raise Refused(f"the archive is refused: {len(inner):,} files and {megabytes(size)} unpacked, where at most "
                      f"{ARCHIVE_FILES:,} and {megabytes(ARCHIVE_BYTES)} are read")
    if bad := next((e for e in inner if e.fault), None):
        raise Refused(f"the archive is refused for the file {bad.name}: {bad.fault}")


def _is_notebook(name: str) -> bool:
    return name.lower().endswith(".ipynb")


def _short(faults: list[str]) -> tuple[str, ...]:
    """As many sentences as somebody reads."""
    told = [fault if len(fault) <= FAULT_CHARACTERS else fault[:FAULT_CHARACTERS] + "…" for fault in faults[:FAULTS]]
    return (*told, *([f"And {len(faults) - FAULTS:,} more files were left out."] if len(faults) > FAULTS else []))


def _unique(key: str, taken: set[str]) -> str:
    """The key, numbered if another one looks the same on a file system that does not tell a from A."""
    name = next(n for i in range(1, 1_000_000) if (n := key if i == 1 else f"{key}-{i}").casefold() not in taken)
    taken.add(name.casefold())
    return name
