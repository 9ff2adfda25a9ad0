"""What every rule of truncation says."""

from typing import NamedTuple, Protocol

from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset
from fetchers.ports import FollowerLog


class Cut(NamedTuple):
    """Truncate to ``offset``; ``done`` or ask the leader again about the epoch that is then the latest."""

    offset: int
    done: bool


class TruncationRule(Protocol):
    """One rule.

    Attributes:
        on_fetch: a follower fetches at once; its fetches name the epoch of what it has, and the leader says where the
            two logs part.
        takes_late_answers: the answer to a question asked under an earlier leader epoch counts for the new one.
    """

    @property
    def on_fetch(self) -> bool: ...

    @property
    def takes_late_answers(self) -> bool: ...

    def asks(self, epoch: int) -> bool:
        """Whether the leader is asked where ``epoch``, the log's latest, ends; if not, the high watermark decides."""
        ...

    def cut(self, log: FollowerLog, answer: EpochEndOffset, high_watermark: int) -> Cut:
        """What the leader's answer means for ``log``. ``high_watermark``: the log's own, or what was cut since."""
        ...
