"""Leader-epoch cache (KIP-101, KIP-279): the start offset of each leader epoch in one log.

It is immutable: a change returns a new one. All logs without a batch share one, and so do most logs whose first epoch
has just begun.
"""

from functools import lru_cache

from attrs import frozen

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET


@frozen
class LeaderEpochFileCache:
    """The leader epochs of one log (LeaderEpochFileCache, 2.3).

    Attributes:
        entries: ``(epoch, start offset)``, both in ascending order.
    """

    entries: tuple[tuple[int, int], ...] = ()

    @property
    def latest(self) -> int:
        """The newest epoch, or UNDEFINED_EPOCH."""
        return self.entries[-1][0] if self.entries else UNDEFINED_EPOCH

    def assigned(self, epoch: int, start_offset: int) -> "LeaderEpochFileCache":
        """A copy with ``epoch`` beginning at ``start_offset``, and without the entries that contradict it, later ones
        included: the last assignment is right (LeaderEpochFileCache.assign, since KAFKA-7415, 2.0.1)."""
        if self.entries:
            latest, start = self.entries[-1]
            if epoch == latest and start_offset >= start:
                return self
        before = tuple(entry for entry in self.entries if entry[0] < epoch and entry[1] < start_offset)
        return LeaderEpochFileCache((*before, (epoch, start_offset))) if before else begun(epoch, start_offset)

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The largest known epoch that is at most ``epoch``, and its end offset (kafka-behaviour §8.3)."""
        if epoch == UNDEFINED_EPOCH or not self.entries or epoch > self.latest:
            return UNDEFINED_EPOCH, UNDEFINED_OFFSET
        if epoch == self.latest:
            return epoch, log_end_offset
        if epoch < self.entries[0][0]:
            return epoch, self.entries[0][1]
        end, found = log_end_offset, UNDEFINED_EPOCH
        for known, start in reversed(self.entries):
            if known <= epoch:
                found = known
                break
            end = start
        return found, end

    def end_offset_alone(self, epoch: int, log_end_offset: int) -> int:
        """The end offset of ``epoch``, as before KIP-279 (LeaderEpochFileCache, 1.1): undefined for an epoch below all
        known ones."""
        if self.entries and epoch < self.entries[0][0]:
            return UNDEFINED_OFFSET
        return self.end_offset_for(epoch, log_end_offset)[1]

    def truncated_from(self, offset: int) -> "LeaderEpochFileCache":
        """A copy without the epochs that begin at or after ``offset`` (truncateFromEnd); UNDEFINED_OFFSET:
        unchanged."""
        if offset < 0 or not self.entries or self.entries[-1][1] < offset:
            return self
        return LeaderEpochFileCache(tuple(entry for entry in self.entries if entry[1] < offset))

    def truncated_before(self, offset: int) -> "LeaderEpochFileCache":
        """The cache of a log that begins at ``offset``: the epoch that contains it begins there, too
        (truncateFromStart, 2.3)."""
        if not self.entries or self.entries[0][1] >= offset:
            return self
        before = [epoch for epoch, start in self.entries if start <= offset]
        return LeaderEpochFileCache(((before[-1], offset), *(entry for entry in self.entries if entry[1] > offset)))


@lru_cache(1024)
def begun(epoch: int, start_offset: int) -> LeaderEpochFileCache:
    """The cache of a log whose only epoch begins at ``start_offset``."""
    return LeaderEpochFileCache(((epoch, start_offset),))


NO_EPOCHS = LeaderEpochFileCache()
