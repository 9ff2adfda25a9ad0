"""A broker's request handler threads and the queue before them, where requests take time (``brokers.service``;
kafka.server.KafkaRequestHandlerPool and kafka.network.RequestChannel, 0.8 to 2.7).

One queue for the requests of all connections, first in, first out. Each of num.io.threads threads takes a request and
is occupied for its service time; a request that then waits in a purgatory occupies none. The next request of a
connection is not read before the one before it is answered (SocketServer mutes the channel; here ``Channel.busy``).

A request takes effect at the end of its service time, in one transition with its answer. So an answer says what is
true when it leaves, and a broker that dies before that has done nothing of the request. Kafka's handlers change one
partition after the other meanwhile.

The queue of its own that KIP-291 (2.2) gives to the controller's requests is not here: only a broker with
control.plane.listener.name has it, and by default there is none.
"""

from collections import deque
from typing import Any, NamedTuple

from attrs import define, field

from brokers.broker_config import BrokerConfig
from brokers.requests.router import Router
from brokers.service import ServiceTimes
from emulator.kernel import PendingWork
from emulator.metrics import KafkaTimer, SampledGauge, mbean
from emulator.network import Channel
from emulator.nodes import Process
from emulator.protocol.fetch import CONSUMER, FetchRequest
from emulator.protocol.types import TopicPartition


class ReceivedRequest(NamedTuple):
    """A request that was read from its connection.

    Attributes:
        cause: the trace event that caused it.
        received_us: when it came into the queue. Kafka measures with System.nanoTime, which no skew of the machine's
            clock touches.
        service_us: how long it will occupy a thread, on processors at full speed.
    """

    request: Any
    channel: Channel
    cause: int
    received_us: int
    service_us: int


class Work(NamedTuple):
    """A request that a thread works on.

    Attributes:
        left_us: how long it still takes, on processors at full speed.
        taken_us: when the thread took it.
        since_us, slowness: time at which that much was left, and how slow the processors are.
    """

    received: ReceivedRequest
    left_us: int
    taken_us: int
    since_us: int = 0
    slowness: int = 1


PARTS = 10
"""How often a thread on slow processors looks at them while it works on one request."""


@define(eq=False)
class RequestMetrics:
    """RequestQueueSize of the channel, and for each kind of request how long it waited and how long it was served."""

    process: Process
    size: SampledGauge
    _timers: dict[str, tuple[KafkaTimer, KafkaTimer]] = field(factory=dict)

    def handled(self, request: Any, waited_us: int, service_us: int) -> None:
        """``request`` was in the queue and then in a thread for so long."""
        name = request.api.name
        if isinstance(request, FetchRequest):
            name += "Consumer" if request.replica_id == CONSUMER else "Follower"
        queue_time, local_time = self._timers.get(name) or self._register(name)
        queue_time.update(waited_us)
        local_time.update(service_us)

    def _register(self, request: str) -> tuple[KafkaTimer, KafkaTimer]:
        of_request = [
            self.process.metrics.timer(mbean("kafka.network", "RequestMetrics", name, request=request))
            for name in ("RequestQueueTimeMs", "LocalTimeMs")
        ]
        timers = self._timers[request] = of_request[0], of_request[1]
        return timers


