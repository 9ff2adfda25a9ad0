"""The metrics of a replica manager, on a bench."""

import pytest
from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from brokers.metrics import NOT_LEADING
from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered
from emulator.protocol.control_batches import ControlRecords
from emulator.protocol.errors import Errors
from emulator.protocol.events import LastStableOffsetLag, PartitionGauges
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.records import TRANSACTIONAL, ProducedRecords, RecordHeader
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from tests.brokers.bench import ME, MS, TP, Bench, Follower, batch, config, state

OTHER = TopicPartition("t", 1)
SECOND = 1_000_000


def short(name: str) -> str:
    return name.partition("name=")[2]


class Watched(Bench):
    """A bench, and the value of each metric as the trace has it."""

    def __init__(self, policies: BrokerPolicies | None = None) -> None:
        self.values: dict[str, int] = {}
        super().__init__(policies)

    def restart(self) -> None:
        self.trace.fold(MetricRegistered, lambda event: self.values.update({short(event.metric): 0}))
        self.trace.fold(GaugeSet, lambda event: self.values.update({short(event.metric): event.value}))
        self.trace.fold(MeterMarked, lambda event: self.values.update({short(event.metric): event.total}))
        super().restart()

    def gauges(self, *names: str) -> tuple[int, ...]:
        return tuple(self.values[name] for name in names)


