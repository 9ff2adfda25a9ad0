"""Replicas that are in the ISR with less than they had."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from brokers.log.log import UnexpectedAppendOffset
from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from emulator.protocol.events import (
    BecameLeader,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    LogLoaded,
    NodeCrashed,
    PartitionFailed,
    ReplicaStopped,
    TransactionMarked,
    TransactionStateChanged,
)
from emulator.protocol.java_hash import partition_of
from emulator.protocol.types import TopicPartition
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.runs.known.joins import epochs_given, taken_as_repeated
from scenarios.runs.known.ledger import witnesses
from scenarios.runs.known.reason import Reason, Shows, and_where_it_led, either, of_partition, of_violation, or_awaited

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from emulator.protocol.znodes import LeaderAndIsr
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

    LedOn = Callable[[KeptEvents, TopicPartition, int], bool]
    """Whether a leader has led on with less than it had, before an event."""


@of_violation
def _no_controller_shrank(past: KeptEvents, violation: Violation) -> bool:
    """The replica came back before any controller had come to take it out of its ISRs."""
    crash, tp = past.lost_unflushed(violation), violation.partition
    if crash is None or tp is None:
        return False
    return not past.found_gone(tp, crash) and not past.failure_handled(crash.node, crash.seq, violation.seq)


def _left_in_isr(ticket: str) -> Shows:
    """A controller left the replica in the ISR while it was dead; or left a leader so, which then led again in the
    leader epoch that it had."""

    @of_partition
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        crash = past.lost_unflushed(violation)
        if crash is None:
            return False
        return bool(witnesses(past, ticket, tp, crash.node, past.away(crash), violation.seq))

    leads_on = of_partition(lambda past, violation, tp: _led_on_left(ticket)(past, tp, violation.seq))
    return either(and_where_it_led(shows), leads_on)


def _led_on_left(ticket: str) -> LedOn:
    """A controller had left the leader in the ISR while it was dead."""
    return lambda past, tp, until_seq: any(
        witnesses(past, ticket, tp, crash.node, past.away(crash), again.seq)
        for crash, again in _led_on_with_less(past, tp, until_seq)
    )


@of_partition
def _joined_as_it_crashed(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The leader proposed to add the replica by a fetch from before its machine crashed, and the ISR was written after
    that."""
    broker, written = violation.broker, [(seq, state) for seq, state in past.states.get(tp, []) if state is not None]
    return any(
        crash.node == broker
        and before_seq < crash.seq < seq <= violation.seq
        and broker in after.isr
        and broker not in before.isr
        and (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch)
        and past.loses(tp, crash, violation.seq)
        and past.stayed_in_isr(tp, crash.node, seq, violation.seq)
        and any(
            proposal.seq < past.back(crash)
            for proposal in _proposals(past, tp, after, seq)
            if broker in proposal.replicas
        )
        for (before_seq, before), (seq, after) in pairwise(written)
        for crash in past.of(NodeCrashed)
    )


def _proposals(past: KeptEvents, tp: TopicPartition, state: LeaderAndIsr, until_seq: int) -> list[IsrProposed]:
    """The expansions that a leader had proposed in its epoch, and of which it had no outcome yet."""
    open_: list[IsrProposed] = []
    for event in past.events:
        if event.seq > until_seq:
            break
        if type(event) not in (IsrProposed, IsrChanged, IsrUpdateFailed):
            continue
        if (event.node, event.topic, event.partition, event.leader_epoch) == (state.leader, *tp, state.leader_epoch):
            open_ = [event] if type(event) is IsrProposed and event.kind == "expand" else []
    return open_


