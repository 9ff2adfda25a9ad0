"""Metadata (API 3): a client asks any broker who leads what."""

from attrs import define

from emulator.protocol.update_metadata import PartitionMetadata


@define(eq=False)
class MetadataRequest:
    topics: tuple[str, ...]
    size: int = 60


@define(eq=False)
class MetadataResponse:
    """What the answering broker's cache says; a partition it does not know is missing."""

    partitions: tuple[PartitionMetadata, ...]
    live_brokers: tuple[int, ...]

    @property
    def size(self) -> int:
        return 20 + 40 * len(self.partitions)
