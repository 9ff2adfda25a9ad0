"""AlterPartitionReassignments, ListPartitionReassignments and ElectLeaders."""

from typing import Any

from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.types import TopicPartition
from scenarios.wire.apis.base import Body, Connection, InvalidRequest, WireApi, wire_api
from scenarios.wire.apis.shared import by_topic, coded, microseconds, partitions_of


@wire_api
class AlterPartitionReassignments(WireApi):
    """KIP-455."""

    key = 45

    def to_request(self, body: Body, connection: Connection) -> AlterPartitionReassignmentsRequest:
        return AlterPartitionReassignmentsRequest(
            {
                TopicPartition(topic["name"], each["partition_index"]): None
                if each["replicas"] is None
                else tuple(each["replicas"])
                for topic in body["topics"]
                for each in topic["partitions"]
            }
        )

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: AlterPartitionReassignmentsResponse = response
        return {
            **coded(found.error),
            "responses": [
                {
                    "name": topic,
                    "partitions": [{"partition_index": number, **coded(error)} for number, error in partitions],
                }
                for topic, partitions in by_topic(found.partitions).items()
            ],
        }


@wire_api
class ListPartitionReassignments(WireApi):
    """KIP-455."""

    key = 46

    def to_request(self, body: Body, connection: Connection) -> ListPartitionReassignmentsRequest:
        return ListPartitionReassignmentsRequest(partitions_of(body["topics"], "name", "partition_indexes"))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: ListPartitionReassignmentsResponse = response
        topics = by_topic(found.partitions).items()
        return {
            **coded(found.error),
            "topics": [
                {"name": topic, "partitions": [_moving(number, assignment) for number, assignment in partitions]}
                for topic, partitions in topics
            ],
        }


def _moving(number: int, assignment: ReplicaAssignment) -> Body:
    return {
        "partition_index": number,
        "replicas": list(assignment.replicas),
        "adding_replicas": list(assignment.adding),
        "removing_replicas": list(assignment.removing),
    }


@wire_api
class ElectLeaders(WireApi):
    """Versions: 0 preferred leaders only; 1 the type, and an error of the whole request (KIP-460)."""

    key = 43

    def to_request(self, body: Body, connection: Connection) -> ElectLeadersRequest:
        if body["election_type"] not in (0, 1):
            raise InvalidRequest(f"{body['election_type']} is no type of elections")
        partitions = partitions_of(body["topic_partitions"], "topic", "partitions")
        return ElectLeadersRequest(ElectionType(body["election_type"]), partitions, microseconds(body["timeout_ms"]))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: ElectLeadersResponse = response
        topics = by_topic(found.partitions).items()
        return {
            "error_code": int(found.error),
            "replica_election_results": [
                {"topic": topic, "partition_result": [_elected(number, error) for number, error in partitions]}
                for topic, partitions in topics
            ],
        }


def _elected(number: int, error: Errors) -> Body:
    return {"partition_id": number, **coded(error)}
