"""Truncation by questions until both logs agree (KIP-279, 2.0; KIP-320, 2.1)."""

from attrs import frozen

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEndOffset
from fetchers.ports import FollowerLog
from fetchers.truncation.rule import Cut


@frozen
class Kip279:
    """The answer carries the epoch it is about, and the follower asks about ever earlier ones until it has it too."""

    on_fetch: bool = False
    takes_late_answers: bool = False

    def asks(self, epoch: int) -> bool:
        return epoch != UNDEFINED_EPOCH

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        end = log.log_end_offset
        if answer.end_offset == UNDEFINED_OFFSET:
            return Cut(min(high_watermark, end), True)
        if answer.leader_epoch == UNDEFINED_EPOCH:
            return Cut(min(answer.end_offset, end), True)
        epoch, epoch_end = log.end_offset_for_epoch(answer.leader_epoch)
        if epoch_end == UNDEFINED_OFFSET:
            return Cut(min(answer.end_offset, end), True)
        if epoch != answer.leader_epoch:
            return Cut(min(epoch_end, end), False)
        return Cut(min(answer.end_offset, epoch_end, end), True)
