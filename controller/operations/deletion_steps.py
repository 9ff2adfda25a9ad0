"""A topic is deleted, in the order of Kafka's TopicDeletionManager (2.3); each step is a gate of its own.

1. ``delete.partitions``: its partitions -> Offline -> NonExistent. Once only; the others are done again at
   each retry.
2. ``delete.metadata``: send UpdateMetadata with leader -2 to every broker: clients no longer find the topic.
3. ``delete.dead``: replicas on dead brokers -> ReplicaDeletionIneligible; with any, the topic waits.
4. ``delete.offline``: live ones -> Offline: StopReplica(keep), and out of the ISR in ZooKeeper, one by one.
5. ``delete.start``: live ones -> ReplicaDeletionStarted: StopReplica(delete).
6. ``delete.answer``: as the brokers answer -> ReplicaDeletionSuccessful, or Ineligible, and the topic waits.
   With none under way and some that failed: ``delete.retry``, those -> Offline; then from 2, once it may.
7. All were successful. ``delete.forget``: replicas -> NonExistent; the topic's znode is no longer watched.
8. ``delete.znodes``: delete /brokers/topics/T with all below it.
9. ``delete.config``: delete /config/topics/T.
10. ``delete.entry``: delete /admin/delete_topics/T, last: a controller that takes over before that begins again.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import structlog

from controller.context import Replica
from controller.states.names import PartitionState, ReplicaState
from controller.steps import Label, Procedure, Step
from emulator.protocol import znodes

if TYPE_CHECKING:
    from controller.controller import Controller

DELETE = Procedure(
    "delete",
    {
        "delete.queue": "the topics that /admin/delete_topics names are queued for deletion",
        "delete.partitions": "the topic's partitions become OfflinePartition, then NonExistentPartition",
        "delete.metadata": "send UpdateMetadata with leader -2 to every broker",
        "delete.dead": "replicas on dead brokers become ReplicaDeletionIneligible: the topic waits for them",
        "delete.offline": "live replicas go Offline and leave the ISR",
        "delete.start": "live replicas become ReplicaDeletionStarted: StopReplica with deletion",
        "delete.answer": "a broker's replicas become ReplicaDeletionSuccessful, or Ineligible",
        "delete.retry": "replicas that could not be deleted go Offline, to be tried again",
        "delete.forget": "all replicas become NonExistentReplica, the topic's znode is no longer watched",
        "delete.znodes": "delete the topic's znode with all below it",
        "delete.config": "delete the topic's configuration",
        "delete.entry": "delete the topic's entry in /admin/delete_topics",
    },
)

log = structlog.get_logger("controller.deletion")


async def start(c: "Controller", topic: str) -> bool:
    """Steps 1 to 5. Returns whether some replicas are dead and have to be deleted later."""
    context = c.context
    partitions, replicas = context.partitions_of(topic), context.replicas_of(topic)
    if topic not in context.deletions.begun:
        async with _step(c, "delete.partitions", topic):
            await c.partitions.handle(partitions, PartitionState.OFFLINE)
            await c.partitions.handle(partitions, PartitionState.NON_EXISTENT)
            context.begin_deletion(topic)
    async with _step(c, "delete.metadata", topic):
        c.send_update_metadata(context.live_or_shutting_down, tuple(partitions))
    dead = [(tp, broker) for tp, broker in replicas if not context.is_online(broker, tp)]
    async with _step(c, "delete.dead", topic):
        await c.replicas.handle(dead, ReplicaState.DELETION_INELIGIBLE)
    left = [(tp, broker) for tp, broker in replicas if context.is_online(broker, tp) and not _deleted(c, (tp, broker))]
    async with _step(c, "delete.offline", topic):
        await c.replicas.handle(left, ReplicaState.OFFLINE)
    async with _step(c, "delete.start", topic):
        await c.replicas.handle(left, ReplicaState.DELETION_STARTED)
    return bool(dead)


def _deleted(c: "Controller", replica: Replica) -> bool:
    return c.context.replica_state(*replica) is ReplicaState.DELETION_SUCCESSFUL


async def retry(c: "Controller", topic: str, failed: Sequence[Replica]) -> None:
    """Make replicas that could not be deleted ready for the next attempt; it comes once the topic may go on."""
    async with _step(c, "delete.retry", topic):
        await c.replicas.handle(failed, ReplicaState.OFFLINE)


async def complete(c: "Controller", topic: str) -> None:
    """Steps 7 to 10. The topic may be gone from ZooKeeper already, but for its entry."""
    async with _step(c, "delete.forget", topic):
        c.watches.forget(znodes.topic_path(topic))
        await c.replicas.handle(c.context.replicas_of(topic), ReplicaState.NON_EXISTENT)
        c.context.deletions.discard(topic)
    async with _step(c, "delete.znodes", topic):
        await c.store.delete_tree(znodes.topic_path(topic))
    async with _step(c, "delete.config", topic):
        await c.store.delete([f"{znodes.CONFIG_TOPICS}/{topic}"])
    async with _step(c, "delete.entry", topic):
        await c.store.delete([znodes.delete_topic_path(topic)])
    c.context.remove_topic(topic)
    log.info("topic deleted", topic=topic)


def _step(c: "Controller", name: str, topic: str) -> Step:
    return c.step(name, Label(topic))
