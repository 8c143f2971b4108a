"""What a sandbox does with submissions of every kind, as root, as a plain user, and without walls for trusted ones."""

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from course_lib.classroom.cases import Seed
from course_lib.classroom.grading import channel, jail, sandbox
from course_lib.classroom.grading.sandbox import Call, Limits, Sandbox, Trusted
from course_lib.classroom.grading.student import plain_python
from course_lib.classroom.wire import fingerprint, fresh, identical
from course_lib.data import load
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

ROOT = Path(__file__).resolve().parents[1]
LIMITS = Limits(cell_seconds=20, call_seconds=1, notebook_seconds=60)
lacking = sandbox.missing()
needs_sandbox = pytest.mark.skipif(
    "sandbox" not in os.environ.get("COURSE_REQUIRE", "") and bool(lacking), reason=" ".join(lacking)
)
DOUBLE = "def double(x):\n    return 2 * x"


@pytest.fixture(scope="module")
def walled():
    with Sandbox(LIMITS) as made:
        yield made


@pytest.fixture(scope="module", params=[pytest.param(Sandbox, marks=needs_sandbox), Trusted])
def either(request):
    with request.param(LIMITS) as made:
        yield made


def ask(made, cells, function="double", *args, ready=(), files=None):
    [reply] = made.run(cells, [Call(function, args or (21,), ready)], files or {}).replies
    return reply


def statuses(notes):
    return [note.status for note in notes]


# With walls and without


def test_values_come_back_as_the_function_returns_them(either):
    values = [
        np.arange(6.0).reshape(2, 3),
        np.array(["a", "bc"]),
        np.array([True, False]),
        np.float32(0.5),
        7,
        0.1,
        "text",
        None,
        True,
        (1, [2.0, np.array([3])], {"a": np.nan}),
        np.empty((0, 4)),
        np.array(5),
        -np.inf,
    ]
    session = either.run(["def same(x): return x"], [Call("same", (value,)) for value in values])
    for value, reply in zip(values, session.replies, strict=True):
        assert reply.status == "returned"
        assert fingerprint(reply.value) == fingerprint(value)


def test_seed_arrives_as_its_generator(either):
    reply = ask(either, ["def draw(rng): return rng.normal(size=3)"], "draw", Seed(7))
    assert reply.value.tolist() == np.random.default_rng(7).normal(size=3).tolist()


def test_course_data_are_there_both_ways(either):
    cells = [
        "from course_lib.data import load\nimport os",
        "def rows(name): return len(load(name)), os.path.exists('data/iris.csv')",
    ]
    assert ask(either, cells, "rows", "synth_tr").value == (len(load("synth_tr")), True)


def test_files_handed_in_are_read_and_hide_no_module(either):
    files = {
        "random.py": b"raise RuntimeError",
        "helper.py": b"factor = 2",
        "data/points.csv": b"1,2\n3,4\n",
        "../outside.txt": b"",
        "/outside.txt": b"",
        "\ud800.txt": b"",
        "a\0b": b"",
        "data": b"",
        "large": bytes(LIMITS.file_bytes + 1),
    }
    cells = [
        "import random, helper, numpy as np",
        "def total(): return random.Random(1).random(), "
        "helper.factor * np.loadtxt('data/points.csv', delimiter=',').sum()",
    ]
    [reply] = either.run(cells, [Call("total", ())], files).replies
    assert reply.value[1] == 20
    assert not Path("/outside.txt").exists()


def test_each_broken_cell_costs_only_itself(either):
    cells = [
        "1/0",
        "def double(x) return",
        DOUBLE,
        "import sys; sys.exit(0)",
        "n = int(input('number: '))",
        "raise KeyboardInterrupt",
        "\0",
        "def triple(x): return 3 * x",
    ]
    session = either.run(cells, [Call("double", (21,)), Call("triple", (1,))])
    assert [reply.value for reply in session.replies] == [42, 3]
    assert statuses(session.notes) == ["raised", "raised", "ran", "raised", "raised", "raised", "raised", "ran"]
    assert "input() is not allowed" in session.notes[4].error
    assert session.notes[0].error == "ZeroDivisionError: division by zero (cell 1, line 1)"


