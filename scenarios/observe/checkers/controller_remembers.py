"""M9: what the controller remembers is what a new one would read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from controller.states import PartitionState, ReplicaState
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected, NodeCrashed, ReplicaOffline
from emulator.protocol.shown import Remembered, RememberedMeanwhile
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.broker_memory import IN_A_ROW_US, MEANWHILE_US
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.checkers.led_in_time import SETTLING_US
from scenarios.observe.findings.memory_facts import ControllerRemembers
from scenarios.observe.history.deadlines import Lasting

WATCHED = (
    znodes.BROKER_IDS, znodes.TOPICS, znodes.ISR_CHANGE_NOTIFICATION, znodes.LOG_DIR_EVENT_NOTIFICATION,
    znodes.PREFERRED_REPLICA_ELECTION, znodes.REASSIGN_PARTITIONS,
)  # fmt: skip
"""The znodes for which every controller has a handler."""


class Misread(NamedTuple):
    """A part of one memory that is otherwise than it was read.

    Attributes:
        path: the znode that it comes from, without which nothing is compared; "": none.
    """

    memory: str
    of: str
    kept: str
    wanted: str
    path: str = ""
    partition: TopicPartition | None = None
    brokers: tuple[int, ...] = ()


class ControllerRemembersTrue(Checker):
    """A controller remembers what one that takes over now would read in ZooKeeper: brokers, assignments, leaders, ISRs,
    moves, deletions, ids of topics, its epoch. What it knows from requests and answers alone (brokers that shut down,
    log directories that have failed) is about what is so, and each replica on a broker that lives is online.

    Verified: the memory of each new controller as its failover ends (step F9), against ZooKeeper, but for znodes that
        were written since its election: it may have read them before that. When the cluster is at rest, that of the
        controller that works, whole: a change that was announced has reached it (/isr_change_notification, AlterIsr, a
        watch), and nothing is left of what is over: no topic waits for a deletion that was not asked for. Where
        auto.leader.rebalance.enable is true, the next look at preferred leaders is due. It has handlers for all that it
        watches, and as its failover ends a watch for each (at rest: ``broker_remembers``). A replica that its broker
        has lost with a log directory is offline for it (KIP-112). Before that, every 5 s, the same of a controller that
        works: what is otherwise at three looks in a row, the same each time, while no fault delays anything.

    Up to 2.3 a controller does not remember a leader epoch that it has raised alone (KAFKA-9212, 2.4), and up to 2.1
    not whether a broker has registered again (KAFKA-1120): for such releases leader epochs, and broker epochs and
    brokers that shut down, are not compared. Nor are ISRs, whose changes leaders did not announce before KAFKA-1367
    (0.9).

    Before KAFKA-6650 (2.0) a replica that goes offline before its partition has had a leader keeps its state: it is
    looked at in partitions that have one. A replica that KIP-455 adds has no state where the leader epoch could not be
    raised (KafkaController.updateLeaderEpoch, 2.4.1 to 3.0.2).

    Not verified: what is otherwise for less than 10 s while it has work to do; what waits in its queues
        (``requests_delivered``).
    """

    ids = ("M9",)
    statement = (
        "after failover and at rest context = read(Z): what the controller remembers is what a new one would read"
    )
    fails_when = "a controller deletes the announcements of ISRs unread"

    def begin(self) -> None:
        self._epochs, self._bounces = self.start.metadata_has_raised_epochs, self.start.detects_bounces
        self._isrs = self.start.announces_isrs
        self._takes_over = -1
        """The broker whose failover goes on; -1: none."""
        self._written: dict[str, None] = {}
        """The znodes that were written since its election."""
        self._reported: dict[tuple[int, str, str], None] = {}
        self._lasting: Lasting[Misread] = Lasting(MEANWHILE_US, IN_A_ROW_US)
        self._lost: dict[int, dict[TopicPartition, None]] = {}
        """By broker, the replicas that it has lost with a log directory since it was started."""
        self._ids: dict[str, str] = {}
        """The ids that the topics' znodes have (KIP-516)."""
        self._requested: Mapping[TopicPartition, object] = {}
        """The moves in /admin/reassign_partitions."""
        self._withdrawn: dict[TopicPartition, None] = {}
        """The moves whose znode another than the controller has deleted in its term: it watches for its creation only
        (PartitionReassignmentListener, 0.8; PartitionReassignmentHandler, 1.1 to 2.7), and goes on with them."""

    def on_elected(self, event: ControllerElected) -> None:
        self._takes_over = event.node
        self._written.clear()
        self._withdrawn.clear()

    def on_written(self, event: ZkWritten) -> None:
        if self._takes_over >= 0:
            self._written[event.path] = None
        if znodes.TOPIC_ID in event.data:
            self._ids[event.path.rpartition("/")[2]] = znodes.decode_topic_id(event.data)
        if event.path == znodes.REASSIGN_PARTITIONS:
            if event.op == "delete" and event.client != self.cluster.controller:
                self._withdrawn.update(dict.fromkeys(self._requested))
            self._requested = self.cluster.requested_moves()

    def on_offline(self, event: ReplicaOffline) -> None:
        self._lost.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self._lost.pop(event.node, None)

    def on_remembered(self, event: Remembered) -> None:
        if event.role != "controller":
            return
        if event.occasion == "failover" and event.node == self._takes_over:
            self._takes_over = -1
            if self.cluster.controller == event.node:
                self._compare(event, failover=True)
        elif event.occasion == "rest" and self._rests(event):
            self._compare(event, failover=False)

    def _rests(self, event: Remembered) -> bool:
        """Whether a broker is the controller, and has been for so long that it has learned of everything."""
        since_us = self.now.controlled_since_us() if event.node == self.cluster.controller else None
        return since_us is not None and event.t_us - since_us >= self.now.bound_at_rest(event.t_us, SETTLING_US)

    def _compare(self, event: Remembered, *, failover: bool) -> None:
        for found in self._misread(event, failover=failover):
            written = failover and any(found.path.startswith(path) for path in self._written) and found.path
            if not written:
                self._show(event, found, failover=failover)

    def on_remembered_meanwhile(self, event: RememberedMeanwhile) -> None:
        since_us = self.now.controlled_since_us() if event.node == self.cluster.controller else None
        if event.role == "controller" and since_us is not None and not self.now.troubled:
            found, free_us = self._misread(event, failover=False), max(since_us, self.now.calm_since_us)
            for one in self._lasting.overdue(event.node, found, event.t_us, free_us):
                self._show(event, one, failover=False)

    def _misread(self, event: Remembered, *, failover: bool) -> Iterator[Misread]:
        memories: Mapping[str, Any] = event.memories
        for compare in (*COMPARED, *(COMPARED_AT_FAILOVER if failover else COMPARED_AT_REST)):
            for found in compare(self, memories):
                if failover or found.memory != "leaders" or not self._is_fresh(found.partition, event.t_us):
                    yield found

    def _show(self, event: Remembered, found: Misread, *, failover: bool) -> None:
        key = event.node, found.memory, found.of or str(found.partition)
        if key not in self._reported:
            self._reported[key] = None
            facts = ControllerRemembers(event.node, found.memory, found.of, found.kept, found.wanted, failover)
            self.violated(event, facts, found.partition, found.brokers)

    def _is_fresh(self, tp: TopicPartition | None, now_us: int) -> bool:
        """Whether its leader may not have announced the ISR of a partition yet."""
        return tp is not None and not self.now.isr_announced(tp, now_us)

    # -- what is read at failover -------------------------------------------------------------------------------------

    def epoch(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        if memories["epoch"] != self.cluster.controller_epoch:
            yield Misread(
                "epoch", "", str(memories["epoch"]), str(self.cluster.controller_epoch), znodes.CONTROLLER_EPOCH
            )

    def brokers(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept: Mapping[int, int] = memories["brokers"]
        there = self.cluster.registrations
        for broker in dict.fromkeys((*kept, *there)):
            path = znodes.broker_path(broker)
            if (broker in kept) != (broker in there):
                yield Misread(
                    "brokers", f"broker {broker}", _alive(broker in kept), _alive(broker in there), path,
                    brokers=(broker,),
                )  # fmt: skip
            elif self._bounces and kept[broker] != there[broker].epoch:
                yield Misread(
                    "brokers", f"broker {broker}", f"epoch {kept[broker]}", f"epoch {there[broker].epoch}", path,
                    brokers=(broker,),
                )  # fmt: skip
            if (broker in memories["channels"]) != (broker in kept):
                has = _alive(broker in memories["channels"])
                yield Misread("channels", f"broker {broker}", has, _alive(broker in kept), path, brokers=(broker,))

    def assignments(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept, cluster = memories["assignments"], self.cluster
        for topic in dict.fromkeys((*kept, *cluster.topics)):
            of_topic, there = kept.get(topic, {}), cluster.topics.get(topic, {})
            for number in dict.fromkeys((*of_topic, *there)):
                if of_topic.get(number, ()) != there.get(number, ()):
                    yield Misread(
                        "assignments", "", _replicas(of_topic.get(number, ())), _replicas(there.get(number, ())),
                        znodes.topic_path(topic), TopicPartition.of(topic, number),
                    )  # fmt: skip
        watched = memories["watched_topics"]
        for topic in dict.fromkeys((*watched, *cluster.topics)):
            exists = bool(cluster.topics.get(topic))
            if (topic in watched) != exists:
                yield Misread(
                    "watched_topics", f"topic {topic}", _there(topic in watched), _there(exists),
                    znodes.topic_path(topic),
                )  # fmt: skip

    def watched(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        for path in WATCHED:
            if path not in memories["watched"]:
                yield Misread("watched", path, "no handler", "one")

    def unarmed(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        """The znodes of whose next change it will not hear. A change since its election has used a watch up, and waits
        in its queue."""
        changed = {**self._written, **dict.fromkeys(path.rpartition("/")[0] for path in self._written)}
        for path in memories["unarmed"]:
            if path in WATCHED and path not in changed:
                yield Misread("unarmed", path, "no watch", "one")

    def reassigning(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept = memories["reassigning"]
        there = {
            TopicPartition.of(topic, number): (found.adding, found.removing)
            for topic, partitions in self.cluster.reassigning.items()
            for number, found in partitions.items()
            if found.adding or found.removing
        }
        for tp in dict.fromkeys((*kept, *there)):
            if kept.get(tp) != there.get(tp):
                yield Misread(
                    "reassigning", "", _changes(kept.get(tp)), _changes(there.get(tp)), znodes.topic_path(tp.topic), tp
                )

    def leaders(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept, there = memories["leaders"], self.cluster.states
        for tp in dict.fromkeys((*kept, *there)):
            one, other = kept.get(tp), there.get(tp)
            if self.cluster.is_deleting(tp.topic) or self._same(one, other):
                continue
            yield Misread("leaders", "", _state(one), _state(other), znodes.state_path(tp), tp)

    def _same(self, kept: LeaderAndIsr | None, there: LeaderAndIsr | None) -> bool:
        if kept is None or there is None:
            return kept is there
        epochs = kept.leader_epoch == there.leader_epoch or not self._epochs
        isrs = kept.isr == there.isr or not self._isrs
        return kept.leader == there.leader and isrs and epochs

    def deletions(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept, there = memories["deletions"], self.cluster.deleting
        for topic in dict.fromkeys((*kept, *there)):
            if (topic in kept) != (topic in there):
                yield Misread(
                    "deletions", f"topic {topic}", _there(topic in kept), _there(topic in there),
                    znodes.delete_topic_path(topic),
                )  # fmt: skip

    def topic_ids(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept: Mapping[str, str] = memories["topic_ids"]
        for topic, there in self._ids.items():
            if self.cluster.topics.get(topic) and kept.get(topic) != there:
                path = znodes.topic_path(topic)
                yield Misread("topic_ids", f"topic {topic}", kept.get(topic, "nothing"), there, path)

    def left_deletions(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        for topic in memories["left_deletions"]:
            yield Misread("left_deletions", f"topic {topic}", "there", "nothing")

    def rebalance(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        if memories["rebalance_lost"]:
            yield Misread("rebalance_lost", "", "no look at preferred leaders is due", "the next one")

    # -- what it follows ----------------------------------------------------------------------------------------------

    def moves(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        kept = memories["moves"]
        asked = {**self.cluster.requested_moves(), **dict.fromkeys(memories["reassigning"], ())}
        for tp in dict.fromkeys((*kept, *asked)):
            if (tp in kept) != (tp in asked) and not (tp in kept and tp in self._withdrawn):
                yield Misread("moves", "", _there(tp in kept), _there(tp in asked), partition=tp)

    def leaving(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        for broker in memories["shutting_down"] if self._bounces else ():
            if not self.cluster.is_shutting_down(broker):
                yield Misread("shutting_down", f"broker {broker}", "there", "nothing", brokers=(broker,))

    def offline_dirs(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        for broker, lost in memories["offline_dirs"].items():
            if not self.cluster.lacks_dirs(broker):
                yield Misread(
                    "offline_dirs", f"broker {broker}", ", ".join(map(str, lost)), "nothing", brokers=(broker,)
                )

    def lost(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        """The replicas that a broker lost as their log directory failed, while it is registered."""
        kept, cluster = memories["offline_dirs"], self.cluster
        for broker, partitions in self._lost.items():
            for tp in partitions if cluster.is_registered(broker) and not cluster.is_shutting_down(broker) else ():
                if broker not in cluster.assignment(tp) or cluster.is_deleting(tp.topic) or cluster.open_move(tp):
                    continue
                if tp not in kept.get(broker, ()):
                    yield Misread(
                        "offline_dirs", f"broker {broker}", "nothing", "offline", partition=tp, brokers=(broker,)
                    )
                elif memories["replica_states"].get(broker, {}).get(tp) is None:
                    yield Misread(
                        "replica_states", f"broker {broker}", "online", "offline", partition=tp, brokers=(broker,)
                    )

    def partition_states(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        for tp, state in memories["partition_states"].items():
            led = self.cluster.is_registered(self.cluster.leader(tp))
            if led and state is not PartitionState.ONLINE and not self.cluster.is_deleting(tp.topic):
                yield Misread("partition_states", "", state.name.lower(), "a leader that is registered", partition=tp)

    def replica_states(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        cluster = self.cluster
        for broker, states in memories["replica_states"].items():
            if not cluster.is_registered(broker) or cluster.lacks_dirs(broker) or cluster.is_shutting_down(broker):
                continue
            for tp, state in states.items():
                if cluster.state(tp) is None or cluster.is_deleting(tp.topic) or cluster.open_move(tp):
                    continue
                if cluster.is_reassigning(tp) or tp in cluster.requested_moves():
                    continue
                assigned = broker in cluster.assignment(tp)
                if assigned and state is ReplicaState.NON_EXISTENT:
                    continue
                wanted = "online" if assigned else "nothing"
                yield Misread(
                    "replica_states", f"broker {broker}", state.name.lower(), wanted, partition=tp, brokers=(broker,)
                )

    def batch(self, memories: Mapping[str, Any]) -> Iterator[Misread]:
        if memories["batch"]:
            yield Misread("batch", "", f"requests for {memories['batch']} brokers", "nothing")


Compare = Callable[[ControllerRemembersTrue, Mapping[str, Any]], Iterator[Misread]]
_C = ControllerRemembersTrue
COMPARED: tuple[Compare, ...] = (
    _C.epoch,
    _C.brokers,
    _C.assignments,
    _C.watched,
    _C.reassigning,
    _C.leaders,
    _C.deletions,
    _C.batch,
    _C.topic_ids,
    _C.left_deletions,
    _C.rebalance,
)
COMPARED_AT_FAILOVER: tuple[Compare, ...] = (_C.unarmed,)
COMPARED_AT_REST: tuple[Compare, ...] = (
    _C.moves,
    _C.leaving,
    _C.offline_dirs,
    _C.lost,
    _C.partition_states,
    _C.replica_states,
)


def _alive(is_alive: bool) -> str:
    return "alive" if is_alive else "gone"


def _there(is_there: bool) -> str:
    return "there" if is_there else "nothing"


def _replicas(replicas: tuple[int, ...]) -> str:
    return str(list(replicas)) if replicas else "nothing"


def _changes(changes: tuple[tuple[int, ...], tuple[int, ...]] | None) -> str:
    return "nothing" if changes is None else f"adding {list(changes[0])}, removing {list(changes[1])}"


def _state(state: LeaderAndIsr | None) -> str:
    if state is None:
        return "nothing"
    return f"leader {state.leader} in epoch {state.leader_epoch}, ISR {list(state.isr)}"
