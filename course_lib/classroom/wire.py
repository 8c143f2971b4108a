"""Values as a JSON tree and a list of plain arrays: how answers are stored and how they cross to a sandbox.

Arrays, numbers, text, None, tuples, lists, dicts and seeds are all that an exercise takes or gives; nothing is pickled.
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .cases import Seed

__all__ = ["decode", "encode", "fingerprint", "fresh", "identical"]

PLAIN = (bool, int, float, str, type(None))


def encode(value: Any, arrays: list[np.ndarray]) -> Any:
    """The JSON tree of a value; its arrays are appended to `arrays` and referred to by position.

    Raises
    ------
    TypeError
        For anything but plain data, object arrays included.
    """
    if type(value) in PLAIN:
        return ["plain", value]
    if isinstance(value, Seed):
        return ["seed", value.value]
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.asarray(value)
        if array.dtype.kind not in "biufcUS":
            raise TypeError(f"plain numbers or text expected in an array, got dtype {array.dtype}")
        arrays.append(array)
        return ["array" if isinstance(value, np.ndarray) else "scalar", len(arrays) - 1]
    if type(value) in (tuple, list):
        return [type(value).__name__, [encode(item, arrays) for item in value]]
    if type(value) is dict and all(type(key) is str for key in value):
        return ["dict", {key: encode(item, arrays) for key, item in value.items()}]
    raise TypeError(f"arrays, numbers, text, None, tuples, lists or dicts expected, got {type(value).__name__}")


def decode(tree: Any, arrays) -> Any:
    """The value of a tree made by `encode`."""
    kind, content = tree
    match kind:
        case "plain":
            return content
        case "seed":
            return Seed(content)
        case "array":
            return arrays[content]
        case "scalar":
            return arrays[content][()]
        case "tuple" | "list":
            return (tuple if kind == "tuple" else list)(decode(item, arrays) for item in content)
        case "dict":
            return {key: decode(item, arrays) for key, item in content.items()}
    raise ValueError(f"a tree of encode() expected, got the kind {kind!r}")


def fingerprint(value: Any) -> Any:
    """Something that is equal for values equal to the last bit, NaN included; for what is not plain data, its type."""
    arrays: list[np.ndarray] = []
    try:
        tree = encode(value, arrays)
    except TypeError:
        return type(value).__name__
    return repr(tree), [(a.dtype.str, a.shape, a.tobytes()) for a in arrays]


def identical(one: Any, other: Any) -> bool:
    """Are two values the same to the last bit, NaN included? What is not plain data is compared by its type only."""
    if type(one) is not type(other):
        return False
    if isinstance(one, (np.ndarray, np.generic)):
        return one.dtype == other.dtype and one.shape == other.shape and one.tobytes() == other.tobytes()
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(identical, one, other))
    if isinstance(one, dict):
        return identical(list(one.items()), list(other.items()))
    if type(one) is float:
        return repr(one) == repr(other)              # which tells −0 from 0, and NaN from nothing
    return type(one) not in PLAIN or one == other


def fresh(value: Any) -> Any:
    """A copy that a function may do with as it likes; a `Seed` becomes its generator."""
    if isinstance(value, Seed):
        return np.random.default_rng(value.value)
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, (tuple, list)):
        return type(value)(fresh(item) for item in value)
    if isinstance(value, dict):
        return {key: fresh(item) for key, item in value.items()}
    return value
