"""Where the commands write, and the pack that a command may be given."""
from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.console import Console

__all__ = ["Pack", "console", "course_of", "inside", "say"]

console = Console()

Pack = Annotated[
    Optional[Path], typer.Option("--pack", help="a folder with exercises of your own instead of the course")
]


def say(words: str) -> None:
    """Write words as they are: paths and names are no markup, are not broken into lines, and command no terminal."""
    words = "".join(sign if sign.isprintable() or sign in "\n\t" else "\ufffd" for sign in words)
    console.print(words, markup=False, highlight=False, soft_wrap=True)


def course_of(pack: Path | None):
    """The pack in a folder, or the course around the current one."""
    from .course import Course

    return Course.pack(pack) if pack else Course.here()


def inside(pack: Path | None) -> contextlib.AbstractContextManager:
    """A context in which a learner's command finds the pack as if it had been given in its folder.

    Raises
    ------
    FileNotFoundError
        If nothing is there to be worked on.
    """
    if pack is None:
        return contextlib.nullcontext()
    if not (pack / "exercises").is_dir():
        raise FileNotFoundError(f"a pack with exercises/ expected in {pack}, found none; its author makes that folder "
                                f"with `course sync --pack {pack}`")
    return contextlib.chdir(pack)
