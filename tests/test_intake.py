"""Whatever is handed in, in whatever layout: one row for each submission, and nothing of it is followed or unpacked."""
import io
import json
import os
import stat
import zipfile
from pathlib import Path

import nbformat
import pytest
from course_lib.classroom.grading import archive, intake
from course_lib.classroom.grading.cells import parse
from course_lib.classroom.grading.intake import collect, read
from course_lib.classroom.grading.layouts import natural, piles
from course_lib.classroom.grading.records import Student
from course_lib.classroom.grading.roster import Roster, slug
from hypothesis import example, given, settings
from hypothesis import strategies as st
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

CODE = "def shares(counts):\n    return counts"
NOTEBOOK = nbformat.writes(new_notebook(cells=[new_markdown_cell("# Title"), new_code_cell(CODE)])).encode()
COLAB = json.loads(NOTEBOOK) | {
    "metadata": {"colab": {"provenance": []}, "accelerator": "GPU", "kernelspec": {"name": "x"}}
}


def lay(root: Path, files: dict[str, bytes]) -> Path:
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)
    return root


def zipped(files: dict[str, bytes], path: Path | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in files.items():
            made.writestr(name, content)
    if path:
        path.write_bytes(buffer.getvalue())
    return buffer.getvalue()


def seen(path: Path, roster: Roster | None = None) -> dict[str, tuple[Student, tuple[str, ...]]]:
    """key → whose it is and which notebooks are in it."""
    found = {}
    for heap in collect(path, roster):
        found[heap.key] = heap.student, tuple(n.name for n in read(heap.package()).notebooks)
    return found


LAYOUTS = {
    "canvas": (
        {"lovelaceada_12345_67890_hw1.ipynb": NOTEBOOK, "turingalan_LATE_222_333_my hw1.ipynb": NOTEBOOK},
        {
            "12345": (Student("12345", "lovelaceada"), ("hw1.ipynb",)),
            "222": (Student("222", "turingalan"), ("my hw1.ipynb",)),
        },
    ),
    "moodle": (
        {
            "Ada Lovelace_11_assignsubmission_file_/hw1.ipynb": NOTEBOOK,
            "Alan Turing_22_assignsubmission_file_hw1.ipynb": NOTEBOOK,
            "Alan Turing_22_assignsubmission_onlinetext_/onlinetext.html": b"<p>Hi</p>",
        },
        {"11": (Student("11", "Ada Lovelace"), ("hw1.ipynb",)), "22": (Student("22", "Alan Turing"), ("hw1.ipynb",))},
    ),
    "gradescope": (
        {
            "assignment_1_export/submission_metadata.yml": b"---\nsubmission_71:\n  :submitters:\n  - :name: Ada Lovelace\n    :sid: '7'\n    :email: a@b.c\n"
            b"  - :name: Alan Turing\n    :email: alan@b.c\n  :created_at: 2026-11-02 14:03:00.5 +01:00\n"
            b"submission_72:\n  :submitters: []\n",
            "assignment_1_export/submission_71/hw1.ipynb": NOTEBOOK,
            "assignment_1_export/submission_72/hw1.ipynb": NOTEBOOK,
        },
        {
            "7": (Student("7", "Ada Lovelace"), ("hw1.ipynb",)),
            "alan_b.c": (Student("alan@b.c", "Alan Turing"), ("hw1.ipynb",)),
            "submission_72": (Student("submission_72"), ("hw1.ipynb",)),
        },
    ),
    "nbgrader": (
        {
            "submitted/ada/hw1/hw1.ipynb": NOTEBOOK,
            "submitted/ada/hw1/timestamp.txt": b"2026-11-02 15:58:23.94 UTC",
            "submitted/alan/hw1/hw1.ipynb": NOTEBOOK,
        },
        {"ada": (Student("ada"), ("hw1/hw1.ipynb",)), "alan": (Student("alan"), ("hw1/hw1.ipynb",))},
    ),
    "folders": (
        {
            "ada/my answers (2).ipynb": NOTEBOOK,
            "alan/x.ipynb": NOTEBOOK,
            "alan/.ipynb_checkpoints/x-checkpoint.ipynb": b"{",
            "__MACOSX/ada/._my answers.ipynb": b"\0",
            ".DS_Store": b"\0",
            "roster.csv": b"id,name\n",
        },
        {"ada": (Student("ada"), ("my answers (2).ipynb",)), "alan": (Student("alan"), ("x.ipynb",))},
    ),
    "files": (
        {
            "hw1/ada.ipynb": NOTEBOOK,
            "hw1/alan.ipynb": NOTEBOOK,
            "hw1/alan-checkpoint.ipynb": NOTEBOOK,
            "hw1/bob.pdf": b"%PDF",
        },
        {
            "ada": (Student("ada"), ("ada.ipynb",)),
            "alan": (Student("alan"), ("alan.ipynb",)),
            "bob": (Student("bob"), ()),
        },
    ),
}


@pytest.mark.parametrize("kind", ["folder", "zip"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_tells_whose_files_they_are(layout, kind, tmp_path):
    files, expected = LAYOUTS[layout]
    if kind == "folder":
        place = lay(tmp_path / "class", files)
        place = place / "hw1" if layout == "files" else place
    else:
        zipped(files, place := tmp_path / "class.zip")
    assert seen(place) == expected


def test_platforms_tell_lateness_and_time(tmp_path):
    heaps = {
        h.key: h
        for layout in ("canvas", "gradescope", "nbgrader")
        for h in collect(lay(tmp_path / layout, LAYOUTS[layout][0]))
    }
    assert heaps["222"].late and not heaps["12345"].late
    assert heaps["7"].submitted == "2026-11-02T14:03:00.500000+01:00"
    assert heaps["ada"].package().submitted == "2026-11-02T15:58:23"


def test_single_notebook_is_a_class_of_one_and_its_neighbours_are_not_read(tmp_path):
    lay(tmp_path, {"ada.ipynb": NOTEBOOK, "other.ipynb": NOTEBOOK})
    assert list(seen(tmp_path / "ada.ipynb")) == ["ada"]


def test_what_is_not_there_is_said_to_be_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="found nothing at"):
        collect(tmp_path / "nowhere")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 no")
    with pytest.raises(ValueError, match="download it once more"):
        collect(tmp_path / "broken.zip")


def test_roster_gives_a_row_to_everybody_and_finds_squeezed_names(tmp_path):
    (tmp_path / "roster.csv").write_text(
        "\ufeffID,Name,Section\nal1,Ada Lovelace,a\njn2,José Ñandú,b\nxx3,Nobody Here,b\n", "utf-8"
    )
    roster = Roster.read(tmp_path / "roster.csv")
    place = lay(
        tmp_path / "class",
        {"lovelaceada_1_2_a.ipynb": NOTEBOOK, "Jose Nandu.ipynb": NOTEBOOK, "stranger.ipynb": NOTEBOOK},
    )
    heaps = {h.key: h for h in collect(place, roster)}
    assert list(heaps) == ["al1", "jn2", "stranger", "xx3"]
    assert read(heaps["al1"].package()).notebooks and heaps["jn2"].student == Student("jn2", "José Ñandú")
    assert read(heaps["stranger"].package()).notes == ("This student is not on the roster.",)
    nothing = read(heaps["xx3"].package())
    assert (nothing.status, nothing.reason) == ("no submission", "nothing was handed in")


@pytest.mark.parametrize(
    "text", ["id;name\nal1;Ñandú, José\n".encode("cp1252"), "id\tname\nal1\tÑandú, José\n".encode("utf-16")])
def test_roster_may_be_saved_by_any_spreadsheet(text, tmp_path):
    (tmp_path / "roster.csv").write_bytes(text)
    assert Roster.read(tmp_path / "roster.csv").students == (Student("al1", "Ñandú, José"),)


def test_namesakes_are_not_guessed_at():
    roster = Roster([Student("1", "Ada Lovelace"), Student("2", "Lovelace Ada")])
    assert roster.find(Student("9", "adalovelace")) is None and roster.find(Student("2")).id == "2"


@pytest.mark.parametrize(
    "text, words",
    [("name\nAda\n", "columns id,name"), ("id,name\n1,Ada\n1,Alan\n", "several times: 1"), ("", "columns")],
)
def test_unusable_roster_is_explained(text, words, tmp_path):
    (tmp_path / "r.csv").write_text(text)
    with pytest.raises(ValueError, match=words):
        Roster.read(tmp_path / "r.csv")


V3 = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": [
    {"cell_type": "heading", "level": 1, "source": ["Title"]},
    {"cell_type": "code", "input": CODE.splitlines(True), "language": "python", "outputs": []}]}]}
