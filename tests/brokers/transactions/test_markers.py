"""The markers of transactions at the leaders of their partitions, and the offsets that transactions commit."""

from typing import Any, cast

import pytest

from brokers.groups.policies import GroupPolicies
from brokers.groups.transactional import TransactionalOffsets
from brokers.requests.produce import ProduceHandler
from brokers.transactions.marker_writing import MarkerWriter
from brokers.transactions.verification import Verify
from emulator.protocol.clients.fetch import READ_COMMITTED, READ_UNCOMMITTED, ConsumerFetchRequest, PartitionData
from emulator.protocol.clients.list_offsets import LATEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.clients.produce import RecordsProduceRequest
from emulator.protocol.control_batches import ControlBatch
from emulator.protocol.errors import Errors
from emulator.protocol.events import LatestOffsetReturned, TransactionMarked
from emulator.protocol.groups.group_offsets import NO_OFFSET, OffsetToCommit
from emulator.protocol.records import TRANSACTIONAL, ProducedRecords, RecordHeader
from emulator.protocol.shown import Deviated
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import ME, TP, state
from tests.brokers.groups.bench import GROUP, OFFSETS, GroupBench

ANNE = 7


class MarkersBench(GroupBench):
    """A broker that coordinates a group and leads ``TP`` alone."""

    def restart(self) -> None:
        super().restart()
        offsets = TransactionalOffsets(self.groups, cast(Verify, None))
        self.router.add(offsets)
        self.router.add(MarkerWriter(self.manager, ProduceHandler(self.manager), offsets, self.groups.transitions))

    def __init__(self, groups: GroupPolicies | None = None) -> None:
        super().__init__(groups)
        self.lead(0, (0,), replicas=(0,))
        self.learn(OFFSETS, 0)

    def write(self, sequence: int, *, epoch: int = 0, attributes: int = TRANSACTIONAL) -> Errors:
        """Two records."""
        header = RecordHeader(attributes, 2, 0, 0)
        batch = ProducedRecords(TP, 2, 100, 1 + sequence, ANNE, sequence, header, b"", producer_epoch=epoch)
        error: Errors = self.send(RecordsProduceRequest(-1, 1000, (batch,), 100)).last.partitions[0][1]
        return error

    def mark(
        self, *partitions: TopicPartition, committed: bool = True, epoch: int = 0, coordinator: int = 1
    ) -> list[Errors]:
        marker = TxnMarker(ANNE, epoch, coordinator, committed, partitions or (TP,))
        (outcomes,) = self.send(WriteTxnMarkersRequest((marker,))).last.outcomes
        return [error for _tp, error in outcomes]

    def read(self, isolation: int) -> tuple[int, Any]:
        """How many batches a consumer gets, and what it learns of transactions."""
        wanted = (PartitionData(TP, 0, 0, -1, 1 << 20),)
        request = ConsumerFetchRequest(-1, 0, -1, 0, 1, 1 << 20, 0, (), (), wanted, isolation)
        response = self.send(request).last
        return len(response.partitions[0].batches), response.stability.get(TP)

    def latest(self, isolation: int) -> int:
        asked = OffsetsByTimeRequest(-1, (OffsetQuery(TP, 0, LATEST),), isolation)
        offset: int = self.send(asked).last.found[0].offset
        return offset

    def commit_in_transaction(self, offset: int, *, epoch: int = 0, **more: Any) -> Errors:
        request = TxnOffsetCommitRequest(
            more.pop("group", GROUP), (OffsetToCommit(TP, offset),), **more, transactional_id="t", producer_id=ANNE,
            producer_epoch=epoch,
        )  # fmt: skip
        error: Errors = self.send(request).last.partitions[0][1]
        return error


def test_readers_of_committed_records_stop_at_an_open_transaction() -> None:
    bench = MarkersBench()
    assert bench.write(0) is Errors.NONE
    assert (bench.read(READ_UNCOMMITTED)[0], bench.read(READ_COMMITTED)[0]) == (1, 0)
    seen = bench.see(LatestOffsetReturned)
    assert (bench.latest(READ_UNCOMMITTED), bench.latest(READ_COMMITTED)) == (2, 0)
    assert [event.offset for event in seen] == [2], "by the other one no high watermark is judged"
    assert bench.mark(committed=False) == [Errors.NONE]
    count, stability = bench.read(READ_COMMITTED)
    assert (count, stability.last_stable_offset, stability.aborted) == (2, 3, ((ANNE, 0),))
    assert bench.read(READ_UNCOMMITTED)[1].aborted == ()
    assert bench.latest(READ_COMMITTED) == 3


def test_a_marker_is_a_batch_of_the_log() -> None:
    bench = MarkersBench()
    bench.write(0)
    bench.mark(coordinator=4)
    marker = cast(ControlBatch, bench.partition.log.batches[-1])
    assert (marker.base_offset, marker.next_offset, marker.committed, marker.coordinator_epoch) == (2, 3, True, 4)


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"epoch": 1}, Errors.INVALID_PRODUCER_EPOCH),
        ({"epoch": 2, "coordinator": 4}, Errors.TRANSACTION_COORDINATOR_FENCED),
        ({"epoch": 2, "coordinator": 5}, Errors.NONE),
    ],
)
def test_which_markers_are_fenced(changed: dict[str, int], error: Errors) -> None:
    bench = MarkersBench()
    assert bench.mark(epoch=2, coordinator=5, committed=False) == [Errors.NONE]
    assert bench.mark(**changed) == [error]  # type: ignore[arg-type]


