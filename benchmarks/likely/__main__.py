"""``python -m benchmarks.likely [--cases N] [--branches N] [--jobs N] [--write]``: does ``understudy likely`` name what
made the findings of the museum's cases inevitable?

The trigger of a case is known by taking entries away: the last entry to act of those without which the finding does
not come. It is named where the steepest rise is at that entry, or where no entry acts at the steepest rise and all that
are needed have acted before it: then the events there decided it. Cases without such an entry are left out.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

from attrs import evolve

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.redraw import FileMethod
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.museum.exhibits import Exhibit, exhibit
from scenarios.profiles.tickets import BUGS
from scenarios.runs.batch import kept_workers
from scenarios.runs.finding import Finding
from scenarios.runs.findings import findings
from scenarios.studies.likely.likelihood import Likelihood, Original, likelihood
from scenarios.studies.shrink.trial import found_in

WANTED = 0.8


class Trigger(NamedTuple):
    """The last entry to act that a finding needs: its place, its action, and when it acted (us)."""

    place: str
    action: str
    t_us: int


def without(scenario: Scenario, first: int, count: int) -> Scenario:
    return evolve(scenario, method=(*scenario.method[:first], *scenario.method[first + count :]))


def needed(scenario: Scenario, finding: Finding) -> Iterator[int]:
    """The numbers of the entries that follow no other one, without which, and what follows them, the finding does not
    come."""
    for (first, _), entries in FileMethod.of(scenario).chains:
        try:
            less = without(scenario, first, len(entries))
            less.check()
            if finding not in found_in(less):
                yield first
        except BadInput:  # something else names what the entry makes
            yield first


def trigger_of(original: Original) -> Trigger | None:
    """The known trigger of a case."""
    places = set(needed(original.scenario, original.finding))
    acted = [
        Trigger(act.place, act.action, act.t_us)
        for act, (place, _) in zip(original.acts, original.places, strict=True)
        if place[0] in places and act.t_us < original.shown_us
    ]
    return max(acted, key=lambda one: one.t_us, default=None)


def is_named(found: Likelihood, trigger: Trigger) -> bool:
    if found.acts:
        return any(act.t_us == trigger.t_us for act in found.acts)
    return found.before.at_us > trigger.t_us


def original_of(case: Exhibit) -> Original:
    finding = next(one for one in findings(case.run_broken()) if one.checker == case.entry.checker)
    return Original.of(case.scenario, finding)


def main() -> int:
    parser = parser_of("likely", __doc__)
    parser.add_argument("--cases", type=int, default=12, help="so many bugs, spread over all (default: 12)")
    parser.add_argument("--branches", type=int, default=12)
    parser.add_argument("--points", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    names = sorted(BUGS)
    rows, named, known = [], 0, 0
    with kept_workers(options.jobs) as workers:
        for name in names[:: max(1, len(names) // options.cases)][: options.cases]:
            original = original_of(exhibit(name))
            trigger = trigger_of(original)
            if trigger is None:
                rows.append((name, "none", "", ""))
                continue
            found = likelihood(original, options.branches, options.points, workers)
            right, known = is_named(found, trigger), known + 1
            named += right
            said = ", ".join(f"{act.place} {act.action}" for act in found.acts) or (
                f"events from {found.before.at_us / 1e6:.3f} to {found.after.at_us / 1e6:.3f} s"
            )
            wanted = f"{trigger.place} {trigger.action} at {trigger.t_us / 1e6:.3f} s"
            rows.append((name, wanted, said, "yes" if right else "no"))
            print(*rows[-1], sep=" | ", flush=True)
    lines = [
        machine(f"python -m benchmarks.likely --cases {options.cases} --branches {options.branches}"), "",
        *table(("bug", "known trigger", "likely says", "named"), rows), "",
        f"{named} of {known} triggers are named.",
    ]  # fmt: skip
    problems = [] if named >= WANTED * known else [f"{named} of {known} named, {WANTED:.0%} wanted"]
    return conclude("likely", lines, problems, write=options.write)


if __name__ == "__main__":
    raise SystemExit(main())
