"""What the steps of every protocol are made of."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from controller.reassignment.move import Move
from controller.states.names import PartitionState, ReplicaState
from controller.steps import Label, Step
from emulator.protocol.assignments import Motion
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr

if TYPE_CHECKING:
    from controller.controller import Controller


def step(c: "Controller", name: str, move: Move, *, hop: int = 0) -> Step:
    """One step of one move."""
    return c.step(name, Label(move.tp.topic, move.tp.partition, hop=hop), detail=_list(move.target))


def _list(replicas: Sequence[int]) -> str:
    return "to " + ",".join(map(str, replicas))


async def read_state(c: "Controller", tp: TopicPartition) -> LeaderAndIsr | None:
    """The state znode; reading it arms the watch that ends the protocols' waits."""
    return (await c.store.states([tp])).get(tp)


async def all_in_isr(c: "Controller", tp: TopicPartition, replicas: Sequence[int]) -> bool:
    state = await read_state(c, tp)
    return state is not None and all(replica in state.isr for replica in replicas)


async def write_assignment(
    c: "Controller", tp: TopicPartition, replicas: Sequence[int], motion: Motion | None = None
) -> None:
    """Write a partition's replicas to the topic's znode, beside those of the topic's other partitions in memory.

    ``motion``: AR and RR, under KIP-455.
    """
    assignments, motions = c.context.assignments.get(tp.topic, {}), c.context.motions.get(tp.topic, {})
    await c.store.write_assignment(
        tp.topic,
        {**assignments, tp.partition: tuple(replicas)},
        None if motion is None else {**motions, tp.partition: motion},
    )


async def announce(c: "Controller", tp: TopicPartition, brokers: Sequence[int], replicas: Sequence[int]) -> None:
    """Raise the leader epoch and tell ``brokers`` that the partition's replicas are ``replicas``.

    Raises: StateChangeFailed.
    """
    state = await c.elections.bump_leader_epoch(tp)
    c.batch.begin()
    c.batch.leader_and_isr(brokers, tp, state, tuple(replicas), is_new=False)
    c.batch.send()


async def start_new(c: "Controller", tp: TopicPartition, replicas: Sequence[int]) -> None:
    for replica in replicas:
        await c.replicas.handle([(tp, replica)], ReplicaState.NEW)


async def bring_online(c: "Controller", tp: TopicPartition, replicas: Sequence[int]) -> None:
    for replica in replicas:
        await c.replicas.handle([(tp, replica)], ReplicaState.ONLINE)


def leader_may_stay(c: "Controller", move: Move) -> bool:
    """Is the leader that the controller remembers among ``move.aim``, and up?"""
    leader = c.context.leader(move.tp)
    return leader in move.aim and c.context.is_online(leader, move.tp)


async def move_leader(c: "Controller", move: Move, told_if_it_stays: Sequence[int]) -> None:
    """Elect a leader among ``move.aim`` if the present one is outside or dead; else only raise its epoch.

    An election that finds nobody is logged, and the move goes on.
    """
    tp = move.tp
    if leader_may_stay(c, move):
        await announce(c, tp, told_if_it_stays, move.aim)
    else:
        await elect_in_target(c, tp)


async def elect_in_target(c: "Controller", tp: TopicPartition) -> None:
    await c.partitions.handle([tp], PartitionState.ONLINE, c.policies.selectors.reassigned)


async def go_offline(c: "Controller", tp: TopicPartition, replicas: Sequence[int]) -> None:
    await c.replicas.handle([(tp, replica) for replica in replicas], ReplicaState.OFFLINE)


async def delete(c: "Controller", tp: TopicPartition, replicas: Sequence[int]) -> None:
    await c.replicas.delete([(tp, replica) for replica in replicas])
