"""Whether a run did what the scenario expects: its expectations and its steady state."""

from collections.abc import Callable
from functools import partial

from attrs import define, field

from emulator.protocol.events import Fault, PartitionFailed, PartitionFailureCleared
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from emulator.trace.events import Step
from scenarios.faults import TargetRoles
from scenarios.language import METRICS, Expect, Scenario, SteadyState, Tolerance, gate_of
from scenarios.observe.checkers import Checkers
from scenarios.observe.checkers.converged import Converged
from scenarios.observe.invariants import INVARIANTS
from scenarios.observe.measures import Measures
from scenarios.observe.measures.figure import Value
from scenarios.runs.convergence import WITHIN_US, Convergence
from scenarios.runs.run import Expectation

Outcome = tuple[bool, str]
"""Whether an expectation holds now, and the value that was found."""


@define(eq=False)
class _Pending:
    """An expectation, and what was seen of it while the run went on, if it has a time limit or an ``after``.

    Attributes:
        since_us: time from which on the judge looks at it; None: not yet.
        met_us: time since which it holds without a break; None while it does not hold.
        held: whether it has held at any check, even before ``since_us``; ``held_before``: at the check before.
        broken: whether it did not hold after it had; ``met_us`` is then when it recovered.
        performed: how many times the action of ``after`` was performed.
    """

    expect: Expect
    since_us: int | None = None
    met_us: int | None = None
    held: bool = False
    held_before: bool = False
    _holds: bool = False
    broken: bool = False
    performed: int = 0

    @property
    def timed(self) -> bool:
        return self.expect.within_us is not None or self.expect.after is not None

    def begin(self, t_us: int) -> None:
        """Look at it from now on: what was true before does not count."""
        self.since_us, self.met_us = t_us, None
        self.held_before, self.broken = self._holds, self.held and not self._holds

    def see(self, holds: bool, now_us: int) -> None:
        self._holds = holds
        if not holds:
            self.broken, self.met_us = self.held, None
        elif self.since_us is not None and self.met_us is None:
            self.met_us = now_us
        self.held = self.held or holds

    def limit_us(self) -> int | None:
        """The time by which it has to hold; None without a limit."""
        within_us = self.expect.within_us
        return None if within_us is None or self.since_us is None else self.since_us + within_us


