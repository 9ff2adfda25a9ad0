"""S22: a leader commits what all of its ISR has."""

from __future__ import annotations

from collections.abc import Sequence

from emulator.protocol.events import BatchesAppended, BecameLeader, IsrChanged, IsrProposed, IsrUpdateFailed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Gravity, Moment
from scenarios.observe.checkers.in_time import InTime
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.log_facts import HighWatermarkStands

Led = tuple[int, TopicPartition]
"""A leader, and a partition that it leads."""


class CommitsInTime(InTime[Led]):
    """The high watermark of a leader soon comes to where every member of its ISR has the log, also where no producer
    waits for that (Partition.maybeIncrementLeaderHW, 0.8 to 3.9).

    Verified: once a second, and when the cluster is at rest: a partition whose leader is that of ZooKeeper, in its
        epoch and with its ISR, while the leader and all members of the ISR live, reach each other, and fetch there. Its
        high watermark is not before all of their ends, or has moved. The bound is replica.lag.time.max.ms, for which a
        replica outside the ISR may be waited for, replica.fetch.wait.max.ms, and 5 s.

    Not verified: where the release commits nothing below min.insync.replicas, and there are fewer in sync; what a
        change of the ISR commits before the log grows again, in releases that wait for that (2.7 to 3.0, KAFKA-13091);
        a leader that has proposed another ISR and does not know the outcome (``isr_changes_end``), up to 2.6: since
        KIP-497 it commits what the larger of the two sets has; leaders whose clock a fault has set; runs with a
        throttle of replication.
    """

    ids = ("S22",)
    gravity = Gravity.LIVENESS
    statement = "∀ f ∈ isr_b: leo_f ≥ o ⇒ soon hw_b ≥ o: what every in-sync replica has is committed"
    fails_when = "a leader commits nothing"

    def begin(self) -> None:
        super().begin()
        self.history.commits  # noqa: B018 (it keeps the high watermarks of the logs)
        self._logs, self._settings = self.history.logs, self.history.settings
        self.bound_us = (
            self.start.time_us("replica.lag.time.max.ms", 30_000)
            + self.start.time_us("replica.fetch.wait.max.ms", 500)
            + SETTLING_US
        )
        self._waits_for_writes = self.start.awaits_isr_writes
        self._proposed: dict[Led, tuple[int, ...]] = {}
        """The replicas that are to join or leave the ISR."""
        self._led_us: dict[Led, int] = {}
        self._waits_for_append: dict[Led, None] = {}
        """The partitions whose ISR has changed since their log has grown, in releases that commit no sooner."""
        self._changed: dict[tuple[int, str], dict[int, None]] = {}
        """The partitions to look at, by leader and topic."""
        self._seen: dict[Led, int] = {}
        """The high watermark of each partition whose leader lags, when it was looked at last."""

    # -- what there is to look at -------------------------------------------------------------------------------------

    def on_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._proposed.pop((event.node, tp), None)
        self._waits_for_append.pop((event.node, tp), None)
        self._led_us[event.node, tp] = event.t_us
        self._changed.setdefault((event.node, event.topic), {})[event.partition] = None

    def on_proposed(self, event: IsrProposed) -> None:
        self._proposed[event.node, TopicPartition.of(event.topic, event.partition)] = event.replicas

    def on_outcome(self, event: IsrChanged | IsrUpdateFailed) -> None:
        led = event.node, TopicPartition.of(event.topic, event.partition)
        self._proposed.pop(led, None)
        if not self._settings.start.commits_at_outcome:
            self._waits_for_append[led] = None
        self._changed.setdefault((event.node, event.topic), {})[event.partition] = None

    def on_appended(self, event: BatchesAppended) -> None:
        if event.leader:
            for partition in event.partitions if self._waits_for_append else ():
                self._waits_for_append.pop((event.node, TopicPartition.of(event.topic, partition)), None)
            self._changed.setdefault((event.node, event.topic), {}).update(dict.fromkeys(event.partitions))

    # -- looking ------------------------------------------------------------------------------------------------------

    def look(self, moment: Moment) -> None:
        self._compare_all(moment)
        super().look(moment)

    def at_rest(self, moment: Moment) -> None:
        self._compare_all(moment)
        super().at_rest(moment)

    def _compare_all(self, moment: Moment) -> None:
        for (node, topic), partitions in list(self._changed.items()):
            lags = {
                partition: None
                for partition in partitions
                if self._lags((node, TopicPartition.of(topic, partition)), moment.t_us)
            }
            if lags:
                self._changed[node, topic] = lags
            else:
                del self._changed[node, topic]

    def _lags(self, led: Led, now_us: int) -> bool:
        """Note whether a high watermark is behind what the ISR has, and stands still there. Returns whether it is
        behind."""
        committable, log = self._committable(led), self._logs.get(*led)
        high_watermark = None if log is None else log.high_watermark
        if committable is None or high_watermark is None or high_watermark >= committable:
            self.lasting.end(led)
            self._seen.pop(led, None)
            return False
        if self._seen.get(led) != high_watermark:
            self.lasting.end(led)
            self.lasting.begin(led, now_us)
            self._seen[led] = high_watermark
        return True

    def _committable(self, led: Led) -> int | None:
        """Up to where all members of the ISR have the log; None: it is not led, or some log is not known."""
        node, tp = led
        state = self.cluster.as_led(node, tp)
        if state is None or not state.isr:
            return None
        logs = [self._logs.get(member, tp) for member in self._maximal(led, state.isr)]
        ends = [log.end_offset for log in logs if log is not None and log.known]
        return min(ends) if len(ends) == len(logs) else None

    def _maximal(self, led: Led, isr: Sequence[int]) -> tuple[int, ...]:
        """The members of the ISR, and of the one that is proposed."""
        return tuple(dict.fromkeys((*isr, *self._proposed.get(led, ()))))

    def report(self, moment: Moment, led: Led, held_us: int) -> None:
        node, tp = led
        log, committable, state = self._logs.get(node, tp), self._committable(led), self.cluster.as_led(node, tp)
        if log is not None and log.high_watermark is not None and committable is not None and state is not None:
            facts = HighWatermarkStands(node, log.high_watermark, committable, tuple(state.isr), held_us)
            self.violated(moment, facts, tp, (node,))

    def free_since_us(self, led: Led) -> int | None:
        """Since when nothing excuses that a leader does not commit; None: something does now."""
        (node, tp), now, cluster = led, self.now, self.cluster
        leads, mine, state = cluster.leads(node, tp), cluster.as_led(node, tp), cluster.state(tp)
        if leads is None or mine is None or state is None or self.now.throttled:
            return None
        if led in self._waits_for_append or (self._waits_for_writes and led in self._proposed):
            return None
        if (state.leader, state.leader_epoch, state.isr) != (node, leads.leader_epoch, mine.isr):
            return None
        if node in now.clocks or cluster.is_deleting(tp.topic) or self._holds(tp, len(mine.isr), len(mine.replicas)):
            return None
        since_us = now.reached_since_us(node)
        for member in self._maximal(led, mine.isr):
            reached_us = now.reached_since_us(member)
            if since_us is None or reached_us is None or member in now.impaired:
                return None
            if member != node and not (cluster.connected(member, node) and cluster.fetches_from(member, tp) == node):
                return None
            since_us = max(since_us, reached_us)
        return None if since_us is None else max(since_us, self._led_us.get(led, 0))

    def _holds(self, tp: TopicPartition, in_sync: int, replicas: int) -> bool:
        """Whether the release commits nothing with so few in sync."""
        settings = self._settings
        least = int(settings.value(tp.topic, "min.insync.replicas", 1))
        return settings.start.holds_high_watermark and in_sync < (
            min(least, replicas) if settings.start.caps_min_isr else least
        )
