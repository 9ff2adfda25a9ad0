"""Online checkers: what must hold, watched event by event while the run goes on.

One invariant, one class, one file of its name (``Checker``); what several of them need to know of the past is kept once
(``scenarios.observe.history``); ``Checkers`` arms them on a trace.
"""

from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.checkers.checkers import REGISTRY, Checkers, register
from scenarios.observe.findings.violation import Violation

__all__ = ["REGISTRY", "Checker", "Checkers", "Gravity", "Violation", "register"]
