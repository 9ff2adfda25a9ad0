"""A leader's view of one follower (kafka.cluster.Replica, 2.4), and of the sessions in which its replica is read."""

from collections.abc import Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, Protocol

from attrs import define

from emulator.protocol.events import UNCHECKED
from emulator.protocol.types import TopicPartition

UNKNOWN_OFFSET = -1
NEVER = -(1 << 62)
"""A time before any instant of any run. Kafka says 0, which is 1970; a run begins at 0."""


class Reader(Protocol):
    """A fetch session, as the partitions that it reads know it.

    Attributes:
        last_fetch_us: the time of its last request.
    """

    last_fetch_us: int

    @property
    def dirty(self) -> MutableMapping[Any, None]:
        """The positions that its next answer has to check."""

    def wake(self, position: Any) -> None:
        """Wake a request that waits: there are records or an error to send, so it may be complete."""

    def look(self) -> None:
        """Bring ``last_fetch_us`` up to now."""

    def mark_dirty(self, position: Any) -> None:
        """Let the next answer check this position; a request that waits goes on waiting."""

    def high_watermark_moved(self, position: Any) -> None:
        """Take note that the leader's high watermark is higher than before."""

    def high_watermark_learned(self, position: Any) -> None:
        """Take note that the broker, which follows, has learned another high watermark from the leader."""

    def reads(self, tp: TopicPartition) -> bool:
        """Whether its fetches count as reads of ``tp``: it holds ``tp``, at an offset and epoch that are valid now."""

    def leader_epoch(self, tp: TopicPartition) -> int | None:
        """The leader epoch under which it reads ``tp``; None: it does not."""


class Position(Protocol):
    """Where a session reads a partition (``brokers.requests.reader_session.SessionPosition``)."""

    @property
    def session(self) -> Reader: ...

    @property
    def tp(self) -> TopicPartition: ...

    @property
    def remote(self) -> "RemoteReplica | None":
        """The follower whose fetches count here; None: not known yet, or none."""

    def resend(self) -> None:
        """Let the next answer say where the log begins."""

    def unbind(self) -> None:
        """Drop what the position knows of the partition, because its role, its leader epoch or its followers change."""


