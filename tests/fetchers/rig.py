"""A follower's fetchers in a world of their own: the leader is a script that answers from plain logs, and the logs on
both sides are real ones."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from attrs import define, field

from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from emulator.disks import Disk
from emulator.kernel import Signal, World
from emulator.network import Disconnected
from emulator.nodes import Node, Process
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.offsets_for_leader_epoch import (
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.types import Batch, TopicPartition
from emulator.trace import Trace
from fetchers.manager import AbstractFetcherManager, ReplicaAlterLogDirsManager, ReplicaFetcherManager
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.quota import Throttle
from fetchers.thread import FetcherRounds, FetcherThread

E = TypeVar("E")
ME, LEADER = 2, 1
A, B = TopicPartition("t", 0), TopicPartition("t", 1)
MS = 1000
LATENCY_US = 2 * MS


def write(log: Log, *epochs: int) -> Log:
    """Append one record under each of ``epochs``."""
    for epoch in epochs:
        log.append(Batch(log.end_offset, log.end_offset + 1, epoch, 100, 1))
    return log


def new_log(tp: TopicPartition = A) -> Log:
    """An empty one, on a disk of its own."""
    return Log(LogDirectory(Disk()), tp)


@define(eq=False)
class Replica:
    """The follower's replica (fetchers.ports.FollowerLog)."""

    log: Log
    high_watermark: int = 0
    cuts: list[int] = field(factory=list)

    @property
    def log_end_offset(self) -> int:
        return self.log.end_offset

    @property
    def log_start_offset(self) -> int:
        return self.log.start_offset

    @property
    def latest_epoch(self) -> int:
        return self.log.epochs.latest

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        return self.log.epochs.end_offset_for(epoch, self.log.end_offset)

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        for batch in batches:
            self.log.append(batch)
        self.high_watermark = min(leader_high_watermark, self.log.end_offset)
        if leader_log_start > self.log.start_offset:
            self.log.raise_start_to(min(leader_log_start, self.log.end_offset))
        return self.log.end_offset

    def truncate_to(self, offset: int) -> None:
        self.log.truncate_to(offset)
        self.cuts.append(offset)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        self.log.truncate_fully_and_start_at(offset)
        self.cuts.append(offset)


