"""Deleted logs are renamed at once and gone file.delete.delay.ms later (LogManager.asyncDelete, 2.3)."""

from collections import deque

from brokers.log.directory import LogDirectory
from emulator.nodes import Process


class Deletion:
    """What one broker has yet to delete, oldest first, and one timer for all of it."""

    def __init__(self, process: Process, delay_us: int) -> None:
        self._process = process
        self._delay_us = delay_us
        self._due: deque[tuple[int, LogDirectory, str]] = deque()

    def add(self, directory: LogDirectory, path: str) -> None:
        """Delete ``path`` when the delay is over."""
        if not self._due:
            self._process.call_later(self._delay_us, self._delete)
        self._due.append((self._process.clock_us + self._delay_us, directory, path))

    def _delete(self, _: object) -> None:
        due, now = self._due, self._process.clock_us
        while due and due[0][0] <= now:
            _at, directory, path = due.popleft()
            if directory.online:
                directory.disk.delete(path)
        if due:
            self._process.call_later(due[0][0] - now, self._delete)
