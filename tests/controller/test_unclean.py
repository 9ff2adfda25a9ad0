"""unclean.leader.election.enable, switched on while the cluster runs (KIP-226; kafka-behaviour §4)."""

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from emulator.protocol import znodes
from emulator.protocol.events import LeaderElected
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run

ORDERS, LOGS = TopicPartition("orders", 0), TopicPartition("logs", 0)
KEY = "unclean.leader.election.enable"
ON, OFF = {KEY: "true"}, {KEY: "false"}
PINNED_3 = ControllerPolicies(pinned=3)


async def leaderless(lab: Lab) -> None:
    """Two topics whose only replica in sync is down."""
    for tp in (ORDERS, LOGS):
        await lab.create_topic(tp.topic, {0: (0, 1)})
        await lab.write_isr(tp, (0,))
    lab.nodes[0].crash()
    await lab.pass_time(EXPIRY_US)
    assert [lab.state(tp).leader for tp in (ORDERS, LOGS)] == [-1, -1]


async def configure(lab: Lab, entity: str, config: dict[str, str]) -> None:
    """Written to ZooKeeper, and passed to every broker's controller, as brokers do."""
    path = f"/config/{entity}"
    if lab.data(path) is None:
        await lab.operator.create(path, "")
    await lab.operator.set(path, znodes.encode_config(config))
    for controller in lab.controllers.values():
        if controller.process.alive:
            controller.configured(entity, config)
    await lab.settle()


def leaders(lab: Lab) -> list[int]:
    return [lab.state(tp).leader for tp in (ORDERS, LOGS)]


def test_for_one_topic() -> None:
    async def test(lab: Lab) -> None:
        await leaderless(lab)
        await configure(lab, "topics/orders", ON)
        assert leaders(lab) == [1, -1]
        assert [(e.topic, e.unclean) for e in lab.of(LeaderElected)][-1] == ("orders", True)

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_for_all_brokers() -> None:
    async def test(lab: Lab) -> None:
        await leaderless(lab)
        await configure(lab, znodes.ALL_BROKERS, ON)
        assert leaders(lab) == [1, 1]

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_a_topic_s_own_setting_goes_before_that_of_the_brokers() -> None:
    async def test(lab: Lab) -> None:
        await leaderless(lab)
        await configure(lab, "topics/orders", OFF)
        await configure(lab, znodes.ALL_BROKERS, ON)
        assert leaders(lab) == [-1, 1]

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize("config", [OFF, {}, {"min.insync.replicas": "2"}, {KEY: "perhaps"}])
@pytest.mark.parametrize("entity", ["topics/orders", znodes.ALL_BROKERS])
def test_nothing_else_elects(entity: str, config: dict[str, str]) -> None:
    async def test(lab: Lab) -> None:
        await leaderless(lab)
        await configure(lab, entity, config)
        assert leaders(lab) == [-1, -1]

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_switched_off_again_it_elects_nobody() -> None:
    async def test(lab: Lab) -> None:
        await configure(lab, znodes.ALL_BROKERS, ON)
        await configure(lab, znodes.ALL_BROKERS, OFF)
        await leaderless(lab)

    run(test, brokers=4, policies=PINNED_3, joins=False)


def test_the_next_controller_has_the_setting_too() -> None:
    """All controllers get the setting, active or not."""

    async def test(lab: Lab) -> None:
        await configure(lab, znodes.ALL_BROKERS, ON)
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.write_isr(ORDERS, (0,))
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.state(ORDERS).leader == 1

    run(test, brokers=4, policies=PINNED_3, joins=False)


@pytest.mark.parametrize("marks", [False, True])
def test_since_kip_704_a_leader_from_outside_the_isr_recovers(marks: bool) -> None:
    """The mark stays with the next election, until the leader writes."""

    async def test(lab: Lab) -> None:
        await leaderless(lab)
        lab.received.clear()
        await configure(lab, "topics/orders", ON)
        written = lab.data(znodes.state_path(ORDERS)) or ""
        assert ('"version":1,"leader_recovery_state":1,"leader_epoch"' in written) is marks
        told = [r for _, r in lab.received if isinstance(r, LeaderAndIsrRequest)]
        assert [[each.recovering for each in r.partitions] for r in told] == [[marks]]
        lab.nodes[1].crash()
        await lab.pass_time(EXPIRY_US)
        assert (lab.state(ORDERS).leader, lab.state(ORDERS).recovering) == (-1, marks)

    run(test, brokers=4, policies=evolve(PINNED_3, marks_recovering=marks), joins=False)
