"""CreateTopics, DeleteTopics and CreatePartitions."""

from typing import Any

from emulator.protocol.create_partitions import CreatePartitionsRequest, CreatePartitionsResponse, NewPartitions
from emulator.protocol.create_topics import CreatedTopic, CreateTopicsRequest, CreateTopicsResponse, NewTopic
from emulator.protocol.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.mutating_client import MutatingClient
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import NO_ID, answer, coded, id_bytes, id_text, microseconds


def mutating_client(connection: Connection, *, strict_since: int) -> MutatingClient:
    """The client whose quota counts a request. ``strict_since``: the version that knows THROTTLING_QUOTA_EXCEEDED."""
    return MutatingClient(connection.user, connection.client_id, connection.version >= strict_since)


@wire_api
class CreateTopics(WireApi):
    """Versions: up to 3 the numbers are stated; 4 takes -1 for the defaults (KIP-464); 5 returns the settings, 7 the
    id."""

    key = 19

    def to_request(self, body: Body, connection: Connection) -> CreateTopicsRequest:
        topics = tuple(_new_topic(topic) for topic in body["topics"])
        client = mutating_client(connection, strict_since=6)
        return CreateTopicsRequest(topics, microseconds(body["timeout_ms"]), body["validate_only"], client)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: CreateTopicsResponse = response
        return {"throttle_time_ms": found.throttle_ms, "topics": [_created(topic) for topic in found.topics]}


def _new_topic(topic: Body) -> NewTopic:
    return NewTopic(
        topic["name"],
        topic["num_partitions"],
        topic["replication_factor"],
        {each["partition_index"]: tuple(each["broker_ids"]) for each in topic["assignments"]},
        {each["name"]: each["value"] for each in topic["configs"]},
    )


def _created(topic: CreatedTopic) -> Body:
    return {
        "name": topic.name,
        "topic_id": NO_ID if topic.error.code else id_bytes(topic.topic_id),
        **answer(topic.error),
        "num_partitions": topic.partitions,
        "replication_factor": topic.replication_factor,
        "configs": [
            {
                "name": entry.name, "value": entry.value, "read_only": entry.read_only,
                "config_source": int(entry.source), "is_sensitive": entry.is_sensitive,
            }
            for entry in topic.config
        ],
    }  # fmt: skip


@wire_api
class DeleteTopics(WireApi):
    """Versions: 3 has TOPIC_DELETION_DISABLED, before it INVALID_REQUEST; 5 has error messages, 6 topics by their
    ids."""

    key = 20

    def to_request(self, body: Body, connection: Connection) -> DeleteTopicsRequest:
        if _names_twice(body):
            return DeleteTopicsRequest((), 0)
        by_id = tuple(id_text(topic["topic_id"]) for topic in body["topics"] if topic["topic_id"] != NO_ID)
        names = (topic["name"] or "" for topic in body["topics"] if topic["topic_id"] == NO_ID)
        client, timeout_us = mutating_client(connection, strict_since=5), microseconds(body["timeout_ms"])
        return DeleteTopicsRequest((*body["topic_names"], *names), timeout_us, by_id, client)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DeleteTopicsResponse = response
        if _names_twice(body):
            return {"responses": [{**topic, **coded(Errors.INVALID_REQUEST)} for topic in body["topics"]]}
        results = [{"name": topic, **answer(error)} for topic, error in found.topics]
        results += [
            {"name": topic or None, "topic_id": id_bytes(topic_id), **answer(error)}
            for topic_id, topic, error in found.by_id
        ]
        if connection.version < 3:
            for result in results:
                if result["error_code"] == Errors.TOPIC_DELETION_DISABLED:
                    result["error_code"] = int(Errors.INVALID_REQUEST)
        return {"throttle_time_ms": found.throttle_ms, "responses": results}


def _names_twice(body: Body) -> bool:
    """Whether a topic is named by its name and by its id: only one is allowed."""
    return any(topic["name"] is not None and topic["topic_id"] != NO_ID for topic in body["topics"])


@wire_api
class CreatePartitions(WireApi):
    """More partitions in existing topics."""

    key = 37

    def to_request(self, body: Body, connection: Connection) -> CreatePartitionsRequest:
        topics = tuple(
            NewPartitions(
                topic["name"],
                topic["count"],
                None
                if topic["assignments"] is None
                else tuple(tuple(each["broker_ids"]) for each in topic["assignments"]),
            )
            for topic in body["topics"]
        )
        client = mutating_client(connection, strict_since=3)
        return CreatePartitionsRequest(topics, microseconds(body["timeout_ms"]), body["validate_only"], client)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: CreatePartitionsResponse = response
        results = [{"name": topic, **answer(error)} for topic, error in found.topics]
        return {"throttle_time_ms": found.throttle_ms, "results": results}
