"""The fetch state of one partition of a fetcher thread."""

from attrs import define

from emulator.protocol.types import TopicPartition
from fetchers.ports import FollowerLog

NO_LAG = -1
"""The lag before any answer has shown one."""


@define(eq=False, weakref_slot=False)
class PartitionFetchState:
    """One partition of a thread: truncating, fetching, or delayed (PartitionFetchState, 2.3).

    Attributes:
        offset: the next offset to fetch; while it truncates, the offset that an undefined answer falls back to.
        delayed_until_us: the time before which it is not fetched; 0: not delayed.
        held: left out of the fetches by a throttle.
        had_error: the leader has answered with an error since the partition was added.
        adding: a reassignment adds this replica; a throttle may apply to such replicas alone.
        unread: it has fetched no records yet, in a release where it counts as behind until then.
        log_start: where the log begins, as its leader was last told; -1: not yet.
        lag: Kafka's ConsumerLag, as of the last answer.
        lag_written: the lag as it was last written to the trace.
    """

    tp: TopicPartition
    leader_epoch: int
    offset: int
    log: FollowerLog
    truncating: bool = True
    delayed_until_us: int = 0
    held: bool = False
    had_error: bool = False
    adding: bool = False
    unread: bool = False
    lag: int = NO_LAG
    lag_written: int = NO_LAG
    log_start: int = -1

    @property
    def behind(self) -> bool:
        """Whether the replica lags, as far as a follower knows; True before the first answer."""
        return self.lag != 0 or self.unread
