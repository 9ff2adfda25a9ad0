"""AlterReplicaLogDirs and DescribeLogDirs."""

from typing import Any

from emulator.protocol.errors import Errors
from emulator.protocol.log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    LogDirInfo,
    ReplicaInfo,
)
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import by_topic, partitions_of


@wire_api
class AlterReplicaLogDirs(WireApi):
    """Move replicas to other log directories. If two directories are requested for a replica, the last one counts."""

    key = 34

    def to_request(self, body: Body, connection: Connection) -> AlterReplicaLogDirsRequest:
        wanted: dict[TopicPartition, str] = {}
        for directory in body["dirs"]:
            named = partitions_of(directory["topics"], "name", "partitions") or ()
            wanted.update(dict.fromkeys(named, directory["path"]))
        return AlterReplicaLogDirsRequest(tuple(wanted.items()))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: AlterReplicaLogDirsResponse = response
        return {
            "results": [
                {
                    "topic_name": topic,
                    "partitions": [
                        {"partition_index": number, "error_code": int(error)} for number, error in partitions
                    ],
                }
                for topic, partitions in by_topic(found.partitions).items()
            ]
        }


@wire_api
class DescribeLogDirs(WireApi):
    """The replicas in the broker's log directories."""

    key = 35

    def to_request(self, body: Body, connection: Connection) -> DescribeLogDirsRequest:
        return DescribeLogDirsRequest(partitions_of(body["topics"], "topic", "partitions"))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DescribeLogDirsResponse = response
        return {"error_code": int(Errors.NONE), "results": [_directory(each) for each in found.directories]}


def _directory(directory: LogDirInfo) -> Body:
    topics = by_topic((replica.tp, replica) for replica in directory.replicas)
    return {
        "error_code": int(directory.error),
        "log_dir": directory.name,
        "topics": [
            {"name": topic, "partitions": [_replica(number, replica) for number, replica in replicas]}
            for topic, replicas in topics.items()
        ],
    }


def _replica(number: int, replica: ReplicaInfo) -> Body:
    return {
        "partition_index": number,
        "partition_size": replica.size,
        "offset_lag": replica.lag,
        "is_future_key": replica.future,
    }
