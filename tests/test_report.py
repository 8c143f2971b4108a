"""Feedback pages: what stands on them, what cannot get onto them, and how a browser shows them.

The browser tests need Chromium; skipped where there is none, unless COURSE_REQUIRE names ``browser``.
"""

import os
import shutil
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from course_lib.classroom.grading import report, standings
from course_lib.classroom.grading.log import Log
from course_lib.classroom.grading.records import STATUSES, Example, Item, Override, Part, Row, Run, Standing, Student
from course_lib.classroom.grading.survey import Survey
from hypothesis import given, settings
from hypothesis import strategies as st

RUN = Run("toy", ("E1.1", "E1.2", "E1.3"), "5" * 64, "c" * 64, False, "0.1.0", "Second sheet")
EXAMPLE = Example(
    "two rows",
    (("counts", "[[1., 3.],\n [2., 2.]]"),),
    "[[0.125, 0.375], [0.25, 0.25]]",
    "[[0.25, 0.75], [0.5, 0.5]]",
    "4 of 4 entries differ; the first is at [0, 0]: 0.125 instead of 0.25.",
)
CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome", "chrome") if (path := shutil.which(name))), None
)
HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=http://evil.example/x onerror=alert(1)>",
    "</pre></style><h1>HACKED</h1>",
    "{{ 7 * 7 }}{% raw %}",
    "' onmouseover='alert(1)",
    "\u202egnp.exe\x00\x1b[31m",
    "\ud800",
    "&lt;b&gt;",
    "`<b>`",
]


def item(status="wrong", exercise="E1.1", points=0.0, out_of=2.0, **more):
    return Item(
        exercise,
        "shares",
        "Shares of a total",
        "01_shares",
        status,
        None if status == "not graded" else points,
        out_of,
        **more,
    )


def wrong(exercise="E1.1", **more):
    return item(
        "wrong",
        exercise,
        1.0,
        reason="It divides by the grand total.",
        mistake="It divides by the grand total.",
        remedy="Sum over `axis=1`, not over everything.",
        example=EXAMPLE,
        parts=(
            Part("two rows", True, True),
            Part("three columns", True, False),
            Part("many rows", False, False, "12 of 12 entries differ"),
        ),
        **more,
    )


def standing(*items, status="graded", student=Student("17", "Ada Lovelace"), reason="", **more):
    return Standing(Row("17", student, status, reason, items=items), **more)


def page(*items, run=RUN, **more):
    return report.student_page(standing(*items, **more), run)


class Reader(HTMLParser):
    """The text of a page, and what a screen reader's tree is made of."""

    VOID = {"meta", "br", "line", "rect"}

    def __init__(self, source):
        super().__init__()
        self.open, self.words, self.tags = [], [], []
        self.feed(source)
        assert not self.open, self.open

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)


# --- a student's page -----------------------------------------------------------------------------------------------


def test_lost_point_has_input_answer_expected_mistake_and_remedy():
    text = Reader(page(wrong(), item("right", "E1.2", 2.0))).text
    for words in (
        *EXAMPLE.given[0],
        "came " + EXAMPLE.got,
        "expected " + EXAMPLE.expected,
        "It divides by the grand total.",
        "not over everything",
        "two rows",
        "the first is at [0, 0]",
        "3 of 4 points",
        "Ada Lovelace (17)",
    ):
        assert " ".join(words.split()) in text, words


def test_answer_that_never_came_is_said_in_words():
    text = Reader(
        page(
            item(
                "timed out",
                reason="no answer within 2 s",
                example=replace(EXAMPLE, got="", sentence="no answer within 2 s"),
            )
        )
    ).text
    assert "came nothing: no answer within 2 s" in text and "expected [[0.25" in text


def test_marks_that_are_piled_upon_a_letter_are_cut_and_no_language_loses_one():
    assert report.printable("Z" + "\u0337\u0353" * 200 + "!") == "Z" + "\u0337\u0353" * 2 + "!"
    for word in ("Việt", "Việt".encode().decode(), "नमस्ते", "שָׁלוֹם", "e\u0301\u0302\u0303\u0304"):
        assert report.printable(word) == word


def test_sentence_has_a_capital_and_an_end_and_a_name_keeps_its_letters():
    told = {"it stops": "It stops.", "code cell 3, which": "Code cell 3, which.", "hw.zip: no": "hw.zip: no.",
            "Is it?": "Is it?", "log_odds is": "log_odds is.", "": "."}
    assert {words: str(report._sentence(words)) for words in told} == told


@pytest.mark.parametrize("status", ["graded", "no submission", "unreadable", "not graded"])
def test_every_row_has_its_page(status):
    row = standing(item("not graded" if status == "not graded" else "missing"), status=status, reason="why not")
    text = Reader(report.student_page(row, RUN)).text
    assert status == "graded" or f"{status.capitalize()}. Why not." in text


