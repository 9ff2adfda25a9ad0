"""The parts of a strategy beside its shape: which moves the operator requests next, in which order, and how fast they
may copy.

A part is one function with a name; ``scenarios.language.strategies.parts`` holds one file for each idea. A name that
ends with ``-N`` takes a number, which the function gets as ``n``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from attrs import frozen

from emulator.protocol.assignments import Replicas, without
from emulator.protocol.types import TopicPartition
from emulator.streams import Stream
from scenarios.plugins import check_name, check_rule


@frozen
class PlannedMove:
    """One partition of a plan.

    Attributes:
        place: its position in the plan, from 0.
        before, target: its replicas when the plan was made, and its target replicas, preferred leader first.
        size: bytes that one replica held when the plan was made.
    """

    tp: TopicPartition
    place: int
    before: Replicas
    target: Replicas
    size: int = 0

    @property
    def added(self) -> Replicas:
        return without(self.target, self.before)

    @property
    def removed(self) -> Replicas:
        return without(self.before, self.target)

    @property
    def bytes(self) -> int:
        """The bytes that have to be copied for it."""
        return self.size * len(self.added)

    @property
    def leader_moves(self) -> bool:
        """Whether its preferred leader is not among its target replicas."""
        return self.before[:1] != () and self.before[0] not in self.target


@frozen
class PlanProgress:
    """A plan that is being carried out.

    Attributes:
        waiting: the moves that have not been requested, in the order of the strategy.
        in_flight: the moves that have been requested and, as far as the operator knows, are in progress.
        ended: the number of moves that have ended, with whatever result.
    """

    waiting: tuple[PlannedMove, ...]
    in_flight: tuple[PlannedMove, ...] = ()
    ended: int = 0


@frozen
class Look:
    """The operator's view when it chooses a rate.

    Attributes:
        now_s: virtual time in seconds.
        progress: the plan so far.
        rate: the current rate, in bytes per second and broker; None before anything was requested.
        memory: numbers that the rule keeps from one look to the next; each plan has its own.
    """

    now_s: float
    progress: PlanProgress
    rate: int | None
    memory: dict[str, float]
    _metric: Callable[[str], int]

    def metric(self, name: str) -> int:
        """The present value of a gauge or a counter (``understudy list metrics``).

        Raises: ValueError for another name, or for a total, which is known when a run has ended.
        """
        try:
            return self._metric(name)
        except KeyError:
            raise ValueError(f"{name!r} is no gauge and no counter; `understudy list metrics` names them") from None


F = TypeVar("F", bound=Callable[..., Any])
ADMISSION, ORDER, RATE = "admission", "order", "rate"
NUMBER = "-N"


@frozen
class StrategyPart:
    """One admission, order or rate. ``rule``: see the functions of these names."""

    name: str
    axis: str
    help: str
    rule: Callable[..., Any]

    @property
    def takes_number(self) -> bool:
        return self.name.endswith(NUMBER)

    @property
    def stem(self) -> str:
        return self.name.removesuffix(NUMBER)


PARTS: dict[str, StrategyPart] = {}
"""The parts by name, in the order of their files."""


def admission(name: str, help: str) -> Callable[[F], F]:
    """Register ``rule(progress)``: the waiting moves of a ``PlanProgress`` to request now.

    It is called before anything was requested, and at every look that the operator takes at what has ended; under a
    protocol that takes one batch at a time, only while no move is in progress.
    """
    return _registering(name, ADMISSION, help)


def order(name: str, help: str) -> Callable[[F], F]:
    """Register ``rule(moves, stream)``: the moves in the order in which they wait; ``stream`` is for random draws."""
    return _registering(name, ORDER, help)


def rate(name: str, help: str) -> Callable[[F], F]:
    """Register ``rule(look)``: the rate from now on, in bytes per second and broker, of a ``Look``.

    It is called before anything was requested, and at every look that the operator takes while the plan is carried out.
    The replicas are those that a throttle of the tool lists (KIP-73).
    """
    return _registering(name, RATE, help)


def _registering(name: str, axis: str, help: str) -> Callable[[F], F]:
    def register(rule: F) -> F:
        check_name(axis, name)
        if name in PARTS:
            raise ValueError(f"there is a part of strategies {name!r} already: {PARTS[name].rule.__module__}")
        check_rule(f"{axis} {name!r}", rule)
        PARTS[name] = StrategyPart(name, axis, help, rule)
        return rule

    return register


@frozen
class Chosen:
    """A part with its number, as in a strategy's name: ``window-4``."""

    part: StrategyPart
    number: int | None = None

    @property
    def name(self) -> str:
        return self.part.name if self.number is None else f"{self.part.stem}-{self.number}"

    def admit(self, progress: PlanProgress) -> tuple[PlannedMove, ...]:
        """The moves to request now. Raises: ValueError where the rule names one that does not wait, or one twice."""
        admitted = tuple(self.part.rule(progress, **self.number_argument))
        if len(set(admitted)) < len(admitted) or not set(admitted) <= set(progress.waiting):
            raise ValueError(f"admission {self.name!r} names a move twice, or one that does not wait")
        return admitted

    def sort(self, moves: Sequence[PlannedMove], stream: Stream) -> tuple[PlannedMove, ...]:
        """The moves in their order. Raises: ValueError where the rule loses, doubles or invents one."""
        ordered = tuple(self.part.rule(moves, stream, **self.number_argument))
        if sorted(move.place for move in ordered) != sorted(move.place for move in moves):
            raise ValueError(f"order {self.name!r} loses, doubles or invents a move")
        return ordered

    def choose(self, look: Look) -> int:
        """The rate from now on. Raises: ValueError where the rule gives no rate."""
        found = self.part.rule(look, **self.number_argument)
        if isinstance(found, bool) or not isinstance(found, int) or found < 1:
            what = str(found) if isinstance(found, (int, float)) else f"a {type(found).__name__}"
            raise ValueError(f"rate {self.name!r} gives {what}; a rate is a whole number of bytes per second from 1")
        return found

    @property
    def number_argument(self) -> dict[str, Any]:
        """The argument that its rule gets besides: ``n``, or nothing."""
        return {} if self.number is None else {"n": self.number}
