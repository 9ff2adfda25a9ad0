"""In-sync sets: who is in them, and should not be; who is not, and should be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from emulator.metrics import short_name
from emulator.protocol.events import BecameLeader, IsrChanged, PartitionCreated
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import broker_path
from emulator.trace.events import ZkWritten
from scenarios.observe.findings.convergence_facts import GaugeNotAtRest, IsrDiffers
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.observe.mbeans import UNDER_REPLICATED
from scenarios.runs.known.ledger import in_isr_since, witnesses
from scenarios.runs.known.reason import (
    CONVERGED,
    Reason,
    Shows,
    always,
    asks_for_moves,
    of_partition,
    of_replica,
    of_violation,
    or_left_alone,
)

if TYPE_CHECKING:
    from emulator.protocol.shown import Deviated
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


AT_THE_END = 1 << 62
"""A ``seq`` after that of each event."""


def _left_dead(ticket: str) -> Shows:
    """A controller left the replica in the ISR, where it has been since, though its broker was gone."""

    @of_replica
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        return _is_dead(past, violation, broker) and in_isr_since(ticket)(past, violation, tp, broker)

    return shows


def _is_dead(past: KeptEvents, violation: Violation, broker: int) -> bool:
    """Whether a violation is about ``broker`` since it is dead; one of convergence may be for another reason."""
    return violation.invariant != CONVERGED or past.down(broker, violation.seq)


@of_replica
def _added_by_leader(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A leader has added the replica to the ISR when its broker was dead already, or its session over, itself or by
    AlterIsr, in the leader epoch that it had then."""
    return _added(past, tp, broker, violation.seq)


def _added(past: KeptEvents, tp: TopicPartition, broker: int, until_seq: int) -> bool:
    """Whether the leader has added ``broker`` to the ISR last, in the leader epoch that it had, though its process had
    ended or its session was over."""
    written = [(seq, state) for seq, state in past.states.get(tp, []) if seq <= until_seq and state is not None]
    for (_, before), (seq, after) in reversed(list(pairwise(written))):
        if broker in after.isr and broker not in before.isr:
            led_on = (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch)
            return led_on and (past.down(broker, seq) or _session_is_over(past, broker, seq))
    return False


def _session_is_over(past: KeptEvents, broker: int, at_seq: int) -> bool:
    path = broker_path(broker)
    return [e.op for e in past.of(ZkWritten) if e.path == path and e.seq < at_seq][-1:] == ["delete"]


