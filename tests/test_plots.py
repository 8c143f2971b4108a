"""The figures say what the numbers say, in colour and without it."""
import base64
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from IPython.core.formatters import DisplayFormatter
from nbclient import NotebookClient
from scipy.stats import chi2, multivariate_normal

from course_lib import plots

X = np.array([[0.0, 0.0], [1.0, 0.2], [4.0, 2.0], [5.0, 2.5]])
y = np.array(["left", "left", "right", "right"])


@pytest.fixture
def ax():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def lightness(colour):
    """CIE L*, 0 black to 100 white, from the sRGB definition."""
    rgb = np.array(matplotlib.colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    Y = linear @ [0.2126, 0.7152, 0.0722]
    return 116 * np.cbrt(Y) - 16 if Y > 216 / 24389 else Y * 24389 / 27


def test_the_library_does_not_import_matplotlib():
    code = "import course_lib, sys; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_the_first_three_classes_part_in_greyscale():
    shades = [lightness(plots.look(k).colour) for k in range(3)]
    assert np.diff(np.sort(shades)).min() > 10


@given(st.integers(0, 23), st.integers(0, 23))
def test_no_two_of_24_classes_share_colour_and_marker(j, k):
    same = (plots.look(j).colour, plots.look(j).marker) == (plots.look(k).colour, plots.look(k).marker)
    assert same == (j == k)


def test_style_lasts_and_the_block_form_does_not():
    with plt.rc_context():
        plt.rcdefaults()         # a notebook that ran in this process may have styled it
        with plt.rc_context(plots.STYLE):
            assert plt.rcParams["axes.spines.top"] is False
        assert plt.rcParams["axes.spines.top"] is True
        plots.style()
        assert plt.rcParams["figure.constrained_layout.use"]


def test_scatter_puts_every_row_under_its_own_label(ax):
    plots.scatter_classes(ax, X, y)
    drawn = {points.get_label(): points.get_offsets() for points in ax.collections}
    assert set(drawn) == {"left", "right"}
    for label in drawn:
        np.testing.assert_array_equal(drawn[label], X[y == label])


def test_a_class_keeps_its_colour_when_another_is_missing(ax):
    plots.scatter_classes(ax, X[2:], y[2:], classes=["left", "right"])
    np.testing.assert_allclose(ax.collections[0].get_facecolor()[0, :3], matplotlib.colors.to_rgb(plots.COLOURS[1]))


class Threshold:
    """Decides by the first feature."""

    classes_ = np.array(["left", "right"])

    def predict(self, points):
        return self.classes_[(points[:, 0] > 2).astype(int)]


@pytest.mark.parametrize("rule", [Threshold(), Threshold().predict], ids=["model", "function"])
def test_the_boundary_line_lies_where_the_decision_changes(ax, rule):
    plots.decision_regions(ax, rule, X, resolution=201)
    step = 1.1 * 5 / 200
    boundaries = [line for line in ax.collections if line.filled is False]
    vertices = np.concatenate([path.vertices for line in boundaries for path in line.get_paths()])
    assert np.abs(vertices[:, 0] - 2).max() <= step
    assert ax.get_xlim() == pytest.approx((-0.25, 5.25)) and ax.get_ylim() == pytest.approx((-0.125, 2.625))


def test_three_regions_show_three_tints_and_no_false_strip_between_the_outer_two(ax):
    def rule(points):
        return np.where(points[:, 0] < 2, "a", np.where(points[:, 1] > 1, "c", "b"))
    plots.decision_regions(ax, rule, X)
    areas = [area for area in ax.collections if area.filled]
    tints = [tuple(np.round(area.get_facecolor()[0, :3], 6)) for area in areas]
    assert tints == [tuple(np.round(plots.look(k).tint(), 6)) for k in range(3)]
    middle = areas[1].get_paths()[0].vertices
    assert middle[:, 1].max() < 1.1


def test_a_reject_is_drawn_after_the_classes(ax):
    plots.decision_regions(ax, lambda points: np.where(points[:, 0] < 1, "a", np.where(points[:, 0] < 3, "?", "b")),
                           X, classes=["a", "b"])
    tints = [tuple(np.round(area.get_facecolor()[0, :3], 6)) for area in ax.collections if area.filled]
    assert tints[2] == tuple(np.round(plots.look(2).tint(), 6))


def test_one_decision_everywhere_draws_no_boundary(ax):
    plots.decision_regions(ax, lambda points: np.zeros(len(points)), X)
    assert [area.filled for area in ax.collections] == [True]


def test_contours_stand_where_the_function_has_their_value(ax):
    density = multivariate_normal([2, 1], [[2, 0.5], [0.5, 1]]).pdf
    lines = plots.contours(ax, density, X, levels=[0.05, 0.1], k=1)
    for level, path in zip(lines.levels, lines.get_paths()):
        np.testing.assert_allclose(density(path.vertices), level, rtol=2e-3)


@settings(deadline=None, max_examples=25)
@given(st.floats(0.05, 0.99), st.floats(-0.9, 0.9), st.floats(0.1, 10))
def test_an_ellipse_is_a_level_set_that_holds_its_mass(mass, correlation, scale):
    mean, cov = np.array([1.0, -2.0]), scale * np.array([[2.0, correlation], [correlation, 0.5 + correlation**2]])
    figure, axes = plt.subplots()
    plots.ellipses(axes, mean, cov, mass=mass)
    d = axes.lines[0].get_xydata() - mean
    plt.close(figure)
    distance = np.einsum("nd,dn->n", d, np.linalg.solve(cov, d.T))
    np.testing.assert_allclose(distance, chi2(2).ppf(mass), rtol=1e-9)


def test_each_of_k_ellipses_has_its_own_look(ax):
    plots.ellipses(ax, [[0, 0], [3, 3]], [np.eye(2), 2 * np.eye(2)])
    assert [line.get_color() for line in ax.lines] == [plots.COLOURS[0]] * 3 + [plots.COLOURS[1]] * 3
    with pytest.raises(ValueError):
        plots.ellipses(ax, [[0, 0], [3, 3]], np.eye(2))


def test_a_curve_is_the_function(ax):
    line = plots.curve(ax, np.sin, (0, 3), k=2, label="sine")
    np.testing.assert_array_equal(line.get_ydata(), np.sin(line.get_xdata()))
    assert (line.get_xdata()[[0, -1]] == [0, 3]).all() and line.get_label() == "sine"


@pytest.mark.parametrize("heights", [[0.2, 0.8], [[0.1, 0.9, 0.0], [0.3, 0.2, 0.5]]])
def test_bars_have_the_heights_and_say_them(ax, heights):
    plots.bars(ax, heights, ["a", "b"])
    expected = np.reshape(heights, (2, -1)).T.ravel()
    np.testing.assert_array_equal([bar.get_height() for bar in ax.patches], expected)
    assert [text.get_text() for text in ax.texts] == [f"{h:.2f}" for h in expected]
    lefts = np.array([bar.get_x() for bar in ax.patches])
    assert (np.diff(np.sort(lefts)) >= ax.patches[0].get_width()).all(), "bars overlap"


def test_bars_of_classes_wear_the_looks_of_their_classes(ax):
    plots.bars(ax, [0.2, 0.3, 0.5], ["a", "b", "c"], k=(2, 0, 1))
    assert [bar.get_hatch() or "" for bar in ax.patches] == [plots.look(k).hatch for k in (2, 0, 1)]
    np.testing.assert_allclose([bar.get_facecolor()[:3] for bar in ax.patches],
                               [plots.look(k).tint(0.7) for k in (2, 0, 1)])


@pytest.fixture
def outputs(monkeypatch):
    """What a notebook would receive: (bundle, metadata) of every display."""
    received = []
    monkeypatch.setattr("IPython.get_ipython", lambda: "a notebook")
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw, metadata: received.append((bundle, metadata)))
    return received


