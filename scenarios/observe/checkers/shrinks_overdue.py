"""I3: a replica that is removed from the ISR is behind, and has been for too long."""

from __future__ import annotations

from emulator.protocol.events import IsrProposed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.isr_facts import DroppedEarly


class ShrinksOverdue(Checker):
    """A leader removes a replica from its ISR only if that replica is behind, and overdue by the rule of the release.

    Verified: each time a leader decides to shrink its ISR: the replica's end, as the leader knows it, is before the
        actual end of the leader's log (1.1: or at it), and the replica has not been caught up (0.8: has not fetched)
        for longer than replica.lag.time.max.ms, or is behind by more than replica.lag.max.messages in releases with
        that limit. A member of the ISR with which a leader epoch began counts as caught up then (Partition.makeLeader,
        0.8 to 3.9).

    Not verified: when the replica was caught up last, which only the leader knows, apart from that, and with a clock
        that a fault has set; that an overdue replica is removed.
    """

    ids = ("I3",)
    statement = (
        "shrink(f) ⇒ now - lastCaughtUp(f) > replica.lag.time.max.ms and leo_f < leo: "
        "a replica that is removed from the ISR is behind and overdue"
    )
    fails_when = "an idle follower at the end leaves"

    def begin(self) -> None:
        self._logs = self.history.logs
        self._drops_slow = self.start.drops_slow
        self._drops_at_the_end = self.start.drops_at_the_end

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind != "shrink":
            return
        tp = TopicPartition(event.topic, event.partition)
        leads = None if event.node in self.now.clocks else self.cluster.leads(event.node, tp)
        log = self._logs.get(event.node, tp)
        leader_end = event.log_end_offset if log is None else log.end_offset
        for replica, end, overdue_us in zip(event.replicas, event.ends, event.overdue_us, strict=True):
            slow = self._drops_slow and event.max_messages >= 0 and leader_end - end > event.max_messages
            behind = end < leader_end or self._drops_at_the_end
            if leads is not None and replica in leads.isr:
                overdue_us = min(overdue_us, event.t_us - leads.t_us)
            if not behind or not (slow or overdue_us > event.lag_time_us):
                facts = DroppedEarly(
                    event.node, event.leader_epoch, replica, end, leader_end, overdue_us, event.lag_time_us
                )
                self.violated(event, facts, tp)
