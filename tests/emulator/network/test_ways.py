"""A message that nothing holds up is delivered on a short way. The long way, which a paranoid network takes for each
message, delivers the same things at the same times."""

from typing import Any

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from emulator.network import NetworkSpec
from tests.emulator.network.site import Site, on_site
from tests.emulator.network.test_connections import Pair

ACTIONS = ("ask", "answer", "cut", "cut back", "heal", "pause", "resume", "crash", "arm", "disarm")
ENTRIES = st.lists(st.tuples(st.integers(0, 4_000), st.sampled_from(ACTIONS)), max_size=25)


def seen(entries: list[tuple[int, str]], *, paranoid: bool = False, spec: NetworkSpec | None = None) -> list[Any]:
    """The messages that both ends get, and when."""

    async def body(site: Site) -> list[Any]:
        site.network.paranoid = paranoid
        client, server = await site.process(0), await site.process(1)
        pair = Pair(site, client, server)
        await site.world.settled()
        network, hooks = site.network, site.network.interceptors

        def look(_: object) -> None:
            """A hook that lets everything pass."""

        def act(entry: tuple[int, str]) -> None:
            number, action = entry
            if action == "ask" and client.alive:
                pair.client.send(number, 100)
            elif action == "answer" and server.alive:
                pair.server.send(-number, 100)
            elif action == "cut":
                network.cut(0, 1)
            elif action == "cut back":
                network.cut(1, 0)
            elif action == "heal":
                network.heal(0, 1)
                network.heal(1, 0)
            elif action == "pause":
                server.pause()
            elif action == "resume" and server.paused:
                server.resume()
            elif action == "crash":
                server.node.crash()
            elif action == "arm":
                hooks.arm(int, "delivered", look)
            elif action == "disarm" and int in hooks.delivered:
                hooks.disarm(int, "delivered", look)

        for number, (after_us, action) in enumerate(entries, 1):
            site.world.call_later(after_us, act, (number, action))
        await site.world.sleep(5_000)
        act((0, "heal"))
        act((0, "resume"))
        await site.world.sleep(20_000)
        return [pair.got, pair.back, pair.closed]

    return list(on_site(body, spec=spec))


@given(ENTRIES)
def test_the_short_way_delivers_as_the_long_one(entries: list[tuple[int, str]]) -> None:
    assert seen(entries, paranoid=False) == seen(entries, paranoid=True)


@given(st.lists(st.tuples(st.integers(0, 4_000), st.sampled_from(("ask", "answer"))), max_size=40), st.booleans())
def test_a_network_card_that_takes_no_time_changes_no_arrival(entries: list[tuple[int, str]], jitter: bool) -> None:
    """With a card the delay of a message is computed step by step, without one at once."""
    jitter_us, no_time = 300 * jitter, 10**18
    without = NetworkSpec(latency_us=400, jitter_us=jitter_us)
    with_cards = evolve(without, egress=no_time, ingress=no_time)
    assert seen(entries, spec=without) == seen(entries, spec=with_cards)
