"""I4: a member of the ISR that lags for too long leaves it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.laggards_leave import LaggardsLeave
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

BOUND_S = 10 + 5 + 2
Then = Callable[[WrittenHistory], object]


def led(*, drops_slow: bool = False, awaits_isr_writes: bool = False) -> WrittenHistory:
    """Broker 0 leads with broker 1 in its ISR, which follows it, and has everything."""
    start = StartSettings(drops_slow=drops_slow, awaits_isr_writes=awaits_isr_writes)
    run = WrittenHistory(LaggardsLeave.name, start=start)
    run.emit(e.NodeStarted, 0, 1)
    for node in (0, 1):
        run.loaded(node)
    leads(run)
    run.follows(1, 0, 1)
    run.everywhere(0, 1, 1, (0, 1))
    return run


def leads(run: WrittenHistory, isr: tuple[int, ...] = (0, 1), epoch: int = 1) -> None:
    run.emit(e.BecameLeader, 0, *ORDERS_0, epoch, 0, 0, isr, (0, 1), (), ())


def looks(run: WrittenHistory, seconds: int, of: str = "") -> list[str]:
    """Once a second, for so long; ``of``: what happens in each."""
    for number in range(seconds):
        run.world.now += 1_000_000
        if of:
            run.append(1 if of == "member" else 0, 10 * (number + 1), number + 2, 1, leader=of == "leader")
        run.checkers.look(run.world.now)
    return [violation.state for violation in run.violations()]


def changes(run: WrittenHistory, isr: tuple[int, ...] = (0,), partition: int = 0) -> None:
    run.emit(e.IsrChanged, 0, ORDERS_0.topic, partition, 1, "shrink", isr, 1)


def test_a_member_that_does_not_get_on() -> None:
    run = led()
    run.append(0, 10, 2, 1, leader=True)
    [state] = looks(run, BOUND_S + 2)
    assert state == "orders-0: broker 1 is in the ISR [0, 1] of broker 0, and ends at 10, for 17.0 s"


def test_not_before_it_is_time() -> None:
    run = led()
    run.append(0, 10, 2, 1, leader=True)
    assert looks(run, BOUND_S) == []


def test_members_that_have_everything_or_get_on() -> None:
    assert looks(led(), 2 * BOUND_S) == []
    run = led()
    for place in range(100):
        run.append(0, 10 + 10 * place, place + 2, 1, leader=True)
    assert looks(run, 2 * BOUND_S, "member") == []


def test_before_0_9_a_follower_that_fetches_stays() -> None:
    run = led(drops_slow=True)
    run.append(0, 10, 2, 1, leader=True)
    assert looks(run, 2 * BOUND_S) == []


@pytest.mark.parametrize("drops_slow", [True, False])
def test_a_member_that_never_followed(drops_slow: bool) -> None:
    run = WrittenHistory(LaggardsLeave.name, start=StartSettings(drops_slow=drops_slow))
    run.emit(e.NodeStarted, 0, 1)
    run.loaded(0)
    leads(run)
    bound_s = BOUND_S + 5 * drops_slow
    [state] = looks(run, bound_s + 2)
    assert state == f"orders-0: broker 1 is in the ISR [0, 1] of broker 0, and has not followed it, for {bound_s}.0 s"


@pytest.mark.parametrize(
    "then",
    [
        changes,
        lambda run: run.proposes(0, "shrink", 1),
        lambda run: run.follows(0, 1, 2),
        lambda run: run.emit(e.ReplicaOffline, 0, *ORDERS_0),
        lambda run: run.emit(e.ReplicaStopped, 0, *ORDERS_0, True),
        lambda run: run.emit(e.NodeCrashed, 0, 1, "process"),
        lambda run: run.emit(e.Fault, "broker.pause", "0", ""),
        lambda run: run.emit(e.Fault, "broker.clock", "0", "step 8s"),
        lambda run: leads(run, (0, 1, 3), 2),
    ],
    ids=["changed", "changing", "follows", "offline", "deleted", "crashed", "paused", "clock", "unassigned"],
)
def test_what_excuses_it(then: Then) -> None:
    run = led()
    run.append(0, 10, 2, 1, leader=True)
    then(run)
    assert looks(run, 2 * BOUND_S) == []


@pytest.mark.parametrize(
    "then", [leads, lambda run: changes(run, (0, 1)), lambda run: run.emit(e.Fault, "link.delay", "0", "")]
)
def test_what_gives_it_more_time(then: Then) -> None:
    run = led()
    run.append(0, 10, 2, 1, leader=True)
    assert looks(run, BOUND_S - 5) == []
    then(run)
    assert looks(run, BOUND_S - 5) == []
    assert len(looks(run, BOUND_S)) == 1


def test_an_earlier_leader_is_followed_again() -> None:
    """It follows the same leader since before."""
    run = led()
    run.follows(0, 1, 2)
    leads(run, epoch=3)
    assert looks(run, 2 * BOUND_S) == []


@pytest.mark.parametrize(("epoch", "late"), [(2, True), (3, False)])
def test_a_fetch_from_before_its_sender_died_counts_in_its_epoch(epoch: int, late: bool) -> None:
    """The leader stood still meanwhile (kafka-2.4, seed 48018)."""
    run = led()
    run.follows(0, 1, 2)
    run.follows(1, 0, 2)
    run.emit(e.NodeCrashed, 1, 1, "process")
    leads(run, epoch=epoch)
    assert (looks(run, 2 * BOUND_S) == []) == late


def test_one_that_leaves_before_its_leader_dies_and_comes_back() -> None:
    """It never followed this leader, and was taken out of the ISR by the controller (kafka-0.8, seed 10071)."""
    run = WrittenHistory(LaggardsLeave.name, start=StartSettings(drops_slow=True))
    run.emit(e.NodeStarted, 0, 1)
    run.loaded(0)
    leads(run)
    leads(run, (0,), epoch=2)
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.emit(e.NodeStarted, 0, 2)
    leads(run, (0,), epoch=3)
    run.loaded(1)
    run.follows(1, 0, 3)
    changes(run, (0, 1))
    assert looks(run, 2 * BOUND_S) == []


@pytest.mark.parametrize(("awaits", "late_s"), [(False, 0), (True, 30)])
def test_since_kafka_12686_a_leader_waits_for_the_answer_of_an_earlier_epoch(awaits: bool, late_s: int) -> None:
    """kafka-3.9, seed 505: the controller that it had asked was dead."""
    run = WrittenHistory(LaggardsLeave.name, start=StartSettings(drops_slow=False, awaits_isr_answers=awaits))
    run.emit(e.NodeStarted, 0, 1)
    for node in (0, 1):
        run.loaded(node)
    leads(run)
    run.follows(1, 0, 1)
    run.everywhere(0, 1, 1, (0, 1))
    proposes(run)
    leads(run, epoch=2)
    run.follows(1, 0, 2)
    run.append(0, 10, 2, 2, leader=True)
    assert looks(run, late_s + BOUND_S - 1) == []
    assert looks(run, BOUND_S + 3) != []


def test_one_whose_answer_has_come_waits_for_nothing() -> None:
    for ends in (changes, fails, lambda run: run.emit(e.NodeCrashed, 0, 1, "process")):
        run = WrittenHistory(LaggardsLeave.name, start=StartSettings(drops_slow=False, awaits_isr_answers=True))
        run.emit(e.NodeStarted, 0, 1)
        for node in (0, 1):
            run.loaded(node)
        leads(run)
        proposes(run)
        ends(run)
        run.emit(e.NodeStarted, 0, 2)
        leads(run, epoch=2)
        run.follows(1, 0, 2)
        run.append(0, 10, 1, 2, leader=True)
        assert looks(run, BOUND_S + 3) != []


@pytest.mark.parametrize("awaits", [False, True])
def test_up_to_2_6_a_leader_waits_for_zookeeper_at_one_partition(awaits: bool) -> None:
    """kafka-1.1 and kafka-2.3, seed 1124: ZooKeeper was away, and the leader stood at another partition."""
    run = led(awaits_isr_writes=awaits)
    run.append(0, 10, 2, 1, leader=True)
    proposes(run, partition=1)
    assert (looks(run, 2 * BOUND_S) == []) == awaits


@pytest.mark.parametrize("ends", [lambda run: changes(run, partition=1), lambda run: fails(run, partition=1)])
def test_one_that_has_waited_for_zookeeper_gets_its_time_after_that(ends: Then) -> None:
    run = led(awaits_isr_writes=True)
    run.append(0, 10, 2, 1, leader=True)
    proposes(run, partition=1)
    looks(run, 2 * BOUND_S)
    ends(run)
    assert looks(run, BOUND_S - 1) == []
    assert len(looks(run, BOUND_S)) == 1


def test_writes_that_fail_at_once_excuse_nothing() -> None:
    run = led(awaits_isr_writes=True)
    run.append(0, 10, 2, 1, leader=True)
    for _ in range(BOUND_S + 2):
        proposes(run, partition=1)
        run.world.now += 2_000
        fails(run, partition=1)
        looks(run, 1)
    assert len(run.violations()) == 1


def proposes(run: WrittenHistory, partition: int = 0) -> None:
    columns = ((1,), (0,), (1,), (0,))
    run.emit(e.IsrProposed, 0, ORDERS_0.topic, partition, 1, "shrink", (0,), 0, 0, 10, *columns, 10_000_000, -1)


def fails(run: WrittenHistory, partition: int = 0) -> None:
    run.emit(e.IsrUpdateFailed, 0, ORDERS_0.topic, partition, 1)
