"""Truncation by one question about the latest epoch (KIP-101: 0.11 to 1.1)."""

from attrs import frozen

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_OFFSET, EpochEndOffset
from fetchers.ports import FollowerLog
from fetchers.truncation.rule import Cut


@frozen
class Kip101:
    """The leader answers with an offset alone: logs stay different where it does not know the epoch, as after two
    changes of leader in short order (KAFKA-6361). Until 2.1 nobody looks under which epoch the question was asked."""

    on_fetch: bool = False
    takes_late_answers: bool = True

    def asks(self, epoch: int) -> bool:
        """Also about no epoch: the answer is that nothing is known."""
        return True

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        offset = high_watermark if answer.end_offset == UNDEFINED_OFFSET else answer.end_offset
        return Cut(min(offset, log.log_end_offset), True)