@define(eq=False)
class Leader:
    """The scripted leader.

    Attributes:
        errors: what it answers for a partition instead of data, to requests of any kind.
        fetch_errors: the same to fetches alone.
        mistakes: which other partition it names in its answer about an epoch.
        hold: while set, answers wait for it; the requests are in ``asked``.
        down: it does not answer at all.
        asks_starts: it asks its followers where their logs begin.
        swaps: a copy that has everything takes the place of the current log; those that did are in ``swapped``.
        lines: the connections that were made, closed ones included.
    """

    world: World
    disk: LogDirectory = field(factory=lambda: LogDirectory(Disk()))
    logs: dict[TopicPartition, Log] = field(factory=dict)
    epochs: dict[TopicPartition, int] = field(factory=dict)
    marks: dict[TopicPartition, int] = field(factory=dict)
    errors: dict[TopicPartition, Errors] = field(factory=dict)
    fetch_errors: dict[TopicPartition, Errors] = field(factory=dict)
    mistakes: dict[TopicPartition, TopicPartition] = field(factory=dict)
    asked: list[Any] = field(factory=list)
    hold: Signal | None = None
    down: bool = False
    asks_starts: bool = False
    lines: list["Line"] = field(factory=list)
    swaps: bool = False
    copies: dict[TopicPartition, Replica] = field(factory=dict)
    swapped: list[TopicPartition] = field(factory=list)

    def leads(self, tp: TopicPartition, *epochs: int, epoch: int = 0) -> Log:
        """A log with one record under each of ``epochs``, led under ``epoch``."""
        self.logs[tp] = write(Log(self.disk, tp), *epochs)
        self.epochs[tp] = epoch
        return self.logs[tp]

    def connect(self, leader: int) -> "Line":
        assert leader == LEADER
        self.lines.append(Line(self))
        return self.lines[-1]

    # -- as this broker's own current logs (fetchers.ports.CurrentLogs) ------------------------------------------

    async def read(self, wanted: FetchPartition, max_bytes: int) -> FetchedPartition:
        self.asked.append(wanted)
        await self.world.sleep(LATENCY_US)
        if self.hold is not None:
            await self.hold.wait()
        return self.answer(wanted)

    def answer(self, wanted: FetchPartition) -> FetchedPartition:
        tp, log = wanted.tp, self.logs[wanted.tp]
        error = self.fetch_errors.get(tp) or self.error(tp, wanted.leader_epoch)
        if not error and not log.start_offset <= wanted.fetch_offset <= log.end_offset:
            error = Errors.OFFSET_OUT_OF_RANGE
        if error:
            return FetchedPartition(tp, error, -1, -1, ())
        epoch, end = log.epochs.end_offset_for(wanted.last_fetched_epoch, log.end_offset)
        if wanted.last_fetched_epoch >= 0 and (epoch < wanted.last_fetched_epoch or end < wanted.fetch_offset):
            if end < 0:
                return FetchedPartition(tp, Errors.OFFSET_OUT_OF_RANGE, -1, -1, ())
            return FetchedPartition(tp, error, -1, -1, (), (epoch, end))
        mark = self.marks.get(tp, log.end_offset)
        return FetchedPartition(tp, error, mark, log.start_offset, log.read(wanted.fetch_offset, 250))

    def epoch_end(self, query: EpochQuery) -> EpochEndOffset:
        error = self.error(query.tp, query.current_leader_epoch)
        if error:
            return EpochEndOffset(query.tp, error, -1, -1)
        log = self.logs[query.tp]
        named = self.mistakes.get(query.tp, query.tp)
        return EpochEndOffset(named, error, *log.epochs.end_offset_for(query.leader_epoch, log.end_offset))

    def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        log = self.logs[tp]
        return ListOffsetsResponse(tp, self.error(tp, leader_epoch), log.start_offset, log.end_offset)

    def replace(self, tp: TopicPartition) -> bool:
        done = self.swaps and self.copies[tp].log_end_offset == self.logs[tp].end_offset
        if done:
            self.swapped.append(tp)
        return done

    def requests(self, kind: type[E]) -> list[E]:
        return [request for request in self.asked if isinstance(request, kind)]

    def fetched(self) -> list[TopicPartition]:
        """The partitions that requests named, one after the other."""
        reads = [request.partitions if isinstance(request, FetchRequest) else (request,) for request in self.asked]
        return [wanted.tp for read in reads for wanted in read if isinstance(wanted, FetchPartition)]

    def error(self, tp: TopicPartition, epoch: int) -> Errors:
        if tp in self.errors:
            return self.errors[tp]
        if epoch < self.epochs[tp]:
            return Errors.FENCED_LEADER_EPOCH
        return Errors.UNKNOWN_LEADER_EPOCH if epoch > self.epochs[tp] else Errors.NONE


@define(eq=False)
class Line:
    """One connection to the leader, with its fetch session (fetchers.ports.BlockingSend)."""

    leader: Leader
    wanted: dict[TopicPartition, FetchPartition] = field(factory=dict)
    sent: dict[TopicPartition, int] = field(factory=dict)
    session: int = 0
    closed: bool = False

    async def call(self, request: Any, size: int, background: bool = False) -> Any:
        leader, world = self.leader, self.leader.world
        leader.asked.append(request)
        await world.sleep(LATENCY_US, background=background)
        if leader.hold is not None:
            await leader.hold.wait()
        if leader.down:
            raise Disconnected("the leader is down")
        if isinstance(request, FetchRequest):
            return await self.fetch(request)
        if isinstance(request, OffsetsForLeaderEpochRequest):
            return OffsetsForLeaderEpochResponse(tuple(leader.epoch_end(query) for query in request.partitions))
        assert isinstance(request, ListOffsetsRequest)
        return leader.offsets(request.tp, request.current_leader_epoch)

    def close(self) -> None:
        self.closed = True

    async def fetch(self, request: FetchRequest) -> FetchResponse:
        if request.session_id == 0:
            self.wanted, self.sent, self.session = {}, {}, self.session + 1
        elif request.session_id != self.session:
            return FetchResponse(Errors.FETCH_SESSION_ID_NOT_FOUND, 0, (), 60)
        for tp in request.forgotten:
            self.wanted.pop(tp, None)
            self.sent.pop(tp, None)
        self.wanted |= {wanted.tp: wanted for wanted in request.partitions}
        deadline = self.leader.world.now + request.max_wait_us
        while True:
            answers = tuple(answer for wanted in self.wanted.values() for answer in self.read(wanted))
            late = self.leader.world.now >= deadline
            if late or any(answer.batches or answer.error or answer.diverging for answer in answers):
                self.sent |= {answer.tp: answer.high_watermark for answer in answers}
                return FetchResponse(Errors.NONE, self.session, answers, 60, asks_starts=self.leader.asks_starts)
            await self.leader.world.sleep(10 * MS, background=True)

    def read(self, wanted: FetchPartition) -> tuple[FetchedPartition, ...]:
        answer = self.leader.answer(wanted)
        known = self.sent.get(wanted.tp) == answer.high_watermark
        return () if known and not (answer.error or answer.diverging or answer.batches) else (answer,)


