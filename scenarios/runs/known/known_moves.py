"""Moves: what is dropped, left behind or never ends."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from emulator.protocol.events import (
    BecameLeader,
    BrokerRegistered,
    ControllerElected,
    ControlResponse,
    LeaderElected,
    MoveAnswered,
    MoveFinished,
    MoveStarted,
    PartitionCreated,
    PartitionFailed,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, LeaderAndIsr, decode_reassignment
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.findings.gauge_facts import OfflineCounted
from scenarios.observe.findings.memory_facts import ControllerRemembers
from scenarios.runs.known.ledger import witnesses
from scenarios.runs.known.reason import (
    Reason,
    and_what_follows,
    asks_for_moves,
    of_lacking,
    of_partition,
    of_replica,
    of_violation,
    or_awaited,
    or_left_alone,
)

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

READS_MOVES, RESUMES_MOVES = "failover.F3", "failover.F8"
BEGINS_MOVES = "wiki.1"
BY_ZNODE = ("kafka-42.", "wiki.", "kafka-6794.")
DROPS_REPLICAS = ("wiki.8", "kip-455.U3", "kip-455.B4")
WRITES_ASSIGNMENT, ENDS_MOVE = "kip-455.U1", "kip-455.B6"
TAKES_OFFLINE = "broker-failure.3"
HANDLES_BROKERS = (TAKES_OFFLINE, "broker-startup.2")
"""Steps in which replicas of a broker that has ended go offline, and those of a restarted one come online."""
ELECTS_LEADERS = ("broker-startup.3", "broker-failure.2")


def _deleted_unread(past: KeptEvents, violation: Violation | None) -> bool:
    """The request for the move of the violation, or else for each open move, was deleted unread. Either a new
    controller had begun to read the moves before the request was made, and deleted it as it resumed the moves that it
    knew. Or a controller had deleted an earlier request, and deleted this one as it got to the end of its list."""
    tp = None if violation is None else violation.partition
    lost = tuple(past.open_moves()) if tp is None else (tp,)
    writes = [event for event in past.of(ZkWritten) if event.path == REASSIGN_PARTITIONS]
    unread: dict[TopicPartition, None] = {}
    for before, asked, deleted in zip([None, *writes], writes, writes[1:], strict=False):
        if (asked.op, deleted.op) != ("create", "delete"):
            continue
        if _as_it_takes_over(past, asked, deleted) or _once_more(past, before, asked, deleted):
            unread |= dict.fromkeys(decode_reassignment(asked.data))
    return bool(lost) and all(tp in unread for tp in lost)


def _deleted_unread_by_znode(past: KeptEvents, violation: Violation | None) -> bool:
    """The request was deleted unread (``_deleted_unread``), and steps show a protocol of the znode: under KIP-455 a new
    controller reads the request as it resumes moves."""
    return any(event.step.startswith(BY_ZNODE) for event in past.of(Step)) and _deleted_unread(past, violation)


def _once_more(past: KeptEvents, before: ZkWritten | None, asked: ZkWritten, deleted: ZkWritten) -> bool:
    """Whether the controller that deleted a request had deleted the one before, and has begun none of its moves."""
    if before is None or (before.op, before.client) != ("delete", deleted.client):
        return False
    partitions = decode_reassignment(asked.data)
    return not any(
        TopicPartition(event.topic, event.partition) in partitions
        for event in past.of(Step)
        if asked.seq < event.seq < deleted.seq and event.step == BEGINS_MOVES
    )


def _as_it_takes_over(past: KeptEvents, asked: ZkWritten, deleted: ZkWritten) -> bool:
    """Whether the controller that deleted the request was then resuming moves, and had begun to read them before."""
    steps = [event for event in past.of(Step) if event.node == deleted.client and event.seq < deleted.seq]
    reads = [event.seq for event in steps if (event.step, event.edge) == (READS_MOVES, "before")]
    resumes = [event.edge for event in steps if event.step == RESUMES_MOVES]
    return bool(reads) and reads[-1] < asked.seq and resumes[-1:] == ["before"]


@of_replica
def _begun_twice(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is still new came with a move by the znode that the controller began as it took over, and that
    was asked for after its election and before it had read the moves: it is dropped with its first half done."""
    facts = violation.facts
    if not isinstance(facts, ControllerRemembers) or (facts.memory, facts.kept) != ("replica_states", "new"):
        return False
    asked = [e for e in past.of(ZkWritten) if (e.op, e.path) == ("create", REASSIGN_PARTITIONS)]
    asked = [e for e in asked if e.seq < violation.seq and broker in decode_reassignment(e.data).get(tp, ())]
    elected = [e for e in past.of(ControllerElected) if e.seq < violation.seq][-1:]
    if not asked or not elected or elected[0].node != facts.controller or asked[-1].seq < elected[0].seq:
        return False
    steps = [e for e in past.of(Step) if e.node == facts.controller and asked[-1].seq < e.seq < violation.seq]
    of_move = [e for e in steps if (e.topic, e.partition) == (*tp,) and e.step.startswith(BY_ZNODE)]
    resumed = [e.seq for e in steps if (e.step, e.edge) == (RESUMES_MOVES, "after")]
    return (
        any((e.step, e.edge) == (READS_MOVES, "after") for e in steps)
        and bool(of_move and resumed)
        and of_move[-1].seq < resumed[0]
    )


