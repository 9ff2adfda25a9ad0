"""One partition on one broker (kafka.cluster.Partition): leader, follower or neither. Each method is one transition."""

from collections.abc import Mapping, Sequence

from brokers.log.batch_runs import Piece
from brokers.log.log import Log
from brokers.metrics import NOT_LEADING
from brokers.partition.isr import (
    NO_ISR,
    AlterIsrItem,
    IsrState,
    PendingExpandIsr,
    PendingIsr,
    PendingShrinkIsr,
    committed_isr,
)
from brokers.partition.local_replica import LocalReplica
from brokers.partition.remote import NO_POSITIONS, NONE_REMOTE, AtTheEndOnly, Position, RemoteReplica, recognized
from brokers.partition.services import PartitionServices
from brokers.purgatory import DelayedProduce, ProduceWatchers
from emulator.logger import get_logger
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import (
    UNCHECKED,
    BecameFollower,
    BecameLeader,
    ImpendingReplicasReceived,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    PartitionCreated,
    UnassignedFollowerAdded,
)
from emulator.protocol.extents import Extent
from emulator.protocol.fetch import NO_EPOCH
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition
from emulator.protocol.offsets_for_leader_epoch import OFFSET_NOT_AVAILABLE
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import LeaderAndIsr

NOT_YET = (False, NO_ERROR)
"""The answer of ``check_enough_replicas_reach_offset`` while too few replicas have a batch."""


