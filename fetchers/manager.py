"""The managers of the two kinds of fetcher: which thread fetches which partition (kafka-behaviour §8.1)."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar

from attrs import evolve

from emulator.logger import get_logger
from emulator.network import Client
from emulator.nodes import Process
from emulator.protocol.shown import FetchMisanswered
from emulator.protocol.types import TopicPartition
from fetchers.endpoints import LocalLeaderEndPoint, RemoteLeaderEndPoint
from fetchers.failed_partitions import FailedPartitions
from fetchers.idle import IdleFetcher
from fetchers.kinds import COPY, REPLICA, Records
from fetchers.metrics import ManagerMetrics
from fetchers.policies import FetcherPolicies
from fetchers.ports import BlockingSend, CurrentLogs, InitialFetchState
from fetchers.quota import Throttle
from fetchers.thread import FetcherThread
from fetchers.truncation import Kip279


class AbstractFetcherManager(ABC):
    """The fetcher threads of one kind on one broker, one per (leader, fetcher id), and its failed partitions
    (AbstractFetcherManager, 2.3).

    Attributes:
        client_id: the tag of its metrics.
        records: the event classes of its kind.
        threads: the threads by leader and fetcher id.
        metrics: the metrics of all its threads.
        failed: the partitions that are not fetched any more because of an error.
    """

    client_id: ClassVar[str]
    records: ClassVar[Records]

    def __init__(self, process: Process, policies: FetcherPolicies, fetchers: int) -> None:
        self.process = process
        self.policies = policies
        self.metrics = ManagerMetrics(process, type(self).__name__, self.client_id)
        self.failed = FailedPartitions(process, self.records, self.metrics.failed)
        self.threads: dict[tuple[int, int], FetcherThread] = {}
        self._fetchers = fetchers

    @property
    def size(self) -> int:
        """The number of fetcher ids: how many threads may fetch from one leader."""
        return self._fetchers

    @abstractmethod
    def _create(self, leader: int, fetcher_id: int) -> FetcherThread:
        """Create the thread with ``fetcher_id`` for the partitions that ``leader`` leads, without starting it."""

    def add_fetcher_for_partitions(self, starts: Iterable[InitialFetchState]) -> None:
        """Begin to fetch. A partition that its thread holds under the same leader epoch keeps its state."""
        groups: dict[tuple[int, int, str], list[InitialFetchState]] = {}
        for start in starts:
            fetcher_id = self.policies.assignment(start.tp, self._fetchers)
            groups.setdefault((start.leader, fetcher_id, start.address), []).append(start)
        for (leader, fetcher_id, address), group in groups.items():
            self._thread(leader, fetcher_id, address).add_partitions(group)
            self.failed.remove((start.tp for start in group), "epoch")

    def _thread(self, leader: int, fetcher_id: int, address: str) -> FetcherThread:
        thread = self.threads.get((leader, fetcher_id))
        if thread is not None and not thread.ended and thread.address != address:
            thread.remove_all_partitions()  # not given to the new thread: each waits for its own LeaderAndIsr
            thread.end("replaced")
        if thread is None or thread.ended:
            thread = self.threads[leader, fetcher_id] = self._create(leader, fetcher_id)
            thread.address = address
            thread.start()
        return thread

    def remove_fetcher_for_partitions(self, partitions: Iterable[TopicPartition], *, stopped: bool = False) -> None:
        """Stop fetching ``partitions``, and forget their failures.

        Args:
            stopped: because of a StopReplica.
        """
        gone = list(partitions)
        for thread in self.threads.values():
            thread.remove_partitions(gone)
        self.failed.remove(gone, "stop-replica" if stopped else "epoch")

    def resize_thread_pool(self, fetchers: int) -> None:
        """Change the number of fetcher ids: every partition goes to the thread that it belongs to now, and truncates
        again first. Failed partitions stay failed (AbstractFetcherManager.resizeThreadPool, 2.3)."""
        if fetchers != self._fetchers:
            self._fetchers = fetchers
            for (_, fetcher_id), thread in list(self.threads.items()):
                starts = thread.remove_all_partitions()
                if fetcher_id >= fetchers:
                    thread.end("resized")
                self.add_fetcher_for_partitions(starts)
        self.shutdown_idle_fetcher_threads()

    def shutdown_idle_fetcher_threads(self) -> None:
        """End the threads that have no partition left."""
        for key, thread in list(self.threads.items()):
            if not thread.states:
                thread.end("idle")
                del self.threads[key]


class ReplicaFetcherManager(AbstractFetcherManager):
    """Replica fetchers: followers fetch from leaders on other brokers."""

    client_id: ClassVar[str] = "Replica"
    records: ClassVar[Records] = REPLICA

    def __init__(
        self,
        process: Process,
        policies: FetcherPolicies,
        connect: Callable[[int], BlockingSend],
        throttle: Throttle | None = None,
    ) -> None:
        """
        Args:
            connect: opens a connection to a leader, by its broker id (see ``endpoints.ReplicaFetcherBlockingSend``).
            throttle: limits the broker as a follower.
        """
        super().__init__(process, policies, policies.num_replica_fetchers)
        self._connect = connect
        self._throttle = throttle or Throttle()

    def configured(self, settings: Mapping[str, str]) -> None:
        """Take over num.replica.fetchers from the broker's dynamic settings (KIP-226, 1.1).

        Kafka accepts at most twice as many threads, and at least half (DynamicThreadPool, 2.3).
        """
        wanted = int(settings.get("num.replica.fetchers", self.policies.num_replica_fetchers))
        if self._fetchers // 2 <= wanted <= self._fetchers * 2:
            self.resize_thread_pool(wanted)
        else:
            get_logger("fetchers").error("num.replica.fetchers not changed", now=self._fetchers, to=wanted)

    def _create(self, leader: int, fetcher_id: int) -> FetcherThread:
        connection = self._connect(leader)
        me = self.process.node.id
        endpoint = RemoteLeaderEndPoint(
            me, connection, self.policies,
            refused=lambda error: self.process.show(FetchMisanswered, me, leader, error.name, "", -1),
        )  # fmt: skip
        name = f"ReplicaFetcherThread-{fetcher_id}-{leader}"
        metrics = self.metrics.thread(name, leader)
        thread = FetcherThread(
            name, leader, self.process, endpoint, self.policies, self.failed, self._throttle, metrics
        )  # fmt: skip
        if isinstance(connection, Client):
            connection.owner = IdleFetcher(thread, endpoint, connection, metrics.requests)
        return thread


class ReplicaAlterLogDirsManager(AbstractFetcherManager):
    """Alter-log-dirs fetchers: they copy replicas from one log directory of their broker to another (KIP-113).

    The leader of each partition they are given is the broker itself, and the log is the future one.
    """

    client_id: ClassVar[str] = "ReplicaAlterLogDirs"
    records: ClassVar[Records] = COPY

    def __init__(
        self,
        process: Process,
        policies: FetcherPolicies,
        logs: CurrentLogs,
        fetchers: int = 1,
        throttle: Throttle | None = None,
    ) -> None:
        """
        Args:
            logs: the logs that are copied.
            fetchers: num.replica.alter.log.dirs.threads, by default one for each log directory.
        """
        if policies.truncation.on_fetch:
            policies = evolve(policies, truncation=Kip279())  # copies still asked (ReplicaAlterLogDirsThread, 2.8)
        super().__init__(process, policies, fetchers)
        self._logs = logs
        self._throttle = throttle or Throttle()

    def _create(self, leader: int, fetcher_id: int) -> FetcherThread:
        endpoint = LocalLeaderEndPoint(self.process.world, self._logs, self.policies)
        name = f"ReplicaAlterLogDirsThread-{fetcher_id}"
        metrics = self.metrics.thread(name, leader)
        return FetcherThread(
            name, leader, self.process, endpoint, self.policies, self.failed, self._throttle, metrics,
            self._logs.replace,
        )  # fmt: skip

    def truncated(self, tp: TopicPartition, offset: int) -> None:
        """Truncate the copy of ``tp``, which may be longer than its current log: that was truncated to ``offset``."""
        thread = self.threads.get((self.process.node.id, self.policies.assignment(tp, self._fetchers)))
        if thread is not None:
            thread.mark_for_truncation(tp, offset)
