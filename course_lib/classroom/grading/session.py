"""What a sandbox is asked, what it answers, and what a submission may use: plain records."""
from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .channel import pack

__all__ = ["Call", "CellNote", "Limits", "Reply", "Session"]


@dataclass(frozen=True)
class Limits:
    """What a submission may use. Times are of the clock on the wall: generous, for machines that are busy."""

    cell_seconds: float = 20.0
    call_seconds: float = 10.0           # for one question: the function runs twice, or three times
    notebook_seconds: float = 120.0      # one submission in all; its cells have half of it
    memory_bytes: int = 2 << 30          # of address space; numpy, scipy and matplotlib take 0.35 GB of it
    processes: int = 32                  # threads; a second process is never allowed
    file_bytes: int = 16 << 20           # the largest file
    scratch_bytes: int = 64 << 20        # all files together, in memory
    output_bytes: int = 10_000           # characters that are kept of what a call prints
    reply_bytes: int = 4 << 20           # arrays of one answer


@dataclass(frozen=True)
class Call:
    """One question: a function of the notebook and its arguments, plain data and seeds."""

    function: str
    args: tuple
    ready: tuple[str, ...] = ()          # ready-made solutions to be told: "scipy.special.expit"

    @cached_property
    def message(self) -> bytes:
        """Its bytes, which are the same for every submission; raises as `pack`."""
        return pack({"function": self.function, "args": self.args, "ready": self.ready})


@dataclass(frozen=True)
class Reply:
    """What came of one question."""

    status: str                          # returned, raised, timed out, crashed, missing, not plain, not graded
    value: Any = None
    error: str = ""
    changed: tuple[int, ...] = ()        # positions of arguments that the function altered
    stirred: bool = False                # it touched the global random generators
    again: bool = True                   # called once more, it gave the same
    printed: str = ""
    delegated: str | None = None         # the ready-made solution that it called


@dataclass(frozen=True)
class CellNote:
    """What came of one code cell."""

    number: int
    status: str                          # ran, raised, timed out, crashed, not run
    error: str = ""


@dataclass(frozen=True)
class Session:
    """Everything that came of one submission: a note for each cell, a reply for each call."""

    notes: tuple[CellNote, ...]
    replies: tuple[Reply, ...]
