"""CreatePartitions (API 37, KIP-195, 1.0): a client asks the controller for more partitions in existing topics."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, declare
from emulator.protocol.delete_topics import TopicResults
from emulator.protocol.mutating_client import MutatingClient


class NewPartitions(NamedTuple):
    """More partitions for one topic.

    Attributes:
        total: the number of partitions that the topic shall have.
        replicas: the replicas of each added partition; None: the broker places them.
    """

    topic: str
    total: int
    replicas: tuple[tuple[int, ...], ...] | None = None


@define(eq=False)
class CreatePartitionsRequest(Request):
    """Add partitions to topics.

    Attributes:
        timeout_us: how long the response may wait for their leaders; 0: it does not wait.
        validate_only: only check whether they can be added.
        client: whose quota counts it; None: no quota does.
    """

    topics: tuple[NewPartitions, ...]
    timeout_us: int
    validate_only: bool = False
    client: MutatingClient | None = None

    @property
    def size(self) -> int:
        return 20 + sum(30 + 20 * len(topic.replicas or ()) for topic in self.topics)


@define(eq=False)
class CreatePartitionsResponse(TopicResults):
    """NONE: every added partition has a leader in the controller's metadata cache."""


declare(
    37,
    "CreatePartitions",
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    help="a client asks the controller for more partitions in existing topics",
)
