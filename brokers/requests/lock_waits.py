"""Requests that wait for the lock of a partition whose ISR is being written (``brokers.partition.isr.IsrLocks``).

Behavior, up to 2.6: a request that needs the lock of a partition waits in its request handler thread until ZooKeeper
has answered. There are num.io.threads of them; while all wait, the broker serves no request at all
(kafka.server.KafkaRequestHandlerPool, 0.8.0 to 2.6.3). The lock is needed to append, to delete records, to record a
follower's fetch and to answer a follower's question for an epoch; to change a role and to delete a replica. Since 2.1
it is needed to read, too (Partition.readRecords, fetchOffsetForTimestamp), and in 0.8.0, where everything needs it
(Partition.leaderReplicaIfLocal).

A request waits as a whole and before it does anything, as each is one transition here. Kafka's has done its partitions
before the one that is locked.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import NamedTuple

from attrs import define, field

from brokers.partition.isr import IsrLocks
from brokers.requests.router import Router
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.api import Request
from emulator.protocol.fetch import CONSUMER, FetchRequest
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.protocol.produce import ProduceRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition

Partitions = Mapping[TopicPartition, object]
FetchesAny = Callable[[FetchRequest, Partitions], bool]
"""Whether a fetch, with what its session knows, is about any of these partitions."""
NEED_IT = ProduceRequest, LeaderAndIsrRequest, OffsetsForLeaderEpochRequest
NEEDS_IT_TOO = "DeleteRecords"
"""By its name: few runs have it, and only these import it."""


class WaitingRequest(NamedTuple):
    """A request that was read from its connection. ``cause``: the trace event that caused it."""

    request: Request
    channel: Channel
    cause: int


@define(eq=False)
class LockWaits:
    """The requests of one broker that wait while locks are held.

    Attributes:
        threads: num.io.threads.
        fetches_any: whether a fetch is about any of some partitions.
        readers_wait: whether consumers need the lock to read.
        waiting: the requests that wait for a lock, each in a thread, in the order of their arrival.
        queue: the requests for which there is no thread.
    """

    process: Process
    router: Router
    locks: IsrLocks
    threads: int
    fetches_any: FetchesAny
    readers_wait: bool
    waiting: deque[WaitingRequest] = field(factory=deque)
    queue: deque[WaitingRequest] = field(factory=deque)

    def watch(self) -> None:
        """Look at requests while any lock is held. They come before the next partition that isr-expiration checks."""
        self.locks.taken.append(self._taken)
        self.locks.released.insert(0, self._released)
        self.router.occupied = self.waiting.__len__

    def _taken(self) -> None:
        self.router.look_first(self.handle)

    def handle(self, request: Request, channel: Channel) -> None:
        """Serve a request, or let it wait."""
        received = WaitingRequest(request, channel, self.process.node.trace.cause)
        if self.queue or len(self.waiting) >= self.threads:
            self.queue.append(received)
        elif self.needs_lock(request):
            self.waiting.append(received)
        else:
            self.router.serve(request, channel)

    def needs_lock(self, request: Request) -> bool:
        """Whether a request needs a lock that is held."""
        held, kind = self.locks.held, request.api.request
        if kind is FetchRequest:
            assert isinstance(request, FetchRequest)
            waits = self.readers_wait or request.replica_id != CONSUMER
            return waits and self.fetches_any(request, held)
        if kind is StopReplicaRequest:
            assert isinstance(request, StopReplicaRequest)
            waits = request.delete_partitions
        else:
            waits = kind in NEED_IT or (kind is ListOffsetsRequest and self.readers_wait)
            waits = waits or request.api.name == NEEDS_IT_TOO
        return waits and any(tp in held for tp in request.topic_partitions())

    def _released(self, _tp: TopicPartition) -> None:
        """Serve what does not need a lock any more. Each may take another."""
        trace = self.process.node.trace
        cause = trace.cause
        for _ in range(len(self.waiting)):
            self._serve_or_wait(self.waiting.popleft())
        while self.queue and len(self.waiting) < self.threads:
            self._serve_or_wait(self.queue.popleft())
        trace.cause = cause
        if not self.locks.held:
            self.router.look_first(None)

    def _serve_or_wait(self, received: WaitingRequest) -> None:
        request, channel, self.process.node.trace.cause = received
        if self.needs_lock(request):
            self.waiting.append(received)
            return
        self.router.serve(request, channel)
        self.router.complete()
        if channel.endpoint.done:
            channel.forget()  # the connection went before the request was handled: what it opened goes too
