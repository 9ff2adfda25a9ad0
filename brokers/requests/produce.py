"""Produce: append, and answer once enough replicas have the records."""

from brokers.log.disk_work import ResponseChannel
from brokers.partition.partition import Partition
from brokers.purgatory import DelayedProduce, ProducedResult
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
        """One loop over the batches: append each, and let it wait where the acks ask for it."""
        manager, acks = self._manager, request.acks
        partitions, metadata = manager.partitions, manager.metadata
        seen: dict[TopicPartition, None] = {}
        results: list[ProducedResult] = []
        appended = False
        valid = manager.policies.valid_acks(acks)
        for batch in request.batches:
            tp = batch.tp
            seen[tp] = None
            partition = partitions.get(tp)
            if not valid:
                result = tp, Errors.INVALID_REQUIRED_ACKS, -1
            elif not metadata.knows(tp):
                # The controller has not sent it to this broker yet, or it is being deleted.
                result = tp, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1
            elif partition is None:
                result = tp, manager.error_without_replica(tp), -1
            else:
                result = self._append(partition, batch, acks)
            results.append(result)
            appended = appended or not result[1]
        assert len(seen) == len(results), "two batches of a partition in one request"
        channel = manager.logs.work.after_disks(channel)
        if appended and acks not in (0, 1):
            self._wait_for_replicas(request, channel, results)
        elif acks == 0:
            if any(error for _tp, error, _base in results):
                channel.close()  # the only way to report an error to a producer that expects no answer
            else:
                channel.release()
        else:
            response = ProduceResponse(tuple(results))
            channel.reply(response, response.size)

    def _append(self, partition: Partition, batch: ProducedBatch, acks: int) -> ProducedResult:
        tp = partition.tp
        if not partition.is_leader:
            return tp, Errors.NOT_LEADER_FOR_PARTITION, -1
        if acks < 0 and len(partition.isr_state.isr) < self._manager.policies.min_insync_replicas(tp.topic):
            return tp, Errors.NOT_ENOUGH_REPLICAS, -1
        try:
            if batch.__class__ is IdempotentBatch:
                return self._append_once(partition, batch)
            return tp, NO_ERROR, partition.append_as_leader(batch)
        except (DiskError, StorageError):
            return tp, Errors.KAFKA_STORAGE_ERROR, -1
        except UnexpectedError:  # ReplicaManager.appendToLocalLog, 2.3.1, catches everything
            return tp, Errors.UNKNOWN_SERVER_ERROR, -1

    def _append_once(self, partition: Partition, batch: IdempotentBatch) -> ProducedResult:
        """Append the batch of an idempotent producer: a batch that was sent again gets the first answer (KIP-98)."""
        producers = partition.log.producers
        before = producers.repeated(batch)
        if before is not None:
            return batch.tp, NO_ERROR, before.base_offset
        error = producers.check(batch)
        return batch.tp, error, -1 if error else partition.append_as_leader(batch)

    def _wait_for_replicas(
        self, request: ProduceRequest, channel: ResponseChannel, results: list[ProducedResult]
    ) -> None:
        """Answer once every batch that was appended is on as many replicas as the request asks for."""
        acks, partitions = request.acks, self._manager.partitions
        timed_out, waiting = Errors.REQUEST_TIMED_OUT, []
        for place, (batch, (tp, error, base)) in enumerate(zip(request.batches, results, strict=True)):
            if not error:
                results[place] = (tp, timed_out, base)
                waiting.append((place, partitions[tp], base + batch.count))
        delayed = DelayedProduce(channel, results, len(waiting))
        delayed.timer = self._manager.process.call_later(request.timeout_us, delayed.expire)
        for place, partition, required in waiting:
            partition.await_replicas(delayed, place, required, acks)
