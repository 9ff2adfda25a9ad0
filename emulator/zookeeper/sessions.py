"""The server's session table: who was heard of when, and who has been silent for too long."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

from emulator.kernel import Timer
from emulator.nodes import Process
from emulator.zookeeper.spec import ZkSpec

if TYPE_CHECKING:
    from emulator.zookeeper.server import Connection


@define(eq=False)
class Session:
    """One session.

    Attributes:
        client: the machine it belongs to.
        heard_us: when the server last had a message from it.
        connection: the one it uses now, None while it has lost it.
    """

    id: int
    client: int
    heard_us: int
    connection: "Connection | None" = None
    timer: Timer | None = None


@define(eq=False)
class Sessions:
    """The living sessions by id. ``expire`` is told of one that was silent for its timeout, at the next
    tick."""

    process: Process
    spec: ZkSpec
    expire: Callable[[Session], object]
    living: dict[int, Session] = field(factory=dict)
    _last: int = 0

    def open(self, client: int) -> Session:
        """A new session. Ids count up: no two sessions of a run share one."""
        self._last += 1
        session = self.living[self._last] = Session(self._last, client, self.process.world.now)
        self._arm(session)
        return session

    def end(self, session: Session) -> None:
        """It is over, for whatever reason."""
        del self.living[session.id]
        if session.timer is not None:
            session.timer.cancel()

    def newest(self, client: int) -> Session | None:
        """The session that machine ``client`` opened last, if it lives."""
        for session in reversed(self.living.values()):
            if session.client == client:
                return session
        return None

    def _due_us(self, session: Session) -> int:
        tick = self.spec.tick_us
        return ((session.heard_us + self.spec.session_timeout_us) // tick + 1) * tick

    def _arm(self, session: Session) -> None:
        delay = self._due_us(session) - self.process.world.now
        session.timer = self.process.call_later(delay, self._look, session)

    def _look(self, session: Session) -> None:
        # One timer for each session, moved on lazily: a message that arrives costs the session nothing but a
        # number.
        if self._due_us(session) > self.process.world.now:
            self._arm(session)
        else:
            self.expire(session)
