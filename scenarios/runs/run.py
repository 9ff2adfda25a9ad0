"""The result of a run, for people and programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from emulator.protocol.shown import Deviated
from scenarios.language import Scenario
from scenarios.language.expect import Expect, SteadyState
from scenarios.observe.checkers import Violation
from scenarios.observe.findings.facts import about
from scenarios.observe.history.quotas import QuotaUse
from scenarios.observe.measures.figure import Value
from scenarios.runs.control_plane_log import ControlPlaneLog
from scenarios.runs.convergence import Convergence

if TYPE_CHECKING:
    from scenarios.observe.specification.rejection import Rejection
    from scenarios.runs.finding import Finding
    from scenarios.runs.known.reason import Reason
    from scenarios.runs.leaping import Leaping

UNFLUSHED_TICKET = "KIP-966"
"""Closes the gap in which Kafka loses records of which every in-sync replica had a copy that was not flushed."""


@frozen
class Expectation:
    """A statement of the scenario and whether it held.

    Attributes:
        detail: finding where it did not hold; time at which it came true or recovered where it has a limit.
        t_us: when it came true, or was found to be broken.
        invariant: the checker that reports it as well; empty if there is none.
        declared: the expectation as the scenario declares it.
    """

    statement: str
    ok: bool
    detail: str = ""
    t_us: int | None = None
    invariant: str = ""
    declared: Expect | SteadyState | None = None


@frozen(kw_only=True)
class Run:
    """A finished run.

    Attributes:
        run_id: identifies scenario, profile, strategy, seed and code; ``digest``: identifies the events.
        verdict: ``passed`` or ``failed``; ``reason``: why it failed: the tool's own defect, livelock, violated,
            expectation, not exercised, unfinished.
        besides: why it would have failed without its violations; empty: it would have passed.
        cut_off: why and when the run was cut off, a livelock; empty: it was not.
        defects: exceptions of the tool's own that the run went on after, or was ended by, in a line each.
        leaderless: how many partitions have no leader at the end, so that nothing in them can be read.
        convergence: whether the cluster got well after the last action, and how soon.
        worst_partition: the one that was under-replicated longest (``under_replicated_worst_s``); empty if none was.
        drawn: values drawn by the seed, for ``draws`` and for entries of the method: place, key and value.
        virtual_s, wall_s: how long it took in virtual time and in real time.
        events: how many the trace has; ``steps`` (kernel events) are not counted.
        explanation: text about a failed run: what broke, the chain of causes, how to repeat it; a screen at most.
        log: keeps the events of the control plane.
        quotas: replication quotas that were exhausted at the end, with the replicas that they held back.
        reach: counts of what it reached, by name; empty where they were not asked for.
        leaping: what the leaps of a sampled run were; None: the run is exact.
        rejections: where it left docs/specification, the first of each sentence; no part of the verdict. Empty: none,
            or it was not asked for.
    """

    run_id: str
    digest: str
    scenario: Scenario
    seed: int
    strategy: str
    profile: str
    verdict: str
    reason: str
    violations: tuple[Violation, ...]
    expectations: tuple[Expectation, ...]
    metrics: dict[str, Value]
    leaderless: int
    convergence: Convergence
    worst_partition: str
    virtual_s: float
    wall_s: float
    events: int
    explanation: str
    replay: str
    drawn: tuple[tuple[str, str, str], ...] = ()
    log: ControlPlaneLog = field(repr=False, eq=False, factory=ControlPlaneLog)
    quotas: tuple[QuotaUse, ...] = ()
    reach: Mapping[str, int] = field(repr=False, factory=dict)
    cut_off: str = ""
    defects: tuple[str, ...] = ()
    besides: str = ""
    leaping: Leaping | None = None
    rejections: tuple[Rejection, ...] = ()

    @property
    def control_plane(self) -> tuple[Any, ...]:
        """The events of the control plane, for the timeline; made when they are asked for."""
        return self.log.events()

    @property
    def witnesses(self) -> tuple[Deviated, ...]:
        """Places where brokers and controllers did what a release did before a fix, in order."""
        return tuple(self.log.witnesses)

    @property
    def lost(self) -> tuple[dict[str, Any], ...]:
        """The records acknowledged with acks=all that are lost without a violation, since Kafka promises no more: by
        ticket."""
        batches, records = (self.metrics[f"lost_unflushed_{what}"] for what in ("batches", "records"))
        return ({"ticket": UNFLUSHED_TICKET, "batches": batches, "records": records},) if records else ()

    @property
    def known(self) -> tuple[tuple[Reason, tuple[Finding, ...]], ...]:
        """The findings that the release causes by itself, by reason (``scenarios.runs.known_findings``)."""
        if self.passed:
            return ()
        from scenarios.runs.known_findings import explained_findings  # which few runs need

        return explained_findings(self).known

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    def to_json(self) -> dict[str, Any]:
        """The object that ``run --format json`` prints."""
        return {
            "run_id": self.run_id,
            "digest": self.digest,
            "seed": self.seed,
            "strategy": self.strategy,
            "profile": self.profile,
            "verdict": self.verdict,
            "reason": self.reason,
            "violations": [
                {
                    "invariant": one.invariant,
                    "statement": one.statement,
                    "t_us": one.t_us,
                    "seq": one.seq,
                    "state": one.state,
                    **about(one),
                }
                for one in self.violations
            ],
            "expectations": [
                {"statement": e.statement, "ok": e.ok, "detail": e.detail, "t_us": e.t_us} for e in self.expectations
            ],
            "known": [
                {"ticket": reason.ticket, "text": reason.text, "checkers": [finding.checker for finding in of_it]}
                for reason, of_it in self.known
            ],
            "lost": list(self.lost),
            **({"defects": list(self.defects)} if self.defects else {}),
            **({} if self.leaping is None else {"sampled": self.leaping.to_json()}),
            **({"rejections": [one.to_json() for one in self.rejections]} if self.rejections else {}),
            "metrics": self.metrics,
            "leaderless": self.leaderless,
            "convergence": self.convergence.to_json(),
            "worst_partition": self.worst_partition,
            "virtual_s": self.virtual_s,
            "wall_s": self.wall_s,
            "events": self.events,
            "drawn": [{"entry": entry, "key": key, "value": value} for entry, key, value in self.drawn],
            "replay": self.replay,
        }

    def assert_expectations(self) -> None:
        """Raises: AssertionError with the explanation, for use in tests."""
        assert self.passed, self.explanation

    def timeline(self, partition: str | None = None, from_us: int | None = None) -> list[str]:
        """The timeline as lines, of one partition or of the whole cluster, from a virtual time on."""
        from scenarios.observe.timeline.timeline import lines

        return list(lines(self.control_plane, partition, from_us))
