"""A log directory fails: its replicas are offline, the controller is notified; with the last one the broker halts."""

import pytest

from brokers.broker_policies import BrokerPolicies
from emulator.disks import Disk, DiskFault, Torn
from emulator.protocol.errors import Errors
from emulator.protocol.events import LogDirFailed, LogRecovered
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import decode_log_dir_event
from tests.brokers.bench import ME, TP, Bench, batch, state

OTHER = TopicPartition("t", 1)


def bench_with(directories: int = 2, policies: BrokerPolicies | None = None) -> Bench:
    """A bench that leads TP in /data/0 and, where there are two directories, OTHER in /data/1."""
    bench = Bench(policies)
    bench.node.disks = tuple(Disk(f"/data/{number}") for number in range(directories))
    bench.restart()
    bench.lead(isr=(ME,))
    bench.lead(tp=OTHER, isr=(ME,))
    return bench


def handled(bench: Bench) -> list[tuple[str, int, bool]]:
    """Let the handler do its work: (directory, replicas, whether the broker halts) of each failure."""
    failed = bench.see(LogDirFailed)

    async def body() -> None:
        await bench.world.sleep(1)

    bench.world.run(body)
    return [(event.directory, event.replicas, event.broker_halts) for event in failed]


def fail(bench: Bench, number: int, *operations: str, left: int | None = None) -> None:
    disk = bench.node.disks[number]
    disk.fail(DiskFault("I/O error", operations, left, report=disk.report))


@pytest.mark.parametrize("operation", ["append", "read", "flush", "replace"])
def test_an_operation_that_fails_takes_its_directory_offline(operation: str) -> None:
    bench = bench_with()
    bench.produce(TP)
    bench.produce(OTHER)
    fail(bench, 0, operation, left=1)
    if operation == "append":
        assert bench.produce(TP).last.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR, -1),)
    elif operation == "read":
        answer = bench.follower(1).at(0)
        assert answer is not None
        assert [part.error for part in answer.partitions] == [Errors.KAFKA_STORAGE_ERROR]
    elif operation == "replace":
        bench.manager.logs.write_high_watermarks()
    else:
        bench.manager.close()
    assert handled(bench) == [("/data/0", 1, False)]
    assert list(bench.manager.offline) == [TP]
    assert bench.produce(TP).last.partitions == ((TP, Errors.KAFKA_STORAGE_ERROR, -1),)
    assert bench.produce(OTHER).last.partitions == ((OTHER, Errors.NONE, 1),)
    create = bench.zk.waiting[-1][0]
    assert create.path.startswith("/log_dir_event_notification/")
    assert decode_log_dir_event(create.data) == ME


def test_it_stays_so_until_a_restart_on_a_disk_that_works() -> None:
    bench = bench_with()
    bench.produce(TP)
    fail(bench, 0)
    bench.produce(TP)
    handled(bench)
    bench.node.disks[0].mend()
    assert bench.leader_and_isr(state(ME, 5)).partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)
    bench.node.crash()
    bench.restart()
    assert bench.lead(epoch=5).log_end_offset == 1


def test_followers_are_not_fetched_any_more() -> None:
    bench = bench_with()
    bench.follow(epoch=1)
    fail(bench, 0)
    bench.node.disks[0].report("broken")
    handled(bench)
    assert bench.fetchers.removed[-1] == TP


def test_a_directory_that_cannot_be_read_at_the_start_is_offline() -> None:
    bench = bench_with()
    fail(bench, 0)
    bench.restart()
    assert handled(bench) == [("/data/0", 0, False)]
    assert bench.leader_and_isr(state(ME, 5)).partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)


def test_the_last_directory_takes_the_broker_along() -> None:
    bench = bench_with(1)
    halted: list[str] = []
    bench.node.on_halt = lambda: halted.append("halt")
    fail(bench, 0, "append")
    bench.produce(TP)
    assert handled(bench) == [("/data/0", 2, True)]
    assert halted == ["halt"]


def test_before_kip_112_any_error_of_a_disk_ends_the_broker() -> None:
    bench = bench_with(policies=BrokerPolicies(disk_errors_halt=True))
    halted: list[str] = []
    bench.node.on_halt = lambda: halted.append("halt")
    fail(bench, 1, "append", left=1)
    bench.produce(OTHER)
    assert handled(bench) == [("/data/1", 1, True)]
    assert halted == ["halt"]


def torn_bench(policies: BrokerPolicies | None = None) -> Bench:
    """A broker that is about to recover a torn log in /data/0, whose disk refuses to truncate it."""
    bench = bench_with(policies=policies)
    bench.produce(TP)
    bench.produce(OTHER)
    for disk in bench.node.disks:
        disk.close()
    bench.node.disks[0].open("logs/t-0").entries.append(Torn(batch(1)))
    fail(bench, 0, "truncate")
    return bench


def test_a_torn_log_on_a_disk_that_refuses_truncation_takes_its_directory_offline() -> None:
    """LogManager.loadLogs, 2.3.1."""
    bench = torn_bench()
    bench.restart()
    assert handled(bench) == [("/data/0", 0, False)]
    assert bench.leader_and_isr(state(ME, 5)).partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)
    bench.node.disks[0].mend()
    bench.node.crash()
    recovered = bench.see(LogRecovered)
    bench.restart()
    assert [(event.partition, event.log_end_offset, event.reason) for event in recovered] == [(0, 1, "torn")]
    assert bench.lead(epoch=5).log_end_offset == 1


def test_before_kip_112_it_ends_the_broker() -> None:
    bench = torn_bench(BrokerPolicies(disk_errors_halt=True))
    halted: list[str] = []
    bench.node.on_halt = lambda: halted.append("halt")
    bench.restart()
    assert handled(bench) == [("/data/0", 0, True)]
    assert halted == ["halt"]


def test_a_log_that_has_to_be_cut_as_it_is_loaded_and_cannot_be_is_offline() -> None:
    """Its start is beyond its end."""
    bench = bench_with()
    bench.produce(TP)
    bench.manager.logs.directories[0].log_starts.put(TP, 7)
    bench.manager.logs.write_offsets()
    bench.node.crash()
    fail(bench, 0, "truncate")
    bench.restart()
    assert bench.leader_and_isr(state(ME, 5)).partitions == ((TP, Errors.KAFKA_STORAGE_ERROR),)
    assert handled(bench) == [("/data/0", 0, False)]
