"""From a solution and its cases to answers and a learner's notebook; what cannot be checked is not built.

``solutions/NN_topic.py`` (py:percent) holds statements and reference functions; of its cells only those tagged
``setup`` and ``solution`` are run. ``solutions/cases/NN_topic.py`` holds an `Exercise` for each of them.
"""
from __future__ import annotations

import ast
import inspect
import runpy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .answers import Answer, Failure, KnownMistake, PublicCase
from .cases import Case, Exercise
from .mistakes import same
from .run import call, locals_of
from .wire import fingerprint

__all__ = ["HIDDEN_SEEDS", "BuildError", "Reference", "answer_of", "answers", "examine", "outputs", "read", "references",
           "stub"]

HIDDEN_SEEDS = range(50)
MARGIN = 100                 # tolerances by which a mistake must differ, so that no rounding can hide it
FEWEST_MISTAKES, FEWEST_VARIANTS, HINTS = 4, 2, 3


class BuildError(ValueError):
    """Something that the author of an exercise must mend; the message says what and how."""


@dataclass(frozen=True)
class Reference:
    """A reference function with its exercise."""

    function: Callable
    exercise: Exercise
    topic: str


def read(source: Path) -> Any:
    """A py:percent script as a notebook."""
    import jupytext         # which takes a second, and few who import this module read a script

    return jupytext.read(source, fmt="py:percent")


def references(solution: Path) -> list[Reference]:
    """The reference functions of one solution file, each with its exercise, in the order of the file."""
    namespace: dict[str, Any] = {"__name__": f"solution of {solution.stem}"}
    names = []
    for cell in read(solution).cells:
        tags = cell.metadata.get("tags", [])
        if cell.cell_type == "code" and {"setup", "solution"} & set(tags):
            exec(compile(cell.source, str(solution), "exec"), namespace)
            names += _defined(cell.source) if "solution" in tags else []
    if not (solution.parent / "cases" / solution.name).exists():
        raise BuildError(f"{solution.name} has no cases/{solution.name}: inputs, mistakes and hints belong there")
    described = runpy.run_path(str(solution.parent / "cases" / solution.name))
    exercises = {value.name: value for value in described.values() if isinstance(value, Exercise)}
    _paired(solution, names, exercises)
    return [Reference(namespace[name], exercises[name], solution.stem) for name in names]


def answers(found: list[Reference]) -> list[Answer]:
    """The public answers of some exercises.

    Raises
    ------
    BuildError
        With every problem of every exercise, if there is any.
    """
    problems = [f"{r.exercise.id} {r.exercise.name}: {p}" for r in found for p in examine(r)]
    if problems:
        raise BuildError("\n".join(problems))
    return [answer_of(r) for r in found]


def examine(reference: Reference, seeds: range = HIDDEN_SEEDS) -> Iterator[str]:
    """Everything that keeps an exercise from being checked well, a sentence each."""
    exercise, function = reference.exercise, reference.function
    yield from _incomplete(exercise)
    public = exercise.inputs()
    if not public:
        return
    yield from _impure(function, public)
    if absent := set(exercise.intermediates) - set(_steps(reference, public[0])):
        yield f"the reference has no local named {', '.join(sorted(absent))}; intermediates must be among its locals"
    yield from _variants_that_fail(reference, public, seeds)
    if exercise.mistakes:
        yield from _indistinguishable(reference, public, seeds)


def outputs(function: Callable, cases: list[Case]) -> tuple:
    """A function's output for each case; a `Failure` where it raises."""
    results = (call(function, case.args) for case in cases)
    return tuple(r.value if r.returned else Failure(type(r.error).__name__) for r in results)


def stub(source: str) -> str:
    """A solution cell as the learner finds it: signature and docstring stay, the body becomes a stub."""
    tree = ast.parse(source)
    function = next(node for node in tree.body if isinstance(node, ast.FunctionDef))
    lines = source.splitlines()
    last = function.body[0].end_lineno if ast.get_docstring(function) else function.body[0].lineno - 1
    head = lines[function.lineno - 1:last]
    raised = f'    raise NotImplementedError("write {function.name}, run this cell, then the next one")'
    return "\n".join([*lines[:function.lineno - 1], *head, "    # your code here", raised])


def _defined(source: str) -> list[str]:
    return [node.name for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)]


