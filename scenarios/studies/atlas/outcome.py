"""What a run amounts to, held against the undisturbed one (readings §6).

A run is *unsafe* when a checker of section S or E fired or a record that was acknowledged with acks=all is gone;
*stuck* when, ten virtual minutes after healing, the move has not come to where the undisturbed one came to; *harmed*
when it has, at a price that the undisturbed move did not have; *finished* otherwise.

Harms of the undisturbed move itself are the protocol's and are told once (``Finding.harms`` of the undisturbed run).
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from scenarios.studies.atlas.courses import Course
from scenarios.studies.atlas.sight import Sight

OUTCOMES: Mapping[str, str] = {
    "finished": "the move came to where the undisturbed one came to, at no price",
    "harmed": "it came there, and the fault cost something on the way or left something behind",
    "stuck": "ten virtual minutes after healing it had not come there",
    "unsafe": "a safety property of the log, or of epochs, was broken",
}
"""From the best to the worst."""

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
"""From the worst to the mildest."""

NOTICED_US = 100_000
"""What holds for less, on the way, is the time that two requests take."""
BY_CHANCE = 1
"""Batches with acks=1 that fall between two requests of one run, and not of another."""
LOOKS: tuple[str, ...] = ("kip-455.check", "kip-455.wait")
"""Steps that only look: how often they are passed depends on how often the ISR changed."""


@frozen
class Finding:
    """What a run amounts to. ``harms``: harm -> what of it, worst first; ``unsafe``, ``stuck``: why, empty when not."""

    harms: dict[str, str] = field(factory=dict)
    unsafe: str = ""
    stuck: str = ""

    @property
    def outcome(self) -> str:
        if self.unsafe:
            return "unsafe"
        if self.stuck:
            return "stuck"
        return "harmed" if self.harms else "finished"

    @property
    def why(self) -> str:
        """One line: the reason of the outcome, then the harms' details."""
        return "; ".join(text for text in (self.unsafe, self.stuck, *self.harms.values()) if text)


def judge(sight: Sight, course: Course, undisturbed: Sight) -> Finding:
    """Hold a run against the undisturbed one (which is held against itself to learn its own harms)."""
    found = {
        "leaderless": _leaderless(sight, undisturbed),
        "leader-outside-assignment": _leader_outside(sight, undisturbed),
        "isr-outside-assignment": _isr_outside(sight, course, undisturbed),
        "under-min-isr": _under_min_isr(sight, undisturbed),
        "acks-1-loss": _lost(sight, undisturbed),
        "stray": _stray(sight, course),
        "wrong-order": _wrong_order(sight, course),
        "other-invariant": "; ".join(sight.other_violations[:1]),
        "steps-rerun": _rerun(sight, undisturbed),
    }
    harms = {harm: found[harm] for harm in HARMS if found[harm]}
    return Finding(harms, _unsafe(sight), _stuck(sight, course))


def own_harms(undisturbed: Sight, course: Course) -> dict[str, str]:
    """The harms that a move does without any fault."""
    return judge(undisturbed, course, NOTHING).harms


def _unsafe(sight: Sight) -> str:
    if sight.violations:
        more = f" (and {len(sight.violations) - 1} more)" if len(sight.violations) > 1 else ""
        return sight.violations[0] + more
    if sight.lost_all:
        return f"{_batches(sight.lost_all)} acknowledged with acks=all are lost"
    return sight.divergence


def _stuck(sight: Sight, course: Course) -> str:
    target, assignment = _list(course.after), _list(sight.assignment)
    if sight.open:
        lacking = sight.lacking(course.after) or f"ISR {_list(sight.isr)}"
        return f"the move waits at {sight.waiting or 'no step'}: {lacking}"
    if sorted(sight.assignment) != sorted(course.after):
        return f"the move was given up: the assignment is {assignment} instead of {target}"
    if sight.leader < 0:
        return f"no leader, ISR {_list(sight.isr)}"
    lacking = sight.lacking(course.after) or sight.behind
    return f"the assignment is {assignment}, and {lacking}" if lacking else ""


def _leaderless(sight: Sight, undisturbed: Sight) -> str:
    excess_us = sight.offline_us - undisturbed.offline_us
    return f"no leader for {_seconds(excess_us)}" if excess_us > NOTICED_US else ""


def _under_min_isr(sight: Sight, undisturbed: Sight) -> str:
    excess_us = sight.under_min_isr_us - undisturbed.under_min_isr_us
    return f"below min.insync.replicas for {_seconds(excess_us)}" if excess_us > NOTICED_US else ""


def _leader_outside(sight: Sight, undisturbed: Sight) -> str:
    if sight.leader >= 0 and sight.leader not in sight.assignment:
        return f"leader {sight.leader} is outside the assignment {_list(sight.assignment)}"
    return _for_a_while("the leader was outside the assignment", sight.leader_outside_us, undisturbed.leader_outside_us)


def _isr_outside(sight: Sight, course: Course, undisturbed: Sight) -> str:
    strangers = _strangers(sight.isr, sight, course)
    if strangers:
        return f"ISR {_list(sight.isr)} has {_ids(strangers)} from outside the assignment {_list(sight.assignment)}"
    return _for_a_while("the ISR reached outside the assignment", sight.isr_outside_us, undisturbed.isr_outside_us)


def _for_a_while(what: str, us: int, undisturbed_us: int) -> str:
    """What is part of the protocol's own course is no harm of the fault's unless it is there to stay."""
    return f"{what} for {_seconds(us)}" if us > NOTICED_US and not undisturbed_us else ""


def _lost(sight: Sight, undisturbed: Sight) -> str:
    lost = sight.lost_one - undisturbed.lost_one
    by_chance = 0 if undisturbed is NOTHING else BY_CHANCE
    return f"{_batches(lost)} acknowledged with acks=1 lost" if lost > by_chance else ""


def _stray(sight: Sight, course: Course) -> str:
    stray = _strangers(sight.replicas, sight, course)
    return f"stray replica on {_ids(sorted(stray))}" if stray else ""


def _strangers(brokers: tuple[int, ...], sight: Sight, course: Course) -> list[int]:
    """Those that neither the assignment names nor a move that still waits is bringing."""
    coming = course.after if sight.open else ()
    return [broker for broker in brokers if broker not in (*sight.assignment, *coming)]


def _wrong_order(sight: Sight, course: Course) -> str:
    if sorted(sight.assignment) == sorted(course.after) and sight.assignment != course.after:
        return f"assignment {_list(sight.assignment)} instead of {_list(course.after)}"
    return ""


def _rerun(sight: Sight, undisturbed: Sight) -> str:
    again = [
        step.rpartition(".")[2]
        for step, times in sight.passed.items()
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


NOTHING = Sight()
"""A run in which nothing happened: what the undisturbed one is held against."""
