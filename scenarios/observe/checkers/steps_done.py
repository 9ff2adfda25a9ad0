"""M16: a step of a procedure has done what it says when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple

from emulator.protocol import znodes
from emulator.protocol.api import AbstractControlRequest
from emulator.protocol.assignments import Replicas
from emulator.protocol.control_requests import ControlChannelClosed, ControlQueued, ReplicasChanged
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.shown import Deviated
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.step_facts import Lack, StepUndone
from scenarios.observe.past.cluster_past import broker_fails

NEW = 1
LEADER_AND_ISR, METADATA, STOP, DELETION = "LeaderAndIsr", "UpdateMetadata", "StopReplica", "StopReplica (delete)"


class Begun(NamedTuple):
    """A step that has begun, and how things were then.

    Attributes:
        queued: how many requests its controller had queued before.
        writes: how many writes ZooKeeper had applied before.
        state, replicas: the partition's, where it is about one.
        there: the znodes that exist of those that the step deletes.
        new: the brokers on which the partition's replicas are new.
    """

    queued: int
    writes: int
    state: LeaderAndIsr | None
    replicas: Replicas
    there: tuple[str, ...]
    new: tuple[int, ...]


class StepsDone(Checker):
    """A controller that ends a step of a move, a deletion, a failover or of what it does for new brokers and topics has
    done what the step says, and goes on with the next (KafkaController.onPartitionReassignment, 1.1 to 2.7;
    TopicDeletionManager; KafkaController.onControllerFailover).

    Verified: each step that another follows at once is followed by that. Of each that ends while its controller is the
        one in ZooKeeper, what it writes, deletes and sends.
        A move's: its target is assigned, and with it no other replica once the step of recording ends; the leader epoch
        has risen, and the replicas have been sent LeaderAndIsr, where the target was not in sync before it, or its
        leader stays; no replica is new after the step that brings them online; what leaves was sent StopReplica, which
        deletes where the step says so; the request for the move is gone; the last step sends UpdateMetadata to all. A
        deletion's: UpdateMetadata to all; the znodes of the topic, its settings and the
        request for its deletion are gone. A failover's: announcements from before it are gone; brokers were sent
        LeaderAndIsr of all their replicas; each move was gone on with. For a broker that starts: UpdateMetadata to all;
        for new partitions: no replica stays new. For one that shuts down: StopReplica of what it followed, whose
        ISRs it has left. A broker
        counts that registered before the controller was elected, or was sent a request since.

    Not verified: what a step leaves out that another controller has done, or that an operator has written meanwhile;
        who leads and who is stopped where a move and the deletion of its topic go on beside each other
        (TopicDeletionManager.markTopicIneligibleForDeletion finds none that is queued yet, 2.4.1); a replica that was
        added and has no state, as its leader epoch could not be raised (KafkaController.updateLeaderEpoch, 2.4.1 to
        3.0.2), or was never marked online (0.8.0), and so gets no LeaderAndIsr; that a broker which starts is sent its
        replicas (``replicas_notified``); partitions of which a replaced controller has elected the first leader
        meanwhile (KAFKA-6082); the content of the requests (``sent_as_written``); controllers that were replaced.
    """

    ids = ("M16",)
    statement = "step.after ⇒ done(step): a step of a move, a deletion or a failover has done what it says when it ends"
    fails_when = "a controller deletes a topic and leaves its settings"

    def begin(self) -> None:
        self._begun: dict[tuple[object, ...], Begun] = {}
        self._open: dict[int, int] = {}
        """By controller, how many steps it has begun and not ended."""
        self.queued: dict[int, list[tuple[int, str, AbstractControlRequest]]] = {}
        """By controller, the requests since the first of them."""
        self._addressed: dict[int, dict[int, int]] = {}
        """By controller, when each broker was sent a request last, in its term."""
        self._elected_us: dict[int, int] = {}
        self._due: dict[int, dict[tuple[str, tuple[str, int, int, int]], None]] = {}
        """By controller, the steps that come next, each with what it is for."""
        self.leaving: dict[int, None] = {}
        """The brokers that the controller has shut down, and has not seen gone since."""
        self.never_online: dict[tuple[TopicPartition, int], None] = {}
        """The replicas that a release leaves without a state as a move adds them."""
        self.followed: list[TopicPartition] = []
        """The partitions that the broker which is shut down followed before."""
        self._writes = 0
        self._written: dict[str, tuple[int, int]] = {}
        """The number of the last write of each path, and its client."""
        self.there: dict[str, dict[str, None]] = {parent: {} for parent in (*ANNOUNCED, znodes.CONFIG_TOPICS)}
        """The children of these."""
        self.new: dict[int, dict[TopicPartition, dict[int, None]]] = {}
        """By controller, the replicas that are new."""
        self.unread: dict[TopicPartition, None] = {}
        """The partitions whose state another than the controller has created since its election."""

    # -- what happens -------------------------------------------------------------------------------------------------

    def on_elected(self, event: ControllerElected) -> None:
        self.leaving.clear()
        self._due.pop(event.node, None)
        self._elected_us[event.node] = event.t_us
        self._addressed[event.node] = {}
        self.new.pop(event.node, None)
        self.unread.clear()
        self._end_all(event.node)

    def _end_all(self, node: int) -> None:
        self._begun = {key: begun for key, begun in self._begun.items() if key[-1] != node}
        self._open.pop(node, None)
        self.queued.pop(node, None)

    def on_written(self, event: ZkWritten) -> None:
        self._writes += 1
        parent, _, name = event.path.rpartition("/")
        if parent in self.there:
            if event.op == "delete":
                self.there[parent].pop(name, None)
            else:
                self.there[parent][name] = None
        self._written[event.path] = self._writes, event.client
        tp = znodes.state_path_partition(event.path) if event.op in ("create", "delete") else None
        if tp is not None:
            self.unread.pop(tp, None)
            if event.op == "create" and event.client != self.cluster.controller:
                self.unread[tp] = None

    def on_replicas(self, event: ReplicasChanged) -> None:
        new = self.new.setdefault(event.node, {})
        for tp in event.partitions if event.after == NEW or new else ():
            if event.after == NEW:
                new.setdefault(tp, {})[event.broker] = None
            elif tp in new:
                new[tp].pop(event.broker, None)

    def on_deviated(self, event: Deviated) -> None:
        if event.ticket == NEVER_ONLINE:
            self.never_online[TopicPartition.of(event.topic, event.partition), event.replica] = None

    def on_closed(self, event: ControlChannelClosed) -> None:
        self._addressed.get(event.node, {}).pop(event.broker, None)

    def on_queued(self, event: ControlQueued) -> None:
        self._addressed.setdefault(event.node, {})[event.broker] = event.t_us
        if event.node not in self._open:
            return
        request = event.request
        if isinstance(request, LeaderAndIsrRequest):
            kind = LEADER_AND_ISR
        elif isinstance(request, UpdateMetadataRequest):
            kind = METADATA
        elif isinstance(request, StopReplicaRequest):
            kind = DELETION if request.delete_partitions else STOP
        else:
            return
        self.queued.setdefault(event.node, []).append((event.broker, kind, request))

    # -- steps --------------------------------------------------------------------------------------------------------

    def on_step(self, event: Step) -> None:
        self._look_at_order(event)
        look = LOOKS.get(event.step)
        if look is None:
            return
        key = event.step, event.topic, event.partition, event.broker, event.hop, event.node
        if event.edge == "before":
            tp = _partition(event)
            state = None if tp is None else self.cluster.state(tp)
            replicas = () if tp is None else self.cluster.assignment(tp)
            queued = len(self.queued.get(event.node, ()))
            there = tuple(self.present(event)) if event.step in DELETES else ()
            if key not in self._begun:
                self._open[event.node] = self._open.get(event.node, 0) + 1
            new = () if tp is None else tuple(self.new.get(event.node, {}).get(tp, ()))
            self._begun[key] = Begun(queued, self._writes, state, replicas, there, new)
            return
        begun = self._begun.pop(key, None)
        if begun is None:
            return
        if event.node == self.cluster.controller == self.cluster.acting_controller:
            tp = _partition(event)
            for lack, brokers in look(self, event, begun):
                self.violated(event, StepUndone(event.step, event.node, lack, brokers, event.topic), tp, brokers)
        self._open[event.node] -= 1
        if not self._open[event.node]:
            del self._open[event.node]
            self.queued.pop(event.node, None)

    def _look_at_order(self, event: Step) -> None:
        if event.step == SHUTS_DOWN:
            self.leaving[event.broker] = None
            if event.edge == "before":
                shared = _shared(self, event.broker)
                self.followed = [tp for tp, state in shared if state.leader != event.broker]
        elif broker_fails(event):
            self.leaving.pop(event.broker, None)
        of = event.topic, event.partition, event.broker, event.hop
        due = self._due.setdefault(event.node, {})
        if event.edge == "after":
            following = NEXT.get(event.step)
            if following is not None:
                due[following, of] = None
        elif (event.step, of) in due:
            del due[event.step, of]
        elif due and all(step != event.step for step, _ in due):
            (step, (topic, number, *_)), *_ = due
            tp = TopicPartition.of(topic, number) if topic and number >= 0 else None
            due.clear()
            self.violated(event, StepUndone(step, event.node, "begun", (), topic), tp)

    def on_end(self, event: ControllerResigned | NodeCrashed) -> None:
        self._due.pop(event.node, None)

    # -- what is asked about them -------------------------------------------------------------------------------------

    def present(self, event: Step) -> Iterator[str]:
        """The znodes that a step deletes, as far as they exist."""
        if event.step == "delete.znodes" and self.cluster.topics.get(event.topic):
            yield znodes.topic_path(event.topic)
        elif event.step == "delete.config" and event.topic in self.there[znodes.CONFIG_TOPICS]:
            yield f"{znodes.CONFIG_TOPICS}/{event.topic}"
        elif event.step == "delete.entry" and self.cluster.is_deleting(event.topic):
            yield znodes.delete_topic_path(event.topic)
        elif event.step == "failover.F2":
            for parent in ANNOUNCED:
                yield from (f"{parent}/{name}" for name in self.there[parent])

    def foreign(self, path: str, begun: Begun) -> bool:
        """Whether another than the controller has written a znode since the step began."""
        number, client = self._written.get(path, (0, -1))
        return number > begun.writes and client != self.cluster.controller

    def last_write(self, path: str) -> int:
        """The number of the last write of a znode."""
        return self._written.get(path, (0, -1))[0]

    def known(self, node: int) -> list[int]:
        """The brokers that a controller knows."""
        return [broker for broker in self.cluster.registrations if self.knows(node, broker)]

    def knows(self, node: int, broker: int) -> bool:
        """Whether a controller knows the registration of a broker."""
        since_us = self.cluster.registered_us(broker)
        if since_us is None:
            return False
        return since_us < self._elected_us.get(node, 0) or since_us <= self._addressed.get(node, {}).get(broker, -1)

    def lacking(self, event: Step, begun: Begun, kinds: tuple[str, ...], *tps: TopicPartition) -> tuple[int, ...]:
        """The known brokers that were sent none of these requests, about these partitions, in a step."""
        return self.without(event, begun, kinds, self.known(event.node), *tps)

    def without(
        self, event: Step, begun: Begun, kinds: tuple[str, ...], brokers: list[int] | Replicas, *tps: TopicPartition
    ) -> tuple[int, ...]:
        """The brokers among these that the controller knows and has not sent such a request in a step."""
        left = {broker: dict.fromkeys(tps) for broker in brokers if self.knows(event.node, broker)}
        for broker, kind, request in self.queued.get(event.node, [])[begun.queued :]:
            if kind in kinds and broker in left:
                if not tps:
                    del left[broker]
                    continue
                for tp in request.topic_partitions():
                    left[broker].pop(tp, None)
                if not left[broker]:
                    del left[broker]
        return tuple(left)


Found = Iterator[tuple[Lack, tuple[int, ...]]]
Look = Callable[[StepsDone, Step, Begun], Found]
SHUTS_DOWN = "shutdown.1"
NEVER_ONLINE = "KafkaController.onPartitionReassignment"
FOLLOWING = (
    ("wiki", "1 2 3 4 5 6 7 8 9 10 11 12"), ("kip-455", "U1 U2 U3 check"), ("kip-455", "A1 A2"),
    ("kip-455", "B1 B2 B3 B4 B5 B6 B7 B8"), ("kafka-42", "2 3 4 5 6 7"), ("kafka-6794", "4 5 6 7 8 9 10 11"),
    ("kafka-6794", "12 13"), ("delete", "metadata dead offline start"), ("delete", "forget znodes config entry"),
    ("failover", "F1 F2 F3 F4 F5 F6 F7 F8 F9"), ("new-partition", "1 2 3 4"), ("broker-failure", "1 2 3"),
    ("broker-startup", "1 2 3 4"), ("shutdown", "1 2 3"),
)  # fmt: skip
NEXT: Mapping[str, str] = {
    f"{name}.{step}": f"{name}.{following}" for name, steps in FOLLOWING for step, following in pairwise(steps.split())
}
"""The steps that another follows at once."""
ANNOUNCED = (znodes.ISR_CHANGE_NOTIFICATION, znodes.LOG_DIR_EVENT_NOTIFICATION)
DELETES = frozenset(("delete.znodes", "delete.config", "delete.entry", "failover.F2"))


def _partition(event: Step) -> TopicPartition | None:
    return TopicPartition.of(event.topic, event.partition) if event.topic and event.partition >= 0 else None


def _target(event: Step) -> Replicas:
    """The target of the move that a step belongs to, from its detail."""
    return tuple(map(int, event.detail.removeprefix("to ").split(","))) if event.detail else ()


# -- moves ------------------------------------------------------------------------------------------------------------


def _assigned(of: StepsDone, event: Step, begun: Begun) -> Found:
    """A target that is not in sync is assigned, too (KafkaController.onPartitionReassignment, 0.8 to 2.3)."""
    tp, target = TopicPartition.of(event.topic, event.partition), set(_target(event))
    in_sync = begun.state is not None and target <= set(begun.state.isr)
    done = in_sync or target <= set(of.cluster.assignment(tp))
    if not done and not of.foreign(znodes.topic_path(tp.topic), begun):
        yield "assigned", ()


def _recorded(of: StepsDone, event: Step, begun: Begun) -> Found:
    tp = TopicPartition.of(event.topic, event.partition)
    done = of.cluster.assignment(tp) == _target(event) and not of.cluster.is_reassigning(tp)
    if not done and not of.foreign(znodes.topic_path(tp.topic), begun):
        yield "recorded", ()


def _announced(of: StepsDone, event: Step, begun: Begun) -> Found:
    """The target is not in sync: the leader epoch rises."""
    tp, before = TopicPartition.of(event.topic, event.partition), begun.state
    now, target = of.cluster.state(tp), _target(event)
    if before is None or now is None or set(target) <= set(before.isr) or set(target) <= set(now.isr):
        return
    if event.step == "kip-455.A1" and not of.cluster.is_reassigning(tp):
        return  # another order, or a move that is cancelled
    if now.leader_epoch == before.leader_epoch:
        yield "raised", ()
        return
    lacking = of.without(event, begun, (LEADER_AND_ISR,), of.cluster.assignment(tp), tp)
    if lacking:
        yield "sent", lacking


def _started(of: StepsDone, event: Step, begun: Begun) -> Found:
    """Replicas that have become new were sent LeaderAndIsr."""
    tp = TopicPartition.of(event.topic, event.partition)
    new = tuple(broker for broker in of.new.get(event.node, {}).get(tp, ()) if broker not in begun.new)
    lacking = of.without(event, begun, (LEADER_AND_ISR,), new, tp)
    if lacking:
        yield "sent", lacking


def _online(of: StepsDone, event: Step, begun: Begun) -> Found:
    tp = TopicPartition.of(event.topic, event.partition)
    left = tuple(of.new.get(event.node, {}).get(tp, ()))
    if left:
        yield "online", left


def _led(of: StepsDone, event: Step, begun: Begun) -> Found:
    """Where a replica of the target may lead, the leader epoch rises, by an election or without one."""
    tp, before, target = TopicPartition.of(event.topic, event.partition), begun.state, _target(event)
    now = of.cluster.state(tp)
    if before is None or now is None or of.cluster.is_deleting(tp.topic):
        return
    if not any(_may_lead(of, event, broker, before) for broker in target):
        return
    if now.leader_epoch == before.leader_epoch:
        yield "raised", ()
        return
    lacking = of.without(event, begun, (LEADER_AND_ISR,), target, tp)
    if lacking:
        yield "sent", lacking


def _may_lead(of: StepsDone, event: Step, broker: int, state: LeaderAndIsr) -> bool:
    up = of.knows(event.node, broker) and not (broker in of.leaving or of.cluster.lacks_dirs(broker))
    return up and broker in state.isr


def _stopped(*kinds: str) -> Look:
    def look(of: StepsDone, event: Step, begun: Begun) -> Found:
        if of.cluster.is_deleting(event.topic) or (STOP in kinds and not of.start.stops_offline):
            return
        tp, target = TopicPartition.of(event.topic, event.partition), _target(event)
        leaving = tuple(
            broker
            for broker in begun.replicas
            if not (broker in target or broker in of.leaving or of.cluster.lacks_dirs(broker))  # offline already
        )
        lacking = of.without(event, begun, kinds, leaving, tp)
        if lacking:
            yield "stopped", lacking

    return look


def _withdrawn(of: StepsDone, event: Step, begun: Begun) -> Found:
    tp = TopicPartition.of(event.topic, event.partition)
    asked = of.cluster.requested_moves().get(tp)
    if asked == _target(event) and not of.foreign(znodes.REASSIGN_PARTITIONS, begun):
        yield "withdrawn", ()


def _told(of: StepsDone, event: Step, begun: Begun) -> Found:
    tp = TopicPartition.of(event.topic, event.partition)
    lacking = of.lacking(event, begun, (METADATA,), *((tp,) if of.cluster.state(tp) is not None else ()))
    if lacking:
        yield "metadata", lacking


# -- deletions --------------------------------------------------------------------------------------------------------


def _deletion_told(of: StepsDone, event: Step, begun: Begun) -> Found:
    led = [tp for tp in of.cluster.partitions(event.topic) if of.cluster.is_registered(of.cluster.leader(tp))]
    lacking = of.lacking(event, begun, (METADATA,), *led)
    if lacking:
        yield "metadata", lacking


def _deleted(of: StepsDone, event: Step, begun: Begun) -> Found:
    left = [path for path in of.present(event) if path in begun.there]
    if any(not of.foreign(path, begun) for path in left):
        yield "deleted", ()


def _resumed(of: StepsDone, event: Step, begun: Begun) -> Found:
    """A new controller has looked at each move that ZooKeeper has."""
    for topic, partitions in of.cluster.reassigning.items():
        for number in partitions:
            tp = TopicPartition.of(topic, number)
            step = of.cluster.step(tp)
            if step is None and not of.cluster.is_deleting(topic):
                yield "resumed", ()


# -- brokers and topics -----------------------------------------------------------------------------------------------


def _all_told(of: StepsDone, event: Step, begun: Begun) -> Found:
    lacking = of.lacking(event, begun, (METADATA,)) if of.start.announces_brokers else ()
    if lacking:
        yield "metadata", lacking


def _all_sent(of: StepsDone, event: Step, begun: Begun) -> Found:
    for broker in of.known(event.node):
        if of.cluster.lacks_dirs(broker) or broker in of.leaving:
            continue
        tps = [
            tp
            for tp in of.cluster.states
            if broker in of.cluster.assignment(tp) and not of.cluster.is_deleting(tp.topic)
            if tp not in of.unread and (tp, broker) not in of.never_online and not _moves(of, tp)
        ]
        if tps and of.without(event, begun, (LEADER_AND_ISR,), [broker], *tps):
            yield "sent", (broker,)


def _moves(of: StepsDone, tp: TopicPartition) -> bool:
    cluster = of.cluster
    return cluster.open_move(tp) is not None or cluster.is_reassigning(tp) or tp in cluster.requested_moves()


def _shared(of: StepsDone, broker: int) -> list[tuple[TopicPartition, LeaderAndIsr]]:
    """The partitions that a broker shares with others, without those of topics that are to be deleted."""
    cluster = of.cluster
    return [
        (tp, state)
        for tp, state in cluster.states.items()
        if not cluster.is_deleting(tp.topic) and not _moves(of, tp)
        for replicas in [cluster.assignment(tp)]
        if broker in replicas and len(replicas) > 1
    ]


def _stopped_there(of: StepsDone, event: Step, begun: Begun) -> Found:
    followed = [tp for tp in of.followed if of.cluster.state(tp) is not None and not _moves(of, tp)]
    if followed and of.without(event, begun, (STOP, DELETION), [event.broker], *followed):
        yield "stopped", (event.broker,)


def _left_isrs(of: StepsDone, event: Step, begun: Begun) -> Found:
    """A broker that shuts down is in no ISR that another one leads, unless that has been written meanwhile."""
    for tp in of.followed:
        state, number = of.cluster.state(tp), of.last_write(znodes.state_path(tp))
        sound = state is not None and of.knows(event.node, state.leader) and not of.cluster.lacks_dirs(event.broker)
        known = tp not in of.unread and (tp, event.broker) not in of.never_online and not _moves(of, tp)
        if state is not None and sound and known and event.broker in state.isr and number <= begun.writes:
            yield "isr", (event.broker,)
            return


def _none_new(of: StepsDone, event: Step, begun: Begun) -> Found:
    new = of.new.get(event.node, {})
    left = [tp for tp in new if tp.topic == event.topic and event.partition in (-1, tp.partition) and new[tp]]
    if left:
        yield "online", tuple(dict.fromkeys(broker for tp in left for broker in new[tp]))


LOOKS: Mapping[str, Look] = {
    "wiki.1": _assigned, "kip-455.U1": _assigned,
    "wiki.2": _announced, "kip-455.A1": _announced,
    "wiki.3": _started, "kip-455.A2": _started, "kafka-42.2": _started, "kafka-6794.7": _started,
    "wiki.5": _online, "kip-455.B1": _online, "kafka-42.4": _online,
    "wiki.7": _led, "kip-455.B3": _led,
    "wiki.8": _stopped(STOP, DELETION), "kip-455.B4": _stopped(STOP, DELETION),
    "wiki.9": _stopped(DELETION), "kip-455.B5": _stopped(DELETION), "kafka-42.5": _stopped(DELETION),
    "wiki.10": _recorded, "kip-455.B6": _recorded, "kafka-42.6": _recorded,
    "wiki.11": _withdrawn, "kip-455.B7": _withdrawn, "kafka-42.7": _withdrawn, "kafka-6794.12": _withdrawn,
    "wiki.12": _told, "kip-455.B8": _told, "kafka-6794.13": _told,
    "delete.metadata": _deletion_told,
    "delete.znodes": _deleted, "delete.config": _deleted, "delete.entry": _deleted,
    "failover.F2": _deleted,
    "failover.F6": _all_sent, "failover.F8": _resumed,
    "broker-startup.1": _all_told,
    "new-partition.4": _none_new,
    "shutdown.2": _stopped_there, "shutdown.3": _left_isrs,
}  # fmt: skip
"""The look at each step that ends."""
