"""What a check costs beyond the learner's own code, in milliseconds (aim: a median of at most 20)."""
import statistics
import time

from course_lib.classroom.check import examine
from course_lib.classroom.course import Course
from course_lib.classroom.progress import unnoted

AIM = 20.0


def run(quick: bool = False) -> list[dict]:
    """A row for each exercise of the course: a right answer and the slowest mistake."""
    repetitions = 5 if quick else 51
    return [_row(reference, repetitions) for reference in Course.here().references]


def _row(reference, repetitions: int) -> dict:
    with unnoted():                      # every check reads what came before: some hundred lines, as a learner has
        right = _overheads(reference.function, repetitions)
        wrong = [statistics.median(_overheads(m.function, max(3, repetitions // 5), reference.exercise.name))
                 for m in reference.exercise.mistakes]
    return {"exercise": f"{reference.exercise.id} {reference.exercise.name}",
            "right, median ms": statistics.median(right), "right, worst ms": max(right),
            "slowest mistake, median ms": max(wrong), "aim ms": AIM}


def _overheads(function, repetitions: int, name: str | None = None) -> list[float]:
    """Milliseconds of each check less those spent inside the function."""
    inside = 0.0

    def timed(*args):
        nonlocal inside
        start = time.perf_counter()
        try:
            return function(*args)
        finally:
            inside += time.perf_counter() - start

    timed.__name__ = name or function.__name__
    found = []
    for _ in range(repetitions):
        inside, start = 0.0, time.perf_counter()
        examine(timed)
        found.append(1000 * (time.perf_counter() - start - inside))
    return found