@define(eq=False)
class Judge:
    """Checks a run while it goes on and at its end.

    ``within`` means: true from a moment up to that time after the method's first action on, and still true at the end.
    With ``after`` the time counts from that action. What was true before, and is so no more, does not count.
    """

    scenario: Scenario
    trace: Trace
    roles: TargetRoles
    measures: Measures
    checkers: Checkers
    _pending: list[_Pending] = field(init=False)
    _steps: dict[tuple[str, str, str], int] = field(factory=dict)
    """Step, edge and partition (or "" for any) to when it was reached last."""
    _failed: dict[str, dict[int, None]] = field(factory=dict)
    _deviations: dict[int, tuple[int, str]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self._pending = [_Pending(expect) for expect in self.scenario.expect if not expect.converged]
        if not self.scenario.method:
            self._start(0)
        self.trace.fold(Step, self._stepped)
        self.trace.fold(Fault, self._acted)
        self.trace.fold(PartitionFailed, self._partition_failed)
        self.trace.fold(PartitionFailureCleared, self._partition_failure_cleared)

    # -- while it goes on -------------------------------------------------------------------------------------------

    def look(self, now_us: int) -> None:
        """Note which expectations have come true, and check the steady state that must always hold."""
        for pending in self._pending:
            if pending.timed:
                pending.see(self._holds(pending)[0], now_us)
        self.check_steady("continuous", now_us)

    def waiting(self, now_us: int) -> bool:
        """Whether an expectation is not met and its time is not over."""
        for pending in self._pending:
            limit_us = pending.limit_us()
            if limit_us is not None and now_us <= limit_us and not self._holds(pending)[0]:
                return True
        return False

    def check_steady(self, mode: str, now_us: int) -> None:
        """``mode``: continuous, start or end; ``edge`` counts as both start and end."""
        for index, steady in enumerate(self.scenario.steady_state):
            applies = steady.mode == mode or (steady.mode == "edge" and mode in ("start", "end"))
            if applies and index not in self._deviations:
                value = self.measures.now(steady.metric)
                if not steady.tolerance.holds(value):
                    self._deviations[index] = (now_us, f"{steady.metric} = {value}, wanted {steady.tolerance}")

    def _start(self, t_us: int) -> None:
        """The method begins."""
        for pending in self._pending:
            if pending.since_us is None and pending.expect.after is None:
                pending.begin(t_us)

    def _acted(self, event: Fault) -> None:
        self._start(event.t_us)
        for pending in self._pending:
            action, number = pending.expect.after_action
            if action == event.action:
                pending.performed += 1
                if number in (None, pending.performed):
                    pending.begin(event.t_us)

    def _stepped(self, event: Step) -> None:
        self._steps[event.step, event.edge, f"{event.topic}-{event.partition}"] = event.t_us
        self._steps[event.step, event.edge, ""] = event.t_us

    def _partition_failed(self, event: PartitionFailed) -> None:
        self._failed.setdefault(f"{event.topic}-{event.partition}", {})[event.node] = None

    def _partition_failure_cleared(self, event: PartitionFailureCleared) -> None:
        self._failed.get(f"{event.topic}-{event.partition}", {}).pop(event.node, None)

    # -- at the end -------------------------------------------------------------------------------------------------

    def verdicts(self, end_us: int, metrics: dict[str, Value], convergence: Convergence) -> tuple[Expectation, ...]:
        """The verdict on every expectation and every steady state; ``metrics`` are the run's totals."""
        return (
            *(self._steady_verdict(index, steady) for index, steady in enumerate(self.scenario.steady_state)),
            *(self._verdict(pending, end_us, metrics) for pending in self._pending),
            *(_converged(expect, convergence) for expect in self.scenario.expect if expect.converged),
        )

    def _steady_verdict(self, index: int, steady: SteadyState) -> Expectation:
        statement = f"steady state ({steady.mode}): {steady.metric} {steady.tolerance}"
        t_us, detail = self._deviations.get(index, (None, ""))
        return Expectation(statement, index not in self._deviations, detail, t_us, declared=steady)

    def _verdict(self, pending: _Pending, end_us: int, metrics: dict[str, Value]) -> Expectation:
        expect = pending.expect
        if expect.statement == "metric" and _is_total(expect):
            assert expect.metric is not None
            holds, found = _within(metrics.get(expect.metric), expect.tolerance)
        else:
            holds, found = self._holds(pending)
        verdict = partial(Expectation, describe(expect), declared=expect)
        if not pending.timed:
            return verdict(holds, "" if holds else f"found {found}", end_us, expect.invariant or "")
        if pending.since_us is None:
            never = f"{expect.after} was never performed" if expect.after else f"found {found}"
            return verdict(holds and not expect.after, never, end_us)
        if holds and pending.met_us is None:
            pending.see(holds, end_us)
        limit_us = pending.limit_us()
        # The horizon can come before the limit; nothing was checked after it.
        looked_us = end_us if limit_us is None else min(limit_us, end_us)
        by_then = f"at {looked_us / 1e6:.3f} s"
        if not holds:
            detail = f"was true, but at the end {found}" if pending.broken else f"found {found} {by_then}"
            return verdict(False, detail, looked_us)
        assert pending.met_us is not None
        came = f"{'recovered' if pending.broken else 'came true'} at {pending.met_us / 1e6:.3f} s"
        if pending.met_us > looked_us:
            return verdict(False, f"not yet {by_then}, {came}", looked_us)
        return verdict(True, self._recovered(pending, came), pending.met_us)

    @staticmethod
    def _recovered(pending: _Pending, came: str) -> str:
        """The words for when the expectation came true, and how long after the action that it names with ``after``."""
        assert pending.met_us is not None
        assert pending.since_us is not None
        if not pending.broken and pending.held_before:
            return "held throughout"
        took = f", {(pending.met_us - pending.since_us) / 1e6:.3f} s after {pending.expect.after}"
        return came + (took if pending.expect.after else "")

    def _holds(self, pending: _Pending) -> Outcome:
        expect = pending.expect
        if expect.statement == "steps":
            return self._reached(expect, pending.since_us or 0 if expect.after else 0)
        judges: dict[str, Callable[[Expect], Outcome]] = {
            "assignment": self._assignment,
            "leader": self._leader,
            "isr": self._isr,
            "metric": self._metric,
            "invariant": self._invariant,
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
        if _is_total(expect):
            return False, "known at the end of the run only"
        return _within(self.measures.now(expect.metric), expect.tolerance)

    def _invariant(self, expect: Expect) -> Outcome:
        assert expect.invariant is not None
        count = self.checkers.counts[expect.invariant]
        return count == 0, f"{count} violations"

    def _reached(self, expect: Expect, since_us: int) -> Outcome:
        gate = gate_of(expect.steps or (), "after", self.scenario.strategy.parsed.protocol)
        last_us = -1 if gate is None else self._steps.get((gate.step, "after", expect.partition or ""), -1)
        reached = last_us >= since_us
        return reached, "reached" if reached else "not reached"

    def _failed_partitions(self, expect: Expect) -> Outcome:
        wanted = {name: tuple(sorted(brokers)) for name, brokers in (expect.failed_partitions or {}).items() if brokers}
        found = {name: tuple(sorted(brokers)) for name, brokers in self._failed.items() if brokers}
        return found == wanted, _brokers(found) or "none"


def _converged(expect: Expect, found: Convergence) -> Expectation:
    """The verdict on ``converged``: in time, and still so at the end."""
    after_s, limit_us = found.after_s, expect.within_us or WITHIN_US
    ok = after_s is not None and after_s * 1_000_000 <= limit_us
    detail = found.broken[0].found if found.broken else "not in time" if after_s is None else f"after {after_s:.3f} s"
    return Expectation(describe(expect), ok, detail, found.met_us, Converged.name, expect)


def _within(value: Value, tolerance: Tolerance | None) -> Outcome:
    assert tolerance is not None
    return value is not None and tolerance.holds(value), f"{value}"


def _brokers(found: dict[str, tuple[int, ...]]) -> str:
    return ", ".join(f"{name} {list(brokers)}" for name, brokers in found.items())


def describe(expect: Expect) -> str:
    what = expect.statement
    if what == "metric":
        text = f"{expect.metric} {expect.tolerance}"
    elif what == "invariant":
        text = f"{expect.invariant}: {INVARIANTS[expect.invariant or '']}"
    elif what == "converged":
        return f"converged within {(expect.within_us or WITHIN_US) / 1e6:g} s of the last action"
    elif what == "steps":
        text = f"step {'/'.join(expect.steps or ())} reached" + (f" by {expect.partition}" if expect.partition else "")
    else:
        found = getattr(expect, what) or {}
        text = f"{what.replace('_', ' ')} {_brokers(found) or 'none'}"
    if expect.within_us is None:
        return text + (f" after {expect.after}" if expect.after else "")
    return f"{text} within {expect.within_us / 1e6:g} s" + (f" of {expect.after}" if expect.after else "")


def _is_total(expect: Expect) -> bool:
    """Whether its metric is known when the run has ended, and not before."""
    return METRICS[str(expect.metric)].form == "total"
