"""The leader's in-sync set: who may join, who is out. What is wanted is carried by an ``IsrWrite``."""

from typing import TYPE_CHECKING

from brokers.partition.isr_write import EXPAND, SHRINK, IsrWrite
from brokers.partition.remote import RemoteReplica

if TYPE_CHECKING:
    from brokers.partition.partition import Partition


def may_join(partition: "Partition", remote: RemoteReplica) -> bool:
    """At or behind the high watermark *and* the start of this leader's epoch (KAFKA-7128)."""
    reached = remote.log_end_offset >= partition.high_watermark
    if partition.manager.policies.join_needs_epoch_start:
        reached = reached and remote.log_end_offset >= partition.epoch_start_offset
    return reached and partition.isr_write is None


def expand_waiting(partition: "Partition") -> None:
    """Let those join that idle at the end of the log and may, but found a write in flight or saw theirs fail. Who has
    more to read will ask again."""
    assert partition.log is not None
    end = partition.log.end_offset
    for remote in partition.remotes.values():
        session = remote.session
        if remote.in_isr or session is None or remote.log_end_offset < end or not session.reads(partition):
            continue
        if may_join(partition, remote):
            expand(partition, remote)


def expand(partition: "Partition", remote: RemoteReplica) -> None:
    """Write an ISR with ``remote`` in it."""
    IsrWrite(partition, EXPAND, (*partition.isr, remote.broker)).begin()


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
        IsrWrite(partition, SHRINK, tuple(broker for broker in partition.isr if broker not in out)).begin()
