"""Reassignment strategies by name: the shapes in which the controller moves partitions, and the parts of the operator's
half."""

from controller.shapes import SHAPES, Shape
from scenarios.language.strategies.execution import Execution, Throttle, parts_by_axis
from scenarios.language.strategies.registry import PARTS, Look, Part, PlannedMove, Progress
from scenarios.language.strategies.strategy import Strategy, parse_strategy

__all__ = [
    "PARTS",
    "SHAPES",
    "Execution",
    "Look",
    "Part",
    "PlannedMove",
    "Progress",
    "Shape",
    "Strategy",
    "Throttle",
    "parse_strategy",
    "parts_by_axis",
]
