"""The past of a run, with the questions that reasons for its findings ask."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice, pairwise
from typing import Any, NamedTuple, Protocol

from controller.operations.brokers import LOST_DIRS
from controller.procedures import STEPS
from controller.shapes import SHAPES
from emulator.protocol.events import (
    AckedLost,
    BecameFollower,
    BecameLeader,
    BrokerRegistered,
    ControllerElected,
    ControlRequest,
    CopyStarted,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    LogLoaded,
    LogRecovered,
    LogReplaced,
    LogStartMoved,
    MoveStarted,
    NodeCrashed,
    Truncated,
)
from emulator.protocol.shown import Deviated
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import (
    CONTROLLER,
    REASSIGN_PARTITIONS,
    LeaderAndIsr,
    broker_path,
    decode_topic,
    topic_path,
)
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers import Violation
from scenarios.observe.past.cluster_past import Past

LEAVES_ISRS, STARTS = "broker-failure.3", "broker-startup."
LOADS_BROKERS, SHRINKS_ISRS = "failover.F3", "failover.F6"
UNKNOWN_END = 1 << 63


class Judged(Protocol):
    """A run, as far as it is looked at here."""

    @property
    def control_plane(self) -> tuple[Any, ...]: ...

    @property
    def violations(self) -> tuple[Violation, ...]: ...

    @property
    def witnesses(self) -> tuple[Deviated, ...]: ...


class RefusedWrite(NamedTuple):
    """A write of an ISR that took effect, and that its leader takes for refused.

    Attributes:
        seq: that of the write.
        wish: the leader's.
        refused_seq: when the leader learned so.
    """

    seq: int
    wish: IsrProposed
    refused_seq: int


class KeptEvents:
    """The events that a run has kept, looked at as the predicates need them. In a run so long that the oldest are not
    kept, what they would show is not shown, and its findings are new."""

    def __init__(self, run: Judged) -> None:
        self.run = run

    @cached_property
    def events(self) -> tuple[Any, ...]:
        return self.run.control_plane

    @cached_property
    def _by_kind(self) -> dict[type, list[Any]]:
        kinds: dict[type, list[Any]] = {}
        for event in self.events:
            kinds.setdefault(type(event), []).append(event)
        return kinds

    def of(self, kind: type) -> list[Any]:
        return self._by_kind.get(kind, [])

    @cached_property
    def cluster(self) -> Past:
        """The cluster at any moment of the run, as the events show it."""
        return Past.of(self.events)

    @cached_property
    def states(self) -> dict[TopicPartition, list[tuple[int, LeaderAndIsr | None]]]:
        """The values written to each state znode, each with the ``seq`` of its write."""
        return self.cluster.written_states()

    def state(self, tp: TopicPartition, until_seq: int) -> LeaderAndIsr | None:
        """The last value written to the state znode of a partition, up to ``until_seq``."""
        return self.cluster.at(until_seq).state(tp)

    def event(self, violation: Violation) -> Any:
        """The event that showed it; None where it is not kept."""
        return next((event for event in self.events if event.seq == violation.seq), None)

    def stayed_in_isr(
        self, tp: TopicPartition, broker: int, from_seq: int, to_seq: int, leader_epoch: int | None = None
    ) -> bool:
        """Whether ``broker`` was in the ISR in ZooKeeper at ``from_seq``, and in every one written up to ``to_seq``, in
        later leader epochs than ``leader_epoch`` excepted."""
        written = self.states.get(tp, [])
        before = [state for seq, state in written if seq <= from_seq][-1:]
        between = [
            state
            for seq, state in written
            if from_seq < seq <= to_seq
            and (leader_epoch is None or state is None or state.leader_epoch <= leader_epoch)
        ]
        return bool(before) and all(state is not None and broker in state.isr for state in (*before, *between))

    def lost_unflushed(self, violation: Violation) -> NodeCrashed | None:
        """The crash by which the broker that a violation is about lost what it had not flushed, or what its recovery
        then found damaged, if it stayed in the ISR from then on: for a late leader, until its epoch was over."""
        event = self.event(violation)
        tp, broker = violation.partition, violation.broker
        epoch = event.leader_epoch if type(event) in (BecameLeader, AckedLost) else None
        crashes = [event for event in self.of(NodeCrashed) if event.node == broker and event.seq < violation.seq]
        if tp is None or broker is None:
            return None
        for place, crash in reversed(list(enumerate(crashes))):
            until = crashes[place + 1].seq if place + 1 < len(crashes) else violation.seq
            if self.loses(tp, crash, until):
                found: NodeCrashed = crash
                return found if self.stayed_in_isr(tp, broker, crash.seq, violation.seq, epoch) else None
        return None

    def loses(self, tp: TopicPartition, crash: NodeCrashed, until_seq: int) -> bool:
        """Whether a crash may have cost a replica some of its log: its machine crashed, or a recovery cut the log."""
        return crash.kind == "host" or any(
            (event.node, event.topic, event.partition) == (crash.node, *tp) and crash.seq < event.seq < until_seq
            for event in self.of(LogRecovered)
        )

    def log_start(self, tp: TopicPartition, broker: int | None, before_seq: int) -> int:
        """The start of ``broker``'s log; 0 where nothing has shown it."""
        return self._log_starts(tp, broker, before_seq)[0]

    def emptied_at(self, tp: TopicPartition, broker: int | None, before_seq: int) -> int:
        """The start of ``broker``'s log when it was empty last, as it was loaded or truncated; 0: it never was. The
        broker knows nothing from before, which it does where retention empties a log as it runs."""
        return self._log_starts(tp, broker, before_seq)[1]

    def _log_starts(self, tp: TopicPartition, broker: int | None, before_seq: int) -> tuple[int, int]:
        """Both of them. A truncation empties a log where it goes before its start (Log.truncateTo), or beyond where it
        ended as it began to follow: its fetch was out of range. A copy in another directory begins empty, too."""
        start = empty = copied_from = 0
        end = UNKNOWN_END
        for event in self._of_log(tp, broker, before_seq):
            kind = type(event)
            if kind is CopyStarted:
                copied_from = start
            elif kind is LogReplaced:
                empty = copied_from
            elif kind is LogStartMoved:
                start = event.log_start_offset
            elif kind is LogLoaded:
                start, end = event.log_start_offset, event.log_end_offset
                empty = start if start == end else min(empty, start)
            elif kind is Truncated and not start <= event.log_end_offset <= end:
                start = empty = end = event.log_end_offset
            else:
                end = event.log_end_offset
        return start, empty

    def _of_log(self, tp: TopicPartition, broker: int | None, before_seq: int) -> list[Any]:
        """The events that say where the log of ``broker`` begins or ends."""
        kinds = BecameFollower, CopyStarted, LogLoaded, LogReplaced, LogStartMoved, Truncated
        found = [
            event
            for kind in kinds
            for event in self.of(kind)
            if (event.node, event.topic, event.partition) == (broker, *tp) and event.seq < before_seq
        ]
        return sorted(found, key=lambda event: event.seq)

    def down(self, broker: int, at_seq: int) -> bool:
        """Whether the last that happened to the process of ``broker`` is that it ended."""
        return self.cluster.at(at_seq).is_down(broker)

    def registered(self, broker: int, before_seq: int) -> bool:
        """Whether ZooKeeper had the znode of ``broker`` just before an event."""
        return self.cluster.before(before_seq).is_registered(broker)

    def back(self, crash: NodeCrashed) -> int:
        """The ``seq`` of a broker's registration in ZooKeeper after its crash; it may learn of it later."""
        path = broker_path(crash.node)
        writes: Iterator[int] = (e.seq for e in self.of(ZkWritten) if e.path == path and e.op == "create")
        return next((seq for seq in writes if seq > crash.seq), self.events[-1].seq)

    def lacks_replica(self, tp: TopicPartition, move: MoveStarted) -> bool:
        """Whether a broker of a move's target has registered since the request, and has had no role in the partition
        since then."""
        registered = {event.node: event.seq for event in self.of(BrokerRegistered) if event.seq > move.seq}
        roles = [e for kind in (BecameFollower, BecameLeader) for e in self.of(kind) if (e.topic, e.partition) == tp]
        return any(
            broker in registered and not any(role.node == broker and role.seq > registered[broker] for role in roles)
            for broker in move.target
        )

    def open_moves(self) -> dict[TopicPartition, MoveStarted]:
        """The moves that were asked for and have not ended, the last one of each partition. Where no tool knows of one,
        as ZooKeeper's answer was lost, those of the request that is there."""
        asked = self.cluster.now.requested_moves()
        created = [e for e in self.of(ZkWritten) if (e.path, e.op) == (REASSIGN_PARTITIONS, "create")][-1:]
        return dict(self.cluster.now.moves) or {
            tp: MoveStarted(write.t_us, write.seq, write.cause, *tp, target)
            for write in created
            for tp, target in asked.items()
        }

    def awaited(self, tp: TopicPartition, move: MoveStarted) -> tuple[int, ...]:
        """The replicas that an open move waits for to be in the ISR, as its protocol says; none where it waits for
        anything else. What counts is how far the controller has come, not one that it has replaced, and that may go
        on."""
        elected = self.of(ControllerElected)[-1:]
        steps = [
            event
            for event in self.of(Step)
            if (event.topic, event.partition) == tp
            and event.seq > move.seq
            and STEPS[event.step].reassignment
            and all(event.node == controller.node for controller in elected)
        ]
        if not steps:
            return ()
        last, state = steps[-1], self.states[tp][-1][1] if self.states.get(tp) else None
        leader = NO_LEADER if state is None else state.leader
        protocol = SHAPES[STEPS[last.step].name].make(1)
        awaited = protocol.awaits_at(last.step, last.edge, self.assignment(tp), move.target, leader)
        return () if awaited is None or awaited.alive else awaited.replicas

    def roles(
        self, tp: TopicPartition, broker: int, until_seq: int | None = None
    ) -> list[BecameFollower | BecameLeader]:
        """The roles of ``broker`` in a partition, in order, in the whole run or before ``until_seq``."""
        roles = [
            event
            for kind in (BecameFollower, BecameLeader)
            for event in self.of(kind)
            if (event.node, event.topic, event.partition) == (broker, *tp)
            and (until_seq is None or event.seq < until_seq)
        ]
        return sorted(roles, key=lambda event: event.seq)

    def last_role(
        self, tp: TopicPartition, broker: int, until_seq: int | None = None
    ) -> BecameFollower | BecameLeader | None:
        cluster = self.cluster.now if until_seq is None else self.cluster.before(until_seq)
        role = cluster.role_ever(broker, tp)
        return None if role is None else role.event

    def follows_another(self, tp: TopicPartition, broker: int) -> bool:
        """Whether the last role of ``broker`` was that of a follower of a broker that does not lead now."""
        roles = [
            event for event in self.of(BecameFollower) if (event.node, event.topic, event.partition) == (broker, *tp)
        ]
        state = self.states[tp][-1][1] if self.states.get(tp) else None
        return bool(roles) and state is not None and roles[-1].leader != state.leader

    def assignments(self, tp: TopicPartition) -> Iterator[tuple[ZkWritten, tuple[int, ...]]]:
        """The writes of the topic's znode, and what each says about the partition."""
        path = topic_path(tp.topic)
        for event in self.of(ZkWritten):
            if event.path == path:
                yield event, () if event.op == "delete" else decode_topic(event.data).get(tp.partition, ())

    def assignment(self, tp: TopicPartition, before_seq: int | None = None) -> tuple[int, ...]:
        """The replicas in the topic's znode, at the end or before an event."""
        cluster = self.cluster.now if before_seq is None else self.cluster.before(before_seq)
        return cluster.assignment(tp)

    def adds(self, tp: TopicPartition, broker: int) -> list[ZkWritten]:
        """The writes by which ``broker`` came into the assignment, in order."""
        return [write for write, comes in self._changes(tp, broker) if comes]

    def drops(self, tp: TopicPartition, broker: int) -> list[ZkWritten]:
        """The writes by which ``broker`` left the assignment, in order."""
        return [write for write, comes in self._changes(tp, broker) if not comes]

    def _changes(self, tp: TopicPartition, broker: int) -> Iterator[tuple[ZkWritten, bool]]:
        """The writes by which ``broker`` came into the assignment, or left it."""
        held = False
        for write, replicas in self.assignments(tp):
            if held != (broker in replicas):
                held = not held
                yield write, held

    def dropped(self, tp: TopicPartition, broker: int) -> ZkWritten | None:
        """The write by which ``broker`` left the assignment last; None: it was never assigned, or is."""
        drops = self.drops(tp, broker)
        return drops[-1] if drops and broker not in self.assignment(tp) else None

    def joined(self, tp: TopicPartition, broker: int, after_seq: int) -> bool:
        """Whether a leader has added ``broker`` to the ISR after an event."""
        return any(
            event.kind == "expand" and broker in event.replicas and event.seq > after_seq
            for event in self.of(IsrProposed)
            if (event.topic, event.partition) == tp
        )

    def bumps(self, tp: TopicPartition) -> Iterator[ZkWritten]:
        """The writes that raised the leader epoch and changed nothing else (KafkaController.updateLeaderEpoch)."""
        writes = {event.seq: event for event in self.of(ZkWritten)}
        for (_, before), (seq, state) in pairwise(self.states.get(tp, [])):
            if before is None or state is None or state.leader_epoch != before.leader_epoch + 1:
                continue
            if (state.leader, state.isr) == (before.leader, before.isr):
                yield writes[seq]

    def under_way(self, tp: TopicPartition, write: ZkWritten) -> str:
        """The step of the partition's move in which its controller wrote; empty: in none."""
        steps = [
            event
            for event in self.of(Step)
            if (event.topic, event.partition) == tp and event.node == write.client and event.seq < write.seq
        ]
        return steps[-1].step if steps and steps[-1].edge == "before" else ""

    def taken_for_refused(self, tp: TopicPartition) -> Iterator[RefusedWrite]:
        """The ISRs of leaders that ZooKeeper has, though the leader then learned that its wish was refused."""
        for seq, state in self.states.get(tp, []):
            if state is None:
                continue
            of_epoch = [
                event
                for kind in (IsrProposed, IsrChanged, IsrUpdateFailed)
                for event in self.of(kind)
                if (event.topic, event.partition, event.node, event.leader_epoch)
                == (*tp, state.leader, state.leader_epoch)
            ]
            wishes = [event for event in of_epoch if type(event) is IsrProposed and event.seq < seq]
            outcomes = [event for event in of_epoch if type(event) is not IsrProposed and event.seq > seq]
            outcome = min(outcomes, key=lambda event: event.seq, default=None)
            if wishes and sorted(wishes[-1].isr) == sorted(state.isr) and type(outcome) is IsrUpdateFailed:
                yield RefusedWrite(seq, wishes[-1], outcome.seq)

    def elected_between(self, first_seq: int, last_seq: int) -> bool:
        return any(first_seq < event.seq < last_seq for event in self.of(ControllerElected))

    def away(self, crash: NodeCrashed) -> int:
        """The event since which a broker that has crashed was not registered: its crash, or the end of its session if
        that came first."""
        return min([crash.seq, *self._deregistered(crash)[-1:]])

    def _deregistered(self, crash: NodeCrashed) -> list[int]:
        """The deletions of the znode of a broker that has crashed, up to its return."""
        path, back = broker_path(crash.node), self.back(crash)
        return [e.seq for e in self.of(ZkWritten) if (e.path, e.op) == (path, "delete") and e.seq < back]

    def found_gone(self, tp: TopicPartition, crash: NodeCrashed) -> bool:
        """Whether a new controller loaded the live brokers while the znode of one that had crashed was away, and went
        on until it had dealt with the replicas of the dead. One that died before took no replica out of an ISR; nor
        does one count that did so before the crash, as its session had expired, if the replica has joined since. Where
        the znode comes or goes while a controller loads, what it sends shows what it found: a request to a broker
        that has not started for it is one to a broker that it found."""
        back, deleted = self.back(crash), self._deregistered(crash)
        return bool(deleted) and any(
            begun.seq < back
            and loaded.seq > deleted[-1]
            and not self._sent_as_to_live(begun, crash.node)
            and (loaded.seq > crash.seq or self.stayed_in_isr(tp, crash.node, loaded.seq, crash.seq))
            for begun, loaded in self._failovers()
        )

    def _failovers(self) -> Iterator[tuple[Step, Step]]:
        """When each new controller that has dealt with the dead began to load the brokers, and had loaded them. One
        whose session had expired by the time it took replicas out of ISRs may have taken out none, as its writes
        failed."""
        whole = [(LOADS_BROKERS, "before"), (LOADS_BROKERS, "after"), (SHRINKS_ISRS, "before"), (SHRINKS_ISRS, "after")]
        steps = [event for event in self.of(Step) if (event.step, event.edge) in whole]
        for place, begun in enumerate(steps):
            of_it = list(islice((event for event in steps[place:] if event.node == begun.node), len(whole)))
            if [(event.step, event.edge) for event in of_it] == whole and not self._resigned(of_it[3]):
                yield begun, of_it[1]

    def _resigned(self, done: Step) -> bool:
        """Whether the controller that has done a step had lost /controller by then."""
        changes = [e for e in self.of(ZkWritten) if e.path == CONTROLLER and e.seq < done.seq]
        elected = max((e.seq for e in changes if (e.op, e.client) == ("create", done.node)), default=0)
        return any(e.op == "delete" and e.seq > elected for e in changes)

    def _sent_as_to_live(self, loads: Step, broker: int) -> bool:
        """Whether the controller that loads the brokers in ``loads`` sends ``broker`` a request before it starts."""
        started = (
            event.seq
            for event in self.of(Step)
            if (event.node, event.broker) == (loads.node, broker) and event.step.startswith(STARTS)
        )
        until = next((seq for seq in started if seq > loads.seq), self.events[-1].seq)
        return any(
            (event.node, event.broker) == (loads.node, broker) and loads.seq < event.seq < until
            for event in self.of(ControlRequest)
        )

    def failure_handled(self, broker: int, first_seq: int, last_seq: int) -> bool:
        """Whether a controller has handled the failure of ``broker`` between: the last step takes it out of its ISRs.
        One that died before may have taken it out of none; so may one whose session had expired by then, and whose
        writes failed."""
        return any(
            (step.broker, step.step, step.edge) == (broker, LEAVES_ISRS, "after")
            and first_seq < step.seq < last_seq
            and not (self._resigned(step) or step.detail == LOST_DIRS)
            for step in self.of(Step)
        )
