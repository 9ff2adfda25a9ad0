"""Exit codes (readings §10), and the one for each exception."""

from __future__ import annotations

import errno
import traceback
from typing import TYPE_CHECKING

from scenarios.cli.output import note
from scenarios.errors import EXIT_CODE, BadInput, PartFailed
from scenarios.resuming import is_interrupt

if TYPE_CHECKING:
    from scenarios.runs import Run

PASSED = 0
FAILED = 1
BAD_INPUT = EXIT_CODE
NOT_DETERMINISTIC = 3
TOOL_FAILED = 4
INTERRUPTED = 130

_ANOTHER, _ROOM, _FILES = "name another file or folder", "make room there", "let the process open more (ulimit -n)"
_TO_DO = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP), _ANOTHER),
    **dict.fromkeys((errno.EISDIR, errno.ENOTDIR), _ANOTHER),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT, errno.EFBIG), _ROOM),
    **dict.fromkeys((errno.EMFILE, errno.ENFILE), _FILES),
}
"""The advice for errors of the operating system about which a person can do something. Others (a file that is not
there) are the program's."""


def of(run: Run) -> int:
    """The exit code of a run that has been judged."""
    if run.defects:
        return TOOL_FAILED
    return PASSED if run.passed else FAILED


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
    trace = error
    if (needed := _missing(error)) is not None:
        if debug:
            note("".join(traceback.format_exception(trace)).rstrip())
        note(f"understudy: {needed}")
        return BAD_INPUT
    while isinstance(error, BaseExceptionGroup):  # a group of the run's tasks: its first exception says what went wrong
        error = error.exceptions[0]
    if isinstance(error, OSError) and error.errno in _TO_DO:
        place = f"{error.filename}: " if error.filename else ""
        note(f"understudy: {place}{error.strerror}; {_TO_DO[error.errno]}")
        return BAD_INPUT
    if debug:
        note("".join(traceback.format_exception(trace)).rstrip())
    hint = "" if debug else " (--log debug shows where)"
    if isinstance(error, PartFailed):
        note(f"understudy: {error}{hint}")
        return TOOL_FAILED
    note(f"understudy: the tool failed: {type(error).__name__}: {_first_line(error)}{hint}")
    return TOOL_FAILED


def _missing(error: BaseException) -> BadInput | None:
    """The refusal of a command whose extra is not installed, if that is what the error is about."""
    if not isinstance(error, ModuleNotFoundError):
        return None
    from scenarios.extras import missing

    return missing(error)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), "")