def _paired(solution: Path, names: list[str], exercises: dict[str, Exercise]) -> None:
    if lonely := sorted(set(names) ^ set(exercises)):
        raise BuildError(f"{solution.name}: every function in a cell tagged 'solution' needs an Exercise of its name in "
                         f"cases/{solution.name} and the other way round; without partner: {', '.join(lonely)}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BuildError(f"{solution.name}: defined more than once: {', '.join(twice)}")


def _incomplete(exercise: Exercise) -> Iterator[str]:
    if len(exercise.hints) != HINTS or not all(hint.strip() for hint in exercise.hints):
        yield f"it needs {HINTS} hints (a nudge, the formula, the first line), it has {len(exercise.hints)}"
    if not exercise.notice.strip():
        yield "it needs a notice: what to see once it is right"
    if len(exercise.mistakes) < FEWEST_MISTAKES:
        yield f"it needs at least {FEWEST_MISTAKES} mistakes, it has {len(exercise.mistakes)}"
    if len(exercise.variants) < FEWEST_VARIANTS:
        yield f"it needs at least {FEWEST_VARIANTS} independent right variants, it has {len(exercise.variants)}"
    if not exercise.inputs():
        yield "it has no cases: decorate a generator with @….cases"


def _impure(function: Callable, cases: list[Case]) -> Iterator[str]:
    for case in cases:
        first, second = call(function, case.args), call(function, case.args)
        if not first.returned:
            yield f"the reference raises {first.error!r} on {case.label}"
        elif first.changed or first.stirred:
            yield f"the reference changes its arguments or the global random state on {case.label}"
        elif fingerprint(first.value) != fingerprint(second.value):
            yield f"the reference answers twice differently on {case.label}"


def _variants_that_fail(reference: Reference, public: list[Case], seeds: range) -> Iterator[str]:
    comparer = reference.exercise.compare
    for where, cases in _rounds(reference.exercise, public, seeds):
        right = outputs(reference.function, cases)
        for variant in reference.exercise.variants:
            got = outputs(variant, cases)
            wrong = [case.label for case, a, b in zip(cases, right, got) if not same(a, b, comparer)]
            if wrong:
                yield f"the variant {variant.__name__} differs from the reference on {where}, {wrong[0]}"


def _indistinguishable(reference: Reference, public: list[Case], seeds: range) -> Iterator[str]:
    """Pairs among reference and mistakes that some set of inputs cannot tell apart."""
    comparer = reference.exercise.compare.looser(MARGIN)
    functions = {"the reference": reference.function} | {m.title: m.function for m in reference.exercise.mistakes}
    if len(functions) <= len(reference.exercise.mistakes):
        yield "two mistakes have the same title"
    told: set[tuple[str, str]] = set()
    for where, cases in _rounds(reference.exercise, public, seeds):
        results = {name: outputs(function, cases) for name, function in functions.items()}
        for i, one in enumerate(results):
            for other in list(results)[:i]:
                equal = all(same(a, b, comparer) for a, b in zip(results[other], results[one]))
                if equal and (one, other) not in told:
                    told.add((one, other))
                    yield f"the mistake “{one}” cannot be told from “{other}” on {where}: add an input that shows it"


def _rounds(exercise: Exercise, public: list[Case], seeds: range) -> Iterator[tuple[str, list[Case]]]:
    yield "the public inputs", public
    for seed in seeds:
        yield f"the hidden inputs of seed {seed}", exercise.inputs(seed)


def _steps(reference: Reference, case: Case) -> dict[str, Any]:
    values = locals_of(reference.function, case.args, reference.exercise.intermediates)
    return {name: taken[-1] for name, taken in values.items()}


def answer_of(reference: Reference) -> Answer:
    """What is known of one exercise in public."""
    exercise, cases = reference.exercise, reference.exercise.inputs()
    right = outputs(reference.function, cases)
    return Answer(
        exercise.name, exercise.id, exercise.title, reference.topic, exercise.points,
        tuple(inspect.signature(reference.function).parameters), exercise.hints, exercise.notice, exercise.ready,
        exercise.compare,
        tuple(PublicCase(c.label, c.args, value, _steps(reference, c)) for c, value in zip(cases, right)),
        tuple(KnownMistake(m.title, m.remedy, outputs(m.function, cases)) for m in exercise.mistakes))
