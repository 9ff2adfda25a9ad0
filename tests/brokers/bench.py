"""One broker's replica manager on a bench: ZooKeeper, the network and the fetchers are written down, not run, and the
test sets the clock. Everything a broker does is one synchronous transition, so no world has to run."""

from collections.abc import Callable
from heapq import heappop
from typing import Any, TypeVar, cast

import trio
from attrs import define, field

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.partition.isr import AlterIsrManager
from brokers.partition.partition import Partition
from brokers.partition.remote import RemoteReplica
from brokers.replica_manager import ReplicaManager
from brokers.replica_manager.alter_isr import ZkIsrManager
from brokers.requests.control import ControlHandler
from brokers.requests.delete_records import DeleteRecordsHandler
from brokers.requests.fetch import FetchHandler
from brokers.requests.offsets import OffsetsHandler
from brokers.requests.produce import ProduceHandler
from brokers.requests.router import Router
from emulator.kernel import World
from emulator.network import Channel
from emulator.nodes import Node, Process
from emulator.protocol.fetch import FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from emulator.protocol.types import Batch, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.trace import Trace
from emulator.zookeeper import Stat, ZkClient, ZkCode, ZkResponse
from fetchers.manager import ReplicaFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.quota import Throttle

E = TypeVar("E")
TP = TopicPartition("t", 0)
ME = 0
MS = 1000
BATCH_BYTES = 100
LAG = 100 * MS


@define(eq=False)
class Unconnected:
    """The end of a connection whose other end is no machine."""

    peer: None = None
    done: bool = False


@define(eq=False)
class Line:
    """A client's connection: the responses, and whether the broker closed it."""

    endpoint: Unconnected = field(factory=Unconnected)
    replies: list[Any] = field(factory=list)
    backgrounds: list[bool] = field(factory=list)
    released: int = 0
    hung_up: bool = False
    forgotten: bool = False
    on_close: Callable[[], object] | None = None

    def reply(self, response: Any, size: int, background: bool = False, held: bool = False) -> None:
        assert size > 0
        self.replies.append(response)
        self.backgrounds.append(background)

    def release(self) -> None:
        self.released += 1

    def close(self) -> None:
        self.hung_up = True

    def forget(self) -> None:
        self.forgotten = True

    @property
    def last(self) -> Any:
        return self.replies[-1]


@define(eq=False)
class NotedFetchers:
    """Records the calls of a replica manager to its fetchers."""

    policies: FetcherPolicies = field(factory=FetcherPolicies)
    added: list[InitialFetchState] = field(factory=list)
    removed: list[TopicPartition] = field(factory=list)
    swept: int = 0

    def add_fetcher_for_partitions(self, starts: list[InitialFetchState]) -> None:
        self.added += starts

    def remove_fetcher_for_partitions(self, partitions: Any, *, stopped: bool = False) -> None:
        self.removed += partitions

    def shutdown_idle_fetcher_threads(self) -> None:
        self.swept += 1


@define(eq=False)
class NotedZk:
    """The writes that wait for ZooKeeper's answer."""

    waiting: list[tuple[Any, Callable[[ZkResponse], object]]] = field(factory=list)

    def submit(self, operation: Any, callback: Callable[[ZkResponse], object]) -> None:
        self.waiting.append((operation, callback))

    def answer(self, code: ZkCode, version: int = 0, data: str = "") -> Any:
        """Answer the oldest operation and return it."""
        operation, callback = self.waiting.pop(0)
        callback(ZkResponse(code, operation.path, data, Stat(version, 0, 0, 0, 0, 0)))
        return operation


def config(**changes: Any) -> BrokerPolicies:
    return BrokerPolicies(BrokerConfig(**changes))


