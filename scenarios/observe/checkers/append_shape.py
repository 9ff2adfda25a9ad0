"""S13: a log grows at its end, its epochs do not go back, and it knows where each ends."""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from emulator.protocol.events import Appended
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_OFFSET, EpochEndFound
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import BatchMisplaced, BatchOfEarlierEpoch, EpochEndWrong
from scenarios.observe.history.replica_logs import BASE_OFFSET, FORGOTTEN, LEADER_EPOCH, ReplicaLogHistory

_epoch = itemgetter(LEADER_EPOCH)


class AppendShape(Checker):
    """Each batch is appended at the log's end, and its epoch is not older than that of the batch before it. A log says
    that an epoch ends where its first batch of a later one begins.

    Verified: each append on each replica. Logs with the same content share one history, so an epoch that goes back is
        reported once, for the first log that appends the batch. Each answer to OffsetsForLeaderEpoch, and each place
        at which two logs are found to diverge, by the batches of the log that was looked at; that it knows the epoch
        of its last batch, unless that is deleted, or 0 (KAFKA-10432).

    Not verified: which epoch is found; that a leader appends under its own epoch.
    """

    ids = ("S13",)
    statement = (
        "append(b, o, e) ⇒ o = leo_b and e ≥ the epoch before it, end(e) = min {o : epoch(o) > e}: "
        "logs have no holes, their epochs do not go back, and end where the next one begins"
    )
    catches = ("KAFKA-13266", "KAFKA-10432", "KAFKA-10706", "KAFKA-7415")
    fails_when = "a leader stamps a batch with an older epoch"

    def begin(self) -> None:
        self._logs = self.history.logs
        self.history.logs.misplaced.append(self._misplaced)
        self.history.logs.regressed.append(self._regressed)

    def _misplaced(self, event: Appended, end: int) -> None:
        facts = BatchMisplaced(event.node, event.id, event.base_offset, end)
        self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.node,))

    def _regressed(self, event: Appended, epoch: int) -> None:
        facts = BatchOfEarlierEpoch(event.node, event.id, event.leader_epoch, epoch)
        self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.node,))

    def on_end_found(self, event: EpochEndFound) -> None:
        log = self._logs.get(event.node, event.tp)
        if log is None or not log.known or log.end_offset != event.log_end_offset:
            return
        if event.end_offset != UNDEFINED_OFFSET:
            end = end_of(log, event.epoch)
            if end is not None and event.end_offset != max(end, log.start_offset):
                wrong = EpochEndWrong(event.node, event.epoch, event.end_offset, max(end, log.start_offset))
                self.violated(event, wrong, event.tp, (event.node,))
        elif event.epoch == log.last[LEADER_EPOCH] > 0 and log.start_offset < log.end_offset:
            self.violated(event, EpochEndWrong(event.node, event.epoch, None, log.end_offset), event.tp, (event.node,))


def end_of(log: ReplicaLogHistory, epoch: int) -> int | None:
    """Start of the first batch of a later epoch that retention has left, or the end of the log; None: a crash has
    brought back what is forgotten, and the epoch may end there."""
    place = bisect_right(log.line, epoch, lo=log.covered(log.start_offset) + 1, hi=log.size, key=_epoch)
    if log.line[place - 1] is FORGOTTEN:
        return None
    return log.line[place][BASE_OFFSET] if place < log.size else log.end_offset
