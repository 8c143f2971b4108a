"""What the checker says, as HTML in a notebook and as plain text everywhere; a word stands beside every colour."""
from __future__ import annotations

import re
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

__all__ = ["Card", "Rows", "Text", "inline", "shown"]

COLOURS = {"right": "#009E73", "wrong": "#D55E00", "note": "#0072B2"}
PRE = "margin:0;padding:0;background:transparent;white-space:pre;overflow-x:auto"


@dataclass(frozen=True)
class Text:
    """A paragraph; `code` in back quotes is set as code."""

    words: str

    def html(self) -> str:
        return f"<p style='margin:.4em 0'>{inline(self.words)}</p>"

    def text(self) -> str:
        return self.words


@dataclass(frozen=True)
class Rows:
    """A table of two columns: what it is, and the thing itself."""

    rows: tuple[tuple[str, str], ...]

    def html(self) -> str:
        lines = (f"<tr><th scope='row' style='text-align:right;vertical-align:baseline;font-weight:normal;"
                 f"padding:.1em .8em .1em 0'>{inline(name)}</th><td style='text-align:left;vertical-align:baseline'>"
                 f"<pre style='{PRE}'>{escape(value)}</pre></td></tr>" for name, value in self.rows)
        return f"<table style='margin:.4em 0'>{''.join(lines)}</table>"

    def text(self) -> str:
        width = max(len(name) for name, _ in self.rows)
        return "\n".join(f"  {name.rjust(width)}  " + value.replace("\n", "\n" + " " * (width + 4))
                         for name, value in self.rows)


@dataclass(frozen=True)
class Card:
    """A heading that begins with a word for its colour, and blocks below it."""

    tone: str                            # right, wrong or note
    word: str                            # RIGHT, NOT YET, …
    heading: str
    blocks: tuple[Text | Rows, ...] = ()

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/html": self.html(), "text/plain": self.text()}

    def html(self) -> str:
        colour = COLOURS[self.tone]
        return (f"<div role='status' style='border-left:.4em solid {colour};padding:.2em 0 .2em .8em;max-width:52em'>"
                f"<strong><span style='color:{colour}'>{escape(self.word)}</span> · {inline(self.heading)}</strong>"
                f"{''.join(block.html() for block in self.blocks)}</div>")

    def text(self) -> str:
        return "\n".join([f"[{self.word}] {self.heading}", *(block.text() for block in self.blocks)])

    __str__ = __repr__ = text

    def show(self) -> None:
        """Display in a notebook, print elsewhere."""
        try:
            from IPython import get_ipython
            from IPython.display import display
        except ImportError:
            get_ipython = lambda: None  # noqa: E731
        display(self) if get_ipython() else print(self.text())


def shown(value: Any, digits: int = 6) -> str:
    """A value as a few short lines."""
    if isinstance(value, np.random.Generator):
        return "a random generator"
    if isinstance(value, np.ndarray):
        return _array(value, digits)
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.{digits}g}"
    if isinstance(value, (tuple, list)):
        inner = ", ".join(shown(item, digits) for item in value[:8])
        return f"({inner})" if isinstance(value, tuple) else f"[{inner}{', …' if len(value) > 8 else ''}]"
    text = repr(value.item() if isinstance(value, np.generic) else value)
    return text if len(text) <= 300 else text[:300] + " …"


def _array(value: np.ndarray, digits: int) -> str:
    try:
        finite = np.abs(value[np.isfinite(value)]) if value.dtype.kind == "f" else np.zeros(0)
        whole = len(str(int(finite.max()))) if finite.size and finite.max() >= 1 else 0
        text = np.array2string(value, precision=max(digits - whole, 0), suppress_small=True, separator=", ", threshold=24, edgeitems=3,
                               max_line_width=76, floatmode="maxprec")
    except Exception:  # an object array may hold anything
        text = object.__repr__(value)
    return text + (f"   shape {value.shape}" if value.size > 24 else "")


def inline(words: str) -> str:
    """Words as HTML, with `code` in back quotes set as code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(words, quote=False))
