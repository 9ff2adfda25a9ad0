"""A crash cancels the process's nursery: its tasks do nothing more, and the disk keeps what the kind of crash
leaves."""

from collections.abc import Callable
from typing import Any

import pytest
import trio

from emulator.disks import Torn
from emulator.kernel import DeadIncarnation, Mailbox
from emulator.network import Endpoint
from emulator.nodes import Node, Process
from tests.emulator.network.site import Noted, Site, idle, on_site

both = pytest.mark.parametrize("backend", ["detached", "attached"])


async def settle(site: Site) -> None:
    await site.world.sleep(100_000)


def send(site: Site, process: Process) -> None:
    endpoint = next(iter(process.endpoints))
    assert isinstance(endpoint, Endpoint)
    endpoint.send("from the grave", 10)


def connect(site: Site, process: Process) -> None:
    site.network.connect(process, 1, "p", print)


def emit(site: Site, process: Process) -> None:
    process.emit(Noted, "from the grave")


def anchor(site: Site, process: Process) -> None:
    process.anchor(Noted, "from the grave")


def spawn(site: Site, process: Process) -> None:
    process.spawn(site.world.sleep, 1)


def timer(site: Site, process: Process) -> None:
    process.call_later(1, print)


def listen(site: Site, process: Process) -> None:
    site.network.listen(process, "p", print)


@both
@pytest.mark.parametrize("deed", [send, connect, emit, anchor, spawn, timer, listen])
def test_the_finally_of_a_killed_process_is_refused_everything(
    backend: Any, deed: Callable[[Site, Process], None]
) -> None:
    async def body(site: Site) -> None:
        refused = []
        await site.process(1)
        node = site.machine(0)

        async def main(process: Process) -> None:
            endpoint = site.network.connect(process, 1, "p", print)
            try:
                await site.world.sleep(1_000_000)
            finally:
                process.endpoints[endpoint] = None  # what a careless owner would have kept
                with pytest.raises(DeadIncarnation, match="broker-0, incarnation 1, is dead"):
                    deed(site, process)
                refused.append(deed.__name__)

        node.start(main)
        await site.world.sleep(10)
        before = site.trace.seq
        node.crash()
        await settle(site)
        assert refused == [deed.__name__]
        assert site.trace.seq == before

    on_site(body, backend=backend)


@pytest.mark.parametrize("tell", ["show", "mark"])
def test_what_a_killed_process_would_still_show_is_not_seen(tell: str) -> None:
    async def body(site: Site) -> None:
        seen: list[Noted] = []
        site.trace.fold(Noted, seen.append)
        await site.process(1)
        node = site.machine(0)

        async def main(process: Process) -> None:
            getattr(process, tell)(Noted, "alive")
            try:
                await site.world.sleep(1_000_000)
            finally:
                getattr(process, tell)(Noted, "from the grave")

        node.start(main)
        await site.world.sleep(10)
        node.crash()
        await settle(site)
        assert [noted.what for noted in seen] == ["alive"]

    on_site(body)


def whole(process: Process) -> list[Any]:
    """The log entries on the machine's disk, without torn ones."""
    return [entry for entry in process.node.disk.open("log").entries if not isinstance(entry, Torn)]


@pytest.mark.parametrize(("kind", "kept"), [("process", ["a", "b"]), ("host", ["a"])])
def test_what_the_disk_keeps(kind: Any, kept: list[str]) -> None:
    async def body(site: Site) -> list[str]:
        process = await site.process(0)
        log = process.node.disk.open("log")
        log.append("a")
        log.flush()
        log.append("b")
        process.node.crash(kind)
        await idle(process.node)
        return whole(process)

    assert on_site(body) == kept


def test_a_host_crash_after_the_process_died_still_loses_the_page_cache() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        process.node.disk.open("log").append("a")
        process.node.crash()
        node = process.node
        was_up = node.up
        node.crash("host")
        assert (was_up, node.up) == (True, False)
        assert whole(process) == []

    on_site(body)


@both
def test_timers_of_the_dead_never_fire(backend: Any) -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        fired: list[Any] = []
        process.call_later(500, fired.append, "once")
        process.every(100, lambda: fired.append(site.world.now))
        await site.world.sleep(250)
        process.node.crash()
        await idle(process.node)
        await settle(site)
        assert len(fired) == 2

    on_site(body, backend=backend)


def test_a_periodic_call_may_kill_its_own_process() -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        process.every(100, process.node.crash)
        await settle(site)
        assert not process.alive

    on_site(body)


@both
def test_crash_and_restart_within_one_event(backend: Any) -> None:
    async def body(site: Site) -> list[str]:
        log: list[str] = []
        node = site.machine(0)

        async def worker(process: Process, name: str) -> None:
            try:
                await site.world.sleep(1000)
                log.append(f"{process.number} {name} done at {site.world.now}")
            except trio.Cancelled:
                log.append(f"{process.number} {name} killed at {site.world.now}")
                raise

        async def main(process: Process) -> None:
            log.append(f"{process.number} starts at {site.world.now}")
            for name in "ab":
                process.spawn(worker, process, name)
            await site.world.sleep(2000)

        def restart(_: Any) -> None:
            node.crash()
            node.start(main)

        node.start(main)
        site.world.call_later(300, restart)
        site.world.call_later(700, restart)
        await site.world.sleep(5000)
        assert node.incarnations == 3
        return log

    assert on_site(body, backend=backend) == [
        "1 starts at 0",
        "1 a killed at 300",
        "1 b killed at 300",
        "2 starts at 300",
        "2 a killed at 700",
        "2 b killed at 700",
        "3 starts at 700",
        "3 a done at 1700",
        "3 b done at 1700",
    ]


@both
def test_killed_before_its_first_step_it_never_runs(backend: Any) -> None:
    async def body(site: Site) -> None:
        ran = []
        node: Node = site.machine(0)

        async def main(_process: Process) -> None:
            ran.append("ran")

        node.start(main)
        node.crash()
        await settle(site)
        assert ran == []

    on_site(body, backend=backend)


@both
def test_a_paused_process_does_nothing_and_catches_up_in_order(backend: Any) -> None:
    async def body(site: Site) -> list[Any]:
        log: list[Any] = []
        process = await site.process(0)
        box = Mailbox(site.world)

        async def reader() -> None:
            while True:
                log.append((await box.get(), site.world.now))

        process.spawn(reader)
        process.call_later(100, log.append, "timer")
        await site.world.sleep(10)
        process.pause()
        box.put("first")
        box.put("second")
        await site.world.sleep(990)
        assert log == []
        process.resume()
        await site.world.sleep(1)
        return log

    log = on_site(body, backend=backend)
    assert log == ["timer", ("first", 1000), ("second", 1000)]


@both
def test_a_paused_process_can_be_killed(backend: Any) -> None:
    async def body(site: Site) -> None:
        process = await site.process(0)
        box, ended = Mailbox(site.world), []

        async def reader() -> None:
            try:
                await box.get()
                ended.append("got it")
            finally:
                ended.append("ended")

        process.spawn(reader)
        await site.world.sleep(10)
        process.pause()
        box.put("item")
        await site.world.sleep(10)
        process.node.crash()
        await settle(site)
        process.resume()
        await settle(site)
        assert ended == ["ended"]

    on_site(body, backend=backend)


def test_a_machine_s_clock_is_its_own() -> None:
    async def body(site: Site) -> None:
        node = site.machine(0)
        node.skew_us = -5
        await site.world.sleep(100)
        assert node.clock_us == 95

    on_site(body)
