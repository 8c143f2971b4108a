"""Run the named benchmarks, or all of them: a table each, and `results.json`, the picture and the page once all ran."""
import argparse
import importlib
import json
import pkgutil
import sys
import warnings
from functools import partial
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from threadpoolctl import threadpool_limits

import benchmarks
from benchmarks.measure import measured
from benchmarks.page import machine, write

HERE = Path(__file__).parent
FRAME = {"measure", "page"}
NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in FRAME | {"__main__"})
GRID = [(100, 20, 10), (1_000, 20, 10), (10_000, 20, 10), (100_000, 20, 10), (1_000_000, 20, 10),
        (100_000, 20, 2), (100_000, 100, 10)]
QUICK = [(1_000, 20, 10)]


def main(argv=None) -> None:
    """Read the command line; measure; show; keep a full run's results."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smallest sizes and fewest repetitions; nothing is kept")
    parser.add_argument("--keep", action="store_true", help="put the named results into results.json too")
    arguments = parser.parse_args(argv)
    if unknown := sorted(set(arguments.names) - set(NAMES)):
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(NAMES)}")
    results = {}
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        measure = partial(compared, module) if hasattr(module, "problems") else module.run
        results[name] = measure(arguments.quick)
        show(name, module.__doc__.strip().splitlines()[0], results[name])
    if not arguments.quick and (arguments.keep or not arguments.names):
        keep(results)


def compared(module, quick: bool) -> list[dict]:
    """Every problem of a module at every point of its grid, one BLAS thread on both sides."""
    grid = QUICK if quick else getattr(module, "GRID", GRID)
    how = {"pairs": 2, "budget": 0.0} if quick else {}
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [row for shape in track(grid, module.__name__, console=Console(stderr=True), transient=True)
                for problem in module.problems(*shape) for row in measured(problem, **how)]


def keep(results: dict) -> None:
    """Write `results.json`, with the rows of earlier runs for benchmarks that did not run, and the page made of it."""
    path = HERE / "results.json"
    old = json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}
    kept = {"machine": machine(), "results": {name: (old | results)[name] for name in NAMES if name in old | results}}
    path.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    write(HERE, kept)


def show(name: str, title: str, rows: list[dict]) -> None:
    """Print rows of one benchmark; a column for every key that any of them has."""
    table = Table(title=f"{name}: {title}", title_justify="left")
    columns = list(dict.fromkeys(key for row in rows for key in row))
    for column in columns:
        table.add_column(column, justify="left" if isinstance(rows[0].get(column), str) else "right")
    for row in rows:
        table.add_row(*(_cell(row.get(column)) for column in columns))
    Console().print(table)


def _cell(value) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main())
