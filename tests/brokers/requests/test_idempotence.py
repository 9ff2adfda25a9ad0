"""KIP-98 at the leader: a batch that is sent twice is in the log once; a gap is refused."""

from collections.abc import Callable

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.events import BatchRepeated
from emulator.protocol.produce import IdempotentBatch, ProducedBatch, ProduceRequest
from emulator.protocol.types import Batch
from tests.brokers.bench import TP, Bench, Line, caught_up

ME = 77


def send(bench: Bench, base: int, count: int = 1, *, producer: int = ME, acks: int = 1) -> Line:
    return bench.send(ProduceRequest(acks, 1_000_000, (IdempotentBatch(TP, count, 10, base, producer, base),), 10))


def outcome(line: Line) -> tuple[Errors, int]:
    [(_tp, error, base)] = line.last.partitions
    return error, base


def led() -> Bench:
    bench = Bench()
    bench.lead()
    return bench


def test_batches_in_order_are_appended() -> None:
    bench = led()
    assert [outcome(send(bench, base, 2)) for base in (0, 2, 4)] == [(Errors.NONE, offset) for offset in (0, 2, 4)]


def test_a_repetition_is_answered_as_the_first_time() -> None:
    bench = led()
    repeats = bench.see(BatchRepeated)
    for base in range(5):
        send(bench, base)
    assert [outcome(send(bench, base)) for base in range(5)] == [(Errors.NONE, base) for base in range(5)]
    assert bench.partition.log_end_offset == 5
    found = [(event.producer_id, event.base_sequence, event.base_offset) for event in repeats]
    assert found == [(ME, base, base) for base in range(5)]


def test_five_batches_are_remembered() -> None:
    bench = led()
    for base in range(6):
        send(bench, base)
    assert outcome(send(bench, 1)) == (Errors.NONE, 1)
    assert outcome(send(bench, 0)) == (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)


def test_a_gap_is_refused() -> None:
    bench = led()
    send(bench, 0)
    assert outcome(send(bench, 2)) == (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert bench.partition.log_end_offset == 1


def test_a_producer_that_nothing_is_known_of_begins_with_0() -> None:
    bench = led()
    assert outcome(send(bench, 3)) == (Errors.UNKNOWN_PRODUCER_ID, -1)
    assert outcome(send(bench, 0)) == (Errors.NONE, 0)
    assert outcome(send(bench, 0, producer=78)) == (Errors.NONE, 1)


def test_a_repetition_with_acks_all_waits_like_the_first() -> None:
    bench = led()
    first, second, again = send(bench, 0, acks=-1), send(bench, 1, acks=-1), send(bench, 0, acks=-1)
    one, two = caught_up(bench, 1, 2)
    assert not again.replies
    one.at(1)
    two.at(1)
    assert outcome(first) == outcome(again) == (Errors.NONE, 0)
    assert not second.replies


def test_a_follower_that_becomes_leader_knows_the_producers() -> None:
    leader, bench = led(), Bench()
    for base in range(3):
        send(leader, base)
    bench.follow()
    bench.partition.append_as_follower(leader.partition.log.read(0, 1000), 3)
    bench.lead(1)
    assert outcome(send(bench, 2)) == (Errors.NONE, 2)
    assert outcome(send(bench, 3)) == (Errors.NONE, 3)


def restart(bench: Bench) -> None:
    bench.restart()
    bench.lead(1)


def truncate(bench: Bench) -> None:
    bench.partition.truncate_to(2)


@pytest.mark.parametrize(("what", "left"), [(restart, 3), (truncate, 2)])
def test_the_producers_are_those_of_the_log(what: Callable[[Bench], None], left: int) -> None:
    bench = led()
    for base in range(3):
        send(bench, base)
    what(bench)
    assert outcome(send(bench, left - 1)) == (Errors.NONE, left - 1)
    assert outcome(send(bench, left + 1)) == (Errors.OUT_OF_ORDER_SEQUENCE_NUMBER, -1)
    assert outcome(send(bench, left)) == (Errors.NONE, left)


def test_an_emptied_log_has_no_producers() -> None:
    bench = led()
    send(bench, 0)
    bench.partition.truncate_fully_and_start_at(5)
    assert outcome(send(bench, 1)) == (Errors.UNKNOWN_PRODUCER_ID, -1)


def test_other_batches_cost_nothing() -> None:
    bench = led()
    bench.send(ProduceRequest(1, 1, (ProducedBatch(TP, 1, 10, 1),), 10))
    [batch] = bench.partition.log.batches
    assert type(batch) is Batch
