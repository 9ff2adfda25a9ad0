"""The default placement of the replicas of new partitions (AdminUtils.assignReplicasToBrokers, without racks)."""

from collections.abc import Sequence


def place_replicas(
    brokers: Sequence[int], count: int, factor: int, first_leader: int, first_partition: int
) -> list[tuple[int, ...]]:
    """Round robin over ``brokers``, ascending: the first replica of partition p is p places after partition 0's
    (``first_leader``, or the next broker up where that one is gone), the others behind it, a place further after
    each round.

    Args:
        count: how many partitions, numbered from ``first_partition`` on.
        factor: replicas of each, at most as many as there are brokers.
    """
    start = next((place for place, broker in enumerate(brokers) if broker >= first_leader), 0)
    shift = start
    placed = []
    for partition in range(first_partition, first_partition + count):
        if partition > 0 and partition % len(brokers) == 0:
            shift += 1
        leader = (partition + start) % len(brokers)
        placed.append(tuple(brokers[place] for place in _places(leader, shift, factor, len(brokers))))
    return placed


def _places(leader: int, shift: int, factor: int, brokers: int) -> list[int]:
    others = ((leader + 1 + (shift + place) % (brokers - 1)) % brokers for place in range(factor - 1))
    return [leader, *others]
