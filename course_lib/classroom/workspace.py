"""The learner's own folder ``work/``: made beside the course, filled once, brought up to date without loss."""
from __future__ import annotations

from pathlib import Path

__all__ = ["BASE", "course_root", "enclosing_root", "enclosing_work"]

BASE = ".base"  # in work/: the pristine copies that the learner's files were made from; it also marks the folder


def course_root(start: Path | None = None) -> Path:
    """The folder that holds ``notebooks/`` and ``exercises/``: around `start`, else beside an editable install.

    Parameters
    ----------
    start : Path, optional
        Where to look first; the current folder if None.

    Returns
    -------
    Path

    Raises
    ------
    FileNotFoundError
        If neither place holds the course; the message says where to run the command.
    """
    here = Path(start or Path.cwd()).absolute()
    root = enclosing_root(here) or enclosing_root(Path(__file__).resolve().parents[2])
    if root is None:
        raise FileNotFoundError(
            f"expected the course's folders notebooks/ and exercises/ in {here} or in a folder above it, found neither;"
            " change to the folder into which you unpacked the course and run the command again")
    return root


def enclosing_root(here: Path) -> Path | None:
    """The nearest folder from `here` upwards that holds the course; ``work/`` has the same shape but is not it."""
    return next((f for f in (here, *here.parents)
                 if (f / "notebooks").is_dir() and (f / "exercises").is_dir() and not (f / BASE).is_dir()), None)


def enclosing_work(here: Path) -> Path | None:
    """The nearest folder from `here` upwards that is called ``work`` and was made by `prepare`."""
    return next((f for f in (here, *here.parents) if f.name == "work" and (f / BASE).is_dir()), None)
