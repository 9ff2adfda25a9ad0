"""The evidence that the judges of a run look at: the lines of the applications, the log, and what may be lost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from attrs import field, frozen

from scenarios.studies.clients.application_plan import CONSUME, ApplicationPlan
from scenarios.studies.clients.driver_process import SeenLine
from scenarios.studies.clients.partition_contents import WrittenRecord

NAMED = 5
"""The most records that a finding names."""


@frozen(kw_only=True)
class ClientFinding:
    """One thing that an application may not see.

    Attributes:
        judge: the name of the judge.
        detail: what was seen, with the records by their values.
        partition: the partition; -1 where it is about none, or several.
        offsets: the offsets that it is about, as far as they are known.
    """

    judge: str
    detail: str
    partition: int = -1
    offsets: tuple[int, ...] = ()


@frozen(kw_only=True)
class AllowedLoss:
    """Records that were acknowledged, and that the release may lose: an unclean election lost them, or the machines of
    all in-sync replicas had not flushed them."""

    partition: int
    base_offset: int
    next_offset: int


@frozen(slots=False, kw_only=True)
class Evidence:
    """The evidence of one run.

    Attributes:
        plans: the applications by their names.
        lines: what they saw, in the order of arrival.
        log: the records of each partition at the end; None: it could not be read.
        given_up: what the release may lose.
        unclean: whether an unclean election was possible, so that offsets, commits and order may go back.
        endings: how each application ended, where that was not well.
        unsettled: the records of each producer that were neither acknowledged nor failed when its time was over.
        unread: the records of each partition that the consumer had not read when its time was over.
        bound_s: that time, from when the cluster was well.
    """

    plans: Mapping[str, ApplicationPlan]
    lines: Sequence[SeenLine]
    log: Mapping[int, Sequence[WrittenRecord]] | None
    given_up: Sequence[AllowedLoss] = ()
    unclean: bool = False
    endings: Mapping[str, str] = field(factory=dict)
    unsettled: Mapping[str, Sequence[str]] = field(factory=dict)
    unread: Mapping[int, Sequence[str]] = field(factory=dict)
    bound_s: float = 0.0

    def of(self, name: str, *kinds: str) -> Iterator[SeenLine]:
        """The lines of an application, of these kinds."""
        return (line for line in self.lines if line.name == name and line.seen in kinds)

    @property
    def writers(self) -> list[ApplicationPlan]:
        return [plan for plan in self.plans.values() if plan.role != CONSUME]

    @property
    def readers(self) -> list[ApplicationPlan]:
        return [plan for plan in self.plans.values() if plan.role == CONSUME]

    @cached_property
    def sent(self) -> dict[str, SeenLine]:
        """The line of each record that was sent, by its value."""
        return {line.record: line for plan in self.writers for line in self.of(plan.name, "sent")}

    @cached_property
    def places(self) -> dict[str, list[tuple[int, WrittenRecord]]]:
        """The places of each value in the log: partition and record."""
        found: dict[str, list[tuple[int, WrittenRecord]]] = {}
        for partition, records in (self.log or {}).items():
            for record in records:
                found.setdefault(record.value, []).append((partition, record))
        return found

    @cached_property
    def at(self) -> dict[tuple[int, int], WrittenRecord]:
        """The record at each partition and offset."""
        return {(p, record.offset): record for p, records in (self.log or {}).items() for record in records}

    def may_lack(self, partition: int, offset: int) -> bool:
        """Whether the release may have lost what was there. ``offset``: -1 where it is not known."""
        return any(
            lost.partition == partition and (offset < 0 or lost.base_offset <= offset < lost.next_offset)
            for lost in self.given_up
        )

    def outcomes(self, name: str) -> dict[int, str]:
        """The outcome of each transaction of an application: committed, aborted, unknown, or begun."""
        found: dict[int, str] = {}
        for line in self.of(name, "begun", "committed", "aborted", "unknown"):
            if line.transaction >= 0:
                found[line.transaction] = line.seen
        return found


def named(records: Sequence[str]) -> str:
    """Some of the records by their values, and how many there are."""
    more = f" and {len(records) - NAMED} more" if len(records) > NAMED else ""
    return f"{', '.join(records[:NAMED])}{more}"
