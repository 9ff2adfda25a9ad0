"""Names of protocol steps and phases in a scenario, and the gate that each means under a reassignment protocol.

The controller declares the steps (``controller.procedures``). A phase, such as ``move.start``, is a name that every
reassignment protocol maps to steps of its own. It may span several steps: its ``before`` edge is that of the first, its
``after`` edge that of the last.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from controller.procedures import ALIASES, PROCEDURES, STEPS
from controller.steps import PHASES
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.strategies.strategy import StrategySpec, one_of_each_shape


@frozen
class Gate:
    """The gate that a trigger waits at: a step of the protocol itself, and how many hops later than the trigger
    says."""

    step: str
    hop_shift: int = 0


def canonical(step: str) -> str:
    """The name that ``step`` is an alias of, or ``step`` itself."""
    return ALIASES.get(step, step)


def known_steps() -> tuple[str, ...]:
    return (*PHASES, *STEPS, *ALIASES)


def is_move_step(step: str) -> bool:
    """Whether the step belongs to a reassignment, so that it is never reached without one."""
    return step in PHASES or STEPS[canonical(step)].reassignment


def resolve(step: str, edge: str, protocol: str) -> Gate | None:
    """The gate of ``step`` under a reassignment protocol; None where the protocol does not have the step."""
    if step in PHASES:
        span = PROCEDURES[protocol].phases[step]
        return Gate(span.first if edge == "before" else span.last, int(span.next_hop))
    owner = STEPS[canonical(step)]
    reachable = not owner.reassignment or owner.name == protocol
    return Gate(canonical(step)) if reachable else None


ANY, MOVE = "any", "move"


def any_names() -> tuple[str, ...]:
    """The words for any step: of all procedures, of the running reassignment protocol, of one procedure, of a phase."""
    return (ANY, *(f"{ANY} {name}" for name in (MOVE, *PROCEDURES, *PHASES)))


def is_any(step: str) -> bool:
    """Whether the name stands for any of several steps."""
    return step.partition(" ")[0] == ANY


def any_of(step: str, protocol: str) -> tuple[str, ...]:
    """The steps that ``any``, or ``any X``, stands for under a reassignment protocol, in their order."""
    what = step.partition(" ")[2]
    if what in PHASES:
        span, names = PROCEDURES[protocol].phases[what], list(PROCEDURES[protocol].steps)
        return tuple(names[names.index(span.first) : names.index(span.last) + 1])
    own = [procedure for procedure in PROCEDURES.values() if not procedure.reassignment or procedure.name == protocol]
    wanted = {"": [procedure.name for procedure in own], MOVE: [protocol]}.get(what, [what])
    return tuple(name for procedure in own if procedure.name in wanted for name in procedure.steps)


def gates_of(steps: Sequence[str], edge: str, protocol: str) -> tuple[Gate, ...]:
    """The gates of the first of ``steps`` that a reassignment protocol has, several for ``any``; none where it has none
    of them."""
    for step in steps:
        if is_any(step):
            found = tuple(Gate(name) for name in any_of(step, protocol))
        else:
            gate = resolve(step, edge, protocol)
            found = () if gate is None else (gate,)
        if found:
            return found
    return ()


def gate_of(steps: Sequence[str], edge: str, protocol: str) -> Gate | None:
    """The gate of the first of ``steps`` that a reassignment protocol has; None where it has none of them."""
    gates = (resolve(step, edge, protocol) for step in steps)
    return next((gate for gate in gates if gate is not None), None)


def check_step(step: str) -> None:
    """Refuse the name of a step that does not exist. Raises: BadInput with a suggestion."""
    if is_any(step):
        if step not in any_names():
            raise BadInput(f"unknown steps {step!r}; {did_you_mean(step, any_names())}")
    elif step not in known_steps():
        near = did_you_mean(step, known_steps())
        hint = near if near.startswith("did") else _steps_like(step)
        raise BadInput(f"unknown step {step!r}; {hint}")


def unreachable(step: str, strategy: StrategySpec, profile: str) -> str:
    """Why a scenario with that strategy and profile cannot reach a known step, and which strategies can."""
    owner = PROCEDURES[step.partition(" ")[2]] if is_any(step) else STEPS[canonical(step)]
    having = ", ".join(one_of_each_shape(owner.name))
    of = "" if strategy.stated else f", that of profile {profile!r},"
    return (
        f"strategy {strategy.name!r}{of} has no step {step!r}; strategies that have it: {having}, "
        "or write a phase such as 'move.start'"
    )


def _steps_like(step: str) -> str:
    protocol = PROCEDURES.get(step.partition(".")[0])
    names = list(protocol.steps if protocol else [*PHASES, *PROCEDURES])
    return f"known: {names[0]} to {names[-1]}" if protocol else f"known: {', '.join(names)}"
