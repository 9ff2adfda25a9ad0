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
