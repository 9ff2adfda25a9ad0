"""S3, S5, S6: in-sync replicas have what is committed."""

import pytest

from emulator.protocol import events as e
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.shown import SegmentsDeleted
from emulator.protocol.znodes import encode_topic, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.isr_complete import IsrComplete
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = IsrComplete.name


def history() -> WrittenHistory:
    run = WrittenHistory(NAME, "log_matching").begin()
    run.assigned((0, 1, 2))
    return run


def test_a_high_watermark_that_did_not_wait_for_a_member() -> None:
    run = history()
    run.everywhere(0, 1, nodes=(0, 1))
    moved = run.high_watermark(0, 10, leader=True)
    [violation] = run.violations()
    assert violation.seq == moved.seq
    assert violation.state == (
        "orders-0, ISR [0, 1, 2]: the log of broker 2 ends at 0 and lacks what is committed up to offset 10, "
        "batch 1 of epoch 0, as broker 0 moves its high watermark"
    )


def test_a_replica_joins_the_isr_too_early() -> None:
    run = history()
    run.state(0, (0, 1), 0)
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    joined = run.state(0, (0, 1, 2), 0)
    [violation] = run.violations()
    assert violation.seq == joined.seq


def test_a_member_comes_back_with_less() -> None:
    run = history()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    run.emit(e.NodeCrashed, 2, 1, "host")
    run.loaded(2, 0)
    assert run.invariants() == [NAME]


def test_members_that_have_everything() -> None:
    run = history()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    run.state(0, (0, 1), 0)
    run.everywhere(10, 2, nodes=(0, 1))
    run.high_watermark(0, 20, leader=True)
    run.append(2, 10, 2)
    run.state(0, (0, 1, 2), 0)
    run.loaded(1, 20)
    assert run.violations() == []


def test_between_an_unclean_election_and_its_leader_nothing_is_asked() -> None:
    run = history()
    run.everywhere(0, 1, nodes=(0, 1))
    run.state(0, (0, 1), 0)
    run.high_watermark(0, 10, leader=True)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.append(2, 0, 5, 1, leader=True)
    run.high_watermark(2, 10, 1, leader=True)
    assert run.violations() == []


def test_a_member_outside_the_assignment_is_not_waited_for() -> None:
    """kafka-6794, steps 5 to 10: the assignment is rewritten before the ISR."""
    run = history()
    run.assigned((0, 1))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_a_member_that_the_move_leaves_behind_is_not_waited_for_once_the_target_is_in_sync() -> None:
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_until_the_target_is_in_sync_the_old_replicas_are_waited_for() -> None:
    run = history()
    run.assigned((0, 1, 2, 3))
    run.emit(e.MoveStarted, *ORDERS_0, (0, 3))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == [NAME]


@pytest.mark.parametrize("step", ["kip-455.wait", "wiki.4", "kafka-42.3", "kafka-6794.1"])
def test_a_target_that_has_left_the_isr_before_its_move_begins_is_waited_for_again(step: str) -> None:
    """Replica 2 has died, and the controller finds that out before it begins the move."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (1, 2))
    run.state(1, (0, 1), 1)
    run.emit(Step, step, "before", *ORDERS_0, -1, 0, 2, "")
    run.leads(1, 1)
    run.append(1, 0, 1, 1, leader=True)
    run.high_watermark(1, 10, 1, leader=True)
    assert run.invariants() == [NAME]
    in_sync = history()
    in_sync.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    in_sync.emit(Step, step, "before", *ORDERS_0, -1, 0, 2, "")
    in_sync.state(0, (0, 2), 1)
    in_sync.leads(0, 1)
    in_sync.append(0, 0, 2, 1, leader=True)
    in_sync.high_watermark(0, 10, 1, leader=True)
    assert in_sync.invariants() == []


def test_the_only_replica_in_sync_is_waited_for_though_the_target_was_in_sync_before() -> None:
    """A controller that takes over waits for the target; the machine of the leader, which the move drops, then crashes
    with what it has not flushed (kafka-1.1, seed 40135)."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.state(2, (2,), 1)
    run.emit(Step, "kafka-6794.1", "before", *ORDERS_0, -1, 0, 2, "")
    run.leads(2, 1)
    run.append(2, 0, 1, 1, leader=True)
    run.high_watermark(2, 10, 1, leader=True)
    run.emit(e.NodeCrashed, 2, 1, "host")
    run.loaded(2, 0)
    run.state(2, (2,), 2)
    run.leads(2, 2)
    run.state(2, (0, 1, 2), 2)
    assert run.violations() == []


def test_when_the_move_is_over_all_count_again() -> None:
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.emit(e.MoveFinished, *ORDERS_0, (0, 1))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == [NAME]


