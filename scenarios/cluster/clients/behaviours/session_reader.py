"""A consumer that reads in fetch sessions, and changes what it reads (FetchSessionHandler, 1.1; KIP-227)."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import define, field, frozen

from emulator.protocol.clients.fetch import (
    INITIAL_EPOCH,
    NO_SESSION,
    READ_UNCOMMITTED,
    ConsumerFetchRequest,
    PartitionData,
)
from emulator.protocol.errors import NO_ERROR
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import BACKOFF
from scenarios.cluster.clients.behaviours.positions import MAX_BYTES, Positions
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, Integer, ListOf, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client


@define(eq=False)
class ClientSession:
    """The session that a client has at one broker, as the client knows it.

    Attributes:
        epoch: that of the next request; INITIAL_EPOCH: it asks for a session.
        wanted: what the client reads in it, as it was sent last.
    """

    id: int = NO_SESSION
    epoch: int = INITIAL_EPOCH
    wanted: dict[TopicPartition, PartitionData] = field(factory=dict)

    def request(self, wanted: dict[TopicPartition, PartitionData], wait_us: int) -> ConsumerFetchRequest:
        """The next request: all that is wanted, or what has changed of that."""
        full = self.epoch == INITIAL_EPOCH
        changed = tuple(one for tp, one in wanted.items() if full or self.wanted.get(tp) != one)
        gone = () if full else tuple(tp for tp in self.wanted if tp not in wanted)
        self.wanted = wanted
        return ConsumerFetchRequest(
            CONSUMER, self.id, self.epoch, wait_us, 1, MAX_BYTES, 0,
            tuple((each.tp, each.leader_epoch, each.fetch_offset, -1, each.last_fetched_epoch) for each in changed),
            gone, changed, READ_UNCOMMITTED,
        )  # fmt: skip

    def answered(self, id: int) -> None:
        """Take note of an answer without an error."""
        if self.epoch == INITIAL_EPOCH:
            self.id = id
        self.epoch = INITIAL_EPOCH if self.id == NO_SESSION else self.epoch + 1


@behaviour("session-reader", "a consumer that reads in fetch sessions (KIP-227), and changes what it reads")
@frozen(kw_only=True)
class SessionReader(Behaviour):
    """One reader, without a group. It begins at the end of each log, and asks one leader after the other.

    Attributes:
        changes: after how many answers it stops to read one of its partitions, or reads one again that it had stopped
            to read.
    """

    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what it reads")
    )
    wait_us: int = field(default=500_000, metadata=key(DURATION, "fetch.max.wait.ms", name="wait"))
    changes: int = field(
        default=5, metadata=key(Integer(0), "how many answers until it reads other partitions; 0 = it never does")
    )

    async def run(self, client: Client) -> None:
        reading = _Reading(self, client, Positions.of(client, self.partitions, READ_UNCOMMITTED))
        while True:
            with suppress(KafkaError):
                await reading.read_on()
            await client.sleep(BACKOFF)


@define(eq=False)
class _Reading:
    """The work of one reader.

    Attributes:
        paused: the partitions that it does not read for now.
        sessions: by broker.
    """

    reader: SessionReader
    client: Client
    positions: Positions
    paused: dict[TopicPartition, None] = field(factory=dict)
    sessions: dict[int, ClientSession] = field(factory=dict)
    _answers: int = 0

    async def read_on(self) -> None:
        """Find the leaders, and fetch from one after the other while they lead. Raises: KafkaError."""
        leaders = await self.positions.leaders()
        while leaders:
            for leader, tps in leaders.items():
                if not await self._fetch(leader, tps):
                    return

    async def _fetch(self, leader: int, tps: list[TopicPartition]) -> bool:
        """Fetch once. Returns whether the broker leads them all. Raises: KafkaError."""
        if not await self.positions.find(leader, tps):
            return False
        session = self.sessions.setdefault(leader, ClientSession())
        read = [tp for tp in tps if tp not in self.paused] or tps
        request = session.request({tp: self.positions.wanted(tp) for tp in read}, self.reader.wait_us)
        within = format_duration(self.reader.wait_us + 2_000_000)
        try:
            response = await self.client.ask(leader, request, within, retries=False)
        except KafkaError:
            del self.sessions[leader]  # whether the broker has the request, is not known
            raise
        if response.error is not NO_ERROR:
            del self.sessions[leader]
            return True
        session.answered(response.session_id)
        leads = True
        for partition in response.partitions:
            leads = await self.positions.take(leader, partition) and leads
        self._change()
        return leads

    def _change(self) -> None:
        """Read other partitions, if it is time for that."""
        self._answers += 1
        if not self.reader.changes or self._answers % self.reader.changes:
            return
        partitions = self.positions.partitions
        tp = partitions[self.client.below(len(partitions))]
        if tp in self.paused:
            del self.paused[tp]
        else:
            self.paused[tp] = None
