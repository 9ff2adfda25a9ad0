"""Which visit of a gate counts: the filters of ``when`` (readings, 1)."""

from collections.abc import Callable

from attrs import define

from emulator.gates import Edge, Gates, Visit
from scenarios.language import When, gate_of


@define(eq=False)
class GateFilter:
    """Counts the visits that match and tells whether this is the one (``occurrence``) or a later one."""

    step: str
    edge: Edge
    partition: str | None
    broker: int | None
    topic: str | None
    hop: int | None
    occurrence: int
    seen: int = 0

    @classmethod
    def of(cls, when: When, protocol: str) -> "GateFilter":
        """The filter of ``when`` under a reassignment protocol that has the step."""
        gate = gate_of(when.steps, when.edge, protocol)
        assert gate is not None, f"{when.steps} cannot be reached under {protocol}"
        hop = None if when.hop is None else when.hop + gate.hop_shift
        edge: Edge = "before" if when.edge == "before" else "after"
        return cls(gate.step, edge, when.partition, when.broker, when.topic, hop, when.occurrence)

    def lets(self, visit: Visit) -> bool:
        """True from the asked occurrence on."""
        matches = (
            (self.partition is None or self.partition == f"{visit.topic}-{visit.partition}")
            and (self.broker is None or self.broker == visit.broker)
            and (self.topic is None or self.topic == visit.topic)
            and (self.hop is None or self.hop == visit.hop)
        )
        self.seen += matches
        return matches and self.seen >= self.occurrence

    def once(self, gates: Gates, act: Callable[[], object]) -> None:
        """Act at the visit that is asked for, and at no later one."""

        def visited(visit: Visit) -> None:
            if self.lets(visit):
                gates.disarm(self.step, self.edge, visited)
                act()

        gates.arm(self.step, self.edge, visited)
