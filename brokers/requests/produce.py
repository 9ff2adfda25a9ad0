"""Produce (API 0): a leader appends a batch to each of several partitions, and answers once enough replicas have them.

Behavior, for each batch in this order (KafkaApis.handleProduceRequest, ReplicaManager.appendRecords,
Partition.appendRecordsToLeader, Log.append; 2.3.1):

1. the broker's metadata has the partition: UNKNOWN_TOPIC_OR_PARTITION
2. acks are -1, 0 or 1: INVALID_REQUIRED_ACKS
3. no client writes to an internal topic: INVALID_TOPIC_EXCEPTION
4. there is a replica here, and it leads: NOT_LEADER_FOR_PARTITION
5. with acks=-1, the ISR is large enough: NOT_ENOUGH_REPLICAS
6. the batch is no larger than max.message.bytes: MESSAGE_TOO_LARGE
7. its bytes are those of a batch (``ProducedBatch.invalid``)
8. it is no larger than a segment: RECORD_LIST_TOO_LARGE
9. each record has a key, if the topic is compacted: INVALID_RECORD
10. the time of each record is one that the topic takes: INVALID_TIMESTAMP
11. it follows its producer's last batch, unless it repeats one (KIP-98, 0.11)

One request is one transition: all its appends happen before any follower reads them.

Version notes:

- 0.8: any number of acks may be asked for (``counts_acks``)
- up to 0.10: max.message.bytes limits each message, and not the batch (``limits_messages``)
- up to 0.10.0 the metadata is not asked (KAFKA-3396), up to 1.1 only for the topic (KAFKA-6796): ``serves``
- up to 2.3 a record without a key is CORRUPT_MESSAGE; 2.4 names the first one, later releases all (KIP-467):
  ``keyless_records``
- 2.5: an unknown producer may begin with any sequence number (KIP-360): ``admits_unknown_producers``
- 3.6: the coordinator of a transaction is asked before its first batch is appended (KIP-890): ``verified_produce``
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import evolve, frozen

from brokers.log.disk_work import ResponseChannel
from brokers.log.log import Log
from brokers.log.log_config import DEFAULTS, LOG_APPEND_TIME, LogConfig
from brokers.partition.partition import Partition
from brokers.purgatory import DelayedProduce
from brokers.replica_manager import ReplicaManager
from brokers.requests.router import handles
from brokers.topic_creation import INTERNAL_TOPICS
from emulator.disks import DiskError, UnexpectedError
from emulator.protocol.clients.produce import RecordsProduceRequest, RecordsProduceResponse
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import BatchRepeated, TransactionalAppended, UnknownProducerAppended
from emulator.protocol.produce import (
    AppendInfo,
    IdempotentBatch,
    ProducedBatch,
    ProducedResult,
    ProduceRequest,
    ProduceResponse,
)
from emulator.protocol.records import APPEND_TIME, NO_TIMESTAMP, ProducedRecords, StoredBatch
from emulator.protocol.shown import ProduceExpired, ProducerDropped, ProduceRefused, RecordsTimed
from emulator.protocol.shown_coordination import SequencedAccepted
from emulator.protocol.types import SequencedBatch
from fetchers.failures import StorageError

if TYPE_CHECKING:
    from brokers.requests.verified_produce import Checked
    from brokers.transactions.verification import Verify

Waiting = tuple[int, Partition, int]
"""A batch that waits for replicas: its place in the request, its partition, and the offset that they have to reach."""
Outcome = tuple[Errors, int, SequencedBatch | None]
"""The outcome of one batch: the error, the base offset (-1 with an error), and the batch of the log that it repeats."""

NAMES_NO_START = (
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.INVALID_REQUIRED_ACKS, Errors.INVALID_TOPIC_EXCEPTION,
    Errors.NOT_LEADER_FOR_PARTITION, Errors.RECORD_LIST_TOO_LARGE, Errors.CORRUPT_MESSAGE, Errors.KAFKA_STORAGE_ERROR,
)  # fmt: skip
"""The errors with which a real client is not told where the log starts (ReplicaManager.appendToLocalLog, 1.1 to 3.9);
MESSAGE_TOO_LARGE is another one."""

OTHER_TIME_US = 1_000
"""From this on a record's time is another one than that of its append: records name milliseconds."""


@frozen
class TopicRules:
    """The settings of one topic that its batches are checked by.

    Attributes:
        internal: only coordinators write to it.
        min_isr: min.insync.replicas.
    """

    internal: bool
    min_isr: int
    log: LogConfig


