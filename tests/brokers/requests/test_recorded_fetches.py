"""When a follower's fetch counts: after the log was read for it, and not at all where that was refused
(ReplicaManager.fetchMessages and updateFollowerFetchState, 2.3.1 and 2.4.1; KafkaApis.handleFetchRequest, 0.8.0)."""

from collections.abc import Callable
from typing import Any

import pytest

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from emulator.disks import DiskFault
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchResponse
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from tests.brokers.bench import LAG, MS, TP, Bench, Follower, Line

CONFIG = BrokerConfig(replica_lag_time_max_us=LAG)
KAFKA_2_3 = BrokerPolicies(CONFIG)
KAFKA_2_4 = BrokerPolicies(
    CONFIG, refused_fetch_forgets=False, every_fetch_looks=False, high_watermark_completes_fetches=True
)
KAFKA_2_6 = BrokerPolicies(CONFIG, refused_fetch_forgets=False, every_fetch_looks=False)
KAFKA_2_5 = BrokerPolicies(
    CONFIG,
    refused_fetch_forgets=False,
    every_fetch_looks=False,
    high_watermark_completes_fetches=True,
    sessions_keep_epochs=True,
)
FORGETS = BrokerPolicies(CONFIG, sessions_keep_epochs=True)
"""2.3, with what it lacks (KAFKA-9338): else no fetch within a session is fenced."""

KAFKA_0_8 = BrokerPolicies(CONFIG, records_fetch_first=True, refused_fetch_forgets=False, checks_epochs=False)


def leader(policies: BrokerPolicies, batches: int = 3) -> tuple[Bench, Follower]:
    """A log of some batches, and a follower in the ISR that reads one at a time."""
    bench = Bench(policies)
    bench.at(5_000 * MS)
    bench.lead(isr=(0, 1))
    bench.produce()
    for _ in range(batches - 1):
        bench.produce()
    return bench, bench.follower(1, max_partition_bytes=100)


def told(answer: FetchResponse | None) -> tuple[int, list[int]] | None:
    """The high watermark and the base offsets that an answer brings."""
    if answer is None:
        return None
    [found] = answer.partitions
    return found.high_watermark, [batch.base_offset for batch in found.batches]


def test_a_follower_at_the_end_joins_the_isr_of_the_next_leader_epoch_with_its_next_fetch() -> None:
    """wiki-text, seed 10286: it fetched before its leader learned of the epoch in whose ISR it is not, and has nothing
    more to name in its requests (KIP-227); no epoch is checked."""
    bench = Bench(BrokerPolicies(CONFIG, checks_epochs=False))
    bench.at(5_000 * MS)
    bench.lead(isr=(0, 1))
    follower = bench.follower(1)
    follower.at(0, 1)
    bench.lead(1, isr=(0,), version=1)
    follower.expire()
    assert not bench.zk.waiting
    follower.fetch()
    assert len(bench.zk.waiting) == 1


@pytest.mark.parametrize(
    ("policies", "told_at", "later"),
    [
        (KAFKA_2_3, [(0, [0]), (0, [1]), (1, [2]), None], (3, [])),
        (KAFKA_2_4, [(0, [0]), (0, [1]), (1, [2]), (2, [])], (3, [])),  # KIP-392: nothing to read, and news
        (KAFKA_2_6, [(0, [0]), (0, [1]), (1, [2]), None], (3, [])),
        (KAFKA_0_8, [(0, [0]), (1, [1]), (2, [2]), None], (3, [])),
    ],
)
def test_records_come_with_the_high_watermark_from_before_their_fetch(
    policies: BrokerPolicies, told_at: list[tuple[int, list[int]] | None], later: tuple[int, list[int]]
) -> None:
    """Read the log, then update the follower: each fetch moves the high watermark, and the answer does not show it.
    0.8.0 updates the follower first. What waits is read again when it is answered."""
    bench, follower = leader(policies)
    assert [told(follower.at(offset)) for offset in range(4)] == told_at
    assert bench.partition.high_watermark == 3
    assert told(follower.fetch() if told_at[-1] else follower.expire()) == later


