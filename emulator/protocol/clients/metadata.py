"""Metadata, with what a real client gets about each topic and each partition."""

from attrs import define, field, frozen

from emulator.protocol.api import variant
from emulator.protocol.errors import Errors
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.update_metadata import PartitionMetadata


@variant(MetadataRequest)
@define(eq=False)
class ClientMetadataRequest(MetadataRequest):
    """Ask for the metadata of topics.

    Attributes:
        creates: topics that do not exist are created, if the broker's settings allow it.
        only_alive: replicas on brokers that are not alive are left out, and then there is an error (v0).
        names_listeners: the client knows LISTENER_NOT_FOUND (v6, 2.0).
        topic_ids: the ids of the wanted topics instead of their names (v12, 3.1).
    """

    creates: bool = False
    only_alive: bool = False
    names_listeners: bool = False
    topic_ids: tuple[str, ...] = ()


@frozen
class PartitionAnswer:
    """One partition, by the broker's metadata cache. ``state`` is the state that clients are sent; NO_LEADER if its
    leader is not alive."""

    error: Errors
    state: PartitionMetadata


@frozen
class TopicAnswer:
    """One topic; its partitions in order, and none with an error.

    Attributes:
        name: its name; "" where it was asked for by an id that the broker does not know.
        topic_id: its id; "" where it has none, as before KIP-516 (2.8), or is not known.
    """

    name: str
    error: Errors
    partitions: tuple[PartitionAnswer, ...] = ()
    topic_id: str = ""


@variant(MetadataResponse)
@define(eq=False)
class ClientMetadataResponse(MetadataResponse):
    """The metadata cache of the answering broker, by topic."""

    topics: tuple[TopicAnswer, ...] = field(kw_only=True, default=())
