"""What `check` knows of an exercise: inputs, expected outputs, outputs of known mistakes. Package data without code."""
from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .compare import Comparer
from .wire import decode, encode
from .workspace import enclosing_root

__all__ = ["Answer", "Failure", "KnownMistake", "PublicCase", "dump", "everything", "find", "load"]


@dataclass(frozen=True)
class Failure:
    """In the place of an output: the function raised this exception."""

    error: str


@dataclass(frozen=True)
class PublicCase:
    label: str
    args: tuple
    expected: Any
    steps: dict[str, Any] = field(default_factory=dict)     # the reference's published intermediates


@dataclass(frozen=True)
class KnownMistake:
    title: str
    remedy: str
    outputs: tuple                                          # one for each case; a Failure where it raises


@dataclass(frozen=True)
class Answer:
    """All that is known of one exercise in public."""

    name: str
    id: str
    title: str
    topic: str                                              # "01_bayes_rule_and_risk"
    points: int
    arguments: tuple[str, ...]
    hints: tuple[str, ...]
    notice: str
    ready: tuple[str, ...]
    comparer: Comparer
    cases: tuple[PublicCase, ...]
    mistakes: tuple[KnownMistake, ...]


def dump(answers: Iterable[Answer]) -> bytes:
    """The bytes of an .npz file; the same answers give the same bytes."""
    arrays: list[np.ndarray] = []
    tree = [_tree(answer, arrays) for answer in answers]
    meta = np.frombuffer(json.dumps(tree).encode(), np.uint8)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, meta=meta, **{str(i): array for i, array in enumerate(arrays)})
    return buffer.getvalue()


def load(raw: bytes) -> list[Answer]:
    """The answers of an .npz file written from `dump`."""
    with np.load(io.BytesIO(raw), allow_pickle=False) as archive:
        arrays = [archive[str(i)] for i in range(len(archive.files) - 1)]
        tree = json.loads(archive["meta"].tobytes())
    return [_answer(item, arrays) for item in tree]


@lru_cache(maxsize=1)
def everything() -> dict[str, Answer]:
    """Every exercise of the course, and of the pack around the current folder, by the name of its function, in order."""
    folders = [files(__package__) / "answers", *_beside()]
    found = [f for folder in folders if folder.is_dir()
             for f in sorted(folder.iterdir(), key=lambda f: f.name) if f.name.endswith(".npz")]
    return {answer.name: answer for file in found for answer in load(file.read_bytes())}


def find(what: Any) -> Answer | None:
    """The exercise of a function, of a function's name or of an id ("E1.1"); None if there is none."""
    name = what if isinstance(what, str) else getattr(what, "__name__", "")
    known = everything()
    return known.get(name) or next((a for a in known.values() if a.id.lower() == name.lower()), None)


def _beside() -> Iterator[Path]:
    """The answers of a pack that was handed out: they lie beside its exercises."""
    if root := enclosing_root(Path.cwd()):
        yield root / "answers"


def _tree(answer: Answer, arrays: list[np.ndarray]) -> dict:
    def put(value):
        return ["failure", value.error] if isinstance(value, Failure) else encode(value, arrays)

    plain = {key: value for key, value in vars(answer).items() if key not in ("comparer", "cases", "mistakes")}
    return plain | {
        "comparer": asdict(answer.comparer),
        "cases": [{"label": c.label, "args": put(c.args), "expected": put(c.expected), "steps": put(c.steps)}
                  for c in answer.cases],
        "mistakes": [{"title": m.title, "remedy": m.remedy, "outputs": [put(o) for o in m.outputs]}
                     for m in answer.mistakes],
    }


def _answer(tree: dict, arrays: list[np.ndarray]) -> Answer:
    def get(item):
        return Failure(item[1]) if item[0] == "failure" else decode(item, arrays)

    lists = {key: tuple(tree[key]) for key in ("arguments", "hints", "ready")}
    return Answer(**(tree | lists | {
        "comparer": Comparer(**tree["comparer"]),
        "cases": tuple(PublicCase(c["label"], *map(get, (c["args"], c["expected"], c["steps"]))) for c in tree["cases"]),
        "mistakes": tuple(KnownMistake(m["title"], m["remedy"], tuple(map(get, m["outputs"]))) for m in tree["mistakes"]),
    }))
