"""J: an idempotent producer's batches are committed once, and in their order; what the leader has is not refused."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.errors import Errors
from emulator.protocol.events import BatchesProduced, ProducerIdentified
from emulator.protocol.shown import ProduceRefused
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import BatchRefused, BatchTwice
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.replica_logs import ID, NEXT_OFFSET, Entry

OUT_OF_ORDER = Errors.OUT_OF_ORDER_SEQUENCE_NUMBER.name
IN_FLIGHT = 5
"""Batches of a partition that can be under way, and that are recognised when they are sent again (KIP-98)."""
LATEST = 64
"""Entries of a log that are searched for a batch that was refused: others may write to the partition, too."""


@define(eq=False)
class _ProducerBatches:
    """The batches of one producer in a partition.

    Attributes:
        first, newest: the batches with the lowest and the highest id.
        end_offset: end of the last batch.
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
        written: batches of each producer, by the first id that they can have.
    """

    entries: int = 1
    begun_epoch: int = -1
    written: dict[int, _ProducerBatches] = field(factory=dict)


class NoBatchTwice(Checker):
    """The committed batches of an idempotent producer are in the order in which it created them, each once (Jepsen's
    duplicate, and reordered sends).

    Verified: whenever more is committed, in each partition, for producers with ``enable.idempotence``. Each batch that
        a leader refuses for its number, of a producer of which none has failed: it is not among the last five of the
        producer in the leader's log.

    Not verified: that no batch is missing in between (the producer may have given one up); what else fails after a
        failure, for which a producer gets another id and gives up what has the one before; producers without
        idempotence, which may write a batch twice.
    """

    ids = ("J duplicate",)
    statement = (
        "i < j ⇒ com[i].id < com[j].id, b ∈ log ⇒ b is no gap: an idempotent producer writes each batch once, in order"
    )
    fails_when = "a leader does not recognise repeated batches"

    def begin(self) -> None:
        self._commits, self._logs = self.history.commits, self.history.logs
        self._producers: dict[int, int] = {}
        """The last id that a producer's batches can have, by the first one."""
        self._seen: dict[Commit, _Seen] = {}
        self._unharmed: dict[int, int] = {}
        """The clients without a failure, each with the first id of its batches."""

    def on_identified(self, event: ProducerIdentified) -> None:
        if not self._producers:
            # Runs without an idempotent producer do not pay for this.
            self._commits.extended.append(self._extended)
        if event.first_id not in self._producers:
            self._unharmed[event.node] = event.first_id
        self._producers[event.first_id] = event.last_id

    def on_produced(self, event: BatchesProduced) -> None:
        if event.outcome not in ("acked", "duplicate"):
            self._unharmed.pop(event.node, None)

    def on_refused(self, event: ProduceRefused) -> None:
        """A leader knows the last batches of a producer by their numbers, unless that has got another id or epoch."""
        if event.error != OUT_OF_ORDER:
            return
        tp = TopicPartition.of(event.topic, event.partition)
        log = self._logs.get(event.node, tp)
        if log is None or not log.leads:
            return
        entries = log.line[max(1, log.size - LATEST) : log.size]
        latest = [entry[ID] for entry in entries if entry[NEXT_OFFSET] > log.start_offset]
        for first_id in self._unharmed.values():
            own = [id for id in latest if first_id <= id <= self._producers[first_id]]
            if event.id in own[-IN_FLIGHT:]:
                self.violated(event, BatchRefused(event.id, event.node), tp, (event.node,))

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

    def _look(self, event: Event, commit: Commit, entry: Entry, written: dict[int, _ProducerBatches]) -> None:
        _, base_offset, next_offset, epoch, id = entry
        producer = next((first for first, last in self._producers.items() if first <= id <= last), None)
        if producer is None:
            return
        its = written.get(producer)
        if its is None:
            its = written[producer] = _ProducerBatches(id)
        if id <= its.newest:
            self.violated(event, BatchTwice(id, base_offset, epoch, its.first, its.newest, its.end_offset), commit.tp)
        its.newest, its.end_offset = max(its.newest, id), next_offset
