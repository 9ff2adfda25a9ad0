"""The strategy block: which reassignment strategy runs, how the operator carries the plan out, and the throttle."""

from __future__ import annotations

import re
from functools import partial

from attrs import Factory, evolve, field, frozen

from controller.reassignment.protocol import ReassignmentProtocol
from controller.shapes import SHAPES, Shape
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.schema.kinds import RATE, SOME_TIME, Text
from scenarios.language.schema.table_reader import Checked, key
from scenarios.language.strategies.execution import POLL, Execution, Throttle, parse_execution, parse_part
from scenarios.language.strategies.strategy_parts import ADMISSION, ORDER
from scenarios.units import format_duration

_WIDTH = re.compile(r"width-(?:([1-9]\d{0,8})|all)")
_OLDER_NAMES = {
    "all-at-once": "wiki",
    "one-by-one": "kafka-6794",
    "kip455": "kip-455",
    "kafka42": "kafka-42",
    "kafka6794": "kafka-6794",
}


@frozen
class Strategy:
    """A strategy.

    Attributes:
        protocol: the name of its protocol, which its steps begin with (``wiki``, ``kafka-6794``).
        width: how many replicas one hop of ``kafka-6794`` adds; None for all of them.
        execution: the operator's half.
    """

    name: str
    shape: str
    protocol: str
    width: int | None = 1
    execution: Execution = Factory(Execution)

    def make_protocol(self) -> ReassignmentProtocol:
        """The controller's half, without the variant of a release."""
        return SHAPES[self.shape].make(self.width)


def one_of_each_shape(protocol: str | None = None) -> tuple[str, ...]:
    """A strategy of each shape, or of those that run ``protocol``."""
    shapes = (shape for shape in SHAPES.values() if protocol in (None, shape.protocol))
    return tuple(shape.example or shape.name for shape in shapes)


def parse_strategy(text: str) -> Strategy:
    """The strategy that ``text`` names; ``BadInput`` when there is none."""
    head, *parts = text.strip().split("+")
    shape = _shape(head.strip())
    execution = parse_execution(parts)
    width = _WIDTH.fullmatch(head.strip())
    name = "+".join((width[0] if width else shape.name, *execution.names))
    if width is None:
        return Strategy(name, shape.name, shape.protocol, execution=execution)
    return Strategy(name, shape.name, shape.protocol, int(width[1]) if width[1] else None, execution)


def _shape(name: str) -> Shape:
    if _WIDTH.fullmatch(name):
        return SHAPES["width-K"]
    if name == "width-K":
        raise BadInput("'width-K' stands for a number of replicas per hop; write width-2, or width-all")
    if name in SHAPES:
        return SHAPES[name]
    older = _OLDER_NAMES.get(name.replace("_", "-").lower())
    hint = f"that is an older name, write {older!r}" if older else did_you_mean(name, SHAPES)
    raise BadInput(f"unknown strategy {name!r}; {hint}")


@frozen(kw_only=True)
class StrategySpec(Checked):
    """The reassignment strategy, in its name or in keys of its own, and its throttle."""

    stated: str | None = field(
        default=None,
        alias="name",
        metadata=key(
            Text(parse_strategy, "a strategy"), "a shape, with parts or without: wiki, wiki+window-4", name="name"
        ),
    )
    throttle: int | None = field(
        default=None, metadata=key(RATE, "replication throttle per broker (KIP-73); absent = none")
    )
    admission: str | None = field(
        default=None,
        metadata=key(
            Text(partial(parse_part, axis=ADMISSION), "an admission"), "which moves the operator requests at a time"
        ),
    )
    order: str | None = field(
        default=None,
        metadata=key(Text(partial(parse_part, axis=ORDER), "an order"), "the order in which waiting moves are begun"),
    )
    poll_us: int | None = field(
        default=None,
        metadata=key(SOME_TIME, "how often the operator checks which moves have ended; absent = 1s", name="poll"),
    )
    native: str = field(default="wiki", eq=False)
    """The profile's own strategy. The scenario sets it; it is no part of the file."""

    @property
    def name(self) -> str:
        """The strategy that runs, with all its parts: the one stated, else the profile's own."""
        return self.parsed.name

    @property
    def parsed(self) -> Strategy:
        poll = None if self.poll_us is None else POLL + format_duration(self.poll_us)
        parts = (self.stated or self.native, self.admission, self.order, poll)
        return parse_strategy("+".join(part for part in parts if part is not None))

    @property
    def limit(self) -> Throttle | None:
        """The throttle of every move: the one in the strategy's name, else the scenario's own."""
        own = None if self.throttle is None else Throttle(self.throttle)
        return self.parsed.execution.throttle or own

    def named(self, strategy: str) -> StrategySpec:
        """A copy with another strategy. Its name includes all parts, so the keys for parts are left out."""
        return evolve(self, name=strategy, admission=None, order=None, poll_us=None)
