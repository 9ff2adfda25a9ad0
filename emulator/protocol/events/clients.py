"""What clients see, as they see it."""

from typing import NamedTuple


class Produced(NamedTuple):
    """A producer learnt the fate of a batch, and told its application.

    ``error``: NONE or Kafka's name of the last error before it gave up. ``fate``: ``acked``; ``sent`` (acks=0: nobody
    will say more); ``duplicate`` (a broker had it already and no longer knows where: a success without an offset);
    ``failed`` (an error that no repetition mends), ``retries`` (all of them used up), ``expired`` (delivery.timeout.ms;
    it may have been written all the same). ``latency_us`` counts from when the batch was closed; ``attempts`` from 1,
    0 for what was never sent.
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
    fate: str


class ProducerIdentified(NamedTuple):
    """An idempotent producer, whose batches have the ids from ``first_id`` to ``last_id``, was given a producer id: the
    first, or another because it begins anew."""

    t_us: int
    seq: int
    cause: int
    node: int
    producer_id: int
    first_id: int
    last_id: int


class Consumed(NamedTuple):
    """One poll gave the application messages of a partition: those from ``offset`` to ``next_offset``, in the batches
    ``ids``.

    ``leader``, ``leader_epoch``: from whom they came, and under which epoch, as far as the consumer knew.
    ``high_watermark``: the last one that it was told, so that it knows its lag.
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


class PositionReset(NamedTuple):
    """A consumer goes on at ``offset``, where it was at ``before`` (-1: nowhere). ``reason``: ``start``,
    ``out of range`` or ``truncated`` (KIP-320: what it had read is not in the leader's log any more)."""

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
    """A consumer told its application that it cannot go on with a partition: without ``auto.offset.reset``, or without
    an offset that is known to be good."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    offset: int
    reason: str
