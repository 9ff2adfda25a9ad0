"""Brokers start, fail and restart (kafka-behaviour §4; the page's onBrokerStartup and onBrokerFailure)."""

from collections.abc import Sequence
from typing import Any

from attrs import define

from controller.channel_manager import ControllerChannelManager
from controller.context import ControllerContext, Replica
from controller.reassignment.reassignments import Reassignments
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.partitions import PartitionStateMachine
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import PartitionState, ReplicaState
from controller.steps import Label, Procedure, Steps
from controller.topic_deletion import TopicDeletionManager
from controller.zk_client import KafkaZkClient
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrResponse

BROKER_FAILURE = Procedure.numbered(
    "broker-failure",
    "partitions without leader become OfflinePartition",
    "offline and new partitions elect a leader",
    "replicas on the failed broker become OfflineReplica",
)
BROKER_STARTUP = Procedure.numbered(
    "broker-startup",
    "send UpdateMetadata to the broker",
    "replicas on the broker become OnlineReplica",
    "offline and new partitions elect a leader",
    "resume moves and topic deletions that wait for the broker",
)

LOST_DIRS = "log directories"
"""The detail of the steps of a broker's failure where it has only lost log directories."""
Registered = list[tuple[int, int]]
"""Brokers with their epochs."""


@define(eq=False, repr=False)
class BrokerChanges:
    """Keeps the controller's view of the brokers, and of their log directories.

    Attributes:
        announces: whether all live brokers get UpdateMetadata when a broker starts, or fails without having led a
            partition (KAFKA-972, 0.9).
        names_deleting: whether a broker that starts gets the metadata of topics that are being deleted (until 2.6).
        finds_twice: whether changes are found in one list of brokers and the live ones in a later one (before
            KAFKA-3085, 0.10.0).
        skips_needless: whether all brokers get UpdateMetadata only where no change of a replica or leader has brought
            them one (KAFKA-13225, 3.1).
    """

    context: ControllerContext
    zk_client: KafkaZkClient
    channels: ControllerChannelManager
    batch: ControllerBrokerRequestBatch
    partitions: PartitionStateMachine
    replicas: ReplicaStateMachine
    reassignments: Reassignments[Any]
    deletion: TopicDeletionManager
    announces: bool
    names_deleting: bool
    finds_twice: bool
    _step: Steps
    skips_needless: bool = False

    async def process_broker_change(self) -> None:
        """Compare ZooKeeper with the context: new brokers first, then those that bounced (same id, newer epoch:
        KIP-380), then the dead."""
        if self.finds_twice:
            await self._find_twice()
            return
        context = self.context
        known = context.brokers
        now = dict(await self.zk_client.brokers())
        new = [(broker, epoch) for broker, epoch in now.items() if broker not in known]
        bounced = [(broker, epoch) for broker, epoch in now.items() if epoch > known.get(broker, epoch)]
        dead = [broker for broker in known if broker not in now]

        self._update_channels(new, bounced, dead)
        if new:
            context.add_brokers(new)
            await self._on_broker_startup([broker for broker, _ in new])
        if bounced:
            ids = [broker for broker, _ in bounced]
            context.remove_brokers(ids)
            await self._on_broker_failure(ids)
            context.add_brokers(bounced)
            await self._on_broker_startup(ids)
        if dead:
            context.remove_brokers(dead)
            await self._on_broker_failure(dead)

    async def _find_twice(self) -> None:
        """Read the list of brokers twice, as ReplicaStateMachine.BrokerChangeListener of 0.9.0 does: the second list
        decides which brokers are live."""
        known = self.context.brokers
        listed = await self.zk_client.broker_ids()
        now = await self.zk_client.registered(listed)
        new = [(broker, epoch) for broker, epoch in now if broker not in known]
        dead = [broker for broker in known if broker not in listed]
        self.context.set_brokers(now)
        self._update_channels(new, [], dead)
        if new:
            await self._on_broker_startup([broker for broker, _ in new])
        if dead:
            await self._on_broker_failure(dead)

    def _update_channels(self, new: Registered, bounced: Registered, dead: Sequence[int]) -> None:
        for broker, _ in new:
            self.channels.add(broker)
        for broker, _ in bounced:
            self.channels.remove(broker)
            self.channels.add(broker)
        for broker in dead:
            self.channels.remove(broker)

    async def _on_broker_startup(self, brokers: Sequence[int]) -> None:
        labels = [Label(broker=broker) for broker in brokers]
        context = self.context
        for broker in brokers:
            context.offline_dirs.pop(broker, None)
        async with self._step("broker-startup.1", *labels):
            if self.announces:
                self.batch.send_update_metadata([b for b in context.live_or_shutting_down if b not in brokers])
            led = (tp for tp in context.leadership_info if self.names_deleting or not context.is_deleting(tp.topic))
            self.batch.send_update_metadata(brokers, tuple(led))
        async with self._step("broker-startup.2", *labels):
            await self.replicas.handle_state_changes(context.replicas_on(brokers), ReplicaState.ONLINE)
        async with self._step("broker-startup.3", *labels):
            await self.partitions.trigger_online_state_change()
        async with self._step("broker-startup.4", *labels):
            await self.reassignments.brokers_started(brokers)
            await self.deletion.brokers_started(brokers)

    async def _on_broker_failure(self, brokers: Sequence[int]) -> None:
        for broker in brokers:
            self.context.offline_dirs.pop(broker, None)
            self.context.shutting_down.pop(broker, None)
        labels = [Label(broker=broker) for broker in brokers]
        await self._on_replicas_become_offline(self.context.replicas_on(brokers), labels)

    async def _on_replicas_become_offline(
        self, replicas: Sequence[Replica], labels: Sequence[Label], detail: str = ""
    ) -> None:
        """Take replicas offline, in three steps. The election, which comes first, removes the failed leader from the
        ISR too, so that the third step has nothing to write for that partition."""
        context = self.context
        led = [(tp, state.leader) for tp, state in context.leadership_info.items() if not context.is_deleting(tp.topic)]
        leaderless = [tp for tp, leader in led if not context.is_online(leader, tp)]
        staying = [(tp, broker) for tp, broker in replicas if not context.is_deleting(tp.topic)]
        async with self._step("broker-failure.1", *labels, detail=detail):
            await self.partitions.handle_state_changes(leaderless, PartitionState.OFFLINE)
        async with self._step("broker-failure.2", *labels, detail=detail):
            elected = await self.partitions.trigger_online_state_change()
        async with self._step("broker-failure.3", *labels, detail=detail):
            await self.replicas.handle_state_changes(staying, ReplicaState.OFFLINE)
        await self.deletion.replicas_failed(replicas)
        told = bool(staying or elected) if self.skips_needless else bool(leaderless)
        if self.announces and not told:
            self.batch.send_update_metadata(context.live_or_shutting_down)

    async def process_leader_and_isr_response(self, broker: int, response: LeaderAndIsrResponse) -> None:
        """Update the offline log directories of ``broker``: KAFKA_STORAGE_ERROR takes a replica offline."""
        if response.error is not Errors.NONE:
            return
        before = self.context.offline_dirs.get(broker, {})
        offline = dict(before)
        # Nearly always there is nothing to remember and nothing to forget.
        reports = before or Errors.KAFKA_STORAGE_ERROR in response.errors
        for tp, error in response.partitions if reports else ():
            if error is Errors.KAFKA_STORAGE_ERROR:
                offline[tp] = None
            elif error is Errors.NONE:
                offline.pop(tp, None)
        self.context.offline_dirs[broker] = offline
        newly = [(tp, broker) for tp in offline if tp not in before]
        if newly:
            await self._on_replicas_become_offline(newly, [Label(broker=broker)], LOST_DIRS)
