"""The floor that records: the same flow of messages, with the same facts in the same form as the emulator's trace.

Messages carry batches, logs keep them, followers have a high watermark of their own, and each transition is recorded
with the emulator's own events and its own ``Trace``: one event of a kind, with columns, digested. What is still left
out is what faults, ISR changes, sessions and ZooKeeper would need.
"""

from collections.abc import Sequence
from typing import Any

from benchmarks.cluster.floor import LINGER_US, Floor
from emulator.kernel import World
from emulator.protocol.events import BatchesAppended, BatchesProduced, HighWatermarksMoved
from emulator.trace import Trace

TOPIC = "orders"
RECORDS = 10
BATCH_BYTES = RECORDS * 1024
LEADER_EPOCH = 0
ACKS_ALL = -1
PRODUCER = -2
"""The node of the producer's machine."""

Batch = tuple[int, int, int, int]
"""Base offset, next offset, id, size."""
Answer = tuple[tuple[int, int], list[tuple[int, Sequence[Batch], int]]]
"""Leader and follower; for each partition with news its batches and the leader's high watermark."""


class Request:
    """A produce request: its partitions and the ids of their batches, when it was sent, and what is still missing."""

    __slots__ = ("bases", "ids", "leader", "partitions", "sent_us", "unfinished")

    def __init__(self, leader: int, partitions: list[int], ids: Sequence[int], sent_us: int) -> None:
        self.leader = leader
        self.partitions = partitions
        self.ids = ids
        self.sent_us = sent_us
        self.bases: tuple[int, ...] = ()
        self.unfinished = len(partitions)


class RecordingFloor(Floor):
    """``Floor`` with offsets of records, and a trace.

    Attributes:
        trace: has the facts of every transition; to be digested like that of a run.
    """

    def __init__(self, brokers: int, partitions: int, load: bool) -> None:
        super().__init__(brokers, partitions, load)
        self._world = World(1)
        self.trace = Trace(self._world)
        self._ids = 0
        self._logs: list[list[Batch]] = [[] for _ in range(partitions)]
        self._sent: list[dict[int, int]] = [dict.fromkeys(ends, 0) for ends in self._follower_ends]
        """The number of batches of the log that each follower was sent, by partition and follower."""
        self._follower_marks: list[dict[int, int]] = [dict.fromkeys(ends, 0) for ends in self._follower_ends]

    @property
    def events(self) -> int:
        return self.trace.seq

    def _tick(self, _: None) -> None:
        self._later(LINGER_US, self._tick, None)
        for leader, partitions in enumerate(self._led):
            if partitions:
                first = self._ids
                self._ids += len(partitions)
                self._send(self._produce, Request(leader, partitions, range(first, self._ids), self.now))

    def _produce(self, request: Request) -> None:
        leader = request.leader
        bases, ends = [], []
        touched: dict[tuple[int, int], None] = {}
        for partition, id in zip(request.partitions, request.ids, strict=True):
            base = self._ends[partition]
            self._ends[partition] = end = base + RECORDS
            self._logs[partition].append((base, end, id, BATCH_BYTES))
            bases.append(base)
            ends.append(end)
            self._waiting[partition].append((end, request))
            for follower in self._follower_ends[partition]:
                pair = leader, follower
                self._news[pair][partition] = None
                touched[pair] = None
        request.bases = tuple(bases)
        self._appended(leader, True, request.partitions, bases, ends, request.ids, [BATCH_BYTES] * len(ends))
        for pair in touched:
            if self._polls.pop(pair, None) is not None:
                self._answer(pair)

    def _answer(self, pair: tuple[int, int]) -> None:
        news, self._news[pair] = self._news[pair], {}
        follower = pair[1]
        found = []
        for partition in news:
            log, sent = self._logs[partition], self._sent[partition]
            found.append((partition, log[sent[follower] :], self._high_watermarks[partition]))
            sent[follower] = len(log)
        self._send(self._append, (pair, found))

    def _append(self, answer: Answer) -> None:
        pair, news = answer
        follower = pair[1]
        partitions, bases, ends, ids, sizes = [], [], [], [], []
        moved, marks = [], []
        positions = []
        for partition, batches, high_watermark in news:
            for base, end, id, size in batches:
                partitions.append(partition)
                bases.append(base)
                ends.append(end)
                ids.append(id)
                sizes.append(size)
            positions.append((partition, batches[-1][1]))
            if high_watermark > self._follower_marks[partition][follower]:
                self._follower_marks[partition][follower] = high_watermark
                moved.append(partition)
                marks.append(high_watermark)
        if partitions:
            self._appended(follower, False, partitions, bases, ends, ids, sizes)
        if moved:
            self._moved(follower, False, moved, marks)
        self._send(self._fetched, (pair, positions))

    def _fetched(self, request: tuple[tuple[int, int], Sequence[tuple[int, int]]]) -> None:
        pair, positions = request
        leader, follower = pair
        moved, marks = [], []
        for partition, end in positions:
            ends = self._follower_ends[partition]
            ends[follower] = end
            lowest = min(ends.values())
            if lowest > self._high_watermarks[partition]:
                self._high_watermarks[partition] = lowest
                moved.append(partition)
                marks.append(lowest)
        if moved:
            self._moved(leader, True, moved, marks)
            for partition, mark in zip(moved, marks, strict=True):
                self._complete(partition, mark)
        self._answer_or_wait(pair)

    def _complete(self, partition: int, high_watermark: int) -> None:
        waiting = self._waiting[partition]
        while waiting and waiting[0][0] <= high_watermark:
            _, request = waiting.pop(0)
            request.unfinished -= 1
            if not request.unfinished:
                self._send(self._acknowledged, request)

    def _acknowledged(self, request: Request) -> None:
        partitions, bases = request.partitions, request.bases
        count = len(partitions)
        self.acked += count
        self._record(
            BatchesProduced, count, PRODUCER, TOPIC, ACKS_ALL, "NONE", request.leader, "acked",
            tuple(partitions), tuple(request.ids), bases, tuple([base + RECORDS for base in bases]),
            (self.now - request.sent_us,) * count, (1,) * count,
        )  # fmt: skip

    def _appended(self, broker: int, leader: bool, partitions: Sequence[int], *columns: Sequence[int]) -> None:
        count = len(partitions)
        epochs = (LEADER_EPOCH,) * count
        self._record(BatchesAppended, count, broker, TOPIC, leader, tuple(partitions), epochs, *map(tuple, columns))

    def _moved(self, broker: int, leader: bool, partitions: Sequence[int], high_watermarks: Sequence[int]) -> None:
        count = len(partitions)
        epochs = (LEADER_EPOCH,) * count
        self._record(
            HighWatermarksMoved, count, broker, TOPIC, leader, tuple(partitions), epochs, tuple(high_watermarks)
        )

    def _record(self, kind: type[Any], count: int, *fields: Any) -> None:
        self._world.now = self.now
        self.trace.emit_columns(kind, count, *fields)
