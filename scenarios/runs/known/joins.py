"""Replicas that a leader takes into the ISR too early."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import BatchRepeated, TransactionStateChanged
from emulator.protocol.znodes import broker_path
from emulator.trace.events import ZkWritten
from scenarios.observe.findings.log_facts import AckedRecordsLost
from scenarios.profiles.ticket import LOSSES
from scenarios.runs.known.ledger import in_isr_since
from scenarios.runs.known.reason import Reason, and_what_follows, and_where_it_led, of_broker, of_partition

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents, RefusedWrite

SESSION_ENDS = "KafkaZkClient.conditionalUpdatePath (1.1.1 to 2.6.3)"


@of_partition
def _joined_and_not_known(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader added the replica at fault to the ISR in ZooKeeper, where it has been since, and took the write for
    failed."""
    return any(_has_joined(past, violation, tp))


@of_partition
def _joined_as_the_session_ended(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """Such a write, between which and its outcome the leader's session ended: nothing compares what it wrote then."""
    return any(_ended_meanwhile(past, one) for one in _has_joined(past, violation, tp))


def _has_joined(past: KeptEvents, violation: Violation, tp: TopicPartition) -> Iterator[RefusedWrite]:
    """The writes that added the replica at fault, which has been in the ISR since, and that were taken for refused."""
    broker = violation.broker
    if broker is None:
        return
    for one in past.taken_for_refused(tp):
        added = one.wish.kind == "expand" and broker in one.wish.replicas and one.seq < violation.seq
        if added and past.stayed_in_isr(tp, broker, one.seq, violation.seq):
            yield one


def _ended_meanwhile(past: KeptEvents, write: RefusedWrite) -> bool:
    path = broker_path(write.wish.node)
    return any(
        (event.path, event.op) == (path, "delete") and write.seq < event.seq < write.refused_seq
        for event in past.of(ZkWritten)
    )


@of_partition
def _epoch_given_twice(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The batch was taken for a repetition of another one: two coordinators have given its producer the same epoch, as
    the log of the first lost that (``_joined_as_the_session_ended``)."""
    repeated = taken_as_repeated(past, violation, tp)
    lost = (
        found
        for found in past.run.violations
        if found.partition is not None
        and found.partition.topic == TRANSACTION_STATE_TOPIC
        and found.invariant in LOSSES
        and found.seq <= violation.seq
        and _joined_as_the_session_ended(past, found)
    )
    return any(_gave_epoch_twice(past, event) for event in repeated) and any(lost)


def taken_as_repeated(past: KeptEvents, violation: Violation, tp: TopicPartition) -> list[BatchRepeated]:
    """The answers by which a leader took the first lost batch for a repetition."""
    facts = violation.facts
    if not isinstance(facts, AckedRecordsLost):
        return []
    return [
        event
        for event in past.of(BatchRepeated)
        if (event.id, event.topic, event.partition) == (facts.batch, *tp) and event.seq < violation.seq
    ]


def _begins_instance(event: TransactionStateChanged) -> bool:
    match event:
        case TransactionStateChanged(state="Empty"):
            return True
    return False


def epochs_given(past: KeptEvents, repeated: BatchRepeated) -> list[TransactionStateChanged]:
    """The writes by which coordinators gave the producer of a batch its epochs, up to that of the batch."""
    return [
        event
        for event in past.of(TransactionStateChanged)
        if event.producer_id == repeated.producer_id and _begins_instance(event) and event.seq < repeated.seq
    ]


def _gave_epoch_twice(past: KeptEvents, repeated: BatchRepeated) -> bool:
    given = epochs_given(past, repeated)[-2:]
    return len({event.node for event in given}) == 2 and len({event.producer_epoch for event in given}) == 1


JOINS: tuple[Reason, ...] = (
    Reason("KAFKA-7128", and_where_it_led(of_broker(in_isr_since("KAFKA-7128")))),
    Reason(
        "KafkaApis.handleFetchRequest (0.8.0 to 0.8.1.1)",
        and_where_it_led(of_broker(in_isr_since("KafkaApis.handleFetchRequest"))),
    ),
    Reason("KAFKA-1382", and_where_it_led(_joined_and_not_known)),
    Reason(SESSION_ENDS, and_what_follows(_joined_as_the_session_ended)),
    Reason(SESSION_ENDS, _epoch_given_twice, effect=1),
)
"""Reasons about replicas that join the ISR. Where two explain a finding, the more particular one comes first."""
