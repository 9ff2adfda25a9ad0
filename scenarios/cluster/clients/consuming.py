"""What a consumer is asked to do, and how far it is in one partition."""

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
        poll_us: what the application needs between two polls for what it was given.
        knows_epochs: KIP-320; the brokers are of 2.1 or later, so that fetches are fenced and positions validated.
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


@define(eq=False)
class Position:
    """How far a consumer is in one partition (SubscriptionState, 2.3).

    Attributes:
        offset: of the next message that the application is given; NOWHERE until it is found out.
        offset_epoch: the leader epoch of the message before it; NO_EPOCH before the first.
        leader, leader_epoch: as the last metadata said.
        reason: why the position is looked up, where it is.
        valid: it is known to be one in the leader's log.
        failed: the application has been told that it does not go on.
        rests_until_us: when something is tried again that has failed.
        fetched: what has come and is not given out yet, in order.
        high_watermark: the last one that the consumer was told.
        source: the leader, and its epoch, that ``fetched`` came from.
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
        """It is to be found out."""
        return bool(self.reason) and not self.failed

    @property
    def fetchable(self) -> bool:
        return not (self.reason or self.failed or self.fetched) and self.valid

    def lead_by(self, leader: int, epoch: int, *, checks: bool) -> bool:
        """What the metadata says. A position that was reached under another leader or epoch is to be validated, if the
        consumer ``checks``. True if there is another leader or epoch."""
        if (leader, epoch) == (self.leader, self.leader_epoch):
            return False
        self.leader, self.leader_epoch, self.rests_until_us = leader, epoch, 0
        if checks and self.offset_epoch != NO_EPOCH:
            self.valid = False
        return True

    def move(self, offset: int) -> None:
        """Go on there; what was fetched is of no use."""
        self.offset = offset
        self.reason, self.valid = "", True
        self.fetched.clear()

    def take(self, most: int) -> tuple[int, tuple[int, ...]]:
        """Give out ``most`` messages at most; how many there were, and of which batches."""
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
