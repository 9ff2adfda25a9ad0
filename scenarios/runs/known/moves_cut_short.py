"""Moves that are cut short: of a partition that has never had a leader, or of a topic that is deleted or gets more
partitions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from emulator.protocol.events import (
    BrokerRegistered,
    ControllerElected,
    ControllerResigned,
    ControlRequest,
    MoveStarted,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import decode_reassigning, decode_topic, state_path_partition, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.findings.convergence_facts import Condition, MoveInTopic
from scenarios.observe.findings.isr_facts import DeadInIsr, LedElsewhere
from scenarios.observe.findings.memory_facts import BrokerRemembers, ControllerRemembers
from scenarios.runs.known.control import deleted_topic
from scenarios.runs.known.known_moves import RESUMES_MOVES, WRITES_ASSIGNMENT
from scenarios.runs.known.reason import (
    Reason,
    asks_for_moves,
    of_broker,
    of_lacking,
    of_partition,
    of_replica,
    of_violation,
)

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

NEVER_LED = "KafkaController.updateLeaderEpoch (2.4.1 to 3.0.2)"
DELETED = "ControllerContext.removeTopic (2.4.1 to 3.0.2)"
LEFT_OVER = "KafkaController.processTopicDeletion (1.1.1 to 3.9)"
OVERWRITTEN = "AdminZkClient.addPartitions (2.4.1 to 3.9)"
WAITS = "KafkaController.fetchTopicDeletionsInProgress (1.1.1 to 2.3.1)"
STARTS_BROKER = "broker-startup.1"
REFUSED = "ControllerBrokerRequestBatch.addUpdateMetadataRequestForBrokers (0.10.1 to 3.9)"
ANNOUNCES, MARKS_AS_NEW = "kip-455.A1", "kip-455.A2"
MOVES, WATCHES, ON_DISK = "moves", "watches", ("replicas", "directories")
"""The memories that a checker compares: of a controller, and of a broker."""


@of_lacking
def _never_marked_new(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that lacks its role, or is not in the ISR, came with a move of a partition without a first leader,
    and its broker has had no role since it registered last, under the same controller."""
    added = past.adds(tp, broker)[-1:]
    if not added or not _stops_halfway(past, tp, added[0], violation.seq):
        return False
    role = past.last_role(tp, broker, violation.seq)
    back = [event.seq for event in past.of(BrokerRegistered) if event.node == broker and event.seq < violation.seq]
    return bool(back) and back[-1] > added[0].seq and (role is None or role.seq < back[-1])


