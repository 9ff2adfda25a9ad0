"""One process of a driver: it gets its plan on standard input, and what it reports is kept with the time of arrival."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from json import JSONDecodeError, loads
from pathlib import Path
from typing import Any

from attrs import define, frozen

from scenarios.errors import BadInput
from scenarios.studies.clients.application_plan import ApplicationPlan

READY_S = 600.0
LONGEST_LINE = 65_536
LOOK_S = 0.02
_TYPES: dict[str, type] = {
    "record": str, "partition": int, "offset": int, "error": str, "transaction": int, "client": str, "version": str,
    "partitions": list,
}  # fmt: skip
_ERROR = re.compile(r"^(?:.* )?(\w+(?:Error|Exception))\b", re.MULTILINE)


@frozen(kw_only=True)
class SeenLine:
    """One thing that an application saw (docs/use/clients-under-chaos.md has the kinds).

    Attributes:
        at_s: when the line arrived, on the monotonic clock of this machine.
        name: the application.
        seen: the kind: ready, sent, acked, failed, received, assigned, revoked, begun, committed, aborted, unknown,
            error. ``committed`` is of a transaction, or of a consumer's offset.
        record: the value of the record; empty where there is none.
        partition, offset: -1 where there is none.
        transaction: its number; -1 where there is none.
        partitions: those of ``assigned`` and ``revoked``.
    """

    at_s: float
    name: str
    seen: str
    record: str = ""
    partition: int = -1
    offset: int = -1
    error: str = ""
    transaction: int = -1
    partitions: tuple[int, ...] = ()
    client: str = ""
    version: str = ""


def read_line(text: str, name: str, at_s: float) -> SeenLine:
    """The line of a driver. Unknown keys are left alone. Raises: ValueError where it is no such line."""
    try:
        table = loads(text)
    except (JSONDecodeError, RecursionError) as error:
        raise ValueError(f"no JSON: {text.strip()[:80]!r}") from error
    if not isinstance(table, dict) or not isinstance(table.get("seen"), str):
        raise ValueError(f'no object with "seen": {text.strip()[:80]!r}')
    found: dict[str, Any] = {}
    for key, kind in _TYPES.items():
        if key in table:
            if type(table[key]) is not kind:
                raise ValueError(f"{key} is no {kind.__name__}: {text.strip()[:80]!r}")
            found[key] = tuple(table[key]) if kind is list else table[key]
    return SeenLine(at_s=at_s, name=name, seen=table["seen"], **found)


@define(eq=False)
class DriverProcess:
    """One process.

    Attributes:
        command: the program and its arguments.
        plan: what it is to do.
        complaints: the file of its standard error.
        on_line: called with each line, in a thread of this process's reader.
        unreadable: the first line that is none of the interface; empty: there was none.
        ending: how it ended; empty: well, or not yet. "killed" where it did not end in time.
    """

    command: Sequence[str]
    plan: ApplicationPlan
    complaints: Path
    on_line: Callable[[SeenLine], object]
    ready: SeenLine | None = None
    unreadable: str = ""
    ending: str = ""
    ended_by_itself: bool = False
    _process: subprocess.Popen[str] | None = None
    _reader: threading.Thread | None = None

    def start(self) -> None:
        """Start it; it imports its client and waits for the plan. Raises: BadInput where there is no such program."""
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
        try:
            with self.complaints.open("w") as complaints:
                self._process = subprocess.Popen(
                    self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=complaints, text=True,
                    encoding="utf-8", errors="replace", env=environment, start_new_session=True,
                )  # fmt: skip
        except OSError as error:
            raise BadInput(
                f"{self.command[0]} cannot be started ({error.strerror}); name a program", where="--clients"
            ) from error
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process is not None
        assert self._process.stdout is not None
        for text in iter(lambda: self._process.stdout.readline(LONGEST_LINE), ""):  # type: ignore[union-attr]
            try:
                line = read_line(text, self.plan.name, time.monotonic())
            except ValueError as error:
                self.unreadable = self.unreadable or str(error)
                continue
            if line.seen == "ready":
                self.ready = line
            self.on_line(line)

    def wait_ready(self) -> None:
        """Wait until it says that it is ready. Raises: BadInput where it ends before, or does not say so."""
        late_s = time.monotonic() + READY_S
        while self.ready is None:
            if self.has_ended or time.monotonic() > late_s:
                late = f"{READY_S:g} s are over"
                why = self._complaint() or self.unreadable or "it ended" if self.has_ended else late
                self.kill()
                raise BadInput(f'the driver does not say {{"seen": "ready"}}: {why}', where=" ".join(self.command[:3]))
            time.sleep(LOOK_S)

    def begin(self, servers: str) -> None:
        """Give it its plan."""
        self._say(self.plan.to_line(servers))

    def ask_to_end(self) -> None:
        """End its standard input: it finishes what it has under way, and ends."""
        assert self._process is not None
        assert self._process.stdin is not None
        self.ended_by_itself = self.has_ended
        with suppress(OSError):  # it has ended already
            self._process.stdin.close()

    def wait_end(self, late_s: float) -> None:
        """Wait for its end until ``late_s`` of the monotonic clock, and end it then."""
        assert self._process is not None
        assert self._reader is not None
        try:
            code = self._process.wait(max(0.0, late_s - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.kill()
            self.ending = "does not end"
            return
        self._reader.join()
        if code:
            self.ending = f"breaks off by {self._complaint() or f'exit code {code}'}"
        elif self.ended_by_itself:
            self.ending = "ends by itself"

    def kill(self) -> None:
        """End it at once."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._reader is not None:
            self._reader.join(1)

    @property
    def has_ended(self) -> bool:
        assert self._process is not None
        return self._process.poll() is not None

    def _complaint(self) -> str:
        """The last error that its standard error names."""
        text = self.complaints.read_text(encoding="utf-8", errors="replace")
        named = _ERROR.findall(text)
        return named[-1] if named else ""

    def _say(self, text: str) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended: its ending says how
            self._process.stdin.write(text)
            self._process.stdin.flush()
