"""Reassignment strategies by name: the shapes that the controller steps moves in, and the parts of which the operator's
half is composed."""

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
