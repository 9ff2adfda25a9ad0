"""Reassignment strategies by name: what a shape is called, which protocol's steps it runs, which names are
refused."""

from scenarios.strategies.names import SHAPES, Shape, Strategy, parse_strategy

__all__ = ["SHAPES", "Shape", "Strategy", "parse_strategy"]