@define(eq=False, weakref_slot=False)
class RemoteReplica:
    """A follower as its leader sees it. It changes only when the follower fetches.

    A follower that has nothing to read does not name the partition in its requests (KIP-227). Each request of its
    session then counts as a fetch of every partition that the session holds and may read. So that an idle partition
    costs nothing, this is not written down with each request: ``catch_up_with_session`` does it before the leader's log
    grows.

    Attributes:
        log_end_offset: the offset of its last fetch; UNKNOWN_OFFSET before the first, and in some releases after one
            that was refused.
        log_start_offset: where its log begins, as its fetches say; UNKNOWN_OFFSET before the first.
        last_caught_up_us: the time when its log last held all that the leader's did.
        last_fetch_us, last_fetch_leader_end: time of its last fetch, and the leader's log end offset then.
        position: its position in the fetch session in which it reads this partition.
        must_fetch: whether its leader has dropped it from the ISR since its last fetch. Idling at the end then proves
            nothing: it may be dead.
    """

    broker: int
    log_end_offset: int = UNKNOWN_OFFSET
    last_caught_up_us: int = NEVER
    last_fetch_us: int = NEVER
    last_fetch_leader_end: int = 0
    position: Position | None = None
    must_fetch: bool = False
    log_start_offset: int = UNKNOWN_OFFSET

    @property
    def session(self) -> Reader | None:
        """The fetch session in which it reads this partition."""
        return None if self.position is None else self.position.session

    def fetched_under(self, tp: TopicPartition) -> int:
        """The leader epoch under which its session reads ``tp``; UNCHECKED where it reads under any, or not."""
        epoch = None if self.session is None else self.session.leader_epoch(tp)
        return UNCHECKED if epoch is None else epoch

    def update_fetch_state(self, offset: int, leader_end: int, now_us: int) -> None:
        """Take over a fetch at ``offset`` while the leader's log ended at ``leader_end`` (Replica.updateFetchState,
        2.3)."""
        if offset >= leader_end:
            self.last_caught_up_us = now_us
        elif offset >= self.last_fetch_leader_end and self.last_fetch_us > self.last_caught_up_us:
            self.last_caught_up_us = self.last_fetch_us
        self.log_end_offset = offset
        self.last_fetch_leader_end = leader_end
        self.last_fetch_us = now_us
        self.must_fetch = False

    def leave(self, leader_end: int) -> None:
        """Take note that its leader drops it from the ISR. If it idles at the end, the next fetch of its session is
        checked."""
        self.must_fetch = True
        position = self.position
        if position is not None and self.log_end_offset >= leader_end:
            position.session.mark_dirty(position)
            position.unbind()

    def catch_up_with_session(self, leader_end: int, counted: bool = False) -> None:
        """Take over the fetches of the session that found nothing new, before ``leader_end`` moves. Refused fetches do
        not count. ``counted``: the fetches so far were refused, but the next one is not."""
        position = self.position
        if position is None or self.log_end_offset < leader_end:
            return
        last_fetch_us = position.session.last_fetch_us
        counts = counted or position.remote is self
        if last_fetch_us > self.last_fetch_us and (counts or position.session.reads(position.tp)):
            self.last_caught_up_us = self.last_fetch_us = last_fetch_us
            self.last_fetch_leader_end = leader_end

    def catch_up_now(self, leader_end: int) -> None:
        """Take over the fetches of the session up to now."""
        if self.position is not None:
            self.position.session.look()
            self.catch_up_with_session(leader_end)

    def idles_at(self, leader_end: int, tp: TopicPartition) -> bool:
        """Whether it has read everything and still reads ``tp``, also since this leader epoch began: it may join the
        ISR without another fetch of its own."""
        session = self.session
        if self.must_fetch or session is None or self.log_end_offset < leader_end or not session.reads(tp):
            return False
        session.look()
        return session.last_fetch_us >= self.last_fetch_us

    def forget_fetch(self) -> None:
        """Forget its position, because a fetch was refused (Replica.updateLogReadResult with an unknown offset, 2.3).
        The time when it was last caught up stays as it was."""
        self.log_end_offset = UNKNOWN_OFFSET
        self.last_fetch_leader_end = UNKNOWN_OFFSET
        self.last_fetch_us = NEVER

    def begin_epoch(self, leader_end: int, now_us: int, in_sync: bool, keeps_position: bool) -> None:
        """Begin a new epoch of the same leader: an ``in_sync`` follower was caught up now, any other never
        (Partition.makeLeader, 2.3)."""
        if not keeps_position:
            self.log_end_offset = UNKNOWN_OFFSET
        self.last_fetch_leader_end = leader_end
        self.last_fetch_us = now_us
        self.last_caught_up_us = now_us if in_sync else NEVER

    def forget_position(self, now_us: int, in_sync: bool) -> None:
        """Begin without its position, because the broker becomes leader and does not know it yet."""
        self.log_end_offset = self.log_start_offset = UNKNOWN_OFFSET
        self.last_fetch_leader_end = 0
        self.last_fetch_us = NEVER
        self.last_caught_up_us = now_us if in_sync else NEVER
        if self.position is not None:
            self.position.unbind()
            self.position = None


class AtTheEndOnly(RemoteReplica):
    """A follower that is caught up only where it fetches at the end of the log (before KAFKA-4485)."""

    __slots__ = ()

    def update_fetch_state(self, offset: int, leader_end: int, now_us: int) -> None:
        if offset >= leader_end:
            self.last_caught_up_us = now_us
        self.log_end_offset = offset
        self.last_fetch_leader_end = leader_end
        self.last_fetch_us = now_us
        self.must_fetch = False


NONE_REMOTE: Mapping[int, RemoteReplica] = MappingProxyType({})
"""An empty map that all partitions without remote replicas share."""

NO_POSITIONS: Mapping[int, Position] = MappingProxyType({})
"""An empty map that all partitions without readers on unassigned brokers share."""


def recognized(
    remotes: Mapping[int, RemoteReplica], before: Mapping[int, RemoteReplica], not_assigned: Mapping[int, Position]
) -> Mapping[int, Position]:
    """Assign ``remotes`` in the place of those ``before``. A replica that was not assigned, and fetched all the same,
    need not name the partition again in its session (KIP-227): its next fetch counts. Returns the positions of readers
    that are not assigned now."""
    left = {broker: one.position for broker, one in before.items() if broker not in remotes and one.position}
    if not left and not not_assigned:
        return not_assigned
    there = {**not_assigned, **left}
    for broker, remote in remotes.items():
        position = there.pop(broker, None)
        if position is not None and remote.position is None:
            remote.position = position
            position.session.mark_dirty(position)
    return there or NO_POSITIONS
