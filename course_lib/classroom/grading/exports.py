"""``course feedback`` and ``course export``: pages and marks on their way back to a platform."""
from __future__ import annotations

from pathlib import Path
from typing import Annotated, Optional

import typer

from ..terminal import Pack, course_of, say
from .lecturer import Folder, Settings

__all__ = ["EXPORT", "FEEDBACK"]

Beside = Annotated[Optional[Path], typer.Option("--to", help="the file to write [default: one in the folder]")]
FEEDBACK = typer.Typer(no_args_is_help=True, help="Pages for each student and for the class.")
EXPORT = typer.Typer(no_args_is_help=True, help="Marks and assignments for Canvas, Moodle, Gradescope and nbgrader.")


@FEEDBACK.command()
def pages(folder: Folder) -> None:
    """Write class.html and a page for each student."""
    from .report import CLASS_PAGE, PAGES, write_pages

    write_pages(folder)
    say(f"The class: {folder / CLASS_PAGE}. Each student: {folder / PAGES}")


@FEEDBACK.command()
def pack(folder: Folder,
         canvas: Annotated[bool, typer.Option("--canvas", help="for its Upload submissions")] = False,
         moodle: Annotated[bool, typer.Option("--moodle", help="for its Upload multiple feedback files")] = False,
         to: Beside = None) -> None:
    """Pack the pages into the zip that a platform takes."""
    from .interchange import feedback_zip

    if canvas == moodle:
        raise typer.BadParameter("one of --canvas and --moodle expected")
    platform = "canvas" if canvas else "moodle"
    path = to or folder / f"feedback-{platform}.zip"
    say(f"{feedback_zip(folder, platform, path)} pages: {path}")


@EXPORT.command()
def canvas(folder: Folder,
           assignment: Annotated[str, typer.Option(help="its title there, best with its number: Sheet 2 (4711)")],
           to: Beside = None) -> None:
    """Marks for Canvas: Grades, Import."""
    from . import interchange

    say(f"written: {interchange.write_csv(to or folder / 'canvas.csv', interchange.canvas(folder, assignment))}")


@EXPORT.command()
def moodle(folder: Folder, to: Beside = None) -> None:
    """Marks for Moodle: the assignment, Upload grading worksheet."""
    from . import interchange

    lines = list(interchange.moodle(folder))
    say(f"written: {interchange.write_csv(to or folder / 'moodle.csv', iter(lines))}")
    if len(lines) == 1:
        say("It holds no mark: no submission has a name as Moodle gives it.")


@EXPORT.command()
def gradescope(folder: Folder,
               to: Annotated[Path, typer.Option("--to", help="a folder; a results.json for each submission")]) -> None:
    """results.json of each submission; what is not graded gets none."""
    import json

    from .gradescope import results
    from .standings import read_run, standings

    run, written = read_run(folder), 0
    for standing in standings(folder):
        if standing.total is not None:
            path = to / standing.row.key / "results.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(results(standing, run), indent=1) + "\n", encoding="utf-8")
            written += 1
    say(f"{written} results: {to}")


@EXPORT.command()
def autograder(to: Annotated[Path, typer.Argument(help="the zip to upload to Gradescope")],
               seed_file: Annotated[Path, typer.Option(help="secret of the hidden inputs; made if absent")],
               settings: Settings = None, pack: Pack = None) -> None:
    """An autograder for Gradescope; in its container submissions run as trusted, without the sandbox."""
    from .classfile import ClassFile
    from .gradescope import autograder as write_zip
    from .keys import secret_of

    write_zip(to, course_of(pack), secret_of(seed_file), ClassFile.read(settings) if settings else ClassFile())
    say(f"written: {to}. It holds the solutions: hand it to Gradescope only.")


@EXPORT.command()
def nbgrader(to: Annotated[Path, typer.Argument(help="nbgrader's folder source/; each unit is an assignment")],
             settings: Settings = None, pack: Pack = None) -> None:
    """Exercise notebooks that nbgrader reads: answer cells, and locked cells that end in the points."""
    from .classfile import ClassFile
    from .nbgrader import write_sources

    for path in write_sources(course_of(pack), to, ClassFile.read(settings) if settings else ClassFile()):
        say(f"written: {path}")
