"""Followers: where they cut their logs, and where they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.events import BecameFollower, BecameLeader, IsrProposed, LogLoaded, Truncated
from scenarios.runs.known.reason import Reason, and_where_it_led, keeps_its_place, of_partition, of_replica

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_partition
def _emptied(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault began to follow with a log that retention had emptied, under a leader one of whose epochs,
    of which that log knows nothing, began before its start; and was not truncated to there."""
    broker = violation.broker
    return any(
        0 < event.log_end_offset == past.log_start(tp, broker, event.seq)
        and any(keeps_its_place(past, event, led.log_end_offset) for led in _new_to(past, tp, event))
        for event in past.of(BecameFollower)
        if (event.node, event.topic, event.partition) == (broker, *tp) and event.seq < violation.seq
    )


def _new_to(past: KeptEvents, tp: TopicPartition, follows: BecameFollower) -> list[BecameLeader]:
    """Where leader epochs begin that the follower's log knows nothing of, those after its last role before its process
    was started, and in which its leader has led or followed."""
    loaded = [e.seq for e in past.of(LogLoaded) if (e.node, e.topic, e.partition) == (follows.node, *tp)]
    since = max((seq for seq in loaded if seq < follows.seq), default=follows.seq)
    known = [
        role.leader_epoch
        for kind in (BecameLeader, BecameFollower)
        for role in past.of(kind)
        if (role.node, role.topic, role.partition) == (follows.node, *tp) and role.seq < since
    ]
    had = {role.leader_epoch for role in past.roles(tp, follows.leader)}
    return [
        led
        for led in past.of(BecameLeader)
        if (led.topic, led.partition) == tp
        and led.leader_epoch in had
        and max(known, default=-1) < led.leader_epoch <= follows.leader_epoch
    ]


@of_partition
def _cut_below_its_start(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log at fault was truncated to before its start."""
    broker = violation.broker
    return any(
        event.log_end_offset < past.log_start(tp, broker, event.seq)
        for event in past.of(Truncated)
        if (event.node, event.topic, event.partition) == (broker, *tp) and event.seq < violation.seq
    )


@of_replica
def _kept_what_differs(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica at fault joined the ISR at the end of its log, where that of its leader began, and led then with a
    log that began before."""
    joins = [
        (event, end)
        for event in past.of(IsrProposed)
        for replica, end in zip(event.replicas, event.ends, strict=True)
        if (event.topic, event.partition, event.kind, replica) == (*tp, "expand", broker)
    ]
    return any(
        join.seq < led.seq < violation.seq
        and end == past.log_start(tp, join.node, join.seq)
        and past.log_start(tp, broker, led.seq) < end <= led.log_end_offset
        for led in past.of(BecameLeader)
        if (led.node, led.topic, led.partition) == (broker, *tp)
        for join, end in joins
    )


@of_partition
def _cut_at_high_watermark(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The log at fault, or another one of the partition before, was cut at its own high watermark by a follower; or it
    ended there when it began to follow, beyond where its leader's epoch began, or with records of an epoch that the
    leader never had."""
    cut = any(
        event.log_end_offset == event.high_watermark and event.seq <= violation.seq
        for event in past.of(Truncated)
        if (event.topic, event.partition) == tuple(tp)
    )
    return cut or any(
        event.log_end_offset == event.high_watermark > 0
        and event.seq <= violation.seq
        and (_is_ahead(past, event) or leads_without_its_epoch(past, event))
        for event in past.of(BecameFollower)
        if (event.topic, event.partition) == tuple(tp)
    )


def _is_ahead(past: KeptEvents, follows: BecameFollower) -> bool:
    """Whether a follower's log ends beyond where the epoch of its leader begins."""
    return any(
        led.log_end_offset < follows.log_end_offset
        for led in past.of(BecameLeader)
        if (led.node, led.topic, led.partition, led.leader_epoch)
        == (follows.leader, follows.topic, follows.partition, follows.leader_epoch)
    )


def leads_without_its_epoch(past: KeptEvents, follows: BecameFollower) -> bool:
    """Whether the leader of a follower may never have had records of the last epoch in which the follower had a role
    before: there was another epoch since, the leader had no role in it or appended nothing in it, or its own begins no
    later."""
    tp, epoch = (follows.topic, follows.partition), follows.leader_epoch
    led = [e for e in past.of(BecameLeader) if (e.topic, e.partition) == tp]
    roles = [*led, *(e for e in past.of(BecameFollower) if (e.topic, e.partition) == tp)]
    before = [
        e.leader_epoch for e in roles if e.node == follows.node and e.seq < follows.seq and e.leader_epoch < epoch
    ]
    if not before:
        return False
    last = max(before)
    begins: dict[int, int] = {e.leader_epoch: e.log_end_offset for e in reversed(led)}
    leaders = [role for role in roles if (role.node, role.leader_epoch) == (follows.leader, last)]
    if last < epoch - 1 or not leaders or begins.get(epoch, 0) <= begins.get(last, -1):
        return True
    first = min(leaders, key=lambda role: role.seq)
    return begins.get(epoch) == first.log_end_offset and not any(
        (e.node, e.topic, e.partition) == (follows.leader, *tp) and first.seq < e.seq < follows.seq
        for e in past.of(Truncated)
    )


TRUNCATIONS: tuple[Reason, ...] = (
    Reason("KIP-101", _cut_at_high_watermark),
    Reason("LeaderEpochFileCache.truncateFromEnd (2.3.1 to 2.7.2)", and_where_it_led(_emptied)),
    Reason("LeaderEpochFileCache.endOffsetFor (2.3.1 to 2.7.2)", _kept_what_differs),
    Reason("Log.truncateTo (0.8.0 to 2.7.2)", and_where_it_led(_cut_below_its_start)),
)
"""Reasons about truncations. Where two explain a finding, the more particular one comes first."""
