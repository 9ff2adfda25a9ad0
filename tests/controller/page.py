"""The controller page, row by row: its transitions and operations, and how a test brings each about.

An item is set up, then done; what the controller writes and sends in between is what the page says of it. The
partition is orders-0 on brokers 0, 1 and 2, led by 0; the controller is broker 3, which has no replica of it.
"""

from collections.abc import Awaitable, Callable

from attrs import frozen

from controller.move import Move
from controller.states import PartitionState, ReplicaState
from emulator.protocol import znodes
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab

TP = TopicPartition("orders", 0)
BROKERS, CONTROLLER = 6, 3
Act = Callable[[Lab], Awaitable[object]]
P, R = PartitionState, ReplicaState


@frozen
class Item:
    """One transition or operation.

    Attributes:
        name: that of its golden file.
        differs: where Kafka's code (release 2.3) does something else than the page says; empty where it does not.
    """

    name: str
    set_up: Act
    do: Act
    differs: str = ""


async def orders(lab: Lab) -> None:
    await lab.create_topic("orders", {0: (0, 1, 2)})


# -- transitions of the partition ---------------------------------------------------------------------------------


def partition_in(state: PartitionState) -> Act:
    """In the controller's memory; a partition that is new or was never there has no state znode."""

    async def set_up(lab: Lab) -> None:
        await orders(lab)
        context = lab.active.context
        context.partition_states[TP] = state
        if state in (P.NEW, P.NON_EXISTENT):
            await lab.operator.delete(znodes.state_path(TP))
            del context.leadership_info[TP]

    return set_up


def partition_to(state: PartitionState, selector: str = "offline") -> Act:
    """``selector``: by its role among those of the policies."""

    async def do(lab: Lab) -> None:
        await lab.active.partitions.handle_state_changes([TP], state, getattr(lab.policies.selectors, selector))
        await lab.settle()

    return do


async def leader_gone(lab: Lab) -> None:
    """The leader's broker is out of the controller's memory, the partition offline."""
    await partition_in(P.OFFLINE)(lab)
    lab.active.context.remove_brokers([0])


async def in_sync_at_its_target(lab: Lab) -> None:
    """On its way to brokers 4, 1 and 2; the leader is not among them."""
    await orders(lab)
    await lab.write_isr(TP, (0, 1, 2, 4))
    context, target = lab.active.context, (4, 1, 2)
    context.assign(TP, target)
    context.reassignments[TP] = Move(TP, target, step_target=target)


async def led_by_another(lab: Lab) -> None:
    """By broker 1, though 0 is preferred and in sync."""
    await orders(lab)
    state = lab.state(TP)
    await lab.operator.set(znodes.state_path(TP), znodes.LeaderAndIsr(1, 1, state.isr, 1).encode(), state.zk_version)
    lab.active.context.leadership_info[TP] = lab.state(TP)


async def leader_going_down(lab: Lab) -> None:
    await orders(lab)
    lab.active.context.shutting_down[0] = None


TOLD = "the broker that goes is told who leads (KAFKA-7482)"
PARTITION_TRANSITIONS = (
    Item("partition-nonexistent-to-new", partition_in(P.NON_EXISTENT), partition_to(P.NEW)),
    Item("partition-new-to-online", partition_in(P.NEW), partition_to(P.ONLINE)),
    Item("partition-offline-to-online", leader_gone, partition_to(P.ONLINE)),
    Item("partition-online-to-online-reassigned", in_sync_at_its_target, partition_to(P.ONLINE, "reassigned")),
    Item("partition-online-to-online-preferred", led_by_another, partition_to(P.ONLINE, "preferred")),
    Item("partition-online-to-online-shutdown", leader_going_down, partition_to(P.ONLINE, "controlled_shutdown"), TOLD),
    Item("partition-new-to-offline", partition_in(P.NEW), partition_to(P.OFFLINE)),
    Item("partition-online-to-offline", partition_in(P.ONLINE), partition_to(P.OFFLINE)),
    Item("partition-offline-to-nonexistent", partition_in(P.OFFLINE), partition_to(P.NON_EXISTENT)),
)


# -- transitions of the replica on broker 2 -----------------------------------------------------------------------


def replica_in(state: ReplicaState) -> Act:
    async def set_up(lab: Lab) -> None:
        await orders(lab)
        lab.active.context.set_replica_states(2, [TP], state)

    return set_up


def replica_to(state: ReplicaState) -> Act:
    async def do(lab: Lab) -> None:
        await lab.active.replicas.handle_state_changes([(TP, 2)], state)
        await lab.settle()

    return do


async def not_yet_assigned(lab: Lab) -> None:
    """It has been started, and is not in the list of assigned replicas."""
    await replica_in(R.NEW)(lab)
    lab.active.context.assign(TP, (0, 1))


