"""J: what a broker answers about its logs is so."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from functools import partial
from operator import itemgetter
from typing import Any

from emulator.protocol.clients.fetch import (
    DEBUGGING_CONSUMER,
    FINAL_EPOCH,
    INITIAL_EPOCH,
    READ_COMMITTED,
    ConsumerFetchRequest,
    PartitionData,
)
from emulator.protocol.clients.list_offsets import EARLIEST, LATEST, OffsetQuery, OffsetsByTimeRequest
from emulator.protocol.clients.produce import RecordsProduceRequest
from emulator.protocol.delete_records import DeleteRecordsRequest
from emulator.protocol.describe_producers import NO_TRANSACTION, DescribeProducersRequest
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import (
    BatchesAppended,
    BecameLeader,
    LeapBegan,
)
from emulator.protocol.fetch import CONSUMER, NO_EPOCH, FetchedFields, FetchRequest
from emulator.protocol.offsets_for_leader_epoch import (
    OFFSET_NOT_AVAILABLE,
    UNDEFINED_EPOCH,
    UNDEFINED_OFFSET,
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    OffsetsForLeaderEpochRequest,
)
from emulator.protocol.produce import InitProducerIdRequest, ProduceRequest
from emulator.protocol.records import NO_TIMESTAMP
from emulator.protocol.shown import RecordsTimed
from emulator.protocol.shown_coordination import ProducerInitialized
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.append_shape import end_of
from scenarios.observe.checkers.role_refusals import RoleRefusals
from scenarios.observe.findings.answer_facts import AnsweredOther, ErrorUnlike, RowsUnlike
from scenarios.observe.history.replica_logs import (
    BASE_OFFSET,
    FORGOTTEN,
    ID,
    LEADER_EPOCH,
    NEXT_OFFSET,
    Entry,
    ReplicaLogHistory,
)

KNOWN_US = 10_000_000
"""A broker that has led for so long, and that the controller reaches, has the partition in its metadata."""
NO_START = TWICE = -1
CLEANUP, LOG_CLEANUP = "cleanup.policy", "log.cleanup.policy"
INTERNAL = "__"

NO_BLOCK = Errors.COORDINATOR_LOAD_IN_PROGRESS
"""The error for a producer without a transactional id for which there is no id yet."""

OF_ROLES = (
    NO_ERROR, Errors.NOT_LEADER_FOR_PARTITION, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH,
    Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.KAFKA_STORAGE_ERROR,
)  # fmt: skip
"""The errors of any question about a log."""
OF_FETCHES = (
    *OF_ROLES, Errors.OFFSET_OUT_OF_RANGE, Errors.UNKNOWN_TOPIC_ID, Errors.INCONSISTENT_TOPIC_ID,
)  # fmt: skip
OF_A_CHANGE = (Errors.NOT_LEADER_FOR_PARTITION, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH)
WRONG_LEADER = (Errors.NOT_LEADER_FOR_PARTITION, Errors.FENCED_LEADER_EPOCH)
OF_PRODUCERS = (*OF_ROLES, Errors.INVALID_TOPIC_EXCEPTION)
OF_DELETIONS = (*OF_PRODUCERS, Errors.POLICY_VIOLATION, Errors.OFFSET_OUT_OF_RANGE, Errors.REQUEST_TIMED_OUT)
OF_SESSIONS = (
    Errors.FETCH_SESSION_ID_NOT_FOUND, Errors.INVALID_FETCH_SESSION_EPOCH, Errors.FETCH_SESSION_TOPIC_ID_ERROR,
)  # fmt: skip
OF_TIMES = (*OF_ROLES, Errors.OFFSET_NOT_AVAILABLE, Errors.INVALID_REQUEST, Errors.UNSUPPORTED_VERSION)

_epoch = itemgetter(LEADER_EPOCH)
_next_offset = itemgetter(NEXT_OFFSET)


class AnswersTrue(RoleRefusals):
    """A broker answers about each partition that it is asked about, once. What it says of a log is what the log has at
    that moment, and an error has its reason.

    Verified: each answer to Produce, ListOffsets, OffsetsForLeaderEpoch, DeleteRecords, DescribeProducers, and to a
        fetch without a session: it names the partitions of its request, each once; one in a session names none twice.
        Of ListOffsets, OffsetsForLeaderEpoch and fetches of clients: NONE, and errors of roles and leader epochs,
        against the role that the broker has taken (Partition.checkCurrentLeaderEpoch, 2.1). Start, end and high
        watermark against the log; the last stable offset against the transactions that have no marker there below the
        high watermark. The end of an epoch, and the epoch that is named with it, against the batches. The offset of a
        time against the times at which batches were appended, where no clock was set. What a client's fetch brings: the
        batches of the log, from its position on, up to the high watermark or the last stable offset, and one at least
        where there is one to read; a position that is out of range is so. The leader that is named to a client with an
        error (KIP-951, 3.7).

    Not verified: three of four answers to Produce and emulated readers, and each second one to a fetch of another
        client (``broker_answers``); answers that a disk has held back, but for their partitions; the records of a
        compacted topic; the times of records that their producer has stated; whether an answer leaves a partition out
        that has something new in its session (``sessions_follow``); what followers fetch, but for the partitions, the
        log start, a high watermark that is too high, and where their logs diverge.
    """

    ids = ("J answers",)
    statement = (
        "answered(m) = f(log_b, role_b, m): what a broker answers about its logs is what they have, partition by "
        "partition"
    )
    fails_when = "a leader gives clients the end of its log for the latest offset"

    def begin(self) -> None:
        super().begin()
        for request, look in LOOKS.items():
            self.history.answers.of(partial(look, self), request)
        self._logs = self.history.commits.logs  # with their high watermarks
        self._open = self.history.open_transactions
        self._settings = self.history.settings
        self._checks_epochs = self.start.checks_epochs
        self._times: dict[int, int] | None = None
        """The time at which each batch was appended by a leader, by id, since the first question about a time; TWICE:
        by several, one after the other."""
        self._leapt = False
        self._stated: set[TopicPartition] = set()
        """The partitions with records whose producers have stated other times."""
        self._initialized: dict[tuple[int, str], tuple[int, int, str]] = {}
        """The producer id, epoch and error that a coordinator has decided last, by coordinator and transactional id."""

    # -- which partitions ---------------------------------------------------------------------------------------------

    def rows(self, event: RequestAnswered) -> None:
        """The answer names the partitions of its request, in their order."""
        request: Any = event.request
        response: Any = event.response
        asked, answered = tuple(request.topic_partitions()), tuple(response.topic_partitions())
        if asked != answered and tuple(dict.fromkeys(asked)) != answered:
            self._unlike(event, asked, answered)

    def _unlike(
        self, event: RequestAnswered, asked: tuple[TopicPartition, ...], said: tuple[TopicPartition, ...]
    ) -> None:
        self.violated(event, RowsUnlike(event.node, _api(event), asked, said), brokers=(event.node,))

    # -- errors -------------------------------------------------------------------------------------------------------

    def _fits(
        self,
        event: RequestAnswered,
        tp: TopicPartition,
        error: Errors,
        epoch: int | None,
        known: tuple[Errors, ...],
        needs_leader: bool = True,
    ) -> bool:
        """Look at the error of a row, asked under a leader epoch; None: it is not known under which. Returns whether it
        is NONE, and the broker may say so."""
        node = event.node
        role, leads = self.cluster.role(node, tp), self.cluster.leads(node, tp)
        taken = leads or role
        there = UNDEFINED_EPOCH if taken is None else taken.leader_epoch
        facts = ErrorUnlike(
            node, _api(event), error.name, leads is not None, there, NO_EPOCH if epoch is None else epoch
        )
        if not self._checks_epochs:
            epoch = NO_EPOCH
        if error is NO_ERROR:
            wrong = (leads is None if needs_leader else role is None) or epoch not in (None, NO_EPOCH, there)
        elif error is Errors.FENCED_LEADER_EPOCH:
            wrong = role is not None and epoch is not None and not NO_EPOCH < epoch < there
        elif error is Errors.UNKNOWN_LEADER_EPOCH:
            wrong = role is not None and epoch is not None and epoch <= there
        elif error is Errors.NOT_LEADER_FOR_PARTITION:
            wrong = leads is not None and epoch in (None, NO_EPOCH, there)
        elif error is Errors.UNKNOWN_TOPIC_OR_PARTITION:
            wrong = leads is not None and self._is_told(event, tp, leads)
        elif error is Errors.REPLICA_NOT_AVAILABLE:
            wrong = role is not None
        else:
            wrong = error not in known
        if wrong and error in OF_A_CHANGE:
            self.refused(event, tp, facts)
        elif wrong:
            self.violated(event, facts, tp, (node,))
        return error is NO_ERROR and not wrong

    def on_leader(self, event: BecameLeader) -> None:
        """A change of its epoch."""
        self.changed(event)

    def _is_told(self, event: RequestAnswered, tp: TopicPartition, leads: BecameLeader) -> bool:
        """Whether a leader has had the time to learn of its partition."""
        reached_us = self.now.reached_since_us(event.node)
        if reached_us is None or self.cluster.is_deleting(tp.topic):
            return False
        return event.t_us - max(leads.t_us, reached_us) > KNOWN_US

    # -- offsets ------------------------------------------------------------------------------------------------------

    def _log(self, event: RequestAnswered, tp: TopicPartition) -> ReplicaLogHistory | None:
        """The log that an answer is about; None where it is not known, or may have changed since."""
        log = self._logs.get(event.node, tp)
        return log if log is not None and event.is_current and log.known and log.high_watermark is not None else None

    def _is(self, event: RequestAnswered, tp: TopicPartition, what: str, said: int, *fit: int) -> None:
        """Report a value that is none of those that fit."""
        if said not in fit:
            fits = " or ".join(map(str, dict.fromkeys(fit))) or "another"
            self.violated(event, AnsweredOther(event.node, _api(event), what, str(said), fits), tp, (event.node,))

    def _ends(self, tp: TopicPartition, log: ReplicaLogHistory, isolation: int) -> tuple[int, ...]:
        """Up to where a client may read, of its isolation level."""
        return self._open.stable_ends(tp, log) if isolation == READ_COMMITTED else (log.high_watermark or 0,)

    def list_offsets(self, event: RequestAnswered) -> None:
        request: Any = event.request
        response: Any = event.response
        self.rows(event)
        tp = response.tp
        if not self._fits(event, tp, response.error, request.current_leader_epoch, OF_ROLES):
            if response.error:
                self._is(event, tp, "start", response.start, NO_START)
            return
        log = self._log(event, tp)
        if log is None:
            return
        self._is(event, tp, "start", response.start, log.start_offset)
        end = log.high_watermark if request.replica_id == CONSUMER else log.end_offset
        if (
            response.end != OFFSET_NOT_AVAILABLE
            or request.replica_id != CONSUMER
            or self._knows_committed(event.node, tp, log)
        ):
            self._is(event, tp, "end", response.end, end or 0)

    def _knows_committed(self, node: int, tp: TopicPartition, log: ReplicaLogHistory) -> bool:
        """Whether a leader's high watermark has reached the start of its epoch (KIP-207)."""
        leads, high_watermark = self.cluster.leads(node, tp), log.high_watermark
        return leads is not None and high_watermark is not None and high_watermark >= leads.log_end_offset

    def by_time(self, event: RequestAnswered) -> None:
        request: Any = event.request
        response: Any = event.response
        asked = tuple(query.tp for query in request.queries)
        self.rows(event)
        if len(asked) != len(response.found) or len(dict.fromkeys(asked)) != len(asked):
            return
        for query, found in zip(request.queries, response.found, strict=True):
            needed = request.replica_id != DEBUGGING_CONSUMER
            if self._fits(event, found.tp, found.error, query.current_leader_epoch, OF_TIMES, needed):
                log = self._log(event, found.tp)
                if log is not None:
                    self._look_at_place(event, query, found, log, request)
            elif found.error is Errors.OFFSET_NOT_AVAILABLE:
                log = self._log(event, found.tp)
                if log is not None and self._knows_committed(event.node, found.tp, log):
                    self._is(event, found.tp, "offset", found.offset)

    def _look_at_place(
        self, event: RequestAnswered, query: OffsetQuery, found: Any, log: ReplicaLogHistory, request: Any
    ) -> None:
        tp, consumer = query.tp, request.replica_id == CONSUMER
        ends = self._ends(tp, log, request.isolation) if consumer else (log.end_offset,)
        role = self.cluster.role(event.node, tp)
        if query.timestamp_ms == EARLIEST:
            self._is(event, tp, "offset", found.offset, log.start_offset)
            self._is(event, tp, "time", found.timestamp_ms, NO_TIMESTAMP)
        elif query.timestamp_ms == LATEST:
            self._is(event, tp, "offset", found.offset, *ends)
            self._is(event, tp, "time", found.timestamp_ms, NO_TIMESTAMP)
            self._is(event, tp, "leader epoch", found.leader_epoch, -1 if role is None else role.leader_epoch)
        elif query.timestamp_ms >= 0 and not self._is_compacted(event, tp):
            self._look_at_time(event, query.timestamp_ms, found, log, max(ends))

    def _look_at_time(
        self, event: RequestAnswered, asked_ms: int, found: Any, log: ReplicaLogHistory, end: int
    ) -> None:
        """A record from ``asked_ms`` on, the first one below ``end``; or none."""
        tp, times = found.tp, self._times
        if times is None:
            times = self._times = {}
        if found.offset == UNDEFINED_OFFSET:
            entry, place = None, log.covered(end) + 1
        elif not log.start_offset <= found.offset < end or found.timestamp_ms < asked_ms:
            self._is(event, tp, "time", found.timestamp_ms)
            return
        else:
            place = bisect_right(log.line, found.offset, hi=log.size, key=_next_offset)
            entry = log.line[place] if 0 < place < log.size else None
            if entry is None or entry is FORGOTTEN:
                return
            self._is(event, tp, "leader epoch", found.leader_epoch, entry[LEADER_EPOCH])
        if tp in self._stated or self.now.clocks or self._leapt:
            return
        if entry is not None and (at_us := times.get(entry[ID], TWICE)) != TWICE:
            at_ms = at_us // 1000
            self._is(event, tp, "time", found.timestamp_ms, at_ms, at_ms - 1)
        before = log.line[place - 1]
        before_us = times.get(before[ID], TWICE)
        if before[NEXT_OFFSET] > log.start_offset and before_us // 1000 > asked_ms:
            self._is(event, tp, "offset", found.offset, before[BASE_OFFSET])

    def on_batches(self, event: BatchesAppended) -> None:
        times = self._times
        if times is not None and event.leader:
            for id in event.ids:
                times[id] = TWICE if id in times else event.t_us

    def on_leap(self, _: LeapBegan) -> None:
        """One entry of a log stands for many batches from now on."""
        self._leapt = True

    def on_timed(self, event: RecordsTimed) -> None:
        self._stated.add(TopicPartition.of(event.topic, event.partition))

    def _is_compacted(self, event: RequestAnswered, tp: TopicPartition) -> bool:
        if tp.topic.startswith(INTERNAL):
            return True
        return any(
            "compact" in one
            for one in self._settings.values(tp.topic, CLEANUP, "delete", event.t_us, of_brokers=LOG_CLEANUP)
        )

    def epoch_ends(self, event: RequestAnswered) -> None:
        request: Any = event.request
        response: Any = event.response
        self.rows(event)
        if len(request.partitions) != len(response.partitions):
            return
        for query, found in zip(request.partitions, response.partitions, strict=True):
            log = self._log(event, found.tp)
            if self._fits(event, found.tp, found.error, query.current_leader_epoch, OF_ROLES):
                if log is not None:
                    self._look_at_epoch(event, query, found, log)
            elif found.error:
                self._is(event, found.tp, "end", found.end_offset, UNDEFINED_OFFSET)

    def _look_at_epoch(
        self, event: RequestAnswered, query: EpochQuery, found: EpochEndOffset, log: ReplicaLogHistory
    ) -> None:
        tp, epoch = query.tp, query.leader_epoch
        place = bisect_right(log.line, epoch, lo=log.covered(log.start_offset) + 1, hi=log.size, key=_epoch)
        last: Entry = log.line[place - 1]
        has_any = last[LEADER_EPOCH] >= 0 and last[NEXT_OFFSET] > log.start_offset
        if found.end_offset == UNDEFINED_OFFSET:
            if has_any and 0 < epoch <= log.last[LEADER_EPOCH]:
                self._is(event, tp, "end", found.end_offset, last[NEXT_OFFSET])
            return
        end = end_of(log, epoch)
        if end is not None:
            self._is(event, tp, "end", found.end_offset, max(end, log.start_offset))
        if found.leader_epoch != UNDEFINED_EPOCH and has_any:
            role = self.cluster.role(event.node, tp)
            fits = (epoch,) if role is not None and role.leader_epoch == epoch else ()
            self._is(event, tp, "leader epoch", found.leader_epoch, last[LEADER_EPOCH], *fits)

    # -- deletions, and what a log knows of producers ------------------------------------------------------------------

    def deleted(self, event: RequestAnswered) -> None:
        """Look at an answer to DeleteRecords. If it has waited, what was so when it began to wait may be over."""
        response: Any = event.response
        self.rows(event)
        if event.t_us == event.since_us:
            for tp, _low_watermark, error in response.partitions:
                self._fits(event, tp, error, NO_EPOCH, OF_DELETIONS)

    def described(self, event: RequestAnswered) -> None:
        """The producers of a log, and which of them have a transaction that is open there."""
        response: Any = event.response
        self.rows(event)
        for tp, error, producers in response.partitions:
            log = self._log(event, tp)
            if error is NO_ERROR and self.cluster.role(event.node, tp) is None:
                continue  # a log that a request has left without a role is described all the same
            if not self._fits(event, tp, error, NO_EPOCH, OF_PRODUCERS, False) or log is None:
                continue
            firsts = self._open.firsts(tp, log, log.end_offset)
            told = {one.producer_id: one.transaction_start for one in producers}
            if tp.topic.startswith(INTERNAL):
                continue
            for producer_id, begun in told.items():
                if begun >= log.start_offset:
                    self._is(event, tp, "transaction start", begun, *firsts.values())
                elif begun == NO_TRANSACTION and producer_id in firsts:
                    self._is(event, tp, "transaction start", begun, firsts[producer_id])
            for producer_id in firsts:
                if producer_id not in told:
                    self._is(event, tp, "producer", -1, producer_id)

    def on_initialized(self, event: ProducerInitialized) -> None:
        self._initialized[event.node, event.transactional_id] = event.given_id, event.given_epoch, event.error

    def initialized(self, event: RequestAnswered) -> None:
        """A producer gets what its coordinator has decided, or a new id."""
        request: Any = event.request
        response: Any = event.response
        said = response.producer_id, response.producer_epoch, response.error.name
        decided = self._initialized.get((event.node, request.transactional_id or ""))
        if response.error is Errors.INVALID_REQUEST:
            return
        if request.transactional_id is None:
            fits = response.producer_id, *((0, NO_ERROR.name) if response.producer_id >= 0 else (-1, NO_BLOCK.name))
        elif decided is None:
            return
        else:
            fits = decided
        if said != fits:
            facts = AnsweredOther(event.node, _api(event), "producer id and epoch", str(said), str(fits))
            self.violated(event, facts, brokers=(event.node,))

    # -- leaders that are named with an error (KIP-951) ----------------------------------------------------------------

    def produced(self, event: RequestAnswered) -> None:
        self.rows(event)
        response: Any = event.response
        self._look_at_leaders(event, [row[0] for row in response.partitions if row[1] in WRONG_LEADER[:1]])

    def _look_at_leaders(self, event: RequestAnswered, wrong: list[TopicPartition]) -> None:
        """A client that has asked the wrong broker gets the name of the leader, as far as that broker has a role. Only
        answers that have not waited are looked at: the others may come before a change of the role is recorded."""
        response: Any = event.response
        for tp in wrong:
            role = self.cluster.role(event.node, tp)
            named = response.leaders.get(tp)
            if role is not None and event.t_us == event.since_us:
                leader = role.node if isinstance(role, BecameLeader) else role.leader
                self._is(event, tp, "leader", NO_LEADER if named is None else named.leader, leader)
                if named is not None:
                    self._is(event, tp, "leader epoch", named.leader_epoch, role.leader_epoch)

    # -- fetches ------------------------------------------------------------------------------------------------------

    def fetched(self, event: RequestAnswered) -> None:
        """The answer to a follower, or to an emulated consumer: its rows are many."""
        response: Any = event.response
        seen = set()
        for tp, error, high_watermark, log_start, _batches, diverging in response.answers:
            seen.add(tp)
            if error or not event.is_current:
                continue
            log = self._logs.get(event.node, tp)
            if log is None or log.high_watermark is None:
                continue
            if log_start != log.start_offset:
                self._is(event, tp, "log start", log_start, log.start_offset)
            if high_watermark > log.high_watermark:
                self._is(event, tp, "high watermark", high_watermark, log.high_watermark)
            if diverging is not None and log.known:
                epoch, end = diverging
                self._look_at_epoch(event, EpochQuery(tp, NO_EPOCH, epoch), EpochEndOffset(tp, error, epoch, end), log)
        if len(seen) != len(response.answers):
            self._unlike(event, tuple(seen), tuple(row[0] for row in response.answers))

    def fetched_by_client(self, event: RequestAnswered) -> None:
        request: Any = event.request
        response: Any = event.response
        full = request.session_epoch in (INITIAL_EPOCH, FINAL_EPOCH)
        if response.error:
            if full or response.error not in OF_SESSIONS or response.answers:
                facts = AnsweredOther(event.node, _api(event), "error", response.error.name, NO_ERROR.name)
                self.violated(event, facts, brokers=(event.node,))
            return
        answered = tuple(row[0] for row in response.answers)
        named = tuple(each.tp for each in request.wanted)
        asked = named if full and not request.names_ids else None
        twice = len(dict.fromkeys(named)) < len(named)  # then each of them may be answered
        unlike = asked is not None and sorted(asked) != sorted(answered)
        if not twice and (unlike or len(dict.fromkeys(answered)) != len(answered)):
            self._unlike(event, asked or tuple(dict.fromkeys(answered)), answered)
            return
        wanted = {each.tp: each for each in request.wanted} if not request.names_ids else {}
        needs_leader = not self._any_replica(request)
        sent = False
        for row in response.answers:
            asked_for = wanted.get(row[0])
            epoch = asked_for.leader_epoch if full and asked_for is not None else None
            if self._fits(event, row[0], row[1], epoch, OF_FETCHES, needs_leader):
                log = self._log(event, row[0])
                if log is not None and row[5] is None:
                    self._look_at_fetched(event, row, log, None if asked_for is None else asked_for.fetch_offset, sent)
            elif row[1] is Errors.OFFSET_OUT_OF_RANGE and asked_for is not None:
                self._look_at_range(event, asked_for)
            sent = sent or bool(row[4])
        self._look_at_leaders(event, [row[0] for row in response.answers if row[1] in WRONG_LEADER])

    def _look_at_range(self, event: RequestAnswered, asked: PartitionData) -> None:
        """A client gets the answer that its position is not in the log (Log.read, 0.11)."""
        log, tp, offset = self._log(event, asked.tp), asked.tp, asked.fetch_offset
        if log is None or asked.last_fetched_epoch != UNDEFINED_EPOCH:
            return
        if log.start_offset <= offset <= log.end_offset:
            wrong = Errors.OFFSET_OUT_OF_RANGE.name, f"none at {offset}"
            self.violated(event, AnsweredOther(event.node, _api(event), "error", *wrong), tp, (event.node,))

    def _any_replica(self, request: ConsumerFetchRequest) -> bool:
        """Whether a follower may answer, too (KIP-392)."""
        if self.start.reads_from_followers:
            return request.knows_followers
        return request.replica_id == DEBUGGING_CONSUMER

    def _look_at_fetched(
        self, event: RequestAnswered, row: FetchedFields, log: ReplicaLogHistory, offset: int | None, sent: bool
    ) -> None:
        """Look at what a client gets of a partition. ``sent``: the answer has batches of another one."""
        request: Any = event.request
        response: Any = event.response
        tp, _error, high_watermark, log_start, _batches, _diverging = row
        assert log.high_watermark is not None
        self._is(event, tp, "log start", log_start, log.start_offset)
        self._is(event, tp, "high watermark", high_watermark, max(log.high_watermark, 0))
        ends = self._ends(tp, log, request.isolation)
        if request.isolation == READ_COMMITTED:
            told = response.stability.get(tp)
            stable = log.high_watermark if told is None else told.last_stable_offset
            self._is(event, tp, "last stable offset", stable, *ends)
        if not self._is_compacted(event, tp):
            self._look_at_batches(event, row, log, offset, ends, sent)

    def _look_at_batches(
        self,
        event: RequestAnswered,
        row: FetchedFields,
        log: ReplicaLogHistory,
        offset: int | None,
        ends: tuple[int, ...],
        sent: bool,
    ) -> None:
        """``ends``: up to where the client may read; of two it is not known which."""
        tp, batches, next_offset = row[0], row[4], offset
        for batch in batches:
            entry = log.find(batch.base_offset, batch.id)
            if batch.in_extent or (entry is None and self._is_unknown(log, batch.base_offset)):
                return
            if entry is None:
                self._is(event, tp, "batch", batch.id)
            elif (batch.next_offset, batch.leader_epoch) != entry[NEXT_OFFSET : LEADER_EPOCH + 1]:
                self._is(event, tp, "end of a batch", batch.next_offset, entry[NEXT_OFFSET])
                self._is(event, tp, "leader epoch of a batch", batch.leader_epoch, entry[LEADER_EPOCH])
            elif next_offset is not None and not batch.base_offset <= next_offset < batch.next_offset:
                self._is(event, tp, "base offset", batch.base_offset, next_offset)
            next_offset = batch.next_offset
        if batches and next_offset is not None and next_offset > max(ends):
            self._is(event, tp, "end of records", next_offset, max(ends))
        elif not (batches or sent or offset is None) and log.line[log.covered(min(ends))][NEXT_OFFSET] > offset:
            self._is(event, tp, "count of batches", 0, 1)

    @staticmethod
    def _is_unknown(log: ReplicaLogHistory, base_offset: int) -> bool:
        """Whether the batches there are not known: those that the topic started with, and those that are forgotten."""
        return log.line[log.covered(base_offset)] is FORGOTTEN or base_offset < log.line[0][NEXT_OFFSET]


def _api(event: RequestAnswered) -> str:
    request: Any = event.request
    return str(request.api.name)


_A = AnswersTrue
LOOKS: dict[type, Callable[[AnswersTrue, RequestAnswered], None]] = {
    ProduceRequest: _A.rows,
    RecordsProduceRequest: _A.produced,
    DeleteRecordsRequest: _A.deleted,
    DescribeProducersRequest: _A.described,
    ListOffsetsRequest: _A.list_offsets,
    OffsetsByTimeRequest: _A.by_time,
    OffsetsForLeaderEpochRequest: _A.epoch_ends,
    InitProducerIdRequest: _A.initialized,
    FetchRequest: _A.fetched,
    ConsumerFetchRequest: _A.fetched_by_client,
}
