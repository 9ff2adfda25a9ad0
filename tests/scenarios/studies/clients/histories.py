"""Forged histories of applications: one in which all is well, and changes of it that break one promise each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import evolve

from scenarios.studies.clients.application_plan import CONSUME, PRODUCE, TRANSACT, ApplicationPlan
from scenarios.studies.clients.driver_process import SeenLine
from scenarios.studies.clients.evidence import Evidence
from scenarios.studies.clients.partition_contents import WrittenRecord

WRITER = ApplicationPlan(
    role=PRODUCE, name="writer", partitions=2, settings={"acks": "all", "enable.idempotence": True}
)
TRANSACTING = evolve(WRITER, role=TRANSACT)
READER = ApplicationPlan(role=CONSUME, name="reader", partitions=2, settings={"isolation.level": "read_committed"})
RECORDS = 6


def line(name: str, seen: str, **more: Any) -> SeenLine:
    return SeenLine(at_s=0.0, name=name, seen=seen, **more)


def written(count: int = RECORDS, **more: Any) -> list[SeenLine]:
    """The lines of a producer whose records are all acknowledged: record n is in partition n % 2."""
    found = []
    for number in range(count):
        record, partition, offset = f"writer-{number}", number % 2, number // 2
        found.append(line("writer", "sent", record=record, partition=partition, **more))
        found.append(line("writer", "acked", record=record, partition=partition, offset=offset))
    return found


def read(offsets: Sequence[int] = range(RECORDS)) -> list[SeenLine]:
    """The lines of a consumer that is given these records and commits after each."""
    found = [line("reader", "assigned", partitions=(0, 1))]
    for number in offsets:
        where = {"partition": number % 2, "offset": number // 2}
        found.append(line("reader", "received", record=f"writer-{number}", **where))
        found.append(line("reader", "committed", partition=number % 2, offset=number // 2 + 1))
    return found


def log(count: int = RECORDS, committed: bool | None = True) -> dict[int, list[WrittenRecord]]:
    found: dict[int, list[WrittenRecord]] = {0: [], 1: []}
    for number in range(count):
        found[number % 2].append(WrittenRecord(number // 2, f"writer-{number}", committed))
    return found


def evidence(**more: Any) -> Evidence:
    """The evidence of a run in which all is well, but for ``more``."""
    whole: dict[str, Any] = {
        "plans": {"writer": WRITER, "reader": READER}, "lines": [*written(), *read()], "log": log(), "bound_s": 30.0
    }  # fmt: skip
    return Evidence(**{**whole, **more})


def transacted(outcome: str, committed: bool | None, read_too: bool = False) -> Evidence:
    """The evidence of one transaction of all records, with that outcome for its application, and in the log."""
    lines = [
        line("writer", "begun", transaction=1), *written(transaction=1), line("writer", outcome, transaction=1),
        *(read() if read_too else ()),
    ]  # fmt: skip
    return evidence(plans={"writer": TRANSACTING, "reader": READER}, lines=lines, log=log(committed=committed))
