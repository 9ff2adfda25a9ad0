"""The specification of docs/specification as a fold over events, one file for each of its modules: a second opinion.

It works from the TLA+ text, and not from the emulator. It is on only where it is asked for.
"""

from scenarios.observe.specification.oracle import Oracle
from scenarios.observe.specification.rejection import Rejection, Sentence

__all__ = ["Oracle", "Rejection", "Sentence"]
