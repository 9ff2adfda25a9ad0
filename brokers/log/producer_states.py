"""What a log knows of the idempotent producers that wrote to it (ProducerStateManager, 2.3.1): for each the last five
batches, by which it tells a repetition from what is new, and what is new from a gap.

A log whose batches have no producer ids has none of this.
"""

from collections import deque
from collections.abc import Iterable

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.types import Batch, SequencedBatch

BATCHES_KEPT = 5


@define(eq=False)
class ProducerStates:
    """By producer id, the newest batches in the order of the log. Nothing expires; Kafka forgets a producer seven days
    after its last batch."""

    _batches: dict[int, deque[SequencedBatch]] = field(factory=dict)

    @classmethod
    def of(cls, batches: Iterable[Batch]) -> "ProducerStates":
        """What follows from a log's content."""
        states = cls()
        for batch in batches:
            if batch.__class__ is SequencedBatch:
                states.add(batch)
        return states if states._batches else NO_PRODUCERS

    def add(self, batch: SequencedBatch) -> None:
        """``batch`` is appended."""
        kept = self._batches.get(batch.producer_id)
        if kept is None:
            kept = self._batches[batch.producer_id] = deque(maxlen=BATCHES_KEPT)
        kept.append(batch)

    def repeated(self, produced: IdempotentBatch) -> SequencedBatch | None:
        """The batch in the log that ``produced`` repeats, if it is one of those kept."""
        kept = self._batches.get(produced.producer_id, ())
        wanted = produced.base_sequence, produced.last_sequence
        return next((batch for batch in kept if (batch.base_sequence, batch.last_sequence) == wanted), None)

    def check(self, produced: IdempotentBatch) -> Errors:
        """Whether ``produced``, which is no repetition, goes on where its producer's last batch ended. A producer that
        nothing is known of begins with 0."""
        kept = self._batches.get(produced.producer_id)
        if kept is None:
            return Errors.UNKNOWN_PRODUCER_ID if produced.base_sequence else Errors.NONE
        goes_on = produced.base_sequence == kept[-1].last_sequence + 1
        return Errors.NONE if goes_on else Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


NO_PRODUCERS = ProducerStates()
"""What the logs have in common to which no idempotent producer has written. It stays as it is."""
