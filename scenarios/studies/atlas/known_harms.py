"""Known reasons of the harms: the reading, document or place in Kafka's source that explains what a cell shows.

Facts from Kafka's source name the release in which they were read.
"""

from __future__ import annotations

from collections.abc import Callable

from attrs import frozen

from controller.procedures import STEPS
from scenarios.studies.atlas.cells import Cell
from scenarios.studies.atlas.outcome import CellFinding


@frozen
class KnownHarm:
    """A reason. ``applies``: whether it explains a cell's finding; ``text``: the reason and its source, in one line."""

    applies: Callable[[Cell, CellFinding], bool]
    text: str


def explained(cell: Cell, finding: CellFinding) -> str:
    """All reasons that apply, empty where none does."""
    return "; ".join(known.text for known in KNOWN if known.applies(cell, finding))


def protocol_of(cell: Cell) -> str:
    """The protocol of a cell: ``grow-then-shrink`` and similar strategies share the steps of kafka-6794."""
    return STEPS[cell.step].name


def leader_moved(cell: Cell) -> bool:
    """Whether the move's own leader election is over at this gate."""
    protocol = STEPS[cell.step]
    steps, elects = list(protocol.steps), protocol.phases["move.leader"].last
    return (steps.index(cell.step), cell.edge == "after") >= (steps.index(elects), True)


def _old_leader(cell: Cell, finding: CellFinding) -> bool:
    told_late = leader_moved(cell) and cell.actor in ("controller", "removing")
    return "acks-1-loss" in finding.harms and told_late and not _leads_on(cell, finding)


def _leads_on(cell: Cell, finding: CellFinding) -> bool:
    return "acks-1-loss" in finding.harms and _left_behind(cell, finding) and cell.actor in ("leader", "removing")


def _new_leader(cell: Cell, finding: CellFinding) -> bool:
    other = _old_leader(cell, finding) or _leads_on(cell, finding)
    return "acks-1-loss" in finding.harms and not other


def _written_too_early(cell: Cell, finding: CellFinding) -> bool:
    """Whether the controller failed after KAFKA-6794's step 5, which leaves such a leader or ISR."""
    outside = {"leader-outside-assignment", "isr-outside-assignment"} & set(finding.harms)
    return protocol_of(cell) == "kafka-6794" and bool(outside)


def _epoch_of_its_own(cell: Cell, finding: CellFinding) -> bool:
    return _written_too_early(cell, finding) and bool(finding.stuck) and "leader-outside-assignment" in finding.harms


def _cut_at_high_watermark(cell: Cell, finding: CellFinding) -> bool:
    """Whether followers have truncated to the high watermark, as 0.8.0's do at each change of leader."""
    return protocol_of(cell) == "kafka-42" and finding.broken == "truncate_safety"


def _never_told(cell: Cell, finding: CellFinding) -> bool:
    return protocol_of(cell) == "kafka-42" and bool(finding.stuck)


def _looks_done(cell: Cell, finding: CellFinding) -> bool:
    """Whether the move only adds replicas, so that the list after step 1 is its target."""
    only_adds = cell.plan.after[: len(cell.plan.before)] == cell.plan.before
    return protocol_of(cell) == "wiki" and only_adds and bool(finding.stuck)


def _left_behind(cell: Cell, finding: CellFinding) -> bool:
    other = _written_too_early(cell, finding) or _never_told(cell, finding)
    return "stray" in finding.harms and not other


KNOWN: tuple[KnownHarm, ...] = (
    KnownHarm(
        _written_too_early,
        "KAFKA-6794 writes the assignment (step 5) before the leader moves (9) and the dropped replica stops (10, 11): "
        "the next controller finds nothing of it to do (readings §2; the wiki page says: update AR last)",
    ),
    KnownHarm(
        _epoch_of_its_own,
        "step 6 has raised the epoch, which the next controller tells to the assignment only: the leader outside stays "
        "in the old epoch, refuses its followers' fetches and cannot change the ISR, whose version is newer",
    ),
    KnownHarm(
        _cut_at_high_watermark,
        "until 0.11 who follows a new leader first cuts its log at its own high watermark, one fetch behind: though in "
        "the ISR it lacks what is committed until it has fetched it again (KAFKA-1211, KIP-101)",
    ),
    KnownHarm(
        _never_told,
        "0.8.0 writes the new replicas to the topic's znode last, so an election, a failover or a restart meanwhile "
        "tells the old replicas only; since KAFKA-1097 (0.8.1) the znode has both",
    ),
    KnownHarm(
        _looks_done,
        "step 1 of a move that only adds writes the target: the next controller takes it for done (2.3.1: already "
        "assigned) and never raises the epoch of step 2, so the leader does not learn of the new replica",
    ),
    KnownHarm(
        _left_behind,
        "Kafka sends StopReplica to live brokers only and forgets what was queued with its controller; a broker that "
        "comes back is told of what it is assigned (2.3.1, 2.4.1: ControllerBrokerRequestBatch, onBrokerStartup)",
    ),
    KnownHarm(
        _leads_on,
        "the replica left behind was the leader's: in its old epoch it goes on acknowledging acks=1 to "
        "clients with old metadata",
    ),
    KnownHarm(
        _old_leader,
        "between the election and StopReplica nobody tells the old leader that it was replaced: it goes on "
        "acknowledging acks=1",
    ),
    KnownHarm(
        _new_leader,
        "acks=1 is acknowledged before a follower has the record: a change of leader loses it, with or without a move",
    ),
)
