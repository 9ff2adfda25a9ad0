"""The judges of what a consumer of a group was given."""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.studies.clients.application_plan import ApplicationPlan
from scenarios.studies.clients.evidence import ClientFinding, Evidence, named


def out_of_the_log(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that a consumer was given, and that are not at that offset of the log at the end."""
    if evidence.log is None or evidence.unclean:
        return
    for plan in evidence.readers:
        wrong = [
            line
            for line in evidence.of(plan.name, "received")
            if not evidence.may_lack(line.partition, line.offset)
            and getattr(evidence.at.get((line.partition, line.offset)), "value", None) != line.record
        ]
        if wrong:
            yield ClientFinding(
                judge="read_out_of_the_log", partition=wrong[0].partition,
                offsets=tuple(line.offset for line in wrong),
                detail=f"{plan.name}: {len(wrong)} records are not where they were read: "
                f"{named([f'{line.record} at {line.partition}:{line.offset}' for line in wrong])}",
            )  # fmt: skip


def skipped(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records between two that the consumer was given one after the other, and that it was never given itself."""
    if evidence.log is None or evidence.unclean:
        return
    for plan in evidence.readers:
        given = {(line.partition, line.offset) for line in evidence.of(plan.name, "received")}
        before: dict[int, int] = {}
        missed: dict[int, list[int]] = {}
        for line in evidence.of(plan.name, "received", "assigned", "revoked"):
            if line.seen != "received":
                before.clear()
                continue
            last = before.get(line.partition, line.offset)
            missed.setdefault(line.partition, []).extend(
                one
                for one in range(last + 1, line.offset)
                if (line.partition, one) not in given and _visible(evidence, line.partition, one, plan)
            )
            before[line.partition] = line.offset
        for partition, offsets in missed.items():
            if offsets:
                records = [evidence.at[partition, offset].value for offset in offsets]
                yield ClientFinding(
                    judge="record_skipped", partition=partition, offsets=tuple(offsets),
                    detail=f"{plan.name}: {len(offsets)} records of partition {partition} were passed over: "
                    f"{named(records)}",
                )  # fmt: skip


def _visible(evidence: Evidence, partition: int, offset: int, plan: ApplicationPlan) -> bool:
    """Whether there is a record at that offset which the consumer has to be given."""
    record = evidence.at.get((partition, offset))
    return record is not None and (not plan.reads_committed or record.committed is True)


def gone_back(evidence: Evidence) -> Iterator[ClientFinding]:
    """Offsets at which a consumer goes on though its group had committed a later one, or though it was itself further
    in the same assignment."""
    if evidence.unclean:
        return
    for plan in evidence.readers:
        committed: dict[int, int] = {}
        next_one: dict[int, int] = {}
        begins: set[int] = set()
        for line in evidence.of(plan.name, "received", "assigned", "committed"):
            partition = line.partition
            if line.seen == "assigned":
                next_one.clear()
                begins = set(line.partitions)
            elif line.seen == "committed" and line.transaction < 0:
                committed[partition] = max(committed.get(partition, 0), line.offset)
            elif line.seen == "received":
                before = committed.get(partition, 0) if partition in begins else next_one.get(partition, 0)
                what = "the group had committed" if partition in begins else "it was at"
                begins.discard(partition)
                if line.offset < before:
                    yield ClientFinding(
                        judge="offset_went_back", partition=partition, offsets=(line.offset, before),
                        detail=f"{plan.name}: it goes on at {line.offset} of partition {partition}, and {what} "
                        f"{before}",
                    )  # fmt: skip
                next_one[partition] = line.offset + 1


def stopped(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that a consumer was not given in time, though it had not ended."""
    for plan in evidence.readers:
        if evidence.endings.get(plan.name, "does not end") != "does not end":
            continue  # it has died, which is judged apart
        for partition, records in evidence.unread.items():
            if records:
                yield ClientFinding(
                    judge="consumer_stopped", partition=partition,
                    detail=f"{plan.name}: {len(records)} records of partition {partition} were not read "
                    f"{evidence.bound_s:g} s after the cluster was well: {named(list(records))}",
                )  # fmt: skip