def test_a_second_partition_at_its_end_tells_the_high_watermark_from_before_its_fetch() -> None:
    """It has nothing to read, and is in the answer because the other has."""
    bench, follower = leader(KAFKA_2_3, batches=2)
    other = bench.partition.tp._replace(partition=1)
    bench.lead(tp=other, isr=(0, 1))
    bench.produce(other)
    follower.fetch((bench.partition.tp, 0, 0), (other, 0, 0))
    answer = follower.fetch((bench.partition.tp, 0, 1), (other, 0, 1))
    assert answer is not None
    assert [(found.tp, found.high_watermark) for found in answer.partitions] == [(bench.partition.tp, 0)]
    assert bench.manager.partitions[other].high_watermark == 1
    assert follower.fetch((bench.partition.tp, 0, 2)) is None
    answer = follower.expire()
    assert answer is not None
    assert {found.tp: found.high_watermark for found in answer.partitions} == {bench.partition.tp: 2, other: 1}


class Pipelining(Line):
    """A producer's connection on which the next request has come already: it is handled with the answer to this one."""

    next: Callable[[], object]

    def reply(self, response: Any, size: int, background: bool = False, held: bool = False) -> None:
        super().reply(response, size, background)
        self.next()


def test_a_fetch_whose_recording_lets_a_producer_go_on_is_answered_once() -> None:
    """It commits a batch with acks=all; the producer's next batch is for a partition that the same follower reads."""
    bench = Bench(KAFKA_2_3)
    other = TP._replace(partition=1)
    for tp in (TP, other):
        bench.lead(tp=tp, isr=(0, 1))
    follower = bench.follower(1, max_partition_bytes=100)
    assert follower.fetch((TP, 0, 0), (other, 0, 0)) is None
    producer = Pipelining()
    producer.next = lambda: bench.produce(other)
    bench.send(ProduceRequest(-1, 1_000_000, (ProducedBatch(TP, 1, 100, 7),), 100), producer)
    bench.produce()
    assert follower.answer(0) is not None
    answered = len(follower.line.replies)
    follower.fetch((TP, 0, 1))
    assert len(producer.replies) == 1
    assert len(follower.line.replies) == answered + 1
    assert follower.fetch((TP, 0, 2)) is not None


@pytest.mark.parametrize(
    ("policies", "known", "high_watermark"), [(KAFKA_2_3, -1, 0), (KAFKA_2_4, 0, 0), (KAFKA_0_8, 1, 1)]
)
def test_a_read_that_the_disk_refuses_counts_for_nothing(
    policies: BrokerPolicies, known: int, high_watermark: int
) -> None:
    """2.3.1 records -1 for it, 2.4.1 skips it (KAFKA-8400); 0.8.0 has recorded the fetch before."""
    bench, follower = leader(policies)
    follower.at(0)
    bench.partition.log.fail_disk(DiskFault("I/O error", ("read",)))
    bench.at(bench.world.now + 10 * MS)
    answer = follower.at(1)
    assert answer is not None
    assert answer.partitions[0].error is Errors.KAFKA_STORAGE_ERROR
    assert (bench.remote(1).log_end_offset, bench.partition.high_watermark) == (known, high_watermark)


@pytest.mark.parametrize(("policies", "joins"), [(KAFKA_2_3, True), (KAFKA_2_4, True), (KAFKA_2_5, False)])
def test_a_follower_that_does_not_know_the_new_epoch_goes_on_in_its_session(
    policies: BrokerPolicies, joins: bool
) -> None:
    """KAFKA-9338: up to 2.4 a session keeps no leader epoch. Recorded: 2.4.1, case `id-deleted`, where the follower
    gets no LeaderAndIsr and joins the ISR from which the controller has taken it."""
    bench, follower = leader(policies, batches=1)
    follower.at(0)
    follower.at(1)
    bench.lead(1, isr=(0,), version=1)
    answer = follower.fetch()
    assert bool(bench.zk.waiting) is joins
    assert (answer is None) is joins
    if answer is not None:
        assert answer.partitions[0].error is Errors.FENCED_LEADER_EPOCH


