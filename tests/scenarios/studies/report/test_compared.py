"""The report of a data set: what it says in its HTML, and what its script draws in a browser."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from attrs import evolve

from scenarios.studies.report.over_time import Curve, curves
from scenarios.studies.statistics.study_comparison import ComparisonSpec
from tests.scenarios.studies.report.browser import Browser, serious, wait_until
from tests.scenarios.studies.report.made import SEEDS, arms, failed, over_time, page, run, runs, text_of, written

HOSTILE = "</script><script>window.broken = 1</script><img src=x onerror='window.broken = 2'>"
GRID = arms("wiki", "kafka-6794", throttles=("10MB/s", "20MB/s"))
FIGURES = ("answer", "forest", "completed", "over-time", "heat", "pareto", "spread")
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def grid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every figure: two strategies under two throttles, a run that did not finish and one that broke."""
    of_all = [*runs(GRID)[1:], run(GRID[0], 0, 0, finishes=False), failed(GRID[3], 11, "KeyError: <b>orders-0</b>")]
    of_all = [one for one in of_all if one.run_id != f"{3:08}{11:08}"]
    return written(tmp_path_factory.mktemp("grid"), page(GRID, of_all, title=HOSTILE, over_time=over_time(GRID)))


# -- the text --------------------------------------------------------------------------------------------------------


def test_the_first_screen_says_what_is_better_by_how_much_and_how_sure() -> None:
    pair = arms("wiki", "kafka-6794")
    text = text_of(page(pair, runs(pair)))
    assert "kafka-6794 against wiki" in text
    assert "2 reasons for doubt" in text
    sure = r"95% interval .*?\), on 12 of 12 seeds, p"
    assert re.search(rf"Worse in time_to_complete_s : 8\.\d+ s against 5\.\d+ s \(\+58%; {sure}", text)
    assert re.search(rf"Better in lag_p99 : 3,1\d+ messages against 4,01\d messages \(−22%; {sure}", text)
    assert "3 records acks=all, in 1 of 24 runs" in text
    assert "24 of 24 runs whose moves all finished" in text


def test_an_arm_against_itself_is_no_finding() -> None:
    twins = arms("wiki", "kafka-6794")
    alike = [run(arm, 0, seed) for arm in twins for seed in range(12)]
    text = text_of(page(twins, alike))
    assert "No difference that matters" in text
    assert "Better" not in text


def test_values_of_an_axis_are_compared_over_the_other_axes(browser: Browser, tmp_path: Path) -> None:
    made = page(GRID, runs(GRID), asked=ComparisonSpec(by="strategy"), over_time=over_time(arms("wiki", "kafka-6794")))
    assert "2 values of strategy, over 4 arms; 12 seeds" in text_of(made)
    assert "runs are paired by seed at each point of those" in text_of(made)
    with browser.opened(written(tmp_path, made)) as opened:
        assert opened.locator("#over-time [data-mark=area] path").count() == 2
        pairs = opened.locator("#spread [data-mark=link] path").count()
        assert pairs == 2 * 12 + 2, "a line for each seed under each throttle, and a bar for each strategy"
        first = opened.locator("#extremes tbody tr").first.inner_text()
        assert "--set strategy.throttle=" in first, "the command is that of an arm"


def test_no_mean_over_an_axis_is_on_the_page_where_signs_differ_over_it() -> None:
    factors = dict(zip((arm.name for arm in GRID), (1.0, 1.0, 0.5, 1.3), strict=True))
    opposed = [
        evolve(run(arm, 0, seed), observed_s=factors[arm.name] * (5.0 + seed % 5 / 10))
        for arm in GRID
        for seed in SEEDS
    ]
    text = text_of(page(GRID, opposed, asked=ComparisonSpec(by="strategy", metrics=("time_to_complete_s", "lag_p99"))))
    assert "kafka-6794 against wiki in time_to_complete_s depends on strategy.throttle: better at 10MB/s -50%" in text
    assert "; worse at 20MB/s +30%" in text
    assert not re.search(r"(Better|Worse) in time_to_complete_s", text)
    assert "is best" not in text


