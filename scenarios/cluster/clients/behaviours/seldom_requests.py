"""A client that sends what applications and tools send seldom: about groups, settings and places in logs, and what is
refused (KafkaAdminClient, 2.4; Fetcher, 2.3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from emulator.protocol.alter_configs import AlterConfigOp, IncrementalAlterConfigsRequest, OpType
from emulator.protocol.clients.fetch import READ_COMMITTED, READ_UNCOMMITTED
from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.create_partitions import CreatePartitionsRequest, NewPartitions
from emulator.protocol.create_topics import CreateTopicsRequest, NewTopic
from emulator.protocol.delete_records import TO_HIGH_WATERMARK, DeleteRecordsRequest
from emulator.protocol.describe_cluster import DescribeClusterRequest
from emulator.protocol.describe_configs import DescribeConfigsRequest, Resource, ResourceType
from emulator.protocol.describe_producers import DescribeProducersRequest
from emulator.protocol.fetch import CONSUMER, NO_EPOCH
from emulator.protocol.groups.find_coordinator import CoordinatorType
from emulator.protocol.groups.group_offsets import OffsetCommitRequest, OffsetDeleteRequest, OffsetToCommit
from emulator.protocol.groups.membership import NO_MEMBER, LeaveGroupRequest, LeavingMember
from emulator.protocol.groups.operations import DeleteGroupsRequest, DescribeGroupsRequest, ListGroupsRequest
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest
from emulator.protocol.log_dirs import DescribeLogDirsRequest
from emulator.protocol.offsets_for_leader_epoch import EpochQuery, OffsetsForLeaderEpochRequest
from emulator.protocol.transactions.describing import DescribeTransactionsRequest, ListTransactionsRequest
from emulator.protocol.types import TopicPartition
from scenarios.cluster.clients.admin import KafkaError
from scenarios.cluster.clients.behaviours.coordinator import MOVED, Coordinator
from scenarios.language.clients import Behaviour, behaviour
from scenarios.language.schema.kinds import DURATION, Choice, ListOf, Text, as_tuple
from scenarios.language.schema.table_reader import key
from scenarios.language.topic_spec import PARTITION_NAME, split_partition
from scenarios.units import format_duration

if TYPE_CHECKING:
    from scenarios.language.clients import Client

Asked = Callable[["SeldomRequests", "Client"], Any]
MOST = 3
"""The most partitions that one request is about."""
PLACES_BACK_MS = (60_000, 2_000)
"""The longest time ago of which the client asks for the offset; every other time it is of what has just come."""
LARGE_BYTES = 2 << 20
"""The size of a message that is larger than max.message.bytes is by default."""
OPS = (
    AlterConfigOp("segment.bytes", OpType.SET, "8192"),
    AlterConfigOp("flush.messages", OpType.SET, "1"),
    AlterConfigOp("segment.bytes", OpType.DELETE),
    AlterConfigOp("flush.messages", OpType.DELETE),
    AlterConfigOp("min.insync.replicas", OpType.SET, "0"),
    AlterConfigOp("retention.ms", OpType.APPEND, "1"),
)
"""The changes of a topic's settings; the last two are refused."""

NAMES = ("retention.ms", "segment.bytes", "num.replica.fetchers", "unheard.of")
"""The settings that it asks for by name: of topics, of brokers, and one that there is not."""


def _tp(asker: SeldomRequests, client: Client) -> TopicPartition:
    return TopicPartition(*split_partition(asker.partitions[client.below(len(asker.partitions))]))


def _tps(asker: SeldomRequests, client: Client) -> list[TopicPartition]:
    """One partition or a few, which may have other leaders."""
    names, first = asker.partitions, client.below(len(asker.partitions))
    count = 1 + client.below(min(MOST, len(names)))
    return [TopicPartition(*split_partition(names[(first + place) % len(names)])) for place in range(count)]


def _topic(asker: SeldomRequests, client: Client) -> Resource:
    return Resource(ResourceType.TOPIC, _tp(asker, client).topic)


def _commit(asker: SeldomRequests, client: Client) -> OffsetCommitRequest:
    return OffsetCommitRequest(asker.group, (OffsetToCommit(_tp(asker, client), client.below(100)),))


def _removal(asker: SeldomRequests, client: Client) -> LeaveGroupRequest:
    return LeaveGroupRequest(asker.group, (LeavingMember(NO_MEMBER, f"static-{client.below(3)}"),))


def _place(asker: SeldomRequests, client: Client) -> OffsetsByTimeRequest:
    at_ms = max(0, round(client.now_s * 1000) - client.below(PLACES_BACK_MS[client.below(2)]))
    at_ms = (EARLIEST, LATEST, at_ms, at_ms)[client.below(4)]
    epoch = NO_EPOCH if client.below(2) else client.below(6)
    queries = tuple(OffsetQuery(tp, epoch, at_ms) for tp in _tps(asker, client))
    return OffsetsByTimeRequest(CONSUMER, queries, READ_COMMITTED if client.below(2) else READ_UNCOMMITTED)


def _epoch_end(asker: SeldomRequests, client: Client) -> OffsetsForLeaderEpochRequest:
    epoch = client.below(6)
    current = epoch + client.below(3) if client.below(2) else NO_EPOCH
    queries = tuple(EpochQuery(tp, current, epoch) for tp in _tps(asker, client))
    return OffsetsForLeaderEpochRequest(CONSUMER, queries)


def _deletion(asker: SeldomRequests, client: Client) -> DeleteRecordsRequest:
    offset = TO_HIGH_WATERMARK if client.below(4) == 0 else client.below(50) - 1
    return DeleteRecordsRequest(tuple((tp, offset) for tp in _tps(asker, client)), 1_000_000)


