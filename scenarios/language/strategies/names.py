"""The grammar of strategy names, `shape[+admission][+order][+rate]` (readings §1), and the shapes that exist.

A shape is how the controller steps one partition's move; admission, order and rate are how the operator
feeds moves to it (`scenarios.language.strategies.execution`).
"""

from __future__ import annotations

import re

from attrs import Factory, frozen

from controller.reassignment.registry import SHAPES, Shape
from scenarios.errors import BadInput, did_you_mean
from scenarios.language.strategies.execution import Execution, parse_execution

_WIDTH = re.compile(r"width-(?:([1-9]\d*)|all)")
_OLDER_NAMES = {
    "all-at-once": "wiki",
    "one-by-one": "kafka-6794",
    "kip455": "kip-455",
    "kafka42": "kafka-42",
    "kafka6794": "kafka-6794",
}


@frozen
class Strategy:
    """A strategy. `protocol` names the steps its gates announce (`wiki`, `kafka-6794`); `width`: how many replicas one
    hop of `kafka-6794` adds, None for all of them; `execution`: the operator's half."""

    name: str
    shape: str
    protocol: str
    width: int | None = 1
    execution: Execution = Factory(Execution)


def one_of_each_shape(protocol: str | None = None) -> tuple[str, ...]:
    """A strategy of each shape, or of those that run `protocol`."""
    shapes = (shape for shape in SHAPES.values() if protocol in (None, shape.protocol))
    return tuple(shape.example or shape.name for shape in shapes)


def parse_strategy(text: str) -> Strategy:
    """The strategy that `text` names; `BadInput` when there is none."""
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