def test_an_arm_of_a_grid_is_compared_with_the_one_that_differs_in_one_axis() -> None:
    text = text_of(page(GRID, runs(GRID)))
    assert "kafka-6794, strategy.throttle=20MB/s against wiki, strategy.throttle=20MB/s" in text
    assert "kafka-6794, strategy.throttle=20MB/s against wiki, strategy.throttle=10MB/s" not in text


def test_few_seeds_have_one_sentence_and_no_interval() -> None:
    pair = arms("wiki", "kafka-6794")
    text = text_of(page(pair, [one for one in runs(pair) if one.seed < 3]))
    assert "3 seeds can show a direction and no finding" in text
    assert "No difference" not in text.partition("Comparison")[0]
    assert "95% interval +" not in text


def test_one_strategy_alone_is_shown_without_a_comparison() -> None:
    alone = arms("wiki")
    made = page(alone, runs(alone))
    assert "wiki was run alone: there is nothing to compare it with" in text_of(made)
    assert 'id="forest"' not in made
    assert "time_to_complete_s" in text_of(made)


def test_runs_without_moves_and_runs_that_did_not_finish() -> None:
    pair = arms("wiki", "kafka-6794")
    still = page(pair, runs(pair, finishes=None))
    assert "no moves" in text_of(still)
    assert 'id="completed"' not in still
    assert "0 of 24 runs whose moves all finished" in text_of(page(pair, runs(pair, finishes=False)))


def test_failed_runs_are_listed_with_their_errors_and_commands(grid: Path) -> None:
    text = text_of(grid.read_text())
    assert "kafka-6794, strategy.throttle=20MB/s, seed 11: KeyError: &lt;b&gt;orders-0&lt;/b&gt;" in text
    again = (
        "understudy run mine.toml --strategy kafka-6794 --profile kafka-2.3 --set strategy.throttle=20MB/s --seed 11"
    )
    assert again in text


def test_the_data_of_the_script_is_json_and_holds_each_run_once(grid: Path) -> None:
    [text] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', grid.read_text(), re.DOTALL)
    data = json.loads(text)
    assert len(data["runs"]["seed"]) == 47
    assert set(data["runs"]["values"]) == {
        "time_to_complete_s", "under_min_isr_s", "lag_p99", "lost_acks_all_records"
    }  # fmt: skip
    assert [level["name"] for level in data["levels"]] == [arm.name for arm in GRID]


def test_a_curve_belongs_to_the_level_of_its_rows() -> None:
    of = {"level": "wiki", "runs": 12}
    rows = [{**of, "t_us": t_us, "p10": 0.0, "p50": t_us / 2, "p90": 9.0} for t_us in (0, 500_000)]
    assert curves(rows) == {  # type: ignore[arg-type]
        "wiki": Curve((0.0, 0.5), (12, 12), (0.0, 0.0), (0.0, 250_000.0), (9.0, 9.0))
    }


# -- in a browser ----------------------------------------------------------------------------------------------------


def test_every_control_works_and_nothing_fails(browser: Browser, grid: Path) -> None:
    with browser.opened(grid) as opened:
        for select in opened.locator("select").all():
            for value in select.evaluate("(one) => [...one.options].map((option) => option.value)"):
                select.select_option(value)
        for link in opened.locator("nav a").all():
            link.click()
        opened.locator("summary").click()
        for button in opened.locator("[data-copy]").all():
            button.click()
        wait_until(opened, "document.querySelector('#said').textContent === 'Copied'")
        for name in FIGURES:
            drawing = opened.locator(f"#{name} .drawing")
            drawing.scroll_into_view_if_needed()
            drawing.hover()
        assert opened.evaluate("window.broken") is None
        assert opened.locator("h1").inner_text() == HOSTILE


def test_every_figure_draws_its_data(browser: Browser, grid: Path) -> None:
    def count(opened: Any, selector: str) -> int:
        return int(opened.locator(selector).count())

    with browser.opened(grid) as opened:
        opened.locator("[data-choice=forest-rows]").select_option("all")
        assert count(opened, "#forest [data-mark=dot] path, #forest [data-mark=dot] circle") == 7
        assert count(opened, "#completed [data-mark=line] path") == 4
        assert count(opened, "#over-time [data-mark=area] path") == 4
        opened.locator("[data-choice=time-series]").select_option("1")
        assert count(opened, "#over-time [data-mark=area] path") == 1
        assert count(opened, "#heat [data-mark=cell] rect") == 4
        opened.locator("[data-choice=heat-metric]").select_option("lag_p99")
        assert "2,215" in opened.locator("#heat").text_content()
        assert count(opened, "#spread [data-mark=link] path") == 3 * 12 - 1 + 4
        opened.locator("[data-choice=extreme-metric]").select_option("lost_acks_all_records")
        highest = opened.locator("#extremes tr", has_text="highest").filter(has_text="3 records")
        assert "--seed 4" in highest.inner_text()
        opened.locator("[data-choice=heat-y]").select_option("strategy.throttle")
        assert "Choose two different axes" in opened.locator("#heat").inner_text()
        assert opened.locator("#heat [data-save=svg]").is_disabled()