def two_moves() -> WrittenHistory:
    """A move to 0 and 1 is in its last phase, and one to 0 and 2 has been asked for: both targets are in sync."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.emit(e.MoveStarted, *ORDERS_0, (0, 2))
    return run


def test_the_end_of_a_move_leaves_the_target_of_the_one_that_was_asked_for_meanwhile() -> None:
    run = two_moves()
    run.emit(e.MoveFinished, *ORDERS_0, (0, 1))
    run.everywhere(0, 1, nodes=(0, 2))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_the_leader_waits_for_none_that_either_of_two_moves_removes() -> None:
    run = two_moves()
    run.append(0, 0, 1, leader=True)
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_a_move_that_replaced_another_is_the_only_one() -> None:
    """KIP-455: the second request is written to the topic's znode."""
    run = two_moves()
    run.assigned((0, 2, 1))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == [NAME]


def test_a_request_that_reaches_the_controller_after_a_later_one_goes_on() -> None:
    """KIP-455: the first was made through the API, the second through /admin/reassign_partitions."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0,))
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.assigned((0, 1))
    run.state(0, (0, 1), 0)
    run.emit(e.MoveFinished, *ORDERS_0, (0, 1))
    moving = {0: ReassigningReplicas((), (1,))}
    run.emit(ZkWritten, 0, "setData", topic_path("orders"), 0, 0, encode_topic({0: (0, 1)}, moving))
    run.append(0, 0, 1, leader=True)
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_a_move_that_was_refused_has_no_target() -> None:
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.emit(e.MoveAnswered, *ORDERS_0, "INVALID_REPLICA_ASSIGNMENT")
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == [NAME]


@pytest.mark.parametrize(("begun", "expected"), [(True, []), (False, [NAME])])
def test_a_refusal_does_not_end_a_move_that_has_begun(begun: bool, expected: list[str]) -> None:
    """The request was sent again, and refused, after the first one had reached the controller (2.4, seed 46817)."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    if begun:
        moving = {0: ReassigningReplicas((), (2,))}
        run.emit(ZkWritten, 0, "setData", topic_path("orders"), 0, 0, encode_topic({0: (0, 1, 2)}, moving))
    run.emit(e.MoveAnswered, *ORDERS_0, "INVALID_REPLICA_ASSIGNMENT")
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == expected


def test_a_move_that_was_cancelled_ends_with_the_old_replicas() -> None:
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.emit(e.MoveCancelled, *ORDERS_0)
    run.emit(e.MoveAnswered, *ORDERS_0, "NONE")
    run.emit(e.MoveStarted, *ORDERS_0, (0, 2))
    run.emit(e.MoveFinished, *ORDERS_0, (0, 1, 2))
    run.everywhere(0, 1, nodes=(0, 2))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def after_retention(*, empty: bool = False) -> WrittenHistory:
    """Batch 1, and batch 2 too where the log is ``empty``, is gone by retention when a move brings in broker 3, which
    begins where the leader's log does."""
    start = 20 if empty else 10
    run = history()
    run.assigned((0, 1, 2, 3))
    run.everywhere(0, 1)
    run.everywhere(10, 2)
    run.high_watermark(0, 20, leader=True)
    for node in (0, 1, 2):
        run.emit(e.LogStartMoved, node, *ORDERS_0, start, "time")
        run.show(SegmentsDeleted, node, *ORDERS_0, start)
    run.loaded(3)
    run.follows(3, 0, 0)
    run.truncated(3, start, 0, start)
    if not empty:
        run.append(3, 10, 2)
    run.state(0, (0, 1, 2, 3), 0)
    return run


@pytest.mark.parametrize(("start", "expected"), [(20, []), (10, [NAME])])
def test_what_differs_before_the_leaders_log_begins_is_no_difference(start: int, expected: list[str]) -> None:
    """Broker 2 has led without ZooKeeper and written batch 9 (acks=1). Retention has deleted what broker 0, the leader,
    has in its place, so that it knows no end of that epoch: broker 2 truncates nothing and goes on at its end."""
    run = history()
    run.everywhere(0, 1)
    run.append(2, 10, 9, leader=True)
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    run.everywhere(10, 2, 1, nodes=(0, 1))
    run.everywhere(20, 3, 1, nodes=(0, 1))
    run.high_watermark(0, 30, 1, leader=True)
    run.emit(e.LogStartMoved, 0, *ORDERS_0, start, "size")
    run.emit(e.FetchPosition, 2, *ORDERS_0, 0, 1, 20)
    run.append(2, 20, 3, 1)
    run.emit(e.LogStartMoved, 2, *ORDERS_0, start, "leader")
    run.state(0, (0, 1, 2), 1)
    assert run.invariants() == expected


