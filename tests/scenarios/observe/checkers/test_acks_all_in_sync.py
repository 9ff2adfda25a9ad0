"""S14: acks=all is answered only with min.insync.replicas replicas in the ISR."""

from emulator.protocol import events as e
from emulator.protocol.znodes import encode_config
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.acks_all_in_sync import AcksAllInSync
from scenarios.observe.history.settings_history import MIN_ISR, StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = AcksAllInSync.name


def begun(isr: tuple[int, ...]) -> WrittenHistory:
    """min.insync.replicas is 2, and broker 0 leads with ``isr``; a second passes."""
    run = WrittenHistory(NAME, start=StartSettings({MIN_ISR: 2}))
    run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, isr, (0, 1, 2), (), ())
    run.world.now += 1_000_000
    return run


def changed(run: WrittenHistory, *isr: int) -> None:
    run.emit(e.IsrChanged, 0, *ORDERS_0, 0, "shrink" if len(isr) < 2 else "expand", isr, 1)


def test_an_acknowledgement_by_the_leader_alone() -> None:
    run = begun((0,))
    acked = run.acked(0, 1)
    [violation] = run.violations()
    assert violation.seq == acked.seq
    assert violation.state == ("orders-0: broker 0 acknowledged batch 1 with 1 in-sync replica, of 2, since 0.001 s")


def test_after_a_shrink() -> None:
    run = begun((0, 1))
    run.append(0, 0, 1, leader=True)
    run.high_watermark(0, 10, leader=True)
    changed(run, 0)
    run.acked(0, 1)
    assert run.violations() == []  # the batch was closed 5 ms ago: the leader may have answered before
    run.world.now += 5_000
    run.acked(10, 2)
    assert run.invariants() == [NAME]


def test_what_is_committed_only_after_a_shrink() -> None:
    """The leader has appended it before, and should have answered NOT_ENOUGH_REPLICAS_AFTER_APPEND."""
    run = begun((0, 1))
    for place in (0, 10):
        run.append(0, place, place // 10 + 1, leader=True)
    run.high_watermark(0, 10, leader=True)
    changed(run, 0)
    run.high_watermark(0, 20, leader=True)
    run.acked(0, 1)
    assert run.violations() == []
    late = run.acked(10, 2)
    [violation] = run.violations()
    assert violation.seq == late.seq


def test_enough_replicas() -> None:
    run = begun((0,))
    changed(run, 0, 1)
    run.acked(0, 1)
    assert run.violations() == []


def test_other_acks_and_failures() -> None:
    run = begun((0,))
    run.acked(0, 1, acks=1)
    run.acked(10, 2, error="NOT_ENOUGH_REPLICAS")
    run.acked(20, 3, leader=1)
    assert run.violations() == []


def test_a_leader_that_steps_down_is_forgotten() -> None:
    run = begun((0,))
    run.follows(0, 1, 1)
    run.acked(0, 1)
    assert run.violations() == []
    again = begun((0,))
    again.emit(e.NodeCrashed, 0, 0, "process")
    again.acked(0, 1)
    assert again.violations() == []


def test_an_expansion_in_flight_counts() -> None:
    run = begun((0,))
    run.emit(e.IsrProposed, 0, *ORDERS_0, 0, "expand", (0, 1), 0, 0, 0, (1,), (0,), (0,), (0,), 0, -1)
    run.acked(0, 1)
    assert run.violations() == []


def test_a_topic_is_made_with_its_settings_and_a_change_takes_a_minute() -> None:
    for op, expected in (("create", [NAME]), ("setData", [])):
        run = WrittenHistory(NAME, start=StartSettings({MIN_ISR: 1}))
        run.emit(ZkWritten, -5, op, "/config/topics/orders", 0, 0, encode_config({MIN_ISR: "2"}))
        run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, (0,), (0, 1, 2), (), ())
        run.world.now += 1_000_000
        run.acked(0, 1)
        assert run.invariants() == expected
