"""Quizzes explain every choice in every form; predictions are kept, recalled and never stop a notebook."""
import importlib
import re
from html.parser import HTMLParser

import nbformat
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from course_lib.classroom import progress, questions
from course_lib.classroom.quiz import WIDGET, Sheet, predict, quiz

quiz_module = importlib.import_module("course_lib.classroom.quiz")
property_test = settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])

GOOD = """
[[question]]
id = "7.1"
text = "Is `a` < $b$ & why?"
[[question.choice]]
key = "a"
text = "yes, $x<y$"
right = false
why = "the <b>sign</b> is the other one"
[[question.choice]]
key = "b"
text = "no"
right = true
why = "because $y \\\\le x$"

[[question]]
id = "7.2"
text = "And now?"
[[question.choice]]
key = "a"
text = "one"
right = true
why = "it is one"
[[question.choice]]
key = "b"
text = "two"
right = false
why = "it is not two"
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_PROGRESS", str(tmp_path / "progress.jsonl"))
    monkeypatch.setattr(progress, "_warned", set())
    monkeypatch.setattr(quiz_module, "_unsaved", [])
    monkeypatch.setattr(questions, "FOLDER", tmp_path)
    (tmp_path / "07.toml").write_text(GOOD, encoding="utf-8")
    return tmp_path


# --- the files ----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("unit", questions.units())
def test_the_course_has_no_problem_in_its_quizzes(unit, monkeypatch):
    monkeypatch.undo()
    assert questions.problems(unit) == []


def test_a_good_file_reads_as_it_stands():
    first, second = questions.questions("07")
    assert questions.problems(7) == []
    assert (first.id, second.id, first.text) == ("7.1", "7.2", "Is `a` < $b$ & why?")
    assert first.choices[1] == questions.Choice("b", "no", True, r"because $y \le x$")


@pytest.mark.parametrize("old, new, told", [
    ("right = true", "right = false", "question 7.1: expected exactly one right choice, got 0"),
    ("right = false", "right = true", "question 7.1: expected exactly one right choice, got 2"),
    ('id = "7.2"', 'id = "7.1"', "07.toml: the id 7.1 stands 2 times"),
    ('id = "7.2"', 'id = "8.2"', "question 8.2: expected an id such as 7.1"),
    ('key = "b"', 'key = "c"', "two to ten choices with the keys a, b, c, … in this order, got ac"),
    ('why = "it is one"', "", "question 7.2: choice a: expected why to be a text, got 'nothing'"),
    ('why = "it is one"', 'why = ""', "question 7.2: choice a: expected why to be a text, got ''"),
    ("right = true", 'right = "yes"', "choice b: expected right to be true or false, got 'yes'"),
    ('text = "two"', 'text = "two"\nwight = 1', "choice b: expected only key, text, right, why, got also wight"),
    ('text = "two"', 'text = "two $"', "question 7.2: choice b: text has a $ without its partner"),
    ("[[question]]", "title = 1\n[[question]]", "top level: expected [[question]] tables and nothing else, got title"),
    ("[[question.choice]]", "[[question.choice", "07.toml is not TOML"),
])
def test_every_problem_of_a_file_is_told(folder, old, new, told):
    (folder / "07.toml").write_text(GOOD.replace(old, new, 1), encoding="utf-8")
    assert any(told in problem for problem in questions.problems(7)), questions.problems(7)
    with pytest.raises(ValueError, match=re.escape(told)):
        questions.questions(7)


def test_a_unit_of_two_notebooks_has_two_files_that_share_their_ids(folder):
    (folder / "08a.toml").write_text(GOOD.split("\n\n")[0].replace("7.1", "8.1"), encoding="utf-8")
    (folder / "08b.toml").write_text(GOOD.split("\n\n")[1].replace("7.2", "8.2"), encoding="utf-8")
    assert [q.id for q in questions.questions("8")] == ["8.1", "8.2"]
    assert [q.id for q in questions.questions("8b")] == ["8.2"]


@pytest.mark.parametrize("unit", ["9", "x", "", "../07", "7.1"])
def test_an_unknown_unit_names_those_there_are(unit):
    with pytest.raises(ValueError, match="there is no quiz of unit .*there are 07"):
        questions.questions(unit)


# --- asking and answering -----------------------------------------------------------------------------------------

class Reader(HTMLParser):
    """Tags and text of a page."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.words = set(), ""
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)

    def handle_data(self, data):
        self.words += data


