"""Findings of a run: what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from scenarios.observe.checkers import REGISTRY, Gravity, Violation
from scenarios.observe.timeline.explain import cut
from scenarios.runs.finding import EXPECTATION, IN_WORDS, LIVELOCK, NOT_EXERCISED, OWN_DEFECT, UNFINISHED, Finding
from scenarios.runs.run import Run


def gravity(checker: str) -> Gravity:
    """How grave a finding is, by its ``checker``: nothing else counts where the tool itself is wrong, what does not end
    is liveness, an expectation is the file's own."""
    if checker == OWN_DEFECT:
        return min(Gravity)
    if checker in (LIVELOCK, UNFINISHED):
        return Gravity.LIVENESS
    return REGISTRY[checker].gravity if checker in REGISTRY else Gravity.REST


def gravest(violations: Iterable[Violation]) -> Violation | None:
    """The first in time of those that are gravest."""
    return min(violations, key=lambda violation: gravity(violation.invariant), default=None)


def findings(run: Run) -> tuple[Finding, ...]:
    """The findings of a run, each once, the gravest first: what the tool itself did wrong, violations, expectations
    that were not met and that no violation stands for, then the reason why it failed where that is neither; those of
    one gravity in the order in which they were found. A run that passed has none; nor has one whose faults never took
    effect (``not exercised``) and that broke nothing, since it says nothing about the cluster."""
    found = [_of_run(OWN_DEFECT, run.defects[0])] if run.defects else []
    found += [_of_run(LIVELOCK, run.cut_off)] if run.cut_off else []
    found += map(Finding.of, run.violations)
    broken = [violation.invariant for violation in run.violations]
    unmet = [expectation for expectation in run.expectations if not (expectation.ok or expectation.invariant in broken)]
    found += [Finding(EXPECTATION, one.declared, statement=one.statement, state=one.detail) for one in unmet]
    if run.reason and not found and run.reason != NOT_EXERCISED:
        found.append(_of_run(run.reason, f"at {run.virtual_s:.3f} s"))
    return tuple(sorted(dict.fromkeys(found), key=lambda finding: gravity(finding.checker)))


def _of_run(reason: str, state: str) -> Finding:
    """The finding that a run has failed for a reason of its own."""
    return Finding(reason, statement=IN_WORDS.get(reason, reason), state=state)


def also_found(run: Run) -> Iterator[str]:
    """A line for each finding that the explanation is not about, the gravest first."""
    found = findings(run)
    if run.reason == NOT_EXERCISED:
        explained = None
    else:
        explained = next((one for one in found if one.checker in (OWN_DEFECT, LIVELOCK)), found[0])
    others = [one for one in found if one != explained]
    if others:
        yield "also found, the gravest first:"
    for one in others:
        yield cut(f"  {gravity(one.checker)}: {one.checker}: {one.state or one.statement}")
