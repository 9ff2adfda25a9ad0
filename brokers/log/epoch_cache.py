"""Leader-epoch cache (KIP-101, KIP-279): where each leader epoch begins in one log."""

from attrs import define, field

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET


@define(eq=False)
class EpochCache:
    """``(epoch, start offset)`` in growing order of both."""

    entries: list[tuple[int, int]] = field(factory=list)

    @property
    def latest(self) -> int:
        """The newest epoch, or UNDEFINED_EPOCH."""
        return self.entries[-1][0] if self.entries else UNDEFINED_EPOCH

    def assign(self, epoch: int, start_offset: int) -> None:
        """``epoch`` begins at ``start_offset``; older entries that would contradict it go."""
        if self.entries and self.entries[-1][0] >= epoch:
            return
        self.truncate_from(start_offset)
        self.entries.append((epoch, start_offset))

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

    def truncate_from(self, offset: int) -> None:
        """Forget the epochs that begin at or behind ``offset``."""
        while self.entries and self.entries[-1][1] >= offset:
            self.entries.pop()
