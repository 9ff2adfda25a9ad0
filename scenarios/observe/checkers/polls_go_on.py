"""J: from poll to poll a consumer neither skips nor repeats."""

from __future__ import annotations

from emulator.protocol.events import Consumed, PositionReset
from emulator.protocol.shown import PositionRefused
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import PollElsewhere, ResetInVain
from scenarios.observe.history.commit import Commit
from scenarios.observe.history.replica_logs import ID, ReplicaLogHistory


class PollsGoOn(Checker):
    """Each poll continues where the previous one ended, or at the offset to which the position was reset since
    (Jepsen's nonmonotonic-poll and poll-skip; assignments never change here). A position is reset only where its
    leader's log does not go on there.

    Verified: each poll of each consumer, by partition; the first one against the position at which the consumer
        started. Each OFFSET_OUT_OF_RANGE, and each position that is reset because its records are said to be gone
        (KIP-320): what is before it was committed, and the leader of the newest epoch has it, with the batch that the
        consumer has read last.

    Not verified: that a reset is justified once an unclean election, or a crash of all in-sync replicas, may have taken
        what was read; where it goes to; that messages arrive at all.
    """

    ids = ("J nonmonotonic-poll", "J poll-skip")
    statement = "poll[n+1] begins where poll[n] ended: consumers neither skip nor repeat"
    catches = ("KIP-320",)
    fails_when = "a consumer forgets where it is"

    def begin(self) -> None:
        self._positions: dict[tuple[int, str, int], int] = {}
        self._read: dict[tuple[int, str, int], tuple[int, int]] = {}
        """The last batch that a consumer has read: the offset up to which it read it, and its id."""
        self._commits = self.history.commits

    def on_reset(self, event: PositionReset) -> None:
        self._positions[event.node, event.topic, event.partition] = event.offset
        if event.reason == "truncated" and event.offset < event.before:
            commit = self._commits.get(event.topic, event.partition)
            leader = self.cluster.leader(commit.tp)
            self._look(event, commit, leader, event.before, event.reason)

    def on_refused(self, event: PositionRefused) -> None:
        commit = self._commits.get(event.topic, event.partition)
        self._look(event, commit, event.leader, event.offset, "out of range")

    def _look(
        self, event: PositionReset | PositionRefused, commit: Commit, leader: int, position: int, reason: str
    ) -> None:
        """Look whether the log of ``leader``, if it leads in the newest epoch, goes on at ``position``, up to which all
        was committed."""
        log = self._commits.logs.get(leader, commit.tp)
        if log is None or not (log.known and log.leads and log.leader_epoch == commit.adopted_epoch):
            return
        lost = commit.unclean_epoch >= 0 or bool(commit.unflushed) or bool(commit.crashed) or commit.unknown_below
        if lost or not commit.settled or position > commit.offset:
            return
        if log.start_offset <= position <= log.end_offset and not self._lacks_what_was_read(event, log, position):
            facts = ResetInVain(event.node, position, reason, leader, log.start_offset, log.end_offset)
            self.violated(event, facts, commit.tp, (leader,))

    def _lacks_what_was_read(
        self, event: PositionReset | PositionRefused, log: ReplicaLogHistory, position: int
    ) -> bool:
        """Whether another batch is where the consumer has read one last: what was committed has been lost since."""
        read_to, id = self._read.get((event.node, event.topic, event.partition), (-1, 0))
        if read_to != position or position <= log.start_offset:
            return False
        place = log.covered(position - 1) + 1
        return place < log.size and log.line[place][ID] != id

    def on_consumed(self, event: Consumed) -> None:
        key = event.node, event.topic, event.partition
        position = self._positions.get(key)
        if event.offset != position:
            facts = PollElsewhere(event.node, event.offset, position)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))
        self._positions[key] = event.next_offset
        if event.ids:
            self._read[key] = event.next_offset, event.ids[-1]
