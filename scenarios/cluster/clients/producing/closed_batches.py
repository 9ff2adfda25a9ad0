"""The number of batches that a producer closes in some ticks whose messages are divided at once."""

from collections.abc import Sequence

from scenarios.cluster.clients.producing.partitioner import Keyed, Partitioner, Skewed, Sticky


def closed_batches(partitioner: Partitioner, shares: Sequence[tuple[int, int]], ticks: int, full: int) -> int:
    """How many batches ``ticks`` close. Each tick closes the batches that it has filled, and those that it has not.

    Args:
        shares: what ``partitioner`` gives for all of them: (place of the partition, number of messages).
        full: the messages of a full batch.
    """
    if not ticks:
        return sum([_batches(count, full) for _place, count in shares])
    messages = sum([count for _place, count in shares])
    if isinstance(partitioner, Sticky):  # one partition after the other: a tick has one batch that is not full
        return _even(messages, ticks, full)
    per_tick, more = divmod(messages, ticks)
    if isinstance(partitioner, Skewed):  # a rest is carried over, so a tick has not the same share as the next
        of_ticks = partitioner.batches_of_ticks
        return round(of_ticks(per_tick, full, ticks - more) + of_ticks(per_tick + 1, full, more))
    if isinstance(partitioner, Keyed) and 0 < per_tick < partitioner.keys:
        parts = [(partitioner.part_of_ticks(place, per_tick), count) for place, count in shares]
        return sum([_even(count, max(1, round(part * ticks)), full) for part, count in parts])
    return sum([_even(count, ticks, full) for _place, count in shares])


def _even(messages: int, ticks: int, full: int) -> int:
    """The batches of one partition whose messages are divided evenly."""
    each, more = divmod(messages, ticks)
    return (ticks - more) * _batches(each, full) + more * _batches(each + 1, full)


def _batches(messages: int, full: int) -> int:
    return -(-messages // full)
