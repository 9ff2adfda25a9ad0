"""What is wrong with a run: its findings."""

from __future__ import annotations

from scenarios.observe.checkers import Violation
from scenarios.runs.finding import EXPECTATION, IN_WORDS, LIVELOCK, NOT_EXERCISED, OWN_DEFECT, Finding
from scenarios.runs.run import Run


def found_by(violation: Violation) -> Finding:
    """A violation as a finding."""
    return Finding(violation.invariant, violation.statement, violation.state)


def findings(run: Run) -> tuple[Finding, ...]:
    """The findings of a run, each once: what the tool itself did wrong, violations in the order in which they were
    found, then expectations that were not met and that no violation stands for, then the reason why it failed where
    that is neither. A run that passed has none; nor has one whose faults never took effect (``not exercised``) and that
    broke nothing, since it says nothing about the cluster."""
    found = [Finding(OWN_DEFECT, IN_WORDS[OWN_DEFECT], run.defects[0])] if run.defects else []
    found += [Finding(LIVELOCK, IN_WORDS[LIVELOCK], run.cut_off)] if run.cut_off else []
    found += map(found_by, run.violations)
    broken = [violation.invariant for violation in run.violations]
    unmet = [expectation for expectation in run.expectations if not (expectation.ok or expectation.invariant in broken)]
    found += [Finding(EXPECTATION, expectation.statement, expectation.detail) for expectation in unmet]
    if run.reason and not found and run.reason != NOT_EXERCISED:
        found.append(Finding(run.reason, IN_WORDS.get(run.reason, run.reason), f"at {run.virtual_s:.3f} s"))
    return tuple(dict.fromkeys(found))
