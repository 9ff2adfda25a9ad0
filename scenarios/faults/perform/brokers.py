"""What is done to brokers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emulator.disks import Fault, UnexpectedError
from emulator.protocol.types import TopicPartition
from fetchers import StorageError
from scenarios.language import MethodEntry

if TYPE_CHECKING:
    from scenarios.faults.actions import Actions, Brokers

INJECTED = "injected by the scenario"
FAILURES: dict[str, tuple[str, type[Exception]]] = {
    "append": ("append", StorageError),
    "truncate": ("truncate", StorageError),
    "unexpected": ("append", UnexpectedError),
}
"""The causes of fetcher.fail_partition: which operation on the log fails, and with what."""


def crash(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state(entry.action, ("up", "paused"), entry, brokers):
        actions.cluster.crash_broker(broker, entry.param("kind"))


def stop(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state("broker.stop", ("up",), entry, brokers):
        actions.cluster.stop_broker(broker)


def shut_down(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state("broker.controlled_shutdown", ("up",), entry, brokers):
        actions.cluster.shut_down_broker(broker)


def start(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    stopping = [broker for broker in brokers if actions.cluster.is_stopping(broker)]
    others = tuple(broker for broker in brokers if broker not in stopping)
    down = actions.in_state("broker.start", ("down",), entry, others) if others else []
    for broker in (*stopping, *down):
        actions.cluster.start_broker(broker)


def pause(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state("broker.pause", ("up",), entry, brokers):
        process = actions.cluster.nodes[broker].process
        assert process is not None
        process.pause()


def resume(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state("broker.resume", ("paused",), entry, brokers):
        process = actions.cluster.nodes[broker].process
        assert process is not None
        process.resume()


def expire_session(actions: Actions, _entry: MethodEntry, brokers: Brokers) -> None:
    for broker in brokers:
        actions.cluster.zookeeper.expire(broker)


def fail_partition(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    tp = TopicPartition.parse(entry.param("partition"))
    for broker in brokers:
        running = actions.cluster.nodes[broker].running
        partition = actions.cluster.brokers[broker].replicas.partitions.get(tp) if running else None
        if partition is None or partition.log is None:
            actions.refused.append(f"fetcher.fail_partition: broker {broker} has no replica of {tp}")
            continue
        operation, error = FAILURES[entry.param("cause")]
        if partition.is_leader and operation == "append":
            actions.refused.append(f"fetcher.fail_partition: broker {broker} leads {tp}, no fetcher appends to it")
        else:
            partition.log.fail_disk(Fault(INJECTED, (operation,), 1, error))


def fail_start_replica(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state(entry.action, ("up", "paused"), entry, brokers):
        _plant(actions, entry, actions.cluster.brokers[broker].replicas.planted.start)


def ignore_become_leader(actions: Actions, entry: MethodEntry, brokers: Brokers) -> None:
    for broker in actions.in_state(entry.action, ("up", "paused"), entry, brokers):
        _plant(actions, entry, actions.cluster.brokers[broker].replicas.planted.lead)


def _plant(actions: Actions, entry: MethodEntry, due: dict[TopicPartition, int]) -> None:
    tp = TopicPartition.parse(entry.param("partition"))
    due[tp] = times = entry.param("times")
    actions.planted.append((entry.action, due, tp, times))
