"""What this machine has of what the course needs, and for whatever is missing the sentence that mends it."""
from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from . import progress
from .workspace import course_root

__all__ = ["Finding", "probe"]

PACKAGE = "course_lib"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PIP = f'"{sys.executable}" -m pip install'


@dataclass(frozen=True)
class Finding:
    """One thing looked at: whether it is as it should be, what was found, and how to mend it if it is not."""

    name: str
    ok: bool
    found: str
    mend: str = ""


def probe() -> list[Finding]:
    """Look at everything, first what a learner needs, then what tests and grading need; nothing is changed."""
    try:
        metadata.distribution(PACKAGE)
    except metadata.PackageNotFoundError:
        return [Finding("course", False, f"{PACKAGE} is not installed", f"In the folder of the course run {PIP} -e .")]
    return [python(), packages(), kernel(), work_folder(), progress_file(),
            packages("test"), browser(), packages("grade"), sandbox()]


def python() -> Finding:
    """The version of Python against the bound in the installed metadata."""
    from packaging.specifiers import SpecifierSet

    wanted, found = metadata.metadata(PACKAGE)["Requires-Python"], platform.python_version()
    return Finding("Python", SpecifierSet(wanted).contains(found, prereleases=True), f"{found} at {sys.executable}",
                   f"The course needs Python {wanted}: install one from python.org and make a new environment with it.")


def packages(extra: str = "") -> Finding:
    """The packages of the course, or those of an extra such as "test", against the bounds in its metadata."""
    wanted = _requirements(extra)
    versions = {requirement.name: _version(requirement.name) for requirement in wanted}
    bad = [r for r in wanted if (v := versions[r.name]) is None or not r.specifier.contains(v, prereleases=True)]
    found = "; ".join(f"{r.name} {versions[r.name] or 'is missing'}, {r.specifier} is needed" for r in bad)
    command = " ".join([PIP, "--upgrade", *(f'"{r.name}{r.specifier}"' for r in bad)])
    found = found or f"{len(wanted)}, all recent enough"
    if extra:
        return Finding(f"packages to {extra}", not bad, found, f"Only if you want to {extra}: run {command}")
    return Finding("packages", not bad, found, f"Run {command}")


def kernel() -> Finding:
    """Does the Python that notebooks will run in have the course?"""
    try:
        from jupyter_client import KernelManager
        from jupyter_client.kernelspec import NoSuchKernel

        executable = KernelManager(kernel_name="python3").format_kernel_cmd()[0]
        problem = _run(executable, "-c", f"import ipykernel, {PACKAGE}")
    except (ImportError, NoSuchKernel) as error:
        executable, problem = "no kernel", str(error)
    return Finding("Jupyter kernel", not problem, f"{executable}{f': {problem}' if problem else ''}",
                   f'Run {PIP} ipykernel, then "{sys.executable}" -m ipykernel install --sys-prefix')


def work_folder() -> Finding:
    """Can the learner's folder be written?"""
    try:
        root = course_root()
        folder = root / "work" if (root / "work").exists() else root
        with tempfile.TemporaryFile(dir=folder):
            return Finding("work folder", True, str(root / "work"))
    except OSError as error:
        return Finding("work folder", False, str(error), "Move the course into a folder that you may write to.")


def progress_file() -> Finding:
    """Can the progress file be read and written, and is every line of it whole?"""
    file, history = progress.path(), progress.read()
    if file.exists() and not (file.is_file() and os.access(file, os.R_OK | os.W_OK)):
        return Finding("progress", False, f"{file} cannot be read and written",
                       "Give yourself the right to, or let the environment variable COURSE_PROGRESS name another file.")
    return Finding("progress", not history.unreadable,
                   f"{len(history.events)} events, {history.unreadable} unreadable lines in {file}",
                   "The rest is safe. Those lines were torn or edited: mend them in an editor, or let them be.")


def browser() -> Finding:
    """The browser in which the tests open notebooks."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    return Finding("browser for the tests", bool(found), found or "no Chromium on the path",
                   "Only if you want to run the browser tests: install it, on Debian with apt install chromium.")


def sandbox() -> Finding:
    """The sandbox in which submissions are graded: is it there, and does the system let it start?"""
    name, system = "grading sandbox", platform.system()
    if system != "Linux":
        return Finding(name, False, f"bubblewrap is of Linux, this is {system}",
                       "Only if you want to grade: do it on Linux, or with --trusted if you trust every submission.")
    from .grading.sandbox import missing

    lacking = missing()
    return Finding(name, not lacking, "something is missing" if lacking else shutil.which("bwrap") or "",
                   " ".join(["Only if you want to grade:", *lacking]))


def _requirements(extra: str) -> list:
    """Those of the course itself, or only those that an extra adds, an extra within it included."""
    from packaging.requirements import Requirement

    found = []
    for requirement in map(Requirement, metadata.requires(PACKAGE) or ()):
        marker = requirement.marker
        plain = marker is None or marker.evaluate({"extra": ""})
        if not (marker is None or marker.evaluate({"extra": extra})) or (extra and plain):
            continue
        own = requirement.name.replace("-", "_") == PACKAGE
        found += [r for inner in sorted(requirement.extras) for r in _requirements(inner)] if own else [requirement]
    return found


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _run(*command: str | Path) -> str:
    """The last line of a command's complaint; empty if it had none."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=60)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return "" if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
