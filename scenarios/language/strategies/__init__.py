"""Reassignment strategies by name: the shapes in which the controller moves partitions, and the parts of the operator's
half."""

from controller.shapes import SHAPES, Shape
from scenarios.language.strategies.execution import Execution, Throttle, parts_by_axis
from scenarios.language.strategies.strategy import Strategy, parse_strategy
from scenarios.language.strategies.strategy_parts import PARTS, Look, PlannedMove, PlanProgress, StrategyPart

__all__ = [
    "PARTS",
    "SHAPES",
    "Execution",
    "Look",
    "PlanProgress",
    "PlannedMove",
    "Shape",
    "Strategy",
    "StrategyPart",
    "Throttle",
    "parse_strategy",
    "parts_by_axis",
]
