"""Two triggers at one gate, the first of which holds its visitor."""

import pytest

from emulator.gates import Gates, Visit
from emulator.kernel import Signal, World
from emulator.nodes import Node, Process
from emulator.trace import Trace


@pytest.mark.parametrize("backend", ["detached", "attached"])
def test_a_hook_disarmed_while_a_visitor_is_held_is_not_called_again(backend: str) -> None:
    world = World(1, backend=backend)  # type: ignore[arg-type]
    trace, gates = Trace(world), Gates()
    release = Signal(world, "release")
    fired: list[int] = []

    def hold(visit: Visit) -> Signal | None:
        return release if visit.partition == 0 else None

    def once(visit: Visit) -> None:
        gates.disarm("s.1", "before", once)
        fired.append(visit.partition)

    async def main() -> None:
        gates.arm("s.1", "before", hold)
        gates.arm("s.1", "before", once)
        async with world.open_nursery() as nursery:
            node = Node(world, trace, 0, "broker-0", nursery)

            async def visit(process: Process, partition: int) -> None:
                await gates.reach(process, "s.1", "before", topic="t", partition=partition)

            async def live(process: Process) -> None:
                process.spawn(visit, process, 0)
                process.spawn(visit, process, 1)

            node.start(live)
            await world.sleep(10)
            assert fired == [1]
            release.set()
            await world.sleep(10)
            nursery.cancel_scope.cancel()

    world.run(main)
    assert fired == [1]
