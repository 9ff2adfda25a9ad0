"""The invariants that a scenario may expect by name; the checkers of these names watch every run."""

from __future__ import annotations

from collections.abc import Mapping

from scenarios.observe.invariants import Sentences

INVARIANTS: Mapping[str, str] = Sentences()
"""Name to statement. The names cost nothing to list; a statement is read from its checker, which is imported then."""
