"""From what a submission answered to points and reasons; nothing of a student runs here.

Each input is judged by itself, then the inputs of one label make a part. A part whose inputs vary with the seed earns
its share of the points if every one of its inputs is right. A part whose inputs, or whose answers, are always the same
could be learnt by heart: it earns nothing, and costs a share where it is wrong.
"""
from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..answers import Failure
from ..card import shown
from ..cases import Seed
from ..compare import Difference
from ..mistakes import recognised
from .keys import Key, Trap, coarse
from .records import CRASHED, DELEGATED, MISSING, NOT_GRADED, RIGHT, TIMED_OUT, WRONG, Example, Item, Part

if TYPE_CHECKING:
    from .sandbox import Reply

__all__ = ["Finding", "blank", "mark"]

LONGEST = 2_000                # characters of anything that a student's function made, in a record
UNTOUCHED = "there is no code in it yet"


@dataclass(frozen=True)
class Finding:
    """What is to be said of one input."""

    status: str
    sentence: str = ""


ABSENT = Finding(MISSING, "no cell defines it")


def mark(key: Key, replies: Sequence[Reply], missing: Finding = ABSENT, notebook: str = "") -> Item:
    """Grade one exercise.

    Parameters
    ----------
    key : Key
    replies : sequence of Reply
        One for each input of the key, in its order.
    missing : Finding
        Why there is no such function, if there is none.
    notebook : str
        The file that the replies come from.
    """
    findings = [_finding(key, i, reply, missing) for i, reply in enumerate(replies)]
    wrong = [i for i, finding in enumerate(findings) if finding.status != RIGHT]
    item = replace(blank(key, RIGHT, notebook=notebook), points=key.points)
    if ungraded := next((f for f in findings if f.status == NOT_GRADED), None):
        return blank(key, NOT_GRADED, ungraded.sentence, notebook)
    parts = _parts(key, findings)
    if used := next((reply.delegated for reply in replies if reply.delegated), None):
        return replace(
            item, status=DELEGATED, points=0.0, parts=parts, reason=f"it calls `{used}`, which does the exercise"
        )
    if not wrong:
        return replace(item, parts=parts)
    first = findings[wrong[0]]
    trap, everywhere = _trap(key, replies, wrong)
    if everywhere:
        parts = _profiled(parts, trap)
    return replace(item, status=first.status, points=round(key.points * _share(parts), 4), parts=parts,
                   reason=trap.title if trap else first.sentence, mistake=trap.title if trap else "",
                   remedy=trap.remedy if trap else "", example=_example(key, replies[wrong[0]], wrong[0], first),
                   cluster="" if trap or first.status != WRONG else _cluster(key, replies),
                   printed=replies[wrong[0]].printed[:LONGEST])


def blank(key: Key, status: str, reason: str = "", notebook: str = "") -> Item:
    """An exercise of which nothing is known but a status: 0 points, or none at all where it is not graded."""
    return Item(
        key.id,
        key.name,
        key.title,
        key.topic,
        status,
        None if status == NOT_GRADED else 0.0,
        key.points,
        reason,
        notebook=notebook,
    )


def _finding(key: Key, i: int, reply: Reply, missing: Finding) -> Finding:
    match reply.status:
        case "returned":
            return _returned(key, i, reply)
        case "raised" if reply.error.startswith("NotImplementedError"):
            return Finding(MISSING, UNTOUCHED)
        case "raised":
            return Finding(WRONG, f"it stops with {reply.error[:LONGEST]}")
        case "not plain":
            return Finding(WRONG, f"its answer is no plain array, number or text: {reply.error[:LONGEST]}")
        case "missing":
            return missing
        case "timed out":
            return Finding(TIMED_OUT, reply.error or "no answer within the time allowed")
        case "crashed":
            return Finding(CRASHED, reply.error or "the process that ran it ended without an answer")
    return Finding(NOT_GRADED, reply.error or f"the sandbox gave no answer ({reply.status})")


def _returned(key: Key, i: int, reply: Reply) -> Finding:
    if reply.changed:
        changed = key.arguments[reply.changed[0]] if reply.changed[0] < len(key.arguments) else "one of its arguments"
        return Finding(WRONG, f"it changes its argument `{changed}`")
    if reply.stirred:
        return Finding(WRONG, "it touches the global random generator")
    if difference := _difference(key, i, reply):
        return Finding(WRONG, difference.sentence)
    if not reply.again:
        return Finding(WRONG, "two calls with the same input gave two answers")
    return Finding(RIGHT)


def _difference(key: Key, i: int, reply: Reply) -> Difference | None:
    """The comparer's, which may stumble over what no array can hold, such as an integer of a thousand digits."""
    try:
        return key.comparer.difference(key.expected[i], reply.value)
    except (ArithmeticError, ValueError, TypeError) as error:
        return Difference("value", f"It cannot be compared with the expected answer ({type(error).__name__}).")


def _output(reply: Reply):
    return reply.value if reply.status == "returned" else Failure(reply.status)


def _trap(key: Key, replies: Sequence[Reply], wrong: list[int]) -> tuple[Trap | None, bool]:
    """The known mistake that answers as this one, and whether it does so on every input."""
    if any(r.changed or r.stirred or r.status not in ("returned", "raised") for r in replies):
        return None, False
    return recognised(key.traps, list(map(_output, replies)), wrong, key.comparer)


def _parts(key: Key, findings: list[Finding]) -> tuple[Part, ...]:
    bad: dict[str, str] = {}
    for case, finding in zip(key.cases, findings):
        if finding.status != RIGHT:
            bad.setdefault(case.label, finding.sentence)
    return tuple(Part(label, label not in bad, label in key.fixed, bad.get(label, ""))
                 for label in dict.fromkeys(case.label for case in key.cases))


def _profiled(parts: tuple[Part, ...], trap: Trap) -> tuple[Part, ...]:
    """The parts of an answer that is a known mistake everywhere: its luck with these inputs does not count."""
    return tuple(
        p
        if p.right == (p.label in trap.right)
        else replace(p, right=not p.right, reason=f"right here by luck: {trap.title}" if p.right else "")
        for p in parts
    )


def _share(parts: tuple[Part, ...]) -> float:
    counting = [p for p in parts if not p.fixed or not p.right] if any(not p.fixed for p in parts) else parts
    return sum(p.right for p in counting) / len(counting) if counting else 1.0


def _example(key: Key, reply: Reply, i: int, finding: Finding) -> Example:
    case = key.cases[i]
    given = tuple((name, f"default_rng({value.value})" if isinstance(value, Seed) else shown(value))
                  for name, value in zip(key.arguments, case.args))
    got = shown(reply.value)[:LONGEST] if reply.status == "returned" else ""
    return Example(case.label, given, got, shown(key.expected[i]), finding.sentence)


def _cluster(key: Key, replies: Sequence[Reply]) -> str:
    """Equal for answers that are wrong in the same way on the public inputs, whatever the secret."""
    told = [coarse(r.value) if r.status == "returned" else (r.status, r.error.partition(":")[0])
            for r, public in zip(replies, key.public) if public]
    return hashlib.sha256(repr((key.id, told)).encode("utf-8", "replace")).hexdigest()[:12]