def _refused_for_a_dead_broker(past: KeptEvents, _: Violation | None) -> bool:
    """No move is open, and each that has ended without its target had a broker there that was not registered when it
    was asked for, or ended, or when the controller that ended it had not yet read which brokers there are."""
    asked = {TopicPartition(event.topic, event.partition): event for event in past.of(MoveStarted)}
    ends = {TopicPartition(event.topic, event.partition): event.seq for event in past.of(MoveFinished)}
    failed = {tp: move for tp, move in asked.items() if past.assignment(tp) != move.target}
    return (
        bool(failed)
        and not past.open_moves()
        and all(
            any(
                not past.registered(broker, seq)
                for broker in move.target
                for seq in (move.seq, _last_elected(past, ends[tp]), ends[tp])
            )
            for tp, move in failed.items()
        )
    )


def _last_elected(past: KeptEvents, before_seq: int) -> int:
    """The event with which the last controller before another event was elected; that event where there is none."""
    return max((event.seq for event in past.of(ControllerElected) if event.seq < before_seq), default=before_seq)


def _lost_with_its_controller(past: KeptEvents, _: Violation | None) -> bool:
    """Each move that has not ended was asked for through the API, which answered no more than that the time was over.
    None had begun when another controller was elected."""
    lost = past.open_moves()
    return bool(lost) and all(
        _never_begun(past, tp, asked)
        and [e.error for e in past.of(MoveAnswered) if (e.topic, e.partition) == tp and e.seq > asked.seq][-1:]
        == ["REQUEST_TIMED_OUT"]
        for tp, asked in lost.items()
    )


def _never_begun(past: KeptEvents, tp: TopicPartition, asked: MoveStarted) -> bool:
    """Whether a controller was elected since a request and none has written the move's assignment: a controller that
    dies before that write loses the move."""
    begun = any(
        (e.topic, e.partition, e.edge) == (*tp, "after") and e.seq > asked.seq
        for e in past.of(Step)
        if e.step == WRITES_ASSIGNMENT
    )
    return not begun and any(event.seq > asked.seq for event in past.of(ControllerElected))