class Partition(LocalReplica):
    """A partition's replica on this broker, with its state as leader.

    Attributes:
        isr_state: the in-sync replicas as this leader knows them; ``NO_ISR`` on a follower.
        zk_version: the version of the state znode that the ISR was read from or written to.
        current, impending: the replicas before a move and those it goes to, as the controller sent them (KIP-352's
            draft); where requests do not distinguish them, all replicas and none.
        remotes: the other replicas, on a leader: those assigned, or without ``checks_assignment`` every broker that
            ever fetched or was in the ISR.
        unassigned: the members of the ISR that are not assigned (KAFKA-9672); a controller that dies between two steps
            of a move can leave them there. Their fetches do not count.
        removing: the assigned replicas that a reassignment removes, where the controller sends them (KIP-455).
        delayed: the produce requests that wait here for other replicas; None before the first.
        replication_factor: the number of replicas in the LeaderAndIsr that brought it to this broker.
        figures: the values of its gauges.
        not_assigned: by broker, the positions of followers that are not assigned: their fetches do not count, until a
            LeaderAndIsr names them.
    """

    __slots__ = (
        "controller_epoch", "current", "delayed", "epoch_start_offset", "figures", "impending", "is_leader",
        "isr_state", "leader", "not_assigned", "remotes", "removing", "replication_factor", "services",
        "unassigned", "zk_version",
    )  # fmt: skip

    def __init__(self, tp: TopicPartition, log: Log, services: PartitionServices, replication_factor: int) -> None:
        checkpointed = log.directory.high_watermarks.get(tp)
        super().__init__(tp, log, services.process, services.recorder)
        self.services = services
        self.leader = NO_LEADER
        self.controller_epoch = -1
        self.is_leader = False
        self.isr_state: IsrState = NO_ISR
        self.zk_version = -1
        self.current: tuple[int, ...] = ()
        self.impending: tuple[int, ...] = ()
        self.epoch_start_offset = 0
        self.remotes = NONE_REMOTE
        self.unassigned = NONE_REMOTE
        self.removing: tuple[int, ...] = ()
        self.replication_factor = replication_factor
        self.delayed: ProduceWatchers | None = None
        self.figures = NOT_LEADING
        self.not_assigned: Mapping[int, Position] = NO_POSITIONS
        if not services.policies.bounds_high_watermark:
            self.high_watermark = min(checkpointed, log.end_offset)
        if services.policies.under_replication.keeps_factor:
            self.process.emit(PartitionCreated, self.process.node.id, tp.topic, tp.partition, replication_factor)
        self.stability_changed()

    # -- roles ------------------------------------------------------------------------------------------------------

    def make_leader(self, state: LeaderAndIsrPartition, now_us: int) -> None:
        """Lead under ``state.leader_epoch`` (Partition.makeLeader, 2.3)."""
        log, policies = self.log, self.services.policies
        new_leader = not self.is_leader
        self._adopt(state)
        self.is_leader = True
        if new_leader and self.high_watermark < log.start_offset:
            self.set_high_watermark(log.start_offset if policies.bounds_high_watermark else -1, True)
        self.isr_state = committed_isr(state.isr)
        self._learn_replicas(state)
        self.epoch_start_offset = log.end_offset
        if policies.begins_epoch(state.leader_epoch, log.epochs.latest):
            log.begin_epoch(state.leader_epoch, log.end_offset)
        me = self.process.node.id
        remotes = {}
        for remote in self.remotes.values():
            if remote.position is not None:
                remote.position.unbind()
        if policies.forgets_followers_first:
            known, self.remotes = self.remotes, NONE_REMOTE
            self.maybe_increment_leader_hw(now_us)
            self.remotes = known
        for broker in self._followers_of(state):
            if broker != me:
                remote = self.remotes.get(broker) or self._remote(broker)
                if new_leader:
                    remote.forget_position(now_us, broker in state.isr)
                else:
                    remote.begin_epoch(log.end_offset, now_us, broker in state.isr, policies.keeps_positions)
                    if remote.position is not None:
                        # It reads under the old epoch: its next fetch is fenced.
                        remote.position.session.mark_dirty(remote.position)
                remotes[broker] = remote
        self.not_assigned = recognized(remotes, self.remotes, self.not_assigned)
        if self.services.policies.refuses_unassigned:
            for position in self.not_assigned.values():
                position.session.mark_dirty(position)  # its next fetch is refused
        for reader in self.readers or ():
            reader.session.mark_dirty(reader)
        known = {**self.unassigned, **self.remotes}
        self.remotes = remotes
        self._find_unassigned(known)
        self.process.emit(
            BecameLeader, me, self.tp.topic, self.tp.partition, state.leader_epoch, log.end_offset, self.high_watermark,
            state.isr, self.assigned, state.adding, state.removing,
        )  # fmt: skip
        self.services.metrics.changed(self)
        self.stability_changed()
        self.services.isr_checks[self] = None
        self.maybe_increment_leader_hw(now_us)

    def make_follower(self, state: LeaderAndIsrPartition) -> None:
        """Follow ``state.leader``; requests that wait here for a leader learn that it is gone."""
        self._adopt(state)
        self.stop_leading()
        if self.services.policies.demotion_answers_waiting:
            self.fail_delayed(Errors.NOT_LEADER_FOR_PARTITION)
        self.process.emit(
            BecameFollower, self.process.node.id, self.tp.topic, self.tp.partition, state.leader_epoch, state.leader,
            self.log.end_offset, self.high_watermark,
        )  # fmt: skip

    def stop_leading(self) -> None:
        """Forget the ISR and the followers."""
        self.is_leader = False
        self.isr_state = NO_ISR
        remotes, self.remotes = self.remotes, NONE_REMOTE
        self.unassigned = NONE_REMOTE
        not_assigned, self.not_assigned = self.not_assigned, NO_POSITIONS
        for position in (*(remote.position for remote in remotes.values()), *not_assigned.values()):
            if position is not None:
                position.unbind()
                position.session.wake(position)
        self._wake_readers()
        self.services.metrics.changed(self)

    def _adopt(self, state: LeaderAndIsrPartition) -> None:
        self.leader = state.leader
        self.leader_epoch = state.leader_epoch
        self.controller_epoch = state.controller_epoch
        self.zk_version = state.zk_version
        self.adding, self.removing = state.adding, state.removing
        self.services.alter_isr.clear(self.tp)

    def check_current_leader_epoch(self, epoch: int, *, require_leader: bool = True) -> Errors:
        """Why a reader that knows the leader epoch ``epoch`` (NO_EPOCH: none) gets nothing here, or NONE
        (Partition.getLocalReplica, 2.1 to 2.6).

        The epoch is checked before leadership: a replica that knows a later epoch fences its readers though it no
        longer leads. ``require_leader``: False for a broker that copies its own log into another directory.
        """
        known = self.leader_epoch
        if epoch != known and epoch != NO_EPOCH and self.services.policies.checks_epochs:
            return Errors.FENCED_LEADER_EPOCH if epoch < known else Errors.UNKNOWN_LEADER_EPOCH
        return Errors.NONE if self.is_leader or not require_leader else Errors.NOT_LEADER_FOR_PARTITION

    # -- its replicas -----------------------------------------------------------------------------------------------

    def _learn_replicas(self, state: LeaderAndIsrPartition) -> None:
        moving = bool(state.impending_replicas or self.impending)
        self.current, self.impending = state.current_replicas, state.impending_replicas
        if moving:
            self.process.emit(
                ImpendingReplicasReceived, self.process.node.id, self.tp.topic, self.tp.partition, state.leader_epoch,
                self.current, self.impending,
            )  # fmt: skip

    def _followers_of(self, state: LeaderAndIsrPartition) -> tuple[int, ...]:
        if self.services.policies.checks_assignment:
            return state.replicas
        return tuple(dict.fromkeys((*state.replicas, *state.isr, *self.remotes)))

    def _find_unassigned(self, known: dict[int, RemoteReplica]) -> None:
        """Find the members of the ISR that are not assigned; ``known``: the followers before the change of either."""
        me = self.process.node.id
        unassigned = [b for b in self.isr_state.isr if b != me and b not in self.remotes]
        self.unassigned = {b: known.get(b) or self._remote(b) for b in unassigned} or NONE_REMOTE

    def _remote(self, broker: int) -> RemoteReplica:
        return RemoteReplica(broker) if self.services.policies.counts_last_fetch else AtTheEndOnly(broker)

    @property
    def assigned(self) -> tuple[int, ...]:
        """The replicas that this leader counts, itself included."""
        return (self.process.node.id, *self.remotes)

    def adds(self, broker: int) -> bool:
        """Whether a reassignment adds the replica on ``broker``, as far as the controller has sent it."""
        return broker in self.adding or (broker in self.impending and broker not in self.current)

    def take_in(self, broker: int) -> RemoteReplica | None:
        """The follower on ``broker``, which fetches. If it is not assigned: add it where the release allows that, else
        return None."""
        remote = self.remotes.get(broker)
        if remote is None and not self.services.policies.checks_assignment:
            remote = self._remote(broker)
            self.remotes = {**self.remotes, broker: remote}
            self.process.emit(UnassignedFollowerAdded, self.process.node.id, self.tp.topic, self.tp.partition, broker)
            self.services.metrics.changed(self)
            self.services.metrics.show()
        return remote

    # -- the leader's log -------------------------------------------------------------------------------------------

    def append_as_leader(self, produced: ProducedBatch | Extent) -> int:
        """Append one produced batch, or all of an extent; return the base offset. If the leader is the whole ISR, it is
        committed at once.

        Raises: DiskError.
        """
        log, services = self.log, self.services
        base = log.end_offset
        batch = produced.placed(base, self.leader_epoch, self.process.clock_us)
        if batch.in_extent:
            log.append_part(batch)  # type: ignore[arg-type]  # a class attribute is faster
        else:
            log.append(batch)  # type: ignore[arg-type]
        rows = self.recorder.appended
        if not rows:
            rows.begin()
        rows.append((self.tp, self.leader_epoch, base, batch.next_offset, batch.id, batch.size))
        woken = services.purgatory.reported
        for remote in self.remotes.values():
            position = remote.position
            if position is not None:
                session = position.session
                if session in woken:  # by another partition of this request
                    session.dirty[position] = None
                else:
                    woken[session] = None
                    session.wake(position)  # first: it brings the times of the session's polls up to now
                if remote.last_fetch_us < session.last_fetch_us:
                    remote.catch_up_with_session(base)
        services.isr_checks[self] = None
        self.stability_changed()
        if self.unassigned or len(self.isr_state.isr) == 1:
            self.maybe_increment_leader_hw(self.process.clock_us)
        return base

    def update_follower_fetch_state(self, remote: RemoteReplica, offset: int, now_us: int) -> None:
        """Update a follower that read at ``offset``: it may join the ISR, and the high watermark may move."""
        looks = offset != remote.log_end_offset or self.services.policies.every_fetch_looks
        remote.update_fetch_state(offset, self.log.end_offset, now_us)
        if remote.broker not in self.isr_state.isr:
            if offset >= self.high_watermark and not self.isr_state.is_inflight:
                self.recorder.reached(self.tp, remote.broker)
            self.maybe_expand_isr(remote)
        if offset > self.high_watermark and looks:
            self.maybe_increment_leader_hw(now_us)
        delayed = self.delayed
        if delayed is not None and (delayed.counted or (delayed.queue and delayed.queue[0][0] <= self.high_watermark)):
            delayed.complete_counted(self._has_acks)
            # Those left from an earlier leadership, before KAFKA-2960 (KafkaApis.handleFetchRequest, 0.8.0).
            delayed.complete(self.high_watermark, self._acks_all_error())

    def forget_fetch(self, broker: int) -> None:
        """Forget the position of a follower whose fetch was refused, in a release where that counts. It lags until its
        next fetch, and may lose its place in the ISR. A fetch in another session, as after a restart, gives its
        position."""
        remote = self.remotes.get(broker)
        if remote is not None:
            remote.forget_fetch()
            self.services.isr_checks[self] = None
            position = remote.position
            if position is not None and position.remote is remote:
                position.unbind()
                position.session.mark_dirty(position)

    def maybe_increment_leader_hw(self, now_us: int) -> None:
        """Move the high watermark to the lowest log end offset that counts: of the ISR, and of the lately caught up."""
        policies, state, deletion = self.services.policies, self.isr_state, self.services.purgatory.deletion
        if policies.high_watermark_needs_min_isr and self.is_under_min_isr:
            return
        lowest = self.log.end_offset
        high_watermark = self.high_watermark
        in_sync = state.maximal_isr
        for remote in self.remotes.values():
            if remote.log_end_offset < lowest and (
                remote.broker in in_sync
                or (
                    now_us - remote.last_caught_up_us <= policies.caught_up_counts_us
                    and self._may_be_waited_for(remote)
                )
            ):
                lowest = remote.log_end_offset
                if lowest <= high_watermark:
                    return
        if lowest > high_watermark and not (state.is_inflight and policies.isr_writes.holds_high_watermark):
            self.set_high_watermark(lowest, True)
            self.stability_changed()
            wakes = policies.high_watermark_completes_fetches
            for remote in self.remotes.values():
                position = remote.position
                if position is not None and (wakes or position not in position.session.dirty):
                    position.session.high_watermark_moved(position)
            if self.readers is not None:
                self._wake_readers()
            delayed = self.delayed
            if delayed is not None and delayed.queue and delayed.queue[0][0] <= lowest:
                delayed.complete(lowest, self._acks_all_error())
            if deletion is not None and deletion.waiting:
                deletion.look(self.tp)

    def _may_be_waited_for(self, remote: RemoteReplica) -> bool:
        services = self.services
        return not services.policies.waits_for_eligible or remote.broker in services.metadata.live_brokers

    def _wake_readers(self) -> None:
        for reader in self.readers or ():
            reader.session.wake(reader)

    @property
    def latest_offset(self) -> int:
        """The end of the log for consumers. After an election the leader may not know yet which records are committed:
        then OFFSET_NOT_AVAILABLE (Partition.fetchOffsetForTimestamp, 2.3.1)."""
        if self.high_watermark < self.epoch_start_offset:
            if self.services.policies.latest_is_committed:
                return OFFSET_NOT_AVAILABLE
            self.show("KAFKA-2334", self.process.node.id)
        return self.high_watermark

    # -- acks -------------------------------------------------------------------------------------------------------

    def await_replicas(self, produce: DelayedProduce, place: int, required: int, acks: int) -> None:
        """Finish ``place`` of ``produce`` once its batch, which ends at ``required``, has its ``acks``."""
        enough, error = self.check_enough_replicas_reach_offset(required, acks)
        if enough:
            produce.finish(place, error)
            return
        if self.delayed is None:
            self.delayed = ProduceWatchers()
        self.delayed.add(required, acks, place, produce)

    def check_enough_replicas_reach_offset(self, required: int, acks: int) -> tuple[bool, Errors]:
        """Whether ``acks`` is satisfied for a batch that ends at ``required``, and the error to answer then.

        Negative ``acks`` mean all: the high watermark has to reach ``required``. Others are a number of members of the
        ISR, the leader included (0.8).
        """
        if acks < 0:
            return (True, self._acks_all_error()) if self.high_watermark >= required else NOT_YET
        return self._has_acks(required, acks), NO_ERROR

    def _acks_all_error(self) -> Errors:
        """The error for acks=all, judged by the current ISR; while a change is in flight, by the larger set."""
        enough = len(self.isr_state.maximal_isr) >= self._min_isr
        return NO_ERROR if enough else Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND

    def _has_acks(self, required: int, acks: int) -> bool:
        """Whether ``acks`` members of the ISR have reached ``required``. With no other replicas the leader suffices."""
        remotes = self.remotes.values()
        reached = sum(self.is_in_sync(remote.broker) and remote.log_end_offset >= required for remote in remotes)
        return not self.remotes or 1 + reached >= acks

    def fail_delayed(self, error: Errors) -> None:
        """Answer every delayed produce of this partition with ``error``."""
        delayed, self.delayed = self.delayed, None
        if delayed is not None:
            delayed.fail(error)

    def effective_min_isr(self, min_isr: int) -> int:
        """The number of replicas that ``min_isr``, a setting of min.insync.replicas, asks of this partition."""
        return self.services.policies.effective_min_isr(min_isr, 1 + len(self.remotes))

    @property
    def _min_isr(self) -> int:
        return self.effective_min_isr(self.services.policies.min_insync_replicas(self.tp.topic))

    @property
    def is_under_min_isr(self) -> bool:
        """Whether fewer replicas are in sync than min.insync.replicas asks for (Partition.isUnderMinIsr)."""
        return len(self.isr_state.isr) < self._min_isr

    # -- the ISR ----------------------------------------------------------------------------------------------------

    @property
    def isr(self) -> tuple[int, ...]:
        """The committed in-sync replicas; empty on a follower."""
        return self.isr_state.isr

    def is_in_sync(self, broker: int) -> bool:
        """Whether ``broker`` counts as in sync: one that is about to join does where the high watermark moves on."""
        state = self.isr_state
        return broker in (state.isr if self.services.policies.isr_writes.holds_high_watermark else state.maximal_isr)

    def is_replica_isr_eligible(self, remote: RemoteReplica) -> bool:
        """Whether ``remote`` may join: at or above the high watermark *and* the start of this leader's epoch, alive by
        the broker's metadata (a policy), and no change is in flight."""
        services = self.services
        if services.policies.isr_needs_live and remote.broker not in services.metadata.live_brokers:
            return False
        least = self.epoch_start_offset if services.policies.join_needs_epoch_start else 0
        return remote.log_end_offset >= max(self.high_watermark, least) and not self.isr_state.is_inflight

    def maybe_expand_isr(self, remote: RemoteReplica) -> None:
        """Begin to add ``remote`` to the ISR, if it may join."""
        if remote.broker not in self.isr and self.is_replica_isr_eligible(remote):
            if remote.log_end_offset < self.epoch_start_offset:
                self.show("KAFKA-7128", remote.broker)
            elif remote.log_end_offset > self.log.end_offset:
                self.show("KafkaApis.handleFetchRequest", remote.broker)
            self._alter_isr(PendingExpandIsr(self.isr, remote.broker, self.services.policies.collections))

    def maybe_shrink_isr(self, now_us: int) -> None:
        """Begin to drop the members that are out of sync, if there are any and no change is in flight."""
        out = () if self.isr_state.is_inflight else self.get_out_of_sync_replicas(now_us)
        if out:
            for broker in out:
                if broker in self.remotes:
                    self.remotes[broker].leave(self.log.end_offset)
            self._alter_isr(PendingShrinkIsr(self.isr_state.isr, out, self.services.policies.collections))

    def get_out_of_sync_replicas(self, now_us: int) -> tuple[int, ...]:
        """The members that have to leave, by the rule of the release (``OutOfSyncRule``)."""
        policies, end, isr = self.services.policies, self.log.end_offset, self.isr_state.isr
        is_out, lag_time_us = policies.out_of_sync, policies.config.replica_lag_time_max_us
        if is_out.even_at_the_end:
            for remote in self.remotes.values():
                remote.catch_up_now(end)
        return tuple(
            remote.broker
            for remote in (*self.remotes.values(), *self.unassigned.values())
            if remote.broker in isr and is_out(remote, end, now_us, lag_time_us)
        )

    def check_idle(self, now_us: int) -> None:
        """Do for idle followers what Kafka does at their next fetch, of which there is none here: one may join the ISR,
        and a caught-up replica outside it may no longer hold the high watermark back (a policy)."""
        self.expand_by_idle()
        if self.services.policies.every_fetch_looks:
            self.maybe_increment_leader_hw(now_us)

    def expand_by_idle(self) -> None:
        """Let followers join that idle at the end of the log, but found a change in flight or saw theirs fail. A
        follower that has more to read will fetch again."""
        end = self.log.end_offset
        for remote in self.remotes.values():
            if not self.is_in_sync(remote.broker) and remote.idles_at(end, self.tp):
                self.maybe_expand_isr(remote)

    def stability_changed(self) -> None:
        if self.log.producers.has_transactions:
            self.services.metrics.stable.changed(self)

    def has_nothing_to_check(self) -> bool:
        """Whether the leader and every member of the ISR are at the high watermark, or it has to stay where it is, and
        none may have to leave."""
        if self.unassigned or self.services.policies.out_of_sync.even_at_the_end:
            return False
        end = self.log.end_offset
        ends = (remote.log_end_offset for remote in self.remotes.values() if self.is_in_sync(remote.broker))
        stays = self.services.policies.high_watermark_needs_min_isr and self.is_under_min_isr
        return (stays or self.high_watermark == end) and all(other == end for other in ends)

    def _alter_isr(self, proposed: PendingIsr) -> None:
        """Submit ``proposed`` (Partition.sendAlterIsrRequest, 2.7.2)."""
        services = self.services
        if not services.alter_isr.accepts(self.tp, self.expand_by_idle):
            services.metrics.isr_write_failed()
            services.isr_checks[self] = None
            return
        cause = self._emit_proposed(proposed)
        self.isr_state = proposed
        me, isr = self.process.node.id, proposed.proposed_isr
        item = AlterIsrItem(
            self.tp,
            LeaderAndIsr(me, self.leader_epoch, isr, self.controller_epoch, self.zk_version),
            cause,
            abandoned=lambda: self.isr_state is not proposed,
            taken=services.purgatory.completing(
                lambda isr, zk_version: self._handle_alter_isr_update(proposed, isr, zk_version)
            ),
            refused=services.purgatory.completing(
                lambda reason, for_good: self._handle_alter_isr_error(proposed, reason, for_good)
            ),
        )
        services.alter_isr.submit(item)

    def _emit_proposed(self, proposed: PendingIsr) -> int:
        """Emit ``IsrProposed``; return its number."""
        now, policies, isr = self.process.clock_us, self.services.policies, proposed.proposed_isr
        remotes = (*self.remotes.values(), *self.unassigned.values())
        changed = [remote for remote in remotes if (remote.broker in proposed.isr) is not (remote.broker in isr)]
        event = self.process.emit(
            IsrProposed, self.process.node.id, self.tp.topic, self.tp.partition, self.leader_epoch, proposed.kind, isr,
            self.high_watermark, self.epoch_start_offset, self.log.end_offset,
            tuple(remote.broker for remote in changed), tuple(remote.log_end_offset for remote in changed),
            tuple(remote.fetched_under(self.tp) if policies.checks_epochs else UNCHECKED for remote in changed),
            tuple(policies.out_of_sync.overdue_us(remote, now) for remote in changed),
            policies.config.replica_lag_time_max_us, policies.out_of_sync.max_messages,
        )  # fmt: skip
        seq: int = event.seq
        return seq

    def _handle_alter_isr_update(self, proposed: PendingIsr, isr: tuple[int, ...], zk_version: int) -> None:
        """Take over ``isr``, because ``proposed`` took effect: ZooKeeper has it in that version of the state znode."""
        self.isr_state, self.zk_version = committed_isr(isr), zk_version
        self._find_unassigned(dict(self.unassigned))
        self.process.anchor(
            IsrChanged, self.process.node.id, self.tp.topic, self.tp.partition, self.leader_epoch, proposed.kind, isr,
            zk_version,
        )  # fmt: skip
        services = self.services
        services.metrics.isr_written(self, proposed.kind)
        services.isr_checks[self] = None
        if services.policies.isr_writes.outcome_moves_high_watermark:
            self.maybe_increment_leader_hw(self.process.clock_us)
        if self.delayed is not None:
            # The new member may have the batches that are waited for (KafkaApis.handleFetchRequest, 0.8.0).
            self.delayed.complete_counted(self._has_acks)
        self.expand_by_idle()

    def _handle_alter_isr_error(self, proposed: PendingIsr, reason: str, for_good: bool) -> None:
        """Handle the failure of ``proposed``. ``for_good``: it stays in flight until the next LeaderAndIsr."""
        if not for_good:
            self.isr_state = committed_isr(proposed.isr)
        services = self.services
        self.process.emit(IsrUpdateFailed, self.process.node.id, self.tp.topic, self.tp.partition, self.leader_epoch)
        services.metrics.isr_write_failed()
        get_logger("brokers.partition").warning(
            "the ISR stays as it was", broker=self.process.node.id, partition=str(self.tp),
            wanted=proposed.proposed_isr, reason=reason,
        )  # fmt: skip
        services.isr_checks[self] = None
        if services.policies.isr_writes.holds_high_watermark:
            self.maybe_increment_leader_hw(self.process.clock_us)

    # -- what a follower does to it ---------------------------------------------------------------------------------

    def bounded(self, high_watermark: int) -> int:
        if self.services.policies.start_raises_learned_high_watermark:
            return super().bounded(high_watermark)
        if high_watermark < self.log.start_offset:
            self.show("Log.updateHighWatermark", self.process.node.id)
        return high_watermark

    def replicated(self, batches: Sequence[Piece]) -> None:
        if self.process.node.id in self.adding:
            self.services.metrics.topics.reassignment_in.mark(sum(batch.size for batch in batches))

    def truncate_to(self, offset: int) -> None:
        before = self.log.end_offset
        super().truncate_to(offset)
        if self.log.end_offset < before:
            self.services.truncated(self.tp, self.log.end_offset)

    @property
    def retention_limit(self) -> int:
        stops = self.services.policies.retention_stops_at_high_watermark
        return self.high_watermark if stops else self.log.end_offset

    def truncate_fully_and_start_at(self, offset: int) -> None:
        before = self.high_watermark
        super().truncate_fully_and_start_at(offset)
        if before < offset and not self.services.policies.start_raises_high_watermark:
            self.set_high_watermark(before, False)

    def log_start_moved(self, reason: str) -> None:
        super().log_start_moved(reason)
        for remote in self.remotes.values():
            if remote.position is not None:
                remote.position.session.mark_dirty(remote.position)
