"""Idle work is jumped over exactly: the same trace as if every poll, ping and tick had been simulated.

Random histories are played twice, with ``World(simulate_idle=True)`` and without. Some networks have no jitter, so that
polls and faults often fall on the same microsecond.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, NamedTuple

from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st

from brokers.broker import BrokerSpec
from brokers.broker_policies import BrokerPolicies
from brokers.service import ServiceTime, ServiceTimes
from emulator.kernel import World
from emulator.network import NetworkSpec
from emulator.network.delay import Delay
from emulator.network.interceptors import Edge, Hold, InterceptedMessage
from emulator.protocol.fetch import FetchRequest, FetchResponse
from emulator.protocol.produce import ProduceRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS, topic_entity
from emulator.schedules import Schedule
from emulator.zookeeper import ZOOKEEPER
from emulator.zookeeper.zk_errors import ZkError
from scenarios.cluster.clients.operator import Operator
from scenarios.cluster.clients.tools import config_command, reassign, topic_command
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import Cluster, ClusterSetup, TopicSetup

BROKERS = 3
TOPIC = "orders"


class Deed(NamedTuple):
    """One thing that happens in an idle cluster: ``wait_us`` after the one before, ``what`` is done to broker ``a``, or
    between it and the machine ``b``."""

    wait_us: int
    what: str
    a: int
    b: int


async def quietly(operator: Operator, command: Callable[..., Awaitable[object]], *args: Any) -> None:
    """Two commands at once may get into each other's way."""
    with suppress(ZkError):
        await command(operator, *args)


def machine(cluster: Cluster, broker: int) -> Any:
    process = cluster.nodes[broker].process
    return process if process is not None and process.alive else None


def pause(cluster: Cluster, deed: Deed) -> None:
    process = machine(cluster, deed.a)
    if process is not None and not process.paused:
        process.pause()


def resume(cluster: Cluster, deed: Deed) -> None:
    process = machine(cluster, deed.a)
    if process is not None and process.paused:
        process.resume()


def crash(cluster: Cluster, deed: Deed) -> None:
    cluster.crash_broker(deed.a, "host" if deed.b == ZOOKEEPER else "process")


def start(cluster: Cluster, deed: Deed) -> None:
    if machine(cluster, deed.a) is None:
        cluster.start_broker(deed.a)


def shut_down(cluster: Cluster, deed: Deed) -> None:
    if machine(cluster, deed.a) is not None:
        cluster.shut_down_broker(deed.a)


def cut(cluster: Cluster, deed: Deed) -> None:
    cluster.network.cut(deed.a, deed.b)


def heal(cluster: Cluster, deed: Deed) -> None:
    cluster.network.heal(deed.a, deed.b)
    cluster.network.heal(deed.b, deed.a)


def slow(cluster: Cluster, deed: Deed) -> None:
    cluster.network.delay(deed.a, deed.b, Delay(20_000, 500))


def crawl(cluster: Cluster, deed: Deed) -> None:
    """A request takes nearly as long as its sender waits for the answer."""
    cluster.network.delay(deed.a, deed.b, Delay(29_800_000))


def skew(cluster: Cluster, deed: Deed) -> None:
    cluster.nodes[deed.a].skew_us += (deed.b + 1) * 400_000 - 500_000


def produce(cluster: Cluster, deed: Deed) -> None:
    now = cluster.world.now
    cluster.start_producer(Workload((TopicPartition(TOPIC, deed.a),), 20, stop_us=now + 250_000))


def configure(cluster: Cluster, deed: Deed) -> None:
    entity, config = topic_entity(TOPIC), {"follower.replication.throttled.replicas": "*"}
    if deed.b == ZOOKEEPER:
        entity, config = ALL_BROKERS, {"num.replica.fetchers": str(1 + deed.a)}
    cluster.operator.begin(quietly, config_command.alter, [entity], config)


def move(cluster: Cluster, deed: Deed) -> None:
    replicas = tuple((deed.a + k) % BROKERS for k in range(2))
    cluster.operator.begin(quietly, reassign.execute, {TopicPartition(TOPIC, 0): replicas})


def create(cluster: Cluster, deed: Deed) -> None:
    replicas = {0: (deed.a, (deed.a + 1) % BROKERS)}
    cluster.operator.begin(quietly, topic_command.create, f"topic-{cluster.world.now}", replicas, {})


def expire(cluster: Cluster, deed: Deed) -> None:
    cluster.zookeeper.expire(deed.a)


def outage(cluster: Cluster, deed: Deed) -> None:
    """ZooKeeper goes, or comes back, with all sessions or without those of some brokers."""
    if cluster.zookeeper.stopped:
        cluster.zookeeper.start_again(range(deed.a))
    else:
        cluster.zookeeper.stop()


def hold(cluster: Cluster, deed: Deed) -> None:
    """Stop the next fetch request, or the next answer, for a second and a half."""
    kind = FetchRequest if deed.a else FetchResponse
    edge: Edge = "sent" if deed.a else "delivered"
    interceptors = cluster.network.interceptors
    holds: list[Hold] = []

    def see(passing: InterceptedMessage) -> None:
        if not holds:
            holds.append(passing.hold())
            cluster.world.call_later(1_500_000, lambda _: release())

    def release() -> None:
        interceptors.disarm(kind, edge, see)
        holds[0].release()

    interceptors.arm(kind, edge, see)