V40 = {"nbformat": 4, "nbformat_minor": 0, "metadata": {}, "cells": [
    {"cell_type": "code", "source": CODE.splitlines(True), "metadata": {}, "outputs": [], "execution_count": None}]}
READABLE = {
    "as it is": NOTEBOOK,
    "format 3": json.dumps(V3).encode(),
    "format 4.0": json.dumps(V40).encode(),
    "no minor": json.dumps({k: v for k, v in V40.items() if k != "nbformat_minor"}).encode(),
    "cells only": json.dumps({"cells": V40["cells"]}).encode(),
    "colab": json.dumps(COLAB).encode(),
    "byte order mark": b"\xef\xbb\xbf" + NOTEBOOK,
    "utf-16": NOTEBOOK.decode().encode("utf-16"),
    "windows": NOTEBOOK.replace(b"\n", b"\r\n"),
    "windows inside": NOTEBOOK.replace(rb"):\n", rb"):\r\n"),
    "broken text elsewhere": NOTEBOOK.replace(b"# Title", b"# Ti\xfftle"),
    "odd cells": json.dumps(
        {"cells": [None, 3, {"cell_type": "raw"}, {"cell_type": "markdown", "source": 3}, *V40["cells"]]}
    ).encode(),
    "widgets without a state": json.dumps(json.loads(NOTEBOOK) | {"metadata": {"widgets": {"a": {}}}}).encode(),
}


