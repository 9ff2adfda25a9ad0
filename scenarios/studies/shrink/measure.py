"""The size of a scenario, for deciding which is smaller and for saying what was removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scenarios.language.actions import undone_by
from scenarios.language.schema.toml_text import write_toml
from scenarios.runs.convergence import WITHIN_US
from scenarios.studies.shrink.references import ids_of
from scenarios.units import counted, parse_duration

HEAL = "heal"
OPERATED = (HEAL,)
"""Entries that are no faults."""


def carried_out(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The entries that a scenario's run may come to: of the method, and of branches, without those that a branch
    drops."""
    methods: list[tuple[Sequence[Mapping[str, Any]], int | None]] = [(table.get("method", ()), None)]
    for branch in table.get("branches", ()):
        methods[-1] = (methods[-1][0], parse_duration(branch["at"]))
        methods.append((branch.get("method", ()), None))
    found: list[Mapping[str, Any]] = []
    for method, end_us in methods:
        dropped = False
        for entry in method:
            if "after" not in entry and "until" not in entry:
                at = entry.get("at")
                dropped = end_us is not None and isinstance(at, str) and ".." not in at and parse_duration(at) >= end_us
            found += [] if dropped else [entry]
    return found


def healing(table: Mapping[str, Any]) -> frozenset[str]:
    """The means by which a scenario's cluster recovers: an entry that heals it, rollbacks, a horizon that leaves the
    expected time for it."""
    does = {"rollbacks"} if table.get("rollbacks") else set()
    method = carried_out(table)
    if any(entry["action"] == HEAL for entry in method):
        does.add(HEAL)
    last_us = max((parse_duration(entry["at"]) for entry in method if isinstance(entry.get("at"), str)), default=0)
    allowed_us = [parse_duration(one["within"]) for one in table.get("expect", ()) if _allows(one)]
    if "horizon" not in table or last_us + max(allowed_us, default=WITHIN_US) <= parse_duration(table["horizon"]):
        does.add("time")
    return frozenset(does)


def standing(table: Mapping[str, Any]) -> int:
    """The number of faults of a scenario that nothing ends: neither ``heal``, nor a duration, nor an entry for each of
    them."""
    method = carried_out(table)
    if any(entry["action"] == HEAL for entry in method):
        return 0
    lasting = Counter(undone_by(entry["action"]) for entry in method if "duration" not in entry)
    lasting.subtract(entry["action"] for entry in method)
    return sum(count for end, count in lasting.items() if end is not None and count > 0)


def _allows(expect: Mapping[str, Any]) -> bool:
    return bool(expect.get("converged")) and "within" in expect


class Size(NamedTuple):
    """The parts of a scenario, in the order of their weight."""

    faults: int
    partitions: int
    brokers: int
    replicas: int
    clients: int
    lines: int

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Size:
        """The size of a table that states every replica list."""
        lists = [replicas for topic in table.get("topics", ()) for replicas in topic.get("assignment", ())]
        loads = [*table.get("workloads", ()), *table.get("consumers", ())]
        return cls(
            sum(entry["action"] not in OPERATED for entry in carried_out(table)),
            len(lists),
            len(ids_of(table)),
            sum(map(len, lists)),
            len(loads),
            write_toml(dict(table)).count("\n"),
        )

    def __str__(self) -> str:
        names = self._fields
        return ", ".join(counted(value, name) for name, value in zip(names, self, strict=True))


def removed(before: Size, after: Size) -> list[str]:
    """The reductions in words: ``brokers 5 -> 2``."""
    pairs = zip(Size._fields, before, after, strict=True)
    return [f"{name} {was} -> {now}" for name, was, now in pairs if now < was]
