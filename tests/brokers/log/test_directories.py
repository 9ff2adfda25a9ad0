"""The directory of a replica's log, and how a deleted log is removed."""

import pytest
from attrs import evolve

from brokers.broker_policies import BrokerPolicies
from brokers.log.log import Log
from brokers.log.log_config import LogRules
from emulator.disks import Disk, DiskFault
from emulator.protocol.errors import Errors
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from fetchers.failures import StorageError
from tests.brokers.bench import ME, TP, Bench, batch, state

MINUTE = 60_000_000


def tp(number: int) -> TopicPartition:
    return TopicPartition("t", number)


def bench_with(directories: int) -> Bench:
    bench = Bench()
    bench.node.disks = tuple(Disk(f"/data/{number}") for number in range(directories))
    bench.restart()
    return bench


def where(bench: Bench, *numbers: int) -> list[str]:
    """The directories of these partitions' logs."""
    logs = (bench.manager.partitions[tp(number)].log for number in numbers)
    return [log.directory.name for log in logs if log is not None]


def delete(bench: Bench, *tps: TopicPartition) -> list[Errors]:
    return [error for _, error in bench.manager.stop_replicas(StopReplicaRequest(9, 1, -1, True, tps))]


def test_a_new_log_goes_where_the_fewest_are() -> None:
    bench = bench_with(3)
    for number in range(4):
        bench.lead(tp=tp(number))
    assert where(bench, 0, 1, 2, 3) == ["/data/0", "/data/1", "/data/2", "/data/0"]
    delete(bench, tp(1))
    bench.lead(tp=tp(4))
    assert where(bench, 4) == ["/data/1"]


def test_a_new_incarnation_finds_each_log_where_it_is_and_counts_them() -> None:
    bench = bench_with(2)
    for number in range(3):
        bench.lead(tp=tp(number))
    bench.produce(tp(1))
    bench.restart()
    bench.lead(tp=tp(1), epoch=1)
    bench.lead(tp=tp(3))
    assert where(bench, 1, 3) == ["/data/1", "/data/1"]
    assert bench.manager.partitions[tp(1)].log_end_offset == 1


@pytest.mark.parametrize(("tries", "created"), [(False, None), (True, "/data/2")])
def test_a_new_log_falls_back_to_other_directories_since_kafka_8526(tries: bool, created: str | None) -> None:
    """LogManagerTest.testCreateLogWithLogDirFallback and testCreateLogWithInvalidLogDir, 2.7.2: those that fail go
    offline. Up to 2.3 the first that is tried decides."""
    bench = Bench(BrokerPolicies(log_rules=LogRules(tries_other_directories=tries)))
    bench.node.disks = tuple(Disk(f"/data/{number}") for number in range(4))
    bench.restart()
    for disk in bench.node.disks[:2]:
        disk.fail(DiskFault("I/O error", report=disk.report))
    answer = bench.leader_and_isr(evolve(state(ME, 0), is_new=True))
    bench.wait(0)
    outcome = Errors.NONE if created else Errors.KAFKA_STORAGE_ERROR
    assert answer.partitions == ((TP, outcome),)
    assert [disk.name for disk in bench.node.disks if disk.exists("logs/t-0")] == ([created] if created else [])
    failed = 2 if tries else 1
    assert [directory.name for directory in bench.manager.logs.online] == [f"/data/{n}" for n in range(failed, 4)]


def test_each_directory_has_its_own_high_watermarks() -> None:
    bench = bench_with(2)
    for number in range(2):
        bench.lead(tp=tp(number), isr=(ME,))
        bench.produce(tp(number))
    bench.manager.close()
    entries = [disk.open("replication-offset-checkpoint").entries for disk in bench.node.disks]
    assert entries == [[(tp(0), 1)], [(tp(1), 1)]]


def test_a_replica_without_a_log_is_offline_while_a_directory_is() -> None:
    bench = bench_with(2)
    bench.manager.logs.directories[0].online = False
    response = bench.leader_and_isr(state(ME, 0))
    assert response.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)
    assert (list(bench.manager.offline), bench.manager.partitions) == ([TP], {})
    response = bench.leader_and_isr(state(ME, 1))
    assert response.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)
    bench.learn(TP, ME)
    assert bench.produce().last.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR, -1),)
    assert delete(bench, TP) == [Errors.KAFKA_STORAGE_ERROR]


def test_a_new_replica_goes_to_a_directory_that_is_online() -> None:
    manager = bench_with(2).manager
    manager.logs.directories[0].online = False
    assert manager.logs.open(TP, is_new=True).directory.name == "/data/1"
    manager.logs.directories[1].online = False
    with pytest.raises(StorageError, match="no log of t-1"):
        manager.logs.open(tp(1), is_new=True)


def test_a_deleted_log_is_renamed_and_gone_a_minute_later() -> None:
    bench = Bench()
    paths: list[list[str]] = []

    async def body() -> None:
        for number in range(2):
            bench.lead(tp=tp(number))
            delete(bench, tp(number))
            paths.append(bench.node.disk.list("deleted/"))
            await bench.world.sleep(MINUTE * 2 // 3)
        for _ in range(2):
            paths.append(bench.node.disk.list("deleted/"))
            await bench.world.sleep(MINUTE // 2)

    bench.world.run(body)
    assert paths == [["deleted/t-0.1"], ["deleted/t-0.1", "deleted/t-1.2"], ["deleted/t-1.2"], []]
    assert bench.node.disk.list("logs/") == []


def test_an_incarnation_deletes_the_logs_that_its_predecessor_could_not() -> None:
    bench = Bench()
    bench.lead()
    delete(bench, TP)
    bench.lead(epoch=1)
    delete(bench, TP)
    assert bench.node.disk.list("deleted/") == ["deleted/t-0.1", "deleted/t-0.2"]

    async def body() -> None:
        bench.restart()
        await bench.world.sleep(MINUTE + 1)

    bench.world.run(body)
    assert bench.node.disk.list("deleted/") == []


def test_a_future_log_takes_the_place_of_the_current_one() -> None:
    bench = bench_with(2)
    bench.lead(isr=(ME,))
    bench.produce()
    logs, current = bench.manager.logs, bench.partition.log
    assert current is not None
    future = logs.begin_future(TP, logs.directories[1])
    future.append(batch(0))
    logs.swap(current, future)
    found = logs.open(TP, is_new=False)
    assert (found.directory.name, found.end_offset) == ("/data/1", 1)
    assert [directory.high_watermarks.get(TP) for directory in logs.directories] == [0, 1]
    assert [directory.logs for directory in logs.directories] == [0, 1]
    assert (bench.node.disks[0].list("logs/"), bench.node.disks[0].list("deleted/")) == ([], ["deleted/t-0.1"])


def test_a_future_log_that_is_given_up_goes() -> None:
    bench = bench_with(2)
    logs = bench.manager.logs
    logs.begin_future(TP, logs.directories[1]).append(batch(0))
    bench.restart()
    logs = bench.manager.logs
    future = logs.left_future(TP)
    assert future is not None
    assert future.end_offset == 1
    assert logs.left_future(TP) is None
    checkpoints = logs.directories[1].high_watermarks, logs.directories[1].recovery_points
    for checkpoint in checkpoints:
        checkpoint.put(TP, 1)
    logs.delete_future(future)
    assert bench.node.disks[1].list("futures/") == []
    assert [checkpoint.partitions for checkpoint in checkpoints] == [(), ()]
    assert isinstance(logs.open(TP, is_new=False), Log)
