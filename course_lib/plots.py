"""The figures' house style: one palette with marker shapes, and the few pictures the course draws again and again.

The same class has the same colour, marker and line style in every figure, so colour is never the only sign.

>>> from course_lib import plots
>>> plots.style()
>>> fig, ax = plt.subplots()
>>> plots.decision_regions(ax, model, X)
>>> plots.scatter_classes(ax, X, y)
>>> plots.alt(fig, "Two crescents; the boundary passes between them.")
>>> plt.show()
"""
from __future__ import annotations

import base64
import html
import io
import math
from dataclasses import dataclass

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb

__all__ = ["COLOURS", "STYLE", "Look", "alt", "alt_text", "bars", "contours", "curve", "decision_regions", "ellipses",
           "explore", "look", "scatter_classes", "style"]

# Okabe and Ito's palette. The first three differ in lightness too; in greyscale further classes part by marker only.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#000000", "#56B4E9", "#D55E00", "#F0E442")
MARKERS = "o^sDvPX*<>ph"
LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
HATCHES = ("", "///", "...", "\\\\\\", "xxx", "|||", "---", "+++")

STYLE = {
    "figure.constrained_layout.use": True,
    "figure.figsize": (6.4, 3.8),
    "figure.dpi": 100,
    "font.size": 10,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": plt.cycler(color=COLOURS),
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "hatch.linewidth": 0.5,
    "savefig.dpi": "figure",
}


def style() -> None:
    """Draw every following figure in the house style; ``with plt.rc_context(plots.STYLE):`` does so for a block."""
    plt.rcParams.update(STYLE)


@dataclass(frozen=True)
class Look:
    """How one class is drawn."""

    colour: str        # as #rrggbb
    marker: str        # of its points
    line: str | tuple  # of its curves
    hatch: str         # of the areas where it is decided

    def tint(self, strength: float = 0.25) -> tuple:
        """The colour mixed with white, for areas under points."""
        return tuple(1 - strength * (1 - channel) for channel in to_rgb(self.colour))


def look(k: int) -> Look:
    """The colour, marker, line style and hatch of class number `k`, in the order of the sorted labels.

    Returns
    -------
    Look
    """
    return Look(*(signs[k % len(signs)] for signs in (COLOURS, MARKERS, LINES, HATCHES)))


def scatter_classes(ax, X, y, *, classes=None, size=22, **kwargs):
    """Scatter the rows of `X`, one colour and marker a class; call ``ax.legend()`` afterwards for their names.

    Parameters
    ----------
    X : (N, 2) array
    y : (N,) array of labels
    classes : sequence, optional
        All labels in the order of their looks, if `y` may lack some; default: the sorted labels of `y`.
    size : float
        Of a marker, in square points.
    """
    X, y = np.asarray(X), np.asarray(y)
    for k, label in enumerate(_classes(y, classes)):
        of_class = y == label
        if of_class.any():
            ax.scatter(*X[of_class].T, s=size, c=look(k).colour, marker=look(k).marker, label=str(label),
                       **{"edgecolors": "white", "linewidths": 0.5, "zorder": 3} | kwargs)


def decision_regions(ax, rule, X, *, classes=None, resolution=200):
    """Tint and hatch the plane by what `rule` decides there, with the boundaries as black lines.

    Parameters
    ----------
    rule : fitted classifier or function
        Its ``predict``, or the function itself, turns points (M, 2) into labels (M,).
    X : (N, 2) array
        The points the picture must hold; they set the limits of the axes.
    classes : sequence, optional
        As in `scatter_classes`; default: the classifier's ``classes_``, else the sorted decisions. Other decisions,
        such as a reject, follow these.
    resolution : int
        Points of the grid along each axis.
    """
    predict = getattr(rule, "predict", rule)
    gx, gy, points = _grid(X, resolution)
    decided = np.asarray(predict(points)).reshape(gx.shape)
    classes = list(_classes(decided, classes if classes is not None else getattr(rule, "classes_", None)))
    for k, label in enumerate(classes + [other for other in np.unique(decided) if other not in classes]):
        inside = (decided == label).astype(float)
        if inside.any():
            area = ax.contourf(gx, gy, inside, levels=[0.5, 1.5], colors=[look(k).tint()], hatches=[look(k).hatch],
                               zorder=0)
            area.set(edgecolor="white", linewidth=0)
        if inside.any() and not inside.all():
            ax.contour(gx, gy, inside, levels=[0.5], colors="black", linewidths=1, zorder=2)
    ax.set(xlim=(gx.min(), gx.max()), ylim=(gy.min(), gy.max()))


