"""The checkers of section S, end to end: a guard of the replicated log is taken out of the cluster."""

from typing import Any

import pytest
from attrs import evolve

from brokers.log.log import Log
from brokers.partition.partition import Partition
from brokers.partition.remote import RemoteReplica
from brokers.replica_manager.log_dir_failures import LogDirFailureHandler
from controller.state_machines.leader_elections import LeaderElections
from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.znodes import LeaderAndIsr
from fetchers.ports import FollowerLog
from fetchers.truncation import Cut, Kip279
from scenarios.language import Scenario
from scenarios.runs import Run
from tests.scenarios.runs.building import HEAL, Table, play, scenario
from tests.scenarios.runs.test_broken_guards import leader_dies


def broken(run: Run) -> list[str]:
    """The names of the broken invariants, each once, in the order in which they were found."""
    assert (run.verdict, run.reason) == ("failed", "violated")
    return list(dict.fromkeys(violation.invariant for violation in run.violations))


def leader_comes_back(**more: Any) -> Scenario:
    """A leader without followers appends, dies, and comes back as a follower of another one."""
    cut = {"at": "3s", "action": "link.cut", "target": "leader(orders-0)", "peer": [1, 2]}
    crash = {"after": "1s", "action": "broker.crash", "target": 0, "duration": "20s"}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut, crash], rollbacks=HEAL, horizon="2m",
        acks="1", **more,
    )  # fmt: skip


def test_a_leader_that_exposes_what_its_followers_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    append = Partition.append_as_leader

    def and_exposes(self: Partition, batch: ProducedBatch) -> int:
        base = append(self, batch)
        self.set_high_watermark(base + batch.count, True)
        return base

    monkeypatch.setattr(Partition, "append_as_leader", and_exposes)
    assert {"isr_complete", "leader_completeness"} <= set(broken(play(leader_dies()).run))


def test_a_follower_that_joins_the_isr_before_it_has_caught_up(monkeypatch: pytest.MonkeyPatch) -> None:
    def always_eligible(self: Partition, _remote: RemoteReplica) -> bool:
        return not self.isr_state.is_inflight

    move = {"at": "2s", "action": "reassign.execute"}
    wanted = scenario(brokers=4, controller=3, assignment=[(0, 1)], plan={0: (0, 2)}, method=[move], size="64MiB")
    assert play(wanted).run.passed
    monkeypatch.setattr(Partition, "is_replica_isr_eligible", always_eligible)
    assert {"isr_complete", "joins_caught_up"} <= set(broken(play(wanted).run))


def test_a_follower_that_does_not_truncate(monkeypatch: pytest.MonkeyPatch) -> None:
    def not_at_all(_self: Kip279, log: FollowerLog, _answer: EpochEndOffset, _high_watermark: int) -> Cut:
        return Cut(log.log_end_offset, True)

    wanted = leader_comes_back()
    assert play(wanted).run.passed
    monkeypatch.setattr(Kip279, "cut", not_at_all)
    assert {"log_matching", "isr_logs_identical"} <= set(broken(play(wanted).run))


def test_a_follower_that_truncates_too_much(monkeypatch: pytest.MonkeyPatch) -> None:
    def everything(_self: Kip279, _log: FollowerLog, _answer: EpochEndOffset, _high_watermark: int) -> Cut:
        return Cut(0, True)

    monkeypatch.setattr(Kip279, "cut", everything)
    assert "truncate_safety" in broken(play(leader_dies()).run)


def test_a_follower_outside_the_isr_that_truncates_what_its_leader_has(monkeypatch: pytest.MonkeyPatch) -> None:
    def one_record_more(_self: Kip279, log: FollowerLog, _answer: EpochEndOffset, _high_watermark: int) -> Cut:
        return Cut(max(0, log.log_end_offset - 1), True)

    method: list[Table] = [
        {"at": "2s", "action": "broker.crash", "target": 0, "duration": "3s"},
        {"at": "20s", "action": "broker.crash", "target": 2, "duration": "10s"},
    ]
    wanted = scenario(brokers=4, controller=3, assignment=[(0, 1, 2)], method=method, rollbacks=HEAL, horizon="2m")
    assert play(wanted).run.passed
    monkeypatch.setattr(Kip279, "cut", one_record_more)
    states = [violation.state for violation in play(wanted).run.violations if violation.invariant == "truncate_safety"]
    assert any(state.startswith("orders-0: broker 2 truncates to ") for state in states)