def test_definitions_before_a_crash_in_the_same_cell_are_lost_and_before_the_cell_count(either):
    cells = [DOUBLE, "import os\ndef triple(x): return 3 * x\nos._exit(0)", "def half(x): return x / 2"]
    session = either.run(cells, [Call("double", (21,)), Call("triple", (1,)), Call("half", (1,))])
    assert statuses(session.notes) == ["ran", "crashed", "ran"]
    assert [reply.status for reply in session.replies] == ["returned", "missing", "returned"]


def test_side_effects_are_reported(either):
    cells = [
        "import numpy as np\ndef f(x):\n    x += 1\n    np.random.seed(0)\n"
        "    print('hello')\n    return np.random.rand()",
        "count = []\ndef g(x):\n    count.append(1)\n    return len(count)",
    ]
    f, g = either.run(cells, [Call("f", (np.zeros(2),)), Call("g", (1,))]).replies
    assert (f.changed, f.stirred, f.again, f.printed) == ((0,), True, True, "hello\n")
    assert (g.changed, g.stirred, g.again, g.value) == ((), False, False, 1)


def test_ready_made_solutions_are_named(either):
    cells = [
        "from scipy.special import expit\nfrom scipy.stats import norm\nimport sklearn.linear_model as lm",
        "from course_lib import LDA\nfrom course_lib.decision import posterior",
        "def a(x): return expit(x)",
        "def b(x): return norm.pdf(x)",
        "def c(x): return lm.LogisticRegression().fit(x)",
        "def d(x): return LDA()",
        "def e(x):\n    try:\n        return posterior(x, x)\n    except Exception:\n        return x",
    ]
    replies = either.run(cells, [Call(name, (0.5,), ready=("scipy.special.expit",)) for name in "abcde"]).replies
    assert [reply.delegated for reply in replies] == [
        "scipy.special.expit",
        "scipy.stats.norm.pdf",
        "sklearn.linear_model.LogisticRegression",
        "course_lib.LDA",
        "course_lib.decision.posterior",
    ]
    assert replies[0].status == "returned" and "ready-made" in replies[1].error


def test_ready_made_solution_is_named_if_only_the_first_call_uses_it(either):
    """An answer that is kept from the first call has no need of it in any later one."""
    cells = [
        "from functools import cache\nfrom scipy.special import expit",
        "@cache\ndef kept(x): return expit(x)",
        "def f(x): return kept(x)",
    ]
    reply = ask(either, cells, "f", 0.5, ready=("scipy.special.expit",))
    assert (reply.status, reply.again, reply.delegated) == ("returned", True, "scipy.special.expit")


KEPT = {
    "under the name asked for": "f = expit",
    "with arguments filled in": "from functools import partial\nf = partial(expit)",
    "as a default": "def f(x, g=expit): return g(x)",
    "in a closure": "def made():\n    from scipy.special import expit\n    return lambda x: expit(x)\nf = made()",
    "in a class": "class Box: kept = staticmethod(expit)\ndef f(x): return Box.kept(x)",
    "in a list": "kept = [expit]\ndef f(x): return kept[0](x)",
    "from where it is defined": "from scipy.special._ufuncs import expit as kept\ndef f(x): return kept(x)",
}


@pytest.mark.parametrize("where", KEPT)
def test_ready_made_solution_is_named_wherever_it_is_kept(either, where):
    cells = ["from scipy.special import expit, logit", KEPT[where], "g = logit"]
    ready = ("scipy.special.expit",)
    calls = [Call("f", (0.5,), ready), Call("g", (0.5,), ready), Call("f", (0.5,))]
    replies = either.run(cells, calls).replies
    assert [reply.delegated for reply in replies] == ["scipy.special.expit", None, None]
    assert replies[0].value == 1 / (1 + np.exp(-0.5)) and replies[1].value == 0


def test_library_that_is_not_there_costs_only_who_uses_it(either):
    """The commonest first cell of all imports pandas, then numpy."""
    cells = [
        "import nowhere_to_be_found as pd\nfrom elsewhere.things import thing\nimport numpy as np\npd.set_option(1)",
        "def double(x): return np.multiply(2, x)",
        "def frame(x): return pd.DataFrame(x)",
        "try:\n    import not_here\nexcept ImportError:\n    def careful(x): return x\nelse:\n    careful = not_here.f",
    ]
    session = either.run(cells, [Call(name, (21,)) for name in ("double", "frame", "careful")])
    assert statuses(session.notes) == ["ran"] * 4 and [reply.value for reply in session.replies] == [42, None, 21]
    assert "nowhere_to_be_found is not there while grading" in session.replies[1].error


