"""The rate at which an operator lets replicas be copied."""

from __future__ import annotations

from attrs import frozen

from scenarios import units


@frozen
class Throttle:
    """What kafka-reassign-partitions --throttle sets.

    Attributes:
        rate: bytes per second that each broker may send, and receive.
        only_reassigned: KIP-542's rule: the rate binds the replicas that moves add, and nobody else. Without it
            KIP-73's: it binds whom the tool lists, whenever they are out of sync.
    """

    rate: int
    only_reassigned: bool = False

    @property
    def name(self) -> str:
        """As a strategy's name says it: ``throttle-50MiB``."""
        return (REASSIGN_THROTTLE if self.only_reassigned else THROTTLE) + units.format_size(self.rate)


THROTTLE, REASSIGN_THROTTLE = "throttle-", "reassign-throttle-"
