"""A leader on another broker, read within an incremental fetch session (KIP-227): each request names only what
changed."""

from emulator.protocol.fetch import NEW_SESSION, FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.offsets_for_leader_epoch import (
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.types import TopicPartition
from fetchers.policies import FetcherPolicies
from fetchers.ports import Connection


class RemoteLeader:
    """What a replica fetcher fetches from (``fetchers.ports.LeaderEndPoint``). ``replica`` is the broker that reads."""

    def __init__(self, replica: int, connection: Connection, policies: FetcherPolicies) -> None:
        self._replica = replica
        self._connection = connection
        self._policies = policies
        self._id = NEW_SESSION
        self._epoch = 0
        self._known: dict[TopicPartition, FetchPartition] = {}
        """What the session holds at the leader."""
        self._changed: dict[TopicPartition, FetchPartition] = {}
        self._forgotten: dict[TopicPartition, None] = {}

    def want(self, wanted: FetchPartition) -> None:
        """Read this partition from that offset on."""
        self._changed[wanted.tp] = wanted
        self._forgotten.pop(wanted.tp, None)

    def forget(self, tp: TopicPartition) -> None:
        """Read this partition no more."""
        self._changed.pop(tp, None)
        if tp in self._known:
            self._forgotten[tp] = None

    def reset(self) -> None:
        """The session is gone: begin a new one, with everything that is still wanted."""
        self._id, self._epoch = NEW_SESSION, 0
        wanted = {tp: known for tp, known in self._known.items() if tp not in self._forgotten}
        self._changed = {**wanted, **self._changed}
        self._known.clear()
        self._forgotten.clear()

    def close(self) -> None:
        self._connection.close()

    async def epoch_ends(self, queries: tuple[EpochQuery, ...]) -> tuple[EpochEndOffset, ...]:
        request = OffsetsForLeaderEpochRequest(self._replica, queries)
        response: OffsetsForLeaderEpochResponse = await self._connection.call(request, request.size)
        return response.partitions

    async def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        request = ListOffsetsRequest(tp, leader_epoch, self._replica)
        response: ListOffsetsResponse = await self._connection.call(request, request.size)
        return response

    async def fetch(self) -> tuple[FetchedPartition, ...]:
        """Send one request; return the answers to positions that are still the ones that were asked for.

        Nothing comes from a leader that does not know the session any more: the next request names everything.
        """
        changed = self._changed
        policies = self._policies
        request = FetchRequest(
            self._replica, self._id, self._epoch, policies.replica_fetch_wait_max_us, policies.replica_fetch_min_bytes,
            policies.replica_fetch_response_max_bytes, policies.replica_fetch_max_bytes, tuple(changed.values()),
            tuple(self._forgotten),
        )  # fmt: skip
        known = self._known
        for tp in self._forgotten:
            del known[tp]
        known.update(changed)
        self._changed, self._forgotten = {}, {}
        response: FetchResponse = await self._connection.call(request, request.size, not request.partitions)
        if response.error:
            self.reset()
            return ()
        self._id = response.session_id
        self._epoch += 1
        stale = {**self._changed, **self._forgotten}
        if not stale:
            return response.partitions
        return tuple(answer for answer in response.partitions if answer.tp not in stale)
