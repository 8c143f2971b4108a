"""Every public name of the mathematics says what it computes, of which shapes, with which errors, and by what source."""
import ast
import dataclasses
import inspect
import re
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Protocol

import pytest

import course_lib
from course_lib.estimator import Estimator

MODULES = sorted(path.stem for path in Path(course_lib.__file__).parent.glob("*.py") if not path.stem.startswith("__"))
MATHEMATICS = set(MODULES) - {"chunks", "checks", "estimator", "plots", "reduce"}
FORMULA = re.compile(r"[=∝≤≥<→·×²√Σ∏Π∫|/^]|ln |log ")
PLAIN = {"ax", "features", "kwargs", "options"}  # an Axes, names of columns, what is handed on


def public():
    for module in map(lambda name: import_module(f"course_lib.{name}"), MODULES):
        for name in module.__all__:
            value = getattr(module, name)
            if callable(value) and getattr(value, "__module__", None) == module.__name__:
                yield pytest.param(module, value, id=f"{module.__name__.split('.')[1]}.{name}")


def document(value) -> str:
    return inspect.getdoc(value) or ""


def section(text: str, title: str) -> str:
    """What stands below an underlined title, up to the next one."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w[\w ]*\n-+\n|\Z)", text, flags=re.M | re.S)
    return found.group(1) if found else ""


def code(value) -> list[ast.AST]:
    """The statements and expressions of a function, those of functions inside it left out."""
    nodes, found = list(ast.parse(textwrap.dedent(inspect.getsource(value))).body[0].body), []
    while nodes:
        found.append(node := nodes.pop())
        if not isinstance(node, (ast.FunctionDef, ast.Lambda)):
            nodes += ast.iter_child_nodes(node)
    return found


functions = pytest.mark.parametrize("module, value", [p for p in public() if inspect.isfunction(p.values[1])])
classes = pytest.mark.parametrize("module, value", [p for p in public() if inspect.isclass(p.values[1])])
everything = pytest.mark.parametrize("module, value", list(public()))


@everything
def test_it_begins_with_one_sentence(module, value):
    first = document(value).split("\n\n")[0]
    assert first and first.rstrip()[-1] in ".:)", first


@everything
def test_it_names_its_source(module, value):
    record = inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, (Exception, Protocol)))
    if module.__name__.split(".")[1] in MATHEMATICS and not record:
        assert "Source" in document(value) + (module.__doc__ or ""), "Source: book, section"


@functions
def test_a_function_gives_its_formula_or_what_it_returns(module, value):
    if module.__name__.split(".")[1] in MATHEMATICS:
        assert FORMULA.search(document(value)) or section(document(value), "Returns"), document(value)


@functions
def test_a_function_tells_every_parameter_and_its_shape(module, value):
    text = document(value)
    for name in set(inspect.signature(value).parameters) - PLAIN:
        assert re.search(rf"\b{name}\b", text), f"{name} is not told"


@functions
def test_a_function_tells_what_it_returns(module, value):
    returns = inspect.signature(value).return_annotation
    gives = any(isinstance(node, ast.Return) and node.value is not None for node in code(value))
    if gives and returns not in (None, "None", "bool", "float", "int", "str"):
        text = document(value)
        shape = re.search(r"\([\w+−-]*,? ?[\w., ×…]*\)", text)
        assert shape or section(text, "Returns"), "a shape such as (N, K), or Returns"


@functions
def test_a_function_tells_what_it_raises(module, value):
    if any(isinstance(node, ast.Raise) for node in code(value)):
        assert re.search(r"[Rr]aise", document(value)), "Raises"


@classes
def test_a_class_tells_every_parameter_or_field(module, value):
    if dataclasses.is_dataclass(value):
        source = inspect.getsource(value)
        for field in dataclasses.fields(value):
            if field.name in value.__annotations__:
                beside = re.search(rf"^\s+{field.name}:.*#", source, flags=re.M)
                assert beside or re.search(rf"\b{field.name}\b", document(value)), f"{field.name} is not told"
    elif issubclass(value, Estimator) and value.__init__ is not object.__init__:
        text = " ".join(inspect.getdoc(base) or "" for base in value.__mro__)
        for name in set(inspect.signature(value).parameters):
            assert re.search(rf"\b{name}\b", text), f"{name} is not told"


@classes
def test_public_methods_have_a_docstring(module, value):
    for name, method in vars(value).items():
        if not name.startswith("_") and (inspect.isfunction(method) or isinstance(method, (property, classmethod))):
            assert inspect.getdoc(getattr(value, name)), name
