"""Fetch."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from struct import Struct
from typing import Any

from brokers.groups.records import GroupBatch
from brokers.transactions.records import TransactionBatch
from emulator.nodes import Process
from emulator.protocol.clients.fetch import (
    ConsumerFetchRequest,
    ConsumerFetchResponse,
    PartitionData,
    Stability,
    by_id,
    id_of,
)
from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.fetch import NO_EPOCH, FetchedPartition
from emulator.protocol.made_up_records import made_up_records
from emulator.protocol.records import APPEND_TIME, NO_TIMESTAMP, StoredBatch
from emulator.protocol.types import Batch, TopicPartition
from scenarios.cluster.clients.fetch_answers import record_answer
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import current_leader, endpoints, id_bytes, id_text
from scenarios.wire.codec.records import CHECKED_FROM, CRC_AT, checked, placed
from scenarios.wire.group_records import group_records
from scenarios.wire.transaction_records import transaction_records

RACK, TOPIC_IDS, REPLICA_STATE, NAMES_LEADERS = 11, 13, 15, 16
"""The versions from which on the reader's rack is named (KIP-392), topics are named by their ids (KIP-516), a replica
has a state (KIP-903), and the answer names leaders (KIP-951; the field of a partition is older)."""
Leaders = Mapping[TopicPartition, KnownLeader]
_ATTRIBUTES = Struct(">h")
_MAX_TIMESTAMP = Struct(">q")
_MAX_TIMESTAMP_AT = 35


@wire_api
class Fetch(WireApi):
    """Batches of records, by session or without one (FetchRequest, 0.11 to 3.9)."""

    key = 1

    def to_request(self, body: Body, connection: Connection) -> ConsumerFetchRequest:
        names_ids, tells_state = connection.version >= TOPIC_IDS, connection.version >= REPLICA_STATE
        replica_id = body["replica_state"]["replica_id"] if tells_state else body["replica_id"]
        wanted = tuple(
            PartitionData(
                _named(topic, partition["partition"], names_ids),
                max(partition["current_leader_epoch"], NO_EPOCH),
                partition["fetch_offset"],
                max(partition["last_fetched_epoch"], NO_EPOCH),
                partition["partition_max_bytes"],
            )
            for topic in body["topics"]
            for partition in topic["partitions"]
        )
        forgotten = tuple(
            _named(topic, partition, names_ids)
            for topic in body["forgotten_topics_data"]
            for partition in topic["partitions"]
        )
        return ConsumerFetchRequest(
            replica_id, body["session_id"], body["session_epoch"], body["max_wait_ms"] * 1000,
            body["min_bytes"], body["max_bytes"], 0,
            tuple(
                (_seen(each.tp, connection), each.leader_epoch, each.fetch_offset, -1, each.last_fetched_epoch)
                for each in wanted
            ),
            forgotten, wanted, body["isolation_level"], names_ids, connection.version >= RACK,
        )  # fmt: skip

    def to_response(self, response: ConsumerFetchResponse, body: Body, connection: Connection) -> Body:
        leaders = response.leaders if connection.version >= NAMES_LEADERS else {}
        return {
            "error_code": int(response.error),
            "session_id": response.session_id,
            "responses": [
                {
                    "topic": topic,
                    "topic_id": id_bytes(topic_id),
                    "partitions": [_partition(each, body, response, leaders) for each, _topic_id in some],
                }
                for (topic, topic_id), some in groupby(_identified(response), key=lambda row: (row[0].tp.topic, row[1]))
            ],
            "node_endpoints": endpoints(leaders.values(), connection),
        }

    def answered(
        self, request: ConsumerFetchRequest, response: Any, waited_us: int, connection: Connection, client: Process
    ) -> None:
        """Record the batches that the client has received, for the checkers."""
        record_answer(client, connection.broker, request, response)


def _named(topic: Body, partition: int, names_ids: bool) -> TopicPartition:
    """A partition as the request names it."""
    return by_id(id_text(topic["topic_id"]), partition) if names_ids else TopicPartition.of(topic["topic"], partition)


def _seen(tp: TopicPartition, connection: Connection) -> TopicPartition:
    """A partition under the name that Metadata has given for the id of its topic, if it has."""
    topic = connection.served.topic_names.get(id_of(tp))
    return tp if topic is None else TopicPartition.of(topic, tp.partition)


def _identified(response: ConsumerFetchResponse) -> Iterable[tuple[FetchedPartition, str]]:
    """The partitions of the answer, with the ids of their topics."""
    return zip(response.partitions, response.topic_ids or ("",) * len(response.answers), strict=True)


def _partition(partition: FetchedPartition, request: Body, response: ConsumerFetchResponse, leaders: Leaders) -> Body:
    stable = response.stability.get(partition.tp) or Stability(partition.high_watermark)
    aborted = [{"producer_id": producer_id, "first_offset": first} for producer_id, first in stable.aborted]
    found: Body = {
        "partition_index": partition.tp.partition,
        "error_code": int(partition.error),
        "high_watermark": partition.high_watermark,
        "last_stable_offset": stable.last_stable_offset,
        "log_start_offset": partition.log_start_offset,
        "aborted_transactions": aborted if request["isolation_level"] and not partition.error else None,
        "records": in_bytes(partition.batches),
    }
    if partition.diverging is not None:
        epoch, end_offset = partition.diverging
        found["diverging_epoch"] = {"epoch": epoch, "end_offset": end_offset}
    return {**found, **current_leader(leaders.get(partition.tp))}


def in_bytes(batches: Iterable[Batch]) -> bytes:
    """The bytes of batches, as they are sent to a client: nothing of those that compaction has removed."""
    return b"".join([_batch_in_bytes(batch) for batch in batches if batch.size])


def _batch_in_bytes(batch: Batch) -> bytes:
    stored = isinstance(batch, StoredBatch)
    if isinstance(batch, StoredBatch):
        data = batch.records.read()
    elif isinstance(batch, GroupBatch):
        data = group_records(batch)
    else:
        data = transaction_records(batch) if isinstance(batch, TransactionBatch) else made_up_records(batch)
    if isinstance(batch, StoredBatch) and batch.append_time_ms != NO_TIMESTAMP:
        data = _restamped(data, batch.append_time_ms)
    elif not stored or not any(data[CRC_AT:CHECKED_FROM]):
        data = checked(data)
    if batch.corrupt:
        data = data[:CRC_AT] + bytes([data[CRC_AT] ^ 0xFF]) + data[CRC_AT + 1 :]
    return placed(data, batch.base_offset, batch.leader_epoch)


def _restamped(data: bytes, timestamp_ms: int) -> bytes:
    """``data`` with the time of the append for all its records (DefaultRecordBatch.setMaxTimestamp)."""
    changed = bytearray(data)
    (attributes,) = _ATTRIBUTES.unpack_from(data, CHECKED_FROM)
    _ATTRIBUTES.pack_into(changed, CHECKED_FROM, attributes | APPEND_TIME)
    _MAX_TIMESTAMP.pack_into(changed, _MAX_TIMESTAMP_AT, timestamp_ms)
    return checked(changed)
