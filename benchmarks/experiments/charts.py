"""The content of an experiment's pictures. ``pictures`` draws them, so that no run needs its library."""

from collections.abc import Sequence
from typing import Literal

from attrs import field, frozen

Point = tuple[float, float]
Look = Literal["line", "dashes", "dots", "steps", "dashed steps"]
MOST_POINTS = 300


def thinned(points: Sequence[Point]) -> tuple[Point, ...]:
    """At most ``MOST_POINTS`` of them, evenly, the first and the last among them: a picture shows no more."""
    if len(points) <= MOST_POINTS:
        return tuple(points)
    last = len(points) - 1
    return tuple(points[last * place // (MOST_POINTS - 1)] for place in range(MOST_POINTS))


@frozen
class Line:
    """A series. With the look ``steps``, dashed or not, a value holds until the next. Lines of one ``colour`` belong
    together."""

    label: str
    points: tuple[Point, ...] = field(converter=thinned)
    look: Look = "line"
    colour: int | None = None


@frozen
class Band:
    """A bar of a Gantt chart: one state holds from ``start`` to ``end``. Rows are counted from the bottom."""

    row: int
    start: float
    end: float
    state: str


@frozen(kw_only=True)
class Spread:
    """Values of one kind, in a row of their own.

    Attributes:
        middle: the median of the values.
        interval: the confidence interval of the median.
        whole: the smallest and the largest value.
        bound: the median was computed from values of which only a lower bound is known.
        colour: the number of its colour; lines of one colour belong together.
    """

    label: str
    middle: float
    interval: Point
    whole: Point
    bound: bool
    colour: int


@frozen(kw_only=True)
class Chart:
    """One picture, written to docs/understand/pictures/NAME.svg.

    Attributes:
        caption: the content in words, as an alternative to seeing it.
        log: the axes that are logarithmic: "", "x", "y" or "xy".
        moments: x and what happened there.
        spreads: a row for each, the first at the top; y is the rows then.
        rows, bands: names of rows, bottom first, and what fills them (a Gantt chart); y is the rows then.
    """

    name: str
    caption: str
    x: str
    y: str
    lines: tuple[Line, ...] = ()
    log: Literal["", "x", "y", "xy"] = ""
    y_range: tuple[float, float] | None = None
    moments: tuple[tuple[float, str], ...] = ()
    rows: tuple[str, ...] = ()
    bands: tuple[Band, ...] = ()
    spreads: tuple[Spread, ...] = ()
