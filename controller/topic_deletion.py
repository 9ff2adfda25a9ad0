"""Topic deletion (kafka-behaviour §4): which topics are deleted, which have to wait, and the steps of one deletion.

The tool creates /admin/delete_topics/T. A topic waits while a replica could not be deleted, because its broker is down
or failed to delete it. It is checked again when a broker with one of its replicas starts and when a move of it ends.

A topic whose partitions are being moved is deleted at once. Kafka means it to wait, but marks it as waiting before it
is queued, which touches queued topics only (processTopicDeletion and markTopicIneligibleForDeletion, 1.1 to 2.7). Its
moves stay in the controller's memory and in /admin/reassign_partitions, which no other plan can then use, until the
next controller drops them. A topic that was queued before a failover, or before another topic's request, does wait:
until the first of its moves ends, and where failover.F8 drops them, until a broker with one of its replicas starts.

Each step of a deletion is a gate of its own:

1. ``delete.partitions``: its partitions -> Offline -> NonExistent. Once only; the other steps are repeated at each
   retry.
2. ``delete.metadata``: send UpdateMetadata with leader -2 to every broker: clients no longer find the topic.
3. ``delete.dead``: replicas on dead brokers -> ReplicaDeletionIneligible; if there are any, the topic waits.
4. ``delete.offline``: live ones -> Offline: StopReplica(keep), and removed from the ISR in ZooKeeper, one by one.
5. ``delete.start``: live ones -> ReplicaDeletionStarted: StopReplica(delete).
6. ``delete.answer``: as the brokers answer -> ReplicaDeletionSuccessful, or Ineligible, and the topic waits.
   When none is being deleted and some failed: ``delete.retry``, those -> Offline; then from 2, once it may go on.
7. When all were successful: ``delete.forget``, replicas -> NonExistent; the topic's znode is no longer watched.
8. ``delete.znodes``: delete /brokers/topics/T with its descendants.
9. ``delete.config``: delete /config/topics/T.
10. ``delete.entry``: delete /admin/delete_topics/T, last: a controller that takes over before that starts again.

Source: TopicDeletionManager and KafkaController, Kafka 2.3 and 2.4, which are alike here.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attrs import define

from controller.context import ControllerContext, Replica
from controller.metrics.controller_metrics import lacks_preferred_leader
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import PartitionState, ReplicaState
from controller.steps import Label, Procedure, Step, Steps
from controller.watches import Watches
from controller.zk_client import KafkaZkClient
from emulator.logger import get_logger
from emulator.protocol import znodes
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

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

log = get_logger("controller.deletion")


class Outstanding(NamedTuple):
    """The progress of the deletion of a topic's replicas.

    Attributes:
        failed: the replicas that could not be deleted.
        in_progress: whether any is being deleted.
        left: whether any is not deleted yet.
    """

    failed: list[Replica]
    in_progress: bool
    left: bool


@define(eq=False, repr=False)
class TopicDeletionManager:
    """Deletes topics. Which ones, and how far each deletion is, is in ``ControllerContext.deletions`` and the replica
    states.

    Attributes:
        known: whether the release can delete topics; older ones ignore /admin/delete_topics.
        enabled: delete.topic.enable.
        keeps_leaders: whether the memory keeps the leaders of topics that are gone (before KAFKA-1742, 0.8.2).
        discounts_queued_again: whether a topic that waits is taken out of PreferredReplicaImbalanceCount again
            (KAFKA-13572).
    """

    context: ControllerContext
    zk_client: KafkaZkClient
    watches: Watches
    batch: ControllerBrokerRequestBatch
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    _step: Steps
    known: bool
    enabled: bool
    keeps_leaders: bool
    discounts_queued_again: bool

    # -- requests -----------------------------------------------------------------------------------------------------

    async def load(self) -> None:
        """Failover F4: queue the deletions that the previous controller has not completed. They begin in F9: see
        ``resume_all``."""
        if not self.known:
            return
        requested = await self.zk_client.deletions()
        if not self.enabled:
            await self._drop(requested)
            return
        moving, context = self._moving(), self.context
        for topic in requested:
            context.queue_deletion(topic)
            if topic in moving or not all(context.is_online(broker, tp) for tp, broker in context.replicas_of(topic)):
                self._mark_ineligible([topic], "a replica is offline or a partition is being moved")

    async def znode_changed(self) -> None:
        """/admin/delete_topics changed: queue the topics that it names, drop those that do not exist."""
        context = self.context
        requested = await self.zk_client.deletions()
        known = [topic for topic in requested if topic in context.assignments and self.enabled]
        await self._drop([topic for topic in requested if topic not in known])
        moving = self._moving()
        waiting = [topic for topic in known if topic in moving and context.is_deleting(topic)]
        self._mark_ineligible(waiting, "a partition is being moved")
        if self.discounts_queued_again:
            self._discount(topic for topic in known if context.is_deleting(topic))
        new = [topic for topic in known if not context.is_deleting(topic)]
        if new:
            async with self._step("delete.queue", *[Label(topic) for topic in new]):
                for topic in new:
                    context.queue_deletion(topic)
        await self._resume(known)

    def _discount(self, again: Iterable[str]) -> None:
        """Take the partitions of topics that were queued before out of PreferredReplicaImbalanceCount once more
        (ControllerContext.queueTopicDeletion, 2.7.0 to 3.2.0)."""
        context = self.context
        partitions = (tp for topic in again for tp in context.partitions_of(topic))
        context.deletions.discounted += sum(lacks_preferred_leader(context, tp) for tp in partitions)

    async def _drop(self, topics: Sequence[str]) -> None:
        if topics:
            log.info("not deleted: no such topic, or delete.topic.enable is false", topics=topics)
            await self.zk_client.delete([znodes.delete_topic_path(topic) for topic in topics])

    def _moving(self) -> dict[str, None]:
        return dict.fromkeys(tp.topic for tp in self.context.reassignments)

    # -- what lets a topic go on, or makes it wait --------------------------------------------------------------------

    async def resume_all(self) -> None:
        """Failover F9: begin or continue every deletion that may go on."""
        await self._resume(list(self.context.deletions.queued))

    async def move_finished(self, tp: TopicPartition) -> None:
        """Let the topic of ``tp`` be deleted, whose move is over. As in Kafka it no longer waits, not even for its
        other moves."""
        await self._make_eligible([tp.topic])

    async def brokers_started(self, brokers: Sequence[int]) -> None:
        """Topics with replicas on ``brokers`` no longer have to wait for them."""
        queued, replicas_of = self.context.deletions.queued, self.context.replicas_of
        await self._make_eligible([t for t in queued if any(broker in brokers for _, broker in replicas_of(t))])

    async def replicas_failed(self, replicas: Sequence[Replica]) -> None:
        """Handle ``replicas`` that are offline or could not be deleted. Those of topics to be deleted stay as they are
        until the topic may go on."""
        await self._fail([replica for replica in replicas if self.context.is_deleting(replica[0].topic)])

    async def process_stop_replica_response(
        self, broker: int, error: Errors, partitions: Sequence[tuple[TopicPartition, Errors]]
    ) -> None:
        """Handle a broker's answer that it has deleted replicas, or failed to; ``error`` holds for all of them."""
        ours = [(tp, code) for tp, code in partitions if self.context.is_deleting(tp.topic)]
        if not ours:
            return
        labels = [Label(topic, broker=broker) for topic in _topics(tp for tp, _ in ours)]
        async with self._step("delete.answer", *labels):
            await self._fail([(tp, broker) for tp, code in ours if (error, code) != (Errors.NONE, Errors.NONE)])
            done = [(tp, broker) for tp, code in ours if (error, code) == (Errors.NONE, Errors.NONE)]
            await self.replicas.handle_state_changes(done, ReplicaState.DELETION_SUCCESSFUL)
        await self._resume(_topics(tp for tp, _ in done))

    async def _fail(self, replicas: Sequence[Replica]) -> None:
        if replicas:
            topics = _topics(tp for tp, _ in replicas)
            await self.replicas.handle_state_changes(replicas, ReplicaState.DELETION_INELIGIBLE)
            self._mark_ineligible(topics, "replicas could not be deleted")
            await self._resume(topics)

    def _mark_ineligible(self, topics: Sequence[str], reason: str) -> None:
        if topics:
            log.info("deletion waits", topics=topics, reason=reason)
            self.context.deletions.ineligible.update(dict.fromkeys(topics))

    async def _make_eligible(self, topics: Sequence[str]) -> None:
        free = [topic for topic in topics if self.context.is_deleting(topic)]
        for topic in free:
            self.context.deletions.ineligible.pop(topic, None)
        if free:
            await self._resume(free)

    # -- going on -----------------------------------------------------------------------------------------------------

    async def _resume(self, topics: Sequence[str]) -> None:
        """Check ``topics`` and those that are retried (resumeDeletions). Kafka checks every queued topic here; the
        others have not changed since its last check, which would have no effect on them."""
        deletions = self.context.deletions
        for topic in list(dict.fromkeys((*deletions.retrying, *topics))):
            if topic in deletions.queued:
                await self._resume_topic(topic)

    async def _resume_topic(self, topic: str) -> None:
        deletions = self.context.deletions
        failed, in_progress, left = self._outstanding(topic)
        if not left:
            await self._complete(topic)
            return
        if failed and not in_progress:
            async with self._topic_step("delete.retry", topic):
                await self.replicas.handle_state_changes(failed, ReplicaState.OFFLINE)
        if not in_progress and topic not in deletions.ineligible and await self._start(topic):
            self._mark_ineligible([topic], "replicas are offline")
        failed, in_progress, _ = self._outstanding(topic)
        if failed and not in_progress:
            deletions.retrying[topic] = None
        else:
            deletions.retrying.pop(topic, None)

    def _outstanding(self, topic: str) -> Outstanding:
        states = [(replica, self.context.replica_state(*replica)) for replica in self.context.replicas_of(topic)]
        return Outstanding(
            [replica for replica, state in states if state is ReplicaState.DELETION_INELIGIBLE],
            any(state is ReplicaState.DELETION_STARTED for _, state in states),
            any(state is not ReplicaState.DELETION_SUCCESSFUL for _, state in states),
        )

    # -- the steps ----------------------------------------------------------------------------------------------------

    async def _start(self, topic: str) -> bool:
        """Perform steps 1 to 5. Returns whether some replicas are on dead brokers and have to be deleted later."""
        context = self.context
        partitions, replicas = context.partitions_of(topic), context.replicas_of(topic)
        if topic not in context.deletions.begun:
            async with self._topic_step("delete.partitions", topic):
                await self.partitions.handle_state_changes(partitions, PartitionState.OFFLINE)
                await self.partitions.handle_state_changes(partitions, PartitionState.NON_EXISTENT)
                context.begin_deletion(topic)
        async with self._topic_step("delete.metadata", topic):
            self.batch.send_update_metadata(context.live_or_shutting_down, partitions)
        dead = [(tp, broker) for tp, broker in replicas if not context.is_online(broker, tp)]
        async with self._topic_step("delete.dead", topic):
            await self.replicas.handle_state_changes(dead, ReplicaState.DELETION_INELIGIBLE)
        ordered = self.replicas.rules.order_in_topic(replicas, self.replicas.collections)
        left = [replica for replica in ordered if self._is_live_and_left(replica)]
        async with self._topic_step("delete.offline", topic):
            await self.replicas.handle_state_changes(left, ReplicaState.OFFLINE)
        async with self._topic_step("delete.start", topic):
            await self.replicas.handle_state_changes(left, ReplicaState.DELETION_STARTED)
        return bool(dead)

    def _is_live_and_left(self, replica: Replica) -> bool:
        tp, broker = replica
        deleted = self.context.replica_state(tp, broker) is ReplicaState.DELETION_SUCCESSFUL
        return self.context.is_online(broker, tp) and not deleted

    async def _complete(self, topic: str) -> None:
        """Perform steps 7 to 10. The topic's znodes may be gone already, except its entry."""
        async with self._topic_step("delete.forget", topic):
            self.watches.forget(znodes.topic_path(topic))
            await self.replicas.handle_state_changes(self.context.replicas_of(topic), ReplicaState.NON_EXISTENT)
            self.context.deletions.discard(topic)
        async with self._topic_step("delete.znodes", topic):
            await self.zk_client.delete_tree(znodes.topic_path(topic))
        async with self._topic_step("delete.config", topic):
            await self.zk_client.delete([f"{znodes.CONFIG_TOPICS}/{topic}"])
        async with self._topic_step("delete.entry", topic):
            await self.zk_client.delete([znodes.delete_topic_path(topic)])
        leaders = self.context.leadership_info
        kept = {tp: leaders[tp] for tp in self.context.partitions_of(topic) if self.keeps_leaders and tp in leaders}
        self.context.remove_topic(topic)
        leaders.update(kept)
        log.info("topic deleted", topic=topic)

    def _topic_step(self, name: str, topic: str) -> Step:
        return self._step(name, Label(topic))


def _topics(partitions: Iterable[TopicPartition]) -> list[str]:
    return list(dict.fromkeys(tp.topic for tp in partitions))
