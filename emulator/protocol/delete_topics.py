"""DeleteTopics (API 20): a client asks the controller to delete topics.

Versions: v0 (0.10.1); v3 TOPIC_DELETION_DISABLED, before it INVALID_REQUEST; v5 (2.7) error messages; v6 (2.8,
KIP-516) topics by their ids.
"""

from attrs import define, field

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import ApiError, Errors
from emulator.protocol.mutating_client import MutatingClient


@define(eq=False)
class DeleteTopicsRequest(Request):
    """Delete topics.

    Attributes:
        timeout_us: how long the response may wait until they are gone; 0: it does not wait.
        topic_ids: the ids of more topics.
        client: whose quota counts it; None: no quota does.
    """

    topics: tuple[str, ...]
    timeout_us: int
    topic_ids: tuple[str, ...] = ()
    client: MutatingClient | None = None

    @property
    def size(self) -> int:
        return 20 + 20 * len(self.topics) + 16 * len(self.topic_ids)


@define(eq=False)
class TopicResults(Response):
    """The result for each topic, in the order of the request.

    Attributes:
        throttle_ms: how long the client's channel is muted.
    """

    topics: tuple[tuple[str, ApiError], ...]
    throttle_ms: int = field(default=0, kw_only=True)

    @property
    def error(self) -> Errors:
        """NOT_CONTROLLER if the broker is not the controller, which it says for every topic; else NONE."""
        refused = any(error.code is Errors.NOT_CONTROLLER for _topic, error in self.topics)
        return Errors.NOT_CONTROLLER if refused else Errors.NONE

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.topics)


@define(eq=False)
class DeleteTopicsResponse(TopicResults):
    """NONE: the topic is no longer in the controller's metadata cache; REQUEST_TIMED_OUT: it is still there, and will
    be deleted.

    Attributes:
        by_id: the results of the topics that were named by an id: the id, the name ("": no topic has that id, or the
            broker was not asked), and the error.
    """

    by_id: tuple[tuple[str, str, ApiError], ...] = ()

    @property
    def error(self) -> Errors:
        """As for topics by their names."""
        errors = (*(error for _, error in self.topics), *(error for *_, error in self.by_id))
        refused = any(error.code is Errors.NOT_CONTROLLER for error in errors)
        return Errors.NOT_CONTROLLER if refused else Errors.NONE


declare(
    20, "DeleteTopics", DeleteTopicsRequest, DeleteTopicsResponse, help="a client asks the controller to delete topics"
)
