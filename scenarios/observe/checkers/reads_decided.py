"""J: readers of committed records get only what is decided, and learn what was aborted."""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

from emulator.protocol.events import CommittedFetched, TransactionalAppended, TransactionMarked
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.client_facts import ReadUndecided
from scenarios.observe.history.history import History


@define(eq=False)
class _Written:
    """A batch of a transaction. ``committed``: None: not decided."""

    producer_id: int
    base_offset: int
    committed: bool | None = None


@define(eq=False)
class _Partition:
    """Attributes:
    batches: by id.
    open: by producer id, those of its transaction.
    """

    batches: dict[int, _Written] = field(factory=dict)
    open: dict[int, list[_Written]] = field(factory=dict)


class ReadsDecided(Checker):
    """A reader with ``isolation.level=read_committed`` gets no batch of a transaction that is open, and learns which
    were aborted.

    Verified: each answer to such a fetch of a real client, against the batches of transactions and the decisions of
        their coordinators: every batch in it is decided, and each that was aborted belongs to a transaction in the
        answer's list, from where that one begins.

    Not verified: what the client does with that list; that the list has no other transactions.
    """

    name: ClassVar[str] = "reads_decided"
    ids: ClassVar[tuple[str, ...]] = ("J aborted",)
    statement: ClassVar[str] = (
        "b ∈ read_committed ⇒ committed(b) ∨ b ∈ aborted: a reader of committed records gets only what is decided, and "
        "learns what was aborted"
    )
    catches: ClassVar[tuple[str, ...]] = ("KIP-98",)
    fails_when: ClassVar[str | None] = "a leader gives all that is replicated, or does not list aborted transactions"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._partitions: dict[tuple[str, int], _Partition] = {}

    def _of(self, event: TransactionalAppended | TransactionMarked | CommittedFetched) -> _Partition:
        return self._partitions.setdefault((event.topic, event.partition), _Partition())

    def on_appended(self, event: TransactionalAppended) -> None:
        partition = self._of(event)
        written = partition.batches[event.batch] = _Written(event.producer_id, event.base_offset)
        partition.open.setdefault(event.producer_id, []).append(written)

    def on_marked(self, event: TransactionMarked) -> None:
        for written in self._of(event).open.pop(event.producer_id, ()):
            written.committed = event.committed

    def on_fetched(self, event: CommittedFetched) -> None:
        batches = self._of(event).batches
        for id in event.ids:
            written = batches.get(id)
            if written is None or written.committed:
                continue
            if written.committed is None:
                self._report_batch(event, written, aborted=False)
            elif not any(
                producer_id == written.producer_id and first <= written.base_offset
                for producer_id, first in zip(event.producer_ids, event.first_offsets, strict=True)
            ):
                self._report_batch(event, written, aborted=True)

    def _report_batch(self, event: CommittedFetched, written: _Written, *, aborted: bool) -> None:
        facts = ReadUndecided(event.node, written.base_offset, written.producer_id, event.leader, aborted)
        self.violated(event, facts, TopicPartition.of(event.topic, event.partition))
