"""Replicas that a leader takes into the ISR too early."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from brokers.partition.isr import ByZooKeeper
from emulator.protocol.events import (
    IsrProposed,
)
from scenarios.runs.known.reason import (
    DIVERGENCES,
    LOSSES,
    Known,
    and_where_it_led,
    of_partition,
)

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_partition
def _joined_before_it_was_read(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault joined the ISR by a fetch from beyond the end of the leader's log."""
    return _joined_by(past, violation, tp, lambda wish, end: end > wish.log_end_offset)


@of_partition
def _joined_and_not_known(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader added the replica at fault to the ISR in ZooKeeper, where it has been since, and took the write for
    failed."""
    broker = violation.broker
    if broker is None:
        return False
    return any(
        wish.kind == "expand" and broker in wish.replicas and past.stayed_in_isr(tp, broker, seq, violation.seq)
        for seq, wish in past.taken_for_refused(tp)
        if seq < violation.seq
    )


@of_partition
def _joined_below_epoch_start(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault joined the ISR at the high watermark, before the start of the leader's epoch."""
    return _joined_by(past, violation, tp, lambda wish, end: end < wish.epoch_start_offset)


def _joined_by(
    past: KeptEvents, violation: Violation, tp: TopicPartition, joins: Callable[[IsrProposed, int], bool]
) -> bool:
    """Whether a leader has asked for the replica at fault in the ISR, which had reached ``end``, in such a way, and it
    has been in the ISR since."""
    return any(
        event.kind == "expand"
        and replica == violation.broker
        and joins(event, end)
        and (event.seq == violation.seq or _in_isr_since(past, tp, replica, event.seq, violation.seq))
        for event in past.of(IsrProposed)
        if (event.topic, event.partition) == tuple(tp) and event.seq <= violation.seq
        for replica, end in zip(event.replicas, event.ends, strict=True)
    )


def _in_isr_since(past: KeptEvents, tp: TopicPartition, broker: int, wish: int, until_seq: int) -> bool:
    """Whether ``broker`` was in the ISR from the first write after a wish on."""
    written = next((seq for seq, _ in past.states.get(tp, []) if seq > wish), until_seq)
    return written >= until_seq or past.stayed_in_isr(tp, broker, written, until_seq)


JOINS: tuple[Known, ...] = (
    Known(
        "KAFKA-7128",
        "a follower joins the ISR at the high watermark of a new leader, without what its predecessor had committed",
        (*LOSSES, *DIVERGENCES, "joins_caught_up"),
        lambda policies: not policies.brokers.join_needs_epoch_start,
        and_where_it_led(_joined_below_epoch_start),
    ),
    Known(
        "KafkaApis.handleFetchRequest (0.8.0 to 0.8.1.1)",
        "a follower's fetch counts before it is read: one that is ahead of its leader joins the ISR, and cuts its log "
        "once the fetch is refused",
        (*LOSSES, *DIVERGENCES, "joins_caught_up"),
        lambda policies: policies.brokers.records_fetch_first,
        and_where_it_led(_joined_before_it_was_read),
    ),
    Known(
        "KAFKA-1382",
        "an ISR that is in ZooKeeper though its write seemed to fail: the leader commits without a replica that it has "
        "added",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.brokers.isr_writes == ByZooKeeper(compares=False),
        and_where_it_led(_joined_and_not_known),
    ),
)
"""Where two explain a finding, the more particular one comes first."""
