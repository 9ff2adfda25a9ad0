"""Leader-epoch cache (KIP-101, KIP-279): where each leader epoch begins in one log.

A value: the many logs without a batch share one, and a change makes another.
"""

from attrs import frozen

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET


@frozen
class EpochCache:
    """``(epoch, start offset)`` in growing order of both."""

    entries: tuple[tuple[int, int], ...] = ()

    @property
    def latest(self) -> int:
        """The newest epoch, or UNDEFINED_EPOCH."""
        return self.entries[-1][0] if self.entries else UNDEFINED_EPOCH

    def assigned(self, epoch: int, start_offset: int) -> "EpochCache":
        """Now ``epoch`` begins at ``start_offset``; older entries that would contradict it go."""
        if self.entries and self.entries[-1][0] >= epoch:
            return self
        return EpochCache((*self.truncated_from(start_offset).entries, (epoch, start_offset)))

    def end_offset_for(self, epoch: int, log_end_offset: int) -> tuple[int, int]:
        """The largest known epoch that is at most ``epoch``, and where it ends (kafka-behaviour, 8.3)."""
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
        """Where ``epoch`` ends, as answers before KIP-279 had it (LeaderEpochFileCache, 1.1): undefined for an epoch
        before all that are known."""
        if self.entries and epoch < self.entries[0][0]:
            return UNDEFINED_OFFSET
        return self.end_offset_for(epoch, log_end_offset)[1]

    def truncated_from(self, offset: int) -> "EpochCache":
        """Without the epochs that begin at or behind ``offset``."""
        if not self.entries or self.entries[-1][1] < offset:
            return self
        return EpochCache(tuple(entry for entry in self.entries if entry[1] < offset))

    def truncated_before(self, offset: int) -> "EpochCache":
        """The log begins at ``offset`` now: so does the epoch that it begins in (LeaderEpochFileCache, 2.3)."""
        if not self.entries or self.entries[0][1] >= offset:
            return self
        before = [epoch for epoch, start in self.entries if start <= offset]
        return EpochCache(((before[-1], offset), *(entry for entry in self.entries if entry[1] > offset)))


NO_EPOCHS = EpochCache()
