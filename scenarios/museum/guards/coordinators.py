"""Guards of coordinators of groups and of transactions, and of leaders with what those say."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from brokers.coordinators.internal_topic import InternalTopicPartitions
from brokers.groups.committed import Appended, CommittedOffsets
from brokers.groups.coordinator import GroupCoordinator
from brokers.groups.delayed_heartbeats import DelayedHeartbeats
from brokers.groups.group import GroupMetadata
from brokers.groups.group_metadata_manager import GroupMetadataManager, Loaded
from brokers.groups.group_offsets import GroupOffsetsPart, Values
from brokers.groups.member import MemberMetadata
from brokers.groups.rebalance import GroupRebalances
from brokers.groups.records import StoredMember
from brokers.log.transactions import TransactionalProducers
from brokers.partition.partition import Partition
from brokers.requests import consumer_reads
from brokers.requests.producer_ids import ProducerIds
from brokers.transactions import marker_writing
from brokers.transactions.coordinator import Done, TransactionCoordinator
from brokers.transactions.marker_sending import TransactionMarkerChannelManager
from brokers.transactions.metadata import NO_PRODUCER_EPOCH, TransactionMetadata, TransactionState
from brokers.transactions.transaction_state_manager import TransactionStateManager
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.groups.group_offsets import OffsetCommitRequest
from emulator.protocol.groups.membership import JoinedMember
from emulator.protocol.shown_coordination import MemberIdForgotten
from emulator.protocol.transactions.coordination import OfTransaction
from emulator.protocol.types import TopicPartition
from scenarios.museum.guards.guard import Guard, TakenOut, no, nothing


def _no_error(_check: Callable[..., Errors]) -> Callable[..., Errors]:
    return lambda *_of, **_how: NO_ERROR


def _takes_any(_find: Callable[..., Any]) -> Callable[..., Any]:
    def takes(self: GroupOffsetsPart, request: OffsetCommitRequest) -> tuple[Errors, GroupMetadata | None]:
        coordinator = self.coordinator
        error = coordinator.check(request.group)
        return error, None if error else coordinator.store.create(request.group)

    return takes


def _all_late(_late: Callable[..., Any]) -> Callable[..., list[TransactionMetadata]]:
    def late(self: TransactionStateManager) -> list[TransactionMetadata]:
        known = [each for ids in self.transactions.values() for each in ids.values()]
        return [each for each in known if each.state is TransactionState.ONGOING and each.pending is None]

    return late


def _forgets_the_last(prepare: Callable[..., Any]) -> Callable[..., Any]:
    def forgets(self: TransactionMetadata, *of: Any) -> Any:
        self.last_producer_epoch = NO_PRODUCER_EPOCH
        return prepare(self, *of)

    return forgets


def _only_forgets(_take_back: Callable[..., None]) -> Callable[..., None]:
    def forgets(self: DelayedHeartbeats, of: tuple[GroupMetadata, str]) -> None:
        group, member_id = of
        if group.pending.pop(member_id, None) is not None:
            process = self.transitions.process
            process.mark(MemberIdForgotten, process.node.id, group.id, member_id)

    return forgets


def _only_remembers(_store: Callable[..., None]) -> Callable[..., None]:
    def remembers(
        _self: GroupMetadataManager, group: GroupMetadata, offsets: Values, done: Callable[[Errors], object]
    ) -> None:
        for tp, value in offsets.items():
            group.committed.offsets[tp] = Appended(value, 1 << 40)
        done(NO_ERROR)

    return remembers


def _begins_only(extend: Callable[..., None]) -> Callable[..., None]:
    def begins(self: DelayedHeartbeats, group: GroupMetadata, member: MemberMetadata, timeout_us: int) -> None:
        if member.timer is None:
            extend(self, group, member, timeout_us)

    return begins


def _always_old(_expired: Callable[..., Any]) -> Callable[..., tuple[TopicPartition, ...]]:
    return lambda self, *_times: tuple(self.committed.offsets)


def _aborts(add: Callable[..., None]) -> Callable[..., None]:
    def aborts(self: TransactionMarkerChannelManager, found: Any, to: Any, *, committed: bool) -> None:
        add(self, found, to, committed=False)

    return aborts


def _unfenced(_abort_late: Callable[..., None]) -> Callable[..., None]:
    def aborts(self: TransactionCoordinator) -> None:
        for metadata in self.store.late():
            metadata.prepare_fence()
            self._end(
                metadata.id, metadata.producer_id, metadata.producer_epoch, lambda _error: None, committed=False,
                from_client=False,
            )  # fmt: skip

    return aborts


def _without_timeout(stored: Callable[..., StoredMember]) -> Callable[..., StoredMember]:
    return lambda self, *of: stored(self, *of)._replace(session_timeout_us=0)


def _without_metadata(joined: Callable[..., tuple[JoinedMember, ...]]) -> Callable[..., tuple[JoinedMember, ...]]:
    return lambda self: tuple(each._replace(metadata=b"") for each in joined(self))


def _first_alone(prepare: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, added, now_ms: prepare(self, added[:1], now_ms)


def _first_block(_next_block: Callable[..., Awaitable[int]]) -> Callable[..., Awaitable[int]]:
    async def first(_self: ProducerIds) -> int:
        return 0

    return first


def _only_says(_store: Callable[..., None]) -> Callable[..., None]:
    def says(_self: GroupMetadataManager, _group: Any, _assigned: Any, done: Callable[[Errors], object]) -> None:
        done(NO_ERROR)

    return says


def _unheard(prepare: Callable[..., None]) -> Callable[..., None]:
    def prepares(self: GroupRebalances, group: GroupMetadata, reason: str) -> None:
        if "joins again" not in reason:
            prepare(self, group, reason)

    return prepares


def _twice(prepare: Callable[..., Any]) -> Callable[..., Any]:
    def fences(self: TransactionMetadata) -> Any:
        found = prepare(self)
        return found._replace(producer_epoch=found.producer_epoch + 1)

    return fences


def _same_generation(_next: Callable[..., None]) -> Callable[..., None]:
    def keeps(self: GroupMetadata) -> None:
        self.protocol = self.select_protocol() if self.members else None
        self.learn_topics()
        self.unsynced.clear()

    return keeps


def _all_replicated(_end: Callable[..., int]) -> Callable[..., int]:
    def replicated(partition: Partition, _isolation: int) -> int:
        return partition.high_watermark

    return replicated


def _adds_for_any(add: Callable[..., None]) -> Callable[..., None]:
    def adds(
        self: TransactionCoordinator, request: OfTransaction, partitions: Sequence[TopicPartition], done: Done
    ) -> None:
        found = self._of_producer(request)
        fenced = not isinstance(found, Errors) and request.producer_epoch < found.metadata.producer_epoch
        if fenced:
            self.transitions.answer(done, NO_ERROR)
        else:
            add(self, request, partitions, done)

    return adds


GUARDS = (
    Guard(
        name="coordinators_remember",
        title="a commit counts that is not written",
        here="A coordinator takes over the offsets that a group commits, answers, and writes nothing.",
        also=("members_answered", "counts_true"),
        taken_out=(TakenOut(owner=GroupMetadataManager, function="store_offsets", instead=_only_remembers),),
    ),
    Guard(
        name="coordinators_lead",
        title="a broker that does not lead any more goes on as the coordinator",
        here="A broker follows on a partition of __consumer_offsets, and answers for its groups as before.",
        also=("coordinators_remember",),
        taken_out=(TakenOut(owner=InternalTopicPartitions, function="resigned", instead=no),),
    ),
    Guard(
        name="commits_fenced",
        title="a coordinator takes commits and heartbeats of any member and generation",
        here="A member whose session has ended goes on, and commits in its old generation.",
        also=("members_answered", "members_silent"),
        taken_out=(
            TakenOut(owner=GroupOffsetsPart, function="_committing", instead=_takes_any),
            TakenOut(owner=GroupCoordinator, function="heartbeat", instead=_no_error),
        ),
    ),
    Guard(
        name="offsets_read_back",
        title="a coordinator that takes over reads nothing",
        here="A broker that leads a partition of __consumer_offsets now takes its log for empty.",
        also=("coordinators_remember", "members_kept", "generations_grow"),
        taken_out=(TakenOut(owner=Loaded, function="read", instead=nothing),),
    ),
    Guard(
        name="members_silent",
        title="heartbeats do not count",
        here="The session of a member ends when its time is over for the first time.",
        taken_out=(TakenOut(owner=DelayedHeartbeats, function="_extend", instead=_begins_only),),
    ),
    Guard(
        name="groups_settle",
        title="a rebalance that all have joined is not completed",
        here="The members of a group have joined, and no generation comes of it, not even when its time is over.",
        taken_out=(
            TakenOut(owner=GroupRebalances, function="try_complete", instead=nothing),
            TakenOut(owner=GroupRebalances, function="_expire_join", instead=nothing),
        ),
    ),
    Guard(
        name="generations_grow",
        title="a group keeps its generation when its members join again",
        here="A member joins a group whose generation is complete, and the next one has the same number.",
        taken_out=(TakenOut(owner=GroupMetadata, function="next_generation", instead=_same_generation),),
    ),
    Guard(
        name="ids_expire",
        title="a coordinator takes no transactional id for unused",
        here="A producer ends, and its transactional id stays (transactional.id.expiration.ms).",
        taken_out=(TakenOut(owner=TransactionStateManager, function="expire", instead=nothing),),
    ),
    Guard(
        name="offsets_expire_late",
        title="all committed offsets count as expired",
        here="A coordinator that looks for expired offsets takes all for such (KIP-211).",
        taken_out=(TakenOut(owner=GroupMetadata, function="expired", instead=_always_old),),
    ),
    Guard(
        name="markers_decided",
        title="a coordinator sends ABORT, whatever was decided",
        here="A transaction is committed for its coordinator, and aborted in its partitions.",
        also=("transactions_answered",),
        taken_out=(TakenOut(owner=TransactionMarkerChannelManager, function="add", instead=_aborts),),
    ),
    Guard(
        name="transactions_end",
        title="a coordinator sends no markers",
        here="A transaction is decided, and no partition gets its marker.",
        taken_out=(TakenOut(owner=TransactionMarkerChannelManager, function="_queue", instead=nothing),),
    ),
    Guard(
        name="transactions_close",
        title="a leader takes a marker and does not end the transaction",
        here="A log has the marker of a transaction, which stays open: the last stable offset stays before it.",
        taken_out=(TakenOut(owner=TransactionalProducers, function="_end", instead=nothing),),
    ),
    Guard(
        name="producer_ids_once",
        title="each broker begins with the first block of producer ids",
        here="A broker that needs producer ids takes the block from 0 to 999, whatever ZooKeeper has.",
        also=("transactions_end",),
        taken_out=(TakenOut(owner=ProducerIds, function="_next_block", instead=_first_block),),
    ),
    Guard(
        name="zombies_fenced",
        title="leaders and coordinators take what comes from earlier producer epochs",
        here="Of two producers with one transactional id the earlier one goes on.",
        also=("records_in_transactions", "transactions_answered"),
        taken_out=(
            TakenOut(owner=TransactionCoordinator, function="add_partitions", instead=_adds_for_any),
            TakenOut(owner=TransactionalProducers, function="check", instead=_no_error),
        ),
    ),
    Guard(
        name="records_in_transactions",
        title="a transaction that lasts too long is aborted, and its producer goes on",
        here="A coordinator aborts the transaction in the epoch of its producer, so that no leader refuses what comes "
        "late (KAFKA-6119).",
        taken_out=(TakenOut(owner=TransactionCoordinator, function="_abort_late", instead=_unfenced),),
    ),
    Guard(
        name="members_kept",
        title="a group counts as stable that is not written",
        here="A coordinator answers its members, and writes nothing of their generation: the next one knows none.",
        also=("coordinators_remember", "generations_grow"),
        taken_out=(TakenOut(owner=GroupMetadataManager, function="store_group", instead=_only_says),),
    ),
    Guard(
        name="rejoins_rebalance",
        title="a member of a stable group that joins again is not heard",
        here="The leader of a group joins again, since its topics have changed, and no rebalance begins.",
        taken_out=(TakenOut(owner=GroupRebalances, function="maybe_prepare", instead=_unheard),),
        also=("members_silent", "requests_answered"),
    ),
    Guard(
        name="ids_taken_back",
        title="a member id that no client joins with is not taken back",
        here="A client dies with the member id that it was given, and each rebalance waits for it.",
        taken_out=(TakenOut(owner=DelayedHeartbeats, function="_take_back", instead=nothing),),
    ),
    Guard(
        name="rebalances_complete",
        title="a rebalance waits on when a client does not join with its member id",
        here="A client dies with the member id that it was given. The id is taken back, and the rebalance that has "
        "waited for it goes on waiting until its time is over.",
        taken_out=(TakenOut(owner=DelayedHeartbeats, function="_take_back", instead=_only_forgets),),
    ),
    Guard(
        name="offsets_stable",
        title="a coordinator takes each offset for stable",
        here="A client asks for stable offsets (KIP-447), and gets one that an open transaction replaces.",
        taken_out=(TakenOut(owner=CommittedOffsets, function="is_unstable", instead=no),),
    ),
    Guard(
        name="aborts_have_reasons",
        title="a coordinator takes each open transaction for late",
        here="A coordinator that looks for transactions which last too long aborts all that are open.",
        taken_out=(TakenOut(owner=TransactionStateManager, function="late", instead=_all_late),),
    ),
    Guard(
        name="fences_have_reasons",
        title="a coordinator does not know which epoch a producer had before",
        here="A producer raises its own epoch, and the answer is lost. As it asks again, it is fenced.",
        taken_out=(TakenOut(owner=TransactionMetadata, function="prepare_increment", instead=_forgets_the_last),),
    ),
    Guard(
        name="epochs_used_once",
        title="a producer whose transaction lasts too long is fenced by two epochs",
        here="A coordinator that fences a producer raises its epoch by two.",
        taken_out=(TakenOut(owner=TransactionMetadata, function="prepare_fence", instead=_twice),),
    ),
    Guard(
        name="coordinators_write",
        title="a coordinator writes members without their session timeouts",
        here="The record of a group has members whose sessions end at once for the next coordinator.",
        taken_out=(TakenOut(owner=MemberMetadata, function="stored", instead=_without_timeout),),
    ),
    Guard(
        name="members_answered",
        title="a coordinator tells the leader of a group its members without their metadata",
        here="The leader of a group assigns partitions to members, and does not learn to what they subscribe.",
        taken_out=(TakenOut(owner=GroupMetadata, function="joined_members", instead=_without_metadata),),
    ),
    Guard(
        name="transactions_answered",
        title="a coordinator takes the first of several partitions into a transaction",
        here="A producer adds two partitions, and is answered that both are added. One gets no marker.",
        also=("transactions_close",),
        taken_out=(TakenOut(owner=TransactionMetadata, function="prepare_add", instead=_first_alone),),
    ),
    Guard(
        name="old_coordinators_fenced",
        title="leaders take markers of any coordinator epoch",
        here="A marker of a coordinator that was replaced comes late, and ends a transaction of the next one.",
        taken_out=(TakenOut(owner=marker_writing, function="_fenced", instead=_no_error),),
    ),
    Guard(
        name="reads_decided",
        title="a leader gives readers of committed records all that is replicated",
        here="A reader with isolation.level=read_committed gets batches of transactions that are open.",
        also=("answers_true",),
        taken_out=(TakenOut(owner=consumer_reads, function="readable_end", instead=_all_replicated),),
    ),
)
