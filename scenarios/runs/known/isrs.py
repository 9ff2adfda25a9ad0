"""In-sync sets: who is in them, and should not be; who is not, and should be."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from brokers.partition.isr import ByZooKeeper
from emulator.metrics import short_name
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    IsrChanged,
    IsrProposed,
    IsrUpdateFailed,
    NodeCrashed,
    PartitionCreated,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr, broker_path
from emulator.trace.events import ZkWritten
from scenarios.observe.findings.convergence_facts import Condition, GaugeNotAtRest, IsrDiffers
from scenarios.observe.mbeans import UNDER_REPLICATED
from scenarios.runs.finding import EXPECTATION
from scenarios.runs.known.reason import (
    CONVERGED,
    LOSSES,
    Known,
    always,
    asks_for_moves,
    of_replica,
    of_violation,
    or_left_alone,
)

if TYPE_CHECKING:
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_replica
def _left_dead(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica was in the ISR as a controller took over that found its broker gone, and has been since."""
    return _is_dead(past, violation, broker) and past.left_in_isr(tp, broker, violation.seq)


def _is_dead(past: KeptEvents, violation: Violation, broker: int) -> bool:
    """Whether a violation is about ``broker`` since it is dead; one of convergence may be for another reason."""
    return violation.invariant != CONVERGED or past.down(broker, violation.seq)


