"""Kafka's messages as they pass: the classes behind the names that a scenario uses, and what one says in a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.network import Passing
from emulator.protocol.alter_isr import AlterIsrRequest, AlterIsrResponse
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.elect_leaders import ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.fetch import FetchRequest, FetchResponse
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.list_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from emulator.protocol.log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
)
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.offsets_for_leader_epoch import (
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.produce import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProduceRequest,
    ProduceResponse,
)
from emulator.protocol.stop_replica import StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse
from emulator.zookeeper import ZOOKEEPER
from emulator.zookeeper.messages import Ask, Multi, Op, Request, Response

APIS: Mapping[str, tuple[type, type]] = {
    "LeaderAndIsr": (LeaderAndIsrRequest, LeaderAndIsrResponse),
    "UpdateMetadata": (UpdateMetadataRequest, UpdateMetadataResponse),
    "StopReplica": (StopReplicaRequest, StopReplicaResponse),
    "Fetch": (FetchRequest, FetchResponse),
    "OffsetsForLeaderEpoch": (OffsetsForLeaderEpochRequest, OffsetsForLeaderEpochResponse),
    "ListOffsets": (ListOffsetsRequest, ListOffsetsResponse),
    "Produce": (ProduceRequest, ProduceResponse),
    "InitProducerId": (InitProducerIdRequest, InitProducerIdResponse),
    "Metadata": (MetadataRequest, MetadataResponse),
    "AlterIsr": (AlterIsrRequest, AlterIsrResponse),
    "ControlledShutdown": (ControlledShutdownRequest, ControlledShutdownResponse),
    "ElectLeaders": (ElectLeadersRequest, ElectLeadersResponse),
    "AlterPartitionReassignments": (AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse),
    "ListPartitionReassignments": (ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse),
    "AlterReplicaLogDirs": (AlterReplicaLogDirsRequest, AlterReplicaLogDirsResponse),
    "DescribeLogDirs": (DescribeLogDirsRequest, DescribeLogDirsResponse),
}
"""API -> the classes of its request and its answer."""

_NAMES = {kind: name for name, (request, answer) in APIS.items() for kind in (request, answer)}
_ANSWERS = [answer for _, answer in APIS.values()]
_LISTS = ("partitions", "batches", "targets", "remaining")
"""Where messages have their partitions."""

NAMED = 3
"""Partitions that a line names."""


def partitions_of(body: Any) -> Iterator[TopicPartition]:
    """The partitions that a message of Kafka's names."""
    one = getattr(body, "tp", None)
    if one is not None:
        yield one
    for name in _LISTS:
        for part in getattr(body, name, None) or ():
            yield part if isinstance(part, TopicPartition) else part[0] if isinstance(part, tuple) else part.tp


def operations(request: Request) -> tuple[Op, ...]:
    """What is asked of ZooKeeper, taken apart; a read stands for itself and is called no write."""
    return request.ops if isinstance(request, Multi) else (request,)  # type: ignore[return-value]


def told(passing: Passing) -> str:
    """A message in a line: what, from whom to whom, about what."""
    body = passing.body
    way = f"{_machine(passing.source)} -> {_machine(passing.target)}"
    if isinstance(body, Ask):
        kind = type(body.request).__name__
        return f"{kind[0].lower()}{kind[1:]} {way}: {', '.join(op.path for op in operations(body.request))}"
    if isinstance(body, Response):
        return f"answer {way}: {', '.join(one.path for one in body.results or (body,))}"
    named = [str(tp) for tp in partitions_of(body)]
    more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
    about = f": {', '.join(named[:NAMED])}{more}" if named else ""
    return f"{'answer to ' if type(body) in _ANSWERS else ''}{_NAMES[type(body)]} {way}{about}"


def _machine(number: int) -> str:
    return "ZooKeeper" if number == ZOOKEEPER else str(number) if number >= 0 else f"client {number}"
