"""Guards of brokers: which requests they carry out, which fetches count, and which metrics they have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from attrs import evolve

from brokers import metrics
from brokers.controlled_shutdown import ControlledShutdown
from brokers.dynamic_config import DynamicConfigManager
from brokers.log import log
from brokers.metadata_cache import MetadataCache
from brokers.partition.partition import Partition
from brokers.purgatory import ProduceWatchers
from brokers.replica_manager.log_dir_failures import LogDirFailureHandler
from brokers.replica_manager.record_deletion import RecordDeletion
from brokers.replica_manager.replica_manager import ReplicaManager
from brokers.requests import fetch_session, log_dirs
from brokers.requests.control import ControlHandler
from brokers.requests.follower_session import FollowerSession
from brokers.requests.offsets import OffsetsHandler
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.log_dirs import ReplicaInfo
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.update_metadata import UpdateMetadataRequest
from fetchers.quota import Quota
from scenarios.museum.guards.guard import Guard, TakenOut, no, nothing


def _any_broker_epoch(fence: Callable[..., Errors]) -> Callable[..., Errors]:
    def accepts(self: ControlHandler, request: Any) -> Errors:
        error = fence(self, request)
        return Errors.NONE if error is Errors.STALE_BROKER_EPOCH else error

    return accepts


def _acts_first(fence: Callable[..., Errors]) -> Callable[..., Errors]:
    def looks_late(self: ControlHandler, request: Any) -> Errors:
        if isinstance(request, StopReplicaRequest):
            self._manager.stop_replicas(request)
        elif isinstance(request, LeaderAndIsrRequest):
            self._manager.become_leader_or_follower(request)
        return fence(self, request)

    return looks_late


def _any_leader_epoch(_check: Callable[..., Errors]) -> Callable[..., Errors]:
    return lambda _self, _epoch, **_more: Errors.NONE


def _takes_the_first(update: Callable[..., None]) -> Callable[..., None]:
    def takes(self: MetadataCache, request: UpdateMetadataRequest) -> None:
        update(self, evolve(request, partitions=request.partitions[:1]))

    return takes


def _counts_itself(_low_watermark: Callable[..., int]) -> Callable[..., int]:
    return lambda _self, partition: int(partition.log.start_offset)


def _knows_first_epoch(make_followers: Callable[..., None]) -> Callable[..., None]:
    def only_those(self: ReplicaManager, states: Sequence[LeaderAndIsrPartition], live: tuple[int, ...]) -> None:
        make_followers(self, [state for state in states if state.leader_epoch == 0], live)

    return only_those


def _forgets_nothing(update: Callable[..., None]) -> Callable[..., None]:
    return lambda session, request: update(session, evolve(request, forgotten=()))


def _keeps_segments(_deletable: Callable[..., tuple[int, str]]) -> Callable[..., tuple[int, str]]:
    return lambda *_of: (0, "")


def _does_not_ask(_ask: Callable[..., Awaitable[bool]]) -> Callable[..., Awaitable[bool]]:
    async def goes(_self: ControlledShutdown) -> bool:
        return True

    return goes


def _counts_no_move(
    figures: Callable[..., metrics.PartitionGaugeValues],
) -> Callable[..., metrics.PartitionGaugeValues]:
    return lambda *of: figures(*of)._replace(reassigning=False)


def _finds_nobody(_find: Callable[..., tuple[int, ...]]) -> Callable[..., tuple[int, ...]]:
    return lambda *_of: ()


def _lacks_a_million(info: Callable[..., ReplicaInfo]) -> Callable[..., ReplicaInfo]:
    return lambda log, lag, future: info(log, lag + 1_000_000 * future, future)


def _ends_with_the_log(_latest: Callable[..., int]) -> Callable[..., int]:
    return lambda _self, partition, *_reader: int(partition.log_end_offset)


def _only_in_the_first_session(look: Callable[..., None]) -> Callable[..., None]:
    def looks(self: DynamicConfigManager) -> None:
        first = vars(self).setdefault("_first_session", self._zk.session_id)
        if first == self._zk.session_id:
            look(self)

    return looks


GUARDS = (
    Guard(
        name="broker_epoch_fence",
        title="a broker carries out what was meant for its earlier incarnation",
        here="A request names the epoch of the incarnation that it is for (KIP-380), and the broker does not compare "
        "it with its own. KAFKA-7235 is the state before KIP-380, in which requests name none.",
        taken_out=(TakenOut(owner=ControlHandler, function="_fence", instead=_any_broker_epoch),),
    ),
    Guard(
        name="refused_changes_nothing",
        title="a broker carries a request out and refuses it then",
        here="A broker looks at the epochs of a LeaderAndIsr or StopReplica after it has carried it out. The "
        "controller gets an error for a request that had its effect.",
        taken_out=(TakenOut(owner=ControlHandler, function="_fence", instead=_acts_first),),
    ),
    Guard(
        name="fetch_fence",
        title="a leader counts fetches under any leader epoch",
        here="Fetches name the leader epoch that the follower knows (KIP-320), and the leader does not compare it with "
        "its own. The entry KIP-320 is the state before, in which fetches name none.",
        taken_out=(TakenOut(owner=Partition, function="check_current_leader_epoch", instead=_any_leader_epoch),),
    ),
    Guard(
        name="roles_adopted",
        title="a broker follows only the first leader of a partition",
        here="A broker accepts a LeaderAndIsr by which it should follow, and does nothing, where the leader epoch is "
        "not 0.",
        taken_out=(TakenOut(owner=ReplicaManager, function="_make_followers", instead=_knows_first_epoch),),
    ),
    Guard(
        name="metadata_kept",
        title="a broker takes over only the first partition of a request",
        here="A broker accepts an UpdateMetadata, and knows afterwards what the request says about its first "
        "partition. Of the others it knows what it knew before.",
        taken_out=(TakenOut(owner=MetadataCache, function="update", instead=_takes_the_first),),
    ),
    Guard(
        name="reassigning_true",
        title="a broker does not count the partitions that are moved",
        here="ReassigningPartitions (KIP-352, 2.5) counts none of the partitions that are being moved.",
        taken_out=(TakenOut(owner=metrics, function="figures", instead=_counts_no_move),),
    ),
    Guard(
        name="segments_expire",
        title="a broker keeps old segments",
        here="A broker looks at its logs as often as it should, and finds no segment too old or too much.",
        taken_out=(TakenOut(owner=log, function="deletable", instead=_keeps_segments),),
    ),
    Guard(
        name="leaves_in_order",
        title="a broker does not ask before it leaves",
        here="A broker that is to shut down closes its session at once. The controller finds it gone.",
        taken_out=(TakenOut(owner=ControlledShutdown, function="ask", instead=_does_not_ask),),
    ),
    Guard(
        name="laggards_leave",
        title="a leader does not look for members that are out of sync",
        here="A leader goes through its partitions as often as it should, and finds no follower that lags.",
        taken_out=(TakenOut(owner=Partition, function="get_out_of_sync_replicas", instead=_finds_nobody),),
    ),
    Guard(
        name="acks_in_time",
        title="a high watermark that moves answers no producer",
        here="What waits for all in-sync replicas waits until its time is over, whatever the high watermark.",
        taken_out=(TakenOut(owner=ProduceWatchers, function="complete", instead=nothing),),
    ),
    Guard(
        name="answers_fit",
        title="a leader's fetch sessions keep the partitions that were taken out of them",
        here="A fetch names the partitions that its session no longer has (KIP-227), and the leader goes on answering "
        "for them.",
        taken_out=(TakenOut(owner=FollowerSession, function="_forget", instead=nothing),),
    ),
    Guard(
        name="sessions_follow",
        title="a broker forgets nothing that a client takes out of its session",
        here="A client stops to read a partition, and goes on with its fetch session (KIP-227). The broker goes on "
        "answering for that partition.",
        taken_out=(TakenOut(owner=fetch_session, function="_update", instead=_forgets_nothing),),
    ),
    Guard(
        name="commits_in_time",
        title="a leader commits nothing",
        here="What every in-sync replica has stays above the high watermark of its leader.",
        taken_out=(TakenOut(owner=Partition, function="maybe_increment_leader_hw", instead=nothing),),
    ),
    Guard(
        name="log_dirs_true",
        title="a broker says that a copy lacks more than there is to copy",
        here="DescribeLogDirs has the lag of a replica that moves to another log directory: here a million too much.",
        taken_out=(TakenOut(owner=log_dirs, function="_info", instead=_lacks_a_million),),
    ),
    Guard(
        name="answers_true",
        title="a leader gives clients the end of its log for the latest offset",
        here="A client asks where the log ends (ListOffsets), and learns where the next record goes, though followers "
        "lack some of what is before that.",
        taken_out=(TakenOut(owner=OffsetsHandler, function="_latest", instead=_ends_with_the_log),),
    ),
    Guard(
        name="failed_dirs_offline",
        title="a broker uses a log directory whose logs it could not recover",
        here="A broker finds a spoilt batch as it starts, cannot cut it off, and goes on as if nothing had been.",
        taken_out=(TakenOut(owner=LogDirFailureHandler, function="_failed", instead=nothing),),
    ),
    Guard(
        name="throttle_kept",
        title="quotas are never exceeded",
        here="Brokers count the bytes of listed replicas (KIP-73), and take no rate for too high: a replica that is "
        "added gets all it can.",
        taken_out=(TakenOut(owner=Quota, function="is_quota_exceeded", instead=no),),
    ),
    Guard(
        name="broker_remembers",
        title="a broker does not look for changed settings in its new session",
        here="A broker whose session has expired is not notified of changed settings any more, as nothing arms the "
        "watch again, and reads none.",
        taken_out=(TakenOut(owner=DynamicConfigManager, function="look", instead=_only_in_the_first_session),),
    ),
    Guard(
        name="deletions_complete",
        title="a leader answers a deletion that its followers do not know of",
        here="A DeleteRecords is answered as soon as the leader's own log begins at the offset.",
        taken_out=(TakenOut(owner=RecordDeletion, function="low_watermark", instead=_counts_itself),),
    ),
)
