"""The current logs of the same broker, read as a leader's are read from another (Kafka's ReplicaAlterLogDirsThread)."""

from emulator.kernel import World
from emulator.protocol.fetch import FetchedPartition, FetchPartition
from emulator.protocol.offsets_for_leader_epoch import EpochEndOffset, EpochQuery, ListOffsetsResponse
from emulator.protocol.types import TopicPartition
from fetchers.policies import FetcherPolicies
from fetchers.ports import CurrentLogs

NOTHING_NEW_US = 1_000
"""What a read that finds nothing takes. Kafka's thread reads again at once; here a loop has to take time."""


class LocalLeader:
    """What a copy is fetched from (``fetchers.ports.LeaderEndPoint``): one partition at a time, to get it done.

    The first one is the lowest by topic and number, and goes on until it is done or not wanted any more.
    """

    def __init__(self, world: World, logs: CurrentLogs, policies: FetcherPolicies) -> None:
        self._world = world
        self._logs = logs
        self._max_bytes = min(policies.replica_fetch_max_bytes, policies.replica_fetch_response_max_bytes)
        self._wanted: dict[TopicPartition, FetchPartition] = {}
        self._in_progress: TopicPartition | None = None

    def want(self, wanted: FetchPartition) -> None:
        self._wanted[wanted.tp] = wanted

    def forget(self, tp: TopicPartition) -> None:
        self._wanted.pop(tp, None)

    def reset(self) -> None:
        """Nothing is remembered on the other side."""

    def close(self) -> None:
        """There is no connection."""

    async def fetch(self) -> tuple[FetchedPartition, ...]:
        tp = self._in_progress
        if tp not in self._wanted:
            tp = self._in_progress = min(self._wanted)
        wanted = self._wanted[tp]
        answer = await self._logs.read(wanted, self._max_bytes)
        if not answer.batches and not answer.error:
            await self._world.sleep(NOTHING_NEW_US)
        return (answer,) if self._wanted.get(tp) is wanted else ()

    async def epoch_ends(self, queries: tuple[EpochQuery, ...]) -> tuple[EpochEndOffset, ...]:
        return tuple(map(self._logs.epoch_end, queries))

    async def offsets(self, tp: TopicPartition, leader_epoch: int) -> ListOffsetsResponse:
        return self._logs.offsets(tp, leader_epoch)
