"""Requests and answers: one in flight, time-outs, lost connections, late answers."""

from typing import Any

import pytest

from emulator.network import Channel, Client, Disconnected, serve
from emulator.nodes import Process
from tests.emulator.network.site import Site, on_site


async def ends(site: Site) -> tuple[Process, Process]:
    return await site.process(0), await site.process(1)


def test_calls_are_answered_in_turn() -> None:
    async def body(site: Site) -> list[str]:
        client, server = await ends(site)
        serve(site.network, server, "p", lambda request, channel: channel.reply(f"re {request}", 10))
        caller = Client(site.network, client, 1, "p", 100_000)
        return [await caller.call(number, 10) for number in range(5)]

    assert on_site(body) == [f"re {number}" for number in range(5)]


def test_a_time_out_closes_the_connection_and_a_late_answer_is_dropped() -> None:
    async def body(site: Site) -> None:
        client, server = await ends(site)
        slow: list[int] = [50_000]

        def handle(request: Any, channel: Channel) -> None:
            delay = slow.pop() if slow else 0
            server.call_later(delay, lambda _: channel.reply(f"re {request}", 10))

        serve(site.network, server, "p", handle)
        caller = Client(site.network, client, 1, "p", 20_000)
        start = site.world.now
        with pytest.raises(Disconnected, match="no answer in 20000 us"):
            await caller.call("first", 10)
        assert site.world.now - start == 20_000
        assert await caller.call("second", 10) == "re second"
        await site.world.sleep(100_000)
        assert await caller.call("third", 10) == "re third"

    on_site(body)


def test_each_call_has_the_whole_time_out() -> None:
    async def body(site: Site) -> None:
        client, server = await ends(site)
        serve(
            site.network,
            server,
            "p",
            lambda request, channel: server.call_later(15_000, lambda _: channel.reply(request, 10)),
        )
        caller = Client(site.network, client, 1, "p", 20_000)
        for number in range(6):
            assert await caller.call(number, 10) == number

    on_site(body)


@pytest.mark.parametrize(
    ("act", "reason"),
    [("nothing", "refused"), ("crash", "reset"), ("hang up", "closed"), ("host", "no answer")],
)
def test_why_a_call_fails(act: str, reason: str) -> None:
    async def body(site: Site) -> None:
        client, server = await ends(site)

        def handle(_request: Any, channel: Channel) -> None:
            if act == "crash":
                server.node.crash()
            elif act == "host":
                server.node.crash("host")
            else:
                channel.close()

        if act != "nothing":
            serve(site.network, server, "p", handle)
        with pytest.raises(Disconnected, match=f"1:p: .*{reason}"):
            await Client(site.network, client, 1, "p", 20_000).call("request", 10)

    on_site(body)


def test_a_cancelled_call_s_answer_is_not_the_next_one_s() -> None:
    async def body(site: Site) -> None:
        client, server = await ends(site)
        serve(site.network, server, "p", lambda request, channel: channel.reply(f"re {request}", 10))
        caller = Client(site.network, client, 1, "p", 100_000)
        assert await caller.call("opens", 10) == "re opens"
        async with site.world.open_nursery() as nursery:
            site.world.spawn(nursery, caller.call, "cancelled", 10)
            await site.world.sleep(100)
            nursery.cancel_scope.cancel()
        assert await caller.call("next", 10) == "re next"

    on_site(body)


def test_a_server_takes_one_request_of_a_connection_at_a_time() -> None:
    async def body(site: Site) -> list[tuple[str, Any]]:
        client, server = await ends(site)
        log: list[tuple[str, Any]] = []

        def handle(request: Any, channel: Channel) -> None:
            log.append(("begin", request))

            def finish(_: Any) -> None:
                log.append(("end", request))
                if request == 1:
                    channel.release()
                else:
                    channel.reply(request, 10)

            server.call_later(5_000, finish, background=False)

        serve(site.network, server, "p", handle)
        answers: list[Any] = []
        endpoint = site.network.connect(client, 1, "p", answers.append)
        for number in range(3):
            endpoint.send(number, 10)
        await site.world.settled()
        assert answers == [0, 2]
        return log

    assert on_site(body) == [(edge, number) for number in range(3) for edge in ("begin", "end")]


def test_what_answers_a_request_keeps_its_cause_when_the_next_one_is_taken() -> None:
    """A purgatory answers several requests in one transition: what waits on one connection is no cause of the rest."""

    async def body(site: Site) -> None:
        client, server = await ends(site)
        causes: list[tuple[str, int]] = []

        def handle(request: Any, channel: Channel) -> None:
            causes.append((request, site.trace.cause))
            if request == "delayed":
                server.call_later(5_000, finish, channel, background=False)
            else:
                channel.reply(request, 10)

        def finish(channel: Channel) -> None:
            site.trace.cause = 7
            channel.reply("re delayed", 10)
            causes.append(("after", site.trace.cause))

        serve(site.network, server, "p", handle)
        endpoint = site.network.connect(client, 1, "p", lambda _: None)
        for cause, request in ((3, "delayed"), (4, "second"), (5, "third")):
            site.trace.cause = cause
            endpoint.send(request, 10)
        await site.world.settled()
        assert causes == [("delayed", 3), ("second", 4), ("third", 5), ("after", 7)]

    on_site(body)
