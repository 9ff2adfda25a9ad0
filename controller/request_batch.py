"""The requests of one state change, collected by broker and sent together (kafka-behaviour §7.1)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from attrs import define, evolve, field

from controller.channel_manager import ControllerChannelManager
from controller.context import ControllerContext
from controller.errors import IllegalState
from controller.request_schemas import AllReplicas, RequestSchema
from emulator.protocol.assignments import NOT_REASSIGNED, ReassigningReplicas, Replicas
from emulator.protocol.leader_and_isr import (
    NO_TOPIC_IDS,
    LeaderAndIsrPartition,
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
)
from emulator.protocol.scala_order import trie_order
from emulator.protocol.stop_replica import EPOCH_DURING_DELETE, NO_EPOCH, StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr


class Stop(NamedTuple):
    """One replica to stop, under the leader epoch that the request names."""

    tp: TopicPartition
    leader_epoch: int
    delete: bool


@define(eq=False, repr=False)
class ControllerBrokerRequestBatch:
    """One batch: ``new_batch``, any number of additions, ``send_to_brokers``.

    Attributes:
        answered: called with a broker and its response to each LeaderAndIsr.
        stopped: called with a broker and its response to each StopReplica with deletion.
        sends_reassigning: whether LeaderAndIsr has the adding and removing replicas (v3; inter.broker.protocol.version
            2.4-IV0).
        schema: how a partition is written into the requests.
        stops_name_epochs: whether StopReplica carries leader epochs (KIP-570).
        groups_stops: whether the replicas that a broker stops go into one StopReplica, those to delete into another.
            Before KAFKA-8294 (2.3) there was one for each replica, and first one for none (``sendRequestsToBrokers``,
            1.1.1: each has a callback, so none is grouped).
        no_partitions_are_all: whether an UpdateMetadata that is added for no partitions holds all of them
            (``addUpdateMetadataRequestForBrokers`` before KAFKA-7537, 2.2).
        names_all_deleting: whether each UpdateMetadata also holds all partitions of topics that are to be deleted
            (``addUpdateMetadataRequestForBrokers`` before KAFKA-6481, 2.0).
        metadata_needs_partitions: whether an UpdateMetadata without any partition is left out (before KAFKA-1867, 0.9).
        reports_kept: whether ``stopped`` is also called with the response to a StopReplica that keeps the replicas
            (KAFKA-9946).
    """

    controller_id: int
    context: ControllerContext
    channels: ControllerChannelManager
    answered: Callable[[int, LeaderAndIsrResponse], None]
    stopped: Callable[[int, StopReplicaResponse], None]
    sends_reassigning: bool = True
    schema: RequestSchema = field(factory=AllReplicas)
    stops_name_epochs: bool = False
    groups_stops: bool = True
    no_partitions_are_all: bool = False
    reports_kept: bool = False
    names_all_deleting: bool = False
    metadata_needs_partitions: bool = False
    _leader_and_isr: dict[int, dict[TopicPartition, LeaderAndIsrPartition]] = field(factory=dict)
    _written: dict[TopicPartition, tuple[LeaderAndIsr, LeaderAndIsrPartition]] = field(factory=dict)
    _stops: dict[int, list[Stop]] = field(factory=dict)
    _metadata_brokers: dict[int, None] = field(factory=dict)
    _metadata: dict[TopicPartition, PartitionMetadata] = field(factory=dict)
    _all_informed: bool = False
    """Whether every registered broker is in ``_metadata_brokers``."""
    _offline: dict[Replicas, Replicas] | None = None
    """The replicas that are offline in each list, while no log directory is: brokers do not change during a batch."""

    def new_batch(self) -> None:
        """Begin a batch.

        Raises: IllegalState where the last one was not sent, because an exception ended its state change.
        """
        self._offline = None
        if self._leader_and_isr or self._stops or self._metadata_brokers:
            raise IllegalState("the batch of requests to the brokers is not empty: state changes may be lost")

    def clear(self) -> None:
        """Drop what was added."""
        self._leader_and_isr.clear()
        self._written.clear()
        self._stops.clear()
        self._metadata_brokers.clear()
        self._metadata.clear()
        self._all_informed, self._offline = False, None

    @property
    def brokers(self) -> int:
        """The number of brokers for which requests are in the batch."""
        return len({**self._leader_and_isr, **self._stops, **self._metadata_brokers})

    # -- adding -------------------------------------------------------------------------------------------------------

    def add_leader_and_isr(
        self,
        brokers: Iterable[int],
        tp: TopicPartition,
        state: LeaderAndIsr,
        replicas: Replicas,
        *,
        is_new: bool,
    ) -> None:
        """Add ``tp`` to the LeaderAndIsr of ``brokers``, and its metadata to every broker's UpdateMetadata.

        A later call for the same broker and partition replaces an earlier one, but "new" stays. As the replicas of a
        partition get the same state one after another, it is made once, and its metadata added once.
        """
        written = self._written_already(tp, state, replicas, is_new)
        if written is None:
            written = self._write(tp, state, replicas, is_new)
            if not self._all_informed:
                self._inform(self.context.brokers)
                self._all_informed = True
            self._add_metadata(tp)
        for broker in brokers:
            if broker >= 0:
                states = self._leader_and_isr.get(broker)
                if states is None:
                    states = self._leader_and_isr[broker] = {}
                before = None if is_new else states.get(tp)
                stays_new = before is not None and before.is_new
                states[tp] = evolve(written, is_new=True) if stays_new else written

    def _written_already(
        self, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, is_new: bool
    ) -> LeaderAndIsrPartition | None:
        """The state that the last call for ``tp`` made, if it had the same arguments and no move is in progress."""
        known = self._written.get(tp)
        if known is None:
            return None
        before, written = known
        if before is not state or written.replicas is not replicas or written.is_new is not is_new:
            return None
        context = self.context
        if (context.reassignments or context.reassigning) and (
            tp in context.reassignments or any(self._adding_and_removing(tp))
        ):
            return None
        return written

    def _write(
        self, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, is_new: bool
    ) -> LeaderAndIsrPartition:
        written = self.schema.leader_and_isr(self.context.reassignments.get(tp), tp, state, replicas, is_new)
        if self.context.reassigning:
            adding, removing = self._adding_and_removing(tp)
            if adding or removing:
                written = evolve(written, adding=adding, removing=removing)
        self._written[tp] = state, written
        return written

    def _adding_and_removing(self, tp: TopicPartition) -> ReassigningReplicas:
        return self.context.adding_and_removing(tp) if self.sends_reassigning else NOT_REASSIGNED

    def add_stop_replica(self, broker: int, tp: TopicPartition, *, delete: bool) -> None:
        """Stop a replica under the leader epoch that the context has now: the same state change may raise it later."""
        if broker >= 0:
            self._stops.setdefault(broker, []).append(Stop(tp, self._epoch(tp), delete))

    def _epoch(self, tp: TopicPartition) -> int:
        if self.context.is_deleting(tp.topic):
            return EPOCH_DURING_DELETE
        state = self.context.leadership_info.get(tp)
        return NO_EPOCH if state is None else state.leader_epoch

    def add_update_metadata(self, brokers: Iterable[int], partitions: Sequence[TopicPartition]) -> None:
        """Send ``brokers`` the live brokers, and add those of ``partitions`` that ever had a leader to what all get. A
        partition whose topic is being deleted has leader -2."""
        if self.no_partitions_are_all and not partitions:
            partitions = tuple(self.context.leadership_info)
        self._inform(brokers)
        for tp in partitions:
            self._add_metadata(tp)

    def _inform(self, brokers: Iterable[int]) -> None:
        informed = self._metadata_brokers
        for broker in brokers:
            if broker not in informed and broker >= 0:
                informed[broker] = None

    def _add_metadata(self, tp: TopicPartition) -> None:
        context = self.context
        state = context.leadership_info.get(tp)
        if state is not None:
            if context.is_deleting(tp.topic):
                state = LeaderAndIsr(LEADER_DURING_DELETE, 0, state.isr, state.controller_epoch)
            replicas = context.replicas(tp)
            move = context.reassignments.get(tp)
            self._metadata[tp] = self.schema.update_metadata(move, tp, state, replicas, self._down(tp, replicas))

    def _down(self, tp: TopicPartition, replicas: Replicas) -> Replicas:
        """The members of ``replicas`` that are offline. Most partitions have one of a few lists, for which this is
        found once."""
        context = self.context
        if self._offline is None:
            self._offline = {}
        known = self._offline.get(replicas)
        if known is not None:
            return known
        down = tuple([replica for replica in replicas if not context.is_online(replica, tp)])
        if not context.any_dir_offline:
            self._offline[replicas] = down
        return down

    # -- sending ------------------------------------------------------------------------------------------------------

    def send_update_metadata(self, brokers: Iterable[int], partitions: Sequence[TopicPartition] = ()) -> None:
        """Send ``brokers`` the live brokers and ``partitions``, in a batch of its own
        (KafkaController.sendUpdateMetadataRequest)."""
        self.new_batch()
        self.add_update_metadata(brokers, partitions)
        self.send_to_brokers()

    def send_to_brokers(self) -> None:
        """Send LeaderAndIsr, then UpdateMetadata, then StopReplica (delete before keep), to registered brokers."""
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
                    self._topic_ids(states),
                )
                self.channels.send(broker, request, partial(self.answered, broker))

    def _send_update_metadata(self) -> None:
        context = self.context
        if self.names_all_deleting and self._metadata_brokers:
            for topic in context.deletions.queued:
                for tp in context.partitions_of(topic):
                    self._add_metadata(tp)
        partitions, topic_ids = tuple(self._metadata.values()), self._topic_ids(self._metadata)
        if self.metadata_needs_partitions and not partitions:
            return
        for broker in sorted(self._metadata_brokers):
            if broker in context.brokers:
                request = UpdateMetadataRequest(
                    self.controller_id, context.epoch, context.brokers[broker], partitions,
                    context.live_or_shutting_down, topic_ids,
                )  # fmt: skip
                self.channels.send(broker, request)

    def _topic_ids(self, partitions: Iterable[TopicPartition]) -> Mapping[str, str]:
        """The ids of the topics of ``partitions`` (LeaderAndIsr 5, UpdateMetadata 7)."""
        known = self.context.topic_ids
        return {tp.topic: known[tp.topic] for tp in partitions if tp.topic in known} if known else NO_TOPIC_IDS

    def _send_stop_replica(self) -> None:
        context = self.context
        for broker, stops in sorted(self._stops.items()):
            if broker not in context.brokers:
                continue
            for delete, group in self._grouped(broker, stops):
                epochs = tuple(stop.leader_epoch for stop in group) if self.stops_name_epochs else ()
                request = StopReplicaRequest(
                    self.controller_id, context.epoch, context.brokers[broker], delete,
                    tuple(stop.tp for stop in group), epochs,
                )  # fmt: skip
                reported = delete or self.reports_kept
                self.channels.send(broker, request, partial(self.stopped, broker) if reported else None)

    def _grouped(self, broker: int, stops: list[Stop]) -> list[tuple[bool, list[Stop]]]:
        """The requests of one broker: whether they delete, and the replicas that each names. Where each replica has one
        of its own, they have the order in which the controller went through the set of replicas."""
        if not self.groups_stops:
            replicas: dict[tuple[TopicPartition, int], list[Stop]] = {}
            for stop in stops:
                replicas.setdefault((stop.tp, broker), []).append(stop)
            ordered = [stop for replica in trie_order(replicas) for stop in replicas[replica]]
            return [(False, []), *((stop.delete, [stop]) for stop in ordered)]
        if self.stops_name_epochs:
            stops = _one_for_each(stops)
        groups = [(delete, [stop for stop in stops if stop.delete is delete]) for delete in (True, False)]
        return [(delete, group) for delete, group in groups if group]


def _one_for_each(stops: list[Stop]) -> list[Stop]:
    """The stops, one for each replica: the last leader epoch counts, and the replica is deleted if any of its stops
    says so (addStopReplicaRequestForBrokers, 2.6)."""
    found: dict[TopicPartition, Stop] = {}
    for stop in stops:
        before = found.get(stop.tp)
        found[stop.tp] = stop if before is None else stop._replace(delete=before.delete or stop.delete)
    return list(found.values())
