"""AlterReplicaLogDirs, and what happens to a future log (KIP-113;
ReplicaManager.alterReplicaLogDirs, 2.3). The copying itself is in tests/fetchers/test_alter_log_dirs.py."""

from typing import Any, cast

import pytest
from attrs import evolve

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.log.log_config import RULES, LogConfig, LogManagerConfig, LogRules
from brokers.replica_manager.log_dir_moves import FutureReplica
from brokers.requests.log_dirs import LogDirsHandler
from emulator.disks import Disk
from emulator.network import Channel
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    CopyAbandoned,
    CopyStarted,
    HighWatermark,
    LogCompacted,
    LogReplaced,
    LogStartMoved,
)
from emulator.protocol.log_dirs import AlterReplicaLogDirsRequest, DescribeLogDirsRequest
from emulator.protocol.produce import ProducedBatch, ProduceRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from tests.brokers.bench import BATCH_BYTES, ME, TP, Bench, Line, NotedFetchers, batch, state

S = 1_000_000
FIRST, SECOND, THIRD = "/data/0", "/data/1", "/data/2"


class DirsBench(Bench):
    """A broker with three log directories; its copies are made by the test."""

    def __init__(self, policies: BrokerPolicies | None = None) -> None:
        super().__init__(policies)
        self.node.disks = (Disk(FIRST), Disk(SECOND), Disk(THIRD))
        self.restart()

    def restart(self) -> None:
        super().restart()
        self.copies = NotedFetchers()
        self.manager.moves.fetchers = cast(Any, self.copies)

    def alter(self, name: str) -> Errors:
        line = Line()
        LogDirsHandler(self.manager).alter(AlterReplicaLogDirsRequest(((TP, name),)), cast(Channel, line))
        ((_tp, error),) = line.last.partitions
        return cast(Errors, error)

    def copy(self) -> bool:
        """Do a fetcher's work: append what the current log has, and replace the current log once the future log has all
        of it."""
        future, log = self.manager.moves.futures[TP], self.partition.log
        assert log is not None
        future.append_as_follower(log.read(future.log_end_offset, BATCH_BYTES), self.partition.high_watermark)
        return self.manager.moves.replace(TP)

    def stop(self, *, delete: bool) -> None:
        self.send(StopReplicaRequest(9, 1, -1, delete, (TP,)))

    def described(self) -> list[tuple[str, int, int, bool]]:
        """Directory, bytes, lag and whether it is a future log, of each log of ``TP``."""
        line = Line()
        LogDirsHandler(self.manager).describe(DescribeLogDirsRequest((TP,)), cast(Channel, line))
        return [(each.name, i.size, i.lag, i.future) for each in line.last.directories for i in each.replicas]

    @property
    def home(self) -> str:
        return self.partition.log.directory.name


@pytest.mark.parametrize("leads", [True, False])
def test_a_future_log_is_filled_and_takes_the_place_of_the_current_one(leads: bool) -> None:
    bench = DirsBench()
    begun, replaced = bench.see(CopyStarted), bench.see(LogReplaced)
    if leads:
        bench.lead(isr=(ME,))
        bench.produce()
        bench.produce()
    else:
        bench.follow().append_as_follower((batch(0), batch(1)), 2)
    assert bench.alter(SECOND) is Errors.NONE
    assert [(event.source, event.target, event.log_end_offset) for event in begun] == [(FIRST, SECOND, 0)]
    (start,) = bench.copies.added
    assert (start.leader, start.leader_epoch, start.offset) == (ME, 0, 0)
    assert bench.described() == [(FIRST, 2 * BATCH_BYTES, 0, False), (SECOND, 0, 2, True)]
    assert bench.copy() is False
    assert bench.described() == [(FIRST, 2 * BATCH_BYTES, 0, False), (SECOND, BATCH_BYTES, 1, True)]
    assert bench.home == FIRST
    assert bench.copy() is True
    assert bench.home == SECOND
    assert [(event.source, event.target, event.log_end_offset) for event in replaced] == [(FIRST, SECOND, 2)]
    assert bench.partition.high_watermark == 2
    assert bench.described() == [(SECOND, 2 * BATCH_BYTES, 0, False)]
    assert [disk.list("logs/") for disk in bench.node.disks] == [[], ["logs/t-0"], []]
    assert bench.node.disks[0].list("deleted/") == ["deleted/t-0.1"]