def test_error_that_is_the_same_everywhere_is_told_once():
    parts = tuple(Part(label, False, False, "it stops with ValueError: no") for label in ("a", "b", "c"))
    parts = (*parts, Part("d", False, False, "it stops elsewhere"))
    told = item("wrong", reason="it stops with ValueError: no", parts=parts)
    text = Reader(page(told)).text
    assert text.count("It stops with ValueError: no.") == 1 and "It stops elsewhere." in text


def test_class_page_says_what_there_is_to_know_about_files():
    stranger = standing(item("right", points=2.0))
    stranger = replace(stranger, row=replace(stranger.row, notes=("This student is not on the roster.", "x" * 5000)))
    text = Reader(report.class_page(RUN, surveyed(stranger))).text
    assert "Something to know about the files: 1" in text and "not on the roster." in text and "x" * 501 not in text


def test_function_that_is_missing_has_no_example():
    text = Reader(
        page(item("missing", reason="no cell defines it", example=EXAMPLE, parts=(Part("two rows", False, False),)))
    ).text
    assert "No cell defines it." in text and "simplest input" not in text and EXAMPLE.expected not in text


def test_groups_show_what_each_earned_and_add_up_to_the_points():
    lost = wrong()
    made = report.shares(lost)
    assert [(s.earned, s.possible) for s in made] == [(None, 0.0), (1.0, 1.0), (0.0, 1.0)]
    assert sum(s.earned or 0 for s in made) == lost.points
    text = Reader(page(lost)).text
    assert (
        "two rows ✓ right not counted" in text and "three columns ✓ right 1 of 1" in text and "✗ wrong 0 of 1" in text
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=8), st.integers(1, 20))
def test_shares_of_any_groups_add_up_to_what_marking_gives(groups, out_of):
    from course_lib.classroom.grading.marking import _share

    parts = tuple(Part(f"g{i}", right, fixed) for i, (right, fixed) in enumerate(groups))
    made = report.shares(item("wrong", out_of=float(out_of), parts=parts))
    if any(s.possible for s in made):
        assert sum(s.possible for s in made) == pytest.approx(out_of)
        assert sum(s.earned or 0.0 for s in made) == pytest.approx(out_of * _share(parts))


@pytest.mark.parametrize("status", STATUSES[1:])
def test_each_status_has_a_word_of_its_own(status):
    text = Reader(page(item(status, reason="because"))).text
    others = [s for s in STATUSES[1:] if s != status]
    assert report.MEANINGS[status] in text and not any(report.MEANINGS[other] in text for other in others)
    assert f"{report.SIGNS[status]} {status}" in text


def test_not_graded_is_never_a_number():
    text = Reader(page(item("not graded", reason="no memory"), item("right", "E1.2", 2.0))).text
    assert "Not graded yet." in text and "– not graded not graded" in text and "no mark yet" in text
    assert "0 of 2" not in text and "of 4 points" not in text


@pytest.mark.parametrize(
    "status, words",
    [("unreadable", "Unreadable. Invalid JSON at line 3"), ("no submission", "No submission. Nothing was handed in. If you did")],
)
def test_submission_that_was_not_graded_says_why(status, words):
    reason = words.partition(". ")[2]
    text = Reader(page(item("missing", reason=reason), status=status, reason=reason)).text
    assert words in text and text.count(reason) == 1


def test_lateness_trust_and_marks_set_by_hand_are_said():
    late = page(item("right", points=2.0), days_late=1.2, factor=0.8)
    assert "Late by 2 days. 80 % of the points count" in Reader(late).text and "1.6 of 2 points" in Reader(late).text
    assert (
        "No points are taken off" in Reader(page(item("right", points=2.0), days_late=0.2)).text
        and "Late" not in Reader(page(item())).text
    )
    assert "Graded without a sandbox." in Reader(page(item(), run=replace(RUN, trusted=True))).text
    by_hand = Reader(page(item(), overrides=(Override("17", "E1.1", 1.5, "the right idea"),))).text
    assert "1.5 of 2 points" in by_hand and "Set by hand. the right idea" in by_hand


def test_page_tells_nothing_of_others_and_nothing_of_the_seed():
    source = page(wrong(cluster="abcdef123456"))
    assert RUN.seed_hash[:12] not in source and RUN.cases_hash[:12] not in source and "abcdef123456" not in source


