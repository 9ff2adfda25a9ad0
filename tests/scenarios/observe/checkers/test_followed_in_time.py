"""F2: what a broker follows is fetched."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

NAME = "followed_in_time"
LATE_S = 40
"""Longer than replica.socket.timeout.ms and what comes on top."""


class Following(Cluster):
    """Broker 0 leads, and broker 1 follows."""

    def __init__(self, **start: bool) -> None:
        super().__init__(NAME, start=StartSettings(**start))  # type: ignore[arg-type]
        self.leads(0, 0)
        self.follows(1, 0, 0)

    def position(self, offset: int, leader: int = 0) -> None:
        self.emit(e.FetchPosition, 1, *ORDERS_0, leader, 0, offset)

    def dies_thread(self) -> None:
        self.emit(e.FetcherStopped, 1, "ReplicaFetcherThread-0-0", 0, "died", *ORDERS_0, "KeyError")


def test_a_follower_that_never_fetches() -> None:
    """KAFKA-9769."""
    run = Following()
    run.passes(36)
    assert run.violations() == []
    run.passes(3)
    [violation] = run.violations()
    assert violation.state == ("orders-0: broker 1 follows broker 0 in epoch 0, and has not fetched from it for 37.0 s")


def test_a_follower_that_fetches() -> None:
    run = Following()
    run.passes(5)
    run.position(0)
    run.passes(LATE_S)
    run.rest()
    assert run.violations() == []


def test_a_follower_that_stops_fetching_or_fetches_from_another() -> None:
    for offset, leader in ((-1, 0), (0, 2)):
        run = Following()
        run.position(0)
        run.position(offset, leader)
        run.rest()
        assert run.invariants() == [NAME]


def test_a_thread_that_dies() -> None:
    """KAFKA-8346."""
    run = Following()
    run.position(0)
    run.dies_thread()
    assert [violation.state for violation in run.violations()] == [
        "ReplicaFetcherThread-0-0 of broker 1, which fetches from 0, has died"
    ]
    older = Following(isolates_failures=False)
    older.dies_thread()
    older.passes(LATE_S)
    assert older.violations() == []


@pytest.mark.parametrize(
    "excuse",
    [
        lambda run: run.emit(e.PartitionFailed, 1, "f", *ORDERS_0, 0, "append", "DiskError"),
        lambda run: run.emit(e.ReplicaOffline, 1, *ORDERS_0),
        lambda run: run.emit(e.ReplicaStopped, 1, *ORDERS_0, False),
        lambda run: run.leads(1, 1),
        lambda run: run.leads(0, 1),
        lambda run: run.dies(1),
        lambda run: run.dies(0),
        lambda run: run.routes(1, 0, cut=True),
        lambda run: run.fault("broker.pause", "0"),
        lambda run: run.fault("disk.slow", "0"),
        lambda run: run.fault("fetcher.fail_partition", "1"),
    ],
)
def test_what_excuses_it(excuse: object) -> None:
    run = Following()
    assert callable(excuse)
    excuse(run)
    run.passes(LATE_S)
    assert run.violations() == []
