"""S15: when the cluster is at rest, in-sync replicas have the same log."""

from __future__ import annotations

from emulator.protocol.events import FetchPosition, NodeCrashed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Moment, shared
from scenarios.observe.findings.log_facts import LogsDiffer
from scenarios.observe.past.changes import StateWritten


class IsrLogsIdentical(Checker):
    """At rest, replicas that are in the ISR and fetch from the leader hold the same batches as the leader, up to the
    same end.

    Verified: near the end of a run, when the cluster is healed and only routine work is left: the log of each such
        replica equals the leader's, batch by batch. A run that reaches its horizon first is not checked.

    A replica on which its fetcher has given up (KIP-461), or that cannot reach its leader, stays in the ISR for the
    lag time; it is left out.

    Not verified: partitions without a leader; that the high watermarks have arrived everywhere (V5); epoch caches.
    """

    ids = ("S15",)
    statement = "at rest: a, b ∈ Z.isr ⇒ log_a = log_b: when nothing is left to do, in-sync replicas have the same log"
    catches = ("KAFKA-6361", "KAFKA-2143")
    fails_when = "followers do not truncate"

    def begin(self) -> None:
        self._logs = self.history.logs
        self._led: dict[TopicPartition, tuple[int, tuple[int, ...]]] = {}
        self._fetches_from: dict[int, dict[TopicPartition, int]] = {}

    def on_state(self, event: StateWritten) -> None:
        if event.state is None or event.state.leader < 0:
            self._led.pop(event.tp, None)
        else:
            self._led[event.tp] = shared((event.state.leader, event.state.isr))

    def on_crashed(self, event: NodeCrashed) -> None:
        """Leave out dead brokers: ``dead_leave_isr`` verifies that their replicas leave the ISR."""
        self._fetches_from.pop(event.node, None)

    def on_position(self, event: FetchPosition) -> None:
        leaders, tp = self._fetches_from.setdefault(event.node, {}), TopicPartition.of(event.topic, event.partition)
        if event.offset < 0:
            leaders.pop(tp, None)
        else:
            leaders[tp] = event.leader

    def at_rest(self, moment: Moment) -> None:
        for tp, (leader, isr) in self._led.items():
            followers = [node for node in isr if self._fetches_from.get(node, {}).get(tp) == leader]
            for node in followers:
                self._compare(moment, tp, leader, node)

    def _compare(self, moment: Moment, tp: TopicPartition, leader: int, node: int) -> None:
        log, theirs = self._logs.get(node, tp), self._logs.get(leader, tp)
        if log is None or theirs is None or not (log.known and theirs.known):
            return
        if log.end_offset != theirs.end_offset or log.last is not theirs.last:
            self.violated(moment, LogsDiffer(node, log.end_offset, leader, theirs.end_offset), tp, (node,))
