"""A producer's connections: one to each leader, with the requests in flight (NetworkClient, 2.3.1)."""

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network import Endpoint, Network
from emulator.nodes import Process
from emulator.protocol.address import LISTENER
from emulator.protocol.produce import ProducedBatch, ProduceRequest, ProduceResponse

Group = list[ProducedBatch]
"""The batches of one request, without sequence numbers."""


@define(eq=False)
class _Connection:
    """``in_flight``: when each request was sent and what was in it, oldest first."""

    endpoint: Endpoint
    in_flight: deque[tuple[int, Group]] = field(factory=deque)


@define(eq=False)
class Connections:
    """The open connections of one producer.

    Attributes:
        timeout_us: how long a request may wait for its response; then the producer closes the connection.
        answered: called with the leader, the batches of a request, its response, and when the request was sent.
        lost: called with the leader and the batches of each request that was in flight when a connection ended: it is
            not known whether they were written.
    """

    network: Network
    process: Process
    timeout_us: int
    answered: Callable[[int, Group, ProduceResponse, int], object]
    lost: Callable[[int, list[Group]], object]
    _open: dict[int, _Connection] = field(factory=dict)

    def full(self, most: int) -> list[int]:
        """The leaders to which ``most`` requests are in flight."""
        return [leader for leader, found in self._open.items() if len(found.in_flight) >= most]

    @property
    def unanswered_since_us(self) -> int | None:
        """When the oldest request was sent that has no response yet; None: all have one."""
        return min((found.in_flight[0][0] for found in self._open.values() if found.in_flight), default=None)

    def send(self, leader: int, request: ProduceRequest, group: Group) -> None:
        """Send a request; with acks=0 there is no response."""
        connection = self._open.get(leader) or self._connect(leader)
        if request.acks != 0:
            connection.in_flight.append((self.process.world.now, group))
        connection.endpoint.send(request, request.size)

    def _connect(self, leader: int) -> _Connection:
        def answered(response: ProduceResponse) -> None:
            sent_us, group = connection.in_flight.popleft()
            self.answered(leader, group, response, sent_us)

        def closed(_reason: str) -> None:
            if self._open.get(leader) is connection:
                del self._open[leader]
            in_flight, connection.in_flight = connection.in_flight, deque()
            self.lost(leader, [group for _sent_us, group in in_flight])

        endpoint = self.network.connect(self.process, leader, LISTENER, answered, closed)
        connection = self._open[leader] = _Connection(endpoint)
        self._watch(leader, connection)
        return connection

    def _watch(self, leader: int, connection: _Connection) -> None:
        """Close the connection to a broker that does not answer a request in time."""

        def look(_: Any) -> None:
            if self._open.get(leader) is not connection:
                return
            now, in_flight = self.process.world.now, connection.in_flight
            left_us = in_flight[0][0] + self.timeout_us - now if in_flight else self.timeout_us
            if left_us <= 0:
                connection.endpoint.give_up("timed out")
            else:
                self.process.call_later(left_us, look)

        self.process.call_later(self.timeout_us, look)
