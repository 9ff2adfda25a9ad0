"""Leader epochs: what followers, leaders and their answers do not know of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from emulator.protocol.events import BecameFollower, BecameLeader, Fault, LogLoaded, Truncated
from emulator.protocol.types import TopicPartition
from scenarios.runs.known.ledger import ever, witnesses
from scenarios.runs.known.reason import (
    Reason,
    Shows,
    and_what_follows,
    and_where_it_led,
    either,
    of_broker,
    of_partition,
)

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

FORGETS = ("append_shape", "truncate_safety")
"""Checkers that see that a log has forgotten a leader epoch."""
COMPARE = ("log_matching", "isr_complete", "isr_logs_identical")
"""Checkers that compare a log with what its leaders have."""
PAUSES = ("broker.pause", "broker.resume")
"""The actions that begin and end a pause."""


@of_partition
def _missed_elections(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault has missed elections."""
    return any(_missed(past, violation, tp))


@of_partition
def _missed_within_a_session(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault has missed elections, while it followed its leader in another partition, or was paused. It
    does not fetch this one as long as another broker leads, and a session in which nothing is left ends; unless it
    learns of nothing meanwhile, and goes on in the session that it had."""
    missed = _missed(past, violation, tp)
    return any(_follows_elsewhere(past, role, again.seq) or _is_paused(past, role, again.seq) for role, again in missed)


def _missed(
    past: KeptEvents, violation: Violation, tp: TopicPartition
) -> Iterator[tuple[BecameFollower, BecameLeader]]:
    """The roles of the replica at fault under an epoch after which another broker has led, and then its leader again;
    each with that later role of the leader. Where logs are compared at the end of the run, the replica may have taken
    another role since."""
    broker = violation.broker
    roles = [] if broker is None else past.roles(tp, broker, violation.seq)
    ends = [*(event.seq for event in roles), violation.seq][1:]
    spans = list(zip(roles, ends, strict=True)) if roles else []
    led = [event for event in past.of(BecameLeader) if (event.topic, event.partition) == tp]
    for role, until_seq in spans if violation.invariant == "isr_logs_identical" else spans[-1:]:
        if type(role) is not BecameFollower:
            continue
        others = [other for other in led if other.node != role.leader and other.leader_epoch > role.leader_epoch]
        for again in led:
            back = again.node == role.leader and again.seq < until_seq
            if back and any(other.leader_epoch < again.leader_epoch for other in others):
                yield role, again


@of_broker
def _cut_off_unnoticed(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica at fault was truncated between two terms of a leader that took no other role between them, though
    another broker led in an epoch between theirs."""
    led = [event for event in past.of(BecameLeader) if (event.topic, event.partition) == tp]
    cuts = [e.seq for e in past.of(Truncated) if (e.node, e.topic, e.partition) == (broker, *tp)]
    return any(
        type(before) is type(again) is BecameLeader
        and any(before.seq < seq < again.seq for seq in cuts)
        and any(before.leader_epoch < other.leader_epoch < again.leader_epoch for other in led if other.node != node)
        for node in dict.fromkeys(event.node for event in led if event.node != broker)
        for before, again in pairwise(past.roles(tp, node, violation.seq))
    )


@of_partition
def _leads_before_what_it_has(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault has led in an epoch before that of its last records, and has not been truncated since: its
    log does not know where the later epoch began, so it is truncated to there."""
    return violation.invariant in FORGETS and any(_read_ahead(past, violation, tp))


@of_partition
def _leads_before_what_its_session_read(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault has led in an epoch before that of its last records (``_leads_before_what_it_has``), and it
    followed the leader of that later epoch in another partition as well."""
    return violation.invariant in FORGETS and any(
        _follows_elsewhere(past, role, later.seq) for role, later in _read_ahead(past, violation, tp)
    )


def _read_ahead(
    past: KeptEvents, violation: Violation, tp: TopicPartition
) -> Iterator[tuple[BecameFollower, BecameLeader]]:
    """The cases in which the replica at fault has led in an epoch before that of its last records. Each is its earlier
    role, in which it had read them, and the leadership of the later epoch, in which they had been written."""
    broker = violation.broker
    for role, leads in pairwise([] if broker is None else past.roles(tp, broker, violation.seq)):
        if type(role) is not BecameFollower or type(leads) is not BecameLeader:
            continue
        for later in past.of(BecameLeader):
            ahead = (later.node, later.topic, later.partition) == (role.leader, *tp) and later.seq < leads.seq
            if (
                ahead
                and leads.leader_epoch < later.leader_epoch
                and later.log_end_offset < leads.log_end_offset
                and not _truncated_to(past, tp, leads, later.log_end_offset, violation.seq)
            ):
                yield role, later


def _truncated_to(past: KeptEvents, tp: TopicPartition, since: BecameLeader, offset: int, until_seq: int) -> bool:
    """Whether the log of a former leader was truncated to an offset, or to before it."""
    return any(
        (event.node, event.topic, event.partition) == (since.node, *tp)
        and event.log_end_offset <= offset
        and since.seq < event.seq < until_seq
        for event in past.of(Truncated)
    )


def _follows_elsewhere(past: KeptEvents, role: BecameFollower, at_seq: int) -> bool:
    """Whether the follower follows the same leader in another partition at an event."""
    tps = dict.fromkeys(TopicPartition.of(e.topic, e.partition) for e in past.of(BecameFollower) if e.node == role.node)
    lasts = [past.last_role(tp, role.node, at_seq) for tp in tps if tp != (role.topic, role.partition)]
    return any(type(last) is BecameFollower and last.leader == role.leader for last in lasts)


def _is_paused(past: KeptEvents, role: BecameFollower, at_seq: int) -> bool:
    """Whether the follower is paused at an event, and took up its role before."""
    faults = [fault for fault in past.of(Fault) if fault.seq < at_seq and role.node in fault.brokers]
    last = next((fault for fault in reversed(faults) if fault.action in PAUSES), None)
    return last is not None and last.action == PAUSES[0] and last.seq > role.seq


def _or_a_leader_did(ticket: str) -> Shows:
    """There is a witness about the replica at fault, or what follows from one. Or the replica differs from another one
    that has led, and there was a witness about that one before, since which its log was never empty. Nothing was found
    of that one itself where nothing was committed before it led (kafka-1.1, seed 703 of the default swarm)."""

    @of_broker
    def differs(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        led = [e for e in past.of(BecameLeader) if (e.topic, e.partition) == tp and e.seq < violation.seq]
        return violation.invariant in COMPARE and any(
            leads.node != broker and not _emptied(past, tp, leads.node, one.seq, leads.seq)
            for leads in led
            for one in witnesses(past, ticket, tp, leads.node, 0, leads.seq)
        )

    return either(and_where_it_led(of_broker(ever(ticket))), differs)


def _emptied(past: KeptEvents, tp: TopicPartition, broker: int, since_seq: int, until_seq: int) -> bool:
    """Whether a log was empty as it was loaded or truncated between two events."""
    return any(
        (event.node, event.topic, event.partition) == (broker, *tp)
        and since_seq < event.seq < until_seq
        and event.log_end_offset <= past.log_start(tp, broker, event.seq + 1)
        for kind in (LogLoaded, Truncated)
        for event in past.of(kind)
    )


EPOCHS: tuple[Reason, ...] = (
    Reason("KIP-320", and_what_follows(_missed_elections)),
    Reason("KAFKA-9338", and_what_follows(_missed_within_a_session)),
    Reason("KIP-320", and_what_follows(_leads_before_what_it_has), effect=1),
    Reason("KAFKA-9338", and_what_follows(_leads_before_what_its_session_read), effect=1),
    Reason("KIP-279", _or_a_leader_did("KIP-279")),
    Reason("KIP-320", _or_a_leader_did("KIP-320"), effect=2),
    Reason("Partition.makeLeader (0.9 to 3.9)", and_what_follows(_cut_off_unnoticed)),
)
"""Reasons about leader epochs. Where two explain a finding, the more particular one comes first."""
