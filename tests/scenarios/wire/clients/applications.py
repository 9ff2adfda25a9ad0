"""A process of a real client in another language, which carries out a test's jobs (``benchmarks.clients.drivers``)."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from attrs import define, field

from benchmarks.clients.history import Seen, read
from benchmarks.clients.known import Client

LIMIT_S = 120.0
LOOK_S = 0.02


@define(eq=False)
class Application:
    """Attributes:
    seen: what its jobs have seen so far.
    """

    client: Client
    process: subprocess.Popen[str]
    output: TextIO
    complaints: Path
    seen: list[Seen] = field(factory=list)
    _half: str = ""

    def begin(self, kind: str, **settings: Any) -> None:
        """Begin a job: ``begin("consume", name="a", topic="orders")``."""
        self._say(" ".join((kind, *(f"{key}={value}" for key, value in settings.items()))))

    def allow(self, count: int) -> None:
        """Let producers go on up to this record."""
        self._say(f"allow {count}")

    def _say(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def records(self, kind: str, name: str) -> list[int]:
        """The numbers of the records that a job has seen so, in its order."""
        return [seen.record for seen in self.seen if seen.kind == kind and seen.name == name]

    @property
    def errors(self) -> list[str]:
        return [f"{seen.name}: {seen.kind} {seen.record} {seen.error}" for seen in self.seen if seen.error]

    def until(self, holds: Callable[[], bool], what: str) -> None:
        """Wait until what it has seen is so. Raises: AssertionError with what it complained of."""
        late = time.monotonic() + LIMIT_S
        while not holds():
            ended = self.process.poll()
            complaints = f"{self.errors[-5:]} {self.complaints.read_text(errors='replace')[-2000:]}"
            assert ended is None, f"{self.client.name} ended with {ended}: {complaints}"
            assert time.monotonic() < late, f"{self.client.name}, {what}: not in {LIMIT_S:g} s: {complaints}"
            time.sleep(LOOK_S)
            self._look()

    def _look(self) -> None:
        *lines, self._half = (self._half + self.output.read()).split("\n")
        self.seen += read(f"{line}\n" for line in lines)

    def end(self) -> None:
        """End the application: its consumers leave their groups, and it exits with 0."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        assert self.process.wait(LIMIT_S) == 0, self.complaints.read_text(errors="replace")[-2000:]
        self._look()


@contextmanager
def application(client: Client, servers: str, folder: Path) -> Iterator[Application]:
    """A process of a client."""
    history, complaints = folder / "history", folder / "complaints"
    environment = {**os.environ, **client.environment()}
    with history.open("w") as output, complaints.open("w") as errors:
        process = subprocess.Popen(
            client.command("jobs", servers, 0, 0), stdin=subprocess.PIPE, stdout=output, stderr=errors,
            env=environment, text=True,
        )  # fmt: skip
    with history.open() as seen:
        try:
            yield Application(client, process, seen, complaints)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()
