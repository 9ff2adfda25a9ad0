"""A producer that behaves as Kafka's (Sender, 2.3.1).

Batches gather for ``linger``. One request to a leader carries one batch of each of its partitions. Metadata is
requested again when a leader may have changed. A batch that failed with a retriable error is sent again until the
retries are used up or the delivery timeout is over.
"""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from itertools import groupby, takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field

from emulator.kernel import Timer
from emulator.network import Network
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import BatchesProduced, BatchesUnfinished, ProducerIdentified
from emulator.protocol.produce import (
    InitProducerIdRequest,
    InitProducerIdResponse,
    ProducedBatch,
    ProduceRequest,
    ProduceResponse,
)
from emulator.protocol.shown import ProduceTimedOut
from emulator.protocol.types import NO_LEADER, TopicPartition
from scenarios.cluster.clients.client_metadata import ClientMetadata
from scenarios.cluster.clients.producing.accumulator import Accumulator, Queue
from scenarios.cluster.clients.producing.connections import Connections, Group
from scenarios.cluster.clients.producing.idempotence import NO_PRODUCER_ID, Idempotence
from scenarios.cluster.clients.producing.partitioner import Keyed, Partitioner, RoundRobin, Skewed, Sticky
from scenarios.cluster.clients.question import Question
from scenarios.cluster.clients.workload import IDS_PER_PRODUCER, Workload

if TYPE_CHECKING:
    from scenarios.cluster.clients.producing.backlog import Backlog

RETRIABLE = frozenset(
    {
        Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE, Errors.NOT_LEADER_FOR_PARTITION,
        Errors.REQUEST_TIMED_OUT, Errors.NETWORK_EXCEPTION, Errors.CORRUPT_MESSAGE, Errors.NOT_ENOUGH_REPLICAS,
        Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, Errors.KAFKA_STORAGE_ERROR,
    }
)  # fmt: skip
"""The subclasses of RetriableException, 2.3."""
STALE_METADATA = frozenset(
    {
        Errors.UNKNOWN_TOPIC_OR_PARTITION, Errors.LEADER_NOT_AVAILABLE, Errors.NOT_LEADER_FOR_PARTITION,
        Errors.NETWORK_EXCEPTION, Errors.KAFKA_STORAGE_ERROR,
    }
)  # fmt: skip
"""The subclasses of InvalidMetadataException, 2.3: the leader may have changed."""
NO_RATES: Mapping[TopicPartition, float] = {}


class BatchOutcome(NamedTuple):
    """The decision of a transition about a batch: it is done.

    Attributes:
        outcome, error, leader: fields of ``BatchesProduced``.
        base: the offset of its first message; -1 where that is not known.
        attempts: how many times it was sent.
    """

    outcome: str
    error: Errors
    leader: int
    batch: ProducedBatch
    base: int
    attempts: int


