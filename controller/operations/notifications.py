"""Announcements that brokers write to ZooKeeper: changed ISRs, failed log directories (KIP-112; kafka-behaviour §4)."""

from attrs import define

from controller.context import ControllerContext
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.replicas import ReplicaStateMachine
from controller.states import ReplicaState
from controller.zk_client import KafkaZkClient
from emulator.protocol import znodes


@define(eq=False, repr=False)
class Notifications:
    """Reads the announcements, acts on them, then deletes them."""

    context: ControllerContext
    zk_client: KafkaZkClient
    batch: ControllerBrokerRequestBatch
    replicas: ReplicaStateMachine

    async def process_isr_changes(self) -> None:
        """Read the announced ISRs and send them to all brokers. Until then the context has the old ones."""
        names = await self.zk_client.children(znodes.ISR_CHANGE_NOTIFICATION)
        partitions = await self.zk_client.isr_changes(names)
        if partitions:
            self.context.leadership_info.update(await self.zk_client.states(partitions))
            self.batch.send_update_metadata(self.context.live_or_shutting_down, partitions)
        await self._delete(znodes.ISR_CHANGE_NOTIFICATION, names)

    async def process_log_dir_events(self) -> None:
        """Send LeaderAndIsr for all replicas of the brokers that announce a failure.

        The response says which replicas the broker lost: KAFKA_STORAGE_ERROR takes one offline
        (``BrokerChanges.process_leader_and_isr_response``).
        """
        names = await self.zk_client.children(znodes.LOG_DIR_EVENT_NOTIFICATION)
        brokers = await self.zk_client.log_dir_events(names)
        await self.replicas.handle_state_changes(self.context.replicas_on(brokers), ReplicaState.ONLINE)
        await self._delete(znodes.LOG_DIR_EVENT_NOTIFICATION, names)

    async def delete_all(self) -> None:
        """Delete all announcements (failover F2): a new controller reads the announced facts anyway."""
        for parent in (znodes.LOG_DIR_EVENT_NOTIFICATION, znodes.ISR_CHANGE_NOTIFICATION):
            await self._delete(parent, await self.zk_client.children(parent))

    async def _delete(self, parent: str, names: tuple[str, ...]) -> None:
        await self.zk_client.delete([f"{parent}/{name}" for name in names])
