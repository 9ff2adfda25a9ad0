"""The state of a cluster at one moment, and the questions that can be asked about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from attrs import fields, frozen

from emulator.protocol import znodes
from emulator.protocol.assignments import ReassigningReplicas, without
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    BrokerRegistered,
    ControllerElected,
    CopyFailed,
    Fault,
    FetcherStarted,
    FetcherStopped,
    FetchPosition,
    LogDirFailed,
    MoveStarted,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    ReplicaOffline,
    RoutesChanged,
)
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.observe.past.knowledge import LedPartition, Registration, Replicas, Role
from scenarios.observe.past.table_versions import ByBroker, Table

LAST = "last"
"""The key of a table that holds one value."""

DELETED_FROM = "delete.partitions"
"""After this step a topic's partitions are gone for the controller, whatever ZooKeeper still has of them."""

_controller_of = lru_cache(256)(znodes.decode_controller)


@frozen
class FoldedState:
    """A cluster as events have shown it up to a moment. The tables are filled by ``Past``; ask the methods, or read a
    table where all of its keys are wanted.

    Attributes:
        states: by partition, its state znode. A dead broker stays leader in it, and in the ISR, until a write changes
            that.
        topics: by topic, the partitions in its znode with their replicas; none for a topic that is gone.
        reassigning: by topic, the adding and removing replicas in its znode (KIP-455).
        znodes: by path, the last write of /controller, /controller_epoch and what operators ask for below /admin.
        controller_writes: by operation (``create``, ``delete``), the last such write of /controller.
        deleting: the topics in /admin/delete_topics.
        registrations: the brokers in /brokers/ids.
        sessions: by machine, its ZooKeeper sessions that have not ended. ``newest_sessions``: the last one created,
            though it may have ended.
        expiries: by machine, the last expiry of a session. ``expired``: the machines that one has left without any.
        lives: by machine, the last start or end of its process. ``ends``: the last end.
        broker_epochs: by broker, the last registration that it knows of.
        acting: the brokers that act as controllers, in the order of their elections: more than one where a controller
            does not know yet that it was replaced. ``elected``: the last one elected, under ``LAST``.
        absent: the brokers that have registered at some time, and had no znode when the last controller was elected,
            nor since. ``known_dead``: those without a znode that this controller has loaded, or begun to handle, as
            dead, and when. ``leaving``: those that it takes for shutting down, until they register again, with
            its step.
        seen: the brokers that have ever registered.
        cut: the routes that are cut, from one machine to another.
        paused, shutting_down: brokers, with the action that began it. ``zookeeper_stopped``: likewise, under ``LAST``.
        failed_dirs: the brokers of which a log directory has failed. One that was started again counts until it has
            registered: the controller knows no better.
        roles: by broker and partition, the last role, also from before the last start of the broker.
        followed: by broker, of how many of its partitions each other broker is the leader, as it knows.
        led: by broker, the partitions that it leads, as it knows them.
        replication_factors: by broker and partition, where brokers keep them (0.8).
        fetching: by broker, the position from which it fetches each partition.
        failed: by broker, the partitions on which its replica fetchers have given up (KIP-461).
        copies_failed: by broker, the partitions whose copy to another log directory has failed.
        fetchers: by broker, its replica fetcher threads that run. ``dead_fetchers``: those that have died.
        moves: by partition, the request of a move that the controller has not finished.
        steps: by partition, the step of the protocol that its move reached last, under the acting controller.
    """

    states: Table[TopicPartition, LeaderAndIsr]
    topics: Table[str, Mapping[int, Replicas]]
    reassigning: Table[str, Mapping[int, ReassigningReplicas]]
    znodes: Table[str, ZkWritten]
    controller_writes: Table[str, ZkWritten]
    deleting: Table[str, ZkWritten]
    registrations: Table[int, Registration]
    sessions: ByBroker[int, ZkSession]
    newest_sessions: Table[int, ZkSession]
    expiries: Table[int, ZkSession]
    expired: Table[int, ZkSession]
    lives: Table[int, NodeStarted | NodeCrashed]
    ends: Table[int, NodeCrashed]
    broker_epochs: Table[int, BrokerRegistered]
    acting: Table[int, ControllerElected]
    elected: Table[str, ControllerElected]
    absent: Table[int, None]
    known_dead: Table[int, int]
    leaving: Table[int, Step]
    seen: Table[int, None]
    cut: Table[tuple[int, int], RoutesChanged]
    paused: Table[int, Fault]
    shutting_down: Table[int, Fault]
    zookeeper_stopped: Table[str, Fault]
    failed_dirs: Table[int, LogDirFailed | ReplicaOffline]
    roles: ByBroker[TopicPartition, Role]
    followed: ByBroker[int, int]
    led: ByBroker[TopicPartition, LedPartition]
    replication_factors: ByBroker[TopicPartition, int]
    fetching: ByBroker[TopicPartition, FetchPosition]
    failed: ByBroker[TopicPartition, PartitionFailed]
    copies_failed: ByBroker[TopicPartition, CopyFailed]
    fetchers: ByBroker[str, FetcherStarted]
    dead_fetchers: ByBroker[str, FetcherStopped]
    moves: Table[TopicPartition, MoveStarted]
    steps: Table[TopicPartition, Step]

    @classmethod
    def of(cls, make: Callable[[], Table[Any, Any]]) -> FoldedState:
        """The state before the first event, in tables that ``make`` makes."""
        tables: dict[str, Any] = {
            one.name: ByBroker(make) if str(one.type).startswith(ByBroker.__name__) else make() for one in fields(cls)
        }
        return cls(**tables)

    # -- partitions, as ZooKeeper has them ----------------------------------------------------------------------------

    def state(self, tp: TopicPartition) -> LeaderAndIsr | None:
        """The content of a partition's state znode; None without one."""
        return self.states.get(tp)

    def leader(self, tp: TopicPartition) -> int:
        """The leader in a partition's state znode; NO_LEADER (-1): it has none, or there is no znode."""
        state = self.states.get(tp)
        return NO_LEADER if state is None else state.leader

    def isr(self, tp: TopicPartition) -> Replicas:
        """The ISR in a partition's state znode; empty without one."""
        state = self.states.get(tp)
        return () if state is None else state.isr

    def assignment(self, tp: TopicPartition) -> Replicas:
        """A partition's replicas in the znode of its topic; empty when it is not there."""
        return self.topics.get(tp.topic, {}).get(tp.partition, ())

    def partitions(self, topic: str) -> list[TopicPartition]:
        """The partitions in a topic's znode."""
        return [TopicPartition.of(topic, partition) for partition in self.topics.get(topic, {})]

    def count_partitions(self) -> int:
        """How many partitions are in the znodes of all topics."""
        return sum(map(len, self.topics.values()))

    def all_partitions(self) -> Iterator[TopicPartition]:
        """The partitions in the znodes of all topics."""
        for topic in self.topics:
            yield from self.partitions(topic)

    def is_deleting(self, topic: str) -> bool:
        return topic in self.deleting

    # -- moves --------------------------------------------------------------------------------------------------------

    def original(self, tp: TopicPartition) -> Replicas:
        """A partition's replicas without those that the topic's znode says a move adds (KIP-455)."""
        found, replicas = self._reassigning(tp), self.assignment(tp)
        return replicas if found is None else without(replicas, found.adding)

    def adding(self, tp: TopicPartition) -> Replicas:
        """The replicas that the topic's znode says a move adds (KIP-455)."""
        found = self._reassigning(tp)
        return () if found is None else found.adding

    def removing(self, tp: TopicPartition) -> Replicas:
        """The replicas that the topic's znode says a move removes (KIP-455)."""
        found = self._reassigning(tp)
        return () if found is None else found.removing

    def is_reassigning(self, tp: TopicPartition) -> bool:
        """Whether the topic's znode names adding or removing replicas of a partition (KIP-455)."""
        return self._reassigning(tp) is not None

    def _reassigning(self, tp: TopicPartition) -> ReassigningReplicas | None:
        return self.reassigning.get(tp.topic, {}).get(tp.partition)

    def requested_moves(self) -> Mapping[TopicPartition, Replicas]:
        """The request in /admin/reassign_partitions: partition to target. Empty where it cannot be parsed, as a
        controller has it."""
        write = self.znodes.get(znodes.REASSIGN_PARTITIONS)
        return {} if write is None else _requested_moves(write.data)

    def open_move(self, tp: TopicPartition) -> MoveStarted | None:
        """The last request to move a partition, where the controller has not finished that."""
        return self.moves.get(tp)

    def step(self, tp: TopicPartition) -> Step | None:
        """The step that a partition's move has reached under the acting controller, since it was asked for."""
        step, move = self.steps.get(tp), self.moves.get(tp)
        return None if step is None or (move is not None and step.seq < move.seq) else step

    def requests(self) -> list[str]:
        """The znodes below /admin by which operators ask for a move, an election or a deletion."""
        return [path for path in self.znodes if path.startswith("/admin/")]

    # -- brokers ------------------------------------------------------------------------------------------------------

    def is_up(self, broker: int) -> bool:
        """Whether the process of a broker runs."""
        return type(self.lives.get(broker)) is NodeStarted

    def is_down(self, broker: int) -> bool:
        """Whether the process of a broker has ended, and was not started again."""
        return type(self.lives.get(broker)) is NodeCrashed

    def running(self) -> list[int]:
        """The machines whose process runs, in the order of their last starts."""
        return sorted(filter(self.is_up, self.lives), key=lambda node: self.lives[node].seq)

    def started_us(self, broker: int) -> int | None:
        """When the process of a broker was started that runs; None: none does."""
        life = self.lives.get(broker)
        return life.t_us if type(life) is NodeStarted else None

    def is_paused(self, broker: int) -> bool:
        """Whether the process of a broker stands still, as in a long GC pause."""
        return broker in self.paused

    def is_shutting_down(self, broker: int) -> bool:
        """Whether a broker has begun a controlled shutdown: one that runs, or one that has crashed in it, as far as the
        controller knows."""
        life, left = self.lives.get(broker), self.leaving.get(broker)
        return broker in self.shutting_down or (life is not None and left is not None and life.seq > left.seq)

    def is_registered(self, broker: int) -> bool:
        return broker in self.registrations

    def registered_us(self, broker: int) -> int | None:
        """When the znode of a broker was written, or when the broker got ZooKeeper's answer, if it has; None: there is
        no znode."""
        found = self.registrations.get(broker)
        return None if found is None else found.t_us

    def broker_epoch(self, broker: int) -> int:
        """The broker epoch that a broker has for its own (KIP-380); -1: it has never registered."""
        found = self.broker_epochs.get(broker)
        return -1 if found is None else found.broker_epoch

    def has_session(self, machine: int) -> bool:
        """Whether a machine has a ZooKeeper session that has not ended."""
        return bool(self.sessions.get(machine))

    def session(self, machine: int) -> ZkSession | None:
        """The newest ZooKeeper session of a machine that has not ended."""
        return next(reversed(list(self.sessions.get(machine, {}).values())), None)

    def own_session(self, machine: int) -> ZkSession | None:
        """The session of a machine's present process; None: it has lost it, or has none yet. The session of an ended
        process lives on for a while, also one that was created when the process had ended."""
        newest, life = self.newest_sessions.get(machine), self.lives.get(machine)
        if newest is None or newest.session not in self.sessions.get(machine, {}):
            return None
        runs = life is None or isinstance(life, NodeStarted)
        return newest if runs and (life is None or newest.seq > life.seq) else None

    def expiry(self, machine: int) -> ZkSession | None:
        """The expiry that has left a machine without a session; None: it has one, never had, or closed it."""
        return self.expired.get(machine)

    def was_interrupted(self, machine: int) -> bool:
        """Whether the process of a machine has ended, or a session of it has expired, at some time."""
        return machine in self.ends or machine in self.expiries

    def connected(self, one: int, other: int) -> bool:
        """Whether no route between two machines is cut, in either direction."""
        return (one, other) not in self.cut and (other, one) not in self.cut

    def lacks_dirs(self, broker: int) -> bool:
        """Whether a log directory of a broker has failed, as far as the controller knows (KIP-112)."""
        return broker in self.failed_dirs

    # -- controllers --------------------------------------------------------------------------------------------------

    @property
    def controller(self) -> int:
        """The broker in /controller; -1: none."""
        write = self.znodes.get(znodes.CONTROLLER)
        return -1 if write is None else _controller_of(write.data)

    @property
    def controller_since_us(self) -> int:
        """When /controller was created or deleted last; 0: never."""
        return max((write.t_us for write in self.controller_writes.values()), default=0)

    @property
    def acting_controller(self) -> int:
        """The broker that was elected last and acts as the controller, as it knows; -1: it has resigned or ended."""
        last = self.elected.get(LAST)
        return last.node if last is not None and self.acting.get(last.node) is last else -1

    def was_elected_last(self, broker: int) -> bool:
        """Whether no other controller has been elected since ``broker`` was."""
        last = self.elected.get(LAST)
        return last is not None and last.node == broker

    def knows_dead(self, controller: int, broker: int) -> bool:
        """Whether ``broker`` is dead and ``controller``, the last one elected, knows it. What one knows that has been
        replaced is not followed."""
        return broker in self.known_dead and self.was_elected_last(controller)

    @property
    def controller_epoch(self) -> int:
        """The content of /controller_epoch; -1: there is none."""
        write = self.znodes.get(znodes.CONTROLLER_EPOCH)
        return -1 if write is None else int(write.data)

    @property
    def epoch_owner(self) -> int:
        """The broker that wrote /controller_epoch last; -1: none has."""
        write = self.znodes.get(znodes.CONTROLLER_EPOCH)
        return -1 if write is None else write.client

    # -- what brokers know --------------------------------------------------------------------------------------------

    def role(self, broker: int, tp: TopicPartition) -> BecameLeader | BecameFollower | None:
        """The last role that a broker has taken in a partition since it started; None: it has taken none, or a
        StopReplica has ended it."""
        role = self.last_role(broker, tp)
        return None if role is None or role.stopped else role.event

    def known_leader(self, broker: int, tp: TopicPartition) -> int | None:
        """The leader of a partition that a broker knows by its role; None: it has no role."""
        role = self.last_role(broker, tp)
        return None if role is None or role.stopped else role.leader

    def leads(self, broker: int, tp: TopicPartition) -> BecameLeader | None:
        """How a broker became the leader of a partition that it leads in its own view. A StopReplica that keeps the log
        does not end that."""
        role = self.last_role(broker, tp)
        if role is None or role.stopped == "deleted" or role.offline:
            return None
        return role.event if type(role.event) is BecameLeader else None

    def follows(self, broker: int, tp: TopicPartition) -> BecameFollower | None:
        """The event by which a broker became the follower of a partition that it follows in its own view."""
        role = self.last_role(broker, tp)
        if role is None or role.stopped or role.offline:
            return None
        return role.event if type(role.event) is BecameFollower else None

    def last_role(self, broker: int, tp: TopicPartition) -> Role | None:
        """The last role that a broker has taken in a partition since it started, with what has ended it."""
        role = self.role_ever(broker, tp)
        if role is None:
            return None
        life = self.lives.get(broker)
        return role if life is None or life.seq < role.event.seq else None

    def role_ever(self, broker: int, tp: TopicPartition) -> Role | None:
        """The last role that a broker has taken in a partition, in this start or an earlier one."""
        roles = self.roles.get(broker)
        return None if roles is None else roles.get(tp)

    def as_led(self, broker: int, tp: TopicPartition) -> LedPartition | None:
        """A partition that a broker leads, as the broker knows it; None where it does not."""
        led = self.led.get(broker)
        return None if led is None else led.get(tp)

    def fetches_from(self, broker: int, tp: TopicPartition) -> int | None:
        """The leader from which a broker fetches a partition; None: it does not."""
        position = self.fetching.get(broker, {}).get(tp)
        return None if position is None else position.leader

    def has_failed(self, broker: int, tp: TopicPartition) -> bool:
        """Whether a broker's fetcher has given up on a partition (KIP-461)."""
        return tp in self.failed.get(broker, ())


@lru_cache(8)
def _requested_moves(data: str) -> Mapping[TopicPartition, Replicas]:
    try:
        return znodes.decode_reassignment(data)
    except (ValueError, KeyError, TypeError):
        return {}
