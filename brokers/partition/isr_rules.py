"""When a follower in the ISR is out of sync: what Kafka's releases say.

Both rules look at members of the ISR only, and at the leader's own view of them: followers move when they fetch.
"""

from typing import Protocol

from attrs import frozen

from brokers.partition.remote import UNKNOWN_OFFSET, RemoteReplica

NO_LIMIT = -1


class OutOfSyncRule(Protocol):
    """Who leaves the ISR."""

    @property
    def max_messages(self) -> int:
        """More messages behind is out of sync at once; ``NO_LIMIT``: however many."""

    def overdue_us(self, remote: RemoteReplica, now_us: int) -> int:
        """How long ``remote`` has owed what replica.lag.time.max.ms allows it to owe, if it is behind."""

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        """Whether ``remote`` is out of sync, while the leader's log ends at ``leader_end``."""


@frozen
class NotCaughtUp:
    """Behind, and not caught up for longer than replica.lag.time.max.ms (0.9, KAFKA-1546; KAFKA-7152: equal is in)."""

    max_messages: int = NO_LIMIT

    def overdue_us(self, remote: RemoteReplica, now_us: int) -> int:
        return now_us - remote.last_caught_up_us

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        return remote.log_end_offset != leader_end and self.overdue_us(remote, now_us) > lag_time_us


@frozen
class StuckOrSlow:
    """Behind without a fetch for replica.lag.time.max.ms, or by more than replica.lag.max.messages (0.8).

    0.8.0 stamps a follower's offset with the time of each fetch, moved or not (Replica.logEndOffset): one that fetches
    and does not get on is slow, not stuck. One that has not fetched since the election is not slow either.
    """

    max_messages: int = 4000

    def overdue_us(self, remote: RemoteReplica, now_us: int) -> int:
        return now_us - max(remote.last_fetch_us, remote.last_caught_up_us)

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        end = remote.log_end_offset
        slow = end != UNKNOWN_OFFSET and leader_end - end > self.max_messages
        return slow or (end < leader_end and self.overdue_us(remote, now_us) > lag_time_us)
