"""The APIs of transactions in every version: a request from its bytes to the broker, and the answer back to bytes."""

from typing import Any

import pytest

from brokers.transactions.metadata import TransactionState, TxnTransitMetadata
from brokers.transactions.records import TransactionBatch
from emulator.protocol.errors import Errors
from emulator.protocol.records import read_records
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Connection, ServedCluster, wire_apis
from scenarios.wire.apis.fetch import in_bytes
from scenarios.wire.apis.shared import id_text
from scenarios.wire.codec import decode_request, decode_response, encode_request, encode_response
from scenarios.wire.codec.messages import stored
from scenarios.wire.codec.records import read_batches
from scenarios.wire.codec.stored_records import decode_stored
from scenarios.wire.transaction_records import transaction_records
from tests.brokers.bench import TP, Bench
from tests.brokers.groups.bench import GROUP, OFFSETS
from tests.brokers.transactions.bench import ID, TransactionBench
from tests.brokers.transactions.test_markers import ANNE, MarkersBench

FETCH, LIST_OFFSETS, ADD_PARTITIONS, ADD_OFFSETS, END, COMMIT = 1, 2, 24, 25, 26, 28
SERVED = ServedCluster("cluster", {0: ("127.0.0.1", 9092)}, {}, {})


def ask(bench: Bench, key: int, version: int, body: dict[str, Any]) -> dict[str, Any]:
    """A request as a client of that version sends it, and what it reads from the response."""
    api = wire_apis()[key]
    request = decode_request(encode_request(key, version, 7, "me", body))
    connection = Connection(0, "me", SERVED, version=version)
    response = api.to_response(bench.send(api.to_request(request.body, connection)).last, request.body, connection)
    return decode_response(key, version, encode_response(key, version, 7, response))[1]


def each(key: int) -> pytest.MarkDecorator:
    """Every version of an API."""
    low, high = wire_apis()[key].versions
    return pytest.mark.parametrize("version", range(low, high + 1))


def of(producer: tuple[int, int], **more: Any) -> dict[str, Any]:
    return {"transactional_id": ID, "producer_id": producer[0], "producer_epoch": producer[1], **more}


def fenced(version: int) -> Errors:
    return Errors.PRODUCER_FENCED if version >= 2 else Errors.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize("version", [4, 5])
@pytest.mark.parametrize("verify_only", [False, True])
def test_later_versions_are_about_several_transactions(version: int, verify_only: bool) -> None:
    bench = TransactionBench()
    producer, topics = bench.producer(), [{"name": TP.topic, "partitions": [0]}]
    transactions = [
        {**of(producer, topics=topics), "verify_only": verify_only},
        {**of((producer[0], -2), topics=topics), "transactional_id": "other", "verify_only": True},
    ]
    answer = ask(bench, ADD_PARTITIONS, version, {"transactions": transactions})
    assert answer["error_code"] == 0
    assert [
        (each["transactional_id"], each["topic_results"][0]["results_by_partition"][0]["partition_error_code"])
        for each in answer["results_by_transaction"]
    ] == [(ID, Errors.INVALID_TXN_STATE if verify_only else 0), ("other", Errors.INVALID_PRODUCER_ID_MAPPING)]
    assert ask(bench, ADD_PARTITIONS, version, {"transactions": []})["results_by_transaction"] == []


@pytest.mark.parametrize("version", range(4))
def test_partitions_are_added_in_the_versions_of_clients(version: int) -> None:
    bench = TransactionBench()
    producer, topics = bench.producer(), [{"name": TP.topic, "partitions": [0]}]
    rows = {"name": TP.topic, "results": [{"partition_index": 0, "error_code": 0}]}
    assert ask(bench, ADD_PARTITIONS, version, of(producer, topics=topics))["results"] == [rows]
    old = ask(bench, ADD_PARTITIONS, version, of((producer[0], -2), topics=topics))
    assert old["results"][0]["results"][0]["error_code"] == fenced(version)


@each(ADD_OFFSETS)
def test_a_groups_offsets_are_added_in_every_version(version: int) -> None:
    bench = TransactionBench()
    producer = bench.producer()
    assert ask(bench, ADD_OFFSETS, version, of(producer, group_id=GROUP))["error_code"] == 0
    assert list(bench.metadata.partitions) == [OFFSETS]
    assert ask(bench, ADD_OFFSETS, version, of((producer[0], -2), group_id=GROUP))["error_code"] == fenced(version)


@each(END)
@pytest.mark.parametrize("committed", [True, False])
def test_a_transaction_ends_in_every_version(version: int, committed: bool) -> None:
    bench = TransactionBench()
    producer = bench.producer()
    bench.add(producer)
    assert ask(bench, END, version, of((producer[0], -2), committed=committed))["error_code"] == fenced(version)
    assert ask(bench, END, version, of(producer, committed=committed))["error_code"] == 0
    assert bench.state == ("PrepareCommit" if committed else "PrepareAbort")