def first():
    return questions.questions(7)[0]


def test_every_form_holds_the_question_and_its_choices():
    bundle = Sheet(first())._repr_mimebundle_()
    assert set(bundle) == {WIDGET, "text/html", "text/plain"}
    for words in ("Is ", "yes, $x<y$", "no"):
        assert words in bundle["text/plain"] and words in Reader(bundle["text/html"]).words
    assert 'quiz("7.1", "a")' in bundle["text/plain"]


def test_the_static_page_teaches_without_a_kernel_and_without_scripts():
    page = Reader(Sheet(first()).html())
    assert "details" in page.tags and "script" not in page.tags
    assert "because $y \\le x$" in page.words and "the <b>sign</b> is the other one" in page.words
    assert "RIGHT" in page.words and "NOT QUITE" in page.words


@property_test
@given(st.text(min_size=1).filter(lambda t: "`" not in t and "\r" not in t and "\0" not in t))
def test_no_text_can_become_markup(text):
    choice = questions.Choice("a", text, True, text)
    page = Reader(Sheet(questions.Question("7.1", text, (choice, choice))).html())
    assert page.tags <= {"p", "strong", "details", "summary", "div", "span"}
    assert page.words.count(text) >= 5


def test_a_widget_explains_each_try_and_records_it():
    box = Sheet(first()).widget()
    _, wrong, right, verdict = box.children
    assert verdict.value == ""
    wrong.children[0].click()
    assert "NOT QUITE" in verdict.value and "the &lt;b&gt;sign" in verdict.value
    right.children[0].click()
    assert "RIGHT" in verdict.value and "because $y \\le x$" in verdict.value
    assert [row.children[0].description for row in (wrong, right)] == ["a – not quite", "b – right"]
    assert [(e["question"], e["key"], e["right"]) for e in progress.events("quiz")] == [
        ("7.1", "a", False), ("7.1", "b", True)]


