"""The report of a campaign: tables in Markdown, for RESULTS.md and docs/understand/sampled.md."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from pathlib import Path

from benchmarks.results import between_marks
from benchmarks.sampled.case import names
from benchmarks.sampled.contract import EXACT, SAMPLED, Case, Finding, OfFigure, arms_findings, of_figures
from benchmarks.sampled.drawn_cases import described, drawn
from benchmarks.tables import table
from scenarios.observe.measures.minimum import Minimum

PAGE = Path(__file__).parents[2] / "docs" / "understand" / "sampled.md"
MARK = "measured"
LONG_S, HOUR_S = 600, 3_600
CASE = (
    "case", "virtual s", "in leaps", "faster", "time to complete", "replica-seconds", "bytes", "produce p50", "counts",
)  # fmt: skip
OF_CASE = ("time_to_complete_s", "extra_replica_s", "bytes_moved", "produce_p50_ms")
FIGURE = ("figure", "cases", "none", "median of absolute errors", "worst", "bias, 95 % interval", "spread", "covered")


def report(found: Sequence[Case], seeds: int) -> list[str]:
    """The lines under the command."""
    leaping = [case for case in found if case.leapt]
    return [
        *told(found, leaping, seeds),
        "",
        *of_all(leaping),
        "",
        *table(CASE, map(_row, found)),
    ]


def told(found: Sequence[Case], leaping: Sequence[Case], seeds: int) -> list[str]:
    """The sentences over the tables."""
    healthy = [same for case in found if len(drawn(case.number).method) == 1 for same in case.same_counts]
    faulty = [same for case in found if len(drawn(case.number).method) > 1 for same in case.same_counts]
    cpu = {each: sum(case.cpu_s(each) for case in found) for each in (EXACT, SAMPLED)}
    about = (
        f"{len(found)} cases, {seeds} seeds each: {cpu[EXACT]:,.0f} CPU s exact, {cpu[SAMPLED]:,.0f} sampled. "
        f"{len(leaping)} leap; the figures below are theirs. An error is that of the sampled mean over the seeds "
        "against the exact mean. *Covered*: in how many cases the 95 % interval of the difference, by the seeds "
        "and by the error that `compare` states for sampled runs, has 0 in it."
    )
    counts = (
        f"- Counts of the control plane are equal in {_of(healthy)} runs without a fault, "
        f"and in {_of(faulty)} with one."
    )
    lines = [about, "", counts, _of_arms(list(arms_findings(found, names())))]
    for least_s in (0, LONG_S, HOUR_S):
        fast = [case.faster for case in leaping if case.long_s >= least_s]
        if fast:
            of = f"over {least_s} virtual seconds" if least_s else "that leap"
            lines.append(f"- Faster, median of the {len(fast)} cases {of}: {statistics.median(fast):.1f} times.")
    return lines


def _of_arms(findings: Sequence[Finding]) -> str:
    """The sentence about differences of two arms."""
    large = [finding for finding in findings if finding.matters]
    others = [
        f"`{each.name}` of {each.number} and {each.number + 1} ({percent(each.share)})"
        for each in findings
        if not each.same
    ]
    return (
        f"- Of {len(findings)} differences between two arms that are a finding in exact runs (all figures; the "
        f"interval over the seeds excludes 0), {sum(each.same for each in findings)} have the same sign in sampled "
        f"runs; {sum(each.opposed for each in findings)} are a finding of the other sign, by the interval of "
        f"`compare`. Of the {len(large)} that are as large as what `compare` takes for a difference that matters "
        f"({Minimum().share:.0%} of the larger mean), {sum(each.same for each in large)} have the same sign. "
        f"Of another sign, or 0 (with the exact difference): {', '.join(others) or 'none'}."
    )


def of_all(leaping: Sequence[Case]) -> list[str]:
    """The table of all figures."""
    return table(FIGURE, map(_figure, of_figures(leaping, names())))


def write_page(lines: Sequence[str]) -> None:
    """Put ``lines`` into docs/understand/sampled.md."""
    PAGE.write_text(between_marks(PAGE.read_text(encoding="utf-8"), MARK, list(lines)), encoding="utf-8")


def _figure(of_it: OfFigure) -> tuple[str, ...]:
    shares = [error.share for error in of_it.errors]
    if not shares:
        return (f"`{of_it.name}`", "0", str(of_it.lacking), "-", "-", "-", "-", "-")
    sure = "" if of_it.sure is None else f" ± {100 * of_it.sure:.2f}"
    return (
        f"`{of_it.name}`",
        str(len(shares)),
        str(of_it.lacking),
        f"{100 * statistics.median(map(abs, shares)):.2f} %",
        percent(max(shares, key=abs)),
        f"{100 * of_it.bias:+.2f}{sure} %{' (biased)' if of_it.is_biased else ''}",
        "-" if of_it.spread is None else f"{100 * of_it.spread:.2f} %",
        "{} of {}".format(*of_it.covered),
    )


def _row(case: Case) -> tuple[str, ...]:
    errors = [None if (error := case.error(name)) is None else error.share for name in OF_CASE]
    return (
        f"{case.number}: {described(drawn(case.number))}", f"{case.long_s:.0f}", f"{case.leapt:.0%}",
        f"{case.faster:.1f} x", *map(percent, errors), _of(case.same_counts),
    )  # fmt: skip


def percent(share: float | None) -> str:
    """A share with its sign, in per cent."""
    return "-" if share is None else f"{100 * share:+.2f} %"


def _of(same: Sequence[bool]) -> str:
    return f"{sum(same)} of {len(same)}"