class Rig:
    """A broker with a fetcher manager, and the leader it fetches from."""

    def __init__(
        self,
        world: World,
        policies: FetcherPolicies | None = None,
        kind: type[AbstractFetcherManager] = ReplicaFetcherManager,
        throttle: Throttle | None = None,
    ) -> None:
        self.world = world
        self.trace = Trace(world)
        self.leader = Leader(world)
        self.replicas: dict[TopicPartition, Replica] = self.leader.copies
        self.disk = LogDirectory(Disk())
        self._policies = policies or FetcherPolicies()
        self._kind = kind
        self._throttle = throttle
        self.process: Process = None  # type: ignore[assignment]  # set by run
        self.manager: AbstractFetcherManager = None  # type: ignore[assignment]  # set by run

    @property
    def dead_threads(self) -> int:
        """Threads that an error has ended, until the idle sweep removes them, counted here independently."""
        return sum(thread.dead for thread in self.manager.threads.values())

    async def run(self, body: Callable[["Rig"], Awaitable[object]]) -> None:
        """Start the broker, run ``body`` beside it, then crash it."""
        async with self.world.open_nursery() as nursery:
            node = Node(self.world, self.trace, ME, "broker-2", nursery)
            started = Signal(self.world)

            async def main(process: Process) -> None:
                self.process = process
                self.manager = self.make(self._kind)
                started.set()

            node.start(main)
            await started.wait()
            await body(self)
            node.crash()

    def make(self, kind: type[AbstractFetcherManager]) -> AbstractFetcherManager:
        if kind is ReplicaAlterLogDirsManager:
            return ReplicaAlterLogDirsManager(self.process, self._policies, self.leader)
        return ReplicaFetcherManager(self.process, self._policies, self.leader.connect, self._throttle)

    def see(self, kind: type[E]) -> list[E]:
        seen: list[E] = []
        self.trace.fold(kind, seen.append)
        return seen

    def replica(self, tp: TopicPartition, *epochs: int, high_watermark: int = 0) -> Replica:
        """A replica with one record under each of ``epochs``."""
        replica = Replica(write(Log(self.disk, tp), *epochs), high_watermark)
        self.replicas[tp] = replica
        return replica

    @property
    def source(self) -> int:
        """The broker that is fetched from."""
        return ME if self._kind is ReplicaAlterLogDirsManager else LEADER

    def add(self, *tps: TopicPartition, epoch: int = 0, adding: bool = False) -> None:
        """Begin to fetch, as a LeaderAndIsr lets a broker do (the removal comes first)."""
        for tp in tps:
            if tp not in self.replicas:
                self.replica(tp)
        self.manager.remove_fetcher_for_partitions(tps)
        self.manager.add_fetcher_for_partitions(
            InitialFetchState(tp, self.source, epoch, self.replicas[tp].high_watermark, self.replicas[tp], adding)
            for tp in tps
        )

    @property
    def thread(self) -> FetcherThread:
        return self.manager.threads[self.source, 0]

    @property
    def rounds(self) -> FetcherRounds:
        return self.thread.rounds.roused()

    def equal(self, tp: TopicPartition) -> bool:
        """Whether follower and leader hold the same records under the same epochs."""
        mine, theirs = (
            [(batch.base_offset, batch.next_offset, batch.leader_epoch) for batch in log.batches]
            for log in (self.replicas[tp].log, self.leader.logs[tp])
        )
        return mine == theirs

    async def rest(self, duration_ms: int = 50) -> None:
        await self.world.sleep(duration_ms * MS)


def play(
    scenario: Callable[[Rig], Awaitable[object]],
    policies: FetcherPolicies | None = None,
    kind: type[AbstractFetcherManager] = ReplicaFetcherManager,
    throttle: Throttle | None = None,
) -> None:
    """Run ``scenario`` in a world of its own."""
    world = World(1, max_events=200_000)
    world.run(Rig(world, policies, kind, throttle).run, scenario)


KINDS = pytest.mark.parametrize("kind", [ReplicaFetcherManager, ReplicaAlterLogDirsManager])
"""Both kinds of fetcher."""
