"""Topics that a broker creates, deletes and extends in ZooKeeper (kafka.zk.AdminZkClient, 2.3): for CreateTopics and
its like, for auto.create.topics.enable, and for internal topics.

Every function raises ApiException where the request is refused, and then nothing has been written; and SessionExpired,
after which it may have been.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from attrs import define

from emulator.nodes import Process
from emulator.protocol.errors import ApiException, Errors
from emulator.protocol.placement import place_replicas
from emulator.protocol.types import unified
from emulator.protocol.znodes import (
    BROKER_IDS,
    CONFIG_CHANGES,
    REASSIGN_PARTITIONS,
    TOPIC_IDS,
    TOPICS,
    broker_path,
    decode_config,
    decode_reassigning,
    decode_topic,
    decode_topic_id,
    delete_topic_path,
    encode_config,
    encode_config_change,
    encode_topic,
    random_topic_id,
    topic_entity,
    topic_path,
)
from emulator.zookeeper import NodeExists, NoNode, ZkClient

Assignment = Mapping[int, tuple[int, ...]]
"""The replicas of each partition, in order of preference."""

Racks = Mapping[int, str]
"""The brokers that replicas can be placed on, by id in their order; the rack of each, empty for none."""

NAME_MOST = 249
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+", re.ASCII)
INTERNAL_TOPICS = ("__consumer_offsets", "__transaction_state")


def check_name(topic: str) -> None:
    """Check that a topic can have this name (org.apache.kafka.common.internals.Topic, 2.3). Raises: ApiException."""
    if not topic:
        why = "Topic name is illegal, it can't be empty"
    elif topic in (".", ".."):
        why = 'Topic name cannot be "." or ".."'
    elif len(topic) > NAME_MOST:
        why = f"Topic name is illegal, it can't be longer than {NAME_MOST} characters, topic name: {topic}"
    elif not _LEGAL_NAME.fullmatch(topic):
        why = (
            f'Topic name "{topic}" is illegal, it contains a character other than ASCII alphanumerics, '
            "'.', '_' and '-'"
        )
    else:
        return
    raise ApiException(Errors.INVALID_TOPIC_EXCEPTION, why)


@define(eq=False)
class AdminZkClient:
    """The topics of ZooKeeper, as one broker changes them.

    Attributes:
        topic_version: the version of the topics' znodes that the release writes.
        refuses_marked: see ``AdminPolicies``.
    """

    process: Process
    zk: ZkClient
    topic_version: int = 1
    refuses_marked: bool = False

    # -- creation -----------------------------------------------------------------------------------------------------

    async def create_topic(
        self, topic: str, partitions: int, replication_factor: int, config: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic on the brokers that are registered now, as a broker does by itself: with their racks if all
        have one (RackAwareMode.Safe)."""
        assignment = self.place(topic, await self.brokers(), partitions, replication_factor)
        await self.create_topic_with_assignment(topic, assignment, lambda: config or {})

    async def brokers(self, ids: Sequence[int] | None = None) -> Racks:
        """The brokers that are registered, with their racks (getBrokerMetadatas); ``ids``: of these only."""
        if ids is None:
            ids = [int(name) for name in await self.zk.children(BROKER_IDS)]
        racks: dict[int, str] = {}
        for broker in sorted(ids):
            with suppress(NoNode):
                data, _ = await self.zk.get(broker_path(broker))
                racks[broker] = str(json.loads(data).get("rack") or "")
        return racks

    def place(self, topic: str, brokers: Racks, partitions: int, replication_factor: int) -> Assignment:
        """The placement of a new topic's partitions (AdminUtils.assignReplicasToBrokers). The random start depends on
        the topic, and not on the broker that creates it."""
        if partitions <= 0:
            raise ApiException(Errors.INVALID_PARTITIONS, "Number of partitions must be larger than 0.")
        if replication_factor <= 0:
            raise ApiException(Errors.INVALID_REPLICATION_FACTOR, "Replication factor must be larger than 0.")
        if replication_factor > len(brokers):
            raise ApiException(
                Errors.INVALID_REPLICATION_FACTOR,
                f"Replication factor: {replication_factor} larger than available brokers: {len(brokers)}.",
            )
        stream = self.process.world.stream("placement", topic)
        start, shift = stream.below(len(brokers)), stream.below(len(brokers))
        placed = place_replicas(
            list(brokers), partitions, replication_factor,
            start=start, shift=shift, racks=brokers if all(brokers.values()) else None,
        )  # fmt: skip
        return dict(enumerate(placed))

    async def create_topic_with_assignment(
        self, topic: str, assignment: Assignment, settings: Callable[[], Mapping[str, str]]
    ) -> tuple[Mapping[str, str], str]:
        """Write the settings, then the assignment, which wakes the controller. Returns the settings, and the topic's id
        ("" before KIP-516, 2.8). ``settings`` is called after everything else is checked; it returns them, or raises
        where they are not valid.

        Kafka's brokers read a topic's settings when they open its first log. Here the settings are announced like
        changed ones, before the assignment is written.
        """
        await self.validate_topic_create(topic, assignment)
        config = settings()
        await self.change_config(topic_entity(topic), config)
        await self.zk.create_parents(topic_path(topic))
        topic_id = self._new_id()
        try:
            await self.zk.create(topic_path(topic), self._encoded(assignment, topic_id))
        except NodeExists:
            raise _exists(topic) from None
        return config, topic_id

    async def validate_topic_create(self, topic: str, assignment: Assignment) -> None:
        """Check the name and the replicas. Kafka does not check whether the brokers exist. Kafka 2.3 accepts partitions
        without replicas, and negative ids, and is then stuck with them."""
        check_name(topic)
        if self.refuses_marked and await self.zk.exists(delete_topic_path(topic)) is not None:
            raise ApiException(Errors.TOPIC_ALREADY_EXISTS, f"Topic '{topic}' is marked for deletion.")
        if await self.exists(topic):
            raise _exists(topic)
        if "_" in topic or "." in topic:
            await self._check_collisions(topic)
        replicas = list(assignment.values())
        if len(dict.fromkeys(map(len, replicas))) != 1:
            raise _unfit("All partitions should have the same number of replicas")
        if not all(replicas) or min(map(min, replicas)) < 0:
            raise _unfit(f"Each partition needs replicas, on brokers with ids from 0 on: {_shown(assignment)}")
        if any(len(dict.fromkeys(each)) < len(each) for each in replicas):
            raise _unfit(f"Duplicate replica assignment found: {_shown(assignment)}")
        if sorted(assignment) != list(range(len(assignment))):
            raise _unfit("partitions should be a consecutive 0-based integer sequence")

    async def _check_collisions(self, topic: str) -> None:
        try:
            topics = await self.zk.children(TOPICS)
        except NoNode:
            return
        if topic in topics:
            raise _exists(topic)
        colliding = [name for name in topics if unified(name) == unified(topic)]
        if colliding:
            raise ApiException(
                Errors.INVALID_TOPIC_EXCEPTION, f"Topic '{topic}' collides with existing topics: {', '.join(colliding)}"
            )

    def _encoded(self, assignment: Assignment, topic_id: str) -> str:
        return encode_topic(
            assignment, {} if self.topic_version > 1 else None, topic_id if self.topic_version > 2 else None
        )

    def _new_id(self) -> str:
        """The id of a new topic; "" before KIP-516 (2.8)."""
        node = self.process.node.id
        return random_topic_id(self.process.world.stream(TOPIC_IDS, node)) if self.topic_version > 2 else ""

    async def exists(self, topic: str) -> bool:
        return await self.zk.exists(topic_path(topic)) is not None

    # -- deletion -----------------------------------------------------------------------------------------------------

    async def delete_topic(self, topic: str) -> None:
        """Mark a topic for deletion by the controller; one that is marked already stays so."""
        if not await self.exists(topic):
            raise ApiException(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"Topic `{topic}` to delete does not exist")
        await self.zk.create_parents(delete_topic_path(topic))
        with suppress(NodeExists):
            await self.zk.create(delete_topic_path(topic), "")

    # -- more partitions ----------------------------------------------------------------------------------------------

    async def add_partitions(
        self,
        topic: str,
        total: int,
        replicas: Sequence[tuple[int, ...]] | None,
        brokers: Racks,
        *,
        any_move_forbids: bool,
        validate_only: bool = False,
        count: Callable[[int], object] = lambda _: None,
    ) -> int:
        """Extend the topic to ``total`` partitions. Returns how many it had (AdminManager.createPartitions with
        AdminZkClient.addPartitions, 2.3 and 2.4).

        Args:
            replicas: the replicas of each added partition; None: placed as Kafka does.
            brokers: all registered brokers.
            any_move_forbids: whether a move of any topic forbids it (up to 2.3); else only a move of the same topic
                does.
            count: called with the number of partitions that are about to be written; it raises where they may not be.
        """
        if any_move_forbids and await self.zk.exists(REASSIGN_PARTITIONS) is not None:
            raise ApiException(Errors.REASSIGNMENT_IN_PROGRESS, "A partition reassignment is in progress.")
        try:
            data, _ = await self.zk.get(topic_path(topic))
        except NoNode:
            raise _unknown(topic) from None
        if decode_reassigning(data):
            why = f"A partition reassignment is in progress for the topic '{topic}'."
            raise ApiException(Errors.REASSIGNMENT_IN_PROGRESS, why)
        before = decode_topic(data)
        added = self._added(topic, before, total, replicas, brokers)
        if not validate_only:
            count(len(added))
            try:
                await self.zk.set(topic_path(topic), self._encoded({**before, **added}, decode_topic_id(data)))
            except NoNode:
                raise _unknown(topic) from None
        return len(before)

    def _added(
        self, topic: str, before: Assignment, total: int, replicas: Sequence[tuple[int, ...]] | None, brokers: Racks
    ) -> Assignment:
        count, factor = total - len(before), len(before[0])
        if count < 0:
            why = f"Topic currently has {len(before)} partitions, which is higher than the requested {total}."
            raise ApiException(Errors.INVALID_PARTITIONS, why)
        if count == 0:
            raise ApiException(Errors.INVALID_PARTITIONS, f"Topic already has {len(before)} partitions.")
        if replicas is None:
            if factor > len(brokers):
                raise ApiException(
                    Errors.INVALID_REPLICATION_FACTOR,
                    f"Replication factor: {factor} larger than available brokers: {len(brokers)}.",
                )
            replicas = place_replicas(
                list(brokers), count, factor,
                start=next((place for place, broker in enumerate(brokers) if broker >= before[0][0]), 0),
                first_partition=len(before), racks=brokers if all(brokers.values()) else None,
            )  # fmt: skip
        else:
            _check_added(replicas, count, factor, len(before), brokers)
        return {len(before) + place: tuple(each) for place, each in enumerate(replicas)}

    # -- settings -----------------------------------------------------------------------------------------------------

    async def config(self, entity: str) -> dict[str, str]:
        """The settings of ``entity`` in ZooKeeper; none where it has no znode (fetchEntityConfig)."""
        try:
            data, _ = await self.zk.get(f"/config/{entity}")
        except NoNode:
            return {}
        return decode_config(data)

    async def change_config(self, entity: str, config: Mapping[str, str]) -> None:
        """Write all settings of ``entity``, and announce them to the brokers (changeEntityConfig)."""
        path, data = f"/config/{entity}", encode_config(config)
        try:
            await self.zk.set(path, data)
        except NoNode:
            await self.zk.create_parents(path)
            try:
                await self.zk.create(path, data)
            except NodeExists:
                await self.zk.set(path, data)
        await self.zk.create(f"{CONFIG_CHANGES}/config_change_", encode_config_change(entity), sequential=True)


