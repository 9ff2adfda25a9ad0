"""What a producer is asked to do, and how: Kafka's producer settings in microseconds and bytes."""

from attrs import frozen

from emulator.protocol.types import TopicPartition

NO_LIMIT = 2**63 - 1


@frozen
class Workload:
    """A steady load on some partitions of one topic. Defaults are those of Kafka's client 2.3, but for ``batch_size``.

    Attributes:
        rate: messages per second over all partitions together.
        message_size: bytes.
        acks: 0, 1 or -1.
        linger_us: how long a batch gathers.
        keys: that many keys take turns, each at home in the partition that its hash says; None: messages have no key.
        sticky: what has no key goes to one partition until its batch is closed (KIP-480, 2.4); else round robin.
        idempotent: enable.idempotence (KIP-98).
        retries: how often a batch is sent again.
        batch_size: bytes at which a batch is closed before its linger is over; here without a limit at first, so that
            one linger makes one batch.
        max_in_flight: max.in.flight.requests.per.connection.
    """

    partitions: tuple[TopicPartition, ...]
    rate: int
    message_size: int = 1024
    acks: int = -1
    linger_us: int = 100_000
    start_us: int = 0
    stop_us: int | None = None
    request_timeout_us: int = 30_000_000
    delivery_timeout_us: int = 120_000_000
    retry_backoff_us: int = 100_000
    keys: int | None = None
    sticky: bool = False
    idempotent: bool = False
    retries: int = 2**31 - 1
    batch_size: int = NO_LIMIT
    max_in_flight: int = 5

    @property
    def batch_messages(self) -> int:
        """How many messages fill a batch."""
        return max(1, self.batch_size // self.message_size)

    @property
    def tick_us(self) -> int:
        """How often batches are closed: each linger, or earlier where they are full by then."""
        together = 1 if self.sticky and self.keys is None else len(self.partitions)
        full_us = self.batch_messages * together * 1_000_000 // self.rate
        return max(1, min(self.linger_us, full_us))
