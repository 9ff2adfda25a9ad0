"""The common part of drivers in Python: the plan from standard input, the lines on standard output, and the end."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

Table = dict[str, Any]
COMMIT_S = 0.3
"""The time between two commits of a consumer."""
LONGEST_END_S = 300.0
"""The time after which a driver ends by force, once it was asked to end."""


class Driven:
    """The process of a driver. Standard input has the plan in its first line; its end asks the driver to end.

    Attributes:
        plan: the object of the first line.
    """

    def __init__(self, client: str, version: str) -> None:
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self.say("ready", client=client, version=version)
        self.plan: Table = json.loads(sys.stdin.readline())
        self.settings: Table = self.plan["settings"]
        self.topic: str = self.plan["topic"]
        self.partitions: int = self.plan["partitions"]
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        sys.stdin.read()
        self._ended.set()
        time.sleep(LONGEST_END_S)
        os._exit(1)  # the campaign itself was ended, and has not ended this process

    @property
    def goes_on(self) -> bool:
        """Whether the end has not been asked for."""
        return not self._ended.is_set()

    def say(self, seen: str, **more: Any) -> None:
        """Report one thing. It is written at once: a driver that does not end is killed, and what it saw counts."""
        line = json.dumps({"seen": seen, **more}) + "\n"
        with self._lock:
            sys.stdout.write(line)
            sys.stdout.flush()

    def records(self) -> Iterator[tuple[str, int] | None]:
        """The records to send as they are due, each with its partition, until the end is asked for; None: none is due
        yet."""
        name, rate = self.plan["name"], self.plan["rate"]
        began, number = time.monotonic(), 0
        while self.goes_on:
            if number < (time.monotonic() - began) * rate:
                yield f"{name}-{number}", number % self.partitions
                number += 1
            else:
                yield None

    def transactions(self) -> Iterator[tuple[int, list[tuple[str, int]], bool] | None]:
        """The transactions to carry out as they are due: the number, the records, and whether to commit it; None: none
        is due yet."""
        held: list[tuple[str, int]] = []
        number = 0
        for record in self.records():
            if record is None:
                yield None
                continue
            held.append(record)
            if len(held) == self.plan["records"]:
                number += 1
                yield number, held, number % self.plan["aborted"] != 0
                held = []


def snake(settings: Table, lacks: tuple[str, ...] = ()) -> Table:
    """Settings as keywords of a client of Python: ``client.id`` is ``client_id``."""
    return {name.replace(".", "_"): value for name, value in settings.items() if name not in lacks}
