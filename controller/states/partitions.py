"""The partition state machine (kafka-behaviour §5.1). An illegal transition is logged and has no effect; the
others of the same call go on."""

from collections.abc import Sequence

import structlog
from attrs import define

from controller.channels import RequestBatch
from controller.context import Context
from controller.states.elections import Elections
from controller.states.names import PARTITION_PREDECESSORS, PartitionState
from controller.states.selectors import Selector, Selectors
from emulator.protocol.types import TopicPartition

log = structlog.get_logger("controller.partitions")


@define(eq=False, repr=False)
class PartitionStateMachine:
    """Moves partitions between states; one call is one batch of requests.

    Raises, where it writes: ControllerMoved, SessionExpired.
    """

    context: Context
    elections: Elections
    batch: RequestBatch
    selectors: Selectors

    async def start(self) -> None:
        """A new controller takes all partitions up, then elects where there is no leader (failover F7)."""
        states, context = self.context.partition_states, self.context
        for tp in context.partitions():
            known = context.leadership.get(tp)
            if known is None:
                states[tp] = PartitionState.NEW
            elif context.is_online(known.leader, tp):
                states[tp] = PartitionState.ONLINE
            else:
                states[tp] = PartitionState.OFFLINE
        await self.elect_where_missing()

    async def elect_where_missing(self, topic: str | None = None) -> None:
        """Try to find a leader for each partition (of one topic) that is new or offline, and not to be deleted."""
        missing = self.context.partitions_in(PartitionState.OFFLINE, PartitionState.NEW)
        asked = [tp for tp in missing if topic in (None, tp.topic)]
        wanted = [tp for tp in asked if not self.context.is_deleting(tp.topic)]
        await self.handle(wanted, PartitionState.ONLINE)

    async def handle(
        self, partitions: Sequence[TopicPartition], target: PartitionState, selector: Selector | None = None
    ) -> list[TopicPartition]:
        """Bring ``partitions`` to ``target``; those going online get a leader from ``selector``, by default the one for
        offline partitions. Returns those that came there."""
        if not partitions:
            return []
        self.batch.begin()
        legal = [tp for tp in partitions if self._may_become(tp, target)]
        if target is PartitionState.ONLINE:
            new = [tp for tp in legal if self.context.partition_state(tp) is PartitionState.NEW]
            created = await self.elections.initialize(new)
            led = [tp for tp in legal if self.context.partition_state(tp) is not PartitionState.NEW]
            elected = await self.elections.elect(led, selector or self.selectors.offline)
            legal = [*created, *elected]
        for tp in legal:
            self.context.partition_states[tp] = target
        self.batch.send()
        return legal

    def _may_become(self, tp: TopicPartition, target: PartitionState) -> bool:
        state = self.context.partition_state(tp)
        if state in PARTITION_PREDECESSORS[target]:
            return True
        log.error("illegal transition", partition=str(tp), state=state.name, target=target.name)
        return False
