"""The checkers of section E, end to end: a fence is taken out of the cluster."""

from typing import Any

import pytest
from attrs import evolve

from brokers.partition.isr import AlterIsrItem
from brokers.replica_manager.alter_isr import ZkIsrManager
from brokers.requests.control import ControlHandler
from controller.policies import ControllerPolicies
from controller.state_machines.leader_elections import LeaderElections
from controller.zk_client import KafkaZkClient
from emulator.protocol.errors import Errors
from emulator.protocol.events import BrokerRegistered, ControlRequest
from emulator.protocol.znodes import CONTROLLER, CONTROLLER_EPOCH, LeaderAndIsr, state_path
from emulator.zookeeper import SetData
from scenarios.observe.checkers import Checkers, Violation
from tests.brokers.bench import ME, Bench
from tests.brokers.replica_manager.test_roles import stop
from tests.controller.lab import Lab
from tests.controller.lab import run as in_lab
from tests.scenarios.runs.building import play, scenario
from tests.scenarios.runs.test_broken_guards import leader_dies
from tests.scenarios.runs.test_broken_guards_of_logs import broken


def test_an_election_that_lowers_the_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    successor = LeaderElections.successor

    def lower(self: LeaderElections, state: LeaderAndIsr, **changes: Any) -> LeaderAndIsr:
        return evolve(successor(self, state, **changes), leader_epoch=state.leader_epoch - 1)

    monkeypatch.setattr(LeaderElections, "successor", lower)
    assert "epochs_grow" in broken(play(leader_dies()).run)


def test_a_leader_that_does_not_wait_for_its_conditional_write(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_once(self: ZkIsrManager, item: AlterIsrItem) -> None:
        wanted = item.leader_and_isr
        write = SetData(state_path(item.tp), wanted.encode(), wanted.zk_version)
        self.zk.submit(write, lambda _response: None)
        item.taken(wanted.isr, wanted.zk_version + 1)

    crash = {"at": "3s", "action": "broker.crash", "target": 1, "duration": "20s"}
    wanted = scenario(
        brokers=4, controller=3, assignment=[(0, 1, 2)], method=[crash], config={"replica.lag.time.max.ms": 1000}
    )
    assert play(wanted).run.passed
    monkeypatch.setattr(ZkIsrManager, "submit", at_once)
    assert "isr_write_conditional" in broken(play(wanted).run)


def writes_of_a_replaced_controller() -> list[Violation]:
    """The first controller epoch ends without a notification to its controller, which is held in the middle of a move
    and then goes on."""

    async def test(lab: Lab) -> list[Violation]:
        checkers = Checkers(lab.trace, ["controller_fence"])
        await lab.operator.delete(CONTROLLER)
        await lab.settle()
        await lab.create_topic("orders", {0: (0, 1, 2)})
        old = lab.active
        lab.at_gate("wiki.1", "before", lambda at: at.process.pause())
        await lab.operator.create("/admin/reassign_partitions", MOVE)
        await lab.world.sleep(100_000)
        await lab.operator.set(CONTROLLER_EPOCH, "9")
        await lab.operator.delete(CONTROLLER)
        await lab.world.sleep(100_000)
        assert lab.active is not old
        old.process.resume()
        await lab.settle()
        return checkers.finish()

    return in_lab(test, brokers=5, policies=ControllerPolicies())


MOVE = '{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[0,1,3]}]}'


def test_a_controllers_writes_without_the_fence(monkeypatch: pytest.MonkeyPatch) -> None:
    async def unfenced(self: KafkaZkClient, ops: Any) -> Any:
        return await self.ask(list(ops))

    assert writes_of_a_replaced_controller() == []
    monkeypatch.setattr(KafkaZkClient, "write", unfenced)
    assert "controller_fence" in {violation.invariant for violation in writes_of_a_replaced_controller()}


def a_request_for_an_earlier_life() -> list[Violation]:
    """A broker whose epoch is 70 receives a StopReplica with delete; the request was meant for its incarnation of epoch
    69."""
    bench = Bench()
    bench.control.broker_epoch = 70
    checkers = Checkers(bench.trace, ["broker_epoch_fence", "refused_changes_nothing"])
    bench.trace.emit(BrokerRegistered, ME, 70)
    bench.trace.anchor(ControlRequest, "StopReplica", 9, ME, 1, 69, 1, "")
    stop(bench, True, 1, 69)
    return checkers.finish()


def test_a_broker_that_acts_before_it_looks_at_its_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    fence = ControlHandler._fence

    def late(self: ControlHandler, request: Any) -> Errors:
        self._manager.stop_replicas(request)
        return fence(self, request)

    monkeypatch.setattr(ControlHandler, "_fence", late)
    assert [violation.invariant for violation in a_request_for_an_earlier_life()] == ["refused_changes_nothing"]


def test_a_broker_that_does_not_look_at_its_epoch(monkeypatch: pytest.MonkeyPatch) -> None:
    assert a_request_for_an_earlier_life() == []
    monkeypatch.setattr(ControlHandler, "_fence", lambda _self, _request: Errors.NONE)
    assert [violation.invariant for violation in a_request_for_an_earlier_life()] == ["broker_epoch_fence"]
