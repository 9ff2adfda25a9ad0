"""TopicCommand up to 2.1, kafka-topics --zookeeper: it writes its requests into ZooKeeper. The checks are those that
brokers make for kafka-topics --bootstrap-server (AdminManager), which come to the same.

Each command answers with Kafka's error code, and has then written nothing.
"""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

from brokers.topic_creation import AdminZkClient
from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.placement import place_replicas
from emulator.protocol.znodes import (
    BROKER_IDS,
    CONFIG_TOPICS,
    REASSIGN_PARTITIONS,
    TOPIC_IDS,
    Reassigning,
    decode_reassigning,
    decode_topic,
    decode_topic_id,
    delete_topic_path,
    encode_config,
    encode_topic,
    random_topic_id,
    topic_entity,
    topic_path,
)
from emulator.zookeeper import NodeExists, NoNode
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools.command_outcome import DONE, CommandOutcome
from scenarios.cluster.clients.tools.config_command import announce, why_not

Assignment = Mapping[int, tuple[int, ...]]
Moving = Callable[[Operator, str], Awaitable[bool]]
"""Whether a move is in progress that forbids adding partitions to a topic, whose znode is given."""


async def create(
    operator: Operator, topic: str, assignment: Assignment, config: Mapping[str, str], announced: bool = False
) -> CommandOutcome:
    """--create: the configuration first, then the assignment, which wakes the controller. The configuration that an
    earlier topic of that name has left is overwritten.

    ``announced``: the brokers are notified of the configuration, as by CreateTopics here. Kafka's read it when they
    open a log; ours know what the topics of a scenario file have.
    """
    try:
        admin = AdminZkClient(operator.process, operator.zk, refuses_marked=operator.refuses_marked)
        await admin.validate_topic_create(topic, assignment)
    except ApiException as refused:
        code, why = refused.error
        return _refused(topic if code is Errors.TOPIC_ALREADY_EXISTS else why or topic, code)
    why = why_not(config)
    if why:
        return _refused(why, Errors.INVALID_CONFIG)
    await _write(operator, f"{CONFIG_TOPICS}/{topic}", encode_config(config))
    if announced:
        await announce(operator, topic_entity(topic))
    await operator.zk.create_parents(topic_path(topic))
    try:
        await operator.zk.create(topic_path(topic), _encoded(operator, assignment, {}, _new_id(operator)))
    except NodeExists:
        return _refused(topic, Errors.TOPIC_ALREADY_EXISTS)
    return DONE


def _encoded(operator: Operator, assignment: Assignment, reassigning: Reassigning, topic_id: str) -> str:
    version = operator.topic_version
    return encode_topic(assignment, reassigning if version > 1 else None, topic_id if version > 2 else None)


def _new_id(operator: Operator) -> str:
    """The id that a broker gives a topic which is created with --bootstrap-server; "" before KIP-516 (2.8)."""
    if operator.topic_version <= 2:
        return ""
    return random_topic_id(operator.process.world.stream(TOPIC_IDS, operator.process.node.id))


async def _write(operator: Operator, path: str, data: str) -> None:
    await operator.zk.create_parents(path)
    try:
        await operator.zk.create(path, data)
    except NodeExists:
        await operator.zk.set(path, data)


async def delete(operator: Operator, topic: str) -> CommandOutcome:
    """--delete: mark the topic for deletion by the controller; does nothing if it is marked already."""
    if await operator.zk.exists(topic_path(topic)) is None:
        return _refused(topic, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    await operator.zk.create_parents(delete_topic_path(topic))
    with suppress(NodeExists):
        await operator.zk.create(delete_topic_path(topic), "")
    return DONE


async def expand(
    operator: Operator, topic: str, partitions: int, assignment: Sequence[tuple[int, ...]] | None, moving: Moving
) -> CommandOutcome:
    """--alter --partitions: let the topic have ``partitions`` in all.

    Args:
        assignment: the replicas of each added partition; None: placed as Kafka does.
        moving: the function that tells whether open moves forbid it.
    """
    try:
        data, _ = await operator.zk.get(topic_path(topic))
    except NoNode:
        return _refused(topic, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    if await moving(operator, data):
        return _refused(topic, Errors.REASSIGNMENT_IN_PROGRESS)
    before = decode_topic(data)
    if partitions <= len(before):
        return _refused(topic, Errors.INVALID_PARTITIONS)
    brokers = sorted(int(name) for name in await operator.zk.children(BROKER_IDS))
    factor = len(before[0])
    if assignment is None:
        racks = await AdminZkClient(operator.process, operator.zk).brokers(brokers)
        brokers = list(racks)
        if factor > len(brokers):
            return _refused(topic, Errors.INVALID_REPLICATION_FACTOR)
        assignment = place_replicas(
            brokers, partitions - len(before), factor,
            start=next((place for place, broker in enumerate(brokers) if broker >= before[0][0]), 0),
            first_partition=len(before), racks=racks if all(racks.values()) else None,
        )  # fmt: skip
    elif not _fits(assignment, partitions - len(before), factor, brokers):
        return _refused(topic, Errors.INVALID_REPLICA_ASSIGNMENT)
    added = {len(before) + index: tuple(replicas) for index, replicas in enumerate(assignment)}
    try:
        after = _encoded(operator, {**before, **added}, decode_reassigning(data), decode_topic_id(data))
        await operator.zk.set(topic_path(topic), after)
    except NoNode:
        return _refused(topic, Errors.UNKNOWN_TOPIC_OR_PARTITION)
    return DONE


def _refused(what: str, code: Errors) -> CommandOutcome:
    return CommandOutcome(((what, code),))


def _fits(assignment: Sequence[tuple[int, ...]], count: int, factor: int, brokers: Sequence[int]) -> bool:
    """Check that there is a list for each partition, with as many different live brokers as the topic has replicas."""
    return len(assignment) == count and all(
        len(replicas) == len(dict.fromkeys(replicas)) == factor and all(broker in brokers for broker in replicas)
        for replicas in assignment
    )


async def any_move(operator: Operator, _topic: str) -> bool:
    """Whether any topic has a move (AdminManager.createPartitions, up to 2.3)."""
    return await operator.zk.exists(REASSIGN_PARTITIONS) is not None


async def move_of_the_topic(_operator: Operator, topic: str) -> bool:
    """Whether the topic has a move, according to its znode (KIP-455, since 2.4)."""
    found = json.loads(topic)
    return any(found.get(kind) for kind in ("adding_replicas", "removing_replicas"))
