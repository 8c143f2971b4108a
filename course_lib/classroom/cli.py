"""The command ``course``: for learners, for authors and, in `lecturer`, for whoever holds a class."""
from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import Annotated, Optional

import typer
from rich.markup import escape
from rich.table import Table

from .grading import exports, lecturer
from .terminal import Pack, console, course_of, inside

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_show_locals=False,
                  help="Bayesian classification, from scratch: work through it, check your answers, keep it in order.")
LEARN, MAKE, TEACH = "For learners", "For authors", "For lecturers"


def main() -> None:
    """Run the command; what a person can mend is said in one sentence, without a traceback."""
    for stream in (sys.stdout, sys.stderr):           # a Windows console may not know every sign
        stream.reconfigure(errors="replace")
    try:
        app()
    except (ValueError, OSError) as error:
        console.print(f"[bold red]course:[/] {escape(str(error))}")
        sys.exit(1)


@app.command(rich_help_panel=LEARN, context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def lab(context: typer.Context, pack: Pack = None) -> None:
    """Open the course in JupyterLab, in your folder work/; further arguments go to JupyterLab (--no-browser …)."""
    from . import workspace

    with inside(pack):
        raise typer.Exit(workspace.lab(workspace.course_root(), context.args))


@app.command(rich_help_panel=LEARN)
def check(what: Annotated[Optional[str], typer.Argument(help="an exercise (E1.1, or a function's name) or a notebook")] = None,
          watch: Annotated[bool, typer.Option("--watch", help="check again whenever a file is saved")] = False,
          pack: Pack = None) -> None:
    """Check your answers in work/ without JupyterLab."""
    from . import desk

    if what and what.endswith(".ipynb"):
        what = str(Path(what).absolute())
    with inside(pack):
        if watch:
            _watch([what] if what else [])
        results = desk.check_files(what)
    for verdict in results:
        console.print(escape(verdict.card.text()), end="\n\n", highlight=False)
    right = sum(v.status == "right" for v in results)
    console.print(f"{right} of {len(results)} right")
    raise typer.Exit(0 if right == len(results) else 1)


@app.command(rich_help_panel=LEARN)
def hint(exercise: Annotated[str, typer.Argument(help="E1.1 or a function's name")],
         step: Annotated[Optional[int], typer.Argument(help="1, 2 or 3; by default the next one")] = None,
         pack: Pack = None) -> None:
    """Show the next hint of an exercise."""
    from .help import hint_card

    with inside(pack):
        console.print(escape(hint_card(exercise, step).text()), highlight=False)


@app.command(rich_help_panel=LEARN)
def status(pack: Pack = None) -> None:
    """Show where you are and what is next."""
    from . import progress
    from .answers import everything

    with inside(pack):
        known = {answer.id: answer for answer in everything().values()
                 if not pack or Path("answers", f"{answer.topic}.npz").exists()}
        summary = progress.summary(known)
    table = Table("exercise", "function", "title", "state", "tries", "last mistake")
    for standing in summary.standings:
        answer = known[standing.exercise]
        table.add_row(answer.id, answer.name, answer.title, standing.state, str(standing.tries or ""), standing.mistake or "")
    console.print(table)
    if summary.last:
        subject = summary.last.get("exercise") or summary.last.get("question") or summary.last.get("id") or ""
        console.print(f"Last: {summary.last['event']} {subject}, {progress.ago(summary.last)}.")
    if summary.next:
        answer = known[summary.next]
        console.print(f"Next: {answer.id} {answer.title}, `{answer.name}` in work/exercises/{answer.topic}.ipynb")
    if summary.unreadable:
        console.print(f"{summary.unreadable} lines of the progress file could not be read; they were left as they are.")


@app.command(rich_help_panel=LEARN)
def update(pack: Pack = None) -> None:
    """Bring the notebooks in work/ up to date and carry your cells over; the old files are kept."""
    from . import workspace

    with inside(pack):
        console.print(escape(str(workspace.update(workspace.course_root()))), highlight=False)


@app.command(rich_help_panel=LEARN)
def doctor(pack: Pack = None) -> None:
    """Look at this machine and say what is missing and how to mend it."""
    from . import doctor as clinic

    with inside(pack):
        findings = clinic.probe()
    for finding in findings:
        mark = "[green]fine   [/]" if finding.ok else "[yellow]missing[/]"
        console.print(f"{mark}  {finding.name}: {escape(finding.found)}", highlight=False)
        if not finding.ok:
            console.print(f"         {escape(finding.mend)}", highlight=False)


@app.command(rich_help_panel=MAKE)
def sync(topic: Annotated[Optional[str], typer.Argument(help="only files that begin with this: 01, 02a")] = None,
         all: Annotated[bool, typer.Option("--all", help="make every file, stale or not")] = False,
         dry: Annotated[bool, typer.Option("--check", help="only say what is stale; exit status 1 if anything is")] = False,
         pack: Pack = None) -> None:
    """Make every derived file that no longer follows from its source."""
    from . import sync as derivation

    course = course_of(pack)
    items = derivation.stale(course) if dry else derivation.sync(course, all, topic or "")
    count = 0
    for count, item in enumerate(items, 1):
        console.print(f"{item.kind}: {item.path.relative_to(course.root)}", highlight=False)
    console.print(f"{count} {'stale' if dry else 'written'}" if count else "Everything follows from its source.")
    raise typer.Exit(1 if dry and count else 0)


@app.command(rich_help_panel=MAKE)
def claims(pack: Pack = None) -> None:
    """List every claim with the notebook and the cell that checks it."""
    from . import claims as register

    course = course_of(pack)
    table = Table("claim", "what it says", "checked in")
    found = register.claims(course)
    for claim in found:
        table.add_row(claim.id, escape(claim.sentence), "\n".join(f"{name}, cell {i}" for name, i in claim.cells))
    console.print(table)
    for problem in (problems := register.problems(course)):
        console.print(f"[yellow]{escape(problem)}[/]")
    console.print(f"{len(found)} claims, {len(problems)} problems")
    raise typer.Exit(1 if problems else 0)


@app.command(rich_help_panel=MAKE)
def mutants(what: Annotated[Optional[str], typer.Argument(help="one exercise; by default all")] = None,
            pack: Pack = None) -> None:
    """Test the checker: right variants must pass, every known mistake must fail and be named."""
    from .mutants import report

    table = Table("exercise", "function", "variants right", "mistakes failed", "named", "hidden seeds")
    found = report(course_of(pack), what)
    for row in found:
        table.add_row(row.id, row.name, f"{row.variants_right}/{row.variants}", f"{row.failed}/{row.mistakes}",
                      f"{row.named}/{row.mistakes}", str(row.seeds))
    console.print(table)
    for row in found:
        for problem in row.problems:
            console.print(f"[yellow]{row.id} {row.name}:[/] {escape(problem)}", highlight=False)
    raise typer.Exit(1 if any(row.problems for row in found) else 0)


for command in lecturer.COMMANDS:
    app.command(rich_help_panel=TEACH)(command)
app.add_typer(exports.FEEDBACK, name="feedback", rich_help_panel=TEACH)
app.add_typer(exports.EXPORT, name="export", rich_help_panel=TEACH)


def _watch(arguments: list[str]) -> None:
    """Run ``course check`` anew in a process of its own whenever a notebook in work/ is saved."""
    from . import workspace

    folder = workspace.course_root() / "work"

    def state() -> dict[Path, float]:
        return {path: path.stat().st_mtime for path in folder.rglob("*.ipynb") if ".base" not in path.parts}

    seen: dict[Path, float] = {}
    console.print("Watching work/; stop with Ctrl-C.")
    try:
        while True:
            if (now := state()) != seen:
                seen = now
                subprocess.run([sys.executable, "-m", "course_lib", "check", *arguments], check=False)
            time.sleep(0.5)
    except KeyboardInterrupt:
        raise typer.Exit(0) from None
