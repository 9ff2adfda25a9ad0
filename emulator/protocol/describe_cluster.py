"""DescribeCluster (API 60, KIP-700, 2.8): a client asks any broker for the live brokers and the controller. Clients of
older brokers ask for the metadata of no topics instead."""

from attrs import define

from emulator.protocol.api import Request, Response, declare


@define(eq=False)
class DescribeClusterRequest(Request):
    size: int = 20


@define(eq=False)
class DescribeClusterResponse(Response):
    """The metadata cache of the answering broker.

    Attributes:
        controller: its broker id; -1: unknown.
    """

    controller: int
    live_brokers: tuple[int, ...]

    @property
    def size(self) -> int:
        return 40 + 20 * len(self.live_brokers)


declare(
    60,
    "DescribeCluster",
    DescribeClusterRequest,
    DescribeClusterResponse,
    help="a client asks for the live brokers and the controller",
)
