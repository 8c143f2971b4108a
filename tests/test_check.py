"""The checker in front of every kind of answer that learners and mischief have come up with."""
import math
import sys
import time
import types

import numpy as np
import pytest
from course_lib.classroom import progress
from course_lib.classroom.card import shown
from course_lib.classroom.check import check, examine
from course_lib.classroom.explain import resemblance
from course_lib.classroom.help import hint_card, solution_card


def named(function, name="shares"):
    function.__name__ = name
    return function


def right(counts):
    return counts / counts.sum(axis=1, keepdims=True)


def said(function, **settings):
    verdict = examine(named(function), **settings)
    text, html = verdict.card.text(), verdict.card.html()
    assert verdict.card.word in text and "<script" not in html
    return verdict.status, text


def test_right_answer_is_told_what_to_notice(shares):
    status, text = said(right)
    assert status == "right" and "Every row sums to 1." in text and "[RIGHT]" in text
    assert progress.events("check", exercise="E1.1", passed=True)


@pytest.mark.parametrize("answer, words", [
    (lambda c: None, "None instead of an array of float64, shape (2, 2): is the `return` missing?"),
    (lambda c: right(c).T[:1], "The shape is (1, 2) instead of (2, 2)"),
    (lambda c: right(c)[:, :, None], "An axis of length 1 is left over"),
    (lambda c: right(c).astype(np.float32), "float32, which holds about 7 digits"),
    (lambda c: right(c).astype(complex), "complex numbers"),
    (lambda c: right(c).astype(str), "text and numbers differ"),
    (lambda c: right(c).astype(object), "an array of Python objects"),
    (lambda c: right(c).tolist(), "a list instead of an array of float64, shape (2, 2): build the result as an array"),
    (lambda c: np.ma.masked_array(right(c)), "MaskedArray"),
    (lambda c: right(c) * np.nan, "4 of 4 entries differ; the first is at [0, 0]: NaN instead of 0.25"),
    (lambda c: right(c) + [[0, 0], [0, 1e-6]] if c.shape == (2, 2) else right(c), "the first is at [1, 1]: 0.500001 instead of 0.5"),
    (lambda c: 3, "the int 3 instead of an array"),
    (lambda c: right(c)[0, 0], "Does a `return` stand inside a loop, or is an axis= missing?"),
    (lambda c: right(c).astype(int), "it is cut off to whole numbers"),
    (lambda c: {"a": 1}, "a dict with the keys a instead of an array"),
    (lambda c: print, "a builtin_function_or_method instead of an array"),
])
def test_every_wrong_value_has_its_sentence(shares, answer, words):
    status, text = said(answer)
    assert status == "wrong" and words in text
    assert "[[1., 3.]" in text, "the input is shown"


def changes(counts):
    counts /= counts.sum(axis=1, keepdims=True)
    return counts


def seeds(counts):
    np.random.seed(0)
    return right(counts)


def draws(counts):
    return np.random.default_rng().random(counts.shape)


def remembers(counts, calls=[]):   # noqa: B006 - the fault under test
    calls.append(1)
    return right(counts) * len(calls)


def stops(counts):
    return right(counts) @ np.ones(7)


def leaves(counts):
    sys.exit(0)


def recurses(counts):
    return recurses(counts)


def misnames(counts):
    return count / 2                # noqa: F821 - the fault under test


def asks_an_array(counts):
    return counts if counts > 0 else 0 * counts


def takes_one_number(counts):
    return math.sqrt(counts)


def has_no_such_axis(counts):
    return counts[:, 0].sum(axis=1)


def unwritten(counts):
    raise NotImplementedError


