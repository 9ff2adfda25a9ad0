"""The positions of a consumer without a group, and how it finds the leaders of what it reads (Fetcher, 2.3)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from attrs import define, field

from emulator.protocol.clients.fetch import PartitionData
from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import CONSUMER, NO_EPOCH, FetchedPartition
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH
from emulator.protocol.types import NO_LEADER, TopicPartition
from scenarios.language.topic_spec import split_partition

if TYPE_CHECKING:
    from scenarios.language.clients import Client

MAX_BYTES, MAX_PARTITION_BYTES = 50 << 20, 1 << 20


@define(eq=False)
class Positions:
    """The positions of one client in its partitions. It begins at the end of each log.

    Attributes:
        isolation: its isolation level.
        most_bytes: max.partition.fetch.bytes.
    """

    client: Client
    partitions: list[TopicPartition]
    isolation: int
    most_bytes: int = MAX_PARTITION_BYTES
    _offsets: dict[TopicPartition, int] = field(factory=dict)
    _before: dict[TopicPartition, int] = field(factory=dict)

    @classmethod
    def of(
        cls, client: Client, names: Iterable[str], isolation: int, most_bytes: int = MAX_PARTITION_BYTES
    ) -> Positions:
        """Before it has read anything of the partitions called ``names``."""
        return cls(client, [TopicPartition(*split_partition(name)) for name in names], isolation, most_bytes)

    async def leaders(self) -> dict[int, list[TopicPartition]]:
        """The partitions by leader, as one of the brokers knows them, any of them. Raises: KafkaError."""
        client = self.client
        topics = tuple(dict.fromkeys(tp.topic for tp in self.partitions))
        broker = client.brokers[client.below(len(client.brokers))]
        response = await client.ask(broker, MetadataRequest(topics), "2s", retries=False)
        leaders: dict[int, list[TopicPartition]] = {}
        for known in response.partitions:
            if known.tp in self.partitions and known.leader != NO_LEADER:
                leaders.setdefault(known.leader, []).append(known.tp)
        return leaders

    async def find(self, leader: int, tps: Iterable[TopicPartition]) -> bool:
        """Find where to begin in those that have no position. Returns whether the broker leads them. Raises:
        KafkaError."""
        for tp in tps:
            if tp not in self._offsets and not await self._look_up(leader, tp, LATEST):
                return False
        return True

    def wanted(self, tp: TopicPartition) -> PartitionData:
        """The entry of a fetch for a partition that has a position."""
        return PartitionData(tp, NO_EPOCH, self._offsets[tp], UNDEFINED_EPOCH, self.most_bytes)

    def go_back(self, tp: TopicPartition) -> None:
        """Read again what the last answer about the partition brought, as a consumer does that starts again at its last
        commit."""
        if tp in self._before:
            self._offsets[tp] = self._before[tp]

    async def take(self, leader: int, partition: FetchedPartition) -> bool:
        """Go on behind what has come; where the log does not have the position, at its begin. Returns whether the
        broker leads. Raises: KafkaError."""
        if partition.error is Errors.OFFSET_OUT_OF_RANGE:
            return await self._look_up(leader, partition.tp, EARLIEST)
        if partition.batches:
            self._before[partition.tp] = self._offsets[partition.tp]
            self._offsets[partition.tp] = partition.batches[-1].next_offset
        return partition.error is NO_ERROR

    async def _look_up(self, leader: int, tp: TopicPartition, at: int) -> bool:
        """Ask for an offset. Returns whether the broker leads. Raises: KafkaError."""
        request = OffsetsByTimeRequest(CONSUMER, (OffsetQuery(tp, NO_EPOCH, at),), self.isolation)
        ((_tp, error, offset, *_),) = (await self.client.ask(leader, request, "2s", retries=False)).found
        if error is NO_ERROR:
            self._offsets[tp] = offset
        return bool(error is NO_ERROR)
