"""The checkers of section E, end to end: a fence is taken out of the cluster."""

from typing import Any

import pytest
from attrs import evolve

from brokers.partition.isr import IsrWriter
from controller.states.elections import Elections
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper import SetData
from tests.scenarios.runner.building import play, scenario
from tests.scenarios.runner.test_broken_guards import leader_dies
from tests.scenarios.runner.test_broken_guards_of_logs import broken


def test_an_election_that_lowers_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    successor = Elections.successor

    def lower(self: Elections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        return evolve(successor(self, state, **changes), leader_epoch=state.leader_epoch - 1)

    monkeypatch.setattr(Elections, "successor", lower)
    assert "epochs_grow" in broken(play(leader_dies()).run)


def test_a_leader_that_does_not_wait_for_its_conditional_write(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(self: IsrWriter, kind: str, isr: tuple[int, ...]) -> None:
        partition = self._partition
        self._kind = kind
        wanted = LeaderAndIsr(
            partition.process.node.id, partition.leader_epoch, isr, partition.controller_epoch, partition.zk_version
        )
        partition.manager.zk.submit(
            SetData(state_path(partition.tp), wanted.encode(), partition.zk_version), lambda _response: None
        )
        self._adopt(wanted, partition.zk_version + 1)

    crash = {"at": "3s", "action": "broker.crash", "target": 1, "duration": "20s"}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[crash], config={"replica.lag.time.max.ms": 1000}
    )
    assert play(wanted).run.passed
    monkeypatch.setattr(IsrWriter, "_write", at_once)
    assert "isr_write_conditional" in broken(play(wanted).run)
