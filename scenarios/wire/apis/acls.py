"""DescribeAcls, CreateAcls and DeleteAcls."""

from typing import Any

from emulator.protocol.acls import AclsResponse, CreateAclsRequest, DeleteAclsRequest, DescribeAclsRequest
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api


@wire_api
class DescribeAcls(WireApi):
    """The access control lists that a filter fits (KIP-140)."""

    key = 29
    versions = (0, 2)

    def to_request(self, body: Body, connection: Connection) -> DescribeAclsRequest:
        return DescribeAclsRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return {**_refused(response), "resources": []}


@wire_api
class CreateAcls(WireApi):
    """New access control lists, each answered by itself."""

    key = 30
    versions = (0, 2)

    def to_request(self, body: Body, connection: Connection) -> CreateAclsRequest:
        return CreateAclsRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return {"results": [_refused(response) for _ in body["creations"]]}


@wire_api
class DeleteAcls(WireApi):
    """The end of the access control lists that filters fit, each filter answered by itself."""

    key = 31
    versions = (0, 2)

    def to_request(self, body: Body, connection: Connection) -> DeleteAclsRequest:
        return DeleteAclsRequest()

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        return {"filter_results": [{**_refused(response), "matching_acls": []} for _ in body["filters"]]}


def _refused(response: AclsResponse) -> Body:
    return {"error_code": int(response.error), "error_message": response.message}
