"""Tables of the controller's memory that note which partitions they were changed for."""

from collections.abc import Mapping
from typing import Any, TypeVar

from emulator.protocol.types import TopicPartition

V = TypeVar("V")


class Noted(dict[TopicPartition, V]):
    """A dictionary by partition; each one that is written or taken out is noted in ``touched``, so that what is
    counted over all partitions need never be counted anew."""

    __slots__ = ("touched",)

    def __init__(self, touched: dict[TopicPartition, None]) -> None:
        super().__init__()
        self.touched = touched

    def __setitem__(self, tp: TopicPartition, value: V) -> None:
        self.touched[tp] = None
        super().__setitem__(tp, value)

    def __delitem__(self, tp: TopicPartition) -> None:
        self.touched[tp] = None
        super().__delitem__(tp)

    def pop(self, tp: TopicPartition, *default: Any) -> Any:
        self.touched[tp] = None
        return super().pop(tp, *default)

    def update(self, values: Mapping[TopicPartition, V]) -> None:  # type: ignore[override]
        self.touched.update(dict.fromkeys(values))
        super().update(values)
