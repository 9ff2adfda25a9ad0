"""M11: a controller takes every announcement that brokers leave for it."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.events import NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import ChangeUntaken, IsrUnannounced, LeftUntaken
from scenarios.observe.history.deadlines import Deadlines
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_past import BROKER_FAILS, READS_BROKERS

BROKERS, TOPICS, DELETIONS = (f"{parent}/" for parent in (znodes.BROKER_IDS, znodes.TOPICS, znodes.DELETE_TOPICS))
STARTS, CREATES, DELETES = "broker-startup.1", "new-partition.1", "delete.queue"
TAKEN_BY = {
    BROKERS: {"create": STARTS, "delete": BROKER_FAILS}, TOPICS: {"create": CREATES}, DELETIONS: {"create": DELETES}
}  # fmt: skip
"""The steps that take a change of a child of these, by operation."""
TAKES = {STARTS: BROKERS, BROKER_FAILS: BROKERS, CREATES: TOPICS, DELETES: DELETIONS}
Awaited = str | tuple[str, str]
"""The path of an announcement, or a path and the step that takes its change."""
UNANNOUNCED_US = 9_000_000
"""How long a leader may have changed no ISR before it has announced the last one: 7.5 s, and what ZooKeeper takes."""
ANNOUNCED = (znodes.ISR_CHANGE_NOTIFICATION, znodes.LOG_DIR_EVENT_NOTIFICATION)


class NotificationsTaken(Checker):
    """A controller that works reads what brokers announce to it below /isr_change_notification (0.8.2) and
    /log_dir_event_notification (KIP-112, 1.0), and deletes it; so a new one does as it takes over. It begins what a
    broker that comes or goes, a new topic, and a topic that is to be deleted ask for.

    Verified: once a second, each such znode that is there, if the controller has made a step more than 5 s after it
        came: its thread is not held. Each broker that has registered or is gone from /brokers/ids, each new topic, and
        each topic in /admin/delete_topics, until the first step of what that leads to, if the controller has made
        another one more than 5 s later. The bound begins when a controller works, and is 5 s and 10 ms for each
        partition.

        A leader that writes ISRs itself announces each change within 2.5 s of the time at which it has changed none for
        5 s (ReplicaManager.maybePropagateIsrChanges, 0.9 to 2.6), while nothing disturbs it from the change on.

    Not verified: announcements after 60 s, while changes go on; that it was read before it was deleted
        (``controller_remembers`` and ``broker_remembers`` compare what it says); other requests of operators below
        /admin (``converged``); what brokers, topics and deletions ask for in releases before 2.2, which miss some
        (KAFKA-1120, 1387, 3085, 4229, 7235).
    """

    ids = ("M11",)
    gravity = Gravity.LIVENESS
    statement = "announced(z) ⇒ soon deleted(z): a controller takes every announcement that brokers leave for it"
    catches = ("KAFKA-5879",)
    fails_when = "a controller looks away from announced ISRs"

    def begin(self) -> None:
        self._there: Deadlines[str] = Deadlines()
        self._came_us: dict[Awaited, int] = {}
        """When each of either kind came."""
        self._stepped_us = 0
        self._has_read = False
        """Whether the last controller has read what there is."""
        self._changed: Deadlines[tuple[str, str]] = Deadlines()
        """Znodes that have come or gone, each with the step that takes it."""
        self._announces = self.start.announces_isrs and self.start.awaits_isr_writes
        self._written: dict[int, tuple[int, TopicPartition]] = {}
        """By leader, when it last wrote an ISR that it has not announced, and of which partition."""

    def on_state(self, event: StateWritten) -> None:
        state, before = event.state, event.before
        if not self._announces or state is None or before is None or event.client != state.leader:
            return
        if state.isr != before.isr and state.leader_epoch == before.leader_epoch:  # else the controller writes it
            self._written[event.client] = event.t_us, event.tp

    def on_crashed(self, event: NodeCrashed) -> None:
        self._written.pop(event.node, None)

    def on_written(self, event: ZkWritten) -> None:
        parent = event.path.rpartition("/")[0]
        steps = TAKEN_BY.get(f"{parent}/")
        if steps is not None and event.op != "setData":
            self._end(event.path)
            if event.op in steps and self._has_read and self.start.detects_bounces:
                self._changed.begin((event.path, steps[event.op]), event.t_us)
                self._came_us[event.path, steps[event.op]] = event.t_us
        elif event.path.startswith(ANNOUNCED) and event.path not in ANNOUNCED:
            if event.op == "delete":
                self._there.end(event.path)
                self._came_us.pop(event.path, None)
            else:
                self._written.pop(event.client, None)
                self._there.begin(event.path, event.t_us)
                self._came_us[event.path] = event.t_us

    def _end(self, path: str) -> None:
        for step in TAKES:
            self._changed.end((path, step))
            self._came_us.pop((path, step), None)

    def on_step(self, event: Step) -> None:
        if event.step == READS_BROKERS:
            self._changed.clear()
            self._has_read = event.edge == "after"
        elif event.step in TAKES:
            self._end(TAKES[event.step] + (event.topic or str(event.broker)))
        if event.node == self.cluster.controller:
            self._stepped_us = event.t_us

    def look(self, moment: Moment) -> None:
        for leader, (written_us, tp) in list(self._written.items()):
            if moment.t_us - written_us > UNANNOUNCED_US:
                del self._written[leader]
                calm = not self.now.troubled and self.now.calm_since_us <= written_us
                if calm and self.now.works(leader) and leader not in self.now.clocks:
                    self.violated(moment, IsrUnannounced(leader, moment.t_us - written_us), tp, (leader,))
        if not len(self._there) and not len(self._changed):
            return
        now_us, controller = moment.t_us, self.cluster.controller
        bound_us = SETTLING_US + 10_000 * self.cluster.count_partitions()
        for path, lasted_us in self._there.overdue(now_us, bound_us, self._since_us):
            self.violated(moment, LeftUntaken(path, lasted_us, controller))
        for (path, step), lasted_us in self._changed.overdue(now_us, bound_us, self._since_us):
            self.violated(moment, ChangeUntaken(path, step, lasted_us, controller))

    def _since_us(self, awaited: Awaited) -> int | None:
        if self._stepped_us <= self._came_us[awaited] + SETTLING_US:
            return None
        return self.now.controlled_since_us()
