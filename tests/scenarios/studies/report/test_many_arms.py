"""The report of a grid with more arms than colours tell apart: two strategies, two releases, three throttles."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scenarios.runs.dataset.arm import Arm, named
from scenarios.studies.report.arm_axes import ArmAxes
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs
from tests.scenarios.studies.report.browser import Browser, cut, serious
from tests.scenarios.studies.report.made import over_time, page, run, runs, text_of, written

THROTTLES = ("4MB/s", "8MB/s", "20MB/s")
RELEASES = ("kafka-2.3", "kafka-2.4")
TWELVE = named(
    Arm(strategy, profile, (("strategy.throttle", throttle),))
    for strategy in ("wiki", "kafka-6794")
    for profile in RELEASES
    for throttle in THROTTLES
)
FEW = ComparisonSpec(metrics=("time_to_complete_s", "under_min_isr_s", "lag_p99"))
SHADES = "[data-mark=area] path"
LINES = "[data-mark=line] path"


@pytest.fixture(scope="module")
def twelve(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page about twelve arms."""
    made = page(TWELVE, runs(TWELVE), title="How a throttle changes a move", over_time=over_time(TWELVE), asked=FEW)
    return written(tmp_path_factory.mktemp("twelve"), made)


# -- names -----------------------------------------------------------------------------------------------------------


def test_an_arm_is_named_by_its_values_and_the_axes_are_said_once(twelve: Path) -> None:
    text = text_of(twelve.read_text())
    head, _, rest = text.partition("Runs whose moves all finished strategy · strategy.throttle · profile finished")
    assert head
    assert "kafka-6794 · 20MB/s · kafka-2.4 12 of 12" in rest
    tables = text.partition("Comparison ")[2].partition("Methods")[0]
    assert "strategy.throttle=" not in tables


def test_a_bare_number_keeps_the_last_word_of_its_axis() -> None:
    pair = named(Arm("wiki", "kafka-2.3", (("cluster.brokers", count),)) for count in ("4", "5"))
    on = ArmAxes.of(compare_runs(runs(pair), asked=FEW))
    assert list(on.labels.values()) == ["brokers=4", "brokers=5"]
    assert on.heading == "cluster.brokers"


VALUES = st.lists(st.text(min_size=1, max_size=6), min_size=1, max_size=4, unique=True)


@given(st.lists(VALUES, min_size=2, max_size=3), st.data())
def test_short_names_tell_every_arm_from_every_other(axes: list[list[str]], data: st.DataObject) -> None:
    """Arms of any part of any grid."""
    points: list[tuple[tuple[str, str], ...]] = [()]
    for place, values in enumerate(axes):
        points = [(*point, (f"a.key{place}", value)) for point in points for value in values]
    chosen = data.draw(st.lists(st.sampled_from(points), min_size=1, max_size=5, unique=True))
    of = named(Arm("wiki", "kafka-2.3", point) for point in chosen)
    comparison = compare_runs([run(arm, place, 0) for place, arm in enumerate(of)], asked=FEW)
    on = ArmAxes.of(comparison)
    assert len(set(on.labels.values())) == len(comparison.levels)
    assert len(set(on.places.values())) == len(comparison.levels)
    for name, places in on.places.items():
        values = [axis.values[at] for axis, at in zip(on.axes, places, strict=True)]
        assert on.labels[name] == " · ".join(values)


# -- in a browser ----------------------------------------------------------------------------------------------------


def _looks(opened: Any, figure: str, mark: str) -> set[tuple[str, str]]:
    """Colour and dash of the marks in a figure."""
    found = opened.locator(f"#{figure} {mark}").evaluate_all(
        "(all) => all.map((one) => { const of = one.closest('[stroke]'); "
        "return [of.getAttribute('stroke'), of.getAttribute('stroke-dasharray')]; })"
    )
    return {(colour, dash) for colour, dash in found}


def test_axes_are_colour_and_mark_and_panels(browser: Browser, twelve: Path) -> None:
    with browser.opened(twelve, width=1280) as opened:
        looks = _looks(opened, "completed", LINES)
        assert len(looks) == 6, "two colours with three dashes, not twelve colours"
        assert len({colour for colour, _dash in looks}) == 2
        for name in ("completed", "over-time", "pareto"):
            texts = opened.locator(f"#{name} svg text").all_text_contents()
            assert [text for text in texts if text in RELEASES] == list(RELEASES), name
        legend = opened.locator("#completed .legend").inner_text().split()
        assert legend == [
            "strategy", "wiki", "kafka-6794", "strategy.throttle", *THROTTLES, "profile", *RELEASES
        ]  # fmt: skip


