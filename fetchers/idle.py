"""The follower's half of a poll in which nothing happens (``emulator.network.lane``)."""

from attrs import define, evolve

from emulator.metrics import Meter
from emulator.network import Client
from emulator.network.idle import Poll
from emulator.protocol.fetch import FetchRequest
from fetchers.endpoints import RemoteLeaderEndPoint
from fetchers.thread import FetcherThread


@define(eq=False)
class IdleFetcher:
    """Keeps the counts of a replica fetcher right while its polls are not simulated.

    Its thread meanwhile waits for the answer to the last request that was simulated; it will get the answer to a later
    one.

    Attributes:
        poll: the parked poll; None: the fetcher's polls are simulated.
    """

    _thread: FetcherThread
    _endpoint: RemoteLeaderEndPoint
    _client: Client
    _requests: Meter
    poll: Poll | None = None
    _counted: int = 0
    _marks: object = None
    """The answer that is going to mark the meter; None: the meter is marked."""

    @property
    def is_idle(self) -> bool:
        """Whether the thread would answer an empty response with the same request again."""
        return self._thread.is_idle() and self._endpoint.is_unchanged

    def park(self, poll: Poll) -> None:
        """Take ``poll`` for the request in flight and those after it."""
        self.poll = self._client.poll = poll
        self._counted = 0
        self._marks = None
        self._requests.unmarked = self
        if not self._requests.is_due:
            self.written()

    def go_on(self, poll: Poll, request: FetchRequest) -> FetchRequest:
        """Simulate the polls again. Returns the request that is being handled: ``request`` was the parked one."""
        meter = self._requests
        meter.count += self.take()
        meter.unmarked = None
        self.poll = self._client.poll = self._marks = None
        if not poll.answers:
            return request
        self._client.asked_again(poll.asked_us)
        return evolve(request, session_epoch=self._endpoint.passed(poll.answers))

    # -- FetcherStats.RequestsPerSec (``emulator.metrics.metrics.Unmarked``) ------------------------------------------

    def take(self) -> int:
        """The number of answers since the last call."""
        assert self.poll is not None
        self.poll.look()
        taken, self._counted = self.poll.answers - self._counted, self.poll.answers
        return taken

    def written(self) -> None:
        """Schedule the update of the meter by the next (parked) answer, at its exact place in the event order."""
        poll = self.poll
        assert poll is not None
        self._marks = answer = poll.next_answer()
        poll.lane.world.call_in_line(poll.server.rank, answer[0], self._mark, answer, answer[1])

    def shifted(self) -> None:
        """Schedule that update again, because the next answer comes at another time."""
        if self._marks is not None:
            self.written()

    def _mark(self, answer: tuple[int, int]) -> None:
        if answer is self._marks:
            self._marks = None
            self._requests.count += self.take() - 1
            self._requests.mark_idly()
