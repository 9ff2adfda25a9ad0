"""The events of transactions in words."""

from emulator.protocol import events as e
from emulator.trace import Event
from scenarios.observe.timeline.transaction_words import TRANSACTION_WORDS
from scenarios.observe.timeline.words import words
from tests.brokers.transactions.bench import TransactionBench


def test_a_transaction_from_its_producer_to_its_end() -> None:
    bench = TransactionBench(elected=False)
    seen: list[Event] = []
    for kind in TRANSACTION_WORDS:
        bench.trace.fold(kind, seen.append)
    bench.elect()
    producer = bench.producer()
    bench.add(producer)
    bench.end(producer)
    bench.answer_markers()
    bench.resign()
    assert [words(event) for event in seen] == [
        "broker 0 coordinates the transactions of __transaction_state-0 (epoch 0): 0 transactional ids in its log",
        "transactional id billing at broker 0: Empty, producer 1001, epoch 0",
        "transactional id billing at broker 0: Ongoing, producer 1001, epoch 0, with t-0",
        "transactional id billing at broker 0: PrepareCommit, producer 1001, epoch 0, with t-0",
        "transactional id billing at broker 0: CompleteCommit, producer 1001, epoch 0",
        "broker 0 no longer coordinates the transactions of __transaction_state-0: 1 transactional id",
    ]


def test_batches_and_markers() -> None:
    assert [
        words(e.TransactionalAppended(0, 0, 0, 1, "orders", 0, 7, 5, 12)),
        words(e.TransactionMarked(0, 0, 0, 1, "orders", 0, 7, 0, 3, False)),
        words(e.CommittedFetched(0, 0, 0, -7, "o", 0, 1, (5, 6), 14, (), ())),
    ] == [
        "broker 1 appends a batch of a transaction of producer 7 to orders-0 at 12",
        "broker 1 marks a transaction of producer 7 as aborted in orders-0 (coordinator epoch 3)",
        "client -7 reads committed records of o-0 from broker 1: 2 batches, 0 aborted transactions, stable up to 14",
    ]
