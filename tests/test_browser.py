"""The course in a real browser: JupyterLab in headless Chromium, first by mouse, then by keyboard alone.

Needs Chromium (Debian: ``apt-get install chromium``); skipped where there is none, unless COURSE_REQUIRE names
``browser``. With COURSE_SCREENSHOTS=FOLDER every step leaves a picture there.
"""
import ast
import inspect
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import suppress
from pathlib import Path

import pytest
from course_lib.classroom.build import references

ROOT = Path(__file__).parents[1]
LECTURES = [path.stem for path in sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))]
EXERCISES = [path.stem for path in sorted((ROOT / "exercises").glob("[0-9]*.ipynb"))]
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
CHROMIUM = next((path for name in BROWSERS if (path := shutil.which(name))), None)
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]
SETTINGS = {                             # no news; every cell in the page, not only what a quick machine has got round to
    "apputils-extension/notification": {"fetchNews": "false"}, "notebook-extension/tracker": {"windowingMode": "none"}}
PATIENCE = 120_000                       # milliseconds; a loaded machine starts a kernel slowly

pytestmark = pytest.mark.skipif(not CHROMIUM and "browser" not in os.environ.get("COURSE_REQUIRE", ""),
                                reason="no Chromium here; install it to run the browser tests")


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """``course lab`` on a copy of the course in which nothing has been run; yields the address and the folder."""
    root = tmp_path_factory.mktemp("course")
    for folder in ("notebooks", "exercises"):
        shutil.copytree(ROOT / folder, root / folder)
    for path in (root / "notebooks").glob("*.ipynb"):
        _as_never_run(path)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    for name, value in SETTINGS.items():
        setting = root / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        setting.parent.mkdir(parents=True)
        setting.write_text(json.dumps(value), encoding="utf-8")
    environment = {k: v for k, v in os.environ.items() if k != "COURSE_PROGRESS"} | {
        "JUPYTER_CONFIG_DIR": str(root / "config"), "JUPYTERLAB_SETTINGS_DIR": str(root / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(root / "workspaces")}
    with (root / "lab.log").open("w") as log:
        server = subprocess.Popen([sys.executable, "-m", "course_lib", "lab", "--no-browser", "--allow-root",
                                   f"--port={port}", "--ServerApp.token=", "--ServerApp.password=",
                                   "--ServerApp.port_retries=0"], cwd=root, env=environment, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        _until_up(address, server, root / "lab.log")
        yield address, root
    finally:
        server.terminate()
        server.wait(PATIENCE / 1000)                         # it ends its kernels first


@pytest.fixture(scope="module")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser, request):
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(PATIENCE)
    yield page
    _picture(page, request.node.name)
    page.close()


def test_lab_opens_unit_00_from_work(lab, page):
    address, _ = lab
    page.goto(address)                                       # the bare address leads to unit 00
    page.wait_for_url("**/tree/notebooks/00_start_here.ipynb")
    page.get_by_role("heading", name="00 Start here").wait_for()


@pytest.mark.parametrize("topic", LECTURES)
def test_lecture_runs_without_error_and_answers_to_the_keyboard_alone(lab, page, topic):
    address, root = lab
    page.goto(f"{address}/lab/workspaces/{topic}/tree/notebooks/{topic}.ipynb")
    _run_all(page)
    outputs = _outputs(page, root / "work" / "notebooks" / f"{topic}.ipynb")
    assert len(outputs) > 20 and not [o for o in outputs if o["output_type"] == "error"]
    assert topic != "00_start_here" or "[NOT YET] E0.1 log_sum_exp" in _plain(outputs), "a wrong answer gets its card"
    if "plots.explore(" in (ROOT / "notebooks" / "scripts" / f"{topic}.py").read_text(encoding="utf-8"):
        _move_the_figure(page, topic)
    _answer_a_question(page, topic)


@pytest.mark.parametrize("topic", EXERCISES)
def test_exercises_run_and_a_card_is_red_for_a_planted_mistake_and_green_for_the_reference(lab, page, topic):
    address, root = lab
    page.goto(f"{address}/lab/workspaces/exercises-{topic}/tree/exercises/{topic}.ipynb")
    _run_all(page)
    outputs = _outputs(page, root / "work" / "exercises" / f"{topic}.ipynb")
    assert not [o for o in outputs if o["output_type"] == "error"]
    assert "[NOT STARTED]" in _plain(outputs)
    _plant_and_mend(page, topic)


def _move_the_figure(page, topic):
    """Five steps to the right by the arrow key move the figure and change what is said of it."""
    thumb = page.locator(".jp-OutputArea-output [role=slider]").first
    thumb.scroll_into_view_if_needed()
    thumb.focus()
    box = page.locator(".jp-OutputArea-output", has=page.locator("[role=slider]")).first
    before = [box.element_handle(), box.inner_text(), box.locator("img").first.get_attribute("src")]
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    page.wait_for_function("([box, text, src]) => box.innerText !== text && box.querySelector('img').src !== src",
                           arg=before)
    _picture(page, f"slider-{topic}")


def _answer_a_question(page, topic):
    """The first choice by Enter, the next one by Tab and the space bar; each is explained."""
    sheet = page.locator(".jp-OutputArea-output", has=page.get_by_role("button"), has_text=re.compile(r"Question \d")).first
    buttons = sheet.get_by_role("button")
    buttons.first.scroll_into_view_if_needed()
    buttons.first.focus()
    page.keyboard.press("Enter")
    sheet.get_by_role("status").wait_for()
    assert any(word in sheet.inner_text() for word in ("RIGHT", "NOT QUITE"))
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.wait_for_function("box => /– (right|not quite)/.test([...box.querySelectorAll('button')][1].innerText)",
                           arg=sheet.element_handle())
    _picture(page, f"quiz-{topic}")


def _plant_and_mend(page, topic):
    """The unit's first known mistake that leans on no helper makes a card red; the reference makes it green."""
    reference, planted = next((r, m) for r in references(ROOT / "solutions" / f"{topic}.py") for m in r.exercise.mistakes
                              if inspect.getclosurevars(m.function).globals.keys() <= {"np"})
    name = reference.exercise.name
    card = page.locator(".jp-Notebook [role=status]", has_text=f"{reference.exercise.id} {name}")
    card.get_by_text("NOT STARTED").wait_for()
    _answer(page, name, _as(name, planted.function))
    card.get_by_text("NOT YET").wait_for()
    assert planted.title in card.inner_text()
    _picture(page, f"red-{name}")
    _answer(page, name, _as(name, reference.function, ROOT / "solutions" / f"{topic}.py"))
    card.get_by_text("RIGHT", exact=True).wait_for()
    _picture(page, f"green-{name}")


def _as(name, function, source=None):
    """The source of a function under the exercise's name."""
    text = source.read_text(encoding="utf-8") if source else inspect.getsource(function)
    found = next(node for node in ast.walk(ast.parse(text))
                 if isinstance(node, ast.FunctionDef) and node.name == function.__name__)
    found.name, found.decorator_list = name, []
    return ast.unparse(found)


def _as_never_run(path):
    """Whatever has a number or an output from now on got it in the browser."""
    book = json.loads(path.read_text(encoding="utf-8"))
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            cell |= {"execution_count": None, "outputs": []}
    path.write_text(json.dumps(book), encoding="utf-8")


def _run_all(page):
    """Select all cells and run them, by keyboard, then wait until each has its number and the kernel is idle."""
    page.locator(".jp-Notebook .jp-Cell").first.wait_for()
    idle = page.locator("#jp-main-statusbar").get_by_text(re.compile(r"\| Idle"))
    idle.wait_for()
    page.locator(".jp-Notebook .jp-Cell").first.focus()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+A")
    page.keyboard.press("Control+Enter")
    page.wait_for_function("""() => {
        const prompts = [...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(p => p.textContent);
        return prompts.length > 0 && prompts.every(p => /\\[\\d+\\]/.test(p));
    }""")
    idle.wait_for()


def _answer(page, name, code):
    """Replace the cell that defines the function, run it and the next one."""
    editor = page.locator(".jp-CodeCell", has_text=f"def {name}(").first.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(code)
    page.keyboard.press("Shift+Enter")
    page.keyboard.press("Shift+Enter")


def _outputs(page, path):
    """The outputs of a notebook, saved until all of it has run: of a long one, not every cell is shown at once."""
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline:
        page.keyboard.press("Control+S")
        with suppress(json.JSONDecodeError):             # it is being written
            book = json.loads(path.read_text(encoding="utf-8"))
            if all(cell["execution_count"] for cell in book["cells"] if cell["cell_type"] == "code"):
                return [output for cell in book["cells"] for output in cell.get("outputs", [])]
        time.sleep(0.2)
    raise TimeoutError(f"{path.name} was not saved with its outputs")


def _plain(outputs):
    return "\n".join("".join(o.get("data", {}).get("text/plain", "")) for o in outputs)


def _picture(page, name):
    if folder := os.environ.get("COURSE_SCREENSHOTS"):
        page.screenshot(path=Path(folder) / f"{name}.png")


def _until_up(address, server, log):
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and server.poll() is None:
        try:
            urllib.request.urlopen(f"{address}/api", timeout=2).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"course lab did not start:\n{log.read_text()}")
