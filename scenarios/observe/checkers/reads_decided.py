"""J: readers of committed records get only what is decided, and learn what was aborted."""

from __future__ import annotations

from collections.abc import Set

from attrs import define, field

from emulator.protocol.events import (
    BecameLeader,
    CommittedFetched,
    Fetched,
    LogRecovered,
    NodeCrashed,
    TransactionalAppended,
    TransactionMarked,
)
from emulator.protocol.shown_coordination import MarkerAppends
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import (
    NOT_REPLICATED,
    NOT_SAID,
    SAID_ABORTED,
    UNDECIDED,
    ReadBeyondStable,
    ReadUndecided,
)


@define(eq=False)
class _Written:
    """A batch of a transaction.

    Attributes:
        committed: None: it is not decided.
        marker: the lowest offset at which a leader has appended its marker; None: not known.
    """

    producer_id: int
    base_offset: int
    committed: bool | None = None
    marker: int | None = None


@define(eq=False)
class _Partition:
    """Attributes:
    batches: by id.
    open: by producer id, those of its transaction.
    ended: by producer id, those of the transaction before.
    twice: the batches that were appended more than once.
    """

    batches: dict[int, _Written] = field(factory=dict)
    open: dict[int, list[_Written]] = field(factory=dict)
    ended: dict[int, list[_Written]] = field(factory=dict)
    twice: set[int] = field(factory=set)


class ReadsDecided(Checker):
    """A reader with ``isolation.level=read_committed`` gets no batch of a transaction that is open, and learns which
    were aborted, and of no other that it was.

    Verified: each answer to such a fetch of a client, against the batches of transactions and the decisions of their
        coordinators: it ends at the last stable offset that it tells; every batch in it is decided, by a marker below
        the high watermark that it tells; each that was aborted belongs to a transaction in the answer's list, from
        where that one begins; no transaction in the list begins with a batch that was committed.

    Not verified: what the client does with that list; that the last stable offset moves on (``transactions_close``);
        transactions whose marker a broker cuts off as damaged, or lost with its machine before it leads: where no
        other has it, they are open again (KIP-966), and another marker may end them; batches that were
        appended twice, where an unclean election, or a crash of all in-sync replicas, may bring back the first one:
        each has its own marker.
    """

    ids = ("J aborted",)
    statement = (
        "b ∈ read_committed ⇒ committed(b) ∨ b ∈ aborted: a reader of committed records gets only what is decided, and "
        "learns what was aborted"
    )
    catches = ("KIP-98", "KAFKA-5355", "KAFKA-9807")
    fails_when = "a leader gives all that is replicated, or does not list aborted transactions"

    def begin(self) -> None:
        self._commits = self.history.commits
        self._partitions: dict[tuple[str, int], _Partition] = {}
        self._answers: dict[tuple[int, str, int], Fetched] = {}
        """The last answer to each client, for each partition."""
        self._crashed: set[int] = set()
        """The brokers whose machine has crashed."""

    def _of(self, event: TransactionalAppended | TransactionMarked | CommittedFetched) -> _Partition:
        return self._partitions.setdefault((event.topic, event.partition), _Partition())

    def on_appended(self, event: TransactionalAppended) -> None:
        partition = self._of(event)
        if event.batch in partition.batches:
            partition.twice.add(event.batch)
        written = partition.batches[event.batch] = _Written(event.producer_id, event.base_offset)
        partition.open.setdefault(event.producer_id, []).append(written)

    def on_marked(self, event: TransactionMarked) -> None:
        partition = self._of(event)
        ended = partition.open.pop(event.producer_id, ())
        for written in ended:
            written.committed = event.committed
        if ended:
            partition.ended[event.producer_id] = ended

    def on_appends(self, event: MarkerAppends) -> None:
        partition = self._partitions.get(event.tp)
        for written in () if partition is None else partition.ended.get(event.producer_id, ()):
            if written.marker is None or event.offset < written.marker:
                written.marker = event.offset

    def on_crashed(self, event: NodeCrashed) -> None:
        if event.kind == "host":
            self._crashed.add(event.node)

    def on_leader(self, event: BecameLeader) -> None:
        if event.node in self._crashed:
            self._ends_at(event)

    def on_recovered(self, event: LogRecovered) -> None:
        self._ends_at(event)

    def _ends_at(self, event: BecameLeader | LogRecovered) -> None:
        """Forget the transactions whose marker is not in a log that has become shorter."""
        partition = self._partitions.get((event.topic, event.partition))
        if partition is not None:
            partition.batches = {
                id: written
                for id, written in partition.batches.items()
                if written.marker is None or written.marker < event.log_end_offset
            }

    def on_answer(self, event: Fetched) -> None:
        self._answers[event.node, event.topic, event.partition] = event

    def on_fetched(self, event: CommittedFetched) -> None:
        partition = self._of(event)
        answer = self._answers.get((event.node, event.topic, event.partition))
        if answer is not None and answer.next_offset > event.last_stable_offset:
            beyond = ReadBeyondStable(event.node, answer.next_offset, event.leader, event.last_stable_offset)
            self.violated(event, beyond, TopicPartition.of(event.topic, event.partition))
        listed = set(zip(event.producer_ids, event.first_offsets, strict=True))
        commit = self._commits.get(event.topic, event.partition)
        gave_up = commit.unclean_epoch >= 0 or commit.reads_lost_below >= 0
        for id in event.ids:
            written = partition.batches.get(id)
            if written is not None and not (gave_up and id in partition.twice):
                why = self._wrong(written, listed, answer, self._fell_from(event))
                if why:
                    facts = ReadUndecided(event.node, written.base_offset, written.producer_id, event.leader, why)
                    self.violated(event, facts, TopicPartition.of(event.topic, event.partition))

    def _fell_from(self, event: CommittedFetched) -> int:
        """The high watermark from which that of the leader's log has gone back: a transaction whose marker was below it
        stays decided there."""
        log = self._commits.logs.get(event.leader, TopicPartition.of(event.topic, event.partition))
        return 0 if log is None else log.fell_from

    @staticmethod
    def _wrong(written: _Written, listed: Set[tuple[int, int]], answer: Fetched | None, fell_from: int) -> str:
        """Why a batch should not be in an answer, or not so; "": it should."""
        if written.committed is None:
            return UNDECIDED
        if (
            answer is not None
            and written.marker is not None
            and max(answer.high_watermark, fell_from) <= written.marker
        ):
            return NOT_REPLICATED
        if written.committed:
            return SAID_ABORTED if (written.producer_id, written.base_offset) in listed else ""
        is_said = any(id == written.producer_id and first <= written.base_offset for id, first in listed)
        return "" if is_said else NOT_SAID
