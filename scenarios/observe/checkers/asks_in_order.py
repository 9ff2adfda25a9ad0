"""E12: what a client asks of ZooKeeper comes there in the order in which it was submitted."""

from __future__ import annotations

from emulator.trace.shown_znodes import ZkAsked
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.epoch_facts import AskedOutOfOrder


class AsksInOrder(Checker):
    """ZooKeeper gets the requests of a client in the order in which they were submitted, each on one connection once
    (ClientCnxn; FIFO client order).

    Verified: each request of a broker. On one connection they follow one another without a gap. The first one of a
        later connection is one that was sent before, or the next.

    Not verified: real clients of ZooKeeper; that a request is sent again when its answer was lost, other than by the
        gap that it leaves; what ZooKeeper does with it.
    """

    ids = ("E12",)
    statement = (
        "submitted(m) < submitted(m') ⇒ received(m) < received(m'): ZooKeeper gets a client's requests in their order"
    )
    fails_when = "requests that are sent again come in the reverse order"

    def begin(self) -> None:
        self._last: dict[int, int] = {}
        """The highest number that came in each session."""

    def on_asked(self, event: ZkAsked) -> None:
        last = self._last.get(event.session)
        self._last[event.session] = max(event.number, -1 if last is None else last)
        if event.before >= 0:
            expected, fits = event.before + 1, event.number == event.before + 1
        else:
            expected, fits = event.number if last is None else last + 1, last is None or event.number <= last + 1
        if not fits:
            facts = AskedOutOfOrder(event.client, event.session, event.number, expected)
            self.violated(event, facts, None, (event.client,))