@of_partition
def _never_taken_offline(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The dead member of the ISR came with a move of a partition without a first leader, under the same controller."""
    facts = violation.facts
    added = past.adds(tp, facts.dead)[-1:] if isinstance(facts, DeadInIsr) else []
    return bool(added) and _stops_halfway(past, tp, added[0], violation.seq)


@of_partition
def _all_in_the_first_isr(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The move that stays was asked for before the partition had a first leader; its target is in the ISR that was
    written then, which has not changed, under the same controller."""
    if not isinstance(violation.facts, MoveInTopic):
        return False
    asked = [write for write, _ in past.assignments(tp) if past.under_way(tp, write) == WRITES_ASSIGNMENT]
    if not asked or not _stops_halfway(past, tp, asked[-1], violation.seq):
        return False
    cluster = past.cluster.at(violation.seq)
    target = set(cluster.assignment(tp)) - set(cluster.removing(tp))
    states = [state for seq, state in past.states.get(tp, []) if asked[-1].seq < seq <= violation.seq]
    isrs = [set() if state is None else set(state.isr) for state in states]
    return bool(isrs) and all(isr == isrs[0] and target <= isr for isr in isrs)


@of_violation
def _watch_never_set(past: KeptEvents, violation: Violation) -> bool:
    """The znode that the controller hears nothing of is the state of a partition that had no first leader as its move
    began, under the same controller: its read, which found no znode, left no watch."""
    facts = violation.facts
    tp = state_path_partition(facts.of) if isinstance(facts, BrokerRemembers) and facts.memory == WATCHES else None
    if tp is None:
        return False
    begun = [write for write, _ in past.assignments(tp) if past.under_way(tp, write) == WRITES_ASSIGNMENT]
    return bool(begun) and _stops_halfway(past, tp, begun[-1], violation.seq)


@of_replica
def _never_stopped(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is not assigned came with a move of a partition without a first leader, was dropped under the
    same controller, which had not made it new, and was not stopped since."""
    added, dropped = past.adds(tp, broker)[-1:], past.drops(tp, broker)[-1:]
    return (
        bool(added and dropped)
        and added[0].seq < dropped[0].seq
        and _stops_halfway(past, tp, added[0], dropped[0].seq)
        and not any(
            (event.node, event.topic, event.partition) == (broker, *tp) and dropped[0].seq < event.seq < violation.seq
            for event in past.of(ReplicaStopped)
        )
    )


@of_violation
def _each_controller_resigns(past: KeptEvents, violation: Violation) -> bool:
    """A partition without a state is moved, the controller that resigned last did so as it resumed the moves, and none
    has resumed them since."""
    cluster = past.cluster.at(violation.seq)
    moved = (TopicPartition(topic, number) for topic, moves in cluster.reassigning.items() for number in moves)
    resigned = [event for event in past.of(ControllerResigned) if event.seq < violation.seq][-1:]
    if not resigned or all(cluster.state(tp) is not None for tp in moved):
        return False
    resumes = [event for event in past.of(Step) if event.step == RESUMES_MOVES and event.seq < violation.seq]
    edges = [event.edge for event in resumes if event.node == resigned[0].node and event.seq < resigned[0].seq]
    return edges[-1:] == ["before"] and not any(
        event.edge == "after" and event.seq > resigned[0].seq for event in resumes
    )


def _stops_halfway(past: KeptEvents, tp: TopicPartition, write: ZkWritten, until_seq: int) -> bool:
    """Whether a write of the assignment began a move of a partition without a first leader, and the controller that
    wrote it has not made its replicas new since, nor been replaced."""
    return (
        past.under_way(tp, write) == WRITES_ASSIGNMENT
        and past.state(tp, write.seq) is None
        and not past.elected_between(write.seq, until_seq)
        and not any(
            event.step == MARKS_AS_NEW
            and (event.topic, event.partition) == (*tp,)
            and write.seq < event.seq < until_seq
            for event in past.of(Step)
        )
    )


@of_violation
def _left_over(past: KeptEvents, violation: Violation) -> bool:
    """All that the request in ZooKeeper asks for are moves whose topics were deleted meanwhile."""
    asked = past.cluster.at(violation.seq).requested_moves() if asks_for_moves(violation) else {}
    return bool(asked) and all(_deleted_while_asked(past, tp, violation.seq) for tp in asked)


@of_violation
def _watch_went(past: KeptEvents, violation: Violation) -> bool:
    """The znode that the controller hears nothing of is the state of a partition whose topic was deleted meanwhile."""
    facts = violation.facts
    tp = state_path_partition(facts.of) if isinstance(facts, BrokerRemembers) and facts.memory == WATCHES else None
    return tp is not None and _deleted_while_asked(past, tp, violation.seq)


def _deleted_while_asked(past: KeptEvents, tp: TopicPartition, until_seq: int) -> bool:
    """Whether the partition's topic was last deleted while /admin/reassign_partitions named the partition, by the
    controller of now."""
    gone = _last_deletion(past, tp, until_seq)
    asked = gone is not None and tp in past.cluster.before(gone.seq).requested_moves()
    return gone is not None and asked and not past.elected_between(gone.seq, until_seq)


@of_partition
def _remembered_for_good(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The controller that knows a move which nothing asks for has deleted the topic while that was under way, and has
    not been replaced since."""
    facts = violation.facts
    if not isinstance(facts, ControllerRemembers) or facts.memory != MOVES:
        return False
    gone = _deleted_while_moved(past, tp, violation.seq)
    return (
        gone is not None
        and gone.client == facts.controller
        and not past.elected_between(gone.seq, violation.seq)
        and not past.cluster.at(violation.seq).is_reassigning(tp)
    )


@of_violation
def _elections_wait(past: KeptEvents, violation: Violation) -> bool:
    """Leadership is not given back, and a topic has been deleted while one of its partitions was moved, by the
    controller of now (KafkaController.checkAndTriggerAutoLeaderRebalance, 2.4.1 to 3.3.2)."""
    if not isinstance(violation.facts, LedElsewhere):
        return False
    moved = dict.fromkeys(TopicPartition(event.topic, event.partition) for event in past.of(MoveStarted))
    deletions = (_deleted_while_moved(past, tp, violation.seq) for tp in moved)
    return any(gone is not None and not past.elected_between(gone.seq, violation.seq) for gone in deletions)


@of_broker
def _created_again(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica of a topic that is gone was deleted, and the controller that deleted the topic made the move go on
    once it had asked for that, which announced the replica once more (A1); it was not stopped since."""
    facts = violation.facts
    gone = _deleted_while_moved(past, tp, violation.seq)
    there = facts.memory in ON_DISK if isinstance(facts, BrokerRemembers) else violation.part is Condition.NO_STRAYS
    if not there or gone is None:
        return False
    stops = [e for e in past.of(ReplicaStopped) if (e.node, e.topic, e.partition) == (broker, *tp)]
    stops = [event for event in stops if event.seq < violation.seq]
    made = {event.seq: event.cause for event in past.of(ControlRequest)}  # a request may wait for those before it
    return bool(stops and stops[-1].deleted) and any(
        made.get(stops[-1].cause, stops[-1].seq) < event.seq < gone.seq
        and past.cluster.at(event.seq).is_deleting(tp.topic)
        for event in past.of(Step)
        if (event.step, event.edge, event.node) == (ANNOUNCES, "after", gone.client)
        and (event.topic, event.partition) == (*tp,)
    )


@of_partition
def _overwritten(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """Partitions were added to the topic in a write that took back what was last written of this one."""
    return any(write.seq <= violation.seq for write in _taken_back(past, tp))


def _overwritten_and_forgotten(past: KeptEvents, _: Violation | None) -> bool:
    """Each open move has had its assignment taken back so, and another controller was elected since."""
    lost = past.open_moves()
    last = max((event.seq for event in past.of(ControllerElected)), default=0)
    return bool(lost) and all(
        any(asked.seq < write.seq < last for write in _taken_back(past, tp)) for tp, asked in lost.items()
    )


def _taken_back(past: KeptEvents, tp: TopicPartition) -> list[ZkWritten]:
    """The writes that gave a topic more partitions and this one the replicas, or the moves, from before another."""
    path = topic_path(tp.topic)
    writes = [event for event in past.of(ZkWritten) if event.path == path and event.op != "delete"]
    topics = [(event, decode_topic(event.data), decode_reassigning(event.data).get(tp.partition)) for event in writes]
    return [
        write
        for (_, before, moved), (write, after, moves) in pairwise(topics)
        if tp.partition in before
        and len(after) > len(before)
        and (before[tp.partition], moved) != (after[tp.partition], moves)
    ]


def _deleted_while_moved(past: KeptEvents, tp: TopicPartition, until_seq: int) -> ZkWritten | None:
    """The last deletion of a partition's topic, where the topic's znode named its move then."""
    gone = _last_deletion(past, tp, until_seq)
    return gone if gone is not None and past.cluster.before(gone.seq).is_reassigning(tp) else None


def _last_deletion(past: KeptEvents, tp: TopicPartition, until_seq: int) -> ZkWritten | None:
    path = topic_path(tp.topic)
    deletions = [e for e in past.of(ZkWritten) if (e.op, e.path) == ("delete", path) and e.seq <= until_seq]
    return deletions[-1] if deletions else None


@of_violation
def _refused_while_deleted(past: KeptEvents, violation: Violation) -> bool:
    """The topic is to be deleted, and a move in it waits for replicas whose brokers run."""
    tp, now = violation.partition, past.cluster.now
    topic = deleted_topic(violation) or ("" if tp is None else tp.topic)
    return now.is_deleting(topic) and any(
        open_tp.topic == topic
        and (lacking := set(move.target) - set(state.isr))
        and not any(past.down(broker, violation.seq) for broker in (*lacking, state.leader))
        for open_tp, move in past.open_moves().items()
        if (state := past.state(open_tp, violation.seq)) is not None
    )


@of_violation
def _waits_for_a_refused_move(past: KeptEvents, violation: Violation) -> bool:
    """The topic was to be deleted, and its move was asked for in ZooKeeper, when the last controller was elected, which
    has seen no broker of its replicas start since."""
    tp = violation.partition
    topic = deleted_topic(violation) or (None if tp is None else tp.topic)
    elected = [event.seq for event in past.of(ControllerElected) if event.seq < violation.seq][-1:]
    if topic is None or not elected:
        return False
    then = past.cluster.before(elected[0])
    homes = {broker for replicas in then.topics.get(topic, {}).values() for broker in replicas}
    started = {event.broker for event in past.of(Step) if event.seq > elected[0] and event.step == STARTS_BROKER}
    asked = then.is_deleting(topic) and any(tp.topic == topic for tp in then.requested_moves())
    return asked and not homes & started


CUT_SHORT: tuple[Reason, ...] = (
    Reason(WAITS, _waits_for_a_refused_move),
    Reason(REFUSED, _refused_while_deleted),
    Reason(NEVER_LED, _never_marked_new),
    Reason(NEVER_LED, _all_in_the_first_isr, effect=1),
    Reason(NEVER_LED, _never_taken_offline, effect=2),
    Reason(NEVER_LED, _watch_never_set, effect=3),
    Reason(NEVER_LED, _never_stopped, effect=4),
    Reason(NEVER_LED, _each_controller_resigns, effect=5),
    Reason(LEFT_OVER, _left_over),
    Reason(LEFT_OVER, _watch_went, effect=1),
    Reason(DELETED, _remembered_for_good),
    Reason(DELETED, _created_again, effect=1),
    Reason(DELETED, _elections_wait, effect=2),
    Reason(OVERWRITTEN, _overwritten),
    Reason(OVERWRITTEN, _overwritten_and_forgotten, effect=1),
)
