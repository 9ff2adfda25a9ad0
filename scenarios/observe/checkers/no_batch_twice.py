"""J: an idempotent producer's batches are committed once, and in their order."""

from __future__ import annotations

from typing import ClassVar

from attrs import define, field

from emulator.protocol.events import ProducerIdentified
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.history import History
from scenarios.observe.history.replica_logs import Entry


@define(eq=False)
class _Written:
    """What one producer has in a partition.

    Attributes:
        first, newest: its batches with the lowest and the highest id.
        end_offset: where its last one ends.
    """

    first: int
    newest: int = 0
    end_offset: int = 0


@define(eq=False)
class _Seen:
    """How far one partition has been compared.

    Attributes:
        entries: how many entries of what is committed.
        begun_epoch: the leader epoch since which they are one history.
        written: by the first id that a producer's batches can have.
    """

    entries: int = 1
    begun_epoch: int = -1
    written: dict[int, _Written] = field(factory=dict)


class NoBatchTwice(Checker):
    """The committed batches of an idempotent producer are in the order in which it created them, each once (Jepsen's
    duplicate, and reordered sends).

    Verified: whenever more is committed, in each partition, for producers with ``enable.idempotence``.

    Not verified: that no batch is missing in between (the producer may have given one up); producers without
        idempotence, which may write a batch twice.
    """

    name: ClassVar[str] = "no_batch_twice"
    ids: ClassVar[tuple[str, ...]] = ("J duplicate",)
    statement: ClassVar[str] = "i < j ⇒ com[i].id < com[j].id: an idempotent producer writes each batch once, in order"
    catches: ClassVar[tuple[str, ...]] = ("KIP-98",)
    fails_when: ClassVar[str | None] = "a leader does not recognise repeated batches"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._commits = history.commits
        self._producers: dict[int, int] = {}
        """By the first id that a producer's batches can have, the last one."""
        self._seen: dict[Commit, _Seen] = {}

    def on_identified(self, event: ProducerIdentified) -> None:
        if not self._producers:
            # Runs without an idempotent producer do not pay for this.
            self._commits.extended.append(self._extended)
        self._producers[event.first_id] = event.last_id

    def _extended(self, event: Event, commit: Commit) -> None:
        seen = self._seen.get(commit)
        if seen is None:
            seen = self._seen[commit] = _Seen()
        begun = max(commit.unclean_epoch, commit.reads_lost_below)
        if begun > seen.begun_epoch or commit.size <= seen.entries:
            # What was kept and what has come since are one history: compare it once from its beginning.
            seen.written.clear()
            seen.entries = 1
        for entry in commit.line[seen.entries : commit.size]:
            self._look(event, commit, entry, seen.written)
        seen.entries, seen.begun_epoch = commit.size, begun

    def _look(self, event: Event, commit: Commit, entry: Entry, written: dict[int, _Written]) -> None:
        _, base_offset, next_offset, epoch, id = entry
        producer = next((first for first, last in self._producers.items() if first <= id <= last), None)
        if producer is None:
            return
        its = written.get(producer)
        if its is None:
            its = written[producer] = _Written(id)
        if id <= its.newest:
            what = "again" if id == its.newest else f"after batch {its.newest}"
            self.violated(
                event,
                f"{commit.tp}: batch {id} is committed {what}, at offset {base_offset} in epoch {epoch}; before it its "
                f"producer has batches {its.first} to {its.newest}, up to offset {its.end_offset}",
            )
        its.newest, its.end_offset = max(its.newest, id), next_offset
