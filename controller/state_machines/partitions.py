"""The partition state machine (kafka-behaviour §5.1). An illegal transition is logged; the others of the same call are
made."""

from collections.abc import Sequence

from attrs import define

from controller.context import ControllerContext
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_election_algorithms import LeaderElectionAlgorithm, LeaderElectionAlgorithms
from controller.state_machines.leader_elections import LeaderElections
from controller.states import PARTITION_PREDECESSORS, PartitionState
from emulator.logger import get_logger
from emulator.protocol.control_requests import PartitionsChanged
from emulator.protocol.types import TopicPartition

log = get_logger("controller.partitions")


@define(eq=False, repr=False)
class PartitionStateMachine:
    """Changes the states of partitions; one call is one batch of requests.

    Every method that writes raises ControllerMoved.
    """

    context: ControllerContext
    elections: LeaderElections
    batch: ControllerBrokerRequestBatch
    selectors: LeaderElectionAlgorithms

    async def startup(self) -> None:
        """Failover F7: set the state of every partition by the leaders that were read; elect where there is none."""
        context = self.context
        states: dict[TopicPartition, PartitionState] = {}
        for tp in context.partitions():
            known = context.leadership_info.get(tp)
            if known is None:
                states[tp] = PartitionState.NEW
            elif context.is_online(known.leader, tp):
                states[tp] = PartitionState.ONLINE
            else:
                states[tp] = PartitionState.OFFLINE
        context.partition_states.update(states)
        await self.trigger_online_state_change()

    async def trigger_online_state_change(self, topic: str | None = None) -> list[TopicPartition]:
        """Elect a leader for each new or offline partition (of one topic), except of topics that are being deleted.
        Returns the partitions that got one."""
        missing = self.context.partitions_in(PartitionState.OFFLINE, PartitionState.NEW)
        of_topic = [tp for tp in missing if topic in (None, tp.topic)]
        wanted = [tp for tp in of_topic if not self.context.is_deleting(tp.topic)]
        return await self.handle_state_changes(wanted, PartitionState.ONLINE)

    async def handle_state_changes(
        self,
        partitions: Sequence[TopicPartition],
        target: PartitionState,
        selector: LeaderElectionAlgorithm | None = None,
    ) -> list[TopicPartition]:
        """Change ``partitions`` to ``target``. Those that go online get a leader from ``selector``, by default the one
        for offline partitions. Returns the partitions that were changed."""
        if not partitions:
            return []
        self.batch.new_batch()
        legal = self._legal(partitions, target)
        if target is PartitionState.ONLINE:
            states = self.context.partition_states
            new = [tp for tp in legal if states.get(tp) is PartitionState.NEW]
            created = await self.elections.initialize(new)
            led = [tp for tp in legal if states.get(tp) is not PartitionState.NEW]
            elected = await self.elections.elect(led, selector or self.selectors.offline)
            legal = [*created, *elected]
        process = self.elections.process
        if process.node.trace.shows(PartitionsChanged):
            before = tuple(self.context.partition_state(tp) for tp in legal)
            process.show(PartitionsChanged, self.batch.controller_id, tuple(legal), before, target)
        self.context.partition_states.update(dict.fromkeys(legal, target))
        self.batch.send_to_brokers()
        return legal

    def _legal(self, partitions: Sequence[TopicPartition], target: PartitionState) -> list[TopicPartition]:
        """The partitions that may become ``target``."""
        allowed, states = PARTITION_PREDECESSORS[target], self.context.partition_states
        legal = [tp for tp in partitions if states.get(tp, PartitionState.NON_EXISTENT) in allowed]
        if len(legal) < len(partitions):
            for tp in partitions:
                state = self.context.partition_state(tp)
                if state not in allowed:
                    log.error("illegal transition", partition=str(tp), state=state.name, target=target.name)
        return legal
