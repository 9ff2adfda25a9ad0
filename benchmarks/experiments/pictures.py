"""A chart as SVG, the same bytes for the same chart.

Text stays text, the background is transparent and every colour is visible on white and on black, so that one small file
serves a light and a dark theme.
"""

import io
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.experiments.charts import Band, Chart, Line, Spread

GREY = "#808080"
COLOURS = ("#2f7fd0", "#e07b00", "#2ca02c", "#d6483f", "#9467bd", "#8c6d3f", "#d35fa8", "#17a0b0")
SETTINGS: Any = {
    "svg.fonttype": "none",
    "svg.hashsalt": "understudy",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": GREY,
    "axes.labelcolor": GREY,
    "axes.edgecolor": GREY,
    "xtick.color": GREY,
    "ytick.color": GREY,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": GREY,
    "grid.alpha": 0.25,
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "path.simplify": True,
}
LOOKS: dict[str, dict[str, Any]] = {
    "line": {"linewidth": 1.6},
    "dashes": {"linewidth": 1.2, "linestyle": "--"},
    "dots": {"linewidth": 0, "marker": "o", "markersize": 5},
    "steps": {"linewidth": 1.6, "drawstyle": "steps-post"},
    "dashed steps": {"linewidth": 1.2, "linestyle": "--", "drawstyle": "steps-post"},
}


def svg(chart: Chart) -> str:
    """The picture's text."""
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(7.2, _height_in(chart)), layout="constrained")
        axes = figure.subplots()
        axes.set_xlabel(chart.x)
        axes.set_ylabel(chart.y)
        if "x" in chart.log:
            axes.set_xscale("log")
        if "y" in chart.log:
            axes.set_yscale("log")
        for place, line in enumerate(chart.lines):
            _line(axes, line, place)
        _gantt(axes, chart.rows, chart.bands)
        _spreads(axes, chart.spreads)
        for x, what in chart.moments:
            axes.axvline(x, color=GREY, linewidth=0.8, linestyle=":")
            axes.annotate(what, (x, 1), xycoords=("data", "axes fraction"), xytext=(3, -2),
                          textcoords="offset points", va="top", fontsize=8)  # fmt: skip
        if chart.y_range is not None:
            axes.set_ylim(*chart.y_range)
        handles, labels = axes.get_legend_handles_labels()
        if handles:
            figure.legend(handles, labels, loc="outside upper left", ncols=min(4, len(labels)), fontsize=9)
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return "".join(f"{line.rstrip()}\n" for line in text.getvalue().splitlines())


def _height_in(chart: Chart) -> float:
    if chart.spreads:
        return 0.9 + 0.27 * len(chart.spreads)
    return 1.2 + 0.3 * len(chart.rows) if chart.rows else 3.4


def _spreads(axes: Any, spreads: tuple[Spread, ...]) -> None:
    if not spreads:
        return
    for place, spread in enumerate(spreads):
        colour = COLOURS[spread.colour % len(COLOURS)]
        axes.plot(spread.whole, [place, place], color=colour, linewidth=1, alpha=0.7)
        axes.plot(spread.interval, [place, place], color=colour, linewidth=5, alpha=0.45, solid_capstyle="butt")
        axes.plot([spread.middle], [place], ">" if spread.bound else "o", color=colour, markersize=6)
    axes.set_yticks(range(len(spreads)), [spread.label for spread in spreads])
    axes.set_ylim(len(spreads) - 0.5, -0.5)
    axes.grid(False, axis="y")
    if axes.get_xscale() == "linear":
        axes.set_xlim(left=0)


def _line(axes: Any, line: Line, place: int) -> None:
    xs, ys = [x for x, _ in line.points], [y for _, y in line.points]
    colour = COLOURS[(place if line.colour is None else line.colour) % len(COLOURS)]
    axes.plot(xs, ys, label=line.label or None, color=colour, **LOOKS[line.look])


def _gantt(axes: Any, rows: tuple[str, ...], bands: tuple[Band, ...]) -> None:
    if not rows:
        return
    axes.set_yticks(range(len(rows)), rows)
    axes.set_ylim(-0.5, len(rows) - 0.5)
    axes.grid(False, axis="y")
    states = list(dict.fromkeys(band.state for band in bands))
    for place, state in enumerate(states):
        of_state = [band for band in bands if band.state == state]
        axes.barh(
            [band.row for band in of_state], [band.end - band.start for band in of_state],
            left=[band.start for band in of_state], height=0.7, color=COLOURS[place % len(COLOURS)], label=state,
        )  # fmt: skip
