"""Produce, with the bytes of the batches."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import define, field

from emulator.protocol.api import variant
from emulator.protocol.produce import AppendInfo, ProducedResult, ProduceRequest, ProduceResponse
from emulator.protocol.records import ProducedRecords
from emulator.protocol.types import TopicPartition


class KnownLeader(NamedTuple):
    """The leader of a partition, as a broker knows it that does not lead it: in answers to Produce 10 and Fetch 16
    (KIP-951, 3.7).

    Attributes:
        leader: its broker id, or NO_LEADER.
        leader_epoch: its epoch; -1: not known.
        is_alive: whether the broker takes it to be alive, so that clients are given its address.
    """

    leader: int
    leader_epoch: int
    is_alive: bool


@variant(ProduceRequest)
@define(eq=False)
class RecordsProduceRequest(ProduceRequest):
    """Append one batch of records to each of several partitions. All its batches are ``ProducedRecords``."""

    @property
    def records(self) -> tuple[ProducedRecords, ...]:
        return self.batches  # type: ignore[return-value]

    def response(self, results: Sequence[ProducedResult], infos: Sequence[AppendInfo]) -> "RecordsProduceResponse":
        return RecordsProduceResponse(tuple(results), tuple(infos))


@variant(ProduceResponse)
@define(eq=False)
class RecordsProduceResponse(ProduceResponse):
    """The results, per partition; ``infos`` in the same order.

    Attributes:
        leaders: the leaders of the partitions that the broker does not lead (KIP-951).
    """

    infos: tuple[AppendInfo, ...]
    leaders: Mapping[TopicPartition, KnownLeader] = field(factory=dict)
