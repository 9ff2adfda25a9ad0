"""The place where a follower truncates its log when it meets a leader under a new epoch: one rule for each generation
of releases (kafka-behaviour §8.3).

| Rule | Releases | The follower truncates to | |---|---|---| | ``ToHighWatermark`` | 0.8 to 0.10 | its own high
watermark | | ``Kip101`` | 0.11 to 1.1 | the end of its latest epoch in the leader's log | | ``Kip279`` | 2.0 to 2.7 |
the end of the latest epoch that both logs have, found by asking again | | ``OnFetch`` | inter-broker protocol 2.7-IV1 |
that same end, as the answer to a fetch says |
"""

from typing import NamedTuple, Protocol

from attrs import frozen

from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH, UNDEFINED_OFFSET, EpochEndOffset
from fetchers.ports import FollowerLog


class Cut(NamedTuple):
    """A decision: truncate to ``offset``; then begin to fetch if ``done``, else ask the leader about the epoch that is
    the latest then (OffsetTruncationState)."""

    offset: int
    done: bool


class TruncationRule(Protocol):
    """One rule.

    Attributes:
        on_fetch: a follower fetches at once; its fetches name the epoch of its last batch, and the leader answers with
            the offset at which the two logs diverge.
        takes_late_answers: the answer to a question asked under an earlier leader epoch counts for the new one.
    """

    @property
    def on_fetch(self) -> bool: ...

    @property
    def takes_late_answers(self) -> bool: ...

    def asks(self, epoch: int) -> bool:
        """Whether the leader is asked for the end of ``epoch``, the log's latest. If not, the log is truncated to its
        high watermark."""
        ...

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        """The decision where to truncate ``log``, given the leader's answer. ``high_watermark``: the log's own, or the
        offset that it has been truncated to since."""
        ...


@frozen
class ToHighWatermark:
    """Truncation to the high watermark, without asking the leader. Committed records that this follower did not know as
    committed are lost if it leads next (KAFKA-1211). A leader that was one fetch ahead keeps records that the others
    replace (KIP-101)."""

    on_fetch: bool = False
    takes_late_answers: bool = False

    def asks(self, epoch: int) -> bool:
        return False

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        return Cut(high_watermark, True)


@frozen
class Kip101:
    """Truncation after one question about the latest epoch; the answer is an offset without its epoch. The logs stay
    different where the leader does not know the epoch, as after two leader changes in quick succession (KAFKA-6361).
    Until 2.1 the follower does not check under which leader epoch it asked."""

    on_fetch: bool = False
    takes_late_answers: bool = True

    def asks(self, epoch: int) -> bool:
        """True also when the log has no epoch: the answer is undefined then."""
        return True

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        offset = high_watermark if answer.end_offset == UNDEFINED_OFFSET else answer.end_offset
        return Cut(min(offset, log.log_end_offset), True)


@frozen
class Kip279:
    """Truncation after several questions: the answer names its epoch, and the follower asks about earlier and earlier
    epochs until it has that epoch too (KIP-279, 2.0; KIP-320, 2.1)."""

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


@frozen
class OnFetch(Kip279):
    """KIP-279's rule without a round of questions (KIP-595): a follower fetches from its own end, and the answer says
    where its last epoch ends in the leader's log if the logs diverge before that. A log without epochs is truncated to
    its high watermark.

    Kafka's leaders answer so since 2.7.0; the followers' side came with 2.8.0, for clusters at that protocol.
    """

    on_fetch: bool = True
