"""Truncation to the high watermark (0.8 to 0.10)."""

from attrs import frozen

from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset
from fetchers.ports import FollowerLog
from fetchers.truncation.rule import Cut


@frozen
class ToHighWatermark:
    """Nobody is asked. What the leader had committed and this follower had not heard of is lost if it leads next
    (KAFKA-1211), and a leader that was one fetch ahead keeps records that others replace (KIP-101)."""

    on_fetch: bool = False
    takes_late_answers: bool = False

    def asks(self, epoch: int) -> bool:
        return False

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        return Cut(high_watermark, True)
