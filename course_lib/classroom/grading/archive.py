"""The files of a folder or a zip, listed without following or unpacking anything; each is read only when asked for."""
from __future__ import annotations

import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

__all__ = [
    "ARCHIVE_BYTES",
    "ARCHIVE_FILES",
    "FILE_BYTES",
    "Entry",
    "Refused",
    "megabytes",
    "of_file",
    "of_folder",
    "of_zip",
]

FILE_BYTES = 64 << 20          # one file; a notebook with all its pictures seldom has a tenth of it
ARCHIVE_BYTES = 256 << 20      # everything in one student's zip, unpacked
ARCHIVE_FILES = 2_000
LONGEST_NAME = 1_000           # characters; a path of thousands of folders takes their square to look at


class Refused(ValueError):
    """A file or an archive that is not read; the message says why."""


@dataclass(frozen=True)
class Entry:
    """A file, or an empty folder (its name then ends in a slash)."""

    name: str                               # relative, with slashes, without ".."
    read: Callable[[], bytes]
    size: int = 0
    fault: str = ""                         # why it must not be read: a link, encrypted, a name that leads outside


def of_folder(root: Path) -> Iterator[Entry]:
    """The files below a folder, in the order of their names; links are named and not followed."""
    for place, folders, files in os.walk(root, followlinks=False):
        here = Path(place)
        folders.sort()
        if not folders and not files and here != root:
            yield Entry(_written(here.relative_to(root)) + "/", bytes)
        links = [name for name in folders if (here / name).is_symlink()]
        for name in sorted([*files, *links]):
            yield _on_disk(here / name, _written((here / name).relative_to(root)))


def of_file(path: Path) -> Iterator[Entry]:
    """A single file."""
    yield _on_disk(path, _written(path.name))


def of_zip(source: Path | IO[bytes]) -> Iterator[Entry]:
    """The files of a zip archive.

    Raises
    ------
    Refused
        If it is no zip archive.
    """
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise Refused(f"it is not a zip archive that can be opened ({error})") from None
    filled = _above(i.filename for i in archive.infolist() if len(i.filename) <= LONGEST_NAME)
    for info in archive.infolist():
        name, fault = _safe(_decoded(info))
        if info.filename.endswith("/") and not fault:       # is_dir() fails on an empty name
            if info.filename.rstrip("/") not in filled:
                yield Entry(name + "/", bytes)
            continue
        fault = fault or _zip_fault(info)
        read = partial(_refuse, fault) if fault else partial(_unzipped, archive, info)
        yield Entry(name, read, info.file_size, fault)


def megabytes(size: int) -> str:
    return f"{size / (1 << 20):,.0f} MB"


def _above(names: Iterable[str]) -> set[str]:
    """Every folder that has something in it."""
    found: set[str] = set()
    for name in names:
        folder = name.rstrip("/").rpartition("/")[0]
        while folder and folder not in found:
            found.add(folder)
            folder = folder.rpartition("/")[0]
    return found


def _on_disk(path: Path, name: str) -> Entry:
    try:
        status = path.lstat()
    except OSError as error:
        return Entry(name, partial(_refuse, str(error)), 0, f"it cannot be read ({error.strerror})")
    fault = ""
    if stat.S_ISLNK(status.st_mode):
        fault = "it is a symbolic link, which is not followed"
    elif not stat.S_ISREG(status.st_mode):
        fault = "it is not a regular file"
    return Entry(name, partial(_refuse, fault) if fault else partial(_from_disk, path), status.st_size, fault)


def _from_disk(path: Path) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with open(descriptor, "rb") as stream:
            return _bounded(stream, os.fstat(descriptor).st_size)
    except OSError as error:
        raise Refused(f"it cannot be read ({error.strerror})") from None


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(info) as stream:
            return _bounded(stream, info.file_size)
    except Refused:
        raise
    except Exception as error:  # zlib, lzma, CRC, truncation: whatever a broken archive makes of the decoders
        raise Refused(f"it cannot be unpacked ({error})") from None


def _bounded(stream: IO[bytes], size: int) -> bytes:
    if size > FILE_BYTES:
        raise Refused(f"it is too large: {megabytes(size)}, where at most {megabytes(FILE_BYTES)} are read")
    return stream.read(FILE_BYTES)


def _zip_fault(info: zipfile.ZipInfo) -> str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return "it is a symbolic link, which is not followed"
    return "it is encrypted" if info.flag_bits & 0x1 else ""


def _refuse(fault: str) -> bytes:
    raise Refused(fault)


def _decoded(info: zipfile.ZipInfo) -> str:
    """The name; some programs write UTF-8 without saying so, which then reads as code page 437."""
    if info.flag_bits & 0x800:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _safe(name: str) -> tuple[str, str]:
    """A name that stays inside, and what was wrong with the given one."""
    if len(name) > LONGEST_NAME:
        return _written(name[:60]) + "…", f"its name has {len(name):,} characters"
    name = _written(name.replace("\\", "/"))
    parts = [part for part in PurePosixPath(name).parts if part not in ("/", "..")]
    outside = name.startswith("/") or ".." in PurePosixPath(name).parts or re.match("[A-Za-z]:", name)
    return "/".join(parts) or "nameless", f"its name {name!r} leads out of the archive" if outside else ""


def _written(name: Path | str) -> str:
    """A name as clean text: what is no UTF-8 on disk, or no character at all, becomes a question mark."""
    text = name if isinstance(name, str) else name.as_posix()
    return text.encode("utf-8", "replace").decode("utf-8")
