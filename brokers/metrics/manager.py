"""The metrics of ReplicaManager (kafka-behaviour, 9): sums over the partitions, kept up as these change."""

from typing import TYPE_CHECKING

from brokers.metrics.partition import Figures, figures
from brokers.metrics.stable import StableLags
from brokers.metrics.topics import BrokerTopicMetrics
from emulator.metrics import mbean
from emulator.nodes import Process
from emulator.protocol.events import PartitionGauges

if TYPE_CHECKING:
    from brokers.partition import Partition
    from brokers.policies import BrokerPolicies
    from brokers.replicas.manager import ReplicaManager


def _name(name: str) -> str:
    return mbean("kafka.server", "ReplicaManager", name)


SUMS = {
    "leads": "LeaderCount",
    "under_replicated": "UnderReplicatedPartitions",
    "under_min_isr": "UnderMinIsrPartitionCount",
    "at_min_isr": "AtMinIsrPartitionCount",
    "reassigning": "ReassigningPartitions",
    "reassigned": "ReassignedCount",
}
"""Which figure of a partition each gauge of the broker is the sum of."""
_REASSIGNING = Figures._fields.index("reassigning")
_SUMMED = tuple((Figures._fields.index(figure), name) for figure, name in SUMS.items())


class ReplicaManagerMetrics:
    """Gauges and meters of one broker. A partition that changes says so; nothing is ever counted anew.

    Attributes:
        topics: BrokerTopicMetrics.
        stable: the lag of each partition's last stable offset.
    """

    def __init__(self, process: Process, manager: "ReplicaManager") -> None:
        metrics = process.metrics
        self._process = process
        self._manager = manager
        self._partitions = metrics.gauge(_name("PartitionCount"))
        self._sums = tuple((index, metrics.gauge(_name(name))) for index, name in _SUMMED)
        self._totals = [0] * len(Figures._fields)
        self._offline = metrics.gauge(_name("OfflineReplicaCount"))
        self._isr_writes = {
            "expand": metrics.meter(_name("IsrExpandsPerSec")),
            "shrink": metrics.meter(_name("IsrShrinksPerSec")),
        }
        self._failed_isr_writes = metrics.meter(_name("FailedIsrUpdatesPerSec"))
        self.topics = BrokerTopicMetrics(metrics)
        self.stable = StableLags(process)

    def changed(self, partition: "Partition") -> None:
        """What its leader knows of ``partition`` is another, or it does not lead here any more. ``show`` comes next."""
        policies = self._manager.policies
        least = policies.min_insync_replicas(partition.tp.topic)
        now = figures(partition, policies.under_replication, least)
        before = partition.figures
        if now is before or now == before:
            return
        partition.figures = now
        for index, _gauge in self._sums:
            self._totals[index] += now[index] - before[index]
        tp = partition.tp
        self._process.emit(PartitionGauges, self._process.node.id, tp.topic, tp.partition, *now)
        if partition in self.stable.lags:
            self.stable.changed(partition)

    @property
    def reassigning(self) -> bool:
        """Whether a reassignment adds or removes a replica of any partition that is led here."""
        return self._totals[_REASSIGNING] > 0

    def show(self) -> None:
        """The transition is over: the broker's gauges are what the partitions' are."""
        manager = self._manager
        self._offline.set(len(manager.offline))
        self._partitions.set(len(manager.partitions) + len(manager.offline))
        for index, gauge in self._sums:
            gauge.set(self._totals[index])

    def configured(self, before: "BrokerPolicies") -> None:
        """Settings have changed: min.insync.replicas, of a topic or of all, shows at once."""
        manager = self._manager
        if manager.policies.all_min_insync_replicas != before.all_min_insync_replicas:
            for partition in manager.partitions.values():
                self.changed(partition)
            self.show()

    def isr_written(self, partition: "Partition", kind: str) -> None:
        """An ``expand`` or a ``shrink`` took effect."""
        self._isr_writes[kind].mark()
        self.changed(partition)
        self.show()

    def isr_write_failed(self) -> None:
        """It lost against a newer version."""
        self._failed_isr_writes.mark()
