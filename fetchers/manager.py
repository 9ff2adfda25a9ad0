"""Which thread fetches which partition: what the managers of both kinds of fetcher share (kafka-behaviour, 8.1)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from fetchers.assignment import fetcher_id
from fetchers.failed_partitions import FailedPartitions
from fetchers.kinds import Records
from fetchers.metrics import ManagerMetrics
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState
from fetchers.thread import FetcherThread


class FetcherManager(ABC):
    """The fetcher threads of one kind on one broker, one per (leader, fetcher id), and its failed partitions.

    Attributes:
        client_id: the tag of its metrics.
        records: the events of its kind.
        threads: by leader and fetcher id.
        metrics: what they show.
        failed: the partitions that no thread fetches any more because of an error.
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

    @abstractmethod
    def _create(self, leader: int, number: int) -> FetcherThread:
        """The thread with that fetcher id for the partitions that ``leader`` leads. Not started yet."""

    @property
    def dead_threads(self) -> int:
        """``DeadThreadCount`` (KAFKA-7981, 2.4): threads that an error has ended, until a sweep finds them empty."""
        return sum(thread.dead for thread in self.threads.values())

    def add(self, starts: Iterable[InitialFetchState]) -> None:
        """Begin to fetch. A partition that its thread holds under the same epoch goes on as it is."""
        groups: dict[tuple[int, int], list[InitialFetchState]] = {}
        for start in starts:
            groups.setdefault((start.leader, fetcher_id(start.tp, self._fetchers)), []).append(start)
        for key, group in groups.items():
            self._thread(key).add(group)
            self.failed.remove((start.tp for start in group), "epoch")

    def _thread(self, key: tuple[int, int]) -> FetcherThread:
        thread = self.threads.get(key)
        if thread is None or thread.ended:
            thread = self.threads[key] = self._create(*key)
            thread.start()
        return thread

    def remove(self, partitions: Iterable[TopicPartition], *, stopped: bool = False) -> None:
        """Stop fetching ``partitions``, and forget that they failed. ``stopped``: because of a StopReplica."""
        gone = list(partitions)
        for thread in self.threads.values():
            thread.remove(gone)
        self.failed.remove(gone, "stop-replica" if stopped else "epoch")

    def end_idle_threads(self) -> None:
        """End the threads that have no partition left."""
        for key, thread in list(self.threads.items()):
            if not thread.states:
                thread.end("idle")
                del self.threads[key]
