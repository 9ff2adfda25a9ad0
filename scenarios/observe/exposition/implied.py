"""Metrics that brokers show and nothing writes to the trace: what a scrape reads of them follows from other events.
Gauges are

- ``kafka.log:type=Log``, LogStartOffset and LogEndOffset
- ``kafka.log:type=LogManager``, OfflineLogDirectoryCount, and LogDirectoryOffline of a directory that has failed
- ``kafka.server:type=KafkaServer``, BrokerState: 1 starting, 3 running, 6 in a controlled shutdown (2.4.1)

and meters

- ``kafka.network:type=RequestMetrics``, RequestsPerSec of the requests of controllers and followers, and of all fetches
- ``kafka.server:type=SessionExpireListener``, ZooKeeperExpiresPerSec
- ``kafka.server:type=BrokerTopicMetrics``, the 0 of BytesRejectedPerSec before anything is rejected
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from emulator.metrics import mbean
from emulator.metrics.metric_events import MeterMarked, MetricRegistered
from emulator.protocol.events import (
    Appended,
    BatchesAppended,
    BrokerRegistered,
    ControlledShutdownAnswered,
    ControlResponse,
    LogDirFailed,
    LogLoaded,
    LogStartMoved,
    NodeStarted,
    ReplicaOffline,
    ReplicaStopped,
    Truncated,
)
from emulator.trace.events import ZkSession

STARTING, RUNNING, PENDING_CONTROLLED_SHUTDOWN = 1, 3, 6
BROKER_STATE = mbean("kafka.server", "KafkaServer", "BrokerState")
OFFLINE_DIRECTORIES = mbean("kafka.log", "LogManager", "OfflineLogDirectoryCount")
START, END = "LogStartOffset", "LogEndOffset"
REJECTED = mbean("kafka.server", "BrokerTopicMetrics", "BytesRejectedPerSec")
EXPIRES = mbean("kafka.server", "SessionExpireListener", "ZooKeeperExpiresPerSec")
FETCHES = "kafka.server:type=FetcherStats,name=RequestsPerSec,clientId=ReplicaFetcherThread-"
"""The meter of a follower's thread, whose name goes on with its number and its leader."""
REQUESTS = "kafka.network:type=RequestMetrics,name=RequestsPerSec,request="
"""A meter of requests; here a version follows, which the trace does not have."""
CONSUMERS = f"{REQUESTS}FetchConsumer"
Value = tuple[str, int | None]
"""The name of a gauge and its value; None: it is gone."""


def of_log(name: str, event: Any, partition: int) -> str:
    """The name of a gauge of one log."""
    return mbean("kafka.log", "Log", name, topic=event.topic, partition=partition)


_APIS = {"FetchConsumer": "Fetch", "FetchFollower": "Fetch", "AlterIsr": "AlterPartition"}
"""The APIs of requests that are counted under other names. AlterIsr got its later name with its version 1 (3.2)."""


def with_version(metric: str, versions: Mapping[str, int]) -> str:
    """The name of a metric as the release has it: requests are counted by version since 2.0 (KAFKA-6514)."""
    if not metric.startswith(REQUESTS):
        return metric
    request = metric.removeprefix(REQUESTS)
    version = versions.get(_APIS.get(request, request))
    if request == "AlterIsr" and version:
        request = _APIS[request]
    return REQUESTS + request + ("" if version is None else f",version={version}")


