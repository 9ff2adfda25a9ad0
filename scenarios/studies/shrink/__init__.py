"""Shrinking: from a scenario that fails to the smallest one that still gives the same finding."""

from scenarios.studies.shrink.measure import Size
from scenarios.studies.shrink.shrinker import Limits, Shrinker, Shrunk

__all__ = ["Limits", "Shrinker", "Shrunk", "Size"]
