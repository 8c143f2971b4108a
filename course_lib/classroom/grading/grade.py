"""A grading run: submissions in, a log and ``grades.csv`` out.

>>> grading = Grading(course, Path("submissions.zip"), Path("grades"))
>>> for row in grading.run(): …
"""
from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import metadata
from pathlib import Path

from ..course import Course
from . import crew, intake
from .classfile import ClassFile
from .intake import Heap, Package
from .keys import Key, cases_hash, key, secret_of
from .log import Log
from .records import Row, Run
from .roster import Roster
from .worker import Bench

__all__ = ["Grading", "ready"]

SEED = "seed"                  # in the grading folder, if no other place is given


@dataclass(frozen=True)
class Grading:
    """What is graded, how, and where to; nothing happens before `run`.

    Parameters
    ----------
    course : Course
    submissions : Path
        A folder, a zip or a notebook, in any layout that `layouts` knows.
    to : Path
        The grading folder.
    roster : Path, optional
        A CSV file, ``id,name``.
    seed_file : Path, optional
        The secret of the hidden inputs; by default a file in the grading folder.
    settings : ClassFile
    workers : int
    scheduler : str
        Address of a dask scheduler, instead of processes of this machine.
    trusted : bool
        Grade without a sandbox.
    """

    course: Course
    submissions: Path
    to: Path
    roster: Path | None = None
    seed_file: Path | None = None
    settings: ClassFile = field(default_factory=ClassFile)
    workers: int = 1
    scheduler: str = ""
    trusted: bool = False

    @classmethod
    def again(
        cls, to: Path, course: Course | None = None, submissions: Path | None = None, workers: int = 1
    ) -> "Grading":
        """The run that counts in a grading folder, to be done once more."""
        with Log(to) as log:
            run = log.last_run()[1]
        told = run.extra
        return cls(
            course or Course(Path(told["course"]), told["is_pack"]),
            submissions or Path(told["submissions"]),
            to,
            Path(told["roster"]) if told["roster"] else None,
            Path(told["seed_file"]),
            ClassFile.of(told["class"]),
            workers,
            trusted=run.trusted,
        )

    @cached_property
    def secret(self) -> bytes:
        return secret_of(self.seed_file or self.to / SEED)

    @cached_property
    def keys(self) -> tuple[Key, ...]:
        return tuple(key(r, self.secret, self.settings.points.get(r.exercise.id)) for r in self._references)

    @cached_property
    def heaps(self) -> list[Heap]:
        """Every submission that there is to grade."""
        return intake.collect(self.submissions, Roster.read(self.roster) if self.roster else None)

    @cached_property
    def record(self) -> Run:
        told = {
            "submissions": str(self.submissions.resolve()),
            "seed_file": str((self.seed_file or self.to / SEED).resolve()),
            "roster": str(self.roster.resolve()) if self.roster else "",
            "class": self.settings.tree(),
            "course": str(self.course.root.resolve()),
            "is_pack": self.course.is_pack,
        }
        return Run(
            self.course.title,
            tuple(k.id for k in self.keys),
            hashlib.sha256(self.secret).hexdigest(),
            cases_hash(self._references),
            self.trusted,
            metadata.version("course_lib"),
            self.settings.title,
            told,
        )

    @cached_property
    def conditions(self) -> str:
        """Of everything but the files on which a row depends."""
        told = [self.record.seed_hash, self.record.cases_hash, self.trusted, [(k.id, k.points) for k in self.keys]]
        return hashlib.sha256(repr(told).encode()).hexdigest()

    def run(self, resume: bool = False) -> Iterator[Row]:
        """Grade everything, write each row into the log as it comes, and yield it; at the end write ``grades.csv``.

        Parameters
        ----------
        resume : bool
            Keep what the log has already of the same files under the same conditions.

        Raises
        ------
        ValueError
            If there is no sandbox on this machine and `trusted` is not set.
        """
        from .standings import write_grades

        ready(self.trusted)
        with Log(self.to, make=True) as log:
            run = log.begin(self.record)
            carried: list[Row] = []
            for row in self._rows(self._packages(log, run, resume, carried)):
                log.add(run, row, self.conditions)
                yield row
                yield from _taken(carried)
            yield from _taken(carried)
            log.finish(run)
        write_grades(self.to)

    def rows(self, heaps: list[Heap]) -> Iterator[Row]:
        """Grade some of the submissions; nothing is written down."""
        ready(self.trusted)
        yield from self._rows(heap.package() for heap in heaps)

    def _packages(self, log: Log, run: int, resume: bool, carried: list[Row]) -> Iterator[Package]:
        for heap in self.heaps:
            package = heap.package()
            if resume and (row := log.carry(run, package.key, package.digest, self.conditions)):
                carried.append(row)
            else:
                yield package

    def _rows(self, packages: Iterator[Package]) -> Iterator[Row]:
        bench = Bench(self.keys, self.trusted)
        if self.scheduler:
            return crew.cluster(bench, packages, self.scheduler)
        return crew.processes(bench, packages, self.workers) if self.workers > 1 else crew.here(bench, packages)

    @cached_property
    def _references(self):
        return self.settings.chosen(self.course.references, self.course.lectures)


def ready(trusted: bool) -> None:
    """Refuse to grade where there is no sandbox, unless every submission is trusted.

    Raises
    ------
    ValueError
        Saying what is missing and how to mend it.
    """
    from . import sandbox

    if not trusted and (lacking := sandbox.missing()):
        raise ValueError(
            "submissions are programs of other people and are run in a sandbox, which this machine does not "
            f"have: {' '.join(lacking)} If you trust every one of them, `--trusted` grades without; "
            "every page then says so"
        )


def _taken(rows: list[Row]) -> Iterator[Row]:
    yield from rows
    rows.clear()
