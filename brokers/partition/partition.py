"""One partition on one broker: leader, follower, or neither yet.

Every method is one synchronous transition.
"""

from typing import TYPE_CHECKING

from brokers.metrics import NOT_LEADING
from brokers.partition import acks, isr
from brokers.partition.isr_write import IsrWrite, find_strangers
from brokers.partition.remote import NONE_REMOTE, RemoteReplica
from brokers.partition.replica import Replica
from brokers.purgatory import WaitingProduces
from emulator.nodes import Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import Appended, BecameFollower, BecameLeader, ReplicasKnown, ReplicaTakenIn
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition
from emulator.protocol.offsets_for_leader_epoch import OFFSET_NOT_AVAILABLE
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.types import NO_LEADER, TopicPartition

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager
    from brokers.requests.consumer_session import ConsumerSession


class Partition(Replica):
    """See the module.

    Attributes:
        isr: the in-sync set as this leader holds it; empty on a follower.
        isr_write: the change of the ISR that is under way, if one is.
        zk_version: of the state znode that ``isr`` stands in.
        current, impending: the replicas before a move and those it goes to, as a leader was told (KIP-352's draft);
            where requests do not tell them apart, all of them and none.
        remotes: the other replicas, on a leader: those assigned, or without ``checks_assignment`` whoever ever fetched
            or was in the ISR.
        strangers: the members of the ISR that are not assigned; a controller that died between two steps of a move can
            leave them there.
        adding, removing: those of the assigned replicas that a reassignment adds and removes, where the controller
            says so (KIP-455).
        waiting: the produces that wait here for other replicas; None before the first.
        figures: what its gauges show.
        readers: the sessions of the consumers that read here; None before the first.
    """

    __slots__ = (
        "adding", "controller_epoch", "current", "epoch_start_offset", "figures", "impending", "is_leader", "isr",
        "isr_write", "leader", "readers", "remotes", "removing", "strangers", "waiting", "zk_version",
    )  # fmt: skip

    def __init__(self, tp: TopicPartition, manager: "ReplicaManager", process: Process) -> None:
        super().__init__(tp, manager, process)
        self.leader = NO_LEADER
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
        self.waiting: WaitingProduces | None = None
        self.figures = NOT_LEADING
        self.readers: dict[ConsumerSession, None] | None = None

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
        for reader in self.readers or ():
            reader.note(self.tp)
        before, self.remotes = self.remotes, remotes
        find_strangers(self, before)
        self.process.emit(
            BecameLeader, me, self.tp.topic, self.tp.partition, state.leader_epoch, log.end_offset, self.high_watermark,
            state.isr, self.assigned, state.adding, state.removing,
        )  # fmt: skip
        self.manager.metrics.changed(self)
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

    def adds(self, broker: int) -> bool:
        """Whether a reassignment adds the replica on ``broker``, as far as the controller has said."""
        return broker in self.adding or (broker in self.impending and broker not in self.current)

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
            self.process.emit(ReplicaTakenIn, self.process.node.id, self.tp.topic, self.tp.partition, broker)
            self.manager.metrics.changed(self)
            self.manager.metrics.show()
        return remote

    @property
    def assigned(self) -> tuple[int, ...]:
        """The replicas that this leader counts, itself included."""
        return (self.process.node.id, *self.remotes)

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
        if self.manager.alter_isr is not None:
            self.manager.alter_isr.clear(self.tp)

    def resign_leadership(self) -> None:
        """Stop leading, and answer delayed produces with NOT_LEADER_FOR_PARTITION (a policy)."""
        self.stop_leading()
        if self.manager.policies.demotion_answers_waiting:
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
        self._wake_readers()
        self.manager.metrics.changed(self)

    def replicated(self, size: int) -> None:
        topics = self.manager.metrics.topics
        topics.replication_in.mark(size)
        if self.adding and self.process.node.id in self.adding:
            topics.reassignment_in.mark(size)

    # -- the leader's log -------------------------------------------------------------------------------------------

    def append_as_leader(self, produced: ProducedBatch) -> int:
        """Append one produced batch; return its base offset. With nobody else in sync it is committed at once.

        Raises: DiskError.
        """
        log = self.log
        assert log is not None
        base = log.end_offset
        batch = produced.placed(base, self.leader_epoch, self.process.clock_us)
        log.append(batch)
        tp, node = self.tp, self.process.node.id
        self.process.emit(
            Appended, node, tp.topic, tp.partition, True, self.leader_epoch, base, batch.next_offset, batch.id,
            batch.size,
        )  # fmt: skip
        for remote in self.remotes.values():
            session = remote.session
            if session is not None:
                remote.settle(base)
                session.touch(tp)
        self.manager.behind[self] = None
        metrics = self.manager.metrics
        metrics.topics.produced(tp.topic, produced.count, batch.size)
        metrics.stable.changed(self)
        if len(self.isr) == 1:
            self.advance_high_watermark(self.process.clock_us)
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
        waiting = self.waiting
        if waiting is not None and waiting.counted:
            acks.complete_some(self, waiting)

    def advance_high_watermark(self, now_us: int) -> None:
        """Move it to the lowest end among the ISR and those that count like it, being caught up (a policy)."""
        log = self.log
        if log is None or (self.isr_write is not None and self.manager.policies.isr_writes.holds_high_watermark):
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
            self.set_high_watermark(lowest, True)
            stable = self.manager.metrics.stable
            if stable.lags and self in stable.lags:
                stable.changed(self)
            for remote in self.remotes.values():
                if remote.session is not None:
                    remote.session.note_high_watermark(self.tp)
            if self.readers is not None:
                self._wake_readers()
            if self.waiting is not None:
                self.waiting.complete(lowest, acks.acknowledgement(self))

    def _wake_readers(self) -> None:
        for reader in self.readers or ():
            reader.touch(self.tp)

    @property
    def latest_offset(self) -> int:
        """Where the log ends for consumers. After an election the leader may not know yet what is committed: then
        OFFSET_NOT_AVAILABLE (Partition.fetchOffsetForTimestamp, 2.3.1)."""
        knows = self.high_watermark >= self.epoch_start_offset or not self.manager.policies.latest_is_committed
        return self.high_watermark if knows else OFFSET_NOT_AVAILABLE

    def tend(self, now_us: int, *, shrinks: bool) -> None:
        """What only time brings: members of the ISR too far behind (``shrinks``: they are looked for), and a caught-up
        replica outside it that no longer counts. Where Kafka finds the latter at the next fetch of any follower
        (a policy) it is found here: idle partitions see no fetches."""
        if shrinks:
            isr.shrink(self, now_us)
        isr.expand_waiting(self)
        if self.manager.policies.every_fetch_looks:
            self.advance_high_watermark(now_us)

    def at_rest(self) -> bool:
        """Whether the leader and every member of the ISR are at the high watermark."""
        assert self.log is not None
        if self.strangers:
            return False
        end = self.log.end_offset
        ends = (remote.log_end_offset for remote in self.remotes.values() if remote.in_isr)
        return self.high_watermark == end and all(other == end for other in ends)

    def log_start_moved(self, reason: str) -> None:
        super().log_start_moved(reason)
        for remote in self.remotes.values():
            if remote.session is not None:
                remote.session.note(self.tp)

    def fail_waiting(self, error: Errors) -> None:
        """Answer every delayed produce of this partition with ``error``."""
        waiting, self.waiting = self.waiting, None
        if waiting is not None:
            waiting.fail(error)
