"""From the file of a study to its page, by the commands that a user types: ``sweep``, ``compare``, ``report``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scenarios.studies.report.results import Results
from tests.scenarios.cli.conftest import Call
from tests.scenarios.studies.report.browser import Browser
from tests.scenarios.studies.test_study import STUDY

CRASH = """
[[method]]
at = "2s"
action = "broker.crash"
target = 1
"""

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_a_study_is_swept_and_its_page_says_what_the_comparison_says(
    spark: SparkSession, browser: Browser, call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("study.toml").write_text(STUDY + CRASH)
    assert call("sweep", "study.toml", "--out", "swept").code == 0
    by = ["--by", "strategy"]
    compared = json.loads(call("compare", "swept", *by, "--format", "json").out)
    wide = Results.open("swept").to_pandas()
    assert list(wide["strategy.throttle"]) == ["10MB/s"] * 2 + ["20MB/s"] * 2 + ["10MB/s"] * 2 + ["20MB/s"] * 2
    assert call("report", "swept", *by, "-o", "page.html").code == 0
    with browser.opened(tmp_path / "page.html") as opened:
        found = opened.locator("#findings").inner_text()
        for level in compared["levels"][1:]:
            assert f"{level['name']} against wiki" in found
        assert "time_to_complete_s" in opened.locator("#answer svg").last.text_content()
        assert opened.locator("#completed [data-mark=line] path").count() == 2
        opened.locator("[data-choice=time-series]").select_option("1")
        assert opened.locator("#over-time [data-mark=line] path").count() == 2, "computed by Spark, a line each"
        marks = opened.locator("#spread [data-mark=dot] path, #spread [data-mark=dot] circle")
        assert marks.count() == len(compared["runs"]) == 8
        commands = opened.locator("#extremes code").all_inner_texts()
    assert len(commands) == 4
    assert all(line.startswith("understudy run study.toml --strategy ") for line in commands)
    assert call(*commands[-1].split()[1:]).code == 0, "the command of an extreme run works"