def test_what_is_appended_meanwhile_is_copied_too() -> None:
    bench = DirsBench()
    bench.lead(isr=(ME,))
    bench.produce()
    bench.alter(SECOND)
    bench.produce()
    assert bench.copy() is False
    assert bench.copy() is True


def test_a_log_that_is_in_that_directory_already_stays() -> None:
    bench = DirsBench()
    bench.lead()
    assert bench.alter(FIRST) is Errors.NONE
    assert bench.manager.moves.futures == {}


def test_the_same_wish_twice_is_one_copy() -> None:
    bench = DirsBench()
    bench.lead()
    assert [bench.alter(SECOND), bench.alter(SECOND)] == [Errors.NONE, Errors.NONE]
    assert len(bench.copies.added) == 1


def test_another_wish_gives_the_first_copy_up() -> None:
    bench = DirsBench()
    given_up = bench.see(CopyAbandoned)
    bench.lead(isr=(ME,))
    bench.produce()
    bench.alter(SECOND)
    assert bench.alter(THIRD) is Errors.NONE
    assert [(event.target, event.reason) for event in given_up] == [(SECOND, "altered")]
    assert bench.copies.removed == [TP]
    assert bench.node.disks[1].list("futures/") == []
    assert bench.copy() is True
    assert bench.home == THIRD


def test_a_wish_to_stay_gives_the_copy_up() -> None:
    bench = DirsBench()
    bench.lead()
    bench.alter(SECOND)
    assert bench.alter(FIRST) is Errors.NONE
    assert (bench.manager.moves.futures, bench.home) == ({}, FIRST)


def test_an_unknown_directory() -> None:
    bench = DirsBench()
    bench.lead()
    assert bench.alter("/data/9") is Errors.LOG_DIR_NOT_FOUND


@pytest.mark.parametrize(
    ("known", "tells", "error"),
    [
        (True, True, Errors.REPLICA_NOT_AVAILABLE),
        (False, True, Errors.UNKNOWN_TOPIC_OR_PARTITION),
        (False, False, Errors.REPLICA_NOT_AVAILABLE),
    ],
)
def test_a_replica_that_is_yet_to_come_begins_in_its_directory(known: bool, tells: bool, error: Errors) -> None:
    """AdminClientIntegrationTest.testAlterReplicaLogDirs, 2.3.1 to 2.7.2 and 1.1.1: whichever the error is."""
    bench = DirsBench(BrokerPolicies(knows_whose_replica=tells))
    if known:
        bench.learn(TP, 1)
    assert bench.alter(THIRD) is error
    bench.follow()
    assert bench.home == THIRD


def test_a_replica_goes_into_no_other_directory_than_the_one_that_was_chosen() -> None:
    """LogManager.getOrCreateLog, 2.3.1 and 2.7.2: not even where that has failed meanwhile."""
    bench = DirsBench()
    bench.alter(THIRD)
    bench.manager.logs.directories[2].online = False
    new = evolve(state(1, 0), is_new=True)
    assert bench.leader_and_isr(new).partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)


def test_no_copy_into_or_beside_a_directory_that_is_offline() -> None:
    """While one is offline it may hold a future log of this partition already."""
    bench = DirsBench()
    bench.lead()
    bench.manager.logs.directories[2].online = False
    assert bench.alter(THIRD) is Errors.KAFKA_STORAGE_ERROR
    assert bench.alter(SECOND) is Errors.KAFKA_STORAGE_ERROR
    assert bench.manager.moves.futures == {}


def fail(bench: DirsBench, number: int) -> None:
    """Take a directory offline, as its failure does."""
    directory = bench.manager.logs.directories[number]
    directory.online = False
    lost = [partition for partition in bench.manager.partitions.values() if partition.log.directory is directory]
    bench.manager.moves.offline([partition.tp for partition in lost], directory)
    for partition in lost:
        bench.manager.mark_partition_offline(partition)


