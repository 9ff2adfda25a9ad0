"""Metadata: brokers, topics, leaders, from the cache of the broker that is asked."""

from brokers.topic_creation import INTERNAL_TOPICS
from emulator.protocol.clients.metadata import (
    ClientMetadataRequest,
    ClientMetadataResponse,
    PartitionAnswer,
    TopicAnswer,
)
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import NO_ID, broker_address, id_bytes, id_text
from scenarios.wire.authorized_operations import CLUSTER, TOPIC, authorized

NAMES_CREATION = 4
"""The first version in which a client says whether topics may be created; before, they may."""
NAMES_LISTENERS = 6
"""The first version in which a partition may have LISTENER_NOT_FOUND (KAFKA-6546, 2.0)."""
BY_ID = 12
"""The first version in which a client may ask by topic ids. In 10 and 11 messages have them, and brokers refuse them
(KAFKA-10774, 3.1)."""


@wire_api
class Metadata(WireApi):
    """Brokers, controller, topics and partitions (MetadataRequest, 0.8 to 3.9)."""

    key = 3

    def to_request(self, body: Body, connection: Connection) -> ClientMetadataRequest:
        topics, version = body["topics"], connection.version
        creates = version < NAMES_CREATION or body["allow_auto_topic_creation"]
        # v0 has no null: there an empty list means all topics, and none cannot be asked for.
        everything = topics is None or (version == 0 and not topics)
        if everything:
            return _request(None, version, creates)
        if _refused(body, version):
            return ClientMetadataRequest(())
        ids = tuple(dict.fromkeys(id_text(topic["topic_id"]) for topic in topics if topic["topic_id"] != NO_ID))
        names = () if ids else tuple(dict.fromkeys(topic["name"] for topic in topics))
        return _request(names, version, creates, ids)

    def to_response(self, response: ClientMetadataResponse, body: Body, connection: Connection) -> Body:
        return {
            "brokers": [broker_address(broker, connection) for broker in response.live_brokers],
            "cluster_id": connection.served.cluster_id,
            "controller_id": response.controller,
            "topics": _refused(body, connection.version)
            or [_topic(topic, body, connection) for topic in response.topics],
            "cluster_authorized_operations": authorized(body, "include_cluster_authorized_operations", CLUSTER),
        }


def _request(
    names: tuple[str, ...] | None, version: int, creates: bool, ids: tuple[str, ...] = ()
) -> ClientMetadataRequest:
    return ClientMetadataRequest(
        names,
        creates=creates,
        only_alive=version == 0,
        names_listeners=version >= NAMES_LISTENERS,
        topic_ids=ids,
    )


def _refused(body: Body, version: int) -> list[Body]:
    """The topics of the answer where the request names one in a way that no broker takes: none can be told from it.
    Empty: the request is valid."""
    topics, by_id = body["topics"] or (), version >= BY_ID
    unnamed = any(topic["name"] is None and (not by_id or topic["topic_id"] == NO_ID) for topic in topics)
    if not unnamed and (by_id or all(topic["topic_id"] == NO_ID for topic in topics)):
        return []
    code = int(Errors.INVALID_REQUEST)
    return [
        {"error_code": code, "name": topic["name"] or "", "topic_id": topic["topic_id"], "is_internal": False}
        for topic in topics
    ]


def _topic(topic: TopicAnswer, body: Body, connection: Connection) -> Body:
    if topic.topic_id and topic.name:
        connection.served.topic_names[topic.topic_id] = topic.name
    return {
        "error_code": int(topic.error),
        "name": topic.name or (None if topic.topic_id else ""),
        "topic_id": id_bytes(topic.topic_id),
        "is_internal": topic.name in INTERNAL_TOPICS,
        "partitions": list(map(_partition, topic.partitions)),
        "topic_authorized_operations": authorized(body, "include_topic_authorized_operations", TOPIC),
    }


def _partition(partition: PartitionAnswer) -> Body:
    state = partition.state
    return {
        "error_code": int(partition.error),
        "partition_index": state.tp.partition,
        "leader_id": state.leader,
        "leader_epoch": state.leader_epoch,
        "replica_nodes": list(state.replicas),
        "isr_nodes": list(state.isr),
        "offline_replicas": list(state.offline_replicas),
    }
