"""The placement of replicas by Kafka's tools: AdminUtils.assignReplicasToBrokers (2.3.1), with racks and without.

Kafka draws the first place and the first shift at random. Here they are given: by a scenario's plan, so that the same
plan means the same placement, or from a stream of the world.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Replicas = tuple[int, ...]


def rack_of(broker: int, racks: int) -> str:
    """The rack of a broker in a cluster of that many racks."""
    return f"rack-{broker % racks}"


def place_replicas(
    brokers: Sequence[int],
    count: int,
    factor: int,
    *,
    start: int = 0,
    shift: int | None = None,
    first_partition: int = 0,
    racks: Mapping[int, str] | None = None,
) -> list[Replicas]:
    """Place replicas round robin over ``brokers``: the first replica of partition p is p places after ``start``, the
    others after it, a place further in each round.

    Args:
        count: the number of partitions, which are numbered from ``first_partition`` on.
        factor: the number of replicas of each, at most that of brokers.
        start: the place of partition 0's first replica.
        shift: how far its others are shifted; None: as far as ``start`` (``fixedStartIndex``).
        racks: the rack of each broker. Brokers then alternate by rack, and a partition's replicas are on different
            racks until each rack has one. None: there are no racks.
    """
    order = tuple(brokers) if racks is None else alternate_racks(brokers, racks)
    shift, placed = start if shift is None else shift, []
    for partition in range(first_partition, first_partition + count):
        if partition > 0 and partition % len(order) == 0:
            shift += 1
        first = (partition + start) % len(order)
        if racks is None:
            placed.append((order[first], *(order[_place(first, shift, n, len(order))] for n in range(factor - 1))))
        else:
            placed.append(_over_racks(order, racks, first, shift, factor))
    return placed


def alternate_racks(brokers: Sequence[int], racks: Mapping[int, str]) -> Replicas:
    """The brokers in an order that takes one from each rack in turn (AdminUtils.getRackAlternatedBrokerList). Racks are
    ordered by name, the brokers of a rack by id."""
    by_rack: dict[str, list[int]] = {}
    for broker in sorted(brokers):
        by_rack.setdefault(racks[broker], []).append(broker)
    most = max(map(len, by_rack.values()))
    shelves = [by_rack[rack] for rack in sorted(by_rack)]
    return tuple(shelf[turn] for turn in range(most) for shelf in shelves if turn < len(shelf))


def _place(first: int, shift: int, number: int, brokers: int) -> int:
    """The place of a partition's replica with this number, counted from 0 (AdminUtils.replicaIndex)."""
    return (first + 1 + (shift + number) % (brokers - 1)) % brokers


def _over_racks(order: Replicas, racks: Mapping[int, str], first: int, shift: int, factor: int) -> Replicas:
    every_rack = len(dict.fromkeys(racks[broker] for broker in order))
    replicas, used, number = [order[first]], {racks[order[first]]: None}, 0
    while len(replicas) < factor:
        broker = order[_place(first, shift * every_rack, number, len(order))]
        number += 1
        if broker not in replicas and (racks[broker] not in used or len(used) == every_rack):
            replicas.append(broker)
            used[racks[broker]] = None
    return tuple(replicas)
