"""What leaders want of their ISRs (see ``emulator.protocol.events``)."""

from typing import NamedTuple


class IsrProposed(NamedTuple):
    """A leader begins to change its ISR: ``kind`` is ``shrink`` or ``expand``. An IsrChanged or an IsrUpdateFailed
    follows, or nothing where a LeaderAndIsr comes first.

    ``replicas``: those that are to join or leave; their log ends as the leader knows them; for how long each has owed
    what ``lag_time_us`` (replica.lag.time.max.ms) allows. ``max_messages``: the limit of replica.lag.max.messages, -1
    without one.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leader_epoch: int
    kind: str
    isr: tuple[int, ...]
    high_watermark: int
    epoch_start_offset: int
    log_end_offset: int
    replicas: tuple[int, ...]
    ends: tuple[int, ...]
    overdue_us: tuple[int, ...]
    lag_time_us: int
    max_messages: int
