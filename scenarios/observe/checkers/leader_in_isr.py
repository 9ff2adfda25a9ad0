"""S4: the leader is in the ISR, and the ISR is somebody."""

from __future__ import annotations

from typing import ClassVar

from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.subscriptions import StateWritten


class LeaderInIsr(Checker):
    """Every state znode names a leader that is in its ISR, or none, and an ISR that is not empty.

    Verified: each write to a state znode, by controllers and leaders alike.

    Before KAFKA-1028 (0.8.2) a controller takes the last member out of the ISR when it dies: under kafka-0.8 that is
    Kafka's own doing, and told.

    Not verified: that the ISR is part of the assignment (I1).
    """

    name: ClassVar[str] = "leader_in_isr"
    ids: ClassVar[tuple[str, ...]] = ("S4",)
    statement: ClassVar[str] = (
        "Z.leader = none or Z.leader ∈ Z.isr, and Z.isr ≠ ∅: the leader in ZooKeeper is in the ISR in ZooKeeper"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-9672", "KAFKA-1028")

    def on_state(self, event: StateWritten) -> None:
        state = event.state
        if state is None:
            return
        if not state.isr:
            self.violated(event, f"{event.tp}, epoch {state.leader_epoch}: the ISR is empty")
        elif state.leader >= 0 and state.leader not in state.isr:
            self.violated(
                event,
                f"{event.tp}, epoch {state.leader_epoch}: broker {state.leader} leads and the ISR is {list(state.isr)}",
            )
