"""C79, C81, C83, C85: topics are deleted, and what disturbs it (Kafka 2.3.1: DeleteTopicTest,
TopicDeletionManagerTest)."""

import pytest

from controller.policies import ControllerPolicies
from controller.states import PartitionState, ReplicaState
from emulator.gates import Edge
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
ADDED = TopicPartition("orders", 1)
R = ReplicaState
GATES = (
    "delete.queue", "delete.partitions", "delete.metadata", "delete.dead", "delete.offline", "delete.start",
    "delete.answer", "delete.forget", "delete.znodes", "delete.config", "delete.entry",
)  # fmt: skip
"""All of a deletion that nothing disturbs, in order."""


async def expand(lab: Lab, topic: str, assignment: dict[int, tuple[int, ...]]) -> None:
    """As the tool does it: without a check whether the topic is being deleted."""
    await lab.operator.set(znodes.topic_path(topic), znodes.encode_topic(assignment))
    await lab.settle()


def states(lab: Lab, topic: str = "orders") -> list[ReplicaState]:
    context = lab.active.context
    return [context.replica_state(*replica) for replica in context.replicas_of(topic)]


def deleted_on(notes: Notes) -> list[int]:
    return [b for b, lines in notes.requests().items() if any(line.startswith("StopReplica delete") for line in lines)]


# -- C79 --------------------------------------------------------------------------------------------------------------


def test_C79_delete_topic_with_all_alive_replicas() -> None:
    """The topic's znode, its entry and its configuration are gone, every replica was sent StopReplica with deletion,
    and the controller's memory has nothing of it. A topic of that name can be created again."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.delete_topic("orders")
        context = lab.active.context
        assert lab.is_gone("orders")
        assert deleted_on(notes) == [0, 1, 2]
        assert notes.steps() == [f"{g} {edge}" + (f" broker {b}" if b >= 0 else "") for g, edge, b in visits()]
        assert (context.assignments, context.leadership_info) == ({}, {})
        assert (context.partition_states, [*filter(None, context.replica_states.values())]) == ({}, [])
        await lab.create_topic("orders", {0: (2, 0, 1)})
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch) == (2, 0)
        await lab.delete_topic("orders")
        assert lab.is_gone("orders")

    def visits() -> list[tuple[str, str, int]]:
        order = [(g, b) for g in GATES for b in ((2, 0, 1) if g == "delete.answer" else (-1,))]
        return [(g, edge, b) for g, b in order for edge in ("before", "after")]

    run(test)


def test_C79_basic_deletion() -> None:
    """Partitions leave their state machine before the replicas do; then answers come in one by one."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (1, 2, 0)})
        c = lab.active
        seen: list[tuple[PartitionState, list[ReplicaState]]] = []
        lab.at_gate("delete.metadata", "before", lambda _: seen.append((c.context.partition_state(TP), states(lab))))
        lab.at_gate("delete.start", "after", lambda _: seen.append((c.context.partition_state(TP), states(lab))))
        lab.at_gate("delete.forget", "before", lambda _: seen.append((c.context.partition_state(TP), states(lab))))
        await lab.delete_topic("orders")
        gone = PartitionState.NON_EXISTENT
        assert seen == [
            (gone, [R.ONLINE] * 6), (gone, [R.DELETION_STARTED] * 6), (gone, [R.DELETION_SUCCESSFUL] * 6),
        ]  # fmt: skip

    run(test)


def test_C79_delete_topic_that_does_not_exist() -> None:
    """The entry is dropped; other topics are left alone."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.delete_topic("payments")
        assert lab.data(znodes.delete_topic_path("payments")) is None
        assert notes.steps() == []
        assert notes.requests() == {}
        assert lab.state(TP).leader == 0

    run(test)


def test_C79_resume_delete_topic_with_recovered_follower() -> None:
    """A dead replica: the live ones are deleted, the topic waits and goes when the broker is back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        victim = next(b for b in (2, 1) if b != lab.active.id)
        lab.nodes[victim].crash("process")
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        await lab.delete_topic("orders")
        assert deleted_on(notes) == [b for b in (0, 1, 2) if b != victim]
        assert not lab.is_gone("orders")
        assert lab.active.context.deletions.ineligible == {"orders": None}
        assert states(lab).count(R.DELETION_SUCCESSFUL) == 2
        lab.restart(victim)
        await lab.settle()
        assert lab.is_gone("orders")
        assert deleted_on(notes) == [0, 1, 2]

    run(test, brokers=4)


