"""The snapshots of producers whose batches retention has deleted."""

import pytest

from brokers.log.producer_state_manager import ProducerSnapshots, ProducerStateManager
from emulator.disks import Disk, DiskError, DiskFault
from emulator.protocol.types import TopicPartition

TP = TopicPartition("t", 0)


def test_a_snapshot_that_the_disk_refused_is_not_there() -> None:
    """kafka-2.4, seed 7339: the directory failed as a log's first snapshot was written, and was used again."""
    disk = Disk("/data/0", fault=DiskFault("No space left on device", left=1))
    snapshots = ProducerSnapshots(disk)
    with pytest.raises(DiskError):
        snapshots.put(TP, ProducerStateManager())
    assert snapshots.get(TP) is None
    state = ProducerStateManager()
    snapshots.put(TP, state)
    assert snapshots.get(TP) is state
