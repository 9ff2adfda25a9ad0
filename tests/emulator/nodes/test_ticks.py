"""Ticks that find nothing to do are jumped over, and leave no trace of that."""

from hypothesis import given
from hypothesis import strategies as st

from emulator.kernel import World
from emulator.nodes import Agenda, Node, Process
from emulator.trace import Trace

PERIOD_US = 100
END_US = 3_000


def ticked(
    work_us: list[int], pause_us: tuple[int, int], phase_us: int = 0, *, simulate_idle: bool
) -> tuple[list[tuple[int, int]], int]:
    """When each piece of work was done, for work that comes at these times and a process that is paused once, with a
    counter that another timer of the same period moves; and how many events it took."""
    world = World(1, simulate_idle=simulate_idle)
    trace = Trace(world)
    waiting: Agenda[int, None] = Agenda()
    done: list[tuple[int, int]] = []
    count = 0

    async def main() -> None:
        async with world.open_nursery() as nursery:
            node = Node(world, trace, 0, "broker-0", nursery)

            def work() -> None:
                if waiting:
                    done.append((world.now, count))
                    waiting.clear()

            def move(_: object) -> None:
                nonlocal count
                count += 1
                world.call_later(PERIOD_US, move, None, True)

            async def live(process: Process) -> None:
                process.every(PERIOD_US, work, waiting)
                world.call_later(PERIOD_US, move, None, True)

                for at_us in work_us:
                    world.call_at(at_us, lambda at_us: waiting.update({at_us: None}), at_us)
                world.call_at(pause_us[0], lambda _: process.pause())
                world.call_at(sum(pause_us), lambda _: process.resume())

            node.start(live, phase_us)
            await world.sleep(END_US)
            nursery.cancel_scope.cancel()

    world.run(main)
    return done, world.events


TIMES = st.one_of(st.integers(1, END_US), st.integers(1, END_US // PERIOD_US).map(lambda n: n * PERIOD_US))


@given(st.lists(TIMES, max_size=6), st.tuples(TIMES, st.integers(0, 500)), st.integers(0, 2 * PERIOD_US))
def test_work_is_done_at_the_tick_after_it_came(work_us: list[int], pause_us: tuple[int, int], phase_us: int) -> None:
    jumped, few = ticked(work_us, pause_us, phase_us, simulate_idle=False)
    simulated, many = ticked(work_us, pause_us, phase_us, simulate_idle=True)
    assert jumped == simulated
    assert few <= many


def test_ticks_come_as_if_the_process_had_started_earlier_by_its_phase() -> None:
    done, _ = ticked([1, 150, 250], (1, 1), 2 * PERIOD_US + 30, simulate_idle=False)
    assert [t_us for t_us, _ in done] == [70, 170, 270]


def test_a_tick_without_work_is_no_event() -> None:
    _, few = ticked([], (1, 1), simulate_idle=False)
    _, many = ticked([], (1, 1), simulate_idle=True)
    assert many - few >= END_US // PERIOD_US - 3
