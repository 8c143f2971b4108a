"""What cannot be checked is not built."""
import inspect

import numpy as np
import pytest
import toy_course
from course_lib.classroom import build
from course_lib.classroom.answers import Failure, dump, load
from course_lib.classroom.cases import Seed
from course_lib.classroom.course import Course
from course_lib.classroom.wire import decode, encode, fresh
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays


def broken(toy, old, new, count=1):
    path = toy.root / "solutions" / "cases" / "01_shares.py"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, count), encoding="utf-8")
    return Course(toy.root)


def refusal(course):
    with pytest.raises(build.BuildError) as caught:
        build.answers(course.references)
    return str(caught.value)


def test_complete_exercise_builds(toy):
    [answer] = build.answers(toy.references)
    assert (answer.name, answer.id, answer.arguments) == ("shares", "E1.1", ("counts",))
    np.testing.assert_allclose(answer.cases[0].expected, [[0.25, 0.75], [0.5, 0.5]])
    np.testing.assert_allclose(answer.cases[0].steps["total"], [[4.0], [4.0]])
    assert [m.title for m in answer.mistakes][0] == "It divides by the column's total."


def test_mistake_equal_to_the_reference_on_public_inputs_is_refused(toy):
    course = broken(toy, "def same(counts): return counts * 1.0",
                    "def same(counts): return counts / counts.sum(axis=1, keepdims=True) * (1 + 1e-12)")
    assert "cannot be told from “the reference” on the public inputs" in refusal(course)


def test_mistake_equal_to_the_reference_for_one_hidden_seed_is_refused(toy):
    course = broken(toy, "def same(counts): return counts * 1.0", """def same(counts):
    right = counts / counts.sum(axis=1, keepdims=True)
    hidden = np.random.default_rng(37)
    return right if counts.shape == (2, 2) or np.array_equal(counts, hidden.uniform(1, 9, (4, 3))) else right + 1""")
    message = refusal(course)
    assert "hidden inputs of seed 37" in message and "seed 36" not in message


def test_two_mistakes_that_cannot_be_told_apart_are_refused(toy):
    course = broken(toy, "def same(counts): return counts * 1.0", "def same(counts): return counts / counts.sum()")
    assert "“It gives the counts back.” cannot be told from “It divides by the grand total.”" in refusal(course)


@pytest.mark.parametrize("old, new, words", [
    ('hints=("Rows.", "n / sum n", "total = counts.sum(axis=1, …)")', 'hints=()', "needs 3 hints"),
    ('hints=("Rows.", "n / sum n",', 'hints=("Rows.", "  ",', "needs 3 hints"),
    ('notice="Every row sums to 1."', 'notice=" "', "needs a notice"),
    ("@shares.variant\ndef loops", "def loops", "at least 2 independent right variants"),
    ("def transposed(counts): return (counts.T / counts.T.sum(axis=0)).T", "def transposed(counts): return counts",
     "the variant transposed differs from the reference"),
    ('@shares.mistake("It gives the counts back.", "Divide.")\n', "", "at least 4 mistakes"),
    ('intermediates=("total", "share")', 'intermediates=("total", "part")', "no local named part"),
    ("@shares.cases\n", "", "it has no cases"),
    ("rng.uniform(1, 9, (4, 3))", "[1.0, 2.0]", "the reference raises AttributeError"),
])
def test_incomplete_exercise_is_refused(toy, old, new, words):
    assert words in refusal(broken(toy, old, new))


def test_function_without_exercise_is_refused(toy):
    path = toy.root / "solutions" / "01_shares.py"
    path.write_text(toy_course.SOLUTION.replace("def shares", "def portions"), encoding="utf-8")
    with pytest.raises(build.BuildError, match="without partner: portions, shares"):
        Course(toy.root).references


@pytest.mark.parametrize("old, new, words", [("XX", "YY", "shares stands in 01_shares and again in 02_again"),
                                             ('"shares"', '"parts"', "E1.1 stands in 01_shares and again in 02_again")])
