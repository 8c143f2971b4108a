"""The commands of whoever holds a class: release, grade, regrade, override, mistakes, new."""
from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.markup import escape
from rich.table import Table

from ..terminal import Pack, console, course_of, say

__all__ = ["COMMANDS", "Folder", "Settings"]

To = Annotated[Path, typer.Option("--to", help="the folder that the results go to")]
Seed = Annotated[
    Optional[Path],
    typer.Option(help="secret of the hidden inputs; made if absent [default: seed in the folder of the results]"),
]
Settings = Annotated[
    Optional[Path], typer.Option("--class", help="class.toml: units, points, dates, extensions, lateness")
]
Workers = Annotated[Optional[int], typer.Option(min=1, help="processes [default: one for each core]")]
Folder = Annotated[Path, typer.Argument(help="a folder made by `course grade`")]


def release(
    to: Annotated[Path, typer.Argument(metavar="DIR", help="a new folder")],
    units: Annotated[
        Optional[list[str]], typer.Option(help="01, 02a; may be repeated [default: those of class.toml, else all]")
    ] = None,
    settings: Settings = None,
    check: Annotated[
        bool, typer.Option("--check", help="only say which exercises are no longer as in that bundle")
    ] = False,
    pack: Pack = None,
) -> None:
    """Write the learner's bundle: notebooks, exercises, answers as data, the library; no solutions."""
    from dataclasses import replace

    from . import release as handing_out
    from .classfile import ClassFile

    if check:
        changed = handing_out.drift(to, course_of(pack))
        console.print(f"Changed since: {', '.join(changed)}" if changed else "Every exercise is as it was released.")
        raise typer.Exit(1 if changed else 0)
    chosen = ClassFile.read(settings) if settings else ClassFile()
    chosen = replace(chosen, units=tuple(u for text in units for u in text.split(","))) if units else chosen
    for path in handing_out.release(course_of(pack), to, chosen):
        say(path.relative_to(to).as_posix())


def grade(
    submissions: Annotated[Path, typer.Argument(help="a folder, a zip or a notebook, as any platform hands it out")],
    to: To,
    roster: Annotated[Optional[Path], typer.Option(help="CSV file: id,name")] = None,
    seed_file: Seed = None,
    settings: Settings = None,
    workers: Workers = None,
    scheduler: Annotated[str, typer.Option(help="dask scheduler, tcp://host:8786")] = "",
    resume: Annotated[bool, typer.Option("--resume", help="keep what is graded already")] = False,
    trusted: Annotated[bool, typer.Option("--trusted", help="run without a sandbox; marked on every page")] = False,
    pack: Pack = None,
) -> None:
    """Grade submissions in a sandbox: grades.csv and a log of every attempt, one row for each of them."""
    from .classfile import ClassFile
    from .grade import Grading
    from .report import write_pages

    chosen = ClassFile.read(settings) if settings else ClassFile()
    grading = Grading(
        course_of(pack), submissions, to, roster, seed_file, chosen, workers or _cores(), scheduler, trusted
    )
    counts = Counter(row.status for row in _with_progress(grading.run(resume), lambda: len(grading.heaps)))
    if trusted:
        console.print("[yellow]Graded without a sandbox: every submission could do what you can do on this machine.[/]")
    write_pages(to)
    _strays(to)
    _summary(counts, to)


def regrade(folder: Folder, exercise: Annotated[str, typer.Option(help="only this one: E1.1")] = "",
            student: Annotated[str, typer.Option(help="only this one: an id of grades.csv")] = "",
            submissions: Annotated[Optional[Path], typer.Option(help="[default: where they were graded from]")] = None,
            dry_run: Annotated[bool, typer.Option("--dry-run", help="only show old → new")] = False,
            never_lower: Annotated[bool, typer.Option("--never-lower", help="keep a mark that is higher")] = False,
            workers: Workers = None, pack: Pack = None) -> None:
    """Grade again, after an exercise was mended, and show what changes."""
    from .grade import Grading
    from .regrade import regrade as again
    from .report import write_pages

    grading = Grading.again(folder, course_of(pack) if pack else None, submissions, workers or _cores())
    table = Table("submission", "exercise", "old", "new", "")
    for change in (changes := list(again(grading, exercise, student, dry_run, never_lower))):
        table.add_row(
            escape(change.key), change.exercise, _number(change.old), _number(change.new), "kept" if change.kept else ""
        )
    console.print(table if changes else "Nothing changes.")
    _strays(folder)
    if not dry_run:
        write_pages(folder)
    elif changes:
        console.print("Nothing was written; leave --dry-run away to do it.")


