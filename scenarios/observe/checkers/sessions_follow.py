"""F14: a broker's fetch session of a client is what the client reads there."""

from __future__ import annotations

from typing import NamedTuple

from emulator.protocol.events import ClockSet
from emulator.protocol.shown import SessionAnswered, SessionLost
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.fetch_facts import AnsweredBesides, LeftOutOfAnswers, SessionGone
from scenarios.observe.history.replica_logs import NEXT_OFFSET

KEPT_US = 120_000_000
"""For so long by its broker's clock a session stays that is used, or is young (FetchSessionCache.tryEvict,
min.incremental.fetch.session.eviction.ms)."""


class _Left(NamedTuple):
    """A partition that an answer has left out: the position of the client there, and where the whole batches ended then
    that its leader had committed."""

    offset: int
    high_watermark: int
    leader_epoch: int


class SessionsFollow(Checker):
    """A broker answers in a client's fetch session for the partitions that the client reads there, tells what is new in
    them, and keeps the session while it is used (KIP-227; FetchSession, FetchSessionCache, 1.1).

    Verified: each answer in a session of a client: it names only partitions that the client has in it. Each partition
        of which two answers in turn say nothing: the leader had no committed record there behind the client's offset
        when the first one came. Each session that is refused: its broker has started since it began, or it is older
        than two minutes by its broker's clock.

    Not verified: sessions of followers and of emulated consumers (``answers_fit``, ``fetches_complete``); those of
        real clients.
    """

    ids = ("F14",)
    statement = "session_b(c) = session_c(b): a broker's fetch session of a client is what the client reads there"
    fails_when = "a broker forgets nothing that a client takes out of its session"

    def begin(self) -> None:
        self._logs = self.history.commits.logs  # with their high watermarks
        self._left: dict[tuple[int, int], dict[TopicPartition, _Left]] = {}
        """The partitions that the last answer in a session has left out, by client and broker."""
        self._ahead: list[ClockSet] = []
        """The clocks of brokers that were set forward."""

    def on_clock(self, event: ClockSet) -> None:
        if event.after_us > event.before_us:
            self._ahead.append(event)

    def on_answered(self, event: SessionAnswered) -> None:
        for tp in event.besides:
            self.violated(event, AnsweredBesides(event.node, event.leader), tp, (event.leader,))
        before = self._left.get((event.node, event.leader), {})
        now: dict[TopicPartition, _Left] = {}
        for tp, offset in event.left_out:
            left = self._had(event.leader, tp, offset)
            if left is None:
                continue
            now[tp] = left
            known = before.get(tp)
            if known is None or (known.offset, known.leader_epoch) != (offset, left.leader_epoch):
                continue
            if known.high_watermark > offset:
                facts = LeftOutOfAnswers(event.node, event.leader, offset, known.high_watermark)
                self.violated(event, facts, tp, (event.leader,))
        self._left[event.node, event.leader] = now

    def _had(self, leader: int, tp: TopicPartition, offset: int) -> _Left | None:
        """The state of a leader now; None where it does not lead, or its log is not known."""
        leads, log = self.cluster.leads(leader, tp), self._logs.get(leader, tp)
        if leads is None or log is None or log.high_watermark is None or not log.known:
            return None
        whole = log.line[log.covered(log.high_watermark)][NEXT_OFFSET]  # a follower's end may lie within a batch
        return _Left(offset, whole, leads.leader_epoch)

    def on_lost(self, event: SessionLost) -> None:
        self._left.pop((event.node, event.leader), None)
        started_us, held_us = self.cluster.started_us(event.leader), event.t_us - event.begun_us
        by_clock_us = held_us + sum(
            clock.after_us - clock.before_us
            for clock in self._ahead
            if clock.node == event.leader and clock.t_us >= event.begun_us
        )
        if started_us is not None and started_us < event.begun_us and by_clock_us < KEPT_US:
            self.violated(event, SessionGone(event.node, event.leader, event.error, held_us), brokers=(event.leader,))
