"""Events of producers and consumers: results from brokers, and records given to applications."""

from typing import NamedTuple

from emulator.trace import columns_of


class Produced(NamedTuple):
    """A batch of a producer succeeded or failed, and the producer reported it to its application.

    Attributes:
        error: NONE, or Kafka's name of the last error before the producer gave up.
        latency_us: the time since the batch was closed.
        attempts: the number of times that it was sent; 0: never.
        outcome: ``acked``; ``sent`` (acks=0: there is no answer); ``duplicate`` (a broker had it already and does not
            know its offset any more: a success without an offset); ``failed`` (an error that a retry cannot solve);
            ``retries`` (all retries used); ``expired`` (delivery.timeout.ms; it may have been written).
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    id: int
    acks: int
    error: str
    base_offset: int
    next_offset: int
    leader: int
    latency_us: int
    attempts: int
    outcome: str


@columns_of(Produced)
class BatchesProduced(NamedTuple):
    """One transition of a producer decided about batches of one topic, all with the same outcome. Its rows are
    ``Produced``."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    acks: int
    error: str
    leader: int
    outcome: str
    partitions: tuple[int, ...]
    ids: tuple[int, ...]
    base_offsets: tuple[int, ...]
    next_offsets: tuple[int, ...]
    latencies_us: tuple[int, ...]
    attempts: tuple[int, ...]

    def rows(self) -> list[Produced]:
        t_us, seq, cause, node, topic, acks, error, leader, outcome, *columns = self
        return [
            Produced(
                t_us, number, cause, node, topic, partition, id, acks, error, base, end, leader, latency, attempts,
                outcome,
            )
            for number, (partition, id, base, end, latency, attempts) in enumerate(zip(*columns, strict=True), seq)
        ]  # fmt: skip


class Unfinished(NamedTuple):
    """The run has ended, and a batch was neither acknowledged nor failed.

    Attributes:
        wait_us: the time since the batch was closed.
        attempts: the number of times that it was sent; 0: never.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    id: int
    acks: int
    wait_us: int
    attempts: int


@columns_of(Unfinished)
class BatchesUnfinished(NamedTuple):
    """The batches of one topic that a producer has not finished at the end of the run. Its rows are ``Unfinished``."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    acks: int
    partitions: tuple[int, ...]
    ids: tuple[int, ...]
    waits_us: tuple[int, ...]
    attempts: tuple[int, ...]

    def rows(self) -> list[Unfinished]:
        t_us, seq, cause, node, topic, acks, *columns = self
        return [
            Unfinished(t_us, number, cause, node, topic, partition, id, acks, waited, attempts)
            for number, (partition, id, waited, attempts) in enumerate(zip(*columns, strict=True), seq)
        ]


class ProducerIdentified(NamedTuple):
    """An idempotent producer received a producer id: its first, or a new one after a reset.

    Attributes:
        first_id, last_id: the first and the last id of its batches.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    producer_id: int
    first_id: int
    last_id: int


class Consumed(NamedTuple):
    """One poll gave messages of a partition to the application.

    Attributes:
        offset, next_offset: the messages are those of ``[offset, next_offset)``.
        ids: the ids of their batches.
        leader, leader_epoch: the broker that they came from and its leader epoch, as far as the consumer knew.
        high_watermark: the last one that the consumer received, from which it computes its lag.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
    next_offset: int
    ids: tuple[int, ...]
    leader: int
    leader_epoch: int
    high_watermark: int


class Fetched(NamedTuple):
    """A broker's answer to a fetch of a real client, or of a ``committed-reader``, has reached it, with records of a
    partition. What its application does with them is not known.

    Attributes:
        offset, next_offset: the records are those of ``[offset, next_offset)``; the client may skip the first ones.
        ids: the ids of their batches.
        leader: the broker, which since 2.4 may be a follower (KIP-392).
        leader_epoch: the leader epoch of the last batch.
        high_watermark: the high watermark in the same answer.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
    next_offset: int
    ids: tuple[int, ...]
    leader: int
    leader_epoch: int
    high_watermark: int


@columns_of(Consumed)
class PollReturned(NamedTuple):
    """One poll of a consumer gave messages of one topic to the application. Its rows are ``Consumed``."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partitions: tuple[int, ...]
    offsets: tuple[int, ...]
    next_offsets: tuple[int, ...]
    ids: tuple[tuple[int, ...], ...]
    leaders: tuple[int, ...]
    leader_epochs: tuple[int, ...]
    high_watermarks: tuple[int, ...]

    def rows(self) -> list[Consumed]:
        t_us, seq, cause, node, topic, *columns = self
        return [
            Consumed(t_us, number, cause, node, topic, *values)
            for number, values in enumerate(zip(*columns, strict=True), seq)
        ]


class PositionReset(NamedTuple):
    """A consumer changed its position.

    Attributes:
        before, offset: the position before (-1: none) and after.
        reason: ``start``, ``out of range`` or ``truncated`` (KIP-320: records that it had read are not in the leader's
            log any more).
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    before: int
    offset: int
    reason: str


class ConsumerFailed(NamedTuple):
    """A consumer reported to its application that it cannot continue with a partition: there is no
    ``auto.offset.reset``, or no offset that is known to be valid."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
    reason: str
