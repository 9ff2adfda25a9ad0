"""What is done to the disks under log directories."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokers.log import Log
from emulator.disks import Disk, DiskSpeed, Fault, Pace
from emulator.protocol.types import TopicPartition
from scenarios.language import MethodEntry
from scenarios.language.plan import ANY_LOG_DIR

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers

INJECTED = "injected by the scenario"
FULL = "no space left on device"


def _disks(actions: Actions, entry: MethodEntry, broker: int) -> list[Disk]:
    """Those meant: the one named, or all."""
    name = entry.param("log_dir")
    return [disk for disk in actions.cluster.nodes[broker].disks if name in (None, ANY_LOG_DIR, disk.name)]


def _log(actions: Actions, entry: MethodEntry, broker: int) -> Log | None:
    """The broker's log of the partition; where there is none the action is refused."""
    tp = TopicPartition.parse(entry.param("partition"))
    running = actions.cluster.nodes[broker].running
    partition = actions.cluster.brokers[broker].replicas.partitions.get(tp) if running else None
    if partition is None or partition.log is None:
        actions.refused.append(f"{entry.action}: broker {broker} has no replica of {tp}")
        return None
    return partition.log


def fail(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    operation, times = entry.param("operation"), entry.param("times")
    operations = () if operation == "any" else (operation,)
    for broker in brokers:
        if entry.param("partition") is None:
            for disk in _disks(actions, entry, broker):
                disk.fail(Fault(INJECTED, operations, times, report=disk.report))
        elif (log := _log(actions, entry, broker)) is not None:
            log.fail_disk(Fault(INJECTED, operations, times, report=log.directory.disk.report))


def slow(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    speed = DiskSpeed(entry.param("read"), entry.param("write"), entry.param("latency"))
    for broker in brokers:
        for disk in _disks(actions, entry, broker):
            disk.pace = Pace(speed)


def fill(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in brokers:
        for disk in _disks(actions, entry, broker):
            disk.fail(Fault(FULL, ("append", "replace"), report=disk.report))


def take_offline(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in brokers:
        for disk in _disks(actions, entry, broker):
            disk.fail(Fault(INJECTED, report=disk.report))
            disk.report(INJECTED)


def heal(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in brokers:
        for disk in _disks(actions, entry, broker):
            disk.mend()
            speed = actions.cluster.setup.disk_speed
            disk.pace = None if speed is None else Pace(speed)


def corrupt(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in brokers:
        log = _log(actions, entry, broker)
        if log is not None and log.batches:
            log.corrupt(-1 if entry.param("batch") == "last" else 0)
        elif log is not None:
            actions.refused.append(f"{entry.action}: broker {broker} has no batch of {log.tp}")
