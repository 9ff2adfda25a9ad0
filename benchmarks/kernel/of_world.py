"""The model on the world's tasks: one task per fetcher, one per leader, mailboxes, one event per message."""

from typing import Any

from benchmarks.kernel.model import Fetch, Follower, Leader, answer_us, pairs, request_us, total
from emulator.kernel import Backend, Mailbox, World


def run(brokers: int, fetches: int, timeout_us: int | None, backend: Backend = "detached") -> int:
    """One run; the checksum. With ``timeout_us`` every receive has a time-out."""
    world = World(0, backend=backend)
    fetchers = pairs(brokers)
    followers = [Follower(index) for index in range(len(fetchers))]
    inboxes = [Mailbox(world, f"leader {leader}") for leader in range(brokers)]
    answers = [Mailbox(world, f"fetcher {index}") for index in range(len(fetchers))]
    left = len(fetchers)

    async def lead(broker: int, nursery: Any) -> None:
        leader, inbox = Leader(), inboxes[broker]
        while True:
            request: Fetch = await (inbox.get() if timeout_us is None else inbox.get_within(timeout_us))
            reply = leader.answer(request)
            follower = fetchers[request.fetcher][0]
            world.call_later(answer_us(follower, broker), answers[request.fetcher].put, reply)

    async def fetch(index: int, nursery: Any) -> None:
        nonlocal left
        me, mailbox = followers[index], answers[index]
        follower, leader = fetchers[index]
        put, latency = inboxes[leader].put, request_us(follower, leader)
        for _ in range(fetches):
            world.call_later(latency, put, me.request())
            me.take(await (mailbox.get() if timeout_us is None else mailbox.get_within(timeout_us)))
        left -= 1
        if not left:
            nursery.cancel_scope.cancel()

    async def main() -> int:
        async with world.open_nursery() as nursery:
            for broker in range(brokers):
                world.spawn(nursery, lead, broker, nursery, name="leader")
            for index in range(len(fetchers)):
                world.spawn(nursery, fetch, index, nursery, name="fetcher")
        return total(followers, world.now)

    result: int = world.run(main)
    return result
