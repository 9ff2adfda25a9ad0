"""ReassignPartitionsClusterTest and ControllerIntegrationTest of 2.4.1, as far as the controller alone decides them.

Where Kafka's tests throttle the copy to keep a move open, the leader here lets nobody into the ISR until it is told.
"""

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from emulator.protocol import znodes
from emulator.protocol.assignments import ReassigningReplicas, ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run

ADMIN = znodes.REASSIGN_PARTITIONS
NONE = Errors.NONE
POLICIES = ControllerPolicies(reassignment=Kip455(), pinned=0)
Moves = dict[TopicPartition, tuple[int, ...]]


def orders(partition: int) -> TopicPartition:
    return TopicPartition("orders", partition)


async def catch_up(lab: Lab, *partitions: TopicPartition) -> None:
    """The new replicas of ``partitions`` join their ISRs."""
    for tp in partitions:
        state = lab.state(tp)
        missing = tuple(replica for replica in lab.assignment(tp) if replica not in state.isr)
        await lab.write_isr(tp, (*state.isr, *missing))


def test_C55_partition_reassignment_with_offline_replica_halting_progress() -> None:
    """A target that is down: the leader's epoch is raised, the leader stays, the znode stays."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0,)})
        lab.nodes[1].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.reassign({orders(0): (1,)})
        await lab.pass_time(EXPIRY_US)
        assert (lab.state(orders(0)).leader, lab.state(orders(0)).leader_epoch) == (0, 1)
        assert lab.data(ADMIN) is not None
        assert lab.full_assignment(orders(0)) == ReplicaAssignment((1, 0), (1,), (0,))

    run(test, brokers=2, policies=POLICIES)


EXPAND = ({0: (0, 1), 1: (0, 1), 2: (0, 1)}, {0: (1, 2), 1: (2, 0), 2: (0, 1)})
SHRINK = ({0: (0, 1), 1: (1, 2), 2: (2, 0)}, {0: (0, 1), 1: (1, 0), 2: (0, 1)})
SUBSET = ({0: (0, 1), 1: (1, 2), 2: (2, 0)}, {0: (0, 2), 2: (0, 2)})
MORE_REPLICAS = ({0: (0,), 1: (1, 2, 0)}, {0: (1, 0), 1: (2,)})


@pytest.mark.parametrize("by_api", [False, True], ids=["zk", "api"])
@pytest.mark.parametrize("plan", [EXPAND, SHRINK, SUBSET, MORE_REPLICAS], ids=["expand", "shrink", "subset", "factor"])
def test_C59_expand_cluster_shrink_cluster_move_subset_of_partitions(
    plan: tuple[dict[int, tuple[int, ...]], dict[int, tuple[int, ...]]], by_api: bool
) -> None:
    """Two topics of the same shape; of the second only the last partition moves."""
    before, after = plan

    async def test(lab: Lab) -> None:
        last = max(after)
        for topic in ("orders", "payments"):
            await lab.create_topic(topic, before)
        moves: Moves = {orders(p): target for p, target in after.items()}
        moves[TopicPartition("payments", last)] = after[last]
        await (lab.alter({**moves}) if by_api else lab.reassign(moves))
        await lab.settle()
        for partition, old in before.items():
            assert lab.assignment(orders(partition)) == after.get(partition, old)
            expected = after[last] if partition == last else old
            assert lab.assignment(TopicPartition("payments", partition)) == expected
        assert lab.data(ADMIN) is None
        assert await lab.listed() == {}

    run(test, brokers=3, policies=POLICIES)


def test_C65_trigger_reassignment_on_controller_startup() -> None:
    """The znode is written while all brokers are down: what exists moves or stays, what does not is dropped."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 2)})
        for node in (0, 1, 2):
            lab.nodes[node].crash()
        await lab.pass_time(EXPIRY_US)
        bogus = TopicPartition("customers", 0)
        await lab.reassign({orders(0): (2, 1), orders(1): (1, 2), bogus: (1, 2)})
        for node in (0, 1, 2):
            lab.restart(node)
        await lab.pass_time(EXPIRY_US)
        await lab.settle()
        assert lab.data(ADMIN) is None
        assert (lab.assignment(orders(0)), lab.assignment(orders(1))) == ((2, 1), (1, 2))
        assert lab.assignment(bogus) == ()

    run(test, brokers=3, policies=POLICIES)


