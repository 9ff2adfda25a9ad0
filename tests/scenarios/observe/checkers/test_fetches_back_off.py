"""F10: two back-offs after each fetch that is lost, and its meter."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import FetchLost
from scenarios.observe.history.circumstances import CLOCK
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = "fetches_back_off"
THREAD = "ReplicaFetcherThread-0-0"
MS = 1_000
"""A millisecond of virtual time, in microseconds; each event that is shown takes another microsecond."""
TOO_SOON = f"broker 1: {THREAD} asks broker 0 again within 1.500 s, and its two back-offs take 2.000 s"


class Broker1(WrittenHistory):
    """Broker 1 fetches from broker 0, which does not answer."""

    def __init__(self, **settings: int) -> None:
        super().__init__(NAME, start=StartSettings(brokers=settings))
        self.emit(e.FetcherStarted, 1, THREAD, 0)

    def loses(self, requests: int, *, whole: bool = True) -> None:
        self.show(FetchLost, 1, THREAD, 0, requests, whole)

    def states(self) -> list[str]:
        return [violation.state for violation in self.violations()]


@pytest.mark.parametrize(("after_ms", "states"), [(2_000, []), (1_500, [TOO_SOON])])
def test_two_back_offs_are_between_two_requests(after_ms: int, states: list[str]) -> None:
    run = Broker1()
    run.loses(7)
    run.world.now += after_ms * MS - 1_000
    run.loses(8)
    assert run.states() == states


def test_the_back_off_is_that_of_the_settings() -> None:
    run = Broker1(**{"replica.fetch.backoff.ms": 500})
    run.loses(7)
    run.world.now += 1_500 * MS - 1_000
    run.loses(8)
    assert run.states() == []


def test_what_was_not_in_the_request_is_not_left_out() -> None:
    run = Broker1()
    run.loses(7, whole=False)
    run.world.now += 1_500 * MS - 1_000
    run.loses(8)
    assert run.states() == []


@pytest.mark.parametrize(("follows", "leader", "states"), [(False, 0, []), (True, 0, []), (True, 2, [TOO_SOON])])
def test_what_is_added_ends_the_wait(follows: bool, leader: int, states: list[str]) -> None:
    """Also where the leader is to be asked first where to truncate to."""
    run = Broker1()
    run.loses(7)
    run.world.now += 1_500 * MS - 2_000
    if follows:
        run.emit(e.BecameFollower, 1, *ORDERS_0, 4, leader, 12, 12)
    else:
        run.emit(e.FetchPosition, 1, *ORDERS_0, leader, 4, 12)
    run.loses(8)
    assert run.states() == states


def test_a_clock_that_is_set_ends_a_back_off() -> None:
    run = Broker1()
    run.loses(7)
    run.emit(e.Fault, CLOCK, "1", "step 8s")
    run.world.now += 1_500 * MS - 1_000
    run.loses(8)
    assert run.states() == []


def test_a_request_that_is_lost_is_metered() -> None:
    run = Broker1()
    run.loses(7)
    run.world.now += 2_000 * MS
    run.loses(7)
    assert run.states() == [f"broker 1: {THREAD} has lost a request, and its meter shows 7 as before"]


def test_a_new_thread_has_a_new_meter() -> None:
    run = Broker1()
    run.loses(7)
    run.emit(e.FetcherStarted, 1, THREAD, 0)
    run.loses(1)
    assert run.states() == []
