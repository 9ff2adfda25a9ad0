"""J: from poll to poll a consumer neither skips nor repeats."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import Consumed, PositionReset
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.client_facts import PollElsewhere
from scenarios.observe.history.history import History


class PollsGoOn(Checker):
    """Each poll continues where the previous one ended, or at the offset to which the position was reset since
    (Jepsen's nonmonotonic-poll and poll-skip; assignments never change here).

    Verified: each poll of each consumer, by partition; the first one against the position at which the consumer
        started.

    Not verified: that a reset of the position is justified; that messages arrive at all.
    """

    name: ClassVar[str] = "polls_go_on"
    ids: ClassVar[tuple[str, ...]] = ("J nonmonotonic-poll", "J poll-skip")
    statement: ClassVar[str] = "poll[n+1] begins where poll[n] ended: consumers neither skip nor repeat"
    catches: ClassVar[tuple[str, ...]] = ("KIP-320",)
    fails_when: ClassVar[str | None] = "a consumer forgets where it is"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._positions: dict[tuple[int, str, int], int] = {}

    def on_reset(self, event: PositionReset) -> None:
        self._positions[event.node, event.topic, event.partition] = event.offset

    def on_consumed(self, event: Consumed) -> None:
        key = event.node, event.topic, event.partition
        position = self._positions.get(key)
        if event.offset != position:
            facts = PollElsewhere(event.node, event.offset, position)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))
        self._positions[key] = event.next_offset
