"""Requests that wait until something becomes true (kafka.server.DelayedOperationPurgatory).

A produce request with acks=all waits for the high watermark of each of its partitions. The partition that moves its
high watermark completes it at once, in the same step.

A fetch request waits for records. The partitions that it reads *wake* it, often several in one transition. It is
completed once, when the transition has ended: by the router after each request, and by ``Purgatory.completing`` for
transitions that do not begin with a request (``KafkaApis.handle`` with ``ReplicaManager.tryCompleteActions``, 2.7).
"""

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import ParamSpec, Protocol

from attrs import define, field

from brokers.log.disk_work import ResponseChannel
from emulator.kernel import Timer
from emulator.network.idle import Poll
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import FetchRequest
from emulator.protocol.produce import AppendInfo, ProducedResult, ProduceRequest, ProduceResponse
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace

Arguments = ParamSpec("Arguments")
Respond = Callable[[ProduceRequest, Sequence[ProducedResult], Sequence[AppendInfo]], ProduceResponse]

# -- produce ----------------------------------------------------------------------------------------------------------


class CountsProduces(Protocol):
    """A count of the produce requests that wait (``brokers.request_rates.ProducePurgatory``)."""

    def changed(self, waiting: int, watched: int) -> None:
        """So many requests more wait, at so many partitions more."""


@define(eq=False)
class DelayedProduce:
    """A produce request that waits, in each of its partitions, for more replicas than the leader.

    It is answered once every partition has its result, or at its timeout with REQUEST_TIMED_OUT for the others.

    Attributes:
        results: the result of each partition, in the order of the request; for a waiting one, the result at the
            timeout.
        infos: more about each batch for a real client, in the same order.
        respond: makes the response of the request, the results and the infos.
        counted: what counts those that wait.
        unfinished: the number of partitions that still wait.
    """

    channel: ResponseChannel
    request: ProduceRequest
    results: list[ProducedResult]
    infos: Sequence[AppendInfo]
    respond: Respond
    counted: CountsProduces
    unfinished: int = 0
    timer: Timer | None = None

    def begin(self, unfinished: int) -> None:
        """Wait at so many partitions."""
        self.unfinished = unfinished
        self.counted.changed(1, unfinished)

    def finish(self, place: int, error: Errors) -> None:
        """Set the result of the partition at ``place``."""
        if self.unfinished:
            tp, _timed_out, base_offset = self.results[place]
            self.results[place] = (tp, error, base_offset)
            self.unfinished -= 1
            if self.unfinished:
                self.counted.changed(0, -1)
            else:
                self.counted.changed(-1, -1)
                self._answer()

    def expire(self) -> None:
        """Answer at the timeout of the request."""
        if self.unfinished:
            self.counted.changed(-1, -self.unfinished)
            self.unfinished = 0
            self._answer()

    def _answer(self) -> None:
        if self.timer is not None:
            self.timer.cancel()
        response = self.respond(self.request, self.results, self.infos)
        self.channel.reply(response, response.size)


Watched = tuple[int, int, int, DelayedProduce]
"""A batch that waits at its partition: the offset that replicas have to reach, the acks that the request asked for, its
place in the request, and the request. A plain tuple, because each batch of a producer makes one."""


@define(eq=False)
class ProduceWatchers:
    """The produce requests that wait at one partition (the watch list of a DelayedProducePurgatory).

    Requests with acks=all wait in the order of the log: when one is complete, all before it are. Those that ask for a
    number of replicas (up to 0.8) are checked one by one.

    Attributes:
        queue: the requests with acks=all, in the order of the offsets that they require.
        counted: the requests with a number of acks.
    """

    counted: list[Watched] = field(factory=list)
    queue: deque[Watched] = field(factory=deque)

    def add(self, required: int, acks: int, place: int, produce: DelayedProduce) -> None:
        """Let a batch wait for its ``acks``."""
        queue, watched = self.queue, (required, acks, place, produce)
        if acks >= 0:
            self.counted.append(watched)
        elif queue and queue[-1][0] > required:
            # The batch was sent again: it is in the log already, before the last one that waits (KIP-98).
            queue.insert(sum(earlier[0] <= required for earlier in queue), watched)
        else:
            queue.append(watched)

    def complete(self, high_watermark: int, error: Errors) -> None:
        """Finish the requests with acks=all that require no more than ``high_watermark``. ``error`` may be NONE."""
        queue = self.queue
        while queue and queue[0][0] <= high_watermark:
            _required, _acks, place, produce = queue.popleft()
            produce.finish(place, error)

    def complete_counted(self, is_enough: Callable[[int, int], bool]) -> None:
        """Finish the requests for which ``is_enough`` is true of the offset that they require and of their acks."""
        waiting, self.counted = self.counted, []
        for required, acks, place, produce in waiting:
            if is_enough(required, acks):
                produce.finish(place, Errors.NONE)
            else:
                self.counted.append((required, acks, place, produce))

    def fail(self, error: Errors) -> None:
        """Finish all requests with ``error``."""
        waiting = list(self)
        self.queue, self.counted = deque(), []
        for _required, _acks, place, produce in waiting:
            produce.finish(place, error)

    def __iter__(self) -> Iterator[Watched]:
        yield from self.queue
        yield from self.counted


