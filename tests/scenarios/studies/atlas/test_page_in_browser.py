"""The atlas page in a browser: a cell's story, filters, keys, the theme, and that it is accessible."""

from __future__ import annotations

from pathlib import Path

from scenarios.studies.atlas.atlas_page import page
from scenarios.studies.atlas.summary import UndisturbedMove
from tests.scenarios.studies.atlas.made import baselines, rows
from tests.scenarios.studies.report.browser import Browser, serious, wait_until


def test_a_cell_is_chosen_by_mouse_and_keys_and_outcomes_are_filtered(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "atlas.html"
    path.write_text(page(rows(), [UndisturbedMove.of(baseline) for baseline in baselines()]))
    with browser.opened(path) as shown:
        wait_until(shown, "document.querySelector('td[data-i]').title")
        assert serious(shown) == []
        cell = shown.locator("td[data-i]").first
        cell.click()
        first = shown.locator("#p-title").inner_text()
        assert "/controller/crash" in first
        cell.press("ArrowDown")
        second = shown.locator("#p-title").inner_text()
        assert second != first
        shown.keyboard.press("ArrowUp")
        assert shown.locator("#p-title").inner_text() == first
        shown.locator("[data-filter='stray']").click()
        dimmed = shown.locator("td.dim").count()
        assert 0 < dimmed < len(rows())
        shown.keyboard.press("Escape")
        assert not shown.locator("#panel").is_visible()
        ground = "getComputedStyle(document.body).backgroundColor"
        before = shown.evaluate(ground)
        shown.locator("#theme", has_text="Dark theme").click()
        assert shown.evaluate(ground) != before
        assert shown.locator("#theme").inner_text() == "Light theme"
        assert shown.locator("th.step").evaluate_all(
            "(all) => all.every((one) => one.scrollWidth <= one.clientWidth + 1)"
        )


def test_the_last_column_is_as_wide_as_the_others(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "atlas.html"
    path.write_text(page(rows(), [UndisturbedMove.of(baseline) for baseline in baselines()]))
    space = "(all) => all.map((one) => { const of = getComputedStyle(one); return of.paddingLeft + of.paddingRight; })"
    for width in (1280, 390):
        with browser.opened(path, width=width) as shown:
            assert set(shown.locator("#all td").evaluate_all(space)) == {"0px0px"}
            assert shown.evaluate("document.documentElement.scrollWidth") <= width
            assert serious(shown) == []
