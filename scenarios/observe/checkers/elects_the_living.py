"""M6: what a controller writes does not bring a dead broker into an ISR."""

from __future__ import annotations

from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.isr_facts import DeadWritten
from scenarios.observe.past.changes import StateWritten


class ElectsTheLiving(Checker):
    """The ISR under a leader that a controller elects in the place of a dead one has no member that it knows to be
    dead, and a controller adds no such member to an ISR.

    Verified: each change of a partition's leader in ZooKeeper, and, with KIP-497 (2.7), each ISR that the controller
        writes for a leader on another broker. A controller knows a broker to be dead once it has begun to handle its
        failure, or has loaded the live brokers in its failover.

    A leader that lives may have taken a dead replica back, which went on fetching without a session. An election that
    replaces such a leader, for a move, a preferred replica or a shutdown, keeps the ISR as it is
    (Election.leaderForReassign and its like, 2.3.1).

    Under kafka-2.7 the controller writes any ISR that a leader asks for, so a replica that has died since its last
    fetch joins (KAFKA-14140, 3.3).

    Not verified: ISRs that leaders write, or a controller after it has been replaced, which may not know who has died
    since (``controller_fence``); brokers that are shutting down; the last member of an ISR without a leader.
    """

    ids = ("M6",)
    statement = (
        "elect(l, isr) ⇒ every b ∈ isr is alive as the controller knows: "
        "a controller brings no broker into an ISR that it knows to be dead"
    )
    fails_when = "an election keeps the ISR as it is"

    def on_state(self, event: StateWritten) -> None:
        state, before = event.state, event.before
        if state is None or state.leader < 0 or not self.cluster.known_dead:
            return
        if not self.cluster.was_elected_last(event.client):
            return
        elected = before is None or state.leader != before.leader
        if not elected and (before is None or event.client == state.leader):
            return
        replaces_dead = before is None or before.leader < 0 or before.leader in self.cluster.known_dead
        known = () if before is None or (elected and replaces_dead) else before.isr
        dead = [broker for broker in state.isr if broker in self.cluster.known_dead and broker not in known]
        if dead:
            facts = DeadWritten(state.isr, state.leader, state.leader_epoch, event.client, tuple(dead))
            self.violated(event, facts, event.tp, tuple(dead))
