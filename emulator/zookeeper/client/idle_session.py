"""Pings of a session that nothing else uses are jumped over (``emulator.network.lane``)."""

from typing import TYPE_CHECKING

from attrs import define, field

from emulator.network.endpoint import Endpoint
from emulator.network.lane import Exchange, Lane, Upcoming, can_park
from emulator.zookeeper.messages import Ping, Pong
from emulator.zookeeper.server.zookeeper_server import ServerCnxn
from emulator.zookeeper.spec import SIZE

if TYPE_CHECKING:
    from emulator.zookeeper.client.client_cnxn import ClientCnxn


@define(eq=False, repr=False)
class IdleSession(Exchange):
    """The pings of one session, from one that is sent now until something rouses them.

    Attributes:
        period_us: the time from one ping to the next, whenever the answer comes.
        timer: the rank of the timer that sends them.
        arrived_us, returned_us: the times at which the last ping arrived, and the last answer, at the last ``look``;
            -1: none has since the first ping.
    """

    cnxn: "ClientCnxn"
    connection: ServerCnxn
    period_us: int
    timer: int
    arrived_us: int = -1
    returned_us: int = -1
    _sent_us: int = field(init=False)
    """The time at which the last ping that is past was sent."""
    _number: int = 0
    """The number of pings that were sent before it since the first."""
    _arrivals: list[int] = field(factory=list)
    """Arrival times of that ping, then of those that are computed already."""
    _returns: list[int] = field(factory=list)
    """Arrival times of their answers. The last one may be missing."""
    _drawn: tuple[int, int] = (0, 0)

    def __attrs_post_init__(self) -> None:
        self._sent_us = self.lane.world.now
        self._arrivals.append(self.client.out.arrival(SIZE))

    def look(self) -> None:
        """Bring the times up to the current event, unless it is simulated again."""
        if not self.parked:
            return
        now, period_us = self.lane.world.now, self.period_us
        self.lane.run(now)
        past = (now - self._sent_us) // period_us
        sent_us = self._sent_us + past * period_us
        if past and not self.lane.world.is_past(sent_us, sent_us - period_us, self.timer):
            past -= 1
        if past:
            self.arrived_us, self.returned_us = self._arrivals[past - 1], self._returns[past - 1]
            del self._arrivals[:past], self._returns[:past]
            self._sent_us += past * period_us
            self._number += past
        if self._has_arrived:
            self.arrived_us = self._arrivals[0]
            if self._has_returned:
                self.returned_us = self._returns[0]

    def arrival_between(self) -> tuple[int, int]:
        """The earliest and the latest time at which the last ping may have arrived."""
        now, route = self.lane.world.now, self.client.out
        sent_us = now - (now - self._sent_us) % self.period_us
        if sent_us + route.longest_us < now:
            return sent_us + route.shortest_us, sent_us + route.longest_us
        self.look()
        arrived_us = max(self.arrived_us, self.connection.session.heard_us if self.connection.session else 0)
        return arrived_us, arrived_us

    # -- as an Exchange -----------------------------------------------------------------------------------------------

    @property
    def upcoming(self) -> Upcoming:
        sent_us = self._sent_us + (len(self._arrivals) - 1) * self.period_us
        if len(self._returns) < len(self._arrivals):
            return self._arrivals[-1], sent_us, self.client.rank, self
        return sent_us + self.period_us, sent_us, self.timer, self

    def step(self, t_us: int, others_us: int) -> Upcoming:
        if len(self._returns) == len(self._arrivals):
            arrival_us = t_us + self.ask()
            self._arrivals.append(arrival_us)
            if arrival_us >= others_us:
                return arrival_us, t_us, self.client.rank, self
            t_us = arrival_us
        self._returns.append(t_us + self.answer())
        return self.upcoming

    def forget_ahead(self) -> tuple[int, int]:
        self.look()
        del self._arrivals[1:], self._returns[1 if self._has_arrived else 0 :]
        before = self._drawn
        self._drawn = drawn = self._number, self._number + len(self._returns)
        return drawn[0] - before[0], drawn[1] - before[1]

    def shifted(self) -> None:
        """Do nothing: no times were given for later pings."""

    def roused(self) -> None:
        """Bring both ends to where they would be, and schedule the arrival of what is on its way."""
        zxid = self.connection.server.database.zxid
        session = self.connection.session
        assert session is not None
        session.pings = None
        session.heard_us = max(session.heard_us, self.arrived_us)
        self.cnxn.pinged(self._sent_us, self.returned_us, zxid)
        if not self._has_arrived:
            self.client.was_sent(Ping(), self._sent_us, self._arrivals[0])
        elif not self._has_returned:
            self.server.was_sent(Pong(zxid), self._arrivals[0], self._returns[0])

    @property
    def _has_arrived(self) -> bool:
        """Whether the last ping has arrived at the server."""
        return self.lane.world.is_past(self._arrivals[0], self._sent_us, self.client.rank)

    @property
    def _has_returned(self) -> bool:
        """Whether its answer has arrived."""
        returns = self._returns
        return bool(returns) and self.lane.world.is_past(returns[0], self._arrivals[0], self.server.rank)


def park(cnxn: "ClientCnxn", client: Endpoint, period_us: int, timer: int) -> IdleSession | None:
    """Send a ping, and park those that follow, if nothing but pings is on its way between the two ends. None: nothing
    was sent or parked."""
    server, now = client.peer, client.world.now
    if (
        server is None
        or not isinstance(server.owner, ServerCnxn)
        or server.owner.session is None
        or max(client.last_arrival_us, server.last_arrival_us) > now
        or not can_park(client, server, Ping, Pong)
        or client.out.longest_us + server.out.longest_us >= period_us
    ):
        return None
    session = IdleSession(Lane.between(client, server), client, server, cnxn, server.owner, period_us, timer)
    server.owner.session.pings = session
    session.park()
    return session
