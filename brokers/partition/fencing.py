"""Who may read a replica: the leader epoch is looked at before leadership (Partition.getLocalReplica, 2.1 to 2.6)."""

from typing import TYPE_CHECKING

from emulator.protocol.errors import Errors
from emulator.protocol.fetch import NO_EPOCH

if TYPE_CHECKING:
    from brokers.partition.partition import Partition


def refusal(partition: "Partition", epoch: int, *, leader_only: bool = True) -> Errors:
    """Why a reader that knows the leader epoch ``epoch`` (NO_EPOCH: none) gets nothing of ``partition`` here, or NONE.

    So a replica that has heard of a later epoch fences whoever has not, though it leads no more. ``leader_only``: False
    for a broker that copies its own log into another directory.
    """
    known = partition.leader_epoch
    if epoch != known and epoch != NO_EPOCH and partition.manager.policies.checks_epochs:
        return Errors.FENCED_LEADER_EPOCH if epoch < known else Errors.UNKNOWN_LEADER_EPOCH
    return Errors.NONE if partition.is_leader or not leader_only else Errors.NOT_LEADER_FOR_PARTITION
