"""F13: a throttle does not hold back a follower that has everything."""

from __future__ import annotations

from emulator.protocol.events import ConsumerLag, FetchPosition, LeapBegan, Leapt, NodeCrashed
from emulator.protocol.shown import FetchHeld
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.fetch_facts import HeldInSync


class InSyncFetched(Checker):
    """A follower whose log reaches its leader's high watermark is in each fetch, whatever its quota says (KIP-73).

    Verified: each time that a follower leaves a replica out of its fetches: its log ends before its leader's high
        watermark, or the lag that its fetcher has shown last is not 0, or it has shown none yet (an answer shows it,
        100 ms later at most).

    Not verified: whether the quota is exceeded (``throttle_kept``); copies between log directories; leaps.
    """

    ids = ("F13",)
    statement = (
        "leo_f ≥ hw_leader ⇒ f fetches p: a replication throttle does not hold back a follower that has everything"
    )
    catches = ("KAFKA-15080",)
    fails_when = "a follower counts as behind until it has fetched a record"

    def begin(self) -> None:
        self._logs = self.history.commits.logs  # with their high watermarks
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
