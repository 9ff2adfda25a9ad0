"""Parked polls of one lane: computed at once or little by little, they are the same polls."""

from typing import Any, NamedTuple

from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from emulator.network import NetworkSpec
from emulator.network.idle import Poll
from emulator.network.lane import Lane, can_park
from tests.emulator.network.site import Site, on_site
from tests.emulator.network.test_connections import Pair

WAIT_US = 500_000
END_US = 90_000_000


@define(eq=False)
class Ends:
    """Two ends that nothing happens at."""

    shifts: int = 0

    def shifted(self) -> None:
        self.shifts += 1

    def roused(self, poll: Poll) -> None: ...


class Seen(NamedTuple):
    """A poll at its end, and what the streams of its routes have come to."""

    polls: list[tuple[int, int, int, int, Any]]
    draws: list[int]


def seen(starts_us: list[int], looks_us: list[int], messages_us: list[int], jitter_us: int) -> Seen:
    """Polls in both directions, parked at these times, while others look at them and send messages between."""

    async def body(site: Site) -> Seen:
        world = site.world
        one, two = await site.process(0), await site.process(1)
        pairs: list[Pair] = []
        for number in range(len(starts_us)):
            pairs.append(Pair(site, *((one, two), (two, one))[number % 2]))
            await world.settled()
        polls: list[Poll] = []

        def park(number: int) -> None:
            pair = pairs[number]
            assert can_park(pair.client, pair.server, int)
            lane = Lane.between(pair.client, pair.server)
            poll = Poll(lane, pair.client, pair.server, WAIT_US, world.line(), Ends())
            poll.park()
            polls.append(poll)

        def look(_: object) -> None:
            for poll in polls:
                poll.look()

        for number, start_us in enumerate(starts_us):
            world.call_at(world.now + start_us, park, number)
        for look_us in looks_us:
            world.call_at(world.now + 1_000_000 + look_us, look)
        for message_us in messages_us:
            world.call_at(world.now + 1_000_000 + message_us, lambda _: pairs[0].client.send(0, 100))
        await world.sleep(END_US)
        for poll in polls:
            poll.rouse()
        draws = [route.stream.bits() for route in (pairs[0].client.out, pairs[0].server.out)]
        return Seen([(p.requests, p.answers, p.arrived_us, p.asked_us, p.phase) for p in polls], draws)

    found: Seen = on_site(body, spec=NetworkSpec(latency_us=500, jitter_us=jitter_us))
    return found


STARTS = st.lists(st.integers(0, 20_000), min_size=1, max_size=4)
TIMES = st.lists(st.integers(0, END_US - 2_000_000), max_size=3)


@given(STARTS, TIMES, st.sampled_from((0, 200)))
def test_a_look_changes_nothing(starts_us: list[int], messages_us: list[int], jitter_us: int) -> None:
    often = list(range(0, END_US - 2_000_000, 400_000))
    assert seen(starts_us, [], messages_us, jitter_us) == seen(starts_us, often, messages_us, jitter_us)


def test_a_poll_takes_its_wait_and_two_delays() -> None:
    polls, _ = seen([0], [], [], 0)
    requests, answers, arrived_us, asked_us, phase = polls[0]
    assert requests in (answers, answers - 1)
    assert answers == END_US // (WAIT_US + 1_000)
    assert arrived_us - asked_us in (500, 500 - WAIT_US - 1_000)
    assert phase.t_us > arrived_us