def test_a_legend_entry_hides_and_shows_its_arms_in_all_figures(browser: Browser, twelve: Path) -> None:
    with browser.opened(twelve, width=1280) as opened:
        entry = opened.locator("#completed .entry", has_text="kafka-2.4")
        count = {name: opened.locator(f"#{name} {LINES}").count() for name in ("completed", "over-time")}
        assert count == {"completed": 12, "over-time": 12}
        entry.focus()
        opened.keyboard.press("Enter")
        assert opened.locator(f"#completed {LINES}").count() == 6
        assert opened.locator(f"#over-time {LINES}").count() == 6
        assert "kafka-2.4" not in opened.locator("#answer .drawing").text_content()
        assert "kafka-2.4" not in opened.locator("#spread .drawing").text_content()
        assert "kafka-2.4" not in opened.locator("#forest .drawing").text_content()
        assert opened.evaluate("document.activeElement.textContent") == "kafka-2.4", "the focus stays"
        assert opened.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
        assert serious(opened) == []
        with opened.expect_download() as download:
            opened.locator("#completed [data-save=svg]").click()
        said = "".join(ElementTree.parse(download.value.path()).getroot().itertext())
        assert "kafka-2.3" in said
        assert "kafka-2.4" not in said
        with opened.expect_download() as download:
            opened.locator("#completed [data-save=csv]").click()
        saved = csv.DictReader(Path(download.value.path()).read_text().splitlines())
        assert len({row["arm"] for row in saved}) == 12, "CSV has all"
        opened.locator("#completed .entry", has_text="kafka-2.3").click()
        assert "The legend hides every arm" in opened.locator("#completed .drawing").inner_text()
        for hidden in ("kafka-2.3", "kafka-2.4"):
            opened.locator("#completed .entry", has_text=hidden).click()
        assert opened.locator(f"#completed {LINES}").count() == 12


def test_bands_are_drawn_only_where_few_arms_share_a_panel(browser: Browser, tmp_path: Path) -> None:
    six = named(Arm(f"strategy-{place}", "kafka-2.3") for place in range(6))
    path = written(tmp_path, page(six, runs(six), over_time=over_time(six), asked=FEW))
    with browser.opened(path, width=1280) as opened:
        assert opened.locator(f"#completed {LINES}").count() == 6
        assert opened.locator(f"#completed {SHADES}").count() == 0
        for place in (4, 5):
            opened.locator("#completed .entry", has_text=f"strategy-{place}").click()
        assert opened.locator(f"#completed {SHADES}").count() == 4
        assert opened.locator(f"#over-time {SHADES}").count() == 4


def test_the_page_opens_with_a_picture_and_at_most_six_lines(browser: Browser, twelve: Path) -> None:
    with browser.opened(twelve, width=1280, height=800) as opened:
        lines = opened.locator("#lead .brief").evaluate(
            "(one) => one.getBoundingClientRect().height / parseFloat(getComputedStyle(one).lineHeight)"
        )
        assert math.floor(lines) <= 6
        box = opened.locator("#answer svg").last.bounding_box()
        assert box["y"] + box["height"] <= 800, "it is on the first screen as a whole"
        marks = opened.locator("#answer [data-mark=dot] path, #answer [data-mark=dot] circle").count()
        figures = opened.locator("#answer svg text", has_text="is better").count()
        assert figures > 0
        assert marks >= 12 * 12
        assert opened.evaluate(
            "document.querySelector('#answer').compareDocumentPosition(document.querySelector('#lead .tiles')) & 4"
        )


@pytest.mark.parametrize(("width", "theme"), [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")])
def test_nothing_is_cut(browser: Browser, twelve: Path, width: int, theme: str) -> None:
    with browser.opened(twelve, width=width, theme=theme) as opened:
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert cut(opened) == []
        assert serious(opened) == []
        wide = "(all) => all.filter((one) => one.scrollWidth > one.clientWidth).length"
        if width == 1280:
            assert opened.locator(".scroll").evaluate_all(wide) == 0, "the last column of every table is in sight"
        else:
            first = opened.locator("#grid tbody th").first
            left = first.bounding_box()["x"]
            opened.locator("#grid .scroll").evaluate("(one) => { one.scrollLeft = 9999; }")
            assert first.bounding_box()["x"] == pytest.approx(left, abs=1), "a row's name stays while it scrolls"
            assert opened.locator("#grid td").last.bounding_box()["x"] < width
