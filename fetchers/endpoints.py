"""The ends that a fetcher thread fetches from (``fetchers.ports.LeaderEndPoint``): the leader on another broker, within
an incremental fetch session (KIP-227), or the current logs of its own broker (KIP-113)."""

from collections.abc import Callable, Coroutine
from typing import Any

from attrs import define, field

from emulator.kernel import Signal, World
from emulator.network import Client
from emulator.protocol.clients.fetch import INITIAL_EPOCH
from emulator.protocol.errors import Errors
from emulator.protocol.fetch import NEW_SESSION, FetchedFields, FetchFields, FetchPartition, FetchRequest, FetchResponse
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
from fetchers.ports import BlockingSend, CurrentLogs

NOTHING_NEW_US = 1_000
"""The time that a local read takes that finds nothing. Kafka's thread reads again at once; here a loop has to take
time."""


@define(eq=False, kw_only=True)
class ReplicaFetcherBlockingSend(Client):
    """A replica fetcher's connection to a leader. Where disks take time, a request is sent only once the batches that
    were fetched before it are on the disk.

    Attributes:
        take_disk_wait: returns a signal that is set when the disks are done
            (``brokers.log.disk_work.DiskWork.take_signal``).
    """

    take_disk_wait: Callable[[], Signal | None]

    def call(self, request: Any, size: int, background: bool = False) -> Coroutine[Any, Any, Any]:
        """Send a request as ``Client.call`` does, after the disks are done."""
        disks = self.take_disk_wait()
        if disks is None:
            return super().call(request, size, background)
        return self._call_after(disks, request, size, background)

    async def _call_after(self, disks: Signal, request: Any, size: int, background: bool) -> Any:
        await disks.wait()
        return await super().call(request, size, background)


@define(eq=False)
class RemoteLeaderEndPoint:
    """A leader on another broker; each fetch request names only the partitions that have changed since the last.

    ``_replica`` is the broker that fetches, or ``CONSUMER``.

    Attributes:
        refused: called with the error where the leader does not know the session, or has it at another epoch.
        asks_starts: see ``FetchResponse``.
    """

    _replica: int
    _connection: BlockingSend
    _policies: FetcherPolicies
    refused: Callable[[Errors], object] = field(default=lambda _: None, kw_only=True)
    asks_starts: bool = False
    _id: int = NEW_SESSION
    _epoch: int = INITIAL_EPOCH
    _known: dict[TopicPartition, FetchFields] = field(factory=dict)
    """The partitions in the session that the leader holds."""
    _changed: dict[TopicPartition, FetchFields] = field(factory=dict)
    _forgotten: dict[TopicPartition, None] = field(factory=dict)
    _left_out: dict[TopicPartition, None] = field(factory=dict)
    """The partitions that the leader removes from the session first, even where they are wanted again."""

    def want(self, wanted: FetchFields) -> None:
        """Fetch this partition from that offset on."""
        self._changed[wanted[0]] = wanted
        if self._forgotten:
            self._forgotten.pop(wanted[0], None)

    def nothing_wanted(self) -> None:
        """Take note that no partition is to be fetched now.

        Kafka then sends a request that only names the partitions to forget (ReplicaFetcherThread.buildFetch, 2.4.1).
        Nothing is left in the session, so it ends, and the next request is a full one (FetchManager.newContext, 1.1).
        Here no such request is sent.
        """
        if self._forgotten:
            self._left_out.update(self._forgotten)
            self._epoch = INITIAL_EPOCH

    def want_only(self, wanted: dict[TopicPartition, FetchFields]) -> None:
        """Fetch these partitions and no others, if no request was sent since ``reset``."""
        self._changed = wanted

    def forget(self, tp: TopicPartition) -> None:
        """Do not fetch this partition any more."""
        self._changed.pop(tp, None)
        if tp in self._known:
            self._forgotten[tp] = None
            if self._policies.names_all_partitions:
                self._left_out[tp] = None

    def reset(self) -> None:
        """Begin a new session with all wanted partitions, because the old one is lost."""
        self._id, self._epoch = NEW_SESSION, INITIAL_EPOCH
        wanted, self._known = self._known, {}
        for tp in self._forgotten:
            wanted.pop(tp, None)
        self._forgotten.clear()
        self._left_out.clear()
        wanted.update(self._changed)
        self._changed = wanted

    @property
    def is_unchanged(self) -> bool:
        """Whether the next request names no partition."""
        return not (self._changed or self._forgotten)

    def passed(self, rounds: int) -> int:
        """Count ``rounds`` requests without partitions that were answered without being simulated. Returns the session
        epoch of the request in flight."""
        self._epoch += rounds
        return self._epoch

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

    async def fetch(self) -> tuple[FetchedFields, ...]:
        """Send one request. Returns the answers for partitions that were not removed meanwhile, and are still at the
        same offset (AbstractFetcherThread.processFetchRequest, 2.8.2). An error is returned only where nothing has
        changed.

        Returns nothing if the leader does not know the session any more; the next request then names all partitions.
        """
        changed = self._changed
        policies = self._policies
        request = FetchRequest(
            self._replica, self._id, self._epoch, policies.replica_fetch_wait_max_us, policies.replica_fetch_min_bytes,
            policies.replica_fetch_response_max_bytes, policies.replica_fetch_max_bytes, tuple(changed.values()),
            tuple({**self._forgotten, **self._left_out}),
        )  # fmt: skip
        known = self._known
        for tp in request.forgotten:
            del known[tp]
        if request.forgotten:
            self._forgotten, self._left_out = {}, {}
        if changed:
            if known:
                known.update(changed)
            else:
                self._known = changed
            self._changed = {}
        response: FetchResponse = await self._connection.call(request, request.size, not request.positions)
        if response.error:
            self.refused(response.error)
            self.reset()
            return ()
        self._id = response.session_id
        self._epoch += 1
        self.asks_starts = response.asks_starts
        if not self._changed and not self._forgotten:
            return response.answers
        return tuple(filter(self._is_due, response.answers))

    def _is_due(self, answer: FetchedFields) -> bool:
        """Whether the partition of an answer is as it was when the request was sent, or at the same offset."""
        tp, error = answer[:2]
        if tp in self._forgotten:
            return False
        changed, sent = self._changed.get(tp), self._known.get(tp)
        return changed is None or (not error and sent is not None and changed[2] == sent[2])


