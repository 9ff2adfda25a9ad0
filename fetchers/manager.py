"""Which thread fetches which partition: what the managers of both kinds of fetcher share (kafka-behaviour, 8.1)."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
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

    def add(self, starts: Iterable[InitialFetchState]) -> None:
        """Begin to fetch. A partition that its thread holds under the same epoch goes on as it is."""
        groups: dict[tuple[int, int, str], list[InitialFetchState]] = {}
        for start in starts:
            number = self.policies.assignment(start.tp, self._fetchers)
            groups.setdefault((start.leader, number, start.address), []).append(start)
        for (leader, number, address), group in groups.items():
            self._thread(leader, number, address).add(group)
            self.failed.remove((start.tp for start in group), "epoch")

    def _thread(self, leader: int, number: int, address: str) -> FetcherThread:
        thread = self.threads.get((leader, number))
        if thread is not None and not thread.ended and thread.address != address:
            thread.give_up()  # the others are not taken along: each waits for its own LeaderAndIsr
            thread.end("replaced")
        if thread is None or thread.ended:
            thread = self.threads[leader, number] = self._create(leader, number)
            thread.address = address
            thread.start()
        return thread

    def remove(self, partitions: Iterable[TopicPartition], *, stopped: bool = False) -> None:
        """Stop fetching ``partitions``, and forget that they failed. ``stopped``: because of a StopReplica."""
        gone = list(partitions)
        for thread in self.threads.values():
            thread.remove(gone)
        self.failed.remove(gone, "stop-replica" if stopped else "epoch")

    def resize(self, fetchers: int) -> None:
        """Have so many fetcher ids from now on: all partitions go to the threads that are theirs then, and find out
        anew where to cut their logs. Those that have failed stay so (AbstractFetcherManager.resizeThreadPool, 2.3)."""
        if fetchers != self._fetchers:
            self._fetchers = fetchers
            for (_, number), thread in list(self.threads.items()):
                starts = thread.give_up()
                if number >= fetchers:
                    thread.end("resized")
                self.add(starts)
        self.end_idle_threads()

    def end_idle_threads(self) -> None:
        """End the threads that have no partition left."""
        for key, thread in list(self.threads.items()):
            if not thread.states:
                thread.end("idle")
                del self.threads[key]
