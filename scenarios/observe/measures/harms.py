"""The harms of partitions after each fault: each kind with its own time and its own partitions.

The kinds are flags of ``isr_events``; their times are those of the figures ``offline_any_us``, ``under_min_isr_any_us``
and ``under_replicated_any_us``. A harm follows a fault if it is present at the fault, or begins before the next one, as
in ``recoveries``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from attrs import define, frozen

from scenarios.observe.measures.at_once import AtOnce
from scenarios.observe.measures.recoveries import recovered_us

HARMS = {
    "offline": "without a leader",
    "under_min_isr": "below min.insync.replicas",
    "under_replicated_final": "under-replicated",
}
"""The harms, worst first: no leader in ZooKeeper, fewer in-sync replicas than min.insync.replicas, fewer in-sync
replicas than replicas that are not being added (KIP-352)."""


@frozen(kw_only=True)
class Harm:
    """One kind of harm after a fault.

    Attributes:
        kind: one of ``HARMS``.
        earlier: whether a partition was harmed before the fault.
        begun_us: the time when the first partition was harmed; the time of the fault, if one was harmed earlier.
        until_us: the end of the last time with any harmed partition.
        held_us: the time from ``begun_us`` on with any harmed partition; less than the span if there were pauses.
        partitions: the number of partitions that were harmed at any time of it.
        left: the number of them that still were when the run ended.
    """

    kind: str
    earlier: bool
    begun_us: int
    until_us: int
    held_us: int
    partitions: int
    left: int


@define(eq=False)
class _Kind:
    """The stretches of time in which partitions were harmed in one way: begin, end and partition of each."""

    stretches: list[tuple[int, int, tuple[str, int]]]
    at_the_end: Collection[tuple[str, int]]
    times: list[list[int]]
    """Begin and end of each time with any partition harmed."""


def harms(intervals: Iterable[Mapping[str, Any]], faults_us: Sequence[int], end_us: int) -> list[list[Harm]]:
    """The kinds of harm that followed each fault, the worst first.

    Args:
        intervals: the rows of ``isr_events``.
        faults_us: the times of the faults, in order.
    """
    rows = list(intervals)
    last: dict[tuple[str, int], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: (row["t_us"], row["seq"])):
        last[row["topic"], row["partition"]] = row
    found: list[list[Harm]] = [[] for _ in faults_us]
    for name in HARMS:
        kind = _kind(name, rows, last, end_us)
        for follows, fault_us, until_us in zip(found, faults_us, recovered_us(faults_us, kind.times), strict=True):
            if until_us:
                follows.append(_harm(name, kind, fault_us, until_us, end_us))
    return found


def _kind(
    name: str, rows: Iterable[Mapping[str, Any]], last: Mapping[tuple[str, int], Mapping[str, Any]], end_us: int
) -> _Kind:
    stretches = [
        (row["t_us"], row["t_us"] + row["w_us"], (row["topic"], row["partition"]))
        for row in rows
        if row[name] and row["w_us"]
    ]
    at_once = AtOnce()
    for t_us, by in sorted(change for begin, end, _ in stretches for change in ((begin, 1), (end, -1))):
        at_once.change(t_us, by)
    at_the_end = {tp: None for tp, row in last.items() if row[name] and row["t_us"] + row["w_us"] == end_us}
    return _Kind(stretches, at_the_end, at_once.episodes)


def _harm(name: str, kind: _Kind, fault_us: int, until_us: int, end_us: int) -> Harm:
    times = [(begin, end) for begin, end in kind.times if end > fault_us and begin < until_us]
    partitions = dict.fromkeys(tp for begin, end, tp in kind.stretches if end > fault_us and begin < until_us)
    first_us = times[0][0]
    return Harm(
        kind=name,
        earlier=first_us < fault_us,
        begun_us=max(fault_us, first_us),
        until_us=until_us,
        held_us=sum(end - max(begin, fault_us) for begin, end in times),
        partitions=len(partitions),
        left=sum(tp in kind.at_the_end for tp in partitions) if until_us == end_us else 0,
    )
