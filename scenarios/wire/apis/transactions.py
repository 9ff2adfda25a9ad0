"""AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and TxnOffsetCommit."""

from typing import Any

from emulator.protocol.transactions.coordination import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
)
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.groups_offsets import offsets_in, outcomes
from scenarios.wire.apis.shared import by_topic, fenced, partitions_of

KNOWS_FENCED = 2
"""The first version of the requests to a coordinator in which clients know PRODUCER_FENCED (KIP-588)."""
KNOWS_LOADING = 2
"""The first version of TxnOffsetCommit in which clients know COORDINATOR_LOAD_IN_PROGRESS (KAFKA-7296)."""


def _of_producer(body: Body) -> tuple[str, int, int]:
    return body["transactional_id"], body["producer_id"], body["producer_epoch"]


@wire_api
class AddPartitionsToTxn(WireApi):
    """Announce that a transaction will write to these partitions."""

    key = 24

    def to_request(self, body: Body, connection: Connection) -> AddPartitionsToTxnRequest:
        partitions = partitions_of(body["topics"], "name", "partitions") or ()
        return AddPartitionsToTxnRequest(*_of_producer(body), tuple(dict.fromkeys(partitions)))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        added: AddPartitionsToTxnResponse = response
        known = connection.version >= KNOWS_FENCED
        return {
            "results": [
                {
                    "name": topic,
                    "results": [
                        {"partition_index": number, "error_code": int(fenced(error, known))} for number, error in rows
                    ],
                }
                for topic, rows in by_topic(added.partitions).items()
            ]
        }


@wire_api
class AddOffsetsToTxn(WireApi):
    """Announce that a transaction will commit offsets of a group."""

    key = 25

    def to_request(self, body: Body, connection: Connection) -> AddOffsetsToTxnRequest:
        return AddOffsetsToTxnRequest(*_of_producer(body), body["group_id"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        added: AddOffsetsToTxnResponse = response
        return {"error_code": int(fenced(added.error, connection.version >= KNOWS_FENCED))}


@wire_api
class EndTxn(WireApi):
    """Commit or abort a transaction."""

    key = 26

    def to_request(self, body: Body, connection: Connection) -> EndTxnRequest:
        return EndTxnRequest(*_of_producer(body), body["committed"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        ended: EndTxnResponse = response
        return {"error_code": int(fenced(ended.error, connection.version >= KNOWS_FENCED))}


@wire_api
class TxnOffsetCommit(WireApi):
    """Commit the offsets of a group as part of a transaction."""

    key = 28

    def to_request(self, body: Body, connection: Connection) -> TxnOffsetCommitRequest:
        transactional_id, producer_id, producer_epoch = _of_producer(body)
        return TxnOffsetCommitRequest(
            body["group_id"],
            offsets_in(body),
            body["generation_id"],
            body["member_id"],
            body["group_instance_id"],
            transactional_id=transactional_id,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            knows_loading=connection.version >= KNOWS_LOADING,
        )

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        committed: TxnOffsetCommitResponse = response
        return {"topics": outcomes(committed.partitions)}
