"""What is made of `results.json`: the tables of README.md and the picture beside them."""
from __future__ import annotations

import math
import platform
from importlib.metadata import version
from pathlib import Path

import numpy as np

BEGIN, END = "<!-- begin: made from results.json -->", "<!-- end -->"
POINTS = [(10_000, 20), (100_000, 20), (100_000, 100), (1_000_000, 20)]  # N×D; of several K the largest
LEAST_ROWS = 1_000  # smaller tables are measured, but nobody waits for them


def machine() -> dict:
    """What the figures depend on."""
    names = ("numpy", "scipy", "scikit-learn", "statsmodels")
    return {"processor": platform.processor() or platform.machine(), "system": platform.system(),
            "python": platform.python_version()} | {name: version(name) for name in names}


def write(folder: Path, kept: dict) -> None:
    """Put the tables into README.md and draw `ratios.png`."""
    page = folder / "README.md"
    page.write_text(filled(page.read_text(encoding="utf-8"), kept), encoding="utf-8")
    picture(kept).savefig(folder / "ratios.png", dpi=120)


def filled(text: str, kept: dict) -> str:
    """The page with the tables of `kept` between its two marks."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n\n" + tables(kept) + "\n" + END + rest.split(END, 1)[1]


def tables(kept: dict) -> str:
    """Markdown: targets, exceptions, growth, and a table for each benchmark that compares nothing."""
    rows = list(pairs(kept))
    parts = ["Measured with " + ", ".join(f"{k} {v}" for k, v in kept["machine"].items()) + ".\n",
             "### Ratios\n", targets(rows), "### Slower than the counterpart, or above the target\n", exceptions(rows),
             "### Growth\n", growth(rows)]
    for name, own in kept["results"].items():
        if own and "ratio" not in own[0]:
            parts += [f"### {name}\n", markdown(own)]
    return "\n".join(parts)


def pairs(kept: dict):
    """The rows of all benchmarks that compare."""
    for own in kept["results"].values():
        yield from (row for row in own if "ratio" in row)


def targets(rows) -> str:
    """A line for each method and what it does: the target, the ratio at each point, memory, agreement."""
    lines = []
    for (method, what), group in _grouped(rows).items():
        agreements = [r["agreement"] for r in group if r["agreement"] is not None]
        at = {(r["N"], r["D"]): r for r in sorted(group, key=lambda r: r["K"])}
        shown = at.get(POINTS[1], group[-1])
        lines.append({"method": method, "what": what, "target": _target(shown)}
                     | {f"{N:.0e}×{D}".replace("e+0", "e"): _ratio(at.get((N, D))) for N, D in POINTS}
                     | {"reads of X": shown.get("reads"), "peak / X": shown.get("peak"),
                        "theirs": shown.get("their peak"), "agreement": max(agreements, default=None)})
    return markdown(lines)


def exceptions(rows) -> str:
    """Every point with enough rows where ours takes longer than theirs, or misses its target."""
    late = [row for row in rows if row["N"] >= LEAST_ROWS and row["ratio"] > (row["target"] or 1.0)]
    return markdown([{"method": row["method"], "what": row["what"], "point": f"{row['N']:,}×{row['D']}×{row['K']}",
                      "ratio": _ratio(row), "target": _target(row)} for row in late]) if late else "None.\n"


def growth(rows) -> str:
    """Exponents a of time ∝ N^a, D^a, K^a, fitted to the points that differ in that size alone."""
    lines = []
    for (method, what), group in _grouped(rows).items():
        group = [row for row in group if row["N"] >= 10 * LEAST_ROWS]
        if what != "one row" and group:
            lines.append({"method": method, "what": what} | {size: _exponent(group, size) for size in "NDK"})
    return markdown(lines) if lines else f"Nothing was measured at {10 * LEAST_ROWS:,} rows or more.\n"


def _exponent(group, size: str):
    """Slope of ln seconds over ln size in the largest set of rows that agree in the other sizes."""
    others = [other for other in "NDK" if other != size]
    series = {}
    for row in group:
        series.setdefault(tuple(row[other] for other in others), []).append((row[size], row["ours"]))
    points = max(series.values(), key=lambda points: len({at for at, _ in points}))
    if len({at for at, _ in points}) < 2:
        return None
    return float(np.polyfit(*np.log(np.array(points)).T, 1)[0])


def markdown(rows: list[dict]) -> str:
    """A table with a column for each key of the first row."""
    head = list(rows[0])
    lines = [head, ["---"] * len(head)] + [[_text(row.get(key)) for key in head] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def picture(kept: dict):
    """Ratios of every method at every point with enough rows, beside the target and the line at 1."""
    from matplotlib.figure import Figure
    groups = {key: [r for r in group if r["N"] >= LEAST_ROWS] for key, group in _grouped(pairs(kept)).items()}
    groups = {key: group for key, group in groups.items() if group}
    figure = Figure(figsize=(9, 1.2 + 0.22 * len(groups)), layout="constrained")
    ax = figure.add_subplot(xscale="log", xlabel="seconds, ours / theirs")
    for line, group in enumerate(groups.values()):
        ax.plot([r["ratio"] for r in group], [line] * len(group), "o", color="#0072B2", alpha=0.7, ms=5)
        if group[-1]["target"]:
            ax.plot(group[-1]["target"], line, "|", color="#D55E00", ms=12, mew=2)
    ax.axvline(1, color="0.3", lw=1)
    ax.set_yticks(range(len(groups)), [f"{method}, {what}" for method, what in groups], fontsize=8)
    ax.invert_yaxis()
    ax.grid(axis="x", alpha=0.3)
    ax.legend(handles=ax.lines[:2], labels=["a point of the grid", "target"], loc="lower right", fontsize=8)
    return figure


def _grouped(rows) -> dict:
    groups = {}
    for row in rows:
        groups.setdefault((row["method"], row["what"]), []).append(row)
    return groups


def _ratio(row) -> str:
    return "" if row is None else f"{row['ratio']:.3f} ({row['low']:.3f}–{row['high']:.3f})"


def _target(row) -> str:
    return "" if row["target"] is None else f"{row['target']:g}"


def _text(value) -> str:
    if value is None or isinstance(value, float) and math.isnan(value):
        return "–"
    return f"{value:.2g}" if isinstance(value, float) else str(value)