class Bench:
    """A replica manager with its request handlers. ``TP`` is assigned to brokers 0 (this one), 1 and 2 unless a test
    says otherwise."""

    def __init__(
        self,
        policies: BrokerPolicies | None = None,
        throttle: Throttle | None = None,
        alter_isr: AlterIsrManager | None = None,
    ) -> None:
        self.world = World(1)
        self.trace = Trace(self.world)
        self.node = Node(self.world, self.trace, ME, "broker-0", cast(trio.Nursery, None))
        self.policies = policies or BrokerPolicies()
        self.throttle = throttle
        self.alter_isr = alter_isr
        self.restart()

    def restart(self) -> None:
        """A new incarnation on the same disk."""
        self.process = Process(self.node, 1)
        self.zk = NotedZk()
        self.fetchers = NotedFetchers()
        self.manager = ReplicaManager(
            self.process,
            cast(ZkClient, self.zk),
            cast(ReplicaFetcherManager, self.fetchers),
            self.policies,
            self.throttle,
            alter_isr=self.alter_isr,
        )
        self.manager.metadata.update(UpdateMetadataRequest(9, 1, -1, (), (0, 1, 2, 3)))
        self.control = ControlHandler(self.manager)
        self.fetch_handler = FetchHandler(self.manager)
        self.produces = ProduceHandler(self.manager)
        self.router = Router(self.manager.purgatory.complete)
        for handler in (
            self.produces, self.fetch_handler,
            OffsetsHandler(self.manager), self.control, DeleteRecordsHandler(self.manager),
        ):  # fmt: skip
            self.router.add(handler)

    def send(self, request: Any, line: Line | None = None) -> Line:
        """Let the broker handle ``request``, which came on ``line``."""
        line = line or Line()
        self.router.handle(request, cast(Channel, line))
        return line

    def propagate_isr_changes(self) -> None:
        """The periodic isr-change-propagation, where leaders write their ISRs themselves."""
        assert isinstance(self.manager.alter_isr, ZkIsrManager)
        self.manager.alter_isr.propagation.maybe_propagate()

    def expire_isrs(self) -> None:
        """The periodic check of all ISRs."""
        self.manager.purgatory.completing(self.manager.maybe_shrink_isr)()

    @property
    def partition(self) -> Partition:
        return self.manager.partitions[TP]

    def remote(self, broker: int) -> RemoteReplica:
        return self.partition.remotes[broker]

    def see(self, kind: type[E]) -> list[E]:
        """The events of ``kind`` from now on."""
        seen: list[E] = []
        self.trace.fold(kind, seen.append)
        return seen

    def at(self, t_us: int) -> None:
        assert t_us >= self.world.now
        self.trace.record_collected()  # the transition is over
        self.world.now = t_us

    # -- control requests --------------------------------------------------------------------------------------

    def wait(self, us: int) -> None:
        """Let time pass: timers that are due by then fire."""
        heap, until_us = self.world._heap, self.world.now + us
        while heap and heap[0][0] <= until_us:
            t_us, _since, _sequence, call, argument = heappop(heap)
            self.at(t_us)
            call(argument)
        self.at(until_us)

    def leader_and_isr(self, *states: LeaderAndIsrPartition, controller_epoch: int = 1, broker_epoch: int = -1) -> Any:
        return self.send(LeaderAndIsrRequest(9, controller_epoch, broker_epoch, states, ())).last

    def lead(
        self,
        epoch: int = 0,
        isr: tuple[int, ...] = (0, 1, 2),
        version: int = 0,
        tp: TopicPartition = TP,
        replicas: tuple[int, ...] = (0, 1, 2),
    ) -> Partition:
        """Become leader; fails where the request is refused."""
        response = self.leader_and_isr(state(ME, epoch, isr, version=version, tp=tp, replicas=replicas))
        assert not response.partitions[0][1]
        self.learn(tp, ME)
        return self.manager.partitions[tp]

    def follow(self, leader: int = 1, epoch: int = 0) -> Partition:
        response = self.leader_and_isr(state(leader, epoch))
        assert not response.partitions[0][1]
        self.learn(TP, leader)
        return self.partition

    def learn(self, tp: TopicPartition, leader: int, topic_id: str = "") -> None:
        """As the controller sends every broker after a LeaderAndIsr; leader -2: the topic is being deleted."""
        metadata = PartitionMetadata(tp, 1, leader, 0, (0, 1, 2), 0, (0, 1, 2), ())
        self.manager.metadata.update(
            UpdateMetadataRequest(9, 1, -1, (metadata,), (0, 1, 2, 3), {tp.topic: topic_id} if topic_id else {})
        )

    # -- clients and followers ---------------------------------------------------------------------------------

    def produce(
        self, *tps: TopicPartition, acks: int = 1, count: int = 1, size: int = BATCH_BYTES, timeout_us: int = 1_000_000
    ) -> Line:
        """One request with a batch for each of ``tps`` (``TP`` alone if there are none)."""
        batches = tuple(ProducedBatch(tp, count, size, 7) for tp in tps or (TP,))
        return self.send(ProduceRequest(acks, timeout_us, batches, size))

    def expire_produces(self, partition: Partition | None = None) -> None:
        """Let the produces that wait at ``TP``, or at another partition, time out."""
        delayed = (partition or self.partition).delayed
        assert delayed is not None
        for *_, produce in list(delayed):
            produce.expire()

    def follower(self, broker: int, **limits: int) -> "Follower":
        return Follower(self, broker, limits)


