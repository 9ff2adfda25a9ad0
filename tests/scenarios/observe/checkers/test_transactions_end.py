"""X2: histories of transactions that are open or decided for too long, or have a reason to be."""

from __future__ import annotations

import pytest

from brokers.transactions.metadata import TransactionState, TxnTransitMetadata
from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr, encode_config, encode_topic, state_path, topic_path
from emulator.trace.events import ZkWritten
from tests.scenarios.observe.checkers.test_coordinators import HOMES, SECOND_US, WRITER, Coordinated, looks, works
from tests.scenarios.observe.checkers.written_history import ORDERS_0


def has_home(run: Coordinated, *isr: int) -> None:
    """__transaction_state has one partition, on brokers 0 and 1."""
    run.emit(ZkWritten, 0, "create", topic_path(HOMES.topic), 0, 0, encode_topic({0: (0, 1)}))
    run.emit(ZkWritten, 0, "create", state_path(HOMES), 0, 0, LeaderAndIsr(0, 0, isr, 1).encode())


@pytest.mark.parametrize(
    ("state", "isr", "seconds", "count"),
    [
        ("Ongoing", (0, 1), 20, 0),
        ("Ongoing", (0, 1), 30, 1),
        ("Ongoing", (0,), 30, 0),
        ("PrepareCommit", (0, 1), 40, 1),
    ],
)
def test_a_transaction_ends(state: str, isr: tuple[int, ...], seconds: int, count: int) -> None:
    run = works("transactions_end")
    run.assigned((0,))
    run.state(0, (0,), 0)
    has_home(run, *isr)
    run.show(shown.TransactionTimed, 0, WRITER, 10 * SECOND_US)
    run.transaction(state, 0)
    assert len(looks(run, seconds)) == count


@pytest.mark.parametrize(("before", "crash", "count"), [(5, "host", 0), (4, "host", 1), (5, "process", 1)])
def test_leaders_may_know_a_later_epoch_than_what_was_not_lost(before: int, crash: str, count: int) -> None:
    """kafka-3.9, seed 251: they refuse the markers."""
    run = works("transactions_end")
    run.assigned((0,))
    run.state(0, (0,), 0)
    run.transaction("CompleteCommit", producer_epoch=before)
    run.emit(e.NodeCrashed, 1, 1, crash)
    run.transaction("PrepareAbort", 0, producer_epoch=4)
    assert len(looks(run, 40)) == count


@pytest.mark.parametrize(("topic", "members", "count"), [("orders", 1, 0), (HOMES.topic, 1, 0), (HOMES.topic, 2, 1)])
def test_a_partition_that_takes_no_writes_excuses_a_transaction(topic: str, members: int, count: int) -> None:
    """kafka-2.7, seed 27016: the ISR of the coordinator's partition never grows again (KAFKA-12686)."""
    run = works("transactions_end")
    run.assigned((0,))
    run.state(0, (0,), 0)
    run.emit(ZkWritten, 0, "create", topic_path(HOMES.topic), 0, 0, encode_topic({0: (0, 1, 2)}))
    isr = LeaderAndIsr(0, 1, (0, 1)[:members], 1).encode()
    run.emit(ZkWritten, 0, "create", state_path(HOMES), 0, 0, isr)
    run.emit(ZkWritten, 2, "set", f"/config/topics/{topic}", 1, 7, encode_config({"min.insync.replicas": "2"}))
    run.transaction("PrepareCommit", 0)
    assert len(looks(run, 60)) == count


@pytest.mark.parametrize(("other", "count"), [("PrepareAbort", 0), ("Ongoing", 1), ("CompleteAbort", 1)])
def test_a_transaction_waits_for_the_markers_of_others(other: str, count: int) -> None:
    """kafka-2.3, seed 2000: they are in one request, and a broker answers when it has written all."""
    run = works("transactions_end")
    run.emit(ZkWritten, 0, "setData", topic_path("orders"), 0, 0, encode_topic({0: (0,), 1: (0, 1)}))
    run.state(0, (0,), 0)
    run.emit(
        ZkWritten, 0, "setData", state_path(TopicPartition("orders", 1)), 0, 0, LeaderAndIsr(0, 1, (0,), 1).encode()
    )
    run.transaction("PrepareCommit", 0)
    run.transaction(other, 1, producer=8, id="other")
    assert len(looks(run, 40)) == count


@pytest.mark.parametrize(
    ("state", "seconds", "count"),
    [("Ongoing", 20, 0), ("Ongoing", 30, 1), ("PrepareAbort", 40, 1), ("CompleteAbort", 60, 0)],
)
def test_so_does_one_that_its_coordinator_has_read(state: str, seconds: int, count: int) -> None:
    run = works("transactions_end")
    run.assigned((0,))
    run.state(0, (0,), 0)
    has_home(run, 0, 1)
    run.transaction(state, 0)
    read = TxnTransitMetadata(7, -1, 0, -1, 10_000, TransactionState(state), (ORDERS_0,), 1, 1)
    run.later(10)
    run.show(shown.TransactionsRead, 0, HOMES, {WRITER: read})
    assert len(looks(run, seconds)) == count


def test_a_partition_that_is_not_in_sync_excuses_a_transaction() -> None:
    run = works("transactions_end")
    run.assigned((0, 1))
    run.state(0, (0,), 0)
    run.transaction("PrepareCommit", 0)
    assert looks(run, 60) == []