def test_without_ipywidgets_the_static_forms_remain(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ipywidgets", None)
    assert set(Sheet(first())._repr_mimebundle_()) == {"text/html", "text/plain"}


@pytest.mark.parametrize("key, word, why", [("a", "NOT QUITE", "<b>sign</b>"), (" B ", "RIGHT", "because")])
def test_a_key_answers_in_text(key, word, why, capsys):
    quiz("7.1", key)
    told = capsys.readouterr().out
    assert word in told and why in told
    assert progress.events("quiz")[0]["right"] is (word == "RIGHT")


def test_an_unknown_key_is_no_answer(capsys):
    quiz("7.1", "z")
    assert "has a, b; you gave 'z': choose one of them" in capsys.readouterr().out
    assert progress.events() == []


@pytest.mark.parametrize("unit", ["7", 7, "07"])
def test_a_unit_shows_all_its_questions(unit, capsys):
    quiz(unit)
    told = capsys.readouterr().out
    assert "Question 7.1" in told and "Question 7.2" in told


def test_an_unknown_question_names_those_there_are():
    with pytest.raises(ValueError, match="no question 7.9; unit 7 has 7.1, 7.2"):
        quiz("7.9")
    with pytest.raises(ValueError, match=r'try quiz\("7.1", "a"\)'):
        quiz(7, "a")


# --- predictions --------------------------------------------------------------------------------------------------

def told(capsys, *arguments, **named):
    predict(*arguments, **named)
    return capsys.readouterr().out.strip().removeprefix("[PREDICTION] ")


@pytest.mark.parametrize("guess, result, words", [
    (0.25, 0.31, "You wrote 0.25; the result is 0.31: 0.06 too low."),
    (3, np.float64(1), "You wrote 3; the result is 1: 2 too high."),
    (0.5, 0.5, "You wrote 0.5; the result is 0.5: exactly right."),
    (np.float32(0.3), 1 / 3, "You wrote 0.3; the result is 0.333333: 0.0333 too low."),
    (" lda", "LDA", "You wrote lda; the result is LDA: the same."),
    (True, np.bool_(False), "You wrote True; the result is False: not the same."),
    ([1, 2], np.array([1.5, 2]), "You wrote [1, 2]; the result is [1.5, 2. ]: the largest difference is 0.5."),
    ([1, 2], [1, 2], "You wrote [1, 2]; the result is [1, 2]: exactly right."),
    ([1, 2], [1, 2, 3], "You wrote [1, 2]; the result is [1, 2, 3]: they cannot be compared, "
                        "their shapes are (2,) and (3,)."),
    (np.inf, np.inf, "You wrote inf; the result is inf: exactly right."),
    (-np.inf, 1.0, "You wrote -inf; the result is 1: inf too low."),
    (np.nan, 1.0, "You wrote nan; the result is 1: they cannot be compared."),
])
def test_a_prediction_is_recalled_beside_the_result(guess, result, words, capsys):
    predict("7.1", guess)
    capsys.readouterr()
    assert told(capsys, "7.1", result=result) == words


def test_the_first_guess_counts_and_later_ones_are_shown(capsys):
    assert told(capsys, "7.1", 0.25) == "Noted: 0.25."
    assert told(capsys, "7.1", 0.25) == "Noted: 0.25."
    assert told(capsys, "7.1", 0.3) == "Noted: 0.3. Your first guess, 0.25, counts."
    assert told(capsys, "7.1") == "You wrote 0.25 (later 0.3)."
    assert told(capsys, "7.1", result=0.31) == "You wrote 0.25 (later 0.3); the result is 0.31: 0.06 too low."


def test_none_asks_for_a_guess_and_notes_nothing(capsys):
    assert told(capsys, "7.1", None) == "Write your guess in place of None and run the cell again; then go on."
    assert told(capsys, "7.1", result=0.31) == "You noted no guess; the result is 0.31."
    assert progress.events() == []


def test_predictions_of_other_ids_are_left_apart(capsys):
    predict("7.1", 1), predict("7.2", 2), capsys.readouterr()
    assert told(capsys, "7.2") == "You wrote 2."


def test_a_disk_that_refuses_keeps_the_guess_while_the_kernel_lives(monkeypatch, folder, capsys):
    monkeypatch.setenv("COURSE_PROGRESS", str(folder / "07.toml" / "progress.jsonl"))
    with pytest.warns(UserWarning, match="could not be written"):
        predict("7.1", 1)
    predict("7.2", 2), capsys.readouterr()
    assert told(capsys, "7.1", result=1) == "You wrote 1; the result is 1: exactly right."


class Hostile:
    def __array__(self, *_, **__):
        raise ArithmeticError

    __repr__ = __array__


ANYTHING = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.complex_numbers(), st.text(), st.binary(),
                     st.lists(st.floats() | st.text() | st.lists(st.integers())), st.dictionaries(st.text(), st.none()),
                     st.builds(Hostile), st.just(np.zeros(5000)), st.just(np.array([None, 1])))


@property_test
@given(ANYTHING, ANYTHING)
def test_no_prediction_can_stop_a_notebook(folder, guess, result):
    (folder / "progress.jsonl").write_bytes(b"")
    predict("7.1", guess)
    predict("7.1", result=result)
    assert progress.read().unreadable == 0


def test_a_progress_file_edited_by_hand_cannot_stop_a_notebook(capsys):
    progress.record("predict", id="7.1", value={"a": [1]})
    progress.record("predict", id="7.1")
    assert told(capsys, "7.1", result=1) == "You wrote {'a': [1]} (later None); the result is 1: not the same."


# --- in a kernel --------------------------------------------------------------------------------------------------

def test_a_kernel_shows_every_form(folder, monkeypatch):
    from nbclient import NotebookClient

    cells = ["from course_lib.classroom.quiz import predict, quiz\nfrom course_lib.classroom import questions\n"
             f"import pathlib\nquestions.FOLDER = pathlib.Path({str(folder)!r})",
             'quiz("7.1")', 'quiz("7.1", "b")', 'predict("7.1", 0.25)\npredict("7.1", result=0.31)']
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    _, asked, answered, predicted = (cell.outputs for cell in notebook.cells)
    assert set(asked[0].data) == {WIDGET, "text/html", "text/plain"}
    assert answered[0].data["text/plain"].startswith("[RIGHT] b) no\nbecause")
    assert [output.data["text/plain"] for output in predicted] == [
        "[PREDICTION] Noted: 0.25.", "[PREDICTION] You wrote 0.25; the result is 0.31: 0.06 too low."]