def contours(ax, f, X, *, k=None, levels=None, resolution=150, **kwargs):
    """Contour lines of a function of two variables, (M, 2) -> (M,), labelled with its values.

    Parameters
    ----------
    f : callable
        From points (M, 2) to values (M,).
    X : (N, 2) array
        What the picture must hold.
    k : int, optional
        Draw the lines in the look of this class; else they are grey.
    levels : int or sequence, optional
        How many lines, or at which values.
    resolution : int
        Points of the grid along each axis.
    """
    gx, gy, points = _grid(X, resolution)
    colour, line = ("0.35", "-") if k is None else (look(k).colour, look(k).line)
    lines = ax.contour(gx, gy, np.asarray(f(points)).reshape(gx.shape), levels=levels,
                       **{"colors": [colour], "linestyles": [line], "linewidths": 1} | kwargs)
    ax.clabel(lines, fontsize=7, fmt="%.3g")
    return lines


def ellipses(ax, mean, cov, *, mass=(0.5, 0.95), k=0):
    """Draw the ellipses that hold the given masses of plane normal densities, with a mark at each mean.

    r² = −2 ln(1 − mass)

    Parameters
    ----------
    mean : (2,) or (K, 2) array
    cov : (2, 2) or (K, 2, 2) array
    mass : float or sequence
        Probability inside an ellipse.
    k : int
        The look of the first of them.
    """
    circle = np.linspace(0, 2 * np.pi, 181)
    circle = np.column_stack([np.cos(circle), np.sin(circle)])
    for j, (centre, Sigma) in enumerate(zip(np.reshape(mean, (-1, 2)), np.reshape(cov, (-1, 2, 2)), strict=True), k):
        for part in np.atleast_1d(mass):
            ring = centre + math.sqrt(-2 * math.log1p(-part)) * circle @ np.linalg.cholesky(Sigma).T
            ax.plot(*ring.T, color=look(j).colour, linestyle=look(j).line, linewidth=1.4)
        ax.plot(*centre, look(j).marker, color=look(j).colour, markeredgecolor="black", markersize=8, zorder=4)


def curve(ax, f, interval, *, k=0, label=None, points=401, **kwargs):
    """Draw ``y = f(x)`` at so many `points` of ``interval = (low, high)`` in the look of class `k`, with a `label`.

    The function `f` takes and returns (M,).
    """
    x = np.linspace(*interval, points)
    return ax.plot(x, f(x), **{"color": look(k).colour, "linestyle": look(k).line, "label": label} | kwargs)[0]


def bars(ax, heights, names, *, groups=None, k=0, fmt="{:.2f}"):
    """Bars with their heights written on them.

    Parameters
    ----------
    heights : (M,) or (M, K) array
        (M, K) draws K bars at each of the M names, each in the look of its class.
    names : M strings under the bars
    groups : K strings for the legend, optional
    k : int or M ints
        The looks of (M,) bars: one for all, or one for each.
    fmt : str
        How a height is written.
    """
    table = np.asarray(heights, dtype=float).reshape(len(names), -1)
    M, K = table.shape
    for group, looks in enumerate([np.broadcast_to(k, M)] if K == 1 else np.indices((K, M))[0]):
        drawn = ax.bar(np.arange(M) + (group - (K - 1) / 2) * 0.8 / K, table[:, group], 0.76 / K, edgecolor="white",
                       color=[look(j).tint(0.7) for j in looks], hatch=[look(j).hatch for j in looks],
                       label=groups[group] if groups is not None else None)
        ax.bar_label(drawn, fmt=fmt, fontsize=8, padding=2)
    ax.set_xticks(np.arange(M), names)
    ax.margins(y=0.12)
    if groups is not None:
        ax.legend()


