"""F12: a fetch does not wait for what is there."""

from __future__ import annotations

from emulator.protocol.shown import FetchOverdue
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.findings.fetch_facts import FetchedLate


class FetchesComplete(Checker):
    """A leader answers a fetch that waits for fetch.min.bytes in the step in which there are as many: an append for a
    follower, a higher high watermark for a consumer (DelayedFetch.tryComplete, 0.8 to 3.0).

    Verified: each fetch of a follower or an emulated consumer that is answered only because fetch.max.wait.ms is over:
        there are not as many bytes as it waits for.

    Not verified: fetches that wait while a throttle limits any replica of the broker, or changes, since the end of a
        throttle wakes no fetch (KIP-73); fetches that are answered too early; real consumers.
    """

    ids = ("F12",)
    gravity = Gravity.LIVENESS
    statement = "expired(fetch) ⇒ bytes < fetch.min.bytes: a fetch does not wait for what is there"
    fails_when = "an append wakes no fetch"

    def on_overdue(self, event: FetchOverdue) -> None:
        brokers = (event.node,) if event.reader < 0 else (event.node, event.reader)
        for tp in event.partitions[:1]:
            self.violated(event, FetchedLate(event.node, event.reader, event.waited_us), tp, brokers)
