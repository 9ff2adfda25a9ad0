"""Replicas that are in the ISR with less than they had."""

from __future__ import annotations

from typing import TYPE_CHECKING

from brokers.log.log import UnexpectedAppendOffset
from emulator.protocol.events import (
    BecameLeader,
    LogLoaded,
    NodeCrashed,
    PartitionFailed,
    ReplicaStopped,
)
from scenarios.observe.findings.convergence_facts import Condition
from scenarios.runs.known.reason import (
    CONVERGED,
    DIVERGENCES,
    LOSSES,
    Known,
    and_where_it_led,
    of_partition,
    of_violation,
    or_awaited,
)

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents


@of_violation
def _no_controller_shrank(past: KeptEvents, violation: Violation) -> bool:
    """The replica came back before any controller had come to take it out of its ISRs."""
    crash, tp = past.lost_unflushed(violation), violation.partition
    if crash is None or tp is None:
        return False
    return not past.found_gone(tp, crash) and not past.failure_handled(crash.node, crash.seq, violation.seq)


@of_violation
def _failover_left_it(past: KeptEvents, violation: Violation) -> bool:
    """A controller was elected while the replica was dead, and left it in the ISR."""
    crash, tp = past.lost_unflushed(violation), violation.partition
    return crash is not None and tp is not None and past.found_gone(tp, crash)


@of_violation
def _not_in_its_memory(past: KeptEvents, violation: Violation) -> bool:
    """A controller has handled the failure of the replica's broker, and had the replica in none of the ISRs that it
    knew."""
    crash, tp = past.lost_unflushed(violation), violation.partition
    return crash is not None and tp is not None and past.in_no_memory(tp, crash, violation.seq)


@of_partition
def _deleted_in_the_isr(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """The replica at fault was deleted after a move that was cancelled or changed had dropped it, stayed in the ISR,
    and came back empty as it was assigned again."""
    stops = [event for event in past.of(ReplicaStopped) if event.deleted and (event.topic, event.partition) == tp]
    loads = [event for event in past.of(LogLoaded) if (event.topic, event.partition) == tp and not event.log_end_offset]
    return any(
        violation.broker == stop.node == loaded.node
        and stop.seq < loaded.seq <= violation.seq
        and any(drop.seq < stop.seq for drop in past.drops(tp, stop.node))
        and past.stayed_in_isr(tp, stop.node, stop.seq, loaded.seq)
        for loaded in loads
        for stop in stops
    )


@of_partition
def _leads_on_with_less(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """A leader has crashed, has lost what it had not flushed or could not recover, and has then led again in the leader
    epoch that it had."""
    return _led_on_with_less(past, tp, violation.seq)


def _led_on_with_less(past: KeptEvents, tp: TopicPartition, until_seq: int) -> bool:
    led = [e for e in past.of(BecameLeader) if (e.topic, e.partition) == tp and e.seq < until_seq]
    return any(
        before.seq < crash.seq < again.seq
        and past.loses(tp, crash, again.seq)
        and past.stayed_in_isr(tp, crash.node, crash.seq, again.seq, before.leader_epoch)
        and not past.found_gone(tp, crash)
        for place, before in enumerate(led)
        for again in led[place + 1 :]
        if (before.node, before.leader_epoch) == (again.node, again.leader_epoch)
        for crash in past.of(NodeCrashed)
        if crash.node == before.node
    )


@or_awaited
def _refuses_its_batch(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """A follower of such a leader that has given up, or is not in the ISR, was ahead of it, and gave up with a batch
    that begins before its end."""
    return _led_on_with_less(past, tp, violation.seq) and any(
        event.error == UnexpectedAppendOffset.__name__
        for event in past.of(PartitionFailed)
        if (event.node, event.topic, event.partition) == (broker, *tp)
    )


LOST: tuple[Known, ...] = (
    Known(
        "KAFKA-3143",
        "a controller that takes over leaves dead replicas in their ISRs, also one that then comes back with less",
        (*LOSSES, *DIVERGENCES),
        lambda policies: not policies.controller.replicas.shrink_at_failover,
        and_where_it_led(_failover_left_it),
    ),
    Known(
        "KIP-966",
        "a replica comes back into its ISR without what it had not flushed, or could not recover, before any "
        "controller has removed it",
        (*LOSSES, *DIVERGENCES, "append_shape"),
        lambda _policies: True,
        and_where_it_led(_no_controller_shrank),
    ),
    Known(
        "ReplicaStateMachine.handleStateChange (0.8.0)",
        "a controller leaves a dead replica in an ISR to which a leader has added it, as it goes by the ISR that it "
        "knows; the replica comes back without what it had not flushed",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.controller.replicas.trusts_memory,
        and_where_it_led(_not_in_its_memory),
    ),
    Known(
        "KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)",
        "a move that is cancelled or changed deletes its new replicas also where they are all of the ISR, in which "
        "they stay: one that is assigned again is elected without anything",
        (*LOSSES, *DIVERGENCES),
        lambda policies: policies.controller.topic_znodes == 2,
        and_where_it_led(_deleted_in_the_isr),
    ),
    Known(
        "KIP-966",
        "a leader that has crashed leads again in the leader epoch that it had, without what it had not flushed",
        (*LOSSES, *DIVERGENCES),
        lambda _policies: True,
        _leads_on_with_less,
    ),
    Known(
        "KIP-966",
        "a follower that is ahead of such a leader gives up with a batch that begins before its end, until the next "
        "leader epoch (KIP-461); a move may wait for it",
        (CONVERGED,),
        lambda _policies: True,
        _refuses_its_batch,
        parts=(Condition.FETCHED, Condition.IN_SYNC, Condition.NOTHING_ASKED),
    ),
)
"""Where two explain a finding, the more particular one comes first."""
