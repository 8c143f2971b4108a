"""How the notebooks are run as tests."""
import os
import tempfile
from functools import partial
from pathlib import Path

import pytest

os.environ.setdefault("JUPYTER_PLATFORM_DIRS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")      # two test processes share the cores

LONGEST = [f"test_{name}.py" for name in ("browser", "interchange", "grade", "attacks", "sandbox", "cli", "sync")]


def pytest_collection_modifyitems(items):
    """Begin with the longest files: one that came last would run while the other process has nothing left to do."""
    items.sort(key=lambda item: LONGEST.index(item.path.name) if item.path.name in LONGEST else len(LONGEST))


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path, parent):
    """Prepare what nbval makes of a notebook.

    Outputs are compared strictly in lectures and solutions and not at all in exercises, whose stubs raise.
    (``--nbval-lax`` beside ``--nbval`` would compare none anywhere.)
    """
    files = yield
    for file in files:
        if file_path.suffix == ".ipynb":
            file.setup = partial(_set_up_with_own_progress, file.setup)
            file.compare_outputs &= file_path.parent.name != "exercises"
    return files


def _set_up_with_own_progress(set_up) -> None:
    """Start a notebook's kernel with an empty progress file, whatever other notebooks or learners have done."""
    os.environ["COURSE_PROGRESS"] = str(Path(tempfile.mkdtemp(prefix="course-progress-")) / "progress.jsonl")
    set_up()
