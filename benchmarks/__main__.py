"""Run the named benchmarks, or all of them, and print one table each."""
import argparse
import importlib
import pkgutil

from rich.console import Console
from rich.table import Table

import benchmarks

NAMES = sorted(m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_"))


def main(argv=None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {', '.join(NAMES)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="smallest sizes and fewest repetitions")
    arguments = parser.parse_args(argv)
    if unknown := sorted(set(arguments.names) - set(NAMES)):
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(NAMES)}")
    for name in arguments.names or NAMES:
        module = importlib.import_module(f"benchmarks.{name}")
        show(name, module.__doc__.strip().splitlines()[0], module.run(quick=arguments.quick))


def show(name: str, title: str, rows: list[dict]) -> None:
    """Print rows of one benchmark; every row has the same keys, the first row names the columns."""
    table = Table(title=f"{name}: {title}", title_justify="left")
    for column in rows[0]:
        table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
    for row in rows:
        table.add_row(*(f"{value:.4g}" if isinstance(value, float) else str(value) for value in row.values()))
    Console().print(table)


if __name__ == "__main__":
    main()
