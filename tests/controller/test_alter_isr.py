"""AlterIsr at the controller: checks, writes, answers and UpdateMetadata (KafkaController.processAlterIsr, 2.7.2)."""

from typing import Any

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.zk_client import KafkaZkClient
from emulator.protocol.alter_isr import AlterIsrPartition, AlterIsrRequest
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveFinished
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper import SessionExpired
from tests.controller.lab import Lab, run

TP, ELSEWHERE = TopicPartition("orders", 0), TopicPartition("bills", 0)
POLICIES = ControllerPolicies(reassignment=Kip455(watches_isr=False), pinned=5)


def request(lab: Lab, isr: tuple[int, ...], tp: TopicPartition = TP, **changes: Any) -> AlterIsrRequest:
    """As the leader of ``TP`` would ask, but for ``changes``."""
    state = lab.state(TP)
    asked = {"leader_epoch": state.leader_epoch, "zk_version": state.zk_version} | changes
    epoch = asked.pop("broker_epoch", lab.active.context.brokers[state.leader])
    return AlterIsrRequest(state.leader, epoch, (AlterIsrPartition(tp, isr=isr, **asked),))


def test_the_isr_is_written_answered_and_told_to_every_broker() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.received.clear()
        response = await lab.ask(request(lab, (0, 2)))
        await lab.settle()
        [(tp, error, state)] = response.partitions
        assert (tp, error, state.isr, state.zk_version) == (TP, Errors.NONE, (0, 2), 1)
        assert (lab.state(TP).isr, lab.state(TP).leader_epoch, lab.state(TP).zk_version) == ((0, 2), 0, 1)
        assert lab.active.context.leadership_info[TP].zk_version == 1
        told = {broker: r for broker, r in lab.received if isinstance(r, UpdateMetadataRequest)}
        assert len(told) == len(lab.received) == 6
        assert all(r.partitions[0].isr == (0, 2) for r in told.values())

    run(test, brokers=6, policies=POLICIES, joins=False)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"leader_epoch": -1}, Errors.FENCED_LEADER_EPOCH),
        ({"zk_version": 7}, Errors.INVALID_UPDATE_VERSION),
        ({"tp": ELSEWHERE}, Errors.UNKNOWN_TOPIC_OR_PARTITION),
    ],
)
def test_what_comes_too_late_is_refused(changes: dict[str, Any], error: Errors) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        response = await lab.ask(request(lab, (0, 2), **changes))
        await lab.settle()
        assert (response.error, response.partitions[0][1:]) == (Errors.NONE, (error, None))
        assert (lab.state(TP).isr, lab.state(TP).zk_version) == ((0, 1, 2), 0)

    run(test, brokers=6, policies=POLICIES, joins=False)


def test_what_is_so_already_is_answered_without_a_write() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        response = await lab.ask(request(lab, (0, 1, 2), zk_version=99))
        [(_tp, error, state)] = response.partitions
        assert (error, state.zk_version, lab.state(TP).zk_version) == (Errors.NONE, 0, 0)

    run(test, brokers=6, policies=POLICIES, joins=False)


def test_an_earlier_incarnation_and_a_controller_that_is_none_are_told_so() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        stale = lab.active.context.brokers[0] - 1
        assert (await lab.ask(request(lab, (0,), broker_epoch=stale))).error is Errors.STALE_BROKER_EPOCH
        assert (await lab.ask(request(lab, (0,)), broker=3)).error is Errors.NOT_CONTROLLER
        assert lab.state(TP).isr == (0, 1, 2)

    run(test, brokers=6, policies=POLICIES, joins=False)


def test_a_move_that_waits_for_this_isr_goes_on_without_a_watch() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.alter({TP: (0, 2)})
        assert not lab.of(MoveFinished)
        await lab.write_isr(TP, (0, 1, 2))
        assert not lab.of(MoveFinished), "nobody looks"
        lab.active.context.leadership_info[TP] = lab.state(TP)
        response = await lab.ask(request(lab, (0, 2, 1)))
        await lab.settle()
        assert response.partitions[0][1] is Errors.NONE
        assert [event.partition for event in lab.of(MoveFinished)] == [0]
        assert (lab.assignment(TP), lab.state(TP).isr) == ((0, 2), (0, 2))

    run(test, brokers=6, policies=POLICIES, joins=False)


FENCING = evolve(POLICIES, fences_isrs=True, refuses_dead_in_isr=True)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"leader_epoch": 3}, Errors.FENCED_LEADER_EPOCH),
        ({"leader_epoch": 5}, Errors.NOT_CONTROLLER),
        ({"zk_version": 3}, Errors.INVALID_UPDATE_VERSION),
        ({"zk_version": 5}, Errors.NOT_CONTROLLER),
        ({"isr": (0, 7)}, Errors.INELIGIBLE_REPLICA),
        ({"isr": (0, 1, 2), "zk_version": 3}, Errors.NONE),
    ],
)
def test_since_kafka_14154_only_a_leader_that_knows_what_the_controller_knows_gets_another_isr(
    changes: dict[str, Any], error: Errors
) -> None:
    """Without a write, and so without ZooKeeper, which is ahead of both here."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.active.context.leadership_info[TP] = LeaderAndIsr(0, 4, (0, 1, 2), 1, 4)
        asked: dict[str, Any] = {"isr": (0, 2), "leader_epoch": 4, "zk_version": 4} | changes
        response = await lab.ask(request(lab, asked.pop("isr"), **asked))
        await lab.settle()
        assert (response.error, response.partitions[0][1]) == (Errors.NONE, error)
        assert lab.state(TP).zk_version == 0

    run(test, brokers=6, policies=FENCING, joins=False)


@pytest.mark.parametrize(("policies", "error"), [(POLICIES, Errors.NONE), (FENCING, Errors.INELIGIBLE_REPLICA)])
def test_since_kafka_14140_no_isr_has_a_broker_that_shuts_down(policies: ControllerPolicies, error: Errors) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.active.context.shutting_down[2] = None
        response = await lab.ask(request(lab, (0, 2)))
        assert response.partitions[0][1] is error

    run(test, brokers=6, policies=policies, joins=False)


def test_a_leader_that_recovers_writes_that_it_has() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        state = evolve(lab.state(TP), recovering=True)
        await lab.operator.set(state_path(TP), state.encode())
        lab.active.context.leadership_info[TP] = evolve(state, zk_version=1)
        response = await lab.ask(request(lab, (0, 1, 2)))
        assert response.partitions[0][1] is Errors.NONE
        assert (lab.state(TP).recovering, lab.state(TP).zk_version) == (False, 2)

    run(test, brokers=6, policies=FENCING, joins=False)


@pytest.mark.parametrize("singly", [False, True])
def test_an_isr_that_is_not_written_as_the_session_has_expired(singly: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(_zk_client: KafkaZkClient, _states: object) -> object:
        raise SessionExpired("/brokers/topics")

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        monkeypatch.setattr(KafkaZkClient, "write_states", fail)
        response = await lab.ask(request(lab, (0, 2)))
        refused = [(each, error) for each, error, _state in response.partitions]
        if singly:
            assert (response.error, refused) == (Errors.NONE, [(TP, Errors.UNKNOWN_SERVER_ERROR)])
        else:
            assert (response.error, refused) == (Errors.UNKNOWN_SERVER_ERROR, [])

    run(test, brokers=6, policies=evolve(POLICIES, refuses_isrs_singly=singly), joins=False)