def test_what_a_notebook_offers_beside_python_stops_no_cell(either):
    triple = ">>> def triple(x):\n...     return k * x"
    written = ["%%writefile mine.py\ndef half(x):\n    return x / 2", "from mine import half as other"]
    assert ask(either, written, "other").value == 10.5
    cells = ["help(len)\ndisplay(1)\nexit()\nquit\n" + DOUBLE, "%time k = 3", triple]
    assert [r.value for r in either.run(cells, [Call("double", (21,)), Call("triple", (1,))]).replies] == [42, 3]


@needs_sandbox
def test_many_files_with_long_names_are_no_fault_of_ours(walled):
    files = {f"{i}{chr(0x20000) * 200}": b"" for i in range(900)} | {"a.txt": b"1"}
    assert ask(walled, [DOUBLE], files=files).value == 42


def test_to_be_watched_costs_no_honest_answer(either):
    """`expit` is swapped for an object that notes its name, and has its other uses."""
    cells = ["import numpy as np\nfrom scipy.special import expit", "def f(x): return expit.nin * x"]
    reply = ask(either, cells, "f", 0.5, ready=("scipy.special.expit",))
    assert (reply.status, reply.value, reply.again, reply.delegated) == ("returned", 0.5, True, None)


TEXT = st.characters(exclude_categories=["Cs"])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)

PLAIN = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(-(2**70), 2**70), st.floats(), st.text(max_size=3),
        hnp.arrays(st.sampled_from([np.float64, np.float32, np.int64, bool, "U2"]), hnp.array_shapes(min_side=0, max_side=2)),
        st.floats().map(np.float64),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.lists(inner, max_size=2).map(tuple),
                            st.dictionaries(st.text(max_size=1), inner, max_size=2)),
    max_leaves=4,
)


@settings(max_examples=200, deadline=None)
@given(PLAIN, PLAIN)
def test_identical_means_an_equal_fingerprint(one, other):
    assert identical(one, other) == (fingerprint(one) == fingerprint(other))
    assert identical(one, fresh(one))


def test_pictures_widgets_and_checks_do_nothing(either):
    cells = [
        "%matplotlib inline\nimport matplotlib.pyplot as plt\nfig, ax = plt.subplots(1, 2)\n"
        "ax[0].plot([1, 2])\nplt.show()",
        "from course_lib.classroom import check, hint, predict, quiz, solution\n"
        "check(3); hint('E1.1'); quiz('1.1', 'b')",
        "from course_lib import plots\nplots.regions(None)\n"
        "from IPython.display import display, HTML\ndisplay(HTML('x'))",
        "import ipywidgets\nipywidgets.interact(lambda x: x, x=(1, 2))",
        DOUBLE,
    ]
    session = either.run(cells, [Call("double", (21,))])
    assert statuses(session.notes) == ["ran"] * 5
    assert session.replies[0].value == 42


def test_timed_out_call_costs_only_itself(either):
    cells = [DOUBLE, "def spin(x):\n    while x:\n        pass\n    return 0"]
    calls = [Call("double", (1,)), Call("spin", (1,)), Call("double", (2,)), Call("spin", (0,))]
    replies = either.run(cells, calls).replies
    assert [reply.status for reply in replies] == ["returned", "timed out", "returned", "returned"]


def test_same_submission_gives_the_same_session(either):
    cells = [
        "import numpy as np, random\na = np.random.rand()",
        "def draw(): return np.random.rand(), random.random(), list({'a', 'b', 'c'})",
        "def stop():\n    import os\n    os._exit(3)",
    ]
    calls = [Call("draw", ()), Call("stop", ())]
    assert repr(either.run(cells, calls)) == repr(either.run(cells, calls))


# Limits


@needs_sandbox
def test_function_that_times_out_again_and_again_is_not_asked_for_ever(walled):
    calls = [Call("spin", (i,)) for i in range(6)] + [Call("double", (1,))]
    session = walled.run([DOUBLE, "def spin(x):\n    while True: pass"], calls)
    assert [reply.status for reply in session.replies] == ["timed out"] * 6 + ["returned"]
    asked = ["not asked" not in reply.error for reply in session.replies[:6]]
    assert asked == [True] * 3 + [False] * 3


