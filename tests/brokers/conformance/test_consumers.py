"""C113, C115, C119: fetches of consumers that wait, and ListOffsets requests."""

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.fetch import NO_EPOCH
from emulator.protocol.stop_replica import StopReplicaRequest
from tests.brokers.bench import TP
from tests.brokers.requests.test_consumer_fetch import consumer, led, offsets, seen

OLD, NEW = NO_EPOCH, 0


@pytest.mark.parametrize(
    ("epoch", "error"), [(OLD, Errors.NOT_LEADER_FOR_PARTITION), (NEW, Errors.FENCED_LEADER_EPOCH)]
)
def test_C119_a_waiting_consumer_learns_of_a_new_leader(epoch: int, error: Errors) -> None:
    """ReplicaManagerTest.testBecomeFollowerWhileOld/NewClientFetchInPurgatory."""
    bench = led()
    reader = consumer(bench)
    assert reader.at(0, epoch) is None
    bench.follow(1, epoch=1)
    assert seen(reader.answer(0))[0] is error


def test_C115_a_waiting_consumer_learns_of_the_end_of_the_replica() -> None:
    """ReplicaManagerTest.testClearFetchPurgatoryOnStopReplica."""
    bench = led()
    reader = consumer(bench)
    assert reader.at(0) is None
    bench.send(StopReplicaRequest(9, 1, -1, True, (TP,)))
    assert seen(reader.answer(0))[0] is Errors.NOT_LEADER_FOR_PARTITION


def test_C113_the_latest_offset_is_not_available_before_the_high_watermark_is_at_the_epochs_start() -> None:
    """PartitionTest.testMonotonicOffsetsAfterLeaderChange; S9. A follower gets the end all the same."""
    bench = led()
    for _ in range(3):
        bench.produce()
    bench.follow(1, epoch=1)
    bench.lead(2)
    assert offsets(bench, epoch=2) == (Errors.NONE, 0, -1)
    assert offsets(bench, replica=1, epoch=2) == (Errors.NONE, 0, 3)
    for broker in (1, 2):
        bench.follower(broker).at(3, 2)
    bench.produce()
    assert offsets(bench, epoch=2) == (Errors.NONE, 0, 3), "up to the high watermark"
