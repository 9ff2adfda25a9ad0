"""Produce, with the bytes of the batches."""

from collections.abc import Sequence

from attrs import define

from emulator.protocol.api import variant
from emulator.protocol.produce import AppendInfo, ProducedResult, ProduceRequest, ProduceResponse
from emulator.protocol.records import ProducedRecords


@variant(ProduceRequest)
@define(eq=False)
class RecordsProduceRequest(ProduceRequest):
    """Append one batch of records to each of several partitions. All its batches are ``ProducedRecords``."""

    @property
    def records(self) -> tuple[ProducedRecords, ...]:
        """The batches."""
        return self.batches  # type: ignore[return-value]

    def response(self, results: Sequence[ProducedResult], infos: Sequence[AppendInfo]) -> "RecordsProduceResponse":
        return RecordsProduceResponse(tuple(results), tuple(infos))


@variant(ProduceResponse)
@define(eq=False)
class RecordsProduceResponse(ProduceResponse):
    """The results, per partition; ``infos`` in the same order."""

    infos: tuple[AppendInfo, ...]
