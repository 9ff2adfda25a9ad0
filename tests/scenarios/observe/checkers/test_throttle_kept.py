"""F9: replication throttles hold back what they should, and no more."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import FetchHeld, SettingsTaken
from scenarios.observe.checkers.throttle_kept import ThrottleKept
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

RATE = 100
"""Bytes a second: 1100 in the window of 11 samples of a second."""
SECOND = 1_000_000


def throttled(*sides: str, isr: tuple[int, ...] = (0,), rate: int = RATE) -> WrittenHistory:
    """Broker 0 leads and has 400 batches of 100 bytes, all committed; broker 1 fetches them, limited on these
    sides."""
    run = WrittenHistory(ThrottleKept.name)
    run.loaded(0)
    run.loaded(1)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, isr, (0, 1), (), ())
    for number in range(400):
        run.append(0, 10 * number, number + 1, leader=True)
    run.high_watermark(0, 4000, leader=True)
    for side in sides:
        node = 0 if side == "leader" else 1
        run.show(SettingsTaken, node, f"brokers/{node}", ((f"{side}.replication.throttled.rate", str(rate)),))
        run.show(SettingsTaken, node, "topics/orders", ((f"{side}.replication.throttled.replicas", "*"),))
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 0, 0)
    return run


def fetch(run: WrittenHistory, count: int, every_us: int) -> list[str]:
    """Broker 1 appends ``count`` more batches, one at a time."""
    begun = sum(1 for event in run.events_so_far() if isinstance(event, e.BatchesAppended) and not event.leader)
    for number in range(begun, begun + count):
        run.world.now += every_us - 1000
        run.append(1, 10 * number, number + 1)
    return [violation.state.rpartition(", and ")[2] for violation in run.violations()]


@pytest.mark.parametrize(
    ("side", "found"),
    [("follower", "broker 1 as a follower has been"), ("leader", "broker 0 as a leader has been")],
)
def test_more_comes_while_the_quota_is_exceeded(side: str, found: str) -> None:
    first = fetch(throttled(side), 20, 10_000)[0]
    assert first.startswith(f"{found} above its 100 bytes/s since ")


def test_as_much_as_the_rate_allows() -> None:
    assert fetch(throttled("leader", "follower"), 60, SECOND) == []


def test_the_answer_that_exceeds_the_quota_passes_and_so_does_the_next_that_is_under_way() -> None:
    assert fetch(throttled("leader", "follower"), 12, 10_000) == []


def test_without_a_rate_a_list_limits_nothing() -> None:
    run = throttled()
    run.show(SettingsTaken, 1, "topics/orders", (("follower.replication.throttled.replicas", "0:1"),))
    assert fetch(run, 50, 10_000) == []


@pytest.mark.parametrize("replicas", ["0:0", "1:1", "0:2,1:1", ""])
def test_another_replica_is_listed(replicas: str) -> None:
    run = throttled("follower")
    run.show(SettingsTaken, 1, "topics/orders", (("follower.replication.throttled.replicas", replicas),))
    assert fetch(run, 50, 10_000) == []


def test_a_leader_does_not_hold_back_who_is_in_sync() -> None:
    assert fetch(throttled("leader", isr=(0, 1)), 50, 10_000) == []


def test_a_rate_that_is_taken_away_and_a_broker_that_has_ended() -> None:
    run = throttled("follower")
    run.show(SettingsTaken, 1, "brokers/1", ())
    assert fetch(run, 50, 10_000) == []
    run = throttled("follower")
    run.emit(e.NodeCrashed, 1, 0, "process")
    run.loaded(1)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 0, 0)
    assert fetch(run, 50, 10_000) == []


def test_a_clock_that_was_set_measures_other_times() -> None:
    run = throttled("follower")
    run.emit(e.Fault, "broker.clock", "1", "")
    assert fetch(run, 50, 10_000) == []


def test_held_without_need() -> None:
    run = throttled("follower")
    run.append(1, 0, 1)
    run.show(FetchHeld, 1, 0, *ORDERS_0)
    [violation] = run.violations()
    assert violation.state == "orders-0: broker 1 leaves it out of its fetches, and is below its 100 bytes/s"


def test_held_where_no_quota_limits_it() -> None:
    run = throttled()
    run.show(SettingsTaken, 1, "brokers/1", (("leader.replication.throttled.rate", "100"),))
    run.show(SettingsTaken, 1, "topics/orders", (("follower.replication.throttled.replicas", "0:1"),))
    run.append(1, 0, 1)
    run.show(FetchHeld, 1, 0, *ORDERS_0)
    [violation] = run.violations()
    assert violation.state == "orders-0: broker 1 leaves it out of its fetches, and no quota limits it"


def test_held_with_reason_or_as_a_copy() -> None:
    run = throttled("follower")
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    run.show(FetchHeld, 1, 0, *ORDERS_0)
    run.show(FetchHeld, 1, 1, *ORDERS_0)
    assert run.violations() == []


@pytest.mark.parametrize(("adding", "violations"), [((1,), 0), ((2,), 1)])
def test_kip_542_counts_only_what_a_move_adds(adding: tuple[int, ...], violations: int) -> None:
    run = throttled()
    run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, (0,), (0, *adding), adding, ())
    run.show(SettingsTaken, 1, "brokers/1", (("follower.reassignment.throttled.rate", str(RATE)),))
    run.append(1, 0, 1)
    run.append(1, 10, 2)
    run.show(FetchHeld, 1, 0, *ORDERS_0)
    assert len(run.violations()) == violations
