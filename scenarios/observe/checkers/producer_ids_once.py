"""X4: a producer id belongs to one producer."""

from __future__ import annotations

from emulator.protocol.events import ProducerIdentified, TransactionStateChanged
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.coordination_facts import ProducerIdTwice


class ProducerIdsOnce(Checker):
    """Brokers claim blocks of producer ids in ZooKeeper (/latest_producer_id_block; ProducerIdManager, 0.11 to 2.8), or
    the controller does for them (KIP-730, 3.0), so no two idempotent producers and no two transactional ids have the
    same id.

    Verified: each id that an emulated producer gets, and each that a transactional id has.

    Not verified: idempotent producers of real clients.
    """

    ids = ("X4",)
    statement = "id(a) = id(b) ⇒ a = b: a producer id belongs to one producer"
    catches = ("KIP-98",)
    fails_when = "each broker begins with the first block of ids"

    def begin(self) -> None:
        self._owners: dict[int, str] = {}

    def on_identified(self, event: ProducerIdentified) -> None:
        first = self._owners.get(event.producer_id)
        if first is not None:
            self.violated(event, ProducerIdTwice(event.producer_id, first, f"client {event.node}"))
        self._owners[event.producer_id] = f"client {event.node}"

    def on_state(self, event: TransactionStateChanged) -> None:
        owner = f"transactional id {event.transactional_id}"
        first = self._owners.setdefault(event.producer_id, owner)
        if first != owner:
            self._owners[event.producer_id] = owner
            self.violated(event, ProducerIdTwice(event.producer_id, first, owner))
