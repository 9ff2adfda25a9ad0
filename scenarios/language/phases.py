"""Neutral phases: names such as `move.start` that every reassignment protocol maps to steps of its own.

The seven phases are KAFKA-42's stages: listen, start new replicas, wait for them, move the leader, stop old
replicas, write the new assignment, remove the partition from the admin path. A phase may span several
steps: its `before` edge is that of the first, its `after` edge that of the last. Readings that are ours:

- `move.stop` spans leaving the ISR and being deleted (wiki.8 to wiki.9, kafka-6794.10 to .11).
- `move.wait` of kafka-6794 is the *next* hop's step 1: a hop's catch-up is waited for at the start of the
  one after it.
- `move.record` comes before `move.leader` in kafka-6794, whose step 5 writes the assignment first (readings
  §2).
- `move.done` of kafka-6794 happens once, in the last hop.
- `move.listen` of kip-455 ends with the check, whose read arms the watch; `move.start` is A1, whose request is the one
  that the new replicas act on, and A2.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.language.steps import ALIASES, PROTOCOLS, STEPS, canonical
from scenarios.language.strategies.names import one_of_each_shape

PHASES: Mapping[str, str] = {
    "move.listen": "the controller takes the move up",
    "move.start": "new replicas are started",
    "move.wait": "new replicas catch up",
    "move.leader": "leadership goes to the target",
    "move.stop": "old replicas leave the ISR and are deleted",
    "move.record": "the final (kafka-6794: the hop's) assignment is written to ZooKeeper",
    "move.done": "the partition leaves the admin path",
}


@frozen
class Span:
    """The steps of one protocol that a phase covers; `next_hop` when they belong to the hop after."""

    first: str
    last: str
    next_hop: bool = False


def _spans(protocol: str, **spans: tuple[int, int]) -> dict[str, Span]:
    return {f"move.{phase}": Span(f"{protocol}.{a}", f"{protocol}.{b}") for phase, (a, b) in spans.items()}


PHASE_STEPS: Mapping[str, Mapping[str, Span]] = {
    "wiki": _spans(
        "wiki",
        listen=(1, 1),
        start=(3, 3),
        wait=(4, 4),
        leader=(7, 7),
        stop=(8, 9),
        record=(10, 10),
        done=(11, 11),
    ),
    "kafka-6794": {
        **_spans(
            "kafka-6794",
            listen=(1, 1),
            start=(7, 7),
            leader=(9, 9),
            stop=(10, 11),
            record=(5, 5),
            done=(12, 12),
        ),
        "move.wait": Span("kafka-6794.1", "kafka-6794.1", next_hop=True),
    },
    "kafka-42": _spans(
        "kafka-42",
        listen=(1, 1),
        start=(2, 2),
        wait=(3, 3),
        leader=(4, 4),
        stop=(5, 5),
        record=(6, 6),
        done=(7, 7),
    ),
    "kip-455": {
        f"move.{phase}": Span(f"kip-455.{first}", f"kip-455.{last}")
        for phase, first, last in (
            ("listen", "U1", "check"),
            ("start", "A1", "A2"),
            ("wait", "wait", "wait"),
            ("leader", "B3", "B3"),
            ("stop", "B4", "B5"),
            ("record", "B6", "B6"),
            ("done", "B7", "B7"),
        )
    },
}


@frozen
class Gate:
    """Where a trigger listens: a protocol's own step, and how many hops later than the trigger says."""

    step: str
    hop_shift: int = 0


def known_steps() -> tuple[str, ...]:
    return (*PHASES, *STEPS, *ALIASES)


def is_move_step(step: str) -> bool:
    """Does the step belong to a reassignment (and so never fire without one)?"""
    return step in PHASES or STEPS[canonical(step)].reassignment


def resolve(step: str, edge: str, protocol: str) -> Gate | None:
    """The gate of `step` under a reassignment protocol (`wiki`, `kafka-6794`), None when that protocol
    lacks it."""
    if step in PHASES:
        span = PHASE_STEPS.get(protocol, {}).get(step)
        if span is None:
            return None
        return Gate(span.first if edge == "before" else span.last, int(span.next_hop))
    owner = STEPS[canonical(step)]
    reachable = not owner.reassignment or owner.name == protocol
    return Gate(canonical(step)) if reachable else None


def check_step(step: str) -> None:
    """Refuse a step that there is not, with a suggestion."""
    if step not in known_steps():
        near = did_you_mean(step, known_steps())
        hint = near if near.startswith("did") else _steps_like(step)
        raise BadInput(f"unknown step {step!r}; {hint}")


def unreachable(step: str, strategy: str) -> str:
    """Why `strategy` cannot reach a known step, and which strategies can."""
    owner = STEPS[canonical(step)]
    having = ", ".join(one_of_each_shape(owner.name))
    return (
        f"strategy {strategy!r} has no step {step!r}; strategies that have it: {having}, "
        "or write a phase such as 'move.start'"
    )


def _steps_like(step: str) -> str:
    protocol = PROTOCOLS.get(step.partition(".")[0])
    names = list(protocol.steps if protocol else [*PHASES, *(name for name in PROTOCOLS)])
    return f"known: {names[0]} to {names[-1]}" if protocol else f"known: {', '.join(names)}"
