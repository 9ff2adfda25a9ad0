"""The record of what clients get in answers to Fetch, for the checkers."""

from attrs import define, field

from emulator.nodes import Process
from emulator.protocol.clients.fetch import (
    FINAL_EPOCH,
    INITIAL_EPOCH,
    NO_SESSION,
    READ_COMMITTED,
    ConsumerFetchRequest,
    ConsumerFetchResponse,
)
from emulator.protocol.errors import NO_ERROR
from emulator.protocol.events import CommittedFetched, Fetched
from emulator.protocol.shown import SessionAnswered, SessionLost
from emulator.protocol.types import TopicPartition


def record_answer(
    client: Process, leader: int, request: ConsumerFetchRequest, response: ConsumerFetchResponse
) -> None:  # fmt: skip
    """Record the batches that ``client`` has received from a broker."""
    for partition in response.partitions:
        batches = partition.batches
        if not batches:
            continue
        ids = tuple([batch.id for batch in batches])
        client.emit(
            Fetched, client.node.id, *partition.tp, batches[0].base_offset, batches[-1].next_offset, ids, leader,
            batches[-1].leader_epoch, partition.high_watermark,
        )  # fmt: skip
        stable = response.stability.get(partition.tp)
        if stable is not None and request.isolation == READ_COMMITTED:
            read = tuple([batch.id for batch in batches if batch.size])  # of the others compaction has left nothing
            client.emit(
                CommittedFetched, client.node.id, *partition.tp, leader, read, stable.last_stable_offset,
                tuple([producer_id for producer_id, _first in stable.aborted]),
                tuple([first for _producer_id, first in stable.aborted]),
            )  # fmt: skip


@define(eq=False)
class FollowedSession:
    """A fetch session as its client's requests describe it. ``offsets``: where the client is in each partition."""

    id: int
    begun_us: int
    offsets: dict[TopicPartition, int]


@define(eq=False)
class FollowedSessions:
    """The fetch sessions of one client, whatever the client itself makes of the answers: the last one at each
    broker."""

    _sessions: dict[int, FollowedSession] = field(factory=dict)

    def follow(
        self, client: Process, leader: int, request: ConsumerFetchRequest, response: ConsumerFetchResponse
    ) -> None:  # fmt: skip
        """Show what the answer of a broker says of the session of its request."""
        offsets = {each.tp: each.fetch_offset for each in request.wanted}
        trace, me = client.node.trace, client.node.id
        if request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH):
            self._sessions.pop(leader, None)
            if response.error is NO_ERROR and response.session_id != NO_SESSION:
                self._sessions[leader] = FollowedSession(response.session_id, client.world.now, offsets)
            return
        session = self._sessions.get(leader)
        if session is None or session.id != request.session_id:
            return
        if response.error is not NO_ERROR:
            del self._sessions[leader]
            trace.mark(SessionLost, me, leader, response.error.name, session.begun_us)
            return
        session.offsets.update(offsets)
        for tp in request.forgotten:
            session.offsets.pop(tp, None)
        named = dict.fromkeys(partition.tp for partition in response.partitions)
        besides = tuple([tp for tp in named if tp not in session.offsets])
        left_out = tuple([(tp, offset) for tp, offset in session.offsets.items() if tp not in named])
        trace.mark(SessionAnswered, me, leader, besides, left_out)