@define(eq=False)
class Follower:
    """A follower's requests, on a connection and in a session of its own."""

    bench: Bench
    broker: int
    limits: dict[str, int] = field(factory=dict)
    line: Line = field(factory=Line)
    session: int = 0
    requests: int = 0

    def fetch(
        self,
        *wanted: tuple[TopicPartition, int, int],
        forgotten: tuple[TopicPartition, ...] = (),
        session_epoch: int | None = None,
        start: int = 0,
    ) -> FetchResponse | None:
        """One request that names ``(partition, leader epoch, offset)``, of logs that begin at ``start``; its answer, if
        it comes at once."""
        answered = len(self.line.replies)
        partitions = tuple(FetchPartition(tp, epoch, offset, start) for tp, epoch, offset in wanted)
        epoch = self.requests if session_epoch is None else session_epoch
        limits = {"max_wait_us": 500_000, "min_bytes": 1, "max_bytes": 10_000, "max_partition_bytes": 1000}
        limits |= self.limits
        request = FetchRequest(self.broker, self.session, epoch, **limits, partitions=partitions, forgotten=forgotten)
        self.bench.send(request, self.line)
        self.requests += 1
        return self.answer(answered)

    def at(self, offset: int, epoch: int = 0, start: int = 0) -> FetchResponse | None:
        """Read ``TP`` there."""
        return self.fetch((TP, epoch, offset), start=start)

    def expire(self) -> FetchResponse | None:
        """Let the long poll end; its answer."""
        answered = len(self.line.replies)
        (session,) = (s for s in self.bench.fetch_handler.sessions.values() if s.replica == self.broker)
        delayed = session.delayed
        assert delayed.request is not None
        self.bench.at(self.bench.world.now + delayed.request.max_wait_us)
        delayed.expire(None)
        return self.answer(answered)

    def answer(self, after: int) -> FetchResponse | None:
        if len(self.line.replies) == after:
            return None
        response: FetchResponse = self.line.last
        self.session = response.session_id
        return response


def state(
    leader: int,
    epoch: int,
    isr: tuple[int, ...] = (0, 1, 2),
    *,
    version: int = 0,
    replicas: tuple[int, ...] = (0, 1, 2),
    tp: TopicPartition = TP,
) -> LeaderAndIsrPartition:
    return LeaderAndIsrPartition(tp, 1, leader, epoch, isr, version, replicas, False)


def batch(base: int, epoch: int = 0, count: int = 1, size: int = BATCH_BYTES, id: int = 1) -> Batch:
    return Batch(base, base + count, epoch, size, id)


def lag_bench() -> Bench:
    """A bench at 5 s whose replica.lag.time.max is ``LAG``."""
    bench = Bench(config(replica_lag_time_max_us=LAG))
    bench.at(5_000 * MS)
    return bench


def caught_up(bench: Bench, *brokers: int) -> list[Follower]:
    """Followers that have read ``TP`` at offset 0."""
    followers = [bench.follower(broker) for broker in brokers]
    for follower in followers:
        follower.at(0)
    return followers