@pytest.mark.parametrize("policies", [KAFKA_2_3, KAFKA_2_4, KAFKA_2_5])
def test_a_new_session_is_held_against_the_epoch_that_it_names(policies: BrokerPolicies) -> None:
    bench, _ = leader(policies, batches=1)
    bench.lead(1, isr=(0, 1), version=1)
    answer = bench.follower(1).at(0, 0)
    assert answer is not None
    assert answer.partitions[0].error is Errors.FENCED_LEADER_EPOCH


@pytest.mark.parametrize(("epoch", "error"), [(1, Errors.NONE), (0, Errors.FENCED_LEADER_EPOCH)])
def test_a_full_request_begins_the_session_again(epoch: int, error: Errors) -> None:
    """Of a follower that had nothing to fetch for a while. One that keeps its session is checked against nothing,
    though the partition is new in it."""
    bench, follower = leader(KAFKA_2_4, batches=1)
    follower.at(0)
    bench.lead(1, isr=(0, 1), version=1)
    answer = follower.fetch((TP, 0, 0), forgotten=(TP,), session_epoch=epoch)
    assert answer is not None
    assert answer.partitions[0].error is error


@pytest.mark.parametrize(("policies", "leaves"), [(FORGETS, True), (KAFKA_2_5, False)])
def test_a_fetch_that_is_fenced_does_not_count_as_caught_up(policies: BrokerPolicies, leaves: bool) -> None:
    """The follower was at the end of the log, and does not learn of the new epoch. Up to 2.3 the leader forgets where
    it is, and drops it though nothing is written; since 2.4 only the next batch shows that it lags."""
    bench, follower = leader(policies, batches=1)
    follower.at(0)
    follower.at(1)
    bench.lead(1, isr=(0, 1), version=1)
    epoch_began = bench.world.now
    for _ in range(4):
        bench.at(bench.world.now + LAG)
        answer = follower.at(1)
        assert answer is not None
        assert answer.partitions[0].error is Errors.FENCED_LEADER_EPOCH
    assert bench.remote(1).last_caught_up_us == epoch_began
    bench.expire_isrs()
    assert bool(bench.zk.waiting) is leaves
    bench.produce()
    assert bench.remote(1).last_caught_up_us == epoch_began
    bench.expire_isrs()
    assert bench.zk.waiting


def test_the_fetches_before_one_that_is_refused_count() -> None:
    """They did not name the partition, and found nothing new."""
    bench, follower = leader(KAFKA_2_5, batches=1)
    follower.at(0)
    follower.at(1)
    for _ in range(2):
        if follower.fetch() is None:
            follower.expire()
    last = bench.world.now
    bench.at(last + 10 * MS)
    follower.fetch()
    before = bench.world.now
    follower.expire()
    answer = follower.at(0, 7)
    assert answer is not None
    assert answer.partitions[0].error is Errors.UNKNOWN_LEADER_EPOCH
    assert bench.remote(1).last_caught_up_us == before


def test_a_late_fetch_of_an_ended_process_hides_a_follower_only_until_its_next_fetch() -> None:
    """It was stuck on the connection of a process that has ended, and comes late. The new process is idle at the end of
    the log: its fetches name no partition."""
    bench, follower = leader(FORGETS, batches=1)
    follower.at(0)
    follower.at(1)
    bench.lead(1, isr=(0, 1), version=1)
    restarted = bench.follower(1)
    assert restarted.at(0, 1) is not None
    restarted.at(1, 1)
    late = follower.fetch()
    assert late is not None
    assert late.partitions[0].error is Errors.FENCED_LEADER_EPOCH
    assert bench.remote(1).log_end_offset == -1
    bench.at(bench.world.now + 500 * MS)
    restarted.fetch()
    assert (bench.remote(1).log_end_offset, bench.remote(1).last_caught_up_us) == (1, bench.world.now)
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    assert not bench.zk.waiting
