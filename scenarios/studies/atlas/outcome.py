"""The judgement of a run, compared with the undisturbed one (readings §6).

A run is *unsafe* when a checker of section S or E fired or a record that was acknowledged with acks=all is lost;
*stuck* when, ten virtual minutes after healing, the move has not reached the end state of the undisturbed one; *harmed*
when it has, with a harm that the undisturbed move did not have; *finished* otherwise.

The harms that the undisturbed move has are the protocol's and are reported once (``own_harms``).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from scenarios.studies.atlas.plans import AtlasPlan
from scenarios.studies.atlas.run_summary import RunSummary

OUTCOMES: Mapping[str, str] = {
    "finished": "the move came to where the undisturbed one came to, at no price",
    "harmed": "it came there, and the fault cost something on the way or left something behind",
    "stuck": "ten virtual minutes after healing it had not come there",
    "unsafe": "a safety property of the log, or of epochs, was broken",
}
"""The outcomes, from the best to the worst."""

HARMS: Mapping[str, str] = {
    "leaderless": "ZooKeeper named no leader",
    "leader-outside-assignment": "the leader was none of the assigned replicas",
    "isr-outside-assignment": "the ISR had a member that was none of the assigned replicas",
    "under-min-isr": "the ISR was smaller than min.insync.replicas",
    "acks-1-loss": "records acknowledged with acks=1 are gone",
    "stray": "a broker outside the assignment keeps a replica on its disk",
    "wrong-order": "the replicas are the right ones, in another order: another one is preferred leader",
    "other-invariant": "an invariant that is not one of safety was broken",
    "steps-rerun": "steps that were done were done again",
}
"""The harms, from the worst to the mildest."""

NOTICED_US = 100_000
"""A harm that lasts less is ignored: two requests take that long."""
BY_CHANCE = 1
"""The number of batches with acks=1 that may be lost in one run and not in the other, between two requests."""
LOOKS: tuple[str, ...] = ("kip-455.check", "kip-455.wait")
"""Steps that only read: how often they are done depends on how often the ISR changed."""


@frozen
class CellFinding:
    """The judgement. ``harms``: the details of each harm, worst first; ``unsafe``, ``stuck``: the reason, empty where
    it is not. ``broken``: the invariant of safety that was broken first."""

    harms: dict[str, str] = field(factory=dict)
    unsafe: str = ""
    stuck: str = ""
    broken: str = ""

    @property
    def outcome(self) -> str:
        if self.unsafe:
            return "unsafe"
        if self.stuck:
            return "stuck"
        return "harmed" if self.harms else "finished"

    @property
    def why(self) -> str:
        """One line: the reason for the outcome, then the details of the harms."""
        return "; ".join(text for text in (self.unsafe, self.stuck, *self.harms.values()) if text)


def judge(summary: RunSummary, plan: AtlasPlan, undisturbed: RunSummary) -> CellFinding:
    """Compare a run with the undisturbed one."""
    found = {
        "leaderless": _leaderless(summary, undisturbed),
        "leader-outside-assignment": _leader_outside(summary, undisturbed),
        "isr-outside-assignment": _isr_outside(summary, plan, undisturbed),
        "under-min-isr": _under_min_isr(summary, undisturbed),
        "acks-1-loss": _lost(summary, undisturbed),
        "stray": _stray(summary, plan),
        "wrong-order": _wrong_order(summary, plan),
        "other-invariant": "; ".join(summary.other_violations[:1]),
        "steps-rerun": _rerun(summary, undisturbed),
    }
    harms = {harm: found[harm] for harm in HARMS if found[harm]}
    return CellFinding(harms, _unsafe(summary), _stuck(summary, plan), summary.broken)


def own_harms(undisturbed: RunSummary, plan: AtlasPlan) -> dict[str, str]:
    """The harms of a move without any fault."""
    return judge(undisturbed, plan, NOTHING).harms


def _unsafe(summary: RunSummary) -> str:
    if summary.violations:
        more = f" (and {len(summary.violations) - 1} more)" if len(summary.violations) > 1 else ""
        return summary.violations[0] + more
    if summary.lost_all:
        return f"{_batches(summary.lost_all)} acknowledged with acks=all are lost"
    return summary.divergence


def _stuck(summary: RunSummary, plan: AtlasPlan) -> str:
    target, assignment = _list(plan.after), _list(summary.assignment)
    if summary.open:
        lacking = summary.lacking(plan.after) or f"ISR {_list(summary.isr)}"
        return f"the move waits at {summary.waiting or 'no step'}: {lacking}"
    if sorted(summary.assignment) != sorted(plan.after):
        return f"the move was given up: the assignment is {assignment} instead of {target}"
    if summary.leader < 0:
        return f"no leader, ISR {_list(summary.isr)}"
    lacking = summary.lacking(plan.after) or summary.behind
    return f"the assignment is {assignment}, and {lacking}" if lacking else ""


def _leaderless(summary: RunSummary, undisturbed: RunSummary) -> str:
    excess_us = summary.offline_us - undisturbed.offline_us
    return f"no leader for {_seconds(excess_us)}" if excess_us > NOTICED_US else ""


def _under_min_isr(summary: RunSummary, undisturbed: RunSummary) -> str:
    excess_us = summary.under_min_isr_us - undisturbed.under_min_isr_us
    return f"below min.insync.replicas for {_seconds(excess_us)}" if excess_us > NOTICED_US else ""


def _leader_outside(summary: RunSummary, undisturbed: RunSummary) -> str:
    if summary.leader >= 0 and summary.leader not in summary.assignment:
        return f"leader {summary.leader} is outside the assignment {_list(summary.assignment)}"
    return _for_a_while(
        "the leader was outside the assignment", summary.leader_outside_us, undisturbed.leader_outside_us
    )


def _isr_outside(summary: RunSummary, plan: AtlasPlan, undisturbed: RunSummary) -> str:
    outside = _outside(summary.isr, summary, plan)
    if outside:
        return f"ISR {_list(summary.isr)} has {_ids(outside)} from outside the assignment {_list(summary.assignment)}"
    return _for_a_while("the ISR reached outside the assignment", summary.isr_outside_us, undisturbed.isr_outside_us)


def _for_a_while(what: str, us: int, undisturbed_us: int) -> str:
    """The text of a harm that lasted for a while; empty where the undisturbed move did the same, since then the
    protocol does it."""
    return f"{what} for {_seconds(us)}" if us > NOTICED_US and not undisturbed_us else ""


def _lost(summary: RunSummary, undisturbed: RunSummary) -> str:
    lost = summary.lost_one - undisturbed.lost_one
    by_chance = 0 if undisturbed is NOTHING else BY_CHANCE
    return f"{_batches(lost)} acknowledged with acks=1 lost" if lost > by_chance else ""


def _stray(summary: RunSummary, plan: AtlasPlan) -> str:
    stray = _outside(summary.replicas, summary, plan)
    return f"stray replica on {_ids(sorted(stray))}" if stray else ""


def _outside(brokers: tuple[int, ...], summary: RunSummary, plan: AtlasPlan) -> list[int]:
    """The brokers that are neither in the assignment nor added by a move that is still open."""
    coming = plan.after if summary.open else ()
    return [broker for broker in brokers if broker not in (*summary.assignment, *coming)]


def _wrong_order(summary: RunSummary, plan: AtlasPlan) -> str:
    if sorted(summary.assignment) == sorted(plan.after) and summary.assignment != plan.after:
        return f"assignment {_list(summary.assignment)} instead of {_list(plan.after)}"
    return ""


def _rerun(summary: RunSummary, undisturbed: RunSummary) -> str:
    again = [
        step.rpartition(".")[2]
        for step, times in summary.passed.items()
        if step not in LOOKS and times > max(1, undisturbed.passed.get(step, 0))
    ]
    if undisturbed is NOTHING or not again:
        return ""
    return f"done again: {'step' if len(again) == 1 else 'steps'} {', '.join(again)}"


def _batches(count: int) -> str:
    return "1 batch" if count == 1 else f"{count} batches"


def _ids(brokers: list[int]) -> str:
    return ("broker " if len(brokers) == 1 else "brokers ") + ", ".join(map(str, brokers))


def _list(brokers: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, brokers))}]"


def _seconds(us: int) -> str:
    return f"{us / 1e6:.1f} s"


NOTHING = RunSummary()
"""The summary of a run without any event, with which the undisturbed one is compared."""
