"""A consumer that reads what is committed alone (isolation.level=read_committed; Fetcher, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from emulator.protocol.clients.fetch import (
    FINAL_EPOCH,
    NO_SESSION,
    READ_COMMITTED,
    ConsumerFetchRequest,
    PartitionData,
)
from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import CONSUMER, NO_EPOCH, FetchedPartition
from emulator.protocol.metadata import MetadataRequest
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH
from emulator.protocol.types import NO_LEADER, TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import BACKOFF
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME, split_partition
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client

MAX_BYTES, MAX_PARTITION_BYTES = 50 << 20, 1 << 20


@behaviour("committed-reader", "a consumer that reads only what is committed (isolation.level=read_committed)")
@frozen(kw_only=True)
class CommittedReader(Behaviour):
    """One reader, without a group. It begins at the last stable offset, and asks one leader after the other; a fetch
    with nothing to read waits at its broker.

    Attributes:
        poll_us: how long its application works on the records of one answer.
    """

    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what it reads")
    )
    wait_us: int = field(default=500_000, metadata=key(DURATION, "fetch.max.wait.ms", name="wait"))
    poll_us: int = field(
        default=0, metadata=key(DURATION, "the time between an answer and the next fetch", name="poll")
    )

    async def run(self, client: Client) -> None:
        positions: dict[TopicPartition, int] = {}
        while True:
            try:
                leaders = await self._leaders(client)
                goes_on = bool(leaders)
                while goes_on:
                    for leader, tps in leaders.items():
                        goes_on = await self._read(client, leader, tps, positions) and goes_on
            except KafkaError:
                pass
            await client.sleep(BACKOFF)

    async def _leaders(self, client: Client) -> dict[int, list[TopicPartition]]:
        """The partitions by leader, as one of the brokers knows them, any of them. Raises: KafkaError."""
        wanted = [TopicPartition(*split_partition(name)) for name in self.partitions]
        topics = tuple(dict.fromkeys(tp.topic for tp in wanted))
        broker = client.brokers[client.below(len(client.brokers))]
        response = await client.ask(broker, MetadataRequest(topics), "2s", retries=False)
        leaders: dict[int, list[TopicPartition]] = {}
        for known in response.partitions:
            if known.tp in wanted and known.leader != NO_LEADER:
                leaders.setdefault(known.leader, []).append(known.tp)
        return leaders

    async def _read(
        self, client: Client, leader: int, tps: list[TopicPartition], positions: dict[TopicPartition, int]
    ) -> bool:
        """Fetch once from a leader. Returns whether it leads them all. Raises: KafkaError."""
        for tp in tps:
            if tp not in positions and not await self._look_up(client, leader, tp, LATEST, positions):
                return False
        wanted = tuple(PartitionData(tp, NO_EPOCH, positions[tp], UNDEFINED_EPOCH, MAX_PARTITION_BYTES) for tp in tps)
        request = ConsumerFetchRequest(
            CONSUMER, NO_SESSION, FINAL_EPOCH, self.wait_us, 1, MAX_BYTES, 0,
            tuple((each.tp, each.leader_epoch, each.fetch_offset, -1, each.last_fetched_epoch) for each in wanted), (),
            wanted, READ_COMMITTED,
        )  # fmt: skip
        response = await client.ask(leader, request, format_duration(self.wait_us + 2_000_000), retries=False)
        leads = True
        for partition in response.partitions:
            leads = await self._take(client, leader, partition, positions) and leads
        is_reset = any(partition.error is Errors.OFFSET_OUT_OF_RANGE for partition in response.partitions)
        if self.poll_us and not is_reset:
            await client.sleep(format_duration(self.poll_us))
        return leads

    async def _take(
        self, client: Client, leader: int, partition: FetchedPartition, positions: dict[TopicPartition, int]
    ) -> bool:
        """Go on behind what has come; where the log does not have the position, at its begin. Returns whether the
        broker leads. Raises: KafkaError."""
        if partition.error is Errors.OFFSET_OUT_OF_RANGE:
            return await self._look_up(client, leader, partition.tp, EARLIEST, positions)
        if partition.batches:
            positions[partition.tp] = partition.batches[-1].next_offset
        return partition.error is NO_ERROR

    @staticmethod
    async def _look_up(
        client: Client, leader: int, tp: TopicPartition, at: int, positions: dict[TopicPartition, int]
    ) -> bool:
        """Ask for an offset. Returns whether the broker leads. Raises: KafkaError."""
        request = OffsetsByTimeRequest(CONSUMER, (OffsetQuery(tp, NO_EPOCH, at),), READ_COMMITTED)
        ((_tp, error, offset, *_),) = (await client.ask(leader, request, "2s", retries=False)).found
        if error is NO_ERROR:
            positions[tp] = offset
        return bool(error is NO_ERROR)