def test_duplicate_name_or_id_is_refused(toy, old, new, words):
    other = toy_course.SOLUTION.replace("shares", "parts") if new == '"parts"' else toy_course.SOLUTION
    (toy.root / "solutions" / "02_again.py").write_text(other, encoding="utf-8")
    (toy.root / "solutions" / "cases" / "02_again.py").write_text(toy_course.CASES.replace(old, new), encoding="utf-8")
    with pytest.raises(build.BuildError, match=words):
        Course(toy.root).references


def test_file_that_does_not_run_spares_the_others(toy):
    other = toy.root / "solutions" / "02_broken.py"
    other.write_text("# %% tags=[\"solution\"]\ndef f(x:\n", encoding="utf-8")
    course = Course(toy.root)
    with pytest.raises(build.BuildError, match="02_broken.py or its cases cannot be run: SyntaxError"):
        course.references_of(other)
    assert len(build.answers(course.references_of(toy.root / "solutions" / "01_shares.py"))) == 1
    other.write_text("# %% tags=[\"solution\"]\ndef f(x):\n    return x\n", encoding="utf-8")
    with pytest.raises(build.BuildError, match="02_broken.py has no cases/02_broken.py"):
        Course(toy.root).references


def test_impure_reference_is_refused(toy):
    path = toy.root / "solutions" / "01_shares.py"
    path.write_text(toy_course.SOLUTION.replace("    share = counts / total", "    share = counts\n    share /= total"), encoding="utf-8")
    assert "changes its arguments" in refusal(Course(toy.root))


def test_stub_keeps_signature_and_docstring_only():
    source = 'def f(x, *, k=1):\n    """Say it.\n\n    Twice."""\n    secret = x + k\n    return secret'
    made = build.stub(source)
    namespace = {}
    exec(made, namespace)
    assert inspect.getdoc(namespace["f"]) == "Say it.\n\nTwice." and "secret" not in made
    with pytest.raises(NotImplementedError, match="write f"):
        namespace["f"](1)


def test_answers_survive_the_file_and_the_file_is_reproducible(toy):
    made = build.answers(toy.references)
    raw = dump(made)
    assert raw == dump(build.answers(Course(toy.root).references))
    [answer] = load(raw)
    assert answer.comparer == made[0].comparer and answer.hints == made[0].hints
    for before, after in zip(made[0].mistakes, answer.mistakes, strict=True):
        assert before.title == after.title and len(before.outputs) == len(after.outputs)
        np.testing.assert_array_equal(before.outputs[1], after.outputs[1])
    assert b"counts.sum" not in raw.replace(b"total = counts.sum(axis=1", b""), "no solution code in the answers"


plain = st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5)
tables = arrays.arrays(st.sampled_from([np.float64, np.int64, np.bool_, "<U3"]), arrays.array_shapes(min_dims=0, max_side=3))
values = st.recursive(plain | tables, lambda inner: st.lists(inner, max_size=3) | st.lists(inner, max_size=3).map(tuple)
                      | st.dictionaries(st.text(max_size=3), inner, max_size=2), max_leaves=6)


@settings(deadline=None, max_examples=80)
@given(values)
def test_wire_gives_back_what_went_in(value):
    stored: list = []
    np.testing.assert_equal(decode(encode(value, stored), stored), value)


@pytest.mark.parametrize("value", [object(), np.array([object()]), {1: 2}, print, np.array(["2020-01-01"], "M8[D]")])
def test_wire_refuses_what_is_not_plain_data(value):
    with pytest.raises(TypeError):
        encode(value, [])


def test_seed_becomes_a_fresh_generator_every_time():
    assert fresh(Seed(7)).random() == fresh(Seed(7)).random() == np.random.default_rng(7).random()
    assert decode(encode(Seed(7), []), []) == Seed(7)


def test_failures_equal_failures_only():
    comparer = build.Exercise("f", "E", "", (), "").compare
    assert build.same(Failure("ValueError"), Failure("TypeError"), comparer)
    assert not build.same(Failure("ValueError"), 1.0, comparer)
