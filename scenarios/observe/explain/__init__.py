"""Why a run failed, on one screen."""

from scenarios.observe.explain.explain import explain

__all__ = ["explain"]
