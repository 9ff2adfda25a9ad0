"""Moves by KAFKA-6794: what the document's own steps leave behind, or never end. No release has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.protocol.events import BecameLeader, ControllerElected
from scenarios.observe.findings.gauge_facts import OfflineCounted
from scenarios.runs.known.reason import Reason, of_each_open_move, of_violation

if TYPE_CHECKING:
    from emulator.protocol.events import MoveStarted
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

ASSIGNS = "kafka-6794.5"


@of_violation
def _left_by_the_document(past: KeptEvents, violation: Violation) -> bool:
    """Each member of the ISR that is not assigned left the assignment in step 5, and another controller was elected
    since. Where the partition has no leader, that is all of them: they may not lead. Or the leader is one of them,
    which gets no LeaderAndIsr; the gauge counts no more partitions than there are such."""
    counted, tp = violation.facts, violation.partition
    if isinstance(counted, OfflineCounted):
        leads = {led: states[-1][1].leader for led, states in past.states.items() if states[-1][1] is not None}
        return counted.shown - counted.leaderless == sum(
            _left_by_step_5(past, led, leader) for led, leader in leads.items()
        )
    if tp is None:
        return False
    last = past.states[tp][-1][1] if past.states.get(tp) else None
    members = violation.brokers if last is None or last.leader >= 0 else last.isr
    return bool(members) and all(_left_by_step_5(past, tp, broker) for broker in members)


def _left_by_step_5(past: KeptEvents, tp: TopicPartition, broker: int) -> bool:
    """Whether ``broker`` left the assignment last in step 5 of KAFKA-6794, and another controller was elected since."""
    drop = past.dropped(tp, broker)
    return (
        drop is not None
        and past.under_way(tp, drop) == ASSIGNS
        and any(event.seq > drop.seq for event in past.of(ControllerElected))
    )


@of_each_open_move
def _waits_for_a_leader(past: KeptEvents, violation: Violation, tp: TopicPartition, _move: MoveStarted) -> bool:
    """The partition has no leader, and all members of its ISR were left there so; or its leader was, and does not lead
    in the leader epoch that ZooKeeper has."""
    state = past.state(tp, violation.seq)
    if state is None:
        return False
    if state.leader < 0:
        return bool(state.isr) and all(_left_by_step_5(past, tp, broker) for broker in state.isr)
    role = past.last_role(tp, state.leader, violation.seq)
    leads = isinstance(role, BecameLeader) and role.leader_epoch == state.leader_epoch
    return not leads and _left_by_step_5(past, tp, state.leader)


@of_each_open_move
def _waits_for_the_dead(past: KeptEvents, violation: Violation, tp: TopicPartition, move: MoveStarted) -> bool:
    """The move waits in step 1 for current replicas to be in the ISR that it is going to drop, and whose brokers are
    down: for no other one. No other protocol waits for replicas outside the target."""
    state = past.states[tp][-1][1] if past.states.get(tp) else None
    missing = [broker for broker in past.awaited(tp, move) if state is None or broker not in state.isr]
    return bool(missing) and all(broker not in move.target and past.down(broker, violation.seq) for broker in missing)


DOCUMENTS: tuple[Reason, ...] = (
    Reason("KAFKA-6794 (the document)", _left_by_the_document),
    Reason("KAFKA-6794 (the document)", _waits_for_a_leader, effect=1),
    Reason("KAFKA-6794 (the document)", _waits_for_the_dead, effect=2),
)
