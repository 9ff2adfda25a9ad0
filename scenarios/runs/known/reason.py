"""A reason that explains findings, and what all of them use."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from attrs import frozen

from emulator.protocol.events import BecameFollower, BecameLeader, Truncated
from emulator.protocol.znodes import REASSIGN_PARTITIONS
from scenarios.language.expect import Expect
from scenarios.observe.findings.convergence_facts import Condition, RequestStays
from scenarios.profiles.ticket import DIVERGENCES, LOSSES, Ticket
from scenarios.profiles.tickets import TICKETS
from scenarios.runs.finding import EXPECTATION

if TYPE_CHECKING:
    from emulator.protocol.events import MoveStarted
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.profiles.profile import Profile
    from scenarios.runs.finding import Finding
    from scenarios.runs.past import KeptEvents

CONVERGED = "converged"
LEADS_WITH_LESS = LOSSES[:2]
"""The checkers whose finding is about the leader."""
Shows = Callable[["KeptEvents", "Violation | None"], bool]
AsksOfReplica = Callable[["KeptEvents", "Violation", "TopicPartition", int], bool]


@frozen
class Reason:
    """How runs show that an effect of a ticket is what a checker has found.

    Attributes:
        ticket: key of the ticket.
        shows: the test whether the trace of a run has the marks of the effect where a violation was found. The
            violation is None for a finding without one (an expectation).
        effect: index of the effect in the ticket's ``effects``.
    """

    ticket: str
    shows: Shows
    effect: int = 0

    @property
    def declared(self) -> Ticket:
        return TICKETS[self.ticket]

    @property
    def text(self) -> str:
        """The line that says what happens."""
        return self.declared.effects[self.effect].text or self.declared.title

    @property
    def checkers(self) -> tuple[str, ...]:
        """The checkers that see the effect."""
        return self.declared.effects[self.effect].checkers

    def applies(self, profile: Profile) -> bool:
        """Whether a profile has the behaviour."""
        return self.declared.shown_by(profile) and self.declared.effects[self.effect].shown_by(profile)

    def sees(self, finding: Finding) -> bool:
        """Whether the effect can cause such a finding."""
        effect = self.declared.effects[self.effect]
        if finding.checker == EXPECTATION:
            return isinstance(finding.part, Expect) and finding.part.statement in effect.expects
        part = finding.part.name if isinstance(finding.part, Condition) else ""
        return finding.checker in effect.checkers and (finding.checker != CONVERGED or part in effect.parts)

    def __str__(self) -> str:
        return f"{self.ticket}: {self.text}"


def always(_: KeptEvents, violation: Violation | None) -> bool:
    """The checker says what the behaviour is, and no more."""
    return violation is not None


def of_violation(asks: Callable[[KeptEvents, Violation], bool]) -> Shows:
    """``asks`` of a violation; a finding without one (an expectation) is none that it explains."""

    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation | None) -> bool:
        return violation is not None and asks(past, violation)

    return shows


def of_partition(asks: Callable[[KeptEvents, Violation, TopicPartition], bool]) -> Shows:
    """A reason that ``asks`` decides from a violation and its partition. It never holds without a partition."""

    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation | None) -> bool:
        tp = None if violation is None else violation.partition
        return violation is not None and tp is not None and asks(past, violation, tp)

    return shows


def of_replica(asks: AsksOfReplica) -> Shows:
    """``asks`` of a violation, its partition, and each broker that it is about; one that names no partition or is about
    no broker is none that it explains."""

    @of_partition
    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return bool(violation.brokers) and all(asks(past, violation, tp, broker) for broker in violation.brokers)

    return shows


def of_broker(asks: AsksOfReplica) -> Shows:
    """``asks`` of a violation, its partition, and the one broker that it is about."""

    @of_partition
    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return violation.broker is not None and asks(past, violation, tp, violation.broker)

    return shows


def of_lacking(asks: AsksOfReplica) -> Shows:
    """``of_replica``, where each broker lacks something, such as its role or its place in the ISR. A violation of the
    ISR may be about members that should not be there, too."""

    @of_replica
    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition, broker: int) -> bool:
        state = past.state(tp, violation.seq) if violation.part is Condition.IN_SYNC else None
        return (state is None or broker not in state.isr) and asks(past, violation, tp, broker)

    return shows


def of_each_open_move(asks: Callable[[KeptEvents, Violation, TopicPartition, MoveStarted], bool]) -> Shows:
    """``asks`` of a violation that is about the request for moves, and of each move that is open: its partition, and
    how it was asked for."""

    @of_violation
    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation) -> bool:
        moves = past.open_moves() if asks_for_moves(violation) else {}
        return bool(moves) and all(asks(past, violation, tp, move) for tp, move in moves.items())

    return shows


def asks_for_moves(violation: Violation) -> bool:
    """Whether the violation is about the request for moves."""
    return violation.facts == RequestStays(REASSIGN_PARTITIONS) and type(violation.facts) is RequestStays


def left_alone(past: KeptEvents, tp: TopicPartition, until_seq: int) -> tuple[int, ...]:
    """The members of the ISR of a partition without a leader, where none of them is assigned: only assigned replicas
    are elected (leaderForOffline, 1.1 and later), so that none can be."""
    state = past.state(tp, until_seq)
    if state is None or state.leader >= 0:
        return ()
    assigned = past.assignment(tp, until_seq)
    return state.isr if all(broker not in assigned for broker in state.isr) else ()


def or_left_alone(asks: AsksOfReplica) -> Shows:
    """``of_replica``, or of each member of an ISR that is left without a leader; where the violation is about the
    request for moves, of the ISR of each open move: without a leader no new replica can join it."""

    def left(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        brokers = left_alone(past, tp, violation.seq)
        return bool(brokers) and all(asks(past, violation, tp, broker) for broker in brokers)

    alone = of_partition(lambda past, violation, tp: not violation.brokers and left(past, violation, tp))
    waits = of_each_open_move(lambda past, violation, tp, _move: left(past, violation, tp))
    return either(of_replica(asks), either(alone, waits))


def or_awaited(asks: AsksOfReplica) -> Shows:
    """``of_lacking``, or, where the violation is about the request for moves, of a replica that each open move waits
    for."""

    @wraps(asks)
    def waits(past: KeptEvents, violation: Violation | None) -> bool:
        if violation is None or violation.partition or violation.part is not Condition.NOTHING_ASKED:
            return False
        moves = past.open_moves()
        return bool(moves) and all(
            any(asks(past, violation, tp, broker) for broker in past.awaited(tp, move)) for tp, move in moves.items()
        )

    return either(of_lacking(asks), waits)


def either(first: Shows, second: Shows) -> Shows:
    """``first`` or ``second``."""
    return lambda past, violation: first(past, violation) or second(past, violation)


def and_what_follows(root: Shows) -> Shows:
    """``root``, of the violation or of an earlier one in the same partition."""

    @of_partition
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return root(past, violation) or any(
            _is_of_logs(found) and found.seq <= violation.seq and found.partition == tp and root(past, found)
            for found in past.run.violations
        )

    return shows


def _is_of_logs(violation: Violation) -> bool:
    """Whether the violation concerns the content of logs: a record is missing in one, or two logs differ."""
    stated = violation.invariant != CONVERGED or violation.part is Condition.SAME_LOGS
    return stated and violation.invariant in (*LOSSES, *DIVERGENCES)


def and_where_it_led(root: Shows) -> Shows:
    """``root``, of the violation or of an earlier loss in the partition with which the replica at fault has led."""

    @of_partition
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return root(past, violation) or any(
            found.invariant in LOSSES
            and found.seq <= violation.seq
            and found.partition == tp
            and (found.invariant in LEADS_WITH_LESS or _has_led(past, found, tp, violation.seq))
            and root(past, found)
            for found in past.run.violations
        )

    return shows


def _has_led(past: KeptEvents, found: Violation, tp: TopicPartition, until_seq: int) -> bool:
    """Whether a replica that was found to lack something has become the leader since."""
    return any(
        event.node in found.brokers and (event.topic, event.partition) == tp and found.seq <= event.seq <= until_seq
        for event in past.of(BecameLeader)
    )


def keeps_its_place(past: KeptEvents, follows: BecameFollower, epoch_start: int) -> bool:
    """Whether a follower's log is beyond the start of its leader's epoch, and was not truncated to it in that epoch."""
    return follows.log_end_offset > epoch_start and not any(
        event.log_end_offset <= epoch_start
        for event in past.of(Truncated)
        if (event.node, event.topic, event.partition) == (follows.node, follows.topic, follows.partition)
        and event.leader_epoch == follows.leader_epoch
    )
