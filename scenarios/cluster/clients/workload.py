"""The load of a producer, and its settings: Kafka's, in microseconds and bytes."""

from attrs import frozen

from emulator.protocol.types import TopicPartition
from scenarios.language.workloads import full_batch

IDS_PER_PRODUCER = 1 << 32
"""How many batches one producer can give ids to, through all its incarnations."""


@frozen
class Workload:
    """A steady load on some partitions of one topic. Defaults are those of Kafka's client 2.3, but for ``batch_size``.

    Attributes:
        rate: messages per second over all partitions together.
        message_size: bytes.
        acks: 0, 1 or -1.
        linger_us: how long a batch gathers.
        keys: the number of keys, which take turns, each in the partition of its hash; None: messages have no key.
        key_skew: Zipf's exponent of how often keys are used; 0: they take turns.
        shares: how much each partition gets beside the others; empty: all the same.
        sticky: messages without a key go to one partition until its batch is closed (KIP-480, 2.4); else round robin.
        idempotent: enable.idempotence (KIP-98).
        retries: how many times a batch is sent again.
        batch_size: the size in bytes at which a batch is closed before its linger is over. The default is nearly all
            that brokers accept by default, so that one linger makes one batch; Kafka's is 16 KiB.
        max_request_size: no batch is larger, in bytes; a message that is larger by itself is never sent.
        max_in_flight: max.in.flight.requests.per.connection.
        knows_epochs: the brokers are of 2.1 or later (KIP-320): metadata of older leader epochs is passed over.
        name: the producer's name, which others may share; empty for none.
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
    key_skew: float = 0.0
    shares: tuple[int, ...] = ()
    sticky: bool = False
    idempotent: bool = False
    retries: int = 2**31 - 1
    batch_size: int = 1_000_000
    max_request_size: int = 1_048_576
    max_in_flight: int = 5
    knows_epochs: bool = True
    name: str = ""

    @property
    def batch_messages(self) -> int:
        return full_batch(self.batch_size, self.max_request_size, self.message_size)

    @property
    def tick_us(self) -> int:
        """The interval in which batches are closed: the linger, or less where they are full before."""
        together = 1 if self.sticky and self.keys is None else len(self.partitions)
        full_us = self.batch_messages * together * 1_000_000 // self.rate
        return max(1, min(self.linger_us, full_us))
