"""``report TRACE``: the page of one run, and which of several."""

from __future__ import annotations

from pathlib import Path

from tests.scenarios.cli.conftest import Call


def test_the_page_of_a_run_is_written_and_names_its_command(call: Call, tmp_path: Path) -> None:
    trace, page = tmp_path / "trace", tmp_path / "run.html"
    assert call("run", "quick-move", "--trace", str(trace)).code == 0
    called = call("report", str(trace), "-o", str(page))
    assert called.code == 0
    assert called.out.startswith(f"written to {page} (")
    assert f"understudy report {trace} -o {page}" in page.read_text()
    refused = call("report", str(trace), "--seed", "99", "-o", str(page))
    assert refused.code == 2
    assert "no run fits; choose one with --seed, --strategy or --run" in refused.err
