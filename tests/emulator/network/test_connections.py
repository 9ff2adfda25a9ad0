"""Connections are TCP's: ordered, never duplicated, refused, reset, stalled by cuts, silent where the machine
is down."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.network import Delay, Endpoint, NetworkSpec, Nic
from emulator.network.endpoint import ignore
from emulator.nodes import Process
from tests.emulator.network.site import Site, idle, on_site


class Pair:
    """A connection from one machine to port ``p`` of another, and what both ends saw."""

    def __init__(self, site: Site, client: Process, server: Process) -> None:
        self.got: list[tuple[int, Any]] = []
        self.back: list[tuple[int, Any]] = []
        self.closed: list[tuple[str, str]] = []
        self.accepted: Endpoint | None = None
        world = site.world

        def accept(endpoint: Endpoint) -> None:
            self.accepted = endpoint
            endpoint.receive = lambda item: self.got.append((world.now, item))
            endpoint.closed = lambda reason: self.closed.append(("server", reason))

        site.network.listen(server, "p", accept)
        self.client = site.network.connect(
            client,
            server.node.id,
            "p",
            lambda item: self.back.append((world.now, item)),
            lambda reason: self.closed.append(("client", reason)),
        )

    @property
    def server(self) -> Endpoint:
        assert self.accepted is not None
        return self.accepted

    @property
    def items(self) -> list[Any]:
        return [item for _, item in self.got]


async def pair(site: Site) -> Pair:
    made = Pair(site, await site.process(0), await site.process(1))
    await site.world.settled()
    return made


def test_what_is_sent_before_the_handshake_keeps_its_cause() -> None:
    async def body(site: Site) -> None:
        client, server = await site.process(0), await site.process(1)
        causes: list[int] = []

        def accept(endpoint: Endpoint) -> None:
            endpoint.receive = lambda _: causes.append(site.trace.cause)

        site.network.listen(server, "p", accept)
        connection = site.network.connect(client, 1, "p", ignore, ignore)
        for cause in (7, 8):
            site.trace.cause = cause
            connection.send("early", 10)
        site.trace.cause = 9
        await site.world.settled()
        assert causes == [7, 8]

    on_site(body)


def test_what_is_sent_before_the_handshake_waits_for_it() -> None:
    async def body(site: Site) -> None:
        connection = Pair(site, await site.process(0), await site.process(1))
        connection.client.send("early", 10)
        await site.world.settled()
        assert connection.items == ["early"]
        assert connection.got[0][0] >= 3 * 300, "a round trip and the way there"

    on_site(body)


def test_messages_arrive_in_order_within_the_jitter() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        sent = []
        for number in range(200):
            sent.append(site.world.now)
            connection.client.send(number, 100)
            await site.world.sleep(7)
        await site.world.settled()
        assert connection.items == list(range(200))
        delays = [arrived - left for (arrived, _), left in zip(connection.got, sent, strict=True)]
        assert min(delays) >= 300
        assert max(delays) <= 700
        assert len(set(delays)) > 20, "there is jitter"

    on_site(body)


Fault = tuple[str, int]


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 1000),
    st.lists(
        st.tuples(st.sampled_from(["cut", "heal", "delay", "pause", "resume"]), st.integers(0, 1500)),
        max_size=8,
    ),
)
def test_order_survives_every_fault_that_keeps_the_connection(seed: int, faults: list[Fault]) -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        process = site.network.nodes[1].process
        assert process is not None

        def strike(kind: str) -> None:
            if kind == "cut":
                site.network.cut(0, 1)
            elif kind == "heal":
                site.network.heal(0, 1)
            elif kind == "delay":
                site.network.delay(0, 1, Delay(2000, 1500))
            elif kind == "pause":
                process.pause()
            else:
                process.resume()

        for kind, at_us in faults:
            site.world.call_later(at_us, strike, kind)
        for number in range(60):
            connection.client.send(number, 100)
            await site.world.sleep(30)
        await site.world.settled()
        strike("heal")
        await site.world.settled()
        strike("resume")
        await site.world.settled()
        assert connection.items == list(range(60))
        assert connection.closed == []

    on_site(body, seed=seed)


def test_a_one_way_cut_stalls_one_way_only() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        site.network.cut(0, 1)
        connection.client.send("there", 10)
        connection.server.send("back", 10)
        await site.world.sleep(100_000)
        assert connection.items == []
        assert [item for _, item in connection.back] == ["back"]
        site.network.heal(0, 1)
        await site.world.settled()
        assert connection.items == ["there"]

    on_site(body)


def test_a_two_way_cut_stalls_both() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        site.network.cut(0, 1)
        site.network.cut(1, 0)
        connection.client.send("there", 10)
        connection.server.send("back", 10)
        await site.world.sleep(100_000)
        assert (connection.got, connection.back) == ([], [])
        site.network.heal(1, 0)
        await site.world.settled()
        assert len(connection.back) == 1
        assert connection.got == []

    on_site(body)


def test_a_connection_to_a_port_without_a_listener_is_refused() -> None:
    async def body(site: Site) -> list[str]:
        client, _server = await site.process(0), await site.process(1)
        reasons: list[str] = []
        site.network.connect(client, 1, "nothing", print, reasons.append)
        await site.world.settled()
        return reasons

    assert on_site(body) == ["refused"]


def test_a_refusal_is_held_up_by_a_cut_of_its_way_back() -> None:
    async def body(site: Site) -> None:
        client, _server = await site.process(0), await site.process(1)
        reasons: list[str] = []
        site.network.cut(1, 0)
        site.network.connect(client, 1, "nothing", print, reasons.append)
        await site.world.settled()
        assert reasons == []
        site.network.heal(1, 0)
        await site.world.settled()
        assert reasons == ["refused"]

    on_site(body)


def test_a_machine_that_is_down_answers_nothing() -> None:
    async def body(site: Site) -> list[str]:
        client, _server = await site.process(0), await site.process(1)
        site.network.nodes[1].crash("host")
        reasons: list[str] = []
        site.network.connect(client, 1, "p", print, reasons.append)
        await site.world.settled()
        return reasons

    assert on_site(body) == []


@pytest.mark.parametrize(("kind", "reasons"), [("process", [("client", "reset")]), ("host", [])])
def test_a_crash_resets_or_is_silent(kind: Any, reasons: list[tuple[str, str]]) -> None:
    async def body(site: Site) -> Pair:
        connection = await pair(site)
        site.network.nodes[1].crash(kind)
        connection.client.send("into the void", 10)
        await site.world.settled()
        return connection

    connection = on_site(body)
    assert connection.closed == reasons
    assert connection.got == []


@pytest.mark.parametrize(("kind", "items"), [("process", ["last words"]), ("host", [])])
@pytest.mark.parametrize("way_us", [0, 10_000])
@pytest.mark.parametrize("restarts", [False, True])
def test_what_a_machine_has_sent_into_a_cut_is_lost_when_it_goes_down(
    kind: Any, items: list[str], way_us: int, restarts: bool
) -> None:
    """It reaches the cut before, or after, the machine goes down. Of a process that is killed it is sent again."""

    async def body(site: Site) -> Pair:
        connection = await pair(site)
        node = site.network.nodes[0]
        site.network.cut(0, 1)
        site.network.delay(0, 1, Delay(latency_us=way_us))
        connection.client.send("last words", 10)
        await site.world.sleep(5_000)
        node.crash(kind)
        await site.world.sleep(20_000)
        if restarts:
            await idle(node)
        site.network.heal(0, 1)
        await site.world.settled()
        return connection

    assert on_site(body).items == items


def test_a_restarted_machine_resets_the_connections_of_its_former_incarnation() -> None:
    async def body(site: Site) -> Pair:
        connection = await pair(site)
        node = site.network.nodes[1]
        node.crash("host")
        await idle(node)
        assert connection.closed == []
        connection.client.send("who are you", 10)
        await site.world.settled()
        return connection

    assert on_site(body).closed == [("client", "reset")]


def test_the_other_end_sees_the_close_after_all_messages() -> None:
    async def body(site: Site) -> Pair:
        connection = await pair(site)
        for number in range(20):
            connection.client.send(number, 10)
        connection.client.close()
        connection.client.send("too late", 10)
        await site.world.settled()
        return connection

    connection = on_site(body)
    assert connection.items == list(range(20))
    assert connection.closed == [("server", "closed")]


def test_bandwidth_queues_by_size() -> None:
    spec = NetworkSpec(latency_us=500, jitter_us=0, egress=1_000_000)

    async def body(site: Site) -> list[int]:
        connection = await pair(site)
        start = site.world.now
        for size in (1000, 5000, 10):
            connection.client.send(size, size)
        await site.world.settled()
        return [arrived - start for arrived, _ in connection.got]

    assert on_site(body, spec=spec) == [1500, 6500, 6510]


@pytest.mark.parametrize(("egress", "ingress"), [(1_000_000, 100_000), (100_000, 1_000_000)])
def test_a_message_leaves_one_card_while_it_enters_the_other(egress: int, ingress: int) -> None:
    """The slower of the two says how long it takes, not the sum; and neither lets through more than it carries."""
    spec = NetworkSpec(latency_us=500, jitter_us=0, egress=egress, ingress=ingress)

    async def body(site: Site) -> list[int]:
        connection = await pair(site)
        start = site.world.now
        for _ in range(3):
            connection.client.send("x", 1000)
        await site.world.settled()
        return [arrived - start for arrived, _ in connection.got]

    assert on_site(body, spec=spec) == [10_500, 20_500, 30_500]


def test_a_machine_may_have_a_card_of_its_own() -> None:
    spec = NetworkSpec(latency_us=500, jitter_us=0, ingress=1_000_000, nics={0: Nic(), 1: Nic(ingress=100_000)})

    async def body(site: Site) -> list[int]:
        connection = await pair(site)
        assert connection.accepted is not None
        start = site.world.now
        connection.client.send("in", 1000)
        await site.world.settled()
        connection.accepted.send("out", 1000)
        await site.world.settled()
        return [arrived - start for arrived, _ in connection.got]

    assert on_site(body, spec=spec) == [10_500]


def test_senders_share_the_receiver_s_card() -> None:
    spec = NetworkSpec(latency_us=500, jitter_us=0, ingress=1_000_000)

    async def body(site: Site) -> list[int]:
        connection = await pair(site)
        third = await site.process(2)
        other = site.network.connect(third, 1, "p", print)
        await site.world.settled()
        first = connection.got
        assert connection.accepted is not None
        connection.accepted.receive = lambda item: first.append((site.world.now, item))
        start = site.world.now
        connection.client.send("a", 2000)
        other.send("b", 2000)
        await site.world.settled()
        return sorted(arrived - start for arrived, _ in first)

    assert on_site(body, spec=spec) == [2500, 4500]


def test_a_delay_adds_to_the_latency_until_healed() -> None:
    spec = NetworkSpec(latency_us=500, jitter_us=0)

    async def body(site: Site) -> list[int]:
        connection = await pair(site)
        times = []
        for change in (None, "delay", "heal"):
            if change == "delay":
                site.network.delay(0, 1, Delay(10_000))
            elif change == "heal":
                site.network.heal(0, 1)
            start = site.world.now
            connection.client.send(change, 10)
            await site.world.settled()
            times.append(connection.got[-1][0] - start)
        return times

    assert on_site(body, spec=spec) == [500, 10_500, 500]


def test_a_paused_receiver_gets_everything_in_order_when_it_resumes() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        process = site.network.nodes[1].process
        assert process is not None
        process.pause()
        for number in range(10):
            connection.client.send(number, 10)
        await site.world.sleep(50_000)
        assert connection.got == []
        connection.client.send(10, 10)
        site.world.call_later(500, lambda _: process.resume())
        await site.world.sleep(20_000)
        assert connection.items == list(range(11))

    on_site(body, spec=NetworkSpec(latency_us=500, jitter_us=0))


def test_a_connection_to_a_paused_process_opens_and_is_accepted_later() -> None:
    async def body(site: Site) -> None:
        client, server = await site.process(0), await site.process(1)
        server.pause()
        connection = Pair(site, client, server)
        connection.client.send("hello", 10)
        await site.world.sleep(50_000)
        assert connection.accepted is None
        server.resume()
        await site.world.settled()
        assert connection.items == ["hello"]

    on_site(body)
