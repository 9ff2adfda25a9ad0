"""The appends of a coordinator: it writes records as a producer with acks=all, to a partition that its broker leads."""

from collections.abc import Callable
from typing import Any, Protocol

from attrs import define

from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.produce import ProduceRequest

UNAVAILABLE = (
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.NOT_ENOUGH_REPLICAS, Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
)  # fmt: skip
"""The errors of an append while the topic, or enough of its replicas, are not there: clients get
COORDINATOR_NOT_AVAILABLE."""
ELSEWHERE = Errors.NOT_LEADER_FOR_PARTITION, Errors.KAFKA_STORAGE_ERROR
"""The errors of an append where another broker has to be the coordinator: clients get NOT_COORDINATOR."""
TOO_LARGE = Errors.MESSAGE_TOO_LARGE, Errors.RECORD_LIST_TOO_LARGE, Errors.INVALID_FETCH_SIZE
"""The errors of an append that the topic does not take."""
IDS_PER_BROKER, IDS_PER_PROCESS = 1 << 44, 1 << 32

Done = Callable[[Errors, int], object]
"""The outcome of an append: an error, or NONE and the base offset."""


class Appender(Protocol):
    """An object that appends as a producer does (``brokers.requests.produce.ProduceHandler``). ``internal``: also to
    internal topics."""

    def append(self, request: ProduceRequest, channel: Any, *, internal: bool) -> object: ...


@define(eq=False)
class AppendCallback:
    """A channel in place of a client's connection: it gets the answer to the append of one batch."""

    done: Done

    def reply(self, response: Any, _size: int, _background: bool = False, _held: bool = False) -> None:
        ((_tp, error, base_offset),) = response.partitions
        self.done(error, base_offset)


@define(eq=False)
class BatchIds:
    """The ids of the batches that one incarnation of a broker writes by itself. No other incarnation and no producer
    has them.

    Attributes:
        first: a number below all of them; each kind of batches has its own.
    """

    process: Process
    first: int
    _given: int = 0

    def next(self) -> int:
        self._given += 1
        process = self.process
        return self.first + process.node.id * IDS_PER_BROKER + process.number * IDS_PER_PROCESS + self._given


def not_written(error: Errors, too_large: Errors = Errors.UNKNOWN_SERVER_ERROR) -> Errors:
    """The error for a client of a coordinator where a record could not be written (storeGroup, storeOffsets,
    appendTransactionToLog); ``too_large``: the one for a record that the topic does not take."""
    if error in UNAVAILABLE:
        return Errors.COORDINATOR_NOT_AVAILABLE
    if error in TOO_LARGE:
        return too_large
    return Errors.NOT_COORDINATOR if error in ELSEWHERE else error
