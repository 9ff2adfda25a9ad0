"""Who has what was produced: a leader's answer to those who wait for more than itself."""

from typing import TYPE_CHECKING

from brokers.purgatory import DelayedProduce, WaitingProduces
from emulator.protocol.errors import NO_ERROR, Errors

if TYPE_CHECKING:
    from brokers.partition.partition import Partition


def wait_for_all(partition: "Partition", base: int, required: int, produce: DelayedProduce) -> None:
    """Finish ``produce`` for this partition once the high watermark has reached ``required``."""
    if partition.high_watermark >= required:
        produce.finish(partition.tp, acknowledgement(partition), base)
    else:
        (partition.waiting or _waiting(partition)).add(base, required, produce)


def wait_for_some(partition: "Partition", base: int, required: int, acks: int, produce: DelayedProduce) -> None:
    """Finish ``produce`` once ``acks`` members of the ISR, the leader among them, have reached ``required`` (0.8).
    Where there are no other replicas nobody is waited for."""
    if not partition.remotes or _in_sync_at(partition, required) >= acks:
        produce.finish(partition.tp, Errors.NONE, base)
    else:
        _waiting(partition).counted.append((base, required, acks, produce))


def complete_some(partition: "Partition", waiting: WaitingProduces) -> None:
    """A follower has moved: maybe it was the last one that somebody waited for."""
    waiting.complete_counted(lambda offset: _in_sync_at(partition, offset))


def acknowledgement(partition: "Partition") -> Errors:
    """What whoever has waited for all is told, by the ISR of the moment; the larger of two that are not decided."""
    in_sync = len(partition.isr) if partition.isr_write is None else partition.isr_write.maximal_size
    enough = in_sync >= partition.manager.policies.min_insync_replicas(partition.tp.topic)
    return NO_ERROR if enough else Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND


def _waiting(partition: "Partition") -> WaitingProduces:
    if partition.waiting is None:
        partition.waiting = WaitingProduces(partition.tp)
    return partition.waiting


def _in_sync_at(partition: "Partition", offset: int) -> int:
    return 1 + sum(remote.in_isr and remote.log_end_offset >= offset for remote in partition.remotes.values())
