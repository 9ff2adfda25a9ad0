"""Exit codes (readings §10), and the one for each exception."""

from __future__ import annotations

import traceback

from scenarios.cli.output import note
from scenarios.errors import EXIT_CODE, BadInput, PartFailed
from scenarios.resuming import is_interrupt

PASSED = 0
FAILED = 1
BAD_INPUT = EXIT_CODE
NOT_DETERMINISTIC = 3
TOOL_FAILED = 4
INTERRUPTED = 130


def explain(error: BaseException, *, debug: bool = False) -> int:
    """Print on standard error what went wrong, a line for each thing. Returns the exit code. ``debug`` adds the
    traceback."""
    if isinstance(error, BadInput):
        for one in error.all:
            note(f"understudy: {one}")
        return BAD_INPUT
    if is_interrupt(error):
        note(f"understudy: {_first_line(error) or 'interrupted'}")
        return INTERRUPTED
    if debug:
        note("".join(traceback.format_exception(error)).rstrip())
    hint = "" if debug else " (--log debug shows where)"
    if isinstance(error, PartFailed):
        note(f"understudy: {error}{hint}")
        return TOOL_FAILED
    while isinstance(error, BaseExceptionGroup):  # of the tasks of a run: the first says what went wrong
        error = error.exceptions[0]
    note(f"understudy: the tool failed: {type(error).__name__}: {_first_line(error)}{hint}")
    return TOOL_FAILED


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")
