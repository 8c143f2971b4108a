"""Answer keys: for each exercise the inputs of a grading run, public and hidden, and what must come out of them.

Hidden inputs come from the same generator as the public ones, seeded by a secret of the lecturer, so there is no file
of hidden tests that could leak. References and known mistakes run here, in the grader's own process, and nowhere else.
"""
from __future__ import annotations

import hashlib
import inspect
import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .. import build
from ..build import Reference
from ..cases import PUBLIC_SEED, Case
from ..compare import Comparer
from ..mistakes import same
from ..wire import fingerprint
from .session import Call

__all__ = ["HIDDEN_ROUNDS", "Key", "Trap", "cases_hash", "coarse", "key", "secret_of"]

HIDDEN_ROUNDS = 1              # sets of hidden inputs; every part has as many inputs of each set as of the public one
PROFILE_SEEDS = range(5)       # on which it is settled what a known mistake still gets right


@dataclass(frozen=True)
class Trap:
    """A known mistake, what it returns for every input of the key, and the parts that it gets right."""

    title: str
    remedy: str
    outputs: tuple
    right: frozenset[str]      # labels; settled on seeds of its own, so that no secret changes what the mistake costs


@dataclass(frozen=True)
class Key:
    """One exercise, ready to be graded; the three tuples run over the inputs, simplest first."""

    id: str
    name: str
    title: str
    topic: str
    points: float
    arguments: tuple[str, ...]
    ready: tuple[str, ...]
    comparer: Comparer
    cases: tuple[Case, ...]
    expected: tuple
    public: tuple[bool, ...]
    fixed: frozenset[str]      # labels whose inputs, or whose answers, are the same under every seed
    traps: tuple[Trap, ...]

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        """What is asked of a submission.

        Ready-made solutions are looked for where the inputs cannot be known beforehand, if they vary.
        """
        watched = (not known or case.label in self.fixed for known, case in zip(self.public, self.cases))
        return tuple(Call(self.name, case.args, self.ready if look else ()) for look, case in zip(watched, self.cases))


def key(reference: Reference, secret: bytes, points: float | None = None) -> Key:
    """The answer key of an exercise.

    Parameters
    ----------
    reference : Reference
    secret : bytes
        From `secret_of`.
    points : float, optional
        Instead of those of the exercise.
    """
    exercise, function = reference.exercise, reference.function
    cases, public, fixed = _inputs(reference, [_seed(secret, exercise.id, i) for i in range(HIDDEN_ROUNDS)])
    profile = [case for seed in (PUBLIC_SEED, *PROFILE_SEEDS) for case in exercise.inputs(seed)]
    right = build.outputs(function, profile)
    fixed |= _foreseeable(profile, right, len(exercise.inputs()), exercise.compare)
    traps = tuple(Trap(m.title, m.remedy, build.outputs(m.function, cases),
                       _labels_right(profile, right, build.outputs(m.function, profile), exercise.compare))
                  for m in exercise.mistakes)
    return Key(
        exercise.id,
        exercise.name,
        exercise.title,
        reference.topic,
        float(exercise.points if points is None else points),
        tuple(inspect.signature(function).parameters),
        exercise.ready,
        exercise.compare,
        tuple(cases),
        build.outputs(function, cases),
        tuple(public),
        fixed,
        traps,
    )


def secret_of(path: Path) -> bytes:
    """The secret in a file, made and written for its owner's eyes only where there is none yet.

    Raises
    ------
    ValueError
        If the file holds less than 16 characters.
    """
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as stream:
            stream.write(secrets.token_hex(32) + "\n")
    secret = path.read_bytes().strip()
    if len(secret) < 16:
        raise ValueError(f"{path}: a secret of 16 characters or more expected, got {len(secret)}; "
                         "remove the file and a new one is made")
    return secret


def cases_hash(references: Iterable[Reference]) -> str:
    """Of the public inputs, what is expected for them and the known mistakes: what a release pins."""
    told = hashlib.sha256()
    for reference in references:
        cases = reference.exercise.inputs()
        told.update(
            repr(
                (
                    reference.exercise.id,
                    reference.exercise.name,
                    [m.title for m in reference.exercise.mistakes],
                    [(c.label, fingerprint(c.args)) for c in cases],
                )
            ).encode()
        )
        for value in build.outputs(reference.function, cases):
            told.update(repr(coarse(value)).encode())
    return told.hexdigest()


def coarse(value: Any) -> Any:
    """A fingerprint that is equal for values equal to six significant digits."""
    if isinstance(value, (tuple, list)):
        return type(value).__name__, [coarse(item) for item in value]
    if isinstance(value, dict):
        return {name: coarse(item) for name, item in value.items()}
    if not isinstance(value, (float, np.ndarray, np.generic)) or (array := np.asarray(value)).dtype.kind not in "fc":
        return fingerprint(value)
    with np.errstate(all="ignore"):
        unit = 10.0 ** (np.floor(np.log10(np.abs(array))) - 5)
        short = np.where(np.isfinite(array) & (array != 0), np.round(array / unit) * unit, array) + 0.0
    return array.dtype.kind, array.shape, short.tobytes()


def _inputs(reference: Reference, seeds: list[int]) -> tuple[list[Case], list[bool], frozenset[str]]:
    """All inputs, each public one before its hidden brothers; which are public; the labels that never vary."""
    rounds = [reference.exercise.inputs(), *(reference.exercise.inputs(seed) for seed in seeds)]
    cases, public, seen = [], [], set()
    for i in range(max(map(len, rounds))):
        for number, made in enumerate(rounds):
            if i < len(made) and (mark := repr((made[i].label, fingerprint(made[i].args)))) not in seen:
                seen.add(mark)
                cases.append(made[i])
                public.append(number == 0)
    varying = {case.label for case, known in zip(cases, public) if not known}
    return cases, public, frozenset(case.label for case in cases) - varying


def _foreseeable(cases: list[Case], right: tuple, public: int, comparer: Comparer) -> frozenset[str]:
    """The labels whose answers to any other inputs are among those to the public ones, the first so many."""
    known: dict[str, list] = {}
    for case, answer in zip(cases[:public], right):
        known.setdefault(case.label, []).append(answer)
    later = [(case.label, answer) for case, answer in zip(cases[public:], right[public:])]
    return frozenset({label for label, _ in later} - {
        label for label, answer in later if not any(same(old, answer, comparer) for old in known.get(label, ()))})


def _seed(secret: bytes, exercise: str, number: int) -> int:
    return int.from_bytes(hashlib.sha256(b"%b %b %d" % (secret, exercise.encode(), number)).digest()[:8], "big")


def _labels_right(cases: list[Case], expected: tuple, got: tuple, comparer: Comparer) -> frozenset[str]:
    wrong = {case.label for case, a, b in zip(cases, expected, got) if not same(a, b, comparer)}
    return frozenset(case.label for case in cases) - wrong
