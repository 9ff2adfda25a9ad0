"""G7: committed offsets stay for as long as they are kept."""

from __future__ import annotations

from emulator.protocol.events import ClockSet, GroupStateChanged, OffsetsCommitted, OffsetsRemoved, TransactionMarked
from emulator.protocol.shown_coordination import AssignmentsMade, CommitAccepted
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Gravity
from scenarios.observe.checkers.coordinators_log import CoordinatorsLog
from scenarios.observe.findings.coordination_facts import ExpiredEarly

EMPTY, DEAD = "Empty", "Dead"
MINUTE_US = 60_000_000
MILLISECOND_US = 1_000
"""Times in records are in milliseconds: what was less than one is cut off."""
RETENTION_MINUTES = 1440
"""The shortest default of offsets.retention.minutes (before 2.0)."""


class OffsetsExpireLate(CoordinatorsLog):
    """A group with members keeps the offsets that they commit; one without members for offsets.retention.minutes, from
    when it became empty, or from the commit where it never had any (KIP-211, 2.1). Offsets of topics to which no member
    subscribes are kept for as long from their commit (KIP-496, 2.4).

    Verified: each offset that a coordinator removes as expired, against the last commit of it that was acknowledged,
        and the last time at which the group was empty, while no clock was set. Members subscribe to the topics of which
        their leader has last assigned partitions.

    A commit is as old as its acceptance; of several of the same offset the first one counts. After an unclean election
    of a partition of __consumer_offsets, and once a machine has crashed or a leader's log was damaged, commits that
    were accepted before do not count any more: a coordinator may have loaded an older one, which expires sooner.

    Not verified: that offsets expire at all; offsets that a client commits with a retention of its own.
    """

    ids = ("G7",)
    gravity = Gravity.LOSS
    statement = "expired(o) ⇒ empty(g) for the retention: committed offsets stay for as long as they are kept"
    catches = ("KAFKA-8069", "KAFKA-4682", "KAFKA-13636")
    fails_when = "all committed offsets count as expired"

    def begin(self) -> None:
        super().begin()
        minutes = int(self.start.brokers.get("offsets.retention.minutes", RETENTION_MINUTES))
        self._retention_us = minutes * MINUTE_US
        self._expires_unsubscribed = self.start.expires_unsubscribed
        self._clocks_set = False
        self._assigned: dict[str, set[str]] = {}
        """The topics of which each group's members have partitions."""
        self._accepted_us: dict[tuple[str, str, int], dict[tuple[int, int], int]] = {}
        """The times of the commits that were accepted and have no outcome, by offset and producer."""
        self._committed_us: dict[tuple[str, str, int], int] = {}
        self._emptied_us: dict[str, int] = {}
        self._joined_us: dict[str, int] = {}
        """The groups with members, each with the time since which it has any."""

    def forget_written(self) -> None:
        self._accepted_us.clear()
        self._committed_us.clear()

    def on_clock(self, event: ClockSet) -> None:
        self._clocks_set = True

    def on_state(self, event: GroupStateChanged) -> None:
        if event.state == EMPTY:
            self._emptied_us[event.group] = event.t_us
            self._joined_us.pop(event.group, None)
        elif event.state != DEAD:
            self._joined_us.setdefault(event.group, event.t_us)

    def on_made(self, event: AssignmentsMade) -> None:
        names = (name for _, assignment in event.assignments for name in assignment.decode(errors="replace").split(","))
        self._assigned[event.group] = {name.rpartition("-")[0] for name in names if name}

    def on_accepted(self, event: CommitAccepted) -> None:
        for tp, offset in event.offsets:
            known = self._accepted_us.setdefault((event.group, *tp), {})
            known.setdefault((offset, event.producer_id), event.t_us)

    def on_marked(self, event: TransactionMarked) -> None:
        if event.topic == self.topic and not event.committed:
            for known in self._accepted_us.values():
                for one in [one for one in known if one[1] == event.producer_id]:
                    del known[one]

    def on_committed(self, event: OffsetsCommitted) -> None:
        for topic, partition, offset in zip(event.topics, event.partitions, event.offsets, strict=True):
            key = event.group, topic, partition
            known = self._accepted_us.get(key, {})
            times_us = [known.pop(one) for one in [one for one in known if one[0] == offset]]
            if event.error != "NONE":
                continue
            if times_us:
                self._committed_us[key] = min(times_us)
            else:  # accepted before what was written then was lost
                self._committed_us.pop(key, None)

    def on_removed(self, event: OffsetsRemoved) -> None:
        if event.reason != "expired" or self._clocks_set:
            return
        group = event.group
        joined_us, emptied_us = self._joined_us.get(group), self._emptied_us.get(group)
        for topic, partition in zip(event.topics, event.partitions, strict=True):
            committed_us = self._committed_us.get((group, topic, partition))
            if committed_us is None:
                continue
            if self._is_unsubscribed(group, topic) and event.t_us - committed_us >= self._retention_us:
                continue
            has_members = joined_us is not None and committed_us >= joined_us
            since_us = committed_us if emptied_us is None else emptied_us
            if has_members or (joined_us is None and event.t_us - since_us < self._retention_us - MILLISECOND_US):
                facts = ExpiredEarly(event.node, group, event.t_us - committed_us, has_members)
                self.violated(event, facts, TopicPartition.of(topic, partition), (event.node,))

    def _is_unsubscribed(self, group: str, topic: str) -> bool:
        """Whether no member subscribes to ``topic``, as far as assignments are written as emulated clients do."""
        assigned = self._assigned.get(group)
        if not (self._expires_unsubscribed and assigned):
            return False
        return topic not in assigned and assigned <= set(self.cluster.topics)
