"""What one step of the controller has to say to the brokers, gathered and sent at once (kafka-behaviour §7.1)."""

from collections.abc import Callable, Iterable
from functools import partial

from attrs import define, evolve, field

from controller.channels.schemas import AllReplicas, RequestSchema
from controller.channels.sender import Channels
from controller.context import Context
from controller.errors import IllegalState
from emulator.protocol.assignments import Replicas
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.stop_replica import EPOCH_DURING_DELETE, NO_EPOCH, StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr


@define(eq=False, repr=False)
class RequestBatch:
    """Requests by broker.

    Attributes:
        answered: called with a broker and its answer to each LeaderAndIsr.
        stopped: called with a broker and its answer to each StopReplica with deletion.
        tells_motions: whether LeaderAndIsr carries AR and RR (v3; inter.broker.protocol.version 2.4-IV0).
        schema: how a partition is put into them.
        stops_name_epochs: whether StopReplica carries leader epochs (KIP-570).
    """

    controller_id: int
    context: Context
    channels: Channels
    answered: Callable[[int, LeaderAndIsrResponse], None]
    stopped: Callable[[int, StopReplicaResponse], None]
    tells_motions: bool = True
    schema: RequestSchema = field(factory=AllReplicas)
    stops_name_epochs: bool = False
    _leader_and_isr: dict[int, dict[TopicPartition, LeaderAndIsrPartition]] = field(factory=dict)
    _told: dict[TopicPartition, tuple[LeaderAndIsr, LeaderAndIsrPartition]] = field(factory=dict)
    _stops: dict[int, list[tuple[TopicPartition, int, bool]]] = field(factory=dict)
    _metadata_brokers: dict[int, None] = field(factory=dict)
    _metadata: dict[TopicPartition, PartitionMetadata] = field(factory=dict)

    def begin(self) -> None:
        """Raises: IllegalState where the last batch was never sent: an exception came between."""
        if self._leader_and_isr or self._stops or self._metadata_brokers:
            raise IllegalState("the batch of requests to the brokers is not empty: state changes may be lost")

    def clear(self) -> None:
        self._leader_and_isr.clear()
        self._told.clear()
        self._stops.clear()
        self._metadata_brokers.clear()
        self._metadata.clear()

    # -- gathering ----------------------------------------------------------------------------------------------------

    def leader_and_isr(
        self,
        brokers: Iterable[int],
        tp: TopicPartition,
        state: LeaderAndIsr,
        replicas: Replicas,
        *,
        is_new: bool,
    ) -> None:
        """Tell ``brokers`` who leads ``tp``. A later call for the same broker and partition replaces an
        earlier one, but "new" stays. All brokers learn the metadata."""
        told = self._described(tp, state, replicas, is_new)
        for broker in brokers:
            if broker >= 0:
                states = self._leader_and_isr.get(broker)
                if states is None:
                    states = self._leader_and_isr[broker] = {}
                before = None if is_new else states.get(tp)
                stays_new = before is not None and before.is_new
                states[tp] = evolve(told, is_new=True) if stays_new else told

    def _described(
        self, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, is_new: bool
    ) -> LeaderAndIsrPartition:
        """What the replicas of ``tp`` are told: one object, and one of metadata, for all who are told the same while
        it does not move."""
        moves = self.context.moves
        move = moves.get(tp) if moves else None
        adding, removing = self.context.motion(tp) if self.tells_motions else ((), ())
        known = self._told.get(tp)
        if known is not None and move is None and not (adding or removing):
            before, told = known
            if before is state and told.replicas is replicas and told.is_new is is_new:
                return told
        told = self.schema.leader_and_isr(move, tp, state, replicas, is_new)
        if adding or removing:
            told = evolve(told, adding=adding, removing=removing)
        self._told[tp] = state, told
        self.update_metadata(self.context.brokers, [tp])
        return told

    def stop_replica(self, broker: int, tp: TopicPartition, *, delete: bool) -> None:
        """Stop a replica under the leader epoch that the memory has now: a step may raise it before it ends."""
        if broker >= 0:
            self._stops.setdefault(broker, []).append((tp, self._epoch(tp), delete))

    def _epoch(self, tp: TopicPartition) -> int:
        if self.context.is_deleting(tp.topic):
            return EPOCH_DURING_DELETE
        state = self.context.leadership.get(tp)
        return NO_EPOCH if state is None else state.leader_epoch

    def update_metadata(self, brokers: Iterable[int], partitions: Iterable[TopicPartition]) -> None:
        """Tell ``brokers`` who is alive, and about those of ``partitions`` that ever had a leader. One whose topic
        is to be deleted is told as gone: leader -2."""
        informed = self._metadata_brokers
        for broker in brokers:
            if broker not in informed and broker >= 0:
                informed[broker] = None
        for tp in partitions:
            state = self.context.leadership.get(tp)
            if state is not None:
                if self.context.is_deleting(tp.topic):
                    state = LeaderAndIsr(LEADER_DURING_DELETE, 0, state.isr, state.controller_epoch)
                replicas = self.context.replicas(tp)
                down = tuple([replica for replica in replicas if not self.context.is_online(replica, tp)])
                move = self.context.moves.get(tp)
                self._metadata[tp] = self.schema.update_metadata(move, tp, state, replicas, down)

    # -- sending ------------------------------------------------------------------------------------------------------

    def send(self) -> None:
        """LeaderAndIsr, then UpdateMetadata, then StopReplica (delete before keep), to brokers that are registered."""
        self._send_leader_and_isr()
        self._send_update_metadata()
        self._send_stop_replica()
        self.clear()

    def _send_leader_and_isr(self) -> None:
        context = self.context
        for broker, states in sorted(self._leader_and_isr.items()):
            if broker in context.brokers:
                leading = {state.leader for state in states.values()}
                leaders = tuple(b for b in context.live_or_shutting_down if b in leading)
                request = LeaderAndIsrRequest(
                    self.controller_id,
                    context.epoch,
                    context.brokers[broker],
                    tuple(states.values()),
                    leaders,
                )
                self.channels.send(broker, request, partial(self.answered, broker))

    def _send_update_metadata(self) -> None:
        context = self.context
        partitions = tuple(self._metadata.values())
        for broker in sorted(self._metadata_brokers):
            if broker in context.brokers:
                request = UpdateMetadataRequest(
                    self.controller_id, context.epoch, context.brokers[broker], partitions,
                    context.live_or_shutting_down,
                )  # fmt: skip
                self.channels.send(broker, request)

    def _send_stop_replica(self) -> None:
        context = self.context
        for broker, stops in sorted(self._stops.items()):
            if broker not in context.brokers:
                continue
            for delete in (True, False):
                meant = [(tp, epoch) for tp, epoch, deleting in stops if deleting is delete]
                if meant:
                    epochs = tuple(epoch for _, epoch in meant) if self.stops_name_epochs else ()
                    request = StopReplicaRequest(
                        self.controller_id, context.epoch, context.brokers[broker], delete,
                        tuple(tp for tp, _ in meant), epochs,
                    )  # fmt: skip
                    self.channels.send(broker, request, partial(self.stopped, broker) if delete else None)
