"""J: from poll to poll a consumer neither skips nor repeats."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import Consumed, PositionReset
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.checkers.ghosts import Ghosts


class PollsGoOn(Checker):
    """Each poll goes on where the one before it ended, or where the position was reset to since (Jepsen's
    nonmonotonic-poll and poll-skip; an assignment never changes here).

    Verified: each poll of each consumer, by partition; its first one against the position it found at its start.

    Not verified: that a reset is called for; that a message comes at all.
    """

    name: ClassVar[str] = "polls_go_on"
    ids: ClassVar[tuple[str, ...]] = ("J nonmonotonic-poll", "J poll-skip")
    statement: ClassVar[str] = "poll[n+1] begins where poll[n] ended: consumers neither skip nor repeat"
    catches: ClassVar[tuple[str, ...]] = ("KIP-320",)

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._positions: dict[tuple[int, str, int], int] = {}

    def on_reset(self, event: PositionReset) -> None:
        self._positions[event.node, event.topic, event.partition] = event.offset

    def on_consumed(self, event: Consumed) -> None:
        key = event.node, event.topic, event.partition
        position = self._positions.get(key)
        if event.offset != position:
            self.violated(
                event,
                f"client {event.node} is given {event.topic}-{event.partition} from offset {event.offset} on, and was "
                f"at {'no position' if position is None else position}",
            )
        self._positions[key] = event.next_offset