def test_C79_a_replica_that_cannot_be_deleted() -> None:
    """A broker that answers with an error: its replica becomes ineligible, the topic waits, also when the
    request as a whole fails; when the broker starts again it is retried, and the others are not deleted twice."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        victim = next(b for b in (2, 1) if b != lab.active.id)
        lab.undeletable[victim] = None
        await lab.delete_topic("orders")
        assert not lab.is_gone("orders")
        assert lab.active.context.deletions.ineligible == {"orders": None}
        assert sorted(states(lab)) == [R.OFFLINE, R.DELETION_SUCCESSFUL, R.DELETION_SUCCESSFUL]
        del lab.undeletable[victim]
        lab.nodes[victim].crash("process")
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        lab.restart(victim)
        await lab.settle()
        assert lab.is_gone("orders")
        assert deleted_on(notes) == [victim]

    run(test, brokers=4)


def test_C79_a_broker_that_dies_during_the_deletion() -> None:
    """Its replica can no longer be waited for: it is ineligible at once, the topic waits for the broker."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        victim = next(b for b in (2, 1) if b != lab.active.id)
        lab.at_gate("delete.start", "before", lambda _: lab.nodes[victim].crash("process"))
        await lab.delete_topic("orders")
        await lab.pass_time(EXPIRY_US)
        assert not lab.is_gone("orders")
        assert R.DELETION_STARTED not in states(lab)
        lab.restart(victim)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=4)


def test_C79_deletion_disabled() -> None:
    """delete.topic.enable = false: the entry goes, the topic stays; at failover too."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.delete_topic("orders")
        assert lab.data(znodes.delete_topic_path("orders")) is None
        assert notes.requests() == {}
        lab.at_gate("failover.F3", "after", lambda _: lab.zookeeper.seed(znodes.delete_topic_path("orders"), ""))
        lab.nodes[lab.active.id].crash("process")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.delete_topic_path("orders")) is None
        assert lab.state(TP).leader >= 0

    run(test, policies=ControllerPolicies(delete_topics=False))


# -- C81 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge", ["before", "after"])
@pytest.mark.parametrize("gate", GATES)
def test_C81_resume_delete_topic_on_controller_failover(gate: str, edge: Edge) -> None:
    """The controller dies at any step, and a replica's broker with it where it has one: the next one finishes."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (1, 2, 0)})
        first = lab.active.id
        died = lab.at_gate(gate, edge, lambda at: at.process.node.crash("process"))
        await lab.delete_topic("orders")
        await lab.pass_time(EXPIRY_US)
        assert died
        assert lab.active.id != first
        done_before = (gate, edge) == ("delete.entry", "after")
        assert lab.is_gone("orders") == (done_before or gate in ("delete.config", "delete.entry") or gone_by_then())
        lab.restart(first)
        await lab.settle()
        assert lab.is_gone("orders")
        assert lab.active.context.assignments == {}

    def gone_by_then() -> bool:
        """Whether only the entry or the configuration was left to delete: no broker is needed."""
        return (gate, edge) == ("delete.znodes", "after")

    run(test)