class ImpliedGauges:
    """The gauges that events imply, event by event."""

    def __init__(self) -> None:
        self._failed: dict[int, dict[str, None]] = {}
        self.see: Mapping[type, Callable[[Any], Iterator[Value]]] = {
            NodeStarted: self._started,
            BrokerRegistered: lambda event: iter([(BROKER_STATE, RUNNING)]),
            ControlledShutdownAnswered: lambda event: iter([(BROKER_STATE, PENDING_CONTROLLED_SHUTDOWN)]),
            LogDirFailed: self._directory_failed,
            LogLoaded: _loaded,
            Appended: lambda event: iter([(of_log(END, event, event.partition), event.next_offset)]),
            BatchesAppended: _appended,
            Truncated: lambda event: iter([(of_log(END, event, event.partition), event.log_end_offset)]),
            LogStartMoved: lambda event: iter([(of_log(START, event, event.partition), event.log_start_offset)]),
            ReplicaStopped: _stopped,
            ReplicaOffline: _gone,
        }

    def _started(self, event: NodeStarted) -> Iterator[Value]:
        self._failed[event.node] = {}
        yield BROKER_STATE, STARTING
        yield OFFLINE_DIRECTORIES, 0

    def _directory_failed(self, event: LogDirFailed) -> Iterator[Value]:
        failed = self._failed.setdefault(event.node, {})
        failed[event.directory] = None
        yield OFFLINE_DIRECTORIES, len(failed)
        yield mbean("kafka.log", "LogManager", "LogDirectoryOffline", logDirectory=event.directory), 1


class Marked(NamedTuple):
    """A number of events that a meter of a broker counts.

    Attributes:
        node: the broker.
        metric: the name of the meter.
        marks: how many there are.
        since_us: when the first of them happened, at the earliest.
    """

    node: int
    metric: str
    marks: int
    since_us: int


class ImpliedMeters:
    """The meters that events imply. Requests of controllers count by their answers, fetches of followers by the meters
    of the threads that ask, also where the answer was lost, and all fetches by these and the consumers'. A process that
    makes a second session has learned that the first has expired.

    Args:
        versions: the version in which each API is asked for, where RequestsPerSec has it in its name.
    """

    def __init__(self, versions: Mapping[str, int]) -> None:
        self._versions = versions
        self._totals: dict[tuple[int, str], int] = {}
        self._sessions: dict[int, int] = {}
        self.see: Mapping[type, Callable[[Any], Iterator[Marked]]] = {
            ControlResponse: lambda event: iter([self._answered(event.node, event.api, 1, event.t_us)]),
            MetricRegistered: self._began,
            MeterMarked: self._fetched,
            NodeStarted: self._started,
            ZkSession: self._session,
        }

    def _started(self, event: NodeStarted) -> Iterator[Marked]:
        self._sessions[event.node] = 0
        for metric in (EXPIRES, REJECTED):
            yield Marked(event.node, metric, 0, event.t_us)

    def _session(self, event: ZkSession) -> Iterator[Marked]:
        if event.state == "created" and event.client in self._sessions:
            self._sessions[event.client] += 1
            if self._sessions[event.client] > 1:
                yield Marked(event.client, EXPIRES, 1, event.t_us)

    def _answered(self, node: int, request: str, count: int, since_us: int) -> Marked:
        return Marked(node, with_version(REQUESTS + request, self._versions), count, since_us)

    def _began(self, event: MetricRegistered) -> Iterator[Marked]:
        self._totals.pop((event.node, event.metric), None)
        return iter(())

    def _fetched(self, event: MeterMarked) -> Iterator[Marked]:
        of_follower = event.metric.startswith(FETCHES)
        if not of_follower and event.metric != CONSUMERS:
            return
        count = event.total - self._totals.get((event.node, event.metric), 0)
        self._totals[event.node, event.metric] = event.total
        node = event.node
        if of_follower:
            _thread, leader = event.metric.removeprefix(FETCHES).partition(",")[0].split("-")
            node = int(leader)
            yield self._answered(node, "FetchFollower", count, event.since_us)
        yield self._answered(node, "Fetch", count, event.since_us)


def _loaded(event: LogLoaded) -> Iterator[Value]:
    yield of_log(START, event, event.partition), event.log_start_offset
    yield of_log(END, event, event.partition), event.log_end_offset


def _appended(event: BatchesAppended) -> Iterator[Value]:
    for partition, end in zip(event.partitions, event.next_offsets, strict=True):
        yield of_log(END, event, partition), end


def _stopped(event: ReplicaStopped) -> Iterator[Value]:
    return _gone(event) if event.deleted else iter(())


def _gone(event: ReplicaStopped | ReplicaOffline) -> Iterator[Value]:
    for name in (START, END):
        yield of_log(name, event, event.partition), None
