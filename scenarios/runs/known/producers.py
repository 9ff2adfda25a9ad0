"""Idempotent producers: batches that a leader takes twice."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from emulator.protocol.events import BecameLeader
from scenarios.runs.known.reason import Known, Shows

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

_TWICE = re.compile(r"batch (\d+) is committed .*in epoch (\d+); .* has batches (\d+) to \d+, up to offset (\d+)")


def _producer_forgotten(past: KeptEvents, violation: Violation | None) -> bool:
    """The log of the leader that appended the batch begins after all that the producer had written to it."""
    return _began_after(past, violation, past.log_start)


def _producer_unknown(past: KeptEvents, violation: Violation | None) -> bool:
    """The log of the leader that appended the batch was empty, and began after what the producer had written, as it was
    loaded (ProducerStateManager.truncateAndReload, 2.4.1, drops the snapshot that is at the log's start) or truncated,
    as that of a new replica is whose leader has deleted it."""
    return _began_after(past, violation, past.emptied_at)


def _began_after(
    past: KeptEvents, violation: Violation | None, began: Callable[[TopicPartition, int | None, int], int]
) -> bool:
    tp = None if violation is None else past.partition(violation)
    found = None if violation is None else _TWICE.search(violation.state)
    if violation is None or tp is None or found is None:
        return False
    _, epoch, _, end = map(int, found.groups())
    return any(
        began(tp, led.node, violation.seq) >= end
        for led in past.of(BecameLeader)
        if (led.topic, led.partition, led.leader_epoch) == (*tp, epoch) and led.seq < violation.seq
    )


def _first_batch(root: Shows) -> Shows:
    """``root``, of the first batch that the producer has written, which has sequence number 0: leaders refuse any other
    of a producer that they do not know (UNKNOWN_PRODUCER_ID)."""

    def shows(past: KeptEvents, violation: Violation | None) -> bool:
        found = None if violation is None else _TWICE.search(violation.state)
        return found is not None and found[1] == found[3] and root(past, violation)

    return shows


PRODUCERS: tuple[Known, ...] = (
    Known(
        "KIP-360",
        "a leader whose log began empty, after a producer's records that were deleted, takes any sequence number: a "
        "batch whose answer was lost is written again",
        ("no_batch_twice",),
        lambda policies: policies.brokers.admits_unknown_producers,
        _producer_unknown,
    ),
    Known(
        "ProducerAppendInfo.checkSequence (2.4.1)",
        "a leader whose log began empty, after a producer's records that were deleted, takes its first batch again",
        ("no_batch_twice",),
        lambda policies: not policies.brokers.admits_unknown_producers and policies.brokers.log_rules.keeps_producers,
        _first_batch(_producer_unknown),
    ),
    Known(
        "KAFKA-7190",
        "a leader forgets a producer with the last of its records that retention deletes, and takes its first batch "
        "again (ProducerStateManager.truncateHead, 0.11.0 to 2.3.1)",
        ("no_batch_twice",),
        lambda policies: not policies.brokers.log_rules.keeps_producers,
        _first_batch(_producer_forgotten),
    ),
)
