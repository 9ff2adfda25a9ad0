"""Produce, with the bytes of the batches."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import variant
from emulator.protocol.produce import ProduceRequest, ProduceResponse
from emulator.protocol.records import NO_TIMESTAMP, ProducedRecords


class AppendInfo(NamedTuple):
    """More about one batch of a request (kafka.log.LogAppendInfo).

    Attributes:
        id: the id of the batch in the log; if the request repeated a batch, the id of the first one.
        append_time_ms: the time of the append, where the topic's records have that.
        log_start_offset: the leader's; -1 with an error.
        message: the text that a client shows its user beside the error; empty for none.
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