@each(COMMIT)
def test_offsets_are_committed_in_a_transaction_in_every_version(version: int) -> None:
    bench = MarkersBench()
    offset = {"partition_index": 0, "committed_offset": 9, "committed_leader_epoch": 3, "committed_metadata": "m"}
    topics = [{"name": TP.topic, "partitions": [offset]}]
    answer = ask(bench, COMMIT, version, of((ANNE, 0), group_id=GROUP, topics=topics))
    assert answer["topics"] == [{"name": TP.topic, "partitions": [{"partition_index": 0, "error_code": 0}]}]
    bench.mark(OFFSETS)
    found = bench.fetch()
    assert (found.offset, found.leader_epoch, found.metadata) == (9, 3 if version >= 2 else -1, "m")


@each(FETCH)
def test_readers_of_committed_records_learn_what_was_aborted_in_every_version(version: int) -> None:
    bench = MarkersBench()
    bench.write(0)
    bench.mark(committed=False)
    bench.write(2)
    wanted = {"partition": 0, "fetch_offset": 0, "partition_max_bytes": 1 << 20}
    body = {
        "replica_id": -1, "max_wait_ms": 0, "min_bytes": 0, "max_bytes": 1 << 20, "session_epoch": -1,
        "topics": [{"topic": TP.topic, "topic_id": bytes(range(16)), "partitions": [wanted]}],
    }  # fmt: skip
    bench.learn(TP, 0, id_text(bytes(range(16))))
    for level, aborted in ((0, None), (1, [{"producer_id": ANNE, "first_offset": 0}])):
        (topic,) = ask(bench, FETCH, version, {**body, "isolation_level": level})["responses"]
        (found,) = topic["partitions"]
        assert (found["high_watermark"], found["last_stable_offset"]) == (5, 3)
        assert found["aborted_transactions"] == aborted


@pytest.mark.parametrize("version", range(2, 8))
def test_the_end_of_a_log_is_that_of_the_readers_isolation_level(version: int) -> None:
    bench = MarkersBench()
    bench.write(0)
    topics = [{"name": TP.topic, "partitions": [{"partition_index": 0, "timestamp": -1}]}]
    for level, end in ((0, 2), (1, 0)):
        body = {"replica_id": -1, "isolation_level": level, "topics": topics}
        assert ask(bench, LIST_OFFSETS, version, body)["topics"][0]["partitions"][0]["offset"] == end


# -- records ----------------------------------------------------------------------------------------------------------


def test_clients_get_control_batches_and_offsets_of_transactions_as_kafka_writes_them() -> None:
    bench = MarkersBench()
    bench.commit_in_transaction(9)
    bench.mark(OFFSETS, committed=False, coordinator=6)
    data = in_bytes(bench.manager.partitions[OFFSETS].log.batches)
    offsets, marker = read_batches(data)
    assert (offsets.is_transactional, offsets.is_control, offsets.producer_id) == (True, False, ANNE)
    assert (marker.is_transactional, marker.is_control, marker.base_sequence) == (True, True, -1)
    assert (marker.base_offset, marker.producer_id, marker.producer_epoch) == (1, ANNE, 0)
    (record,) = read_records(data[marker.at :])
    assert (record.key, record.value) == (b"\0\0\0\0", b"\0\0\0\0\0\6")


@pytest.mark.parametrize(
    ("state", "status"),
    [(TransactionState.EMPTY, 0), (TransactionState.ONGOING, 1), (TransactionState.PREPARE_ABORT, 3)],
)
def test_a_state_as_kafka_writes_it(state: TransactionState, status: int) -> None:
    """By hand after TransactionLog's schemas (Kafka 2.3)."""
    partitions = () if state is TransactionState.EMPTY else (TopicPartition("o", 1), TopicPartition("o", 2))
    value = TxnTransitMetadata(7, -1, 3, -1, 1000, state, partitions, 5, 6)
    (record,) = read_records(transaction_records(TransactionBatch(0, 1, 0, 99, 1, "billing", value)))
    assert record.key == b"\0\0\0\7billing"
    assert record.value is not None
    listed = "ffffffff" if not partitions else "0000000100016f000000020000000100000002"
    assert record.value.hex() == (
        f"000000000000000000070003000003e8{status:02}{listed}00000000000000060000000000000005"
    )
    read = decode_stored(stored.TRANSACTION_LOG_VALUE, record.value)
    assert read["transaction_status"] == status


def test_an_expired_id_is_a_tombstone() -> None:
    (record,) = read_records(transaction_records(TransactionBatch(0, 1, 0, 99, 1, "billing", None)))
    assert record.value is None
