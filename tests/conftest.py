"""Asynchronous tests on the world's clock.

pytest-trio runs an asynchronous test on whatever ``trio.abc.Clock`` is among its arguments. A test that takes
``world_clock`` is run on that clock, and as the first task of its world, so it may wait on mailboxes and
sleep in virtual time; a deadlock or a foreign await fails it. ``world_clock.world`` is the world.
"""

import functools
import gc
import inspect
import signal
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings

from emulator.kernel import Backend, World, WorldClock

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

settings.register_profile("untimed", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile("untimed")
# No test times anything: on a busy machine an example may take as long as it likes. ``--hypothesis-profile thorough``
# is for a property that was changed, or doubted.

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell's background job, or nohup: the processes that tests start and interrupt would ignore Ctrl-C as well.
    signal.signal(signal.SIGINT, signal.default_int_handler)

ALLOCATIONS_BETWEEN_COLLECTIONS = 50_000

gc.disable()  # until the tests are collected: what that makes stays, and to walk it again and again takes seconds


@pytest.fixture
def backend() -> Backend:
    """How tasks wait. To run a test on both: ``@pytest.mark.parametrize("backend", ["detached",
    "attached"])``."""
    return "detached"


@pytest.fixture(scope="session")
def spark() -> "Iterator[SparkSession]":
    """One session for every test of this process that takes it, since it takes seconds to start. Its queries are not
    compiled, as in ``compare`` for few rows: that takes longer than they do, and gives the same results
    (``tests/scenarios/studies/spark/test_agreement.py``)."""
    from scenarios.studies.spark.session import compile_queries, session  # most test runs do without Spark

    with session() as running:
        compile_queries(running, False)
        yield running


@pytest.fixture
def world_clock(backend: Backend) -> WorldClock:
    """The clock of a new world with seed 1. An ``async def`` test that takes it runs as the world's first
    task."""
    return WorldClock(World(1, backend=backend, max_events=1_000_000))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Workers get tests by ``tests/workers.py``, unless ``--dist`` asks for something else."""
    if config.getoption("dist") != "load":
        return None
    from tests.workers import Files  # pytest-xdist is needed for that, and for nothing else

    return Files(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In a worker, in the order of ``tests/workers.py``."""
    if hasattr(config, "workerinput"):
        from tests.workers import in_order

        items[:] = in_order(items)


def pytest_collection_finish() -> None:
    """Keep what the collection has made, some million objects that stay, out of Python's garbage collections, which are
    also fewer: a fifth of the time of whole scenarios went into them."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS)
    gc.enable()


@pytest.fixture(autouse=True, scope="module")
def frozen_objects() -> None:
    """Keep what earlier modules leave behind out of collections as well. A fork of a run thaws all that there is, and
    each collection that a library asks for would then take up to 0.8 s."""
    gc.collect()
    gc.freeze()


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Make an asynchronous test that takes ``world_clock`` a task of that world."""
    if not isinstance(item, pytest.Function) or not inspect.iscoroutinefunction(item.obj):
        return
    if "world_clock" in inspect.signature(item.obj).parameters:
        item.obj = _in_world(item.obj)


def _in_world(test: Any) -> Any:
    @functools.wraps(test)
    async def run(**arguments: Any) -> None:
        await arguments["world_clock"].world.main(functools.partial(test, **arguments))

    return run
