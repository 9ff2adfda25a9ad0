"""ApiVersions (KIP-35, KIP-511): the first request of a client."""

from typing import Any

from emulator.protocol.api_versions import ApiVersionsRequest
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api

SAYS_WHICH = 3
"""The version of the request whose brokers name the versions of ApiVersions itself to a client that asks for one that
they do not know (KIP-511, 2.4). Older brokers name none."""


@wire_api
class ApiVersions(WireApi):
    """The versions that the cluster announces."""

    key = 18

    def to_request(self, body: Body, connection: Connection) -> ApiVersionsRequest:
        return ApiVersionsRequest(known=connection.served.announces(self.key, connection.version))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        announced = connection.served.versions
        if response.error:
            announced = {self.key: announced[self.key]} if announced[self.key][1] >= SAYS_WHICH else {}
        return {
            "error_code": int(response.error),
            "api_keys": [
                {"api_key": key, "min_version": low, "max_version": high} for key, (low, high) in announced.items()
            ],
        }
