"""Gauges that brokers show and nothing writes to the trace: what a scrape reads of them follows from other events.

- ``kafka.log:type=Log``, LogStartOffset and LogEndOffset
- ``kafka.log:type=LogManager``, OfflineLogDirectoryCount, and LogDirectoryOffline of a directory that has failed
- ``kafka.server:type=KafkaServer``, BrokerState: 1 starting, 3 running, 6 in a controlled shutdown (2.4.1)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from emulator.metrics import mbean
from emulator.protocol.events import (
    Appended,
    BatchesAppended,
    BrokerRegistered,
    ControlledShutdownAnswered,
    LogDirFailed,
    LogLoaded,
    LogStartMoved,
    NodeStarted,
    ReplicaOffline,
    ReplicaStopped,
    Truncated,
)

STARTING, RUNNING, PENDING_CONTROLLED_SHUTDOWN = 1, 3, 6
BROKER_STATE = mbean("kafka.server", "KafkaServer", "BrokerState")
OFFLINE_DIRECTORIES = mbean("kafka.log", "LogManager", "OfflineLogDirectoryCount")
START, END = "LogStartOffset", "LogEndOffset"
Value = tuple[str, int | None]
"""The name of a gauge and its value; None: it is gone."""


def of_log(name: str, event: Any, partition: int) -> str:
    """The name of a gauge of one log."""
    return mbean("kafka.log", "Log", name, topic=event.topic, partition=partition)


class ImpliedGauges:
    """The gauges that events imply, event by event."""

    def __init__(self) -> None:
        self._failed: dict[int, dict[str, None]] = {}
        self.see: Mapping[type, Callable[[Any], Iterator[Value]]] = {
            NodeStarted: self._started,
            BrokerRegistered: lambda event: iter([(BROKER_STATE, RUNNING)]),
            ControlledShutdownAnswered: lambda event: iter([(BROKER_STATE, PENDING_CONTROLLED_SHUTDOWN)]),
            LogDirFailed: self._directory_failed,
            LogLoaded: _loaded,
            Appended: lambda event: iter([(of_log(END, event, event.partition), event.next_offset)]),
            BatchesAppended: _appended,
            Truncated: lambda event: iter([(of_log(END, event, event.partition), event.log_end_offset)]),
            LogStartMoved: lambda event: iter([(of_log(START, event, event.partition), event.log_start_offset)]),
            ReplicaStopped: _stopped,
            ReplicaOffline: _gone,
        }

    def _started(self, event: NodeStarted) -> Iterator[Value]:
        self._failed[event.node] = {}
        yield BROKER_STATE, STARTING
        yield OFFLINE_DIRECTORIES, 0

    def _directory_failed(self, event: LogDirFailed) -> Iterator[Value]:
        failed = self._failed.setdefault(event.node, {})
        failed[event.directory] = None
        yield OFFLINE_DIRECTORIES, len(failed)
        yield mbean("kafka.log", "LogManager", "LogDirectoryOffline", logDirectory=event.directory), 1


def _loaded(event: LogLoaded) -> Iterator[Value]:
    yield of_log(START, event, event.partition), event.log_start_offset
    yield of_log(END, event, event.partition), event.log_end_offset


def _appended(event: BatchesAppended) -> Iterator[Value]:
    for partition, end in zip(event.partitions, event.next_offsets, strict=True):
        yield of_log(END, event, partition), end


def _stopped(event: ReplicaStopped) -> Iterator[Value]:
    return _gone(event) if event.deleted else iter(())


def _gone(event: ReplicaStopped | ReplicaOffline) -> Iterator[Value]:
    for name in (START, END):
        yield of_log(name, event, event.partition), None
