"""The messages that are measured: what a broker reads and writes most."""

from typing import Any

from attrs import frozen

from emulator.protocol.records import write_records
from scenarios.wire.codec.records import checked

METADATA, PRODUCE, FETCH = 3, 0, 1
REPLICAS = [0, 1, 2]
BATCH = checked(write_records([(None, b"x" * 100)] * 100, 0))


@frozen
class Case:
    """A message of one version, with its body.

    Attributes:
        kind: ``request`` or ``response``.
        calls: the calls of one round.
    """

    name: str
    api_key: int
    version: int
    kind: str
    body: dict[str, Any]
    calls: int = 2000


def metadata(topics: int, partitions: int) -> dict[str, Any]:
    rows = [
        {
            "error_code": 0,
            "partition_index": number,
            "leader_id": number % 3,
            "leader_epoch": 3,
            "replica_nodes": REPLICAS,
            "isr_nodes": REPLICAS,
            "offline_replicas": [],
        }
        for number in range(partitions)
    ]
    return {
        "brokers": [{"node_id": node, "host": "127.0.0.1", "port": 9092 + node, "rack": None} for node in REPLICAS],
        "cluster_id": "understudy",
        "controller_id": 1,
        "topics": [{"name": f"orders-{topic}", "partitions": rows} for topic in range(topics)],
    }


def fetched(version: int) -> Case:
    partitions = [
        {
            "partition_index": number,
            "high_watermark": 100,
            "last_stable_offset": 100,
            "log_start_offset": 0,
            "aborted_transactions": None,
            "records": bytes(65_536),
        }
        for number in REPLICAS
    ]
    body = {"session_id": 7, "responses": [{"topic": "orders", "partitions": partitions}]}
    return Case(f"Fetch v{version} response, 3 × 64 kB", FETCH, version, "response", body, 1000)


def wanted(version: int) -> Case:
    partitions = [
        {"partition": number, "current_leader_epoch": 3, "fetch_offset": 100, "partition_max_bytes": 1_048_576}
        for number in REPLICAS
    ]
    body = {
        "replica_id": -1,
        "max_wait_ms": 500,
        "min_bytes": 1,
        "topics": [{"topic": "orders", "partitions": partitions}],
    }
    return Case(f"Fetch v{version} request, 3 partitions", FETCH, version, "request", body)


def produced(version: int) -> Case:
    row = {"index": 0, "base_offset": 5, "log_start_offset": 0}
    body = {"responses": [{"name": "orders", "partition_responses": [row]}]}
    return Case(f"Produce v{version} response", PRODUCE, version, "response", body)


def producing(version: int) -> Case:
    rows = [{"name": "orders", "partition_data": [{"index": 0, "records": BATCH}]}]
    body = {"acks": -1, "timeout_ms": 30_000, "topic_data": rows}
    return Case(f"Produce v{version} request, 11 kB", PRODUCE, version, "request", body)


CASES = [
    Case("Metadata v9 response, 1 × 3 partitions", METADATA, 9, "response", metadata(1, 3)),
    Case("Metadata v9 response, 10 × 10 partitions", METADATA, 9, "response", metadata(10, 10), 100),
    producing(7),
    producing(9),
    produced(8),
    wanted(11),
    wanted(12),
    fetched(11),
    fetched(12),
]
