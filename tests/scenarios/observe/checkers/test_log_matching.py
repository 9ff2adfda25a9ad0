"""S1: no two replicas differ below their high watermarks."""

from emulator.protocol import events as e
from scenarios.observe.checkers.log_matching import LogMatching
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = LogMatching.name


def story() -> WrittenHistory:
    """Batch 1 is everywhere and exposed by broker 0."""
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    return run


def test_a_follower_exposes_another_batch() -> None:
    run = story()
    run.append(0, 10, 2, leader=True)
    run.append(1, 10, 9)
    run.high_watermark(0, 20, leader=True)
    shown = run.high_watermark(1, 20)
    [violation] = run.violations()
    assert violation.seq == shown.seq
    assert violation.state == (
        "orders-0, broker 1, epoch 0: below its high watermark 20 its log has batch 9 of epoch 0, offsets 10 to 19; "
        "committed up to offset 20, batch 2 of epoch 0"
    )


def test_a_leader_exposes_other_than_the_one_before_it() -> None:
    run = story()
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.truncated(1, 0)
    run.append(1, 0, 5, 1, leader=True)
    run.high_watermark(1, 10, 1, leader=True)
    assert run.invariants() == [NAME]


def test_what_is_new_is_compared_where_the_old_ends() -> None:
    """The last batch that both expose is the same; what they hold before it is not."""
    run = WrittenHistory(NAME).begin()
    run.append(0, 0, 1, leader=True)
    run.append(0, 10, 2, leader=True)
    run.append(1, 0, 7)
    run.append(1, 10, 2)
    run.high_watermark(0, 20, leader=True)
    run.high_watermark(1, 20)
    assert run.invariants() == [NAME]


def test_above_the_high_watermarks_logs_may_differ() -> None:
    run = story()
    run.append(0, 10, 2, leader=True)
    run.append(1, 10, 3, 1, leader=True)
    run.high_watermark(1, 10)
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_after_an_unclean_election_its_leader_decides() -> None:
    run = story()
    run.state(3, (3,), 1)
    run.loaded(3)
    run.leads(3, 1)
    run.high_watermark(2, 10)
    run.append(3, 0, 8, 1, leader=True)
    run.high_watermark(3, 10, 1, leader=True)
    run.truncated(1, 0)
    run.append(1, 0, 8, 1)
    run.high_watermark(1, 10, 1)
    assert run.violations() == []


def test_a_follower_with_nothing_left_lacks_what_its_leader_has_before() -> None:
    """Retention had deleted its batches, and it goes on where they ended under a leader with others there. Kafka does
    so by itself (``scenarios.runs.known.truncations``, LeaderEpochFileCache.truncateFromEnd)."""
    run = story()
    run.state(3, (3,), 1)
    run.loaded(3)
    run.leads(3, 1)
    run.append(3, 0, 8, 1, leader=True)
    run.append(3, 10, 9, 1, leader=True)
    run.high_watermark(3, 20, 1, leader=True)
    run.emit(e.LogLoaded, 1, *ORDERS_0, 10, 10, 10)
    run.follows(1, 3, 1, 10, 10)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 3, 1, 10)
    run.append(1, 10, 9, 1)
    run.high_watermark(1, 20, 1)
    assert run.invariants() == [NAME]


def test_what_an_unclean_leader_kept_must_still_match() -> None:
    run = story()
    run.state(3, (3,), 1)
    run.loaded(3)
    run.append(3, 0, 1)
    run.leads(3, 1)
    run.truncated(3, 0)
    run.append(3, 0, 8, 1, leader=True)
    run.high_watermark(3, 10, 1, leader=True)
    assert run.invariants() == [NAME]


def test_preloaded_data_is_the_same_everywhere() -> None:
    run = WrittenHistory(NAME)
    for node in (0, 1):
        run.loaded(node, 20)
    run.loaded(2)
    run.state(0, (0, 1), 0)
    run.leads(0, 0)
    run.append(2, 0, -1)
    run.high_watermark(0, 20, leader=True)
    run.high_watermark(2, 10)
    run.append(2, 10, -2)
    run.append(0, 20, 1, leader=True)
    run.append(2, 20, 1)
    run.high_watermark(0, 30, leader=True)
    run.high_watermark(2, 30)
    assert run.violations() == []


def test_what_a_leader_sent_before_all_machines_crashed_may_arrive_late() -> None:
    """Broker 0, the only one in sync, comes back with less and leads on. What it sent to broker 1 was on its way."""
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1)
    run.append(0, 10, 2, leader=True)
    run.state(0, (0,), 0)
    run.high_watermark(0, 20, leader=True)
    run.emit(e.NodeCrashed, 0, 1, "host")
    run.loaded(0)
    run.state(0, (0,), 1)
    run.leads(0, 1)
    run.append(0, 0, 8, 1, leader=True)
    run.high_watermark(0, 10, 1, leader=True)
    run.append(1, 10, 2)
    run.high_watermark(1, 20)
    assert run.violations() == []


def test_a_log_that_began_where_retention_left_the_leaders_has_its_history_and_none_that_was_truncated() -> None:
    """Broker 0 first had another batch at that place (kafka-2.3, seed 21193)."""
    run = WrittenHistory(NAME).begin()
    run.append(0, 0, 1, leader=True)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    run.truncated(0, 0)
    run.everywhere(0, 2, 1, (1, 2))
    run.high_watermark(1, 10, 1, leader=True)
    run.emit(e.LogStartMoved, 1, *ORDERS_0, 10, "time")
    run.truncated(0, 10, 1, 10)
    run.state(1, (0, 1, 2), 1)
    run.state(0, (0, 1, 2), 2)
    run.leads(0, 2, 10, 10)
    run.everywhere(10, 3, 2)
    run.high_watermark(0, 20, 2, leader=True)
    assert run.violations() == []