@define(eq=False)
class RequestHandlerPool:
    """The threads of one broker. ``receive`` is what its listener calls.

    A thread that is free takes a request at once, so while requests wait every thread is occupied.

    Attributes:
        threads: num.io.threads.
        most_queued: queued.max.requests: while so many wait, no more is read from any connection.
        queue: the requests that wait for a thread.
        unread: requests that wait on their connections for room in the queue, in the order of their arrival.
        busy: the threads that are occupied.
    """

    process: Process
    router: Router
    times: ServiceTimes
    threads: int
    most_queued: int
    queue: deque[ReceivedRequest] = field(factory=deque)
    unread: deque[ReceivedRequest] = field(factory=deque)
    busy: int = 0
    _metrics: RequestMetrics = field(init=False)
    _pending: PendingWork = field(init=False)
    _free_us: int = 0
    """The time at which every thread is free that is occupied now."""

    @classmethod
    def configured(
        cls, process: Process, router: Router, times: ServiceTimes, config: BrokerConfig
    ) -> "RequestHandlerPool":
        return cls(process, router, times, config.num_io_threads, config.queued_max_requests)

    def __attrs_post_init__(self) -> None:
        name = mbean("kafka.network", "RequestChannel", "RequestQueueSize")
        size = self.process.metrics.sampled(name, self.queue.__len__)
        self._metrics = RequestMetrics(self.process, size)
        self._pending = PendingWork(self.process)

    def receive(self, request: Any, channel: Channel) -> None:
        """A request has come, and no other one of its connection is being handled."""
        if self.router.holds:
            self.router.handle(request, channel)
            return
        cause, now_us = self.process.node.trace.cause, self.process.metrics.time_us()
        received = ReceivedRequest(request, channel, cause, now_us, self.times.of_us(request))
        if self._is_free():
            self._take(received)
            self._go_on()
            return
        if len(self.queue) < self.most_queued:
            self.queue.append(received)
            self._metrics.size.changed()
        else:
            self.unread.append(received)
        self._hold()

    def _is_free(self) -> bool:
        """Whether a thread is free: it neither works nor waits for a lock."""
        return self.busy + self.router.occupied() < self.threads

    def lock_released(self, _tp: TopicPartition) -> None:
        """Threads that waited for the lock of a partition may be free."""
        self._go_on()

    def _go_on(self) -> None:
        """Let the threads that are free take what waits."""
        queue = self.queue
        if not queue:
            return
        while queue and self._is_free():
            received = queue.popleft()
            self._fill()
            self._take(received)
        self._metrics.size.changed()
        if queue:
            self._hold()
        else:
            self._pending.release()

    def _hold(self) -> None:
        """Requests wait, so the world is not settled, at least until the threads are free that are occupied now."""
        self._pending.hold(max(self._free_us - self.process.metrics.time_us(), 1))

    def _fill(self) -> None:
        """There is room in the queue: read on from the connections. Those that have been closed have nothing to read;
        what was read before that is handled all the same, as in Kafka."""
        unread = self.unread
        while unread and len(self.queue) < self.most_queued:
            received = unread.popleft()
            if not received.channel.endpoint.done:
                self.queue.append(received._replace(received_us=self.process.metrics.time_us()))

    def _take(self, received: ReceivedRequest) -> None:
        """A thread takes a request."""
        self.busy += 1
        if received.service_us:
            self._work(Work(received, received.service_us, self.process.metrics.time_us()))
        else:
            self._handle(received, 0)

    def _work(self, work: Work) -> None:
        """A thread works on. On slow processors it looks from time to time whether they are faster now."""
        now_us, slowness, total_us = self.process.metrics.time_us(), self.process.node.slowness, work.left_us
        part_us = total_us if slowness == 1 else min(total_us, 1 + work.received.service_us // PARTS)
        self._free_us = max(self._free_us, now_us + total_us * slowness)
        going_on = work._replace(since_us=now_us, slowness=slowness)
        background = _is_empty_poll(work.received.request)
        self.process.call_later(part_us * slowness, self._worked, going_on, background=background)

    def _worked(self, work: Work) -> None:
        now_us = self.process.metrics.time_us()
        left_us = work.left_us - (now_us - work.since_us) // work.slowness
        if left_us > 0:
            self._work(work._replace(left_us=left_us))
            return
        self._handle(work.received, now_us - work.taken_us)
        self._go_on()

    def _handle(self, received: ReceivedRequest, service_us: int) -> None:
        """Handle a request that has had so much service time."""
        request, channel, self.process.node.trace.cause, received_us, _ = received
        spent_us = self.process.metrics.time_us() - received_us
        self._metrics.handled(request, spent_us - service_us, service_us)
        self.router.handle(request, channel)
        if channel.endpoint.done:
            channel.forget()  # the connection went before the request was handled: what it opened goes too
        self.busy -= 1


def _is_empty_poll(request: Any) -> bool:
    """Whether it is one of the long polls that do not keep the world from being settled (``Endpoint.send``)."""
    return isinstance(request, FetchRequest) and not (request.positions or request.forgotten)
