"""The model in SimPy: its Store idiom, and processes with a mailbox made by hand on an Event."""

from collections import deque
from collections.abc import Callable, Generator
from typing import Any

import simpy

from benchmarks.kernel.model import Follower, Leader, answer_us, pairs, request_us, total

Steps = Generator[Any, Any, Any]


class Box:
    """A mailbox with one reader: as much as the world's, no more."""

    __slots__ = ("env", "items", "waiter")

    def __init__(self, env: Any) -> None:
        self.env = env
        self.items: deque[Any] = deque()
        self.waiter: Any = None

    def put(self, item: Any) -> None:
        if self.waiter is None:
            self.items.append(item)
        else:
            waiter, self.waiter = self.waiter, None
            waiter.succeed(item)

    def get(self) -> Any:
        event = self.env.event()
        if self.items:
            event.succeed(self.items.popleft())
        else:
            self.waiter = event
        return event

    def forget(self, _event: Any) -> None:
        self.waiter = None


class StoreBox:
    """SimPy's own Store behind the same interface."""

    __slots__ = ("get", "put", "store")

    def __init__(self, env: Any) -> None:
        self.store = simpy.Store(env)
        self.put = self.store.put
        self.get = self.store.get

    def forget(self, event: Any) -> None:
        event.cancel()


def run_store(brokers: int, fetches: int, timeout_us: int | None) -> int:
    """Processes, ``Store`` and ``Timeout``; a receive with a time-out is ``get | timeout``, as the manual has
    it."""
    return _run(brokers, fetches, timeout_us, StoreBox)


def run_like_for_like(brokers: int, fetches: int, timeout_us: int | None) -> int:
    """Processes and a hand-made mailbox: what the world has, in SimPy's terms."""
    return _run(brokers, fetches, timeout_us, Box)


def _run(brokers: int, fetches: int, timeout_us: int | None, box: Callable[[Any], Any]) -> int:
    env = simpy.Environment()
    fetchers = pairs(brokers)
    followers = [Follower(index) for index in range(len(fetchers))]
    inboxes = [box(env) for _ in range(brokers)]
    answers = [box(env) for _ in fetchers]

    def deliver(event: Any) -> None:
        put, item = event.value
        put(item)

    def send(delay: int, put: Any, item: Any) -> None:
        simpy.Timeout(env, delay, (put, item)).callbacks.append(deliver)

    def within(mailbox: Any) -> Steps:
        assert timeout_us is not None
        get = mailbox.get()
        got = yield get | env.timeout(timeout_us)
        if get not in got:
            mailbox.forget(get)
            raise TimeoutError
        return got[get]

    def lead(broker: int) -> Steps:
        leader, inbox = Leader(), inboxes[broker]
        while True:
            request = (yield inbox.get()) if timeout_us is None else (yield from within(inbox))
            reply = leader.answer(request)
            send(answer_us(fetchers[request.fetcher][0], broker), answers[request.fetcher].put, reply)

    def fetch(index: int) -> Steps:
        me, mailbox = followers[index], answers[index]
        follower, leader = fetchers[index]
        put, latency = inboxes[leader].put, request_us(follower, leader)
        for _ in range(fetches):
            send(latency, put, me.request())
            me.take((yield mailbox.get()) if timeout_us is None else (yield from within(mailbox)))

    for broker in range(brokers):
        env.process(lead(broker))
    env.run(until=simpy.AllOf(env, [env.process(fetch(index)) for index in range(len(fetchers))]))
    return total(followers, int(env.now))
