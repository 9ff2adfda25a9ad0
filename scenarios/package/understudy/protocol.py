"""Kafka's requests and responses, and what is in them, for tests that send some by hand."""

from emulator.protocol.alter_configs import (
    AlterConfigOp,
    AlterConfigsRequest,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
    OpType,
)
from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.api import Request, Response
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.describe_configs import (
    ConfigEntry,
    ConfigSource,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribedResource,
    Resource,
    ResourceType,
)
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.list_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
)
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.offsets_for_leader_epoch import (
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.produce import ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.stop_replica import StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import Batch, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest, UpdateMetadataResponse

__all__ = [
    "AlterConfigOp",
    "AlterConfigsRequest",
    "AlterConfigsResponse",
    "AlterPartitionReassignmentsRequest",
    "AlterPartitionReassignmentsResponse",
    "Batch",
    "ConfigEntry",
    "ConfigSource",
    "ControlledShutdownRequest",
    "ControlledShutdownResponse",
    "DescribeConfigsRequest",
    "DescribeConfigsResponse",
    "DescribedResource",
    "ElectLeadersRequest",
    "ElectLeadersResponse",
    "ElectionType",
    "EpochEndOffset",
    "EpochQuery",
    "Errors",
    "FetchPartition",
    "FetchRequest",
    "FetchResponse",
    "FetchedPartition",
    "IncrementalAlterConfigsRequest",
    "IncrementalAlterConfigsResponse",
    "LeaderAndIsrPartition",
    "LeaderAndIsrRequest",
    "LeaderAndIsrResponse",
    "ListOffsetsRequest",
    "ListOffsetsResponse",
    "ListPartitionReassignmentsRequest",
    "ListPartitionReassignmentsResponse",
    "MetadataRequest",
    "MetadataResponse",
    "OffsetsForLeaderEpochRequest",
    "OffsetsForLeaderEpochResponse",
    "OpType",
    "PartitionMetadata",
    "ProduceRequest",
    "ProduceResponse",
    "ProducedBatch",
    "Request",
    "Resource",
    "ResourceType",
    "Response",
    "StopReplicaRequest",
    "StopReplicaResponse",
    "TopicPartition",
    "UpdateMetadataRequest",
    "UpdateMetadataResponse",
]
