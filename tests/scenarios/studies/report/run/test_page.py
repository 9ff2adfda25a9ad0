"""The page of a run: its text, and what it does in a browser."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from scenarios.studies.report.run.page import run_page
from scenarios.studies.report.run.recorded import RecordedRun
from tests.scenarios.studies.report.browser import Browser, serious, wait_until

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
