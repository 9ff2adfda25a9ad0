"""Why a run failed, on one screen."""

from scenarios.explain.explain import explain
from scenarios.explain.memory import Memory

__all__ = ["Memory", "explain"]
