"""Each program in ``tests/attacks`` tries to gain what it has not earned, or to harm others; none succeeds.

A submission has an honest function `double` in its first cell and an attack that defines `triple` in the next one. The
head of a program says what it tries, what happens, with which words the replies for `triple` may come, and whether
`double` must keep its answers ("kept") or may be lost because the attack spoils its own process ("own").
"""

import os
import re
import socket
from pathlib import Path

import numpy as np
import pytest
from course_lib.classroom.grading import sandbox
from course_lib.classroom.compare import Comparer
from course_lib.classroom.grading.sandbox import Call, Limits, Reply, Sandbox

ATTACKS = sorted((Path(__file__).parent / "attacks").glob("*.py"))
HEAD = re.compile(
    r"# tries: (?P<tries>.+)\n# happens: (?P<happens>.+)\n# triple: (?P<triple>.+)\n# double: (?P<double>kept|own)\n"
)
SECRET = "the neighbours secret 4711"
HONEST = "import numpy as np\n\n\ndef double(x):\n    return 2 * np.asarray(x)"
NEIGHBOUR = [HONEST, f"note = {SECRET!r}\n\n\ndef triple(x):\n    return 3 * np.asarray(x)"]
INPUTS = np.array([1.0, 2.0, 3.0]), np.array([-2.0, 0.5, 7.0])
CALLS = [Call(name, (x,)) for x in INPUTS for name in ("triple", "double")]
LIMITS = Limits(cell_seconds=1, call_seconds=1, notebook_seconds=20, memory_bytes=1 << 30)

pytestmark = pytest.mark.skipif(
    "sandbox" not in os.environ.get("COURSE_REQUIRE", "") and bool(sandbox.missing()),
    reason=" ".join(sandbox.missing()),
)


def head(program: Path) -> dict[str, str]:
    return HEAD.match(program.read_text(encoding="utf-8")).groupdict()


def right(reply: Reply, factor: int, x: np.ndarray) -> bool:
    return reply.status == "returned" and Comparer().difference(factor * x, reply.value) is None


@pytest.fixture(scope="module")
def warm():
    with pytest.MonkeyPatch.context() as patch, Sandbox(LIMITS) as made:
        patch.setenv("COURSE_SECRET", SECRET)
        yield made


@pytest.fixture(scope="module")
def before(warm):
    return warm.run(NEIGHBOUR, CALLS)


@pytest.fixture
def outside(tmp_path):
    """A folder and a port of the grader, neither of which may be reached."""
    (tmp_path / "secret.txt").write_text(SECRET)
    with socket.create_server(("127.0.0.1", 0)) as door:
        door.settimeout(0)
        yield tmp_path, door


def submission(program: Path, outside) -> list[str]:
    folder, door = outside
    source = (
        program.read_text(encoding="utf-8").replace("OUTSIDE", str(folder)).replace("PORT", str(door.getsockname()[1]))
    )
    return [HONEST, source]


@pytest.mark.parametrize("program", ATTACKS, ids=lambda path: path.stem)
def test_attack_gains_nothing_and_harms_nobody(program, warm, before, outside):
    told = head(program)
    session = warm.run(submission(program, outside), CALLS)
    attacked, honest = session.replies[::2], session.replies[1::2]

    assert not any(right(reply, 3, x) for reply, x in zip(attacked, INPUTS)), "undeserved"
    assert {reply.status for reply in attacked} <= set(told["triple"].split(", "))
    if told["double"] == "kept":
        assert all(right(reply, 2, x) for reply, x in zip(honest, INPUTS))
    assert SECRET not in repr(session) and "escaped" not in repr(session)
    assert [path.name for path in outside[0].iterdir()] == ["secret.txt"]
    assert (outside[0] / "secret.txt").read_text() == SECRET
    with pytest.raises(BlockingIOError):
        outside[1].accept()
    assert repr(warm.run(NEIGHBOUR, CALLS)) == repr(before)


def test_neighbour_is_right(before):
    assert all(right(reply, 3, x) for reply, x in zip(before.replies[::2], INPUTS))
    assert all(right(reply, 2, x) for reply, x in zip(before.replies[1::2], INPUTS))


def test_table_lists_every_attack():
    table = (Path(__file__).parent / "attacks" / "README.md").read_text(encoding="utf-8")
    for program in ATTACKS:
        told = head(program)
        assert f"| `{program.stem}` | {told['tries']} | {told['happens']} |" in table
    assert len(ATTACKS) == table.count("\n| `") >= 45
