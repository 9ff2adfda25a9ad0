"""F13: a throttle does not hold back a follower that has everything."""

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import FetchHeld
from scenarios.observe.checkers.in_sync_fetched import InSyncFetched
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

THREAD = "ReplicaFetcherThread-0-0"


def fetching(*lags: int) -> WrittenHistory:
    """Broker 0 leads, and has committed two batches of ten records; broker 1 fetches, and has shown these lags."""
    run = WrittenHistory(InSyncFetched.name).begin()
    run.append(0, 0, 1, leader=True)
    run.append(0, 10, 2, leader=True)
    run.high_watermark(0, 20, leader=True)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 0, 0)
    for lag in lags:
        run.emit(e.ConsumerLag, 1, THREAD, *ORDERS_0, lag)
    return run


def held(run: WrittenHistory) -> list[str]:
    run.show(FetchHeld, 1, 0, *ORDERS_0)
    return [violation.state for violation in run.violations()]


def test_held_with_everything() -> None:
    run = fetching(20, 0)
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    [said] = held(run)
    assert said.startswith("orders-0: broker 1 leaves it out of its fetches, and has everything up to 20: the high ")


@pytest.mark.parametrize("lags", [(), (-1,), (0, 10)])
def test_a_fetcher_that_has_shown_no_lag_or_another_does_not_know(lags: tuple[int, ...]) -> None:
    run = fetching(*lags)
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    assert held(run) == []


def test_what_lags_is_held() -> None:
    run = fetching(0)
    run.append(1, 0, 1)
    assert held(run) == []


def test_a_fetcher_that_begins_again_does_not_know() -> None:
    run = fetching(0)
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 1, 20)
    assert held(run) == []


def test_a_copy_to_another_directory_is_another_matter() -> None:
    run = fetching(0)
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    run.show(FetchHeld, 1, 1, *ORDERS_0)
    assert run.violations() == []
