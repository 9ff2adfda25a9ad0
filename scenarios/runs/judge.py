"""Whether a run did what the scenario expects: its expectations and its steady state."""

from collections.abc import Callable

from attrs import define, field

from emulator.protocol.events import PartitionFailed, PartitionFailureCleared
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from emulator.trace.events import Step
from scenarios.faults import Roles
from scenarios.language import METRICS, Expect, Scenario, SteadyState, Tolerance, gate_of
from scenarios.observe.checkers import Checkers
from scenarios.observe.invariants import INVARIANTS
from scenarios.observe.measures import Measures
from scenarios.observe.measures.figure import Value
from scenarios.runs.run import Expectation

LIVE_METRICS = tuple(name for name, metric in METRICS.items() if metric.form != "total")
"""The metrics that have a value at any time."""

Outcome = tuple[bool, str]
"""Whether an expectation holds now, and the value that was found."""


@define(eq=False)
class _Pending:
    """An expectation, and when it came true if it has a time limit."""

    expect: Expect
    met_us: int | None = None


@define(eq=False)
class Judge:
    """Checks a run while it goes on and at its end.

    ``within`` means: true at some moment up to that time after the method's first action, and still true at the end.
    """

    scenario: Scenario
    trace: Trace
    roles: Roles
    measures: Measures
    checkers: Checkers
    _pending: list[_Pending] = field(init=False)
    _steps: dict[tuple[str, str, str], None] = field(factory=dict)
    _failed: dict[str, dict[int, None]] = field(factory=dict)
    _deviations: dict[int, tuple[int, str]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._pending = [_Pending(expect) for expect in self.scenario.expect]
        self.trace.fold(Step, self._stepped)
        self.trace.fold(PartitionFailed, self._partition_failed)
        self.trace.fold(PartitionFailureCleared, self._partition_failure_cleared)

    # -- while it goes on -------------------------------------------------------------------------------------------

    def look(self, now_us: int) -> None:
        """Note which expectations have come true, and check the steady state that must always hold."""
        for pending in self._pending:
            if pending.met_us is None and pending.expect.within_us is not None and self._holds(pending.expect)[0]:
                pending.met_us = now_us
        self.check_steady("continuous", now_us)

    def waiting(self, started_us: int | None, now_us: int) -> bool:
        """Whether an expectation is not met and its time is not over."""
        return any(
            pending.expect.within_us is not None
            and (pending.met_us is None or not self._holds(pending.expect)[0])
            and (started_us is None or now_us <= started_us + pending.expect.within_us)
            for pending in self._pending
        )

    def check_steady(self, mode: str, now_us: int) -> None:
        """``mode``: continuous, start or end; ``edge`` counts as both start and end."""
        for index, steady in enumerate(self.scenario.steady_state):
            applies = steady.mode == mode or (steady.mode == "edge" and mode in ("start", "end"))
            if applies and index not in self._deviations:
                value = self.measures.now(steady.metric)
                if not steady.tolerance.holds(value):
                    self._deviations[index] = (now_us, f"{steady.metric} = {value}, wanted {steady.tolerance}")

    def _stepped(self, event: Step) -> None:
        self._steps[event.step, event.edge, f"{event.topic}-{event.partition}"] = None
        self._steps[event.step, event.edge, ""] = None

    def _partition_failed(self, event: PartitionFailed) -> None:
        self._failed.setdefault(f"{event.topic}-{event.partition}", {})[event.node] = None

    def _partition_failure_cleared(self, event: PartitionFailureCleared) -> None:
        self._failed.get(f"{event.topic}-{event.partition}", {}).pop(event.node, None)

    # -- at the end -------------------------------------------------------------------------------------------------

    def verdicts(self, started_us: int | None, end_us: int, metrics: dict[str, Value]) -> tuple[Expectation, ...]:
        """The verdict on every expectation and every steady state; ``metrics`` are the run's totals."""
        return (
            *(self._steady_verdict(index, steady) for index, steady in enumerate(self.scenario.steady_state)),
            *(self._verdict(pending, started_us, end_us, metrics) for pending in self._pending),
        )

    def _steady_verdict(self, index: int, steady: SteadyState) -> Expectation:
        statement = f"steady state ({steady.mode}): {steady.metric} {steady.tolerance}"
        t_us, detail = self._deviations.get(index, (None, ""))
        return Expectation(statement, index not in self._deviations, detail, t_us)

    def _verdict(
        self, pending: _Pending, started_us: int | None, end_us: int, metrics: dict[str, Value]
    ) -> Expectation:
        expect = pending.expect
        if expect.statement == "metric" and expect.metric not in LIVE_METRICS:
            assert expect.metric is not None
            holds, found = _within(metrics.get(expect.metric), expect.tolerance)
        else:
            holds, found = self._holds(expect)
        statement = describe(expect)
        if expect.within_us is None:
            return Expectation(statement, holds, "" if holds else f"found {found}", end_us)
        limit_us = (started_us or 0) + expect.within_us
        if pending.met_us is None and holds and end_us <= limit_us:
            pending.met_us = end_us
        if pending.met_us is None or pending.met_us > limit_us:
            # The horizon can come before the limit; nothing was checked after it.
            looked_us = min(limit_us, end_us)
            by_then = f"at {looked_us / 1e6:.3f} s"
            late = pending.met_us is not None and f"not yet {by_then}, came true at {pending.met_us / 1e6:.3f} s"
            return Expectation(statement, False, late or f"found {found} {by_then}", looked_us)
        return Expectation(statement, holds, "" if holds else f"was true, but at the end {found}", pending.met_us)

    def _holds(self, expect: Expect) -> Outcome:
        judges: dict[str, Callable[[Expect], Outcome]] = {
            "assignment": self._assignment,
            "leader": self._leader,
            "isr": self._isr,
            "metric": self._metric,
            "invariant": self._invariant,
            "steps": self._reached,
            "failed_partitions": self._failed_partitions,
        }
        return judges[expect.statement](expect)

    def _assignment(self, expect: Expect) -> Outcome:
        wanted = expect.assignment or {}
        found = {name: self.roles.assignment(TopicPartition.parse(name)) for name in wanted}
        return found == wanted, _brokers(found)

    def _leader(self, expect: Expect) -> Outcome:
        wanted = expect.leader or {}
        states = {name: self.roles.state(TopicPartition.parse(name)) for name in wanted}
        found = {name: -1 if state is None else state.leader for name, state in states.items()}
        return all(found[name] in any_of for name, any_of in wanted.items()), str(found)

    def _isr(self, expect: Expect) -> Outcome:
        wanted = expect.isr or {}
        states = {name: self.roles.state(TopicPartition.parse(name)) for name in wanted}
        found = {name: () if state is None else state.isr for name, state in states.items()}
        return all(sorted(found[name]) == sorted(isr) for name, isr in wanted.items()), _brokers(found)

    def _metric(self, expect: Expect) -> Outcome:
        assert expect.metric is not None
        if expect.metric not in LIVE_METRICS:
            return False, "known at the end of the run only"
        return _within(self.measures.now(expect.metric), expect.tolerance)

    def _invariant(self, expect: Expect) -> Outcome:
        assert expect.invariant is not None
        count = self.checkers.counts[expect.invariant]
        return count == 0, f"{count} violations"

    def _reached(self, expect: Expect) -> Outcome:
        gate = gate_of(expect.steps or (), "after", self.scenario.strategy.parsed.protocol)
        reached = gate is not None and (gate.step, "after", expect.partition or "") in self._steps
        return reached, "reached" if reached else "not reached"

    def _failed_partitions(self, expect: Expect) -> Outcome:
        wanted = {name: tuple(sorted(brokers)) for name, brokers in (expect.failed_partitions or {}).items() if brokers}
        found = {name: tuple(sorted(brokers)) for name, brokers in self._failed.items() if brokers}
        return found == wanted, _brokers(found) or "none"


def _within(value: Value, tolerance: Tolerance | None) -> Outcome:
    assert tolerance is not None
    return value is not None and tolerance.holds(value), f"{value}"


def _brokers(found: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {list(brokers)}" for name, brokers in found.items())


def describe(expect: Expect) -> str:
    """An expectation in words."""
    what = expect.statement
    if what == "metric":
        text = f"{expect.metric} {expect.tolerance}"
    elif what == "invariant":
        text = f"{expect.invariant}: {INVARIANTS[expect.invariant or '']}"
    elif what == "steps":
        text = f"step {'/'.join(expect.steps or ())} reached" + (f" by {expect.partition}" if expect.partition else "")
    else:
        found = getattr(expect, what) or {}
        text = f"{what.replace('_', ' ')} {_brokers(found) or 'none'}"
    return text + (f" within {expect.within_us / 1e6:g} s" if expect.within_us is not None else "")
