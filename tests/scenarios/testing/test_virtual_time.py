"""The decorator: arguments and results pass, exceptions come out as they are."""

import asyncio
import inspect
import traceback
from pathlib import Path

import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.errors import BadInput
from tests.forked import run_pytest
from understudy.testing import Deadlock, ForeignAwait, NotInTime, cluster, in_virtual_time

ROOT = Path(__file__).parents[3]


def test_it_makes_a_synchronous_function_with_the_same_arguments() -> None:
    @in_virtual_time
    async def add(one: int, other: int = 2) -> int:
        return one + other

    assert add(1) == 3
    assert not inspect.iscoroutinefunction(add)
    assert list(inspect.signature(add).parameters) == ["one", "other"]


@pytest.mark.parametrize("brokers", [1, 2])
@in_virtual_time(seed=3)
async def test_parameters_and_fixtures_are_given(brokers: int, tmp_path: Path) -> None:
    async with cluster(brokers=brokers) as c:
        assert c.up() == list(range(brokers))
    assert tmp_path.name.startswith("test_parameters")


@given(seed=st.integers(0, 2**32))
@settings(max_examples=3)
@in_virtual_time
async def test_hypothesis_draws_the_seed(seed: int) -> None:
    async with cluster(brokers=1) as c:
        with pytest.raises(NotInTime, match=f"of virtual time, seed {seed}\n"):
            await c.until(lambda: c.up() == [], within="1s")


async def moved(network: dict[str, str]) -> str:
    async with cluster(brokers=4, topics={"orders": [[0, 1, 2]]}, network=network) as c:
        await c.reassign({"orders-0": [1, 2, 3]})
        await c.settled()
        return c.digest


def test_the_same_seed_gives_the_same_events() -> None:
    jitter = {"jitter": "300us"}
    first, again, other = (in_virtual_time(seed=seed)(moved)(jitter) for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_a_schedule_orders_what_is_under_way_otherwise() -> None:
    def digest(schedule: str, jitter: str = "10ms") -> str:
        return in_virtual_time(seed=1, schedule=schedule, schedule_jitter=jitter)(moved)({})

    assert digest("pct-3") == digest("pct-3")
    assert len({digest("fifo"), digest("pct-3"), digest("pos"), digest("pct-3", "1ms")}) == 4
    assert digest("fifo") == in_virtual_time(seed=1)(moved)({})
    with pytest.raises(BadInput, match="unknown schedule 'pcs'"):
        digest("pcs")


def test_an_argument_called_seed_is_the_seed() -> None:
    @in_virtual_time
    async def digest(seed: int) -> str:
        return await moved({"jitter": "300us"})

    assert digest(1) == in_virtual_time(seed=1)(moved)({"jitter": "300us"})


def test_an_exception_keeps_its_cause_and_has_only_frames_of_the_test() -> None:
    @in_virtual_time
    async def fails() -> None:
        async with cluster(brokers=1):
            try:
                raise KeyError("inner")
            except KeyError as error:
                raise ValueError("outer") from error

    with pytest.raises(ValueError, match="outer") as caught:
        fails()
    assert isinstance(caught.value.__cause__, KeyError)
    files = {Path(frame.filename).name for frame in traceback.extract_tb(caught.tb)}
    assert files == {"test_virtual_time.py", "virtual_time.py"}


def test_a_skip_is_a_skip() -> None:
    @in_virtual_time
    async def skips() -> None:
        async with cluster(brokers=1):
            pytest.skip("not today")

    with pytest.raises(pytest.skip.Exception, match="not today"):
        skips()


def test_a_foreign_await_is_one_line() -> None:
    @in_virtual_time
    async def sleeps() -> None:
        async with cluster(brokers=1):
            await trio.sleep(1)

    with pytest.raises(ForeignAwait, match=r"^task main awaits trio\.sleep.*: the world does not own it"):
        sleeps()


def test_asyncio_is_refused() -> None:
    @in_virtual_time
    async def sleeps() -> None:
        await asyncio.sleep(1)

    with pytest.raises(ForeignAwait, match=r"^task main awaits .*asyncio.*: the world does not own it$"):
        sleeps()


def test_a_wait_without_end_is_a_deadlock() -> None:
    @in_virtual_time
    async def waits() -> None:
        await trio.Event().wait()

    with pytest.raises((Deadlock, ForeignAwait), match=r"trio\.Event"):
        waits()


def test_a_cluster_outside_virtual_time_says_what_to_write() -> None:
    with pytest.raises(ForeignAwait, match="put @in_virtual_time on the function"):
        cluster(brokers=1)


def test_a_synchronous_function_is_refused() -> None:
    def ordinary() -> None:
        pass

    with pytest.raises(TypeError, match="ordinary is not asynchronous; write 'async def'"):
        in_virtual_time(ordinary)  # type: ignore[arg-type]


PROJECT = """
from understudy.testing import cluster, in_virtual_time

@in_virtual_time(seed=1)
async def test_it() -> None:
    async with cluster(brokers=2, controller=0, topics={"orders": [[0, 1]]}) as c:
        await c.until(lambda: c.leader("orders-0") == 1, within="1s")
"""


@pytest.mark.parametrize(
    "options", [("-p", "no:trio", "-p", "no:anyio"), ("-o", "trio_mode=true")], ids=["plain", "trio"]
)
def test_a_failure_under_pytest_shows_the_test_and_one_assertion(options: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "test_project.py").write_text(PROJECT)
    arguments = ["-q", "--rootdir", str(tmp_path), "-p", "no:cacheprovider", *options]
    printed = run_pytest(tmp_path, arguments, {"PYTHONPATH": f"{ROOT}:{ROOT}/scenarios/package", "PATH": ""})
    assert "1 failed" in printed, printed
    assert "ExceptionGroup" not in printed
    assert "/scenarios/" not in printed, "no frame of ours"
    lines = [line.removeprefix("E").strip() for line in printed.splitlines() if line.startswith("E ")]
    assert lines[0].endswith("NotInTime: not within 1s: c.leader('orders-0') == 1")
    assert lines[2] == "brokers: up 0, 1; controller 0, epoch 1"
    assert lines[3] == "orders-0: leader 0, epoch 0, ISR [0, 1], replicas [0, 1]"