DEEDS: dict[str, Callable[[Cluster, Deed], None]] = {
    deed.__name__: deed
    for deed in (
        pause, resume, crash, start, shut_down, cut, heal, slow, crawl, skew, produce, configure, move, create, expire,
        hold, outage,
    )
}  # fmt: skip


class Outcome(NamedTuple):
    """The outcome on which two runs have to agree: all events, the draws and the counts."""

    events: list[Any]
    streams: dict[tuple[str, str], int]
    now_us: int


def play(
    seed: int,
    network: NetworkSpec,
    deeds: list[Deed],
    *,
    drawn: bool = True,
    simulate_idle: bool,
    service: ServiceTimes | None = None,
    schedule: Schedule | None = None,
) -> tuple[Outcome, int]:
    """The outcome of the history, and how many kernel events it took."""
    world = World(seed, simulate_idle=simulate_idle, schedule=schedule)
    assignment = {number: tuple((number + k) % BROKERS for k in range(BROKERS)) for number in range(4)}
    topic = TopicSetup(TOPIC, assignment)
    broker = BrokerSpec(BrokerPolicies(service=service))
    cluster = Cluster(world, ClusterSetup(BROKERS, broker, network=network, topics=(topic,), drawn_phases=drawn))
    events: list[Any] = []
    cluster.trace.sink(events.extend)

    async def drive(_: Cluster) -> None:
        await world.sleep(5_000_000, background=True)
        for deed in deeds:
            await world.sleep(deed.wait_us, background=True)
            DEEDS[deed.what](cluster, deed)
        await world.sleep(20_000_000, background=True)
        cluster.network.interceptors.parked.rouse()

    world.run(cluster.run, drive)
    cluster.trace.flush()
    streams = {name: stream.bits() for name, stream in world.streams._streams.items()}
    return Outcome(events, streams, world.now), world.events


WAITS = st.one_of(
    st.integers(0, 3_000_000),
    st.integers(0, 3000).map(lambda n: n * 500),
    st.sampled_from((0, 1, 500, 1_000, 500_000, 501_000, 6_000_000, 61_000_000)),
)
NETWORKS = st.sampled_from((NetworkSpec(), NetworkSpec(jitter_us=0), NetworkSpec(latency_us=2, jitter_us=1)))
MACHINES = st.sampled_from((0, 1, 2, ZOOKEEPER))
HISTORIES = st.lists(
    st.builds(Deed, WAITS, st.sampled_from(sorted(DEEDS)), st.integers(0, BROKERS - 1), MACHINES), max_size=8
)


SCHEDULES = (Schedule("random", 10_000), Schedule("pct", 10_000, 3), Schedule("pos", 10_000))


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@example(0, NetworkSpec(), [Deed(200_000_000, "pause", 0, 1)], False)
@example(1, NetworkSpec(jitter_us=0), [Deed(200_000_000, "produce", 0, 1), Deed(500_000, "skew", 0, 1)], False)
@given(st.integers(0, 1000), NETWORKS, HISTORIES, st.booleans())
def test_what_is_idle_is_jumped_over_exactly(seed: int, network: NetworkSpec, deeds: list[Deed], drawn: bool) -> None:
    """Aligned phases let more fall on the same microsecond."""
    jumped, few = play(seed, network, deeds, drawn=drawn, simulate_idle=False)
    simulated, many = play(seed, network, deeds, drawn=drawn, simulate_idle=True)
    assert jumped.events == simulated.events
    assert jumped == simulated
    event(f"a tenth of the events: {few * 10 <= many}")


def test_polls_that_wait_for_a_request_handler_are_simulated() -> None:
    service = ServiceTimes({FetchRequest: ServiceTime(200, 10), ProduceRequest: ServiceTime(1_000)})
    deeds = [Deed(30_000_000, what, place, 1) for place, what in enumerate(("produce", "move", "pause"))]
    jumped, few = play(1, NetworkSpec(), deeds, simulate_idle=False, service=service)
    simulated, many = play(1, NetworkSpec(), deeds, simulate_idle=True, service=service)
    assert jumped == simulated
    assert few < many  # pings and ticks


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.integers(0, 1000), st.sampled_from(SCHEDULES), NETWORKS, HISTORIES)
def test_a_schedule_leaves_only_ticks_to_be_jumped_over(
    seed: int, schedule: Schedule, network: NetworkSpec, deeds: list[Deed]
) -> None:
    """It draws for each message, so polls and pings are simulated."""
    jumped, few = play(seed, network, deeds, simulate_idle=False, schedule=schedule)
    simulated, many = play(seed, network, deeds, simulate_idle=True, schedule=schedule)
    assert jumped == simulated
    assert few < many


def test_an_idle_cluster_makes_few_events() -> None:
    _, few = play(1, NetworkSpec(), [Deed(600_000_000, "heal", 0, 1)], simulate_idle=False)
    _, many = play(1, NetworkSpec(), [Deed(600_000_000, "heal", 0, 1)], simulate_idle=True)
    assert few * 5 < many
