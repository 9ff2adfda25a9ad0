"""Reach of runs: counters of things that a set of runs should see *sometimes*, such as a failover within a step. A
campaign that never reached one of them says nothing about it."""

from scenarios.observe.reach.reach import Reach, never, reachable

__all__ = ["Reach", "never", "reachable"]
