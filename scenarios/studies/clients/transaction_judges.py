"""The judges of transactions, as their application and a read-committed consumer see them.

Kafka's transactions are atomic and durable, and do not isolate writers from each other: those of two producers
interleave in every partition, so cycles of writes are no anomaly (as Jepsen says of Kafka and Redpanda). What is left
of Elle's anomalies for one producer whose transactions follow each other are aborted reads (G1a), fractured
transactions, lost ones, and order, which ``record_out_of_order`` judges.
"""

from __future__ import annotations

from collections.abc import Iterator

from scenarios.studies.clients.application_plan import TRANSACT
from scenarios.studies.clients.driver_process import SeenLine
from scenarios.studies.clients.evidence import ClientFinding, Evidence, named

COMMITTED, ABORTED = "committed", "aborted"


def aborted_reads(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that a read-committed consumer was given, of transactions whose application knows that they are
    aborted."""
    outcomes = {plan.name: evidence.outcomes(plan.name) for plan in evidence.writers}
    for plan in evidence.readers:
        if not plan.reads_committed:
            continue
        wrong = []
        for line in evidence.of(plan.name, "received"):
            sent = evidence.sent.get(line.record)
            if sent is not None and outcomes[sent.name].get(sent.transaction) == ABORTED:
                wrong.append(line)
        if wrong:
            yield ClientFinding(
                judge="aborted_read", partition=wrong[0].partition, offsets=tuple(line.offset for line in wrong),
                detail=f"{plan.name}: {len(wrong)} records of aborted transactions were read: "
                f"{named([line.record for line in wrong])}",
            )  # fmt: skip


def transactions(evidence: Evidence) -> Iterator[tuple[str, int, str, list[SeenLine]]]:
    """Each transaction: its application, number, outcome, and the records that were sent in it."""
    for plan in evidence.writers:
        if plan.role != TRANSACT:
            continue
        sent: dict[int, list[SeenLine]] = {}
        for line in evidence.of(plan.name, "sent"):
            sent.setdefault(line.transaction, []).append(line)
        for number, outcome in evidence.outcomes(plan.name).items():
            yield plan.name, number, outcome, sent.get(number, [])


def fractured(evidence: Evidence) -> Iterator[ClientFinding]:
    """Transactions of which some records are committed in the log, and others are not, or are not there."""
    if evidence.log is None:
        return
    for name, number, outcome, lines in transactions(evidence):
        there = {line.record for line in lines if _committed(evidence, line.record)}
        lacking = [line for line in lines if line.record not in there and not _may_lack(evidence, line)]
        if there and lacking:
            yield ClientFinding(
                judge="transaction_fractured", partition=lacking[0].partition,
                detail=f"{name}: transaction {number} ({outcome}) is committed in part: {len(there)} records are, "
                f"{named([line.record for line in lacking])} not",
            )  # fmt: skip


def lost_transactions(evidence: Evidence) -> Iterator[ClientFinding]:
    """Transactions that their application knows to be committed, and of which no record is committed in the log."""
    if evidence.log is None:
        return
    for name, number, outcome, lines in transactions(evidence):
        gone = lines and not any(_committed(evidence, line.record) for line in lines)
        if outcome == COMMITTED and gone and not all(_may_lack(evidence, line) for line in lines):
            yield ClientFinding(
                judge="committed_transaction_lost", partition=lines[0].partition,
                detail=f"{name}: transaction {number} was committed, and none of its records is: "
                f"{named([line.record for line in lines])}",
            )  # fmt: skip


def _committed(evidence: Evidence, record: str) -> bool:
    return any(one.committed for _, one in evidence.places.get(record, ()))


def _may_lack(evidence: Evidence, line: SeenLine) -> bool:
    """Whether the release may have lost the record, or its marker: where it lost anything of that partition."""
    return evidence.unclean or evidence.may_lack(line.partition, -1)
