"""Witnesses: where brokers and controllers of a run did what a release did before a fix (``Deviated``).

A witness is one of a ticket, a partition and a replica, and explains a violation that is about them while it lasts: as
long as the replica has been in the ISR since, or until the next election or role, as each reason says. What follows
from one, such as a log that differs later, is found by ``and_where_it_led`` and ``and_what_follows`` (``reason``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.shown import Deviated
from scenarios.runs.known.reason import of_partition

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.known.reason import AsksOfReplica, Shows
    from scenarios.runs.past import KeptEvents


def witnesses(
    past: KeptEvents, ticket: str, tp: TopicPartition, broker: int | None, since_seq: int, until_seq: int
) -> list[Deviated]:
    """The witnesses of a ticket about one replica between two events, both included."""
    return [
        one
        for one in past.run.witnesses
        if (one.ticket, one.topic, one.partition, one.replica) == (ticket, *tp, broker)
        and since_seq <= one.seq <= until_seq
    ]


def in_isr_since(ticket: str) -> AsksOfReplica:
    """Whether a replica has been in the ISR since a witness: from the first write of the ISR after it on."""

    def asks(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        return any(
            _stayed(past, tp, broker, one.seq, violation.seq)
            for one in witnesses(past, ticket, tp, broker, 0, violation.seq)
        )

    return asks


def _stayed(past: KeptEvents, tp: TopicPartition, broker: int, since_seq: int, until_seq: int) -> bool:
    written = next((seq for seq, _ in past.states.get(tp, []) if seq > since_seq), until_seq)
    return written >= until_seq or past.stayed_in_isr(tp, broker, written, until_seq)


def in_role(ticket: str) -> AsksOfReplica:
    """Whether there is a witness about a replica since it has its role."""

    def asks(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        role = past.last_role(tp, broker, violation.seq)
        return bool(witnesses(past, ticket, tp, broker, 0 if role is None else role.seq, violation.seq))

    return asks


def at_once(ticket: str) -> Shows:
    """The event that shows the violation is the first one after a witness about its partition."""

    @of_partition
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return any(
            (one.ticket, one.topic, one.partition) == (ticket, *tp) and violation.seq - 1 <= one.seq <= violation.seq
            for one in past.run.witnesses
        )

    return shows


def ever(ticket: str) -> AsksOfReplica:
    """Whether there is a witness about a replica at all: what it has kept or lost by it stays so."""

    def asks(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        return bool(witnesses(past, ticket, tp, broker, 0, violation.seq))

    return asks