class LocalLeaderEndPoint:
    """The current logs of the same broker, copied one partition at a time so that each is complete soon (Kafka's
    ReplicaAlterLogDirsThread).

    Copying begins with the lowest partition by topic and number. It goes on until that one is complete or not wanted
    any more.
    """

    asks_starts = False

    def __init__(self, world: World, logs: CurrentLogs, policies: FetcherPolicies) -> None:
        self._world = world
        self._logs = logs
        self._max_bytes = min(policies.replica_fetch_max_bytes, policies.replica_fetch_response_max_bytes)
        self._wanted: dict[TopicPartition, FetchFields] = {}
        self._in_progress: TopicPartition | None = None

    def want(self, wanted: FetchFields) -> None:
        self._wanted[wanted[0]] = wanted

    def want_only(self, wanted: dict[TopicPartition, FetchFields]) -> None:
        self._wanted = wanted

    def forget(self, tp: TopicPartition) -> None:
        self._wanted.pop(tp, None)

    def nothing_wanted(self) -> None:
        """Do nothing: there is no session."""

    def reset(self) -> None:
        """Do nothing: there is no session."""

    def close(self) -> None:
        """Do nothing: there is no connection."""

    async def fetch(self) -> tuple[FetchedFields, ...]:
        tp = self._in_progress
        if tp not in self._wanted:
            tp = self._in_progress = min(self._wanted)
        wanted = self._wanted[tp]
        answer = await self._logs.read(FetchPartition._make(wanted), self._max_bytes)
        if not answer.batches and not answer.error:
            await self._world.sleep(NOTHING_NEW_US)
        return (answer,) if self._wanted.get(tp) is wanted else ()

    async def epoch_ends(self, queries: tuple[EpochQuery, ...]) -> tuple[EpochEndOffset, ...]:
        return tuple(map(self._logs.epoch_end, queries))

    async def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        return self._logs.offsets(tp, leader_epoch)
