"""Metadata (API 3): a client asks any broker for the leaders, the live brokers and the controller."""

from collections.abc import Mapping

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.leader_and_isr import NO_TOPIC_IDS
from emulator.protocol.update_metadata import PartitionMetadata

NO_CONTROLLER = -1


@define(eq=False)
class MetadataRequest(Request):
    """Ask for the metadata of topics.

    Attributes:
        topics: None: all; empty: none (v1, 0.10).
    """

    topics: tuple[str, ...] | None
    size: int = 60


@define(eq=False)
class MetadataResponse(OfPartitions, Response):
    """The metadata cache of the answering broker. A partition that it does not know is missing.

    Attributes:
        controller: the controller's broker id as of the last UpdateMetadata (v1, 0.10); NO_CONTROLLER before the first.
        topic_ids: the ids of all topics that the broker knows; empty before KIP-516 (2.8).
    """

    SIZES = 20, 40
    partitions: tuple[PartitionMetadata, ...]
    live_brokers: tuple[int, ...]
    controller: int
    topic_ids: Mapping[str, str] = NO_TOPIC_IDS


declare(
    3,
    "Metadata",
    MetadataRequest,
    MetadataResponse,
    help="a client asks for the leaders, the live brokers and the controller",
)
