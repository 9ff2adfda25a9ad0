"""The floor: the cluster's message flow as callbacks on a heap, with integers for logs.

One produce request per leader broker and linger; each follower's long poll is answered when something was appended,
its next fetch moves the high watermark, and the producer gets its answer when every partition of the request is
replicated. No trace, no ISR, no sessions, no ZooKeeper, no faults: what is left is what any model has to do.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from random import Random
from typing import Any

LATENCY_US = 500
JITTER_US = 200
WAIT_US = 500_000
LINGER_US = 100_000
REPLICAS = 3

Event = tuple[int, int, Callable[[Any], None], Any]


class Floor:
    """``acked`` counts the batches whose producer received an answer; equal to the emulator's for the same set-up and
    time. Arguments that are ``Any`` are messages; ``RecordingFloor`` sends others."""

    def __init__(self, brokers: int, partitions: int, load: bool) -> None:
        self.acked = 0
        self.now = 0
        self._heap: list[Event] = []
        self._sequence = 0
        self._random = Random(1)
        self._led: list[list[int]] = [[] for _ in range(brokers)]
        self._ends = [0] * partitions
        self._high_watermarks = [0] * partitions
        self._follower_ends: list[dict[int, int]] = [{} for _ in range(partitions)]
        self._waiting: list[list[tuple[int, Any]]] = [[] for _ in range(partitions)]
        self._news: dict[tuple[int, int], dict[int, None]] = {}
        self._polls: dict[tuple[int, int], int] = {}
        for partition in range(partitions):
            leader = partition % brokers
            self._led[leader].append(partition)
            for step in range(1, REPLICAS):
                follower = (leader + step) % brokers
                self._follower_ends[partition][follower] = 0
                self._news.setdefault((leader, follower), {})
        for pair in self._news:
            self._later(LATENCY_US, self._fetched, (pair, ()))
        if load:
            self._later(LINGER_US, self._tick, None)

    @property
    def events(self) -> int:
        """The number of events that it has recorded."""
        return 0

    def run(self, until_us: int) -> None:
        """Go on to ``until_us`` of virtual time."""
        heap = self._heap
        while heap and heap[0][0] <= until_us:
            self.now, _, call, argument = heappop(heap)
            call(argument)

    def _later(self, delay_us: int, call: Callable[[Any], None], argument: Any) -> None:
        self._sequence += 1
        heappush(self._heap, (self.now + delay_us, self._sequence, call, argument))

    def _send(self, call: Callable[[Any], None], argument: Any) -> None:
        self._later(LATENCY_US + self._random.randrange(2 * JITTER_US + 1) - JITTER_US, call, argument)

    def _tick(self, _: None) -> None:
        self._later(LINGER_US, self._tick, None)
        for leader, partitions in enumerate(self._led):
            if partitions:
                self._send(self._produce, leader)

    def _produce(self, leader: Any) -> None:
        partitions = self._led[leader]
        unfinished = [len(partitions), len(partitions)]
        touched: dict[tuple[int, int], None] = {}
        for partition in partitions:
            self._ends[partition] += 1
            self._waiting[partition].append((self._ends[partition], unfinished))
            for follower in self._follower_ends[partition]:
                pair = leader, follower
                self._news[pair][partition] = None
                touched[pair] = None
        for pair in touched:
            if self._polls.pop(pair, None) is not None:
                self._answer(pair)

    def _answer(self, pair: tuple[int, int]) -> None:
        news, self._news[pair] = self._news[pair], {}
        self._send(self._append, (pair, [(partition, self._ends[partition]) for partition in news]))

    def _append(self, answer: Any) -> None:
        self._send(self._fetched, answer)

    def _fetched(self, request: tuple[tuple[int, int], list[tuple[int, int]]]) -> None:
        pair, positions = request
        follower = pair[1]
        for partition, end in positions:
            ends = self._follower_ends[partition]
            ends[follower] = end
            lowest = min(ends.values())
            if lowest > self._high_watermarks[partition]:
                self._high_watermarks[partition] = lowest
                self._complete(partition, lowest)
        self._answer_or_wait(pair)

    def _answer_or_wait(self, pair: tuple[int, int]) -> None:
        if self._news[pair]:
            self._answer(pair)
        else:
            self._polls[pair] = poll = self._sequence
            self._later(WAIT_US, self._expire, (pair, poll))

    def _complete(self, partition: int, high_watermark: int) -> None:
        waiting = self._waiting[partition]
        while waiting and waiting[0][0] <= high_watermark:
            _, unfinished = waiting.pop(0)
            unfinished[0] -= 1
            if not unfinished[0]:
                self._send(self._acknowledged, unfinished[1])

    def _acknowledged(self, batches: Any) -> None:
        self.acked += batches

    def _expire(self, poll: tuple[tuple[int, int], int]) -> None:
        pair, number = poll
        if self._polls.get(pair) == number:
            del self._polls[pair]
            self._send(self._append, (pair, []))
