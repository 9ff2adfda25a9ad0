"""S20: compaction removes what it may, and nothing else."""

from __future__ import annotations

from emulator.protocol.shown import RecordsCompacted
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

    def on_compacted(self, event: RecordsCompacted) -> None:
        from scenarios.observe.history.one_cleaning import Cleaning

        log = self._logs.get(event.node, event.tp)
        start = 0 if log is None else log.start_offset
        shown: dict[Compacts, None] = {}
        for wrong in Cleaning(event, self._commits.get(*event.tp).offset, start).wrongs():
            if wrong.part not in shown:
                shown[wrong.part] = None
                facts = CompactedWrong(event.node, event.next_offset, wrong.offset, wrong.why)
                self.violated(event, facts, event.tp, (event.node,), wrong.part)
