"""What stands in a grading process for libraries that are not there.

Pictures, widgets and the checker do nothing. What would be a ready-made solution, the mathematics of `course_lib`
and the models of other libraries, can be imported, so that a cell with such an import is not lost; using it raises, and
its name is noted. A ready-made function that is there, because others have a right to it, is noted where it is called,
under whatever name a submission keeps it.

What a notebook imports and is nowhere to be found is stood in for, too: it costs only the functions that use it.
"""
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, spec_from_file_location, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["Delegated", "install", "lend", "question", "shown", "used", "watch"]

QUIET = ["course_lib.plots", "course_lib.classroom", "IPython", "ipywidgets"]
DATA = "course_lib.data"                   # real
READY = ["course_lib", "sklearn", "statsmodels", "scipy.stats"]

ABSENT: list[str] = []                     # not installed here

used: list[str] = []                       # names of ready-made solutions that were called
asked: list[tuple[str, ...]] = []          # the functions to be told in this question; empty while cells run


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
        return type(self)(f"{self._name}.{name}")

    def __call__(self, *_, **__):
        used.append(self._name)
        raise Delegated(f"{self._name} is a ready-made solution and is not there while grading: "
                        "compute it in your own function")


class Absent(Ready):
    """A name of a library that is not here; a cell may set it up, a function may not use it."""

    def __call__(self, *_, **__) -> Absent:
        if not asked:
            return self
        raise ModuleNotFoundError(f"{self._name}: {self._name.partition('.')[0]} is not there while grading")


class Noted:
    """A ready-made function that notes its name where it is called, if the question is about it."""

    def __init__(self, path: str, original: Callable):
        self._path, self._original = path, original

    def __call__(self, *args, **keywords):
        if asked and self._path in asked[-1]:
            used.append(self._path)
        return self._original(*args, **keywords)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._original, name)


class Finder:
    """Finds the stand-ins, before any library that may be there is looked for."""

    def __init__(self, data: Path):
        self.data = data

    def find_spec(self, name: str, *_) -> ModuleSpec | None:
        if name == DATA:
            return spec_from_file_location(name, self.data / "__init__.py", submodule_search_locations=[str(self.data)])
        if _within(name, QUIET) or _within(name, READY) or _within(name, ABSENT):
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
            if _within(name, ABSENT):
                return Absent(full)
            return import_module(full) if full == DATA or full in QUIET else Ready(full)

        module.__getattr__ = attribute


def install(data: Path) -> None:
    """Let the stand-ins be found; `data` is the folder of `course_lib.data`, which is real."""
    if find_spec("matplotlib") is None:
        QUIET.append("matplotlib")
    sys.meta_path.insert(0, Finder(data))


def lend(name: str | None) -> bool:
    """Stand in for a library that an import did not find; False if it is stood in for already, or is here in part."""
    root = (name or "").partition(".")[0]
    if not root or root in ABSENT or root in sys.modules:
        return False
    ABSENT.append(root)
    return True


def watch(paths: tuple[str, ...]) -> None:
    """Note the calls of these functions from now on, wherever their package shows them; before any cell has them."""
    for path in paths:
        module, _, name = path.rpartition(".")
        if _within(path, READY):
            continue
        if module not in sys.modules:
            shown.cache_clear()
        try:
            original = getattr(import_module(module), name)
        except (ImportError, AttributeError):
            continue
        noted = Noted(path, original)
        for space, key in shown(path.partition(".")[0]).get(id(original), ()):
            space[key] = noted


@cache
def shown(package: str) -> dict[int, list[tuple[dict, str]]]:
    """Every place in the loaded modules of a package where a function stands, by the function's id.

    Known before a process forks, it saves each fork a look at all of them, which would copy the pages that they lie on.
    """
    found: dict[int, list[tuple[dict, str]]] = {}
    for module in [m for name, m in sys.modules.items() if _within(name, [package])]:
        for key, value in vars(module).items():
            if callable(value):
                found.setdefault(id(value), []).append((vars(module), key))
    return found


def question(ready: tuple[str, ...]) -> None:
    """Forget what was used; from now on the calls of these are told."""
    used.clear()
    asked[:] = [ready]


def _within(name: str, packages: list[str]) -> bool:
    return any(name == package or name.startswith(package + ".") for package in packages)
