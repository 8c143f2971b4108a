"""What stands in a grading process for libraries that are not there.

Pictures, widgets and the checker do nothing. What would be a ready-made solution, the mathematics of `course_lib`
and the models of other libraries, can be imported, so that a cell with such an import is not lost; using it raises, and
its name is noted.
"""
from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Delegated", "install", "used"]

QUIET = ["course_lib.plots", "course_lib.classroom", "IPython", "ipywidgets"]
DATA = "course_lib.data"                   # real
READY = ["course_lib", "sklearn", "statsmodels", "scipy.stats"]

used: list[str] = []                       # names of ready-made solutions that were called


class Delegated(RuntimeError):
    """A function leans on a ready-made solution."""


class Quiet:
    """Takes everything and does nothing."""

    def __call__(self, *_, **__) -> Quiet:
        return self

    def __getattr__(self, name: str) -> Quiet:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __getitem__(self, _) -> Quiet:
        return self

    def __setitem__(self, *_) -> None: ...

    def __iter__(self) -> Iterator:
        return iter(())

    def __enter__(self) -> Quiet:
        return self

    def __exit__(self, *_) -> None: ...

    def __bool__(self) -> bool:
        return False


class Ready:
    """A name of a ready-made solution: there to be imported, not to be used."""

    def __init__(self, name: str):
        self._name = name

    def __getattr__(self, name: str) -> Ready:
        if name.startswith("__"):
            raise AttributeError(name)
        return Ready(f"{self._name}.{name}")

    def __call__(self, *_, **__):
        used.append(self._name)
        raise Delegated(f"{self._name} is a ready-made solution and is not there while grading: "
                        "compute it in your own function")


class Finder:
    """Finds the stand-ins, before any library that may be there is looked for."""

    def __init__(self, data: Path):
        self.data = data

    def find_spec(self, name: str, *_) -> ModuleSpec | None:
        if name == DATA:
            return spec_from_file_location(name, self.data / "__init__.py", submodule_search_locations=[str(self.data)])
        if _within(name, QUIET) or _within(name, READY):
            return spec_from_loader(name, self, is_package=True)
        return None

    def create_module(self, _) -> None:
        return None

    def exec_module(self, module: ModuleType) -> None:
        name = module.__name__
        quiet = _within(name, QUIET)

        def attribute(wanted: str) -> Any:
            if wanted.startswith("__"):
                raise AttributeError(wanted)
            if quiet:
                return Quiet()
            full = f"{name}.{wanted}"
            return import_module(full) if full == DATA or full in QUIET else Ready(full)

        module.__getattr__ = attribute


def install(data: Path) -> None:
    """Let the stand-ins be found; `data` is the folder of `course_lib.data`, which is real."""
    if find_spec("matplotlib") is None:
        QUIET.append("matplotlib")
    sys.meta_path.insert(0, Finder(data))


def _within(name: str, packages: list[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)
