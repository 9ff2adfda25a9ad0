"""Request handler threads and the queue before them (KafkaRequestHandlerPool and RequestChannel, 2.3)."""

from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define, field

from brokers.requests.handler_pool import RequestHandlerPool
from brokers.requests.router import Router
from brokers.service import ServiceTime, ServiceTimes
from emulator.metrics.metric_events import GaugeSet, TimerUpdated
from emulator.network import Channel, Endpoint, NetworkSpec, serve
from emulator.nodes import Process
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from tests.emulator.network.site import Site, on_site

MS = 1000
PORT = "p"
SPEC = NetworkSpec(latency_us=0, jitter_us=0)
TP = TopicPartition("t", 0)

SLOW = StopReplicaRequest(0, 1, -1, False, (TP,))
QUICK = MetadataRequest(())
EMPTY_POLL = FetchRequest(1, 1, 1, 500 * MS, 1, 10_000, 1_000, (), ())


@define(eq=False)
class Handlers:
    """A broker at which a StopReplica takes 10 ms, and 2 ms more for each partition, a Fetch 10 ms, and all else no
    time.

    Attributes:
        answered: by which client, what, and when.
    """

    site: Site
    process: Process
    pool: RequestHandlerPool
    router: Router
    began_us: int
    handled: list[tuple[int, str, int]] = field(factory=list)
    answered: list[tuple[int, str, int]] = field(factory=list)

    @property
    def now_ms(self) -> int:
        return (self.site.world.now - self.began_us) // MS

    def handle(self, request: Any, channel: Channel) -> None:
        self.handled.append((channel.client, request.api.name, self.now_ms))
        channel.reply(request, 10)

    async def connect(self, client: int) -> Endpoint:
        def answer(request: Any) -> None:
            self.answered.append((client, request.api.name, self.now_ms))

        return self.site.network.connect(await self.site.process(client), 0, PORT, answer)


def with_handlers(body: Callable[[Handlers], Awaitable[object]], *, threads: int, most_queued: int = 500) -> Handlers:
    """``body`` with a broker on machine 0."""

    async def main(site: Site) -> Handlers:
        process, router = await site.process(0), Router()
        times = ServiceTimes({StopReplicaRequest: ServiceTime(10 * MS, 2 * MS), FetchRequest: ServiceTime(10 * MS, 0)})
        pool = RequestHandlerPool(process, router, times, threads, most_queued)
        handlers = Handlers(site, process, pool, router, site.world.now)
        router.on(StopReplicaRequest, handlers.handle)
        router.on(MetadataRequest, handlers.handle)
        router.on(FetchRequest, handlers.handle)
        serve(site.network, process, PORT, pool.receive)
        await body(handlers)
        return handlers

    found: Handlers = on_site(main, spec=SPEC)
    return found


def test_a_request_takes_its_time_and_has_its_effect_at_the_end() -> None:
    async def body(broker: Handlers) -> None:
        (await broker.connect(1)).send(SLOW, 10)
        await broker.site.world.sleep(5 * MS)
        assert (broker.pool.busy, broker.handled) == (1, [])
        await broker.site.world.sleep(10 * MS)
        assert broker.pool.busy == 0

    broker = with_handlers(body, threads=8)
    assert broker.handled == broker.answered == [(1, "StopReplica", 12)]


def test_each_partition_that_a_request_names_takes_its_time() -> None:
    times = ServiceTimes({StopReplicaRequest: ServiceTime(10, 2)})
    many = tuple(TopicPartition("t", number) for number in range(100))
    assert times.of_us(StopReplicaRequest(0, 1, -1, False, many)) == 210
    assert times.of_us(QUICK) == 0


def test_a_slow_request_holds_back_the_next_of_its_connection_alone() -> None:
    """A free thread takes the other clients' requests at once (SocketServer mutes one channel)."""

    async def body(broker: Handlers) -> None:
        one, two = await broker.connect(1), await broker.connect(2)
        one.send(SLOW, 10)
        one.send(QUICK, 10)
        two.send(QUICK, 10)
        await broker.site.world.sleep(20 * MS)

    broker = with_handlers(body, threads=2)
    assert broker.answered == [(2, "Metadata", 0), (1, "StopReplica", 12), (1, "Metadata", 12)]


def test_requests_of_all_connections_wait_in_one_line() -> None:
    """First in, first out, also those that take no time: with one thread all wait for it."""

    async def body(broker: Handlers) -> None:
        ends = [await broker.connect(client) for client in (1, 2, 3)]
        for end, request in zip(ends, (SLOW, QUICK, SLOW), strict=True):
            end.send(request, 10)
        ends[0].send(SLOW, 10)
        await broker.site.world.sleep(100 * MS)

    broker = with_handlers(body, threads=1)
    assert broker.answered == [
        (1, "StopReplica", 12),
        (2, "Metadata", 12),
        (3, "StopReplica", 24),
        (1, "StopReplica", 36),
    ]


