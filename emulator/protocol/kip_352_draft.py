"""LeaderAndIsr and UpdateMetadata as KIP-352 was drafted: never released.

CurrentReplicas takes the place of Replicas: the replicas before a move (the draft's other line says ActiveReplicas and
means the same). ImpendingReplicas: all replicas of the target, empty outside a move. A leader's assigned set is their
union, here ``replicas``. The fields that came after the draft (BrokerEpoch, OfflineReplicas) stay beside its own; the
responses are unchanged.
"""

from typing import Any

from attrs import field, frozen

from emulator.protocol.leader_and_isr import LeaderAndIsrPartition
from emulator.protocol.update_metadata import PartitionMetadata

Schema = tuple[tuple[str, str, str], ...]
"""Per field: its name in the draft, its type there, the attribute here."""

UPDATE_METADATA: Schema = (
    ("TopicName", "STRING", "tp.topic"),
    ("PartitionId", "INT32", "tp.partition"),
    ("ControllerEpoch", "INT32", "controller_epoch"),
    ("LeaderId", "INT32", "leader"),
    ("LeaderEpoch", "INT32", "leader_epoch"),
    ("ISR", "[INT32]", "isr"),
    ("ZkVersion", "INT32", "zk_version"),
    ("CurrentReplicas", "[INT32]", "current_replicas"),
    ("ImpendingReplicas", "[INT32]", "impending_replicas"),
)
"""The partition state of UpdateMetadata, in the draft's order."""

LEADER_AND_ISR: Schema = (*UPDATE_METADATA, ("IsNew", "BOOLEAN", "is_new"))
"""The partition state of LeaderAndIsr."""


@frozen(eq=False)
class DraftLeaderAndIsrPartition(LeaderAndIsrPartition):
    """One partition's state in LeaderAndIsr."""

    current_replicas: tuple[int, ...] = field(kw_only=True)
    impending_replicas: tuple[int, ...] = field(kw_only=True)


@frozen(eq=False)
class DraftPartitionMetadata(PartitionMetadata):
    """One partition's state in UpdateMetadata."""

    current_replicas: tuple[int, ...] = field(kw_only=True)
    impending_replicas: tuple[int, ...] = field(kw_only=True)


def values(schema: Schema, state: DraftLeaderAndIsrPartition | DraftPartitionMetadata) -> dict[str, Any]:
    """The values of ``state`` for the fields of ``schema``, by the draft's names."""
    return {name: _value(state, attribute) for name, _type, attribute in schema}


def _value(state: Any, attribute: str) -> Any:
    for name in attribute.split("."):
        state = getattr(state, name)
    return state