def alt(figure, text: str) -> None:
    """Say in words what there is to see in a figure; call it before ``plt.show()``.

    The sentence stands under the figure, where a screen reader finds it whatever program shows the notebook, and in
    the image's ``alt`` metadata, where web pages made from the notebook look for it.

    Parameters
    ----------
    figure : Figure or Axes
    text : str
        One or more sentences.

    Raises
    ------
    ValueError
        If there are no words.
    """
    if not text.strip():
        raise ValueError("alt() takes a sentence that says what there is to see, got an empty text; write one")
    figure = figure.get_figure() or figure
    figure.alt_text = text
    figure._ipython_display_ = lambda: _show(figure)


def alt_text(figure) -> str | None:
    """The words that `alt` gave to a figure (or to the figure of an Axes), None if there are none."""
    return getattr(figure.get_figure() or figure, "alt_text", None)


def explore(draw, **sliders) -> None:
    """Show a figure that moves with sliders: drag them, or focus one with Tab and press the arrow keys.

    Without a running kernel the figure stands still at the sliders' first values.

    Parameters
    ----------
    draw : function
        ``draw(ax, **values)`` draws on empty axes and may return a sentence that says what there is to see.
    **sliders
        ``name=(low, high, start)``, whole numbers for a slider of whole numbers; a fourth number is the step.
    """
    start = {name: spec[2] for name, spec in sliders.items()}
    png, words = _frame(draw, start)
    try:
        bundle = dict(_panel(draw, sliders)._repr_mimebundle_())
    except ImportError:
        bundle = {}
    # Programs show the richest form they know: the sliders, else the picture, else the words.
    _publish(bundle | {"image/png": base64.b64encode(png).decode(), "text/plain": words}, alt=words)


def _panel(draw, sliders):
    import ipywidgets as widgets

    controls = {name: _slider(widgets, name, *spec) for name, spec in sliders.items()}
    image, caption = widgets.Image(format="png", layout={"align_self": "flex-start"}), widgets.HTML()

    def redraw(_=None):
        image.value, words = _frame(draw, {name: control.value for name, control in controls.items()})
        caption.value = _caption(words)

    for control in controls.values():
        control.observe(redraw, names="value")
    redraw()
    return widgets.VBox([*controls.values(), image, caption])


def _slider(widgets, name, low, high, start, step=None):
    whole = all(isinstance(number, int) for number in (low, high, start, step or 1))
    kind = widgets.IntSlider if whole else widgets.FloatSlider
    return kind(value=start, min=low, max=high, step=step or (1 if whole else (high - low) / 100), description=name,
                style={"description_width": "initial"}, layout={"width": "24em"})


def _frame(draw, values):
    """One picture as PNG bytes, and its words."""
    # A Figure made without pyplot is not shown a second time by the notebook at the end of the cell.
    with plt.rc_context(STYLE):
        figure = plt.Figure()
        words = draw(figure.subplots(), **values) or ", ".join(f"{name} = {v:g}" for name, v in values.items())
        return _png(figure), words


def _show(figure):
    text, png = figure.alt_text, base64.b64encode(_png(figure)).decode()
    _publish({"image/png": png, "text/plain": "Figure"}, alt=text)
    _publish({"text/html": _caption(text), "text/plain": text})


def _publish(bundle, alt=None):
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(bundle["text/plain"])
    else:
        display(bundle, raw=True, metadata={"image/png": {"alt": alt}} if alt else {})


def _caption(text):
    return f"<small>{html.escape(text)}</small>"


def _png(figure) -> bytes:
    file = io.BytesIO()
    figure.savefig(file, format="png", bbox_inches="tight")
    return file.getvalue()


def _classes(y, classes):
    return np.unique(y) if classes is None else classes


def _grid(X, resolution):
    """A grid that holds the points of `X` (N, 2) with a margin of a twentieth: gx, gy and its points (M, 2)."""
    X = np.asarray(X, dtype=float)
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * np.where(high > low, high - low, 1)
    gx, gy = np.meshgrid(*np.linspace(low - margin, high + margin, resolution).T)
    return gx, gy, np.column_stack([gx.ravel(), gy.ravel()])
