"""The partitions of a coordinators' topic, as one broker has them."""

import pytest

from brokers.coordinators.appending import BatchIds
from brokers.coordinators.internal_topic import InternalTopicPartitions
from brokers.coordinators.transitions import Transitions
from brokers.requests.produce import ProduceHandler
from emulator.disks import DiskSpeed
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.java_hash import partition_of
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import Batch, TopicPartition
from tests.brokers.bench import ME, MS, Bench

TOPIC = "__internal"
HOME = TopicPartition.of(TOPIC, 0)
SECOND = 1_000_000


class TopicBench(Bench):
    """A topic of one partition, which this broker leads."""

    def restart(self) -> None:
        super().restart()
        self.read: list[tuple[int, int]] = []
        self.topic = self.partitions(TOPIC)
        self.lead(0, (ME,), tp=HOME, replicas=(ME,))

    def partitions(self, topic: str) -> InternalTopicPartitions:
        transitions = Transitions(self.process, self.manager.purgatory)
        return InternalTopicPartitions(
            self.manager, ProduceHandler(self.manager), transitions, topic, BatchIds(self.process, 0), lambda: 50,
            lambda *partition: self.read.append(partition),
        )  # fmt: skip

    def write(self, *, tp: TopicPartition = HOME) -> Errors:
        answers: list[Errors] = []
        batch = ProducedBatch(tp, 1, 100, self.topic.ids.next())
        self.topic.append(batch, SECOND, lambda error, _base_offset: answers.append(error))
        (answer,) = answers
        return answer

    def offsets(self) -> tuple[bool, list[int]]:
        """Whether the log could be read to its end, and the offsets of what it says."""
        batches: list[Batch] = []
        return self.topic.replay(0, batches.append), [batch.base_offset for batch in batches]


def test_a_key_belongs_where_the_settings_say_until_the_topic_is_known() -> None:
    bench = TopicBench()
    topic = bench.partitions("__other")
    assert topic.home("orders") == TopicPartition.of("__other", partition_of("orders", 50))
    bench.learn(TopicPartition.of("__other", 0), ME)
    assert topic.home("orders") == TopicPartition.of("__other", 0)


def test_metadata_that_lacks_partitions_sends_no_key_to_another() -> None:
    """kafka-2.3, seed 55 of the default swarm: a controller that has just begun names no partition that is offline. Ids
    went to a partition that was led, and two coordinators had the same id."""
    bench = TopicBench()
    topic = bench.partitions("__other")
    bench.manager.coordinated_partitions["__other"] = 3
    for partition in range(3):
        assert topic.home("writer-2") == TopicPartition.of("__other", 2)
        bench.learn(TopicPartition.of("__other", partition), ME)


def test_a_partition_is_owned_once_it_has_been_read() -> None:
    bench = TopicBench()
    assert bench.topic.error_of("orders") is Errors.NOT_COORDINATOR
    bench.topic.elected(0, 3)
    assert (bench.topic.error_of("orders"), bench.read) == (Errors.COORDINATOR_LOAD_IN_PROGRESS, [])
    bench.wait(0)
    assert (bench.topic.error_of("orders"), bench.read, dict(bench.topic.owned)) == (NO_ERROR, [(0, 3)], {0: 3})
    assert bench.topic.resigned(0, 4)
    assert bench.topic.error_of("orders") is Errors.NOT_COORDINATOR


def test_what_a_later_epoch_has_overtaken_changes_nothing() -> None:
    bench = TopicBench()
    assert not bench.topic.resigned(0, 4), "there was nothing to give up"
    bench.topic.elected(0, 3)
    bench.wait(0)
    assert not bench.topic.owned
    bench.topic.elected(0, 5)
    bench.wait(0)
    assert not bench.topic.resigned(0, 4)
    assert bench.topic.owned == {0: 5}
    assert bench.topic.resigned(0, None), "the replica was removed, whatever the epoch"


def test_a_resignation_ends_the_reading() -> None:
    bench = TopicBench()
    bench.topic.elected(0, 3)
    assert not bench.topic.resigned(0, 4)
    bench.wait(SECOND)
    assert (bench.read, bench.topic.loading) == ([], {})


@pytest.mark.parametrize(("read", "after_ms"), [(None, 5), (20_000, 7), (5_000, 15)])
def test_reading_follows_the_speed_of_the_disk(read: int | None, after_ms: int) -> None:
    bench = TopicBench()
    assert not bench.write()
    disk = bench.node.disks[0]
    disk.take_time(DiskSpeed(read=10_000), 0)  # the batch takes 10 ms

    async def body() -> None:
        bench.topic.elected(0, 3)
        await bench.world.sleep(5 * MS)
        disk.take_time(None if read is None else DiskSpeed(read=read), bench.world.now)
        await bench.world.sleep((after_ms - 5) * MS)
        assert bench.read == [] or read is None
        await bench.world.sleep(MS)
        assert bench.read == [(0, 3)]

    bench.world.run(body)


def test_a_resignation_ends_the_reading_from_a_slow_disk() -> None:
    bench = TopicBench()
    assert not bench.write()
    disk = bench.node.disks[0]
    disk.take_time(DiskSpeed(read=10_000), 0)

    async def body() -> None:
        bench.topic.elected(0, 3)
        await bench.world.sleep(5 * MS)
        assert not bench.topic.resigned(0, 4)
        disk.take_time(DiskSpeed(read=20_000), bench.world.now)
        await bench.world.sleep(SECOND)
        assert (bench.read, bench.topic.loading) == ([], {})

    bench.world.run(body)


def test_a_log_is_read_up_to_a_batch_that_is_corrupt() -> None:
    bench = TopicBench()
    for _ in range(3):
        assert not bench.write()
    assert bench.offsets() == (True, [0, 1, 2])
    bench.manager.partitions[HOME].log.corrupt(1)
    assert bench.offsets() == (False, [0])


def test_nothing_is_written_to_a_partition_that_the_broker_does_not_have() -> None:
    assert TopicBench().write(tp=TopicPartition.of(TOPIC, 1)) is Errors.NOT_LEADER_FOR_PARTITION


def test_incarnations_of_a_broker_give_their_batches_different_ids() -> None:
    bench = TopicBench()
    before = [bench.topic.ids.next() for _ in range(2)]
    bench.process.number += 1
    again = BatchIds(bench.process, 0)
    assert len({*before, *(again.next() for _ in range(2))}) == 4
