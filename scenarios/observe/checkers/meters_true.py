"""T9: meters count what happens."""

from __future__ import annotations

from emulator.metrics.metric_events import MeterMarked, MetricRegistered, MetricRemoved
from emulator.protocol.errors import NO_ERROR
from emulator.protocol.events import (
    BatchesAppended,
    BatchesProduced,
    BatchRepeated,
    ControllerElected,
    Fault,
    Fetched,
    IsrChanged,
    IsrUpdateFailed,
    LeaderElected,
    LeapBegan,
    NodeCrashed,
    NodeStarted,
)
from emulator.protocol.shown import ProduceRefused
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Moment, forget
from scenarios.observe.findings.gauge_facts import MeterBehind, MeterBeyond, MeterNoSum
from scenarios.observe.history.counted import (
    BOUNDED,
    BYTES_IN,
    BYTES_OUT,
    ERRORS,
    EXPANDS,
    FAILED_CHANGES,
    FETCHED,
    FETCHES,
    MESSAGES_IN,
    OF_EACH_REQUEST,
    PRODUCE_FAILED,
    PRODUCED,
    PRODUCES,
    REASSIGNED_IN,
    REASSIGNED_OUT,
    REPLICATED_IN,
    REPLICATED_OUT,
    REQUESTS,
    SHRINKS,
    SUMS,
    UNCLEAN,
    CountedMeter,
    counts,
    name_of,
)
from scenarios.observe.past.changes import LedChanged
from scenarios.observe.past.cluster_past import HEAL, RESUME

LATE_US = 10_000_000
"""Twice the time after which counts of requests are written (Yammer's tick, 5 s); counts of bytes are written each
second."""
INTERNAL = "__"
FAILS = ("NOT_ENOUGH_REPLICAS", "OUT_OF_ORDER_SEQUENCE_NUMBER")
"""Errors with which a produce request has failed, whatever the release."""
ACKED = "acked"
IN_FLIGHT_US = 5_000_000
"""How long what a leader has sent may be on its way."""
SOUND = ERRORS, NO_ERROR.name
NOTHING_ADDED: tuple[tuple[int, ...], int] = ((), 0)