@pytest.mark.parametrize("answer, status, words", [
    (changes, "wrong", "it changes its argument `counts`"),
    (seeds, "wrong", "it touches the global random generator"),
    (draws, "wrong", "two calls with the same input gave two answers"),
    (remembers, "wrong", "two calls with the same input gave two answers"),
    (stops, "wrong", "it stops with ValueError"),
    (leaves, "wrong", "it stops with SystemExit"),
    (recurses, "wrong", "calls itself without end"),
    (misnames, "wrong", "That name is not defined here"),
    (asks_an_array, "wrong", "np.where(condition, a, b) chooses entry by entry"),
    (takes_one_number, "wrong", "numpy's function of the same name takes both"),
    (has_no_such_axis, "wrong", "The array has fewer axes than that"),
    (unwritten, "todo", "there is no code in it yet"),
])
def test_every_misbehaviour_has_its_sentence(shares, answer, status, words):
    got, text = said(answer)
    assert got == status and words in text


TABLE = np.array([[0.0, 0.0], [1.0, 2.0]])


@pytest.mark.parametrize("expected, got, words", [
    (TABLE.max(axis=1), TABLE.max(axis=0), "the maximum of `a` over axis 0, and should be the maximum of `a` over axis 1"),
    (np.array([0.3, 1.7]), np.array([0.3, 1.7]) / np.log(10), "as if np.log10 had been taken for np.log"),
    (np.array(2.0), np.array(-0.7), None),
    (np.array(2.0), np.array(32.0), "16 times"),
    (np.array([1.0, 2.0]), np.array([[1.0], [2.0]]), None),
])
def test_a_likeness_is_named_only_if_it_says_something(expected, got, words):
    found = resemblance(expected, got, {"a": TABLE})
    assert found is None if words is None else words in found


def test_exception_shows_the_line_that_raised(shares):
    assert "return right(counts) @ np.ones(7)" in said(stops)[1]


def test_global_generator_is_named_also_when_the_values_are_right(shares):
    assert said(seeds)[0] == "wrong"


@pytest.mark.skipif(sys.platform == "win32", reason="needs interval timers; Windows uses the interrupt of the Stop button")
@pytest.mark.parametrize("swallowing", [False, True])
def test_endless_loop_is_stopped(shares, swallowing):
    def plain(counts):
        while True:
            pass

    def stubborn(counts):
        while True:
            try:
                time.sleep(0.01)
            except BaseException:
                continue

    status, text = said(stubborn if swallowing else plain, seconds=0.3)
    assert status == "wrong" and "no answer within 0.3 seconds" in text


def test_flood_of_print_is_kept_short_and_does_not_cost_the_answer(shares):
    def chatty(counts):
        print("look " * 200_000)
        return right(counts)

    status, text = said(chatty)
    assert status == "right" and "1,000,001 characters in all" in text and len(text) < 2_000


def test_library_solution_is_told_apart(shares, monkeypatch):
    toolbox = types.ModuleType("toolbox")
    toolbox.shares = lambda counts: right(counts)
    monkeypatch.setitem(sys.modules, "toolbox", toolbox)
    original = toolbox.shares
    status, text = said(lambda counts: toolbox.shares(counts))
    assert status == "delegated" and "it calls `toolbox.shares`" in text and "counts 0" in text
    assert toolbox.shares is original


def test_call_of_the_course_library_is_told_apart(shares):
    from course_lib.decision import posterior

    def leaning(counts):
        return posterior(np.log(counts))

    status, text = said(leaning)
    assert status == "delegated" and "course_lib.decision." in text
    assert said(right)[0] == "right", "the data, plots and checker of course_lib may be used"


def test_known_mistake_is_named_and_explained(shares):
    status, text = said(lambda counts: counts / counts.sum())
    assert status == "wrong" and "It divides by the grand total." in text and "not over everything" in text
    assert "`hint(shares)` shows hint 1 of 3" in text


def test_same_mistake_is_answered_by_a_worked_example_the_second_time(shares):
    first, second = (said(lambda counts: counts / counts.sum())[1] for _ in range(2))
    assert "worked step by step" not in first and "worked step by step" in second and "`total`" in second