def test_a_follower_that_truncates_to_its_high_watermark(monkeypatch: pytest.MonkeyPatch) -> None:
    """As before KIP-101: it may not have received the high watermark up to which the dead leader had exposed the
    log."""

    def to_the_high_watermark(_self: Kip279, log: FollowerLog, _answer: EpochEndOffset, high_watermark: int) -> Cut:
        return Cut(min(high_watermark, log.log_end_offset), True)

    monkeypatch.setattr(Kip279, "cut", to_the_high_watermark)
    assert "truncate_safety" in broken(play(leader_dies()).run)


def test_an_election_that_leaves_the_leader_out_of_the_isr(monkeypatch: pytest.MonkeyPatch) -> None:
    successor = LeaderElections.successor

    def without_leader(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        after = successor(self, state, **changes)
        return evolve(after, isr=tuple(node for node in after.isr if node != after.leader))

    monkeypatch.setattr(LeaderElections, "successor", without_leader)
    assert "leader_in_isr" in broken(play(leader_dies()).run)


def test_a_truncation_that_keeps_the_high_watermark(monkeypatch: pytest.MonkeyPatch) -> None:
    """KAFKA-3978's kind: the log is cut before the high watermark, which stays."""
    truncated = Partition._truncated

    def and_keeps(self: Partition, log: Log) -> None:
        high_watermark = self.high_watermark
        truncated(self, log)
        self.set_high_watermark(high_watermark, False)

    monkeypatch.setattr(Kip279, "cut", lambda *_: Cut(0, True))
    monkeypatch.setattr(Partition, "_truncated", and_keeps)
    assert "offset_bounds" in broken(play(leader_dies()).run)


def test_a_leader_that_stamps_a_batch_with_an_older_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    append = Partition.append_as_leader

    def sometimes_older(self: Partition, batch: ProducedBatch) -> int:
        epoch = self.leader_epoch
        self.leader_epoch = epoch - batch.id % 2
        base = append(self, batch)
        self.leader_epoch = epoch
        return base

    monkeypatch.setattr(Partition, "append_as_leader", sometimes_older)
    assert "append_shape" in broken(play(leader_dies()).run)


# -- what old releases do wrong by themselves ------------------------------------------------------------------------


def test_kafka_1028_the_last_member_leaves_the_isr() -> None:
    """0.8.2 keeps it; before, the controller removes every dead replica from the ISR."""
    crash = {"at": "3s", "action": "broker.crash", "target": 0, "duration": "20s"}
    wanted = scenario(brokers=3, controller=2, assignment=[(0,)], method=[crash], horizon="2m")
    assert play(wanted).run.violations == ()
    assert broken(play(wanted, profile="kafka-0.8").run) == ["leader_in_isr"]


def test_kafka_3143_a_failover_leaves_a_dead_replica_in_the_isr() -> None:
    """It comes back from the crash of its machine without what it had not flushed, and counts as in sync."""
    crash = {"at": "3s", "action": "controller.crash", "kind": "host", "duration": "1s"}
    wanted = scenario(brokers=3, controller=1, assignment=[(0, 1)], method=[crash], horizon="2m", rate=20)
    assert play(wanted).run.violations == ()
    assert "isr_complete" in broken(play(wanted, profile="kafka-1.1").run)


def test_a_log_directory_that_is_used_though_it_could_not_be_recovered(monkeypatch: pytest.MonkeyPatch) -> None:
    at_1: Table = {"target": 1, "partition": "orders-0"}
    method: list[Table] = [
        {"at": "5s", "action": "disk.corrupt", **at_1},
        {"after": "1ms", "action": "disk.fail", "operation": "truncate", **at_1},
        {"after": "1ms", "action": "broker.crash", "target": 1, "duration": "1s"},
    ]
    wanted = scenario(brokers=3, controller=2, assignment=[(0, 1)], method=method, horizon="30s")
    assert "failed_dirs_offline" not in {violation.invariant for violation in play(wanted).run.violations}
    monkeypatch.setattr(LogDirFailureHandler, "_failed", lambda _self, _directory, _reason: None)
    assert "failed_dirs_offline" in {violation.invariant for violation in play(wanted).run.violations}
