"""Why a run failed, on one screen."""

from scenarios.explain.explain import explain

__all__ = ["explain"]
