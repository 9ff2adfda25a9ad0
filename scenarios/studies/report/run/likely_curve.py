"""The section of a run's page about when its finding became likely: a curve, its table, and what happened there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from scenarios.studies.likely.likely_words import headline
from scenarios.studies.report.html_page import Section, note, table
from scenarios.studies.report.markup import Html, element, joined

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 220, 48, 28


def likely_section(found: Mapping[str, Any]) -> Section:
    rows = [
        (f"{point['at_s']:.6f}", f"{point['found']} of {point['of']}", f"{point['low']:.0%} to {point['high']:.0%}")
        for point in found["points"]
    ]
    events = [(f"{event['at_s']:.6f}", event["text"]) for event in found["events"]]
    body = [
        note(headline(found)),
        element("div", _curve(found["points"]), class_="drawing"),
        table(
            ("from (s)", "continuations that have the finding", "95 %"), rows,
            caption="Continuations from growing instants", numeric=(1, 2),
        ),
    ]  # fmt: skip
    if events:
        body.append(table(("at (s)", "event"), events, caption="Events where the share rises most"))
    return Section(id="likely", title="When it became likely", body=joined(*body))


def _curve(points: Sequence[Mapping[str, Any]]) -> Html:
    """The share over virtual time, with its interval. Instants are at equal distances: they differ by microseconds
    where an entry acts."""
    step = (WIDTH - LEFT - 16) / max(1, len(points) - 1)
    xs = [LEFT + step * number for number in range(len(points))]

    def y(share: float) -> float:
        return 8 + (HEIGHT - BOTTOM - 8) * (1 - share)

    band = [(x, y(point["high"])) for x, point in zip(xs, points, strict=True)]
    band += reversed([(x, y(point["low"])) for x, point in zip(xs, points, strict=True)])
    line = [(x, y(point["found"] / point["of"])) for x, point in zip(xs, points, strict=True)]
    return element(
        "svg",
        *(_rule(share, y(share)) for share in (0, 0.5, 1)),
        element("polygon", points=_path(band), fill="currentColor", fill_opacity="0.15"),
        element("polyline", points=_path(line), fill="none", stroke="currentColor", stroke_width="2"),
        *_labels(xs, points),
        viewBox=f"0 0 {WIDTH} {HEIGHT}", width=WIDTH, height=HEIGHT, role="img",
        aria_label="The share of continuations that have the finding, over the instants from which they go on",
    )  # fmt: skip


def _rule(share: float, y: float) -> Html:
    return joined(
        element("line", x1=LEFT, x2=WIDTH, y1=f"{y:.1f}", y2=f"{y:.1f}", stroke="currentColor", stroke_opacity="0.2"),
        element("text", f"{share:.0%}", x=LEFT - 6, y=f"{y + 4:.1f}", text_anchor="end", font_size="11",
                fill="currentColor"),
    )  # fmt: skip


def _labels(xs: Sequence[float], points: Sequence[Mapping[str, Any]]) -> Iterator[Html]:
    """The times of some of the instants, so that they do not overlap."""
    every = -(-len(points) // 8)
    for x, point in list(zip(xs, points, strict=True))[::every]:
        yield element("text", f"{point['at_s']:.3f} s", x=f"{x:.1f}", y=HEIGHT - 8, text_anchor="middle",
                      font_size="11", fill="currentColor")  # fmt: skip


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
