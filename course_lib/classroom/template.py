"""``course new``: an exercise that builds at once, and whose mutation test fails until its author has written it."""
from __future__ import annotations

import keyword
import re
from pathlib import Path

from .course import Course

__all__ = ["MARK", "new"]

MARK = "TODO"                    # whatever still carries it is not written yet

HEAD = '''\
# %% [markdown]
# # {MARK}: the title of the unit
# {MARK}: what it is about, and what it builds on.

# %% tags=["setup"]
import numpy as np
from course_lib.classroom import check, hint, solution
'''
SOLUTION = '''
# %% [markdown]
# ## {id} {MARK}: a title
# Write `{name}(x)`: for an array x, (N,), … {MARK}: say what goes in and what comes out, with shapes.

# %% tags=["solution"]
def {name}(x):
    """The mean of the squares: x (N,) -> a number."""
    squares = x ** 2
    return squares.mean()


# %%
check({name})

# %% [markdown] tags=["worked"]
# {MARK}: why this is right, and why the wrong ones are wrong.
'''
CASES_HEAD = '''\
"""Inputs, hints and known mistakes of the exercises in {topic}."""
import numpy as np

from course_lib.classroom.cases import Case, Exercise
'''
CASES = '''
{name} = Exercise(
    "{name}", id="{id}", title="{MARK}: a title", points=1,
    hints=("{MARK}: a nudge.", "{MARK}: the formula.", "{MARK}: the first line."),
    notice="{MARK}: what to see once it is right.",
    intermediates=("squares",),      # locals of the reference, by which the checker finds where an answer leaves it
    ready=(),                        # library functions that would do the exercise: "scipy.special.logsumexp"
)


@{name}.cases
def {name}_cases(rng):               # simplest first; all that is hidden comes from another seed of rng
    yield Case("two numbers", (np.array([1.0, 3.0]),))
    yield Case("five numbers", (rng.normal(1.0, 2.0, size=5),))


@{name}.mistake("{MARK}: the sentence that names the mistake.", "How to see it, and what to do about it.")
def {name}_sum(x): return (x ** 2).sum()


@{name}.mistake("{MARK}: a second one.", "…")
def {name}_of_the_mean(x): return x.mean() ** 2


@{name}.mistake("{MARK}: a third one.", "…")
def {name}_root(x): return np.sqrt((x ** 2).mean())


@{name}.mistake("{MARK}: a fourth one.", "…")
def {name}_divisor(x): return (x ** 2).sum() / (len(x) - 1)


@{name}.variant                      # right answers, written in another way
def {name}_loop(x): return sum(float(value) ** 2 for value in x) / len(x)


@{name}.variant
def {name}_product(x): return x @ x / len(x)
'''


def new(name: str, folder: Path, topic: str = "01_exercises", identity: str = "") -> list[Path]:
    """Write the sources of an exercise into a pack, and make the pack if there is none.

    Parameters
    ----------
    name : str
        Of the function.
    folder : Path
        The pack.
    topic : str
        The unit, "NN_topic"; an exercise is added to a unit that is there already.
    identity : str
        Such as "E1.3"; by default the next one of the unit.

    Raises
    ------
    ValueError
        If name, unit or id are not of their form or are taken.
    """
    if not re.fullmatch("[a-z_][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise ValueError(f"the name of a function, small letters, digits and _, expected, got {name!r}")
    if not (match := re.fullmatch(r"(\d\d[a-z]?)_\w+", topic)):
        raise ValueError(f"a unit such as 01_averages expected, got {topic!r}")
    taken = _taken(folder)
    identity = identity or _next(match[1], taken)
    if clash := {name, identity} & taken:
        raise ValueError(f"a new name and id expected, but {', '.join(sorted(clash))} is there already; choose another")
    told = {"name": name, "id": identity, "topic": topic, "MARK": MARK}
    return [_added(folder / "solutions" / f"{topic}.py", HEAD, SOLUTION, told),
            _added(folder / "solutions" / "cases" / f"{topic}.py", CASES_HEAD, CASES, told)]


def _added(path: Path, head: str, text: str, told: dict[str, str]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text(encoding="utf-8").rstrip() + "\n\n" if path.exists() else head.format_map(told)
    path.write_text(before + text.format_map(told), encoding="utf-8")
    return path


def _taken(folder: Path) -> set[str]:
    references = Course(folder, is_pack=True).references if (folder / "solutions").is_dir() else []
    return {word for r in references for word in (r.exercise.name, r.exercise.id)}


def _next(number: str, taken: set[str]) -> str:
    unit = number.lstrip("0").rstrip("abcdefgh") or "0"
    return next(i for n in range(1, 1_000) if (i := f"E{unit}.{n}") not in taken)