@pytest.mark.parametrize("what", READABLE)
def test_every_kind_of_notebook_gives_the_same_code(what):
    assert parse("x.ipynb", READABLE[what]).code == (CODE,)


UNREADABLE = {
    "empty": (b"", "empty file"),
    "zeros": (b"\0" * 100, "empty file"),
    "truncated": (NOTEBOOK[:-20], "invalid JSON at line"),
    "two objects": (b"{}\n{}", "invalid JSON at line 2, column 1"),
    "merge": (b'{\n<<<<<<< HEAD\n "a": 1}', "line 2, column 1.*unfinished git merge"),
    "web page": (b"<html>", "invalid JSON at line 1"),
    "list": (b"[]", "not a notebook"),
    "no cells": (b'{"nbformat": 4}', "not a notebook"),
    "cells a dict": (b'{"cells": {}}', "not a notebook"),
    "deep": (b"[" * 200_000, "invalid JSON"),
    "picture": (b"\x89PNG\r\n", "invalid JSON at line 1"),
    "long number": (b"9" * 5000, "invalid JSON"),
}


@pytest.mark.parametrize("what", UNREADABLE)
def test_what_is_no_notebook_is_refused_with_the_place(what):
    raw, words = UNREADABLE[what]
    with pytest.raises(archive.Refused, match=words):
        parse("x.ipynb", raw)