def test_a_copy_is_described_as_long_as_its_own_directory_works() -> None:
    """As clients-log-dirs was recorded on 2.4.1: the directory of the current log fails (LogManager.handleLogDirFailure
    drops what is in that one; ReplicaManager.describeLogDirs does not know how far the copy is behind)."""
    bench = DirsBench()
    bench.lead()
    bench.produce()
    bench.alter(SECOND)
    fail(bench, 0)
    assert bench.described() == [(SECOND, 0, -1, True)]
    assert bench.alter(SECOND) is Errors.KAFKA_STORAGE_ERROR
    fail(bench, 1)
    assert bench.described() == []


def test_a_copy_goes_with_its_own_directory() -> None:
    bench = DirsBench()
    bench.lead()
    bench.alter(SECOND)
    fail(bench, 1)
    assert bench.described() == [(FIRST, 0, 0, False)]


def test_a_deleted_replica_takes_its_future_log_along() -> None:
    bench = DirsBench()
    given_up = bench.see(CopyAbandoned)
    bench.lead()
    bench.alter(SECOND)
    bench.stop(delete=True)
    assert [event.reason for event in given_up] == ["stopped"]
    assert bench.copies.removed == [TP]
    assert bench.node.disks[1].list("futures/") == []


def test_a_replica_that_is_stopped_only_keeps_a_copy_that_is_never_completed() -> None:
    bench = DirsBench()
    bench.lead()
    bench.alter(SECOND)
    bench.stop(delete=False)
    assert bench.copies.removed == [TP]
    bench.lead(epoch=1)
    assert bench.alter(SECOND) is Errors.NONE
    assert len(bench.copies.added) == 1


def test_the_next_incarnation_goes_on() -> None:
    bench = DirsBench()
    bench.lead(isr=(ME,))
    bench.produce()
    bench.produce()
    bench.alter(SECOND)
    bench.copy()
    bench.restart()
    bench.lead(epoch=1, isr=(ME,))
    (start,) = bench.copies.added
    assert (start.leader_epoch, start.log.log_end_offset) == (1, 1)
    assert bench.copy() is True


def test_the_next_incarnation_deletes_a_future_log_with_its_replica() -> None:
    bench = DirsBench()
    bench.lead()
    bench.alter(SECOND)
    bench.restart()
    bench.stop(delete=True)
    assert [disk.list("futures/") for disk in bench.node.disks] == [[], [], []]


@pytest.mark.parametrize(("raises", "high_watermarks"), [(True, [3]), (False, [])])
def test_a_copy_that_begins_after_the_high_watermark_raises_it_since_2_4(
    raises: bool, high_watermarks: list[int]
) -> None:
    """LogManager.replaceCurrentWithFutureLog, Log.updateHighWatermark (2.4.1). The broker dies before it has written
    down where its log begins and what is committed; its copy was begun where the log began."""
    bench = DirsBench(BrokerPolicies(start_raises_learned_high_watermark=raises))
    partition = bench.follow()
    partition.append_as_follower((batch(0), batch(1), batch(2), batch(3)), 4, 3)
    bench.alter(SECOND)
    future = bench.manager.moves.futures[TP]
    future.truncate_fully_and_start_at(3)
    bench.restart()
    assert (bench.follow().log_start_offset, bench.partition.high_watermark) == (0, 0)
    moved = bench.see(HighWatermark)
    assert bench.copy() is True
    assert (bench.home, bench.partition.log_start_offset) == (SECOND, 3)
    assert [event.high_watermark for event in moved] == high_watermarks


@pytest.mark.parametrize(("follows", "epochs"), [(False, [0]), (True, [0, 1])])
def test_a_new_leader_epoch_is_read_under_since_2_5(follows: bool, epochs: list[int]) -> None:
    """KAFKA-9654. Before, the copy is fenced by its own broker."""
    bench = DirsBench(BrokerPolicies(copies_follow_epochs=follows))
    bench.lead()
    bench.alter(SECOND)
    bench.lead(epoch=1)
    assert [start.leader_epoch for start in bench.copies.added] == epochs


