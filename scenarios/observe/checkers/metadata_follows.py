"""E7, V3: what brokers tell clients about leaders follows ZooKeeper."""

from __future__ import annotations

from emulator.protocol.control_requests import ControlChannelClosed, ControlQueued
from emulator.protocol.events import LogDirFailed, ReplicaOffline
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import BROKER_IDS, LeaderAndIsr
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Gravity, Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import PER_PARTITION_US, SETTLING_US
from scenarios.observe.findings.metadata_facts import EpochTakenBack, LeadershipFact, NotSent, SentAgain
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

Announced = tuple[int, int, tuple[int, ...]]
"""A controller, its epoch, and the live brokers."""


class MetadataFollows(InTime[TopicPartition]):
    """The leader epoch of a partition in the controller's UpdateMetadata requests never goes back, and the leader and
    its epoch are soon those in ZooKeeper. A request that names no partition is about other live brokers.

    Verified: each content of an UpdateMetadata that a controller queues, once for all brokers, against the content of
        the one before and, once a second and when the cluster is at rest, against ZooKeeper. That brokers get it, one
        after the other, is checked by ``requests_delivered``, and that they refuse an older controller's by
        ``epochs_grow``; so it is what they tell clients. The bound is that of ``led_in_time``. A controller
        that has led for 5 s sends a broker one UpdateMetadata without partitions at most while the live brokers stay
        the same and none has started; unless a log directory has failed, a topic was to be deleted, or a partition has
        never had a leader, as it is sent then, too.

    Up to 2.3 a controller does not remember a leader epoch that it has raised alone (KAFKA-9212, 2.4): for such
    releases only leaders are compared.

    Not verified: the ISR in the metadata, which follows with a delay; topics that are being deleted.
    """

    ids = ("E7", "V3")
    gravity = Gravity.LIVENESS
    statement = (
        "metadata[p] never falls, and = Z[p] within T: the leaders in brokers' metadata are soon those in ZooKeeper"
    )
    catches = ("KAFKA-4443",)
    fails_when = "the controller's memory does not take over a leader epoch that it has raised"

    def begin(self) -> None:
        super().begin()
        self.bound_us = self.start.session_timeout_us + SETTLING_US
        self._epochs = self.start.metadata_has_raised_epochs
        self._told: dict[TopicPartition, PartitionMetadata] = {}
        self._last: tuple[PartitionMetadata, ...] = ()
        self._controller_epoch = 0
        self._announced: dict[int, tuple[Announced, bool, int]] = {}
        """By broker, of the last request for it; whether one without partitions was about the same; and how many of
        the ``_starts`` requests to it may have been about."""
        self._starts = 0
        """How often a broker has started: a controller announces each start, or several at once."""
        self._repeats = False
        """Whether a controller may send what brokers know."""
        self._new: dict[TopicPartition, None] = {}
        """The partitions that have never had a leader."""

    def on_offline(self, event: LogDirFailed | ReplicaOffline) -> None:
        self._repeats = True

    def on_written(self, event: ZkWritten) -> None:
        """A broker that starts is announced to all, also where it was gone for so short a time, or as a partition had
        no leader, that its end was not. The controller may see its znode before the broker has ZooKeeper's answer, and
        it may start once more before the controller has announced it the first time."""
        if event.op == "create" and event.path.startswith(f"{BROKER_IDS}/"):
            self._starts += 1

    def on_assigned(self, event: AssignmentWritten) -> None:
        if event.replicas and self.cluster.state(event.tp) is None:
            self._new[event.tp] = None
        else:
            self._new.pop(event.tp, None)

    def on_closed(self, event: ControlChannelClosed) -> None:
        self._announced.pop(event.broker, None)

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        if not isinstance(request, UpdateMetadataRequest):
            return
        self._look_for_news(event, request)
        if request.partitions is self._last:
            return
        if request.controller_epoch < self._controller_epoch:
            return
        self._controller_epoch, self._last = request.controller_epoch, request.partitions
        told = self._told
        for state in request.partitions:
            tp = state.tp
            before = told.get(tp)
            if before is state:
                continue
            if state.leader == LEADER_DURING_DELETE:
                told.pop(tp, None)
                self.lasting.end(tp)
                continue
            told[tp] = state
            if self._epochs and before is not None and state.leader_epoch < before.leader_epoch:
                self.violated(event, EpochTakenBack(event.node, leadership(state), leadership(before)), tp)
            self._compare(tp, event.t_us)

    def _look_for_news(self, event: ControlQueued, request: UpdateMetadataRequest) -> None:
        self._repeats |= bool(self.cluster.deleting or self._new)
        takes_over = event.t_us - self.cluster.controller_since_us < SETTLING_US
        now = event.node, request.controller_epoch, request.live_brokers
        before, alone, starts = self._announced.get(event.broker, (now, False, self._starts))
        alone &= before == now
        if starts < self._starts and set(before[2]) <= set(now[2]):
            starts += not request.partitions
        elif alone and not (request.partitions or self._repeats or takes_over):
            self.violated(event, SentAgain(event.node, event.broker, tuple(request.live_brokers)))
        self._announced[event.broker] = now, alone or not request.partitions, starts

    def on_state(self, event: StateWritten) -> None:
        tp, state, before = event.tp, event.state, event.before
        self._new.pop(tp, None)
        if state is None:
            self._told.pop(tp, None)
            self.lasting.end(tp)
        elif before is None or (state.leader, state.leader_epoch) != (before.leader, before.leader_epoch):
            self.lasting.end(tp)
            if not agree(self._told.get(tp), state, epochs=self._epochs):
                self.lasting.begin(tp, event.t_us)

    def _compare(self, tp: TopicPartition, now_us: int) -> None:
        state = self.cluster.state(tp)
        if state is None or agree(self._told.get(tp), state, epochs=self._epochs):
            self.lasting.end(tp)
        else:
            self.lasting.begin(tp, now_us)

    def more_us(self) -> int:
        return PER_PARTITION_US * len(self._told)

    def report(self, moment: Moment, tp: TopicPartition, held_us: int) -> None:
        state, told = self.cluster.state(tp), self._told.get(tp)
        assert state is not None
        self.violated(
            moment,
            NotSent(leadership(state), self.cluster.controller, None if told is None else leadership(told), held_us),
            tp,
        )

    def free_since_us(self, tp: TopicPartition) -> int | None:
        return None if self.cluster.is_deleting(tp.topic) else self.now.controlled_since_us()


def agree(known: PartitionMetadata | None, state: LeaderAndIsr, *, epochs: bool) -> bool:
    """Whether metadata names the leader that ZooKeeper has, and with ``epochs`` its leader epoch."""
    return (
        known is not None and known.leader == state.leader and (known.leader_epoch == state.leader_epoch or not epochs)
    )


def leadership(known: PartitionMetadata | LeaderAndIsr) -> LeadershipFact:
    """The leader and leader epoch that metadata or a state znode names."""
    return LeadershipFact(known.leader, known.leader_epoch)