@of_partition
def _dropped_the_whole_isr(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """All members of the ISR were new replicas of a move, and left the assignment in one write as it was cancelled or
    changed, when they were the ISR already."""
    states = past.states.get(tp, [])
    last = states[-1][1] if states else None
    if last is None or last.leader >= 0 or not last.isr:
        return False
    write = past.dropped(tp, last.isr[0])
    if write is None or any(past.dropped(tp, broker) != write for broker in last.isr):
        return False
    before = next((state for seq, state in reversed(states) if seq < write.seq), None)
    return before is not None and set(before.isr) == set(last.isr) and past.under_way(tp, write) == WRITES_ASSIGNMENT


@of_violation
def _led_by_a_dropped_replica(past: KeptEvents, violation: Violation) -> bool:
    """The partition lost its leader in a step of its move. Where the gauge of offline partitions is reported, it
    leaves out exactly the partitions that lost their leader in this way."""
    counted = violation.facts
    if not isinstance(counted, OfflineCounted):
        tp = violation.partition
        return tp is not None and _lost_its_leader(past, tp, violation.seq)
    return counted.leaderless - counted.shown == sum(_lost_its_leader(past, tp, violation.seq) for tp in past.states)


@of_partition
def _assigned_to_the_leaderless(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The partition has no leader, and each member of the ISR that is assigned was not when the last leader went: a
    move has assigned it since (U1), and nothing has happened since that makes a controller elect leaders."""
    written = [(seq, state) for seq, state in past.states.get(tp, []) if seq <= violation.seq and state is not None]
    lost = [seq for (_, before), (seq, state) in pairwise(written) if before.leader >= 0 > state.leader]
    last = written[-1][1] if written else None
    if not lost or last is None or last.leader >= 0:
        return False
    members = [broker for broker in last.isr if broker in past.assignment(tp, violation.seq)]
    added = [write for broker in members for write in past.adds(tp, broker)[-1:]]
    return bool(members) and all(
        write.seq > lost[-1] and past.under_way(tp, write) == WRITES_ASSIGNMENT and not _elects_after(past, write.seq)
        for write in added
    )


def _elects_after(past: KeptEvents, seq: int) -> bool:
    """Whether a controller has tried to elect leaders for all partitions without one
    (PartitionStateMachine.triggerOnlinePartitionStateChange)."""
    return any(event.seq > seq for event in past.of(ControllerElected)) or any(
        event.seq > seq and event.step in ELECTS_LEADERS for event in past.of(Step)
    )


def _lost_its_leader(past: KeptEvents, tp: TopicPartition, until_seq: int) -> bool:
    """Whether a partition has no leader since a controller took one out of the ISR in a step of its move."""
    written = [(seq, state) for seq, state in past.states.get(tp, []) if seq <= until_seq and state is not None]
    for (_, before), (seq, state) in reversed(list(pairwise(written))):
        if state.leader >= 0:
            return False
        if before.leader >= 0:
            write = next(event for event in past.of(ZkWritten) if event.seq == seq)
            return past.under_way(tp, write) in DROPS_REPLICAS
    return False


@or_awaited
def _fenced_by_a_bump(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that was given up or is not in the ISR was sent the leader epoch from before a move had raised it,
    after that: it took its role under that epoch, or had it and refuses what is not newer."""
    role = past.last_role(tp, broker)
    if role is None:
        return False
    fenced = any(
        (event.node, event.topic, event.partition, event.reason) == (broker, *tp, "FENCED_LEADER_EPOCH")
        for event in past.of(PartitionFailed)
        if event.seq > role.seq
    )
    sent = [role.seq] + [
        event.seq
        for event in past.of(ControlResponse)
        if (event.api, event.node) == ("LeaderAndIsr", broker) and str(tp) in event.refused and event.seq > role.seq
    ]
    return fenced and any(
        write.seq < max(sent)
        and LeaderAndIsr.decode(write.data, write.version).leader_epoch == role.leader_epoch + 1
        and past.under_way(tp, write) != ""
        for write in past.bumps(tp)
    )


@or_left_alone
def _dropped_and_not_stopped(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is not assigned was dropped by a move that was cancelled or changed (U1), and the controller was
    replaced before the replica's broker had stopped anything for it."""
    dropped = past.dropped(tp, broker)
    if dropped is None:
        return False
    replaced = next((e.seq for e in past.of(ControllerElected) if e.seq > dropped.seq), None)
    if past.under_way(tp, dropped) != WRITES_ASSIGNMENT or replaced is None:
        return False
    return not any(
        (event.api, event.node, event.error) == ("StopReplica", broker, "NONE") and dropped.seq < event.seq < replaced
        for event in past.of(ControlResponse)
    )


@or_left_alone
def _stop_refused(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is not assigned was dropped by a move that was cancelled or changed, and its broker has refused
    to stop it since, for its leader epoch."""
    dropped = past.dropped(tp, broker)
    if dropped is None or past.under_way(tp, dropped) != WRITES_ASSIGNMENT:
        return False
    return bool(witnesses(past, "KAFKA-13972", tp, broker, dropped.seq, violation.seq)) and not any(
        (event.node, event.topic, event.partition) == (broker, *tp) and event.seq > dropped.seq
        for event in past.of(ReplicaStopped)
    )


@or_left_alone
def _came_back_unmarked(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is not assigned was dropped at the end of a move that its controller could not stop it in: that
    controller had dropped it before, as a move was changed (U1: NonExistentReplica), and the request that assigned it
    again found all of its target in the ISR, so that the replica was never new."""
    dropped = past.dropped(tp, broker)
    if dropped is None or past.under_way(tp, dropped) != ENDS_MOVE:
        return False
    back = past.adds(tp, broker)[-1]
    before = [drop for drop in past.drops(tp, broker) if drop.seq < back.seq]
    state = past.state(tp, back.seq)
    return (
        bool(before)
        and past.under_way(tp, before[-1]) == past.under_way(tp, back) == WRITES_ASSIGNMENT
        and not past.elected_between(before[-1].seq, dropped.seq)
        and state is not None
        and broker in state.isr
    )


@of_partition
def _epoch_unknown(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The last that happened to the partition is that a move raised its leader epoch alone; no controller was elected
    since, which would have read it."""
    if not past.states.get(tp):
        return False
    last = past.states[tp][-1][0]
    return any(
        write.seq == last and past.under_way(tp, write) and not past.elected_between(last, violation.seq)
        for write in past.bumps(tp)
    )


@of_violation
def _never_started(past: KeptEvents, violation: Violation) -> bool:
    """Each move that KAFKA-42 left undone has a new replica that does not follow the leader: on a broker that
    registered after the request and was not sent the partition since, as the controller takes the replica for started
    (ReplicaStateMachine, 0.8.0), or of a leader elected since, of which only those assigned are notified
    (PartitionStateMachine.electLeaderForPartition)."""
    if not asks_for_moves(violation):
        return False
    moves = past.open_moves()
    waits = any(event.step == "kafka-42.3" and event.edge == "before" for event in past.of(Step))
    return waits and bool(moves) and all(_lacks_replica(past, tp, move) for tp, move in moves.items())


def _lacks_replica(past: KeptEvents, tp: TopicPartition, move: MoveStarted) -> bool:
    new = [broker for broker in move.target if broker not in past.assignment(tp)]
    return past.lacks_replica(tp, move) or any(
        past.follows_another(tp, broker) or _not_notified(past, tp, move, broker) for broker in new
    )


def _not_notified(past: KeptEvents, tp: TopicPartition, move: MoveStarted, broker: int) -> bool:
    """Whether a new replica has had no role since a leader was elected during its move, as where the one before was
    dead when the broker was notified of it (0.8, seed 69)."""
    elected = [event.seq for event in past.of(LeaderElected) if (event.topic, event.partition) == tp]
    role = past.last_role(tp, broker)
    return move.seq < max(elected, default=-1) and (role is None or role.seq < elected[-1])


@of_lacking
def _assigned_too_late(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that lacks its role, or is not in the ISR, has had no role since the last leader was elected, or its
    broker registered; then it was not assigned yet, as a move that has ended since was under way."""
    role = past.last_role(tp, broker)
    missed = [event.seq for event in past.of(LeaderElected) if (event.topic, event.partition) == tp]
    missed += [event.seq for event in past.of(BrokerRegistered) if event.node == broker]
    missed = [seq for seq in missed if seq > (-1 if role is None else role.seq)]
    asked = [e.seq for e in past.of(MoveStarted) if (e.topic, e.partition) == tp and broker in e.target]
    return bool(missed and asked) and all(seq > asked[0] and broker not in past.assignment(tp, seq) for seq in missed)


@of_replica
def _never_assigned(past: KeptEvents, _: Violation, tp: TopicPartition, left: int) -> bool:
    """The replica is of a move's target, and has come to its broker, or got its role, since that was asked for; no move
    has ended with it, but earlier ones that are over."""
    dropped, role = past.dropped(tp, left), past.last_role(tp, left)
    came = [e.seq for e in past.of(PartitionCreated) if (e.node, e.topic, e.partition) == (left, *tp)]
    latest = max((-1 if role is None else role.seq, *came))
    since = 0 if dropped is None else dropped.seq
    return any(
        left in move.target and since < move.seq < latest
        for move in past.of(MoveStarted)
        if (move.topic, move.partition) == tp
    )


@of_lacking
def _never_marked_online(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that lacks its role, or is not in the ISR, is none to the controller, which could not mark it as
    online when a move brought it."""
    return broker in past.assignment(tp, violation.seq) and _is_unmarked(past, tp, broker, violation.seq)


@of_replica
def _dropped_and_unmarked(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica that is not stopped was none to the controller that dropped it."""
    drops = [write for write in past.drops(tp, broker) if write.seq <= violation.seq]
    return bool(drops) and _is_unmarked(past, tp, broker, drops[-1].seq)


def _is_unmarked(past: KeptEvents, tp: TopicPartition, broker: int, until_seq: int) -> bool:
    """Whether the controller has failed to mark a replica as online, and nothing has changed that since: no other was
    elected, which takes all that are assigned for online or offline, and no later move has brought the replica."""
    unmarked = witnesses(past, "KafkaController.onPartitionReassignment", tp, broker, 0, until_seq)[-1:]
    return any(
        not past.elected_between(one.seq, until_seq)
        and sum(one.seq < write.seq < until_seq for write in past.adds(tp, broker)) <= 1
        for one in unmarked
    )


@of_partition
def _moved_to_without_the_isr(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The leader has been outside the ISR since a move gave it leadership, and it is whom the violation is about."""
    written = [(seq, state) for seq, state in past.states.get(tp, []) if seq <= violation.seq and state is not None]
    outside = list(takewhile(lambda one: _leads_outside(one[1], written[-1][1].leader), reversed(written)))
    if not outside or violation.brokers not in ((), (outside[0][1].leader,)):
        return False
    seq, first = outside[-1]
    return any(
        event.unclean and event.selector == "reassigned" and event.seq > seq
        for event in past.of(LeaderElected)
        if (event.topic, event.partition, event.leader, event.leader_epoch) == (*tp, first.leader, first.leader_epoch)
    )


def _leads_outside(state: LeaderAndIsr, leader: int) -> bool:
    return state.leader == leader >= 0 and leader not in state.isr


@or_left_alone
def _refused_to_leave(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The leader that does not lead, or the member of the ISR that is not assigned, was in the ISR when a move dropped
    it, and has been since. The controller that dropped it took it for offline."""
    drop = past.dropped(tp, broker)
    if drop is None or not past.stayed_in_isr(tp, broker, drop.seq, violation.seq):
        return False
    return _is_offline_to(past, broker, drop)


def _is_offline_to(past: KeptEvents, broker: int, write: ZkWritten) -> bool:
    """Whether a broker was not registered when the controller that wrote was elected, or that has handled its failure
    last; where a leader adds a replica whose session is over, it is in the ISR all the same."""
    elected = [e.seq for e in past.of(ControllerElected) if e.node == write.client and e.seq < write.seq]
    handled = [
        event.step
        for event in past.of(Step)
        if (event.node, event.broker, event.edge) == (write.client, broker, "after")
        and max(elected, default=write.seq) < event.seq < write.seq
        and event.step in HANDLES_BROKERS
    ]
    return handled[-1] == TAKES_OFFLINE if handled else bool(elected) and not past.registered(broker, elected[-1])


@of_partition
def _committed_without_it(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader got an assignment without the replica at fault, which was in the ISR that came with it, and has been in
    the ISR since: another controller was elected before it was taken out, at the latest once it had been dropped."""
    broker = violation.broker
    if broker is None:
        return False
    drops = [write.seq for write in past.drops(tp, broker)]
    return any(
        broker in led.isr
        and broker not in led.replicas
        and past.stayed_in_isr(tp, broker, led.seq, violation.seq)
        and past.elected_between(max((seq for seq in drops if seq < led.seq), default=led.seq), violation.seq)
        for led in past.of(BecameLeader)
        if (led.topic, led.partition) == tuple(tp) and led.seq < violation.seq
    )


MOVES: tuple[Reason, ...] = (
    Reason("Partition.maybeIncrementLeaderHW (0.10.2 to 3.9)", and_what_follows(_committed_without_it)),
    Reason("KafkaController.removePartitionsFromReassignedPartitions (2.0.1 to 2.3.1)", _deleted_unread),
    Reason(
        "KafkaController.removePartitionsFromReassignedPartitions (2.0.1 to 2.3.1)", _deleted_unread_by_znode, effect=1
    ),
    Reason("KafkaController.maybeTriggerPartitionReassignment (1.1.1 to 2.3.1)", _begun_twice),
    Reason("KAFKA-4214", _refused_for_a_dead_broker),
    Reason("KafkaController.processApiPartitionReassignment (2.4.1 to 2.7.2)", _lost_with_its_controller),
    Reason("KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)", _dropped_the_whole_isr, effect=1),
    Reason("KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)", _dropped_and_not_stopped, effect=2),
    Reason("ReplicaStateMachine.doRemoveReplicasFromIsr (1.1.1 to 2.7.2)", _led_by_a_dropped_replica),
    Reason("KafkaController.onPartitionReassignment (2.4.1 to 2.7.2)", _assigned_to_the_leaderless),
    Reason("KafkaController.onPartitionReassignment (2.4.1 to 2.7.2)", _came_back_unmarked, effect=1),
    Reason("KafkaController.onPartitionReassignment (0.8.1)", _never_started),
    Reason("KafkaController.onPartitionReassignment (0.8.1)", _assigned_too_late, effect=1),
    Reason("KafkaController.onPartitionReassignment (0.8.1)", _never_assigned, effect=2),
    Reason("ReplicaStateMachine.initializeReplicaState (0.8.1)", _refused_to_leave),
    Reason("KafkaController.onPartitionReassignment (0.8.0)", _never_marked_online),
    Reason("KafkaController.onPartitionReassignment (0.8.0)", _dropped_and_unmarked, effect=1),
    Reason("ReassignedPartitionLeaderSelector.selectLeader (0.8.0)", _moved_to_without_the_isr),
    Reason("ReassignedPartitionLeaderSelector.selectLeader (0.8.0)", _moved_to_without_the_isr, effect=1),
    Reason("KAFKA-13972", _stop_refused),
    Reason("KAFKA-9212", _fenced_by_a_bump),
    Reason("KAFKA-9212", _epoch_unknown, effect=1),
)
"""Reasons about moves. Where two explain a finding, the more particular one comes first."""