def test_a_leader_that_is_gone_takes_no_marker() -> None:
    bench = MarkersBench()
    assert bench.mark(TP, TopicPartition("unknown", 0)) == [Errors.NONE, Errors.UNKNOWN_TOPIC_OR_PARTITION]
    bench.follow(1, 1)
    assert bench.mark() == [Errors.NOT_LEADER_FOR_PARTITION]


def test_a_leader_takes_a_marker_before_the_controller_has_announced_the_topic() -> None:
    """wiki-text, seed 638 of the default swarm: what a client produces is refused."""
    bench, other = MarkersBench(), TopicPartition("other", 0)
    bench.leader_and_isr(state(ME, 0, (0,), tp=other, replicas=(0,)))
    assert bench.mark(other) == [Errors.NONE]
    assert bench.produce(other).last.partitions[0][1] is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_marker_that_is_refused_for_want_of_replicas_is_none() -> None:
    bench = MarkersBench()
    marked: list[TransactionMarked] = []
    bench.trace.fold(TransactionMarked, marked.append)
    bench.manager.configured(f"topics/{TP.topic}", {"min.insync.replicas": "2"})
    assert bench.mark() == [Errors.NOT_ENOUGH_REPLICAS]
    assert not marked
    bench.manager.configured(f"topics/{TP.topic}", {})
    assert bench.mark() == [Errors.NONE]
    assert len(marked) == 1


def test_a_producer_that_was_fenced_by_a_marker_writes_no_more() -> None:
    bench = MarkersBench()
    bench.write(0)
    bench.mark(committed=False, epoch=1)
    assert bench.write(2) is Errors.INVALID_PRODUCER_EPOCH
    assert bench.write(0, epoch=1) is Errors.NONE
    assert bench.write(2, epoch=1, attributes=0) is Errors.INVALID_TXN_STATE


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("reloaded", [False, True])
def test_the_offsets_of_a_transaction_count_when_it_is_committed(committed: bool, reloaded: bool) -> None:
    bench = MarkersBench(GroupPolicies(unstable_offsets_wait=True))
    bench.commit(5)
    assert bench.commit_in_transaction(9) is Errors.NONE
    assert bench.fetch().offset == 5
    assert bench.fetch(stable=True).error is Errors.UNSTABLE_OFFSET_COMMIT
    if reloaded:
        bench.resign(1)
        bench.elect(2)
        bench.learn(OFFSETS, 0)
        assert bench.fetch(stable=True).error is Errors.UNSTABLE_OFFSET_COMMIT
    assert bench.mark(OFFSETS, committed=committed) == [Errors.NONE]
    found = bench.fetch(stable=True)
    assert (found.error, found.offset) == (Errors.NONE, 9 if committed else 5)
    if reloaded:
        bench.resign(3)
        bench.elect(4)
        assert bench.fetch().offset == found.offset


def test_a_reader_of_stable_offsets_gets_the_committed_one_before_kip_447() -> None:
    bench = MarkersBench()
    bench.commit(5)
    bench.commit_in_transaction(9)
    assert bench.fetch(stable=True).offset == 5


def test_a_later_commit_outside_the_transaction_counts() -> None:
    bench = MarkersBench()
    bench.commit_in_transaction(9)
    bench.commit(3)
    bench.mark(OFFSETS)
    assert bench.fetch().offset == 3


@pytest.mark.parametrize("before", [True, False])
def test_the_offset_of_a_deleted_topic_comes_back_with_its_transaction(before: bool) -> None:
    """GroupMetadata.removeOffsets, 0.11 to 3.9: the coordinator forgets it, and the next one finds it in the log."""
    bench = MarkersBench()
    if before:
        bench.commit(3)
    bench.commit_in_transaction(9)
    shown = bench.see(Deviated)
    bench.groups.partitions_deleted((TP,))
    assert [(one.ticket, one.topic, one.partition) for one in shown] == [("GroupMetadata.removeOffsets", *TP)]
    bench.mark(OFFSETS)
    assert bench.fetch().offset == NO_OFFSET
    bench.resign(1)
    bench.elect(2)
    assert bench.fetch().offset == 9


def test_a_group_that_has_only_offsets_of_an_open_transaction_stays() -> None:
    bench = MarkersBench()
    bench.commit_in_transaction(9)
    bench.groups.store.expire()
    assert not bench.group.can_be_removed
    bench.mark(OFFSETS, committed=False)
    assert bench.fetch().offset == NO_OFFSET
    assert bench.group.can_be_removed


@pytest.mark.parametrize(
    ("more", "error"),
    [
        ({"group": ""}, Errors.INVALID_GROUP_ID),
        ({"member_id": "stranger", "generation": 1}, Errors.UNKNOWN_MEMBER_ID),
        ({"generation": 7}, Errors.ILLEGAL_GENERATION),
        ({"epoch": 0}, Errors.INVALID_PRODUCER_EPOCH),
        ({"epoch": 1}, Errors.NONE),
    ],
)
def test_who_may_commit_offsets_in_a_transaction(more: dict[str, Any], error: Errors) -> None:
    bench = MarkersBench()
    bench.mark(OFFSETS, epoch=1)
    assert bench.commit_in_transaction(9, **{"epoch": 1, **more}) is error


def test_a_marker_for_a_partition_that_is_not_hosted() -> None:
    """KafkaApisTest.shouldRespondWithUnknownTopicWhenPartitionIsNotHosted: the other partition gets its marker."""
    bench = MarkersBench()
    bench.write(0)
    elsewhere = TopicPartition("t", 7)
    assert bench.mark(elsewhere) == [Errors.UNKNOWN_TOPIC_OR_PARTITION]
    assert bench.mark(elsewhere, TP) == [Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NONE]
