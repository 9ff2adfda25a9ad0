"""Steps that are held at their gate, and released."""

from __future__ import annotations

from attrs import define, evolve, field, frozen

from emulator.gates import Visit
from emulator.kernel import Signal
from scenarios.faults.arming import GateFilter
from scenarios.faults.performer import ActionContext, Memory, PerformedAction
from scenarios.language import When
from scenarios.language.actions import action
from scenarios.language.schema.table_reader import key
from scenarios.language.triggers import STEP_WHEN


@define(eq=False)
class HeldGates(Memory):
    """The held gates, each with the function that releases it."""

    gates: list[tuple[When, Signal]] = field(factory=list)


@frozen(kw_only=True)
class OnGate(PerformedAction):
    gate: When = field(metadata=key(STEP_WHEN, "the step and its filters"))


@action("gate.release", "let everything that is held at a step continue")
@frozen(kw_only=True)
class GateRelease(OnGate):
    def perform(self, context: ActionContext) -> None:
        """Release the holds with the same filters, whatever the occurrence from which they hold."""
        gate, held = self.gate, context.performer.memory(HeldGates).gates
        released = [signal for when, signal in held if evolve(when, occurrence=gate.occurrence) == gate]
        for signal in released:
            signal.set()
        if not released:
            context.refuse(f"no gate.hold names {'/'.join(gate.steps)} with the same filters")

    @classmethod
    def end_all(cls, context: ActionContext) -> None:
        for _when, signal in context.performer.memory(HeldGates).gates:
            signal.set()


@action("gate.hold", "let nothing pass a step until it is released", undo=GateRelease)
@frozen(kw_only=True)
class GateHold(OnGate):
    def perform(self, context: ActionContext) -> None:
        release = Signal(context.cluster.world, f"release of {'/'.join(self.gate.steps)}")
        filter = GateFilter.of(self.gate, context.scenario.strategy.parsed.protocol)

        def held(visit: Visit) -> Signal | None:
            return release if filter.lets(visit) else None

        filter.arm(context.cluster.gates, held)
        context.performer.memory(HeldGates).gates.append((self.gate, release))
