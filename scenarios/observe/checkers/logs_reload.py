"""E10: a broker that starts again finds the logs that it had."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from brokers.log.log_config import NEVER
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    CopyAbandoned,
    CopyFailed,
    CopyStarted,
    LogLoaded,
    LogReplaced,
    NodeStarted,
    ReplicaStopped,
)
from emulator.protocol.shown import Remembered
from emulator.protocol.types import TopicPartition
from fetchers.quota import UNLIMITED
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike
from scenarios.observe.checkers.checker import forget
from scenarios.observe.findings.log_facts import LogFoundOtherwise

FLUSHES = "log.flush.interval.messages"
STANDS_US, BEGINS_US = 3_000_000, 10_000_000
"""How long a copy may stand still, and how long after it has begun: its fetcher waits for replica.fetch.backoff.ms
after an error."""


class LogsReload(BrokerMemory):
    """A broker that starts again goes on with the logs that it had: the same start, the same end, the same high
    watermark, the same leader epochs (KIP-101: the file of leader epochs says what the records say).

    Verified: as a broker opens a log, against what its last process that had it open has left. It ends where it did;
        after a crash of the machine, not before its newest segment begun, of which all before is flushed
        (Log.roll, 1.1 to 3.9), nor before where a recovery has cut it. It begins where it did, or after a crash within
        log.flush.start.offset.checkpoint.interval.ms of that, where its first segment does or later. The high watermark
        is the one before, if that was written: in a clean stop, or as it had not moved for
        replica.high.watermark.checkpoint.interval.ms.

        When the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), for each replica of each broker that
        the controller has reached for long enough: what it works with, against its files and the checkpoints as they
        are written next. All before its newest segment is flushed, and before the last flush.messages records.
        Retention and the cleaner look again at each log that will be due, and what was compacted is in the cleaner's
        checkpoint. Once a segment was begun since the start, its recovery point is not before that, and not beyond what
        is flushed. No log lies there that is to replace another while nothing is copied to it: a start takes it for a
        copy under way (KIP-113). That of a replica which is not assigned any more is left like the replica itself. High
        watermarks that do not move are in their checkpoint after replica.high.watermark.checkpoint.interval.ms
        (ReplicaManager.checkpointHighWatermarks). A copy to another directory goes on or ends, unless a throttle may
        hold it back, or the replica has got a role or was stopped since it began (KAFKA-9654).

    Together with ``broker_remembers`` (replicas, producers, settings, metadata), ``coordinators_remember`` (groups and
    transactions) and ``converged`` this is what a restart at rest shows; a test restarts brokers and compares.

    Not verified: leader epochs without records; logs of a broker of which a log directory has failed; high watermarks
        that moved, and faults that began or ended, within the time of a checkpoint before a crash; recovery points that
        are too low, which cost time alone; what a copy to another directory has.
    """

    ids = ("E10",)
    statement = "at rest log_b = load(disk_b): a broker that starts again finds the logs that it had"
    fails_when = "a log notes its first leader epoch only"
    looks_meanwhile = True

    def begin(self) -> None:
        super().begin()
        self._at_end = self.history.logs_at_end
        self._begun: dict[tuple[int, TopicPartition], int] = {}
        """The copies that brokers have begun, and that nothing has stopped since, with the times."""
        self._stand: dict[tuple[int, TopicPartition], tuple[int, int]] = {}
        """How far each of these had come, and when that was first seen."""

    def on_loaded(self, event: LogLoaded) -> None:
        kind, otherwise = self._at_end.loaded(event)
        for part in otherwise:
            facts = LogFoundOtherwise(event.node, kind, part.part, part.found, part.least, part.most)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.node,))

    def on_begun(self, event: CopyStarted) -> None:
        self._begun[event.node, TopicPartition.of(event.topic, event.partition)] = event.t_us

    def on_stopped(
        self, event: BecameLeader | BecameFollower | ReplicaStopped | CopyAbandoned | CopyFailed | LogReplaced
    ) -> None:
        if self._begun:
            self._begun.pop((event.node, TopicPartition.of(event.topic, event.partition)), None)

    def on_started(self, event: NodeStarted) -> None:
        forget(event.node, self._begun)

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        for tp, (kept, loaded) in memories["logs"].items():
            if kept != loaded:
                name = next(name for name in kept._fields if getattr(kept, name) != getattr(loaded, name))
                words = name.replace("_", " ")
                yield Unlike("logs", words, str(getattr(kept, name)), str(getattr(loaded, name)), tp)
        for tp, (newest, durable, recovery_point, end) in memories["flushed"].items():
            least = max(newest, 1 + end - self._unflushed(tp.topic))
            if durable < least:
                yield Unlike("flushed", "end", str(durable), f"{least} or more", tp)
            rolled = self._at_end.rolled.get(event.node, {}).get(tp)
            if rolled is not None and not min(newest, rolled) <= recovery_point <= durable:
                yield Unlike("flushed", "recovery point", str(recovery_point), f"{rolled} to {durable}", tp)
        for tp in memories["futures"]:
            if event.node not in self.cluster.assignment(tp):
                continue
            yield Unlike("futures", "", "no copy to another directory", "the log of one", tp)
        for tp, work in memories["unwatched"].items():
            yield Unlike("unwatched", "", f"no more of {work}", "it is due", tp)
        yield from self._late(event, memories["unwritten"])
        if all(rate == UNLIMITED for rate in memories["throttles"].rates):
            yield from self._standing(event, memories["copies"])

    def _unflushed(self, topic: str) -> int:
        """The number of records at the end of a log of which none need be flushed, by any setting that there was."""
        values = self.history.settings.values(topic, "flush.messages", NEVER, 0, of_brokers=FLUSHES)
        return max(map(int, values))

    def _standing(self, event: Remembered, copies: Mapping[TopicPartition, int]) -> Iterator[Unlike]:
        for tp, end in copies.items():
            key = event.node, tp
            before, since_us = self._stand.get(key, (-1, 0))
            if before != end or key not in self._begun:
                self._stand[key] = end, event.t_us
            elif event.t_us - since_us > STANDS_US and event.t_us - self._begun[key] > BEGINS_US:
                yield Unlike("copies", "", f"a copy to another directory that stands at {end}", "none any more", tp)

    def _late(self, event: Remembered, unwritten: Mapping[TopicPartition, int]) -> Iterator[Unlike]:
        started_us = self.cluster.started_us(event.node) or 0
        for tp, high_watermark in unwritten.items():
            moved_us = self._at_end.moved_us.get((event.node, tp.topic), 0)
            if event.t_us - max(moved_us, started_us) > self._at_end.write_us:
                yield Unlike("unwritten", "", f"{high_watermark}, which no checkpoint has", "it is written", tp)
