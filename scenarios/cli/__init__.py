"""The command line, ``understudy``: one file per command in ``commands``, and what they share."""

from scenarios.cli.program import main

__all__ = ["main"]
