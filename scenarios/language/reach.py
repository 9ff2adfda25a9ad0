"""Can a trigger fire at all under a strategy? One that cannot would make the run `failed: not exercised`
for nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from scenarios.errors import BadInput
from scenarios.language.phases import Gate, is_move_step, resolve, unreachable
from scenarios.language.steps import STEPS
from scenarios.language.when import When

if TYPE_CHECKING:
    from scenarios.language.scenario import Scenario

_BROUGHT_ABOUT_BY = {
    "delete": ("topic.delete", "no topic is deleted"),
    "shutdown": ("broker.controlled_shutdown", "no broker asks for its shutdown"),
}


def gate_of(steps: Sequence[str], edge: str, protocol: str) -> Gate | None:
    """The gate that counts under a protocol: of the first step in the list that the protocol has, None if
    it has none."""
    gates = (resolve(step, edge, protocol) for step in steps)
    return next((gate for gate in gates if gate is not None), None)


def check_reach(scenario: Scenario, when: When) -> None:
    """Refuse a trigger (or a gate) that the scenario's strategy, plan or method cannot bring about."""
    check_steps(scenario, when.steps, when.edge, when.partition)
    if when.hop is not None:
        _check_hop(scenario, when, when.hop)


def check_steps(scenario: Scenario, steps: Sequence[str], edge: str, partition: str | None) -> None:
    """Refuse steps of which the strategy has none, and steps of a move that nobody starts."""
    strategy = scenario.strategy.parsed
    gate = gate_of(steps, edge, strategy.protocol)
    if gate is None:
        raise BadInput(unreachable(steps[0], strategy.name), where="step")
    if not is_move_step(gate.step):
        _check_cause(scenario, gate.step)
        return
    if all(entry.name != "reassign.execute" for entry in scenario.method):
        raise BadInput(
            f"step {gate.step!r} is never reached: no move is started; "
            'add an entry with action = "reassign.execute"',
            where="step",
        )
    check_moved(scenario, partition, "partition")


def _check_cause(scenario: Scenario, step: str) -> None:
    """Refuse a step of an operation that only an action brings about, where no entry does."""
    action, lacking = _BROUGHT_ABOUT_BY.get(STEPS[step].name, ("", ""))
    if action and all(entry.name != action for entry in (*scenario.method, *scenario.rollbacks)):
        raise BadInput(
            f'step {step!r} is never reached: {lacking}; add an entry with action = "{action}"', where="step"
        )


def check_moved(scenario: Scenario, partition: str | None, where: str) -> None:
    """Refuse a partition that the plan does not move."""
    moved = scenario.targets()
    if partition is not None and partition not in moved:
        raise BadInput(
            f"{partition!r} is not moved by the plan; it moves {', '.join(moved) or 'nothing'}", where=where
        )


def hops(current: Sequence[int], target: Sequence[int], width: int | None = 1) -> int:
    """How many hops KAFKA-6794 takes: one for each `width` replicas to add (None: for all of them), and the last,
    which adds none (readings §2)."""
    added = sum(replica not in current for replica in target)
    return -(-added // (width or max(1, added))) + 1


def _check_hop(scenario: Scenario, when: When, hop: int) -> None:
    strategy = scenario.strategy.parsed
    gate = gate_of(when.steps, when.edge, strategy.protocol)
    if gate is None or not is_move_step(gate.step):
        raise BadInput("only the steps of a move have hops; leave 'hop' out", where="hop")
    most = _most_hops(scenario, when.partition) if strategy.protocol == "kafka-6794" else 1
    if hop + gate.hop_shift > most:
        raise BadInput(
            f"strategy {strategy.name!r} does not come to hop {hop} of this plan at that step; "
            f"write 1 to {max(1, most - gate.hop_shift)}, or leave it out",
            where="hop",
        )


def _most_hops(scenario: Scenario, partition: str | None) -> int:
    current = scenario.assignments()
    moves = [move for plan in scenario.plans for move in plan.targets().items()]
    width = scenario.strategy.parsed.width
    return max(
        (hops(current.get(name, ()), target, width) for name, target in moves if partition in (None, name)), default=1
    )
