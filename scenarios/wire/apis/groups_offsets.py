"""OffsetCommit, OffsetFetch and OffsetDelete."""

from collections.abc import Iterable
from typing import Any

from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import (
    NO_RETENTION,
    CommittedOffset,
    GroupOffsets,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetsWanted,
    OffsetToCommit,
)
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import by_topic, partitions_of

SEVERAL_GROUPS, GROUP_ERROR = 8, 2
"""The first version of OffsetFetch for several groups (KIP-709), and the first with an error of the whole response."""


def offsets_in(body: Body) -> tuple[OffsetToCommit, ...]:
    return tuple(
        OffsetToCommit(
            TopicPartition(topic["name"], each["partition_index"]),
            each["committed_offset"],
            each["committed_leader_epoch"],
            each["committed_metadata"] or "",
        )
        for topic in body["topics"]
        for each in topic["partitions"]
    )


def outcomes(partitions: Iterable[tuple[TopicPartition, Errors]]) -> list[Body]:
    """Errors by topic, as a response has them."""
    return [
        {
            "name": topic,
            "partitions": [{"partition_index": number, "error_code": int(error)} for number, error in found],
        }
        for topic, found in by_topic(partitions).items()
    ]


@wire_api
class OffsetCommit(WireApi):
    """Commit the offsets of a group. Versions 2 to 4 can have a retention time."""

    key = 8

    def to_request(self, body: Body, connection: Connection) -> OffsetCommitRequest:
        retention_ms = body["retention_time_ms"]
        return OffsetCommitRequest(
            body["group_id"],
            offsets_in(body),
            body["generation_id"],
            body["member_id"],
            body["group_instance_id"],
            NO_RETENTION if retention_ms < 0 else retention_ms * 1000,
        )

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        committed: OffsetCommitResponse = response
        return {"topics": outcomes(committed.partitions)}


@wire_api
class OffsetFetch(WireApi):
    """The committed offsets of groups."""

    key = 9

    def to_request(self, body: Body, connection: Connection) -> OffsetFetchRequest:
        groups = body["groups"] if connection.version >= SEVERAL_GROUPS else (body,)
        wanted = tuple(
            OffsetsWanted(group["group_id"], partitions_of(group["topics"], "name", "partition_indexes"))
            for group in groups
        )
        return OffsetFetchRequest(wanted, body["require_stable"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: OffsetFetchResponse = response
        if connection.version >= SEVERAL_GROUPS:
            return {"groups": [{"group_id": group.group, **_group(group)} for group in found.groups]}
        (group,) = found.groups
        if group.error and connection.version < GROUP_ERROR:
            asked = partitions_of(body["topics"], "name", "partition_indexes") or ()
            group = group._replace(partitions=tuple(CommittedOffset(tp, error=group.error) for tp in asked))
        return _group(group)


def _group(group: GroupOffsets) -> Body:
    rows = ((each.tp, each) for each in group.partitions)
    return {
        "error_code": int(group.error),
        "topics": [
            {"name": topic, "partitions": [_committed(number, each) for number, each in found]}
            for topic, found in by_topic(rows).items()
        ],
    }


def _committed(number: int, committed: CommittedOffset) -> Body:
    return {
        "partition_index": number,
        "committed_offset": committed.offset,
        "committed_leader_epoch": committed.leader_epoch,
        "metadata": committed.metadata,
        "error_code": int(committed.error),
    }


@wire_api
class OffsetDelete(WireApi):
    """Delete committed offsets."""

    key = 47

    def to_request(self, body: Body, connection: Connection) -> OffsetDeleteRequest:
        partitions = tuple(
            TopicPartition(topic["name"], each["partition_index"])
            for topic in body["topics"]
            for each in topic["partitions"]
        )
        return OffsetDeleteRequest(body["group_id"], partitions)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        deleted: OffsetDeleteResponse = response
        return {"error_code": int(deleted.error), "topics": outcomes(deleted.partitions)}
