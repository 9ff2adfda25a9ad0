"""I1, I3 and E6: the changes of its ISR that a leader may propose."""

import pytest

from emulator.protocol.events import BecameLeader
from scenarios.observe.checkers.expands_assigned import ExpandsAssigned
from scenarios.observe.checkers.fetch_fence import FetchFence
from scenarios.observe.checkers.shrinks_overdue import ShrinksOverdue
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_fetcher_roles import fetches
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

ASSIGNED, OVERDUE, FENCE = ExpandsAssigned.name, ShrinksOverdue.name, FetchFence.name


def story(name: str, start: StartSettings | None = None) -> WrittenHistory:
    """Broker 0 leads epoch 1 of a partition of 0, 1 and 2, with 20 records; broker 2 has 10 of them."""
    run = WrittenHistory(name, start=start or StartSettings()).begin()
    run.everywhere(0, 1)
    run.everywhere(10, 2, nodes=(0, 1))
    run.state(0, (0, 1), 1)
    run.leads(0, 1, 10, 20, (0, 1, 2))
    run.follows(2, 0, 1, 10, 10)
    return run


def test_an_unassigned_replica_joins() -> None:
    run = story(ASSIGNED)
    wish = run.proposes(0, "expand", 3)
    [violation] = run.violations()
    assert violation.seq == wish.seq
    assert (
        violation.state
        == "orders-0: broker 0, leader of epoch 1, which has received the replicas [0, 1, 2], adds broker 3"
    )


@pytest.mark.parametrize(("kind", "replica"), [("expand", 2), ("shrink", 3)])
def test_an_assigned_replica_joins_and_an_unassigned_one_leaves(kind: str, replica: int) -> None:
    run = story(ASSIGNED)
    run.proposes(0, kind, replica)
    assert run.violations() == []


def test_one_that_is_behind_and_overdue_leaves() -> None:
    run = story(OVERDUE)
    run.proposes(0, "shrink", 2)
    assert run.violations() == []


@pytest.mark.parametrize("changes", [{"end": 20}, {"overdue_us": 10_000_000}, {"max_messages": 10, "overdue_us": 0}])
def test_one_that_is_not_behind_or_not_overdue_is_removed(changes: dict[str, int]) -> None:
    run = story(OVERDUE)
    wish = run.proposes(0, "shrink", 2, **changes)
    assert [(violation.invariant, violation.seq) for violation in run.violations()] == [(OVERDUE, wish.seq)]


@pytest.mark.parametrize(
    ("isr", "replicas", "count"), [((0, 1), (0, 1, 2), 0), ((0, 1, 2), (0, 1, 2), 1), ((0, 1, 2), (0, 1), 0)]
)
def test_an_assigned_member_counts_as_caught_up_when_a_leader_epoch_begins(
    isr: tuple[int, ...], replicas: tuple[int, ...], count: int
) -> None:
    run = story(OVERDUE)
    run.emit(BecameLeader, 0, *ORDERS_0, 2, 20, 10, isr, replicas, (), ())
    run.proposes(0, "shrink", 2)
    assert len(run.violations()) == count


def test_where_messages_are_counted_a_slow_one_leaves_at_once() -> None:
    run = story(OVERDUE)
    run.proposes(0, "shrink", 2, max_messages=9, overdue_us=0)
    assert run.violations() == []
    later = story(OVERDUE, StartSettings(drops_slow=False))
    later.proposes(0, "shrink", 2, max_messages=9, overdue_us=0)
    assert later.invariants() == [OVERDUE]


def test_until_2_1_an_overdue_one_leaves_also_at_the_end() -> None:
    run = story(OVERDUE, StartSettings(drops_at_the_end=True))
    run.proposes(0, "shrink", 2, end=20)
    assert run.violations() == []
    run.proposes(0, "shrink", 2, end=20, overdue_us=10_000_000)
    assert run.invariants() == [OVERDUE]


@pytest.mark.parametrize(("epoch", "found"), [(1, []), (-1, []), (0, [FENCE]), (2, [FENCE])])
def test_a_fetch_under_another_epoch_counts(epoch: int, found: list[str]) -> None:
    run = story(FENCE)
    run.proposes(0, "expand", 2, epoch=epoch)
    assert run.invariants() == found


def test_a_fetch_of_one_that_never_learnt_of_the_epoch() -> None:
    run = story(FENCE)
    run.proposes(0, "expand", 1)
    [violation] = run.violations()
    assert violation.state == (
        "orders-0: broker 0, leader of epoch 1, adds broker 1 to the ISR for a fetch under epoch 1; "
        "that one follows in epoch -1"
    )


def test_a_replica_that_was_not_assigned_as_the_epoch_began() -> None:
    run = WrittenHistory(ASSIGNED).begin()
    run.assigned((0, 1))
    run.state(0, (0, 1), 1)
    run.leads(0, 1, 10, 20, (0, 1, 2))
    run.proposes(0, "expand", 2)
    [violation] = run.violations()
    assert violation.state.endswith("adds broker 2; the replicas were [0, 1] as the epoch began")


def keeps_up(behind_s: int, *, disturbed: bool = False) -> Cluster:
    """Broker 1 fetches all that broker 0 has, and lacks the last records for ``behind_s``."""
    run = Cluster(OVERDUE)
    run.begin()
    run.emit(BecameLeader, 0, *ORDERS_0, 0, 0, 0, (0, 1), (0, 1), (), ())
    run.follows(1, 0, 0)
    fetches(run, 1)
    run.passes(10)
    run.everywhere(0, 1, nodes=(0, 1))
    run.passes(1)
    run.append(0, 10, 2, leader=True)
    run.passes(behind_s)
    if disturbed:
        run.fault("broker.pause", "1")
    return run


@pytest.mark.parametrize(("behind_s", "disturbed", "count"), [(3, False, 1), (9, False, 0), (3, True, 0)])
def test_a_follower_that_has_just_had_all_is_not_removed(behind_s: int, disturbed: bool, count: int) -> None:
    run = keeps_up(behind_s, disturbed=disturbed)
    run.proposes(0, "shrink", 1, end=10)
    assert run.invariants() == [OVERDUE] * count