@pytest.mark.parametrize("edge", ["before", "after"])
def test_C81_failover_before_a_retry(edge: Edge) -> None:
    """``delete.retry`` comes where a replica could not be deleted: the next controller tries again."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        first = lab.active.id
        victim = next(b for b in (2, 1) if b != first)
        lab.undeletable[victim] = None
        died = lab.at_gate("delete.retry", edge, lambda at: at.process.node.crash("process"))
        await lab.delete_topic("orders")
        del lab.undeletable[victim]
        await lab.pass_time(EXPIRY_US)
        assert died
        lab.restart(first)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=4)


def test_C81_a_replica_is_down_over_the_failover() -> None:
    """Kafka's own case: a follower is down, the controller stops during the deletion; both come back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        first = lab.active.id
        follower = next(b for b in (2, 1) if b != first)
        lab.nodes[follower].crash("process")
        await lab.pass_time(EXPIRY_US)
        lab.at_gate("delete.start", "before", lambda at: at.process.node.crash("process"))
        await lab.delete_topic("orders")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.delete_topic_path("orders")) is not None
        lab.restart(first)
        lab.restart(follower)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=4)


# -- C83 --------------------------------------------------------------------------------------------------------------


def test_C83_increase_partition_count_during_delete_topic() -> None:
    """A replica is down, the deletion waits; partitions are added (and taken back), the controller changes:
    all goes when the brokers are back, and no partition that was added was ever led."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        first = lab.active.id
        follower = next(b for b in (2, 1) if b != first)
        lab.nodes[follower].crash("process")
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        await expand(lab, "orders", {0: (0, 1, 2), 1: (1, 2, 0)})
        assert list(znodes.decode_topic(lab.data(znodes.topic_path("orders")) or "")) == [0]
        lab.nodes[first].crash("process")
        await lab.pass_time(EXPIRY_US)
        lab.restart(follower)
        lab.restart(first)
        await lab.settle()
        assert lab.is_gone("orders")
        assert never_led(lab, ADDED)

    run(test, brokers=4)


def never_led(lab: Lab, tp: TopicPartition) -> bool:
    return all(event.path != znodes.state_path(tp) for event in lab.of(ZkWritten))


def test_C83_partitions_added_while_the_controller_is_away() -> None:
    """The next controller finds the added partition: it deletes it with the others, without ever electing."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        first = lab.active.id
        lab.at_gate("delete.start", "after", lambda at: at.process.node.crash("process"))
        await lab.operator.create(znodes.delete_topic_path("orders"))
        await expand(lab, "orders", {0: (0, 1, 2), 1: (1, 2, 0)})
        await lab.pass_time(EXPIRY_US)
        lab.restart(first)
        await lab.settle()
        assert lab.is_gone("orders")
        assert never_led(lab, ADDED)

    run(test)


def test_C83_add_partition_during_delete_topic() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.operator.create(znodes.delete_topic_path("orders"))
        await expand(lab, "orders", {0: (0, 1, 2), 1: (0, 1, 2), 2: (0, 1, 2)})
        assert lab.is_gone("orders")
        assert never_led(lab, ADDED)

    run(test)


def test_C83_delete_topic_during_add_partition() -> None:
    """Partitions are added while one of their replicas is down; the topic goes with them when it is back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        follower = next(b for b in (2, 1) if b != lab.active.id)
        lab.nodes[follower].crash("process")
        await lab.pass_time(EXPIRY_US)
        await expand(lab, "orders", {0: (0, 1, 2), 1: (0, 1, 2), 2: (0, 1, 2)})
        notes = Notes(lab)
        await lab.delete_topic("orders")
        lab.restart(follower)
        await lab.settle()
        assert lab.is_gone("orders")
        for broker in (0, 1, 2):
            told = [line for line in notes.requests()[broker] if line.startswith("StopReplica delete")]
            assert told == ["StopReplica delete orders-0; orders-1; orders-2"]

    run(test, brokers=4)


# -- C85 --------------------------------------------------------------------------------------------------------------


def test_C85_deleting_partially_deleted_topic() -> None:
    """The controller before has deleted the znodes of some partitions and died: the next one completes."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (1, 2, 0)})
        await lab.operator.delete(znodes.state_path(TP))
        await lab.operator.delete(znodes.partition_path(TP))
        await lab.operator.create(znodes.delete_topic_path("orders"))
        lab.nodes[lab.active.id].crash("process")
        await lab.settle()
        for broker in [b for b, node in lab.nodes.items() if not node.running]:
            lab.restart(broker)
        await lab.pass_time(EXPIRY_US)
        assert lab.is_gone("orders")

    run(test)
