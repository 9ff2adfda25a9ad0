"""Idempotent and transactional producers: batches that a leader takes twice, coordinators that go on."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from emulator.protocol.events import BecameLeader, NodeCrashed, OffsetsCommitted, UnknownProducerAppended
from emulator.protocol.types import TopicPartition
from scenarios.observe.findings.coordination_facts import CommitLost
from scenarios.observe.findings.log_facts import BatchTwice
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.runs.known.reason import Reason, of_partition, of_violation

if TYPE_CHECKING:
    from emulator.protocol.shown import Deviated
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_partition
def _producer_forgotten(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log of the leader began after all that the producer had written to it."""
    return _follows_from_one(past, violation, tp, past.log_start)


@of_partition
def _producer_unknown(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log of the leader was empty, and began after what the producer had written, as it was loaded
    (ProducerStateManager.truncateAndReload, 2.4.1, drops the snapshot that is at the log's start) or truncated, as that
    of a new replica is whose leader has deleted it."""
    return _follows_from_one(past, violation, tp, past.emptied_at)


Began = Callable[["TopicPartition", "int | None", int], int]


def _follows_from_one(past: KeptEvents, violation: Violation, tp: TopicPartition, began: Began) -> bool:
    """Whether this batch of the producer in this epoch, or one before it, was taken so: the leader knows the producer
    then, and takes what comes next."""
    about = _producer_and_epoch(violation)
    return about is not None and any(
        _taken_as_unknown(past, found, tp, began)
        for found in past.run.violations
        if (found.invariant, found.partition, _producer_and_epoch(found)) == (violation.invariant, tp, about)
        and found.seq <= violation.seq
    )


def _producer_and_epoch(violation: Violation) -> tuple[int, int] | None:
    """The first batch that the producer has in the partition, and the leader epoch of the batch that is at fault."""
    found = violation.facts
    return (found.first, found.epoch) if isinstance(found, BatchTwice) else None


def _taken_as_unknown(past: KeptEvents, violation: Violation, tp: TopicPartition, began: Began) -> bool:
    """Whether the leader of the epoch has appended the batch, or one of its producer before it, as that of a producer
    that it did not know, though the producer id had written to the partition before; and its log began after that, as
    ``began`` says, when it did. A leader that is alone in the ISR commits the batch in the same instant."""
    found = violation.facts
    if not isinstance(found, BatchTwice):
        return False
    leaders = [
        led.node
        for led in past.of(BecameLeader)
        if (led.topic, led.partition, led.leader_epoch) == (*tp, found.epoch) and led.seq < violation.seq
    ]
    taken = [
        event
        for event in past.of(UnknownProducerAppended)
        if (event.topic, event.partition) == tp
        and min(found.first, found.batch) <= event.id
        and event.t_us <= violation.t_us
    ]
    return any(
        again.node in leaders
        and again.id <= found.batch
        and any(before.producer_id == again.producer_id for before in taken[:place])
        and began(tp, again.node, again.seq) >= min(found.end, again.base_offset)
        for place, again in enumerate(taken)
    )


def _kept_its_ids(past: KeptEvents, violation: Violation | None) -> bool:
    """Each broker that it is about has gone on as the coordinator of a partition that it had no more, of the one that
    it is about where it names one."""
    if violation is None or not violation.brokers:
        return False
    kept = [one for one in past.run.witnesses if one.ticket == "KAFKA-9235" and one.seq <= violation.seq]
    if violation.partition is not None:
        kept = [one for one in kept if (one.topic, one.partition) == violation.partition]
    return set(violation.brokers) <= {one.replica for one in kept}


def _left_without_assignment(past: KeptEvents, violation: Violation | None) -> bool:
    """Whether its coordinator has found no assignment for a static member that had come back."""
    if violation is None:
        return False
    left = [one for one in past.run.witnesses if one.ticket == "KAFKA-9801" and one.seq <= violation.seq]
    return bool(violation.brokers) and set(violation.brokers) <= {one.node for one in left}


@of_partition
def _taken_for_deleted(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A coordinator has sent no marker to the partition, as its broker had received none."""
    return any(
        (one.ticket, one.topic, one.partition) == ("TransactionMarkerChannelManager", *tp) and one.seq <= violation.seq
        for one in past.run.witnesses
    )


@of_violation
def _comes_back_from_the_log(past: KeptEvents, violation: Violation) -> bool:
    """The coordinator knows no offset of the partition, of which it has removed one that the log keeps, or only one
    that was committed after that; its process has not ended since."""
    facts = violation.facts
    if not isinstance(facts, BrokerRemembers) or facts.memory != "coordinated":
        return False
    if facts.kept != "nothing" and not facts.wanted.startswith(f"{facts.kept}, and "):
        return False
    return any(
        facts.of.endswith(f"'s offset of {TopicPartition(one.topic, one.partition)}")
        for one in _removed(past, facts.broker, violation.seq)
    )


@of_partition
def _removed_as_it_was_written(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The coordinator answers with no offset: it has removed the one that it answered a commit for after that, and no
    other was committed since."""
    facts = violation.facts
    if not isinstance(facts, CommitLost) or facts.offset.offset != -1:
        return False
    commits = [
        (event.seq, offset)
        for event in past.of(OffsetsCommitted)
        if (event.node, event.group, event.error) == (facts.broker, facts.group, "NONE") and event.seq <= violation.seq
        for *of, offset in zip(event.topics, event.partitions, event.offsets, strict=True)
        if TopicPartition(*of) == tp
    ]
    return any(
        TopicPartition(one.topic, one.partition) == tp
        and [offset for seq, offset in commits if seq > one.seq] == [facts.committed.offset]
        for one in _removed(past, facts.broker, violation.seq)
    )


def _removed(past: KeptEvents, broker: int, until_seq: int) -> list[Deviated]:
    """The removals of offsets that the log keeps, by the process that a broker has at ``until_seq``."""
    crashes = [one.seq for one in past.of(NodeCrashed) if one.node == broker and one.seq < until_seq]
    return [
        one
        for one in past.run.witnesses
        if (one.ticket, one.replica) == ("GroupMetadata.removeOffsets", broker)
        and max(crashes, default=0) < one.seq < until_seq
    ]


PRODUCERS: tuple[Reason, ...] = (
    Reason("KIP-360", _producer_unknown),
    Reason("ProducerAppendInfo.checkSequence (2.4.1)", _producer_unknown),
    Reason("KAFKA-7190", _producer_forgotten),
    Reason("KAFKA-9235", _kept_its_ids),
    Reason("KAFKA-9801", _left_without_assignment),
    Reason("GroupMetadata.removeOffsets (0.11 to 3.9)", _comes_back_from_the_log),
    Reason("GroupMetadata.removeOffsets (0.11 to 3.9)", _removed_as_it_was_written, effect=1),
    Reason("TransactionMarkerChannelManager.addTxnMarkersToBrokerQueue (0.11 to 3.9)", _taken_for_deleted),
)
