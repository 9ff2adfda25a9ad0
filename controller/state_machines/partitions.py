"""The partition state machine (kafka-behaviour §5.1). An illegal transition is logged; the others of the same call are
made."""

from collections.abc import Sequence

from attrs import define

from controller.context import ControllerContext
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.elections import Elections
from controller.state_machines.selectors import Selector, Selectors
from controller.states import PARTITION_PREDECESSORS, PartitionState
from emulator.logger import get_logger
from emulator.protocol.types import TopicPartition

log = get_logger("controller.partitions")


@define(eq=False, repr=False)
class PartitionStateMachine:
    """Changes the states of partitions; one call is one batch of requests.

    Every method that writes raises ControllerMoved.
    """

    context: ControllerContext
    elections: Elections
    batch: ControllerBrokerRequestBatch
    selectors: Selectors

    async def startup(self) -> None:
        """Failover F7: set the state of every partition by the leaders that were read; elect where there is none."""
        states, context = self.context.partition_states, self.context
        for tp in context.partitions():
            known = context.leadership_info.get(tp)
            if known is None:
                states[tp] = PartitionState.NEW
            elif context.is_online(known.leader, tp):
                states[tp] = PartitionState.ONLINE
            else:
                states[tp] = PartitionState.OFFLINE
        await self.trigger_online_state_change()

    async def trigger_online_state_change(self, topic: str | None = None) -> None:
        """Elect a leader for each new or offline partition (of one topic), except of topics that are being deleted."""
        missing = self.context.partitions_in(PartitionState.OFFLINE, PartitionState.NEW)
        of_topic = [tp for tp in missing if topic in (None, tp.topic)]
        wanted = [tp for tp in of_topic if not self.context.is_deleting(tp.topic)]
        await self.handle_state_changes(wanted, PartitionState.ONLINE)

    async def handle_state_changes(
        self, partitions: Sequence[TopicPartition], target: PartitionState, selector: Selector | None = None
    ) -> list[TopicPartition]:
        """Change ``partitions`` to ``target``. Those that go online get a leader from ``selector``, by default the one
        for offline partitions. Returns the partitions that were changed."""
        if not partitions:
            return []
        self.batch.new_batch()
        legal = [tp for tp in partitions if self._may_become(tp, target)]
        if target is PartitionState.ONLINE:
            new = [tp for tp in legal if self.context.partition_state(tp) is PartitionState.NEW]
            created = await self.elections.initialize(new)
            led = [tp for tp in legal if self.context.partition_state(tp) is not PartitionState.NEW]
            elected = await self.elections.elect(led, selector or self.selectors.offline)
            legal = [*created, *elected]
        for tp in legal:
            self.context.partition_states[tp] = target
        self.batch.send_to_brokers()
        return legal

    def _may_become(self, tp: TopicPartition, target: PartitionState) -> bool:
        state = self.context.partition_state(tp)
        if state in PARTITION_PREDECESSORS[target]:
            return True
        log.error("illegal transition", partition=str(tp), state=state.name, target=target.name)
        return False
