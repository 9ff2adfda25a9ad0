"""One partition on one broker: leader, follower, or neither yet.

Every method is one synchronous transition. While a write of the ISR is in flight the high watermark stands still,
as it does under Kafka's ``leaderIsrUpdateLock``.
"""

from collections import deque
from typing import TYPE_CHECKING

from brokers.log import Log
from brokers.partition import isr
from brokers.partition.isr import IsrWrite
from brokers.partition.remote import NONE_REMOTE, RemoteReplica
from brokers.purgatory import DelayedProduce
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import (
    Appended,
    BecameFollower,
    BecameLeader,
    HighWatermark,
    LogLoaded,
    ReplicasKnown,
    Truncated,
)
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition
from emulator.protocol.types import NO_LEADER, Batch, TopicPartition

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager


class Partition:
    """See the module.

    Attributes:
        leader_epoch: of the last LeaderAndIsr that took effect; -1 before the first.
        isr: the in-sync set as this leader holds it; empty on a follower.
        isr_write: the write of the ISR that is in flight, if one is.
        zk_version: of the state znode that ``isr`` stands in.
        current, impending: the replicas before a move and those it goes to, as a leader was told (KIP-352's draft);
            where requests do not tell them apart, all of them and none.
        remotes: the other replicas, on a leader: those assigned, or without ``checks_assignment`` whoever ever fetched
            or was in the ISR.
        strangers: the members of the ISR that are not assigned; a controller that died between two steps of a move can
            leave them there.
        adding, removing: those of the assigned replicas that a reassignment adds and removes, where the controller
            says so (KIP-455).
    """

    __slots__ = (
        "_waiting", "adding", "controller_epoch", "current", "epoch_start_offset", "high_watermark", "impending",
        "is_leader", "isr", "isr_write", "leader", "leader_epoch", "log", "manager", "process", "remotes", "removing",
        "strangers", "tp", "zk_version",
    )  # fmt: skip

    def __init__(self, tp: TopicPartition, manager: "ReplicaManager", process: Process) -> None:
        self.tp = tp
        self.manager = manager
        self.process = process
        self.log: Log | None = None
        self.high_watermark = 0
        self.leader = NO_LEADER
        self.leader_epoch = -1
        self.controller_epoch = -1
        self.is_leader = False
        self.isr: tuple[int, ...] = ()
        self.zk_version = -1
        self.current: tuple[int, ...] = ()
        self.impending: tuple[int, ...] = ()
        self.epoch_start_offset = 0
        self.remotes = NONE_REMOTE
        self.strangers = NONE_REMOTE
        self.adding: tuple[int, ...] = ()
        self.removing: tuple[int, ...] = ()
        self.isr_write: IsrWrite | None = None
        self._waiting: deque[tuple[int, int, DelayedProduce]] | None = None

    def open_log(self) -> Log:
        """The log, created or found on the disk when first asked for."""
        if self.log is None:
            log = self.log = Log(self.process.disk, self.tp)
            self.high_watermark = min(self.manager.checkpoint.get(self.tp), log.end_offset)
            self.process.emit(
                LogLoaded, self.process.node.id, self.tp.topic, self.tp.partition, log.start_offset, log.end_offset,
                self.high_watermark,
            )  # fmt: skip
        return self.log

    # -- roles ------------------------------------------------------------------------------------------------------

    def make_leader(self, state: LeaderAndIsrPartition, now_us: int) -> None:
        """Lead from ``state.leader_epoch`` on (Partition.makeLeader, 2.3)."""
        log = self.open_log()
        new_leader = not self.is_leader
        self._adopt(state)
        self.is_leader = True
        self.isr = state.isr
        self._learn_replicas(state)
        self.epoch_start_offset = log.end_offset
        log.begin_epoch(state.leader_epoch, log.end_offset)
        me = self.process.node.id
        remotes = {}
        for broker in self._followers_of(state):
            if broker != me:
                remote = self.remotes.get(broker) or RemoteReplica(broker, False)
                remote.in_isr = broker in state.isr
                if new_leader:
                    remote.forget_position(now_us)
                else:
                    remote.begin_epoch(log.end_offset, now_us)
                    if remote.session is not None:
                        remote.session.note(self.tp)  # it reads under the old epoch: its next fetch is fenced
                remotes[broker] = remote
        before, self.remotes = self.remotes, remotes
        isr.find_strangers(self, before)
        self.process.emit(
            BecameLeader, me, self.tp.topic, self.tp.partition, state.leader_epoch, log.end_offset, self.high_watermark
        )
        self.manager.behind[self] = None
        self.advance_high_watermark(now_us)

    def _learn_replicas(self, state: LeaderAndIsrPartition) -> None:
        moving = bool(state.impending_replicas or self.impending)
        self.current, self.impending = state.current_replicas, state.impending_replicas
        if moving:
            self.process.emit(
                ReplicasKnown, self.process.node.id, self.tp.topic, self.tp.partition, state.leader_epoch, self.current,
                self.impending,
            )  # fmt: skip

    def _followers_of(self, state: LeaderAndIsrPartition) -> tuple[int, ...]:
        if self.manager.policies.checks_assignment:
            return state.replicas
        return tuple(dict.fromkeys((*state.replicas, *state.isr, *self.remotes)))

    def take_in(self, broker: int) -> RemoteReplica | None:
        """The follower on ``broker``, which fetches; None if only assigned ones are led and it is not."""
        remote = self.remotes.get(broker)
        if remote is None and not self.manager.policies.checks_assignment:
            remote = RemoteReplica(broker, False)
            self.remotes = {**self.remotes, broker: remote}
        return remote

    def make_follower(self, state: LeaderAndIsrPartition) -> None:
        """Follow ``state.leader``; whoever waits here for leadership learns that it is gone."""
        log = self.open_log()
        self._adopt(state)
        self.resign_leadership()
        self.process.emit(
            BecameFollower, self.process.node.id, self.tp.topic, self.tp.partition, state.leader_epoch, state.leader,
            log.end_offset, self.high_watermark,
        )  # fmt: skip

    def _adopt(self, state: LeaderAndIsrPartition) -> None:
        self.leader = state.leader
        self.leader_epoch = state.leader_epoch
        self.controller_epoch = state.controller_epoch
        self.zk_version = state.zk_version
        self.adding, self.removing = state.adding, state.removing
        self.isr_write = None

    def resign_leadership(self) -> None:
        """Stop leading, and answer delayed operations with NOT_LEADER_FOR_PARTITION."""
        self.stop_leading()
        self.fail_waiting(Errors.NOT_LEADER_FOR_PARTITION)

    def stop_leading(self) -> None:
        """No ISR, no followers."""
        self.is_leader = False
        self.isr = ()
        self.isr_write = None
        remotes, self.remotes = self.remotes, NONE_REMOTE
        self.strangers = NONE_REMOTE
        for remote in remotes.values():
            if remote.session is not None:
                remote.session.touch(self.tp)

    # -- the leader's log -------------------------------------------------------------------------------------------

    def append_as_leader(self, count: int, size: int, id: int) -> int:
        """Append one produced batch; return its base offset. Raises: DiskError."""
        log = self.log
        assert log is not None
        base = log.end_offset
        for remote in self.remotes.values():
            remote.settle(base)
        batch = Batch(base, base + count, self.leader_epoch, size, id)
        log.append(batch)
        tp, node = self.tp, self.process.node.id
        self.process.emit(Appended, node, tp.topic, tp.partition, True, self.leader_epoch, base, base + count, id, size)
        for remote in self.remotes.values():
            if remote.session is not None:
                remote.session.touch(tp)
        self.manager.behind[self] = None
        return base

    def follower_fetched(self, remote: RemoteReplica, offset: int, now_us: int) -> None:
        """A follower read at ``offset``: maybe it joins the ISR, maybe the high watermark moves."""
        log = self.log
        assert log is not None
        remote.fetched(offset, log.end_offset, now_us)
        if not remote.in_isr and isr.may_join(self, remote):
            isr.expand(self, remote)
        if offset > self.high_watermark:
            self.advance_high_watermark(now_us)

    def advance_high_watermark(self, now_us: int) -> None:
        """Move it to the lowest end among the ISR and those that count like it, being caught up (a policy)."""
        log = self.log
        if log is None or self.isr_write is not None:
            return
        lowest = log.end_offset
        high_watermark = self.high_watermark
        counts_us = self.manager.policies.caught_up_counts_us
        for remote in self.remotes.values():
            if remote.log_end_offset < lowest and (remote.in_isr or now_us - remote.last_caught_up_us <= counts_us):
                lowest = remote.log_end_offset
                if lowest <= high_watermark:
                    return
        if lowest > high_watermark:
            self._set_high_watermark(lowest, True)
            for remote in self.remotes.values():
                if remote.session is not None:
                    remote.session.note(self.tp)
            if self._waiting:
                self._complete_waiting()

    def _set_high_watermark(self, high_watermark: int, as_leader: bool) -> None:
        self.high_watermark = high_watermark
        tp = self.tp
        self.manager.checkpoint.put(tp, high_watermark)
        self.process.emit(
            HighWatermark, self.process.node.id, tp.topic, tp.partition, as_leader, self.leader_epoch, high_watermark
        )

    def tend(self, now_us: int, *, shrinks: bool) -> None:
        """What only time brings: members of the ISR too far behind (``shrinks``: they are looked for), and a caught-up
        replica outside it that no longer counts. Kafka finds the latter at the next fetch of any follower; here idle
        partitions see no fetches."""
        if shrinks:
            isr.shrink(self, now_us)
        isr.expand_waiting(self)
        self.advance_high_watermark(now_us)

    def at_rest(self) -> bool:
        """Whether the leader and every member of the ISR are at the high watermark."""
        assert self.log is not None
        if self.strangers:
            return False
        end = self.log.end_offset
        ends = (remote.log_end_offset for remote in self.remotes.values() if remote.in_isr)
        return self.high_watermark == end and all(other == end for other in ends)

    # -- acks=all ---------------------------------------------------------------------------------------------------

    def wait_for_acks(self, base: int, required: int, produce: DelayedProduce) -> None:
        """Finish ``produce`` for this partition once the high watermark has reached ``required``."""
        if self.high_watermark >= required:
            self._ack(base, produce)
        else:
            if self._waiting is None:
                self._waiting = deque()
            self._waiting.append((base, required, produce))

    def _complete_waiting(self) -> None:
        waiting, high_watermark = self._waiting, self.high_watermark
        while waiting and waiting[0][1] <= high_watermark:
            base, _required, produce = waiting.popleft()
            self._ack(base, produce)

    def _ack(self, base: int, produce: DelayedProduce) -> None:
        enough = len(self.isr) >= self.manager.policies.min_insync_replicas(self.tp.topic)
        produce.finish(self.tp, Errors.NONE if enough else Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, base)

    def fail_waiting(self, error: Errors) -> None:
        """Answer every delayed produce of this partition with ``error``."""
        waiting, self._waiting = self._waiting, None
        for base, _required, produce in waiting or ():
            produce.finish(self.tp, error, base)

    # -- the follower's log (fetchers.ports.FollowerLog) --------------------------------------------------------------

    @property
    def log_end_offset(self) -> int:
        assert self.log is not None
        return self.log.end_offset

    @property
    def log_start_offset(self) -> int:
        assert self.log is not None
        return self.log.start_offset

    @property
    def latest_epoch(self) -> int:
        assert self.log is not None
        return self.log.epochs.latest

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """See ``EpochCache.end_offset_for``."""
        assert self.log is not None
        return self.log.epochs.end_offset_for(epoch, self.log.end_offset)

    def append_as_follower(self, batches: tuple[Batch, ...], leader_high_watermark: int) -> int:
        """Append what the leader sent and learn its high watermark; return the new end.

        Raises: DiskError, OffsetMismatch.
        """
        log = self.log
        assert log is not None
        tp, process = self.tp, self.process
        node = process.node.id
        for batch in batches:
            log.append(batch)
            process.emit(
                Appended, node, tp.topic, tp.partition, False, batch.leader_epoch, batch.base_offset,
                batch.next_offset, batch.id, batch.size,
            )  # fmt: skip
        end = log.end_offset
        high_watermark = leader_high_watermark if leader_high_watermark < end else end
        if high_watermark != self.high_watermark:
            self._set_high_watermark(high_watermark, False)
        return end

    def truncate_to(self, offset: int) -> None:
        """Drop what lies behind ``offset``; the high watermark never stands behind the end. Raises: DiskError."""
        log = self.open_log()
        if log.truncate_to(offset):
            self._truncated(log)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything and begin anew at ``offset``. Raises: DiskError."""
        log = self.open_log()
        log.truncate_fully_and_start_at(offset)
        self._truncated(log)

    def _truncated(self, log: Log) -> None:
        self.high_watermark = max(log.start_offset, min(self.high_watermark, log.end_offset))
        self.manager.checkpoint.put(self.tp, self.high_watermark)
        self.process.emit(
            Truncated, self.process.node.id, self.tp.topic, self.tp.partition, self.leader_epoch, log.end_offset,
            self.high_watermark,
        )  # fmt: skip
