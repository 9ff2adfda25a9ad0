"""Requests while the ISR of a partition is written to ZooKeeper (``brokers.requests.lock_waits``)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from brokers.requests.handler_pool import RequestHandlerPool
from brokers.requests.lock_waits import LockWaits
from brokers.service import ServiceTimes
from emulator.network import Channel
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import CONSUMER
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.offsets_for_leader_epoch import EpochQuery as Query
from emulator.protocol.offsets_for_leader_epoch import ListOffsetsRequest, OffsetsForLeaderEpochRequest
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkCode
from tests.brokers.bench import LAG, TP, Bench, Follower, Line, config, state
from tests.brokers.requests.clients import at, fetch

OTHER = TopicPartition("t", 1)


def watched(bench: Bench, *, threads: int = 8, readers_wait: bool = True) -> LockWaits:
    """The requests of a bench's broker wait for locks, as a broker's do."""
    manager, handler = bench.manager, bench.fetch_handler
    waits = LockWaits(bench.process, bench.router, manager.isr_locks, threads, handler.fetches_any, readers_wait)
    waits.watch()
    return waits


def shrinking(*, threads: int = 8, readers_wait: bool = True) -> Bench:
    """A leader of two partitions that removes both followers of ``TP`` from the ISR; ZooKeeper has not answered."""
    bench = Bench(config(replica_lag_time_max_us=LAG))
    watched(bench, threads=threads, readers_wait=readers_wait)
    bench.lead()
    bench.lead(tp=OTHER, isr=(0,))
    bench.produce()
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    assert list(bench.manager.isr_locks.held) == [TP]
    return bench


def answered(bench: Bench) -> None:
    bench.zk.answer(ZkCode.OK, 1)


def test_appends_wait_and_those_of_other_partitions_do_not() -> None:
    bench = shrinking()
    waits = [bench.produce(acks=acks) for acks in (0, 1, -1)]
    assert bench.produce(OTHER).last.partitions[0][1] is Errors.NONE
    assert [line.replies for line in waits] == [[], [], []]
    assert bench.partition.log.end_offset == 1
    answered(bench)
    assert bench.partition.log.end_offset == 4
    assert [len(line.replies) for line in waits] == [0, 1, 1]
    assert bench.partition.isr == (0,)


def test_deletions_of_records_wait() -> None:
    bench = shrinking()
    line = bench.send(DeleteRecordsRequest(((TP, 0),), 1_000_000))
    assert not line.replies
    answered(bench)
    assert bench.manager.deletion is not None
    assert bench.manager.deletion.waiting, "it waits for its replicas, as the lock is released"


def test_a_request_for_several_partitions_waits_as_a_whole() -> None:
    bench = shrinking()
    line = bench.produce(OTHER, TP)
    assert not line.replies
    answered(bench)
    assert len(line.last.partitions) == 2


def test_a_follower_waits_with_all_partitions_of_its_session() -> None:
    bench = Bench(config(replica_lag_time_max_us=LAG))
    watched(bench)
    bench.lead()
    bench.lead(tp=OTHER)
    bench.produce(TP, OTHER)
    follower, alone = bench.follower(1), bench.follower(2)
    assert follower.fetch((TP, 0, 0), (OTHER, 0, 0)) is not None
    bench.produce(TP, OTHER)
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    assert follower.fetch((OTHER, 0, 1)) is None, "it names the other one alone"
    assert alone.fetch((OTHER, 0, 0)) is not None
    assert bench.manager.partitions[OTHER].remotes[1].log_end_offset < 1
    answered(bench)
    assert follower.answer(1) is not None
    assert bench.manager.partitions[OTHER].remotes[1].log_end_offset == 1


@pytest.mark.parametrize("waits", [True, False])
def test_consumers_wait_since_2_1(waits: bool) -> None:
    bench = shrinking(readers_wait=waits)
    emulated = Follower(bench, CONSUMER, {"min_bytes": 0})
    emulated.fetch((TP, -1, 0))
    real, offsets = fetch(bench, at(0), max_wait_us=0), bench.send(ListOffsetsRequest(TP, -1, CONSUMER))
    lines = [real, offsets, emulated.line]
    assert [bool(line.replies) for line in lines] == [not waits] * 3
    answered(bench)
    assert [bool(line.replies) for line in lines] == [True] * 3


@pytest.mark.parametrize(("deletes", "waits"), [(True, True), (False, False)])
def test_a_replica_is_deleted_after_the_write(deletes: bool, waits: bool) -> None:
    bench = shrinking()
    line = bench.send(StopReplicaRequest(9, 1, -1, deletes, (TP,)))
    assert bool(line.replies) is not waits
    answered(bench)
    assert line.replies


def test_a_role_changes_after_the_write() -> None:
    bench = shrinking()
    line = bench.send(LeaderAndIsrRequest(9, 1, -1, (state(1, 1),), ()))
    leads = [bench.partition.is_leader]
    answered(bench)
    assert [*leads, bench.partition.is_leader] == [True, False]
    assert line.replies
    assert bench.partition.zk_version == 0, "of the LeaderAndIsr, which came after the write"


def test_when_every_thread_waits_nothing_is_served() -> None:
    bench = shrinking(threads=2)
    quick = StopReplicaRequest(9, 1, -1, False, (OTHER,))
    assert bench.send(quick).replies
    lines = [bench.produce() for _ in range(2)]
    later = [bench.send(quick), bench.produce(OTHER), bench.produce()]
    assert not any(line.replies for line in (*lines, *later))
    answered(bench)
    assert all(line.replies for line in (*lines, *later))
    assert bench.send(quick).replies


def test_a_write_that_is_refused_releases_the_lock() -> None:
    bench = shrinking()
    line = bench.produce()
    bench.zk.answer(ZkCode.BAD_VERSION)
    assert not line.replies, "the leader reads what the znode holds"
    bench.zk.answer(ZkCode.OK, data="another leader's")
    assert line.replies
    assert bench.partition.isr == (0, 1, 2)


def test_isrs_are_written_one_after_the_other() -> None:
    bench = Bench(config(replica_lag_time_max_us=LAG))
    watched(bench)
    tps = [TopicPartition("t", number) for number in range(3)]
    for tp in tps:
        bench.lead(tp=tp)
    bench.produce(*tps)
    bench.at(bench.world.now + 2 * LAG)
    bench.expire_isrs()
    for number, tp in enumerate(tps):
        assert list(bench.manager.isr_locks.held) == [tp]
        assert len(bench.zk.waiting) == 1
        bench.expire_isrs()  # the next one is due, and comes when this one has ended
        answered(bench)
        assert bench.manager.partitions[tp].isr == (0,), number
    assert not bench.zk.waiting
    assert not bench.manager.isr_locks.held


def test_what_was_asked_last_comes_last_and_knows_its_cause() -> None:
    bench = shrinking(threads=1)
    causes: list[Any] = []
    trace = bench.process.node.trace
    handler = bench.router._handlers
    append = handler[ProduceRequest]

    def noting(request: Any, channel: Channel) -> None:
        causes.append(trace.cause)
        append(request, channel)

    handler[ProduceRequest] = noting
    for cause in (11, 12, 13):
        trace.cause = cause
        bench.produce()
    answered(bench)
    assert causes == [11, 12, 13]
    assert trace.cause not in causes


def test_a_connection_that_is_gone_is_served_all_the_same() -> None:
    bench = shrinking()
    line = bench.produce()
    line.endpoint.done = True
    answered(bench)
    assert bench.partition.log.end_offset == 2
    assert line.forgotten


def test_questions_for_epochs_wait() -> None:
    bench = shrinking()
    line = bench.send(OffsetsForLeaderEpochRequest(1, (Query(TP, 0, 0),)))
    assert not line.replies
    answered(bench)
    assert line.replies


def test_threads_that_take_time_are_the_same_threads() -> None:
    """Where requests take time, those that wait for a lock occupy threads of the pool."""
    bench = shrinking(threads=1)
    pool = RequestHandlerPool(bench.process, bench.router, ServiceTimes({}), 1, 500)
    bench.manager.isr_locks.released.append(pool.lock_released)
    append, quick = ProduceRequest(1, 1_000_000, (ProducedBatch(TP, 1, 100, 7),), 100), Line()
    waits = Line()
    pool.receive(append, cast(Channel, waits))
    pool.receive(StopReplicaRequest(9, 1, -1, False, (OTHER,)), cast(Channel, quick))
    assert (len(waits.replies), len(quick.replies), len(pool.queue)) == (0, 0, 1)
    answered(bench)
    assert (len(waits.replies), len(quick.replies), len(pool.queue), pool.busy) == (1, 1, 0, 0)
