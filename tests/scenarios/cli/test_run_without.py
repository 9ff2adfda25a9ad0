"""``run --without TICKET``: the same run as since the fix of a ticket."""

from __future__ import annotations

from tests.scenarios.cli.conftest import Call


def test_the_command_says_what_is_gone_and_where_the_runs_part(call: Call) -> None:
    called = call("run", "controlled-shutdown-of-many-leaders", "--profile", "kafka-1.1", "--without", "KAFKA-7482")
    assert called.code == 0
    assert called.out.startswith("without KAFKA-7482 (controller.selectors.controlled_shutdown as since the fix):")
    assert "gone: replicas_notified" in called.out
    assert "the first event that differs is number" in called.out
    refused = call("run", "controlled-shutdown-of-many-leaders", "--without", "KAFKA-7483")
    assert refused.code == 2
    assert "--without: unknown ticket 'KAFKA-7483'; did you mean 'KAFKA-7482'?" in refused.line
