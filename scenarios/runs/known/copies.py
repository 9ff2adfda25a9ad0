"""Copies in other log directories (KIP-113): what a log lacks that has taken the place of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.events import BecameFollower, BecameLeader, LogReplaced
from fetchers.truncation import ToHighWatermark
from scenarios.runs.known.reason import DIVERGENCES, LOSSES, Known, and_what_follows, at_fault, keeps_its_place

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


def _epoch_not_copied(past: KeptEvents, violation: Violation | None) -> bool:
    """The replica at fault was ahead of its leader and was not truncated to where the leader epoch begins; and a copy
    had taken the place of the leader's log before anything was written in that epoch."""
    tp = None if violation is None else past.partition(violation)
    if violation is None or tp is None:
        return False
    broker = at_fault(past, violation)
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


COPIES: tuple[Known, ...] = (
    Known(
        "KAFKA-15608",
        "a copy in another log directory has the epochs of its records only: a leader that has written nothing yet "
        "does not know where its epoch begins, and a follower that is ahead of it goes on with what it has",
        (*LOSSES, *DIVERGENCES),
        lambda policies: (
            policies.brokers.begins_epoch_at_election and not isinstance(policies.fetchers.truncation, ToHighWatermark)
        ),
        and_what_follows(_epoch_not_copied),
    ),
)