def second_over(bench: Bench) -> None:
    """Call what runs at a grid tick: the bench's world does not run."""
    bench.at((bench.world.now // SECOND + 1) * SECOND)
    bench.process.metrics.meters.write()


def test_every_gauge_exists_before_anything_happens() -> None:
    bench = Watched()
    assert bench.gauges("LeaderCount", "PartitionCount", "UnderReplicatedPartitions", "OfflineReplicaCount") == (0,) * 4
    assert bench.values["IsrShrinksPerSec"] == 0
    assert bench.values["ReplicationBytesInPerSec"] == 0


def test_counts_follow_roles() -> None:
    bench = Watched()
    bench.lead()
    bench.leader_and_isr(state(1, 0, tp=OTHER))
    assert bench.gauges("LeaderCount", "PartitionCount") == (1, 2)
    bench.follow(1, epoch=1)
    assert bench.gauges("LeaderCount", "PartitionCount") == (0, 2)
    stop = StopReplicaRequest(9, 1, -1, True, (TP, OTHER))
    bench.send(stop)
    assert bench.gauges("LeaderCount", "PartitionCount") == (0, 0)


def test_a_request_about_many_partitions_is_one_change() -> None:
    bench = Watched()
    seen = bench.see(GaugeSet)
    bench.leader_and_isr(*(state(ME, 0, tp=TopicPartition("t", number)) for number in range(5)))
    leaders = [event.value for event in seen if short(event.metric) == "LeaderCount"]
    assert leaders == [5]


def test_the_in_sync_set_shows() -> None:
    bench = Watched(BrokerPolicies(topic_min_insync_replicas={"t": 2}))
    bench.lead(isr=(0, 1))
    names = ("UnderReplicatedPartitions", "UnderMinIsrPartitionCount", "AtMinIsrPartitionCount")
    assert bench.gauges(*names) == (1, 0, 1)
    bench.lead(epoch=1, isr=(0,))
    assert bench.gauges(*names) == (1, 1, 0)
    bench.lead(epoch=2)
    assert bench.gauges(*names) == (0, 0, 0)


def test_another_min_insync_replicas_shows_at_once() -> None:
    bench = Watched()
    bench.lead(isr=(0, 1))
    bench.manager.configured("topics/t", {"min.insync.replicas": "3"})
    assert bench.gauges("UnderMinIsrPartitionCount") == (1,)
    bench.manager.configured("topics/t", {})
    bench.manager.configured("brokers/<default>", {"min.insync.replicas": "2"})
    assert bench.gauges("UnderMinIsrPartitionCount", "AtMinIsrPartitionCount") == (0, 1)


def test_isr_writes_are_counted_when_they_took_effect() -> None:
    bench = Watched(config(replica_lag_time_max_us=100 * MS))
    bench.at(SECOND)
    bench.lead()
    bench.produce()
    follower = bench.follower(1)
    follower.at(0)
    bench.at(bench.world.now + 200 * MS)
    follower.at(1)
    bench.expire_isrs()
    assert bench.gauges("UnderReplicatedPartitions") == (0,)
    bench.zk.answer(ZkCode.OK, 1)
    assert bench.gauges("UnderReplicatedPartitions") == (1,)
    bench.follower(2).at(1)
    bench.zk.answer(ZkCode.BAD_VERSION)
    bench.zk.answer(ZkCode.OK, 1, "another's")
    second_over(bench)
    assert bench.gauges("IsrShrinksPerSec", "IsrExpandsPerSec", "FailedIsrUpdatesPerSec") == (1, 0, 1)


def test_what_producers_send_is_metered_by_topic_and_in_all() -> None:
    bench = Watched()
    bench.lead()
    bench.lead(tp=TopicPartition("u", 0))
    bench.produce(count=3)
    bench.produce(TopicPartition("u", 0), TP, count=2)
    second_over(bench)
    assert bench.gauges("MessagesInPerSec", "MessagesInPerSec,topic=t", "MessagesInPerSec,topic=u") == (7, 5, 2)
    assert bench.gauges("BytesInPerSec", "BytesInPerSec,topic=t", "BytesOutPerSec") == (300, 200, 0)


def test_what_consumers_are_sent_is_metered_by_topic_and_in_all() -> None:
    bench = Watched()
    bench.lead(isr=(ME,))
    bench.produce()
    bench.produce()
    bench.follower(CONSUMER).at(0)
    bench.follower(1).at(0)
    second_over(bench)
    assert bench.gauges("BytesOutPerSec", "BytesOutPerSec,topic=t", "ReplicationBytesOutPerSec") == (200, 200, 200)


def test_followers_count_as_readers_before_kip_153() -> None:
    bench = Watched(BrokerPolicies(measures_replication_as_sent=True))
    bench.lead(isr=(ME,))
    bench.produce()
    bench.follower(CONSUMER).at(0)
    bench.follower(1).at(0)
    second_over(bench)
    assert bench.gauges("BytesOutPerSec", "BytesOutPerSec,topic=t") == (200, 200)


def test_replication_is_metered_on_both_sides() -> None:
    bench = Watched()
    bench.lead()
    bench.produce()
    bench.follower(1).at(0)
    second_over(bench)
    assert bench.gauges("ReplicationBytesOutPerSec", "ReplicationBytesInPerSec") == (100, 0)
    bench.follow(1, epoch=1).append_as_follower((batch(1), batch(2)), 2)
    second_over(bench)
    assert bench.gauges("ReplicationBytesOutPerSec", "ReplicationBytesInPerSec") == (100, 200)


def test_of_that_reassignment_is_what_added_replicas_get() -> None:
    bench = Watched()
    bench.leader_and_isr(evolve(state(ME, 0, replicas=(0, 1, 2, 3)), adding=(3,)))
    bench.learn(TP, ME)
    bench.produce()
    for broker in (1, 3):
        bench.follower(broker).at(0)
    bench.leader_and_isr(evolve(state(1, 1), adding=(0,)))
    bench.partition.append_as_follower((batch(1),), 1)
    second_over(bench)
    assert bench.gauges("ReplicationBytesOutPerSec", "ReassignmentBytesOutPerSec") == (200, 100)
    assert bench.gauges("ReplicationBytesInPerSec", "ReassignmentBytesInPerSec") == (100, 100)


def test_a_partition_that_is_not_here_has_no_part_in_reassignments() -> None:
    bench = Watched()
    bench.leader_and_isr(evolve(state(ME, 0, replicas=(0, 1, 2, 3)), adding=(3,)))
    bench.learn(TP, ME)
    bench.produce()
    answer = bench.follower(3).fetch((TP, 0, 0), (TopicPartition("t", 7), 0, 0))
    assert answer is not None
    assert [found.error for found in answer.partitions] == [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION]
    second_over(bench)
    assert bench.gauges("ReplicationBytesOutPerSec", "ReassignmentBytesOutPerSec") == (100, 100)


def transactional(base_sequence: int) -> ProducedRecords:
    """Two records of a transaction."""
    return ProducedRecords(TP, 2, 100, 1, 7, base_sequence, RecordHeader(TRANSACTIONAL, 2, 0, 0), b"", producer_epoch=0)


def marker() -> ControlRecords:
    return ControlRecords.of(TP, 9, 7, 0, 3, committed=True)


def test_a_log_without_transactions_has_no_last_stable_offset_lag() -> None:
    bench = Watched()
    seen = bench.see(LastStableOffsetLag)
    bench.lead()
    bench.produce(count=4)
    for broker in (1, 2):
        bench.follower(broker).at(4)
    second_over(bench)
    assert seen == []


def test_last_stable_offset_lag_counts_committed_records_from_the_first_open_transaction_on() -> None:
    bench = Watched()
    seen = bench.see(LastStableOffsetLag)
    bench.lead()
    bench.produce()
    bench.partition.append_as_leader(transactional(0))
    second_over(bench)
    assert seen == [], "nothing of it is committed"
    followers = caught_up_to(bench, 3)
    second_over(bench)
    assert [event.lag for event in seen] == [2]
    bench.partition.append_as_leader(marker())
    for follower in followers:
        follower.at(4)
    second_over(bench)
    assert [event.lag for event in seen] == [2, 0]


def caught_up_to(bench: Bench, offset: int) -> list[Follower]:
    followers = [bench.follower(broker) for broker in (1, 2)]
    for follower in followers:
        follower.at(offset)
    return followers


@pytest.mark.parametrize(("shows", "expected"), [(False, [2, 0]), (True, [2])])
def test_followers_have_a_last_stable_offset_lag_since_kafka_8457(shows: bool, expected: list[int]) -> None:
    bench = Watched(BrokerPolicies(followers_show_stability=shows))
    seen = bench.see(LastStableOffsetLag)
    bench.lead()
    bench.partition.append_as_leader(transactional(0))
    caught_up_to(bench, 2)
    second_over(bench)
    bench.follow(1, epoch=1)
    second_over(bench)
    assert [event.lag for event in seen] == expected
    bench.partition.append_as_follower((transactional(2).placed(2, 1, 0),), 4)
    second_over(bench)
    assert [event.lag for event in seen] == [*expected, *([4] if shows else [])]


def test_a_leader_that_begins_with_an_open_transaction_shows_its_lag() -> None:
    """Kafka computes the gauge when it is read (Partition, 2.3.1)."""
    bench = Watched(BrokerPolicies(followers_show_stability=False))
    seen = bench.see(LastStableOffsetLag)
    bench.follow()
    bench.partition.append_as_follower((transactional(0).placed(0, 0, 0),), 2)
    second_over(bench)
    assert seen == []
    bench.lead(epoch=1)
    second_over(bench)
    assert [event.lag for event in seen] == [2]


def test_the_lag_counts_from_the_start_of_a_log_that_passes_an_open_transaction() -> None:
    """Log.maybeIncrementLogStartOffset, 2.3.1: the first unstable offset is no lower than the start."""
    bench = Watched()
    seen = bench.see(LastStableOffsetLag)
    bench.lead()
    bench.partition.append_as_leader(transactional(0))
    bench.produce(count=2)
    caught_up_to(bench, 4)
    second_over(bench)
    bench.partition.log.raise_start_to(1)
    bench.partition.log_start_moved("size")
    second_over(bench)
    assert [event.lag for event in seen] == [4, 3]


def test_a_follower_that_truncates_has_another_lag() -> None:
    bench = Watched(BrokerPolicies(followers_show_stability=True))
    seen = bench.see(LastStableOffsetLag)
    bench.follow()
    bench.partition.append_as_follower((transactional(0).placed(0, 0, 0), batch(2, count=2)), 4)
    second_over(bench)
    bench.partition.truncate_to(2)
    second_over(bench)
    assert [event.lag for event in seen] == [4, 2]


def test_a_follower_shows_nothing_and_holds_nothing() -> None:
    bench = Watched()
    seen = bench.see(PartitionGauges)
    bench.follow()
    assert seen == []
    assert bench.partition.figures is NOT_LEADING
