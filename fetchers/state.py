"""What a fetcher thread knows about one of its partitions."""

from attrs import define

from emulator.protocol.types import TopicPartition
from fetchers.ports import FollowerLog

NO_LAG = -1
"""No answer has shown a lag yet."""


@define(eq=False, weakref_slot=False)
class FetchState:
    """One partition on this thread: truncating, fetching, or delayed until ``delayed_until_us``.

    ``behind`` (the leader's high watermark is ahead, or not known yet), ``held`` (left out of the fetches) and
    ``adding`` (a reassignment adds the replica) matter to a throttle; ``refused``: the leader has answered with an
    error since the partition came here. ``lag``: Kafka's ConsumerLag as the last answer showed it,
    ``lag_written``: as it was last told.
    """

    tp: TopicPartition
    leader_epoch: int
    offset: int
    log: FollowerLog
    truncating: bool = True
    delayed_until_us: int = 0
    behind: bool = True
    held: bool = False
    refused: bool = False
    adding: bool = False
    lag: int = NO_LAG
    lag_written: int = NO_LAG
