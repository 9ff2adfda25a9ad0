"""The judges: each looks at one thing that an application may not see, given its settings.

Each is a function from the evidence of a run to its findings. ``JUDGES`` has them with their statements; the museum of
this room is ``tests/scenarios/studies/clients``, where each judge is shown to fail when what it guards is broken.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from attrs import frozen

from scenarios.studies.clients.driver_process import SeenLine
from scenarios.studies.clients.evidence import ClientFinding, Evidence, named
from scenarios.studies.clients.reading_judges import gone_back, out_of_the_log, skipped, stopped
from scenarios.studies.clients.transaction_judges import aborted_reads, fractured, lost_transactions

Judging = Callable[[Evidence], Iterator[ClientFinding]]


@frozen
class ClientJudge:
    """One judge.

    Attributes:
        statement: what holds for each run.
        checkers: the checkers of the cluster that see the same, if it is the cluster's doing.
    """

    name: str
    statement: str
    find: Judging
    checkers: tuple[str, ...] = ()


def lost(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that were acknowledged with acks=all, and are not in the log. Those of transactions are judged apart."""
    if evidence.log is None:
        return
    for plan in evidence.writers:
        for partition, lines in _by_partition(evidence, plan.name).items():
            gone = [
                line
                for line in lines
                if line.record not in evidence.places and not evidence.may_lack(partition, line.offset)
            ]
            if gone and plan.acks_all:
                yield ClientFinding(
                    judge="acknowledged_record_lost", partition=partition,
                    offsets=tuple(line.offset for line in gone if line.offset >= 0),
                    detail=f"{plan.name}: {len(gone)} of {len(lines)} acknowledged records are not in partition "
                    f"{partition}: {named([line.record for line in gone])}",
                )  # fmt: skip


def _by_partition(evidence: Evidence, name: str) -> dict[int, list[SeenLine]]:
    """The acknowledgements of records that are of no transaction."""
    found: dict[int, list[SeenLine]] = {}
    sent = evidence.sent
    for line in evidence.of(name, "acked"):
        if line.record in sent and sent[line.record].transaction < 0:
            found.setdefault(line.partition, []).append(line)
    return found