def test_a_full_queue_leaves_requests_on_their_connections() -> None:
    """What was read is handled although its client has gone; what was not read goes with the connection."""

    async def body(broker: Handlers) -> None:
        ends = [await broker.connect(client) for client in (1, 2, 3, 4, 5)]
        for end in ends:
            end.send(SLOW, 10)
        await broker.site.world.sleep(1 * MS)
        assert [received.channel.client for received in broker.pool.queue] == [2, 3]
        assert [received.channel.client for received in broker.pool.unread] == [4, 5]
        ends[1].close()
        ends[3].close()
        await broker.site.world.sleep(100 * MS)
        assert (broker.pool.busy, len(broker.pool.queue), len(broker.pool.unread)) == (0, 0, 0)

    broker = with_handlers(body, threads=1, most_queued=2)
    assert [client for client, *_ in broker.handled] == [1, 2, 3, 5]
    assert [client for client, *_ in broker.answered] == [1, 3, 5]


def test_a_long_line_of_requests_that_take_no_time_does_not_recurse() -> None:
    async def body(broker: Handlers) -> None:
        ends = [await broker.connect(1 + client) for client in range(1200)]
        for end in ends:
            end.send(SLOW if end is ends[0] else QUICK, 10)
        await broker.site.world.sleep(100 * MS)

    assert len(with_handlers(body, threads=1, most_queued=2000).answered) == 1200


def test_the_queue_dies_with_its_broker_and_waits_with_it() -> None:
    async def body(broker: Handlers) -> None:
        ends = [await broker.connect(client) for client in (1, 2)]
        for end in ends:
            end.send(SLOW, 10)
        await broker.site.world.sleep(1 * MS)
        broker.process.pause()
        await broker.site.world.sleep(99 * MS)
        assert broker.handled == []
        broker.process.resume()
        await broker.site.world.sleep(1 * MS)
        assert [client for client, *_ in broker.handled] == [1]
        broker.process.node.crash()
        await broker.site.world.sleep(100 * MS)
        assert broker.site.world.foreground == 0

    assert [client for client, *_ in with_handlers(body, threads=1).handled] == [1]


def test_requests_that_wait_keep_the_world_from_being_settled() -> None:
    async def body(broker: Handlers) -> None:
        (await broker.connect(1)).send(SLOW, 10)
        (await broker.connect(2)).send(SLOW, 10)
        await broker.site.world.sleep(1 * MS, background=True)
        assert broker.site.world.foreground > 0
        await broker.site.world.sleep(50 * MS, background=True)
        assert broker.site.world.foreground == 0

    with_handlers(body, threads=1)


def test_requests_that_wait_behind_an_empty_poll_keep_it_from_being_settled_until_the_thread_is_free() -> None:
    """The poll itself does not."""

    async def body(broker: Handlers) -> None:
        (await broker.connect(1)).send(EMPTY_POLL, 10)
        await broker.site.world.sleep(1 * MS, background=True)
        assert broker.site.world.foreground == 0
        (await broker.connect(2)).send(QUICK, 10)
        await broker.site.world.sleep(8 * MS, background=True)
        assert broker.site.world.foreground > 0
        await broker.site.world.sleep(50 * MS, background=True)
        assert broker.site.world.foreground == 0

    assert with_handlers(body, threads=1).handled == [(1, "Fetch", 10), (2, "Metadata", 10)]


def test_a_broker_that_is_starting_reads_nothing() -> None:
    async def body(broker: Handlers) -> None:
        broker.router.hold()
        (await broker.connect(1)).send(SLOW, 10)
        await broker.site.world.sleep(50 * MS)
        assert broker.pool.busy == 0
        broker.router.open()
        await broker.site.world.sleep(50 * MS)

    assert with_handlers(body, threads=1).answered == [(1, "StopReplica", 62)]


def test_the_queue_and_the_times_in_it_are_measured() -> None:
    sizes: list[int] = []
    times: list[tuple[str, int]] = []

    async def body(broker: Handlers) -> None:
        broker.site.trace.fold(GaugeSet, lambda event: sizes.append(event.value))
        broker.site.trace.fold(TimerUpdated, lambda event: times.append((event.metric, event.duration_us // MS)))
        ends = [await broker.connect(client) for client in range(1, 21)]
        for end in ends:
            end.send(SLOW, 10)
        await broker.site.world.sleep(1000 * MS)

    with_handlers(body, threads=1)
    assert sizes == [11, 3, 0]
    name = "kafka.network:type=RequestMetrics,name={},request=StopReplica"
    assert [time for metric, time in times if metric == name.format("RequestQueueTimeMs")] == list(range(0, 240, 12))
    assert [time for metric, time in times if metric == name.format("LocalTimeMs")] == [12] * 20


def test_processors_that_get_faster_are_faster_for_what_is_under_way() -> None:
    """A tenth of 12 ms takes 120 ms at a hundredth of the speed, and the rest 11 ms."""

    async def body(here: Handlers) -> None:
        here.process.node.slowness = 100
        client = await here.connect(1)
        client.send(SLOW, 10)
        await here.site.world.sleep(100 * MS)
        here.process.node.slowness = 1
        await here.site.world.sleep(1_000 * MS)

    assert [at for _, _, at in with_handlers(body, threads=1).handled] == [130]


def test_a_router_that_holds_nothing_can_be_opened() -> None:
    router = Router()
    router.open()
    assert not router.holds
