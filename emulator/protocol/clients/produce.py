"""Produce, with the bytes of the batches."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import variant
from emulator.protocol.produce import ProduceRequest, ProduceResponse
from emulator.protocol.records import NO_TIMESTAMP, ProducedRecords


class AppendInfo(NamedTuple):
    """More about one batch of a request (kafka.log.LogAppendInfo).

    Attributes:
        id: of the batch in the log: of the first one, where the request repeated it.
        append_time_ms: where the topic's records have the time of the append.
        log_start_offset: the leader's; -1 with an error.
        message: what a client shows its user beside the error; empty for none.
    """

    id: int
    append_time_ms: int = NO_TIMESTAMP
    log_start_offset: int = -1
    message: str = ""


@variant(ProduceRequest)
@define(eq=False)
class RecordsProduceRequest(ProduceRequest):
    """Append one batch of records to each of several partitions. All its batches are ``ProducedRecords``."""

    @property
    def records(self) -> tuple[ProducedRecords, ...]:
        """The batches."""
        return self.batches  # type: ignore[return-value]


@variant(ProduceResponse)
@define(eq=False)
class RecordsProduceResponse(ProduceResponse):
    """The results, per partition; ``infos`` in the same order."""

    infos: tuple[AppendInfo, ...]
