"""A consumer that reads what is committed alone (isolation.level=read_committed; Fetcher, 2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import field, frozen

from emulator.protocol.clients.fetch import FINAL_EPOCH, NO_SESSION, READ_COMMITTED, ConsumerFetchRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import BACKOFF
from scenarios.cluster.clients.behaviours.positions import MAX_BYTES, MAX_PARTITION_BYTES, Positions
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, Integer, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client


@behaviour("committed-reader", "a consumer that reads only what is committed (isolation.level=read_committed)")
@frozen(kw_only=True)
class CommittedReader(Behaviour):
    """One reader, without a group. It begins at the last stable offset, and asks one leader after the other; a fetch
    with nothing to read waits at its broker.

    Attributes:
        poll_us: how long its application works on the records of one answer.
        most_bytes: the bytes of a partition that it asks for; an answer has a batch at least.
        goes_back: how often it reads the last answer about a partition again, as one that starts again.
    """

    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what it reads")
    )
    wait_us: int = field(default=500_000, metadata=key(DURATION, "fetch.max.wait.ms", name="wait"))
    poll_us: int = field(
        default=0, metadata=key(DURATION, "the time between an answer and the next fetch", name="poll")
    )
    most_bytes: int = field(
        default=MAX_PARTITION_BYTES, metadata=key(Integer(1), "max.partition.fetch.bytes", name="partition_bytes")
    )
    goes_back: int = field(
        default=0, metadata=key(Integer(0, 100), "percentage of answers that it reads again, as after a restart")
    )

    async def run(self, client: Client) -> None:
        positions = Positions.of(client, self.partitions, READ_COMMITTED, self.most_bytes)
        while True:
            try:
                leaders = await positions.leaders()
                goes_on = bool(leaders)
                while goes_on:
                    for leader, tps in leaders.items():
                        goes_on = await self._read(client, leader, tps, positions) and goes_on
            except KafkaError:
                pass
            await client.sleep(BACKOFF)

    async def _read(self, client: Client, leader: int, tps: list[TopicPartition], positions: Positions) -> bool:
        """Fetch once from a leader. Returns whether it leads them all. Raises: KafkaError."""
        if not await positions.find(leader, tps):
            return False
        wanted = tuple(positions.wanted(tp) for tp in tps)
        request = ConsumerFetchRequest(
            CONSUMER, NO_SESSION, FINAL_EPOCH, self.wait_us, 1, MAX_BYTES, 0,
            tuple((each.tp, each.leader_epoch, each.fetch_offset, -1, each.last_fetched_epoch) for each in wanted), (),
            wanted, READ_COMMITTED,
        )  # fmt: skip
        response = await client.ask(leader, request, format_duration(self.wait_us + 2_000_000), retries=False)
        leads = True
        for partition in response.partitions:
            leads = await positions.take(leader, partition) and leads
            if self.goes_back and client.below(100) < self.goes_back:
                positions.go_back(partition.tp)
        is_reset = any(partition.error is Errors.OFFSET_OUT_OF_RANGE for partition in response.partitions)
        if self.poll_us and not is_reset:
            await client.sleep(format_duration(self.poll_us))
        return leads
