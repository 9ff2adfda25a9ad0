"""S4: the leader is in the ISR, and the ISR is not empty."""

from __future__ import annotations

from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.isr_facts import IsrEmpty, LeaderOutside
from scenarios.observe.past.changes import StateWritten


class LeaderInIsr(Checker):
    """Every state znode names a leader that is in its ISR, or none, and an ISR that is not empty.

    Verified: each write to a state znode, by controllers and by leaders.

    Before KAFKA-1028 (0.8.2) a controller removes the last member from the ISR when that broker dies: under
    ``kafka-0.8`` this is Kafka's own behaviour, and is reported.

    Not verified: that the ISR is part of the assignment (I1).
    """

    ids = ("S4",)
    statement = "Z.leader = none or Z.leader ∈ Z.isr, and Z.isr ≠ ∅: the leader in ZooKeeper is in the ISR in ZooKeeper"
    catches = ("KAFKA-9672",)
    fails_when = "an election leaves the leader out"

    def on_state(self, event: StateWritten) -> None:
        state = event.state
        if state is None:
            return
        if not state.isr:
            self.violated(event, IsrEmpty(state.leader_epoch), event.tp)
        elif state.leader >= 0 and state.leader not in state.isr:
            self.violated(event, LeaderOutside(state.leader_epoch, state.leader, state.isr), event.tp)
