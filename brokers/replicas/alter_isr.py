"""AlterIsrManager (2.7.2): collects the changes of ISRs that the leaders here want, and asks the controller for them.

Every 50 ms, if there are any and none are with the controller. A request that fails as a whole is sent again.
"""

from collections.abc import Awaitable, Callable

from attrs import define, field

from brokers.partition.isr_write import IsrWrite
from emulator.nodes import Process
from emulator.protocol.alter_isr import AlterIsrPartition, AlterIsrRequest, AlterIsrResponse
from emulator.protocol.types import TopicPartition

INTERVAL_US = 50_000


@define(eq=False)
class AlterIsrManager:
    """See the module. ``ask``: puts a request to the controller, whoever that is by now, until one answers."""

    process: Process
    ask: Callable[[AlterIsrRequest], Awaitable[AlterIsrResponse]]
    broker_epoch: Callable[[], int]
    _unsent: dict[TopicPartition, IsrWrite] = field(factory=dict)
    _in_flight: bool = False
    _armed: bool = False
    _began_us: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._began_us = self.process.clock_us

    def submit(self, write: IsrWrite) -> None:
        """Ask for ``write``. One for each partition waits or is under way."""
        self._unsent[write.partition.tp] = write
        self._arm()

    def clear(self, tp: TopicPartition) -> None:
        """A LeaderAndIsr has come: what ``tp`` wanted before is not sent (any more)."""
        self._unsent.pop(tp, None)

    def _arm(self) -> None:
        """Wait for the next of the ticks that there would be: one that finds nothing to do is left out."""
        if self._unsent and not self._in_flight and not self._armed:
            self._armed = True
            passed = (self.process.clock_us - self._began_us) % INTERVAL_US
            self.process.call_later(INTERVAL_US - passed, self._send, background=False)

    def _send(self, _: object) -> None:
        self._armed = False
        writes = dict(self._unsent)
        if writes:
            self._in_flight = True
            self.process.spawn(self._exchange, writes, name="alter-isr")

    async def _exchange(self, writes: dict[TopicPartition, IsrWrite]) -> None:
        partitions = tuple(
            AlterIsrPartition(tp, write.partition.leader_epoch, write.isr, write.partition.zk_version)
            for tp, write in writes.items()
        )
        trace = self.process.node.trace
        trace.cause = next(iter(writes.values())).cause
        response = await self.ask(AlterIsrRequest(self.process.node.id, self.broker_epoch(), partitions))
        self._in_flight = False
        for tp, error, state in response.partitions:
            # Whatever waits by now goes, too, though it was never sent (KAFKA-12686, 3.0).
            self.clear(tp)
            write = writes[tp]
            if write.abandoned:
                continue
            trace.cause = write.cause
            partition = write.partition
            if state is None:
                write.refused(error.name, for_good=True)
            elif state.leader_epoch != partition.leader_epoch or state.zk_version < partition.zk_version:
                write.refused("the answer is of another time", for_good=True)
            else:
                write.taken(state.isr, state.zk_version)
        self._arm()
