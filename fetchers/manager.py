"""ReplicaFetcherManager: which thread fetches which partition (kafka-behaviour, 8.1)."""

from collections.abc import Callable, Iterable
from functools import lru_cache

from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from fetchers.failed_partitions import FailedPartitions
from fetchers.policies import FetcherPolicies
from fetchers.ports import InitialFetchState, LeaderEndPoint
from fetchers.thread import FetcherThread


@lru_cache(1024)
def java_string_hash(text: str) -> int:
    """``String.hashCode`` as a signed 32-bit integer."""
    value = 0
    for character in text:
        value = (31 * value + ord(character)) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value


def fetcher_id(tp: TopicPartition, fetchers: int) -> int:
    """abs(31·hash(topic) + partition) mod num.replica.fetchers, in Java's arithmetic; abs(MIN_VALUE) is 0."""
    value = (31 * java_string_hash(tp.topic) + tp.partition) & 0xFFFFFFFF
    signed = value - (1 << 32) if value >= 1 << 31 else value
    return 0 if signed == -(1 << 31) else abs(signed) % fetchers


class FetcherManager:
    """The fetcher threads of one broker, one per (leader, fetcher id), and its failed partitions."""

    def __init__(self, process: Process, policies: FetcherPolicies, connect: Callable[[int], LeaderEndPoint]) -> None:
        self.process = process
        self.policies = policies
        self.failed = FailedPartitions(process)
        self.threads: dict[tuple[int, int], FetcherThread] = {}
        self._connect = connect
        throttle = policies.throttle
        self._quota = None if throttle is None else throttle.follower_quota(process.node.id)

    def add(self, starts: Iterable[InitialFetchState]) -> None:
        """Begin to fetch. A partition that its thread holds under the same epoch goes on as it is."""
        groups: dict[tuple[int, int], list[InitialFetchState]] = {}
        for start in starts:
            key = (start.leader, fetcher_id(start.tp, self.policies.num_replica_fetchers))
            groups.setdefault(key, []).append(start)
        for (leader, number), group in groups.items():
            self._thread(leader, number).add(group)
            self.failed.remove((start.tp for start in group), "epoch")

    def _thread(self, leader: int, number: int) -> FetcherThread:
        thread = self.threads.get((leader, number))
        if thread is None or thread.ended:
            name = f"ReplicaFetcherThread-{number}-{leader}"
            thread = self.threads[leader, number] = FetcherThread(
                name, leader, self.process, self._connect(leader), self.policies, self.failed, self._quota
            )
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
