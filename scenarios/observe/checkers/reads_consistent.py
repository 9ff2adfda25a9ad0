"""S11: every consumer reads the same committed record at an offset."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from emulator.protocol.events import Consumed, Fetched
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import ReadDiffers
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.replica_logs import FORGOTTEN, ID, NEXT_OFFSET, Entry

_next_offset = itemgetter(NEXT_OFFSET)


class ReadsConsistent(Checker):
    """A consumer that reads an offset reads the batch that is committed there, now or later.

    Verified: each batch that a poll returns, and each that a real consumer gets in a response to Fetch, is the batch
        that is committed at its offset. What was read before it was committed is compared at the end of the run.

    Not verified: the data that a topic started with; what was read from leaders before an unclean election, or before
        the machines of all in-sync replicas crashed and the next leader had lost unflushed records.
    """

    ids = ("S11",)
    statement = "read[p][o] = com[p][o]: what is read at an offset is what is committed there"
    catches = ("KAFKA-6361", "KAFKA-9835")
    fails_when = "a leader gives consumers all it has"

    def begin(self) -> None:
        self._commits = self.history.commits
        self._ahead: list[Consumed | Fetched] = []
        """Polls that returned what was not committed yet."""

    def on_read(self, event: Consumed | Fetched) -> None:
        commit = self._commits.get(event.topic, event.partition)
        if event.next_offset > commit.offset:
            self._ahead.append(event)
        self._compare(event, commit)

    def finish(self) -> None:
        for event in self._ahead:
            self._compare(event, self._commits.get(event.topic, event.partition))

    def _compare(self, event: Consumed | Fetched, commit: Commit) -> None:
        if not commit.settled or event.leader_epoch < max(commit.unclean_epoch, commit.reads_lost_below):
            return
        entries, size = commit.line, commit.size
        index = bisect_right(entries, event.offset, hi=size, key=_next_offset)
        if entries[index - 1] is FORGOTTEN:
            return  # deleted from every log before it arrived
        for id in event.ids:
            if id <= 0:
                continue  # the data that the topic started with
            index = max(index, 1)
            if index >= size:
                return
            if entries[index][ID] != id:
                facts = _differs(event, entries[index], id)
                self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.leader,))
                return
            index += 1


def _differs(event: Consumed | Fetched, entry: Entry, id: int) -> ReadDiffers:
    _, base_offset, _, epoch, there = entry
    return ReadDiffers(event.node, id, event.leader, event.leader_epoch, base_offset, there, epoch)
