"""structlog for people who watch the control plane: off by default; ``--log info`` prints to standard error.

A warning of an emulated broker is not a problem of the tool, so warnings are off by default too. A line has virtual
time, never real time. Calls below the level return at once.
"""

from __future__ import annotations

import sys
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Any

from emulator import logger
from scenarios.cli.output import visible

LEVELS = ("debug", "info", "warning", "error", "off")
DEFAULT = "off"


def configure(level: str = DEFAULT) -> None:
    """Print entries at ``level`` or above on standard error. structlog is not imported for ``off``."""
    if level == "off" and "structlog" not in sys.modules:
        logger.silence()
        return
    import structlog

    structlog.configure(
        processors=[
            *([drop] if level == "off" else []),
            virtual_time,
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            line,
        ],
        wrapper_class=structlog.make_filtering_bound_logger("critical" if level == "off" else level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=False,
    )


def virtual_time(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Add ``t``, the virtual seconds of the world that is running; outside of a world there is no time."""
    import trio

    with suppress(RuntimeError):  # Trio does not run
        event["t"] = f"{trio.current_time():.6f}"
    return event


def drop(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop the entry: for ``off``, since even the highest level lets critical ones pass."""
    from structlog import DropEvent

    raise DropEvent


def line(_: Any, __: str, event: MutableMapping[str, Any]) -> str:
    """The entry as a line: ``     5.001234 info  elected  broker=6 epoch=1``"""
    time, level, text = event.pop("t", "-"), event.pop("level", ""), event.pop("event", "")
    trouble = event.pop("exception", "")
    fields = " ".join(f"{name}={value!r}" for name, value in sorted(event.items()))
    return visible(f"{time:>14} {level:<7} {text}  {fields}".rstrip() + (f"\n{trouble}" if trouble else ""))
