"""ISRs, leaders that were replaced, fetchers and logs."""

from __future__ import annotations

from collections.abc import Iterator

from emulator.protocol.events import (
    AckedLost,
    BatchesAppended,
    BecameFollower,
    FetcherStopped,
    IsrChanged,
    IsrUpdateFailed,
    LogDirFailed,
    LogRecovered,
    LogStartMoved,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    PartitionFailureCleared,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from fetchers.failures import Verdict
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.observe.reach.part import ReachPart, Release

ZOMBIE_LEADER = "a replaced leader appends"
REFUSED_ISR = "ISR change refused"


class ReachedIsrs(ReachPart):
    """Changes of ISRs. One that is refused had lost a conditional write, or the controller's favour since KIP-497."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        yield from ("ISR shrink", "ISR expand", REFUSED_ISR, "ISR of one")

    def on_changed(self, event: IsrChanged) -> None:
        self.count(f"ISR {event.kind}")
        if len(event.isr) == 1:
            self.count("ISR of one")

    def on_failed(self, event: IsrUpdateFailed) -> None:
        self.count(REFUSED_ISR)


class ReachedZombies(ReachPart):
    """Leaders that append after ZooKeeper has another one. Batches are looked at only while there is such a leader."""

    def __init__(self, counts: dict[str, int], cluster: FoldedState) -> None:
        super().__init__(counts, cluster)
        self._running: dict[int, None] = {}
        self._replaced: dict[tuple[str, int], int] = {}

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        yield ZOMBIE_LEADER

    def on_started(self, event: NodeStarted) -> None:
        self._running[event.node] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self._running.pop(event.node, None)
        for tp in [tp for tp, leader in self._replaced.items() if leader == event.node]:
            del self._replaced[tp]

    def on_state(self, event: StateWritten) -> None:
        before, after = event.before, event.state
        if before is None or after is None:
            self._replaced.pop((event.tp.topic, event.tp.partition), None)
        elif before.leader != after.leader and before.leader in self._running:
            self._replaced[event.tp.topic, event.tp.partition] = before.leader

    def on_follower(self, event: BecameFollower) -> None:
        self._over(event.topic, event.partition, event.node)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._over(event.topic, event.partition, event.node)

    def _over(self, topic: str, partition: int, node: int) -> None:
        if self._replaced.get((topic, partition)) == node:
            del self._replaced[topic, partition]

    def on_appended(self, event: BatchesAppended) -> None:
        if self._replaced and event.leader:
            for partition in event.partitions:
                if self._replaced.get((event.topic, partition)) == event.node:
                    state = self.cluster.state(TopicPartition(event.topic, partition))
                    if state is not None and state.leader != event.node:
                        self.count(ZOMBIE_LEADER)


class ReachedFetchers(ReachPart):
    """Partitions that fetchers give up and take up again (KIP-461), and threads that end."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        rule = release.policies.fetchers.failures
        if rule.unexpected is Verdict.FAIL:
            for reason in ("append", "truncation", "FENCED_LEADER_EPOCH"):
                yield f"partition failed: {reason}"
            yield "failed partition taken up: epoch"
            yield "failed partition taken up: stop-replica"
            yield "fetcher ended: all-failed"
        else:
            yield "fetcher ended: died"
        yield "fetcher ended: idle"

    def on_failed(self, event: PartitionFailed) -> None:
        self.count(f"partition failed: {event.reason.partition(':')[0]}")

    def on_cleared(self, event: PartitionFailureCleared) -> None:
        self.count(f"failed partition taken up: {event.reason}")

    def on_fetcher(self, event: FetcherStopped) -> None:
        self.count(f"fetcher ended: {event.reason}")


class ReachedLogs(ReachPart):
    """Truncations by what they spare, recoveries, retention, failed directories, and what was lost."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        yield "truncation to the high watermark or below"
        yield "truncation above the high watermark"
        yield "truncation of everything"
        yield from ("log recovered: torn", "log recovered: corrupt")
        yield from (f"log start moved: {reason}" for reason in ("time", "size", "request", "leader", "copy"))
        yield "log directory failed"
        yield "log directory failed: the broker halts"
        yield from ("lost with acks=all: unclean", "lost with acks=all: unflushed", "lost with acks=1")

    def on_truncated(self, event: Truncated) -> None:
        if event.log_end_offset == 0:
            self.count("truncation of everything")
        elif event.log_end_offset > event.high_watermark:
            self.count("truncation above the high watermark")
        else:
            self.count("truncation to the high watermark or below")

    def on_recovered(self, event: LogRecovered) -> None:
        self.count(f"log recovered: {event.reason}")

    def on_start_moved(self, event: LogStartMoved) -> None:
        self.count(f"log start moved: {event.reason}")

    def on_directory(self, event: LogDirFailed) -> None:
        self.count(f"log directory failed{': the broker halts' if event.broker_halts else ''}")

    def on_lost(self, event: AckedLost) -> None:
        if event.acks == 1:
            self.count("lost with acks=1")
        elif event.unclean or event.unflushed:
            self.count(f"lost with acks=all: {'unclean' if event.unclean else 'unflushed'}")
