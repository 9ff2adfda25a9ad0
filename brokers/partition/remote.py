"""What a leader knows about one follower."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from attrs import define

if TYPE_CHECKING:
    from brokers.requests.fetch_session import FetchSession

UNKNOWN_OFFSET = -1
NEVER = -(1 << 62)
"""Before any instant of any run. Kafka says 0, which is 1970; a run begins at 0."""


@define(eq=False, weakref_slot=False)
class RemoteReplica:
    """A follower, seen from its leader; it moves only when the follower fetches.

    Attributes:
        log_end_offset: the offset of its last fetch; UNKNOWN_OFFSET before the first.
        last_caught_up_us: when its log last held all that the leader's did.
        last_fetch_us, last_fetch_leader_end: time of its last fetch, and the leader's log end offset then.
        session: the fetch session in which it reads this partition. While it idles at the leader's end, each fetch of
            the session counts as one of this partition, so that an idle partition costs nothing.
    """

    broker: int
    in_isr: bool
    log_end_offset: int = UNKNOWN_OFFSET
    last_caught_up_us: int = NEVER
    last_fetch_us: int = NEVER
    last_fetch_leader_end: int = 0
    session: "FetchSession | None" = None

    def fetched(self, offset: int, leader_end: int, now_us: int) -> None:
        """A read at ``offset`` while the leader's log ended at ``leader_end`` (Replica.updateFetchState, 2.3)."""
        if offset >= leader_end:
            self.last_caught_up_us = now_us
        elif offset >= self.last_fetch_leader_end and self.last_fetch_us > self.last_caught_up_us:
            self.last_caught_up_us = self.last_fetch_us
        self.log_end_offset = offset
        self.last_fetch_leader_end = leader_end
        self.last_fetch_us = now_us

    def settle(self, leader_end: int) -> None:
        """Take over the fetches of the session that found nothing new, before ``leader_end`` moves."""
        session = self.session
        if session is not None and self.log_end_offset >= leader_end and session.last_fetch_us > self.last_fetch_us:
            self.last_caught_up_us = self.last_fetch_us = session.last_fetch_us
            self.last_fetch_leader_end = leader_end

    def begin_epoch(self, leader_end: int, now_us: int) -> None:
        """The leader goes on leading under a new epoch: caught up now, or not at all (Partition.makeLeader, 2.3)."""
        self.last_fetch_leader_end = leader_end
        self.last_fetch_us = now_us
        self.last_caught_up_us = now_us if self.in_isr else NEVER

    def forget_position(self, now_us: int) -> None:
        """The broker becomes leader: it has yet to learn where this follower is."""
        self.log_end_offset = UNKNOWN_OFFSET
        self.last_fetch_leader_end = 0
        self.last_fetch_us = NEVER
        self.last_caught_up_us = now_us if self.in_isr else NEVER
        self.session = None


NONE_REMOTE: Mapping[int, RemoteReplica] = MappingProxyType({})
"""What every partition that does not lead has in common."""