@of_replica
def _in_no_memory(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The controller had the replica of a dead broker in none of the ISRs that it knew as it handled the failure."""
    crashes = [event for event in past.of(NodeCrashed) if event.node == broker and event.seq < violation.seq]
    dead = bool(crashes) and _is_dead(past, violation, broker)
    return dead and past.in_no_memory(tp, crashes[-1], violation.seq)


@of_replica
def _added_by_leader(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A leader has added the replica to the ISR when its broker was dead already, or its session over, itself or by
    AlterIsr, in the leader epoch that it had then."""
    return _added(past, tp, broker, violation.seq)


def _added(past: KeptEvents, tp: TopicPartition, broker: int, until_seq: int) -> bool:
    """Whether the leader has added ``broker`` to the ISR last, in the leader epoch that it had, though its process had
    ended or its session was over."""
    written = [(seq, state) for seq, state in past.states.get(tp, []) if seq <= until_seq and state is not None]
    for (_, before), (seq, after) in reversed(list(pairwise(written))):
        if broker in after.isr and broker not in before.isr:
            led_on = (before.leader, before.leader_epoch) == (after.leader, after.leader_epoch)
            return led_on and (past.down(broker, seq) or _session_is_over(past, broker, seq))
    return False


def _session_is_over(past: KeptEvents, broker: int, at_seq: int) -> bool:
    path = broker_path(broker)
    return [e.op for e in past.of(ZkWritten) if e.path == path and e.seq < at_seq][-1:] == ["delete"]


@of_violation
def _isr_emptied(past: KeptEvents, violation: Violation) -> bool:
    """The write left no replica in the ISR."""
    event = past.event(violation)
    if type(event) is not ZkWritten or event.op == "delete":
        return False
    state = LeaderAndIsr.decode(event.data, event.version)
    return state.isr == () and state.leader < 0


@of_replica
def _taken_in_unassigned(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The leader, or the member of the ISR, is not assigned, and a leader has added it to the ISR."""
    return broker not in past.assignment(tp) and past.joined(tp, broker, 0)


@or_left_alone
def _joined_after_it_was_dropped(past: KeptEvents, _: Violation, tp: TopicPartition, broker: int) -> bool:
    """The member of the ISR that is not assigned was added by a leader after it had left the assignment, of which the
    leader was not notified yet."""
    write = past.dropped(tp, broker)
    return write is not None and past.joined(tp, broker, write.seq)


@of_replica
def _in_isr_since_it_was_dropped(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica at fault was added by a leader after it had left the assignment, and has been in the ISR since, also
    when a later move added it again."""
    drops = [write.seq for write in past.drops(tp, broker) if write.seq < violation.seq]
    return any(_joined_since(past, tp, broker, drop, violation.seq) for drop in drops)


def _joined_since(past: KeptEvents, tp: TopicPartition, broker: int, drop: int, until_seq: int) -> bool:
    """Whether ``broker`` came into the ISR after it had left the assignment, and has been in it since."""
    states = past.states.get(tp, [])
    before = [state for seq, state in states if seq < drop][-1:]
    in_it = [state is not None and broker in state.isr for seq, state in states if drop < seq <= until_seq]
    joined = past.joined(tp, broker, drop) or any(state is not None and broker not in state.isr for state in before)
    return joined and True in in_it and all(in_it[in_it.index(True) :])


@of_violation
def _never_at_the_end(_: KeptEvents, violation: Violation) -> bool:
    """Each replica that is not in the ISR follows, and lacks only what is new."""
    return isinstance(violation.facts, IsrDiffers) and violation.facts.lacks_what_is_new


@of_violation
def _had_more_replicas(past: KeptEvents, violation: Violation) -> bool:
    """The broker leads as many partitions as it shows that had more replicas when they came to it than now."""
    broker, shown = violation.broker, _shown_under_replicated(violation)
    if broker is None or shown is None:
        return False
    factors: dict[TopicPartition, int] = {
        TopicPartition(event.topic, event.partition): event.replication_factor
        for event in past.of(PartitionCreated)
        if event.node == broker
    }
    led = [tp for tp in factors if past.states.get(tp) and (state := past.states[tp][-1][1]) and state.leader == broker]
    return sum(factors[tp] > len(past.assignment(tp)) for tp in led) == shown


def _shown_under_replicated(violation: Violation) -> int | None:
    """How many under-replicated partitions the violation says that a broker shows; None: it is about something else."""
    facts = violation.facts
    under_replicated = isinstance(facts, GaugeNotAtRest) and facts.gauge == short_name(UNDER_REPLICATED)
    return facts.value if isinstance(facts, GaugeNotAtRest) and under_replicated else None


def _wish_dropped(past: KeptEvents, violation: Violation | None) -> bool:
    """The partition's leader got a new epoch, or several, while its wish for another ISR was on its way: what it wished
    for next has no outcome, and it wishes for nothing more. Where a request for moves stays, that is so of each."""
    about = None if violation is None else violation.partition
    last: dict[TopicPartition, IsrProposed] = {}
    dropped: dict[TopicPartition, bool] = {}
    for event in past.events:
        kind = type(event)
        if kind not in (IsrProposed, IsrChanged, IsrUpdateFailed, BecameLeader, BecameFollower):
            continue
        tp = TopicPartition(event.topic, event.partition)
        before = last.get(tp)
        if kind is IsrProposed:
            dropped[tp] = before is not None and before.node == event.node and before.leader_epoch < event.leader_epoch
            last[tp] = event
        elif before is not None and event.node == before.node and kind in (IsrChanged, IsrUpdateFailed):
            if event.leader_epoch == before.leader_epoch:
                del last[tp]
                dropped.pop(tp, None)
        elif before is not None and event.leader_epoch > before.leader_epoch:
            dropped.pop(tp, None)
    if violation is None:
        return any(dropped.values())
    moves = tuple(past.open_moves()) if asks_for_moves(violation) else ()
    waiting = moves if about is None else (about,)
    return bool(waiting) and all(dropped.get(tp, False) for tp in waiting)


@of_violation
def _behind_its_own_write(past: KeptEvents, violation: Violation) -> bool:
    """ZooKeeper has an ISR that the leader has written, and takes for refused, in the leader epoch that it still has;
    a gauge counts no more partitions than there are such leaderships."""
    shown = _shown_under_replicated(violation)
    if shown is None:
        tp = violation.partition
        return tp is not None and _lost_its_write(past, tp)
    led = [tp for tp, states in past.states.items() if states[-1][1] and states[-1][1].leader == violation.broker]
    return sum(_lost_its_write(past, tp) for tp in led) == shown


def _lost_its_write(past: KeptEvents, tp: TopicPartition) -> bool:
    """Whether the last write to a state znode was one that the leader asked for, and was then refused; it has been
    refused whatever it asked for since."""
    written, state = past.states[tp][-1] if past.states.get(tp) else (0, None)
    changed = any(
        (event.topic, event.partition, event.node, event.leader_epoch) == (*tp, state.leader, state.leader_epoch)
        for event in past.of(IsrChanged)
        if state is not None and event.seq > written
    )
    return not changed and any(seq == written for seq, _ in past.taken_for_refused(tp))


ISRS: tuple[Known, ...] = (
    Known(
        "KAFKA-3143",
        "a controller that takes over leaves dead replicas in their ISRs, and elects with them",
        ("dead_leave_isr", "elects_the_living"),
        lambda policies: not policies.controller.replicas.shrink_at_failover,
        _left_dead,
    ),
    Known(
        "KAFKA-3143",
        "a controller that takes over leaves dead replicas in their ISRs, where they stay while nothing is written",
        (CONVERGED,),
        lambda policies: (
            not policies.controller.replicas.shrink_at_failover and not policies.brokers.out_of_sync.even_at_the_end
        ),
        _left_dead,
        parts=(Condition.IN_SYNC,),
    ),
    Known(
        "ReplicaStateMachine.handleStateChange (0.8.0)",
        "a controller leaves a dead replica in an ISR to which a leader has added it, as it goes by the ISR that it "
        "knows",
        ("dead_leave_isr", "elects_the_living"),
        lambda policies: policies.controller.replicas.trusts_memory,
        _in_no_memory,
    ),
    Known(
        "ReplicaStateMachine.handleStateChange (0.8.0)",
        "the same; it stays while nothing is written",
        (CONVERGED,),
        lambda policies: (
            policies.controller.replicas.trusts_memory and not policies.brokers.out_of_sync.even_at_the_end
        ),
        _in_no_memory,
        parts=(Condition.IN_SYNC,),
    ),
    Known(
        "KAFKA-14140",
        "a leader adds a replica to its ISR whose broker has died since its last fetch, or has no session any more: no "
        "controller prevents it",
        ("dead_leave_isr", "elects_the_living"),
        lambda _policies: True,
        _added_by_leader,
    ),
    Known(
        "KAFKA-1097",
        "a leader adds a replica that is not assigned to it",
        ("expands_assigned",),
        lambda policies: not policies.brokers.checks_assignment,
        always,
    ),
    Known(
        "KAFKA-1097",
        "a replica that a leader added though it is not assigned stays in the ISR as long as it fetches",
        (CONVERGED,),
        lambda policies: not policies.brokers.checks_assignment,
        _taken_in_unassigned,
        parts=(Condition.IN_SYNC,),
    ),
    Known(
        "KAFKA-1097",
        "a member of the ISR that is not assigned is elected, and LeaderAndIsr goes to those assigned only",
        (CONVERGED,),
        lambda policies: not policies.brokers.checks_assignment,
        _taken_in_unassigned,
        parts=(Condition.LED,),
    ),
    Known(
        "KAFKA-9672",
        "a replica joins the ISR after it was dropped, before its leader gets the request: the check of ISRs fails "
        "at it from then on, and it stays, also as the last one, and cannot be elected: no move goes on then",
        (CONVERGED,),
        lambda policies: not policies.brokers.unassigned_leave_isr,
        _joined_after_it_was_dropped,
        parts=(Condition.IN_SYNC, Condition.LED, Condition.NOTHING_ASKED),
    ),
    Known(
        "KAFKA-9672",
        "such a replica is still in the ISR when another move adds it, without what was committed meanwhile, for which "
        "no leader waited for it",
        (*LOSSES, "truncate_safety"),
        lambda policies: not policies.brokers.unassigned_leave_isr,
        _in_isr_since_it_was_dropped,
    ),
    Known(
        "KAFKA-4485",
        "a follower that fetches as fast as the leader's log grows is never at its end: it does not join the ISR while "
        "the load goes on",
        (CONVERGED,),
        lambda policies: not policies.brokers.high_watermark_waits_for_caught_up,
        _never_at_the_end,
        parts=(Condition.IN_SYNC,),
    ),
    Known(
        "Partition.isUnderReplicated (0.8.0)",
        "a partition counts as under-replicated by the replication factor that it had when it came to the broker",
        (CONVERGED,),
        lambda policies: policies.brokers.under_replication.keeps_factor,
        _had_more_replicas,
        parts=(Condition.GAUGES,),
    ),
    Known(
        "KAFKA-1028",
        "the last in-sync replica that goes offline leaves the ISR, which is then empty",
        ("leader_in_isr",),
        lambda policies: not policies.controller.replicas.keeps_last_in_isr,
        _isr_emptied,
    ),
    Known(
        "KAFKA-1382",
        "a leader takes a write of its ISR for refused that ZooKeeper has carried out: it repeats it with the version "
        "from before until the next leader epoch, and no other change succeeds",
        (CONVERGED,),
        lambda policies: policies.brokers.isr_writes == ByZooKeeper(compares=False),
        _behind_its_own_write,
        parts=(Condition.IN_SYNC, Condition.GAUGES),
    ),
    Known(
        "Partition.handleAlterIsrResponse (2.7.0 to 3.0.0)",
        "the controller takes its own write, whose answer was lost, for that of another one; the leader, which is "
        "refused, waits for the next leader epoch with the ISR from before",
        (CONVERGED,),
        lambda policies: policies.alters_isr,
        _behind_its_own_write,
        parts=(Condition.GAUGES,),
    ),
    Known(
        "KAFKA-12686",
        "the answer to an AlterIsr of an earlier leader epoch takes along what the leader has wished for since, which "
        "is never sent: its ISR stays as it is, the high watermark waits for whom it would add, and a move that waits "
        "for it does not end",
        (CONVERGED, EXPECTATION),
        lambda policies: policies.alters_isr,
        _wish_dropped,
        parts=(Condition.IN_SYNC, Condition.COMMITTED, Condition.NOTHING_ASKED),
        expects=("isr",),
    ),
)
"""Where two explain a finding, the more particular one comes first."""
