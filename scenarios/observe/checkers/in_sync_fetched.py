"""F13: a throttle does not hold back a follower that has everything."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import ConsumerLag, FetchPosition, LeapBegan, Leapt, NodeCrashed
from emulator.protocol.shown import FetchHeld
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.fetch_facts import HeldInSync
from scenarios.observe.history.history import History


class InSyncFetched(Checker):
    """A follower whose log reaches its leader's high watermark is in each fetch, whatever its quota says (KIP-73).

    Verified: each time that a follower leaves a replica out of its fetches: its log ends before its leader's high
        watermark, or the lag that its fetcher has shown last is not 0, or it has shown none yet (an answer shows it,
        100 ms later at most).

    Not verified: whether the quota is exceeded (``throttle_kept``); copies between log directories; leaps.
    """

    name: ClassVar[str] = "in_sync_fetched"
    ids: ClassVar[tuple[str, ...]] = ("F13",)
    statement: ClassVar[str] = (
        "leo_f ≥ hw_leader ⇒ f fetches p: a replication throttle does not hold back a follower that has everything"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-15080",)
    fails_when: ClassVar[str | None] = "a follower counts as behind until it has fetched a record"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        history.commits  # noqa: B018 (it keeps the high watermarks of the logs)
        self._logs = history.logs
        self._level: dict[int, dict[TopicPartition, None]] = {}
        """The replicas whose fetchers have shown a lag of 0 last, by broker."""
        self._leaps = False

    def on_position(self, event: FetchPosition) -> None:
        self._level.get(event.node, {}).pop(TopicPartition.of(event.topic, event.partition), None)

    def on_lag(self, event: ConsumerLag) -> None:
        if not event.fetcher.startswith("ReplicaFetcherThread"):
            return
        level, tp = self._level.setdefault(event.node, {}), TopicPartition.of(event.topic, event.partition)
        if event.lag:
            level.pop(tp, None)
        else:
            level[tp] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self._level.pop(event.node, None)

    def on_leap(self, event: LeapBegan) -> None:
        self._leaps = True

    def on_leapt(self, event: Leapt) -> None:
        self._leaps = False

    def on_held(self, event: FetchHeld) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if self._leaps or event.leader == event.node or tp not in self._level.get(event.node, ()):
            return
        log, of_leader = self._logs.get(event.node, tp), self._logs.get(event.leader, tp)
        if log is not None and of_leader is not None and log.end_offset >= (of_leader.high_watermark or 0):
            facts = HeldInSync(event.node, log.end_offset, event.leader, of_leader.high_watermark or 0)
            self.violated(event, facts, tp, (event.node,))
