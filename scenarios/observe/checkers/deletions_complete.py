"""S19: records that a client had deleted are gone from every live replica when it gets its answer."""

from __future__ import annotations

from typing import Any

from emulator.protocol.delete_records import INVALID_LOW_WATERMARK, TO_HIGH_WATERMARK, DeleteRecordsRequest
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import LogStartMoved, NodeCrashed, ReplicaStopped
from emulator.protocol.shown import DeletionExpired, DeletionWaits, RecordsDeleted, Remembered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import BROKER_IDS
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.log_facts import BeginsBehind, DeletedInPart, DeletionMisanswered, DeletionNotSeen

REPORTED_AFTER_US = 5_000_000
FOLLOWS_AFTER_US = 10_000_000


class DeletionsComplete(Checker):
    """A leader answers a DeleteRecords once the log of each live replica begins at the offset or after it (KIP-107:
    low_watermark).

    Verified: at each answer without an error, for the replicas that the leader counted: their logs have begun there,
        and the low watermark of the answer is above no start of theirs. The answer itself: a low watermark only where
        the leader has found it since the request came; a time-out only after the time of the request; an offset out of
        range only where it is. One that has timed out: some live replica has
        not begun there for 5 s, or something has delayed its fetches since. So it is, once a second, with one that
        waits, if no broker has come or gone in the 5 s before it and since: a leader does not look again then. When the
        cluster is at rest, no such deletion waits whose low watermark the leader knows to be far enough. Once a second:
        the log of a member of the ISR that fetches from that leader, and has what is deleted, begins there 10 s later.

    Not verified: a time-out in runs with a throttle, or of a leader that is copied to another log directory; which
        brokers live, other than by the leader's metadata; a replica that has begun there and, after a crash, begins
        earlier again, since log-start-offset-checkpoint is written once a minute.
    """

    ids = ("S19",)
    statement = (
        "deleted(tp, o, lw) ⇒ ∀ b ∈ live: start_b ≥ lw ≥ o: records that were deleted on request are gone everywhere"
    )
    fails_when = "a leader answers a deletion that its followers do not know of"

    def begin(self) -> None:
        self.history.answers.of(self._look_at_answer, DeleteRecordsRequest)
        self._logs = self.history.commits.logs  # with their high watermarks
        self._furthest: dict[tuple[int, str, int], int] = {}
        self._moved_us: dict[tuple[int, str, int], int] = {}
        self._waiting: dict[int, dict[tuple[TopicPartition, int], DeletionWaits]] = {}
        """The deletions that wait, by leader, and by partition and offset."""
        self._raised: dict[tuple[int, TopicPartition], int] = {}
        """The starts of leaders' logs that clients have raised, until all followers have them."""
        self._brokers_changed_us = 0
        self._found: dict[tuple[int, TopicPartition], list[RecordsDeleted]] = {}
        """The deletions that leaders have found complete, by leader and partition, since the last answer there."""

    def on_waiting(self, event: DeletionWaits) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if event.t_us - self._brokers_changed_us > REPORTED_AFTER_US:
            self._waiting.setdefault(event.node, {})[tp, event.offset] = event

    def _answered(self, event: RecordsDeleted | DeletionExpired) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._waiting.get(event.node, {}).pop((tp, event.offset), None)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._waiting.pop(event.node, None)

    def on_remembered(self, event: Remembered) -> None:
        """A leader knows at once that its followers have followed: it looks at each of their fetches."""
        waiting = self._waiting.get(event.node)
        if not waiting or event.role != "broker":
            return
        for tp, (low_watermark, offset) in event.memories["deletions"].items():  # type: ignore[attr-defined]
            waits = waiting.get((tp, offset))
            if waits is not None and low_watermark >= offset:
                del waiting[tp, offset]
                facts = DeletionNotSeen(event.node, offset, self._living(tp), event.t_us - waits.t_us)
                self.violated(event, facts, tp, (event.node,))

    def look(self, moment: Moment) -> None:
        for node, tp in list(self._raised):
            self._find_behind(moment, node, tp)
        for node, waiting in self._waiting.items():
            for (tp, offset), event in list(waiting.items()):
                leads = self.cluster.leads(node, tp)
                if leads is None or leads.leader_epoch != event.leader_epoch:
                    del waiting[tp, offset]  # answered with an error, or at its time-out
                elif self._find_late(moment, node, tp, offset, self._living(tp), event.t_us):
                    del waiting[tp, offset]

    def _find_behind(self, moment: Moment, leader: int, tp: TopicPartition) -> None:
        """Report followers that do not take over the start of their leader's log."""
        offset, leads, state = self._raised[leader, tp], self.cluster.leads(leader, tp), self.cluster.state(tp)
        if leads is None or state is None or self.now.throttled:
            del self._raised[leader, tp]
            return
        behind = [broker for broker in state.isr if broker != leader and self._begins_before(broker, tp, offset)]
        if not behind:
            del self._raised[leader, tp]
        for broker in behind:
            follows, log = self.cluster.follows(broker, tp), self._logs.get(broker, tp)
            free_us, impaired = self.now.reached_since_us(broker), broker in self.now.impaired
            if follows is None or log is None or free_us is None or impaired or broker in self.now.clocks:
                continue
            fetches = self.cluster.fetches_from(broker, tp) == leader and self.cluster.connected(broker, leader)
            if (follows.leader, follows.leader_epoch) != (leader, leads.leader_epoch) or not fetches:
                continue
            since_us = max(free_us, follows.t_us, self._moved_us.get((leader, *tp), 0))
            if moment.t_us - since_us > FOLLOWS_AFTER_US and log.end_offset >= offset:
                self._raised.pop((leader, tp), None)
                self.violated(moment, BeginsBehind(leader, offset, broker, log.start_offset), tp, (broker,))

    def _begins_before(self, broker: int, tp: TopicPartition, offset: int) -> bool:
        log = self._logs.get(broker, tp)
        return log is not None and log.start_offset < offset

    def _living(self, tp: TopicPartition) -> tuple[int, ...]:
        return tuple(broker for broker in self.cluster.assignment(tp) if broker in self.cluster.registrations)

    def _find_late(
        self,
        event: DeletionExpired | Moment,
        leader: int,
        tp: TopicPartition,
        offset: int,
        counted: tuple[int, ...],
        since_us: int,
    ) -> bool:
        """Report a deletion whose leader should know by now that all of ``counted`` have followed. Returns whether it
        is one."""
        followed_us = [self._followed_since_us(broker, leader, tp, offset) for broker in counted]
        if self.now.throttled or not followed_us or None in followed_us:
            return False
        begun_us = event.t_us - max(since_us, *(one for one in followed_us if one is not None))
        if begun_us <= REPORTED_AFTER_US:
            return False
        self.violated(event, DeletionNotSeen(leader, offset, counted, begun_us), tp, (leader,))
        return True

    def on_start_moved(self, event: LogStartMoved) -> None:
        log = event.node, event.topic, event.partition
        self._furthest[log] = max(event.log_start_offset, self._furthest.get(log, 0))
        self._moved_us[log] = event.t_us
        if event.reason == "request":
            self._raised[event.node, TopicPartition.of(event.topic, event.partition)] = event.log_start_offset

    def on_written(self, event: ZkWritten) -> None:
        if event.path.startswith(BROKER_IDS):
            self._brokers_changed_us = event.t_us
            self._waiting.clear()

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._furthest.pop((event.node, event.topic, event.partition), None)

    def on_deleted(self, event: RecordsDeleted) -> None:
        self._answered(event)
        tp = TopicPartition.of(event.topic, event.partition)
        self._found.setdefault((event.node, tp), []).append(event)
        starts = {broker: self._start(broker, tp) for broker in event.counted}
        least = max(event.offset, event.low_watermark)
        late = tuple((broker, start) for broker, start in starts.items() if start < least)
        if late or event.low_watermark < event.offset:
            facts = DeletedInPart(event.node, event.offset, event.low_watermark, late)
            self.violated(event, facts, tp, tuple(broker for broker, _ in late))

    def _look_at_answer(self, event: RequestAnswered) -> None:
        request: Any = event.request
        response: Any = event.response
        asked = dict(request.partitions)
        for tp, low_watermark, error in response.partitions:
            offset, key = asked.get(tp, TO_HIGH_WATERMARK), (event.node, tp)
            if error is NO_ERROR:
                found = [one for one in self._found.get(key, ()) if one.t_us >= event.since_us]
                fits = [one for one in found if offset in (TO_HIGH_WATERMARK, one.offset)]
                self._found[key] = found
                right = low_watermark in [one.low_watermark for one in fits]
            elif error is Errors.REQUEST_TIMED_OUT:
                right = event.t_us - event.since_us >= request.timeout_us
            else:
                right = low_watermark == INVALID_LOW_WATERMARK and not self._has(event, tp, offset, error)
            if not right:
                waited_us = event.t_us - event.since_us
                self.violated(event, DeletionMisanswered(event.node, offset, low_watermark, error.name, waited_us), tp)

    def _has(self, event: RequestAnswered, tp: TopicPartition, offset: int, error: Errors) -> bool:
        """Whether a leader has the offset that it says is out of range."""
        log = self._logs.get(event.node, tp)
        if error is not Errors.OFFSET_OUT_OF_RANGE or not event.is_current or event.t_us != event.since_us:
            return False
        high_watermark = None if log is None else log.high_watermark
        return offset == TO_HIGH_WATERMARK or (high_watermark is not None and 0 <= offset <= high_watermark)

    def on_expired(self, event: DeletionExpired) -> None:
        self._answered(event)
        tp = TopicPartition.of(event.topic, event.partition)
        self._find_late(event, event.node, tp, event.offset, event.counted, 0)

    def _followed_since_us(self, broker: int, leader: int, tp: TopicPartition, offset: int) -> int | None:
        """The time since which a replica has begun at ``offset``, and can say so in its fetches; None: not now."""
        log, free_us = self._logs.get(broker, tp), self.now.reached_since_us(broker)
        if log is None or log.start_offset < offset or free_us is None or broker in self.now.impaired:
            return None
        if broker != leader and (not self.cluster.connected(broker, leader) or not self._follows(broker, leader, tp)):
            return None
        return max(free_us, self._moved_us.get((broker, *tp), 0))

    def _follows(self, broker: int, leader: int, tp: TopicPartition) -> bool:
        state = self.cluster.state(tp)
        return self.cluster.known_leader(broker, tp) == leader and state is not None and broker in state.isr

    def _start(self, broker: int, tp: TopicPartition) -> int:
        """The furthest start that the replica's log has had."""
        log = self._logs.get(broker, tp)
        return max(0 if log is None else log.start_offset, self._furthest.get((broker, *tp), 0))
