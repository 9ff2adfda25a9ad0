"""Loggers for people who watch the control plane: structlog's, imported when the first line is written.

Most runs log nothing, and importing structlog (and asyncio with it) takes a fifth of the time of importing Trio.
"""

from __future__ import annotations

import sys
from typing import Any, ClassVar


def silence() -> None:
    """Log nothing, unless the caller has configured structlog, before this or later."""
    Logger.silent = True


def get_logger(name: str) -> Logger:
    """A logger, as ``structlog.get_logger`` gives it. It follows structlog's settings at the time of each call."""
    return Logger(name, {})


class Logger:
    """A logger with fields that each of its lines has. A line that is not wanted costs two look-ups."""

    __slots__ = ("_fields", "_name")

    silent: ClassVar[bool] = False

    def __init__(self, name: str, fields: dict[str, Any]) -> None:
        self._name = name
        self._fields = fields

    def bind(self, **fields: Any) -> Logger:
        """A copy of the logger with more fields."""
        return Logger(self._name, {**self._fields, **fields})

    def debug(self, event: str, **fields: Any) -> None:
        self._write("debug", event, fields)

    def info(self, event: str, **fields: Any) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: Any) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, **fields: Any) -> None:
        self._write("error", event, fields)

    def critical(self, event: str, **fields: Any) -> None:
        self._write("critical", event, fields)

    def _write(self, level: str, event: str, fields: dict[str, Any]) -> None:
        if self.silent and ("structlog" not in sys.modules or not sys.modules["structlog"].is_configured()):
            return
        import structlog

        getattr(structlog.get_logger(self._name), level)(event, **self._fields, **fields)
