"""The follower's side of an incremental fetch session (KIP-227): each request names only what changed."""

from emulator.protocol.errors import Errors
from emulator.protocol.fetch import NEW_SESSION, FetchedPartition, FetchPartition, FetchRequest, FetchResponse
from emulator.protocol.types import TopicPartition
from fetchers.policies import FetcherPolicies
from fetchers.ports import LeaderEndPoint


class SessionLost(Exception):
    """The leader does not know the session any more; the next request has to name everything."""


class SessionReader:
    """Reads from one leader within one session."""

    def __init__(self, replica: int, endpoint: LeaderEndPoint, policies: FetcherPolicies) -> None:
        self._replica = replica
        self._endpoint = endpoint
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

    async def read(self) -> tuple[FetchedPartition, ...]:
        """Send one request; return the answers to positions that are still the ones that were asked for.

        Raises:
            SessionLost: the session has been reset.
            emulator.network.Disconnected: no answer came.
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
        response: FetchResponse = await self._endpoint.call(request, request.size, not request.partitions)
        if response.error is not Errors.NONE:
            self.reset()
            raise SessionLost(response.error.name)
        self._id = response.session_id
        self._epoch += 1
        stale = {**self._changed, **self._forgotten}
        if not stale:
            return response.partitions
        return tuple(answer for answer in response.partitions if answer.tp not in stale)
