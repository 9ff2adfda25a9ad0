"""Disks in whole runs: what crashes of machines leave, and old segments that go while replicas move."""

from emulator.protocol.events import LogLoaded, LogRecovered, LogStartMoved, ReplicaStopped, Truncated
from tests.scenarios.runner.building import EXECUTE, HEAL, play, scenario

GROWS = {
    "log.segment.bytes": 65536,
    "log.retention.bytes": 131072,
    "log.retention.check.interval.ms": 1000,
}


def test_a_machine_that_crashes_comes_back_with_what_was_written_back() -> None:
    """What it lost it fetches again; what was torn is cut first."""
    crash = {"at": "20s", "action": "broker.crash", "target": 2, "kind": "host", "duration": "5s"}
    played = play(scenario(method=[crash], rollbacks=HEAL, cluster={"disk": {"writeback": "4s"}}))
    assert played.run.passed
    assert [(cut.node, cut.batches, cut.reason) for cut in played.of(LogRecovered)] == [(2, 1, "torn")]
    loaded = played.of(LogLoaded, lambda event: event.node == 2 and event.t_us > 20_000_000)
    assert 0 < loaded[0].log_end_offset == played.of(LogRecovered)[0].log_end_offset


def test_replicas_move_while_old_segments_go() -> None:
    """The new replica begins where the leader's log begins; every checker looks on."""
    move = scenario(
        brokers=4, controller=3, assignment=[(0, 1)], plan={0: (0, 2)}, method=[{**EXECUTE, "at": "45s"}],
        config=GROWS, rate=400, size="1MiB",
    )  # fmt: skip
    played = play(move)
    assert played.run.passed, played.run.reason
    reasons = {event.reason for event in played.of(LogStartMoved)}
    assert "size" in reasons
    assert played.of(Truncated, lambda event: event.node == 2 and event.log_end_offset > 0)
    assert played.of(ReplicaStopped, lambda event: event.node == 1 and event.deleted)
