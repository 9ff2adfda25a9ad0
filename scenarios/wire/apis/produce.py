"""Produce and InitProducerId."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from emulator.nodes import Process
from emulator.protocol.clients.produce import RecordsProduceRequest, RecordsProduceResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import BatchesProduced
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.records import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    RECORD_BYTES,
    ProducedRecords,
    RecordHeader,
)
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, InvalidRequest, WireApi, wire_api
from scenarios.wire.apis.shared import current_leader, endpoints, fenced
from scenarios.wire.codec.records import BatchHeader, RefusedRecords, read_produced

NOTHING = RecordHeader(0, 0, NO_TIMESTAMP, NO_TIMESTAMP)
"""The header of records that cannot be read."""
KNOWS_FENCED = 4
"""The first version of InitProducerId in which clients know PRODUCER_FENCED (KIP-588)."""
KNOWS_ABORTABLE = 11
"""The first version of Produce in which clients know TRANSACTION_ABORTABLE (KIP-890)."""
Acknowledged = tuple[TopicPartition, int, int, int]
"""A batch: its partition, its id, its base offset, and the offset after it."""


@wire_api
class Produce(WireApi):
    """Batches of records, one for each partition (ProduceRequest, 0.11 to 3.9)."""

    key = 0

    def to_request(self, body: Body, connection: Connection) -> RecordsProduceRequest:
        batches = tuple(
            _batch(TopicPartition.of(topic["name"], partition["index"]), partition["records"], body, connection)
            for topic in body["topic_data"]
            for partition in topic["partition_data"]
        )
        if len(dict.fromkeys(batch.tp for batch in batches)) < len(batches):
            raise InvalidRequest("a Produce request that names a partition twice")
        size = 60 + sum(batch.size for batch in batches)
        return RecordsProduceRequest(
            body["acks"], max(body["timeout_ms"], 0) * 1000, batches, size, transactional_id=body["transactional_id"],
            knows_abortable=connection.version >= KNOWS_ABORTABLE,
        )  # fmt: skip

    def to_response(self, response: RecordsProduceResponse, body: Body, connection: Connection) -> Body:
        return {
            "responses": [_topic(topic, rows, response) for topic, rows in _by_topic(response)],
            "node_endpoints": endpoints(response.leaders.values(), connection),
        }

    def is_answered(self, body: Body) -> bool:
        return bool(body["acks"])

    def sent(self, request: RecordsProduceRequest, connection: Connection, client: Process) -> None:
        sent = [(batch.tp, batch.id, -1, -1) for batch in request.records]
        _record(client, connection.broker, request.acks, sent, 0)

    def answered(
        self, request: RecordsProduceRequest, response: Any, waited_us: int, connection: Connection, client: Process
    ) -> None:
        """Record acknowledged batches as produced. Refused ones are not recorded: the client may send them again."""
        acknowledged = [
            (tp, info.id, base, base + batch.count)
            for batch, (tp, error, base), info in zip(request.records, response.partitions, response.infos, strict=True)
            if not error
        ]
        _record(client, connection.broker, request.acks, acknowledged, waited_us)


def _batch(tp: TopicPartition, records: Any, body: Body, connection: Connection) -> ProducedRecords:
    data = bytes(records or b"")
    batches = connection.served.batches
    try:
        header = read_produced(data, connection.version)
    except RefusedRecords as refused:
        return ProducedRecords(
            tp, 0, len(data), batches.next_id(), NO_PRODUCER_ID, NO_SEQUENCE, NOTHING, data, invalid=refused.error
        )
    return ProducedRecords(
        tp, header.count, len(data), batches.next_id(), header.producer_id, header.base_sequence, _kept(header), data,
        batches.keep, _defect(header, len(data), body["transactional_id"]),
        producer_epoch=header.producer_epoch,
    )  # fmt: skip


def _defect(header: BatchHeader, size: int, transactional_id: str | None) -> Errors:
    """The error if no leader may append a batch whose header can be read; else NONE."""
    if header.is_transactional and transactional_id is None:  # KafkaApis.handleProduceRequest
        return Errors.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    if header.is_transactional and not header.has_producer_id:
        return Errors.INVALID_RECORD
    if header.compression == "none" and header.count * RECORD_BYTES > size - HEADER_BYTES:
        return Errors.INVALID_RECORD
    return Errors.NONE


def _kept(header: BatchHeader) -> RecordHeader:
    return RecordHeader(header.attributes, header.count, header.base_timestamp, header.max_timestamp)


def _by_topic(response: RecordsProduceResponse) -> list[tuple[str, list[Any]]]:
    rows = zip(response.partitions, response.infos, strict=True)
    return [(topic, list(some)) for topic, some in groupby(rows, key=lambda row: row[0][0].topic)]


def _topic(topic: str, rows: Sequence[Any], response: RecordsProduceResponse) -> Body:
    return {
        "name": topic,
        "partition_responses": [
            {
                "index": tp.partition,
                "error_code": int(error),
                "base_offset": base,
                "log_append_time_ms": info.append_time_ms,
                "log_start_offset": info.log_start_offset,
                "record_errors": [
                    {"batch_index": place, "batch_index_error_message": why or None}
                    for place, why in info.record_errors
                ],
                "error_message": info.message or None,
                **current_leader(response.leaders.get(tp)),
            }
            for (tp, error, base), info in rows
        ],
    }


def _record(client: Process, broker: int, acks: int, batches: Sequence[Acknowledged], waited_us: int) -> None:
    """Record that producers' applications know these batches to be written, or (acks=0) sent."""
    outcome = "acked" if acks else "sent"
    for topic, some in groupby(batches, key=lambda batch: batch[0].topic):
        tps, ids, bases, ends = zip(*some, strict=True)
        count = len(ids)
        client.emit_columns(
            BatchesProduced, count, client.node.id, topic, acks, Errors.NONE.name, broker, outcome,
            tuple(tp.partition for tp in tps), ids, bases, ends, (waited_us,) * count, (1,) * count,
        )  # fmt: skip


@wire_api
class InitProducerId(WireApi):
    """A producer id (InitProducerIdRequest, 0.11 to 3.0)."""

    key = 22

    def to_request(self, body: Body, connection: Connection) -> InitProducerIdRequest:
        return InitProducerIdRequest(
            transactional_id=body["transactional_id"],
            producer_id=body["producer_id"],
            producer_epoch=body["producer_epoch"],
            transaction_timeout_us=body["transaction_timeout_ms"] * 1000,
        )

    def to_response(self, response: InitProducerIdResponse, body: Body, connection: Connection) -> Body:
        return {
            "error_code": int(fenced(response.error, connection.version >= KNOWS_FENCED)),
            "producer_id": response.producer_id,
            "producer_epoch": response.producer_epoch,
        }
