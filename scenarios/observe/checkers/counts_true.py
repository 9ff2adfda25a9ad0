"""T8: gauges that count something show how many there are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from emulator.metrics import tag
from emulator.metrics.metric_events import GaugeSet, MetricRegistered, MetricRemoved
from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered, ControlQueued
from emulator.protocol.events import ControllerElected, NodeCrashed, ReplicaOffline, ReplicaStopped
from emulator.protocol.shown import Remembered, RememberedMeanwhile
from emulator.protocol.znodes import DELETE_TOPICS
from emulator.trace.events import ZkWritten
from scenarios.observe import mbeans
from scenarios.observe.checkers.broker_memory import IN_A_ROW_US, MEANWHILE_US, free_meanwhile_us, is_settled
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.gauge_facts import CountWrong, MetricLeft
from scenarios.observe.history.deadlines import Lasting

LED, FAILED, AT_MIN_ISR = "LeaderCount", "FailedPartitionsCount", "AtMinIsrPartitionCount"
OF_GROUPS = {
    name: mbeans.of_groups(name)
    for name in (
        "NumGroups", "NumOffsets", "NumGroupsEmpty", "NumGroupsPreparingRebalance", "NumGroupsCompletingRebalance",
        "NumGroupsStable", "NumGroupsDead",
    )
}  # fmt: skip
OF_BROKERS = (
    {
        name: mbeans.of_replicas(name)
        for name in ("PartitionCount", LED, "OfflineReplicaCount", "UnderMinIsrPartitionCount", AT_MIN_ISR)
    }
    | {FAILED: mbeans.FAILED_PARTITIONS}
    | OF_GROUPS
)
OF_CONTROLLERS = {
    name: mbeans.of_controller(name)
    for name in (
        "GlobalTopicCount", "GlobalPartitionCount", "TopicsToDeleteCount", "PreferredReplicaImbalanceCount",
    )
}  # fmt: skip
OF_DELETIONS = {
    name: mbeans.of_controller(name)
    for name in ("ReplicasToDeleteCount", "TopicsIneligibleToDeleteCount", "ReplicasIneligibleToDeleteCount")
}
OF_A_TERM = OF_CONTROLLERS | OF_DELETIONS
"""The gauges that are 0 where no controller is."""
IDLE = {"EventQueueSize": mbeans.EVENT_QUEUE, "ControllerState": mbeans.CONTROLLER_STATE}
"""The gauges that are 0 while a controller has nothing to do."""
QUEUE, TOTAL = mbeans.of_queues("QueueSize"), mbeans.of_queues("TotalQueueSize")
OF_INTEREST = frozenset((*OF_BROKERS.values(), *OF_A_TERM.values(), *IDLE.values(), TOTAL))
WRITTEN_US = 1_000_000
"""The time within which a gauge is written that has changed."""


class CountsTrue(Checker):
    """A broker and the controller show how many there are of what they count, whatever has changed it last.

    Verified: once a second, of each broker the partitions that it leads, as it knows, and those on which its fetchers
        have given up. When the cluster is at rest, of each broker its replicas, those that it leads, and of these the
        ones at and below min.insync.replicas, its replicas in failed log directories and the groups that it
        coordinates. Of the controller, all topics and partitions, the topics to be deleted, the partitions that the
        first of their replicas does not lead, while no partition is moved; the last one not after a deletion of a topic
        where the release counts that wrong (KAFKA-13572); and that nothing else is to be deleted where no topic is
        (KIP-503, 2.4). Of each other broker that is registered, that all of these are 0. Of a broker, the groups that
        it coordinates in each state and their offsets; and that no event waits for the controller. Before that, every
        5 s, those of a broker: what is wrong at three looks in a row.

        Once a second, that no metric is left of a fetcher thread that has ended, nor of the queues of a controller that
        has resigned (ControllerChannelManager.removeExistingBroker; FetcherStats, 0.8); of a controller that nothing
        disturbs, that TotalQueueSize is the sum of the queues, and none is longer than what waits for an answer. With
        the last replica of a topic that a broker deletes, or that goes offline, the metrics of the topic end there
        (ReplicaManager.maybeRemoveTopicMetrics, 1.1 to 3.9).

    Not verified: the others while there is work to do; LastStableOffsetLag; brokers that have lost a log directory;
        the metrics that other checkers look at (``under_replicated_true``, ``reassigning_true``, ``offline_true``).
    """

    ids = ("T8",)
    statement = "at rest gauge = |what it counts|: gauges that count something show how many there are"
    fails_when = "a coordinator goes on counting the groups that it has given up"

    def begin(self) -> None:
        self._shown: dict[int, dict[str, int]] = {}
        self._reported: dict[tuple[int, str], None] = {}
        self._lasting: Lasting[tuple[str, int]] = Lasting(MEANWHILE_US, IN_A_ROW_US)
        """The gauges that are wrong while there is work to do, each with what it should be."""
        self._parts, self._queues = self.history.metrics_of_parts, self.history.control_queues
        self._sizes: dict[int, dict[str, int]] = {}
        """By controller, the sizes of its queues, by the names of their gauges."""
        self._changed: dict[int, int] = {}
        """When a controller's queue, or the gauge of one, has changed last."""
        self._set_us: dict[tuple[int, str], int] = {}
        """When a gauge of an idle controller was written last."""
        self._double: dict[int, None] = {}
        """Controllers that were elected again before they had resigned: their old queues have gauges of the same
        names."""
        self._deleted = False
        self._caps, self._knows_min_isr = self.start.caps_min_isr, self.start.knows_min_isr

    def on_written(self, event: ZkWritten) -> None:
        self._deleted |= event.path.startswith(DELETE_TOPICS + "/")

    def on_registered(self, event: MetricRegistered) -> None:
        if event.metric.startswith(QUEUE):
            self._sizes.setdefault(event.node, {})[event.metric] = 0
            self._changed[event.node] = event.t_us
        if event.metric in OF_INTEREST:
            self._shown.setdefault(event.node, {})[event.metric] = 0

    def on_set(self, event: GaugeSet) -> None:
        if event.metric in OF_INTEREST:
            self._shown.setdefault(event.node, {})[event.metric] = event.value
        if event.metric in IDLE.values():
            self._set_us[event.node, event.metric] = event.t_us
        elif event.metric.startswith(QUEUE) or event.metric == TOTAL:
            self._changed[event.node] = event.t_us
            if event.metric != TOTAL:
                self._sizes.setdefault(event.node, {})[event.metric] = event.value

    def on_removed(self, event: MetricRemoved) -> None:
        if event.metric.startswith(QUEUE):
            self._sizes.get(event.node, {}).pop(event.metric, None)
            self._changed[event.node] = event.t_us

    def on_queue(self, event: ControlQueued | ControlDelivered | ControlChannelClosed) -> None:
        self._changed[event.node] = event.t_us

    def on_elected(self, event: ControllerElected) -> None:
        if self._sizes.get(event.node):
            self._double[event.node] = None

    def on_gone(self, event: ReplicaStopped | ReplicaOffline) -> None:
        for metric in self._parts.gone(event):
            self.violated(event, MetricLeft(event.node, metric), brokers=(event.node,))

    def on_crashed(self, event: NodeCrashed) -> None:
        tables: tuple[dict[int, Any], ...] = self._shown, self._sizes, self._changed, self._double
        for table in tables:
            table.pop(event.node, None)

    def on_remembered(self, event: Remembered) -> None:
        if event.occasion != "rest" or not is_settled(self, event):
            return
        if event.role == "broker":
            self._compare(event, event.node, OF_BROKERS, self._of_broker(event.memories))
        elif event.node == self.cluster.controller:
            self._compare(event, event.node, OF_A_TERM, self._of_controller(event.memories))

    def on_remembered_meanwhile(self, event: RememberedMeanwhile) -> None:
        free_us = free_meanwhile_us(self, event) if event.role == "broker" else None
        if free_us is not None:
            wrong = self._wrong(event.node, OF_BROKERS, self._of_broker(event.memories))
            lasting = self._lasting.overdue(event.node, wrong.items(), event.t_us, free_us)
            self._compare(event, event.node, OF_BROKERS, dict(lasting))

    def look(self, moment: Moment) -> None:
        for broker in self._shown:
            led, failed = self.cluster.led.get(broker, ()), self.cluster.failed.get(broker, ())
            self._compare(moment, broker, OF_BROKERS, {LED: len(led), FAILED: len(failed)})
        fetchers, dead, acting = self.cluster.fetchers, self.cluster.dead_fetchers, self.cluster.acting
        for broker, metric, part in self._parts.of_parts():
            threads = (fetchers.get(broker, ()), dead.get(broker, ()))
            gone = broker not in acting if part.isdecimal() else not any(part in some for some in threads)
            if gone:
                self._parts.drop(broker, metric)
                self.violated(moment, MetricLeft(broker, metric), brokers=(broker,))
        controller, free_us = self.cluster.controller, self.now.controlled_since_us()
        if free_us is None or controller in self._double or controller not in self._sizes:
            return
        if moment.t_us - max(free_us, self._changed[controller]) > WRITTEN_US:
            self._look_at_queues(moment, controller, self._sizes[controller])

    def _look_at_queues(self, moment: Moment, controller: int, sizes: Mapping[str, int]) -> None:
        self._compare(moment, controller, {"TotalQueueSize": TOTAL}, {"TotalQueueSize": sum(sizes.values())})
        for metric, size in sizes.items():
            queued = len(self._queues.queue((controller, int(tag(metric, "broker-id")))))
            if size > queued and (controller, metric) not in self._reported:
                self._reported[controller, metric] = None
                self.violated(moment, CountWrong(controller, metric, size, queued), brokers=(controller,))

    def at_rest(self, moment: Moment) -> None:
        for broker in self._shown:
            for name, metric in IDLE.items():
                if moment.t_us - self._set_us.get((broker, metric), 0) > WRITTEN_US:
                    self._compare(moment, broker, IDLE, {name: 0})
            if broker != self.cluster.controller and self.cluster.is_registered(broker):
                self._compare(moment, broker, OF_A_TERM, dict.fromkeys(OF_A_TERM, 0))

    def _compare(
        self, event: Remembered | Moment, broker: int, names: Mapping[str, str], true: Mapping[str, int]
    ) -> None:
        shown = self._shown.get(broker, {})
        for gauge, count in self._wrong(broker, names, true).items():
            if (broker, gauge) not in self._reported:
                self._reported[broker, gauge] = None
                self.violated(event, CountWrong(broker, gauge, shown[names[gauge]], count), brokers=(broker,))

    def _wrong(self, broker: int, names: Mapping[str, str], true: Mapping[str, int]) -> dict[str, int]:
        """The gauges that show something else than what is true, each with that."""
        shown = self._shown.get(broker, {})
        return {gauge: count for gauge, count in true.items() if shown.get(names[gauge], count) != count}

    def _of_broker(self, memories: Mapping[str, Any]) -> dict[str, int]:
        replicas, settings = memories["replicas"], memories["settings"]
        led = {tp: len(one.isr) for tp, one in replicas.items() if one.leads}
        found = {
            "PartitionCount": len(replicas), LED: len(led), "OfflineReplicaCount": 0,
            **dict.fromkeys(OF_GROUPS, 0), **memories["groups"],
        }  # fmt: skip
        if self._knows_min_isr and not self._caps:
            least = {topic: applied.min_insync_replicas for topic, applied in settings.items()}
            found["UnderMinIsrPartitionCount"] = sum(isr < least[tp.topic] for tp, isr in led.items())
            found[AT_MIN_ISR] = sum(isr == least[tp.topic] for tp, isr in led.items())
        return found

    def _of_controller(self, memories: Mapping[str, Any]) -> dict[str, int]:
        cluster, deletions = self.cluster, memories["deletions"]
        topics = {topic: replicas for topic, replicas in cluster.topics.items() if replicas}
        found = {"TopicsToDeleteCount": len(deletions)}
        if not deletions:
            found |= dict.fromkeys(OF_DELETIONS, 0)
        if deletions or memories["moves"]:
            return found
        first = {tp: cluster.assignment(tp)[:1] for tp in cluster.states}
        away = sum(bool(replicas) and cluster.leader(tp) != replicas[0] for tp, replicas in first.items())
        if not (self._deleted and self.start.discounts_deleted):
            found["PreferredReplicaImbalanceCount"] = away
        return found | {"GlobalTopicCount": len(topics), "GlobalPartitionCount": len(cluster.states)}
