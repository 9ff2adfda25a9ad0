"""X12: producers of transactions are answered as their requests, and the state of their id, call for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from brokers.transactions.config import TRANSACTION_STATE_TOPIC, TransactionConfig
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import TransactionMarked, TransactionsLoaded
from emulator.protocol.produce import InitProducerIdRequest
from emulator.protocol.shown_coordination import (
    CoordinatorWrote,
    TransactionsRead,
)
from emulator.protocol.transactions.coordination import (
    AddOffsetsToTxnRequest,
    AddPartitionsToTxnRequest,
    EndTxnRequest,
    OfTransaction,
)
from emulator.protocol.transactions.markers import WriteTxnMarkersRequest
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.coordinated_answers import Amiss, CoordinatedAnswers, unequal
from scenarios.observe.checkers.markers_decided import COMPLETE, DECIDED, ONGOING
from scenarios.observe.history.coordinated_past import EMPTY, ID, IdThere

E = Errors
FENCED = E.PRODUCER_FENCED, E.INVALID_PRODUCER_EPOCH
OF_DELETED = E.UNKNOWN_TOPIC_OR_PARTITION, E.OPERATION_NOT_ATTEMPTED
Marker = tuple[int, int, int, bool]
"""Producer id and epoch, coordinator epoch, and whether it says COMMIT."""


class TransactionsAnswered(CoordinatedAnswers):
    """A coordinator of transactions answers as the requests, and the state of the transactional id, call for, and sends
    the markers that it has decided (TransactionCoordinator, TransactionMarkerChannelManager, 0.11 to 3.9).

    Verified: each answer to InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn and EndTxn: what succeeds is in the
        record that the coordinator has written, with the partitions, the timeout and the producer of the request, and
        none other than the coordinator answers without an error; each error has its reason in the state of the id, a
        change of it that is under way, or a write that has failed. Each WriteTxnMarkers: its producer, epochs,
        partitions and decision are those of a decision that its coordinator has written or read; and each of its
        partitions that is answered with NONE has a marker.

    Not verified: ids that the coordinator has not read and not changed yet; which error comes first where there are
        several reasons; refusals of partitions that a broker does not know.
    """

    ids = ("X12",)
    statement = (
        "answer(m) = f(state(t), m): producers of transactions are answered as their requests, and the state of their "
        "id, call for"
    )
    fails_when = "a coordinator takes a partition into a transaction that it does not write"

    def begin(self) -> None:
        super().begin()
        self.look_at(
            {
                InitProducerIdRequest: self._initialized,
                AddPartitionsToTxnRequest: self._added,
                AddOffsetsToTxnRequest: self._added,
                EndTxnRequest: self._ended,
                WriteTxnMarkersRequest: self._marked,
            }
        )
        default = TransactionConfig().max_timeout_us // 1000
        self._most_ms = int(self.start.brokers.get("transaction.max.timeout.ms", default))
        self._markers: dict[tuple[int, TopicPartition], dict[Marker, None]] = {}
        """The markers that each broker has appended to each partition."""
        self._decided: dict[Marker, dict[TopicPartition, None]] = {}
        """The markers that coordinators have decided, with the partitions that they are for."""
        self._read: tuple[int, TopicPartition] | None = None
        self._knows_all = True

    def on_wrote(self, event: CoordinatorWrote) -> None:
        for of in event.of if not event.failed else ():
            id = of.removeprefix(ID)
            home = self.there.home(TRANSACTION_STATE_TOPIC, id)
            if home is not None and of is not id:
                self._decide(event.node, id, self.there.read.get((event.node, home)))

    def on_ids_read(self, event: TransactionsRead) -> None:
        self._read = event.node, event.home

    def on_loaded(self, event: TransactionsLoaded) -> None:
        """A coordinator that takes over sends the markers of what is decided. One that cannot read its log knows a part
        of that, which is not shown."""
        home = TopicPartition.of(event.topic, event.partition)
        self._knows_all &= self._read == (event.node, home)
        self._read = None
        for node, id in list(self.there.ids):
            if node == event.node and self.there.home(event.topic, id) == home:
                self._decide(node, id, event.leader_epoch)

    def _decide(self, node: int, id: str, coordinator_epoch: int | None) -> None:
        """Take note of the markers of an id's transaction, if it is decided."""
        there = self.there.ids.get((node, id))
        state = None if there is None else there.state
        if state is not None and coordinator_epoch is not None and state.state in DECIDED:
            marker = state.producer_id, state.producer_epoch, coordinator_epoch, DECIDED[state.state]
            self._decided.setdefault(marker, {}).update(dict.fromkeys(state.partitions))

    def on_marker(self, event: TransactionMarked) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        marker = event.producer_id, event.producer_epoch, event.coordinator_epoch, event.committed
        self._markers.setdefault((event.node, tp), {})[marker] = None

    # -- what every request has -------------------------------------------------------------------------------------

    def _id(self, event: RequestAnswered, request: Any) -> IdThere:
        return self.there.ids.get((event.node, request.transactional_id)) or IdThere()

    def _error(
        self, event: RequestAnswered, request: Any, error: Errors, others: tuple[Errors, ...]
    ) -> Iterator[Amiss]:
        """The mistake in an error, if there is one. ``others``: those that have a reason."""
        id, node = request.transactional_id, event.node
        if self.there.coordinates(node, TRANSACTION_STATE_TOPIC, id) is not True or error in others:
            return
        if self.there.has_failed(node, f"{ID}{id}", event.t_us) or (error is E.INVALID_REQUEST and not id):
            return
        yield Amiss(id, "error", error, "another, or NONE")

    def _reasons(self, event: RequestAnswered, request: OfTransaction, there: IdThere) -> tuple[Errors, ...]:
        """The refusals for which the state of the id is a reason."""
        state, found = there.state, list[Errors]()
        if state is None or state.producer_id != request.producer_id:
            found.append(E.INVALID_PRODUCER_ID_MAPPING)
        known = [each.producer_epoch for each in (state, there.writing, there.failed) if each is not None]
        if state is None or any(epoch != request.producer_epoch for epoch in known):
            found.extend(FENCED)
        if state is None or state.state in DECIDED or there.is_writing:
            found.append(E.CONCURRENT_TRANSACTIONS)
        return tuple(found)

    # -- the requests -----------------------------------------------------------------------------------------------

    def _initialized(self, event: RequestAnswered, request: InitProducerIdRequest, response: Any) -> Iterator[Amiss]:
        id = request.transactional_id
        if id is None:
            return
        there, state = self._id(event, request), self._id(event, request).state
        if not response.error:
            if state is not None:
                yield from unequal(
                    id,
                    ("producer id", response.producer_id, state.producer_id),
                    ("producer epoch", response.producer_epoch, state.producer_epoch),
                    ("the state", state.state, EMPTY),
                    ("the timeout", state.timeout_ms, request.transaction_timeout_us // 1000),
                )
            if not self.there.has_written(event.node, f"{ID}{id}", event.t_us):
                yield Amiss(id, "error", NO_ERROR, "an error: it was not written")
            return
        others = [E.COORDINATOR_LOAD_IN_PROGRESS]
        if request.producer_id >= 0:
            others.extend((*FENCED, E.INVALID_REQUEST))
        if not 0 < request.transaction_timeout_us <= self._most_ms * 1000:
            others.append(E.INVALID_TRANSACTION_TIMEOUT)
        if state is None or state.state in (*DECIDED, ONGOING) or there.is_writing:
            others.extend((E.CONCURRENT_TRANSACTIONS, E.UNKNOWN_SERVER_ERROR))
        yield from self._error(event, request, response.error, tuple(others))

    def _added(
        self, event: RequestAnswered, request: AddPartitionsToTxnRequest | AddOffsetsToTxnRequest, response: Any
    ) -> Iterator[Amiss]:
        id, there = request.transactional_id, self._id(event, request)
        if isinstance(request, AddOffsetsToTxnRequest):
            errors = [response.error]
            home = self.there.home("__consumer_offsets", request.group)
            asked: tuple[TopicPartition, ...] = () if home is None else (home,)
        else:
            asked = request.partitions
            errors = [error for _, error in response.partitions]
            yield from unequal(id, ("partitions", tuple(tp for tp, _ in response.partitions), tuple(asked)))
        for error in errors:
            if error:
                yield from self._error(event, request, error, (*self._reasons(event, request, there), *OF_DELETED))
                return
        yield from self.not_refused(event, TRANSACTION_STATE_TOPIC, id)
        state = there.state
        if state is None:
            return
        has = dict.fromkeys(state.partitions)
        before = there.before.partitions if there.before is not None and there.before.state == ONGOING else ()
        yield from unequal(
            id, ("the state", state.state, ONGOING), ("producer", state.producer_id, request.producer_id),
            ("the epoch", state.producer_epoch, request.producer_epoch),
            ("lacking", [str(tp) for tp in asked if tp not in has], []),
        )  # fmt: skip
        if self.there.has_written(event.node, f"{ID}{id}", event.t_us):
            more = [str(tp) for tp in has if tp not in asked and tp not in before]
            yield from unequal(id, ("more partitions", more, [] if asked else more))

    def _ended(self, event: RequestAnswered, request: EndTxnRequest, response: Any) -> Iterator[Amiss]:
        there = self._id(event, request)
        state, id = there.state, request.transactional_id
        ends = ("PrepareCommit", COMPLETE[0]) if request.committed else ("PrepareAbort", COMPLETE[1])
        if response.error:
            others = self._reasons(event, request, there)
            if state is None or state.state not in (ONGOING, ends[1]):
                others = (*others, E.INVALID_TXN_STATE)
            yield from self._error(event, request, response.error, others)
        elif state is not None and (
            state.state not in ends
            or state.producer_id != request.producer_id
            or state.producer_epoch > request.producer_epoch
        ):
            of = f"producer {state.producer_id} in epoch {state.producer_epoch}"
            yield Amiss(id, "error", NO_ERROR, f"a refusal: it is {state.state} of {of}")
        else:
            yield from self.not_refused(event, TRANSACTION_STATE_TOPIC, id)

    # -- markers ----------------------------------------------------------------------------------------------------

    def _marked(self, event: RequestAnswered, request: WriteTxnMarkersRequest, response: Any) -> Iterator[Amiss]:
        said = tuple(tuple(sorted(tp for tp, _ in each)) for each in response.outcomes)
        yield from unequal("", ("partitions", said, tuple(tuple(sorted(each.partitions)) for each in request.markers)))
        for marker, outcomes in zip(request.markers, response.outcomes, strict=False):
            what = marker.producer_id, marker.producer_epoch, marker.coordinator_epoch, marker.committed
            who, decided = f"producer {marker.producer_id}", self._decided.get(what)
            if self._knows_all:
                if decided is None:
                    yield Amiss(who, "a marker", f"{what[1:]} of no decision", "none")
                elif any(tp not in decided for tp in marker.partitions):
                    yield Amiss(who, "a marker in", marker.partitions, tuple(decided))
            for tp, error in outcomes:
                if not error and what not in self._markers.get((event.node, tp), ()):
                    yield Amiss(who, f"{tp} as", NO_ERROR, "an error: it has no such marker")
