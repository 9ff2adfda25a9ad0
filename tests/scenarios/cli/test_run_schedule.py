"""``run --schedule``: the report names the schedule, and the replay command repeats it."""

from __future__ import annotations

from tests.scenarios.cli.conftest import Call


def test_the_command_line_names_it_in_the_report_and_in_the_replay(call: Call) -> None:
    longer = ("--set", "topics[0].size=8GiB", "--set", "horizon=5s")
    called = call("run", "quick-move", "--schedule", "pct-3", *longer)
    assert called.code == 1
    assert "seed 1, schedule pct-3" in called.out
    assert "--set schedule=pct-3" in called.out
    assert call("run", "quick-move", "--schedule", "pct-3").code == 0
    refused = call("run", "quick-move", "--schedule", "psc")
    assert refused.code == 2
    assert "--schedule: unknown schedule 'psc'" in refused.err
