"""StopReplica where the replica's log directory has failed, and of a replica that the broker has on its disk only:
ReplicaManagerTest of Kafka 2.7.2."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.disks import DiskFault
from emulator.protocol.errors import Errors
from emulator.protocol.events import LogDirFailed, ReplicaStopped
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import TP, Bench
from tests.brokers.replica_manager.test_log_dir_failures import bench_with, handled
from tests.brokers.replica_manager.test_roles import stop

STORAGE_ERROR = Errors.KAFKA_STORAGE_ERROR


@pytest.mark.parametrize(
    ("refuses", "delete", "error"),
    [
        (True, False, STORAGE_ERROR), (True, True, STORAGE_ERROR),
        (False, False, Errors.NONE), (False, True, STORAGE_ERROR),
    ],
)  # fmt: skip
def test_stop_replica_with_offline_partition(refuses: bool, delete: bool, error: Errors) -> None:
    """testStopReplicaWithOfflinePartition: an error also without deletion, since 2.6."""
    bench = Bench(BrokerPolicies(stop_refuses_offline=refuses))
    bench.lead(1)
    bench.manager.mark_partition_offline(bench.partition)
    stopped = bench.see(ReplicaStopped)
    assert stop(bench, delete, leader_epochs=(1,)).partitions == ((TP, error),)
    assert [event.deleted for event in stopped] == ([] if refuses else [False])


@pytest.mark.parametrize("delete", [False, True])
def test_stop_replica_with_inexistent_partition(delete: bool) -> None:
    """testStopReplicaWithInexistentPartition(AndPartitionsDelete): the log that no LeaderAndIsr has named goes, too."""
    bench = Bench()
    bench.manager.logs.open(TP, is_new=True)
    assert stop(bench, delete, leader_epochs=(1,)).partitions == ((TP, Errors.NONE),)
    assert bench.node.disk.list("logs/") == ([] if delete else [f"logs/{TP}"])


@pytest.mark.parametrize("known", [True, False])
def test_stop_replica_with_deletion_on_a_disk_that_refuses(known: bool) -> None:
    """testStopReplicaWith(Inexistent|DeletePartitionAndExisting)Partition…AndIOException: the error is that of the
    replica alone, and the directory goes offline with all that it holds."""
    bench = bench_with()
    other = TopicPartition("t", 2)
    if known:
        bench.lead(tp=other)
    else:
        bench.manager.logs.open(other, is_new=True)
    disk, failed = bench.node.disks[0], bench.see(LogDirFailed)
    assert disk.exists(f"logs/{other}")
    disk.fail(DiskFault("I/O error", report=disk.report))
    line = bench.send(StopReplicaRequest(9, 1, -1, True, (other,), (2,)))
    assert line.last.partitions == ((other, STORAGE_ERROR),)
    handled(bench)
    assert [event.directory for event in failed] == [disk.name]
    assert list(bench.manager.offline) == [TP, other] if known else [TP]
    assert list(bench.manager.partitions) == [TopicPartition("t", 1)]
    assert disk.exists(f"logs/{other}")
