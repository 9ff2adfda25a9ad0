"""DescribeCluster."""

from typing import Any

from emulator.protocol.describe_cluster import DescribeClusterRequest, DescribeClusterResponse
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import coded
from scenarios.wire.authorized_operations import CLUSTER, authorized


@wire_api
class DescribeCluster(WireApi):
    """Versions: 1 has the type of the endpoints, brokers here (KIP-919). kafka-python 3.0.12 fails where only 0 is
    announced."""

    key = 60

    def to_request(self, body: Body, connection: Connection) -> DescribeClusterRequest:
        return DescribeClusterRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DescribeClusterResponse = response
        return {
            **coded(Errors.NONE),
            "endpoint_type": 1,
            "cluster_id": connection.served.cluster_id,
            "controller_id": found.controller,
            "brokers": [_broker(broker, connection) for broker in found.live_brokers],
            "cluster_authorized_operations": authorized(body, "include_cluster_authorized_operations", CLUSTER),
        }


def _broker(broker: int, connection: Connection) -> Body:
    host, port = connection.advertised(broker)
    return {"broker_id": broker, "host": host, "port": port, "rack": connection.served.racks.get(broker)}
