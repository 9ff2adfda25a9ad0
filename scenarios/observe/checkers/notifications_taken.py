"""M11: a controller takes every announcement that brokers leave for it."""

from __future__ import annotations

from controller.procedures import STEPS
from emulator.protocol import znodes
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.events import ControllerElected, LogDirFailed, NodeCrashed
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker, Gravity, Moment
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import (
    ChangeUntaken,
    DeletedUnread,
    IsrUnannounced,
    LeftUntaken,
    NotAnnounced,
)
from scenarios.observe.history.deadlines import Deadlines
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_past import BROKER_FAILS, READS_BROKERS, broker_fails

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
REQUESTS = (znodes.PREFERRED_REPLICA_ELECTION, znodes.REASSIGN_PARTITIONS)
ANNOUNCED = (znodes.ISR_CHANGE_NOTIFICATION, znodes.LOG_DIR_EVENT_NOTIFICATION)
ANNOUNCES_US = 10_000_000
DELETES_ALL = "failover.F2"
"""The step in which a new controller deletes all announcements: it reads what they are about later."""


class NotificationsTaken(Checker):
    """A controller that works reads what brokers announce to it below /isr_change_notification (0.8.2) and
    /log_dir_event_notification (KIP-112, 1.0), and deletes it; so a new one does as it takes over. It begins what a
    broker that comes or goes, a new topic, and a topic that is to be deleted ask for.

    Verified: once a second, each such znode that is there, if the controller has made a step more than 5 s after it
        came: its thread is not held. Each broker that has registered or is gone from /brokers/ids, each new topic, and
        each topic in /admin/delete_topics, until the first step of what that leads to, if the controller has made
        another one more than 5 s later. The bound begins when a controller works, and is 5 s and 10 ms for each
        partition. So /admin/preferred_replica_election, which it deletes, and
        /admin/reassign_partitions until the first step of a move.

    Also verified: an announcement that a controller deletes after its failover has been read: it has sent
        UpdateMetadata with a state of each partition that is not older than the announced one
        (KafkaController.processIsrChangeNotification, 0.8.2), or LeaderAndIsr to the broker that has lost a log
        directory (onBrokerLogDirFailure, 1.0). A broker that loses one while it is registered announces it
        (ReplicaManager.handleLogDirFailure, 1.0), within 10 s, unless it does not reach ZooKeeper or registers again.
        A leader that writes ISRs itself announces each change within 2.5 s of the time at which it has changed none for
        5 s (ReplicaManager.maybePropagateIsrChanges, 0.9 to 2.6), while nothing disturbs it from the change on.

    Not verified: announcements of ISRs after 60 s, while changes go on; other requests of operators below /admin
        (``converged``); what brokers, topics, deletions and elections ask for in releases before 2.2, which miss some
        (KAFKA-1120, 1387, 3085, 4229, 6082, 7235).
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
        self._unread: dict[str, dict[TopicPartition, int]] = {}
        """The announcements of ISRs, each with the partitions that were not sent since, and their versions then."""
        self._lost: dict[str, None] = {}
        """The announcements of log directories of which the broker was sent nothing since."""
        self._announced_by: dict[str, int] = {}
        self._clears = False
        """Whether a new controller deletes all announcements."""
        self._queued_us: dict[int, int] = {}
        """When the last controller queued a request for each broker last."""
        self._unannounced: Deadlines[int] = Deadlines()
        """The brokers that have lost a log directory, and not said so."""
        self._directories: dict[int, str] = {}
        self._leaders_announce = self.start.announces_isrs and self.start.awaits_isr_writes
        self._written: dict[int, tuple[int, TopicPartition]] = {}
        """By leader, when it last wrote an ISR that it has not announced, and of which partition."""

    def on_state(self, event: StateWritten) -> None:
        state, before = event.state, event.before
        if not self._leaders_announce or state is None or before is None or event.client != state.leader:
            return
        if state.isr != before.isr and state.leader_epoch == before.leader_epoch:  # else the controller writes it
            self._written[event.client] = event.t_us, event.tp

    def on_elected(self, _: ControllerElected) -> None:
        self._queued_us.clear()

    def on_dir_failed(self, event: LogDirFailed) -> None:
        """Not of a broker that starts, which is not registered yet."""
        since_us, started_us = self.cluster.registered_us(event.node), self.cluster.started_us(event.node)
        if not event.broker_halts and since_us is not None and since_us >= (started_us or 0):
            self._unannounced.begin(event.node, event.t_us)
            self._directories[event.node] = event.directory

    def on_crashed(self, event: NodeCrashed) -> None:
        self._unannounced.end(event.node)
        self._written.pop(event.node, None)

    def on_queued(self, event: ControlQueued) -> None:
        request, controller = event.request, self.cluster.controller
        if event.node != controller:
            return
        self._queued_us[event.broker] = event.t_us
        if self._unread and isinstance(request, UpdateMetadataRequest):
            for sent in request.partitions:
                for waiting in self._unread.values():
                    if sent.zk_version >= waiting.get(sent.tp, sent.zk_version + 1):
                        del waiting[sent.tp]
        elif self._lost and isinstance(request, LeaderAndIsrRequest):
            self._lost = {path: None for path in self._lost if self._announced_by[path] != event.broker}

    def on_written(self, event: ZkWritten) -> None:
        parent = event.path.rpartition("/")[0]
        steps = TAKEN_BY.get(f"{parent}/")
        if steps is not None and event.op != "setData":
            unseen = event.op == "delete" and (event.path, STARTS) in self._came_us
            self._end(event.path)
            if parent == znodes.BROKER_IDS:
                self._unannounced.end(event.client)
            if event.op in steps and self._has_read and self.start.detects_bounces and not unseen:
                self._changed.begin((event.path, steps[event.op]), event.t_us)
                self._came_us[event.path, steps[event.op]] = event.t_us
        elif event.path in REQUESTS and self.start.detects_bounces:
            self._comes_or_goes(event)
        elif event.path.startswith(ANNOUNCED) and event.path not in ANNOUNCED:
            self._comes_or_goes(event)
            if event.op == "delete":
                self._look_at_unread(event)
            else:
                self._written.pop(event.client, None)
                self._announces(event, parent)

    def _announces(self, event: ZkWritten, parent: str) -> None:
        self._announced_by[event.path] = event.client
        if parent == znodes.ISR_CHANGE_NOTIFICATION:
            states = ((tp, self.cluster.state(tp)) for tp in znodes.decode_isr_change(event.data))
            self._unread[event.path] = {tp: state.zk_version for tp, state in states if state is not None}
        else:
            self._lost[event.path] = None
            self._unannounced.end(znodes.decode_log_dir_event(event.data))

    def _comes_or_goes(self, event: ZkWritten) -> None:
        if event.op == "delete" or (event.path == znodes.REASSIGN_PARTITIONS and event.op != "create"):
            self._there.end(event.path)
            self._came_us.pop(event.path, None)
        else:
            self._there.begin(event.path, event.t_us)
            self._came_us[event.path] = event.t_us

    def _look_at_unread(self, event: ZkWritten) -> None:
        """An announcement is deleted, by a controller that has read it, or by one that takes over."""
        unread, broker = self._unread.pop(event.path, {}), self._announced_by.pop(event.path, -1)
        unsent = event.path in self._lost
        self._lost.pop(event.path, None)
        if self._clears or event.client != self.cluster.controller or not self._queued_us:
            return
        for tp in unread:
            state = self.cluster.state(tp)
            if state is not None and not self.cluster.is_deleting(tp.topic):
                self.violated(event, DeletedUnread(event.path, event.client, broker), tp)
        if unsent and self._has_replicas(broker):
            self.violated(event, DeletedUnread(event.path, event.client, broker), None, (broker,))

    def _has_replicas(self, broker: int) -> bool:
        """Whether the controller knows a broker, and has replicas on it that it could name in a LeaderAndIsr."""
        cluster, since_us = self.cluster, self.cluster.registered_us(broker)
        known = since_us is not None and self._queued_us.get(broker, -1) >= since_us
        return known and any(
            broker in cluster.assignment(tp) and not cluster.is_deleting(tp.topic) and not cluster.open_move(tp)
            for tp in cluster.states
        )

    def _end(self, path: str) -> None:
        for step in TAKES:
            self._changed.end((path, step))
            self._came_us.pop((path, step), None)

    def on_step(self, event: Step) -> None:
        if event.step == DELETES_ALL:
            self._clears = event.edge == "before"
        elif event.step == READS_BROKERS:
            self._clears = False
            self._changed.clear()
            self._has_read = event.edge == "after"
        elif event.step in TAKES and (event.step != BROKER_FAILS or broker_fails(event)):
            self._end(TAKES[event.step] + (event.topic or str(event.broker)))
        if STEPS[event.step].reassignment:
            self._there.end(znodes.REASSIGN_PARTITIONS)
        if event.node == self.cluster.controller:
            self._stepped_us = event.t_us

    def look(self, moment: Moment) -> None:
        for broker, lasted_us in self._unannounced.overdue(moment.t_us, ANNOUNCES_US, self._works_since_us):
            self.violated(moment, NotAnnounced(broker, self._directories[broker], lasted_us), None, (broker,))
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

    def _works_since_us(self, broker: int) -> int | None:
        return self.cluster.registered_us(broker) if self.now.works(broker) else None

    def _since_us(self, awaited: Awaited) -> int | None:
        if self._stepped_us <= self._came_us[awaited] + SETTLING_US:
            return None
        return self.now.controlled_since_us()
