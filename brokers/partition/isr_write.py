"""One change of the ISR, from the leader's wish to what became of it; who makes it so is a policy.

At most one of a partition is under way. Whoever carries it answers with ``taken`` or ``refused``, once, and only while
it is not ``abandoned``.
"""

from typing import TYPE_CHECKING, Protocol

from attrs import define

from brokers.partition.remote import NONE_REMOTE, RemoteReplica
from emulator.protocol.events import UNCHECKED, IsrChanged, IsrProposed, IsrUpdateFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from brokers.partition.partition import Partition

EXPAND, SHRINK = "expand", "shrink"


class IsrWrites(Protocol):
    """How a change gets into ZooKeeper."""

    @property
    def holds_high_watermark(self) -> bool:
        """Whether the high watermark stands still while a change is under way, as under ``leaderIsrUpdateLock``. If
        not, it moves by the larger of the two sets."""

    @property
    def outcome_moves_high_watermark(self) -> bool:
        """Whether the leader looks at its high watermark when it has learnt what became of a change."""

    @property
    def announced(self) -> bool:
        """Whether the controller has to be told of a change that took effect (isr-change-propagation)."""

    def begin(self, write: "IsrWrite") -> None:
        """Carry ``write``."""


@define(eq=False)
class IsrWrite:
    """It counts for as long as it is the partition's ``isr_write``. ``cause``: the event that tells of it."""

    partition: "Partition"
    kind: str
    isr: tuple[int, ...]
    cause: int = 0

    def begin(self) -> None:
        partition = self.partition
        partition.isr_write = self
        self.cause = self._propose()
        partition.manager.policies.isr_writes.begin(self)

    @property
    def abandoned(self) -> bool:
        """A LeaderAndIsr took effect since: what comes back is of another time."""
        return self.partition.isr_write is not self

    @property
    def maximal_size(self) -> int:
        """Of the larger of the two sets between which it is not decided."""
        return max(len(self.isr), len(self.partition.isr))

    def _propose(self) -> int:
        p = self.partition
        assert p.log is not None
        now, policies = p.process.clock_us, p.manager.policies
        remotes = (*p.remotes.values(), *p.strangers.values())
        changed = [remote for remote in remotes if remote.in_isr is not (remote.broker in self.isr)]
        proposed = p.process.emit(
            IsrProposed, p.process.node.id, p.tp.topic, p.tp.partition, p.leader_epoch, self.kind, self.isr,
            p.high_watermark, p.epoch_start_offset, p.log.end_offset, tuple(remote.broker for remote in changed),
            tuple(remote.log_end_offset for remote in changed),
            tuple(self._fetched_under(remote) if policies.checks_epochs else UNCHECKED for remote in changed),
            tuple(policies.out_of_sync.overdue_us(remote, now) for remote in changed),
            policies.config.replica_lag_time_max_us, policies.out_of_sync.max_messages,
        )  # fmt: skip
        seq: int = proposed.seq
        return seq

    def _fetched_under(self, remote: RemoteReplica) -> int:
        position = None if remote.session is None else remote.session.positions.get(self.partition.tp)
        return UNCHECKED if position is None else position.leader_epoch

    def taken(self, isr: tuple[int, ...], zk_version: int) -> None:
        """It took effect, by that version of the state znode."""
        p = self.partition
        p.isr_write = None
        p.isr, p.zk_version = isr, zk_version
        for remote in p.remotes.values():
            remote.in_isr = remote.broker in isr
        find_strangers(p, {})
        p.process.anchor(
            IsrChanged, p.process.node.id, p.tp.topic, p.tp.partition, p.leader_epoch, self.kind, isr, zk_version
        )
        p.manager.metrics.isr_written(p, self.kind)
        p.manager.isr_changed(p)

    def refused(self, reason: str, *, for_good: bool) -> None:
        """It did not, and the memory stays as it was. ``for_good``: nothing else is tried before a LeaderAndIsr."""
        p = self.partition
        if not for_good:
            p.isr_write = None
        p.process.emit(IsrUpdateFailed, p.process.node.id, p.tp.topic, p.tp.partition, p.leader_epoch)
        p.manager.metrics.isr_write_failed()
        p.manager.log.warning("the ISR stays as it was", partition=str(p.tp), wanted=self.isr, reason=reason)
        p.manager.behind[p] = None
        if p.manager.policies.isr_writes.outcome_moves_high_watermark:
            p.advance_high_watermark(p.process.clock_us)


def find_strangers(partition: "Partition", before: "Mapping[int, RemoteReplica]") -> None:
    """The ISR and the assigned replicas are new; ``before``: the remote replicas of the time before. Nothing a
    stranger fetches counts any more."""
    strangers = [b for b in partition.isr if b != partition.process.node.id and b not in partition.remotes]
    known = {**partition.strangers, **before} if strangers else before
    partition.strangers = {b: known.get(b) or RemoteReplica(b, True) for b in strangers} or NONE_REMOTE
