"""ApiVersions (KIP-35, KIP-511): the first request of a client."""

import re
from typing import Any

from emulator.protocol.api_versions import ApiVersionsRequest
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api

SAYS_WHICH = 3
"""The version of the request whose brokers name the versions of ApiVersions itself to a client that asks for one that
they do not know (KIP-511, 2.4). Older brokers name none."""
NAMES_CLIENT = 3
"""The first version of the request that has the name and the version of the client's software."""
SOFTWARE = re.compile(r"[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?")
"""The form of such a name, and of such a version."""


@wire_api
class ApiVersions(WireApi):
    """The versions that the cluster announces."""

    key = 18

    def to_request(self, body: Body, connection: Connection) -> ApiVersionsRequest:
        return ApiVersionsRequest(known=connection.served.announces(self.key, connection.version))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        announced, error = connection.served.versions, response.error
        if error:
            announced = {self.key: announced[self.key]} if announced[self.key][1] >= SAYS_WHICH else {}
        elif connection.version >= NAMES_CLIENT and not _is_named(body):
            announced, error = {}, Errors.INVALID_REQUEST
        return {
            "error_code": int(error),
            "api_keys": [
                {"api_key": key, "min_version": low, "max_version": high} for key, (low, high) in announced.items()
            ],
        }


def _is_named(body: Body) -> bool:
    """Whether a request says which software the client is (ApiVersionsRequest.isValid, 2.4)."""
    names = body["client_software_name"], body["client_software_version"]
    return all(SOFTWARE.fullmatch(name) for name in names)
