"""New topics and new partitions (kafka-behaviour §4; the page's onNewTopicCreation and onNewPartitionCreation)."""

from collections.abc import Mapping, Sequence

from attrs import define

from controller.context import ControllerContext
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import PartitionState, ReplicaState
from controller.steps import Procedure, Steps, labels_of
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.logger import get_logger
from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas
from emulator.protocol.types import TopicPartition

NEW_PARTITION = Procedure.numbered(
    "new-partition",
    "new partitions become NewPartition",
    "their replicas become NewReplica",
    "the partitions become OnlinePartition",
    "their replicas become OnlineReplica",
)

Assignment = dict[int, Replicas]

log = get_logger("controller.topics")


@define(eq=False, repr=False)
class TopicChanges:
    """Creates the topics and partitions that appear in ZooKeeper.

    Attributes:
        restores_deleting: whether partitions that are added to a topic while it is deleted leave its znode again
            (KAFKA-6612, 2.0).
    """

    context: ControllerContext
    zk_client: KafkaZkClient
    watches: Watches
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    restores_deleting: bool
    _step: Steps

    async def process_topic_change(self) -> None:
        """Create topics that are new in ZooKeeper, forget those that are gone."""
        context = self.context
        names = dict.fromkeys(await self.zk_client.topics())
        new = [topic for topic in names if topic not in context.assignments]
        gone = [topic for topic in context.assignments if topic not in names]
        for topic in new:
            self.watches.topic(topic)
        found = await self.zk_client.topic_data(new)
        for topic in gone:
            context.remove_topic(topic)
            self.watches.forget(znodes.topic_path(topic))
        await self.zk_client.identify(found)
        await self._create({topic: znodes.decode_topic(data) for topic, data in found.items()})

    async def process_partition_modifications(self, topic: str) -> None:
        """Create the partitions that were added to a topic. Changed replica lists are ignored: they are the
        controller's own writes, or an operator's mistake that Kafka ignores too."""
        known = self.context.assignments.get(topic)
        if known is None:
            return  # Deleted, and created again before this event: new topics have an event of their own.
        assignment = (await self.zk_client.assignments([topic])).get(topic, {})
        new = {partition: replicas for partition, replicas in assignment.items() if partition not in known}
        if self.context.is_deleting(topic):
            if self.restores_deleting:
                await self._restore(topic, assignment, new)
        else:
            await self._create({topic: new})

    async def _restore(self, topic: str, assignment: Assignment, new: Assignment) -> None:
        """Write back the partitions that ever had a leader: a topic that is being deleted gets no new ones."""
        if new:
            log.warning("no partitions are added to a topic that is being deleted", topic=topic, partitions=list(new))
            existing = await self.zk_client.partitions_with_znodes(topic)
            kept = {partition: replicas for partition, replicas in assignment.items() if partition in existing}
            await self.zk_client.write_assignment(topic, kept)

    async def _create(self, assignments: Mapping[str, Assignment]) -> None:
        new = [TopicPartition.of(topic, partition) for topic, added in assignments.items() for partition in added]
        for tp in new:
            self.context.assign(tp, assignments[tp.topic][tp.partition])
        if new:
            await self._on_new_partition_creation(new)

    async def _on_new_partition_creation(self, new: Sequence[TopicPartition]) -> None:
        """Create partitions, in four steps. A partition without a live replica stays new until a broker starts."""
        replicas = [(tp, broker) for tp in new for broker in self.context.replicas(tp)]
        labels = labels_of(new)
        async with self._step("new-partition.1", *labels):
            await self.partitions.handle_state_changes(new, PartitionState.NEW)
        async with self._step("new-partition.2", *labels):
            await self.replicas.handle_state_changes(replicas, ReplicaState.NEW)
        async with self._step("new-partition.3", *labels):
            await self.partitions.handle_state_changes(new, PartitionState.ONLINE)
        async with self._step("new-partition.4", *labels):
            await self.replicas.handle_state_changes(replicas, ReplicaState.ONLINE)
