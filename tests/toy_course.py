"""A course of one unit with one exercise, small enough to break in every way."""
from pathlib import Path

SOLUTION = '''\
# %% [markdown]
# # Shares
# Write `shares(counts)`.

# %% tags=["setup"]
import numpy as np

# %% tags=["solution"]
def shares(counts):
    """Each row's counts as shares of the row's total: counts (N, K) -> (N, K)."""
    total = counts.sum(axis=1, keepdims=True)
    share = counts / total
    return share

# %%
print(np.round(np.array([1.0, 3.0]) / 4, 2))

# %% [markdown] tags=["worked"]
# The secret is `keepdims`.
'''

CASES = '''\
import numpy as np
from course_lib.classroom.cases import Case, Exercise

shares = Exercise("shares", id="E1.1", title="Shares", hints=("Rows.", "n / sum n", "total = counts.sum(axis=1, …)"),
                  notice="Every row sums to 1.", intermediates=("total", "share"), ready=("toolbox.shares",))

@shares.cases
def cases(rng):
    yield Case("two rows", (np.array([[1.0, 3.0], [2.0, 2.0]]),))
    yield Case("three columns", (rng.uniform(1, 9, (4, 3)),))

@shares.mistake("It divides by the column's total.", "Sum over axis 1.")
def columns(counts): return counts / counts.sum(axis=0)

@shares.mistake("It divides by the grand total.", "Sum over axis 1, not over everything.")
def grand(counts): return counts / counts.sum()

@shares.mistake("It divides by the largest count.", "The total, not the maximum.")
def largest(counts): return counts / counts.max(axis=1, keepdims=True)

@shares.mistake("It gives the counts back.", "Divide.")
def same(counts): return counts * 1.0

@shares.variant
def loops(counts): return np.array([[n / sum(row) for n in row] for row in counts.tolist()])

@shares.variant
def transposed(counts): return (counts.T / counts.T.sum(axis=0)).T
'''

LECTURE = '''\
# %% [markdown]
# # A lecture

# %%
total = 1 + 1
assert total == 2  # claim 1.1
# claim 1.1
print(total)
'''

PROJECT = '''\
[project]
name = "toy"
requires-python = ">=3.11"
dependencies = ["numpy>=2.0", "rich>=13; sys_platform != 'emscripten'"]
[project.optional-dependencies]
grade = ["jinja2>=3.1"]
test = ["toy[grade]", "pytest>=8"]
'''


def write(root: Path) -> Path:
    """Lay the toy course out in a folder."""
    for name, text in {"solutions/01_shares.py": SOLUTION, "solutions/cases/01_shares.py": CASES,
                       "notebooks/scripts/01_shares.py": LECTURE, "notebooks/claims.toml": '"1.1" = "One and one is two."\n',
                       "pyproject.toml": PROJECT}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "exercises").mkdir(exist_ok=True)
    return root