@needs_sandbox
def test_cells_have_half_of_the_time():
    with Sandbox(Limits(cell_seconds=1, call_seconds=1, notebook_seconds=4)) as made:
        session = made.run([DOUBLE] + ["while True: pass"] * 8 + ["def half(x): return x / 2"], [Call("double", (21,))])
    assert session.replies[0].value == 42
    assert session.notes[1].status == "timed out" and session.notes[-1].status == "not run"


@pytest.fixture(scope="module")
def narrow():
    with Sandbox(Limits(memory_bytes=1 << 30, file_bytes=1 << 20, scratch_bytes=3 << 20)) as made:
        yield made


@needs_sandbox
@pytest.mark.parametrize(
    ("limit", "cell", "word"),
    [
        ("memory_bytes", "def f(n):\n    return len(bytearray(n))", "MemoryError"),
        (
            "file_bytes",
            "def f(n):\n    with open('a', 'wb') as file: file.write(bytes(n))\n    return 0",
            "File too large",
        ),
        (
            "scratch_bytes",
            "def f(n):\n    for i in range(4):\n        with open(f'{i}', 'wb') as file: file.write(bytes(n // 4))\n"
            "    return 0",
            "No space left",
        ),
    ],
    ids=lambda value: value if value.endswith("bytes") else "",
)
def test_limit_is_where_it_is_said_to_be(narrow, limit, cell, word):
    most = getattr(narrow.limits, limit)
    over, under = narrow.run([cell], [Call("f", (most + 4,)), Call("f", (most // 4,))]).replies
    assert (over.status, under.status) == ("raised", "returned")
    assert word in over.error


@needs_sandbox
def test_limits_of_output_and_replies(walled):
    reply = ask(walled, ["def double(x):\n    print('x' * 10**6)\n    return 'y'"])
    assert len(reply.printed) == LIMITS.output_bytes
    most = LIMITS.reply_bytes // 8
    cells = ["import numpy as np\ndef zeros(n): return np.zeros(n)", "def row(n): return list(range(n))"]
    replies = walled.run(cells, [Call("zeros", (most,)), Call("zeros", (most + 1,)), Call("row", (10**5,))]).replies
    assert [reply.status for reply in replies] == ["returned", "not plain", "not plain"]


# The walls


@needs_sandbox
def test_nothing_of_the_machine_is_to_be_seen(walled):
    cells = [
        "import os, sys\ndef view():\n    return sorted(os.listdir('/')), sorted(os.listdir('/grader')), "
        "sorted(os.environ), os.getuid(), os.getpid() == 1"
    ]
    root, grader, environment, uid, first = walled.run(cells, [Call("view", ())]).replies[0].value
    assert not {"home", "proc", "sys", "run", "var", "mnt", "boot", "opt"} & set(root)
    assert grader == ["classroom", "data", "tables"]
    assert set(environment) <= set(jail.ENVIRONMENT) | {"PYTHONPATH", "PWD", "LC_CTYPE"}
    assert uid in (jail.USERS if os.getuid() == 0 else [65534]) and not first


@needs_sandbox
@pytest.mark.parametrize(
    "module",
    [
        "sklearn",
        "statsmodels",
        "scipy.stats",
        "course_lib.decision",
        "course_lib.classroom.answers",
        "pip",
        "pytest",
        "jupytext",
    ],
)
def test_library_is_not_in_the_file_system(walled, module):
    cell = (
        "import sys, importlib.machinery\n"
        "def find(name):\n"
        "    path = sys.path\n"
        "    for part in name.split('.'):\n"
        "        spec = importlib.machinery.PathFinder.find_spec(part, path)\n"
        "        if spec is None or spec.loader is None: return 'absent'\n"
        "        path = spec.submodule_search_locations\n"
        "    return spec.origin"
    )
    assert ask(walled, [cell], "find", module).value == "absent"


@needs_sandbox
def test_threads_of_one_submission_take_none_from_another_that_runs_beside_it():
    """The kernel counts threads by user, so each sandbox has a user of its own."""
    many = ("import threading\nstop = threading.Event()\n"
            "for _ in range(30): threading.Thread(target=stop.wait, args=(20,), daemon=True).start()")
    waits = "import time\ndef wait(x):\n    time.sleep(x)\n    return threading.active_count()"
    pool = "from concurrent.futures import ThreadPoolExecutor\ndef f(x):\n    with ThreadPoolExecutor(4) as pool:\n" \
           "        return list(pool.map(abs, [x] * 4))"
    seen: list = []
    with Sandbox(LIMITS) as one, Sandbox(LIMITS) as other:
        assert ask(other, [pool], "f", -1).value == [1] * 4
        beside = threading.Thread(target=lambda: seen.append(ask(one, [many, waits], "wait", 0.4)))
        beside.start()
        while beside.is_alive():
            assert ask(other, [pool], "f", -1).value == [1] * 4
        beside.join()
    assert seen[0].value == 31 and seen[0].again


@needs_sandbox
def test_submissions_do_not_meet(walled):
    walled.run(
        ["open('/scratch/left', 'w').write('x')\nopen('left', 'w').write('x')\nimport numpy\nnumpy.left = 1"], []
    )
    cells = ["import numpy, os\ndef look(): return os.listdir('/scratch'), os.listdir('.'), hasattr(numpy, 'left')"]
    assert walled.run(cells, [Call("look", ())]).replies[0].value == (["work"], ["data"], False)


@needs_sandbox
def test_killed_server_is_replaced(walled):
    walled.run([DOUBLE], [Call("double", (1,))])
    walled._server.process.kill()
    walled._server.process.wait()
    assert ask(walled, [DOUBLE]).value == 42


@needs_sandbox
def test_server_killed_in_the_middle_costs_no_answer(walled):
    cells = [DOUBLE, "import time\ndef slow(x):\n    time.sleep(0.4)\n    return 2 * x"]
    walled.run([], [])
    threading.Timer(0.2, walled._server.process.kill).start()
    assert [
        r.value for r in walled.run(cells, [Call("double", (1,)), Call("slow", (2,)), Call("double", (3,))]).replies
    ] == [2, 4, 6]


@needs_sandbox
def test_sandbox_dies_with_its_grader(tmp_path):
    program = (
        "import os, sys\nfrom course_lib.classroom.grading.sandbox import *\n"
        "with Sandbox() as made:\n    made.run([], [])\n    print(made._server.process.pid, flush=True)\n"
        "    made.run(['while True: pass'], [])"
    )
    grader = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    pid = int(grader.stdout.readline())
    inside = [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    grader.kill()
    grader.wait()
    grader.stdout.close()
    end = time.monotonic() + 120
    while (left := [p for p in (pid, *inside) if _runs(p)]) and time.monotonic() < end:
        time.sleep(0.05)
    assert inside and not left


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


@needs_sandbox
@pytest.mark.skipif(os.getuid() != 0, reason="the other tests run as a plain user already")
def test_plain_user_grades_too():
    program = (
        "from course_lib.classroom.grading.sandbox import *\nwith Sandbox() as made:\n"
        "    session = made.run(['import os\\ndef f(x):\\n    os.kill(1, 9)', 'def g(x): return 2 * x, os.getuid()'],"
        " [Call('f', (1,)), Call('g', (21,))])\n"
        "print([reply.status for reply in session.replies], session.replies[1].value)"
    )
    done = subprocess.run(
        [*_as_plain_user(), sys.executable, "-B", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | {"HOME": "/tmp", "PYTHONPATH": str(ROOT)},
        cwd="/",
        check=False,
    )
    assert done.stdout.strip() == "['returned', 'returned'] (42, 65534)", done.stderr


def _as_plain_user() -> list[str]:
    """A command that becomes nobody, in a view of the machine in which nobody can reach this Python and the course."""
    needed = [Path(sys.base_prefix), Path(sys.prefix), ROOT]
    closed = {folder for path in needed for folder in path.parents if not folder.stat().st_mode & 0o001}
    outermost = sorted(folder for folder in closed if not closed & set(folder.parents))
    opened = [word for folder in outermost for word in ("--perms", "0755", "--tmpfs", str(folder))]
    hidden = [path for path in needed if closed & set(path.parents)]
    above = sorted({str(f) for path in hidden for f in path.parents if closed & set(f.parents)})
    opened += [word for folder in above for word in ("--dir", folder)]
    opened += [word for path in hidden for word in ("--ro-bind", str(path), str(path))]
    return [
        "bwrap",
        "--dev-bind",
        "/",
        "/",
        *opened,
        "setpriv",
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
    ]


# Without


def test_without_bubblewrap_it_says_what_to_install_and_grades_nothing(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert any("install bubblewrap" in sentence for sentence in sandbox.missing())
    with Sandbox() as made:
        session = made.run([DOUBLE], [Call("double", (21,))])
    assert session.replies[0].status == "not graded"
    assert session.notes[0].status == "not run"


def test_elsewhere_it_says_that_it_needs_linux(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    assert "only Linux" in sandbox.missing()[0]


def test_question_that_cannot_be_sent_is_not_the_students_fault(either):
    assert ask(either, [DOUBLE], "double", object()).status == "not graded"


# Messages

TEXT = st.characters(exclude_categories=["Cs"])
UNENDED = st.characters(exclude_categories=["Cs"], exclude_characters="\0")     # an array drops it at the end
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0)

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(TEXT)
    | hnp.arrays(st.sampled_from([np.float64, np.float32, np.int64, np.uint8, np.bool_, "S2", np.complex128]), SHAPES)
    | hnp.arrays("<U3", SHAPES, elements=st.text(UNENDED, max_size=3)),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text(max_size=3).filter(lambda key: key.isascii()), inner, max_size=3)
    ),
    max_leaves=8,
)


def _parts(message: bytes) -> tuple[bytes, bytes]:
    header, body = channel.LENGTHS.unpack(message[: channel.LENGTHS.size])
    rest = message[channel.LENGTHS.size :]
    assert len(rest) == header + body
    return rest[:header], rest[header:]


@settings(deadline=None, max_examples=150)
@given(PLAIN)
def test_message_brings_plain_data_unchanged(value):
    assert fingerprint(channel.unpack(*_parts(channel.pack(value)))) == fingerprint(value)


@settings(deadline=None, max_examples=300)
@given(st.binary(max_size=60), st.binary(max_size=20))
def test_any_bytes_are_a_message_or_unfit(header, body):
    _unpack_or_unfit(header, body)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.sampled_from(
        [
            "plain",
            "array",
            "scalar",
            "tuple",
            "list",
            "dict",
            "seed",
            "<f8",
            "|O8",
            "<U3",
            "<U999999999",
            "|b1",
            "f8,f8",
        ]
    )
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None, max_examples=300)
@given(
    JSON,
    st.lists(
        st.tuples(
            st.sampled_from(["<f8", "|O8", "<U1", "|b1", "<c16", "<M8", "<f8,<f8", "|V8"]),
            st.lists(st.integers(-2, 2**40), max_size=3),
        ),
        max_size=3,
    ),
    st.binary(max_size=64),
)
def test_any_header_is_a_message_or_unfit(tree, arrays, body):
    _unpack_or_unfit(json.dumps([tree, arrays]).encode(), body)


def _unpack_or_unfit(header: bytes, body: bytes) -> None:
    try:
        value = channel.unpack(header, body)
    except channel.Unfit:
        return
    json.dumps(repr(value)).encode()
    fingerprint(value)


# Cells


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("%matplotlib inline\nx = 1", "pass\nx = 1"),
        ("%%time\nx = 1", "pass\nx = 1"),
        ("!pip install x\nif True:\n    !ls\n    files = !ls", "pass\nif True:\n    pass\n    pass"),
        ("x = (7\n  % 4)", "x = (7\n  % 4)"),
        ('text = """\n%matplotlib\n!ls\n"""', 'text = """\n%matplotlib\n!ls\n"""'),
        ("len?\nlen??", "pass\npass"),
        ("t = %timeit -o f()", "pass"),
        ("if x:\n    %time y = f()", "if x:\n    y = f()"),
        ("    x = 1\n    y = 2", "x = 1\ny = 2"),
        (">>> if x:\n...     y = 1\n...\n>>> z = 2", "if x:\n    y = 1\n\nz = 2"),
        ("In [3]: x = 1\n   ...: y = 2", "x = 1\ny = 2"),
        ("def f(x) return x", "def f(x) return x"),
    ],
)
def test_what_is_of_ipython_becomes_pass(cell, expected):
    assert plain_python(cell) == expected
