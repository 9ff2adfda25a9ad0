"""DeleteRecords."""

from typing import Any

from emulator.protocol.delete_records import DeleteRecordsRequest, DeleteRecordsResponse
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, InvalidRequest, WireApi, wire_api
from scenarios.wire.apis.shared import by_topic, microseconds


@wire_api
class DeleteRecords(WireApi):
    """Versions: 1 and 2 say the same as 0."""

    key = 21

    def to_request(self, body: Body, connection: Connection) -> DeleteRecordsRequest:
        wanted = tuple(
            (TopicPartition(topic["name"], partition["partition_index"]), partition["offset"])
            for topic in body["topics"]
            for partition in topic["partitions"]
        )
        if any(tp.partition < 0 for tp, _offset in wanted):
            raise InvalidRequest("a partition has a negative number")
        return DeleteRecordsRequest(wanted, microseconds(body["timeout_ms"]))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DeleteRecordsResponse = response
        topics = by_topic((result.tp, result) for result in found.partitions)
        return {
            "topics": [
                {
                    "name": topic,
                    "partitions": [
                        {
                            "partition_index": number,
                            "low_watermark": result.low_watermark,
                            "error_code": int(result.error),
                        }
                        for number, result in rows
                    ],
                }
                for topic, rows in topics.items()
            ]
        }