@pytest.mark.parametrize("of", ["figure", "axes"])
def test_alt_text_is_in_the_image_metadata_and_in_a_line_below(ax, outputs, of):
    plots.alt(ax if of == "axes" else ax.figure, "The line rises & x < 2.")
    DisplayFormatter().ipython_display_formatter(ax.figure)
    [(image, metadata), (caption, _)] = outputs
    assert metadata["image/png"]["alt"] == plots.alt_text(ax) == "The line rises & x < 2."
    assert base64.b64decode(image["image/png"]).startswith(b"\x89PNG")
    assert caption["text/plain"] == "The line rises & x < 2."
    assert "rises &amp; x &lt; 2." in caption["text/html"]


def test_an_empty_alt_text_is_refused_and_a_figure_without_has_none(ax):
    with pytest.raises(ValueError, match="write one"):
        plots.alt(ax, " ")
    assert plots.alt_text(ax) is None


def draw(ax, height, count=2):
    ax.plot(np.arange(count), np.full(count, height))
    return f"A line at {height:g}."


def test_explore_shows_sliders_a_still_picture_and_words(outputs):
    plots.explore(draw, height=(0.0, 1.0, 0.5), count=(2, 9, 3))
    [(bundle, metadata)] = outputs
    assert bundle["text/plain"] == metadata["image/png"]["alt"] == "A line at 0.5."
    assert base64.b64decode(bundle["image/png"]).startswith(b"\x89PNG")
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_explore_without_widgets_still_shows_the_picture(outputs, monkeypatch):
    monkeypatch.setitem(sys.modules, "ipywidgets", None)
    plots.explore(draw, height=(0.0, 1.0, 0.5))
    assert set(outputs[0][0]) == {"image/png", "text/plain"}


