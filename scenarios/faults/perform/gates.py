"""Steps held shut, and let go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import evolve

from emulator.gates import Visit
from emulator.kernel import Signal
from scenarios.faults.gates import GateFilter
from scenarios.language import MethodEntry, When

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers


def hold(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    when: When = entry.param("gate")
    release = Signal(actions.cluster.world, f"release of {'/'.join(when.steps)}")
    filter = GateFilter.of(when, actions.scenario.strategy.parsed.protocol)

    def held(visit: Visit) -> Signal | None:
        return release if filter.lets(visit) else None

    actions.cluster.gates.arm(filter.step, filter.edge, held)
    actions.holds.append((when, release))


def release(actions: Actions, entry: MethodEntry, _brokers: Brokers) -> None:
    when: When = entry.param("gate")
    released = [signal for held, signal in actions.holds if evolve(held, occurrence=when.occurrence) == when]
    for signal in released:
        signal.set()
    if not released:
        actions.refused.append(f"gate.release: no gate.hold names {'/'.join(when.steps)} with the same filters")
