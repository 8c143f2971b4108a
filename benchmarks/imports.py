"""Import times in fresh processes, milliseconds (aim: 300, or 1.3 × numpy and the parts of scipy that are used)."""
import statistics
import subprocess
import sys
import time

STATEMENTS = {"nothing": "pass", "numpy": "import numpy",
              "numpy and the parts of scipy": "import numpy, scipy.linalg, scipy.sparse, scipy.special",
              "course_lib": "import course_lib", "course_lib.NaiveBayes": "from course_lib import NaiveBayes",
              "everything in course_lib": "from course_lib import *",
              "sklearn.naive_bayes": "import sklearn.naive_bayes"}


def run(quick: bool = False) -> list[dict]:
    """A row for each statement, timed in turn; the start of Python is taken off."""
    times = {name: [] for name in STATEMENTS}
    for _ in range(3 if quick else 11):
        for name, statement in STATEMENTS.items():
            times[name].append(_seconds(statement))
    start = statistics.median(times["nothing"])
    return [{"import": name, "ms": 1e3 * (statistics.median(found) - start)}
            for name, found in times.items() if name != "nothing"]


def _seconds(statement: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", statement], check=True)
    return time.perf_counter() - start