def doubled(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that are twice in the log, though their producer is idempotent."""
    for plan in evidence.writers:
        if not plan.idempotent:
            continue
        counts = Counter(record for record in evidence.sent if evidence.sent[record].name == plan.name)
        twice = [record for record in counts if len(evidence.places.get(record, ())) > 1]
        if twice:
            offsets = tuple(one.offset for record in twice for _, one in evidence.places[record])
            yield ClientFinding(
                judge="record_doubled", partition=evidence.places[twice[0]][0][0], offsets=offsets,
                detail=f"{plan.name}: {len(twice)} records are in the log more than once: {named(twice)}",
            )  # fmt: skip


def reordered(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records in the log before one that was sent earlier, though the settings promise their order."""
    order = {record: number for number, record in enumerate(evidence.sent)}
    for plan in evidence.writers:
        for partition, records in (evidence.log or {}).items():
            if not plan.keeps_order:
                continue
            last, seen, wrong, at = -1, set[str](), list[str](), list[int]()
            for one in records:
                place = order.get(one.value)
                if place is None or one.value in seen or evidence.sent[one.value].name != plan.name:
                    continue
                seen.add(one.value)
                if place < last:
                    wrong.append(one.value)
                    at.append(one.offset)
                last = max(last, place)
            if wrong:
                yield ClientFinding(
                    judge="record_out_of_order", partition=partition, offsets=tuple(at),
                    detail=f"{plan.name}: {len(wrong)} records of partition {partition} are after one that was sent "
                    f"later: {named(wrong)}",
                )  # fmt: skip


def invented(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records in the log that no application sent, or sent to another partition."""
    for value, places in evidence.places.items():
        sent = evidence.sent.get(value)
        for partition, one in places:
            if sent is None or sent.partition != partition:
                what = "no application sent" if sent is None else f"was sent to partition {sent.partition}"
                yield ClientFinding(
                    judge="record_invented", partition=partition, offsets=(one.offset,),
                    detail=f"{value!r} is in partition {partition} at {one.offset}, and {what}",
                )  # fmt: skip


def misplaced(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that are in the log, but not at the offset that their producer was given with acks=all."""
    for plan in evidence.writers:
        if not plan.acks_all:
            continue
        for line in evidence.of(plan.name, "acked"):
            places = evidence.places.get(line.record, ())
            offsets = [one.offset for partition, one in places if partition == line.partition]
            elsewhere = line.offset >= 0 and offsets and line.offset not in offsets
            if elsewhere and not evidence.may_lack(line.partition, line.offset):
                yield ClientFinding(
                    judge="acknowledged_elsewhere", partition=line.partition, offsets=(line.offset, *offsets),
                    detail=f"{plan.name}: {line.record} was acknowledged at {line.offset} of partition "
                    f"{line.partition}, and is at {offsets[0]}",
                )  # fmt: skip


def stalled(evidence: Evidence) -> Iterator[ClientFinding]:
    """Records that were neither acknowledged nor failed a while after the cluster was well again."""
    for name, records in evidence.unsettled.items():
        if records:
            yield ClientFinding(
                judge="producer_stalled",
                detail=f"{name}: {len(records)} records were neither acknowledged nor failed "
                f"{evidence.bound_s:g} s after the cluster was well: {named(list(records))}",
            )


def died(evidence: Evidence) -> Iterator[ClientFinding]:
    """Applications that ended by an error, or before they were asked to, or did not end when they were."""
    for name, ending in evidence.endings.items():
        if ending and not (evidence.unsettled.get(name) and ending == "does not end"):
            yield ClientFinding(judge="client_died", detail=f"{name} {ending}")


JUDGES = (
    ClientJudge("acknowledged_record_lost", "a record acknowledged with acks=all is in the log", lost,
                ("no_acked_record_lost",)),
    ClientJudge("record_doubled", "a record of an idempotent producer is in the log once", doubled,
                ("no_batch_twice", "broker_remembers")),
    ClientJudge("record_out_of_order", "records are in the log as they were sent: idempotent, or one request under way",
                reordered, ("no_batch_twice", "broker_remembers")),
    ClientJudge("record_invented", "each record in the log was sent, and to that partition", invented,
                ("log_matching",)),
    ClientJudge("acknowledged_elsewhere", "a record is at the offset that its acks=all acknowledgement names",
                misplaced, ("no_acked_record_lost",)),
    ClientJudge("producer_stalled", "a producer settles its records once the cluster is well", stalled,
                ("requests_answered", "leaders_accept")),
    ClientJudge("client_died", "an application ends when it is asked to, and not by an error", died),
    ClientJudge("read_out_of_the_log", "a consumer is given what is in the log at that offset", out_of_the_log,
                ("reads_consistent",)),
    ClientJudge("record_skipped", "a consumer is given every record between two that it is given", skipped,
                ("reads_consistent",)),
    ClientJudge("offset_went_back", "a group goes on at or after the last offset that it committed", gone_back,
                ("offsets_read_back", "coordinators_remember")),
    ClientJudge("consumer_stopped", "a consumer reads to the end once the cluster is well", stopped,
                ("polls_go_on", "groups_settle", "reads_decided")),
    ClientJudge("aborted_read", "a read-committed consumer is given no record of an aborted transaction", aborted_reads,
                ("reads_committed",)),
    ClientJudge("transaction_fractured", "all records of a transaction are committed, or none", fractured,
                ("markers_decided", "transactions_end")),
    ClientJudge("committed_transaction_lost", "the records of a committed transaction are in the log",
                lost_transactions, ("no_acked_record_lost", "transactions_end")),
)  # fmt: skip
"""All judges."""


def judged(evidence: Evidence) -> tuple[ClientFinding, ...]:
    return tuple(finding for judge in JUDGES for finding in judge.find(evidence))


def judge_named(name: str) -> ClientJudge:
    return next(judge for judge in JUDGES if judge.name == name)
