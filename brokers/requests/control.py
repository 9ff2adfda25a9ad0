"""LeaderAndIsr, UpdateMetadata and StopReplica: the controller's requests, and which of them are refused.

Fencing: broker epoch (KIP-380), then controller epoch, then leader epoch per partition (kafka-behaviour §7.3).
"""

from collections.abc import Sequence

from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.control_requests import ControlHandled
from emulator.protocol.errors import Errors
from emulator.protocol.events import ControlResponse
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest, LeaderAndIsrResponse
from emulator.protocol.shown import MetadataCached
from emulator.protocol.stop_replica import StopReplicaRequest, StopReplicaResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest, UpdateMetadataResponse

UNKNOWN_BROKER_EPOCH = -1
Control = LeaderAndIsrRequest | UpdateMetadataRequest | StopReplicaRequest
Outcomes = tuple[tuple[TopicPartition, Errors], ...]


class ControlHandler:
    """Answers the controller. ``broker_epoch`` is this incarnation's, set once it is registered."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager
        self.broker_epoch = UNKNOWN_BROKER_EPOCH
        self.controller_epoch = 0

    @handles(LeaderAndIsrRequest)
    def leader_and_isr(self, request: LeaderAndIsrRequest, channel: Channel) -> None:
        error = self._fence(request)
        response = LeaderAndIsrResponse(error)
        if error is Errors.NONE:
            outcomes = self._manager.become_leader_or_follower(request)
            response = LeaderAndIsrResponse(error, tuple([state.tp for state in request.partitions]), outcomes)
        self._record(request, error, response.tps, response.errors)
        channel.reply(response, response.size)

    @handles(UpdateMetadataRequest)
    def update_metadata(self, request: UpdateMetadataRequest, channel: Channel) -> None:
        error = self._fence(request)
        if error is Errors.NONE:
            self._update(request)
            self._tell_coordinators()
        self._record(request, error, (), ())
        response = UpdateMetadataResponse(error)
        channel.reply(response, response.size)

    def _update(self, request: UpdateMetadataRequest) -> None:
        """Take over what the request says about partitions and brokers."""
        node, metadata = self._manager.process.node, self._manager.metadata
        metadata.update(request)
        self._manager.process.show(MetadataCached, node.id, metadata.topics, metadata.live_brokers)

    def _tell_coordinators(self) -> None:
        """The partitions of deleted topics are gone for those who keep something about them."""
        deleted = self._manager.metadata.deleted
        for coordinator in self._manager.coordinators.values():
            if deleted and coordinator.keeps_anything:
                coordinator.partitions_deleted(deleted)

    @handles(StopReplicaRequest)
    def stop_replica(self, request: StopReplicaRequest, channel: Channel) -> None:
        error, outcomes = self._fence(request), ()  # type: tuple[Errors, Outcomes]
        if error is Errors.NONE:
            outcomes = self._manager.stop_replicas(request)
        self._record(request, error, [tp for tp, _ in outcomes], [outcome for _, outcome in outcomes])
        if error is Errors.UNKNOWN_SERVER_ERROR:  # what has thrown fails for each partition (getErrorResponse, 2.3.1)
            outcomes = tuple((tp, error) for tp in request.partitions)
        response = StopReplicaResponse(error, outcomes)
        channel.reply(response, response.size)

    def _fence(self, request: Control) -> Errors:
        epoch = request.broker_epoch
        if epoch != UNKNOWN_BROKER_EPOCH:
            if epoch < self.broker_epoch:
                return Errors.STALE_BROKER_EPOCH
            if epoch > self.broker_epoch and not self._manager.policies.accepts_newer_broker_epoch:
                return Errors.UNKNOWN_SERVER_ERROR
        checks = self._manager.policies.checks_controller_epoch
        if checks and request.controller_epoch < self.controller_epoch:
            return Errors.STALE_CONTROLLER_EPOCH
        self.controller_epoch = request.controller_epoch
        return Errors.NONE

    def _record(
        self, request: Control, error: Errors, tps: Sequence[TopicPartition], outcomes: Sequence[Errors]
    ) -> None:
        process = self._manager.process
        refused: list[tuple[TopicPartition, Errors]] = []
        if outcomes.count(Errors.NONE) < len(outcomes):
            refused = [each for each in zip(tps, outcomes, strict=True) if each[1] is not Errors.NONE]
        process.anchor(
            ControlResponse, request.api.name, process.node.id, request.controller_id, request.controller_epoch,
            error.name, tuple(str(tp) for tp, _ in refused), tuple(outcome.name for _, outcome in refused),
        )  # fmt: skip
        process.show(ControlHandled, process.node.id, request, error)
