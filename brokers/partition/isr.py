"""The leader's in-sync set: who may join, who is out, and the conditional write to ZooKeeper that makes it so.

At most one write of one partition is in flight. It succeeds only at the version this leader knows.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define

from brokers.partition.remote import NONE_REMOTE, RemoteReplica
from emulator.protocol.events import IsrChanged, IsrUpdateFailed
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper import GetData, Response, SetData, ZkCode

if TYPE_CHECKING:
    from brokers.partition.partition import Partition


def may_join(partition: "Partition", remote: RemoteReplica) -> bool:
    """At or behind the high watermark *and* the start of this leader's epoch (KAFKA-7128)."""
    reached = remote.log_end_offset >= partition.high_watermark
    if partition.manager.policies.join_needs_epoch_start:
        reached = reached and remote.log_end_offset >= partition.epoch_start_offset
    return reached and partition.isr_write is None


def expand_waiting(partition: "Partition") -> None:
    """Let those join that fetch from here and may, but found a write in flight or saw theirs fail."""
    for remote in partition.remotes.values():
        session = remote.session
        if not remote.in_isr and session is not None and session.reads(partition) and may_join(partition, remote):
            expand(partition, remote)


def expand(partition: "Partition", remote: RemoteReplica) -> None:
    """Write an ISR with ``remote`` in it."""
    IsrWrite(partition, "expand", (*partition.isr, remote.broker)).begin()


def find_strangers(partition: "Partition", before: Mapping[int, RemoteReplica]) -> None:
    """The ISR and the assigned replicas are new; ``before``: the remote replicas of the time before. Nothing a
    stranger fetches counts any more."""
    strangers = [b for b in partition.isr if b != partition.process.node.id and b not in partition.remotes]
    known = {**partition.strangers, **before} if strangers else before
    partition.strangers = {b: known.get(b) or RemoteReplica(b, True) for b in strangers} or NONE_REMOTE


def out_of_sync(partition: "Partition", now_us: int) -> tuple[int, ...]:
    """The members that are to leave, by the rule of the release (``isr_rules``)."""
    assert partition.log is not None
    policies, end = partition.manager.policies, partition.log.end_offset
    out, lag_time_us = policies.out_of_sync, policies.config.replica_lag_time_max_us
    return tuple(
        remote.broker
        for remote in (*partition.remotes.values(), *partition.strangers.values())
        if remote.in_isr and out(remote, end, now_us, lag_time_us)
    )


def shrink(partition: "Partition", now_us: int) -> None:
    """Drop the members that are out of sync, if any."""
    out = out_of_sync(partition, now_us) if partition.isr_write is None else ()
    if out:
        IsrWrite(partition, "shrink", tuple(broker for broker in partition.isr if broker not in out)).begin()


@define(eq=False)
class IsrWrite:
    """One write, which counts for as long as it is the partition's ``isr_write``. ``kind``: expand or shrink."""

    partition: "Partition"
    kind: str
    isr: tuple[int, ...]

    def begin(self) -> None:
        partition = self.partition
        partition.isr_write = self
        wanted = LeaderAndIsr(
            partition.process.node.id, partition.leader_epoch, self.isr, partition.controller_epoch,
            partition.zk_version,
        )  # fmt: skip
        partition.manager.zk.submit(
            SetData(state_path(partition.tp), wanted.encode(), partition.zk_version),
            lambda response: self._written(wanted, response),
        )

    @property
    def _abandoned(self) -> bool:
        """A LeaderAndIsr took effect since: what comes back from ZooKeeper is of another time."""
        return self.partition.isr_write is not self

    def _written(self, wanted: LeaderAndIsr, response: Response) -> None:
        if self._abandoned:
            return
        if response.error is ZkCode.OK:
            assert response.stat is not None
            self._adopt(wanted, response.stat.version)
        elif response.error is ZkCode.BAD_VERSION and self.partition.manager.policies.compares_refused_isr:
            # The write may be our own, applied before the connection was lost: compare contents (KAFKA-1382).
            partition = self.partition
            partition.manager.zk.submit(GetData(state_path(partition.tp)), lambda r: self._compared(wanted, r))
        else:
            self._failed(wanted)

    def _compared(self, wanted: LeaderAndIsr, response: Response) -> None:
        if self._abandoned:
            return
        if response.error is ZkCode.OK and response.data == wanted.encode():
            assert response.stat is not None
            self._adopt(wanted, response.stat.version)
        else:
            self._failed(wanted)

    def _adopt(self, wanted: LeaderAndIsr, zk_version: int) -> None:
        partition = self.partition
        partition.isr_write = None
        partition.isr = wanted.isr
        partition.zk_version = zk_version
        for remote in partition.remotes.values():
            remote.in_isr = remote.broker in wanted.isr
        find_strangers(partition, {})
        partition.process.anchor(
            IsrChanged, partition.process.node.id, partition.tp.topic, partition.tp.partition, wanted.leader_epoch,
            self.kind, wanted.isr, zk_version,
        )  # fmt: skip
        partition.manager.metrics.isr_written(partition, self.kind)
        partition.manager.isr_changed(partition)

    def _failed(self, wanted: LeaderAndIsr) -> None:
        """The memory stays as it was; every later attempt fails too until a LeaderAndIsr brings a new version."""
        partition = self.partition
        partition.isr_write = None
        partition.process.emit(
            IsrUpdateFailed, partition.process.node.id, partition.tp.topic, partition.tp.partition, wanted.leader_epoch
        )
        partition.manager.metrics.isr_write_failed()
        partition.manager.log.warning("cached zkVersion not equal", partition=str(partition.tp), isr=wanted.isr)
        partition.manager.behind[partition] = None
        partition.advance_high_watermark(partition.process.clock_us)
