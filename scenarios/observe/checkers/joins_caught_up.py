"""I2: a replica that joins the ISR has reached the high watermark and the start of the leader's epoch."""

from __future__ import annotations

from emulator.protocol.events import BecameLeader
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, shared
from scenarios.observe.findings.isr_facts import JoinedBehind
from scenarios.observe.past.changes import StateWritten


class JoinsCaughtUp(Checker):
    """A leader adds a replica to its ISR only if that replica's log reaches the high watermark and the start of the
    leader's epoch.

    Verified: each write by which a leader adds to the ISR in ZooKeeper, against the leader's high watermark, which
        does not move while the write is in flight, and against the end of the leader's log when it took up its epoch.

    Not verified: that the replica fetched in this epoch (E6), that it is alive and assigned.
    """

    ids = ("I2",)
    statement = (
        "expand(f) ⇒ leo_f ≥ hw and leo_f ≥ LESO: "
        "a replica that joins the ISR has reached the high watermark and the start of the epoch"
    )
    catches = ("KAFKA-14140",)
    fails_when = "a leader adds any follower"

    def begin(self) -> None:
        self._logs = self.history.commits.logs  # with their high watermarks
        self._began: dict[TopicPartition, tuple[int, int]] = {}

    def on_became_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._began[tp] = shared((event.leader_epoch, event.log_end_offset))

    def on_state(self, event: StateWritten) -> None:
        tp, state, before = event.tp, event.state, event.before
        if state is None or before is None:
            return
        if (before.leader, before.leader_epoch) != (state.leader, state.leader_epoch):
            return
        epoch, start = self._began.get(tp, (-1, 0))
        leaders = self._logs.get(state.leader, tp)
        if epoch != state.leader_epoch or leaders is None:
            return
        reached = max(leaders.high_watermark or 0, start)
        for node in state.isr:
            log = self._logs.get(node, tp)
            if node not in before.isr and log is not None and log.end_offset < reached:
                facts = JoinedBehind(state.leader, epoch, start, leaders.high_watermark, node, log.end_offset)
                self.violated(event, facts, tp, (node,))