def test_outside_a_notebook_explore_says_the_words(capsys):
    plots.explore(draw, height=(0.0, 1.0, 0.5))
    assert capsys.readouterr().out == "A line at 0.5.\n"


def test_moving_a_slider_redraws_the_picture_and_its_words():
    panel = plots._panel(draw, {"height": (0.0, 1.0, 0.5), "count": (2, 9, 3)})
    height, count, image, caption = panel.children
    before = image.value
    height.value = 0.75
    assert image.value != before and "A line at 0.75." in caption.value
    after = image.value
    count.value = 5
    assert image.value != after


def test_whole_numbers_make_a_slider_of_whole_numbers():
    panel = plots._panel(draw, {"height": (0.0, 1.0, 0.5, 0.25), "count": (2, 9, 3)})
    height, count = panel.children[:2]
    assert height.step == 0.25 and isinstance(count.value, int) and (count.min, count.max) == (2, 9)


def test_a_drawing_without_words_is_described_by_its_values():
    _, words = plots._frame(lambda ax, height: None, {"height": 0.25})
    assert words == "height = 0.25"


def test_explore_leaves_no_figure_behind(outputs):
    before = plt.get_fignums()
    plots.explore(draw, height=(0.0, 1.0, 0.5))
    assert plt.get_fignums() == before


def test_the_picture_of_a_notebook_is_the_same_bytes_each_time(ax, outputs):
    plots.alt(ax, "Empty axes.")
    for _ in range(2):
        DisplayFormatter().ipython_display_formatter(ax.figure)
    assert outputs[0] == outputs[2]


def test_a_kernel_stores_the_alt_text_in_the_notebook():
    source = "\n".join(["import matplotlib.pyplot as plt", "from course_lib import plots", "fig, ax = plt.subplots()",
                        "plots.alt(fig, 'Empty axes.')", "plt.show()"])
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source)])
    image, caption = NotebookClient(notebook, timeout=120, kernel_name="python3").execute().cells[0].outputs
    assert image.metadata["image/png"]["alt"] == caption.data["text/plain"] == "Empty axes."
