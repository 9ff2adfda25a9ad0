"""A schedule changes the order between connections and never the order within one. The same seed gives the same order;
a race that is never lost first in, first out is lost under each schedule within a few seeds."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from emulator.network import Endpoint, Hold
from emulator.network.interceptors import InterceptedMessage
from emulator.schedules import Schedule
from tests.emulator.network.site import Site, on_site

BOUND_US = 10_000
SCHEDULES = (
    Schedule("random", BOUND_US),
    Schedule("pct", BOUND_US, 1),
    Schedule("pct", BOUND_US, 4),
    Schedule("pos", BOUND_US),
    Schedule("pos", 1),
)
CLIENTS = 3


class Server:
    """Machine 0 with the connections of the clients on machines 1 to 3."""

    def __init__(self) -> None:
        self.got: list[tuple[int, int, int]] = []
        """Time, client and message, in the order of delivery."""
        self.closed: list[tuple[int, str]] = []
        self.clients: list[Endpoint] = []
        self.process: Any = None

    async def open(self, site: Site) -> None:
        self.process = await site.process(0)

        def accept(endpoint: Endpoint) -> None:
            client = endpoint.out.target.id
            endpoint.receive = lambda item: self.got.append((site.world.now, client, item))
            endpoint.closed = lambda reason: self.closed.append((client, reason))

        site.network.listen(self.process, "p", accept)
        for number in range(1, CLIENTS + 1):
            client = await site.process(number)
            self.clients.append(site.network.connect(client, 0, "p", lambda _: None))
        await site.world.settled()

    def of(self, client: int) -> list[int]:
        return [item for _, sender, item in self.got if sender == client]


FAULTS = ("cut", "heal", "pause", "resume", "hold", "release")


def strike(site: Site, server: Server, kind: str, holds: list[Hold]) -> None:
    """One fault of the way from client 1, of the server, or of all messages that are delivered."""
    if kind == "cut":
        site.network.cut(1, 0)
    elif kind == "heal":
        site.network.heal(1, 0)
    elif kind == "pause":
        server.process.pause()
    elif kind == "resume":
        server.process.resume()
    elif kind == "hold":

        def hook(passing: InterceptedMessage) -> None:
            holds.append(passing.hold())
            site.network.interceptors.disarm(int, "delivered", hook)

        site.network.interceptors.arm(int, "delivered", hook)
    elif holds:
        holds.pop(0).release()


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1000),
    st.sampled_from(SCHEDULES),
    st.lists(st.tuples(st.integers(0, 30_000), st.sampled_from(FAULTS)), max_size=8),
    st.booleans(),
)
@example(1, SCHEDULES[0], [(0, "hold"), (2397, "cut"), (2398, "release")], False)
def test_no_schedule_breaks_the_order_of_a_connection(
    seed: int, schedule: Schedule, faults: list[tuple[int, str]], paranoid: bool
) -> None:
    async def body(site: Site) -> None:
        site.network.paranoid = paranoid
        server, holds = Server(), list[Hold]()
        await server.open(site)
        for after_us, kind in faults:
            site.world.call_later(after_us, lambda kind: strike(site, server, kind, holds), kind)
        for number in range(40):
            for place, client in enumerate(server.clients):
                client.send(number, 100, background=(number + place) % 3 == 0)
            await site.world.sleep(300)
        server.clients[0].close()
        await site.world.sleep(100_000)
        for kind in ("heal", "resume", *["release"] * len(FAULTS) * 2):
            strike(site, server, kind, holds)
            await site.world.sleep(100_000)
        assert [server.of(client) for client in (1, 2, 3)] == [list(range(40))] * CLIENTS
        assert server.closed == [(1, "closed")]
        assert site.world.foreground == 0

    on_site(body, seed=seed, schedule=schedule)


def deliveries(seed: int, schedule: Schedule | None) -> list[tuple[int, int, int]]:
    async def body(site: Site) -> list[tuple[int, int, int]]:
        server = Server()
        await server.open(site)
        for number in range(100):
            for client in server.clients:
                client.send(number, 100)
            await site.world.sleep(1_000)
        await site.world.settled()
        return server.got

    return list(on_site(body, seed=seed, schedule=schedule))


@pytest.mark.parametrize("schedule", SCHEDULES[:4])
def test_a_seed_has_one_order(schedule: Schedule) -> None:
    first = deliveries(1, schedule)
    assert first == deliveries(1, schedule)
    assert first != deliveries(2, schedule)
    assert first != deliveries(1, None)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_a_delivery_is_late_by_the_bound_at_most(schedule: Schedule) -> None:
    late = {(client, item): at_us for at_us, client, item in deliveries(1, schedule)}
    # Message n leaves at the same time in both worlds, and the network's jitter is 200 us each way.
    in_time = {(client, item): at_us for at_us, client, item in deliveries(1, None)}
    later = [late[message] - in_time[message] for message in late]
    assert max(later) <= BOUND_US + 400 + len(in_time) // CLIENTS
    assert min(later) >= -400


def order(site: Site, server: Server, sent: list[tuple[int, int]]) -> None:
    """``sent``: after how many microseconds which client sends its next message."""
    for after_us, client in sent:
        site.world.call_later(after_us, lambda client: server.clients[client - 1].send(0, 100), client)


def overtaken(got: list[tuple[int, int, int]]) -> bool:
    """One order of two events: the message of client 2, sent 3 ms later, comes before that of client 1."""
    senders = [client for _, client, _ in got]
    return senders.index(2) < senders.index(1)


def overtaken_each_time(got: list[tuple[int, int, int]]) -> bool:
    """One side is slow for long: in five rounds, one after the other, client 2 overtakes client 1."""
    senders = [client for _, client, _ in got]
    return all(senders[2 * turn : 2 * turn + 2] == [2, 1] for turn in range(5))


ONE = [(0, 1), (3_000, 2)]
FIVE = [(turn * 30_000 + after_us, client) for turn in range(5) for after_us, client in ONE]


SEEDS = range(100)
COMPARED = {"fifo": None, "random": SCHEDULES[0], "pct-4": SCHEDULES[2], "pos": SCHEDULES[3]}


def seeds_that_lose(sent: list[tuple[int, int]], lost: Callable[..., bool]) -> dict[str, int]:
    """With how many of 100 seeds the race is lost under each schedule."""

    async def body(site: Site) -> bool:
        server = Server()
        await server.open(site)
        order(site, server, sent)
        await site.world.settled()
        return lost(server.got)

    return {
        name: sum(on_site(body, seed=seed, schedule=schedule) for seed in SEEDS) for name, schedule in COMPARED.items()
    }


def test_an_injected_race_is_lost_under_each_schedule_and_never_first_in_first_out() -> None:
    assert seeds_that_lose(ONE, overtaken) == {"fifo": 0, "random": 14, "pct-4": 12, "pos": 24}


def test_a_long_run_of_one_side_is_what_pct_is_for() -> None:
    assert seeds_that_lose(FIVE, overtaken_each_time) == {"fifo": 0, "random": 0, "pct-4": 12, "pos": 0}
