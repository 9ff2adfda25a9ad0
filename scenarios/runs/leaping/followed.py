"""The replicas that follow others: where each is, and what it follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from brokers.log.batch_runs import ended
from brokers.partition.remote import UNKNOWN_OFFSET
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.broker import Broker
    from brokers.partition.partition import Partition
    from brokers.partition.remote import RemoteReplica
    from fetchers.quota import Throttle
    from fetchers.state import PartitionFetchState
    from fetchers.thread import FetcherThread
    from scenarios.cluster.cluster import Cluster

Key = tuple[int, TopicPartition]
"""A replica: its broker and its partition."""


class FetchedReplica(NamedTuple):
    """One replica that a fetcher thread fetches.

    Attributes:
        broker: the broker that fetches.
        leader: the broker that it fetches from.
        led: the partition there.
    """

    broker: Broker
    leader: Broker
    thread: FetcherThread
    state: PartitionFetchState
    led: Partition

    @property
    def key(self) -> Key:
        return self.broker.process.node.id, self.state.tp

    @property
    def in_sync(self) -> bool:
        """Whether it is in the ISR, as its leader knows it."""
        return self.broker.process.node.id in self.led.isr_state.isr

    @property
    def throttles(self) -> tuple[tuple[str, Broker, Throttle], tuple[str, Broker, Throttle]]:
        """The throttles that may limit it, each with its side and its broker: its leader's, and that of its own."""
        leader, broker = self.leader, self.broker
        return ("leader", leader, leader.quotas.leader), ("follower", broker, broker.quotas.follower)

    @property
    def remote(self) -> RemoteReplica | None:
        """The leader's knowledge of it; None: nothing yet, as before its first fetch."""
        remote = self.led.remotes.get(self.broker.process.node.id)
        return None if remote is None or remote.log_end_offset == UNKNOWN_OFFSET else remote

    @property
    def message_bytes(self) -> float:
        """The bytes of a message of the batch that it fetches next, on average."""
        batches = self.led.log.batches
        place = min(ended(batches, self.state.offset), len(batches) - 1)
        if place < 0:
            return 1.0
        batch = batches[place]
        return batch.size / (batch.next_offset - batch.base_offset)


class Restless(Exception):
    """The cluster is not as it has to be for a leap. The text says why."""


def running(cluster: Cluster) -> list[Broker]:
    """The brokers that have started and are alive."""
    return [broker for broker in cluster.brokers.values() if broker.started and broker.process.alive]


def threads(cluster: Cluster) -> Iterator[FetcherThread]:
    """The fetcher threads that run."""
    for broker in running(cluster):
        for thread in broker.replicas.fetchers.threads.values():
            if not thread.ended:
                yield thread


def followed(cluster: Cluster) -> list[FetchedReplica]:
    """All replicas that are fetched. Raises: Restless where one is not fetched as usual."""
    brokers = {broker.process.node.id: broker for broker in running(cluster)}
    found = []
    for broker in brokers.values():
        if broker.process.paused:
            raise Restless("a broker is paused")
        for thread in broker.replicas.fetchers.threads.values():
            if thread.ended:
                continue
            if thread.dead:
                raise Restless("a fetcher thread has died")
            leader = brokers.get(thread.leader)
            if leader is None and thread.states:
                raise Restless("a leader is down")
            for tp, state in thread.states.items():
                assert leader is not None
                led = leader.replicas.partitions.get(tp)
                if led is None or not led.is_leader:
                    raise Restless("a leader is changing")
                if state.truncating or state.delayed_until_us:
                    raise Restless("a replica truncates its log, or waits after an error")
                if led.isr_state.is_inflight:
                    raise Restless("an ISR is changing")
                each = FetchedReplica(broker, leader, thread, state, led)
                if each.in_sync and each.remote is None:
                    raise Restless("a follower in sync has not fetched from its new leader")
                found.append(each)
        if broker.replicas.deletion is not None and broker.replicas.deletion.waiting:
            raise Restless("a request to delete records waits for replicas")
        if broker.replicas.moves.fetchers.threads:
            raise Restless("a replica moves between log directories")
    return found


def leaders(cluster: Cluster) -> dict[TopicPartition, Partition]:
    """The leader's partition of each partition that has one."""
    return {
        tp: partition
        for broker in running(cluster)
        for tp, partition in broker.replicas.partitions.items()
        if partition.is_leader
    }
