"""A transactional producer: it writes to several partitions, commits offsets of a group with them, and commits or
aborts (TransactionManager, 2.3). Two with one transactional id fence each other."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from attrs import define, evolve, field, frozen

from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.groups.find_coordinator import CoordinatorType
from emulator.protocol.groups.group_offsets import OffsetToCommit
from emulator.protocol.produce import InitProducerIdRequest
from emulator.protocol.records import TRANSACTIONAL, ProducedRecords, RecordHeader, write_records
from emulator.protocol.transactions.coordination import AddOffsetsToTxnRequest, AddPartitionsToTxnRequest, EndTxnRequest
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import BACKOFF, MOVED, Coordinator
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, Integer, ListOf, Text, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME, split_partition
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client

ATTEMPTS = 100
TOMBSTONES = 5
"""One record of so many is a tombstone, where they have keys."""
AGAIN = (*MOVED, Errors.CONCURRENT_TRANSACTIONS, Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_LEADER_FOR_PARTITION)


@define(eq=False)
class _Producer:
    """One producer with an id.

    Attributes:
        keys: how many keys its records have, in turn; every fifth of them is a tombstone then. 0: they have none.
        sequences: the sequence number of the next record of each partition.
    """

    id: int
    epoch: int
    keys: int = 0
    sequences: dict[TopicPartition, int] = field(factory=dict)

    def batch(self, tp: TopicPartition, count: int, now_ms: int, id: int) -> ProducedRecords:
        """The next batch of the producer, with the id ``id`` in the run."""
        first = self.sequences.get(tp, 0)
        self.sequences[tp] = first + count
        records = [self._record(number) for number in range(first, first + count)]
        data = write_records(records, now_ms, attributes=TRANSACTIONAL, producer_id=self.id, producer_epoch=self.epoch)
        header = RecordHeader(TRANSACTIONAL, count, now_ms, now_ms)
        return ProducedRecords(tp, count, len(data), id, self.id, first, header, data, producer_epoch=self.epoch)

    def _record(self, number: int) -> tuple[bytes | None, bytes | None]:
        if not self.keys:
            return None, b"x" * 20
        return b"%d" % (number % self.keys), None if number % TOMBSTONES == TOMBSTONES - 1 else b"x" * 20


@behaviour("transactional", "a producer of transactions, with a group's offsets in them; some are aborted")
@frozen(kw_only=True)
class Transactional(Behaviour):
    """One producer.

    Attributes:
        group: the group whose offsets it commits in its transactions; "": none.
        stalls: how often it stops once it has written, and before it commits offsets, for up to twice its timeout:
            another producer with its id, or the coordinator, may fence it meanwhile, and it goes on all the same.
        rounds: how many times it writes in one transaction, at most; it may stop after each.
        inits: how often it asks for its next epoch as soon as a transaction has ended, as an application does that
            starts again: the markers may be under way.
        raises: how often it raises its own epoch after a transaction, as a producer of 2.5 does after an error.
        groups: the groups after the first are called like it, with ``-1`` and so on.
    """

    id: str = field(metadata=key(Text(), "the transactional id; two clients with the same one fence each other"))
    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what it writes to")
    )
    group: str = field(default="", metadata=key(Text(), "a group whose offsets are in its transactions; absent = none"))
    pause_us: int = field(default=500_000, metadata=key(DURATION, "between two transactions", name="pause"))
    timeout_us: int = field(default=15_000_000, metadata=key(DURATION, "transaction.timeout.ms", name="timeout"))
    aborts: int = field(default=20, metadata=key(Integer(0, 100), "percentage of transactions that it aborts"))
    stalls: int = field(
        default=0,
        metadata=key(Integer(0, 100), "percentage of transactions in the middle of which it stops for a while"),
    )
    rounds: int = field(default=1, metadata=key(Integer(1), "how many times it writes in a transaction, at most"))
    inits: int = field(
        default=0,
        metadata=key(Integer(0, 100), "percentage of transactions after which it begins again with another epoch"),
    )
    raises: int = field(
        default=0,
        metadata=key(Integer(0, 100), "percentage of transactions after which it raises its own epoch (KIP-360, 2.5)"),
    )
    groups: int = field(default=1, metadata=key(Integer(1), "how many groups have offsets in its transactions"))
    keys: int = field(default=0, metadata=key(Integer(0), "how many keys its records have, in turn; 0 = none"))
    delivery_us: int = field(default=120_000_000, metadata=key(DURATION, "delivery.timeout.ms", name="delivery"))

    async def run(self, client: Client) -> None:
        coordinator = Coordinator(client, self.id, CoordinatorType.TRANSACTION)
        while True:
            try:
                asked = InitProducerIdRequest(transactional_id=self.id, transaction_timeout_us=self.timeout_us)
                found = await _done(client, coordinator, asked)
                producer = _Producer(found.producer_id, found.producer_epoch, self.keys)
                while True:
                    await self._transaction(client, coordinator, producer)
                    if self.inits and client.below(100) < self.inits:
                        break
                    await client.sleep(format_duration(self.pause_us))
                    if self.raises and client.below(100) < self.raises:
                        own = evolve(asked, producer_id=producer.id, producer_epoch=producer.epoch)
                        found = await _done(client, coordinator, own)
                        producer = _Producer(found.producer_id, found.producer_epoch, self.keys)
            except KafkaError:  # fenced, or it does not know how far it came: it begins again with another epoch
                await client.sleep(format_duration(100_000 * (1 + client.below(30))))

    async def _transaction(self, client: Client, coordinator: Coordinator, producer: _Producer) -> None:
        """Raises: KafkaError."""
        mine = (self.id, producer.id, producer.epoch)
        written: dict[TopicPartition, None] = {}
        for _ in range(1 if self.rounds == 1 else 1 + client.below(self.rounds)):
            tps = self._some(client)
            written |= dict.fromkeys(tps)
            await _done(client, coordinator, AddPartitionsToTxnRequest(*mine, tps))
            for tp in tps:
                batch = partial(producer.batch, tp, 1 + client.below(4), round(client.now_s * 1000))
                within = format_duration(self.delivery_us)
                await client.produce_batch(batch, within, transactional_id=self.id)
            await self._stall(client)
        for number in range(self.groups if self.group else 0):
            name = f"{self.group}-{number}" if number else self.group
            await self._offsets(client, coordinator, producer, name, tuple(written))
        await _done(client, coordinator, EndTxnRequest(*mine, client.below(100) >= self.aborts))

    def _some(self, client: Client) -> tuple[TopicPartition, ...]:
        """Some of the partitions, in their order."""
        first = client.below(len(self.partitions))
        names = (*self.partitions[first:], *self.partitions[:first])[: 1 + client.below(3)]
        return tuple(TopicPartition(*split_partition(name)) for name in names)

    async def _stall(self, client: Client) -> None:
        if self.stalls and client.below(100) < self.stalls:
            await client.sleep(format_duration(1 + client.below(2 * self.timeout_us)))

    async def _offsets(
        self, client: Client, coordinator: Coordinator, producer: _Producer, group: str, tps: tuple[TopicPartition, ...]
    ) -> None:
        """Commit offsets of ``group`` in the transaction. Raises: KafkaError."""
        await _done(client, coordinator, AddOffsetsToTxnRequest(self.id, producer.id, producer.epoch, group))
        await self._stall(client)
        offsets = tuple(OffsetToCommit(tp, producer.sequences[tp]) for tp in tps)
        commit = TxnOffsetCommitRequest(
            group, offsets, transactional_id=self.id, producer_id=producer.id, producer_epoch=producer.epoch
        )
        await _done(client, Coordinator(client, group, CoordinatorType.GROUP), commit)
        await self._stall(client)


async def _done(client: Client, coordinator: Coordinator, request: Any) -> Any:
    """The response without an error, after as many attempts as that takes. Raises: KafkaError."""
    error = NO_ERROR
    for _ in range(ATTEMPTS):
        try:
            response = await coordinator.ask(request)
        except KafkaError as lost:
            error = lost.error
        else:
            errors = (
                [each for _tp, each in response.partitions] if hasattr(response, "partitions") else [response.error]
            )
            error = next((each for each in errors if each is not NO_ERROR), NO_ERROR)
            if error is NO_ERROR:
                return response
        if error not in AGAIN:
            break
        if error in MOVED:
            coordinator.moved()
        await client.sleep(BACKOFF)
    raise KafkaError(error)
