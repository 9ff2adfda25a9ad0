"""Every protocol step is a gate: a place where a scenario can stop the world and break something."""

from emulator.gates.gates import Gates, Visit

__all__ = ["Gates", "Visit"]
