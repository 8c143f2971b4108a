"""Is this answer a known mistake's? For the checker, the grader and the test of both."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from .answers import Failure
from .compare import Comparer

__all__ = ["recognised", "same"]


class Known(Protocol):
    """A mistake and what it returns for each input; a `Failure` where it raises."""

    outputs: tuple


Mistake = TypeVar("Mistake", bound=Known)


def same(one: Any, other: Any, comparer: Comparer) -> bool:
    """Are two outputs, failures among them, equal for the comparer? What cannot be compared is not."""
    if isinstance(one, Failure) or isinstance(other, Failure):
        return isinstance(one, Failure) and isinstance(other, Failure)
    try:
        return comparer.difference(one, other) is None
    except (ArithmeticError, ValueError, TypeError):     # an integer of a thousand digits fits into no array
        return False


def recognised(
    known: Sequence[Mistake], got: Sequence[Any], wrong: Sequence[int], comparer: Comparer
) -> tuple[Mistake | None, bool]:
    """The mistake that answers as this one, and whether it does so on every input.

    Else it is the only one that equals the answer in all the places `wrong`, which are not empty. A bare exception
    names nothing.
    """
    def equal(mistake: Mistake, places: Sequence[int]) -> bool:
        return all(same(mistake.outputs[i], got[i], comparer) for i in places)

    fitting = [mistake for mistake in known if equal(mistake, wrong)]
    if whole := next((mistake for mistake in fitting if equal(mistake, range(len(got)))), None):
        return whole, True
    values = any(not isinstance(got[i], Failure) for i in wrong)
    return (fitting[0] if values and len(fitting) == 1 else None), False
