"""A leader asks for ISR changes (KafkaController.processAlterIsr, 2.7.2; processAlterPartition, 3.3.2; KIP-497)."""

from typing import Any

from attrs import define

from controller.context import ControllerContext
from controller.errors import ControllerError
from controller.events import AlterIsr
from controller.reassignment.reassignments import Reassignments
from controller.request_batch import ControllerBrokerRequestBatch
from controller.zk_client import KafkaZkClient
from emulator.protocol.alter_isr import AlterIsrPartition, AlterIsrRequest, AlterIsrResponse
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper import SessionExpired, ZkError

Outcome = tuple[Errors, LeaderAndIsr | None]
"""The result for one partition: its error, and the current state if there is no error."""


@define(eq=False, repr=False)
class AlterIsrs:
    """Writes the ISRs that leaders ask for.

    Attributes:
        fences: whether only a leader with the controller's own leader epoch and version gets another ISR.
        refuses_dead: whether only live brokers may be in it.
        singly: whether what cannot be written, as the session has expired, is refused for each partition.
    """

    context: ControllerContext
    zk_client: KafkaZkClient
    batch: ControllerBrokerRequestBatch
    reassignments: Reassignments[Any]
    fences: bool = False
    refuses_dead: bool = False
    singly: bool = False

    async def process(self, event: AlterIsr) -> None:
        """Answer the leader, then advance the moves that have waited for these ISRs."""
        response = await self._answer(event.request)
        event.answer(response)
        for tp, error, _state in response.partitions:
            if error is Errors.NONE:
                await self.reassignments.isr_changed(tp)

    async def _answer(self, request: AlterIsrRequest) -> AlterIsrResponse:
        """Write the changes that are valid, and send UpdateMetadata. The leader gets any error on the way."""
        if self.context.brokers.get(request.broker) != request.broker_epoch:
            return AlterIsrResponse(Errors.STALE_BROKER_EPOCH)
        try:
            outcomes = await self._write(request)
        except (ControllerError, ZkError):
            return AlterIsrResponse(Errors.UNKNOWN_SERVER_ERROR)
        return AlterIsrResponse(Errors.NONE, tuple((p.tp, *outcomes[p.tp]) for p in request.partitions))

    async def _write(self, request: AlterIsrRequest) -> dict[TopicPartition, Outcome]:
        context = self.context
        outcomes: dict[TopicPartition, Outcome] = {}
        wanted: dict[TopicPartition, LeaderAndIsr] = {}
        for change in request.partitions:
            state = LeaderAndIsr(request.broker, change.leader_epoch, change.isr, context.epoch, change.zk_version)
            outcome = self._without_a_write(request.broker, change)
            if outcome is None:
                wanted[change.tp] = state
            else:
                outcomes[change.tp] = outcome
        try:
            written, beaten = await self.zk_client.write_states(wanted)
        except SessionExpired:
            if not self.singly:
                raise
            written, beaten = {}, []
        for tp in wanted:
            error = Errors.INVALID_UPDATE_VERSION if tp in beaten else Errors.UNKNOWN_SERVER_ERROR
            outcomes[tp] = (Errors.NONE, written[tp]) if tp in written else (error, None)
        if written:
            context.leadership_info.update(await self.zk_client.states(list(written)))
        self.batch.send_update_metadata(context.live_or_shutting_down, [change.tp for change in request.partitions])
        return outcomes

    def _without_a_write(self, leader: int, change: AlterIsrPartition) -> Outcome | None:
        """The outcome of a change that is stale, already made or not allowed; None where it has to be written."""
        now = self.context.leadership_info.get(change.tp)
        if now is None:
            return Errors.UNKNOWN_TOPIC_OR_PARTITION, None
        if self.fences and (change.zk_version > now.zk_version or change.leader_epoch > now.leader_epoch):
            return Errors.NOT_CONTROLLER, None
        if change.leader_epoch < now.leader_epoch:
            return Errors.FENCED_LEADER_EPOCH, None
        wanted = (leader, change.leader_epoch, change.isr, False)
        if (now.leader, now.leader_epoch, now.isr, now.recovering) == wanted:
            return Errors.NONE, now
        if self.fences and change.zk_version != now.zk_version:
            return Errors.INVALID_UPDATE_VERSION, None
        if self.refuses_dead and not all(member in self.context.live for member in change.isr):
            return Errors.INELIGIBLE_REPLICA, None
        return None
