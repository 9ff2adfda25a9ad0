"""A produce request that waits, in each of its partitions, for more replicas than the leader."""

from attrs import define

from brokers.log.disk_work import ResponseChannel
from emulator.kernel import Timer
from emulator.protocol.errors import Errors
from emulator.protocol.produce import ProduceResponse
from emulator.protocol.types import TopicPartition


@define(eq=False)
class DelayedProduce:
    """Answers once every partition has its result, or at the timeout with REQUEST_TIMED_OUT for the rest."""

    channel: ResponseChannel
    results: dict[TopicPartition, tuple[Errors, int]]
    unfinished: int
    timer: Timer | None = None

    def finish(self, tp: TopicPartition, error: Errors, base_offset: int) -> None:
        """One partition has its result."""
        if self.unfinished:
            self.results[tp] = (error, base_offset)
            self.unfinished -= 1
            if not self.unfinished:
                self._answer()

    def expire(self, _: object) -> None:
        """The request's own timeout is over: what has no result yet has timed out."""
        if self.unfinished:
            self.unfinished = 0
            self._answer()

    def _answer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        results = tuple((tp, error, base) for tp, (error, base) in self.results.items())
        response = ProduceResponse(results)
        self.channel.reply(response, response.size)
