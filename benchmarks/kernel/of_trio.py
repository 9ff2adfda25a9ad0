"""The model in plain Trio: memory channels, a task that sleeps for each message on its way, and a clock that
jumps."""

import math
from functools import partial
from typing import Any

import trio
import trio.testing

from benchmarks.kernel.model import Follower, Leader, answer_us, pairs, request_us, total

UNIT = 1_000_000


def run(brokers: int, fetches: int, timeout_us: int | None) -> int:
    """One run; the checksum."""
    clock = trio.testing.MockClock(autojump_threshold=0)
    result: int = trio.run(partial(_main, brokers, fetches, timeout_us), clock=clock)
    return result


async def _main(brokers: int, fetches: int, timeout_us: int | None) -> int:
    fetchers = pairs(brokers)
    followers = [Follower(index) for index in range(len(fetchers))]
    inboxes: list[Any] = [trio.open_memory_channel[Any](math.inf) for _ in range(brokers)]
    answers: list[Any] = [trio.open_memory_channel[Any](math.inf) for _ in fetchers]
    start = trio.current_time()
    left = len(fetchers)

    async def deliver(delay: int, channel: Any, item: Any) -> None:
        await trio.sleep(delay / UNIT)
        channel.send_nowait(item)

    async def receive(channel: Any) -> Any:
        if timeout_us is None:
            return await channel.receive()
        with trio.fail_after(timeout_us / UNIT):
            return await channel.receive()

    async def lead(broker: int, nursery: trio.Nursery) -> None:
        leader, inbox = Leader(), inboxes[broker][1]
        while True:
            request = await receive(inbox)
            reply = leader.answer(request)
            latency = answer_us(fetchers[request.fetcher][0], broker)
            nursery.start_soon(deliver, latency, answers[request.fetcher][0], reply)

    async def fetch(index: int, nursery: trio.Nursery) -> None:
        nonlocal left
        me, mailbox = followers[index], answers[index][1]
        follower, leader = fetchers[index]
        latency = request_us(follower, leader)
        for _ in range(fetches):
            nursery.start_soon(deliver, latency, inboxes[leader][0], me.request())
            me.take(await receive(mailbox))
        left -= 1
        if not left:
            nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        for broker in range(brokers):
            nursery.start_soon(lead, broker, nursery)
        for index in range(len(fetchers)):
            nursery.start_soon(fetch, index, nursery)
    return total(followers, round((trio.current_time() - start) * UNIT))
