"""Produce: append, and answer when the asked number of replicas has it."""

from typing import TYPE_CHECKING

from brokers.log.disk_work import ResponseChannel
from brokers.partition import Partition, acks
from brokers.purgatory import DelayedProduce
from brokers.requests.router import handles
from emulator.disks import DiskError, UnexpectedError
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import IdempotentBatch, ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.types import TopicPartition
from fetchers import StorageError

if TYPE_CHECKING:
    from brokers.replicas.manager import ReplicaManager


class ProduceHandler:
    """Answers producers. One request is one transition: all its appends happen before any follower reads them."""

    def __init__(self, manager: "ReplicaManager") -> None:
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
                channel.close()  # the only way to tell a producer that awaits no answer
            else:
                channel.release()
        else:
            answer = tuple((tp, error, base) for tp, (error, base) in results.items())
            response = ProduceResponse(answer)
            channel.reply(response, response.size)
        manager.complete_woken()

    def _append(self, batch: ProducedBatch, acks: int) -> tuple[Errors, int]:
        manager = self._manager
        partition = manager.partitions.get(batch.tp)
        if not manager.policies.valid_acks(acks):
            return Errors.INVALID_REQUIRED_ACKS, -1
        if not manager.metadata.knows(batch.tp):
            # Not created yet as far as this broker was told, or about to be deleted: clients find it no more.
            return Errors.UNKNOWN_TOPIC_OR_PARTITION, -1
        if partition is None:
            return manager.error_without_replica(batch.tp), -1
        if not partition.is_leader:
            return Errors.NOT_LEADER_FOR_PARTITION, -1
        if acks < 0 and len(partition.isr) < manager.policies.min_insync_replicas(batch.tp.topic):
            return Errors.NOT_ENOUGH_REPLICAS, -1
        try:
            if batch.__class__ is IdempotentBatch:
                return self._append_once(partition, batch)
            return NO_ERROR, partition.append_as_leader(batch)
        except (DiskError, StorageError):
            return Errors.KAFKA_STORAGE_ERROR, -1
        except UnexpectedError:  # ReplicaManager.appendToLocalLog, 2.3.1, catches whatever there is
            return Errors.UNKNOWN_SERVER_ERROR, -1

    def _append_once(self, partition: Partition, batch: IdempotentBatch) -> tuple[Errors, int]:
        """What a producer that counts its batches sends: a repetition is answered as the first time (KIP-98)."""
        assert partition.log is not None
        producers = partition.log.producers
        before = producers.repeated(batch)
        if before is not None:
            return NO_ERROR, before.base_offset
        error = producers.check(batch)
        return (error, -1) if error else (error, partition.append_as_leader(batch))

    def _wait_for_replicas(
        self, request: ProduceRequest, channel: ResponseChannel, results: dict[TopicPartition, tuple[Errors, int]]
    ) -> None:
        """Answer once every batch that was appended is on as many replicas as was asked for."""
        delayed = DelayedProduce(channel, {}, len(results))
        process, partitions = self._manager.process, self._manager.partitions
        delayed.timer = process.call_later(request.timeout_us, delayed.expire)
        timed_out = Errors.REQUEST_TIMED_OUT
        for batch, (error, base) in zip(request.batches, results.values(), strict=True):
            if not error:
                delayed.results[batch.tp] = (timed_out, base)
                required, partition = base + batch.count, partitions[batch.tp]
                if request.acks < 0:
                    acks.wait_for_all(partition, base, required, delayed)
                else:
                    acks.wait_for_some(partition, base, required, request.acks, delayed)
            else:
                delayed.finish(batch.tp, error, base)