@pytest.mark.parametrize("evil", HOSTILE)
def test_text_of_a_student_is_shown_and_not_obeyed(evil):
    example = Example(evil, ((evil, evil),), evil, evil, evil)
    hostile = item(
        "wrong",
        reason=evil,
        mistake=evil,
        remedy=evil,
        example=example,
        printed=evil,
        notebook=evil,
        parts=(Part(evil, False, False, evil), Part("b", True, False)),
        cluster=evil,
    )
    harmless = item(
        "wrong",
        reason="x",
        mistake="x",
        remedy="x",
        example=Example("x", (("x", "x"),), "x", "x", "x"),
        printed="x",
        notebook="x",
        parts=(Part("x", False, False, "x"), Part("b", True, False)),
        cluster="x",
    )

    def both(it, word):
        own = Standing(
            Row("k", Student(word, word), "graded", items=(it,), notes=(word,)), (Override("k", "E1.1", 1.0, word),)
        )
        survey = Survey()
        survey.add(own)
        survey.add(standing(replace(it, mistake="")))
        survey.add(standing(it, status="unreadable", reason=word))
        return report.student_page(own, RUN), report.class_page(replace(RUN, title=word), survey)

    for attacked, plain in zip(both(hostile, evil), both(harmless, "x")):

        def shape(source):  # `code` in back quotes is ours to set
            return [
                (tag, {k: v for k, v in a.items() if k != "class"}) for tag, a in Reader(source).tags if tag != "code"
            ]

        assert shape(attacked) == shape(plain)
        assert not set(attacked) & set("\x00\x1b\u202e\ud800")


@settings(max_examples=100, deadline=None)
@given(st.text())
def test_any_text_can_be_shown_and_written(text):
    source = page(item("wrong", reason=text, printed=text))
    assert report._bytes(source).decode("utf-8") == source


# --- the class ------------------------------------------------------------------------------------------------------


def surveyed(*standings_):
    survey = Survey()
    for one in standings_:
        survey.add(one)
    return survey


def marked(points, out_of=4.0, status="graded"):
    """A standing with so many points in each exercise."""
    return standing(
        *(item("right" if p == out_of else "wrong", f"E1.{i}", float(p), out_of) for i, p in enumerate(points, 1)),
        status=status,
    )


def test_figures_of_the_exercises_equal_numpys():
    rng = np.random.default_rng(3)
    table = rng.integers(0, 5, (40, 3)).astype(float)
    tallies = list(surveyed(*map(marked, table)).tallies())
    for j, tally in enumerate(tallies):
        rest = np.delete(table, j, axis=1).sum(axis=1)
        assert tally.mean == pytest.approx(table[:, j].mean() / 4) and tally.difficulty == pytest.approx(1 - tally.mean)
        assert tally.discrimination == pytest.approx(np.corrcoef(table[:, j], rest)[0, 1]) and tally.attempts == 40


def test_figure_without_a_meaning_is_no_number():
    same = list(surveyed(*[marked((4, 2))] * 5).tallies())
    assert [t.discrimination for t in same] == [None, None] and same[0].mean == 1.0
    assert "–" in Reader(report.class_page(RUN, surveyed(marked((4, 2))))).text
    assert "There are no marks yet." in Reader(report.class_page(RUN, Survey())).text


def test_absent_and_ungraded_do_not_count_into_the_figures():
    absent = marked((0, 0), status="no submission")
    ungraded = standing(item("not graded", "E1.1", reason="disk full"), item("right", "E1.2", 4.0, 4.0))
    survey = surveyed(marked((4, 0)), marked((0, 0)), absent, ungraded)
    first, second = survey.tallies()
    assert (first.mean, first.attempts, second.attempts) == (0.5, 2, 3) and survey.totals == [0.5, 0.0]
    text = Reader(report.class_page(RUN, survey)).text
    assert "Not graded: 1" in text and "disk full" in text and "No submission: 1" in text


def test_full_marks_lie_in_the_last_tenth():
    assert surveyed(marked((4,)), marked((0,)), marked((2,)), marked((4,))).bins() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]


def test_class_page_counts_mistakes_clusters_and_what_nobody_got():
    odd = item("wrong", reason="4 of 4 differ", cluster="abcdef123456", example=EXAMPLE)
    survey = surveyed(standing(wrong()), standing(wrong()), standing(odd), standing(odd), standing(odd))
    text = Reader(report.class_page(RUN, survey)).text
    assert "E1.1 It divides by the grand total. 2" in text and "E1.1, abcdef123456 : 3 students" in text
    assert "Solved by nobody E1.1 Shares of a total: 5 attempts" in text
    source = report.class_page(RUN, survey)
    assert "Solved by nobody" not in report.class_page(
        RUN, surveyed(standing(wrong()), standing(item("right", points=2.0)))
    )
    assert 'role="img"' in source and "50 to 60 %: 2" in source  # the picture in words


# --- files ----------------------------------------------------------------------------------------------------------


def graded_folder(tmp_path, *rows):
    with Log(tmp_path, make=True) as log:
        run = log.begin(RUN)
        for row in rows:
            log.add(run, row, "c")
    return tmp_path


