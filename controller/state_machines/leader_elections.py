"""Writing leaders to ZooKeeper: the first leader of a new partition, elections, and changes of the leader epoch
alone."""

from collections.abc import Sequence

from attrs import define, field

from controller.context import ControllerContext
from controller.errors import StateChangeFailed
from controller.request_batch import ControllerBrokerRequestBatch
from controller.state_machines.leader_election_algorithms import LIVE_ALONE, Candidates, Choice, LeaderElectionAlgorithm
from controller.zk_client import KafkaZkClient
from emulator.logger import get_logger
from emulator.metrics import Meter, mbean
from emulator.nodes import Process
from emulator.protocol.assignments import Replicas
from emulator.protocol.events import LeaderElected
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.zookeeper import SessionExpired

log = get_logger("controller.elections")

FINDS_STATE = "PartitionStateMachine.initializeLeaderAndIsrForPartitions"
"""A new partition that has its state already (0.8.0 to 3.9)."""


@define(eq=False, repr=False)
class LeaderElections:
    """The elections of one controller. Each decision is based on the state that ZooKeeper has at that moment, and
    written over that version only.

    Where the session expires, the partitions of the call fail and the event goes on
    (ZkPartitionStateMachine.initializeLeaderAndIsrForPartitions and doElectLeaderForPartitions, 2.4.1).

    Attributes:
        remembers_bumps: whether the memory takes over an epoch that is raised alone (KAFKA-9212).
        unclean: unclean.leader.election.enable of the brokers; a topic's own setting overrides it.
        marks_recovering: whether the state of a leader that was not in the ISR says so (KIP-704).
        unclean_elections: the meter UncleanLeaderElectionsPerSec.
    """

    process: Process
    context: ControllerContext
    zk_client: KafkaZkClient
    batch: ControllerBrokerRequestBatch
    remembers_bumps: bool
    unclean: bool
    marks_recovering: bool = False
    unclean_elections: Meter = field(init=False)

    def __attrs_post_init__(self) -> None:
        name = mbean("kafka.controller", "ControllerStats", "UncleanLeaderElectionsPerSec")
        self.unclean_elections = self.process.metrics.meter(name)

    async def initialize(self, partitions: Sequence[TopicPartition]) -> list[TopicPartition]:
        """Give new partitions their state znode: the first live replica leads, all live ones are the ISR.

        Returns the partitions whose znode was created. The others stay new: none of their replicas is live, there was
        a znode already, or the session expired.
        """
        states: dict[TopicPartition, LeaderAndIsr] = {}
        shared: dict[Replicas, LeaderAndIsr] = {}  # there are few replica lists and many partitions
        for tp in partitions:
            live = self.context.online(tp)
            if live:
                state = shared.get(live)
                if state is None:
                    state = shared[live] = LeaderAndIsr(live[0], 0, live, self.context.epoch)
                states[tp] = state
            else:
                log.error("no assigned replica is alive", partition=str(tp), replicas=self.context.replicas(tp))
        try:
            created = await self.zk_client.create_states(states)
        except SessionExpired as error:
            log.error("no state znodes were created", partitions=[str(tp) for tp in states], reason=str(error))
            return []
        if len(created) < len(states):
            for tp in states:
                if tp not in created:  # also one that was created, where the connection was lost with the answer
                    self.process.mark(Deviated, self.process.node.id, FINDS_STATE, *tp, -1)
        for tp in created:
            state = self.context.leadership_info[tp] = states[tp]
            self.batch.add_leader_and_isr(state.isr, tp, state, self.context.replicas(tp), is_new=True)
            self._record(tp, state, "new", unclean=False)
            self._show_not_notified(tp, state.isr, LIVE_ALONE)
        return created

    async def elect(
        self, partitions: Sequence[TopicPartition], selector: LeaderElectionAlgorithm
    ) -> list[TopicPartition]:
        """Choose and write leaders; returns the partitions that have a new one. Where a leader changes its ISR in
        between, the election of that partition starts again."""
        elected: list[TopicPartition] = []
        remaining = list(partitions)
        while remaining:
            try:
                choices, states = await self._choose(remaining, selector)
                written, remaining = await self.zk_client.write_states(states)
            except SessionExpired as error:
                log.error("no elections", partitions=[str(tp) for tp in remaining], reason=str(error))
                break
            for tp, state in written.items():
                choice = choices[tp]
                self.context.leadership_info[tp] = state
                self.batch.add_leader_and_isr(choice.recipients, tp, state, self.context.replicas(tp), is_new=False)
                self._record(tp, state, selector.name, choice.unclean)
                if selector.ticket:
                    self._show_not_notified(tp, choice.recipients, selector.ticket)
            elected += written
        return elected

    async def _choose(
        self, partitions: Sequence[TopicPartition], selector: LeaderElectionAlgorithm
    ) -> tuple[dict[TopicPartition, Choice], dict[TopicPartition, LeaderAndIsr]]:
        choices, states = {}, {}
        known = await self.zk_client.states(partitions)
        for tp in partitions:
            state = known.get(tp)
            if state is None or self.written_by_newer(tp, state):
                log.error("no election", partition=str(tp), selector=selector.name)
                continue
            choice = selector.select(await self._candidates(tp, state, selector))
            if choice is None:
                log.error("no replica can lead", partition=str(tp), selector=selector.name, isr=state.isr)
                continue
            choices[tp] = choice
            recovering = state.recovering or (self.marks_recovering and choice.unclean)
            states[tp] = self.successor(state, leader=choice.leader, isr=choice.isr, recovering=recovering)
        return choices, states

    async def _candidates(
        self, tp: TopicPartition, state: LeaderAndIsr, selector: LeaderElectionAlgorithm
    ) -> Candidates:
        context = self.context
        move = context.reassignments.get(tp)
        # A topic's settings are read only where they matter: no replica in the ISR is online.
        asks = selector.asks_unclean and not any(context.is_online(replica, tp) for replica in state.isr)
        replicas = context.replicas(tp)
        return Candidates(
            assignment=replicas,
            isr=state.isr,
            online=tuple(broker for broker in context.live if context.is_online(broker, tp)),
            shutting_down=tuple(context.shutting_down),
            reachable=tuple(b for b in replicas if context.is_online(b, tp, include_shutting_down=True)),
            target=() if move is None else move.step_target,
            unclean=asks and await self.zk_client.unclean_allowed(tp.topic, self.unclean),
            leader=state.leader,
        )

    async def raise_leader_epoch(self, tp: TopicPartition) -> LeaderAndIsr:
        """Write the same leader and ISR with the next epoch, so that the brokers do not refuse the next LeaderAndIsr as
        stale (KafkaController.updateLeaderEpoch).

        Up to 2.3.1 the memory keeps what it has, and the next UpdateMetadata and LeaderAndIsr of the partition name the
        epoch, the version and the ISR from before (KAFKA-9212).

        Raises: StateChangeFailed where the partition has no state znode, or a newer controller has written it.
        """
        while True:
            state = (await self.zk_client.states([tp])).get(tp)
            if state is None or self.written_by_newer(tp, state):
                raise StateChangeFailed(f"cannot raise the leader epoch of {tp}")
            written, _ = await self.zk_client.write_states({tp: self.successor(state)})
            if tp in written:
                if self.remembers_bumps:
                    self.context.leadership_info[tp] = written[tp]
                return written[tp]

    def successor(
        self,
        state: LeaderAndIsr,
        *,
        leader: int | None = None,
        isr: Replicas | None = None,
        recovering: bool | None = None,
    ) -> LeaderAndIsr:
        """The state that this controller writes over ``state``."""
        return LeaderAndIsr(
            state.leader if leader is None else leader,
            state.leader_epoch + 1,
            state.isr if isr is None else isr,
            self.context.epoch,
            state.zk_version,
            state.recovering if recovering is None else recovering,
        )

    def written_by_newer(self, tp: TopicPartition, state: LeaderAndIsr) -> bool:
        """Whether a later controller has written ``state``: this one has been replaced and does not know it yet."""
        newer = state.controller_epoch > self.context.epoch
        if newer:
            log.error("written by a newer controller", partition=str(tp), controller_epoch=state.controller_epoch)
        return newer

    def _show_not_notified(self, tp: TopicPartition, recipients: Replicas, ticket: str) -> None:
        """Brokers that shut down, and get no LeaderAndIsr of the new leader."""
        for broker in self.context.shutting_down:
            if broker in self.context.replicas(tp) and broker not in recipients:
                self.process.mark(Deviated, self.process.node.id, ticket, *tp, broker)

    def _record(self, tp: TopicPartition, state: LeaderAndIsr, selector: str, unclean: bool) -> None:
        self.process.emit(
            LeaderElected, tp.topic, tp.partition, state.leader, state.leader_epoch, state.isr, selector,
            state.controller_epoch, unclean,
        )  # fmt: skip
        if unclean:
            self.unclean_elections.mark()
