"""A consumer of a test, with the records that its application got."""

from __future__ import annotations

from collections.abc import Callable

from attrs import define, field

from emulator.kernel import World
from emulator.nodes import Node
from emulator.protocol.events import Consumed
from emulator.protocol.types import TopicPartition
from scenarios.testing.virtual_time import NotInTime, duration_us, passes


@define(eq=False)
class ConsumerInstance:
    """A consumer that a test has started: Kafka's, with assigned partitions. It keeps the records that the application
    got."""

    _world: World
    _node: Node
    _parse: Callable[[str | TopicPartition], TopicPartition]
    _offsets: dict[TopicPartition, list[int]] = field(factory=dict)

    def see(self, event: Consumed) -> None:
        """Note the result of one poll of the application."""
        if event.node == self._node.id:
            tp = TopicPartition(event.topic, event.partition)
            self._offsets.setdefault(tp, []).extend(range(event.offset, event.next_offset))

    @property
    def records(self) -> int:
        """The number of records that the application got, of all partitions."""
        return sum(map(len, self._offsets.values()))

    def offsets(self, partition: str | TopicPartition) -> list[int]:
        """The offsets of the records that the application got from a partition, in their order."""
        return list(self._offsets.get(self._parse(partition), ()))

    async def poll(self, records: int, within: str = "30s") -> None:
        """Wait until the application has that many records more than at the call. The consumer reads on by itself, so
        what came before the call does not count: for a total, ``await c.until(lambda: consumer.records == 10)``.

        Raises: NotInTime.
        """
        __tracebackhide__ = True
        before = self.records
        if not await passes(self._world, lambda: self.records >= before + records, duration_us(within)):
            total = f"c.until(lambda: consumer.records == {before + records}) waits for a total"
            raise NotInTime(
                f"the consumer got {self.records - before} of {records} records within {within}, {self.records} "
                f"in all; poll counts from its call on, {total}"
            )

    def close(self) -> None:
        """End the consumer's process. Doing it twice changes nothing."""
        self._node.crash()
