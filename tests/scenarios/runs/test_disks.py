"""Disks in whole runs: what crashes of machines leave, and old segments that go while replicas move."""

import pytest

from emulator.protocol.events import (
    IsrChanged,
    LogDirFailed,
    LogLoaded,
    LogRecovered,
    LogStartMoved,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from tests.scenarios.runs.building import EXECUTE, HEAL, play, scenario

GROWS = {
    "log.segment.bytes": 65536,
    "log.retention.bytes": 131072,
    "log.retention.check.interval.ms": 1000,
}


def test_a_machine_that_crashes_comes_back_with_what_was_written_back() -> None:
    """It truncates a torn batch, and fetches the lost records again."""
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


TWO = {"log_dirs": 2}


def failure(action: str, target: object, **more: object) -> dict[str, object]:
    return {"at": "5s", "action": action, "target": target, **more}


def test_log_dir_offline_lets_others_lead() -> None:
    """Four partitions, led by broker 0, two of them in the directory that fails: the controller elects others."""
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)] * 4, cluster=TWO,
        config={"auto.leader.rebalance.enable": False}, horizon="1m",
        method=[failure("log_dir.offline", 0, log_dir="/data/1")],
    )  # fmt: skip
    played = play(wanted)
    assert played.run.passed, played.run.reason
    assert [(f.node, f.directory, f.replicas, f.broker_halts) for f in played.of(LogDirFailed)] == [
        (0, "/data/1", 2, False)
    ]
    states = [played.state(TopicPartition("orders", number)) for number in range(4)]
    assert [state.leader for state in states] == [0, 1, 0, 1]
    assert [state.isr for state in states] == [(0, 1, 2), (1, 2), (0, 1, 2), (1, 2)]


def test_disk_fail_on_the_only_directory_takes_the_broker_along_until_a_restart() -> None:
    fail = failure("disk.fail", 1, operation="append", times=1)
    start = {"at": "20s", "action": "broker.start", "target": 1}
    played = play(scenario(brokers=4, controller=3, method=[fail, start], rollbacks=HEAL, horizon="1m"))
    assert played.run.passed, played.run.reason
    assert [(f.node, f.broker_halts) for f in played.of(LogDirFailed)] == [(1, True)]
    assert [(crash.node, crash.kind) for crash in played.of(NodeCrashed)] == [(1, "process")]
    assert sorted(played.state().isr) == [0, 1, 2]


@pytest.mark.parametrize(("restart", "returns"), [(True, True), (False, False)])
@pytest.mark.parametrize("log_dir", ["/data/0", "any"])
def test_a_log_directory_returns_with_the_restart_that_its_entry_asks_for(
    restart: bool, returns: bool, log_dir: str
) -> None:
    """With its last directory the broker has ended, and is started."""
    offline = failure("log_dir.offline", 1, log_dir=log_dir, duration="20s", restart=restart)
    played = play(scenario(brokers=4, controller=3, method=[offline], rollbacks=[], cluster=TWO, horizon="1m"))
    starts = [event.t_us for event in played.of(NodeStarted, lambda event: event.node == 1) if event.t_us]
    assert bool(starts) == returns
    assert (sorted(played.state().isr) == [0, 1, 2]) == returns


def test_disk_full_until_disk_heal_ends_the_broker_before_kip_112() -> None:
    full = failure("disk.full", 0, duration="5s")
    start = {"at": "20s", "action": "broker.start", "target": 0}
    wanted = scenario(
        brokers=4, controller=3, method=[full, start], rollbacks=HEAL, cluster=TWO, profile="kafka-0.8", horizon="1m"
    )
    played = play(wanted)
    assert [(f.node, f.broker_halts) for f in played.of(LogDirFailed)][:1] == [(0, True)]
    assert played.state().leader in (1, 2)


def test_disk_corrupt_has_the_batch_fetched_again_and_again() -> None:
    """kafka-behaviour §8.4: a corrupt record only delays. The broker that has it is killed, and cuts it off when it
    starts, since it is behind the recovery point."""
    method = [
        {"at": "4s", "action": "link.cut", "target": 0, "peer": [2], "duration": "6s"},
        {"at": "6s", "action": "disk.corrupt", "target": 0, "partition": "orders-0", "batch": "last"},
        {"at": "30s", "action": "broker.crash", "target": 0, "duration": "5s"},
    ]
    played = play(scenario(brokers=4, controller=3, method=method, rollbacks=HEAL, rate=50, horizon="2m"))
    assert not played.of(PartitionFailed)
    assert [(cut.node, cut.reason) for cut in played.of(LogRecovered)] == [(0, "corrupt")]
    assert sorted(played.state().isr) == [0, 1, 2]
    assert played.run.passed, played.run.reason


def test_a_follower_does_not_wait_for_a_disk_that_was_slow() -> None:
    """Its disk would need minutes for the batch that it has fetched last."""
    slow = failure("disk.slow", 2, write="10B/s", duration="20s")
    played = play(scenario(brokers=4, controller=3, method=[slow], rollbacks=HEAL, acks="1", horizon="3m"))
    ((_, _), (expanded_us, isr)) = [(event.t_us, event.isr) for event in played.of(IsrChanged)]
    assert isr == (0, 1, 2)
    assert 25_000_000 <= expanded_us < 26_000_000


def test_disk_slow_makes_a_follower_leave_the_isr_until_disk_heal() -> None:
    """200 records of a KiB a second come in, 100 a second fit through its disk."""
    slow = failure("disk.slow", 2, write="100KiB/s", duration="60s")
    played = play(scenario(brokers=4, controller=3, method=[slow], rollbacks=HEAL, acks="1", horizon="3m"))
    assert played.run.passed, played.run.reason
    changes = [(event.kind, event.isr) for event in played.of(IsrChanged)]
    assert changes == [("shrink", (0, 1)), ("expand", (0, 1, 2))]
