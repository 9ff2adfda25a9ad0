"""The model as a bare loop of callbacks over a heap: no tasks, no waiting, no cancellation. The floor.

A receive with a time-out pushes a timer for each and remembers which wait it was for.
"""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

from benchmarks.kernel.model import Fetch, Fetched, Follower, Leader, answer_us, pairs, request_us, total


class Loop:
    """Events at ``(t_us, sequence)``."""

    __slots__ = ("heap", "now", "sequence")

    def __init__(self) -> None:
        self.heap: list[tuple[int, int, Callable[[Any], object], Any]] = []
        self.now = 0
        self.sequence = 0

    def call_later(self, delay_us: int, fn: Callable[[Any], object], arg: Any) -> None:
        self.sequence += 1
        heappush(self.heap, (self.now + delay_us, self.sequence, fn, arg))


class Waits:
    """The time-outs of one receiver."""

    __slots__ = ("loop", "number", "timeout_us")

    def __init__(self, loop: Loop, timeout_us: int | None) -> None:
        self.loop = loop
        self.timeout_us = timeout_us
        self.number = 0

    def arm(self) -> None:
        if self.timeout_us is not None:
            self.number += 1
            self.loop.call_later(self.timeout_us, self.expired, self.number)

    def expired(self, number: int) -> None:
        if number == self.number:
            raise TimeoutError


def run(brokers: int, fetches: int, timeout_us: int | None) -> int:
    """One run; the checksum."""
    loop = Loop()
    fetchers = pairs(brokers)
    followers = [Follower(index) for index in range(len(fetchers))]
    leaders = [Leader() for _ in range(brokers)]
    leader_waits = [Waits(loop, timeout_us) for _ in leaders]
    fetcher_waits = [Waits(loop, timeout_us) for _ in fetchers]
    left = [fetches] * len(fetchers)
    running = len(fetchers)

    def at_leader(request: Fetch) -> None:
        follower, broker = fetchers[request.fetcher]
        reply = leaders[broker].answer(request)
        loop.call_later(answer_us(follower, broker), at_fetcher, (request.fetcher, reply))
        if timeout_us is not None:
            leader_waits[broker].arm()

    def at_fetcher(item: tuple[int, Fetched]) -> None:
        nonlocal running
        index, reply = item
        followers[index].take(reply)
        left[index] -= 1
        if left[index]:
            ask(index)
        else:
            running -= 1
            fetcher_waits[index].number += 1

    def ask(index: int) -> None:
        follower, leader = fetchers[index]
        loop.call_later(request_us(follower, leader), at_leader, followers[index].request())
        if timeout_us is not None:
            fetcher_waits[index].arm()

    for waits in leader_waits:
        waits.arm()
    for index in range(len(fetchers)):
        ask(index)
    heap = loop.heap
    while running:
        loop.now, _sequence, fn, arg = heappop(heap)
        fn(arg)
    return total(followers, loop.now)