class MetersTrue(Checker):
    """A broker's meters count what it has done, no less and no more.

    Verified: of BrokerTopicMetrics, the messages and bytes that a leader appends, of each topic, and those that a
        follower appends; the produce requests, one for each batch that is appended, repeated or refused, and those that
        have failed; at least the fetches by which followers and readers of committed records got something, and the
        bytes that these were sent, those for replicas that a move adds (KIP-352) too. IsrExpandsPerSec,
        IsrShrinksPerSec and UncleanLeaderElectionsPerSec, and at least the changes of ISRs that are refused.
        ErrorsPerSec and RequestsPerSec have at least the batches whose acks producers have got, and what brought them,
        the refused batches with acks=1, and the answers to readers of committed records; and no more answers to
        producers have no error than batches were appended or repeated.
        A meter of all topics is the sum of theirs (BrokerTopicStats, 0.8 to 3.9). Each count is written within 10 s.

    Not verified: what the records of coordinators count as requests; fetches that get nothing; how many bytes more
        than they got readers were sent; how often other requests came; requests once a sampled run has leapt over some;
        the counts of the last seconds of a process.
    """

    ids = ("T9",)
    statement = "meter = Σ what it counts: a broker's meters count what happens, no less and no more"
    fails_when = "a broker forgets to count what its followers are sent"

    def begin(self) -> None:
        self._meters: dict[int, dict[tuple[str, str], CountedMeter]] = {}
        self._summed: dict[tuple[int, str], int] = {}
        """By broker and name: what the meters of its topics have counted together."""
        self._has: dict[tuple[int, str], None] = {}
        """The meters that brokers have, by name: releases have others."""
        self._late: dict[CountedMeter, None] = {}
        self._leapt = False
        self._adding: dict[tuple[int, TopicPartition], tuple[tuple[int, ...], int]] = {}
        """By leader and partition: the replicas that a move adds, as the leader knows, and since when."""
        self._resumed_us: dict[int, int] = {}
        """By broker: when it last went on after a pause. It then takes what was sent to it before."""
        self._answers: dict[tuple[int, str], int] = {}
        """By broker and request: the cause of the last event that shows an answer."""
        self._controllers: dict[int, int] = {}
        """The controllers, by controller epoch."""

    def _meter(self, node: int, name: str, of: str = "") -> CountedMeter:
        meters = self._meters.get(node)
        if meters is None:
            meters = self._meters[node] = {}
        meter = meters.get((name, of))
        if meter is None:
            meter = meters[name, of] = CountedMeter(node, name, of)
        return meter

    # -- what happens -------------------------------------------------------------------------------------------------

    def _count(self, t_us: int, node: int, name: str, of: str, least: int, more: int = 0) -> None:
        """The broker has to count ``least`` more, and may count ``more`` beside them."""
        if self._leapt and name in OF_EACH_REQUEST:
            return
        meters = self._meters.get(node)
        meter = (meters.get((name, of)) if meters else None) or self._meter(node, name, of)
        meter.least += least
        meter.most += least + more
        if not meter.due and meter.least > meter.shown:
            meter.due, meter.since_us = meter.least, t_us
            self._late[meter] = None

    def on_appended(self, event: BatchesAppended) -> None:
        t_us, node, topic, size = event.t_us, event.node, event.topic, sum(event.sizes)
        if event.leader:
            self._count(t_us, node, BYTES_IN, topic, size)
            self._count(t_us, node, MESSAGES_IN, topic, sum(event.next_offsets) - sum(event.base_offsets))
            if not topic.startswith(INTERNAL):
                self._count(t_us, node, PRODUCED, topic, len(event.partitions))
                self._count(t_us, node, ERRORS, NO_ERROR.name, 0, len(event.partitions))
            return
        self._count(t_us, node, REPLICATED_IN, "", size)
        self._count(t_us, node, REASSIGNED_IN, "", 0, size)
        tp = TopicPartition.of(topic, event.partitions[0])
        leader = self.cluster.fetches_from(node, tp)
        if leader is None or self._leapt or self.cluster.as_led(leader, tp) is None:
            return
        resumed_us = self._resumed_us.get(node)
        late = resumed_us is not None and t_us - resumed_us <= IN_FLIGHT_US
        if late or not self._is_of_its_process(leader, t_us):
            return
        self._count(t_us, leader, REPLICATED_OUT, "", size)
        self._count(t_us, leader, FETCHED, topic, 1)
        if self._adding and not self.now.troubled:
            for partition, size in zip(event.partitions, event.sizes, strict=True):
                adding, since_us = self._adding.get((leader, TopicPartition.of(topic, partition)), NOTHING_ADDED)
                if node in adding and t_us - since_us > IN_FLIGHT_US:
                    self._count(t_us, leader, REASSIGNED_OUT, "", size)

    def on_fault(self, event: Fault) -> None:
        if event.action in (RESUME, HEAL):
            self._resumed_us.update(dict.fromkeys(event.brokers, event.t_us))

    def on_led(self, event: LedChanged) -> None:
        key, adding = (event.node, event.tp), event.now.adding if event.now else ()
        if not adding:
            self._adding.pop(key, None)
        elif key not in self._adding or self._adding[key][0] != adding:
            self._adding[key] = adding, event.t_us

    def on_fetched(self, event: Fetched) -> None:
        leader, topic = event.leader, event.topic
        led = self.cluster.as_led(leader, TopicPartition.of(topic, event.partition))
        if led is not None and self._is_of_its_process(leader, event.t_us):
            self._count(event.t_us, leader, BYTES_OUT, topic, 1)
            self._count(event.t_us, leader, FETCHED, topic, 1)
            self._answered(event, leader, FETCHES)

    def _is_of_its_process(self, broker: int, now_us: int) -> bool:
        """Whether what comes from a broker now was sent by the process that runs there."""
        started_us = self.cluster.started_us(broker)
        return started_us is not None and now_us - started_us > IN_FLIGHT_US

    def _answered(self, event: Fetched | BatchesProduced, leader: int, request: str) -> None:
        """A client has an answer of ``leader``, perhaps the same as in the event before."""
        if self._answers.get((leader, request)) != event.cause:
            self._answers[leader, request] = event.cause
            self._count(event.t_us, leader, REQUESTS, request, 1)

    def on_repeated(self, event: BatchRepeated) -> None:
        self._count(event.t_us, event.node, PRODUCED, event.topic, 1)
        self._count(event.t_us, event.node, ERRORS, NO_ERROR.name, 0, 1)

    def on_refused(self, event: ProduceRefused) -> None:
        """Some are refused before they are counted, and with some errors a request has not failed."""
        surely = int(event.error in FAILS)
        self._count(event.t_us, event.node, PRODUCED, event.topic, surely, 1 - surely)
        self._count(event.t_us, event.node, PRODUCE_FAILED, event.topic, surely, 1 - surely)
        if event.acks == 1:  # it is answered at once
            self._count(event.t_us, event.node, ERRORS, event.error, 1)

    def on_produced(self, event: BatchesProduced) -> None:
        if event.outcome == ACKED and self._is_of_its_process(event.leader, event.t_us):
            answered = len(event.partitions)  # they may be since they were appended
            self._count(event.t_us, event.leader, ERRORS, NO_ERROR.name, answered, -answered)
            self._answered(event, event.leader, PRODUCES)

    def on_controller(self, event: ControllerElected) -> None:
        self._controllers[event.controller_epoch] = event.node

    def on_elected(self, event: LeaderElected) -> None:
        controller = self._controllers.get(event.controller_epoch)
        if event.unclean and controller is not None:
            self._count(event.t_us, controller, UNCLEAN, "", 1)

    def on_changed(self, event: IsrChanged) -> None:
        self._count(event.t_us, event.node, EXPANDS if event.kind == "expand" else SHRINKS, "", 1)

    def on_failed(self, event: IsrUpdateFailed) -> None:
        self._count(event.t_us, event.node, FAILED_CHANGES, "", 1)

    # -- what is shown ------------------------------------------------------------------------------------------------

    def on_registered(self, event: MetricRegistered) -> None:
        self._has[event.node, name_of(event.metric)] = None
        found = counts(event.metric)
        if found is not None:
            self._meter(event.node, *found).shown = 0

    def on_removed(self, event: MetricRemoved) -> None:
        found = counts(event.metric)
        if found is not None:
            meter = self._meter(event.node, *found)
            meter.end()
            self._late.pop(meter, None)

    def on_marked(self, event: MeterMarked) -> None:
        found = counts(event.metric)
        if found is None:
            return
        name, of = found
        meter = self._meter(event.node, name, of)
        more, meter.shown = event.total - meter.shown, event.total
        if name in SUMS:
            if of:
                self._summed[event.node, name] = self._summed.get((event.node, name), 0) + more
            elif event.total != (summed := self._summed.get((event.node, name), 0)):
                self.violated(event, MeterNoSum(event.node, name, event.total, summed), brokers=(event.node,))
        bounded = (name in BOUNDED and (of or name not in SUMS)) or found == SOUND
        if bounded and event.total > meter.most and not self._unbounded(meter):
            self.violated(event, MeterBeyond(event.node, name, of, event.total, meter.most), brokers=(event.node,))

    def _unbounded(self, meter: CountedMeter) -> bool:
        return meter.name in OF_EACH_REQUEST and (self._leapt or meter.of.startswith(INTERNAL))

    def look(self, moment: Moment) -> None:
        if not self._late:
            return
        for meter in list(self._late):
            if self.cluster.is_paused(meter.node) or meter.shown >= meter.due:
                meter.due, meter.since_us = meter.least, moment.t_us
                if meter.shown < meter.least:
                    continue
            elif moment.t_us - meter.since_us <= LATE_US:
                continue
            elif (meter.node, meter.name) in self._has:
                facts = MeterBehind(meter.node, meter.name, meter.of, meter.shown, meter.due)
                self.violated(moment, facts, brokers=(meter.node,))
            meter.due = 0
            del self._late[meter]

    # -- what ends ----------------------------------------------------------------------------------------------------

    def on_life(self, event: NodeStarted | NodeCrashed) -> None:
        for meter in self._meters.pop(event.node, {}).values():
            self._late.pop(meter, None)
        forget(event.node, self._has, self._summed, self._adding, self._answers)

    def on_leap(self, _: LeapBegan) -> None:
        """Requests do not come meanwhile."""
        self._leapt = True
        self._late.clear()
        for meters in self._meters.values():
            for meter in meters.values():
                meter.due = 0
