"""ApiVersions (KIP-35, KIP-511): the first request of a client."""

from typing import Any

from emulator.protocol.api_versions import ApiVersionsRequest
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api


@wire_api
class ApiVersions(WireApi):
    """The versions that the cluster announces, whatever the release of the emulated brokers."""

    key = 18
    versions = (0, 3)

    def to_request(self, body: Body, connection: Connection) -> ApiVersionsRequest:
        return ApiVersionsRequest(known=self.translates(connection.version))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        announced = connection.served.versions
        return {
            "error_code": int(response.error),
            "api_keys": [
                {"api_key": key, "min_version": low, "max_version": high} for key, (low, high) in announced.items()
            ],
        }