def test_figures_are_saved_as_svg_with_their_legend_and_as_csv(browser: Browser, grid: Path, tmp_path: Path) -> None:
    for form in ("svg", "csv"):  # a page each: Chromium lets one save ten files a second and drops the others
        with browser.opened(grid, theme="dark") as opened:
            for name in FIGURES:
                with opened.expect_download() as download:
                    opened.locator(f"#{name} [data-save={form}]").click()
                download.value.save_as(tmp_path / f"{name}.{form}")
    for name in FIGURES:
        root = ElementTree.parse(tmp_path / f"{name}.svg").getroot()
        said = [text for part in root.iter(f"{SVG}text") for text in part.itertext()]
        assert root.find(f"{SVG}rect").get("fill") == "rgb(255, 255, 255)"  # type: ignore[union-attr]
        assert name == "heat" or {"strategy:", "kafka-6794", "strategy.throttle:", "20MB/s"} <= set(said), name
        rows = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
        assert rows, name
    forest = {(row["metric"], row["arm"]): row for row in csv.DictReader((tmp_path / "forest.csv").open())}
    told = forest["time_to_complete_s", "kafka-6794, strategy.throttle=20MB/s"]
    assert (told["unit"], told["verdict"], told["lower"]) == ("s", "worse", "0")


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 400), ("light", 2400)])
def test_it_is_accessible_and_fits_the_screen(browser: Browser, grid: Path, theme: str, width: int) -> None:
    with browser.opened(grid, theme=theme, width=width) as opened:
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        assert width == 2400 or serious(opened) == []


def test_the_theme_is_switched_by_keyboard_and_print_is_light(browser: Browser, grid: Path) -> None:
    ground = "getComputedStyle(document.body).backgroundColor"
    first = "document.querySelector('#completed [data-mark=line] path').closest('[stroke]').getAttribute('stroke')"
    with browser.opened(grid) as opened:
        light, line = opened.evaluate(ground), opened.evaluate(first)
        opened.keyboard.press("Tab")
        assert opened.evaluate("document.activeElement.className") == "skip"
        while opened.evaluate("document.activeElement.id") != "theme":
            opened.keyboard.press("Tab")
        assert opened.locator("#theme").inner_text() == "Dark theme", "what it does, not what is"
        opened.keyboard.press("Enter")
        assert opened.locator("#theme").inner_text() == "Light theme"
        assert opened.evaluate(ground) != light
        assert opened.evaluate(first) != line
        opened.emulate_media(media="print")
        assert not opened.locator("nav").is_visible()
        opened.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert opened.evaluate(first) == line
        opened.emulate_media(media="screen")
        opened.locator("#theme").click()
        assert opened.evaluate(ground) == light
        opened.emulate_media(color_scheme="dark")
        wait_until(opened, f"{ground} !== {json.dumps(light)}")  # it follows the system again


def test_pages_without_much_to_draw_say_so(browser: Browser, tmp_path: Path) -> None:
    alone, pair = arms("wiki"), arms("wiki", "kafka-6794")
    with browser.opened(written(tmp_path, page(alone, runs(alone)))) as opened:
        assert opened.locator("#spread svg").count() > 0
        assert opened.locator("#extremes tbody tr").count() == 2
    with browser.opened(written(tmp_path, page(pair, runs(pair, finishes=False)))) as opened:
        assert "No run finished its moves" in opened.locator("#completed").inner_text()
    with browser.opened(written(tmp_path, page(alone, runs(alone)[:1]))) as opened:
        assert "No figure differs between runs" in opened.locator("#spread").inner_text()
