"""DescribeProducers, DescribeTransactions and ListTransactions, from the bytes of a request to those of its answer."""

from __future__ import annotations

from typing import Any

import pytest

from brokers.requests.describe_producers import DescribeProducersHandler
from brokers.transactions.describing import TransactionsDescriber
from brokers.transactions.metadata import TransactionState
from emulator.protocol.errors import Errors
from tests.brokers.bench import TP
from tests.brokers.transactions.bench import ID, SECOND, TransactionBench
from tests.brokers.transactions.test_markers import ANNE, MarkersBench
from tests.scenarios.wire.apis.test_transactions import ask

PRODUCERS, DESCRIBE, LIST = 61, 65, 66
Body = dict[str, Any]


class Described(TransactionBench):
    def restart(self) -> None:
        super().restart()
        self.router.add(TransactionsDescriber(self.coordinator.store))


def described(bench: Described, id: str = ID) -> Body:
    [found] = ask(bench, DESCRIBE, 0, {"transactional_ids": [id]})["transaction_states"]
    assert found["transactional_id"] == id
    return dict(found)


def listed(bench: Described, version: int = 1, **filters: Any) -> list[tuple[str, str]]:
    body = {"state_filters": [], "producer_id_filters": [], "duration_filter": -1, **filters}
    answer = ask(bench, LIST, version, body)
    assert answer["error_code"] == 0
    return [(each["transactional_id"], each["transaction_state"]) for each in answer["transaction_states"]]


def test_a_transaction_is_described_in_each_state() -> None:
    bench = Described()
    producer = bench.producer()
    empty = described(bench)
    assert (empty["error_code"], empty["transaction_state"], empty["topics"]) == (0, "Empty", [])
    assert (empty["producer_id"], empty["producer_epoch"]) == producer
    assert (empty["transaction_timeout_ms"], empty["transaction_start_time_ms"]) == (60_000, -1)
    bench.wait(5 * SECOND)
    began = bench.coordinator.store.clock_ms
    assert not bench.add(producer)
    ongoing = described(bench)
    assert (ongoing["transaction_state"], ongoing["transaction_start_time_ms"]) == ("Ongoing", began)
    assert ongoing["topics"] == [{"topic": TP.topic, "partitions": [TP.partition]}]
    assert not bench.end(producer)
    assert described(bench)["transaction_state"] == "PrepareCommit"


def test_what_is_not_described() -> None:
    bench = Described(elected=False)
    assert described(bench)["error_code"] == Errors.NOT_COORDINATOR
    bench.elect()
    assert described(bench)["error_code"] == Errors.TRANSACTIONAL_ID_NOT_FOUND
    assert described(bench, "")["error_code"] == Errors.INVALID_REQUEST
    bench.producer()
    assert described(bench)["error_code"] == Errors.NONE
    bench.metadata.state = TransactionState.DEAD
    assert described(bench)["error_code"] == Errors.TRANSACTIONAL_ID_NOT_FOUND
    assert listed(bench) == []


def test_ids_are_listed_by_state_producer_and_duration() -> None:
    bench = Described()
    first, second = bench.producer(), bench.producer(id="other")
    assert not bench.add(second, id="other")
    everything = [(ID, "Empty"), ("other", "Ongoing")]
    assert listed(bench, 0) == listed(bench) == everything
    assert listed(bench, state_filters=["Ongoing"]) == everything[1:]
    assert listed(bench, producer_id_filters=[first[0]]) == everything[:1]
    bench.wait(2 * SECOND)
    # As in Kafka, an id without a transaction counts as one that has lasted since 1970.
    assert listed(bench, duration_filter=1_999) == everything
    assert ("other", "Ongoing") not in listed(bench, duration_filter=2_000)
    answer = ask(bench, LIST, 1, {"state_filters": ["Ongoing", "Odd"], "producer_id_filters": []})
    assert answer["unknown_state_filters"] == ["Odd"]
    assert [each["transactional_id"] for each in answer["transaction_states"]] == ["other"]


def test_nothing_is_listed_while_a_partition_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Described()
    monkeypatch.setitem(bench.coordinator.store.partitions.loading, 0, None)
    answer = ask(bench, LIST, 1, {"state_filters": ["Odd"], "producer_id_filters": []})
    assert (answer["error_code"], answer["unknown_state_filters"]) == (Errors.COORDINATOR_LOAD_IN_PROGRESS, [])


# -- producers --------------------------------------------------------------------------------------------------------


class Produced(MarkersBench):
    def restart(self) -> None:
        super().restart()
        self.router.add(DescribeProducersHandler(self.manager))


def producers(bench: Produced, topic: str = TP.topic, partition: int = TP.partition) -> tuple[int, list[Body]]:
    body = {"topics": [{"name": topic, "partition_indexes": [partition]}]}
    [found] = ask(bench, PRODUCERS, 0, body)["topics"]
    [described] = found["partitions"]
    assert (found["name"], described["partition_index"]) == (topic, partition)
    return described["error_code"], described["active_producers"]


def one(**changes: int) -> Body:
    found = {
        "producer_id": ANNE, "producer_epoch": 0, "last_sequence": -1, "last_timestamp": 0, "coordinator_epoch": -1,
        "current_txn_start_offset": -1,
    }  # fmt: skip
    return {**found, **changes}


def test_a_log_says_which_producers_it_knows() -> None:
    bench = Produced()
    assert producers(bench) == (0, [])
    assert not bench.write(0, attributes=0)
    assert producers(bench) == (0, [one(last_sequence=1)])
    assert not bench.write(2)
    assert producers(bench) == (0, [one(last_sequence=3, current_txn_start_offset=2)])
    bench.wait(3 * SECOND)
    marked = bench.process.clock_us // 1000
    assert bench.mark(coordinator=7) == [Errors.NONE]
    after = one(last_sequence=3, coordinator_epoch=7, last_timestamp=marked)
    assert producers(bench) == (0, [after])
    assert not bench.write(4, attributes=0)
    assert producers(bench) == (0, [{**after, "last_sequence": 5, "last_timestamp": 0}])
    assert bench.mark(epoch=1, coordinator=8) == [Errors.NONE]
    fenced = one(producer_epoch=1, coordinator_epoch=8, last_timestamp=marked)
    assert producers(bench) == (0, [fenced]), "a marker of a later epoch forgets the batches"
    known = bench.partition.log.producers
    assert known.copy().active() == known.active()


def test_a_broker_without_the_replica_says_so() -> None:
    bench = Produced()
    assert producers(bench, "none") == (Errors.UNKNOWN_TOPIC_OR_PARTITION, [])
    assert producers(bench, "a:b") == (Errors.INVALID_TOPIC_EXCEPTION, [])
    assert producers(bench, partition=8) == (Errors.UNKNOWN_TOPIC_OR_PARTITION, [])
