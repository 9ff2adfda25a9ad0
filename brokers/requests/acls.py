"""DescribeAcls, CreateAcls and DeleteAcls of a broker without an authorizer.

Behavior (KafkaApis.handleDescribeAcls and its like, 2.3.1; AclApis, 3.0.0): SECURITY_DISABLED, with this text.
"""

from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.acls import (
    AclsResponse,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from emulator.protocol.errors import Errors

NO_AUTHORIZER = "No Authorizer is configured on the broker"


class AclsHandler:
    """Refuses."""

    @handles(DescribeAclsRequest)
    def describe(self, _request: DescribeAclsRequest, channel: Channel) -> None:
        _refuse(channel, DescribeAclsResponse(Errors.SECURITY_DISABLED, NO_AUTHORIZER))

    @handles(CreateAclsRequest)
    def create(self, _request: CreateAclsRequest, channel: Channel) -> None:
        _refuse(channel, CreateAclsResponse(Errors.SECURITY_DISABLED, f"{NO_AUTHORIZER}."))

    @handles(DeleteAclsRequest)
    def delete(self, _request: DeleteAclsRequest, channel: Channel) -> None:
        _refuse(channel, DeleteAclsResponse(Errors.SECURITY_DISABLED, f"{NO_AUTHORIZER}."))


def _refuse(channel: Channel, response: AclsResponse) -> None:
    channel.reply(response, response.size)
