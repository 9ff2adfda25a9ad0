"""ApiVersions (API 18, 0.10): a client asks a broker which versions of which APIs it speaks.

The emulated messages have no versions: what the broker announces is decided where its answer is translated."""

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors


@define(eq=False)
class ApiVersionsRequest(Request):
    """Ask for the versions.

    Attributes:
        known: whether the broker knows the version of the request itself. If not, the answer is UNSUPPORTED_VERSION
            (KIP-511). A request of another API that is not served at all is such a one, too.
    """

    known: bool = True
    size: int = 20


@define(eq=False)
class ApiVersionsResponse(Response):
    """The broker serves requests."""

    error: Errors
    size: int = 300


declare(
    18,
    "ApiVersions",
    ApiVersionsRequest,
    ApiVersionsResponse,
    help="a client asks a broker which versions of its requests it speaks",
)
