"""The parts of a broker that its partitions share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

from brokers.broker_policies import BrokerPolicies
from brokers.metadata_cache import MetadataCache
from brokers.metrics import ReplicaManagerMetrics
from brokers.partition.isr import AlterIsrManager
from brokers.partition.recorder import Recorder
from brokers.purgatory import Purgatory
from emulator.nodes import Agenda, Process
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from brokers.partition.partition import Partition


@define(eq=False)
class PartitionServices:
    """The parts of a broker that its partitions use; one object for all of them (the constructor arguments of
    kafka.cluster.Partition, 2.7).

    Attributes:
        policies: the rules of the release with the current settings; replaced when a setting changes.
        metrics: the gauges and meters that partitions update.
        alter_isr: writes changes of the ISR to ZooKeeper.
        purgatory: the fetch requests that partitions wake.
        recorder: the changes of logs in the current transition.
        metadata: the controller's metadata.
        truncated: called with a partition and its new log end offset when its log was truncated.
        isr_checks: the partitions led here whose ISR may have to change. isr-expiration checks only these, so that an
            idle partition costs nothing.
    """

    process: Process
    policies: BrokerPolicies
    metrics: ReplicaManagerMetrics
    alter_isr: AlterIsrManager
    purgatory: Purgatory
    recorder: Recorder
    metadata: MetadataCache
    truncated: Callable[[TopicPartition, int], object]
    isr_checks: Agenda[Partition, None] = field(factory=Agenda)
