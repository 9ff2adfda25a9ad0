"""DescribeProducers, DescribeTransactions and ListTransactions (KIP-664)."""

from itertools import groupby
from typing import Any

from emulator.protocol.describe_producers import ActiveProducer, DescribeProducersRequest, DescribeProducersResponse
from emulator.protocol.transactions.describing import (
    DescribedTransaction,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import by_topic, partitions_of


@wire_api
class DescribeProducers(WireApi):
    """The idempotent producers that replicas remember."""

    key = 61

    def to_request(self, body: Body, connection: Connection) -> DescribeProducersRequest:
        return DescribeProducersRequest(partitions_of(body["topics"], "name", "partition_indexes") or ())

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DescribeProducersResponse = response
        return {
            "topics": [
                {
                    "name": topic,
                    "partitions": [
                        {
                            "partition_index": each.tp.partition,
                            "error_code": int(each.error),
                            "active_producers": list(map(_producer, each.producers)),
                        }
                        for each in some
                    ],
                }
                for topic, some in groupby(found.partitions, key=lambda each: each.tp.topic)
            ]
        }


def _producer(producer: ActiveProducer) -> Body:
    return {
        "producer_id": producer.producer_id,
        "producer_epoch": producer.producer_epoch,
        "last_sequence": producer.last_sequence,
        "last_timestamp": producer.last_timestamp_ms,
        "coordinator_epoch": producer.coordinator_epoch,
        "current_txn_start_offset": producer.transaction_start,
    }


@wire_api
class DescribeTransactions(WireApi):
    """The states of transactional ids."""

    key = 65

    def to_request(self, body: Body, connection: Connection) -> DescribeTransactionsRequest:
        return DescribeTransactionsRequest(tuple(body["transactional_ids"]))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DescribeTransactionsResponse = response
        return {"transaction_states": list(map(_transaction, found.transactions))}


def _transaction(one: DescribedTransaction) -> Body:
    topics = by_topic((tp, None) for tp in one.partitions)
    return {
        "error_code": int(one.error),
        "transactional_id": one.id,
        "transaction_state": one.state,
        "transaction_timeout_ms": one.timeout_ms,
        "transaction_start_time_ms": one.start_ms,
        "producer_id": one.producer_id,
        "producer_epoch": one.producer_epoch,
        "topics": [{"topic": topic, "partitions": [number for number, _ in rows]} for topic, rows in topics.items()],
    }


@wire_api
class ListTransactions(WireApi):
    """The transactional ids that a broker coordinates."""

    key = 66

    def to_request(self, body: Body, connection: Connection) -> ListTransactionsRequest:
        filters = tuple(body["state_filters"]), tuple(body["producer_id_filters"])
        return ListTransactionsRequest(*filters, body["duration_filter"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: ListTransactionsResponse = response
        return {
            "error_code": int(found.error),
            "unknown_state_filters": list(found.unknown_states),
            "transaction_states": [
                {"transactional_id": each.id, "producer_id": each.producer_id, "transaction_state": each.state}
                for each in found.transactions
            ],
        }
