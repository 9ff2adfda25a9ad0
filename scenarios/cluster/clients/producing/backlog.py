"""The batches that a producer has closed and could not send yet, while it is held.

Where a card is saturated, acknowledgements take so long that batches wait before they are sent, ever more of them. Such
a producer cannot be made empty. It is held with what waits: in the time that passes meanwhile, each partition whose
batches wait is sent as much as the stretch before has seen, in order, and what is not sent stays.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import define, field

from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.producing.accumulator import Accumulator

FEW = 2
"""So many batches of a partition may wait in a producer that keeps up."""


@define(eq=False)
class Backlog:
    """The batches of one producer that wait.

    Attributes:
        slow: the partitions that are behind, each with the messages that it may be sent now.
    """

    accumulator: Accumulator
    slow: dict[TopicPartition, float] = field(factory=dict)

    @classmethod
    def of(cls, accumulator: Accumulator) -> Backlog:
        """The backlog as a hold begins."""
        return cls(accumulator, {queue.tp: 0.0 for queue in accumulator.ready if len(queue.waiting) > FEW})

    def sent(
        self, tick_us: int, rates: Mapping[TopicPartition, float], closed_after_us: int
    ) -> tuple[ProducedBatch, ...]:
        """The batches that a tick sends, which are done then.

        Args:
            tick_us: the time since the tick before.
            rates: the messages per microsecond of each partition that is behind.
            closed_after_us: batches that were closed by then are too old: they stay, and expire when all goes on.
        """
        ready, unfinished, found = self.accumulator.ready, self.accumulator.unfinished, list[ProducedBatch]()
        for queue in list(ready):
            limited = queue.tp in self.slow
            budget = self.slow[queue.tp] + rates.get(queue.tp, 0.0) * tick_us if limited else 0.0
            old = []
            while queue.waiting and (not limited or queue.waiting[0].count <= budget):
                batch = queue.waiting.popleft()
                if unfinished[batch] <= closed_after_us:
                    old.append(batch)
                else:
                    budget -= batch.count
                    found.append(batch)
            queue.waiting.extendleft(reversed(old))
            if limited:
                self.slow[queue.tp] = budget if queue.waiting else 0.0
            if not queue.waiting:
                del ready[queue]
        self.accumulator.finish(found)
        return tuple(found)
