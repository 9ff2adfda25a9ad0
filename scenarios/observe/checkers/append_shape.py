"""S13: a log grows at its end, and its epochs do not go back."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import Appended
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.history.history import History


class AppendShape(Checker):
    """Each batch is appended at the log's end, and its epoch is not older than that of the batch before it.

    Verified: each append on each replica. Logs with the same content share one history, so an epoch that goes back is
        reported once, for the first log that appends the batch.

    Not verified: the epoch cache, which no event shows; that a leader appends under its own epoch.
    """

    name: ClassVar[str] = "append_shape"
    ids: ClassVar[tuple[str, ...]] = ("S13",)
    statement: ClassVar[str] = (
        "append(b, o, e) ⇒ o = leo_b and e ≥ the epoch before it: logs have no holes and their epochs do not go back"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-13266", "KAFKA-10432", "KAFKA-10706", "KAFKA-7415")
    fails_when: ClassVar[str | None] = "a leader stamps a batch with an older epoch"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        history.logs.misplaced.append(self._misplaced)
        history.logs.regressed.append(self._regressed)

    def _misplaced(self, event: Appended, end: int) -> None:
        self.violated(event, f"{_what(event)} goes to offset {event.base_offset} of a log that ends at {end}")

    def _regressed(self, event: Appended, epoch: int) -> None:
        self.violated(event, f"{_what(event)} of epoch {event.leader_epoch} follows a batch of epoch {epoch}")


def _what(event: Appended) -> str:
    return f"broker {event.node}, {event.topic}-{event.partition}: batch {event.id}"
