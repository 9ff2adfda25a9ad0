"""ListOffsets and OffsetForLeaderEpoch."""

from itertools import groupby

from emulator.protocol.clients.list_offsets import (
    EARLIEST,
    EARLIEST_LOCAL,
    LATEST,
    LATEST_TIERED,
    MAX_TIMESTAMP,
    FoundOffset,
    OffsetQuery,
    OffsetsByTimeRequest,
    OffsetsByTimeResponse,
)
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import (
    EpochQuery,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api

SINCE = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9}
"""The first version of ListOffsets with each of the times that stand for a place in the log."""
KNOWS_NOT_AVAILABLE = 5
"""The first version of ListOffsets in which clients know the error OFFSET_NOT_AVAILABLE (KIP-207)."""


@wire_api
class ListOffsets(WireApi):
    """The offsets of times (ListOffsetsRequest, 0.10.1 to 3.9)."""

    key = 2

    def to_request(self, body: Body, connection: Connection) -> OffsetsByTimeRequest:
        queries = tuple(
            OffsetQuery(
                TopicPartition.of(topic["name"], partition["partition_index"]),
                partition["current_leader_epoch"],
                partition["timestamp"],
                partition["timestamp"] >= 0 or connection.version >= SINCE.get(partition["timestamp"], 1 << 15),
            )
            for topic in body["topics"]
            for partition in topic["partitions"]
        )
        return OffsetsByTimeRequest(body["replica_id"], queries, body["isolation_level"])

    def to_response(self, response: OffsetsByTimeResponse, body: Body, connection: Connection) -> Body:
        return {
            "topics": [
                {"name": topic, "partitions": [_found(one, connection.version) for one in found]}
                for topic, found in groupby(response.found, key=lambda one: one.tp.topic)
            ]
        }


def _found(found: FoundOffset, version: int) -> Body:
    error = found.error
    if error is Errors.OFFSET_NOT_AVAILABLE and version < KNOWS_NOT_AVAILABLE:
        error = Errors.LEADER_NOT_AVAILABLE
    return {
        "partition_index": found.tp.partition,
        "error_code": int(error),
        "timestamp": found.timestamp_ms,
        "offset": found.offset,
        "leader_epoch": found.leader_epoch,
    }


@wire_api
class OffsetForLeaderEpoch(WireApi):
    """The end offsets of leader epochs (OffsetsForLeaderEpochRequest, 0.11 to 3.0)."""

    key = 23

    def to_request(self, body: Body, connection: Connection) -> OffsetsForLeaderEpochRequest:
        queries = tuple(
            EpochQuery(
                TopicPartition.of(topic["topic"], partition["partition"]),
                partition["current_leader_epoch"],
                partition["leader_epoch"],
            )
            for topic in body["topics"]
            for partition in topic["partitions"]
        )
        return OffsetsForLeaderEpochRequest(body["replica_id"], queries)

    def to_response(self, response: OffsetsForLeaderEpochResponse, body: Body, connection: Connection) -> Body:
        return {
            "topics": [
                {
                    "topic": topic,
                    "partitions": [
                        {
                            "error_code": int(each.error),
                            "partition": each.tp.partition,
                            "leader_epoch": each.leader_epoch,
                            "end_offset": each.end_offset,
                        }
                        for each in ends
                    ],
                }
                for topic, ends in groupby(response.partitions, key=lambda each: each.tp.topic)
            ]
        }