@pytest.mark.parametrize(("fetches", "expected"), [(True, []), (False, [NAME])])
def test_nor_is_it_where_nothing_is_known_of_the_leaders_log(fetches: bool, expected: list[str]) -> None:
    """Broker 3 began where retention had left the log of broker 0, and leads before its first append; broker 2 has
    batch 9 from before (2.4, seed 46398)."""
    run = history()
    run.assigned((0, 1, 2, 3))
    run.everywhere(0, 1)
    run.append(2, 10, 9, leader=True)
    run.state(0, (0, 1), 1)
    run.leads(0, 1)
    run.everywhere(10, 2, 1, nodes=(0, 1))
    run.high_watermark(0, 20, 1, leader=True)
    run.emit(e.LogStartMoved, 0, *ORDERS_0, 20, "time")
    run.loaded(3)
    run.follows(3, 0, 1)
    run.truncated(3, 20, 0, 20)
    run.state(0, (0, 1, 3), 1)
    run.state(3, (0, 1, 3), 2)
    run.leads(3, 2, 20, 20)
    if fetches:
        run.emit(e.FetchPosition, 2, *ORDERS_0, 3, 2, 20)
    run.state(3, (0, 1, 2, 3), 2)
    assert run.invariants() == expected


@pytest.mark.parametrize("empty", [False, True])
def test_a_replica_that_began_where_retention_left_the_log_leads(empty: bool) -> None:
    run = after_retention(empty=empty)
    run.state(3, (0, 1, 2, 3), 1)
    run.leads(3, 1, 20, 20)
    for number in range(2, 6):
        run.everywhere(10 * number, number + 1, 1, nodes=(3, 0, 1, 2))
        run.high_watermark(3, 10 * (number + 1), 1, leader=True)
        for node in (0, 1, 2):
            run.high_watermark(node, 10 * (number + 1), 1)
    assert run.violations() == []


def test_a_replica_that_began_where_retention_left_the_log_counts_as_others_do() -> None:
    run = after_retention()
    run.everywhere(20, 3, nodes=(0, 1, 2))
    run.high_watermark(0, 30, leader=True)
    assert run.invariants() == [NAME]


def test_a_log_of_which_nothing_is_known_shows_nothing() -> None:
    """Its high watermark moves before its first append: what is committed stays what the others hold."""
    run = after_retention(empty=True)
    run.state(3, (0, 1, 2, 3), 1)
    run.leads(3, 1, 20, 20)
    run.high_watermark(3, 20, 1, leader=True)
    run.state(0, (0, 1, 2, 3), 2)
    run.leads(0, 2, 20, 20)
    run.everywhere(20, 3, 2, nodes=(0, 1, 2, 3))
    run.high_watermark(0, 30, 2, leader=True)
    assert run.violations() == []


@pytest.mark.parametrize("end", [20, 10])
def test_nothing_but_its_end_is_known_of_a_log_that_retention_has_emptied(end: int) -> None:
    """It leads after an unclean election. Broker 2 has batches below its start, and fetches on from there. Of those
    that retention has deleted from every log nothing is known either."""
    run = after_retention(empty=True)
    run.state(0, (0, 1, 2), 0)
    run.state(3, (3,), 1)
    run.leads(3, 1, 20, 20)
    run.truncated(2, end, 1, end)
    run.state(3, (3, 2), 1)
    run.everywhere(20, 3, 1, nodes=(3, 2))
    run.high_watermark(3, 30, 1, leader=True)
    assert run.violations() == []


def test_of_two_requests_the_znode_says_which_move_has_begun() -> None:
    """Both were made through the API. What the first one removes is still assigned, and so is the second's target."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (1, 2))
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    for replicas in ((1, 2, 0), (0, 1, 2)):
        moving = {0: ReassigningReplicas((), replicas[2:])}
        run.emit(ZkWritten, 0, "setData", topic_path("orders"), 0, 0, encode_topic({0: replicas}, moving))
    run.state(0, (0, 1, 2), 0)
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


@pytest.mark.parametrize("second", [(0, 2), (0,)])
def test_it_says_so_too_where_the_first_replaces_the_second(second: tuple[int, ...]) -> None:
    """kafka-2.7, seed 40077: its controller died with the first request, which was then sent to the next one again."""
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.emit(e.MoveStarted, *ORDERS_0, second)
    for target in (second, (0, 1)):
        removing = tuple(replica for replica in (0, 1, 2) if replica not in target)
        moving = {0: ReassigningReplicas((), removing)}
        znode = encode_topic({0: (*target, *removing)}, moving)
        run.emit(ZkWritten, 0, "setData", topic_path("orders"), 0, 0, znode)
    run.state(0, (0, 1, 2), 0)
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []
    run.append(0, 10, 2, leader=True)
    run.high_watermark(0, 20, leader=True)
    assert run.invariants() == [NAME]
