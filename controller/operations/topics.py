"""New topics and new partitions (kafka-behaviour §4; the page's onNewTopicCreation and onNewPartitionCreation)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from controller.states.names import PartitionState, ReplicaState
from controller.steps import Procedure, labels_of
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

NEW_PARTITION = Procedure.numbered(
    "new-partition",
    "new partitions become NewPartition",
    "their replicas become NewReplica",
    "the partitions become OnlinePartition",
    "their replicas become OnlineReplica",
)

Assignment = dict[int, tuple[int, ...]]

log = structlog.get_logger("controller.topics")


async def changed(c: "Controller") -> None:
    """Take up topics that are new in ZooKeeper, forget those that are gone."""
    names = dict.fromkeys(await c.store.topics())
    new = [topic for topic in names if topic not in c.context.assignments]
    gone = [topic for topic in c.context.assignments if topic not in names]
    for topic in new:
        c.watches.topic(topic)
    assignments = await c.store.assignments(new)
    for topic in gone:
        c.context.remove_topic(topic)
        c.watches.forget(znodes.topic_path(topic))
    await _create(c, assignments)


async def modified(c: "Controller", topic: str) -> None:
    """Take up partitions that a topic has got since. Changed replica lists are not looked at: they are the
    controller's own writes, or an operator's mistake that Kafka ignores too."""
    known = c.context.assignments.get(topic)
    if known is None:
        return  # Deleted, and made again before this was heard: new topics are taken up as such.
    assignment = (await c.store.assignments([topic])).get(topic, {})
    new = {partition: replicas for partition, replicas in assignment.items() if partition not in known}
    if c.context.is_deleting(topic):
        await _undo(c, topic, assignment, new)
    else:
        await _create(c, {topic: new})


async def _undo(c: "Controller", topic: str, assignment: Assignment, new: Assignment) -> None:
    """A topic that is to be deleted gets no partitions any more: leave it those that ever had a leader."""
    if new:
        log.warning("no partitions are added to a topic that is being deleted", topic=topic, partitions=list(new))
        existing = await c.store.partitions_with_znodes(topic)
        await c.store.write_assignment(topic, {p: replicas for p, replicas in assignment.items() if p in existing})


async def _create(c: "Controller", assignments: dict[str, Assignment]) -> None:
    new = [TopicPartition.of(topic, partition) for topic, added in assignments.items() for partition in added]
    for tp in new:
        c.context.assign(tp, assignments[tp.topic][tp.partition])
    if new:
        await create_partitions(c, new)


async def create_partitions(c: "Controller", new: Sequence[TopicPartition]) -> None:
    """Four steps. A partition of which no replica lives stays new until a broker comes up."""
    replicas = [(tp, broker) for tp in new for broker in c.context.replicas(tp)]
    labels = labels_of(new)
    async with c.step("new-partition.1", *labels):
        await c.partitions.handle(new, PartitionState.NEW)
    async with c.step("new-partition.2", *labels):
        await c.replicas.handle(replicas, ReplicaState.NEW)
    async with c.step("new-partition.3", *labels):
        await c.partitions.handle(new, PartitionState.ONLINE)
    async with c.step("new-partition.4", *labels):
        await c.replicas.handle(replicas, ReplicaState.ONLINE)
