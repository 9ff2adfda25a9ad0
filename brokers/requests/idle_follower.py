"""The leader's half of a poll in which nothing happens (``emulator.network.lane``), and the two halves together."""

from collections.abc import Iterator, MutableMapping

from attrs import define

from brokers.purgatory import DelayedFetch
from brokers.requests.reader_session import ReaderSession, SessionPosition
from emulator.network.idle import Poll
from emulator.network.lane import Lane, can_park
from emulator.protocol.errors import NO_ERROR
from emulator.protocol.fetch import FetchRequest, FetchResponse
from fetchers.idle import IdleFetcher

EMPTY_SIZE = 60
"""Bytes of a response in which no partition has changed."""


@define(eq=False)
class NoneDirty(MutableMapping[SessionPosition, None]):
    """The dirty positions of a session whose poll is parked: none. The first one rouses the poll, and so ends this."""

    session: ReaderSession
    poll: Poll

    def __setitem__(self, position: SessionPosition, value: None) -> None:
        self.poll.rouse()
        self.session.dirty[position] = value

    def __getitem__(self, position: SessionPosition) -> None:
        raise KeyError(position)

    __delitem__ = __getitem__

    def __iter__(self) -> Iterator[SessionPosition]:
        return iter(())

    def __len__(self) -> int:
        return 0


@define(eq=False)
class IdleFollower:
    """The poll of one follower's session, from when it is parked until something rouses it.

    Attributes:
        request: the fetch request that waited when the poll was parked.
    """

    session: ReaderSession
    request: FetchRequest
    fetcher: IdleFetcher
    _counted: int = 0

    def take_reads(self, poll: Poll) -> int:
        """How often the session's partitions were read since the last call: for each request that has come since it was
        parked, and for each whose time was over."""
        poll.look()
        reads = 2 * poll.requests + (poll.phase.what != "waiting")
        taken, self._counted = reads - self._counted, reads
        return taken

    def shifted(self) -> None:
        self.fetcher.shifted()

    def roused(self, poll: Poll) -> None:
        """Bring session and fetcher to where they would be, and put what is on the way back on its way."""
        session, phase = self.session, poll.phase
        request = self.fetcher.go_on(poll, self.request)
        session.times_read += self.take_reads(poll)
        session.epoch += poll.requests
        session.last_fetch_us = poll.arrived_us + session.manager.process.node.ahead_us
        session.dirty = {}
        delayed = session.delayed
        delayed.poll = None
        if phase.what == "waiting":
            delayed.go_on(request, phase.since_us)
            return
        delayed.request = None
        session.channel.busy = False
        if phase.what == "asking":
            poll.client.was_sent(request, phase.since_us, phase.t_us)
        else:
            poll.server.was_sent(FetchResponse(NO_ERROR, session.id, (), EMPTY_SIZE), phase.since_us, phase.t_us)


def park(session: ReaderSession, delayed: DelayedFetch, request: FetchRequest) -> bool:
    """Park the poll that begins with ``request``, which has just come, if its follower and its session are idle and
    nothing but delays stands between the two, no disks and no request handler threads that take time. Returns whether
    it was parked."""
    server = session.channel.endpoint
    client = server.peer
    if client is None or not isinstance(client.owner, IdleFetcher):
        return False
    fetcher = client.owner
    processes = client.process, server.process
    if (
        session.dirty
        or request.positions
        or request.forgotten
        or request.min_bytes <= 0
        or request.max_wait_us <= 0
        or not fetcher.is_idle
        or session.manager.policies.service is not None
        or session.manager.isr_locks.held
        or any(disk.pace is not None for process in processes for disk in process.node.disks)
        or not can_park(client, server, FetchRequest, FetchResponse)
    ):
        return False
    follower = IdleFollower(session, request, fetcher)
    lane = Lane.between(client, server)
    poll = delayed.poll = Poll(lane, client, server, request.max_wait_us, delayed.rank, follower)
    session.parked_reads = lambda: follower.take_reads(poll)
    session.dirty = NoneDirty(session, poll)
    poll.park()
    fetcher.park(poll)
    return True
