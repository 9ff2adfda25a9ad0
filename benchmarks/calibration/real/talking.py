"""The client of a case on a real cluster: a thread, and a connection of its own for each request."""

import socket
import struct
import threading
import time
from collections.abc import Callable, Sequence

from attrs import define, field

from benchmarks.calibration.client import Ask, Client
from benchmarks.calibration.facts import Answer
from benchmarks.calibration.real.cluster import RealCluster
from scenarios.language import Scenario

ANSWERED_WITHIN_S = 10


@define(eq=False)
class Talking:
    """The client at work.

    Attributes:
        began: the instant from which its seconds count (``time.monotonic``).
    """

    client: Client
    cluster: RealCluster
    began: float
    _thread: threading.Thread = field(init=False)

    @classmethod
    def begin(cls, scenario: Scenario, cluster: RealCluster, began: float) -> "Talking":
        """Let it begin. Where a case asks nothing, it ends at once."""
        talking = cls(Client(scenario, lambda: time.time_ns() // 1_000_000), cluster, began)
        talking._thread = threading.Thread(target=talking._talk, daemon=True)
        talking._thread.start()
        return talking

    def end(self, sleep: Callable[[float], object]) -> Sequence[Answer]:
        """The answers, when it has asked everything."""
        while self._thread.is_alive():
            sleep(0.5)
        return self.client.answers

    def _talk(self) -> None:
        talk = self.client.talk()
        wish = next(talk, None)
        while wish is not None:
            answer = None
            if isinstance(wish, Ask):
                answer = self._ask(wish)
            else:
                time.sleep(max(0.0, self.began + wish - time.monotonic()))
            try:
                wish = talk.send(answer)
            except StopIteration:
                return

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
