"""The state of a cluster at a moment, as text; partitions as ``kafka-topics --describe`` prints them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from scenarios.observe.timeline.moment import ClusterMoment, OpenMove, PartitionState
from scenarios.observe.timeline.quota_words import exhausted, holds_back
from scenarios.observe.timeline.words import who
from scenarios.units import BYTES, counted


def lines(moment: ClusterMoment, *, partitions: bool = True) -> Iterator[str]:
    """The state, a fact a line. Without ``partitions`` those of the partitions that do not move are left out."""
    yield f"state at {moment.t_us / 1e6:.6f} s"
    epoch = f"epoch {moment.controller_epoch}" if moment.controller_epoch >= 0 else ""
    if moment.controller >= 0:
        yield f"  controller  broker {moment.controller}, {epoch}"
    else:
        yield "  controller  none" + (f" (the last one had {epoch})" if epoch else "")
    if moment.zookeeper_stopped:
        yield "  ZooKeeper   stopped"
    for label, brokers in (("down", moment.down), ("paused", moment.paused)):
        if brokers:
            yield f"  {label:<10}  {_brokers(brokers)}"
    for cut in cuts(moment.cut):
        yield f"  cut         {cut}"
    if not moment.moves:
        yield "  no move is open"
    for move in moment.moves:
        yield f"  move        {move.partition} [{_ids(move.original)}] -> [{_ids(move.target)}], {move.place}"
        for copies in _to_copy(move):
            yield f"    to copy   {copies}"
    for use in moment.quotas:
        yield f"  throttle    {exhausted(use)}"
        for held in holds_back(use, moment.t_us):
            yield f"    holds     {held}"
    moving = dict.fromkeys(move.partition for move in moment.moves)
    for partition in moment.partitions:
        if partitions or f"{partition.topic}-{partition.partition}" in moving:
            yield described(partition)


def described(partition: PartitionState) -> str:
    """A line of ``kafka-topics --describe`` (``TopicCommand``, 2.3.1)."""
    leader = "none" if partition.leader < 0 else partition.leader
    return (
        f"\tTopic: {partition.topic}\tPartition: {partition.partition}\tLeader: {leader}"
        f"\tReplicas: {_ids(partition.replicas)}\tIsr: {_ids(partition.isr)}"
    )


def _to_copy(move: OpenMove) -> Iterator[str]:
    """The records that new replicas have still to copy, replicas with the same amount together."""
    found: dict[tuple[int | None, int | None], list[int]] = {}
    for left in move.left:
        found.setdefault((left.records, left.bytes), []).append(left.broker)
    for (records, size), ids in found.items():
        amount = "unknown" if records is None else counted(records, "records")
        amount += "" if size is None else f", about {_size(size)}"
        yield f"{_brokers(tuple(ids))}: {amount}{' each' if len(ids) > 1 else ''}"


def _size(size: int) -> str:
    for unit in ("GiB", "MiB", "KiB"):
        if size >= BYTES[unit]:
            return f"{size / BYTES[unit]:.1f} {unit}"
    return f"{size} B"


def cuts(routes: Iterable[tuple[int, int]]) -> Iterator[str]:
    """The cut connections. A machine that is cut from several has a line of its own."""
    cut = dict.fromkeys(routes)
    both = [(a, b) for a, b in cut if (b, a) in cut]
    peers: dict[int, int] = {}
    for a, _ in both:
        peers[a] = peers.get(a, 0) + 1
    found: dict[tuple[int, str], list[int]] = {}
    for a, b in cut:
        if (b, a) not in cut:
            found.setdefault((a, "->"), []).append(b)
        elif (-peers[a], a) <= (-peers[b], b):
            found.setdefault((a, "<->"), []).append(b)
    yield from _worded(found)


def _worded(found: Mapping[tuple[int, str], list[int]]) -> Iterator[str]:
    for (machine, arrow), others in found.items():
        ids = sorted(other for other in others if other >= 0)
        rest = [who(other) for other in others if other < 0]
        yield f"{who(machine)} {arrow} {', '.join(([_brokers(tuple(ids))] if ids else []) + rest)}"


def _brokers(ids: tuple[int, ...]) -> str:
    return f"broker{'s' * (len(ids) > 1)} {', '.join(map(str, ids))}"


def _ids(ids: tuple[int, ...]) -> str:
    return ",".join(map(str, ids))
