"""The fold from which all that is known of a cluster's past comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from attrs import evolve, fields

from controller.operations.brokers import LOST_DIRS
from controller.procedures import STEPS
from emulator.protocol import znodes
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    BrokerRegistered,
    ControllerElected,
    ControllerResigned,
    CopyFailed,
    CopyFailureCleared,
    Fault,
    FetcherStarted,
    FetcherStopped,
    FetchPosition,
    ImpendingReplicasReceived,
    IsrChanged,
    LogDirFailed,
    MoveFinished,
    MoveStarted,
    NodeCrashed,
    NodeStarted,
    PartitionCreated,
    PartitionFailed,
    PartitionFailureCleared,
    ReplicaOffline,
    ReplicaStopped,
    RoutesChanged,
    UnassignedFollowerAdded,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.observe.past.changes import CHANGES, AssignmentWritten, LedChanged, ReassigningWritten, StateWritten
from scenarios.observe.past.cluster_state import LAST, FoldedState
from scenarios.observe.past.knowledge import LedPartition, Registration, Role, shared_led
from scenarios.observe.past.table_versions import Clock, K, Table, TableVersions, V

READS_BROKERS = "failover.F3"
BROKER_FAILS, SHUTS_DOWN = "broker-failure.1", "shutdown.1"
HEAL, PAUSE, RESUME, SHUTDOWN = "heal", "broker.pause", "broker.resume", "broker.controlled_shutdown"
ZOOKEEPER_STOPS, ZOOKEEPER_STARTS = "zookeeper.stop", "zookeeper.start"

_TOPIC_DEPTH = znodes.TOPICS.count("/") + 1
_KEPT_ZNODES = (
    znodes.CONTROLLER, znodes.CONTROLLER_EPOCH, znodes.REASSIGN_PARTITIONS, znodes.PREFERRED_REPLICA_ELECTION,
)  # fmt: skip


def broker_fails(event: Step) -> bool:
    """Whether a controller has found that a broker is gone, or there in a later epoch. It takes the same steps for one
    that has lost log directories."""
    return event.step == BROKER_FAILS and event.detail != LOST_DIRS


class Folds(Protocol):
    """Shows events to those who ask for them: a ``Trace``, or the recorded events of a run."""

    def fold(self, kind: type[Any], see: Callable[[Any], None]) -> None: ...


class Past:
    """The past of a cluster, folded from events of the control plane. The work for each event is O(1).

    Args:
        trace: the trace whose events are folded from now on. The past has to be its first reader (the room's rule of
            order).
        keeps: whether earlier states are kept, for ``at``. The memory for that grows with the run.

    Attributes:
        now: the cluster after the last event.
    """

    def __init__(self, trace: Folds, *, keeps: bool = False) -> None:
        self._clock = Clock()
        self.now = FoldedState.of((lambda: TableVersions(self._clock)) if keeps else dict)
        self._subscribers: dict[type, list[Callable[[Any], None]]] = {kind: [] for kind in CHANGES}
        self._replaced: tuple[int, Any] = (0, None)
        for kind, see in self._folds().items():
            trace.fold(kind, self._at_its_time(see) if keeps else see)

    @classmethod
    def of(cls, events: Iterable[Any]) -> Past:
        """The past of a run that has kept ``events``, in their order; it can be asked about any moment."""
        replay = PastReplay()
        past = cls(replay, keeps=True)
        replay.play(events)
        return past

    def _folds(self) -> Mapping[type, Callable[[Any], None]]:
        return {
            ZkWritten: self._written, ZkSession: self._session, NodeStarted: self._started, NodeCrashed: self._crashed,
            BrokerRegistered: self._registered, ControllerElected: self._elected, ControllerResigned: self._resigned,
            Step: self._stepped, MoveStarted: self._move_started, MoveFinished: self._move_finished,
            Fault: self._fault, RoutesChanged: self._routes, LogDirFailed: self._dir_failed,
            BecameLeader: self._leader, BecameFollower: self._follower, ReplicaStopped: self._stopped,
            ReplicaOffline: self._offline, PartitionCreated: self._created,
            ImpendingReplicasReceived: self._impending, IsrChanged: self._isr_changed,
            UnassignedFollowerAdded: self._taken_in, FetchPosition: self._position, PartitionFailed: self._failed,
            PartitionFailureCleared: self._failure_cleared, CopyFailed: self._copy_failed,
            CopyFailureCleared: self._copy_failure_cleared, FetcherStarted: self._fetcher_started,
            FetcherStopped: self._fetcher_stopped,
        }  # fmt: skip

    def _at_its_time(self, see: Callable[[Any], None]) -> Callable[[Any], None]:
        """``see``, that also notes which event the tables are changed by."""

        def see_in_time(event: Any) -> None:
            self._clock.seq = event.seq
            see(event)

        return see_in_time

    # -- what was -----------------------------------------------------------------------------------------------------

    def at(self, seq: int) -> FoldedState:
        """The cluster as it was just after event ``seq``: after the last event up to there, if that one is not kept.

        Raises: TypeError where the past keeps only what is.
        """
        self._kept(self.now.states)
        tables: dict[str, Any] = {one.name: getattr(self.now, one.name).at(seq) for one in fields(FoldedState)}
        return FoldedState(**tables)

    def before(self, seq: int) -> FoldedState:
        """The cluster as it was just before event ``seq``."""
        return self.at(seq - 1)

    def written_states(self) -> dict[TopicPartition, list[tuple[int, LeaderAndIsr | None]]]:
        """The contents of each state znode in order, each with the ``seq`` of its write; None: it was deleted.

        Raises: TypeError where the past keeps only what is.
        """
        states = self._kept(self.now.states)
        return {tp: list(states.changes(tp)) for tp in states.ever()}

    @staticmethod
    def _kept(table: Table[K, V]) -> TableVersions[K, V]:
        if not isinstance(table, TableVersions):
            raise TypeError("this past keeps only the present: make it with keeps=True")
        return table

    def replaced(self, event: Any) -> Any:
        """The value that the event in hand has replaced; None: none.

        That is, for a role that a broker takes or that ends: the ``Role`` that it had in the partition since it
        started; for a ``BrokerRegistered``: the one before it; for a ``FetchPosition``: the one that the broker had
        before; for a write of /controller_epoch: the last such write.
        """
        seq, before = self._replaced
        assert seq == event.seq, "only while the event is being handled"
        return before

    # -- changes, as they are announced -------------------------------------------------------------------------------

    def subscribe(self, kind: type, see: Callable[[Any], None]) -> None:
        """Call ``see`` with each later change of ``kind`` (``changes.CHANGES``), once ``now`` has it."""
        self._subscribers[kind].append(see)

    def _announce(self, change: Any) -> None:
        for see in self._subscribers[type(change)]:
            see(change)

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    def _written(self, event: ZkWritten) -> None:
        path = event.path
        if path.startswith(znodes.TOPICS):
            tp = znodes.state_path_partition(path)
            if tp is not None:
                self._state_written(event, tp)
            elif path.count("/") == _TOPIC_DEPTH:
                self._topic_written(event, path.rpartition("/")[2])
            return
        parent, _, name = path.rpartition("/")
        if parent == znodes.BROKER_IDS:
            self._broker_written(event, int(name))
        elif parent == znodes.DELETE_TOPICS:
            _put(self.now.znodes, path, event)
            _put(self.now.deleting, name, event)
        elif path in _KEPT_ZNODES:
            self._replaced = event.seq, self.now.znodes.get(path)
            _put(self.now.znodes, path, event)
            if path == znodes.CONTROLLER:
                self.now.controller_writes["delete" if event.op == "delete" else "create"] = event

    def _state_written(self, event: ZkWritten, tp: TopicPartition) -> None:
        states = self.now.states
        before, state = states.get(tp), None
        if event.op == "delete":
            states.pop(tp, None)
        else:
            states[tp] = state = LeaderAndIsr.decode(event.data, event.version)
        if self._subscribers[StateWritten]:
            self._announce(StateWritten(event.t_us, event.seq, event.cause, tp, state, before, event.client))

    def _topic_written(self, event: ZkWritten, topic: str) -> None:
        gone = event.op == "delete"
        before, now = self.now.topics.get(topic, {}), {} if gone else znodes.decode_topic(event.data)
        moved, moves = self.now.reassigning.get(topic, {}), {} if gone else znodes.decode_reassigning(event.data)
        self.now.topics[topic], self.now.reassigning[topic] = now, moves
        for partition in (*now, *(partition for partition in before if partition not in now)):
            had, has = before.get(partition, ()), now.get(partition, ())
            if had != has or (partition in before) != (partition in now):
                tp = TopicPartition.of(topic, partition)
                self._announce(AssignmentWritten(event.t_us, event.seq, event.cause, tp, has, had, event.client))
        for partition in {**moved, **moves}:
            if moves.get(partition) != moved.get(partition):
                tp = TopicPartition.of(topic, partition)
                self._announce(ReassigningWritten(event.t_us, event.seq, event.cause, tp, partition in moves))

    def _broker_written(self, event: ZkWritten, broker: int) -> None:
        now = self.now
        if event.op == "delete":
            now.registrations.pop(broker, None)
            return
        started_us, newest = now.started_us(broker), now.newest_sessions.get(broker)
        earlier = len(now.sessions.get(broker, ())) > 1
        if started_us is not None and newest is not None:
            earlier |= newest.t_us < started_us
        now.registrations[broker] = Registration(event.t_us, event.seq, event.zxid, earlier)
        now.seen[broker] = None
        now.known_dead.pop(broker, None)
        now.leaving.pop(broker, None)
        now.absent.pop(broker, None)
        failed, life = now.failed_dirs.get(broker), now.lives.get(broker)
        if failed is not None and life is not None and failed.seq < life.seq:
            del now.failed_dirs[broker]

    def _session(self, event: ZkSession) -> None:
        now, client = self.now, event.client
        sessions = now.sessions[client]
        if event.state == "created":
            sessions[event.session] = now.newest_sessions[client] = event
            now.expired.pop(client, None)
            return
        had = sessions.pop(event.session, None)
        if event.state == "expired":
            now.expiries[client] = event
            if had is not None and not sessions:
                now.expired[client] = event

    # -- processes ----------------------------------------------------------------------------------------------------

    def _started(self, event: NodeStarted) -> None:
        self.now.lives[event.node] = event
        self._forget(event.node)

    def _crashed(self, event: NodeCrashed) -> None:
        self.now.lives[event.node] = self.now.ends[event.node] = event
        self._forget(event.node)

    def _forget(self, node: int) -> None:
        """End what a process knew, and what was done to it. Roles stay: ``last_role`` goes by their time."""
        now = self.now
        for brokers in (now.acting, now.paused, now.shutting_down):
            brokers.pop(node, None)
        for tables in (
            now.followed, now.led, now.replication_factors, now.fetching, now.failed, now.copies_failed, now.fetchers,
            now.dead_fetchers,
        ):  # fmt: skip
            if node in tables:
                tables[node].clear()

    def _registered(self, event: BrokerRegistered) -> None:
        """The answer to the broker's request; its session may have expired before it arrives, and the znode is gone."""
        now, broker = self.now, event.node
        self._replaced = event.seq, now.broker_epochs.get(broker)
        now.broker_epochs[broker] = event
        found = now.registrations.get(broker)
        if found is not None:
            now.registrations[broker] = Registration(event.t_us, event.seq, found.epoch)

    def _fault(self, event: Fault) -> None:
        now, action = self.now, event.action
        if action == PAUSE:
            now.paused.update(dict.fromkeys(event.brokers, event))
        elif action in (RESUME, HEAL):
            for broker in event.brokers:
                now.paused.pop(broker, None)
        elif action == SHUTDOWN:
            now.shutting_down.update(dict.fromkeys(event.brokers, event))
        if action == ZOOKEEPER_STOPS:
            now.zookeeper_stopped[LAST] = event
        elif action in (ZOOKEEPER_STARTS, HEAL):
            now.zookeeper_stopped.pop(LAST, None)

    def _routes(self, event: RoutesChanged) -> None:
        for route in zip(event.sources, event.targets, strict=True):
            if event.cut:
                self.now.cut[route] = event
            else:
                self.now.cut.pop(route, None)

    def _dir_failed(self, event: LogDirFailed) -> None:
        """Also as the broker starts: which replicas were there is then in no event."""
        self.now.failed_dirs[event.node] = event

    # -- controllers and moves ----------------------------------------------------------------------------------------

    def _elected(self, event: ControllerElected) -> None:
        now = self.now
        now.acting.pop(event.node, None)
        now.acting[event.node] = now.elected[LAST] = event
        now.known_dead.clear()
        now.leaving.clear()
        now.absent.clear()
        now.absent.update({broker: None for broker in now.seen if broker not in now.registrations})

    def _resigned(self, event: ControllerResigned) -> None:
        self.now.acting.pop(event.node, None)

    def _stepped(self, event: Step) -> None:
        now = self.now
        if event.step == READS_BROKERS and event.edge == "after":
            if now.was_elected_last(event.node):
                now.known_dead.update(dict.fromkeys(now.absent, event.t_us))
        elif event.step == SHUTS_DOWN:
            if now.was_elected_last(event.node):
                now.leaving[event.broker] = event
        elif broker_fails(event) and event.edge == "before" and event.broker not in now.registrations:
            if now.was_elected_last(event.node):
                now.known_dead[event.broker] = event.t_us
        elif event.topic and event.partition >= 0 and now.acting_controller in (-1, event.node):
            procedure = STEPS.get(event.step)  # a controller that has been replaced may not know it yet
            if procedure is not None and procedure.reassignment:
                now.steps[TopicPartition.of(event.topic, event.partition)] = event

    def _move_started(self, event: MoveStarted) -> None:
        self.now.moves[TopicPartition.of(event.topic, event.partition)] = event

    def _move_finished(self, event: MoveFinished) -> None:
        self.now.moves.pop(TopicPartition.of(event.topic, event.partition), None)

    # -- roles --------------------------------------------------------------------------------------------------------

    def _leader(self, event: BecameLeader) -> None:
        node, tp = event.node, TopicPartition.of(event.topic, event.partition)
        self._take(tp, event)
        known = self.now.as_led(node, tp)
        current = None if known is None else known.current
        factor = self.now.replication_factors[node].get(tp, 0)
        self._set_led(event, tp, shared_led(event.isr, event.replicas, event.adding, event.removing, current, factor))

    def _follower(self, event: BecameFollower) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._take(tp, event)
        self._set_led(event, tp, None)

    def _take(self, tp: TopicPartition, event: BecameLeader | BecameFollower) -> None:
        before = self.now.last_role(event.node, tp)
        self._replaced = event.seq, before
        opened_us = event.t_us if before is None else before.opened_us
        self.now.roles[event.node][tp] = role = Role(event, opened_us)
        self._count_follower(event.node, before, -1)
        self._count_follower(event.node, role, 1)

    def _stopped(self, event: ReplicaStopped) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._end_role(event, tp, stopped="deleted" if event.deleted else "kept")
        if event.deleted:
            self._set_led(event, tp, None)

    def _offline(self, event: ReplicaOffline) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self.now.failed_dirs[event.node] = event
        self._end_role(event, tp, offline=True)
        self._set_led(event, tp, None)

    def _end_role(self, event: ReplicaStopped | ReplicaOffline, tp: TopicPartition, **ends: Any) -> None:
        before = self.now.last_role(event.node, tp)
        self._replaced = event.seq, before
        if before is not None and before.stopped != "deleted":
            role = self.now.roles[event.node][tp] = before._replace(**ends)
            self._count_follower(event.node, before, -1)
            self._count_follower(event.node, role, 1)

    def _count_follower(self, node: int, role: Role | None, change: int) -> None:
        if role is not None and not role.stopped and role.leader != node:
            followed = self.now.followed[node]
            followed[role.leader] = followed.get(role.leader, 0) + change

    # -- what leaders know --------------------------------------------------------------------------------------------

    def _set_led(self, event: Any, tp: TopicPartition, known: LedPartition | None) -> None:
        led = self.now.led[event.node]
        before = led.pop(tp, None)
        if known is not None:
            led[tp] = known
        self._announce(LedChanged(event.t_us, event.seq, event.cause, event.node, tp, before, known))

    def _created(self, event: PartitionCreated) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self.now.replication_factors[event.node][tp] = event.replication_factor

    def _impending(self, event: ImpendingReplicasReceived) -> None:
        """Comes before ``BecameLeader``, so the current replicas are kept for that."""
        tp = TopicPartition.of(event.topic, event.partition)
        known = self.now.as_led(event.node, tp) or LedPartition((), (), (), ())
        current = event.current if event.impending else None
        self._set_led(event, tp, evolve(known, current=current))

    def _isr_changed(self, event: IsrChanged) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        known = self.now.as_led(event.node, tp)
        if known is not None:
            self._set_led(event, tp, evolve(known, isr=event.isr))

    def _taken_in(self, event: UnassignedFollowerAdded) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        known = self.now.as_led(event.node, tp)
        if known is not None:
            self._set_led(event, tp, evolve(known, replicas=(*known.replicas, event.broker)))

    # -- fetchers -----------------------------------------------------------------------------------------------------

    def _position(self, event: FetchPosition) -> None:
        fetching, tp = self.now.fetching[event.node], TopicPartition.of(event.topic, event.partition)
        self._replaced = event.seq, fetching.get(tp)
        if event.offset < 0:
            fetching.pop(tp, None)
        else:
            fetching[tp] = event

    def _failed(self, event: PartitionFailed) -> None:
        self.now.failed[event.node][TopicPartition.of(event.topic, event.partition)] = event

    def _failure_cleared(self, event: PartitionFailureCleared) -> None:
        self.now.failed[event.node].pop(TopicPartition.of(event.topic, event.partition), None)

    def _copy_failed(self, event: CopyFailed) -> None:
        self.now.copies_failed[event.node][TopicPartition.of(event.topic, event.partition)] = event

    def _copy_failure_cleared(self, event: CopyFailureCleared) -> None:
        self.now.copies_failed[event.node].pop(TopicPartition.of(event.topic, event.partition), None)

    def _fetcher_started(self, event: FetcherStarted) -> None:
        self.now.fetchers[event.node][event.fetcher] = event
        self.now.dead_fetchers[event.node].pop(event.fetcher, None)

    def _fetcher_stopped(self, event: FetcherStopped) -> None:
        self.now.fetchers[event.node].pop(event.fetcher, None)
        if event.reason == "died":
            self.now.dead_fetchers[event.node][event.fetcher] = event


class PastReplay:
    """Shows recorded events to folds, as ``Trace`` does while a run goes on. Events with columns come as their rows."""

    def __init__(self) -> None:
        self._folds: dict[type, list[Callable[[Any], None]]] = {}

    @property
    def kinds(self) -> Iterable[type]:
        """The kinds of events that are asked for."""
        return self._folds.keys()

    def fold(self, kind: type[Any], see: Callable[[Any], None]) -> None:
        self._folds.setdefault(kind, []).append(see)

    def play(self, events: Iterable[Any]) -> None:
        for event in events:
            for see in self._folds.get(type(event), ()):
                see(event)


def _put(table: Table[str, ZkWritten], key: str, write: ZkWritten) -> None:
    if write.op == "delete":
        table.pop(key, None)
    else:
        table[key] = write