async def replica_deleted(lab: Lab) -> None:
    await lab.active.replicas.delete([(TP, 2)])
    await lab.settle()


SHRUNK = "the shrunk ISR is told to all other replicas, on the page to the leader"
REPLICA_TRANSITIONS = (
    Item("replica-nonexistent-to-new", replica_in(R.NON_EXISTENT), replica_to(R.NEW)),
    Item("replica-new-to-online", not_yet_assigned, replica_to(R.ONLINE)),
    Item("replica-online-to-online", replica_in(R.ONLINE), replica_to(R.ONLINE)),
    Item("replica-offline-to-online", replica_in(R.OFFLINE), replica_to(R.ONLINE)),
    Item("replica-new-to-offline", replica_in(R.NEW), replica_to(R.OFFLINE), SHRUNK),
    Item("replica-online-to-offline", replica_in(R.ONLINE), replica_to(R.OFFLINE), SHRUNK),
    Item("replica-offline-to-nonexistent", replica_in(R.OFFLINE), replica_deleted),
)


# -- operations ---------------------------------------------------------------------------------------------------


async def nothing(lab: Lab) -> None:
    """A cluster without topics."""


async def create_two_partitions(lab: Lab) -> None:
    await lab.create_topic("orders", {0: (1, 2), 1: (2, 0)})


async def add_a_partition(lab: Lab) -> None:
    await lab.operator.set(znodes.topic_path("orders"), znodes.encode_topic({0: (0, 1, 2), 1: (1, 2)}))
    await lab.settle()


async def crash(lab: Lab, *brokers: int) -> None:
    for broker in brokers:
        lab.nodes[broker].crash()
    await lab.pass_time(EXPIRY_US)


async def leader_dies(lab: Lab) -> None:
    await crash(lab, 0)


async def follower_dies(lab: Lab) -> None:
    await crash(lab, 2)


async def orders_without_0(lab: Lab) -> None:
    """And a partition whose only replica is on broker 0."""
    await orders(lab)
    await lab.create_topic("alone", {0: (0,)})
    await crash(lab, 0)


async def broker_0_starts(lab: Lab) -> None:
    lab.restart(0)
    await lab.pass_time(EXPIRY_US)


async def move_of_two(lab: Lab) -> None:
    await lab.reassign({TP: (1, 4, 5)})


async def waiting_for_5(lab: Lab) -> None:
    """A move to a dead broker has begun."""
    await orders(lab)
    await crash(lab, 5)
    await lab.reassign({TP: (1, 4, 5)})


async def broker_5_starts(lab: Lab) -> None:
    lab.restart(5)
    await lab.pass_time(EXPIRY_US)


async def orders_and_a_move(lab: Lab) -> None:
    """Two partitions; a move waits for a dead broker; a follower dies together with the controller."""
    await lab.create_topic("orders", {0: (0, 1, 2), 1: (1, 2)})
    await crash(lab, 5)
    await lab.reassign({TopicPartition("orders", 1): (1, 5)})


async def controller_dies(lab: Lab) -> None:
    await crash(lab, CONTROLLER, 2)


async def asks_for_preferred(lab: Lab) -> None:
    await lab.operator.create(znodes.PREFERRED_REPLICA_ELECTION, znodes.encode_preferred_election([TP]))
    await lab.settle()


async def led_and_followed_by_0(lab: Lab) -> None:
    await lab.create_topic("orders", {0: (0, 1, 2), 1: (1, 0, 2)})


async def broker_0_asks_to_go(lab: Lab) -> None:
    await lab.ask(ControlledShutdownRequest(0, lab.active.context.brokers[0]))
    await lab.settle()


OPERATIONS = (
    Item("on-new-topic-creation", nothing, create_two_partitions),
    Item("on-new-partition-creation", orders, add_a_partition),
    Item("on-broker-failure-of-a-leader", orders, leader_dies, SHRUNK),
    Item("on-broker-failure-of-a-follower", orders, follower_dies, SHRUNK),
    Item("on-broker-startup", orders_without_0, broker_0_starts),
    Item("on-broker-startup-with-a-move", waiting_for_5, broker_5_starts, SHRUNK),
    Item(
        "on-partition-reassignment", orders, move_of_two, f"step 7 tells OAR and RAR where the leader stays; {SHRUNK}"
    ),
    Item("on-preferred-replica-election", led_by_another, asks_for_preferred),
    Item("shutdown-broker", led_and_followed_by_0, broker_0_asks_to_go, f"{TOLD}; {SHRUNK}"),
    Item("on-controller-failover", orders_and_a_move, controller_dies, "dead replicas leave their ISRs (KAFKA-3143)"),
)
