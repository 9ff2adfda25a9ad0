"""Produce: append, and answer once enough replicas have the records."""

from attrs import evolve

from brokers.log.config import LOG_APPEND_TIME
from brokers.log.disk_work import ResponseChannel
from brokers.partition.partition import Partition
from brokers.purgatory import DelayedProduce, DelayedRecordsProduce, ProducedResult
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from brokers.topic_creation import INTERNAL_TOPICS
from emulator.disks import DiskError, UnexpectedError
from emulator.protocol.clients.produce import AppendInfo, RecordsProduceRequest, RecordsProduceResponse
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import BatchRepeated, TransactionalAppended, UnknownProducerAppended
from emulator.protocol.produce import IdempotentBatch, ProducedBatch, ProduceRequest, ProduceResponse
from emulator.protocol.records import NO_TIMESTAMP, ProducedRecords, StoredBatch
from emulator.protocol.shown import ProduceExpired, ProducerDropped
from emulator.protocol.types import TopicPartition
from fetchers.failures import StorageError

Waiting = tuple[int, Partition, int]
"""A batch that waits for replicas: its place in the request, its partition, and the offset that they have to reach."""


class ProduceHandler:
    """Answers producers. One request is one transition: all its appends happen before any follower reads them."""

    def __init__(self, manager: ReplicaManager) -> None:
        self._manager = manager

    @handles(ProduceRequest)
    def produce(self, request: ProduceRequest, channel: ResponseChannel) -> None:
        """One loop over the batches: append each, and let it wait where the acks ask for it."""
        manager, acks = self._manager, request.acks
        partitions, metadata, serves = manager.partitions, manager.metadata, manager.policies.serves
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
            elif not serves(metadata, tp):
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
                self._drop(channel, results)
            else:
                channel.release()
        else:
            response = ProduceResponse(tuple(results))
            channel.reply(response, response.size)

    def _drop(self, channel: ResponseChannel, results: list[ProducedResult]) -> None:
        """Close the connection: the only way to report an error to a producer that expects no answer."""
        node = self._manager.process.node
        node.trace.record_collected()
        node.trace.show(ProducerDropped, node.id, tuple(error.name for _tp, error, _base in results))
        channel.close()

    def _append(self, partition: Partition, batch: ProducedBatch, acks: int) -> ProducedResult:
        tp = partition.tp
        if not partition.is_leader:
            return tp, Errors.NOT_LEADER_FOR_PARTITION, -1
        if acks < 0 and len(partition.isr_state.isr) < self._manager.policies.min_insync_replicas(tp.topic):
            return tp, Errors.NOT_ENOUGH_REPLICAS, -1
        try:
            if batch.__class__ is IdempotentBatch and self._manager.policies.recognizes_repeats:
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
            self._answered_again(batch, before.base_offset)
            return batch.tp, NO_ERROR, before.base_offset
        error = producers.check(batch, admits_unknown=self._manager.policies.admits_unknown_producers)
        if error:
            return batch.tp, error, -1
        known, base = producers.knows(batch.producer_id), partition.append_as_leader(batch)
        if not known:
            self._appended_unknown(batch, base)
        return batch.tp, NO_ERROR, base

    def _answered_again(self, batch: IdempotentBatch | ProducedRecords, base: int) -> None:
        process = self._manager.process
        process.emit(BatchRepeated, process.node.id, *batch.tp, batch.producer_id, batch.base_sequence, batch.id, base)

    def _appended_unknown(self, batch: IdempotentBatch | ProducedRecords, base: int) -> None:
        process = self._manager.process
        process.emit(
            UnknownProducerAppended, process.node.id, *batch.tp, batch.producer_id, batch.base_sequence, batch.id, base
        )

    def _wait_for_replicas(
        self, request: ProduceRequest, channel: ResponseChannel, results: list[ProducedResult]
    ) -> None:
        """Answer once every batch that was appended is on as many replicas as the request asks for."""
        acks, partitions = request.acks, self._manager.partitions
        timed_out = Errors.REQUEST_TIMED_OUT
        waiting: list[Waiting] = []
        for place, (batch, (tp, error, base)) in enumerate(zip(request.batches, results, strict=True)):
            if not error:
                results[place] = (tp, timed_out, base)
                waiting.append((place, partitions[tp], base + batch.count))
        delayed = DelayedProduce(channel, results, len(waiting))
        delayed.timer = self._manager.process.call_later(request.timeout_us, self._expire, (delayed, acks, waiting))
        for place, partition, required in waiting:
            partition.await_replicas(delayed, place, required, acks)

    def _expire(self, produce: tuple[DelayedProduce, int, list[Waiting]]) -> None:
        """The time of a request is over."""
        delayed, acks, waiting = produce
        trace = self._manager.process.node.trace
        if delayed.unfinished and trace.shows(ProduceExpired):
            late = tuple(
                (partition.tp, required)
                for place, partition, required in waiting
                if delayed.results[place][1] is Errors.REQUEST_TIMED_OUT
            )
            trace.show(ProduceExpired, self._manager.process.node.id, acks, late)
        delayed.expire()

    # -- batches with their bytes -------------------------------------------------------------------------------------

    @handles(RecordsProduceRequest)
    def produce_records(self, request: RecordsProduceRequest, channel: ResponseChannel) -> None:
        """As ``produce``, for real clients: with the checks that only bytes can fail, and more to answer."""
        manager, acks = self._manager, request.acks
        results: list[ProducedResult] = []
        infos: list[AppendInfo] = []
        waiting: list[Waiting] = []
        for place, batch in enumerate(request.records):
            partition = manager.partitions.get(batch.tp)
            error, base, info = self._append_records(partition, batch, acks)
            if not error and partition is not None:
                waiting.append((place, partition, base + batch.count))
            results.append((batch.tp, error, base))
            infos.append(info)
        channel = manager.logs.work.after_disks(channel)
        if acks == 0:
            if any(error for _tp, error, _base in results):
                self._drop(channel, results)
            else:
                channel.release()
        elif waiting and acks not in (0, 1):
            for place, _partition, _required in waiting:
                tp, _error, base = results[place]
                results[place] = (tp, Errors.REQUEST_TIMED_OUT, base)
            delayed = DelayedRecordsProduce(channel, results, len(waiting), infos=infos)
            delayed.timer = manager.process.call_later(request.timeout_us, self._expire, (delayed, acks, waiting))
            for place, led, required in waiting:
                led.await_replicas(delayed, place, required, acks)
        else:
            response = RecordsProduceResponse(tuple(results), tuple(infos))
            channel.reply(response, response.size)

    def _append_records(
        self, partition: Partition | None, batch: ProducedRecords, acks: int
    ) -> tuple[Errors, int, AppendInfo]:
        """The error, the base offset, and what else is answered."""
        manager, tp = self._manager, batch.tp
        refused = AppendInfo(batch.id)
        if not manager.policies.valid_acks(acks):
            return Errors.INVALID_REQUIRED_ACKS, -1, refused
        if not manager.serves(tp):
            return Errors.UNKNOWN_TOPIC_OR_PARTITION, -1, refused
        if tp.topic in INTERNAL_TOPICS:  # only coordinators write there (appendToLocalLog, 2.3)
            return Errors.INVALID_TOPIC_EXCEPTION, -1, refused
        if partition is None:
            return manager.error_without_replica(tp), -1, refused
        if not partition.is_leader:
            return Errors.NOT_LEADER_FOR_PARTITION, -1, refused
        if acks < 0 and len(partition.isr_state.isr) < manager.policies.min_insync_replicas(tp.topic):
            return Errors.NOT_ENOUGH_REPLICAS, -1, refused
        config = manager.policies.log_config(tp.topic)
        if batch.size > config.max_message_bytes:
            why = (
                f"The record batch size in the append to {tp} is {batch.size} bytes which exceeds the maximum "
                f"configured value of {config.max_message_bytes}."
            )
            return Errors.MESSAGE_TOO_LARGE, -1, refused._replace(message=why)
        if batch.invalid:
            return batch.invalid, -1, refused
        if batch.size > config.segment_bytes:
            return Errors.RECORD_LIST_TOO_LARGE, -1, refused
        if config.timestamp_type == LOG_APPEND_TIME:
            batch = evolve(batch, append_time=True)
        return self._store(partition, batch, refused)

    def _store(
        self, partition: Partition, batch: ProducedRecords, refused: AppendInfo
    ) -> tuple[Errors, int, AppendInfo]:
        log, known = partition.log, True
        if batch.sequenced and self._manager.policies.recognizes_repeats:
            before = log.producers.repeated(batch)
            if isinstance(before, StoredBatch):
                self._answered_again(batch, before.base_offset)
                info = AppendInfo(before.id, before.max_timestamp_ms, log.start_offset)
                return NO_ERROR, before.base_offset, info
            admits = self._manager.policies.admits_unknown_producers
            error = log.producers.check(batch, admits_unknown=admits)
            if error:
                return error, -1, refused
            known = log.producers.knows(batch.producer_id)
        try:
            base = partition.append_as_leader(batch)
        except (DiskError, StorageError):
            return Errors.KAFKA_STORAGE_ERROR, -1, refused
        except UnexpectedError:
            return Errors.UNKNOWN_SERVER_ERROR, -1, refused
        if not known:
            self._appended_unknown(batch, base)
        if batch.transactional:
            process = self._manager.process
            process.emit(
                TransactionalAppended, process.node.id, *batch.tp, batch.producer_id, batch.id, base
            )  # fmt: skip
        at_ms = self._manager.process.clock_us // 1000 if batch.append_time else NO_TIMESTAMP
        return NO_ERROR, base, AppendInfo(batch.id, at_ms, log.start_offset)
