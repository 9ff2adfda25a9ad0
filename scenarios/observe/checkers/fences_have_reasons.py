"""X11: a coordinator fences no producer that is alone with its transactional id."""

from __future__ import annotations

from typing import NamedTuple

from emulator.protocol.events import TransactionStateChanged
from emulator.protocol.shown_coordination import ProducerInitialized, TransactionLate
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.markers_decided import ONGOING
from scenarios.observe.findings.coordination_facts import FencedAlone


class _Raised(NamedTuple):
    """The last epoch that a producer has raised itself: at which coordinator, from which and to which."""

    node: int
    producer_id: int
    epoch: int
    given: int


class FencesHaveReasons(Checker):
    """A producer that asks for its next epoch and says which one it has is fenced only where another one was given
    since: one that asks again, as the answer was lost, gets that answer again (KIP-360, 2.5).

    Verified: each PRODUCER_FENCED for a producer with the epoch that it has raised itself last, at the same
        coordinator.

    Not verified: such a producer at the next coordinator, which does not read what the epoch was before
        (TransactionLog.readTxnRecordValue, 2.5 to 3.9); other requests.
    """

    ids = ("X11",)
    statement = "fenced(p, e) ⇒ given(p, e' > e) to another: a coordinator fences no producer that is alone with its id"
    fails_when = "a coordinator does not know which epoch a producer had before"

    def begin(self) -> None:
        self._current: dict[str, tuple[int, int, int]] = {}
        """The coordinator, producer id and epoch of each transactional id, as they were written last."""
        self._raised: dict[str, _Raised] = {}
        self._ongoing: dict[str, None] = {}

    def on_state(self, event: TransactionStateChanged) -> None:
        id = event.transactional_id
        self._current[id] = event.node, event.producer_id, event.producer_epoch
        if event.state == ONGOING:
            self._ongoing[id] = None
        else:
            self._ongoing.pop(id, None)

    def on_late(self, event: TransactionLate) -> None:
        self._current.pop(event.transactional_id, None)

    def on_initialized(self, event: ProducerInitialized) -> None:
        id, asked = event.transactional_id, (event.node, event.producer_id, event.producer_epoch)
        if id in self._ongoing:  # it is fenced, whether or not that can be written
            self._current.pop(id, None)
        if event.producer_id < 0:
            return
        if event.given_id == event.producer_id:
            self._raised[id] = _Raised(*asked, event.given_epoch)
        if event.error != "PRODUCER_FENCED":
            return
        current, raised = self._current.get(id), self._raised.get(id)
        if raised is not None and raised[:3] == asked and current == (*asked[:2], raised.given):
            self.violated(event, FencedAlone(event.node, id, *asked[1:], raised.given), brokers=(event.node,))
