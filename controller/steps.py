"""Steps of protocols: each is a gate on either edge, where a scenario can stop the controller."""

from collections.abc import Iterable
from types import TracebackType

from attrs import define, frozen

from emulator.gates import Gates
from emulator.gates.gates import Edge
from emulator.nodes import Process
from emulator.protocol.types import TopicPartition


@frozen
class Label:
    """What a step is about; what does not apply is left out."""

    topic: str = ""
    partition: int = -1
    broker: int = -1
    hop: int = 0


NOTHING = (Label(),)


def labels_of(partitions: Iterable[TopicPartition]) -> list[Label]:
    """One for each topic; the partition is named where it is the only one."""
    numbers: dict[str, list[int]] = {}
    for tp in partitions:
        numbers.setdefault(tp.topic, []).append(tp.partition)
    return [Label(topic, found[0]) if len(found) == 1 else Label(topic) for topic, found in numbers.items()]


@define(eq=False, repr=False)
class Step:
    """``async with Step(...)``: the gate before, the work, the gate after; a step that fails never reaches
    the latter.

    A step about several topics or brokers visits its gate once for each.
    """

    gates: Gates
    process: Process
    name: str
    labels: tuple[Label, ...] = NOTHING
    detail: str = ""

    async def reach(self, edge: Edge) -> None:
        for label in self.labels:
            await self.gates.reach(
                self.process, self.name, edge, topic=label.topic, partition=label.partition,
                broker=label.broker, hop=label.hop, detail=self.detail,
            )  # fmt: skip

    async def __aenter__(self) -> None:
        await self.reach("before")

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            await self.reach("after")