@pytest.mark.parametrize(("leader_log_start", "start"), [(1, 1), (2, 2), (9, 2)])
def test_a_copy_begins_where_the_log_does_but_not_after_its_own_end(leader_log_start: int, start: int) -> None:
    copy = FutureReplica(Log(LogDirectory(Disk()), TP))
    copy.append_as_follower((batch(0), batch(1)), 2, leader_log_start)
    assert copy.log_start_offset == start


# -- compaction and retention meanwhile -----------------------------------------------------------------------------

COUNTED, ONCE, UNCOUNTED = RULES, evolve(RULES, pauses_once=True), evolve(RULES, counts_pauses=False)


def tidied(config: LogConfig, rules: LogRules, *between: str, copies: bool = True) -> list[tuple[int, str]]:
    """The acts of the log cleaner and of retention, by the second, on a log that is to move to another directory from
    5 s on. The copy takes its place at 75 s. ``between``: what happens before."""
    manager = LogManagerConfig(cleaner_backoff_us=20 * S, retention_check_us=20 * S)
    policies = BrokerPolicies(BrokerConfig(log=config, log_manager=manager), log_rules=rules, copies_follow_epochs=True)
    bench = DirsBench(policies)
    seen: list[tuple[int, str]] = []
    bench.trace.fold(LogCompacted, lambda one: seen.append((one.t_us // S, f"compacted to {one.next_offset}")))
    bench.trace.fold(LogStartMoved, lambda one: seen.append((one.t_us // S, f"starts at {one.log_start_offset}")))

    async def body() -> None:
        bench.lead(isr=(ME,))
        for id in (1, 2, 101, 102, 201):
            bench.send(ProduceRequest(1, S, (ProducedBatch(TP, 1, BATCH_BYTES, id),), BATCH_BYTES))
        await bench.world.sleep(5 * S)
        if copies:
            bench.alter(SECOND)
        for what in between:
            if what == "epoch":
                bench.lead(1, isr=(ME,))
            else:
                bench.alter(THIRD)
        await bench.world.sleep(70 * S)
        for future in bench.manager.moves.futures.values():
            future.truncate_fully_and_start_at(bench.partition.log_start_offset)
        while copies and not bench.copy():
            pass
        await bench.world.sleep(75 * S)

    bench.world.run(body)
    return seen


COMPACTS = LogConfig(cleanup_policy="compact", segment_bytes=2 * BATCH_BYTES, min_cleanable_ratio=0.3)
DELETES = LogConfig(cleanup_policy="delete", segment_bytes=2 * BATCH_BYTES, retention_bytes=BATCH_BYTES)


@pytest.mark.parametrize(
    ("rules", "between", "ends"),
    [
        (COUNTED, (), True),
        (COUNTED, ("epoch",), False),
        (ONCE, ("epoch",), True),
        (UNCOUNTED, ("epoch",), True),
        (COUNTED, ("directory",), False),
        (ONCE, ("directory",), False),
        (UNCOUNTED, ("directory",), True),
    ],
)
def test_a_log_is_not_compacted_while_it_is_copied(rules: LogRules, between: tuple[str, ...], ends: bool) -> None:
    """ReplicaManager.alterReplicaLogDirs and LogManager.replaceCurrentWithFutureLog, 1.1.1 to 3.9.0; KAFKA-7441,
    KAFKA-16709. The copy takes over up to where the log was compacted (kafka-3.3, seed 2223 of the default swarm)."""
    assert tidied(COMPACTS, rules, copies=False) == [(20, "compacted to 4")]
    assert tidied(COMPACTS, rules, *between) == ([(80, "compacted to 4")] if ends else [])


@pytest.mark.parametrize(("rules", "at"), [(COUNTED, 90), (UNCOUNTED, 30)])
def test_retention_leaves_a_log_alone_that_is_copied(rules: LogRules, at: int) -> None:
    """KAFKA-7322."""
    assert tidied(DELETES, rules, copies=False) == [(30, "starts at 4")]
    assert tidied(DELETES, rules)[0] == (at, "starts at 4")
