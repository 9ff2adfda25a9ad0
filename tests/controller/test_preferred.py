"""Preferred elections: by the znode, by the API, after a failover (kafka-behaviour §4)."""

import pytest
from attrs import evolve

from controller.operations.rebalance import AutoRebalance
from controller.policies import ControllerPolicies
from emulator.gates import Edge
from emulator.protocol import znodes
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControllerElected, LeaderElected
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, check_golden

TP, OTHER, GONE = (TopicPartition("orders", number) for number in range(3))
PATH = znodes.PREFERRED_REPLICA_ELECTION
BY_HAND = ControllerPolicies(pinned=3, auto_rebalance=AutoRebalance(enabled=False), refuses_needless_elections=True)
PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


async def led_elsewhere(lab: Lab) -> None:
    """orders-0 prefers broker 0, which was down; orders-1 has its preferred leader."""
    await lab.create_topic("orders", {0: (0, 1, 2), 1: (1, 2)})
    lab.nodes[0].crash()
    await lab.pass_time(EXPIRY_US)
    lab.restart(0)
    await lab.pass_time(EXPIRY_US)
    assert lab.state(TP).leader == 1
    await lab.write_isr(TP, (1, 2, 0))


async def ask(lab: Lab, *partitions: TopicPartition) -> None:
    await lab.operator.create(PATH, znodes.encode_preferred_election(partitions))
    await lab.settle()


def test_the_page_has_one_step() -> None:
    """Everything that the operation writes and sends; the ISR stays, and LeaderAndIsr goes to all replicas."""

    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        notes = Notes(lab)
        await ask(lab, TP, OTHER)
        check_golden("preferred-election", notes.text())

    run(test, brokers=4, policies=BY_HAND, joins=False)


@pytest.mark.parametrize(("again", "epoch"), [(False, 0), (True, 1)])
def test_a_partition_that_its_preferred_replica_leads_is_elected_again_before_kip_183(again: bool, epoch: int) -> None:
    """Recorded: 1.1.1 raises the epoch of all partitions that the znode names, 2.3.1 of those led elsewhere."""

    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        await ask(lab, TP, OTHER)
        assert lab.state(TP).leader == 0
        assert (lab.state(OTHER).leader, lab.state(OTHER).leader_epoch) == (1, epoch)

    run(test, brokers=4, policies=evolve(BY_HAND, elects_preferred_again=again), joins=False)


def test_the_znode_goes_also_where_the_election_fails() -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        await lab.write_isr(TP, (1, 2))
        await ask(lab, TP, GONE)
        assert lab.data(PATH) is None
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch) == (1, 1)
        await lab.write_isr(TP, (1, 2, 0))
        await ask(lab, TP)
        assert lab.state(TP).leader == 0

    run(test, brokers=4, policies=BY_HAND, joins=False)


@pytest.mark.parametrize("data", ["", "no JSON", '{"version":1}', '{"partitions":[{"topic":"orders"}]}'])
def test_a_request_that_cannot_be_read_is_dropped(data: str) -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        await lab.operator.create(PATH, data)
        await lab.settle()
        assert lab.data(PATH) is None
        await ask(lab, TP)
        assert lab.state(TP).leader == 0

    run(test, brokers=4, policies=BY_HAND, joins=False)


@pytest.mark.parametrize("edge", ["before", "after"])
def test_the_next_controller_finishes_the_election(edge: Edge) -> None:
    """Its failover.F9 reads the znode: elects if that has not been done, and deletes it."""

    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        epoch = lab.state(TP).leader_epoch
        visits = lab.at_gate("preferred.1", edge, lambda at: at.process.node.crash())
        await ask(lab, TP)
        await lab.pass_time(EXPIRY_US)
        assert len(visits) == 1
        assert [e.controller_epoch for e in lab.of(ControllerElected)] == [1, 2]
        assert lab.data(PATH) is None
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch) == (0, epoch + 1)
        assert len([e for e in lab.of(LeaderElected) if e.selector == "preferred"]) == 1

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_the_api_answers_partition_by_partition() -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        asked = ElectLeadersRequest(PREFERRED, (TP, OTHER, GONE))
        answer = await lab.ask(asked)
        assert answer.error is Errors.NONE
        assert dict(answer.partitions) == {
            TP: Errors.NONE, OTHER: Errors.ELECTION_NOT_NEEDED, GONE: Errors.UNKNOWN_TOPIC_OR_PARTITION
        }  # fmt: skip
        assert lab.state(TP).leader == 0
        assert lab.data(PATH) is None

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_the_api_for_all_partitions_leaves_out_those_without_need() -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        assert (await lab.ask(ElectLeadersRequest(PREFERRED, None))).partitions == ((TP, Errors.NONE),)
        assert (await lab.ask(ElectLeadersRequest(PREFERRED, None))).partitions == ()

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_the_api_says_that_the_preferred_leader_is_not_available() -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        await lab.write_isr(TP, (1, 2))
        answer = await lab.ask(ElectLeadersRequest(PREFERRED, (TP,)))
        assert answer.partitions == ((TP, Errors.PREFERRED_LEADER_NOT_AVAILABLE),)

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_an_unclean_election_can_be_asked_for() -> None:
    """Whatever the settings say; it is not needed where the leader is live, and fails where no replica is live."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1,), 2: (0,)})
        await lab.write_isr(TP, (0,))
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader == -1
        answer = await lab.ask(ElectLeadersRequest(UNCLEAN, (TP, OTHER, GONE)))
        assert dict(answer.partitions) == {
            TP: Errors.NONE, OTHER: Errors.ELECTION_NOT_NEEDED, GONE: Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE
        }  # fmt: skip
        assert (lab.state(TP).leader, lab.state(TP).isr) == (1, (1,))
        assert [(e.selector, e.unclean) for e in lab.of(LeaderElected)][-1] == ("unclean", True)

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_a_broker_that_is_not_the_controller_says_so() -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        for partitions in ((TP,), None):
            answer = await lab.ask(ElectLeadersRequest(PREFERRED, partitions), broker=1)
            assert answer.error is Errors.NOT_CONTROLLER
            assert answer.partitions == tuple((tp, Errors.NOT_CONTROLLER) for tp in partitions or ())
        assert lab.state(TP).leader == 1

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_a_topic_to_be_deleted_elects_nobody() -> None:
    """It waits for a dead replica; neither way of asking has an effect on it."""

    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        assert lab.data("/brokers/topics/orders") is not None
        before = lab.state(TP)
        answer = await lab.ask(ElectLeadersRequest(PREFERRED, (TP,)))
        assert answer.partitions == ((TP, Errors.INVALID_TOPIC_EXCEPTION),)
        await ask(lab, TP)
        assert lab.data(PATH) is None
        assert lab.state(TP) == before

    run(test, brokers=4, policies=BY_HAND, joins=False)


def test_a_partition_that_never_had_a_leader_fails_alone() -> None:
    async def test(lab: Lab) -> None:
        await led_elsewhere(lab)
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.create_topic("logs", {0: (2,)})
        waiting = TopicPartition("logs", 0)
        answer = await lab.ask(ElectLeadersRequest(PREFERRED, (waiting, TP)))
        assert dict(answer.partitions) == {waiting: Errors.LEADER_NOT_AVAILABLE, TP: Errors.NONE}

    run(test, brokers=4, policies=BY_HAND, joins=False)