@of_partition
def _deleted_in_the_isr(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault was deleted after a move that was cancelled or changed had dropped it, stayed in the ISR,
    and came back empty as it was assigned again."""
    stops = [event for event in past.of(ReplicaStopped) if event.deleted and (event.topic, event.partition) == tp]
    loads = [event for event in past.of(LogLoaded) if (event.topic, event.partition) == tp and not event.log_end_offset]
    return any(
        violation.broker == stop.node == loaded.node
        and stop.seq < loaded.seq <= violation.seq
        and any(drop.seq < stop.seq for drop in past.drops(tp, stop.node))
        and past.stayed_in_isr(tp, stop.node, stop.seq, loaded.seq)
        for loaded in loads
        for stop in stops
    )


@of_partition
def _leads_on_with_less(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader has crashed, has lost what it had not flushed or could not recover, and has then led again in the leader
    epoch that it had, before any controller had found it gone."""
    return _led_on_unseen(past, tp, violation.seq)


def _led_on_unseen(past: KeptEvents, tp: TopicPartition, until_seq: int) -> bool:
    return any(not past.found_gone(tp, crash) for crash, _again in _led_on_with_less(past, tp, until_seq))


def _led_on_with_less(
    past: KeptEvents, tp: TopicPartition, until_seq: int
) -> Iterator[tuple[NodeCrashed, BecameLeader]]:
    """Such crashes, each with the role that the leader took up again."""
    led = [e for e in past.of(BecameLeader) if (e.topic, e.partition) == tp and e.seq < until_seq]
    for place, before in enumerate(led):
        for again in led[place + 1 :]:
            if (before.node, before.leader_epoch) == (again.node, again.leader_epoch):
                for crash in past.of(NodeCrashed):
                    if (
                        crash.node == before.node
                        and before.seq < crash.seq < again.seq
                        and past.loses(tp, crash, again.seq)
                        and past.stayed_in_isr(tp, crash.node, crash.seq, again.seq, before.leader_epoch)
                    ):
                        yield crash, again


def _refuses_its_batch(led_on: LedOn) -> Shows:
    """A follower of such a leader that has given up, or is not in the ISR, was ahead of it, and gave up with a batch
    that begins before its end."""

    @or_awaited
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        return led_on(past, tp, violation.seq) and any(
            event.error == UnexpectedAppendOffset.__name__
            for event in past.of(PartitionFailed)
            if (event.node, event.topic, event.partition) == (broker, *tp)
        )

    return shows


@of_partition
def _lost_the_marker(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """After the last marker of the producer a machine has crashed whose broker then led with a shorter log than another
    replica had kept."""
    found = violation.facts
    marks = [
        event.seq
        for event in past.of(TransactionMarked)
        if isinstance(found, BrokerRemembers)
        and (event.topic, event.partition) == tp
        and found.of == f"producer {event.producer_id}"
    ]
    return bool(marks) and _led_with_less(past, tp, marks[-1], violation.seq)


@of_partition
def _lost_the_epoch(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The batch was taken for a repetition of another one: its producer's epoch had been given before, and the
    coordinator's log has lost that as ``_lost_the_marker`` says."""
    return any(
        _led_with_less(past, _home(past, last), first.seq, last.seq)
        for repeated in taken_as_repeated(past, violation, tp)
        for first, last in _given_twice(epochs_given(past, repeated))
    )


def _given_twice(
    given: list[TransactionStateChanged],
) -> Iterator[tuple[TransactionStateChanged, TransactionStateChanged]]:
    """The last of ``given`` with the last one before it of the same epoch, if there is one."""
    before = [event for event in given[:-1] if event.producer_epoch == given[-1].producer_epoch]
    return zip(before[-1:], given[-1:], strict=False)


def _home(past: KeptEvents, event: TransactionStateChanged) -> TopicPartition:
    """The partition of __transaction_state that has the transactional id."""
    partitions = sum(tp.topic == TRANSACTION_STATE_TOPIC for tp in past.states)
    return TopicPartition.of(TRANSACTION_STATE_TOPIC, partition_of(event.transactional_id, max(1, partitions)))


def _led_with_less(past: KeptEvents, tp: TopicPartition, from_seq: int, to_seq: int) -> bool:
    """Whether a machine has crashed whose broker then led with a shorter log than another replica had kept."""
    led = [event for event in past.of(BecameLeader) if (event.topic, event.partition) == tp]
    return any(
        from_seq < crash.seq < leads.seq <= to_seq
        and crash.node == leads.node
        and past.loses(tp, crash, leads.seq)
        and _ends_before_another(past, tp, leads, crash.seq)
        for leads in led
        for crash in past.of(NodeCrashed)
    )


def _ends_before_another(past: KeptEvents, tp: TopicPartition, leads: BecameLeader, since_seq: int) -> bool:
    return any(
        (event.topic, event.partition) == tp
        and event.node != leads.node
        and event.seq > since_seq
        and event.log_end_offset > leads.log_end_offset
        for event in past.of(LogLoaded)
    )


LOST: tuple[Reason, ...] = (
    Reason("KAFKA-3143", _left_in_isr("KAFKA-3143")),
    Reason("KIP-966", and_where_it_led(_no_controller_shrank)),
    Reason("KIP-903", and_where_it_led(_joined_as_it_crashed)),
    Reason("ReplicaStateMachine.handleStateChange (0.8.0)", _left_in_isr("ReplicaStateMachine.handleStateChange")),
    Reason("KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)", and_where_it_led(_deleted_in_the_isr)),
    Reason("KIP-966", _leads_on_with_less, effect=1),
    Reason("KAFKA-3143", _refuses_its_batch(_led_on_left("KAFKA-3143")), effect=3),
    Reason("KIP-966", _refuses_its_batch(_led_on_unseen), effect=2),
    Reason("KIP-966", _lost_the_marker, effect=3),
    Reason("KIP-966", _lost_the_epoch, effect=4),
)
"""Reasons about losses. Where two explain a finding, the more particular one comes first."""
