"""Is an answer the expected one, and if not, what is the first thing to say about it?

Type before dtype, dtype before shape, shape before values: the first difference is the one worth reading.
"""
from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Comparer", "Difference", "describe"]

NUMERIC, WORDS = "biuf", "US"


@dataclass(frozen=True)
class Difference:
    """Where an answer leaves the expected one."""

    kind: str            # missing, type, dtype, shape, nan or value
    sentence: str
    place: str = ""      # "[0, 1]" of the first entry that differs


@dataclass(frozen=True)
class Comparer:
    """Equality of answers: ``|got − expected| ≤ atol + rtol |expected|``, up to what `up_to` forgives.

    Parameters
    ----------
    rtol, atol : float
    up_to : str
        ``""`` plain values; ``"sign"`` each column may be negated; ``"scale"`` each column may be multiplied by any
        number but 0; ``"permutation"`` the rows may stand in another order.
    """

    rtol: float = 1e-9
    atol: float = 1e-12
    up_to: str = ""

    def __post_init__(self):
        if self.up_to not in ("", "sign", "scale", "permutation"):
            raise ValueError(f'up_to takes "", "sign", "scale" or "permutation", got {self.up_to!r}')

    def looser(self, factor: float) -> "Comparer":
        return Comparer(self.rtol * factor, self.atol * factor, self.up_to)

    def difference(self, expected: Any, got: Any) -> Difference | None:
        """The first difference, or None where the answer is right."""
        if got is None and expected is not None:
            return Difference("missing", f"It returned None instead of {describe(expected)}: is the `return` missing? "
                                         "Perhaps in one branch only, the one that this input takes.")
        if isinstance(expected, (tuple, list)):
            return self._sequence(expected, got)
        if isinstance(expected, dict):
            return self._mapping(expected, got)
        if isinstance(expected, (str, type(None))) or isinstance(expected, (bool, np.bool_)):
            return self._exact(expected, got)
        return self._array(expected, got)

    def _sequence(self, expected, got) -> Difference | None:
        if not isinstance(got, (tuple, list)):
            return Difference("type", f"It returned {describe(got)} instead of {describe(expected)}.")
        if len(got) != len(expected):
            return Difference("shape", f"It returned {len(got)} values instead of {len(expected)}.")
        for i, (one, other) in enumerate(zip(expected, got)):
            if found := self.difference(one, other):
                return Difference(found.kind, f"Value {i + 1} of {len(expected)}: {found.sentence}", found.place)
        return None

    def _mapping(self, expected, got) -> Difference | None:
        if not isinstance(got, dict) or set(got) != set(expected):
            return Difference("type", f"It returned {describe(got)} instead of {describe(expected)}.")
        for key in expected:
            if found := self.difference(expected[key], got[key]):
                return Difference(found.kind, f"Under {key!r}: {found.sentence}", found.place)
        return None

    def _exact(self, expected, got) -> Difference | None:
        plain = got.item() if isinstance(got, (np.generic, np.ndarray)) and np.ndim(got) == 0 else got
        if type(plain) is not type(expected.item() if isinstance(expected, np.generic) else expected):
            return Difference("type", f"It returned {describe(got)} instead of {describe(expected)}.")
        return None if plain == expected else Difference("value", f"It is {plain!r} instead of {expected!r}.")

    def _array(self, expected, got) -> Difference | None:
        for test in (_type_difference, _dtype_difference, _shape_difference):
            if found := test(expected, got):
                return found
        if np.asarray(expected).dtype.kind in WORDS:
            wrong = np.atleast_1d(np.asarray(got) != np.asarray(expected))
        else:
            expected, got = np.asarray(expected, float), np.asarray(got, float)
            wrong = np.atleast_1d(~self._close(expected, self._aligned(expected, got)))
        return _value_difference(np.atleast_1d(expected), np.atleast_1d(got), wrong) if wrong.any() else None

    def _close(self, expected: np.ndarray, got: np.ndarray) -> np.ndarray:
        if (same := got == expected).all():  # as most answers are
            return same
        with np.errstate(all="ignore"):
            near = np.abs(got - expected) <= self.atol + self.rtol * np.abs(expected)
        return np.where(np.isfinite(expected) & np.isfinite(got), near,
                        same | (np.isnan(got) & np.isnan(expected)))

    def _aligned(self, expected: np.ndarray, got: np.ndarray) -> np.ndarray:
        """`got` with the freedom of `up_to` used to bring it as near to `expected` as it comes."""
        if not self.up_to or got.ndim == 0:
            return got
        if self.up_to == "permutation":
            return _matched(expected, got)
        with np.errstate(all="ignore"):
            factor = (got * expected).sum(axis=0) / (got * got).sum(axis=0)
            return got * (np.sign(factor) if self.up_to == "sign" else factor)


