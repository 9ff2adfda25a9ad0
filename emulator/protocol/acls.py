"""DescribeAcls, CreateAcls and DeleteAcls (APIs 29 to 31, KIP-140, 0.11): a client asks for access control lists, or
changes them. Brokers here have no authorizer, and refuse."""

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors


@define(eq=False)
class AclsResponse(Response):
    """The refusal of all three.

    Attributes:
        message: the text that a client shows its user.
    """

    error: Errors
    message: str
    size: int = 60


@define(eq=False)
class DescribeAclsRequest(Request):
    """Ask for those that a filter fits."""

    size: int = 40


@define(eq=False)
class DescribeAclsResponse(AclsResponse):
    """One error for the whole request."""


@define(eq=False)
class CreateAclsRequest(Request):
    """Add some."""

    size: int = 60


@define(eq=False)
class CreateAclsResponse(AclsResponse):
    """The error of each creation."""


@define(eq=False)
class DeleteAclsRequest(Request):
    """Delete those that filters fit."""

    size: int = 60


@define(eq=False)
class DeleteAclsResponse(AclsResponse):
    """The error of each filter."""


declare(29, "DescribeAcls", DescribeAclsRequest, DescribeAclsResponse, help="a client asks for access control lists")
declare(30, "CreateAcls", CreateAclsRequest, CreateAclsResponse, help="a client adds access control lists")
declare(31, "DeleteAcls", DeleteAclsRequest, DeleteAclsResponse, help="a client deletes access control lists")
