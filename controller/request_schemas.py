"""How a partition's replicas are written into the controller's requests (kafka-behaviour §7.2)."""

from typing import Protocol

from attrs import frozen

from controller.move import Move
from emulator.protocol.assignments import Replicas, union
from emulator.protocol.kip_352_draft import DraftLeaderAndIsrPartition, DraftPartitionMetadata
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata
from emulator.protocol.znodes import LeaderAndIsr


class RequestSchema(Protocol):
    """A rule for writing a partition into LeaderAndIsr and UpdateMetadata; ``move`` is the partition's move, if any."""

    def leader_and_isr(
        self, move: Move | None, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, is_new: bool
    ) -> LeaderAndIsrPartition: ...

    def update_metadata(
        self, move: Move | None, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, offline: Replicas
    ) -> PartitionMetadata: ...


@frozen
class AllReplicas:
    """One list: all assigned replicas, whether they are being moved or not (Kafka up to 2.3)."""

    def leader_and_isr(
        self, move: Move | None, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, is_new: bool
    ) -> LeaderAndIsrPartition:
        return LeaderAndIsrPartition(
            tp, state.controller_epoch, state.leader, state.leader_epoch, state.isr, state.zk_version, replicas, is_new,
            recovering=state.recovering,
        )  # fmt: skip

    def update_metadata(
        self, move: Move | None, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, offline: Replicas
    ) -> PartitionMetadata:
        return PartitionMetadata(
            tp, state.controller_epoch, state.leader, state.leader_epoch, state.isr, state.zk_version, replicas, offline
        )


@frozen
class CurrentAndImpending:
    """KIP-352's draft (readings §8): the replicas before the move, and those it goes to."""

    def leader_and_isr(
        self, move: Move | None, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, is_new: bool
    ) -> LeaderAndIsrPartition:
        current, impending = _sets(move, replicas)
        return DraftLeaderAndIsrPartition(
            tp, state.controller_epoch, state.leader, state.leader_epoch, state.isr, state.zk_version,
            union(current, impending), is_new, current_replicas=current, impending_replicas=impending,
        )  # fmt: skip

    def update_metadata(
        self, move: Move | None, tp: TopicPartition, state: LeaderAndIsr, replicas: Replicas, offline: Replicas
    ) -> PartitionMetadata:
        current, impending = _sets(move, replicas)
        return DraftPartitionMetadata(
            tp, state.controller_epoch, state.leader, state.leader_epoch, state.isr, state.zk_version,
            union(current, impending), offline, current_replicas=current, impending_replicas=impending,
        )  # fmt: skip


def _sets(move: Move | None, replicas: Replicas) -> tuple[Replicas, Replicas]:
    if move is None:
        return replicas, ()
    impending = move.step_target or move.target
    return move.current, impending if impending != move.current else ()