def describe(value: Any) -> str:
    """What a value is, in words: "an array of float64, shape (3, 2)"."""
    if isinstance(value, np.ndarray):
        name = "an array" if type(value) is np.ndarray else f"a {type(value).__name__}"
        return f"{name} of {value.dtype}, shape {value.shape}"
    if isinstance(value, np.generic):
        return f"the {value.dtype} {value}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(describe(item) for item in itertools.islice(value, 4))
        return f"a {type(value).__name__} of {len(value)} ({inner}{', …' if len(value) > 4 else ''})"
    if isinstance(value, dict):
        return f"a dict with the keys {', '.join(map(str, itertools.islice(value, 8)))}"
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return {"NoneType": "None"}.get(type(value).__name__) or f"the {type(value).__name__} {str(value)[:40]!s}"
    return f"a {type(value).__name__}"


def _type_difference(expected, got) -> Difference | None:
    if np.ndim(expected) == 0:
        number = isinstance(got, (int, float, complex, np.number, np.bool_)) or (type(got) is np.ndarray and got.ndim == 0)
        if number:
            return None
        return Difference("shape" if type(got) is np.ndarray else "type",
                          f"It returned {describe(got)} instead of a single number.")
    if type(got) is np.ndarray:
        return None
    wanted = describe(expected)
    if isinstance(got, (list, tuple)):
        return Difference("type", f"It returned a {type(got).__name__} instead of {wanted}: "
                                  "build the result as an array (np.array(…) of a list makes one).")
    if isinstance(got, np.ndarray):
        return Difference("type", f"It returned {describe(got)} instead of a plain array: np.asarray(…) makes one.")
    single = " Does a `return` stand inside a loop, or is an axis= missing?" if np.ndim(got) == 0 else ""
    return Difference("type", f"It returned {describe(got)} instead of {wanted}.{single}")


def _dtype_difference(expected, got) -> Difference | None:
    want, have = np.asarray(expected).dtype, np.asarray(got).dtype
    if have.kind == "O":
        return Difference("dtype", f"It returned an array of Python objects instead of {want}: "
                                   "are its rows of different lengths, or is a None among them?")
    if have.kind == "c":
        return Difference("dtype", f"It returned complex numbers instead of {want}: "
                                   "a symmetric matrix wants eigh rather than eig; a root of a negative number is no answer.")
    if want.kind in WORDS or have.kind in WORDS:
        same = want.kind in WORDS and have.kind in WORDS
        return None if same else Difference("dtype", f"It returned {have} instead of {want}: text and numbers differ.")
    if want.kind == "b" and have.kind != "b":
        return Difference("dtype", f"It returned {have} instead of True and False.")
    if want.kind in "iu" and have.kind not in "iu":
        return Difference("dtype", f"It returned {have} instead of whole numbers ({want}): these are indices or counts; "
                                   "argmax gives them, .astype(int) converts.")
    if want.kind == "f" and have.kind == "b":
        return Difference("dtype", f"It returned True and False instead of numbers ({want}).")
    if have.kind == "f" and have.itemsize < 8 and want.kind == "f":
        return Difference("dtype", f"It returned {have}, which holds about 7 digits, instead of {want}: "
                                   "compute in float64 (np.asarray(x, float)).")
    return None


def _shape_difference(expected, got) -> Difference | None:
    want, have = np.shape(expected), np.shape(got)
    if want == have:
        return None
    advice = ""
    if len(have) == 2 and have[::-1] == want:
        advice = " The answer lies on its side: rows and columns are swapped."
    elif np.prod(want) == np.prod(have) and tuple(n for n in have if n != 1) == tuple(n for n in want if n != 1):
        advice = " An axis of length 1 is left over or missing: keepdims=True keeps it, indexing or .ravel() drops it."
    elif len(have) < len(want):
        advice = " An axis was summed away or never made."
    elif len(want) == len(have) == 1 and min(*want, *have) > 1:
        advice = " The other axis was left: look at the axis= of the sum, maximum or mean."
    return Difference("shape", f"The shape is {have} instead of {want}.{advice}")


def _value_difference(expected, got, wrong) -> Difference:
    where = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = f"[{', '.join(map(str, where))}]"
    count = f"{wrong.sum()} of {wrong.size} entries differ; the first is at {place}" if wrong.size > 1 else "It differs"
    have, want = got[where], expected[where]
    digits = next((d for d in (6, 9, 12) if _number(have, d) != _number(want, d)), 17)
    if got.dtype.kind == "f" and np.isnan(have) and not np.isnan(want):
        return Difference("nan", f"{count}: NaN instead of {_number(want, 6)}. NaN comes from 0/0, inf − inf or 0·inf "
                                 "(or from the log of a negative number): which of them can this input cause?", place)
    return Difference("value", f"{count}: {_number(have, digits)} instead of {_number(want, digits)}.", place)


def _number(value, digits: int) -> str:
    return f"{value:.{digits}g}" if np.asarray(value).dtype.kind in NUMERIC else repr(str(value))


def _matched(expected: np.ndarray, got: np.ndarray) -> np.ndarray:
    """Rows of `got` in the order that is nearest to the rows of `expected`."""
    from scipy.optimize import linear_sum_assignment

    flat = np.nan_to_num(got.reshape(len(got), -1)), np.nan_to_num(expected.reshape(len(expected), -1))
    cost = np.abs(flat[1][:, None, :] - flat[0][None, :, :]).sum(axis=2)
    return got[linear_sum_assignment(cost)[1]]