def _odd_topic(asker: SeldomRequests, client: Client) -> CreateTopicsRequest:
    there = NewTopic(_tp(asker, client).topic, 1, 1)
    odd = (there, NewTopic("..", 1, 1), NewTopic("a b", 1, 1), NewTopic("o" * 250, 1, 1), NewTopic("odd", 0, 1),
           NewTopic("odd", 1, 0), NewTopic("odd", 1, 99))  # fmt: skip
    return CreateTopicsRequest((odd[client.below(len(odd))],), 5_000_000)


def _odd_partitions(asker: SeldomRequests, client: Client) -> CreatePartitionsRequest:
    name = _tp(asker, client).topic if client.below(3) else "odd"
    return CreatePartitionsRequest((NewPartitions(name, client.below(2)),), 5_000_000)


def _description(asker: SeldomRequests, client: Client) -> DescribeConfigsRequest:
    own = str(client.brokers[client.below(len(client.brokers))])
    resource = Resource(ResourceType.BROKER, own) if client.below(3) == 0 else _topic(asker, client)
    names = (None, None, NAMES[:1], NAMES)[client.below(4)]
    return DescribeConfigsRequest(((resource, names),), client.below(2) == 0)


def _some(asker: SeldomRequests, client: Client) -> tuple[TopicPartition, ...] | None:
    return (_tp(asker, client), _tp(asker, client)) if client.below(2) else None


def _transactions(_asker: SeldomRequests, client: Client) -> ListTransactionsRequest:
    return (
        ListTransactionsRequest(), ListTransactionsRequest(states=("Ongoing", "Empty")),
        ListTransactionsRequest(producer_ids=(0, 1)), ListTransactionsRequest(states=("Unheard",)),
    )[client.below(4)]  # fmt: skip


OF_COORDINATORS: dict[str, Asked] = {
    "commit": _commit,
    "remove-member": _removal,
    "delete-offsets": lambda asker, client: OffsetDeleteRequest(asker.group, (_tp(asker, client),)),
    "delete-group": lambda asker, _client: DeleteGroupsRequest((asker.group,)),
    "describe-group": lambda asker, _client: DescribeGroupsRequest((asker.group,)),
}
"""Requests to the coordinator of the group."""
OF_BROKERS: dict[str, Asked] = {
    "list-groups": lambda _asker, _client: ListGroupsRequest(),
    "list-transactions": _transactions,
    "describe-transactions": lambda asker, _client: DescribeTransactionsRequest((*asker.ids, "unheard-of")),
    "describe-producers": lambda asker, client: DescribeProducersRequest(tuple(_tps(asker, client))),
    "describe-settings": _description,
    "describe-log-dirs": lambda asker, client: DescribeLogDirsRequest(_some(asker, client)),
    "describe-cluster": lambda _asker, _client: DescribeClusterRequest(),
    "change-setting": lambda asker, client: IncrementalAlterConfigsRequest(
        ((_topic(asker, client), (OPS[client.below(len(OPS))],)),)
    ),
    "delete-records": _deletion,
    "offset-of-time": _place,
    "end-of-epoch": _epoch_end,
}
"""Requests to any broker."""
OF_CONTROLLERS: dict[str, Asked] = {
    "odd-topic": _odd_topic, "odd-partitions": _odd_partitions,
    "list-moves": lambda asker, client: ListPartitionReassignmentsRequest(_some(asker, client)),
}  # fmt: skip
"""Requests to the controller, which refuses the odd ones."""
LARGE_BATCH = "large-batch"
REQUESTS = (*OF_COORDINATORS, *OF_BROKERS, *OF_CONTROLLERS, LARGE_BATCH)


@behaviour("seldom-requests", "a client that sends what is sent seldom: about groups, settings and places in logs")
@frozen(kw_only=True)
class SeldomRequests(Behaviour):
    """One client. It asks, one request after the other in an order that is drawn, and does nothing with the answers."""

    group: str = field(metadata=key(Text(), "the group that it asks about, commits offsets of, and deletes"))
    partitions: tuple[str, ...] = field(
        converter=as_tuple, metadata=key(ListOf(PARTITION_NAME, unique=True, empty=False), "what it asks about")
    )
    ids: tuple[str, ...] = field(
        default=(),
        converter=as_tuple,
        metadata=key(ListOf(Text(), unique=True), "the transactional ids that it asks about"),
    )
    requests: tuple[str, ...] = field(
        default=REQUESTS,
        converter=as_tuple,
        metadata=key(ListOf(Choice(REQUESTS, "request"), unique=True, empty=False), "which requests; absent = all"),
    )
    pause_us: int = field(default=1_000_000, metadata=key(DURATION, "between two requests", name="pause"))

    async def run(self, client: Client) -> None:
        coordinator = Coordinator(client, self.group, CoordinatorType.GROUP)
        while True:
            with suppress(KafkaError):
                await self._ask(client, coordinator)
            await client.sleep(format_duration(self.pause_us))

    async def _ask(self, client: Client, coordinator: Coordinator) -> None:
        """Raises: KafkaError."""
        name = self.requests[client.below(len(self.requests))]
        if name in OF_COORDINATORS:
            response = await coordinator.ask(OF_COORDINATORS[name](self, client))
            if getattr(response, "error", None) in MOVED:
                coordinator.moved()
            return
        if name in OF_CONTROLLERS:
            await client.ask_controller(OF_CONTROLLERS[name](self, client))
            return
        if name == LARGE_BATCH:
            await client.produce(str(_tp(self, client)), size=LARGE_BYTES, within="2s", retries=False)
            return
        broker = client.brokers[client.below(len(client.brokers))]
        await client.ask(broker, OF_BROKERS[name](self, client), "5s", retries=False)
