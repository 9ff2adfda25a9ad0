"""A timer that comes due while its process is paused can still be cancelled until the process goes on."""

from emulator.kernel import Timer, World
from emulator.nodes import Node, Process
from emulator.trace import Trace


def story(cancel: bool, kill: bool = False) -> tuple[list[str], int]:
    """The events, and the number of foreground events left, when a timer comes due in a pause."""
    world = World(1)
    trace = Trace(world)
    said: list[str] = []
    timers: list[Timer] = []

    async def main() -> None:
        async with world.open_nursery() as nursery:
            node = Node(world, trace, 0, "broker-0", nursery)

            async def live(process: Process) -> None:
                timers.append(process.call_later(10, said.append, "fired", background=False))

            process = node.start(live)
            await world.sleep(5)
            process.pause()
            await world.sleep(10)
            assert said == []
            if cancel:
                timers[0].cancel()
            if kill:
                node.crash()
            else:
                process.resume()
            await world.sleep(10)
            nursery.cancel_scope.cancel()

    world.run(main)
    return said, world.foreground


def test_it_fires_when_the_process_goes_on() -> None:
    assert story(cancel=False) == (["fired"], 0)


def test_it_stays_cancelled() -> None:
    assert story(cancel=True) == ([], 0)


def test_it_ends_with_its_process_and_delays_nothing() -> None:
    assert story(cancel=False, kill=True) == ([], 0)
