"""A message can be seen and stopped on its way: reset, held, and what a hook does to the machines at its ends."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.network import Hold, InterceptedMessage
from emulator.network.interceptors import Edge
from tests.emulator.network.site import Site, on_site
from tests.emulator.network.test_connections import Pair, pair

EDGES: tuple[Edge, ...] = ("sent", "delivered")


def holding(site: Site, edge: Edge, wanted: object) -> list[Hold]:
    """Hold the message ``wanted``; the list gets what lets it go."""
    holds: list[Hold] = []

    def hook(passing: InterceptedMessage) -> None:
        if passing.body == wanted:
            holds.append(passing.hold())

    site.network.interceptors.arm(str, edge, hook)
    return holds


@pytest.mark.parametrize("edge", EDGES)
def test_a_hook_sees_its_class_at_its_edge_with_both_machines(edge: Edge) -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        seen: list[tuple[int, int, Any, str, int]] = []
        site.network.interceptors.arm(
            str, edge, lambda p: seen.append((p.source, p.target, p.body, p.edge, len(connection.got)))
        )
        connection.client.send("there", 10)
        connection.client.send(7, 10)
        await site.world.settled()
        connection.server.send("back", 10)
        await site.world.settled()
        assert connection.items == ["there", 7]
        assert [item for _, item in connection.back] == ["back"]
        assert seen == [(0, 1, "there", edge, 0), (1, 0, "back", edge, 2)]

    on_site(body)


def test_a_hook_that_was_disarmed_sees_nothing() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        interceptors, seen = site.network.interceptors, []

        def second(passing: InterceptedMessage) -> None:
            seen.append(("second", passing.body))

        def first(passing: InterceptedMessage) -> None:
            seen.append(("first", passing.body))
            interceptors.disarm(str, "sent", first)
            interceptors.disarm(str, "sent", second)

        interceptors.arm(str, "sent", first)
        interceptors.arm(str, "sent", second)
        connection.client.send("a", 10)
        connection.client.send("b", 10)
        await site.world.settled()
        assert seen == [("first", "a")], "the one that follows was disarmed in its turn"
        assert interceptors.sent == {}, "the send looks at an empty dictionary again"
        assert connection.items == ["a", "b"]

    on_site(body)


@pytest.mark.parametrize("edge", EDGES)
def test_a_reset_loses_the_message_and_both_ends_learn_of_it(edge: Edge) -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        site.network.interceptors.arm(str, edge, InterceptedMessage.reset)
        connection.client.send("lost", 10)
        await site.world.settled()
        assert connection.items == []
        assert sorted(connection.closed) == [("client", "reset"), ("server", "reset")]
        assert connection.client.done
        assert connection.server.done

    on_site(body)


@pytest.mark.parametrize("edge", EDGES)
def test_messages_after_a_held_one_wait_with_it(edge: Edge) -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        holds = holding(site, edge, "held")
        for item in ("before", "held", "behind"):
            connection.client.send(item, 10)
        await site.world.sleep(5_000)
        connection.client.send("late", 10)
        connection.server.send("the other way", 10)
        await site.world.settled()
        assert connection.items == ["before"]
        assert [item for _, item in connection.back] == ["the other way"], "one way only"
        assert connection.closed == [], "the connection is up"
        released = site.world.now
        holds[0].release()
        holds[0].release()
        await site.world.settled()
        assert connection.items == ["before", "held", "behind", "late"]
        assert [t for t, _ in connection.got[1:]] == [released] * 3

    on_site(body)


@pytest.mark.parametrize("edge", EDGES)
def test_a_close_waits_for_a_held_message(edge: Edge) -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        holds = holding(site, edge, "held")
        connection.client.send("held", 10)
        await site.world.settled()
        connection.client.close()
        await site.world.settled()
        assert (connection.items, connection.closed) == ([], [])
        holds[0].release()
        assert (connection.items, connection.closed) == (["held"], [("server", "closed")])

    on_site(body)


def test_a_hold_that_ends_before_its_message_has_arrived_keeps_nothing() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        holds = holding(site, "sent", "held")
        connection.client.send("held", 10)
        holds[0].release()
        await site.world.settled()
        assert connection.items == ["held"]

    on_site(body)


def test_two_holds_on_one_connection_are_let_go_one_by_one() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        first, second = holding(site, "sent", "a"), holding(site, "delivered", "c")
        third = holding(site, "sent", "d")
        for item in "abcde":
            connection.client.send(item, 10)
        await site.world.settled()
        assert (connection.items, second) == ([], [])
        first[0].release()
        assert connection.items == ["a", "b"]
        second[0].release()
        assert connection.items == ["a", "b", "c"]
        third[0].release()
        assert connection.items == list("abcde")

    on_site(body)


def test_a_cut_route_stops_what_was_held_on_the_way() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        holds = holding(site, "sent", "held")
        site.network.cut(0, 1)
        connection.client.send("held", 10)
        await site.world.settled()
        site.network.heal(0, 1)
        await site.world.settled()
        assert connection.items == [], "healed, it is held still"
        holds[0].release()
        assert connection.items == ["held"]

    on_site(body)


def test_a_receiver_that_the_hook_pauses_gets_the_message_when_it_resumes() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        server = connection.server.process
        seen: list[object] = []

        def hook(passing: InterceptedMessage) -> None:
            seen.append(passing.body)
            if passing.body == "a":
                server.pause()

        site.network.interceptors.arm(str, "delivered", hook)
        connection.client.send("a", 10)
        connection.client.send("b", 10)
        await site.world.settled()
        assert connection.items == []
        server.resume()
        await site.world.settled()
        assert connection.items == ["a", "b"]
        assert seen == ["a", "b"], "each is shown once"

    on_site(body)


@pytest.mark.parametrize("disarmed", [False, True], ids=["armed", "disarmed"])
def test_messages_for_a_paused_receiver_stay_after_a_held_one(disarmed: bool) -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        server = connection.server.process
        holds: list[Hold] = []

        def hook(passing: InterceptedMessage) -> None:
            holds.append(passing.hold())
            if disarmed:
                site.network.interceptors.disarm(str, "delivered", hook)

        site.network.interceptors.arm(str, "delivered", hook)
        server.pause()
        for item in ("held", "behind"):
            connection.client.send(item, 10)
        connection.client.close()
        await site.world.settled()
        server.resume()
        assert (connection.items, connection.closed) == ([], [])
        for _ in range(2):
            holds[-1].release()
        assert (connection.items, connection.closed) == (["held", "behind"], [("server", "closed")])

    on_site(body)


def test_a_receiver_that_the_hook_crashes_gets_nothing_and_the_sender_is_notified() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        node = connection.server.process.node
        site.network.interceptors.arm(str, "delivered", lambda _: node.crash())
        connection.client.send("fatal", 10)
        await site.world.settled()
        assert connection.items == []
        assert connection.closed == [("client", "reset")]

    on_site(body)


def test_a_sender_that_crashes_leaves_what_is_held_on_the_wire() -> None:
    async def body(site: Site) -> None:
        connection = await pair(site)
        holds = holding(site, "sent", "held")
        connection.client.send("held", 10)
        await site.world.settled()
        connection.client.process.node.crash()
        await site.world.settled()
        assert connection.closed == []
        holds[0].release()
        assert connection.items == ["held"]
        assert connection.closed == [("server", "reset")]

    on_site(body)


@given(
    held=st.lists(st.tuples(st.integers(0, 9), st.sampled_from(EDGES), st.integers(0, 3_000)), max_size=4),
    gaps=st.lists(st.integers(0, 800), min_size=10, max_size=10),
    pause=st.tuples(st.integers(0, 6_000), st.integers(0, 6_000)),
)
@settings(max_examples=200, deadline=None)
def test_whatever_is_held_nothing_is_lost_doubled_or_overtaken(
    held: list[tuple[int, Edge, int]], gaps: list[int], pause: tuple[int, int]
) -> None:
    async def body(site: Site) -> None:
        connection: Pair = await pair(site)
        server = connection.server.process
        begin_us, for_us = pause
        site.world.call_later(begin_us, lambda _: server.pause())
        site.world.call_later(begin_us + for_us, lambda _: server.resume())
        for number, edge, for_us in held:

            def hook(passing: InterceptedMessage, number: int = number, for_us: int = for_us) -> None:
                if passing.body == number:
                    site.world.call_later(for_us, lambda hold: hold.release(), passing.hold())

            site.network.interceptors.arm(int, edge, hook)
        for number, gap in enumerate(gaps):
            connection.client.send(number, 10)
            await site.world.sleep(gap)
        await site.world.settled()
        assert connection.items == list(range(10))

    on_site(body)
