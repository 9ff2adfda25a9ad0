"""The clients of a case on a real cluster: a thread each, and a connection of its own for each request."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from attrs import define, field

from benchmarks.calibration.clients import clients
from benchmarks.calibration.clients.base import Ask, Client
from benchmarks.calibration.facts import Answer
from benchmarks.calibration.real.cluster import RealCluster
from scenarios.language import Scenario

ANSWERED_WITHIN_S = 30
LOOKS_EACH_S = 0.1


@define(eq=False)
class Talking:
    """The clients at work.

    Attributes:
        began: the instant from which their seconds count (``time.monotonic``).
    """

    clients: Sequence[Client]
    cluster: RealCluster
    began: float
    _held: bool = False
    _threads: list[threading.Thread] = field(factory=list)

    @classmethod
    def begin(cls, scenario: Scenario, cluster: RealCluster, began: float) -> "Talking":
        """Let them begin, where a case has any."""
        talking = cls(clients(scenario, lambda: time.time_ns() // 1_000_000, cluster.release.name), cluster, began)
        for client in talking.clients:
            talking._threads.append(threading.Thread(target=talking._talk, args=(client,), daemon=True))
            talking._threads[-1].start()
        return talking

    @contextmanager
    def held(self) -> Iterator[None]:
        """Let the clients' time stand still while a broker starts: that takes seconds, and an instant when emulated."""
        since, self._held = time.monotonic(), True
        yield
        self.began += time.monotonic() - since
        self._held = False

    def end(self, sleep: Callable[[float], object]) -> Sequence[Answer]:
        """The answers, when they have asked everything."""
        while any(thread.is_alive() for thread in self._threads):
            sleep(0.5)
        return [answer for client in self.clients for answer in client.answers]

    def _talk(self, client: Client) -> None:
        talk = client.talk()
        wish = next(talk, None)
        while wish is not None:
            answer = None
            if isinstance(wish, Ask):
                answer = self._ask(wish)
            else:
                self._wait_until(wish)
            try:
                wish = talk.send(answer)
            except StopIteration:
                return

    def _wait_until(self, at_s: float) -> None:
        while self._held or (left_s := self.began + at_s - time.monotonic()) > 0:
            time.sleep(LOOKS_EACH_S if self._held else min(left_s, LOOKS_EACH_S))

    def _ask(self, ask: Ask) -> bytes | None:
        try:
            with socket.create_connection(
                ("127.0.0.1", self.cluster.port(ask.broker)), ANSWERED_WITHIN_S
            ) as connection:
                for frame in ask.frames:
                    connection.sendall(struct.pack(">i", len(frame)) + frame)
                stream = connection.makefile("rb")
                size = stream.read(4)
                return stream.read(struct.unpack(">i", size)[0]) if len(size) == 4 else None
        except OSError:
            return None
