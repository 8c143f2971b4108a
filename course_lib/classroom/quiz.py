"""Questions in a notebook: `quiz` asks and explains, `predict` keeps a guess until the result is there."""
from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from . import progress
from .card import Card, Text, inline, shown
from .questions import Choice, Question, questions

__all__ = ["predict", "quiz"]

WIDGET = "application/vnd.jupyter.widget-view+json"
LARGEST = 1000  # how many numbers of a prediction are kept
_MISSING: Any = object()
_unsaved: list[dict] = []  # predictions that the disk refused; they last as long as the kernel


def quiz(question: int | str, key: str | None = None) -> None:
    """Ask a question, or every question of a unit; with a key, answer in text.

    Parameters
    ----------
    question : str or int
        ``"2.3"`` for one question, ``"2"`` or ``2`` for all of unit 2.
    key : str, optional
        The choice, for example ``"b"``.

    Raises
    ------
    ValueError
        If there is no such question.
    """
    asked = _find(str(question))
    if key is None:
        for one in asked:
            Sheet(one).show()
    elif len(asked) > 1:
        raise ValueError(f'expected one question to answer, got a unit; try quiz("{asked[0].id}", "{key}")')
    else:
        _answer(asked[0], str(key).strip().lower()).show()


def predict(id: str, value: Any = _MISSING, *, result: Any = _MISSING) -> None:
    """Note a prediction, ``predict("1.12", 0.25)``, and recall it, ``predict("1.12", result=error)``.

    Parameters
    ----------
    id : str
        Joins the two calls.
    value : number, str, bool or array, optional
        The guess; None asks for one. The first guess counts, later ones are kept beside it.
    result : number, str, bool or array, optional
        What came out.
    """
    id = str(id)
    sentences = [] if value is _MISSING else [_note(id, value)]
    if result is not _MISSING or not sentences:
        sentences.append(_recall(_noted(id), result if result is _MISSING else _plain(result)))
    Card("note", "PREDICTION", " ".join(sentences)).show()


# --- quiz ---------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Sheet:
    """A question in three forms: buttons for a live page, explanations to unfold for a dead one, and text."""

    question: Question

    def text(self) -> str:
        asked = self.question
        choices = "".join(f"  {choice.key}) {choice.text}\n" for choice in asked.choices)
        return f'Question {asked.id}. {asked.text}\n{choices}Answer with quiz("{asked.id}", "a") or another key.'

    def html(self) -> str:
        return self._heading() + "".join(
            f"<details><summary>{choice.key}) {inline(choice.text)}</summary>{_verdict(choice).html()}</details>"
            for choice in self.question.choices)

    def widget(self):
        """A button for each choice (Tab, then Enter or Space) and the explanation below; None without ipywidgets."""
        try:
            from ipywidgets import Button, HBox, HTMLMath, Layout, VBox
        except ImportError:
            return None
        verdict, rows = HTMLMath(), []
        for choice in self.question.choices:
            button = Button(description=choice.key, tooltip=f"{choice.key}: {choice.text}",
                            layout=Layout(width="8em", flex="0 0 auto"))
            button.on_click(partial(self._choose, choice, verdict))
            rows.append(HBox([button, HTMLMath(inline(choice.text))], layout=Layout(align_items="center")))
        return VBox([HTMLMath(self._heading()), *rows, verdict])

    def _choose(self, choice: Choice, verdict, button) -> None:
        button.button_style = "success" if choice.right else "warning"
        button.description = f"{choice.key} – {_word(choice).lower()}"
        verdict.value = _verdict(choice).html()
        _keep(self.question, choice)

    def _heading(self) -> str:
        return f"<strong>Question {self.question.id}</strong>{Text(self.question.text).html()}"

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict:
        bundle = {"text/plain": self.text(), "text/html": self.html()}
        if (widget := self.widget()) is not None:
            bundle[WIDGET] = {"version_major": 2, "version_minor": 0, "model_id": widget.model_id}
        return bundle

    show = Card.show


def _find(name: str) -> list[Question]:
    unit, point, _ = name.partition(".")
    known = questions(unit)
    found = [question for question in known if not point or question.id == name]
    if not found:
        raise ValueError(f"there is no question {name}; unit {unit} has {', '.join(q.id for q in known)}")
    return found


def _answer(question: Question, key: str) -> Card:
    chosen = next((choice for choice in question.choices if choice.key == key), None)
    if chosen is None:
        keys = ", ".join(choice.key for choice in question.choices)
        return Card("note", "NO ANSWER", f"question {question.id} has {keys}; you gave {key!r}: choose one of them.")
    _keep(question, chosen)
    return _verdict(chosen)


def _keep(question: Question, choice: Choice) -> None:
    progress.record("quiz", question=question.id, key=choice.key, right=choice.right)


def _word(choice: Choice) -> str:
    return "Right" if choice.right else "Not quite"


def _verdict(choice: Choice) -> Card:
    return Card("right" if choice.right else "wrong", _word(choice).upper(), f"{choice.key}) {choice.text}",
                (Text(choice.why),))


# --- predictions --------------------------------------------------------------------------------------------------

def _note(id: str, value: Any) -> str:
    if value is None:
        return "Write your guess in place of None and run the cell again; then go on."
    value, before = _plain(value), _noted(id)
    if value not in before[-1:] and not progress.record("predict", id=id, value=value):
        _unsaved.append({"id": id, "value": value})
    first = "" if before[:1] in ([], [value]) else f" Your first guess, {_words(before[0])}, counts."
    return f"Noted: {_words(value)}.{first}"


def _noted(id: str) -> list:
    """The guesses of this id, the first one first."""
    kept = progress.events("predict", id=id) + [event for event in _unsaved if event["id"] == id]
    return [_plain(event.get("value")) for event in kept]


def _recall(guesses: list, result: Any) -> str:
    known = "" if result is _MISSING else f"; the result is {_words(result)}"
    if not guesses:
        return f"You noted no guess{known}."
    later = f" (later {', '.join(map(_words, guesses[1:]))})" if guesses[1:] else ""
    return f"You wrote {_words(guesses[0])}{later}{known and f'{known}: {_distance(guesses[0], result)}'}."


def _distance(guess: Any, result: Any) -> str:
    """How far a guess is from the result, in words."""
    if isinstance(guess, (str, bool)) or isinstance(result, (str, bool)):
        return "the same" if str(guess).strip().casefold() == str(result).strip().casefold() else "not the same"
    guess, result = np.asarray(guess, dtype=float), np.asarray(result, dtype=float)
    if guess.shape != result.shape:
        return f"they cannot be compared, their shapes are {guess.shape} and {result.shape}"
    gap = np.subtract(guess, result, out=np.zeros(guess.shape), where=guess != result)  # inf - inf counts as 0
    if np.isnan(gap).any():
        return "they cannot be compared"
    if gap.ndim and gap.any():
        return f"the largest difference is {np.abs(gap).max():.3g}"
    return f"{abs(gap):.3g} too {'low' if gap < 0 else 'high'}" if gap.any() else "exactly right"


def _plain(value: Any) -> Any:
    """What JSON can keep: a number, bool, text or nested list of numbers; anything else as its repr, shortened."""
    try:
        array = np.asarray(value)
        if array.dtype.kind in "biuf" and array.size <= LARGEST:
            return array.tolist()
        return (value if isinstance(value, str) else repr(value))[:200]
    except Exception:  # a foreign object may fail in any way, and a guess must not stop the notebook
        return f"an object of type {type(value).__name__}"


def _words(value: Any) -> str:
    return value.strip() if isinstance(value, str) else shown(np.asarray(value) if isinstance(value, list) else value)
