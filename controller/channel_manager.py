"""One queue and one connection to each broker, one request in flight, retried until the broker is gone.

Source: kafka-behaviour §7.1. When the controller resigns or the broker leaves, queued requests are dropped; one that is
in flight is not.
"""

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from attrs import define, field

from controller.metrics.channels import QueueMetrics, total_queue_size
from emulator.kernel import Busy, Mailbox, Task
from emulator.metrics import SampledGauge
from emulator.network import Client, Disconnected, Network
from emulator.nodes import Process
from emulator.protocol.address import LISTENER
from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered, ControlQueued
from emulator.protocol.events import ControlRequest
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.update_metadata import UpdateMetadataRequest

NAMED = 3
"""The number of partitions that the detail of a trace event names."""

Request = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest
Done = Callable[[Any], None]


@define(eq=False, repr=False)
class RequestSendThread:
    """The queue and the connection to one broker.

    Attributes:
        retry_pause_us: the pause between two attempts at one request (100 ms in Kafka).
        retries: whether a request whose connection is lost is sent again until it is answered.
        total: the gauge of all queues.
    """

    process: Process
    network: Network
    broker: int
    timeout_us: int
    retry_pause_us: int
    retries: bool
    total: SampledGauge
    _queue: Mailbox = field(init=False)
    _metrics: QueueMetrics = field(init=False)
    _client: Client = field(init=False)
    _task: Task = field(init=False)
    _closed: bool = False

    def __attrs_post_init__(self) -> None:
        self._queue = Mailbox(self.process.world, f"control requests of {self.process.name} to {self.broker}")
        self._metrics = QueueMetrics(self.process.metrics, self.broker, self._queue.__len__, self.total)
        self._client = Client(self.network, self.process, self.broker, LISTENER, self.timeout_us)
        self._task = self.process.spawn(self._live, name=f"to broker {self.broker}", cancellable=True)

    @property
    def waiting(self) -> int:
        """The number of requests in the queue."""
        return len(self._queue)

    def put(self, request: Request, done: Done | None = None) -> None:
        """Queue ``request``; ``done`` is called with the response."""
        self.process.show(ControlQueued, self.process.node.id, self.broker, request)
        self._queue.put((request, done, self.process.node.trace.cause, self.process.clock_us))
        self._metrics.changed()

    def close(self, *, resigns: bool = False) -> None:
        """Stop for good, dropping what is queued. ``resigns``: the broker is not the controller any more, and closes
        all its channels."""
        if not self._closed:
            self.process.show(ControlChannelClosed, self.process.node.id, self.broker, resigns)
            self._metrics.ended()
        self._closed = True
        self._queue.clear()
        self._client.close()
        self._task.cancel()

    def leave(self) -> None:
        """Send what is queued, and then end: nothing more is put, and nothing closes the channel. Kafka's thread would
        retry for as long as the process lives. This one gives a request up with its connection: a cluster that waits
        for a broker that never comes back would never settle."""
        self.retries = False

    async def _live(self) -> None:
        while not self._closed:
            request, done, cause, put_us = await self._queue.get()
            self._metrics.taken(self.process.clock_us - put_us)
            with Busy(self.process.world):
                await self._deliver(request, done, cause)

    async def _deliver(self, request: Request, done: Done | None, cause: int) -> None:
        trace = self.process.node.trace
        while True:
            trace.cause = cause
            event = self.process.anchor(ControlRequest, *self._described(request))
            try:
                answer = await self._client.call(request, request.size)
            except Disconnected:
                if not self.retries:
                    return
                await self.process.world.sleep(self.retry_pause_us)
                continue
            trace.cause = event.seq
            self.process.show(ControlDelivered, self.process.node.id, self.broker, request)
            if done is not None and not self._closed:
                done(answer)
            return

    def _described(self, request: Request) -> tuple[object, ...]:
        names = [str(tp) for tp in islice(request.topic_partitions(), NAMED)]
        more = len(request.partitions) - NAMED
        detail = ", ".join(names) + (f" and {more} more" if more > 0 else "")
        if isinstance(request, StopReplicaRequest):
            detail = (detail or "no replica") + (" (delete)" if request.delete_partitions else " (keep)")
        return (
            request.api.name, self.process.node.id, self.broker, request.controller_epoch, request.broker_epoch,
            len(request.partitions), detail,
        )  # fmt: skip


@define(eq=False, repr=False)
class ControllerChannelManager:
    """The request send threads by broker."""

    process: Process
    network: Network
    timeout_us: int
    retry_pause_us: int
    retries: bool
    _threads: dict[int, RequestSendThread] = field(factory=dict)
    _total: SampledGauge = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._total = total_queue_size(
            self.process.metrics, lambda: sum(thread.waiting for thread in self._threads.values())
        )

    @property
    def brokers(self) -> tuple[int, ...]:
        return tuple(self._threads)

    def startup(self, brokers: Iterable[int]) -> None:
        """Open a channel to each broker, with an empty queue, as a failover does.

        There are old channels where the controller has not resigned since the last failover: it had failed, and
        /controller was another broker's by then (KafkaController.triggerControllerMove, 2.1 to 3.9). Those only send
        what they have queued.
        """
        for broker in brokers:
            left = self._threads.pop(broker, None)
            if left is not None:
                left.leave()
            self.add(broker)

    def add(self, broker: int) -> None:
        if broker not in self._threads:
            self._threads[broker] = RequestSendThread(
                self.process,
                self.network,
                broker,
                self.timeout_us,
                self.retry_pause_us,
                self.retries,
                self._total,
            )

    def remove(self, broker: int) -> None:
        thread = self._threads.pop(broker, None)
        if thread is not None:
            thread.close()

    def clear(self) -> None:
        """Close all channels: the broker is not the controller any more."""
        for broker in list(self._threads):
            self._threads.pop(broker).close(resigns=True)

    def send(self, broker: int, request: Request, done: Done | None = None) -> None:
        """Queue a request. Without a channel to the broker it is lost, as in Kafka."""
        thread = self._threads.get(broker)
        if thread is not None:
            thread.put(request, done)
