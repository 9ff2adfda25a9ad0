"""What a fetcher thread knows about one of its partitions."""

from attrs import define

from emulator.protocol.types import TopicPartition
from fetchers.ports import FollowerLog

NO_LAG = -1
"""No answer has shown a lag yet."""


@define(eq=False, weakref_slot=False)
class FetchState:
    """One partition on this thread: truncating, fetching, or delayed until ``delayed_until_us``.

    ``held`` (left out of the fetches) and ``adding`` (a reassignment adds the replica) matter to a throttle;
    ``refused``: the leader has answered with an error since the partition came here. ``lag``: Kafka's ConsumerLag as
    the last answer showed it, ``lag_written``: as it was last told.
    """

    tp: TopicPartition
    leader_epoch: int
    offset: int
    log: FollowerLog
    truncating: bool = True
    delayed_until_us: int = 0
    held: bool = False
    refused: bool = False
    adding: bool = False
    lag: int = NO_LAG
    lag_written: int = NO_LAG

    @property
    def behind(self) -> bool:
        """Whether it is not in sync as far as a follower can tell; who has had no answer yet is not."""
        return self.lag != 0
