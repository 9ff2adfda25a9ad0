"""Topics that are asked to go: which may, which have to wait, and what makes them go on (kafka-behaviour §4).

The tool creates /admin/delete_topics/T. A topic waits while one of its partitions is being moved, and once a
replica could not be deleted, because its broker is down or failed to. It is looked at again when a broker
with one of its replicas starts and when its last move ends. What is done to it then is in
``controller.operations.deletion_steps``.

Source: TopicDeletionManager and KafkaController, Kafka 2.3 and 2.4, which are alike here. Their code waits
for moves less than it means to: see ``ControllerPolicies.deletion_heeds_moves``.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import structlog

from controller.context import Replica
from controller.operations import deletion_steps as steps
from controller.states.names import ReplicaState
from controller.steps import Label
from emulator.protocol import znodes
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

log = structlog.get_logger("controller.deletion")


# -- what is asked for ------------------------------------------------------------------------------------------------


async def load(c: "Controller") -> None:
    """What the controller before has left to do (failover F4). It is begun in F9: see ``resume_all``."""
    if not c.policies.replicas.know_topic_deletion:
        return
    asked = await c.store.deletions()
    if not c.policies.delete_topics:
        await _drop(c, asked)
        return
    moving = _moving(c)
    for topic in asked:
        c.context.queue_deletion(topic)
        if topic in moving or not all(c.context.is_online(broker, tp) for tp, broker in c.context.replicas_of(topic)):
            _halt(c, [topic], "a replica is offline or a partition is being moved")


async def requested(c: "Controller") -> None:
    """/admin/delete_topics changed: queue what it names, drop what does not exist."""
    asked = await c.store.deletions()
    known = {topic: None for topic in asked if topic in c.context.assignments and c.policies.delete_topics}
    await _drop(c, [topic for topic in asked if topic not in known])
    new = [topic for topic in known if not c.context.is_deleting(topic)]
    if new:
        async with c.step("delete.queue", *[Label(topic) for topic in new]):
            for topic in new:
                c.context.queue_deletion(topic)
    if c.policies.deletion_heeds_moves:
        moving = _moving(c)
        _halt(c, [topic for topic in known if topic in moving], "a partition is being moved")
    await _resume(c, list(known))


async def _drop(c: "Controller", topics: Sequence[str]) -> None:
    if topics:
        log.info("not deleted: no such topic, or delete.topic.enable is false", topics=topics)
        await c.store.delete([znodes.delete_topic_path(topic) for topic in topics])


def _moving(c: "Controller") -> dict[str, None]:
    return dict.fromkeys(tp.topic for tp in c.context.moves)


# -- what happens meanwhile -------------------------------------------------------------------------------------------


async def resume_all(c: "Controller") -> None:
    """Begin or go on with everything that may (failover F9)."""
    await _resume(c, list(c.context.deletions.queued))


async def moved(c: "Controller", tp: TopicPartition) -> None:
    """The move of ``tp`` is over: its topic no longer has to wait for it."""
    await _let_go_on(c, [tp.topic])


async def moves_refused(c: "Controller", partitions: Sequence[TopicPartition]) -> None:
    """Moves of topics to be deleted were dropped: a topic that waited for them since failover.F4 can go."""
    if c.policies.deletion_heeds_moves:
        await _let_go_on(c, _topics(partitions))


async def brokers_started(c: "Controller", brokers: Sequence[int]) -> None:
    """Topics with replicas on ``brokers`` need not wait for them."""
    queued = c.context.deletions.queued
    await _let_go_on(c, [t for t in queued if any(broker in brokers for _, broker in c.context.replicas_of(t))])


async def replicas_failed(c: "Controller", replicas: Sequence[Replica]) -> None:
    """``replicas`` are offline or could not be deleted. Those of topics to be deleted stay as they are until
    something lets the topic go on."""
    await _fail(c, [replica for replica in replicas if c.context.is_deleting(replica[0].topic)])


async def answered(
    c: "Controller", broker: int, error: Errors, outcomes: Sequence[tuple[TopicPartition, Errors]]
) -> None:
    """A broker has deleted replicas, or failed to; ``error`` goes for all of them."""
    mine = [(tp, code) for tp, code in outcomes if c.context.is_deleting(tp.topic)]
    if not mine:
        return
    async with c.step("delete.answer", *[Label(topic, broker=broker) for topic in _topics(tp for tp, _ in mine)]):
        await _fail(c, [(tp, broker) for tp, code in mine if (error, code) != (Errors.NONE, Errors.NONE)])
        done = [(tp, broker) for tp, code in mine if (error, code) == (Errors.NONE, Errors.NONE)]
        await c.replicas.handle(done, ReplicaState.DELETION_SUCCESSFUL)
    await _resume(c, _topics(tp for tp, _ in done))


async def _fail(c: "Controller", replicas: Sequence[Replica]) -> None:
    if replicas:
        topics = _topics(tp for tp, _ in replicas)
        await c.replicas.handle(replicas, ReplicaState.DELETION_INELIGIBLE)
        _halt(c, topics, "replicas could not be deleted")
        await _resume(c, topics)


def _topics(partitions: Iterable[TopicPartition]) -> list[str]:
    return list(dict.fromkeys(tp.topic for tp in partitions))


def _halt(c: "Controller", topics: Sequence[str], why: str) -> None:
    if topics:
        log.info("deletion waits", topics=topics, reason=why)
        c.context.deletions.ineligible.update(dict.fromkeys(topics))


# -- going on ---------------------------------------------------------------------------------------------------------


async def _let_go_on(c: "Controller", topics: Sequence[str]) -> None:
    moving = _moving(c) if c.policies.deletion_heeds_moves else {}
    free = [topic for topic in topics if c.context.is_deleting(topic) and topic not in moving]
    for topic in free:
        c.context.deletions.ineligible.pop(topic, None)
    if free:
        await _resume(c, free)


async def _resume(c: "Controller", topics: Sequence[str]) -> None:
    """Look at ``topics`` and at those that are to be tried again. Kafka looks at every queued topic here; the others
    have not changed since it last did, so nothing would come of it."""
    deletions = c.context.deletions
    for topic in list(dict.fromkeys((*deletions.retrying, *topics))):
        if topic in deletions.queued:
            await _look_at(c, topic)


async def _look_at(c: "Controller", topic: str) -> None:
    deletions = c.context.deletions
    failed, under_way, left = _outstanding(c, topic)
    if not left:
        await steps.complete(c, topic)
        return
    if failed and not under_way:
        await steps.retry(c, topic, failed)
    if not under_way and topic not in deletions.ineligible and await steps.start(c, topic):
        _halt(c, [topic], "replicas are offline")
    failed, under_way, _ = _outstanding(c, topic)
    if failed and not under_way:
        deletions.retrying[topic] = None
    else:
        deletions.retrying.pop(topic, None)


def _outstanding(c: "Controller", topic: str) -> tuple[list[Replica], bool, bool]:
    """The replicas that could not be deleted; is any being deleted; is any not deleted yet?"""
    states = [(replica, c.context.replica_state(*replica)) for replica in c.context.replicas_of(topic)]
    failed = [replica for replica, state in states if state is ReplicaState.DELETION_INELIGIBLE]
    under_way = any(state is ReplicaState.DELETION_STARTED for _, state in states)
    return failed, under_way, any(state is not ReplicaState.DELETION_SUCCESSFUL for _, state in states)
