"""The page of a run: its text, and what it does in a browser."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.runs import run_scenario
from scenarios.runs.dataset.reader import open_data_set
from scenarios.studies.report.run.recorded import RecordedRun, read_recorded
from scenarios.studies.report.run.run_page import run_page
from tests.scenarios.runs.building import EXECUTE, scenario
from tests.scenarios.studies.report.browser import Browser, cut, serious, wait_until

Recorded = Callable[[str], RecordedRun]
Written = Callable[[str], Path]


@pytest.fixture(scope="session")
def written(recorded: Recorded, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """The file of the page about a scenario of the library."""

    @cache
    def write(name: str) -> Path:
        path: Path = tmp_path_factory.mktemp("page") / f"{name}.html"
        path.write_text(run_page(recorded(name), again="understudy report trace", version="1.2").render())
        return path

    return write


def test_the_first_screen_says_what_happened_without_a_script(recorded: Recorded) -> None:
    text = run_page(recorded("unclean-election"), again="understudy report trace", version="1.2").render()
    text = text.partition("<script")[0]
    assert '<b class="bad">acks=all: 3,000 records in 300 batches</b>' in text
    assert "understudy run unclean-election --seed 7" in text
    assert (
        "a partition was without a leader from 46.03 s to 110.008 s; a partition was under-replicated from before the "
        "fault to 140.032 s; all well 100.032 s after the fault"
    ) in text
    assert re.search(r"<summary><b class=\"bad\">lost records</b> at 110.009 s: LOST 300 acknowledged batches", text)
    assert "uncleanly: no replica in the ISR was alive" in text


def test_the_first_screen_names_the_throttle_that_a_move_waits_for(tmp_path: Path) -> None:
    """One replica in sync gets twice the throttle, so the added one gets nothing more."""
    throttled = scenario(
        assignment=[[0, 1]], plan={0: [0, 2]}, rate=0, size="4MB", config={"replica.fetch.max.bytes": 10_000},
        method=[{**EXECUTE, "throttle": "20kB/s"}], horizon="30s",
        workloads=[{"topic": "orders", "producerRate": 40, "messageSize": 1000}],
    )  # fmt: skip
    run = run_scenario(throttled, trace_dir=tmp_path)
    found = read_recorded(open_data_set(tmp_path), run.run_id)
    text = run_page(found, again="understudy report trace", version="1.2").render()
    first = text.partition('<dl class="tiles')[0]
    said = "Throttle: 20 kB/s of leader 0: used up by followers in sync, whose traffic KIP-73 counts; broker 2 lacks "
    assert said in first


def test_the_slider_goes_from_event_to_event_and_the_state_follows(browser: Browser, written: Written) -> None:
    with browser.opened(written("controller-dies-mid-move")) as page:
        slider, now, facts = page.locator("#moment"), page.locator("#now"), page.locator("#facts")
        assert "controller.crash 6" in now.inner_text()
        slider.focus()
        slider.press("End")
        wait_until(page, "document.querySelector('#facts').textContent.includes('broker 2')")
        assert "(epoch 2)" in facts.inner_text()
        assert "No move is open" in page.locator("#at-moves").inner_text()
        while "controller 2 elected" not in now.inner_text():
            slider.press("ArrowLeft")
        wait_until(page, "document.querySelector('#facts').textContent.includes('12.017129')")
        assert "after wiki.3" in page.locator("#at-moves").inner_text()
        assert "\n6\tdown" in page.locator("#at-brokers").inner_text()
        assert slider.get_attribute("aria-valuetext") == "12.017129 s, controller 2 elected, epoch 2"
        page.locator("#forth").click()
        assert "controller 2 elected" not in now.inner_text()
        page.locator("#back").click()
        assert "controller 2 elected" in now.inner_text()
        page.locator(".failure .at").first.click()
        assert "reassign.execute" in now.inner_text()
        cursor = page.locator("#gantt .cursor")
        before = cursor.get_attribute("x1")
        page.locator("#gantt .drawing svg").click(position={"x": 900, "y": 60})
        assert cursor.get_attribute("x1") != before


def test_the_filter_finds_partitions_and_time_can_be_looked_at_closely(browser: Browser, written: Written) -> None:
    with browser.opened(written("kip-461-one-of-twenty")) as page:
        rows = "[...document.querySelectorAll('#at-partitions tbody th')].map((cell) => cell.textContent)"
        wait_until(page, f"{rows}.length === 4")
        assert "4 of 20 partitions are drawn" in page.locator("#matched").inner_text()
        page.locator("#filter").fill("-1")
        names = page.evaluate(rows)
        assert len(names) == 4
        assert all("-1" in name for name in names)
        page.locator('[data-choice="rows"]').select_option("999")
        wait_until(page, f"{rows}.length === 11")
        page.locator("#filter").fill("nothing")
        assert "No partition matches" in page.locator("#at-partitions").inner_text()
        page.locator("#filter").fill("")
        page.locator('[data-choice="window"]').select_option("1000000")
        texts = "[...document.querySelectorAll('#gantt svg text')].map((text) => text.textContent)"
        wait_until(page, f"{texts}.some((text) => /^\\d+\\.\\d$/.test(text))")
        ticks = [float(text) for text in page.evaluate(texts) if re.fullmatch(r"\d+\.\d", text)]
        assert max(ticks) - min(ticks) <= 1


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 400)])
def test_it_is_accessible_and_fits_the_screen(browser: Browser, written: Written, theme: str, width: int) -> None:
    with browser.opened(written("unclean-election"), theme=theme, width=width) as page:
        assert serious(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert cut(page) == []
        page.emulate_media(media="print")
        assert not page.locator(".moment").is_visible()


def test_every_figure_is_saved_as_svg_and_csv(browser: Browser, written: Written, tmp_path: Path) -> None:
    with browser.opened(written("unclean-election")) as page:
        for name in ("gantt", "throughput", "lag", "latency"):
            for form in ("svg", "csv"):
                with page.expect_download() as download:
                    page.locator(f"#{name} [data-save={form}]").click()
                download.value.save_as(tmp_path / f"{name}.{form}")
        page.locator("[data-copy]").first.click()
        wait_until(page, "document.querySelector('#said').textContent === 'Copied'")
    rows = list(csv.DictReader((tmp_path / "gantt.csv").open()))
    assert {row["role"] for row in rows} == {"leader", "in ISR", "catching up", "down"}
    drawing = (tmp_path / "gantt.svg").read_text()
    assert "cursor" not in drawing
    assert "unsafe" not in drawing
    errors = [row for row in csv.DictReader((tmp_path / "latency.csv").open()) if row["unit"] == "batches"]
    assert errors == []


def test_the_picture_comes_before_the_list_and_the_slider_lies_over_neither(browser: Browser, written: Written) -> None:
    order = "(one, other) => document.querySelector(one).compareDocumentPosition(document.querySelector(other)) & 4"
    for width, height in ((1280, 800), (390, 844)):
        with browser.opened(written("leader-dies-mid-move"), width=width, height=height) as page:
            assert page.evaluate(f"({order})('#gantt', '#happened li')")
            assert page.locator("#gantt h3").bounding_box()["y"] < height, "the picture begins on the first screen"
            bar = page.locator(".moment")
            assert bar.bounding_box()["y"] > page.locator("#gantt figcaption").bounding_box()["y"]
            page.locator("#state h2").scroll_into_view_if_needed()
            page.evaluate("document.querySelector('#state').scrollIntoView()")
            box, heading = bar.bounding_box(), page.locator("#state h2").bounding_box()
            assert box["y"] >= page.locator("nav").bounding_box()["height"] - 1
            assert box["y"] + box["height"] <= heading["y"], "an address of the page leads below the slider"


ACTIONS = st.lists(
    st.tuples(
        st.integers(0, 140),
        st.sampled_from(["broker.crash", "link.cut", "config.set", "reassign.execute"]),
        st.sampled_from(["0", "1 <-> 2", "every broker of rack-a", ""]),
        st.sampled_from(["fault", "operator"]),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("width", [1280, 390])
def test_no_action_is_left_without_a_label(browser: Browser, written: Written, width: int) -> None:
    """Any actions at any moments: each has a label, or is counted at the label before it, which is not cut."""
    labels = """[...document.querySelectorAll('#gantt text[data-mark=action]')].map((text) => text.firstChild.data)"""
    with browser.opened(written("unclean-election"), width=width) as page:

        @settings(max_examples=25, deadline=None)
        @given(ACTIONS)
        def check(actions: list[tuple[int, str, str, str]]) -> None:
            shades = [
                {"seq": place, "t_us": at * 1_000_000, "end_us": None, "lasts": False, "text": action, "action": action,
                 "target": target, "kind": kind}
                for place, (at, action, target, kind) in enumerate(sorted(actions))
            ]  # fmt: skip
            page.evaluate(f"report.data.shades.splice(0, Infinity, ...{json.dumps(shades)}); report.again('gantt')")
            counted = [re.search(r" \+(\d+)$", label) for label in page.evaluate(labels)]
            assert sum(1 + (int(found[1]) if found else 0) for found in counted) == len(actions)
            assert [text for text in cut(page) if text.startswith("gantt") and "\u2026" not in text] == []

        check()
