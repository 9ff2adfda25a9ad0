"""``python -m tests.emulator.mixed [injected]``: a small busy world, printed as its trace and digest.

Neither pytest nor Hypothesis is imported here: both switch on Trio's private determinism, which a user's run
lacks. With ``injected`` the brokers are asked in the order of a set of strings, which differs with
PYTHONHASHSEED.
"""

import sys
from typing import Any

from emulator.kernel import Mailbox, Signal
from emulator.network import Channel, Client, Disconnected, serve
from emulator.nodes import Node, Process
from tests.emulator.network.site import Noted, Site, on_site

BROKERS = 4


async def body(site: Site, injected: bool) -> list[str]:
    rows: list[str] = []
    site.trace.sink(lambda chunk: rows.extend(map(repr, chunk)))
    nodes = [site.machine(number) for number in range(BROKERS)]

    async def main(process: Process) -> None:
        me = process.node.id
        work, ready = Mailbox(site.world, "work"), Signal(site.world, "ready")

        def handle(request: Any, channel: Channel) -> None:
            process.emit(Noted, f"{me} asked {request}")
            work.put((request, channel))

        async def worker() -> None:
            ready.set()
            while True:
                request, channel = await work.get()
                await site.world.sleep(site.world.stream("work", me).below(300))
                channel.reply((me, request), 100)

        async def ask(other: int) -> None:
            await ready.wait()
            client = Client(site.network, process, other, "p", 20_000)
            for number in range(6):
                try:
                    answer = await client.call((me, number), 100)
                    process.anchor(Noted, f"{me} told {answer}")
                except Disconnected as error:
                    process.anchor(Noted, f"{me} lost {error}")
                    await site.world.sleep(500)

        serve(site.network, process, "p", handle)
        process.spawn(worker)
        process.every(1000, lambda: process.emit(Noted, f"{me} ticks"))
        names = {f"broker-{other}" for other in range(BROKERS) if other != me}
        for name in names if injected else sorted(names):
            process.emit(Noted, f"{me} will ask {name}")
            process.spawn(ask, int(name[-1]))
        await site.world.sleep(1_000_000, background=True)

    for node in nodes:
        node.start(main)
    for at_us, fn in faults(site, nodes, main):
        site.world.call_later(at_us, fn)
    await site.world.sleep(60_000)
    rows.append(site.trace.digest())
    return rows


def faults(site: Site, nodes: list[Node], main: Any) -> list[tuple[int, Any]]:
    """A crash and restart, a host crash, a pause, a cut."""

    def restart(_: Any) -> None:
        nodes[1].crash()
        nodes[1].start(main)

    def pause(_: Any) -> None:
        process = nodes[2].process
        assert process is not None
        process.pause()
        site.world.call_later(2500, lambda _: process.resume())

    return [
        (2300, restart),
        (3100, lambda _: site.network.cut(0, 3)),
        (3500, pause),
        (6000, lambda _: nodes[3].crash("host")),
        (9000, lambda _: site.network.heal(0, 3)),
        (9500, lambda _: nodes[3].start(main)),
    ]


def rows_of(injected: bool, backend: str = "detached") -> list[str]:
    """The trace, one line for each event, and the digest as the last line."""
    rows: list[str] = on_site(lambda site: body(site, injected), backend=backend)
    return rows


if __name__ == "__main__":
    assert "pytest" not in sys.modules
    assert "hypothesis" not in sys.modules
    print("\n".join(rows_of("injected" in sys.argv)))
