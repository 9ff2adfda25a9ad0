"""The leader's in-sync set: who may join, who is out, and the conditional write to ZooKeeper that makes it so."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from brokers.partition.remote import RemoteReplica
from emulator.protocol.events import IsrChanged, IsrUpdateFailed
from emulator.protocol.znodes import LeaderAndIsr, state_path
from emulator.zookeeper import GetData, Response, SetData, ZkCode

if TYPE_CHECKING:
    from brokers.partition.partition import Partition


class IsrWriter:
    """At most one ISR write of one partition is in flight. It succeeds only at the version this leader knows.

    Attributes:
        strangers: the members of the ISR that are not assigned; a controller that died between two steps of a move
            can leave them there.
    """

    __slots__ = ("_kind", "_partition", "_wanted", "strangers")

    def __init__(self, partition: "Partition") -> None:
        self._partition = partition
        self._wanted: LeaderAndIsr | None = None
        self._kind = ""
        self.strangers: dict[int, RemoteReplica] = {}

    @property
    def in_flight(self) -> bool:
        return self._wanted is not None

    def abandon(self) -> None:
        """A LeaderAndIsr took effect: whatever comes back from ZooKeeper is of another time."""
        self._wanted = None

    def find_strangers(self, before: Mapping[int, RemoteReplica]) -> None:
        """The ISR and the assigned replicas are new; ``before``: the remote replicas of the time before. Nothing a
        stranger fetches counts any more."""
        partition, known = self._partition, {**self.strangers, **before}
        assigned = (partition.process.node.id, *partition.remotes)
        self.strangers = {
            broker: known.get(broker) or RemoteReplica(broker, True)
            for broker in partition.isr
            if broker not in assigned
        }

    def may_join(self, remote: RemoteReplica) -> bool:
        """At or behind the high watermark *and* the start of this leader's epoch (KAFKA-7128)."""
        partition = self._partition
        reached = remote.log_end_offset >= partition.high_watermark
        if partition.manager.policies.join_needs_epoch_start:
            reached = reached and remote.log_end_offset >= partition.epoch_start_offset
        return reached and not self.in_flight

    def expand_waiting(self) -> None:
        """Let those join that fetch from here and may, but found a write in flight or saw theirs fail."""
        partition = self._partition
        for remote in partition.remotes.values():
            session = remote.session
            if not remote.in_isr and session is not None and session.reads(partition) and self.may_join(remote):
                self.expand(remote)

    def expand(self, remote: RemoteReplica) -> None:
        self._write("expand", (*self._partition.isr, remote.broker))

    def out_of_sync(self, now_us: int) -> tuple[int, ...]:
        """The members that are behind and have not caught up for replica.lag.time.max.ms (KAFKA-7152: equal is in)."""
        partition = self._partition
        assert partition.log is not None
        end, lag_time_us = partition.log.end_offset, partition.manager.policies.config.replica_lag_time_max_us
        return tuple(
            remote.broker
            for remote in (*partition.remotes.values(), *self.strangers.values())
            if remote.in_isr and remote.log_end_offset != end and now_us - remote.last_caught_up_us > lag_time_us
        )

    def shrink(self, now_us: int) -> None:
        """Drop the members that are out of sync, if any."""
        out = () if self.in_flight else self.out_of_sync(now_us)
        if out:
            self._write("shrink", tuple(broker for broker in self._partition.isr if broker not in out))

    def _write(self, kind: str, isr: tuple[int, ...]) -> None:
        partition = self._partition
        self._kind = kind
        self._wanted = wanted = LeaderAndIsr(
            partition.process.node.id, partition.leader_epoch, isr, partition.controller_epoch, partition.zk_version
        )
        partition.manager.zk.submit(
            SetData(state_path(partition.tp), wanted.encode(), partition.zk_version),
            lambda response: self._written(wanted, response),
        )

    def _written(self, wanted: LeaderAndIsr, response: Response) -> None:
        if self._wanted is not wanted:
            return
        if response.error is ZkCode.OK:
            assert response.stat is not None
            self._adopt(wanted, response.stat.version)
        elif response.error is ZkCode.BAD_VERSION:
            # The write may be our own, applied before the connection was lost: compare contents (KAFKA-1382).
            partition = self._partition
            partition.manager.zk.submit(GetData(state_path(partition.tp)), lambda r: self._compared(wanted, r))
        else:
            self._failed(wanted)

    def _compared(self, wanted: LeaderAndIsr, response: Response) -> None:
        if self._wanted is not wanted:
            return
        if response.error is ZkCode.OK and response.data == wanted.encode():
            assert response.stat is not None
            self._adopt(wanted, response.stat.version)
        else:
            self._failed(wanted)

    def _adopt(self, wanted: LeaderAndIsr, zk_version: int) -> None:
        self._wanted = None
        partition = self._partition
        partition.isr = wanted.isr
        partition.zk_version = zk_version
        for remote in partition.remotes.values():
            remote.in_isr = remote.broker in wanted.isr
        self.find_strangers({})
        partition.process.anchor(
            IsrChanged, partition.process.node.id, partition.tp.topic, partition.tp.partition, wanted.leader_epoch,
            self._kind, wanted.isr, zk_version,
        )  # fmt: skip
        partition.manager.isr_changed(partition)

    def _failed(self, wanted: LeaderAndIsr) -> None:
        """The memory stays as it was; every later attempt fails too until a LeaderAndIsr brings a new version."""
        self._wanted = None
        partition = self._partition
        partition.process.emit(
            IsrUpdateFailed, partition.process.node.id, partition.tp.topic, partition.tp.partition, wanted.leader_epoch
        )
        partition.manager.log.warning("cached zkVersion not equal", partition=str(partition.tp), isr=wanted.isr)
        partition.manager.behind[partition] = None
        partition.advance_high_watermark(partition.process.clock_us)
