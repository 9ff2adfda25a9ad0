"""AddPartitionsToTxn, AddOffsetsToTxn, EndTxn and TxnOffsetCommit."""

from collections.abc import Iterable
from typing import Any

from emulator.protocol.errors import Errors
from emulator.protocol.transactions.add_partitions_to_txns import (
    AddPartitionsToTxnsRequest,
    AddPartitionsToTxnTransaction,
)
from emulator.protocol.transactions.coordination import (
    AddOffsetsToTxnRequest,
    AddOffsetsToTxnResponse,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    EndTxnRequest,
    EndTxnResponse,
)
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.groups_offsets import offsets_in, outcomes
from scenarios.wire.apis.shared import by_topic, fenced, partitions_of

KNOWS_FENCED = 2
"""The first version of the requests to a coordinator in which clients know PRODUCER_FENCED (KIP-588)."""
KNOWS_LOADING = 2
"""The first version of TxnOffsetCommit in which clients know COORDINATOR_LOAD_IN_PROGRESS (KAFKA-7296)."""
KNOWS_ABORTABLE = 4
"""The first version of TxnOffsetCommit in which clients know TRANSACTION_ABORTABLE (KIP-890)."""
SEVERAL = 4
"""The first version of AddPartitionsToTxn that is about several transactions (KIP-890). Brokers send it; without an
authorizer they take it from clients, too."""


def _of_producer(body: Body) -> tuple[str, int, int]:
    return body["transactional_id"], body["producer_id"], body["producer_epoch"]


def _partitions(body: Body) -> tuple[TopicPartition, ...]:
    return tuple(dict.fromkeys(partitions_of(body["topics"], "name", "partitions") or ()))


def _of_one(id: str, outcomes: Iterable[tuple[TopicPartition, Errors]]) -> Body:
    """The result of one of several transactions."""
    return {
        "transactional_id": id,
        "topic_results": [
            {
                "name": topic,
                "results_by_partition": [
                    {"partition_index": number, "partition_error_code": int(error)} for number, error in rows
                ],
            }
            for topic, rows in by_topic(outcomes).items()
        ],
    }


@wire_api
class AddPartitionsToTxn(WireApi):
    """Announce that a transaction will write to these partitions."""

    key = 24

    def to_request(self, body: Body, connection: Connection) -> AddPartitionsToTxnRequest | AddPartitionsToTxnsRequest:
        if connection.version < SEVERAL:
            return AddPartitionsToTxnRequest(*_of_producer(body), _partitions(body))
        several = [
            AddPartitionsToTxnTransaction(*_of_producer(each), _partitions(each), each["verify_only"])
            for each in body["transactions"]
        ]
        return AddPartitionsToTxnsRequest(tuple({each.transactional_id: each for each in several}.values()))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        if connection.version >= SEVERAL:
            return {"results_by_transaction": [_of_one(id, rows) for id, rows in response.transactions.items()]}
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
            knows_abortable=connection.version >= KNOWS_ABORTABLE,
        )

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        committed: TxnOffsetCommitResponse = response
        return {"topics": outcomes(committed.partitions)}
