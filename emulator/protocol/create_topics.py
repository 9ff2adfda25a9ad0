"""CreateTopics (API 19): a client asks the controller for new topics.

Versions: v0 (0.10.1); v1 ValidateOnly, error messages; v4 (2.4, KIP-464) -1 means the brokers' defaults; v5 (2.4,
KIP-525) the response has the settings of what was created; v7 (2.8, KIP-516) its id.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.describe_configs import ConfigEntry
from emulator.protocol.errors import ApiError, Errors
from emulator.protocol.mutating_client import MutatingClient
from emulator.protocol.types import TopicPartition

UNSTATED = -1
"""The number of partitions or replicas of a topic whose assignment gives them, or which takes the brokers' defaults
(KIP-464)."""


class NewTopic(NamedTuple):
    """One topic to create.

    Attributes:
        assignment: partition -> replicas; empty: placed by the broker.
        config: the settings, by name; a value of None is refused.
    """

    name: str
    partitions: int = UNSTATED
    replication_factor: int = UNSTATED
    assignment: Mapping[int, tuple[int, ...]] = {}
    config: Mapping[str, str | None] = {}


@define(eq=False)
class CreateTopicsRequest(Request):
    """Create topics.

    Attributes:
        timeout_us: how long the response may wait for their leaders; 0: it does not wait.
        validate_only: only check whether they can be created.
        client: whose quota counts it; None: no quota does.
    """

    topics: tuple[NewTopic, ...]
    timeout_us: int
    validate_only: bool = False
    client: MutatingClient | None = None

    @property
    def size(self) -> int:
        return 20 + sum(30 + 20 * len(topic.assignment) + 30 * len(topic.config) for topic in self.topics)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (TopicPartition(topic.name, number) for topic in self.topics for number in topic.assignment)


class CreatedTopic(NamedTuple):
    """The result for one topic.

    Attributes:
        partitions, replication_factor, config: those of the topic that was created, or would be.
        topic_id: the id of the topic that was created; "" before KIP-516 (2.8).
    """

    name: str
    error: ApiError
    partitions: int = UNSTATED
    replication_factor: int = UNSTATED
    config: tuple[ConfigEntry, ...] = ()
    topic_id: str = ""


@define(eq=False)
class CreateTopicsResponse(Response):
    """The results. NONE: every partition has a leader in the controller's metadata cache; REQUEST_TIMED_OUT: one has
    none yet.

    Attributes:
        throttle_ms: how long the client's channel is muted.
    """

    topics: tuple[CreatedTopic, ...]
    throttle_ms: int = 0

    @property
    def error(self) -> Errors:
        """NOT_CONTROLLER if the broker is not the controller, which it says for every topic; else NONE."""
        refused = any(topic.error.code is Errors.NOT_CONTROLLER for topic in self.topics)
        return Errors.NOT_CONTROLLER if refused else Errors.NONE

    @property
    def size(self) -> int:
        return 10 + sum(30 + 40 * len(topic.config) for topic in self.topics)


declare(
    19, "CreateTopics", CreateTopicsRequest, CreateTopicsResponse, help="a client asks the controller for new topics"
)