@settings(max_examples=60, deadline=None)
@example(raw=b'{"worksheets":[{"cells":1}]}')
@given(
    st.binary(max_size=200)
    | st.recursive(
        st.none() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["cells", "worksheets", "cell_type", "source", "input"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    ).map(lambda t: json.dumps(t).encode())
)
def test_any_bytes_are_read_or_refused(raw):
    try:
        notebook = parse("x.ipynb", raw)
    except archive.Refused as refusal:
        assert str(refusal)
    else:
        assert all("\r" not in source and source.encode() is not None for source in notebook.code)


def test_lone_surrogates_can_be_sent_on():
    raw = json.dumps({"cells": [{"cell_type": "code", "source": "x = '\ud800'"}]}).encode()
    parse("x.ipynb", raw).code[0].encode("utf-8")


def refusals(tmp_path, files: dict[str, bytes]) -> tuple[str, str]:
    [heap] = collect(lay(tmp_path / "class", files))
    submission = read(heap.package())
    return submission.status, submission.reason


def member(name: str, content: bytes = NOTEBOOK, mode: int = 0) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as made:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        made.writestr(info, content)
    return buffer.getvalue()


def encrypted() -> bytes:
    raw = bytearray(member("hw1.ipynb"))
    for magic, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        raw[raw.index(magic) + offset] |= 1
    return bytes(raw)


HOSTILE = {
    "slip": (member("../../evil.ipynb"), "leads out of the archive"),
    "absolute": (member("/etc/cron.d/x"), "leads out"),
    "drive": (member("C:/x.ipynb"), "leads out"),
    "backslash": (member("..\\x.ipynb"), "leads out"),
    "link": (member("hw1.ipynb", b"/etc/passwd", stat.S_IFLNK | 0o777), "symbolic link"),
    "encrypted": (encrypted(), "encrypted"),
    "not a zip": (b"PK nonsense", "not a zip archive"),
    "no notebook": (zipped({"hw1.py": b""}), "no notebook"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_archive_is_refused_with_a_row(what, tmp_path):
    raw, words = HOSTILE[what]
    status, reason = refusals(tmp_path, {"ada/work.zip": raw})
    assert status == "unreadable" and words in reason
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["ada", "class", "work.zip"]      # nothing was unpacked


def test_bombs_are_refused_by_their_declared_size(tmp_path):
    bomb = zipped({f"{i}.bin": bytes(48 << 20) for i in range(6)})
    assert len(bomb) < 1 << 20
    status, reason = refusals(tmp_path, {"ada/work.zip": bomb})
    assert status == "unreadable" and "288 MB unpacked" in reason
    many = zipped({f"{i}": b"" for i in range(2_001)})
    assert "2,001 files" in refusals(tmp_path / "2", {"ada/work.zip": many})[1]


def test_archive_that_lies_about_a_size_is_read_no_further():
    raw = bytearray(zipped({"hw1.ipynb": bytes(1 << 20)}))
    central = raw.index(b"PK\x01\x02")
    raw[central + 24:central + 28] = (100).to_bytes(4, "little")
    [entry] = archive.of_zip(io.BytesIO(bytes(raw)))
    try:
        assert len(entry.read()) <= 100
    except archive.Refused:
        pass


def test_zip_slip_at_the_top_costs_only_its_own_row(tmp_path):
    zipped({"ada.ipynb": NOTEBOOK, "../../eve.ipynb": NOTEBOOK}, tmp_path / "class.zip")
    rows = {h.key: read(h.package()) for h in collect(tmp_path / "class.zip")}
    assert rows["ada"].notebooks and rows["eve"].status == "unreadable" and "leads out" in rows["eve"].reason


def test_students_own_zip_is_opened(tmp_path):
    lay(
        tmp_path,
        {
            "ada/work.zip": zipped(
                {"sheet/hw1.ipynb": NOTEBOOK, "sheet/points.csv": b"1,2", "__MACOSX/._hw1.ipynb": b"\0"}
            )
        },
    )
    [heap] = collect(tmp_path)
    submission = read(heap.package())
    assert [n.name for n in submission.notebooks] == ["sheet/hw1.ipynb"] and submission.files == (
        ("sheet/points.csv", b"1,2"),
    )


@pytest.mark.skipif(os.name == "nt", reason="links need rights on Windows")
def test_links_and_pipes_are_not_opened(tmp_path):
    secret = lay(tmp_path / "elsewhere", {"secret.ipynb": NOTEBOOK})
    place = lay(tmp_path / "class", {"bob/hw1.ipynb": NOTEBOOK})
    (place / "ada").mkdir()
    (place / "ada" / "hw1.ipynb").symlink_to(secret / "secret.ipynb")
    (place / "bob" / "data.csv").symlink_to("/etc/passwd")
    (place / "eve").symlink_to(secret)
    (place / "kim").mkdir()
    os.mkfifo(place / "kim" / "hw1.ipynb")
    rows = {h.key: read(h.package()) for h in collect(place)}
    assert {k: r.status for k, r in rows.items()} == {
        "ada": "unreadable",
        "bob": "",
        "eve": "unreadable",
        "kim": "unreadable",
    }
    assert "symbolic link" in rows["ada"].reason and "not a regular file" in rows["kim"].reason
    assert rows["bob"].files == () and "symbolic link" in rows["bob"].notes[0]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may read everything")
def test_file_without_rights_costs_only_its_row(tmp_path):
    lay(tmp_path, {"ada/hw1.ipynb": NOTEBOOK})
    (tmp_path / "ada" / "hw1.ipynb").chmod(0)
    assert "cannot be read" in refusals(tmp_path, {})[1]


def test_too_large_notebook_is_a_row_and_large_neighbours_are_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "FILE_BYTES", 3 << 20)
    lay(tmp_path, {"ada/hw1.ipynb": bytes(4 << 20), "bob/hw1.ipynb": NOTEBOOK, "bob/data.bin": bytes((2 << 20) + 1)})
    ada, bob = (read(h.package()) for h in collect(tmp_path))
    assert ada.status == "unreadable" and "too large: 4 MB, where at most 3 MB" in ada.reason
    assert bob.notebooks and bob.files == () and "left out" in bob.notes[0]


def test_one_broken_notebook_of_two_is_a_note(tmp_path):
    lay(tmp_path, {"ada/a.ipynb": NOTEBOOK, "ada/b.ipynb": b"{"})
    [heap] = collect(tmp_path)
    submission = read(heap.package())
    assert [n.name for n in submission.notebooks] == ["a.ipynb"] and submission.notes[0].startswith(
        "b.ipynb: invalid JSON"
    )


def test_checkpoint_is_read_only_if_it_is_all_there_is(tmp_path):
    lay(
        tmp_path,
        {
            "ada/a.ipynb": NOTEBOOK,
            "ada/a-checkpoint.ipynb": b"{",
            "bob/a-checkpoint.ipynb": NOTEBOOK,
            "kim/.ipynb_checkpoints/a.ipynb": NOTEBOOK,
        },
    )
    assert {k: v[1] for k, v in seen(tmp_path).items()} == {
        "ada": ("a.ipynb",),
        "bob": ("a-checkpoint.ipynb",),
        "kim": (),
    }


def test_empty_folder_is_a_row(tmp_path):
    (tmp_path / "ada").mkdir()
    lay(tmp_path, {"bob/hw1.ipynb": NOTEBOOK})
    [ada, _] = collect(tmp_path)
    assert read(ada.package()).status == "no submission"


def test_keys_are_unique_where_file_systems_do_not_tell_letters_apart(tmp_path):
    zipped({"Ada.ipynb": NOTEBOOK, "ada.ipynb": NOTEBOOK, "a/b.ipynb": NOTEBOOK}, tmp_path / "c.zip")
    keys = [h.key.casefold() for h in collect(tmp_path / "c.zip")]
    assert len(keys) == 3 == len(set(keys))


@settings(max_examples=80, deadline=None)
@given(st.text(max_size=120))
def test_slug_is_a_file_name(text):
    name = slug(text)
    assert name == Path(name).name and 0 < len(name) <= 80 and not name.startswith(".") and name.isprintable()


def test_names_written_as_code_page_437_are_read_as_utf_8(tmp_path):
    raw = bytearray(member("José.ipynb"))
    for magic, offset in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        raw[raw.index(magic) + offset] &= ~0x08
    [entry] = archive.of_zip(io.BytesIO(bytes(raw)))
    assert entry.name == "José.ipynb"


def test_digest_tells_any_change(tmp_path):
    lay(tmp_path, {"ada/a.ipynb": NOTEBOOK, "ada/x.csv": b"1"})
    first = collect(tmp_path)[0].package().digest
    assert first == collect(tmp_path)[0].package().digest
    lay(tmp_path, {"ada/x.csv": b"2"})
    assert collect(tmp_path)[0].package().digest != first


def test_reading_a_class_holds_one_package_at_a_time(tmp_path):
    """Listing reads no file: 200 notebooks of 1 MB are listed with less than one of them in memory."""
    import tracemalloc

    lay(tmp_path, {f"{i:03d}/hw1.ipynb": b" " * (1 << 20) for i in range(100)})
    tracemalloc.start()
    heaps = collect(tmp_path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(heaps) == 100 and peak < 1 << 20


def test_piles_are_formed_from_names_alone():
    unread = [archive.Entry(f"{name}/hw1.ipynb", lambda: pytest.fail("it was read")) for name in ("ada", "bob")]
    assert [p.student.id for p in piles(unread)] == ["ada", "bob"] and intake.EXTRA_BYTES


# --- made to harm, by a student or by chance


def handed_in(tmp_path: Path, **files: bytes) -> intake.Package:
    """The package of a student, ada, with these files in her folder."""
    lay(tmp_path, {f"class/ada/{name.replace('_', '.')}": content for name, content in files.items()})
    lay(tmp_path, {"class/alan/hw.ipynb": NOTEBOOK})
    return {heap.key: heap for heap in collect(tmp_path / "class")}["ada"].package()


def test_deep_path_in_a_zip_is_refused_before_its_folders_are_counted(tmp_path):
    """The names of 30,000 folders in each other are a gigabyte of text."""
    package = handed_in(tmp_path, hw_zip=zipped({"a/" * 30_000 + "x": b""}))
    [fault] = package.faults
    assert "its name has 60,001 characters" in fault and len(fault) < 400


def test_file_without_a_name_is_a_file_like_others(tmp_path):
    nameless = io.BytesIO()
    with zipfile.ZipFile(nameless, "w") as made:
        made.writestr(zipfile.ZipInfo("X"), b"1")
        made.writestr("hw.ipynb", NOTEBOOK)
        made.filelist[0].filename = ""
    package = handed_in(tmp_path, hw_zip=nameless.getvalue())
    assert package.files == (("hw.ipynb", NOTEBOOK),) and "nameless: it cannot be unpacked" in package.faults[0]


def test_list_of_a_zip_is_counted_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "of_zip", lambda _: pytest.fail("it was opened"))
    [fault] = handed_in(tmp_path, hw_zip=b"PK\x01\x02" * 100_000).faults
    assert "100,000 files, where at most 2,000" in fault


def test_notebooks_and_files_of_one_submission_have_a_sum(tmp_path, monkeypatch):
    monkeypatch.setattr(intake, "ARCHIVE_BYTES", 2 * len(NOTEBOOK))
    monkeypatch.setattr(intake, "EXTRAS", 2)
    files = {f"{name}_{kind}": NOTEBOOK for name in "abc" for kind in ("ipynb", "txt")}
    package = handed_in(tmp_path, **files)
    assert [name for name, _ in package.files] == ["a.ipynb", "a.txt", "b.ipynb", "b.txt"]
    assert [fault.partition(":")[0] for fault in package.faults] == ["c.ipynb", "c.txt"]


def test_no_more_is_said_of_files_than_somebody_reads(tmp_path):
    files = {f"{i:04}.dat": b"" for i in range(50)}
    lay(tmp_path, {f"class/ada/{name}": b"" for name in files} | {"class/alan/hw.ipynb": NOTEBOOK})
    for path in (tmp_path / "class" / "ada").iterdir():
        path.write_bytes(bytes(intake.EXTRA_BYTES + 1)) if path.name < "0012" else path.unlink()
    faults = {heap.key: heap for heap in collect(tmp_path / "class")}["ada"].package().faults
    assert len(faults) == 11 and faults[-1] == "And 2 more files were left out."


def test_failure_while_reading_is_ours_and_stops_nobody_else(tmp_path, monkeypatch):
    lay(tmp_path, {"ada.ipynb": NOTEBOOK})
    [heap] = collect(tmp_path)
    monkeypatch.setattr(intake, "_contents", lambda *_: 1 / 0)
    assert "ZeroDivisionError" in heap.package().failure


def test_time_of_handing_in_is_nbgraders_and_no_students_word(tmp_path):
    """A file of that name in a student's own zip or folder would undo a lateness."""
    stamp = {"x/timestamp.txt": b"2020-01-01 00:00:00 UTC"}
    mine = zipped({"hw.ipynb": NOTEBOOK, "timestamp.txt": stamp["x/timestamp.txt"]} | stamp)
    places = ("canvas/ada_LATE_1_2_hw.zip", "moodle/Ada_1_assignsubmission_file_/hw.zip", "folder/ada/hw1/hw.zip")
    deep = {"moodle/Alan_2_assignsubmission_file_/x/timestamp.txt": stamp["x/timestamp.txt"],
            "folder/alan/hw1/mine/timestamp.txt": stamp["x/timestamp.txt"]}
    lay(tmp_path, {place: mine for place in places} | deep)
    heaps = [heap for layout in ("canvas", "moodle", "folder") for heap in collect(tmp_path / layout)]
    assert len(heaps) == 5 and not any(heap.package().submitted for heap in heaps) and heaps[0].late


def test_who_bears_anothers_name_takes_no_place_of_his(tmp_path):
    roster = Roster([Student("al2", "Ada Lovelace"), Student("gh3", "Grace Hopper")])
    lay(tmp_path, {"lovelaceada_1_2_hw.ipynb": NOTEBOOK, "lovelaceada_9_8_hw.ipynb": b"{}",
                   "hoppergrace_3_4_a.ipynb": NOTEBOOK})
    heaps = {heap.key: heap for heap in collect(tmp_path, roster)}
    assert list(heaps) == ["1", "9", "al2", "gh3"] and not heaps["al2"].entries and heaps["gh3"].entries
    assert all("named like al2 of the roster (1, 9)" in heaps[key].notes[0] for key in ("1", "9", "al2"))
    by_id = Roster([Student("1", "Ada Lovelace")])
    heaps = {heap.key: heap for heap in collect(tmp_path, by_id)}
    assert heaps["1"].package().files == (("hw.ipynb", NOTEBOOK),) and not heaps["1"].notes and heaps["9"].notes


def test_table_beside_the_notebook_is_the_students_on_every_platform(tmp_path):
    names = {"canvas": "ada_1_{}_", "moodle": "Ada_1_assignsubmission_file_"}
    for platform, name in names.items():
        place = lay(tmp_path / platform, {name.format(2) + "hw.ipynb": NOTEBOOK, name.format(3) + "points.csv": b"1,2",
                                          "roster.csv": b"id,name\n"})
        [heap] = collect(place)
        assert [file for file, _ in heap.package().files] == ["hw.ipynb", "points.csv"]


@pytest.mark.parametrize("raw, words", [
    (b'{"cells": [' + b"{}," * 20_000 + b"{}]}", "20,001 cells, where at most 10,000"),
    (b"[" * 5_000_001, "more than 5,000,000 parts")])
def test_notebook_that_is_made_of_too_many_parts_is_refused(raw, words):
    with pytest.raises(archive.Refused, match=words):
        parse("x.ipynb", raw)


def test_looking_for_a_definition_takes_no_more_than_the_length_of_the_cell():
    """A line of so many imports would take the square of it: hours."""
    from course_lib.classroom.grading.cells import defining

    endless = "from " + "import " * 300_000 + "xshares"
    assert defining((endless, "from a import b, shares", "from a import (shares)"), "shares") == [1, 2]


@pytest.mark.parametrize("name", ["1²3.ipynb", "9" * 5000 + ".ipynb", "٣.ipynb", ""])
def test_any_name_has_its_place_among_others(name):
    assert sorted(["hw (10).ipynb", name, "hw (9).ipynb"], key=natural)
    assert natural("hw.ipynb") < natural("hw-1.ipynb") and natural("hw (9).ipynb") < natural("hw (10).ipynb")


def test_of_two_files_with_one_name_the_later_counts_and_it_is_said(tmp_path):
    """Canvas counts the files that it is given: the first number is the student's, the second the file's."""
    early, late = NOTEBOOK, NOTEBOOK.replace(b"counts", b"c")
    lay(tmp_path, {"ada_1_1000_hw.ipynb": late, "ada_1_999_hw.ipynb": early})
    [heap] = collect(tmp_path)
    package = heap.package()
    assert package.files == (("hw.ipynb", late),)
    assert package.faults == ("hw.ipynb: handed in 2 times; the last one counts",)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=120))
def test_slug_is_a_name_on_any_file_system(text):
    assert 0 < len(slug(text).encode()) <= 200 and "/" not in slug(text)
