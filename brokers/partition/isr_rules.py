"""When a follower in the ISR is out of sync: what Kafka's releases say.

Both rules look at members of the ISR only, and at the leader's own view of them: followers move when they fetch.
"""

from typing import Protocol

from attrs import frozen

from brokers.partition.remote import UNKNOWN_OFFSET, RemoteReplica


class OutOfSyncRule(Protocol):
    """Whether ``remote`` is to leave the ISR, while the leader's log ends at ``leader_end``."""

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool: ...


@frozen
class NotCaughtUp:
    """Behind, and not caught up for longer than replica.lag.time.max.ms (0.9, KAFKA-1546; KAFKA-7152: equal is in)."""

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        return remote.log_end_offset != leader_end and now_us - remote.last_caught_up_us > lag_time_us


@frozen
class StuckOrSlow:
    """Behind without a fetch for replica.lag.time.max.ms, or by more than replica.lag.max.messages (0.8).

    0.8.0 stamps a follower's offset with the time of each fetch, moved or not (Replica.logEndOffset): one that fetches
    and does not get on is slow, not stuck. One that has not fetched since the election is not slow either.
    """

    max_messages: int = 4000

    def __call__(self, remote: RemoteReplica, leader_end: int, now_us: int, lag_time_us: int) -> bool:
        end = remote.log_end_offset
        heard_us = max(remote.last_fetch_us, remote.last_caught_up_us)
        stuck = end < leader_end and now_us - heard_us > lag_time_us
        slow = end != UNKNOWN_OFFSET and leader_end - end > self.max_messages
        return stuck or slow
