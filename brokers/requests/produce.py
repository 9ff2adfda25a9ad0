"""Produce: append, and answer once enough replicas have the records."""

from brokers.log.disk_work import ResponseChannel
from brokers.partition.partition import Partition
from brokers.purgatory import DelayedProduce
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from emulator.disks import DiskError, UnexpectedError
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import IdempotentBatch, ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.types import TopicPartition
from fetchers.failures import StorageError


class ProduceHandler:
    """Answers producers. One request is one transition: all its appends happen before any follower reads them."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager

    @handles(ProduceRequest)
    def produce(self, request: ProduceRequest, channel: ResponseChannel) -> None:
        results: dict[TopicPartition, tuple[Errors, int]] = {}
        for batch in request.batches:
            assert batch.tp not in results, f"two batches of {batch.tp} in one request"
            results[batch.tp] = self._append(batch, request.acks)
        manager = self._manager
        channel = manager.logs.work.after_disks(channel)
        if request.acks not in (0, 1) and any(not error for error, _base in results.values()):
            self._wait_for_replicas(request, channel, results)
        elif request.acks == 0:
            if any(error for error, _base in results.values()):
                channel.close()  # the only way to report an error to a producer that expects no answer
            else:
                channel.release()
        else:
            answer = tuple((tp, error, base) for tp, (error, base) in results.items())
            response = ProduceResponse(answer)
            channel.reply(response, response.size)

    def _append(self, batch: ProducedBatch, acks: int) -> tuple[Errors, int]:
        manager = self._manager
        partition = manager.partitions.get(batch.tp)
        if not manager.policies.valid_acks(acks):
            return Errors.INVALID_REQUIRED_ACKS, -1
        if not manager.metadata.knows(batch.tp):
            # The controller has not sent it to this broker yet, or it is being deleted.
            return Errors.UNKNOWN_TOPIC_OR_PARTITION, -1
        if partition is None:
            return manager.error_without_replica(batch.tp), -1
        if not partition.is_leader:
            return Errors.NOT_LEADER_FOR_PARTITION, -1
        if acks < 0 and len(partition.isr_state.isr) < manager.policies.min_insync_replicas(batch.tp.topic):
            return Errors.NOT_ENOUGH_REPLICAS, -1
        try:
            if batch.__class__ is IdempotentBatch:
                return self._append_once(partition, batch)
            return NO_ERROR, partition.append_as_leader(batch)
        except (DiskError, StorageError):
            return Errors.KAFKA_STORAGE_ERROR, -1
        except UnexpectedError:  # ReplicaManager.appendToLocalLog, 2.3.1, catches everything
            return Errors.UNKNOWN_SERVER_ERROR, -1

    def _append_once(self, partition: Partition, batch: IdempotentBatch) -> tuple[Errors, int]:
        """Append the batch of an idempotent producer: a batch that was sent again gets the first answer (KIP-98)."""
        producers = partition.log.producers
        before = producers.repeated(batch)
        if before is not None:
            return NO_ERROR, before.base_offset
        error = producers.check(batch)
        return (error, -1) if error else (error, partition.append_as_leader(batch))

    def _wait_for_replicas(
        self, request: ProduceRequest, channel: ResponseChannel, results: dict[TopicPartition, tuple[Errors, int]]
    ) -> None:
        """Answer once every batch that was appended is on as many replicas as the request asks for."""
        delayed = DelayedProduce(channel, {}, len(results))
        process, partitions = self._manager.process, self._manager.partitions
        delayed.timer = process.call_later(request.timeout_us, delayed.expire)
        timed_out = Errors.REQUEST_TIMED_OUT
        for batch, (error, base) in zip(request.batches, results.values(), strict=True):
            if error:
                delayed.finish(batch.tp, error, base)
            else:
                delayed.results[batch.tp] = (timed_out, base)
                partitions[batch.tp].await_replicas(delayed, base, base + batch.count, request.acks)
