"""S20: compaction removes what it may, and nothing else."""

from __future__ import annotations

from emulator.protocol.events import LogCompacted, LogLoaded, LogRecovered, ReplicaStopped, Truncated
from emulator.protocol.shown import RecordsCompacted
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.compaction_facts import CompactedWrong, Compacts


class CompactionKeeps(Checker):
    """A cleaning of a log leaves of each key the last record that counts, and everything that readers, producers and
    brokers need to know.

    Verified: each cleaning, by the log's batches before and after it. It ends before the active segment. Batches keep
        their offsets, leader epochs and ids, and records that stay are those that were there. A record goes only if it
        has no key, its transaction was aborted, a later one of its key is committed and was compacted with it, or it is
        a tombstone that was there for delete.retention.ms. A marker goes after as long, once no record of its
        transaction is left. The last batch of an idempotent producer stays, if only as a header. No earlier record of a
        key stays.

    What a log gets below the place where compaction goes on, after a recovery has cut it, is not compacted: the
    cleaner's checkpoint stays, unless it is beyond the end when it is read (LogCleanerManager.cleanableOffsets, 2.3.1
    to 3.9).

    Not verified: that a log is compacted in time; min.compaction.lag.ms; what a consumer reads meanwhile.
    """

    ids = ("S20",)
    statement = (
        "compacted(r) ⇒ ∃ r' committed: key(r') = key(r), r' > r, r' compacted ∨ r a tombstone of long ago ∨ r "
        "aborted: compaction keeps the last record of each key, and its place"
    )
    fails_when = "records of aborted transactions count as the last of their keys"

    def begin(self) -> None:
        self._commits, self._logs = self.history.commits, self.history.logs
        self._starts: dict[tuple[int, TopicPartition], int] = {}
        """The highest start that a log has had at a cleaning: what is before it was skipped, and stays there. A crash
        can take the start of a log back."""
        self._recovered: dict[tuple[int, TopicPartition], int] = {}
        """Where each log ended after a recovery that has cut it since it was compacted."""

    def on_recovered(self, event: LogRecovered) -> None:
        self._recovered[event.node, TopicPartition(event.topic, event.partition)] = event.log_end_offset

    def on_cleaned(self, event: LogCompacted) -> None:
        replica = event.node, TopicPartition(event.topic, event.partition)
        if self._recovered.pop(replica, event.from_offset) < event.from_offset:
            self._starts[replica] = max(event.from_offset, self._starts.get(replica, 0))

    def on_cut(self, event: LogLoaded | Truncated) -> None:
        replica = event.node, TopicPartition(event.topic, event.partition)
        if event.log_end_offset < self._starts.get(replica, 0):
            self._starts[replica] = event.log_end_offset

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._starts.pop((event.node, TopicPartition(event.topic, event.partition)), None)

    def on_compacted(self, event: RecordsCompacted) -> None:
        from scenarios.observe.history.one_cleaning import Cleaning

        log = self._logs.get(event.node, event.tp)
        known = self._starts.get((event.node, event.tp), 0)
        start = self._starts[event.node, event.tp] = max(known, 0 if log is None else log.start_offset)
        shown: dict[Compacts, None] = {}
        for wrong in Cleaning(event, self._commits.get(*event.tp).offset, start).wrongs():
            if wrong.part not in shown:
                shown[wrong.part] = None
                facts = CompactedWrong(event.node, event.next_offset, wrong.offset, wrong.why)
                self.violated(event, facts, event.tp, (event.node,), wrong.part)
