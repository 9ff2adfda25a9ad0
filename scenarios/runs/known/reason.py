"""A reason that explains findings, and what all of them use."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING

from attrs import frozen

from emulator.protocol.events import BecameFollower, Truncated
from scenarios.observe.checkers.converged import SAME_LOGS
from scenarios.runs.finding import EXPECTATION
from scenarios.runs.past import broker_at_fault

if TYPE_CHECKING:
    from emulator.protocol.types import TopicPartition
    from scenarios.observe.checkers import Violation
    from scenarios.profiles.profile import Policies
    from scenarios.runs.finding import Finding
    from scenarios.runs.past import KeptEvents

CONVERGED = "converged"
LEADS_WITH_LESS = "leader_completeness"
LOSSES = (LEADS_WITH_LESS, "no_acked_record_lost", "isr_complete")
DIVERGENCES = ("truncate_safety", "log_matching", "reads_consistent", "isr_logs_identical", CONVERGED)
"""What follows where one replica leads without what the others have."""

BROKER = re.compile(r"\bbroker (\d+)\b")
FAILED = re.compile(r"failed on broker (\d+)")
NO_LEADER = re.compile(r"broker (\d+) does not lead")
COUNTED = re.compile(r"shows (\d+) offline partitions; (\d+) have no live leader")
_ISR = re.compile(r"isr \[([^]]*)\], assignment \[([^]]*)\]")
_LEADERLESS = re.compile(r"no leader, isr \[([^]]*)\]")
_STRAY = re.compile(r"broker (\d+) still has a replica")
_KNOWS = re.compile(r"in ZooKeeper, and broker (\d+) (?:has no role|leads|follows)")

Shows = Callable[["KeptEvents", "Violation | None"], bool]


@frozen
class Known:
    """What a release does wrong by itself.

    Attributes:
        ticket: Kafka's, of the fix; where there is none, the method, and the release that does otherwise or the
            releases ("to") that have it.
        text: what happens, in a line.
        checkers: those that see it.
        applies: whether a release, by its policies, has the behaviour.
        shows: whether the trace of a run has the marks of it where a violation was found; the violation is None for a
            finding without one (an expectation).
        statements: how the statements of those findings begin that are not a checker's own: conditions of convergence,
            and expectations.
    """

    ticket: str
    text: str
    checkers: tuple[str, ...]
    applies: Callable[[Policies], bool]
    shows: Shows
    statements: tuple[str, ...] = (SAME_LOGS,)

    def sees(self, finding: Finding) -> bool:
        """Whether it can have such a finding."""
        stated = finding.checker in (CONVERGED, EXPECTATION)
        return finding.checker in self.checkers and (not stated or finding.statement.startswith(self.statements))

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
    """``asks`` of a violation and the partition that it names; a violation that names none is none that it explains."""

    @wraps(asks)
    def shows(past: KeptEvents, violation: Violation | None) -> bool:
        tp = None if violation is None else past.partition(violation)
        return violation is not None and tp is not None and asks(past, violation, tp)

    return shows


def isr_and_assignment(violation: Violation) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The ISR and the assignment that a violation compares; None: it is about something else."""
    found = _ISR.search(violation.state)
    if found is None:
        return None
    return _brokers(found[1]), _brokers(found[2])


def _brokers(text: str) -> tuple[int, ...]:
    return tuple(int(broker) for broker in text.split(", ") if broker)


def lacking(past: KeptEvents, violation: Violation) -> tuple[int, ...]:
    """The assigned brokers that run, and lack their role or are not in the ISR."""
    knows, found = _KNOWS.search(violation.state), isr_and_assignment(violation)
    if knows:
        return (int(knows[1]),)
    missing = () if found is None else tuple(broker for broker in found[1] if broker not in found[0])
    return tuple(broker for broker in missing if not past.down(broker, violation.seq))


def beyond(past: KeptEvents, violation: Violation) -> tuple[int, ...]:
    """The members of an ISR that are not assigned, where it lacks none that are."""
    found = isr_and_assignment(violation)
    if found is None or lacking(past, violation):
        return ()
    return tuple(broker for broker in found[0] if broker not in found[1])


def left_alone(past: KeptEvents, violation: Violation) -> tuple[int, ...]:
    """The members of the ISR of a partition without a leader, where none of them is assigned: only assigned replicas
    are elected (leaderForOffline, 1.1 and later), so that none can be."""
    found, tp = _LEADERLESS.search(violation.state), past.partition(violation)
    if found is None or tp is None:
        return ()
    isr, assigned = _brokers(found[1]), past.assignment(tp, violation.seq)
    return isr if all(broker not in assigned for broker in isr) else ()


def stray(violation: Violation) -> int | None:
    """The broker that still has a replica."""
    found = _STRAY.search(violation.state)
    return int(found[1]) if found else None


def and_what_follows(root: Shows) -> Shows:
    """``root``, of the violation or of an earlier one in the same partition."""

    @of_partition
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return root(past, violation) or any(
            found.invariant in (*LOSSES, *DIVERGENCES)
            and found.seq <= violation.seq
            and past.partition(found) == tp
            and root(past, found)
            for found in past.run.violations
        )

    return shows


def and_where_it_led(root: Shows) -> Shows:
    """``root``, of the violation or of an earlier one in the same partition by which the replica at fault has led."""

    @of_partition
    def shows(past: KeptEvents, violation: Violation, tp: TopicPartition) -> bool:
        return root(past, violation) or any(
            found.invariant == LEADS_WITH_LESS
            and found.seq <= violation.seq
            and past.partition(found) == tp
            and root(past, found)
            for found in past.run.violations
        )

    return shows


def at_fault(past: KeptEvents, violation: Violation) -> int | None:
    """The broker whose log is at fault, as the violation names it or as the event that showed it does."""
    named = BROKER.search(violation.state)
    return broker_at_fault(past.event(violation), violation) if named is None else int(named[1])


def keeps_its_place(past: KeptEvents, follows: BecameFollower, epoch_start: int) -> bool:
    """Whether a follower's log is beyond the start of its leader's epoch, and was not truncated to it in that epoch."""
    return follows.log_end_offset > epoch_start and not any(
        event.log_end_offset <= epoch_start
        for event in past.of(Truncated)
        if (event.node, event.topic, event.partition) == (follows.node, follows.topic, follows.partition)
        and event.leader_epoch == follows.leader_epoch
    )