def test_folder_gets_a_page_each_and_the_same_bytes_again(tmp_path):
    rows = [replace(standing(wrong(cluster="")).row, key=key, student=Student(key)) for key in ("a", "b")]
    folder = graded_folder(tmp_path, *rows)
    (folder / "feedback").mkdir()
    (folder / "feedback" / "gone.html").write_text("of somebody who left")
    report.write_pages(folder)
    first = {p.name: p.read_bytes() for p in sorted((folder / "feedback").iterdir())} | {
        "class": (folder / "class.html").read_bytes()
    }
    assert (
        list(first) == ["a.html", "b.html", "class"]
        and b"<strong>a</strong>" in first["a.html"]
        and b"<strong>b</strong>" not in first["a.html"]
    )
    report.write_pages(folder)
    assert first == {p.name: p.read_bytes() for p in sorted((folder / "feedback").iterdir())} | {
        "class": (folder / "class.html").read_bytes()
    }


def test_sentence_for_a_cluster_reaches_the_pages(tmp_path):
    odd = item("wrong", reason="4 of 4 differ", cluster="abcdef123456", example=EXAMPLE)
    folder = graded_folder(tmp_path, standing(odd).row)
    standings.name_cluster(folder, "abcdef", "The shares are squared.", "Leave the square away.")
    report.write_pages(folder)
    for path in (folder / "feedback" / "17.html", folder / "class.html"):
        assert "The shares are squared." in path.read_text(encoding="utf-8")


def test_templates_are_part_of_the_package():
    from importlib.resources import files

    assert {p.name for p in (files("course_lib") / "classroom" / "grading" / "templates").iterdir()} == {
        "base.html",
        "class.html",
        "parts.html",
        "student.html",
    }


# --- the tree of a screen reader, and a real browser ----------------------------------------------------------------


def examples():
    everything = standing(
        wrong(),
        *(
            item(s, f"E1.{i}", reason="it `stops` with ValueError: " + "x" * 300, printed="y" * 400)
            for i, s in enumerate(STATUSES, 2)
        ),
        days_late=2.5,
        factor=0.8,
    )
    odd = item("wrong", cluster="abcdef123456", example=replace(EXAMPLE, got="z" * 200))
    survey = surveyed(
        everything,
        standing(wrong()),
        standing(odd),
        standing(item("right", points=2.0)),
        standing(item("missing"), status="no submission"),
        standing(item("unreadable"), status="unreadable", reason="invalid JSON at line 3" + "w" * 300),
    )
    trusted = replace(RUN, trusted=True)
    return {"student": report.student_page(everything, trusted), "class": report.class_page(trusted, survey)}


@pytest.mark.parametrize("name", ["student", "class"])
def test_page_has_language_title_landmarks_headings_in_order_and_scopes(name):
    tags = Reader(examples()[name]).tags
    names = [tag for tag, _ in tags]
    assert dict(tags)["html"] == {"lang": "en-GB"} and [
        names.count(n) for n in ("title", "header", "main", "footer", "h1")
    ][1:] == [1, 1, 1, 1]
    levels = [int(n[1]) for n in names if n in ("h1", "h2", "h3")]
    assert levels[0] == 1 and all(b - a <= 1 for a, b in zip(levels, levels[1:]))
    assert all(a.get("scope") in ("row", "col") for tag, a in tags if tag == "th")
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids)) and all(a["href"][1:] in ids for tag, a in tags if tag == "a")
    labelled = [word for _, a in tags for word in a.get("aria-labelledby", "").split()]
    assert labelled and set(labelled) <= set(ids)
    assert not {"script", "link", "img", "iframe", "form"} & set(names) and not any("src" in a for _, a in tags)


@pytest.mark.skipif(
    not CHROMIUM and "browser" not in os.environ.get("COURSE_REQUIRE", ""),
    reason="no Chromium here; install it to look at the pages",
)
@pytest.mark.parametrize("name", ["student", "class"])
def test_browser_asks_for_nothing_and_nothing_overflows(name, tmp_path):
    from playwright.sync_api import sync_playwright

    path = tmp_path / f"{name}.html"
    path.write_bytes(report._bytes(examples()[name]))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--no-first-run"]
        )
        for width in (390, 1200):
            view = browser.new_page(viewport={"width": width, "height": 844})
            asked, complaints = [], []
            view.on("request", lambda request: asked.append(request.url))
            view.on("console", lambda message: complaints.append(message.text))
            view.goto(path.as_uri())
            assert asked == [path.as_uri()] and complaints == []
            assert view.evaluate("document.documentElement.scrollWidth") <= width
            assert view.get_by_role("main").count() == view.get_by_role("heading", level=1).count() == 1
            assert view.get_by_role("rowheader").count() > 1 and view.get_by_role("columnheader").count() > 2
            if folder := os.environ.get("COURSE_SCREENSHOTS"):
                view.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
            view.close()
        browser.close()
