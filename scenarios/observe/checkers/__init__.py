"""Online checkers: what must hold, watched event by event while the run goes on.

One invariant, one class, one file (``Checker``); what several of them need to know of the past is kept once
(``Ghosts``); ``REGISTRY`` names them; ``Checkers`` arms them on a trace.
"""

from scenarios.observe.checkers.checker import Checker, Violation
from scenarios.observe.checkers.checkers import Checkers
from scenarios.observe.checkers.ghosts import Ghosts
from scenarios.observe.checkers.registry import REGISTRY

__all__ = ["REGISTRY", "Checker", "Checkers", "Ghosts", "Violation"]