def test_unknown_error_is_located_by_its_steps(shares):
    def wrong_axis(counts):
        total = counts.sum(axis=0, keepdims=True)
        share = counts / total + 1
        return share

    def late(counts):
        total = counts.sum(axis=1, keepdims=True)
        share = counts / total + 2
        return share

    def last(counts):
        total = counts.sum(axis=1, keepdims=True)
        share = counts / total
        return share * 3

    def nameless(counts):
        return right(counts) + 7

    assert "`total` is not:" in said(wrong_axis)[1]
    assert "`total` is right. `share` is not: it is 2 too large everywhere." in said(late)[1]
    assert "`total` and `share` are right; what comes after is not." in said(last)[1]
    assert "Name your steps `total`, `share`" in said(nameless)[1]


def test_mistake_with_another_slip_beside_it_is_still_recognised(shares):
    def two_slips(counts):
        return counts / counts.sum() if counts.shape == (2, 2) else counts[:1]

    assert "It divides by the grand total." in said(two_slips)[1]


def test_wrong_signature_is_told_before_anything_is_run(shares):
    status, text = said(lambda counts, axis: counts)
    assert status == "wrong" and "called as `shares(counts)`" in text


@pytest.mark.parametrize("thing, words", [(right, "no exercise named `right`"), (3, "it got the int 3"), (None, "it got None")])
def test_what_is_no_exercise_is_answered_too(shares, thing, words):
    if callable(thing):
        thing = named(lambda counts: counts, "right")
    assert words in examine(thing).card.text()


def test_check_never_raises_and_prints_outside_a_notebook(shares, monkeypatch, capsys):
    check(named(right))
    assert "[RIGHT] E1.1 shares" in capsys.readouterr().out
    monkeypatch.setattr(sys.modules[check.__module__], "examine", lambda function: 1 / 0)
    check(right)
    assert "your answer is not at fault" in capsys.readouterr().out


def test_hostile_text_is_escaped(shares):
    verdict = examine(named(lambda counts: "<script>alert(1)</script>"))
    assert "<script" not in verdict.card.html() and "&lt;script" in verdict.card.html()


def test_inputs_reach_every_call_fresh(shares):
    seen = []

    def spy(counts):
        seen.append(counts.copy())
        counts[:] = 0
        return counts

    said(spy)
    assert not any((array == 0).all() for array in seen)


def test_hints_come_in_three_steps_and_then_the_solution_opens(shares, toy, monkeypatch):
    monkeypatch.chdir(toy.root)
    assert "NOT OPENED" in solution_card("shares").text()
    cards = [hint_card("shares").text() for _ in range(4)]
    for card, words in zip(cards, ("Rows.", "n / sum n", "total = counts", "total = counts"), strict=True):
        assert words in card
    opened = solution_card(named(right)).text()
    assert "total = counts.sum(axis=1, keepdims=True)" in opened and "def right" in opened
    assert "It divides by the grand total." in opened
    assert progress.summary(["E1.1"]).standings[0].state == "seen"


def test_giving_up_opens_the_solution_at_once(shares, toy, monkeypatch):
    monkeypatch.chdir(toy.root)
    assert "share = counts / total" in solution_card("E1.1", give_up=True).text()


def test_unknown_name_in_hint_lists_what_there_is(shares):
    assert "`shares` (E1.1)" in hint_card("sheres").text()


def test_numbers_that_differ_late_are_shown_to_the_digit_that_differs(shares):
    text = said(lambda counts: right(counts) * (1 + 3e-8))[1]
    assert "0.250000008 instead of 0.25" in text


@pytest.mark.parametrize("value, words", [
    (np.array([801.00754213, -0.5]), "[801.008,  -0.5  ]"), (np.array([0.123456789]), "[0.123457]"),
    (np.array([np.inf, np.nan]), "[inf, nan]"), (np.array([], float), "[]"), (np.zeros((9, 9)), "shape (9, 9)"),
    (np.array(["a"]), "['a']"), (1e300, "1e+300"), ((np.array([1.0]), 2), "([1.], 2)"), (None, "None")])
def test_values_are_shown_briefly(value, words):
    assert words in shown(value)
