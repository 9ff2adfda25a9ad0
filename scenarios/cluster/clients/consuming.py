"""The load of a consumer, and its position in one partition."""

from collections import deque

from attrs import define, field, frozen

from emulator.protocol.fetch import NO_EPOCH
from emulator.protocol.types import NO_LEADER, Batch, TopicPartition

NOWHERE = -1
EARLIEST, LATEST, NONE = "earliest", "latest", "none"


@frozen
class Consumption:
    """A consumer that was assigned some partitions of one topic (``assign``, no group). Defaults are those of Kafka's
    client 2.3.

    Attributes:
        offset_reset: auto.offset.reset.
        poll_us: the time that the application takes for the messages of one poll.
        knows_epochs: the brokers are of 2.1 or later (KIP-320): fetches are fenced, positions are validated.
        name: the consumer's name, which others may share; empty for none.
    """

    partitions: tuple[TopicPartition, ...]
    offset_reset: str = LATEST
    poll_us: int = 0
    start_us: int = 0
    stop_us: int | None = None
    max_poll_records: int = 500
    min_bytes: int = 1
    max_wait_us: int = 500_000
    max_bytes: int = 52_428_800
    max_partition_bytes: int = 1_048_576
    request_timeout_us: int = 30_000_000
    retry_backoff_us: int = 100_000
    knows_epochs: bool = True
    name: str = ""


@define(eq=False)
class Position:
    """The position of a consumer in one partition (SubscriptionState, 2.3).

    Attributes:
        offset: offset of the next message for the application; NOWHERE until it has been looked up.
        offset_epoch: the leader epoch of the message before it; NO_EPOCH before the first.
        leader, leader_epoch: leader and epoch in the last metadata.
        reason: why the position has to be looked up; empty where it has not.
        valid: whether the leader's log is known to have this position (KIP-320).
        failed: whether the consumer has reported an error to the application and stopped.
        rests_until_us: when to retry after a failure.
        fetched: batches that have arrived and were not returned by a poll yet, in order.
        high_watermark: high watermark in the last response.
        source: the leader that ``fetched`` came from, and its epoch.
    """

    tp: TopicPartition
    offset: int = NOWHERE
    offset_epoch: int = NO_EPOCH
    leader: int = NO_LEADER
    leader_epoch: int = NO_EPOCH
    reason: str = "start"
    valid: bool = True
    failed: bool = False
    rests_until_us: int = 0
    fetched: deque[Batch] = field(factory=deque)
    high_watermark: int = -1
    source: tuple[int, int] = (NO_LEADER, NO_EPOCH)

    @property
    def looked_up(self) -> bool:
        """Whether the position has to be looked up."""
        return bool(self.reason) and not self.failed

    @property
    def fetchable(self) -> bool:
        return not (self.reason or self.failed or self.fetched) and self.valid

    def lead_by(self, leader: int, epoch: int, *, checks: bool) -> bool:
        """Take over the leader of the metadata. If it or its epoch has changed, the position has to be validated (where
        the consumer ``checks``). Returns whether it has changed."""
        if (leader, epoch) == (self.leader, self.leader_epoch):
            return False
        self.leader, self.leader_epoch, self.rests_until_us = leader, epoch, 0
        if checks and self.offset_epoch != NO_EPOCH:
            self.valid = False
        return True

    def move(self, offset: int) -> None:
        """Continue at ``offset``, and drop what was fetched."""
        self.offset = offset
        self.reason, self.valid = "", True
        self.fetched.clear()

    def take(self, most: int) -> tuple[int, tuple[int, ...]]:
        """Return at most ``most`` messages to the application: how many there were, and the ids of their batches."""
        ids = []
        began = self.offset
        while self.fetched and self.offset - began < most:
            batch = self.fetched[0]
            ids.append(batch.id)
            self.offset_epoch = batch.leader_epoch
            self.offset = min(batch.next_offset, began + most)
            if self.offset == batch.next_offset:
                self.fetched.popleft()
        return self.offset - began, tuple(ids)