def _check_added(replicas: Sequence[tuple[int, ...]], count: int, factor: int, first: int, brokers: Racks) -> None:
    """Check the replicas that an operator requests for the partitions from ``first`` on (validateReplicaAssignment)."""
    unknown = sorted({broker for each in replicas for broker in each if broker not in brokers})
    if unknown:
        raise _unfit(f"Unknown broker(s) in replica assignment: {_listed(unknown)}.")
    if len(replicas) != count:
        raise _unfit(f"Increasing the number of partitions by {count} but {len(replicas)} assignments provided.")
    for partition, each in enumerate(replicas, first):
        if not each:
            raise _unfit(f"Cannot have replication factor of 0 for partition id {partition}.")
        if len(dict.fromkeys(each)) < len(each):
            raise _unfit(
                f"Duplicate brokers not allowed in replica assignment: {_listed(each)} for partition id {partition}."
            )
    bad = [(partition, len(each)) for partition, each in enumerate(replicas, first) if len(each) != factor]
    if bad:
        raise _unfit(
            f"Inconsistent replication factor between partitions, partition 0 has {factor} while partitions "
            f"[{_listed(partition for partition, _ in bad)}] have replication factors "
            f"[{_listed(size for _, size in bad)}], respectively."
        )


def _exists(topic: str) -> ApiException:
    return ApiException(Errors.TOPIC_ALREADY_EXISTS, f"Topic '{topic}' already exists.")


def _unknown(topic: str) -> ApiException:
    return ApiException(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"The topic '{topic}' does not exist.")


def _unfit(why: str) -> ApiException:
    return ApiException(Errors.INVALID_REPLICA_ASSIGNMENT, why)


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(map(str, numbers))


def _shown(assignment: Assignment) -> str:
    return ", ".join(f"{partition} -> [{_listed(replicas)}]" for partition, replicas in assignment.items())
