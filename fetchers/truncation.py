"""Where a follower cuts its log when it meets a leader under a new epoch (kafka-behaviour, 8.3)."""

from typing import NamedTuple, Protocol

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEndOffset
from fetchers.ports import FollowerLog


class Cut(NamedTuple):
    """Truncate to ``offset``; ``done`` or ask the leader again about the epoch that is then the latest."""

    offset: int
    done: bool


class TruncationRule(Protocol):
    """Turns the leader's answer into a cut."""

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut: ...


class Kip279:
    """2.0 and later: the answer carries the epoch it is about, and the follower asks until both agree."""

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