def override(folder: Folder, student: Annotated[str, typer.Argument(help="an id of grades.csv")],
             exercise: Annotated[str, typer.Argument(help="E1.1")], points: float,
             reason: Annotated[str, typer.Argument(help="whoever reads the mark in a year will want it")]) -> None:
    """Set a mark by hand; it is added to overrides.csv and outlives every regrade."""
    from . import report, standings

    standings.override(folder, student, exercise, points, reason)
    report.write_pages(folder)
    say(f"{student} has {points:g} in {exercise} from now on.")


def mistakes(
    folder: Folder,
    cluster: Annotated[Optional[str], typer.Argument(help="the beginning of a cluster's name")] = None,
    title: Annotated[str, typer.Option("--say", help="the sentence that names the mistake")] = "",
    remedy: Annotated[str, typer.Option(help="how to see it and what to do about it")] = "",
) -> None:
    """List answers that are wrong by the same values, or give such a cluster its sentence."""
    from . import report, standings

    if cluster:
        named = standings.name_cluster(folder, cluster, title, remedy)
        report.write_pages(folder)
        say(f"{len(named.keys)} submissions now read: {named.title}")
        return
    table = Table("cluster", "exercise", "how many", "simplest input", "theirs", "expected", "sentence")
    if not (found := standings.clusters(folder)):
        say("Every wrong answer has its sentence already.")
        return
    for c in found:
        example = (
            (c.example.label, c.example.got or c.example.sentence, c.example.expected) if c.example else ("", "", "")
        )
        table.add_row(c.id, c.exercise, str(len(c.keys)), *(escape(report.printable(text[:200])) for text in example),
                      escape(c.title))
    console.print(table)
    say(f'To name one: course mistakes {folder} {found[0].id[:4]} --say "…" --remedy "…"')


def new(exercise: Annotated[str, typer.Argument(help="the name of the function that is to be written")],
        pack: Annotated[Path, typer.Option("--pack", help="the folder with your exercises; made if there is none")],
        unit: Annotated[str, typer.Option(help="NN_topic")] = "01_exercises",
        identity: Annotated[str, typer.Option("--id", help="E1.3 [default: the next one of the unit]")] = "") -> None:
    """Begin an exercise of your own: it builds at once, and its mutation test fails until you have filled it."""
    from .. import template

    for path in template.new(exercise, pack, unit, identity):
        say(f"written: {path}")
    say(
        f"Replace whatever says {template.MARK} in both files. Then: `course mutants --pack {pack}` tests it, "
        f"`course sync --pack {pack}` builds it."
    )


def _with_progress(rows, total):
    """The rows, with a bar and the time that is left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task = bar.add_task("preparing", total=None)
        for row in rows:
            bar.update(task, description="grading", total=total(), advance=1)
            yield row


def _summary(counts: Counter, to: Path) -> None:
    from .records import NOT_GRADED

    console.print(
        ", ".join(f"{number} {status}" for status, number in sorted(counts.items())) or "There was nothing to grade."
    )
    for what, name in (("Marks", "grades.csv"), ("The class", "class.html"), ("Each student's page", "feedback")):
        say(f"{what}: {to / name}")
    if counts[NOT_GRADED]:
        console.print("What is not graded has no number; the remarks say why. Run the same command with --resume.")
        raise typer.Exit(1)


def _strays(folder: Path) -> None:
    from .standings import strays

    for sentence in strays(folder):
        console.print(f"[yellow]{escape(sentence)}[/]", highlight=False)


def _number(points: float | None) -> str:
    return "not graded" if points is None else f"{points:g}"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


COMMANDS = (release, grade, regrade, override, mistakes, new)
