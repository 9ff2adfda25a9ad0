"""What a run leaves behind, as people and programs read it."""

from typing import Any

from attrs import field, frozen

from emulator.protocol.events import Fault
from scenarios.language import Scenario
from scenarios.observe.checkers import Violation
from scenarios.observe.measures.figure import Value


@frozen
class Expectation:
    """One statement of the scenario and whether it held. ``t_us``: when it came true, or was found broken."""

    statement: str
    ok: bool
    detail: str = ""
    t_us: int | None = None


@frozen(kw_only=True)
class Run:
    """A finished run.

    Attributes:
        run_id: identifies scenario, profile, strategy, seed and code; ``digest``: identifies what happened.
        verdict: ``passed`` or ``failed``; ``reason``: why it failed: violated, expectation, not exercised, unfinished.
        lost: acknowledged batches that were lost and that Kafka does not promise to keep, by acks.
        virtual_s, wall_s: how long it took in the world and outside.
        events: how many the trace has; ``steps`` (kernel events) are not counted.
        explanation: of a failed run: what broke, how it came to it, and how to see it again; fits a screen.
        story: the control plane's events, for the timeline.
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
    lost: dict[str, int]
    virtual_s: float
    wall_s: float
    events: int
    explanation: str
    replay: str
    story: tuple[Any, ...] = field(repr=False, default=())

    @property
    def passed(self) -> bool:
        return self.verdict == "passed"

    def to_json(self) -> dict[str, Any]:
        """What ``run --format json`` prints."""
        return {
            "run_id": self.run_id,
            "digest": self.digest,
            "seed": self.seed,
            "strategy": self.strategy,
            "profile": self.profile,
            "verdict": self.verdict,
            "reason": self.reason,
            "violations": [
                {"invariant": v.invariant, "statement": v.statement, "t_us": v.t_us, "seq": v.seq, "state": v.state}
                for v in self.violations
            ],
            "expectations": [
                {"statement": e.statement, "ok": e.ok, "detail": e.detail, "t_us": e.t_us} for e in self.expectations
            ],
            "metrics": self.metrics,
            "lost": self.lost,
            "virtual_s": self.virtual_s,
            "wall_s": self.wall_s,
            "events": self.events,
            "replay": self.replay,
        }

    def assert_expectations(self) -> None:
        """Raises: AssertionError with the explanation, for use in tests."""
        assert self.passed, self.explanation

    def timeline(self, partition: str | None = None, from_us: int | None = None) -> list[str]:
        """The run's story in lines, of one partition or of the whole cluster, from a virtual time on."""
        from scenarios.observe.timeline import lines

        return list(lines(self.story, partition, from_us))

    @property
    def first_fault_us(self) -> int:
        """When the method began to act; 0 where it never did."""
        return next((event.t_us for event in self.story if type(event) is Fault), 0)
