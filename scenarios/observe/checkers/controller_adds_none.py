"""R3: a controller takes replicas out of an ISR and puts none in."""

from __future__ import annotations

from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.isr_facts import IsrGrew
from scenarios.observe.past.changes import StateWritten


class ControllerAddsNone(Checker):
    """The ISR that comes with a new leader epoch has only members of the one before it, or the new leader alone.

    Verified: each write of a state znode that raises the leader epoch; only controllers make them. An unclean election
        leaves the new leader alone in the ISR; whether it is allowed is checked by ``unclean_where_allowed``.

    Not verified: that a controller leaves enough members; the ISR of a new partition.
    """

    ids = ("R3",)
    statement = (
        "epoch' > epoch ⇒ isr' ⊆ isr ∨ isr' = {leader'}: "
        "a controller puts no replica into an ISR, but for an unclean leader"
    )
    catches = ("KAFKA-1097", "KAFKA-1170")
    fails_when = "an election puts all replicas into the ISR"

    def on_state(self, event: StateWritten) -> None:
        before, state = event.before, event.state
        if before is None or state is None or state.leader_epoch <= before.leader_epoch:
            return
        if state.isr != (state.leader,) and not set(state.isr) <= set(before.isr):
            self.violated(
                event, IsrGrew(state.isr, state.leader, state.leader_epoch, before.isr, before.leader_epoch), event.tp
            )