# -- fetch ------------------------------------------------------------------------------------------------------------


class Fetching(Protocol):
    """A fetch session, which answers its request."""

    def park(self, request: FetchRequest) -> bool:
        """Park the exchange that begins with ``request``, which has just come, if its answers will be empty. Returns
        whether it is parked."""

    def try_complete(self) -> bool:
        """Answer the request if there is enough to send. Returns whether it was answered."""

    def force_complete(self) -> None:
        """Answer the request with the records that there are."""


@define(eq=False)
class DelayedFetch:
    """The request of one fetch session, while it waits (kafka.server.DelayedFetch). Each session has one, for all of
    its requests.

    Attributes:
        request: the waiting request; None: none waits.
        poll: the parked poll, whose last simulated request is ``request``; None: no poll is parked. It rouses when a
            position of the session becomes dirty.
        rank: the rank of the line of its timer (``World.call_in_line``).
    """

    purgatory: "Purgatory"
    process: Process
    session: Fetching
    request: FetchRequest | None = None
    poll: Poll | None = None
    rank: int = field(init=False)
    _expires_us: int = 0
    _timer_set: bool = False
    _expired: bool = False

    def __attrs_post_init__(self) -> None:
        self.rank = self.process.world.line()

    def wait(self, request: FetchRequest) -> None:
        """Let ``request`` wait for at most its ``max_wait_us``, by a clock that is never set (SystemTimer, 2.3)."""
        if self._expired:
            # Park only after two empty polls in a row: under load it is not worth trying.
            self._expired = False
            if self.session.park(request):
                return
        self._expires_us = self.process.monotonic_us + request.max_wait_us
        if not self._timer_set:
            self._set_timer(request.max_wait_us)

    @property
    def waited_us(self) -> int:
        """How long the request has waited, which waits for data."""
        return 0 if self.request is None else self.process.monotonic_us - self._expires_us + self.request.max_wait_us

    def expire(self, _: object) -> None:
        """Answer the request if its time is over. One timer for each session, set again when it fires too early: most
        requests are answered before their time."""
        self._timer_set = False
        if self.request is None:
            return
        left_us = self._expires_us - self.process.monotonic_us
        if left_us > 0:
            self._set_timer(left_us)
        else:
            self._expired = True
            self.session.force_complete()

    def go_on(self, request: FetchRequest, since_us: int) -> None:
        """Let ``request`` wait for the rest of its time: it came at ``since_us`` (virtual time) and was not
        simulated."""
        self.request = request
        self._expires_us = since_us + request.max_wait_us
        self._timer_set = True
        self.process.timer_in_line(self.rank, request.max_wait_us, self.expire, since_us)

    def rouse(self) -> None:
        """Simulate the polls again, if they are not."""
        if self.poll is not None:
            self.poll.rouse()

    def answer_now(self) -> None:
        """Answer the request that waits, if one does, with what there is."""
        self.rouse()
        if self.request is not None:
            self.session.force_complete()

    def _set_timer(self, delay_us: int) -> None:
        self._timer_set = True
        self.process.timer_in_line(self.rank, delay_us, self.expire)


class Deletes(Protocol):
    """The part of a broker that deletes records on request (``brokers.replica_manager.record_deletion``)."""

    @property
    def waiting(self) -> Mapping[TopicPartition, object]:
        """The requests that wait for other replicas, by partition."""
        ...

    def look(self, tp: TopicPartition) -> None:
        """Answer those that need not wait for ``tp`` any more."""
        ...


@define(eq=False)
class Purgatory:
    """The fetch requests of one broker that wait for the end of the current transition.

    Attributes:
        trace: the trace, which gets the collected rows of the transition at its end.
        deletion: the part that deletes records on request.
        woken: the requests in the order in which they were woken.
        reported: the sessions to which the transition has reported an append: one report wakes a session.
    """

    trace: Trace
    deletion: Deletes | None = None
    woken: dict[DelayedFetch, None] = field(factory=dict)
    reported: dict[object, None] = field(factory=dict)

    def complete(self) -> None:
        """End the transition: record its rows, and answer the fetch requests for which it brought something to send."""
        self.trace.record_collected()
        self.reported.clear()
        woken = self.woken
        while woken:
            fetch = next(iter(woken))
            del woken[fetch]
            if fetch.request is not None:
                fetch.session.try_complete()

    def completing(self, transition: Callable[Arguments, object]) -> Callable[Arguments, None]:
        """A function that calls ``transition`` and then ``complete``, for a transition that does not begin with a
        request."""

        def and_complete(*args: Arguments.args, **kwargs: Arguments.kwargs) -> None:
            transition(*args, **kwargs)
            self.complete()

        return and_complete
