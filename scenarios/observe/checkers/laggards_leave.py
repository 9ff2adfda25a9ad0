"""I4: a replica that lags for too long leaves the ISR."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.events import (
    BatchesAppended,
    BecameFollower,
    BecameLeader,
    Fault,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    NodeCrashed,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.findings.isr_facts import LaggardStays
from scenarios.observe.history.deadlines import Deadlines

LOOKS_US = 2_000_000
"""Time for two looks of this checker, which sees a second late that a replica is behind."""

LONG_US = 100_000
"""Twenty partitions whose ISRs are written faster, one after the other, do not use up the time for settling."""

Member = tuple[int, TopicPartition, int]
"""A leader, a partition that it leads, and another member of its ISR."""


@define(eq=False)
class _Leadership:
    """One partition as its leader knows it.

    Attributes:
        since_us: the time at which the leader began its leader epoch, or at which the ISR last changed since.
        changing: whether the leader has proposed another ISR that has not taken effect.
        absent: the members of the ISR that have not fetched from the leader in this epoch.
        ends: the log end of each member whose log was shorter than the leader's at the last comparison.
    """

    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    since_us: int
    changing: bool = False
    absent: dict[int, None] = field(factory=dict)
    ends: dict[int, int] = field(factory=dict)

    @property
    def has_unassigned(self) -> bool:
        return any(member not in self.replicas for member in self.isr)


class LaggardsLeave(Checker):
    """A leader proposes an ISR without the members that have not fetched for too long, or do not get on.

    Verified: once a second: a member of a leader's ISR that has not followed this leader since it leads, or whose log
        ends before the leader's and does not grow (from 0.9 on: before, a follower that fetches stays), for longer than
        one and a half replica.lag.time.max.ms (before 0.9, twice that) and 2 s, while the leader runs, no fault strikes
        it, and no other change of its ISR is under way. Since KAFKA-12686 (3.0) it asks for none while a request of an
        earlier leader epoch has no answer, which takes as long as controller.socket.timeout.ms where its connection is
        lost. Up to 2.6 it looks at one partition after the other, and waits where ZooKeeper has not answered
        (ReplicaManager.maybeShrinkIsr).

    Not verified: a leader whose clock a fault has set, or which leads a partition with a member of the ISR that is not
        assigned, at which older releases end the check (KAFKA-9672); a member that is slow, and gets on; that what is
        proposed takes effect.
    """

    ids = ("I4",)
    gravity = Gravity.LIVENESS
    statement = (
        "f ∈ isr_b and leo_f < leo_b the same for T ⇒ shrink(f): a replica that lags for too long leaves the ISR"
    )
    catches = ("KAFKA-1546",)
    fails_when = "a leader does not look for members that are out of sync"

    def begin(self) -> None:
        self._logs = self.history.logs
        self._counts_growth = not self.start.drops_slow
        lag_us = self.start.time_us("replica.lag.time.max.ms", 10_000)
        self._bound_us = lag_us + (lag_us // 2 if self._counts_growth else lag_us) + LOOKS_US
        self._led: dict[int, dict[TopicPartition, _Leadership]] = {}
        self._asked: dict[tuple[int, TopicPartition], tuple[int, int]] = {}
        """The leader that a broker followed last, and the leader epoch. One that stood still may get a fetch from then
        when it takes up this epoch, whatever has become of its sender."""
        self._grown: dict[tuple[int, str], dict[int, None]] = {}
        """Partitions of which members may be behind, by leader and topic."""
        self._answered_within_us = self.start.time_us("controller.socket.timeout.ms", 30_000)
        self._waits_for_answers = self.start.awaits_isr_answers
        self._waits_for_writes = self.start.awaits_isr_writes
        self._unanswered_us: dict[int, dict[TopicPartition, int]] = {}
        """When each leader has proposed an ISR that has no outcome, whatever its leader epoch is now."""
        self._waited_us: dict[int, int] = {}
        """When each leader last got such an outcome after a long time."""
        self._late: Deadlines[Member] = Deadlines()
        self._struck_us: dict[int, int] = {}
        """When a fault last struck each broker."""

    # -- roles and ISRs -----------------------------------------------------------------------------------------------

    def on_leader(self, event: BecameLeader) -> None:
        node, tp = event.node, TopicPartition.of(event.topic, event.partition)
        before = self._resign(node, tp)
        self._led.setdefault(node, {})[tp] = now = _Leadership(event.isr, event.replicas, event.t_us)
        self._grown.setdefault((node, event.topic), {})[event.partition] = None
        if before is None:
            asked = node, event.leader_epoch
            now.absent = {
                member: None
                for member in event.isr
                if member != node and not self._follow(member, tp, node)
                if self._asked.get((member, tp)) != asked
            }
        else:
            now.absent = {member: None for member in before.absent if member in event.isr}
        for member in now.absent:
            self._late.begin((node, tp, member), event.t_us)

    def _follow(self, broker: int, tp: TopicPartition, leader: int) -> bool:
        """Whether a broker follows ``leader`` in its own view."""
        follows = self.cluster.follows(broker, tp)
        return follows is not None and follows.leader == leader

    def on_follower(self, event: BecameFollower) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._resign(event.node, tp)
        self._asked[event.node, tp] = event.leader, event.leader_epoch
        led = self._led.get(event.leader, {}).get(tp)
        if led is not None and event.node in led.absent:
            del led.absent[event.node]
            self._late.end((event.leader, tp, event.node))

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._resign(event.node, TopicPartition.of(event.topic, event.partition))

    def on_offline(self, event: ReplicaOffline) -> None:
        self._resign(event.node, TopicPartition.of(event.topic, event.partition))

    def on_crashed(self, event: NodeCrashed) -> None:
        for tp in list(self._led.get(event.node, ())):
            self._resign(event.node, tp)
        self._unanswered_us.pop(event.node, None)

    def _resign(self, node: int, tp: TopicPartition) -> _Leadership | None:
        led = self._led.get(node, {}).pop(tp, None)
        for member in () if led is None else led.isr:
            self._late.end((node, tp, member))
        return led

    def on_proposed(self, event: IsrProposed) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._unanswered_us.setdefault(event.node, {})[tp] = event.t_us
        led = self._led.get(event.node, {}).get(tp)
        if led is not None:
            led.changing = True

    def on_changed(self, event: IsrChanged) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._answered(event, tp)
        led = self._led.get(event.node, {}).get(tp)
        if led is None:
            return
        for member in led.isr:
            if member not in event.isr:
                led.absent.pop(member, None)
                led.ends.pop(member, None)
                self._late.end((event.node, tp, member))
        led.isr, led.changing, led.since_us = event.isr, False, event.t_us
        self._grown.setdefault((event.node, event.topic), {})[event.partition] = None

    def on_failed(self, event: IsrUpdateFailed) -> None:
        self._answered(event, TopicPartition.of(event.topic, event.partition))

    def _answered(self, event: IsrChanged | IsrUpdateFailed, tp: TopicPartition) -> None:
        asked_us = self._unanswered_us.get(event.node, {}).pop(tp, None)
        if asked_us is not None and event.t_us - asked_us > LONG_US:
            self._waited_us[event.node] = event.t_us

    # -- logs ---------------------------------------------------------------------------------------------------------

    def on_appended(self, event: BatchesAppended) -> None:
        if event.leader:
            self._grown.setdefault((event.node, event.topic), {}).update(dict.fromkeys(event.partitions))

    def _compare(self, node: int, tp: TopicPartition, now_us: int) -> bool:
        """Note which members get on. Returns whether any is behind."""
        led, log = self._led.get(node, {}).get(tp), self._logs.get(node, tp)
        if led is None or log is None:
            return False
        for member in led.isr:
            other = self._logs.get(member, tp)
            if member == node or member in led.absent:
                continue
            if other is None or other.end_offset >= log.end_offset:
                led.ends.pop(member, None)
                self._late.end((node, tp, member))
            elif led.ends.get(member) != other.end_offset:
                led.ends[member] = other.end_offset
                self._late.end((node, tp, member))
                self._late.begin((node, tp, member), now_us)
        return bool(led.ends)

    # -- followers that lag too long ----------------------------------------------------------------------------------

    def on_fault(self, event: Fault) -> None:
        for broker in event.brokers:
            self._struck_us[broker] = event.t_us

    def look(self, moment: Moment) -> None:
        if self._counts_growth:
            for (node, topic), partitions in list(self._grown.items()):
                behind = {
                    partition: None
                    for partition in partitions
                    if self._compare(node, TopicPartition.of(topic, partition), moment.t_us)
                }
                if behind:
                    self._grown[node, topic] = behind
                else:
                    del self._grown[node, topic]
        if len(self._late):
            self._report_overdue(moment)

    def _report_overdue(self, moment: Moment) -> None:
        for (node, tp, member), held_us in self._late.overdue(moment.t_us, self._bound_us, self._free_since_us):
            led = self._led[node][tp]
            self.violated(moment, LaggardStays(node, tuple(led.isr), member, led.ends.get(member), held_us), tp)

    def _free_since_us(self, late: Member) -> int | None:
        (node, tp, member), now = late, self.now
        led = self._led.get(node, {}).get(tp)
        if led is None or member not in led.isr or led.changing:
            return None
        if any(other.has_unassigned for other in self._led[node].values()):
            return None
        if not self.cluster.is_up(node) or self.cluster.is_paused(node):
            return None
        if node in now.impaired or node in now.clocks:
            return None
        free_us, asked = max(led.since_us, self._struck_us.get(node, 0)), self._unanswered_us.get(node, {})
        if self._waits_for_writes:
            return None if asked else max(free_us, self._waited_us.get(node, 0))
        if self._waits_for_answers and tp in asked:
            return max(free_us, asked[tp] + self._answered_within_us)
        return free_us
