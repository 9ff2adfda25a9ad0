"""Sequence numbers: what Kafka's TransactionManager does for a producer without transactions."""

from emulator.protocol.errors import Errors
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.producing.accumulator import Queue
from scenarios.cluster.clients.producing.idempotence import NO_PRODUCER_ID, Idempotence

TP = TopicPartition("t", 0)
GAP = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER


class Bench:
    """A producer with id 7 and one partition."""

    def __init__(self) -> None:
        self.idempotence = Idempotence(7)
        self.queue = Queue(TP)
        self.last = 0

    def sent(self, count: int) -> ProducedBatch:
        self.last += 1
        batch = ProducedBatch(TP, count, 10, self.last)
        self.send(batch)
        return batch

    def send(self, batch: ProducedBatch) -> None:
        self.idempotence.number([batch])

    def base(self, batch: ProducedBatch) -> int:
        return self.idempotence.numbered[batch].base_sequence

    def new(self) -> ProducedBatch:
        return ProducedBatch(TP, 1, 10, 99)

    def may_send(self, batch: ProducedBatch) -> bool:
        return self.idempotence.may_send(batch)


def test_records_are_numbered_by_partition() -> None:
    bench = Bench()
    assert [bench.base(bench.sent(count)) for count in (3, 1, 2)] == [0, 3, 4]


def test_nothing_goes_without_a_producer_id() -> None:
    bench = Bench()
    bench.idempotence.producer_id = NO_PRODUCER_ID
    assert not bench.may_send(bench.new())


def test_a_batch_that_is_sent_again_waits_for_those_before_it() -> None:
    bench = Bench()
    first, second = bench.sent(1), bench.sent(1)
    assert bench.may_send(first)
    assert not bench.may_send(second)
    bench.idempotence.acknowledged([first])
    assert bench.may_send(second)


def test_a_gap_is_worth_another_attempt_while_a_batch_before_it_is_missing() -> None:
    bench = Bench()
    first, second = bench.sent(1), bench.sent(1)
    assert bench.idempotence.may_retry(second, GAP)
    assert not bench.idempotence.may_retry(first, GAP)
    assert not bench.idempotence.may_retry(second, Errors.CORRUPT_MESSAGE)


def test_a_gap_before_the_next_batch_is_the_end_of_the_producer_id() -> None:
    """OutOfOrderSequence for what should have come next: the log has lost what was acknowledged."""
    bench = Bench()
    first, second = bench.sent(1), bench.sent(1)
    bench.idempotence.failed(first, GAP, refused=True)
    assert bench.idempotence.producer_id == NO_PRODUCER_ID
    assert bench.idempotence.has_old_producer_id(second)
    bench.idempotence.producer_id = 8
    assert bench.base(bench.sent(1)) == 0


def test_a_refused_batch_gives_its_numbers_to_the_next_ones() -> None:
    bench = Bench()
    first, second, third = bench.sent(2), bench.sent(3), bench.sent(1)
    bench.idempotence.failed(first, Errors.INVALID_REQUIRED_ACKS, refused=True)
    assert [bench.base(second), bench.base(third)] == [0, 3]
    assert bench.idempotence.may_retry(second, GAP), "it was sent with its old numbers"
    bench.send(second)
    assert not bench.idempotence.may_retry(second, GAP)
    assert bench.base(bench.sent(1)) == 4


def test_what_has_used_up_its_retries_keeps_its_numbers() -> None:
    bench = Bench()
    first, second = bench.sent(2), bench.sent(3)
    bench.idempotence.failed(first, Errors.REQUEST_TIMED_OUT, refused=False)
    assert bench.base(second) == 2


def test_an_expired_batch_holds_new_ones_back_until_those_under_way_are_through() -> None:
    bench = Bench()
    first, second = bench.sent(1), bench.sent(1)
    bench.send(first)
    bench.idempotence.expired(first, 2)
    assert not bench.may_send(bench.new())
    bench.idempotence.resolve([bench.queue])
    assert not bench.may_send(bench.new()), "the second is still under way"
    bench.idempotence.acknowledged([second])
    bench.idempotence.resolve([bench.queue])
    assert bench.may_send(bench.new()), "so the first was written"
    assert bench.idempotence.producer_id == 7


def test_an_expired_batch_that_is_never_confirmed_ends_the_producer_id() -> None:
    bench = Bench()
    first = bench.sent(1)
    bench.send(first)
    bench.idempotence.expired(first, 2)
    bench.idempotence.resolve([bench.queue])
    assert bench.idempotence.producer_id == NO_PRODUCER_ID


def test_an_answer_for_an_earlier_producer_id_changes_nothing() -> None:
    bench = Bench()
    old = bench.sent(1)
    bench.idempotence.failed(bench.sent(1), GAP, refused=True)
    bench.idempotence.producer_id = 8
    new = bench.sent(1)
    bench.idempotence.acknowledged([old])
    bench.idempotence.expired(old, 1)
    bench.idempotence.failed(old, GAP, refused=True)
    assert bench.idempotence.producer_id == 8
    assert not bench.idempotence.may_retry(new, GAP)
