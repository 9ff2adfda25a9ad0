"""T8: gauges that count something show how many there are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from emulator.metrics.metric_events import GaugeSet, MetricRegistered, MetricRemoved
from emulator.protocol.events import LastStableOffsetLag, NodeCrashed
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import DELETE_TOPICS
from emulator.trace.events import ZkWritten
from scenarios.observe import mbeans
from scenarios.observe.checkers.broker_memory import is_settled
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.gauge_facts import CountWrong, MetricLeft

LED, FAILED, AT_MIN_ISR = "LeaderCount", "FailedPartitionsCount", "AtMinIsrPartitionCount"
LAG, INTERNAL = "LastStableOffsetLag", "__"
WRITTEN_US = 1_500_000
OF_BROKERS = {
    name: mbeans.of_replicas(name)
    for name in ("PartitionCount", LED, "OfflineReplicaCount", "UnderMinIsrPartitionCount", AT_MIN_ISR)
} | {FAILED: mbeans.FAILED_PARTITIONS, "NumGroups": mbeans.GROUPS}
OF_CONTROLLERS = {
    name: mbeans.of_controller(name)
    for name in (
        "GlobalTopicCount", "GlobalPartitionCount", "TopicsToDeleteCount", "PreferredReplicaImbalanceCount",
    )
}  # fmt: skip
OF_A_TERM = OF_CONTROLLERS | {
    name: mbeans.of_controller(name)
    for name in ("ReplicasToDeleteCount", "TopicsIneligibleToDeleteCount", "ReplicasIneligibleToDeleteCount")
}
"""The gauges that are 0 where no controller is."""
OF_A_THREAD = re.compile(r"clientId=(Replica(?:Fetcher|AlterLogDirs)Thread-[-0-9]+)")
OF_A_QUEUE = re.compile(r"ControllerChannelManager,.*broker-id=(\d+)")
OF_INTEREST = frozenset((*OF_BROKERS.values(), *OF_A_TERM.values()))


class CountsTrue(Checker):
    """A broker and the controller show how many there are of what they count, whatever has changed it last.

    Verified: once a second, of each broker the partitions that it leads, as it knows, and those on which its fetchers
        have given up. When the cluster is at rest, of each broker its replicas, those that it leads, and of these the
        ones at and below min.insync.replicas, its replicas in failed log directories and the groups that it
        coordinates. Of the controller, all topics and partitions, the topics to be deleted, the partitions that the
        first of their replicas does not lead, while no partition is moved; the last one not after a deletion of a topic
        where the release counts that wrong (KAFKA-13572). Of each other broker that is registered, that all of these,
        and what there is to delete (KIP-503, 2.4), are 0. Once a second, that no metric is left of a fetcher thread
        that has ended, nor of the queues of a controller that has resigned
        (ControllerChannelManager.removeExistingBroker; FetcherStats, 0.8). At rest, LastStableOffsetLag of each leader,
        against the batches of transactions in its log that have no marker below the high watermark (KIP-98, 1.0).

    Not verified: the others while there is work to do; PurgatorySize; LastStableOffsetLag of followers and of the
        topics of coordinators; brokers that have lost
        a log directory; the metrics that other checkers look at (``under_replicated_true``, ``reassigning_true``,
        ``offline_true``).
    """

    ids = ("T8",)
    statement = "at rest gauge = |what it counts|: gauges that count something show how many there are"
    fails_when = "a coordinator goes on counting the groups that it has given up"

    def begin(self) -> None:
        self._shown: dict[int, dict[str, int]] = {}
        self._reported: dict[tuple[int, str], None] = {}
        self._of_parts: dict[int, dict[str, str]] = {}
        """By broker, the metrics of its fetcher threads, and of the queues of its controller, with the name of the
        thread or the broker of the queue."""
        self._deleted = False
        self._logs, self._open = self.history.commits.logs, self.history.open_transactions
        self._lags: dict[int, dict[TopicPartition, int]] = {}
        """LastStableOffsetLag of the partitions of which it is not 0, by broker."""
        self._wrong: dict[tuple[int, TopicPartition], tuple[tuple[int, tuple[int, ...]], int]] = {}
        """The lags that were wrong when they were looked at last: what was shown, what it should be, and since when."""
        self._caps, self._knows_min_isr = self.start.caps_min_isr, self.start.knows_min_isr

    def on_written(self, event: ZkWritten) -> None:
        self._deleted |= event.path.startswith(DELETE_TOPICS + "/")

    def on_removed(self, event: MetricRemoved) -> None:
        self._of_parts.get(event.node, {}).pop(event.metric, None)

    def on_registered(self, event: MetricRegistered) -> None:
        found = OF_A_THREAD.search(event.metric) or OF_A_QUEUE.search(event.metric)
        if found is not None:
            self._of_parts.setdefault(event.node, {})[event.metric] = found[1]
        if event.metric in OF_INTEREST:
            self._shown.setdefault(event.node, {})[event.metric] = 0

    def on_set(self, event: GaugeSet) -> None:
        if event.metric in OF_INTEREST:
            self._shown.setdefault(event.node, {})[event.metric] = event.value

    def on_lag(self, event: LastStableOffsetLag) -> None:
        self._lags.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = event.lag

    def on_crashed(self, event: NodeCrashed) -> None:
        self._lags.pop(event.node, None)
        self._of_parts.pop(event.node, None)
        self._shown.pop(event.node, None)

    def on_remembered(self, event: Remembered) -> None:
        if event.occasion != "rest" or not is_settled(self, event):
            return
        if event.role == "broker":
            self._compare(event, event.node, OF_BROKERS, self._of_broker(event.memories))
            self._look_at_lags(event)
        elif event.node == self.cluster.controller:
            self._compare(event, event.node, OF_CONTROLLERS, self._of_controller(event.memories))

    def _look_at_lags(self, event: Remembered) -> None:
        """Report lags that were as wrong two seconds ago: they are written once a second."""
        for tp in self.cluster.led.get(event.node, ()):
            log, lag = self._logs.get(event.node, tp), self._lags.get(event.node, {}).get(tp, 0)
            if log is None or not log.known or tp.topic.startswith(INTERNAL) or not self._open.has_any(tp):
                continue
            fits = tuple((log.high_watermark or 0) - end for end in self._open.stable_ends(tp, log))
            before, wrong = self._wrong.pop((event.node, tp), None), (lag, fits)
            if lag not in fits and before is not None and before[0] == wrong:
                if event.t_us - before[1] > WRITTEN_US:
                    self.violated(event, CountWrong(event.node, LAG, lag, fits[0]), tp, (event.node,))
                self._wrong[event.node, tp] = before
            elif lag not in fits:
                self._wrong[event.node, tp] = wrong, event.t_us

    def look(self, moment: Moment) -> None:
        for broker in self._shown:
            led, failed = self.cluster.led.get(broker, ()), self.cluster.failed.get(broker, ())
            self._compare(moment, broker, OF_BROKERS, {LED: len(led), FAILED: len(failed)})
        for broker, metrics in self._of_parts.items():
            threads = {**self.cluster.fetchers.get(broker, {}), **self.cluster.dead_fetchers.get(broker, {})}
            for metric, part in list(metrics.items()):
                gone = broker not in self.cluster.acting if part.isdecimal() else part not in threads
                if gone:
                    del metrics[metric]
                    self.violated(moment, MetricLeft(broker, metric), brokers=(broker,))

    def at_rest(self, moment: Moment) -> None:
        for broker in self._shown:
            if broker != self.cluster.controller and self.cluster.is_registered(broker):
                self._compare(moment, broker, OF_A_TERM, dict.fromkeys(OF_A_TERM, 0))

    def _compare(
        self, event: Remembered | Moment, broker: int, names: Mapping[str, str], true: Mapping[str, int]
    ) -> None:
        shown = self._shown.get(broker, {})
        for gauge, count in true.items():
            value, key = shown.get(names[gauge]), (broker, gauge)
            if value is None or value == count:
                continue
            if key not in self._reported:
                self._reported[key] = None
                self.violated(event, CountWrong(broker, gauge, value, count), brokers=(broker,))

    def _of_broker(self, memories: Mapping[str, Any]) -> dict[str, int]:
        replicas, settings = memories["replicas"], memories["settings"]
        led = {tp: len(one.isr) for tp, one in replicas.items() if one.leads}
        found = {
            "PartitionCount": len(replicas), LED: len(led), "OfflineReplicaCount": 0, "NumGroups": memories["groups"],
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
        if deletions or memories["moves"]:
            return found
        first = {tp: cluster.assignment(tp)[:1] for tp in cluster.states}
        away = sum(bool(replicas) and cluster.leader(tp) != replicas[0] for tp, replicas in first.items())
        if not (self._deleted and self.start.discounts_deleted):
            found["PreferredReplicaImbalanceCount"] = away
        return found | {"GlobalTopicCount": len(topics), "GlobalPartitionCount": len(cluster.states)}
