"""Metadata: brokers, topics, leaders, from the cache of the broker that is asked."""

from brokers.topic_creation import INTERNAL_TOPICS
from emulator.protocol.clients.metadata import (
    ClientMetadataRequest,
    ClientMetadataResponse,
    PartitionAnswer,
    TopicAnswer,
)
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.authorized_operations import CLUSTER, TOPIC, authorized

NAMES_CREATION = 4
"""The first version in which a client says whether topics may be created; before, they may."""


@wire_api
class Metadata(WireApi):
    """Brokers, controller, topics and partitions (MetadataRequest, 0.8 to 2.8)."""

    key = 3
    versions = (0, 9)

    def to_request(self, body: Body, connection: Connection) -> ClientMetadataRequest:
        topics, version = body["topics"], connection.version
        creates = version < NAMES_CREATION or body["allow_auto_topic_creation"]
        # v0 has no null: there an empty list means all topics, and none cannot be asked for.
        everything = topics is None or (version == 0 and not topics)
        names = None if everything else tuple(dict.fromkeys(topic["name"] for topic in topics))
        return ClientMetadataRequest(names, creates=creates, only_alive=version == 0)

    def to_response(self, response: ClientMetadataResponse, body: Body, connection: Connection) -> Body:
        return {
            "brokers": [_broker(broker, connection) for broker in response.live_brokers],
            "cluster_id": connection.served.cluster_id,
            "controller_id": response.controller,
            "topics": [_topic(topic, body) for topic in response.topics],
            "cluster_authorized_operations": authorized(body, "include_cluster_authorized_operations", CLUSTER),
        }


def _broker(broker: int, connection: Connection) -> Body:
    host, port = connection.advertised(broker)
    return {"node_id": broker, "host": host, "port": port, "rack": connection.served.racks.get(broker)}


def _topic(topic: TopicAnswer, body: Body) -> Body:
    return {
        "error_code": int(topic.error),
        "name": topic.name,
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
