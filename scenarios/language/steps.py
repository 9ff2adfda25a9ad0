"""Every protocol step that a scenario can stop at. The controller declares them; see ``controller.procedures``."""

from __future__ import annotations

from controller.procedures import ALIASES, PROCEDURES, STEPS
from controller.steps import PHASES

__all__ = ["ALIASES", "PHASES", "PROCEDURES", "STEPS", "canonical"]


def canonical(step: str) -> str:
    """The step that ``step`` stands for: an alias resolved, anything else unchanged."""
    return ALIASES.get(step, step)