def test_C65_the_znode_overrides_the_topics_znodes() -> None:
    """shouldTriggerReassignmentWithZnodePrecedenceOnControllerStartup: the znode decides for partitions that both name;
    the other reassignments go on."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 2), 2: (0, 1), 3: (0, 1)})
        for node in (0, 1, 2):
            lab.nodes[node].crash()
        await lab.pass_time(EXPIRY_US)
        replicas = {0: (0, 1, 2), 1: (1, 2, 0), 2: (0, 1, 2), 3: (0, 1, 2)}
        pairs = [((2,), (0,)), ((0,), (1,)), ((2,), (0,)), ((2,), (0,))]
        reassigning = {number: ReassigningReplicas(*pair) for number, pair in enumerate(pairs)}
        await lab.operator.set(znodes.topic_path("orders"), znodes.encode_topic(replicas, reassigning))
        await lab.reassign({orders(0): (2, 1), orders(1): (1, 2), orders(2): (1, 2)})
        for node in (0, 1, 2):
            lab.restart(node)
        await lab.pass_time(EXPIRY_US)
        assert [lab.assignment(orders(p)) for p in range(4)] == [(2, 1), (1, 2), (1, 2), (1, 2)]
        assert lab.data(ADMIN) is None

    run(test, brokers=3, policies=POLICIES)


def test_C67_list_reassignments_triggered_by_zk() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0,)})
        await lab.reassign({orders(0): (1,)})
        assert await lab.listed(orders(0)) == {orders(0): ReplicaAssignment((1, 0), (1,), (0,))}
        await catch_up(lab, orders(0))
        assert await lab.listed(orders(0)) == {}
        assert lab.assignment(orders(0)) == (1,)

    run(test, brokers=2, policies=POLICIES, joins=False)


def test_C67_list_moving_partitions_through_api() -> None:
    async def test(lab: Lab) -> None:
        other = TopicPartition("payments", 0)
        await lab.create_topic("orders", {0: (0,), 1: (1,)})
        await lab.create_topic("payments", {0: (0,)})
        assert await lab.listed() == {}
        assert await lab.alter({orders(0): (1,), other: (1,)}) == {orders(0): NONE, other: NONE}
        moving = {tp: ReplicaAssignment((1, 0), (1,), (0,)) for tp in (orders(0), other)}
        assert await lab.listed(orders(0), orders(1), other) == await lab.listed() == moving
        await catch_up(lab, orders(0), other)
        assert await lab.listed() == {}
        assert (lab.assignment(orders(0)), lab.assignment(other)) == ((1,), (1,))

    run(test, brokers=2, policies=POLICIES, joins=False)


def test_C69_use_latest_ordering_if_two_consecutive_reassignments_have_same_set_but_different_ordering() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (0, 1)})
        for order in ((0, 1, 2), (2, 1, 0)):
            assert set((await lab.alter({orders(0): order, orders(1): order})).values()) == {NONE}
            listed = await lab.listed()
            assert {tp: assignment.adding for tp, assignment in listed.items()} == {orders(0): (2,), orders(1): (2,)}
            assert [assignment.removing for assignment in listed.values()] == [(), ()]
        await catch_up(lab, orders(0), orders(1))
        assert [lab.assignment(orders(p)) for p in (0, 1)] == [(2, 1, 0), (2, 1, 0)]

    run(test, brokers=3, policies=POLICIES, joins=False)


def test_the_znode_overrides_the_api() -> None:
    """znodeReassignmentShouldOverrideApiTriggeredReassignment."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0,), 1: (0,)})
        await lab.alter({orders(0): (1,), orders(1): (1,)})
        await lab.reassign({orders(0): (2,), orders(1): (2,)})
        moving = ReplicaAssignment((2, 0), (2,), (0,))
        assert await lab.listed() == {orders(0): moving, orders(1): moving}
        await catch_up(lab, orders(0), orders(1))
        assert [lab.assignment(orders(p)) for p in (0, 1)] == [(2,), (2,)]
        assert lab.data(ADMIN) is None

    run(test, brokers=3, policies=POLICIES, joins=False)


def test_C71_delete_reassignment_znode_after_api_reassignment_for_partition_completes() -> None:
    """A partition that the API takes over leaves the znode at once; the znode goes when its last one is done."""

    async def test(lab: Lab) -> None:
        a0, a1, b0 = TopicPartition("A", 0), TopicPartition("A", 1), TopicPartition("B", 0)
        await lab.create_topic("A", {0: (0,), 1: (0,)})
        await lab.create_topic("B", {0: (0,)})
        await lab.reassign({a0: (1,), a1: (1,)})
        assert await lab.alter({a1: (2,), b0: (2,)}) == {a1: NONE, b0: NONE}
        data = lab.data(ADMIN)
        assert data is not None
        assert znodes.decode_reassignment(data) == {a0: (1,)}
        await catch_up(lab, a0)
        assert lab.data(ADMIN) is None
        assert list(await lab.listed()) == [a1, b0]
        await catch_up(lab, a1, b0)
        assert [lab.assignment(tp) for tp in (a0, a1, b0)] == [(1,), (2,), (2,)]
        await lab.reassign({a0: (0,)})
        await catch_up(lab, a0)
        assert lab.assignment(a0) == (0,), "the znode is watched again"

    run(test, brokers=3, policies=POLICIES, joins=False)


def test_C73_cancel_and_set_some_reassignments() -> None:
    """One request that cancels, overrides, begins, and cancels what does not move: only the last is refused."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", dict.fromkeys(range(4), (0,)))
        await lab.alter({orders(0): (1,), orders(1): (1,)})
        answers = await lab.alter({orders(0): None, orders(1): (2,), orders(2): (1,), orders(3): None})
        assert list(answers.values()) == [NONE, NONE, NONE, Errors.NO_REASSIGNMENT_IN_PROGRESS]
        await catch_up(lab, orders(1), orders(2))
        assert [lab.assignment(orders(p)) for p in range(4)] == [(0,), (2,), (1,), (0,)]
        assert [lab.state(orders(p)).isr for p in range(4)] == [(0,), (2,), (1,), (0,)]

    run(test, brokers=3, policies=POLICIES, joins=False)


def test_a_move_by_the_znode_is_cancelled_through_the_api() -> None:
    """shouldBeAbleToCancelZkTriggeredReassignmentThroughApi: the entries leave the znode, and it with them."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0,), 1: (0,)})
        await lab.reassign({orders(0): (1,), orders(1): (1,)})
        assert await lab.alter({orders(0): None, orders(1): None}) == {orders(0): NONE, orders(1): NONE}
        assert lab.data(ADMIN) is None
        assert await lab.listed() == {}
        assert [lab.assignment(orders(p)) for p in (0, 1)] == [(0,), (0,)]

    run(test, brokers=2, policies=POLICIES, joins=False)