def refusal(partition: Partition, acks: int, least: int) -> Errors:
    """The error for a batch that is not appended, as its broker does not lead or has too few replicas in sync.
    ``least``: min.insync.replicas of its topic."""
    if not partition.is_leader:
        return Errors.NOT_LEADER_FOR_PARTITION
    if acks < 0 and len(partition.isr_state.isr) < partition.effective_min_isr(least):
        return Errors.NOT_ENOUGH_REPLICAS
    return NO_ERROR


class ProduceHandler:
    """Appends what clients produce, and what the broker's own coordinators write.

    Attributes:
        verify: verifies transactions, where the release does; None: this broker cannot.
    """

    def __init__(self, manager: ReplicaManager) -> None:
        self.verify: Verify | None = None
        self._manager = manager
        self._policies = manager.policies
        self._rules: dict[str, TopicRules] = {}
        """Rules by topic, as long as the broker's policies are these."""

    @handles(ProduceRequest, RecordsProduceRequest)
    def produce(self, request: ProduceRequest, channel: ResponseChannel) -> None:
        manager, verify = self._manager, self.verify
        if request.transactional_id is None or verify is None or not manager.policies.verifies_transactions:
            self.append(request, channel, internal=False)
            return
        from brokers.requests.verified_produce import verify_first

        verify_first(
            manager, verify, request, lambda checked: self.append(request, channel, internal=False, checked=checked)
        )

    def append(
        self, request: ProduceRequest, channel: ResponseChannel, *, internal: bool, checked: "Checked | None" = None
    ) -> None:
        """Append each batch, and let it wait where the acks ask for it.

        Args:
            internal: by the broker itself, also to internal topics, and to topics that the controller has not announced
                yet (ReplicaManager.appendRecords, 0.11 to 3.9, does not look at the metadata;
                KafkaApis.handleProduceRequest does).
            checked: what verification has found out about the batches of a transaction.
        """
        manager, acks = self._manager, request.acks
        partitions, metadata, serves = manager.partitions, manager.metadata, manager.policies.serves
        valid = manager.policies.valid_acks(acks)
        results: list[ProducedResult] = []
        infos: list[AppendInfo] | None = [] if isinstance(request, RecordsProduceRequest) else None
        if self._policies is not manager.policies:
            self._policies, self._rules = manager.policies, {}
        known, counts = self._rules, manager.metrics.topics.requests
        appended = False
        for batch in request.batches:
            tp, base, repeated = batch.tp, -1, None
            refusal = None if checked is None else checked.refused.get(tp)
            if not (internal or serves(metadata, tp)):
                # The controller has not sent it to this broker yet, or it is being deleted.
                error = Errors.UNKNOWN_TOPIC_OR_PARTITION
            elif refusal is not None:
                error = refusal.error
            elif not valid:
                error = Errors.INVALID_REQUIRED_ACKS
            else:
                topic = tp.topic
                rules = known[topic] if topic in known else self._look_up(topic)
                if rules.internal and not internal:
                    error = Errors.INVALID_TOPIC_EXCEPTION
                else:
                    error, base, repeated = self._append(partitions.get(tp), batch, acks, rules, checked)
                counts.produced(topic, error)
                if error is Errors.MESSAGE_TOO_LARGE:
                    counts.rejected(topic, batch.size)
            if error:
                shown = error if refusal is None else refusal.reason
                own = isinstance(batch, IdempotentBatch) and batch.sequenced and refusal is None
                of = (batch.producer_id, batch.producer_epoch) if own else (-1, -1)  # type: ignore[attr-defined]
                manager.process.mark(ProduceRefused, manager.process.node.id, *tp, acks, shown.name, batch.id, *of)
            results.append((tp, error, base))
            appended = appended or not error
            if infos is not None:
                infos.append(self._info(batch, error, repeated) if refusal is None else refusal.info(batch))
        channel = manager.logs.work.after_disks(channel)
        if appended and acks not in (0, 1):
            self._wait_for_replicas(
                DelayedProduce(channel, request, results, infos or (), self._response, manager.metrics.produces)
            )
        elif acks:
            response = self._response(request, results, infos or ())
            channel.reply(response, response.size)
        elif any(error for _tp, error, _base in results):
            self._drop(channel, results)
        else:
            manager.metrics.rates.answered(request, None, False)
            channel.release()

    def _response(
        self, request: ProduceRequest, results: Sequence[ProducedResult], infos: Sequence[AppendInfo]
    ) -> ProduceResponse:
        """The answer; a real client's says who leads the partitions that are not led here (KIP-951)."""
        response = request.response(results, infos)
        if isinstance(response, RecordsProduceResponse):
            wrong = [tp for tp, error, _base in results if error is Errors.NOT_LEADER_FOR_PARTITION]
            if wrong:
                from brokers.requests.known_leaders import known_leader

                response.leaders = {tp: known_leader(self._manager, tp) for tp in wrong}
        return response

    def _drop(self, channel: ResponseChannel, results: list[ProducedResult]) -> None:
        """Close the connection: the only way to report an error to a producer that expects no answer."""
        node = self._manager.process.node
        node.trace.record_collected()
        self._manager.process.show(ProducerDropped, node.id, tuple(error.name for _tp, error, _base in results))
        channel.close()

    # -- one batch ----------------------------------------------------------------------------------------------------

    def _look_up(self, topic: str) -> TopicRules:
        policies = self._policies
        found = TopicRules(topic in INTERNAL_TOPICS, policies.min_insync_replicas(topic), policies.log_config(topic))
        self._rules[topic] = found
        return found

    def _append(
        self, partition: Partition | None, batch: ProducedBatch, acks: int, rules: TopicRules,
        checked: "Checked | None",
    ) -> Outcome:  # fmt: skip
        """Check a batch, and append it where nothing speaks against it."""
        if partition is None:
            return self._manager.error_without_replica(batch.tp), -1, None
        refused = refusal(partition, acks, rules.min_isr)
        if refused:
            return refused, -1, None
        if batch.size > rules.log.max_message_bytes and not self._fits(batch, rules.log.max_message_bytes):
            return Errors.MESSAGE_TOO_LARGE, -1, None
        if isinstance(batch, ProducedRecords):
            if batch.invalid:
                return batch.invalid, -1, None
            if batch.size > rules.log.segment_bytes:
                return Errors.RECORD_LIST_TOO_LARGE, -1, None
            if rules.log.compacts and self._lacks_keys(batch):
                return self._policies.keyless_records.error, -1, None
            if self._untimely(batch, rules.log):
                return Errors.INVALID_TIMESTAMP, -1, None
            if rules.log.timestamp_type == LOG_APPEND_TIME:
                batch = evolve(batch, append_time=True)
            else:
                self._show_time(batch)
        try:
            if isinstance(batch, IdempotentBatch) and batch.sequenced:
                return self._append_sequenced(partition, batch, checked)
            return NO_ERROR, partition.append_as_leader(batch), None
        except (DiskError, StorageError):
            return Errors.KAFKA_STORAGE_ERROR, -1, None
        except UnexpectedError:  # ReplicaManager.appendToLocalLog, 2.3.1, catches everything
            return Errors.UNKNOWN_SERVER_ERROR, -1, None

    def _show_time(self, batch: ProducedRecords) -> None:
        process = self._manager.process
        newest_ms, age_us = batch.header.max_timestamp_ms, process.clock_us - batch.header.max_timestamp_ms * 1000
        if newest_ms >= 0 and abs(age_us) >= OTHER_TIME_US:
            process.show(RecordsTimed, process.node.id, *batch.tp, age_us)

    @staticmethod
    def _lacks_keys(batch: ProducedRecords) -> bool:
        from brokers.requests.keyless_records import keyless

        return bool(keyless(batch))

    def _untimely(self, batch: ProducedRecords, log: LogConfig) -> list[tuple[int, str]]:
        takes_any = log.timestamp_difference_us == DEFAULTS.timestamp_difference_us
        if takes_any and not batch.header.attributes & APPEND_TIME:
            return []
        from brokers.requests.untimely_records import untimely

        return untimely(batch, log, self._manager.process.clock_us // 1000)

    def _fits(self, batch: ProducedBatch, most: int) -> bool:
        """Whether ``batch``, which is larger than ``most`` bytes, may have that size: each of its messages may. Real
        clients send batches of a later format."""
        each = batch.size // max(1, batch.count)
        return self._policies.limits_messages and not isinstance(batch, ProducedRecords) and each <= most

    def _append_sequenced(self, partition: Partition, batch: IdempotentBatch, checked: "Checked | None") -> Outcome:
        """Append the batch of an idempotent producer: one that was sent again gets the first answer (KIP-98).

        Raises: DiskError."""
        process, tp, producers, known = self._manager.process, batch.tp, partition.log.producers, True
        policies = self._manager.policies
        if policies.recognizes_repeats:
            earlier = producers.repeated(batch)
            if earlier is not None:
                base = earlier.base_offset
                process.emit(
                    BatchRepeated, process.node.id, *tp, batch.producer_id, batch.base_sequence, batch.id, base
                )
                self._show(batch, repeated=True)
                return NO_ERROR, base, earlier
            if batch.transactional and policies.verifies_transactions:
                guard = None if checked is None else checked.guards.get(tp)
                if not partition.log.is_verified(batch.producer_id, guard):
                    return Errors.INVALID_TXN_STATE, -1, None
            error = producers.check(batch, admits_unknown=policies.admits_unknown_producers)
            if error is not Errors.INVALID_PRODUCER_EPOCH and _comes_early(partition.log, batch):
                error = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
            if error:
                return error, -1, None
            known = producers.knows(batch.producer_id)
        base = partition.append_as_leader(batch)
        if not known:
            process.emit(
                UnknownProducerAppended, process.node.id, *tp, batch.producer_id, batch.base_sequence, batch.id, base
            )
        self._show(batch, repeated=False)
        if batch.transactional:
            process.emit(TransactionalAppended, process.node.id, *tp, batch.producer_id, batch.id, base)
        return NO_ERROR, base, None

    def _show(self, batch: IdempotentBatch, *, repeated: bool) -> None:
        process = self._manager.process
        if process.node.trace.shows(SequencedAccepted):
            producer = batch.producer_id, batch.producer_epoch
            process.mark(SequencedAccepted, process.node.id, batch.tp, *producer, repeated)

    def _info(self, batch: ProducedBatch, error: Errors, repeated: SequencedBatch | None) -> AppendInfo:
        """The fields of a real client's answer beside the error and the offset."""
        if error is Errors.MESSAGE_TOO_LARGE:
            why = (
                f"The record batch size in the append to {batch.tp} is {batch.size} bytes which exceeds the maximum "
                f"configured value of {self._rules[batch.tp.topic].log.max_message_bytes}."
            )
            return AppendInfo(batch.id, message=why)
        if error is self._policies.keyless_records.error and isinstance(batch, ProducedRecords) and not batch.invalid:
            from brokers.requests.keyless_records import answer

            info = answer(batch, self._policies.keyless_records)
            return info._replace(log_start_offset=self._known_start(batch, error))
        if error is Errors.INVALID_TIMESTAMP and isinstance(batch, ProducedRecords):
            from brokers.requests import untimely_records

            found = self._untimely(batch, self._rules[batch.tp.topic].log)
            info = untimely_records.answer(batch, found, self._policies.keyless_records)
            return info._replace(log_start_offset=self._known_start(batch, error))
        if error:
            return AppendInfo(batch.id, log_start_offset=self._known_start(batch, error))
        log_start = self._manager.partitions[batch.tp].log.start_offset
        if repeated is not None:
            time_ms = repeated.max_timestamp_ms if isinstance(repeated, StoredBatch) else NO_TIMESTAMP
            return AppendInfo(repeated.id, time_ms, log_start)
        stamped = self._rules[batch.tp.topic].log.timestamp_type == LOG_APPEND_TIME
        return AppendInfo(batch.id, self._manager.process.clock_us // 1000 if stamped else NO_TIMESTAMP, log_start)

    def _known_start(self, batch: ProducedBatch, error: Errors) -> int:
        """The start of the log that the answer to a batch names which was refused."""
        partition = self._manager.partitions.get(batch.tp)
        unread = isinstance(batch, ProducedRecords) and batch.invalid
        return -1 if partition is None or unread or error in NAMES_NO_START else partition.log.start_offset

    # -- waiting for replicas -----------------------------------------------------------------------------------------

    def _wait_for_replicas(self, delayed: DelayedProduce) -> None:
        """Answer once every batch that was appended is on as many replicas as the request asks for."""
        request, results, partitions = delayed.request, delayed.results, self._manager.partitions
        timed_out = Errors.REQUEST_TIMED_OUT
        waiting: list[Waiting] = []
        for place, (batch, (tp, error, base)) in enumerate(zip(request.batches, results, strict=True)):
            if not error:
                results[place] = (tp, timed_out, base)
                waiting.append((place, partitions[tp], base + batch.count))
        delayed.begin(len(waiting))
        delayed.timer = self._manager.process.call_later(request.timeout_us, self._expire, (delayed, waiting))
        for place, partition, required in waiting:
            partition.await_replicas(delayed, place, required, request.acks)

    def _expire(self, produce: tuple[DelayedProduce, list[Waiting]]) -> None:
        """The time of a request is over."""
        delayed, waiting = produce
        process = self._manager.process
        if delayed.unfinished and process.node.trace.shows(ProduceExpired):
            late = tuple(
                (partition.tp, required)
                for place, partition, required in waiting
                if delayed.results[place][1] is Errors.REQUEST_TIMED_OUT
            )
            process.show(ProduceExpired, process.node.id, delayed.request.acks, late)
        delayed.expire()


def _comes_early(log: Log, batch: IdempotentBatch) -> bool:
    """Whether an earlier batch of the transaction waits to be verified (ProducerAppendInfo.checkSequence, 3.6.2)."""
    begun = log.verifications.get(batch.producer_id)
    return begun is not None and batch.base_sequence > begun.lowest_sequence
