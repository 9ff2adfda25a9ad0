"""T8: the gauges of the controller count what is in ZooKeeper."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.metrics import mbean, short_name
from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol import znodes
from emulator.protocol.events import NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.gauge_facts import CountOutdated
from scenarios.observe.past.changes import AssignmentWritten, StateWritten

TOPICS, PARTITIONS, IMBALANCED, TO_DELETE = (
    mbean("kafka.controller", "KafkaController", name)
    for name in ("GlobalTopicCount", "GlobalPartitionCount", "PreferredReplicaImbalanceCount", "TopicsToDeleteCount")
)
COUNTED = (TOPICS, PARTITIONS, IMBALANCED, TO_DELETE)
QUIET_US = 5_000_000


class ControllerCountsTrue(Checker):
    """The active controller counts topics, partitions, those that another than the preferred replica leads, and topics
    that are to be deleted, as ZooKeeper has them.

    Verified: GlobalTopicCount, GlobalPartitionCount, PreferredReplicaImbalanceCount and TopicsToDeleteCount, counted
        from scratch, once nothing that they depend on has been written for 5 s, and the controller has worked and
        nothing has delayed it for as long; and when the cluster is at rest.

    A partition counts as imbalanced if its topic is not to be deleted and its first replica does not lead; while that
    is being added, once it is in the ISR (KAFKA-8345, 2.4).

    Not verified: OfflinePartitionsCount (``offline_true``); the counts of replicas that are to be deleted (KIP-503).
    """

    ids = ("T8",)
    statement = "gauge(controller) = count(Z): the gauges of the controller count what is in ZooKeeper"
    fails_when = "a controller does not count the topics that are to be deleted"

    def begin(self) -> None:
        self._shown: dict[int, dict[str, int]] = {}
        self._changed_us = 0
        self._counted = True

    def on_registered(self, event: MetricRegistered) -> None:
        """The release has the gauge."""
        if event.metric in COUNTED:
            self._shown.setdefault(event.node, {})[event.metric] = 0

    def on_set(self, event: GaugeSet) -> None:
        if event.metric in COUNTED:
            self._shown[event.node][event.metric] = event.value
            self._counted = False

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)

    def on_state(self, event: StateWritten) -> None:
        same_leader = event.before and event.state and event.state.leader == event.before.leader
        if not same_leader or event.tp.topic in self.cluster.reassigning:
            self._change(event.t_us)

    def on_assigned(self, event: AssignmentWritten) -> None:
        self._change(event.t_us)

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith((znodes.DELETE_TOPICS, znodes.CONTROLLER, znodes.BROKER_IDS)):
            self._change(event.t_us)

    def _change(self, now_us: int) -> None:
        self._changed_us = now_us
        self._counted = False

    def look(self, moment: Moment) -> None:
        if self._counted or moment.t_us - self._changed_us < QUIET_US:
            return
        since_us = self.now.controlled_since_us()
        if since_us is not None and moment.t_us - since_us >= QUIET_US:
            self._counted = True
            self._check(moment)

    def at_rest(self, moment: Moment) -> None:
        self._check(moment)

    def _check(self, moment: Moment) -> None:
        controller = self.cluster.controller
        shown = self._shown.get(controller)
        for gauge, true in self._true() if shown else ():
            if shown.get(gauge, true) != true:
                self.violated(moment, CountOutdated(controller, short_name(gauge), shown[gauge], true))

    def _true(self) -> Iterator[tuple[str, int]]:
        cluster = self.cluster
        yield TOPICS, sum(bool(partitions) for partitions in cluster.topics.values())
        yield PARTITIONS, len(cluster.states)
        yield TO_DELETE, len(cluster.deleting)
        yield IMBALANCED, sum(map(self._is_imbalanced, cluster.states))

    def _is_imbalanced(self, tp: TopicPartition) -> bool:
        cluster, state = self.cluster, self.cluster.states[tp]
        first = next(iter(cluster.assignment(tp)), None)
        if first is None or cluster.is_deleting(tp.topic):
            return False
        return first in state.isr if first in cluster.adding(tp) else first != state.leader