@define(eq=False)
class Producer:
    """One producer process, from its start on.

    Attributes:
        first_id: the id of its first batch. The ids of a producer follow each other, and no two producers share one.
    """

    _network: Network
    _process: Process
    _workload: Workload
    _bootstrap: tuple[int, ...]
    _first_id: int
    _next_id: int = field(init=False)
    _open_to: range | list[int] = field(init=False)
    _accumulator: Accumulator = field(init=False)
    _idempotence: Idempotence | None = field(init=False)
    _partitioner: Partitioner = field(init=False)
    _connections: Connections = field(init=False)
    _metadata: ClientMetadata = field(init=False)
    _producer_id: Question = field(init=False)
    _tick_us: int = field(init=False)
    _batch_messages: int = field(init=False)
    _owed: int = field(init=False, default=0)
    _timer: Timer = field(init=False)
    _due_us: int = field(init=False)
    _held: bool = field(init=False, default=False)
    _backlog: "Backlog | None" = field(init=False, default=None)
    _kept: dict[int, int] = field(init=False, factory=dict)
    """The messages for each place that ``missed`` has counted and not given."""
    _waking: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        network, process, load = self._network, self._process, self._workload
        backoff_us, timeout_us = load.retry_backoff_us, load.request_timeout_us
        self._next_id = self._first_id
        self._tick_us, self._batch_messages = load.tick_us, load.batch_messages
        self._accumulator = Accumulator([Queue(tp) for tp in load.partitions])
        self._open_to = range(len(load.partitions))
        self._idempotence = Idempotence() if load.idempotent else None
        self._partitioner = _partitioner(load, process)
        self._connections = Connections(network, process, timeout_us, self._answered, self._disconnected)
        self._metadata = ClientMetadata(
            network, process, self._bootstrap, load.partitions, backoff_us, timeout_us, self._learnt, load.knows_epochs
        )
        self._producer_id = Question(
            network, process, self._bootstrap, backoff_us, timeout_us, InitProducerIdRequest(), self._identified
        )
        self._due_us = max(process.world.now, load.start_us)
        self._timer = process.call_later(self._due_us - process.world.now, self._tick)

    @classmethod
    async def main(
        cls, network: Network, workload: Workload, bootstrap: tuple[int, ...], first_id: int,
        started: Callable[["Producer"], object], process: Process,
    ) -> None:  # fmt: skip
        """The main function of the producer's process: it begins at the workload's start. ``started`` gets it."""
        started(cls(network, process, workload, bootstrap, first_id))

    @property
    def next_id(self) -> int:
        return self._next_id

    # -- for who watches it -----------------------------------------------------------------------------------------

    def awaits_answer(self, before_us: int) -> bool:
        """Whether a request that was sent before that time has no response yet."""
        since_us = self._connections.unanswered_since_us
        return self._process.alive and since_us is not None and since_us < before_us

    def unfinished(self, before_us: int) -> int:
        """How many batches that were closed before that time are neither acknowledged nor given up."""
        if not self._process.alive:
            return 0
        return sum(1 for _ in takewhile(lambda closed_us: closed_us < before_us, self._accumulator.unfinished.values()))

    def record_unfinished(self) -> None:
        """The run ends: record the batches that are neither acknowledged nor given up."""
        process, unfinished = self._process, self._accumulator.unfinished
        if unfinished and process.alive:
            process.emit_columns(
                BatchesUnfinished, len(unfinished), process.node.id, self._workload.partitions[0].topic,
                self._workload.acks, tuple([batch.tp.partition for batch in unfinished]),
                tuple([batch.id for batch in unfinished]), tuple(map(process.world.now.__sub__, unfinished.values())),
                tuple(self._accumulator.attempts_so_far()),
            )  # fmt: skip

    # -- batches ----------------------------------------------------------------------------------------------------

    def _tick(self, _: Any) -> None:
        """Close the batches that have gathered for a linger, and send those that can be sent. After the load's stop
        this goes on until every batch is acknowledged, has failed or has expired, as KafkaProducer.close does (2.3)."""
        load, process = self._workload, self._process
        now, stop_us = process.world.now, load.stop_us
        # From a stop on the ticks are in the foreground: a run does not end before the last batch has a outcome.
        routine = stop_us is None or now + self._tick_us < stop_us
        goes_on = stop_us is None or now < stop_us
        if goes_on or self._accumulator.unfinished:
            self._due_us = now + self._tick_us
            self._timer = process.call_later(self._tick_us, self._tick, background=routine)
        if goes_on:
            self._gather(now)
        self._expire(now)
        self._drain()

    def _gather(self, now_us: int) -> None:
        """Close the batches of this tick: the whole messages that the rate gives, distributed over the partitions."""
        load, accumulator = self._workload, self._accumulator
        self._owed += load.rate * self._tick_us
        messages, self._owed = divmod(self._owed, 1_000_000)
        most, size = self._batch_messages, load.message_size
        queues, ready, unfinished = accumulator.queues, accumulator.ready, accumulator.unfinished
        id = self._next_id
        if size > load.max_request_size:
            self._refuse(messages)
            return
        for place, count in self._partitioner.deal(messages, self._open_to):
            queue = queues[place]
            ready[queue] = None
            while count > 0:
                full = count if count < most else most
                batch = ProducedBatch(queue.tp, full, full * size, id)
                queue.waiting.append(batch)
                unfinished[batch] = now_us
                id += 1
                count -= most
        self._next_id = id

    def _refuse(self, messages: int) -> None:
        """Fail messages that are larger than max.request.size, one by one: they are never sent
        (KafkaProducer.ensureValidRecordSize)."""
        queues, size = self._accumulator.queues, self._workload.message_size
        refused: list[BatchOutcome] = []
        for place, count in self._partitioner.deal(messages, self._open_to):
            for _ in range(count):
                batch = ProducedBatch(queues[place].tp, 1, size, self._next_id)
                self._accumulator.unfinished[batch] = self._process.world.now
                refused.append(BatchOutcome("failed", Errors.MESSAGE_TOO_LARGE, NO_LEADER, batch, -1, 0))
                self._next_id += 1
        self._report(refused)

    def _expire(self, now_us: int) -> None:
        late = self._accumulator.expire(now_us - self._workload.delivery_timeout_us)
        if self._idempotence is not None:
            for expired in late:
                self._idempotence.expired(expired.batch, expired.attempts)
        self._report(
            [BatchOutcome("expired", error, NO_LEADER, batch, -1, attempts) for batch, attempts, error in late]
        )

    # -- time passes in which data is not simulated -------------------------------------------------------------------

    @property
    def load(self) -> Workload:
        return self._workload

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._process.alive

    @property
    def due_us(self) -> int:
        """When its next tick is due that no leap has brought."""
        return self._due_us

    @property
    def rests(self) -> bool:
        """Whether it has no batch that waits, is in flight, or is about to be sent again; where it is held with its
        backlog, none of the last two."""
        if self._backlog is not None:
            return self._connections.unanswered_since_us is None and not self._accumulator.retries
        return not self._accumulator.unfinished

    def hold(self, *, with_backlog: bool = False) -> None:
        """Close no batch until ``release``: the ticks that come meanwhile are missed. ``with_backlog``: send none,
        either."""
        if self._process.alive and self._timer.pending and not self._held:
            self._held = True
            self._timer.cancel()
            if with_backlog:
                from scenarios.cluster.clients.producing.backlog import Backlog

                self._backlog = Backlog.of(self._accumulator)

    def release(self) -> None:
        """Go on with the tick that is due next. The ticks that were missed, and not taken by ``missed``, come with it:
        each closes batches of its own."""
        if self._held and self._process.alive:
            self._held, self._backlog = False, None
            self._close_kept()
            missed = self._skip()
            self._timer = self._process.call_later(self._due_us - self._process.world.now, self._catch_up, missed)

    def _catch_up(self, missed: int) -> None:
        """The first tick after a hold, and before it those that were missed."""
        for _ in range(missed):
            self._gather(self._process.world.now)
        self._tick(None)

    def _skip(self) -> int:
        """Skip the ticks that were missed so far. Returns their number."""
        now = self._process.world.now
        ticks = 0 if now < self._due_us else (now - self._due_us) // self._tick_us + 1
        self._due_us += ticks * self._tick_us
        return ticks

    def _close_kept(self) -> None:
        """Close batches of the messages that ``missed`` has not given; the next tick sends them."""
        size, accumulator = self._workload.message_size, self._accumulator
        for place, left in self._kept.items():
            queue = accumulator.queues[place]
            accumulator.ready[queue] = None
            for begin in range(0, left, self._batch_messages):
                count = min(self._batch_messages, left - begin)
                batch = ProducedBatch(queue.tp, count, count * size, self._next_id)
                queue.waiting.append(batch)
                accumulator.unfinished[batch] = self._process.world.now
                self._next_id += 1
        self._kept.clear()

    def kept(self) -> dict[TopicPartition, int]:
        """The messages that ``missed`` has counted and not given."""
        return {self._accumulator.queues[place].tp: count for place, count in self._kept.items()}

    def missed(
        self,
        most_bytes: int,
        rates: Mapping[TopicPartition, float] = NO_RATES,
        only: Container[TopicPartition] | None = None,
    ) -> "Missed":
        """The batches of the ticks that were missed so far, in the order of their ids: a leap appends and acknowledges
        them. A few large ones, of at most ``most_bytes`` or one message, stand for those of all ticks; what one tick
        closes is one batch of each partition, or several full ones, as ever. With a backlog, these are the batches that
        would have been sent at ``rates`` (messages per microsecond). ``only``: without a backlog, those of these
        partitions; the messages of others are kept until they are asked for."""
        if self._backlog is not None:
            return self._missed_with_backlog(self._backlog, rates)
        from scenarios.cluster.clients.producing.closed_batches import closed_batches

        load, ticks = self._workload, self._skip() if self._held and self._process.alive else 0
        self._owed += load.rate * self._tick_us * ticks
        messages, self._owed = divmod(self._owed, 1_000_000)
        size, full = load.message_size, self._batch_messages
        most = full if ticks <= 1 and not self._kept else max(full, most_bytes // size)
        batches: list[ProducedBatch] = []
        dealt = list(self._partitioner.deal(messages, self._open_to))
        closed = closed_batches(self._partitioner, dealt, ticks, full)
        for place, count in dealt if only is None and not self._kept else self._take(dealt, only):
            tp = self._accumulator.queues[place].tp
            while count > 0:
                some = min(count, most)
                batches.append(ProducedBatch(tp, some, some * size, self._next_id))
                self._next_id += 1
                count -= some
        return Missed(ticks, closed, self._numbered(batches))

    def _missed_with_backlog(self, backlog: "Backlog", rates: Mapping[TopicPartition, float]) -> "Missed":
        sent: list[ProducedBatch] = []
        first_us, timeout_us = self._due_us, self._workload.delivery_timeout_us
        ticks = self._skip() if self._process.alive else 0
        for t_us in range(first_us, self._due_us, self._tick_us):
            self._gather(t_us)
            sent += backlog.sent(self._tick_us, rates, t_us - timeout_us)
        return Missed(ticks, len(sent), self._numbered(sent))

    def _numbered(self, batches: list[ProducedBatch]) -> Sequence[ProducedBatch]:
        """These batches with their sequence numbers, if it gives any; they are acknowledged."""
        if self._idempotence is None or not batches:
            return batches
        numbered = list(self._idempotence.number(batches))
        self._idempotence.acknowledged(batches)
        return numbered

    def _take(self, dealt: Iterable[tuple[int, int]], only: Container[TopicPartition] | None) -> list[tuple[int, int]]:
        """Keep what is handed out, and take of all that is kept what is for ``only``; None: everything."""
        kept, queues = self._kept, self._accumulator.queues
        for place, count in dealt:
            kept[place] = kept.get(place, 0) + count
        return [(place, kept.pop(place)) for place in list(kept) if only is None or queues[place].tp in only]

    def appended(self, leader: int, batches: Sequence[ProducedBatch], bases: Sequence[int]) -> None:
        """Report batches of one topic that ``missed`` has given as done: ``leader`` has them at ``bases``."""
        acks, process = self._workload.acks, self._process
        if acks == 0:
            places = ends = (-1,) * len(batches)
        else:
            places = tuple(bases)
            ends = tuple([base + batch.count for base, batch in zip(bases, batches, strict=True)])
        process.emit_columns(
            BatchesProduced, len(batches), process.node.id, batches[0].tp.topic, acks, "NONE", leader,
            "acked" if acks else "sent", tuple([batch.tp.partition for batch in batches]),
            tuple([batch.id for batch in batches]), places, ends, (0,) * len(batches), (1,) * len(batches),
        )  # fmt: skip

    # -- sending ----------------------------------------------------------------------------------------------------

    def _drain(self) -> None:
        """Send to each leader one batch of each partition, and again until no batch can be sent."""
        if self._backlog is not None:
            return
        idempotence = self._idempotence
        if idempotence is not None and not self._has_producer_id(idempotence):
            return
        accumulator, most = self._accumulator, self._workload.max_in_flight
        retries, now = accumulator.retries, self._process.world.now
        while accumulator.ready:
            full = self._connections.full(most)
            groups: dict[int, Group] = {}
            left: list[Queue] = []
            for queue in accumulator.ready:
                waiting, leader = queue.waiting, queue.leader
                if (
                    queue.muted or leader == NO_LEADER or leader in full
                    or (retries and accumulator.rests_until_us(waiting[0]) > now)
                ):  # fmt: skip
                    self._hold_back(queue)
                elif idempotence is None or idempotence.may_send(waiting[0]):
                    if leader in groups:
                        groups[leader].append(waiting.popleft())
                    else:
                        groups[leader] = [waiting.popleft()]
                    if not waiting:
                        continue
                left.append(queue)
            accumulator.ready = dict.fromkeys(left)
            if not groups:
                return
            for leader, group in groups.items():
                self._request(leader, group)

    def _hold_back(self, queue: Queue) -> None:
        """The first batch of ``queue`` cannot be sent now: request the metadata, or set the timer, it waits for."""
        if queue.leader == NO_LEADER:
            self._metadata.ask()
        elif self._accumulator.retries and not self._waking:
            rests_us = self._accumulator.rests_until_us(queue.waiting[0]) - self._process.world.now
            if rests_us > 0:
                self._waking = True
                self._process.call_later(rests_us, self._wake)

    def _has_producer_id(self, idempotence: Idempotence) -> bool:
        idempotence.resolve(self._accumulator.queues)
        known = idempotence.producer_id != NO_PRODUCER_ID
        if not known:
            self._producer_id.ask()
        return known

    def _wake(self, _: Any) -> None:
        self._waking = False
        self._drain()

    def _request(self, leader: int, group: Group) -> None:
        load, accumulator, idempotence = self._workload, self._accumulator, self._idempotence
        if accumulator.retries:
            accumulator.sent_again(group)
        if load.max_in_flight == 1 and load.acks != 0:
            accumulator.mute(group, muted=True)
        batches = tuple(group) if idempotence is None else idempotence.number(group)
        size = 60 + sum([batch.size for batch in batches])
        request = ProduceRequest(load.acks, load.request_timeout_us, batches, size)
        self._connections.send(leader, request, group)
        if load.acks == 0:
            self._finish("sent", NO_ERROR, leader, group, (-1,) * len(group), accumulator.attempts(group))

    # -- answers ----------------------------------------------------------------------------------------------------

    def _answered(self, leader: int, group: Group, response: ProduceResponse, sent_us: int) -> None:
        accumulator, idempotence = self._accumulator, self._idempotence
        if self._workload.max_in_flight == 1:
            accumulator.mute(group, muted=False)
        tps, errors, bases = zip(*response.partitions, strict=True)
        if [batch.tp for batch in group] == list(tps) and self._all_well(group, errors):
            # Nearly every response is one of these: its batches are finished together, without a call for each.
            if idempotence is not None:
                idempotence.acknowledged(group)
            self._finish("acked", NO_ERROR, leader, group, bases, accumulator.attempts(group))
        else:
            results = {tp: (error, base) for tp, error, base in response.partitions}
            if not STALE_METADATA.isdisjoint(errors):
                self._metadata.ask()
            if Errors.REQUEST_TIMED_OUT in errors:
                process, timeout_us = self._process, self._workload.request_timeout_us
                process.show(ProduceTimedOut, process.node.id, leader, process.world.now - sent_us, timeout_us)
            self._settle(leader, [(batch, *results[batch.tp]) for batch in group])
        if accumulator.ready:
            self._drain()

    def _all_well(self, group: Group, errors: Sequence[Errors]) -> bool:
        """Whether a response is without an error, and none of its batches has expired in the meantime."""
        return not any(errors) and all(map(self._accumulator.unfinished.__contains__, group))

    def _disconnected(self, leader: int, lost: list[Group]) -> None:
        self._metadata.ask()
        for group in lost:
            if self._workload.max_in_flight == 1:
                self._accumulator.mute(group, muted=False)
            self._settle(leader, [(batch, Errors.NETWORK_EXCEPTION, -1) for batch in group])
        self._drain()

    def _settle(self, leader: int, results: Iterable[tuple[ProducedBatch, Errors, int]]) -> None:
        """One attempt at each of some batches is over. A batch that is done already has expired in the meantime."""
        unfinished = self._accumulator.unfinished
        found = [self._complete(leader, *result) for result in results if result[0] in unfinished]
        self._report([outcome for outcome in found if outcome is not None])

    def _complete(self, leader: int, batch: ProducedBatch, error: Errors, base: int) -> BatchOutcome | None:
        """One attempt at a batch is over (Sender.completeBatch). None: there will be another."""
        idempotence, [attempts] = self._idempotence, self._accumulator.attempts((batch,))
        if not error or error is Errors.DUPLICATE_SEQUENCE_NUMBER:
            if idempotence is not None:
                idempotence.acknowledged((batch,))
            return BatchOutcome("duplicate" if error else "acked", NO_ERROR, leader, batch, base, attempts)
        if self._may_retry(batch, error, attempts):
            load = self._workload
            rests_until_us = self._process.world.now + load.retry_backoff_us
            self._accumulator.put_back(batch, error, rests_until_us, in_order=idempotence is not None)
            return None
        exhausted = attempts > self._workload.retries
        if idempotence is not None:
            if idempotence.has_old_producer_id(batch):
                error = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER
            idempotence.failed(batch, error, refused=not exhausted)
        outcome = "retries" if exhausted and error in RETRIABLE else "failed"
        return BatchOutcome(outcome, error, NO_LEADER, batch, -1, attempts)

    def _may_retry(self, batch: ProducedBatch, error: Errors, attempts: int) -> bool:
        load, idempotence = self._workload, self._idempotence
        if attempts > load.retries:
            return False
        if idempotence is None:
            return error in RETRIABLE
        if idempotence.has_old_producer_id(batch):
            return False
        return error in RETRIABLE or idempotence.may_retry(batch, error)

    def _report(self, outcomes: list[BatchOutcome]) -> None:
        """Finish these batches, in their order: neighbours with the same outcome together."""
        for (outcome, error, leader, _known), some in groupby(outcomes, key=_kind):
            batches, bases, attempts = zip(*(each[3:] for each in some), strict=True)
            self._finish(outcome, error, leader, batches, bases, attempts)

    def _finish(
        self, outcome: str, error: Errors, leader: int, batches: Sequence[ProducedBatch], bases: tuple[int, ...],
        attempts: tuple[int, ...],
    ) -> None:  # fmt: skip
        """These batches are done: report it to the application, and forget them. ``bases``: -1 for all where offsets
        are not known."""
        process = self._process
        closed_us = self._accumulator.finish(batches)
        name = error.name if error else "NONE"
        ends = bases
        if bases[0] >= 0:
            ends = tuple([base + batch.count for base, batch in zip(bases, batches, strict=True)])
        process.emit_columns(
            BatchesProduced, len(batches), process.node.id, batches[0].tp.topic, self._workload.acks, name, leader,
            outcome, tuple([batch.tp.partition for batch in batches]), tuple([batch.id for batch in batches]), bases,
            ends, tuple(map(process.world.now.__sub__, closed_us)), attempts,
        )  # fmt: skip

    # -- metadata and ids ------------------------------------------------------------------------------------------

    def _learnt(self) -> None:
        partitions = self._metadata.partitions
        queues = self._accumulator.queues
        for queue in queues:
            state = partitions.get(queue.tp)
            queue.leader = NO_LEADER if state is None else state.leader
        led = [place for place, queue in enumerate(queues) if queue.leader != NO_LEADER]
        self._open_to = led or range(len(queues))
        self._drain()

    def _identified(self, response: InitProducerIdResponse) -> None:
        assert self._idempotence is not None
        if response.error:  # COORDINATOR_LOAD_IN_PROGRESS: its broker has none yet (KAFKA-14694, 3.6)
            self._producer_id.ask()
            return
        self._idempotence.producer_id = response.producer_id
        process, first = self._process, self._first_id
        # A producer that was restarted goes on counting its batch ids: its last id stays the last of its machine.
        last = first + IDS_PER_PRODUCER - 1 - (first - 1) % IDS_PER_PRODUCER
        process.emit(ProducerIdentified, process.node.id, response.producer_id, first, last)
        self._drain()


class Missed(NamedTuple):
    """The batches that a producer would have closed while it was held.

    Attributes:
        ticks: the number of ticks.
        closed: how many batches they would have closed, about.
        batches: what stands for these batches.
    """

    ticks: int
    closed: int
    batches: Sequence[ProducedBatch]


def _kind(each: BatchOutcome) -> tuple[str, Errors, int, bool]:
    return each.outcome, each.error, each.leader, each.base >= 0


def _partitioner(load: Workload, process: Process) -> Partitioner:
    if load.keys is not None and load.key_skew:
        stream = process.world.stream("key skew", load.partitions[0].topic)
        return Skewed.of(load.keys, len(load.partitions), load.key_skew, stream)
    if load.keys is not None:
        return Keyed.of(load.keys, len(load.partitions))
    if load.shares:
        return Skewed({place: share for place, share in enumerate(load.shares) if share})
    if load.sticky:
        return Sticky(process.world.stream("sticky partitions", process.name), load.batch_messages)
    return RoundRobin()
