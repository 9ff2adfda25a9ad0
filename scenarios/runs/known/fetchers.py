"""Fetchers: threads that die, partitions that wait, answers that are ignored."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from brokers.log.log import UnexpectedAppendOffset
from emulator.disks import UnexpectedError
from emulator.protocol.events import BecameFollower, BecameLeader, FetcherStopped, NodeCrashed
from emulator.protocol.znodes import ALL_BROKERS, broker_entity, decode_config
from emulator.trace.events import ZkWritten
from fetchers.policies import FetcherPolicies
from scenarios.observe.findings.control_facts import ChangedWhileIdle
from scenarios.observe.findings.convergence_facts import Condition, FetcherDead, NotCommitted
from scenarios.runs.known.ledger import at_once, in_isr_since, in_role, witnesses
from scenarios.runs.known.reason import Reason, either, of_lacking, of_partition, of_replica, of_violation

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.runs.past import KeptEvents

ENDS_THREADS = (UnexpectedAppendOffset.__name__, UnexpectedError.__name__)
"""A batch that begins before the end of the log (UnexpectedAppendOffsetException of Log.append, 1.1.1), and what a
scenario injects."""
_stays = in_role("KIP-74")
BACK_OFF_US = FetcherPolicies().replica_fetch_backoff_us


@of_violation
def _thread_died(past: KeptEvents, violation: Violation) -> bool:
    """The thread has died of such an error."""
    dead = violation.facts
    return isinstance(dead, FetcherDead) and any((event.node, event.fetcher) == dead for event in _deaths(past))


@of_lacking
def _has_no_thread(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The replica is not in the ISR, and its thread to the leader has died so, in the life of its broker."""
    return violation.part is Condition.IN_SYNC and _its_thread_died(past, tp, broker)


@of_lacking
def _waits_by_the_wall_clock(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The follower's thread has last looked after the partition in this role, and found that by its clock, which was
    set back, it has to wait for longer than a back-off."""
    role = past.last_role(tp, broker, violation.seq)
    found = witnesses(past, "DelayedItem.getDelay", tp, broker, 0 if role is None else role.seq, violation.seq)
    return bool(found) and violation.t_us - found[-1].t_us <= 2 * BACK_OFF_US


@of_violation
def _move_waits_for_the_dead(past: KeptEvents, violation: Violation) -> bool:
    """Each move that is not over has a new replica whose thread to the leader has died, in the life of its broker, or
    waits for such a one that it is going to drop, as KAFKA-6794 does."""
    moves = past.open_moves()
    return bool(moves) and all(
        any(_its_thread_died(past, tp, broker) for broker in (*move.target, *past.awaited(tp, move)))
        for tp, move in moves.items()
    )


def _its_thread_died(past: KeptEvents, tp: TopicPartition, broker: int) -> bool:
    state = past.states[tp][-1][1] if past.states.get(tp) else None
    ended = max((event.seq for event in past.of(NodeCrashed) if event.node == broker), default=0)
    return (
        state is not None
        and broker not in state.isr
        and any((event.node, event.leader) == (broker, state.leader) and event.seq > ended for event in _deaths(past))
    )


def _deaths(past: KeptEvents) -> list[FetcherStopped]:
    """The ends of threads by what ended those of Kafka: any other error is one of this program."""
    return [event for event in past.of(FetcherStopped) if event.error in ENDS_THREADS]


def _roles(past: KeptEvents, tp: TopicPartition, broker: int) -> list[BecameLeader | BecameFollower | NodeCrashed]:
    """The roles of the broker in the partition and its crashes, in order."""
    crashes = [event for event in past.of(NodeCrashed) if event.node == broker]
    return sorted([*past.roles(tp, broker), *crashes], key=lambda event: event.seq)


@of_replica
def _ignored_by_resize(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The follower's broker has got another number of fetchers since it follows."""
    role = next(reversed(_roles(past, tp, broker)), None)
    paths = [f"/config/{entity}" for entity in (broker_entity(broker), ALL_BROKERS)]
    settings = [event for event in past.of(ZkWritten) if event.path in paths]
    return type(role) is BecameFollower and any(
        role.seq < after.seq < violation.seq and _fetchers(after) != _fetchers(before)
        for path in paths
        for before, after in pairwise((None, *(event for event in settings if event.path == path)))
        if after is not None
    )


def _fetchers(written: ZkWritten | None) -> str | None:
    """num.replica.fetchers in settings of brokers; None: not set."""
    return (
        None if written is None or written.op == "delete" else decode_config(written.data).get("num.replica.fetchers")
    )


@of_replica
def _answer_ignored(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The follower's thread got the partition again for a leader that it followed already. It has appended nothing and
    received no high watermark since."""
    return _role_with_it(past, violation, tp, broker) is not None


@of_replica
def _answer_of_before_ignored(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
    """The follower has ignored answers (``_answer_ignored``), and the leader had that high watermark already when it
    took up its leader epoch: requests that wait under the epoch before are refused, and after an error the session
    repeats the high watermark."""
    follows = _role_with_it(past, violation, tp, broker)
    return follows is not None and any(
        led.high_watermark >= follows.log_end_offset
        for led in past.of(BecameLeader)
        if (led.node, led.topic, led.partition) == (follows.leader, *tp) and led.leader_epoch == follows.leader_epoch
    )


def _role_with_it(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> BecameFollower | None:
    """The role in which the follower has the log and the high watermark that the violation names, if it had followed
    that leader before."""
    found = violation.facts
    if not isinstance(found, NotCommitted):
        return None
    roles = _roles(past, tp, broker)[-2:]
    if [type(role) for role in roles] != [BecameFollower, BecameFollower]:
        return None
    before, last = roles
    assert isinstance(before, BecameFollower)
    assert isinstance(last, BecameFollower)
    it_is = (
        before.leader == last.leader
        and (last.high_watermark, last.log_end_offset) == (found.high_watermark, found.log_end)
        and last.high_watermark is not None
        and last.high_watermark < last.log_end_offset
    )
    return last if it_is else None


@of_partition
def _left_as_it_stays(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
    """Each replica that has left the ISR does not get on in its role."""
    changed = violation.facts
    if not isinstance(changed, ChangedWhileIdle):
        return False
    left = set(changed.before.isr) - set(changed.after.isr)
    return bool(left) and all(_stays(past, violation, tp, broker) for broker in left)


FETCHERS: tuple[Reason, ...] = (
    Reason("FetchSessionHandler.build (1.1.0 to 2.7.2)", _answer_ignored),
    Reason("FetchSessionHandler.build (1.1.0 to 2.7.2)", _answer_of_before_ignored, effect=1),
    Reason("FetchSessionHandler.build (1.1.0 to 2.7.2)", _ignored_by_resize, effect=2),
    Reason("KIP-74", of_replica(in_isr_since("KIP-74"))),
    Reason("KIP-74", of_lacking(_stays), effect=1),
    Reason("KIP-74", _left_as_it_stays, effect=2),
    Reason("KIP-461", either(_thread_died, _has_no_thread)),
    Reason("DelayedItem.getDelay (0.8.0 to 3.9.0)", _waits_by_the_wall_clock),
    Reason("KIP-461", _move_waits_for_the_dead, effect=1),
    Reason("KAFKA-15080", at_once("KAFKA-15080")),
)
