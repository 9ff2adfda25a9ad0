"""DeleteRecords (API 21), which a leader answers (KafkaApis.handleDeleteRecordsRequest, 2.4.1). What it does is in
``brokers.replica_manager.record_deletion``."""

from brokers.replica_manager import ReplicaManager
from brokers.replica_manager.record_deletion import RecordDeletion
from brokers.requests.router import handles
from emulator.network import Channel
from emulator.protocol.delete_records import DeleteRecordsRequest


class DeleteRecordsHandler:
    """Answers admin clients."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager

    @handles(DeleteRecordsRequest)
    def delete_records(self, request: DeleteRecordsRequest, channel: Channel) -> None:
        manager = self._manager
        if manager.deletion is None:
            manager.deletion = manager.purgatory.deletion = RecordDeletion(
                manager.process, manager.partitions, manager.offline, manager.metadata, manager.moves.futures,
                manager.error_without_replica,
            )  # fmt: skip
        manager.deletion.delete(request, channel)
