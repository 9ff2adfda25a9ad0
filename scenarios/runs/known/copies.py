"""Copies in other log directories (KIP-113): what a log lacks that has taken the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.errors import Errors
from emulator.protocol.events import BecameFollower, BecameLeader, CopyFailed, FetchPosition, LogReplaced
from scenarios.runs.known.reason import Reason, and_what_follows, keeps_its_place, of_lacking, of_partition, of_replica

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_partition
def _epoch_not_copied(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault was ahead of its leader and was not truncated to where the leader epoch begins; and a copy
    had taken the place of the leader's log before anything was written in that epoch."""
    broker = violation.broker
    return any(
        (led.node, led.leader_epoch) == (follows.leader, follows.leader_epoch)
        and (copy.node, copy.log_end_offset) == (led.node, led.log_end_offset)
        and led.seq < copy.seq < violation.seq
        and keeps_its_place(past, follows, led.log_end_offset)
        for follows in past.of(BecameFollower)
        if (follows.node, follows.topic, follows.partition) == (broker, *tp) and follows.seq < violation.seq
        for led in past.of(BecameLeader)
        if (led.topic, led.partition) == tp
        for copy in past.of(LogReplaced)
        if (copy.topic, copy.partition) == tp
    )


@of_lacking
def _out_of_range_again(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is not in the ISR has begun to fetch twice from one offset of one leader, in one leader epoch;
    an empty copy that begins there had taken the place of the leader's log."""
    fetches = [e for e in past.of(FetchPosition) if (e.node, e.topic, e.partition) == (broker, *tp)][-2:]
    if len(fetches) < 2:
        return False
    first, second = ((event.leader, event.leader_epoch, event.offset) for event in fetches)
    return first == second and any(
        copy.log_end_offset == fetches[0].offset == past.log_start(tp, copy.node, copy.seq)
        for copy in past.of(LogReplaced)
        if (copy.node, copy.topic, copy.partition) == (fetches[0].leader, *tp) and copy.seq < fetches[0].seq
    )


@of_replica
def _fenced_by_its_own_broker(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The last thing that happened to a copy on the broker is that it failed, fenced by a leader epoch which the broker
    had taken up as the copy was under way."""
    failed = [e for e in past.of(CopyFailed) if (e.node, e.topic, e.partition) == (broker, *tp)]
    return bool(failed) and failed[-1].error == Errors.FENCED_LEADER_EPOCH.name and failed[-1].seq < violation.seq


COPIES: tuple[Reason, ...] = (
    Reason("KAFKA-9654", _fenced_by_its_own_broker),
    Reason("KAFKA-15608", and_what_follows(_epoch_not_copied)),
    Reason("KAFKA-15608", _out_of_range_again, effect=1),
)
