"""Each checker, end to end: a guard is taken out of the cluster, and the run's verdict says what broke.

The answer fits a screen, and names the seed and the command that shows it again.
"""

from typing import Any

import pytest
from attrs import evolve

from brokers.partition.partition import Partition
from brokers.purgatory import ProduceWatchers
from brokers.requests.follower_session import FollowerSession
from controller.state_machines.leader_elections import LeaderElections
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.language import Scenario
from scenarios.runs import Run
from tests.scenarios.runs.building import Table, play, scenario

SCREEN = 25


def assert_broken(run: Run, invariant: str) -> None:
    assert (run.verdict, run.reason) == ("failed", "violated")
    assert run.violations[0].invariant == invariant
    lines = run.explanation.splitlines()
    assert len(lines) <= SCREEN
    assert invariant in lines[0]
    assert f"--seed {run.seed}" in run.explanation
    assert run.replay in run.explanation
    with pytest.raises(AssertionError, match=invariant):
        run.assert_expectations()


def leader_dies(acks: str = "all", seed: int = 3, **more: Any) -> Scenario:
    """The leader is cut off from its followers, still answering its producer, and then killed for good."""
    cut = {"at": "3s", "action": "link.cut", "target": "leader(orders-0)", "peer": [1, 2]}
    crash = {"after": "1s", "action": "broker.crash", "target": 0}
    return scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[cut, crash], acks=acks, seed=seed, horizon="1m", **more
    )


def test_acknowledged_before_the_high_watermark(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(_self: Partition, _required: int, _acks: int) -> tuple[bool, Errors]:
        return True, Errors.NONE

    assert play(leader_dies()).run.passed
    monkeypatch.setattr(Partition, "check_enough_replicas_reach_offset", at_once)
    assert_broken(play(leader_dies()).run, "no_acked_record_lost")


def test_an_election_that_forgets_to_raise_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    raised = LeaderElections.successor

    def same_epoch(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        return evolve(raised(self, state, **changes), leader_epoch=state.leader_epoch)

    monkeypatch.setattr(LeaderElections, "successor", same_epoch)
    assert_broken(play(leader_dies()).run, "one_leader_per_epoch")


def test_a_high_watermark_that_jumps_back(monkeypatch: pytest.MonkeyPatch) -> None:
    forward = Partition.maybe_increment_leader_hw

    def back_once(self: Partition, now_us: int) -> None:
        forward(self, now_us)
        if now_us > 3_000_000 and self.high_watermark > 100 and not jumped:
            jumped.append(now_us)
            self.set_high_watermark(self.high_watermark - 1, True)

    jumped: list[int] = []
    monkeypatch.setattr(Partition, "maybe_increment_leader_hw", back_once)
    assert_broken(play(leader_dies()).run, "high_watermark_monotone")


def test_a_session_that_keeps_what_was_taken_out_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Broker 2 gives one of two partitions up (KIP-461), and goes on fetching the other."""
    fails: Table = {"at": "3s", "action": "fetcher.fail_partition", "target": 2, "partition": "orders-0"}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2), (0, 1, 2)], method=[fails], horizon="30s", expect=[]
    )
    assert play(wanted).run.violations == ()
    monkeypatch.setattr(FollowerSession, "_forget", lambda _self, _tp: None)
    assert [violation.invariant for violation in play(wanted).run.violations][:1] == ["answers_fit"]


def test_a_high_watermark_that_answers_no_producer(monkeypatch: pytest.MonkeyPatch) -> None:
    later: Table = {"at": "45s", "action": "broker.crash", "target": 2}
    wanted = scenario(brokers=3, controller=2, assignment=[(0, 1)], method=[later], rate=20, horizon="1m")
    assert play(wanted).run.violations == ()
    monkeypatch.setattr(ProduceWatchers, "complete", lambda _self, _high_watermark, _error: None)
    assert play(wanted).run.violations[0].invariant == "acks_in_time"
