"""Further times of partitions and their ISRs: the times in which any partition was in a state, and the number of times
that in-sync replicas left and came back.

The states, of a row of ``isr_events``, beside those of ``isr_times``:

- at_min_isr: |ISR| = min.insync.replicas (Kafka's AtMinIsr): the next replica that leaves stops acks=all;
- excess_isr: |ISR| is larger than the replication factor;
- last_replica: one replica of several is in sync (KIP-966's last replica standing).
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress

from emulator.protocol.types import TopicPartition
from scenarios.observe.measures.at_once import AtOnce
from scenarios.observe.measures.figure import Better, Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, RunParts
from scenarios.observe.measures.isr_row import IsrRow

FLAP_US = 60_000_000
"""A replica that is in the ISR again within a minute after it left it has flapped."""

STATES = ("under_min_isr", "at_min_isr", "offline", "excess_isr", "last_replica")
_SUMMED = ("at_min_isr", "last_replica")
"""The states whose time is summed over partitions here; ``isr_times`` has the others."""
_NOWHERE = (False,) * len(STATES)


def _figure(name: str, text: str, unit: str) -> Figure:
    return Figure(name=name, text=text, unit=unit, better=Better.LOWER, limit=Limit.AT_THE_END)


class IsrStates(Fold):
    """The fold over one run."""

    FIGURES = (
        _figure("under_min_isr_any_us", "time with any partition below min.insync.replicas", "s"),
        _figure("at_min_isr_us", "time with exactly min.insync.replicas in sync", "partition-seconds"),
        _figure("at_min_isr_any_us", "time with any partition that has exactly min.insync.replicas in sync", "s"),
        _figure("offline_any_us", "time with any partition without a leader in ZooKeeper", "s"),
        _figure("excess_isr_any_us", "time with more replicas in sync than the replication factor, anywhere", "s"),
        _figure("last_replica_us", "time with one replica of several in sync (KIP-966)", "partition-seconds"),
        _figure("last_replica_any_us", "time with any partition that has one replica of several in sync", "s"),
        _figure("isr_flaps", "replicas that left the ISR and were back within a minute", "events"),
        _figure(
            "unnecessary_elections",
            "leaders replaced that stayed in sync and in the target; those by preferred elections too",
            "elections",
        ),
    )

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._at_once = {state: AtOnce() for state in STATES}
        self._held_us = dict.fromkeys(_SUMMED, 0)
        self._flaps = self._unnecessary = 0
        self._left: dict[TopicPartition, dict[int, int]] = {}
        """The replicas that have left the ISR of each partition, with the times."""
        source.isr_changed.append(self._changed)

    def figures(self) -> Mapping[str, Value]:
        return {
            **{f"{state}_any_us": found.any_us for state, found in self._at_once.items()},
            **{f"{state}_us": held_us for state, held_us in self._held_us.items()},
            "isr_flaps": self._flaps,
            "unnecessary_elections": self._unnecessary,
        }

    def _changed(self, t_us: int, closed: IsrRow | None, opened: IsrRow | None, previous: IsrRow | None) -> None:
        before = _NOWHERE if closed is None else _states(closed)
        after = _NOWHERE if opened is None else _states(opened)
        if closed is not None:
            for state in compress(STATES, before):
                if state in self._held_us:
                    self._held_us[state] += t_us - closed.t_us
        if before != after:
            for state, was, now in zip(STATES, before, after, strict=True):
                if was != now:
                    self._at_once[state].change(t_us, now - was)
        if opened is not None and previous is not None:
            if opened.isr != previous.isr:
                self._membership(t_us, opened, previous)
            if opened.leader != previous.leader >= 0 <= opened.leader:
                wanted = opened.target or opened.assignment
                self._unnecessary += previous.leader in opened.isr and previous.leader in wanted

    def _membership(self, t_us: int, opened: IsrRow, previous: IsrRow) -> None:
        left = self._left.setdefault(TopicPartition.of(opened.topic, opened.partition), {})
        for node in previous.isr:
            if node not in opened.isr:
                left[node] = t_us
        for node in opened.isr:
            if node not in previous.isr:
                self._flaps += t_us - left.pop(node, -FLAP_US - 1) <= FLAP_US


def _states(row: IsrRow) -> tuple[bool, ...]:
    in_sync = len(row.isr)
    return (
        row.under_min_isr,
        in_sync == row.min_isr,
        row.offline,
        in_sync > row.wanted,
        in_sync == 1 and len(row.assignment) > 1,
    )