@of_partition
def _isr_emptied(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The controller has taken the last replica out of the ISR."""
    before = max((seq for seq, _ in past.states.get(tp, []) if seq < violation.seq), default=0)
    members = past.state(tp, before)
    return members is not None and any(
        witnesses(past, "KAFKA-1028", tp, broker, before, violation.seq) for broker in members.isr
    )


@of_replica
def _taken_in_unassigned(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The leader, or the member of the ISR, is not assigned, and a leader has added it to the ISR."""
    return broker not in past.assignment(tp) and past.joined(tp, broker, 0)


@or_left_alone
def _joined_after_it_was_dropped(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The member of the ISR that is not assigned was added by a leader after it had left the assignment, of which the
    leader was not notified yet."""
    write = past.dropped(tp, broker)
    return write is not None and past.joined(tp, broker, write.seq)


@of_replica
def _in_isr_since_it_was_dropped(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica at fault was added by a leader after it had left the assignment, and has been in the ISR since, also
    when a later move added it again."""
    drops = [write.seq for write in past.drops(tp, broker) if write.seq < violation.seq]
    return any(_joined_since(past, tp, broker, drop, violation.seq) for drop in drops)


def _joined_since(past: KeptEvents, tp: TopicPartition, broker: int, drop: int, until_seq: int) -> bool:
    """Whether ``broker`` came into the ISR after it had left the assignment, and has been in it since."""
    states = past.states.get(tp, [])
    before = [state for seq, state in states if seq < drop][-1:]
    in_it = [state is not None and broker in state.isr for seq, state in states if drop < seq <= until_seq]
    joined = past.joined(tp, broker, drop) or any(state is not None and broker not in state.isr for state in before)
    return joined and True in in_it and all(in_it[in_it.index(True) :])


@of_violation
def _never_at_the_end(_: KeptEvents, violation: Violation) -> bool:
    """Each replica that is not in the ISR follows, and lacks only what is new."""
    return isinstance(violation.facts, IsrDiffers) and violation.facts.lacks_what_is_new


@of_violation
def _had_more_replicas(past: KeptEvents, violation: Violation) -> bool:
    """The broker leads as many partitions as it shows that had more replicas when they came to it than now."""
    broker, shown = violation.broker, _shown_under_replicated(violation)
    if broker is None or shown is None:
        return False
    factors: dict[TopicPartition, int] = {
        TopicPartition(event.topic, event.partition): event.replication_factor
        for event in past.of(PartitionCreated)
        if event.node == broker
    }
    led = [tp for tp in factors if past.states.get(tp) and (state := past.states[tp][-1][1]) and state.leader == broker]
    return sum(factors[tp] > len(past.assignment(tp)) for tp in led) == shown


def _shown_under_replicated(violation: Violation) -> int | None:
    """How many under-replicated partitions the violation says that a broker shows; None: it is about something else."""
    facts = violation.facts
    under_replicated = isinstance(facts, GaugeNotAtRest) and facts.gauge == short_name(UNDER_REPLICATED)
    return facts.value if isinstance(facts, GaugeNotAtRest) and under_replicated else None


def _wish_dropped(past: KeptEvents, violation: Violation | None) -> bool:
    """The partition's leader has lost what it wished for in this role: that has no outcome, and it wishes for nothing
    more. Where a request for moves stays, that is so of each."""
    until_seq = AT_THE_END if violation is None else violation.seq
    dropped = {
        TopicPartition.of(one.topic, one.partition)
        for one in past.run.witnesses
        if one.ticket == "KAFKA-12686" and one.seq <= until_seq and _leads_since(past, one, until_seq)
    }
    if violation is None:
        return bool(dropped)
    moves = tuple(past.open_moves()) if asks_for_moves(violation) else ()
    waiting = moves if violation.partition is None else (violation.partition,)
    return bool(waiting) and dropped.issuperset(waiting)


def _leads_since(past: KeptEvents, one: Deviated, until_seq: int) -> bool:
    """Whether the broker that a witness is about has had its last role as the leader then, and ZooKeeper names it."""
    tp = TopicPartition.of(one.topic, one.partition)
    role, state = past.last_role(tp, one.replica, until_seq), past.state(tp, until_seq)
    leads = type(role) is BecameLeader and role.seq < one.seq
    return leads and state is not None and state.leader == one.replica


@of_violation
def _behind_its_own_write(past: KeptEvents, violation: Violation) -> bool:
    """ZooKeeper has an ISR that the leader has written, and takes for refused, in the leader epoch that it still has;
    a gauge counts no more partitions than there are such leaderships."""
    shown = _shown_under_replicated(violation)
    if shown is None:
        tp = violation.partition
        return tp is not None and _lost_its_write(past, tp)
    led = [tp for tp, states in past.states.items() if states[-1][1] and states[-1][1].leader == violation.broker]
    return sum(_lost_its_write(past, tp) for tp in led) == shown


@of_violation
def _remembers_what_was_before_its_write(past: KeptEvents, violation: Violation) -> bool:
    """The broker that knows another ISR, or version of the state znode, than there is leads the partition, and takes
    its last write for refused."""
    facts, tp = violation.facts, violation.partition
    if tp is None or not isinstance(facts, BrokerRemembers) or facts.memory != "replicas":
        return False
    state = past.state(tp, violation.seq)
    return state is not None and state.leader == facts.broker and _lost_its_write(past, tp)


def _lost_its_write(past: KeptEvents, tp: TopicPartition) -> bool:
    """Whether the last write to a state znode was one that the leader asked for, and was then refused; it has been
    refused whatever it asked for since."""
    written, state = past.states[tp][-1] if past.states.get(tp) else (0, None)
    changed = any(
        (event.topic, event.partition, event.node, event.leader_epoch) == (*tp, state.leader, state.leader_epoch)
        for event in past.of(IsrChanged)
        if state is not None and event.seq > written
    )
    return not changed and any(one.seq == written for one in past.taken_for_refused(tp))


ISRS: tuple[Reason, ...] = (
    Reason("KAFKA-3143", _left_dead("KAFKA-3143"), effect=1),
    Reason("KAFKA-3143", _left_dead("KAFKA-3143"), effect=2),
    Reason(
        "ReplicaStateMachine.handleStateChange (0.8.0)", _left_dead("ReplicaStateMachine.handleStateChange"), effect=1
    ),
    Reason(
        "ReplicaStateMachine.handleStateChange (0.8.0)", _left_dead("ReplicaStateMachine.handleStateChange"), effect=2
    ),
    Reason("KAFKA-14140", _added_by_leader),
    Reason("KAFKA-1097", always),
    Reason("KAFKA-1097", _taken_in_unassigned, effect=1),
    Reason("KAFKA-1097", _taken_in_unassigned, effect=2),
    Reason("KAFKA-9672", _joined_after_it_was_dropped),
    Reason("KAFKA-9672", _in_isr_since_it_was_dropped, effect=1),
    Reason("KAFKA-4485", _never_at_the_end),
    Reason("Partition.isUnderReplicated (0.8.0)", _had_more_replicas),
    Reason("KAFKA-1028", _isr_emptied),
    Reason("KAFKA-1382", _behind_its_own_write, effect=1),
    Reason("KAFKA-1382", _remembers_what_was_before_its_write, effect=2),
    Reason("Partition.handleAlterIsrResponse (2.7.0 to 3.0.0)", _behind_its_own_write),
    Reason("KAFKA-12686", _wish_dropped),
    Reason("KAFKA-12686", _wish_dropped, effect=1),
)
"""Reasons about ISRs. Where two explain a finding, the more particular one comes first."""
