"""F10: a follower whose leader does not answer asks again only after its back-offs, and meters each request."""

from __future__ import annotations

from attrs import define

from emulator.protocol.events import BecameFollower, FetcherStarted, FetchPosition
from emulator.protocol.shown import FetchLost
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.fetch_facts import AskedAgainEarly, RequestsNotCounted

BACK_OFFS = 2
"""One in which the thread waits, and then one of each of its partitions."""


@define(eq=False)
class _Last:
    """The last request of a thread that was lost.

    Attributes:
        waits: nothing else that the thread fetches can end its wait.
    """

    leader: int
    t_us: int
    requests: int
    waits: bool


class FetchesBackOff(Checker):
    """A replica fetcher that gets no answer waits for replica.fetch.backoff.ms, and then leaves the partitions of that
    request out for as long again; FetcherStats.RequestsPerSec counts the request as well
    (AbstractFetcherThread.processFetchRequest, 1.1 to 2.7, whose comment says that this doubles the delay).

    Verified: between two requests of one thread that are lost: two back-offs, if the first was for all partitions of
        the thread, and none was added to it or truncated since then; and the meter has counted the second.

    Not verified: requests that are answered; the requests before a truncation (OffsetsForLeaderEpoch); brokers whose
        clocks a fault has set, as to the back-offs.
    """

    ids = ("F10",)
    statement = (
        "lost(n+1) - lost(n) ≥ 2 · backoff ∧ requests(n+1) > requests(n): "
        "a follower whose leader does not answer asks again only after its back-offs, and meters each request"
    )
    catches = ("KAFKA-1461",)
    fails_when = "a fetcher that has lost its leader leaves no partition out"

    def begin(self) -> None:
        self._least_us = BACK_OFFS * self.start.time_us("replica.fetch.backoff.ms", 1_000)
        self._lost: dict[tuple[int, str], _Last] = {}

    def on_started(self, event: FetcherStarted) -> None:
        self._lost.pop((event.node, event.fetcher), None)

    def on_added(self, event: BecameFollower | FetchPosition) -> None:
        """A partition that is added ends the wait of its thread, also where it has to truncate first; so does one that
        has truncated."""
        for (node, _), last in self._lost.items():
            if node == event.node and last.leader == event.leader:
                last.waits = False

    def on_lost(self, event: FetchLost) -> None:
        before = self._lost.get((event.node, event.fetcher))
        if before is not None:
            self._check(event, before)
        self._lost[event.node, event.fetcher] = _Last(event.leader, event.t_us, event.requests, event.whole)

    def _check(self, event: FetchLost, before: _Last) -> None:
        if event.requests <= before.requests:
            self.violated(event, RequestsNotCounted(event.node, event.fetcher, event.requests))
        passed_us = event.t_us - before.t_us
        if before.waits and passed_us < self._least_us and event.node not in self.now.clocks:
            self.violated(event, AskedAgainEarly(event.node, event.fetcher, event.leader, passed_us, self._least_us))
