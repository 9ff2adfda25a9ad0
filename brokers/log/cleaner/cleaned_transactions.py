"""The transactions that the log cleaner meets on its way through a log (CleanedTransactionMetadata, 2.4): which batches
are of aborted ones, and which markers nothing needs any more."""

from collections import deque
from collections.abc import Iterable

from attrs import define, field

from brokers.log.transactions import AbortedTxn
from emulator.protocol.control_batches import ControlBatch
from emulator.protocol.types import Batch


@define(eq=False)
class CleanedTransactions:
    """The open transactions at the place in the log where the cleaner is.

    Attributes:
        ahead: the aborted transactions that it has not come to yet, by their first offsets.
        dropped: the last offsets of the aborted transactions that have no record in the log any more.
    """

    ahead: deque[AbortedTxn]
    dropped: dict[int, None] = field(factory=dict)
    _aborted: dict[int, bool] = field(factory=dict)
    """By producer id: whether any batch of its aborted transaction was found."""
    _committed: dict[int, None] = field(factory=dict)

    @classmethod
    def of(cls, aborted: Iterable[AbortedTxn]) -> "CleanedTransactions":
        return cls(deque(sorted(aborted, key=lambda one: one.first_offset)))

    def _take_up(self, offset: int) -> None:
        while self.ahead and self.ahead[0].first_offset <= offset:
            self._aborted.setdefault(self.ahead.popleft().producer_id, False)

    def marker_read(self, marker: ControlBatch) -> bool:
        """Take in a marker. Returns whether it may be removed: no batch of its transaction is left."""
        self._take_up(marker.base_offset)
        if marker.committed:
            found = marker.producer_id in self._committed
            self._committed.pop(marker.producer_id, None)
            return not found
        found = self._aborted.pop(marker.producer_id, False)
        if not found:
            self.dropped[marker.base_offset] = None
        return not found

    def batch_read(self, batch: Batch) -> bool:
        """Take in a batch that is no marker. Returns whether it is of an aborted transaction."""
        self._take_up(batch.next_offset - 1)
        if not batch.transactional:
            return False
        producer_id: int = batch.producer_id  # type: ignore[attr-defined]
        if producer_id in self._aborted:
            self._aborted[producer_id] = True
            return True
        self._committed[producer_id] = None
        return False
